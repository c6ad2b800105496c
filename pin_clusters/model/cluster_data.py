"""Defines the workspace of the algorithms, which contains their results under Pinocchio's names."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from .._support.arrays import on_a_page
from ..compiler import entry_points as kernels
from ..compiler.choice import engine, functions_of
from ..compiler.operations import OPERATIONS
from ..errors import NotAvailableError
from .derivative_memory import DerivativeMemory, Result
from .owed_members import OwedMembers, owed
from .parts import ModelParts
from .regressor_tables import NAMES, RegressorMemory
from .tree_attributes import forwarded
from .tree_memory import made

# Kernels by name, for robots without closed loops (False) and with closed loops (True).
_KERNELS = {loops: {op.name: kernels.of(op.name, loops) for op in OPERATIONS} for loops in (False, True)}
# Maps the names of arrays in the plans of fast calls to the attributes that contain these arrays.
_OF_MOMENTUM = ("dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da")
_TABLES = {"forced": "forced", "energies": "energy"}
_OWN = {"zeros": "_zeros", "tau": "_tau", "ddq": "_ddq", "kept": "_kept", "M": "_M_kernel", "Minv": "_Minv"}
_OF_DERIVATIVES = {"after_rnea": "state", "unasked": "tau", "velocities": "tree"}
# Attributes that are included in copies and pickles.
_ARRAYS = ("_tau", "_ddq", "_nle", "_g", "_Minv", "_J", "_Jcom", "_Ag", "_G")
_MORE_ARRAYS = ("_dJ", "_dAg", "_moved", "_coupled")  # Older pickles do not contain these arrays.
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
    """Return whether to use the kernels for closed loops; with bounds checks, all models use these kernels."""
    return bool(model.closures) or kernels.BOUNDSCHECK


def _result(get: Callable[[ClusterData], Any], doc: str) -> Any:
    return property(get, doc=doc)


def _energy(i: int, doc: str) -> Any:
    """Return a property for an energy, which compiled code can also write."""

    def get(data: ClusterData) -> float:
        return float(data._kept[i])

    def put(data: ClusterData, value: float) -> None:
        data._kept[i] = value

    return property(get, put, doc=doc)


def _vector(name: str, doc: str) -> Any:
    """Return a property for a vector of variable length, which fast calls can also write."""

    def get(data: ClusterData) -> np.ndarray:
        vector: np.ndarray = getattr(data, name).get()
        return vector

    def put(data: ClusterData, value: Any) -> None:
        if getattr(data, name).put(value):
            data._forget_plans()  # The plans would write to the previous, smaller array.

    return property(get, put, doc=doc)


def _made_again(model: ModelParts, name: str) -> ClusterData:
    with engine("tables" if name == "tables" else "auto"):
        return ClusterData(model)


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(_same, x, y))
    return np.array_equal(x, y, equal_nan=True) if isinstance(x, np.ndarray) else bool(x == y)


class _Tables(dict[str, kernels.Pointer]):
    """Maps the name of each result to the ``Pointer`` that its kernel receives; most are created on first use."""

    def __init__(
        self,
        first: kernels.Pointer,
        tree: kernels.Pointer,
        moved: kernels.Pointer,
        results: dict[str, tuple[np.ndarray, np.ndarray]],
        functions: Any,
    ) -> None:
        super().__init__(tau=first, tree=tree, moved=moved)
        self._results, self._functions = results, functions

    def __missing__(self, name: str) -> kernels.Pointer:
        table = self[name] = self["tau"].beside(*self._results[name])
        if self._functions is not None:
            table.lead_to(self._functions.tables_of_variants)
        return table


class ClusterData(OwedMembers):
    """Workspace and results of the algorithms; create it with ``model.createData()``, one per thread.

    Each result is an attribute with the same name as in ``pin.Data``. Joint quantities have one entry per independent
    joint, in [rad] and [N m] for revolute joints and in [m] and [N] for prismatic joints. Spatial vectors are [linear;
    angular]. Users may change result arrays in place; no algorithm reads them. Copies and pickles include the results.

    Attributes:
        model: The ``ClusterModel`` of the workspace.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> M = pc.crba(model, data, pc.neutral(model))
        >>> bool((data.M == M).all()), data.M.shape
        (True, (1, 1))
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

    _contacts_found: np.ndarray  # rank, residual and damping of the contacts in the last call, shape (3,)

    model: Any = forwarded("_model", "The ``ClusterModel`` of the workspace.")  # Any avoids a circular import.
    tau = owed("tau", "_tau", "Torques of the independent joints, shape (nv,), [N m] or [N]; after ``rnea``.")
    ddq = forwarded("_ddq", "Independent accelerations, shape (nv,), [rad/s^2] or [m/s^2]; after ``aba``.")
    nle = owed("nle", "_nle", "Coriolis and gravity torques, shape (nv,), [N m] or [N]; after ``nonLinearEffects``.")
    g = owed("g", "_g", "Gravity torques, shape (nv,), [N m] or [N]; after ``computeGeneralizedGravity``.")
    Minv = forwarded("_Minv", "Inverse mass matrix, shape (nv, nv), [1/(kg m^2)] or [1/kg]; after ``computeMinverse``.")
    M = owed("M", "_M", "Mass matrix, shape (nv, nv), [kg m^2] or [kg], always the same array; after ``crba``.")
    J = owed("J", "_J", "Joint Jacobian, shape (6, nv), in the world frame; after ``computeJointJacobians``.")
    Jcom = owed("Jcom", "_Jcom", "Jacobian of ``com[0]``, shape (3, nv), in the world; after ``jacobianCenterOfMass``.")
    Ag = owed("Ag", "_Ag", "Centroidal momentum matrix, shape (6, nv), in world axes; after ``ccrba``: hg = Ag v.")
    dJ = owed("dJ", "_dJ", "Time derivative of J, shape (6, nv); after ``computeJointJacobiansTimeVariation``.")
    dAg = owed("dAg", "_dAg", "Time derivative of Ag, shape (6, nv), in world axes; after ``dccrba``.")
    oMi = owed("oMi", "_tree.oMi", "``pin.SE3`` of each joint in the world frame; after ``forwardKinematics``.")
    liMi = owed("liMi", "_tree.liMi", "``pin.SE3`` of each joint in its parent's frame; after ``forwardKinematics``.")
    oMf = forwarded("_tree.oMf", "``pin.SE3`` of each frame in the world frame; after ``updateFramePlacements``.")
    v = owed("v", "_tree.v", "``pin.Motion``, velocity of each joint in its frame; after ``forwardKinematics``.")
    a = owed("a", "_tree.a", "``pin.Motion``, acceleration of each joint in its frame; after ``forwardKinematics``.")
    a_gf = owed("a_gf", "_tree.a_gf", "Acceleration of each joint minus gravity, in its own frame; after ``rnea``.")
    f = owed("f", "_tree.f", "``pin.Force`` that each joint exerts on its subtree, in its frame; after ``rnea``.")
    com = owed("com", "_tree.com", "Centres of mass, [m]: [0] of the robot, [j] of subtree j; after ``centerOfMass``.")
    vcom = owed("vcom", "_tree.vcom", "Velocities of the centres of mass, [m/s]; after ``centerOfMass`` with v.")
    acom = forwarded("_tree.acom", "Accelerations of the centres of mass, [m/s^2]; after ``centerOfMass`` with a.")
    mass = owed("mass", "_tree.mass", "Masses, [kg]: [0] of the robot, [j] of subtree j; after ``centerOfMass``.")
    Ig = owed("Ig", "_tree.Ig", "``pin.Inertia`` of the robot about ``com[0]``, in world axes; after ``ccrba``.")
    kinetic_energy = _energy(0, "Kinetic energy, [J]; after ``computeKineticEnergy``.")
    potential_energy = _energy(1, "Potential energy, [J]; after ``computePotentialEnergy``.")
    mechanical_energy = _energy(2, "Kinetic plus potential energy, [J]; after ``computeMechanicalEnergy``.")
    hg = owed("hg", "_tree.hg", "``pin.Force``, momentum about ``com[0]`` in world axes; after ``ccrba``.")
    dhg = owed("dhg", "_tree.dhg", "Time derivative of hg; after ``computeCentroidalMomentumTimeVariation``.")

    dtau_dq: np.ndarray = _result(
        lambda data: data._derivatives.dtau_dq.copy(),
        "d(tau)/dq along ``pc.integrate``, shape (nv, nv); after ``computeRNEADerivatives``; a copy.",
    )
    dtau_dv: np.ndarray = _result(
        lambda data: data._derivatives.dtau_dv.copy(),
        "d(tau)/dv, shape (nv, nv); after ``computeRNEADerivatives``; a copy.",
    )
    ddq_dq: np.ndarray = _result(
        lambda data: data._derivatives.ddq[0].copy(),
        "d(ddq)/dq, or the derivative of the velocity jump of an impact, shape (nv, nv); a copy.",
    )
    ddq_dv: np.ndarray = _result(
        lambda data: data._derivatives.ddq[1].copy(),
        "d(ddq)/dv, shape (nv, nv), set with ``ddq_dq``; a copy.",
    )
    ddq_dtau: np.ndarray = _result(
        lambda data: data._derivatives.ddq_dtau.copy(),
        "d(ddq)/dtau, shape (nv, nv); after ``computeConstraintDynamicsDerivatives``; a copy.",
    )
    dlambda_dq: np.ndarray = _result(
        lambda data: data._derivatives.rates_of_forces(0),
        "d(lambda_c)/dq, or d(impulse_c)/dq, shape (rows, nv), after derivatives with contacts; a copy.",
    )
    dlambda_dv: np.ndarray = _result(
        lambda data: data._derivatives.rates_of_forces(1),
        "d(lambda_c)/dv, or d(impulse_c)/dv, shape (rows, nv), after derivatives with contacts; a copy.",
    )
    dlambda_dtau: np.ndarray = _result(
        lambda data: data._derivatives.rates_of_forces(2),
        "d(lambda_c)/dtau, shape (rows, nv); after ``computeConstraintDynamicsDerivatives``; a copy.",
    )
    C: np.ndarray = _result(
        lambda data: data._derivatives.C.copy(),
        "Coriolis matrix, shape (nv, nv): C v are the Coriolis torques; after ``computeCoriolisMatrix``; a copy.",
    )
    contact_rank: int = _result(
        lambda data: int(data._contacts_found[0]),
        "Rank of the contact Jacobian in the last call: less than ``len(lambda_c)`` if contacts are redundant.",
    )
    contact_residual: float = _result(
        lambda data: float(data._contacts_found[1]),
        "Violation of the contacts in the last call, [m/s^2] or [m/s]; nonzero if they are inconsistent or damped.",
    )
    lambda_c: np.ndarray = _vector(
        "_forces", "Contact forces, shape (rows,), [N] or [N m]; after ``constraintDynamics`` or ``forwardDynamics``."
    )
    impulse_c: np.ndarray = _vector(
        "_impulses", "Impulses, shape (rows,), [N s] or [N m s]; after ``impulseDynamics``."
    )
    dq_after: np.ndarray = _vector("_dq_after", "Independent velocity after the impact, shape (nv,).")
    # Users receive copies, because kernels would not restore constant zeros that a user overwrites.
    jointTorqueRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().torque.copy(),
        "Matrix Y with tau = Y @ ``pc.parameters``, shape (nv, parameters); after ``computeJointTorqueRegressor``.",
    )
    staticRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().static.copy(),
        "Regressor of the centre of mass in the world frame, shape (3, columns); after ``computeStaticRegressor``.",
    )
    kineticEnergyRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().kinetic.copy(),
        "Regressor of the kinetic energy, shape (parameters,); after ``computeKineticEnergyRegressor``.",
    )
    potentialEnergyRegressor: np.ndarray = _result(
        lambda data: data._regressor_memory().potential.copy(),
        "Regressor of the potential energy, shape (parameters,); after ``computePotentialEnergyRegressor``.",
    )

    def __init__(self, model: ModelParts) -> None:
        self._model, self._functions = model, functions_of(model)
        (self._work,) = on_a_page(model.tables.work)
        # Separate workspace, in which only the kernels of G and its derivatives solve the loops.
        (self._loop_work,) = on_a_page(model.tables.work) if model.closures else (self._work,)
        nv = model.nv
        self._kernels = _KERNELS[with_loops(model)]
        self._regressors: RegressorMemory | None = None
        # Views cannot be resized, so their addresses stay valid.
        self._tau, self._ddq, self._nle, self._g = np.zeros((4, nv))
        # The kernels write flat arrays; M and Minv are views of them.
        flat_M, flat_Minv = np.zeros((2, nv * nv))
        self._M_kernel, self._Minv = flat_M.reshape(nv, nv), flat_Minv.reshape(nv, nv)
        self._M = np.zeros(nv * nv).reshape(nv, nv)
        self._lay_out_owed()
        coupling, with_rate = self._lay_out_tree()
        self._forces, self._impulses, self._dq_after = Result(0), Result(0), Result(nv)
        self._contacts_found, self._kept = np.zeros((2, 3))  # _kept: kinetic, potential and mechanical energy, [J]
        self.check = False
        (rates,) = on_a_page(np.zeros(model.tables.rates))
        self._memory: DerivativeMemory | None = None
        work, loop_work = self._work, self._loop_work
        self._pointers = _Tables(
            kernels.Pointer(model.tables.index, model.tables.params, work, self._tau),
            self._tree_tables,
            self._moved_tables,
            {
                "ddq": (work, self._ddq),
                "nle": (work, self._nle),
                "g": (work, self._g),
                "M": (work, flat_M),
                "Minv": (work, flat_Minv),
                "energy": (work, np.zeros(2)),
                # The array contains G, then the bias g. Rows of G that do not depend on q are written once.
                "coupling": (loop_work, coupling),
                "coupling_rate": (loop_work, with_rate),
                "forced": (work, np.zeros(nv + 6 * model.njoints)),  # contains the result, then the external forces
                "rates": (work, rates),
                "motion_rates": (loop_work, rates),
            },
            self._functions,
        )
        (self._zeros,) = np.zeros((1, nv))
        self._plans: dict[Any, Any] = {}
        self._take_tree(made(model.own_tree), new=True)

    @property
    def _derivatives(self) -> DerivativeMemory:
        if self._memory is None:
            model = self._model
            rates = self._pointers["rates"].arrays[-1]
            self._memory = DerivativeMemory(model.nq, model.nv, model.tables.velocities, rates)
        return self._memory

    def _named(self, name: str) -> np.ndarray:
        if name in _OWN:
            return np.asarray(getattr(self, _OWN[name]))
        if name in NAMES:
            return np.asarray(getattr(self._regressors, name))
        if name in _TABLES:
            return self._pointers[_TABLES[name]].arrays[-1]
        derivatives = self._derivatives
        if name in _OF_MOMENTUM:
            i = 6 * _OF_MOMENTUM.index(name)
            return derivatives.total[i : i + 6]
        if name in ("ddq_dq", "ddq_dv"):
            return derivatives.ddq[int(name == "ddq_dv")]
        return np.asarray(getattr(derivatives, _OF_DERIVATIVES.get(name, name)))

    def _shape(self, name: str) -> tuple[int, ...]:
        nv = self._model.nv
        if name == "regressor":
            return self._regressor_memory().torque.shape
        return {"nv": (nv,), "matrix": (nv, nv), "motion": (6, nv), "of_point": (3, nv), "hessian": (6, nv, nv)}[name]

    def _code(self, name: str, kernel: str) -> int:
        """Return the address of the robot-specific or generic code of a function; 0 if it is not compiled."""
        special, generic = self._functions, self._kernels[kernel].compiled_address
        if special is None:
            return generic
        if kernel in special.variants:
            return int(special.address(kernel, generic))
        return int(special.address(name, generic))

    def _code_with_forces(self, kernel: str) -> int:
        special, generic = self._functions, self._kernels[kernel].compiled_address
        return generic if special is None else int(special.forced_address(kernel, generic))

    def _run(self, kernel: str, result: str, *arrays: Any, of: str = "") -> int:
        """Run a kernel with the tables of ``result`` for the public function ``of``; return the status code."""
        special = self._functions
        code: int | None = None if special is None else special.run(of, kernel, result, self._pointers[result], *arrays)
        if code is None:
            code = self._kernels[kernel].call(self._pointers[result], *arrays)
        if kernel == "crba":
            self._changed()
        return code

    def _ready(self, kernel: str, *arrays: Any) -> int:
        """Return the address of a kernel's code for arguments of these types; compile it if necessary."""
        special = self._functions
        if special is not None and kernel in special.variants:
            return int(special.variants[kernel].address(*arrays))
        return kernels.of(kernel, with_loops(self._model)).address()

    @property
    def engine(self) -> str:
        """Engine of the workspace: ``traced`` (robot-specific code if available) or ``tables``; see ``pc.engine``."""
        return "tables" if self._functions is None else "traced"

    @property
    def check(self) -> bool:
        """Whether each call checks the couplings and unit norms of q, and checks that ``model.tree`` is unchanged."""
        return self._check

    @check.setter
    def check(self, value: bool) -> None:
        self._check = bool(value)
        # Fast calls are switched off, because they neither check q nor call the user's Python functions.
        self._unchecked = None if value or self._model.tables.supplies else self._model
        self._accept_model(self._unchecked)

    def _forget_plans(self, *function: Any) -> None:
        super()._forget_plans(*function)
        self._plans.clear()

    def _supply(self, q: np.ndarray) -> None:
        for supply in self._model.tables.supplies:
            x = q[list(supply.iq)]
            numbers = np.concatenate([supply.closure.jacobian(x).ravel(), supply.closure.hessian(x).ravel()])
            for work in (self._work, self._loop_work):
                work[supply.scratch : supply.scratch + numbers.size] = numbers

    def _changed(self) -> None:
        """Copy the mass matrix for users, who may change it; kernels never rewrite the zero entries of the original."""
        self._M[...] = self._M_kernel

    def _regressor_memory(self) -> RegressorMemory:
        if self._regressors is None:
            self._regressors = RegressorMemory(self._model, self._tree_tables.arrays[-1])
            self._pointers["regressor"] = self._regressors.pointer
            if self._functions is not None:
                self._regressors.pointer.lead_to(self._functions.tables_of_variants)
        return self._regressors

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: getattr(self, name) for name in (*_ARRAYS, *_MORE_ARRAYS, "_M_kernel", *_VALUES)}
        state["owed"] = self._owed_words, self._kept_states
        if self._regressors is not None:
            state["regressors"] = self._regressors.results()
        return _made_again, (self._model, self.engine), state

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ClusterData):
            return False
        model, second = self._model, other._model
        if model is not second and (model.own_tree != second.own_tree or model.constraints != second.constraints):
            return False
        self._pay_all()
        other._pay_all()
        a, b = self.__reduce__()[2], other.__reduce__()[2]
        return all(_same(a[name], b.get(name)) for name in a)

    __hash__ = object.__hash__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the results in place, because the kernels use the addresses of the arrays."""
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
            if name in state:  # Pickles of older versions do not contain all values.
                setattr(self, name, state[name])

    def copy(self) -> ClusterData:
        """Return another workspace of the same model, with the same results."""
        return copy.deepcopy(self)

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(pin.Data, name):
            raise NotAvailableError(
                f"ClusterData has no {name!r}, because no cluster algorithm computes it. Pinocchio computes it for the "
                "spanning tree, without rotors and loops. Use tree = model.inertia_tree and d = tree.createData(). "
                "Call the function that computes it, such as pinocchio.rnea(tree, d, q, pc.spanning_velocity(model, "
                f"data, q, v), pc.spanning_acceleration(model, data, q, v, a)), then read d.{name}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"ClusterData of {self._model!r}"
