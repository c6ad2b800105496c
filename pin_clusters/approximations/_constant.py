"""Rotors replaced by a constant matrix: nothing, a diagonal, or all of it."""

import numpy as np

from ..model import ClusterModel
from ._base import Approximation
from .armature import WithoutRotors, locked, reflected_inertia


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

    They carry nothing, and are no rotors by the rule of ``RotorElement``. The approximations of robots without closed
    loops lock them into their carriers as they do rotors; with loops they move, and none is named here.

    Args:
        model: The robot.

    Returns:
        Names, in the order of the tree.
    """
    rotors = {r.name for r in model.rotors}
    return tuple(r.name for r in locked(model) if r.name not in rotors)
