"""Approximate dynamics: the tree without rotors, plus the reflected inertia as a constant (block) matrix.

No other constant matrix gives a better approximation. Unlike armature, the matrix contains the off-diagonal terms of
belts. The approximation omits gyroscopic moments of the rotors and effects of carrier accelerations.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...approximations.armature import WithoutRotors, reflected_inertia
from ...model import ClusterModel, joint_forces
from ._workspace import ACCELERATION, DATA, check, documented


class BlockWorkspace(WithoutRotors):
    """Workspace with the approximate robot and the constant matrix.

    Attributes:
        model: The cluster model.
        approximate: Pinocchio's model of the independent joints, without reflected inertia.
        data: Pinocchio's data of ``approximate``.
        B: Reflected inertia ``G' I_r G`` of the rotors, shape (nv, nv), in the order of v.
    """

    def __init__(self, model: ClusterModel, drop_rotors: bool = False) -> None:
        super().__init__(model, "none", drop_rotors)
        self.B = reflected_inertia(model)

    def fext(self, forces: Any) -> tuple[pin.StdVec_Force, ...]:
        """Convert external forces to forces on the approximate robot; forces on rotors act on their carriers."""
        if forces is None:
            return ()
        total = np.zeros((self.approximate.njoints, 6))
        for j, force in enumerate(forces):
            k, f = self.on(j, force if isinstance(force, pin.Force) else pin.Force(np.asarray(force, dtype=float)))
            total[k] += f.vector
        return (joint_forces(self.approximate, range(len(total)), total),)


def createData(model: ClusterModel, drop_rotors: bool = False) -> BlockWorkspace:
    """Create a workspace for the functions of this module; use one per thread.

    Args:
        model: Cluster model whose dependent joints are all rotors.
        drop_rotors: Whether to omit the rotors' mass and inertia from their carriers.

    Raises:
        ModelError: The model has loops, a dependent joint is not a rotor, or a rotor is independent.
    """
    return BlockWorkspace(model, drop_rotors)


@documented
def rnea(
    model: ClusterModel, data: BlockWorkspace, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the torques of a motion, shape (nv,), as ``pin.rnea`` of the approximate robot plus ``B a``."""
    check(model, data, BlockWorkspace, __name__)
    return data.rnea(q, v, a, *data.fext(fext)) + data.B @ np.asarray(a, dtype=float)


@stock(STATE, DATA, ACCELERATION)
def aba(
    model: ClusterModel, data: BlockWorkspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Solve (M + B) a = tau - h for the accelerations a, where M and h belong to the approximate robot."""
    check(model, data, BlockWorkspace, __name__)
    h = data.rnea(q, v, np.zeros(model.nv), *data.fext(fext))
    return np.linalg.solve(data.crba(q) + data.B, np.asarray(tau, dtype=float) - h)
