"""What the kernel of columns is asked: tables of frames, rows and torques, and its room."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pinocchio as pin

from ..._support.tables import Table
from ...compiler.calls import Form, fast, is_fast
from ...compiler.operations import COLUMNS
from ...kernels.tables import columns_layout as at
from ...model import ClusterData, ClusterModel
from . import check as _check
from . import ids as _ids
from .reach import Reach, arrays_of, home_of, movers

_MOST_PLANS, _MOST_KNOWN = 64, 16
T = TypeVar("T")
Place = tuple[int, np.ndarray, np.ndarray]
"""A joint, and rotation and position in its frame."""


class Plan:
    """Forces at frames, then torques, side by side.

    Attributes:
        index: The kernel's ``asked``.
        numbers: Placements of the frames.
        panel: Its room.
        columns: How many there are.
        tasks: How many of them, from the first, have rows in the products.
        moves: Whether accelerations are wanted.
        B: The torques.
        ids: Of the frames of the tasks.
        shapes: Of the products, and of the accelerations.
    """

    __slots__ = ("B", "columns", "ids", "index", "moves", "numbers", "panel", "shapes", "tasks")

    def __init__(
        self,
        model: ClusterModel,
        touches: Sequence[tuple[int, int, Sequence[tuple[int, int]]]],
        tasks: int,
        moves: bool,
        torques: tuple[int, int] = (0, 0),
        B: np.ndarray | None = None,
    ) -> None:
        """Lay out.

        Args:
            touches: Frame id, reference frame, and pairs of column and axis, of each frame.
            tasks: Of how many columns the products are wanted: the first ones, of the first frames.
            torques: Between which columns torques stand.
            B: These torques, if they are always the same.
        """
        count = sum(len(picks) for *_, picks in touches)
        self.columns, self.tasks, self.moves = count + torques[1] - torques[0], tasks, moves
        frames, placed = model.own_tree.frames, []
        for frame, reference, picks in touches:
            M = frames[frame].placement
            placed.append(((int(frames[frame].parentJoint), M.rotation, M.translation), reference, picks))
        out = laid_out(model, placed, tasks, moves, torques, B)
        self.index, self.numbers, self.panel = arrays_of(model, out, self.columns)
        self.B = np.zeros((model.nv, torques[1] - torques[0])) if B is None else np.array(B, order="C")
        self.ids: list[int] = []
        self.shapes = (tasks, self.columns if tasks else 0), (model.nv, self.columns * moves)

    def take(self, B: np.ndarray) -> None:
        """Let B be the torques from now on."""
        self.B[:] = B

    def run(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return C' M^-1 C (of the first columns with all), and M^-1 C if it is wanted.

        Raises:
            SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.
        """
        gram, response = map(np.empty, self.shapes)
        given = q, self.index, self.numbers, self.panel, self.B, gram, response
        _check.run(model, data, "columns", "Minv", *given)
        return gram, response

    def write(self, form: Form, torques: np.ndarray | None = None) -> None:
        """Write the steps of a call that returns what ``columns`` does; ``torques`` leads to others."""
        data = form.owner
        # not named "B": the argument of that name is a matrix
        arrays = {"asked": self.index, "numbers": self.numbers, "panel": self.panel, "torques": self.B}
        leads = {} if torques is None else {"torques": (torques, *self.B.shape)}
        shapes = dict(zip(("gram", "response"), self.shapes, strict=True))
        made = "response" if self.moves else "gram"
        given = " ".join(f"+{x}" if x == made else x for x in ("q", *arrays, *shapes))
        other = np.empty(shapes["gram" if self.moves else "response"])
        form.shapes |= shapes
        code, arrays = data._code("", COLUMNS.name), arrays | {"gram": other, "response": other}
        form.run(COLUMNS, code, data._pointers["Minv"], given, arrays=arrays, leads=leads)


@fast(lambda data, function: ())
def columns(model: ClusterModel, data: ClusterData, q: Any, plan: Plan) -> np.ndarray:
    """Return the accelerations of a plan, or else its products."""
    found = plan.run(model, data, _check.pose(model, data, q))[plan.moves]
    asked = form(data, columns, "q plan")
    if asked is not None:
        asked.checks.append(("same", asked.positions["plan"], plan))
        remember(asked, plan)
    return found


def form(data: ClusterData, function: Any, required: str, allowed: str = "") -> Form | None:
    """Return a form of a call of a function that asks for a plan; None if the extension cannot answer it."""
    usable = is_fast(function) and data._code("", COLUMNS.name)
    return Form(data, function, required, allowed) if usable else None


def remember(form: Form, plan: Plan, torques: np.ndarray | None = None) -> None:
    """Let the extension answer such calls from now on; ``torques`` leads to the torques, if they are an argument."""
    plan.write(form, torques)
    form.remember(_MOST_KNOWN)


