"""The workspace of the algorithms, and their results under Pinocchio's names."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from .._support.arrays import on_a_page
from ..compiler import entry_points as kernels
from ..compiler.choice import engine, functions_of
from ..compiler.operations import COUPLING_DERIVATIVES, OPERATIONS
from ..errors import NotAvailableError
from .derivative_memory import DerivativeMemory, Result
from .owed_members import OwedMembers, owed
from .parts import ModelParts
from .regressor_tables import NAMES, RegressorMemory
from .tree_attributes import forwarded
from .tree_memory import made

# the kernels of operations that calls know, for robots without closed loops and with them
_KERNELS = {loops: {one.name: kernels.of(one.name, loops) for one in OPERATIONS} for loops in (False, True)}
# what plans of calls call the arrays of data
_OF_MOMENTUM = ("dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da")
_TABLES = {"forced": "forced", "energies": "energy"}
_OWN = {"zeros": "_zeros", "tau": "_tau", "ddq": "_ddq", "kept": "_kept", "M": "_M_kernel", "Minv": "_Minv"}
_OF_DERIVATIVES = {"after_rnea": "state", "unasked": "tau", "velocities": "tree"}
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


def _vector(name: str, doc: str) -> Any:
    """Return a property for a vector of any length, which calls of the extension write as well."""

    def get(data: ClusterData) -> np.ndarray:
        found: np.ndarray = getattr(data, name).get()
        return found

    def put(data: ClusterData, value: Any) -> None:
        if getattr(data, name).put(value):
            data._forget_plans()  # which write to the room that was too small

    return property(get, put, doc=doc)


def _made_again(model: ModelParts, name: str) -> ClusterData:
    """Return a data with the engine of another."""
    with engine("tables" if name == "tables" else "auto"):
        return ClusterData(model)


def _same(x: Any, y: Any) -> bool:
    """Return whether two results are equal, or of the same NaN."""
    if isinstance(x, tuple):
        return all(map(_same, x, y))
    return np.array_equal(x, y, equal_nan=True) if isinstance(x, np.ndarray) else bool(x == y)


class _Tables(dict[str, kernels.Pointer]):
    """Tables of kernels by the name of their result; those of most results are made when they are needed."""

    def __init__(
        self, first: kernels.Pointer, tree: kernels.Pointer, moved: kernels.Pointer,
        results: dict[str, tuple[np.ndarray, np.ndarray]], functions: Any,
    ) -> None:  # fmt: skip
        super().__init__(tau=first, tree=tree, moved=moved)
        self._results, self._functions = results, functions

    def __missing__(self, name: str) -> kernels.Pointer:
        made = self[name] = self["tau"].beside(*self._results[name])
        if self._functions is not None:
            made.lead_to(self._functions.tables_of_wishes)
        return made


class ClusterData(OwedMembers):
    """Workspace and results; make it with ``model.createData()``, one per thread.

    Result arrays may be changed in place; no algorithm reads them. Copies and pickles keep the results.

    Attributes:
        model: The model it belongs to.
    """

    __slots__ = (
        "_M",
        "_M_kernel",
        "_Minv",
        "_check",
        "_contacts_found",
        "_ddq",
        "_dq_after",
        "_forces",
        "_g",
        "_impulses",
        "_kept",
        "_loop_work",
        "_memory",
        "_nle",
        "_plans",
        "_pointers",
        "_regressors",
        "_tau",
        "_unchecked",
        "_work",
        "_zeros",
    )

    _contacts_found: np.ndarray  # rank, residual and damping of the contacts of the last call

    model: Any = forwarded("_model", "The model it belongs to.")  # a ``ClusterModel``, whose module imports this one
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
    lambda_c: np.ndarray = _vector(
        "_forces", "Forces of contacts or constraints, after ``constraintDynamics`` or ``forwardDynamics``."
    )
    impulse_c: np.ndarray = _vector("_impulses", "Impulses of contacts, after ``impulseDynamics``.")
    dq_after: np.ndarray = _vector("_dq_after", "Independent velocity after the impact.")
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

    def __init__(self, model: ModelParts) -> None:
        self._model, self._functions = model, functions_of(model)
        (self._work,) = on_a_page(model.tables.work)
        # of the couplings of the tree: no other function moves the loops there
        (self._loop_work,) = on_a_page(model.tables.work) if model.closures else (self._work,)
        nv = model.nv
        self._kernels = _KERNELS[with_loops(model)]
        self._regressors: RegressorMemory | None = None
        # views, which nobody can resize: their addresses are kept
        self._tau, self._ddq, self._nle, self._g = np.zeros((4, nv))
        # the kernels write flat arrays; M and Minv are views of them
        flat_M, flat_Minv = np.zeros((2, nv * nv))
        self._M_kernel, self._Minv = flat_M.reshape(nv, nv), flat_Minv.reshape(nv, nv)
        self._M = np.zeros(nv * nv).reshape(nv, nv)
        self._lay_out_owed()
        coupling, with_rate = self._lay_out_tree()
        self._forces, self._impulses, self._dq_after = Result(0), Result(0), Result(nv)
        # _kept: kinetic, potential, mechanical energy
        self._contacts_found, self._kept = np.zeros((2, 3))
        self.check = False
        (rates,) = on_a_page(np.zeros(model.tables.rates))
        self._memory: DerivativeMemory | None = None
        own, loops = self._work, self._loop_work
        self._pointers = _Tables(
            kernels.Pointer(model.tables.index, model.tables.params, own, self._tau),
            self._tree_tables,
            self._moved_tables,
            {
                "ddq": (own, self._ddq), "nle": (own, self._nle), "g": (own, self._g), "M": (own, flat_M),
                "Minv": (own, flat_Minv), "energy": (own, np.zeros(2)),
                # G of the tree, then its bias; rows that do not depend on q stay as they are
                "coupling": (loops, coupling), "coupling_rate": (loops, with_rate),
                # external forces stand behind the result
                "forced": (own, np.zeros(nv + 6 * model.njoints)), "rates": (own, rates),
                "motion_rates": (loops, rates),
            },
            self._functions,
        )  # fmt: skip
        (self._zeros,) = np.zeros((1, nv))
        self._plans: dict[Any, Any] = {}
        self._take_tree(made(model.own_tree), new=True)

    @property
    def _derivatives(self) -> DerivativeMemory:
        """Memory of derivatives, made when it is needed."""
        if self._memory is None:
            model = self._model
            rates = self._pointers["rates"].arrays[-1]
            self._memory = DerivativeMemory(model.nq, model.nv, model.tables.velocities, rates)
        return self._memory

    def _named(self, name: str) -> np.ndarray:
        """Return an array by the name that plans of calls have for it."""
        if name in _OWN:
            return np.asarray(getattr(self, _OWN[name]))
        if name in NAMES:
            return np.asarray(getattr(self._regressors, name))
        if name in _TABLES:
            return self._pointers[_TABLES[name]].arrays[-1]
        mine = self._derivatives
        if name in _OF_MOMENTUM:
            i = 6 * _OF_MOMENTUM.index(name)
            return mine.total[i : i + 6]
        if name in ("ddq_dq", "ddq_dv"):
            return mine.ddq[int(name == "ddq_dv")]
        return np.asarray(getattr(mine, _OF_DERIVATIVES.get(name, name)))

    def _shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a result by the name that plans of calls have for it."""
        nv = self._model.nv
        if name == "regressor":
            return self._regressor_memory().torque.shape
        return {
            "nv": (nv,), "matrix": (nv, nv), "motion": (6, nv), "of_point": (3, nv), "hessian": (6, nv, nv)
        }[name]  # fmt: skip

    def _code(self, name: str, kernel: str) -> int:
        """Return the address of the code of a function: the model's own, or its kernel; 0 if it is not compiled."""
        special, own = self._functions, self._kernels[kernel].compiled_address
        if special is None:
            return own
        if kernel in special.wishes:
            return int(special.address(kernel, own))
        return int(special.address(name, own))

    def _code_with_forces(self, kernel: str) -> int:
        """Return the address of what does a kernel's work with external forces; 0 if it is not compiled."""
        special, own = self._functions, self._kernels[kernel].compiled_address
        return own if special is None else int(special.forced_address(kernel, own))

    def _code_of_coupling(self, name: str) -> int:
        """Return the address of what solves the loops, ``coupling`` or ``coupling_rate``; 0 if it is not compiled."""
        special, own = self._functions, kernels.coupling.compiled_address
        return own if special is None else int(special.address(name, own))

    def _code_of_motion_rates(self) -> int:
        """Return the address of what differentiates couplings, 0 if it is not compiled."""
        special, own = self._functions, kernels.coupling_derivatives.compiled_address
        return own if special is None else int(special.address(COUPLING_DERIVATIVES.name, own))

    def _run(self, kernel: str, result: str, *arrays: Any, of: str = "") -> int:
        """Run a kernel, compiled if need be, and return its code; the arrays must be what it takes.

        ``result`` is what its tables lead to; ``of`` the function of users that wants it, where that does not tell.
        """
        special = self._functions
        code: int | None = None if special is None else special.run(of, kernel, result, self._pointers[result], *arrays)
        if code is None:
            code = self._kernels[kernel].call(self._pointers[result], *arrays)
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
        # Plans know neither checks nor functions of the user that must be called first.
        self._unchecked = None if value or self._model.tables.supplies else self._model
        self._accept_model(self._unchecked)

    def _forget_plans(self, *function: Any) -> None:
        """Forget fast calls; those of frames and contacts are written again when they are asked next."""
        super()._forget_plans(*function)
        self._plans.clear()

    def _supply(self, q: np.ndarray) -> None:
        """Bring the derivatives of the user's Python functions, where there are any, to q."""
        for supply in self._model.tables.supplies:
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
            if self._functions is not None:
                self._regressors.pointer.lead_to(self._functions.tables_of_wishes)
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
