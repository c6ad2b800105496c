"""Tables of the contact kernel, and registration of contact calls, which the C extension then executes."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.tables import Table
from ...compiler import entry_points as kernels
from ...compiler.calls import Form, Watch, is_fast, register
from ...compiler.operations import CONTACT_FORCES, CONTACT_INVERSE, CONTACT_JACOBIAN, CONTACTS
from ...compiler.owed import OWED, READ_BY_JACOBIANS
from ...kernels.tables import contacts_layout as at
from ...model import ClusterData, ClusterModel, contact_memory
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared.force_columns import store
from .._shared.reach import Reach, arrays_of, body_of, home_of, movers
from ._forces import Solution, settings_for, solved_system
from ._objects import datas_of, models_of, size

_MODEL = {
    "placement1": "joint1_placement",
    "placement2": "joint2_placement",
    "desired_placement": "desired_contact_placement",
    "desired_velocity": "desired_contact_velocity",
    "desired_acceleration": "desired_contact_acceleration",
    "Kp": "Kp",
    "Kd": "Kd",
}
_DATA = {
    "oMc1": "oMc1",
    "oMc2": "oMc2",
    "c1Mc2": "c1Mc2",
    "velocity1": "contact1_velocity",
    "velocity2": "contact2_velocity",
    "placement_error": "contact_placement_error",
    "velocity_error": "contact_velocity_error",
    "acceleration_desired": "contact_acceleration_desired",
    "acceleration_error": "contact_acceleration_error",
}
_WANTED, _STEP = at.Contacts._fields.index("wanted"), at.Contacts._fields.index("step")
_MOST_KNOWN = 64
# The tables depend on these fields; if one of them has changed, the contact needs new tables.
_WATCHED = ("type", "joint1_id", "joint2_id", "reference_frame")


def laid_out(model: ClusterModel, models: Sequence[Any], places: Sequence[tuple[Any, Any]]) -> tuple[Table, int]:
    """Return the tables of contacts whose fields have the addresses ``places``, and the number of contact equations."""
    columns = sum(size(c) for c in models)
    reach = Reach(model, columns + 1)
    fields = at.Fields(**_offsets(*places[0])) if places else at.Fields(*[0] * len(at.Fields._fields))
    out = Table([(), fields, *[()] * len(models)], [0.0] * at.FIRST)
    out.params[at.ACCURACY] = columns * 1e6 * float(np.finfo(float).eps)
    column, root = 0, -1
    for i, (c, (of_model, of_data)) in enumerate(zip(models, places, strict=True), 2):
        sides = [_side(model, int(j)) for j in (c.joint1_id, c.joint2_id)]
        contact_columns = range(column, column + size(c))
        velocities = sorted({k for b, *_ in sides for k in movers(model, b, 0)})
        reach.add(contact_columns, velocities)
        (b1, root1, *_), (b2, root2, *_) = sides
        aligned = int(c.reference_frame == pin.LOCAL_WORLD_ALIGNED)
        bases = min(of_model[x] for x in _MODEL.values()), min(of_data[x] for x in _DATA.values())
        numbers = out.append([x for *_, to_joint, home in sides for x in (*to_joint.flat, *home)])
        out.append([0.0] * (at.CONTACT_NUMBERS - at.AXES))
        lists = *out.add_list(contact_columns), *out.add_list(velocities)
        out.rows[i] = at.Contact(
            b1,
            root1,
            b2,
            root2,
            numbers,
            *bases,
            of_data["contact_force"],
            len(contact_columns),
            aligned,
            *lists,
            int(root == root1),
        )
        column, root = contact_columns.stop, root1
    reach.add([columns], range(model.nv))
    out.rows[0] = at.Contacts(2, 2 + len(models), columns, columns + 1, at.DYNAMICS, len(out.rows), at.WHOLE)
    out.add_all(reach.rows())
    return out, columns


def places_of(model: ClusterModel, models: Sequence[Any], datas: Sequence[Any]) -> list[tuple[Any, Any]] | None:
    """Return the memory addresses of the fields of contacts and their data; None if the kernel cannot process them.

    The kernel requires known addresses, two different joints per contact, and no contact on a lumped rotor.
    """
    places = []
    for c, d in zip(models, datas, strict=True):
        of_model, of_data = contact_memory.addresses_of_model(c), contact_memory.addresses_of_data(d)
        if of_model is None or of_data is None:
            return None
        places.append((of_model, of_data))
    if len({tuple(_offsets(*pair).items()) for pair in places}) > 1:
        return None
    if any(c.joint1_id == c.joint2_id for c in models):
        return None
    if any(j and not body_of(model, j) for c in models for j in (c.joint1_id, c.joint2_id)):
        return None
    return places


class Plan:
    """Tables of the contact kernel for a list of contacts, whose memory the kernel reads and writes directly.

    Attributes:
        models: The contacts, stored to keep their memory alive, because the kernel reads it.
        forces: Forces of all contacts, concatenated, shape (rows,).
        numbers: Float table of the kernel, starting with restitution and damping.
        derivatives: Workspace of the derivatives, created on first use.
        known: Keys of the calls that are registered in the C extension.
    """

    __slots__ = (
        "_containers", "_gram", "_index", "_panel", "_redundant", "_status", "_variants", "_watch", "_work", "datas",
        "derivatives", "forces", "known", "models", "numbers",
    )  # fmt: skip

    def __init__(
        self, model: ClusterModel, models: Sequence[Any], datas: Sequence[Any], places: Sequence[tuple[Any, Any]]
    ) -> None:
        self.models, self.datas, self.known = models, datas, set[Any]()
        self.derivatives: Any = None
        out, n = laid_out(model, models, places)
        self._index, self.numbers, self._panel = arrays_of(model, out, n + 1)
        self._gram, self.forces = np.zeros((n + 1, n + 1)), np.zeros(n)
        self._work, self._status = np.zeros(2 * n * n + 2 * n), np.zeros(3)
        self._variants: dict[tuple[int, int], np.ndarray] = {}
        # Settings for redundant contacts: row 0 for forward dynamics, row 1 for impacts.
        self._redundant = np.zeros((2, at.SETTINGS))
        self._redundant.view(np.int64)[:, at.KIND] = at.WHEN_REDUNDANT

    def index_for(self, wanted: int, step: int = at.WHOLE) -> np.ndarray:
        """Return the integer table for the result ``wanted`` and the kernel step ``step``; create it if necessary."""
        table = self._variants.get((wanted, step))
        if table is None:
            table = self._variants[wanted, step] = self._index.copy()
            table[0, _WANTED], table[0, _STEP] = wanted, step
        return table

    def tables(self, wanted: int, step: int = at.WHOLE) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.index_for(wanted, step), self.numbers, self._panel, self._gram

    def run(
        self,
        model: ClusterModel,
        data: ClusterData,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        wanted: int = at.DYNAMICS,
        restitution: float = 0.0,
        damping: float = 0.0,
        step: int = at.WHOLE,
    ) -> np.ndarray | None:
        """Compute accelerations, velocities after an impact, or J M^-1 J'; return None for redundant contacts."""
        out, n = np.empty(model.nv), len(self.forces)
        self.numbers[[at.RESTITUTION, at.DAMPING]] = restitution, damping
        code = data._run("contacts", "ddq", q, v, tau, *self.tables(wanted, step), self.forces, out)
        if code == at.REDUNDANT:
            return None
        _check.status(model, code, q)
        return self._gram[:n, :n].copy() if wanted == at.DELASSUS else out

    def solve(
        self,
        model: ClusterModel,
        data: ClusterData,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        method: Any,
        wanted: int = at.DYNAMICS,
        restitution: float = 0.0,
    ) -> tuple[np.ndarray, Solution]:
        """Compute the contact forces by ``method``, as in ``_forces.solved``, and the accelerations or velocities."""
        self.run(model, data, q, v, tau, wanted, restitution, step=at.SYSTEM)
        solution = solved_system(self._gram, settings_for(method), self.forces, self._status)
        out = self.run(model, data, q, v, tau, wanted, restitution, step=at.GIVEN)
        assert out is not None
        return out, solution

    def whole(self, damping: float = 0.0) -> Solution:
        return Solution(self.forces, np.array([len(self.forces), 0.0, damping]), np.zeros(0))

    def warns(self, wanted: int) -> bool:
        """Return True only at the first call for ``wanted``, so that the warning about contradictions occurs once."""
        words = self._redundant.view(np.int64)[wanted]
        first, words[at.TOLD] = not words[at.TOLD], 1
        return first

    def remember(self, data: ClusterData, function: Any, positions: str, wanted: int, method: Any, rank: int) -> None:
        """Let the C extension execute calls of ``function``, as long as the contacts keep their memory addresses."""
        m, impact, iterated = len(self.forces), wanted == at.IMPACT, isinstance(method, pin.ProximalSettings)
        redundant = rank < m
        solves, key = iterated or redundant, (function.__name__, positions, iterated, redundant)
        code, solver = data._code(function.__name__, CONTACTS.name), kernels.contact_forces.compiled_address
        if key in self.known or not code or not is_fast(function) or (solves and not solver):
            return
        form = self.form(data, function, positions, ["r_coeff"] * impact + ["mu"] * (impact and not iterated))
        settings = self._redundant[wanted]
        if iterated and not take_settings(form, positions.split()[-1], settings := np.zeros(at.SETTINGS)):
            return
        if redundant and not iterated:
            form.checks.append(("equal", self.numbers[at.DAMPING :].view(np.int64), 0))
        vectors = ["q", "v", *["tau"] * (not impact)]
        form.checks += [("apart", form.size(x), form.word(x), data._ddq.size, data._ddq) for x in vectors]
        state = " ".join(["q", "v", "zeros" if impact else "tau"])

        def run(step: int, out: str, **arrays: np.ndarray) -> None:
            tables = {"asked": self.index_for(wanted, step), **arrays}
            names = f"{state} asked numbers panel gram forces {out}"
            form.run(CONTACTS, code, data._pointers["ddq"], names, arrays=tables)

        damping = self.numbers[at.DAMPING :]
        if solves:
            run(at.SYSTEM, "unasked", unasked=np.empty(data.model.nv))
            of_forces = {"how": settings, "counts": settings.view(np.int64)}
            names = "gram how counts work forces found"
            form.run(CONTACT_FORCES, solver, data._pointers["ddq"], names, arrays=of_forces)
            run(at.GIVEN, "+nv")
            damping = self._status[2:]
        else:
            run(at.WHOLE, "+nv")
        form.owes(OWED[function.__name__], vectors[: 1 if impact else 2], late=True)
        # computeConstraintDynamicsDerivatives and computeImpulseDynamicsDerivatives read this state.
        stored = data._derivatives.after_impact if impact else data._derivatives.after_contacts
        address = form.keep(stored, vectors, form.work)
        if impact:
            form.work.append(("copy", 1, address, self.numbers[at.RESTITUTION :]))
            form.save(data._dq_after.numbers, "out")
        form.work.append(("copy", 1, stored[-1:], damping))
        status = self._status if solves else self.whole().status
        leave_forces(form, data._impulses if impact else data._forces, self.forces, status)
        if not solves:
            form.work.append(("copy", 1, data._contacts_found[2:], damping))
        self.keep(form, key)

    def remember_delassus(self, data: ClusterData, function: Any) -> None:
        m, nv, inverts = len(self.forces), data.model.nv, is_fast(function) and "scaled" in function.positions
        code, inverse = data._code(function.__name__, CONTACTS.name), kernels.contact_inverse.compiled_address
        usable = code and is_fast(function) and m and (inverse or not inverts)
        variants = [("", 0), ("mu", 0), *[("mu scaled", 0), ("mu scaled", 1)] * inverts]
        for names, scaled in variants if usable else ():
            positions = f"q contact_models contact_datas {names}"
            key = function.__name__, positions, scaled
            if key in self.known:
                continue
            form, mu = self.form(data, function, positions), np.zeros(1)
            if "mu" in names:
                form.checks.append(("real", form.positions["mu"], mu))
            if "scaled" in names:
                form.checks.append(("flag", form.positions["scaled"], scaled, 0))
            form.shapes["square"] = m, m
            form.run(
                CONTACTS,
                code,
                data._pointers["ddq"],
                "q zeros zeros asked numbers panel gram forces unasked",
                arrays={"asked": self.index_for(at.DELASSUS), "unasked": np.empty(nv)},
            )
            form.owes(OWED["computeDelassusMatrix"], ["q"], late=True)
            if inverts:
                arrays = {"mu": mu, "scale": mu if scaled else np.ones(1)}
                form.run(CONTACT_INVERSE, inverse, data._pointers["ddq"], "gram mu scale work +square", arrays=arrays)
            else:
                out, gram, none = register(), form.lead_to(self._gram), np.zeros(0)
                places = (np.arange(m)[:, None] * (m + 1) + np.arange(m)).ravel()
                form.fresh((m, m), out)
                form.work.append(("gather", m * m, places, gram, gram, out))
                diagonal, first = np.arange(m) * (m + 1), np.zeros(m, dtype=np.int64)
                form.work.append(("affine", 0, none, none, m, diagonal, first, np.ones(m), form.lead_to(mu), out))
            self.keep(form, key)

    def rows(self, model: ClusterModel, data: ClusterData) -> np.ndarray:
        data._bring(READ_BY_JACOBIANS)
        _bridge.kept(model, data)
        J = np.empty((len(self.forces), model.nv))
        data._run_in_tree(
            CONTACT_JACOBIAN.name, data._tree_tables, self.index_for(at.DYNAMICS), *self._of_tree(model), J
        )
        return J

    def remember_rows(self, data: ClusterData, function: Any, names: str) -> None:
        code, key = data._kernels[CONTACT_JACOBIAN.name].compiled_address, (function.__name__, names)
        if not code or key in self.known or data._model.tables.tree.settles or not is_fast(function):
            return
        form = self.form(data, function, names)
        form.reads_tree()
        form.checks.append(("owes", data._owed_words, READ_BY_JACOBIANS))
        joints, work = self._of_tree(data.model)
        form.shapes["rows"] = len(self.forces), data.model.nv
        arrays = {"asked": self.index_for(at.DYNAMICS), "joints": joints, "work": work}
        form.run(CONTACT_JACOBIAN, code, data._tree_tables, "asked joints work +rows", arrays=arrays)
        self.keep(form, key)

    def _of_tree(self, model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
        joints = np.array([j for c in self.models for j in (c.joint1_id, c.joint2_id)], dtype=np.int64)
        return joints, np.zeros((6, model.nv))

    def remember_start(self, data: ClusterData, function: Any) -> None:
        m, key = len(self.forces), (function.__name__,)
        if key in self.known or not is_fast(function):
            return
        form = self.form(data, function, "contact_models contact_datas")
        for vector in (data._forces, data._impulses):
            leave_forces(form, vector, np.zeros(m), self.whole().status)
        self.keep(form, key)

    def form(self, data: ClusterData, function: Any, positions: str, numbers: Sequence[str] = ()) -> Form:
        """Create a ``Form`` for calls with these contacts; ``numbers`` lists which of r_coeff and mu are arguments."""
        form, names = Form(data, function, positions), positions.split()
        form.arrays |= {
            "numbers": self.numbers,
            "panel": self._panel,
            "gram": self._gram,
            "forces": self.forces,
            "work": self._work,
            "found": self._status,
        }
        form.kept += [self.models, self.datas, self._watch, self._containers]
        contacts = [name for name in names if name.startswith(("contact_", "constraint_"))]
        for name, x, items in zip(contacts, self._containers, (self.models, self.datas), strict=True):
            if not name.endswith("s"):  # the argument is a single contact, not a list
                x = items[0]
            is_list = type(x) in (list, tuple)
            form.checks.append(("items" if is_list else "same", form.positions[name], tuple(items) if is_list else x))
        table = self._watch.table
        form.checks.append(("unchanged", table.size, table))
        for name, at_number in (("r_coeff", at.RESTITUTION), ("mu", at.DAMPING)):
            argument = name if name in numbers and name in names else ""
            take_number(form, argument, self.numbers[at_number:], at_most_1=name == "r_coeff")
        return form

    def keep(self, form: Form, key: Any) -> None:
        self.known.add(key)
        form.remember(_MOST_KNOWN)

    def watch(self, contact_models: Any, contact_datas: Any, places: Sequence[tuple[Any, Any]]) -> bool:
        """Record which 64-bit words of memory change if the lists or the contacts change; return False if unknown."""
        words = contact_memory.words_of(contact_models, self.models), contact_memory.words_of(contact_datas, self.datas)
        if None in words:
            return False
        # The words of the lists come first, because the contacts may no longer exist if a list has changed.
        self._watch = Watch(
            [*chain(*filter(None, words)), *(fields[name] for fields, _ in places for name in _WATCHED)]
        )
        self._containers = contact_models, contact_datas
        return True

    def fits(self) -> bool:
        return self._watch.holds()


def take_number(form: Form, name: str, to: np.ndarray, at_most_1: bool) -> None:
    """Let calls write argument ``name`` (>= 0; <= 1 if ``at_most_1``) to ``to``, or 0 if the name is empty."""
    if not name:
        form.checks.append(("set", to.view(np.int64), 0))
        return
    form.checks += [("real", form.positions[name], to), ("reaches", to, 0), *[("at_most", to, 1)] * at_most_1]


def leave_forces(form: Form, vector: Any, forces: np.ndarray, status: np.ndarray) -> None:
    m = len(forces)
    form.work += [("copy", m, vector.numbers, forces), ("set", vector.size, m)]
    form.work.append(("copy", 3, form.owner._contacts_found, status))


def take_settings(form: Form, name: str, to: np.ndarray) -> bool:
    """Add a step that copies proximal settings from the argument ``name``; return False if their layout is unknown."""
    first = contact_memory.holder_of_settings()
    to.view(np.int64)[[at.KIND, at.TOLD]] = at.ITERATED, 1
    form.checks.append(("object", form.positions[name], pin.ProximalSettings, first, 2, at.KIND, to))
    return bool(first)


ContactSet = tuple[Plan | None, list[Any], list[Any]]
"""Plan (None if the kernel cannot process the contacts), contacts, and their data."""


class Contacts(NamedTuple):
    model: ClusterModel
    data: ClusterData
    q: np.ndarray  # configuration, shape (nq,)
    v: np.ndarray  # independent velocity, shape (nv,); for an impact, the velocity before the impact
    contacts: ContactSet  # result of ``find``
    method: Any  # solution method for the forces, as in ``_forces.solved``


def find(model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any) -> ContactSet:
    """Return the plan for the contacts (None if the kernel cannot process them), the contacts and their data."""
    if isinstance(contact_models, Iterator):
        contact_models = list(contact_models)
    if isinstance(contact_datas, Iterator):
        contact_datas = list(contact_datas)
    key = "contacts", *_identity(contact_models), None, *_identity(contact_datas)
    plan = data._plans.get(key)
    if plan is not None and plan.fits():
        return plan, plan.models, plan.datas
    models = models_of(model, contact_models)
    datas = datas_of(models, contact_datas)
    plan = _create(model, models, datas, contact_models, contact_datas)
    if plan is not None:
        store(data, key, plan)
    return plan, models, datas


def _identity(container: Any) -> list[int]:
    """Return the Python ids of the contacts in a list or tuple, or the id of any other container."""
    return list(map(id, container)) if type(container) in (list, tuple) else [id(container)]


def _create(
    model: ClusterModel, models: list[Any], datas: list[Any], contact_models: Any, contact_datas: Any
) -> Plan | None:
    places = places_of(model, models, datas)
    if places is None:
        return None
    plan = Plan(model, models, datas, places)
    return plan if plan.watch(contact_models, contact_datas, places) else None


def _offsets(of_model: dict[str, int], of_data: dict[str, int]) -> dict[str, int]:
    """Compute the offset of each field from the first field of its object, in multiples of 8 bytes."""
    first, begin = min(of_model[x] for x in _MODEL.values()), min(of_data[x] for x in _DATA.values())
    offsets = {name: (of_model[x] - first) // 8 for name, x in _MODEL.items()}
    return offsets | {name: (of_data[x] - begin) // 8 for name, x in _DATA.items()}


def _side(model: ClusterModel, j: int) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Return the body of joint j, its root body, the matrix from joint to body axes, and the kernel's world origin."""
    if j == 0:
        return 0, 0, np.eye(3), np.zeros(3)
    b, _, root, align, world = home_of(model, j)
    return b, root, align.T, world
