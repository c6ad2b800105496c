"""What the kernel of contacts is asked: tables of contacts and their places in memory, and its room."""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..._engine.calls import Form, Watch
from ..._engine.kernels.tables import contacts_layout as at
from ..._engine.operations import CONTACTS
from ..._engine.owed import OWED
from ..._support.tables import Table
from ...model import ClusterData, ClusterModel, contact_memory
from .._shared import check as _check
from .._shared.force_columns import keep
from .._shared.reach import Reach, arrays_of, body_of, home_of, movers
from ._forces import Solution, solved
from ._objects import datas_of, models_of, size

_MODEL = {
    "placement1": "joint1_placement", "placement2": "joint2_placement",
    "desired_placement": "desired_contact_placement", "desired_velocity": "desired_contact_velocity",
    "desired_acceleration": "desired_contact_acceleration", "Kp": "Kp", "Kd": "Kd",
}  # fmt: skip
_DATA = {
    "oMc1": "oMc1", "oMc2": "oMc2", "c1Mc2": "c1Mc2", "velocity1": "contact1_velocity",
    "velocity2": "contact2_velocity", "placement_error": "contact_placement_error",
    "velocity_error": "contact_velocity_error", "acceleration_desired": "contact_acceleration_desired",
    "acceleration_error": "contact_acceleration_error",
}  # fmt: skip
_WANTED, _STEP = at.Contacts._fields.index("wanted"), at.Contacts._fields.index("step")
# what decides the tables: a contact that has others is another one
_WATCHED = ("type", "joint1_id", "joint2_id", "reference_frame")


def laid_out(model: ClusterModel, models: Sequence[Any], places: Sequence[tuple[Any, Any]]) -> tuple[Table, int]:
    """Return the tables of contacts whose fields, and their data's, are at ``places``; and the number of columns."""
    columns = sum(size(c) for c in models)
    reach = Reach(model, columns + 1)
    fields = at.Fields(**_offsets(*places[0])) if places else at.Fields(*[0] * len(at.Fields._fields))
    out = Table([(), fields, *[()] * len(models)], [0.0] * at.FIRST)
    out.params[at.ACCURACY] = columns * 1e6 * float(np.finfo(float).eps)
    column, root = 0, -1
    for i, (c, (given, left)) in enumerate(zip(models, places, strict=True), 2):
        sides = [_side(model, int(j)) for j in (c.joint1_id, c.joint2_id)]
        mine = range(column, column + size(c))
        moved = sorted({k for b, *_ in sides for k in movers(model, b, 0)})
        reach.add(mine, moved)
        (b1, root1, *_), (b2, root2, *_) = sides
        aligned = int(c.reference_frame == pin.LOCAL_WORLD_ALIGNED)
        bases = min(given[x] for x in _MODEL.values()), min(left[x] for x in _DATA.values())
        numbers = out.append([x for *_, to_joint, home in sides for x in (*to_joint.flat, *home)])
        out.append([0.0] * (at.CONTACT_NUMBERS - at.AXES))
        lists = *out.add_list(mine), *out.add_list(moved)
        out.rows[i] = at.Contact(
            b1, root1, b2, root2, numbers, *bases, left["contact_force"], len(mine), aligned, *lists,
            int(root == root1),
        )  # fmt: skip
        column, root = mine.stop, root1
    reach.add([columns], range(model.nv))
    out.rows[0] = at.Contacts(2, 2 + len(models), columns, columns + 1, at.DYNAMICS, len(out.rows), at.WHOLE)
    out.add_all(reach.rows())
    return out, columns


def places_of(model: ClusterModel, models: Sequence[Any], datas: Sequence[Any]) -> list[tuple[Any, Any]] | None:
    """Return where the fields of contacts and of their data are; None if the kernel cannot do these contacts.

    That are fields that were not found, contacts of a joint with itself, whose force does nothing, and such on rotors
    that spin.
    """
    places = []
    for c, d in zip(models, datas, strict=True):
        given, left = contact_memory.addresses_of_model(c), contact_memory.addresses_of_data(d)
        if given is None or left is None:
            return None
        places.append((given, left))
    if len({tuple(_offsets(*pair).items()) for pair in places}) > 1:
        return None
    if any(c.joint1_id == c.joint2_id for c in models):
        return None
    if any(j and not body_of(model, j) for c in models for j in (c.joint1_id, c.joint2_id)):
        return None
    return places


