"""The workspace of the algorithms, and their results under Pinocchio's names."""

from __future__ import annotations

import copy
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from .._kernels._jit import Pointer
from .._kernels.aba import aba_at, aba_loops_at
from .._kernels.crba import crba_at, crba_loops_at
from .._kernels.energy import energy_at, energy_loops_at
from .._kernels.minverse import minverse_at, minverse_loops_at
from .._kernels.rnea import rnea_at, rnea_loops_at
from ..arrays import on_a_page
from ..errors import NotAvailableError
from .cluster_model import ClusterModel
from .tree_attributes import forwarded

_PLAIN = (rnea_at, aba_at, crba_at, minverse_at, energy_at)
_LOOPS = (rnea_loops_at, aba_loops_at, crba_loops_at, minverse_loops_at, energy_loops_at)
# what a copy takes over
_ARRAYS = ("_tau", "_ddq", "_nle", "_g", "_Minv", "_J", "_Jcom", "_Ag", "_G")
_VALUES = ("hg", "kinetic_energy", "potential_energy", "mechanical_energy", "tree", "check")


class ClusterData:
    """Workspace and results; make it with ``model.createData()``, one per thread.

    Result arrays may be changed in place; no algorithm reads them. Copies and pickles keep the results.

    Attributes:
        model: The model it belongs to.
        tree: ``pin.Data`` of ``model.tree``, filled by ``pc.forwardKinematics`` and its relatives.
        hg: Result of ``computeCentroidalMomentum``, a ``pin.Force``.
        kinetic_energy: Result of ``computeKineticEnergy``, [J].
        potential_energy: Result of ``computePotentialEnergy``, [J].
        mechanical_energy: Result of ``computeMechanicalEnergy``, [J].
    """

    __slots__ = (
        "_Ag",
        "_G",
        "_J",
        "_Jcom",
        "_M",
        "_M_kernel",
        "_Minv",
        "_aba",
        "_at_M",
        "_at_Minv",
        "_at_ddq",
        "_at_tau",
        "_check",
        "_crba",
        "_ddq",
        "_energy",
        "_fast_aba",
        "_fast_crba",
        "_fast_minverse",
        "_fast_rnea",
        "_g",
        "_minverse",
        "_model",
        "_nle",
        "_pointers",
        "_rnea",
        "_square",
        "_tau",
        "_unchecked",
        "_work",
        "hg",
        "kinetic_energy",
        "mechanical_energy",
        "potential_energy",
        "tree",
    )

    tau = forwarded("_tau", "Result of ``rnea``, shape (nv,).")
    ddq = forwarded("_ddq", "Result of ``aba``, shape (nv,).")
    nle = forwarded("_nle", "Result of ``nonLinearEffects``, shape (nv,).")
    g = forwarded("_g", "Result of ``computeGeneralizedGravity``, shape (nv,).")
    Minv = forwarded("_Minv", "Result of ``computeMinverse``, shape (nv, nv).")
    J = forwarded("_J", "Result of ``computeJointJacobians``, shape (6, nv), in the world.")
    Jcom = forwarded("_Jcom", "Result of ``jacobianCenterOfMass``, shape (3, nv).")
    Ag = forwarded("_Ag", "Result of ``computeCentroidalMap`` and ``ccrba``, shape (6, nv).")
    oMi = forwarded("tree.oMi", "Placements of the joints in the world, after ``forwardKinematics``.")
    liMi = forwarded("tree.liMi", "Placements of the joints in their parents, after ``forwardKinematics``.")
    oMf = forwarded("tree.oMf", "Placements of the frames in the world, after ``updateFramePlacements``.")
    v = forwarded("tree.v", "Spatial velocities of the joints in their own frames, after ``forwardKinematics``.")
    a = forwarded("tree.a", "Spatial accelerations of the joints in their own frames, after ``forwardKinematics``.")
    com = forwarded("tree.com", "Centres of mass, after ``centerOfMass``.")
    vcom = forwarded("tree.vcom", "Velocities of the centres of mass, after ``centerOfMass``.")
    acom = forwarded("tree.acom", "Accelerations of the centres of mass, after ``centerOfMass``.")
    mass = forwarded("tree.mass", "Masses of the subtrees, after ``centerOfMass``.")
    Ig = forwarded(
        "tree.Ig", "Inertia of the whole robot about its centre of mass, in axes of the world, after ``ccrba``."
    )
    dhg = forwarded(
        "tree.dhg", "Rate of the momentum about the centre of mass, after ``computeCentroidalMomentumTimeVariation``."
    )

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model._tables.work)
        nv = model.nv
        self._rnea, self._aba, self._crba, self._minverse, self._energy = _LOOPS if model.closures else _PLAIN
        # for the fast way of an algorithm
        self._fast_rnea, self._fast_aba = self._rnea.fast, self._aba.fast
        self._fast_crba, self._fast_minverse = self._crba.fast, self._minverse.fast
        self._tau, self._ddq, self._nle, self._g = (np.zeros(nv) for _ in range(4))
        # the kernels write flat arrays; M and Minv are views of them
        flat_M, flat_Minv = np.zeros(nv * nv), np.zeros(nv * nv)
        self._M_kernel, self._Minv = flat_M.reshape(nv, nv), flat_Minv.reshape(nv, nv)
        self._M: np.ndarray | None = None
        self._square = (nv, nv)
        # G, and below it dG/dt, of the last function that was given q: for those that are not
        self._G = np.vstack([model._topology.G, np.zeros_like(model._topology.G)])
        self._J, self._Jcom, self._Ag = (np.zeros((rows, nv)) for rows in (6, 3, 6))
        self.hg = pin.Force.Zero()
        self.kinetic_energy = self.potential_energy = self.mechanical_energy = 0.0
        self.check = False
        self.tree = model.own_tree.createData()
        results = {
            "tau": self._tau,
            "ddq": self._ddq,
            "nle": self._nle,
            "g": self._g,
            "M": flat_M,
            "Minv": flat_Minv,
            "energy": np.zeros(2),
            # G of the tree, then its bias; rows that do not depend on q stay as they are
            "coupling": np.concatenate([model._topology.G.ravel(), np.zeros(model.own_tree.nv)]),
            # external forces stand behind the result
            "forced": np.zeros(nv + 6 * model.njoints),
        }
        self._pointers = {
            name: Pointer(model._index, model._params, self._work, array) for name, array in results.items()
        }
        # for the fast way of an algorithm: everything at hand without a look-up
        self._at_tau, self._at_ddq = self._pointers["tau"].address, self._pointers["ddq"].address
        self._at_M, self._at_Minv = self._pointers["M"].address, self._pointers["Minv"].address

    @property
    def check(self) -> bool:
        """Whether every algorithm checks q, unit norms, and that nobody changed ``model.tree``."""
        return self._check

    @check.setter
    def check(self, value: bool) -> None:
        self._check = bool(value)
        # what the fast way compares with the model it is given: nothing fits while checks are on, or where a Python
        # function must be called first
        self._unchecked = None if value or self._model._tables.supplies else self._model

    @property
    def model(self) -> ClusterModel:
        """The model it belongs to."""
        return self._model

    def _supply(self, q: np.ndarray) -> None:
        """Bring the derivatives of the user's Python functions, where there are any, to q."""
        for supply in self._model._tables.supplies:
            x = q[list(supply.iq)]
            numbers = np.concatenate([supply.closure.jacobian(x).ravel(), supply.closure.hessian(x).ravel()])
            self._work[supply.room : supply.room + numbers.size] = numbers

    @property
    def M(self) -> np.ndarray:
        """Result of ``crba``, shape (nv, nv)."""
        # a copy: the kernel's own has zeros that are never written again, and users write to M
        if self._M is None:
            self._M = self._M_kernel.copy()
        return self._M

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model, the results and whether to check."""
        state = {name: getattr(self, name) for name in (*_ARRAYS, "_M_kernel", *_VALUES)}
        return ClusterData, (self._model,), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over results; the kernels keep their addresses."""
        for name in (*_ARRAYS, "_M_kernel"):
            getattr(self, name)[...] = state[name]
        for name in _VALUES:
            setattr(self, name, state[name])

    def copy(self) -> ClusterData:
        """Return another workspace of the same model, with the same results."""
        return copy.deepcopy(self)

    def __getattr__(self, name: str) -> NoReturn:
        """Explain why an attribute is missing; reached only for names that do not exist."""
        if not name.startswith("_") and hasattr(pin.Data, name):
            raise NotAvailableError(
                f"ClusterData has no {name!r}: no cluster algorithm fills it. "
                f"Pinocchio's own, for the spanning tree, is data.tree.{name}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        """Name of the model."""
        return f"ClusterData of {self._model!r}"
