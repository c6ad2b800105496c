"""The workspace of the algorithms, and their results under Pinocchio's names."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pinocchio as pin

from .._engine import calls as _calls
from .._engine import entry_points as kernels
from .._engine.choice import engine, functions_of
from .._engine.kernels.tables.tree_layout import KEEP
from .._engine.operations import CALLED, CONTACT_RATES, COUPLING_DERIVATIVES, HELPERS, HYBRID, Function, Helper
from .._support.arrays import on_a_page
from ..errors import NotAvailableError
from .derivative_memory import DerivativeMemory
from .owed_members import OwedMembers, owed
from .parts import ModelParts
from .regressor_tables import RegressorMemory
from .tree_attributes import forwarded
from .tree_memory import made

if TYPE_CHECKING:
    from .cluster_model import ClusterModel

# the kernels of operations that calls know, for robots without closed loops and with them
_KERNELS = {
    loops: {name: kernels.of(name, loops) for name in dict.fromkeys(one.operation.name for one in CALLED)}
    for loops in (False, True)
}
_NOBODY = object()  # no model that anybody can give
_GROUPS = {one.operation.name: one.operation.group for one in CALLED}
# which call a kernel
_CALLS_OF = {kernel: [one for one in CALLED if one.operation.name == kernel] for kernel in _GROUPS}
# calls that ask how G changes, where it does
_OF_CHANGES = tuple(one.name for one in HELPERS if one.changes)
_FORCED = ("aba", "rnea_derivatives")  # what calls run with external forces, at addresses of their own
_OF_LOOPS = ("coupling", "coupling_rate", "motion_rates")  # results of what moves the loops
# what a copy takes over
_ARRAYS = ("_tau", "_ddq", "_nle", "_g", "_Minv", "_J", "_Jcom", "_Ag", "_G")
_MORE_ARRAYS = ("_dJ", "_dAg", "_moved", "_coupled")  # not in pickles from before derivatives
_VALUES = (
    "lambda_c",
    "impulse_c",
    "dq_after",
    "kinetic_energy",
    "potential_energy",
    "mechanical_energy",
    "tree",
    "check",
)


def with_loops(model: ModelParts) -> bool:
    """Whether to take kernels that know closed loops. With checked bounds always: their code has that of the others."""
    return bool(model.closures) or kernels.BOUNDSCHECK


def _result(get: Callable[[ClusterData], Any], doc: str) -> Any:
    """Return a property for a result that is kept in another form."""
    return property(get, doc=doc)


def _energy(i: int, doc: str) -> Any:
    """Return a property for one of the energies, which calls in machine code write as well."""

    def get(data: ClusterData) -> float:
        return float(data._kept[i])

    def put(data: ClusterData, value: float) -> None:
        data._kept[i] = value

    return property(get, put, doc=doc)


def _made_again(model: ClusterModel, name: str) -> ClusterData:
    """Return a data with the engine of another."""
    with engine("tables" if name == "tables" else "auto"):
        return ClusterData(model)


def _same(x: Any, y: Any) -> bool:
    """Return whether two results are equal, or of the same NaN."""
    if isinstance(x, tuple):
        return all(map(_same, x, y))
    return np.array_equal(x, y, equal_nan=True) if isinstance(x, np.ndarray) else bool(x == y)


class ClusterData(OwedMembers):
    """Workspace and results; make it with ``model.createData()``, one per thread.

    Result arrays may be changed in place; no algorithm reads them. Copies and pickles keep the results.

    Attributes:
        model: The model it belongs to.
        impulse_c: Their impulses, after ``impulseDynamics``.
        dq_after: Independent velocity after the impact.
    """

    __slots__ = (
        "_M",
        "_M_kernel",
        "_Minv",
        "_check",
        "_contact_desk",
        "_contacts_found",
        "_ddq",
        "_derivatives",
        "_desk",
        "_g",
        "_kept",
        "_known",
        "_lambda_c",
        "_loop_work",
        "_nle",
        "_plans",
        "_pointers",
        "_record",
        "_regressors",
        "_tau",
        "_unchecked",
        "_work",
        "_zeros",
        "dq_after",
        "impulse_c",
    )

    _derivatives: DerivativeMemory
    _contacts_found: tuple[int, float]  # rank and residual

    model: ClusterModel = forwarded("_model", "The model it belongs to.")
    tau = owed("tau", "_tau", "Result of ``rnea``, shape (nv,).")
    ddq = forwarded("_ddq", "Result of ``aba``, shape (nv,).")
    nle = owed("nle", "_nle", "Result of ``nonLinearEffects``, shape (nv,).")
    g = owed("g", "_g", "Result of ``computeGeneralizedGravity``, shape (nv,).")
    Minv = forwarded("_Minv", "Result of ``computeMinverse``, shape (nv, nv).")
    M = owed("M", "_M", "Result of ``crba``, shape (nv, nv): the same array at all times.")
    J = owed("J", "_J", "Result of ``computeJointJacobians``, shape (6, nv), in the world.")
    Jcom = owed("Jcom", "_Jcom", "Result of ``jacobianCenterOfMass``, shape (3, nv).")
    Ag = owed("Ag", "_Ag", "Result of ``computeCentroidalMap`` and ``ccrba``, shape (6, nv).")
    dJ = owed("dJ", "_dJ", "Result of ``computeJointJacobiansTimeVariation``, shape (6, nv), in the world.")
    dAg = owed("dAg", "_dAg", "Result of ``dccrba`` and ``computeCentroidalMapTimeVariation``, shape (6, nv).")
    oMi = owed("oMi", "_tree.oMi", "Placements of the joints in the world, after ``forwardKinematics``.")
    liMi = owed("liMi", "_tree.liMi", "Placements of the joints in their parents, after ``forwardKinematics``.")
    oMf = forwarded("_tree.oMf", "Placements of the frames in the world, after ``updateFramePlacements``.")
    v = owed("v", "_tree.v", "Spatial velocities of the joints in their own frames, after ``forwardKinematics``.")
    a = owed("a", "_tree.a", "Spatial accelerations of the joints in their own frames, after ``forwardKinematics``.")
    a_gf = owed(
        "a_gf", "_tree.a_gf", "Spatial accelerations of the joints less gravity, in their own frames, after ``rnea``."
    )
    f = owed("f", "_tree.f", "Forces that each joint transmits to its subtree, in its own frame, after ``rnea``.")
    com = owed("com", "_tree.com", "Centres of mass, after ``centerOfMass``.")
    vcom = owed("vcom", "_tree.vcom", "Velocities of the centres of mass, after ``centerOfMass``.")
    acom = forwarded("_tree.acom", "Accelerations of the centres of mass, after ``centerOfMass``.")
    mass = owed("mass", "_tree.mass", "Masses of the subtrees, after ``centerOfMass``.")
    Ig = owed(
        "Ig", "_tree.Ig", "Inertia of the whole robot about its centre of mass, in axes of the world, after ``ccrba``."
    )
    kinetic_energy = _energy(0, "Result of ``computeKineticEnergy``, [J].")
    potential_energy = _energy(1, "Result of ``computePotentialEnergy``, [J].")
    mechanical_energy = _energy(2, "Result of ``computeMechanicalEnergy``, [J].")
    hg = owed(
        "hg",
        "_tree.hg",
        "Momentum about the centre of mass, after ``computeCentroidalMomentum``, ``ccrba`` and their kin.",
    )
    dhg = owed(
        "dhg",
        "_tree.dhg",
        "Rate of the momentum about the centre of mass, after ``computeCentroidalMomentumTimeVariation``.",
    )

    dtau_dq: np.ndarray = _result(
        lambda data: data._derivatives.dtau_dq.copy(),
        "Derivative of the torques by q, of the last derivatives of inverse dynamics, shape (nv, nv); a copy.",
    )
    dtau_dv: np.ndarray = _result(lambda data: data._derivatives.dtau_dv.copy(), "The same by v.")
    ddq_dq: np.ndarray = _result(
        lambda data: data._derivatives.ddq[0].copy(),
        """Derivative of the accelerations by q, shape (nv, nv); a copy.

        Of ``computeABADerivatives``, or with contacts; after those of an impact of the change of velocities.
        """,
    )
    ddq_dv: np.ndarray = _result(lambda data: data._derivatives.ddq[1].copy(), "The same by v.")
    ddq_dtau: np.ndarray = _result(
        lambda data: data._derivatives.ddq_dtau.copy(), "The same by tau, of ``computeConstraintDynamicsDerivatives``."
    )
    dlambda_dq: np.ndarray = _result(
        lambda data: data._derivatives.rates_of_forces(0),
        "Derivative of the forces of contacts by q, or of their impulses, shape (rows, nv); a copy.",
    )
    dlambda_dv: np.ndarray = _result(lambda data: data._derivatives.rates_of_forces(1), "The same by v.")
    dlambda_dtau: np.ndarray = _result(
        lambda data: data._derivatives.rates_of_forces(2),
        "The same by tau, of ``computeConstraintDynamicsDerivatives``.",
    )
    C: np.ndarray = _result(
        lambda data: data._derivatives.C.copy(), "Result of ``computeCoriolisMatrix``, shape (nv, nv); a copy."
    )
    contact_rank: int = _result(
        lambda data: int(data._contacts_found[0]),
        "Rank of the rows of the contacts of the last call: less than ``len(lambda_c)`` if they are redundant.",
    )
    contact_residual: float = _result(
        lambda data: float(data._contacts_found[1]),
        """By how much the contacts of the last call miss what is asked of them, [m/s^2] or [rad/s^2], of impacts [m/s].

        Not zero if they contradict each other, are damped or iterated; 0.0, up to rounding, if they are independent.
        """,
    )
    # copies: what is always zero is never written again, and users write to them
    jointTorqueRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().torque.copy(),
        "Result of ``computeJointTorqueRegressor``, shape (nv, parameters).",
    )
    staticRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().static.copy(),
        "Result of ``computeStaticRegressor``, shape (3, columns).",
    )
    kineticEnergyRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().kinetic.copy(),
        "Result of ``computeKineticEnergyRegressor``, shape (parameters,).",
    )
    potentialEnergyRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().potential.copy(),
        "Result of ``computePotentialEnergyRegressor``, shape (parameters,).",
    )

    def __init__(self, model: ClusterModel) -> None:
        self._model, self._functions = model, functions_of(model)
        (self._work,) = on_a_page(model._tables.work)
        # of the couplings of the tree: no other function moves the loops there
        (self._loop_work,) = on_a_page(model._tables.work) if model.closures else (self._work,)
        nv = model.nv
        self._kernels = _KERNELS[with_loops(model)]
        self._regressors: RegressorMemory | None = None
        # views, which nobody can resize: their addresses are kept
        self._tau, self._ddq, self._nle, self._g = np.zeros((4, nv))
        # the kernels write flat arrays; M and Minv are views of them
        flat_M, flat_Minv = np.zeros((2, nv * nv))
        self._M_kernel, self._Minv = flat_M.reshape(nv, nv), flat_Minv.reshape(nv, nv)
        self._M = np.zeros((nv, nv))
        self._lay_out_owed()
        coupling, with_rate = self._lay_out_tree()
        self.lambda_c, self.impulse_c, self.dq_after = np.zeros(0), np.zeros(0), np.zeros(nv)
        self._contacts_found = 0, 0.0
        self._kept = np.zeros(3)  # kinetic, potential, mechanical energy
        self.check = False
        self._derivatives = DerivativeMemory(model.nq, nv, model._tables.velocities, model._tables.rates)
        results = {
            "ddq": self._ddq,
            "nle": self._nle,
            "g": self._g,
            "M": flat_M,
            "Minv": flat_Minv,
            "energy": np.zeros(2),
            # G of the tree, then its bias; rows that do not depend on q stay as they are
            "coupling": coupling,
            "coupling_rate": with_rate,
            # external forces stand behind the result
            "forced": np.zeros(nv + 6 * model.njoints),
            "rates": self._derivatives.rates,
            "motion_rates": self._derivatives.rates,
        }
        first = kernels.Pointer(model._index, model._params, self._work, self._tau)
        self._pointers = {"tau": first, "tree": self._tree_tables, "moved": self._moved_tables}
        for name, array in results.items():
            self._pointers[name] = first.beside(self._loop_work if name in _OF_LOOPS else self._work, array)
        if self._functions is not None:
            wishes = self._functions.wishes
            self._pointers["motion_rates"].lead_to(wishes[COUPLING_DERIVATIVES.name].table)
            for name in ("ddq", "forced"):
                self._pointers[name].lead_to(wishes[HYBRID.name].table)
        self._lay_out()

    def _lay_out(self) -> None:
        """Fill the desk: what calls in machine code have at hand."""
        model = self._model
        self._zeros = np.zeros(model.nv)
        self._plans: dict[Any, Any] = {}
        self._contact_desk: Any = None  # of the contacts of the last call
        self._known = _calls.Recollection()
        pointers, nv = self._pointers, model.nv
        # at once, which takes a third of the time; shapes after the counts that they are checked against
        desk = _calls.records.DataDesk(
            model=model._index, nq=model.nq, nv=nv, njoints=model.njoints, nframes=model.nframes,
            matrix=(nv, nv), motion=(6, nv), of_point=(3, nv), hessian=(6, nv, nv),
            owed=self._owed_words, states=self._kept_states, zeros=self._zeros, tau=self._tau, ddq=self._ddq,
            M=self._M_kernel, Minv=self._Minv, M_live=self._M,
            energies=pointers["energy"].arrays[-1], kept=self._kept, known=self._known,
            forces=pointers["forced"].arrays[-1][nv:], also=KEEP if model.closures else 0,
            coupling_tables=pointers["coupling"], rate_tables=pointers["coupling_rate"],
            motion_rates_tables=pointers["motion_rates"], coupled_size=self._turned.size // 2,
            coupled=self._coupled, turned=self._turned, bends_size=self._bends.size, bends=self._bends,
            **{name: self._section(name, n) for name, n in self._states().items()}, **self._derivatives.rooms(),
        )  # fmt: skip
        self._derivatives.desk = desk
        desk.owned["tables"] = tuple(pointers.values())
        self._record, self._desk = desk, _calls.Desk(desk)  # written is our own, whatever is put in the other's place
        self._take_tree(made(model.own_tree), new=True)

    def _notice(self, kernel: str) -> None:
        """Put a kernel on the desk that has just been compiled."""
        if kernel in _FORCED:
            self._know_kernels()
        address, desk = self._callable(kernel), self._record
        couplings = (desk.coupling, desk.coupling_rate) != self._couplings()
        if couplings or any(desk[one.name][0] != self._address(one, address) for one in _CALLS_OF[kernel]):
            self._use_compiled()

    def _notice_motion(self) -> None:
        """Put what differentiates loops on the desk, if it has just been compiled."""
        if self._model.closures and self._record.motion_rates != self._motion_rates():
            self._use_compiled()

    def _put_tree_on_desk(self) -> None:
        """Let the desk own the tree's data, and know where it is."""
        before = self._desk  # whose end may call: what the numbers lead to stays until they lead elsewhere
        self._record.put(own_tree=self._model.own_tree, tree_data=self._tree)
        self._own("tree", self._tree, self._watch)
        self._record.tree_words = self._watch
        del before

    def _own(self, part: str, *things: Any) -> None:
        """Let the desk own things in place of those that were there: what slots have now is no matter of calls."""
        self._record.owned[part] = things
        self._desk = _calls.Desk(self._record)

    def _know_kernels(self) -> None:
        forward, inverse = map(self._forced_address, _FORCED)
        kernel, special = self._kernels[_FORCED[1]].compiled_address, self._functions
        rates = kernels.contact_rates.compiled_address if kernel else 0
        if special is not None:
            rates = int(special.address(CONTACT_RATES.name, rates))
        self._derivatives.know(forward, inverse, kernel, rates)

    def _forced_address(self, kernel: str) -> int:
        """Return the address of what does a kernel's work with external forces, 0 if that is not made."""
        special, own = self._functions, self._kernels[kernel].compiled_address
        return own if special is None else int(special.forced_address(kernel, own))

    def _use_compiled(self) -> None:
        """Put kernels that are compiled on the desk."""
        desk = self._record
        self._know_kernels()
        if self._model.closures:
            desk.coupling, desk.coupling_rate = self._couplings()
            desk.motion_rates = self._motion_rates()
        found, callables = [], {kernel: self._callable(kernel) for kernel in _CALLS_OF}
        for one in CALLED:
            address = self._address(one, callables[one.operation.name])
            if one.name in _OF_CHANGES and self._model.closures and not desk.motion_rates:
                address = 0
            pointer = self._pointers.get(one.tables)  # tables of the regressor are made when it is asked for
            found.append((address, pointer.address if pointer else 0))
            if address:
                _calls.connect(ClusterData, one.operation.group)
        desk.put_kernels(found)

    def _address(self, one: Function | Helper, kernel: int) -> int:
        """Return what a call should take: a function of the model's own, or the kernel."""
        special = self._functions
        return kernel if special is None else int(special.address(one.name, kernel))

    def _couplings(self) -> tuple[int, int]:
        """Return the addresses of what brings couplings to a state, and with their rates; 0 if that is not made."""
        special, own = self._functions, kernels.coupling.compiled_address if self._model.closures else 0
        if special is None or not self._model.closures:
            return own, own
        return int(special.address("coupling", own)), int(special.address("coupling_rate", own))

    def _motion_rates(self) -> int:
        """Return the address of what differentiates couplings, 0 if that is not made."""
        special, own = self._functions, kernels.coupling_derivatives.compiled_address
        return own if special is None else int(special.address(COUPLING_DERIVATIVES.name, own))

    def _callable(self, kernel: str) -> int:
        """Return the address of a kernel, 0 if calls in machine code cannot do all that there is to do."""
        group = _GROUPS[kernel]
        if group == "regressor" and self._regressors is None:
            return 0
        if group in ("tree", "regressor") and self._model.closures and not self._couplings()[0]:
            return 0
        if group == "tree" and (self._other_fields or self._model._tree_tables.settles):
            return 0
        own, special = self._kernels[kernel].compiled_address, self._functions
        return own if special is None or kernel not in special.wishes else int(special.address(kernel, own))

    def _run(self, kernel: str, result: str, *arrays: Any, of: str = "") -> int:
        """Run a kernel, compiled if need be, and return its code; the arrays must be what it takes.

        ``result`` is what its tables lead to; ``of`` the function of users that wants it, where that does not tell.
        """
        special = self._functions
        code: int | None = None if special is None else special.run(of, kernel, result, self._pointers[result], *arrays)
        if code is None:
            code = self._kernels[kernel].call(self._pointers[result], *arrays)
        self._notice(kernel)
        if kernel == "crba":
            self._changed()
        return code

    def _ready(self, kernel: str, *arrays: Any) -> int:
        """Return the address of what does a kernel's work with such arguments, made or compiled now."""
        special = self._functions
        if special is not None and kernel in special.wishes:
            return int(special.wishes[kernel].address(*arrays))
        return kernels.of(kernel, with_loops(self._model)).address()

    @property
    def engine(self) -> str:
        """Which engine it works with: ``traced`` where that can be, or ``tables``; see ``pc.engine``."""
        return "tables" if self._functions is None else "traced"

    @property
    def check(self) -> bool:
        """Whether every algorithm checks q, unit norms, and that nobody changed ``model.tree``."""
        return self._check

    @check.setter
    def check(self, value: bool) -> None:
        self._check = bool(value)
        # what calls in machine code compare with the model they are given: nothing fits while checks are on, or where
        # a Python function must be called first
        self._unchecked = _NOBODY if value or self._model._tables.supplies else self._model

    @property
    def lambda_c(self) -> np.ndarray:
        """Forces of contacts or constraints, after ``constraintDynamics`` or ``forwardDynamics``."""
        return self._lambda_c

    @lambda_c.setter
    def lambda_c(self, value: np.ndarray) -> None:
        # calls in machine code write to the array that they left here
        self._lambda_c, self._contact_desk = value, None

    def _supply(self, q: np.ndarray) -> None:
        """Bring the derivatives of the user's Python functions, where there are any, to q."""
        for supply in self._model._tables.supplies:
            x = q[list(supply.iq)]
            numbers = np.concatenate([supply.closure.jacobian(x).ravel(), supply.closure.hessian(x).ravel()])
            for work in (self._work, self._loop_work):
                work[supply.room : supply.room + numbers.size] = numbers

    def _changed(self) -> None:
        """Let users see the kernel's mass matrix: not itself, as it has zeros that are never written again."""
        self._M[...] = self._M_kernel

    def _regressor_memory(self) -> RegressorMemory:
        """Return where regressors stand, made now if need be."""
        if self._regressors is None:
            self._regressors = RegressorMemory(self._model, self._tree_tables.arrays[-1])
            self._pointers["regressor"] = self._regressors.pointer
            self._own("regressors", self._regressors, self._regressors.pointer)
            self._regressors.put_on(self._record)
        return self._regressors

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model, the results and whether to check."""
        state = {name: getattr(self, name) for name in (*_ARRAYS, *_MORE_ARRAYS, "_M_kernel", *_VALUES)}
        state["owed"] = self._owed_words, self._kept_states
        if self._regressors is not None:
            state["regressors"] = self._regressors.results()
        return _made_again, (self._model, self.engine), state

    def __eq__(self, other: object) -> bool:
        """Return whether the robot and all results are the same."""
        if self is other:
            return True
        if not isinstance(other, ClusterData):
            return False
        mine, its = self._model, other._model
        if mine is not its and (mine.own_tree != its.own_tree or mine.constraints != its.constraints):
            return False
        self._pay_all()
        other._pay_all()
        a, b = self.__reduce__()[2], other.__reduce__()[2]
        return all(_same(a[name], b.get(name)) for name in a)

    __hash__ = object.__hash__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over results; the kernels keep their addresses."""
        for name in (*_ARRAYS, "_M_kernel"):
            getattr(self, name)[...] = state[name]
        for name in _MORE_ARRAYS:
            if name in state and state[name].shape == getattr(self, name).shape:
                getattr(self, name)[...] = state[name]
        if "regressors" in state:
            self._regressor_memory().take(state["regressors"])
        self._changed()
        self._lost = bool(np.isnan(self._G).any())
        if "owed" in state:
            self._owed_words[...], self._kept_states[...] = state["owed"]
        else:
            self._note(0, spoils=state.get("lost", 0))
        for name in _VALUES:
            if name in state:  # pickles from before contacts have less
                setattr(self, name, state[name])

    def copy(self) -> ClusterData:
        """Return another workspace of the same model, with the same results."""
        return copy.deepcopy(self)

    def __getattr__(self, name: str) -> NoReturn:
        """Explain why an attribute is missing; reached only for names that do not exist."""
        if not name.startswith("_") and hasattr(pin.Data, name):
            raise NotAvailableError(
                f"ClusterData has no {name!r}: no cluster algorithm fills it. Of the spanning tree, without what "
                "rotors and loops add, it is that of Pinocchio: tree = model.inertia_tree; d = tree.createData(); "
                "pinocchio.rnea(tree, d, q, pc.spanning_velocity(model, data, q, v), "
                f"pc.spanning_acceleration(model, data, q, v, a)), or the function that fills it, then d.{name}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"ClusterData of {self._model!r}"
