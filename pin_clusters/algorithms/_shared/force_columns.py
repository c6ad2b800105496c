"""Tables and calls for the kernel ``columns``, which evaluates equations (O1) to (O5) of docs/algorithms.md."""

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
"""Joint id, and the rotation and position of a frame relative to the joint."""


class Plan:
    """Tables of the kernel ``columns`` for a matrix C, whose columns are joint torques or unit forces at frames.

    Attributes:
        index: Integer table of the kernel.
        numbers: Float table of the kernel, with the placements of the frames.
        panel: Work array of the kernel.
        tasks: Number of columns of the matrix C_t, which consists of the first columns of C.
        moves: Whether to compute the accelerations M^-1 C. If ``tasks`` > 0, the products C_t' M^-1 C are computed.
        B: Joint torques, shape (nv, torques).
        shapes: Shapes of the products and of the accelerations.
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
        """Create the tables.

        ``touches`` has one item per frame: the frame id, the reference frame, and a list of unit forces at the frame,
        each as a pair (column of C, axis). ``tasks`` is the number of columns of C_t. Columns ``range(*torques)`` of C
        contain torques, which are given by ``B`` if they are constant.
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
        self.B[:] = B

    def run(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Run the kernel; return the arrays for the products C_t' M^-1 C and for the accelerations M^-1 C."""
        gram, response = map(np.empty, self.shapes)
        arguments = q, self.index, self.numbers, self.panel, self.B, gram, response
        _check.run(model, data, "columns", "Minv", *arguments)
        return gram, response

    def write(self, form: Form, torques: np.ndarray | None = None) -> None:
        """Add the kernel call to a ``Form``; if the torques vary, the register ``torques`` contains their address."""
        data = form.owner
        # The name "B" is reserved for the user's argument, which is a matrix.
        arrays = {"asked": self.index, "numbers": self.numbers, "panel": self.panel, "torques": self.B}
        leads = {} if torques is None else {"torques": (torques, *self.B.shape)}
        shapes = dict(zip(("gram", "response"), self.shapes, strict=True))
        result = "response" if self.moves else "gram"
        names = " ".join(f"+{x}" if x == result else x for x in ("q", *arrays, *shapes))
        unused = np.empty(shapes["gram" if self.moves else "response"])
        form.shapes |= shapes
        code, arrays = data._code("", COLUMNS.name), arrays | {"gram": unused, "response": unused}
        form.run(COLUMNS, code, data._pointers["Minv"], names, arrays=arrays, leads=leads)


@fast(lambda data, function: ())
def columns(model: ClusterModel, data: ClusterData, q: Any, plan: Plan) -> np.ndarray:
    outputs = plan.run(model, data, _check.pose(model, data, q))[plan.moves]
    record = form(data, columns, "q plan")
    if record is not None:
        record.checks.append(("same", record.positions["plan"], plan))
        remember(record, plan)
    return outputs


def form(data: ClusterData, function: Any, required: str, allowed: str = "") -> Form | None:
    usable = is_fast(function) and data._code("", COLUMNS.name)
    return Form(data, function, required, allowed) if usable else None


def remember(form: Form, plan: Plan, torques: np.ndarray | None = None) -> None:
    """Call ``Plan.write`` and register the form in the C extension, which then executes calls of this form."""
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
    columns = sum(len(picks) for *_, picks in touches) + torques[1] - torques[0]
    reach = Reach(model, columns)
    task_touches, end = sum(1 for *_, picks in touches if picks and picks[0][0] < tasks), 1 + len(touches)
    out = Table([()] * end + [at.Column(-1, 0)] * columns)
    for i, ((joint, R, x), reference, entries) in enumerate(touches, 1):
        body, rotor, root, align, home = home_of(model, joint)
        for column, axis in entries:
            out.rows[end + column] = at.Column(i, axis)
        selected, moved = [column for column, _ in entries], movers(model, body, rotor)
        reach.add(selected, moved)
        numbers = out.append([*(align.T @ R).flat, *(align.T @ x), *[0.0] * (at.HOME - 12), *home, 0.0, 0.0, 0.0])
        out.rows[i] = at.Touch(body, rotor, numbers, reference, root, *out.add_list(selected), *out.add_list(moved))
    for j in range(*torques):
        reach.add([j], range(model.nv) if B is None else np.flatnonzero(B[:, j - torques[0]]).tolist())
    out.rows[0] = at.Asked(1, 1 + task_touches, end, end, columns, tasks, moves, *torques, columns, len(out.rows))
    out.add_all(reach.rows())
    return out


def of_frames(model: ClusterModel, data: ClusterData, frames: Any, reference: Any, rows: Any) -> Plan:
    key = plan_key("frames", frames, reference, rows)
    plan = _cached(data, key)
    if plan is None:
        plan = store(data, key, plan_of_frames(model, frames, reference, rows))
    return plan


def plan_of_frames(model: ClusterModel, frames: Any, reference: Any, rows: Any) -> Plan:
    ids, kind = _ids.frames(model, "frames", frames), int(_ids.reference(reference))
    touches, n = _touches(ids, kind, rows)
    return Plan(model, touches, n, False)


def of_force(model: ClusterModel, data: ClusterData, frame: Any) -> Plan:
    (i,) = _ids.frames(model, "frame", [frame])
    key = "force", i
    plan = _cached(data, key)
    if plan is None:
        plan = store(data, key, Plan(model, [(i, int(pin.LOCAL), [(r, r) for r in range(6)])], 6, True))
    return plan


def of_tasks(
    model: ClusterModel, data: ClusterData, frames: Any, rows: Any, contacts: Any, reference: Any, torques: int
) -> Plan:
    """Return the (cached) ``Plan`` for J_t M^-1 [B, J_c'], with the task Jacobian J_t and the contact Jacobian J_c."""
    keys = plan_key("tasks", frames, reference, rows), plan_key("inputs", contacts, reference, torques)
    key = None if None in keys else keys
    plan = _cached(data, key)
    if plan is None:
        kind = int(_ids.reference(reference))
        frame_ids = _ids.frames(model, "frames", frames)
        tasks, first = _touches(frame_ids, kind, rows)
        end = first + torques
        touching = _pushes(_ids.frames(model, "contacts", contacts), kind, end)
        plan = store(data, key, Plan(model, [*tasks, *touching], first, False, (first, end)))
        plan.ids = frame_ids
    return plan


def _touches(ids: Sequence[int], kind: int, rows: Any) -> tuple[list[tuple[int, int, list[tuple[int, int]]]], int]:
    indices = _ids.rows(rows, len(ids))
    touches = [(f, kind, [(c, r % 6) for c, r in enumerate(indices) if r // 6 == i]) for i, f in enumerate(ids)]
    return [touch for touch in touches if touch[2]], len(indices)


def _pushes(ids: Sequence[int], kind: int, first: int) -> list[tuple[int, int, list[tuple[int, int]]]]:
    return [(f, kind, [(first + 3 * i + r, r) for r in range(3)]) for i, f in enumerate(ids)]


def of_inputs(
    model: ClusterModel,
    data: ClusterData,
    contacts: Any,
    reference: Any,
    torques: int,
    constant: np.ndarray | None = None,
) -> Plan:
    """Return the (cached) ``Plan`` for M^-1 [B, J_c']; ``constant`` is B, or None if B can change between calls."""
    key = plan_key("inputs" if constant is None else "own inputs", contacts, reference, torques)
    plan = _cached(data, key)
    if plan is None:
        ids, kind = _ids.frames(model, "contacts", contacts), int(_ids.reference(reference))
        plan = store(data, key, Plan(model, _pushes(ids, kind, torques), 0, True, (0, torques), constant))
    return plan


def plan_key(of: str, frames: Any, reference: Any, what: Any) -> Any:
    """Return a cache key that includes types, because 1 == True; None for types other than list, tuple, str and int."""
    if type(frames) in (list, tuple) and (what is None or type(what) in (str, int)):
        return (of, *frames, *map(type, frames), reference, type(reference), what)
    return None


def _cached(data: ClusterData, key: Any) -> Plan | None:
    try:
        plan: Plan | None = data._plans.get(key)
    except TypeError:  # the key contains an argument that is not hashable; a later check raises an error
        return None
    return plan


def store(data: ClusterData, key: Any, plan: T) -> T:
    """Cache a plan in data; if the cache already contains ``_MOST_PLANS`` plans, clear it first."""
    if key is not None:
        if len(data._plans) >= _MOST_PLANS:
            data._plans.clear()
        data._plans[key] = plan
    return plan
