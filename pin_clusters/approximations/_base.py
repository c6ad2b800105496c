"""Base class of all approximations, and the names and descriptions of the approximations."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._support.arrays import ArrayLike, configuration, velocity
from .._support.docstrings import COMMON, stock
from ..errors import SingularClusterError
from ..model import ClusterModel

_documented = stock(
    COMMON,
    """
    Raises:
        SingularClusterError: At q, the loops do not determine the velocities of the dependent joints.
        """,
)

LEVELS = ("none", "diagonal", "block")
"""Names of the approximations for robots without closed loops, from the least to the most accurate."""
LOOP_LEVELS = ("unconstrained", "frozen")
"""Names of the approximations that simplify closed loops."""
ROTOR_LEVELS = ("no rotor", "armature")
"""Names of the approximations for robots with rotors and closed loops; the loops are exact."""

LABELS = {
    "none": "no armature",
    "diagonal": "diagonal armature",
    "block": "block armature",
    "unconstrained": "unconstrained",
    "frozen": "frozen loops",
    "no rotor": "exact loops, no rotor",
    "armature": "exact loops, armature",
}
DEFINITIONS = {
    "none": "the rotors are locked into their carriers; their spin is neglected",
    "diagonal": "the rotors are locked into their carriers, and sum_r J_r g_ri^2 is armature of joint i",
    "block": "the rotors are locked into their carriers, and the whole matrix sum_r J_r g_r' g_r is added to the mass "
    "matrix",
    "unconstrained": "the equations of the independent joints in the spanning tree, tau = M_ii a + h_i, at the true "
    "configuration and velocity of all joints; the accelerations of dependent joints and rotors are neglected",
    "frozen": "the coupling G0 of the reference pose at every pose, as if the loops were gears: "
    "tau = G0' rnea(q, G0 v, G0 a), with rnea of the spanning tree",
    "no rotor": "the loops are exact, the rotors do not spin",
    "armature": "the loops are exact, and J ratio^2 of each rotor is armature of the joints that drive it",
}

SINGULAR = 1e-13
"""Mass matrices, scaled to a unit diagonal, are singular if min eigenvalue / max eigenvalue is below this value."""


def is_singular(M: np.ndarray) -> bool:
    """Return whether a mass matrix, scaled to a unit diagonal, is numerically singular."""
    size = np.sqrt(np.abs(np.diag(M)))
    if not np.all(size > 0.0):
        return M.size > 0
    values = np.abs(np.linalg.eigvalsh(M / size / size[:, None]))
    return bool(values.min(initial=1.0) < SINGULAR * values.max(initial=1.0))


def names(model: ClusterModel) -> tuple[str, ...]:
    """Return the names of a robot's approximations, from the least to the most accurate.

    Args:
        model: The robot.

    Returns:
        The names, which are the keys of ``of(model)``.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.names(pc.load("four_bar"))
        ('unconstrained', 'frozen')
    """
    if model.closures:
        return LOOP_LEVELS + (ROTOR_LEVELS if model.rotors else ())
    return LEVELS


class Approximation(ABC):
    """Approximate dynamics of a robot, in the coordinates of the exact robot.

    q contains every joint of the tree, shape (nq,); v, a and tau contain the independent joints, shape (nv,). Use a
    separate object in each thread. The workspaces are not pickled; they are created again after loading.

    Args:
        model: The exact robot.
        name: Name of the approximation.
        drop_rotors: Whether to omit the mass and inertia of the rotors.

    Example:
        >>> import pin_clusters as pc
        >>> frozen = pc.approximations.of(pc.load("four_bar"))["frozen"]
        >>> frozen.crba(frozen.model.q_reference).shape  # [kg m^2]
        (1, 1)
    """

    def __init__(self, model: ClusterModel, name: str, drop_rotors: bool) -> None:
        self.model, self.name, self.drop_rotors = model, name, drop_rotors
        self._begin()

    def _begin(self) -> None:
        self._sound = False

    @property
    def label(self) -> str:
        """Short description of the approximation, for tables and figures."""
        return LABELS[self.name]

    @property
    def definition(self) -> str:
        """Definition of the approximation, as a phrase with its equation."""
        return DEFINITIONS[self.name]

    @_documented
    def rnea(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Compute the torques for a motion by inverse dynamics, shape (nv,), [N m] or [N]."""
        return self._rnea(self._q(q), velocity(self.model, "v", v), velocity(self.model, "a", a))

    @_documented
    def aba(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Compute the accelerations for given torques by forward dynamics, shape (nv,), [rad/s^2] or [m/s^2].

        Raises:
            SingularClusterError: The independent velocities do not determine the dependent velocities at q, or the mass
                matrix of the approximation is singular.
        """
        q, v, tau = self._q(q), velocity(self.model, "v", v), velocity(self.model, "tau", tau)
        self._check(q)
        return self._aba(q, v, tau)

    @_documented
    def crba(self, q: ArrayLike) -> np.ndarray:
        """Compute the symmetric mass matrix of the approximation, shape (nv, nv), [kg m^2] or [kg]."""
        return self._crba(self._q(q))

    @_documented
    def check(self, q: ArrayLike) -> None:
        """Raise an exception if the mass matrix is singular. Once a check has succeeded, further calls do nothing.

        Args:
            q: Configuration of the tree, shape (nq,).

        Raises:
            SingularClusterError: The mass matrix is singular, because a motion of the joints moves no inertia.
        """
        self._check(self._q(q))

    def _check(self, q: np.ndarray) -> None:
        if self._sound or not np.all(np.isfinite(q)):
            return
        # A matrix that is regular at one pose is regular at almost all poses.
        self._sound = not is_singular(self._crba(q))
        if not self._sound:
            raise SingularClusterError(
                f"the mass matrix of the approximation {self.name!r} of {self.model.name!r} is singular, because "
                "a motion of the independent joints moves no inertia. Add inertia to the bodies, "
                "keep the rotors (drop_rotors=False), or use another approximation.",
                self.model.independent_joints,
            )

    @abstractmethod
    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray: ...

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self._crba(q), tau - self._rnea(q, v, np.zeros(self.model.nv)))

    @abstractmethod
    def _crba(self, q: np.ndarray) -> np.ndarray: ...

    def _q(self, q: Any) -> np.ndarray:
        return configuration(self.model, "q", q)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, self.name, self.drop_rotors)

    def __repr__(self) -> str:
        dropped = ", rotors dropped" if self.drop_rotors else ""
        return f"<approximation {self.name!r} of {self.model.name!r}{dropped}>"