def laid_out(
    model: ClusterModel,
    touches: Sequence[tuple[Place, int, Sequence[tuple[int, int]]]],
    tasks: int,
    moves: bool,
    torques: tuple[int, int] = (0, 0),
    B: np.ndarray | None = None,
) -> Table:
    """Return the tables of what is asked: as of ``Plan``, of places in joints."""
    columns = sum(len(picks) for *_, picks in touches) + torques[1] - torques[0]
    reach = Reach(model, columns)
    wanting, end = sum(1 for *_, picks in touches if picks and picks[0][0] < tasks), 1 + len(touches)
    out = Table([()] * end + [at.Column(-1, 0)] * columns)
    for i, ((joint, R, x), reference, wanted) in enumerate(touches, 1):
        body, rotor, root, align, home = home_of(model, joint)
        for column, axis in wanted:
            out.rows[end + column] = at.Column(i, axis)
        mine, moved = [column for column, _ in wanted], movers(model, body, rotor)
        reach.add(mine, moved)
        numbers = out.append([*(align.T @ R).flat, *(align.T @ x), *[0.0] * (at.HOME - 12), *home, 0.0, 0.0, 0.0])
        out.rows[i] = at.Touch(body, rotor, numbers, reference, root, *out.add_list(mine), *out.add_list(moved))
    for j in range(*torques):
        reach.add([j], range(model.nv) if B is None else np.flatnonzero(B[:, j - torques[0]]).tolist())
    out.rows[0] = at.Asked(1, 1 + wanting, end, end, columns, tasks, moves, *torques, columns, len(out.rows))
    out.add_all(reach.rows())
    return out


def of_frames(model: ClusterModel, data: ClusterData, frames: Any, reference: Any, rows: Any) -> Plan:
    """Return the plan of the products of rows of frames; kept in the data."""
    key = question("frames", frames, reference, rows)
    plan = _kept(data, key)
    if plan is None:
        plan = keep(data, key, plan_of_frames(model, frames, reference, rows))
    return plan


def plan_of_frames(model: ClusterModel, frames: Any, reference: Any, rows: Any) -> Plan:
    """Return the plan of the products of rows of frames."""
    ids, kind = _ids.frames(model, "frames", frames), int(_ids.reference(reference))
    touches, n = _touches(ids, kind, rows)
    return Plan(model, touches, n, False)


def of_force(model: ClusterModel, data: ClusterData, frame: Any) -> Plan:
    """Return the plan of a force at one frame, in its own axes."""
    (i,) = _ids.frames(model, "frame", [frame])
    key = "force", i
    plan = _kept(data, key)
    if plan is None:
        plan = keep(data, key, Plan(model, [(i, int(pin.LOCAL), [(r, r) for r in range(6)])], 6, True))
    return plan


def of_tasks(
    model: ClusterModel, data: ClusterData, frames: Any, rows: Any, contacts: Any, reference: Any, torques: int
) -> Plan:
    """Return the plan of the products of rows of frames with torques and forces at contacts, which come behind them."""
    keys = question("tasks", frames, reference, rows), question("inputs", contacts, reference, torques)
    key = None if None in keys else keys
    plan = _kept(data, key)
    if plan is None:
        kind = int(_ids.reference(reference))
        wanted = _ids.frames(model, "frames", frames)
        tasks, first = _touches(wanted, kind, rows)
        behind = first + torques
        touching = _pushes(_ids.frames(model, "contacts", contacts), kind, behind)
        plan = keep(data, key, Plan(model, [*tasks, *touching], first, False, (first, behind)))
        plan.ids = wanted
    return plan


def _touches(ids: Sequence[int], kind: int, rows: Any) -> tuple[list[tuple[int, int, list[tuple[int, int]]]], int]:
    """Return what is wanted of frames, and how many rows that is."""
    wanted = _ids.rows(rows, len(ids))
    found = [(f, kind, [(c, r % 6) for c, r in enumerate(wanted) if r // 6 == i]) for i, f in enumerate(ids)]
    return [touch for touch in found if touch[2]], len(wanted)


def _pushes(ids: Sequence[int], kind: int, first: int) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Return forces at contacts, in columns from the first one on."""
    return [(f, kind, [(first + 3 * i + r, r) for r in range(3)]) for i, f in enumerate(ids)]


def of_inputs(
    model: ClusterModel, data: ClusterData, contacts: Any, reference: Any, torques: int, own: np.ndarray | None = None
) -> Plan:
    """Return the plan of torques, the robot's own that are always the same or others, then forces at contacts."""
    key = question("inputs" if own is None else "own inputs", contacts, reference, torques)
    plan = _kept(data, key)
    if plan is None:
        ids, kind = _ids.frames(model, "contacts", contacts), int(_ids.reference(reference))
        plan = keep(data, key, Plan(model, _pushes(ids, kind, torques), 0, True, (0, torques), own))
    return plan


def question(of: str, frames: Any, reference: Any, what: Any) -> Any:
    """Return what tells the usual questions apart, types included, as 1 is equal to True; None for others."""
    if type(frames) in (list, tuple) and (what is None or type(what) in (str, int)):
        return (of, *frames, *map(type, frames), reference, type(reference), what)
    return None


def _kept(data: ClusterData, key: Any) -> Plan | None:
    """Return the plan of a question that was asked before."""
    try:
        found: Plan | None = data._plans.get(key)
    except TypeError:  # what has no hash is no frame either, which is said in time
        return None
    return found


def keep(data: ClusterData, key: Any, plan: T) -> T:
    """Keep a plan for the next call; not for ever more of them."""
    if key is not None:
        if len(data._plans) >= _MOST_PLANS:
            data._plans.clear()
        data._plans[key] = plan
    return plan
