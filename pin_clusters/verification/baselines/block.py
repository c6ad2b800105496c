"""Block reflected inertia: the tree without rotors, and their spin inertia as a constant matrix. Approximate.

The best that a constant matrix can do: unlike armature it has the off-diagonal terms of belts. What it lacks is that
carriers move: the rotors' gyroscopic moments and their share in the acceleration of the carriers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ...approximations.armature import armature_model, independent_q, independent_v, reflected_inertia
from ...model import ClusterModel, joint_forces
from ._workspace import check, documented

_NAME = "block"


class BlockWorkspace:
    """The approximate robot and the constant matrix.

    Attributes:
        model: The cluster model.
        approximate: Pinocchio's model of the independent joints, without reflected inertia.
        data: Pinocchio's data of it.
        B: Reflected inertia ``G' I_r G`` of the rotors, shape (nv, nv), in the public order.
    """

    def __init__(self, model: ClusterModel, drop_rotors: bool = False) -> None:
        self.model = model
        self.approximate = armature_model(model, "none", drop_rotors)
        self.data = self.approximate.createData()
        self.B = reflected_inertia(model)
        self.at_v = independent_v(model, self.approximate)
        self.at_q = independent_q(model, self.approximate)
        self.v, self.a = np.zeros(model.nv), np.zeros(model.nv)

    def fext(self, forces: Any) -> pin.StdVec_Force:
        """Return external forces on the approximate robot; those on rotors act on the carriers, at angle 0."""
        total = np.zeros((self.approximate.njoints, 6))
        tree = self.model.tree
        for j, force in enumerate(forces):
            f = force if isinstance(force, pin.Force) else pin.Force(np.asarray(force, dtype=float))
            k = j
            while k and not self.approximate.existJointName(tree.names[k]):
                f, k = tree.jointPlacements[k].act(f), tree.parents[k]
            total[self.approximate.getJointId(tree.names[k]) if k else 0] += f.vector
        return joint_forces(self.approximate, range(len(total)), total)


def createData(model: ClusterModel, drop_rotors: bool = False) -> BlockWorkspace:
    """Return a workspace for the functions of this module; one per thread.

    Args:
        model: Cluster model whose dependent joints are all rotors.
        drop_rotors: Leave the rotors' mass and inertia out of their carriers.

    Raises:
        ModelError: The model has loops, a dependent joint is no rotor, or a rotor is independent.
    """
    return BlockWorkspace(model, drop_rotors)


@documented
def rnea(model: ClusterModel, data: BlockWorkspace, q: Any, v: Any, a: Any, fext: Any = None) -> np.ndarray:
    """Compute the torques of a motion: rnea of the approximate robot, and ``B a``.

    Returns:
        Torque, shape (nv,).
    """
    check(model, data, BlockWorkspace, _NAME)
    a = np.asarray(a, dtype=float)
    data.a[data.at_v] = a
    return _rnea(data, q, v, data.a, fext)[data.at_v] + data.B @ a


@documented
def aba(model: ClusterModel, data: BlockWorkspace, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute the accelerations under torques: (M + B) a = tau - h of the approximate robot.

    Returns:
        Independent acceleration, shape (nv,).
    """
    check(model, data, BlockWorkspace, _NAME)
    h = _rnea(data, q, v, np.zeros(model.nv), fext)[data.at_v]
    M = np.triu(pin.crba(data.approximate, data.data, np.asarray(q, dtype=float)[data.at_q]))
    M = M + np.triu(M, 1).T
    return np.linalg.solve(M[np.ix_(data.at_v, data.at_v)] + data.B, np.asarray(tau, dtype=float) - h)


def _rnea(data: BlockWorkspace, q: Any, v: Any, a: np.ndarray, fext: Any) -> np.ndarray:
    """Pinocchio's rnea on the approximate robot; ``a`` and the result are in its order."""
    data.v[data.at_v] = v
    inputs = (data.approximate, data.data, np.asarray(q, dtype=float)[data.at_q], data.v, a)
    return pin.rnea(*inputs) if fext is None else pin.rnea(*inputs, data.fext(fext))
