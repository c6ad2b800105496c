"""Approximations that replace the spin of rotors by a constant matrix, which is zero, diagonal or full."""

import numpy as np

from ..model import ClusterModel
from ._base import Approximation
from .armature import WithoutRotors, locked, reflected_inertia


class Armature(Approximation):
    """The approximations ``none`` and ``diagonal``, which use Pinocchio's algorithms for the robot without rotors.

    Attributes:
        robot: The robot without rotors.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.of(pc.load("mit_humanoid_leg"))["diagonal"].label
        'diagonal armature'
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
    """The approximation ``block``: ``diagonal`` plus the off-diagonal reflected inertia between joints.

    Attributes:
        off_diagonal: ``sum_r J_r g_r' g_r`` without its diagonal, shape (nv, nv), [kg m^2].

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.of(pc.load("mit_humanoid_leg"))["block"].off_diagonal.shape
        (5, 5)
    """

    def _begin(self) -> None:
        super()._begin()
        reflected = reflected_inertia(self.model)
        self.off_diagonal = reflected - np.diag(np.diag(reflected))

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return super()._rnea(q, v, a) + a @ self.off_diagonal

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return Approximation._aba(self, q, v, tau)  # Pinocchio's aba cannot include the off-diagonal matrix

    def _crba(self, q: np.ndarray) -> np.ndarray:
        return super()._crba(q) + self.off_diagonal


def followers(model: ClusterModel) -> tuple[str, ...]:
    """Return the dependent joints that the approximations lock although they are not rotors, such as gripper fingers.

    The bodies of these joints carry no other bodies, but they are not balanced rotors (``RotorElement``). Without
    closed loops, the approximations fix these bodies to their carriers, like rotors. With closed loops, the
    approximations move these bodies, and the function returns no joints.

    Args:
        model: The robot.

    Returns:
        Joint names, in the order of the tree.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.followers(pc.load("mit_humanoid_leg"))
        ()
    """
    rotors = {r.name for r in model.rotors}
    return tuple(r.name for r in locked(model) if r.name not in rotors)
