"""The workspace of the algorithms, and their results under Pinocchio's names."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from ._kernels._jit import Pointer
from .errors import NotAvailableError
from .model import ClusterModel


class ClusterData:
    """Workspace and results; make it with ``model.createData()``, one per thread.

    Attributes:
        model: The model it belongs to.
        tree: ``pin.Data`` of ``model.tree``, filled by ``pc.forwardKinematics`` and its relatives.
        tau: Result of ``rnea``, shape (nv,).
        ddq: Result of ``aba``, shape (nv,).
        nle: Result of ``nonLinearEffects``, shape (nv,).
        g: Result of ``computeGeneralizedGravity``, shape (nv,).
        M: Result of ``crba``, shape (nv, nv).
        Minv: Result of ``computeMinverse``, shape (nv, nv).
    """

    __slots__ = (
        "Ag",
        "J",
        "Jcom",
        "M",
        "Minv",
        "_at_M",
        "_at_Minv",
        "_at_ddq",
        "_at_tau",
        "_check",
        "_model",
        "_pointers",
        "_unchecked",
        "_work",
        "ddq",
        "g",
        "hg",
        "kinetic_energy",
        "mechanical_energy",
        "nle",
        "potential_energy",
        "tau",
        "tree",
    )

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._work = np.zeros(model._tables.work_size)
        nv = model.nv
        self.tau = np.zeros(nv)
        self.ddq = np.zeros(nv)
        self.nle = np.zeros(nv)
        self.g = np.zeros(nv)
        # the kernels write flat arrays; M and Minv are views of them
        flat_M, flat_Minv = np.zeros(nv * nv), np.zeros(nv * nv)
        self.M, self.Minv = flat_M.reshape(nv, nv), flat_Minv.reshape(nv, nv)
        self.J = np.zeros((6, nv))
        self.Jcom = np.zeros((3, nv))
        self.Ag = np.zeros((6, nv))
        self.hg = pin.Force.Zero()
        self.kinetic_energy = 0.0
        self.potential_energy = 0.0
        self.mechanical_energy = 0.0
        self.check = False
        self.tree = model.tree.createData()
        results = {
            "tau": self.tau,
            "ddq": self.ddq,
            "nle": self.nle,
            "g": self.g,
            "M": flat_M,
            "Minv": flat_Minv,
            "energy": np.zeros(2),
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
        # what the fast way compares with the model it is given: nothing fits while checks are on
        self._unchecked = None if value else self._model

    @property
    def model(self) -> ClusterModel:
        """The model it belongs to."""
        return self._model

    @property
    def oMi(self) -> Any:
        """Placements of the joints in the world, after ``forwardKinematics``."""
        return self.tree.oMi

    @property
    def liMi(self) -> Any:
        """Placements of the joints in their parents, after ``forwardKinematics``."""
        return self.tree.liMi

    @property
    def oMf(self) -> Any:
        """Placements of the frames in the world, after ``updateFramePlacements``."""
        return self.tree.oMf

    @property
    def v(self) -> Any:
        """Spatial velocities of the joints in their own frames, after ``forwardKinematics``."""
        return self.tree.v

    @property
    def a(self) -> Any:
        """Spatial accelerations of the joints in their own frames, after ``forwardKinematics``."""
        return self.tree.a

    @property
    def com(self) -> Any:
        """Centres of mass, after ``centerOfMass``."""
        return self.tree.com

    @property
    def vcom(self) -> Any:
        """Velocities of the centres of mass, after ``centerOfMass``."""
        return self.tree.vcom

    @property
    def acom(self) -> Any:
        """Accelerations of the centres of mass, after ``centerOfMass``."""
        return self.tree.acom

    @property
    def mass(self) -> Any:
        """Masses of the subtrees, after ``centerOfMass``."""
        return self.tree.mass

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model; a workspace has nothing else worth keeping."""
        return ClusterData, (self._model,)

    def copy(self) -> ClusterData:
        """Return a fresh workspace of the same model."""
        return ClusterData(self._model)

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
