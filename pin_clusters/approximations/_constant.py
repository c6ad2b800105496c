"""Rotors replaced by a constant matrix: nothing, a diagonal, or all of it."""

import numpy as np

from .._support.trees import joint_subspace
from ..model import ClusterModel
from ._base import Approximation
from .armature import WithoutRotors, reflected_inertia


class Armature(Approximation):
    """Pinocchio on the robot without rotors: ``none`` and ``diagonal``.

    Attributes:
        robot: That robot.
    """

    def _begin(self) -> None:
        super()._begin()
        self.robot = WithoutRotors(self.model, "none" if self.name == "none" else "diagonal", self.drop_rotors)

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.robot.rnea(q, v, a)

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.robot.aba(q, v, tau)

    def _crba(self, q: np.ndarray) -> np.ndarray:
        return self.robot.crba(q)


class Block(Armature):
    """The same with the off-diagonal entries of the reflected inertia, which no ``pin.Model`` can hold.

    Attributes:
        off_diagonal: ``sum_r J_r g_r' g_r`` without its diagonal, shape (nv, nv).
    """

    def _begin(self) -> None:
        super()._begin()
        reflected = reflected_inertia(self.model)
        self.off_diagonal = reflected - np.diag(np.diag(reflected))

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return super()._rnea(q, v, a) + a @ self.off_diagonal

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return Approximation._aba(self, q, v, tau)  # not Pinocchio's, which has no place for the matrix

    def _crba(self, q: np.ndarray) -> np.ndarray:
        return super()._crba(q) + self.off_diagonal


def followers(model: ClusterModel) -> tuple[str, ...]:
    """Return the joints that follow others but belong to no rotor, such as the fingers of a gripper.

    They slide, or carry a body that is not balanced about their axis and turns no faster than what moves it. The
    approximations lock them into their carriers as they do rotors.

    Args:
        model: The robot.

    Returns:
        Names, in the order of ``model.rotors``.
    """
    found = []
    for r in model.rotors:
        if r.joint_id is None or r.spins or r.inertia is None:
            continue
        subspace = joint_subspace(model.tree.joints[r.joint_id])
        slides = subspace is None or not np.any(subspace[3:])
        if slides or max((abs(ratio) for _, ratio in r.drivers), default=0.0) <= 1.0:
            found.append(r.name)
    return tuple(found)