class Plan:
    """Some contacts, side by side, whose objects the kernel reads.

    Attributes:
        models: The contacts; kept alive, as the kernel reads them.
        datas: Their data.
        forces: Of all of them, one behind the other.
        derivatives: What derivatives need besides, once there are some.
    """

    __slots__ = (
        "_gram", "_index", "_numbers", "_panel", "_watch", "containers",
        "datas", "derivatives", "forces", "models",
    )  # fmt: skip

    def __init__(
        self, model: ClusterModel, models: Sequence[Any], datas: Sequence[Any], places: Sequence[tuple[Any, Any]]
    ) -> None:
        """Lay out; places has the addresses of the fields of each contact and of its data."""
        self.models, self.datas, self.containers = models, datas, (None, None)
        self.derivatives: Any = None
        out, columns = laid_out(model, models, places)
        self._index, self._numbers, self._panel = arrays_of(model, out, columns + 1)
        self._gram, self.forces = np.zeros((columns + 1, columns + 1)), np.zeros(columns)

    def run(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
        wanted: int = at.DYNAMICS, restitution: float = 0.0, damping: float = 0.0, step: int = at.WHOLE,
    ) -> np.ndarray | None:  # fmt: skip
        """Return accelerations, velocities after an impact, or J M^-1 J'; None if rows are redundant.

        Raises:
            SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.
        """
        out, n = np.empty(model.nv), len(self.forces)
        given = q, v, tau, *self.tables, self.forces, out
        with self.asking(wanted, step, restitution, damping):
            code = data._run("contacts", "ddq", *given)
        if code == at.REDUNDANT:
            return None
        _check.status(model, code, q)
        return self._gram[:n, :n].copy() if wanted == at.DELASSUS else out

    def remember(self, data: ClusterData, function: Any) -> None:
        """Let the extension do forward dynamics with these contacts from now on, as long as they stay."""
        code = data._code(function.__name__, CONTACTS.name)
        if not code or not hasattr(function, "positions") or self.containers[0] is None:
            return
        form = Form(data, function, "q v tau contact_models contact_datas")
        form.checks += self.checks(form)
        form.checks += [("unlike", form.word(x), form.word("ddq")) for x in ("q", "v", "tau")]
        form.run(CONTACTS, code, data._pointers["ddq"], "q v tau asked numbers panel gram forces +nv")
        vectors = ["q", "v", "tau"]
        form.owes(OWED["constraintDynamics"], vectors)
        # Derivatives find the state here; the zero says that forces were neither damped nor iterated.
        at, room = 0, data._derivatives.after_contacts
        for name in vectors:
            form.work.append(("save", form.size(name), room[at : at + form.size(name)], form.word(name)))
            at += form.size(name)
        form.work.append(("set", room[-1:].view("i8"), 0))
        data._remember_contacts(function, form.plan())

    def checks(self, form: Form) -> list[Any]:
        """Return steps that see whether the contacts are those of the plan; the form gets its arrays."""
        names = "asked", "numbers", "panel", "gram", "forces"
        form.arrays |= dict(zip(names, (*self.tables, self.forces), strict=True))
        form.kept += [self.models, self.datas, self._watch, *self.tables, self.forces]
        containers = zip(("contact_models", "contact_datas"), self.containers, strict=True)
        table = self._watch.table
        return [*(("same", form.positions[name], x) for name, x in containers), ("unchanged", table.size, table)]

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What kernels of contacts take, in this order, before the forces."""
        return self._index, self._numbers, self._panel, self._gram

    def solve(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray, how: Any,
        wanted: int = at.DYNAMICS, restitution: float = 0.0,
    ) -> tuple[np.ndarray, Solution]:  # fmt: skip
        """Return motions with forces by dense equations, which may be redundant; and what is to be said of them.

        ``how``: see ``_forces.solved``; ``wanted``: DYNAMICS or IMPACT.
        """
        self.run(model, data, q, v, tau, wanted, restitution, step=at.SYSTEM)
        n = len(self.forces)
        A, b = np.triu(self._gram[:n, :n]), self._gram[:n, n].copy()
        A = A + np.triu(A, 1).T
        found = solved(A, b, how)
        self.forces[:] = found.forces
        out = self.run(model, data, q, v, tau, wanted, restitution, step=at.GIVEN)
        assert out is not None
        return out, found

    @contextlib.contextmanager
    def asking(self, wanted: int, step: int, restitution: float, damping: float) -> Iterator[None]:
        """Let the kernel be asked for something else; afterwards calls in machine code find all as it was."""
        row, numbers = self._index[0].copy(), self._numbers[[at.RESTITUTION, at.DAMPING]]
        self._index[0, _WANTED], self._index[0, _STEP] = wanted, step
        self._numbers[[at.RESTITUTION, at.DAMPING]] = restitution, damping
        try:
            yield
        finally:
            self._numbers[[at.RESTITUTION, at.DAMPING]] = numbers
            if (wanted, step) != (row[_WANTED], row[_STEP]):  # else code may have been made for it
                self._index[0] = row

    def watch(self, contact_models: Any, contact_datas: Any, places: Sequence[tuple[Any, Any]]) -> bool:
        """Note what tells that containers and contacts are still those of the tables, and own what is read.

        Returns:
            Whether they own their numbers, so that they can be read where they are.
        """
        found = [
            contact_memory.words_of(contact_models, self.models),
            contact_memory.words_of(contact_datas, self.datas),
        ]
        if None in found:
            return False
        lengths, items = (list(chain.from_iterable(x)) for x in zip(*filter(None, found), strict=True))
        # lengths and ends first: they tell whether there is anything behind
        self._watch = Watch([*lengths, *(given[name] for given, _ in places for name in _WATCHED)], items)
        self.containers = contact_models, contact_datas
        return True

    def fits(self) -> bool:
        """Whether the objects are still those of the tables."""
        return self._watch.holds()


Found = tuple[Plan | None, list[Any], list[Any]]
"""A plan, None if the kernel cannot do them; contacts; their data."""


class Contacts(NamedTuple):
    """A state of a robot with contacts."""

    model: ClusterModel  # the model
    data: ClusterData  # its workspace
    q: np.ndarray  # configuration
    v: np.ndarray  # velocity; of impacts that before
    found: Found  # what ``find`` returned
    how: Any  # how their forces are found, as ``_forces.solved`` takes it


def find(model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any) -> Found:
    """Return the plan of contacts, kept in the data, and contacts and their data as lists.

    No plan if the kernel cannot do them: rotors that spin, fields that were not found.
    """
    if isinstance(contact_models, Iterator):
        contact_models = list(contact_models)
    if isinstance(contact_datas, Iterator):
        contact_datas = list(contact_datas)
    key = "contacts", *_names(contact_models), None, *_names(contact_datas)
    plan = data._plans.get(key)
    if plan is not None and plan.fits():
        return plan, plan.models, plan.datas
    models = models_of(model, contact_models)
    datas = datas_of(models, contact_datas)
    plan = _made(model, models, datas, contact_models, contact_datas)
    if plan is not None:
        keep(data, key, plan)
    return plan, models, datas


def _names(container: Any) -> list[int]:
    """Return what tells a list of contacts from others, as long as it and they are alive."""
    return list(map(id, container)) if type(container) in (list, tuple) else [id(container)]


def _made(
    model: ClusterModel, models: list[Any], datas: list[Any], contact_models: Any, contact_datas: Any
) -> Plan | None:
    """Return a new plan, or None."""
    places = places_of(model, models, datas)
    if places is None:
        return None
    plan = Plan(model, models, datas, places)
    return plan if plan.watch(contact_models, contact_datas, places) else None


def _offsets(given: dict[str, int], left: dict[str, int]) -> dict[str, int]:
    """Return where fields stand from the first one on, in float64."""
    first, begin = min(given[x] for x in _MODEL.values()), min(left[x] for x in _DATA.values())
    found = {name: (given[x] - first) // 8 for name, x in _MODEL.items()}
    return found | {name: (left[x] - begin) // 8 for name, x in _DATA.items()}


def _side(model: ClusterModel, j: int) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Return of a joint its body, the root, the rotation from the body's frame to the joint's, the world's position."""
    if j == 0:
        return 0, 0, np.eye(3), np.zeros(3)
    b, _, root, align, world = home_of(model, j)
    return b, root, align.T, world
