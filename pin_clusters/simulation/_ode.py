"""Adapter for SciPy's ``solve_ivp``; the state is [increment from q0, velocity]."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import ArrayLike, array, vector, velocity
from ..algorithms.dynamics.aba import aba
from ..errors import BranchLost, ShapeError, SimulationError
from ..kernels.tables import layout
from ..model import ClusterModel
from ..model.configuration import check, integrate
from ._groups import groups_of, increment_rate
from ._settings import check_types, torques

_FAR = 0.95 * 2.0 * math.pi
"""Largest allowed rotation from q0, [rad]; the increment is singular at a full turn."""


class Ode:
    """Equation of motion ``y' = f(t, y)`` with ``y = [x, v]``; calling the object evaluates f.

    x is the increment of the independent joints from q0, ``q = pc.integrate(model, q0, x)``, and v is their velocity.
    The rate of x is v for one-axis joints. For floating bases, spherical and planar joints, the rate is v multiplied by
    the inverse of the right Jacobian of the exponential map. The loop solver starts from the configuration of the last
    call. Therefore, use each object for only one integration at a time.

    Attributes:
        model: The robot.
        q0: Configuration at which x is zero, shape (nq,).
    """

    def __init__(
        self,
        model: ClusterModel,
        q0: np.ndarray,
        tau: np.ndarray | Callable[..., Any] | None,
        dynamics: Callable[..., Any] | None,
    ) -> None:
        self.model, self.q0 = model, q0
        self._tau, self._dynamics = tau, dynamics
        self._data, self._groups = model.createData(), groups_of(model)
        self._last = q0

    def y0(self, v0: ArrayLike) -> np.ndarray:
        """Return the initial state, shape (2 nv,).

        Args:
            v0: Velocity of the independent joints, shape (nv,), [rad/s] or [m/s].

        Raises:
            ShapeError: The size is wrong.
            ArgumentTypeError: The type is wrong.
        """
        return np.concatenate([np.zeros(self.model.nv), velocity(self.model, "v0", v0)])

    def __call__(self, t: float, y: Any) -> np.ndarray:
        """Compute the derivative y', shape (2 nv,).

        Args:
            t: Time, [s].
            y: Increment x, then velocity v, shape (2 nv,).

        Raises:
            SimulationError: A rotation from q0 is nearly a full turn, where the increment is singular, or ``tau`` or
                ``dynamics`` returned NaN.
            BranchLost: A loop cannot be closed along the motion.
            SingularClusterError: The loops are singular.
        """
        x, v = self._split(y)
        self._last = q = self._configuration(x, self._last)
        return np.concatenate([increment_rate(self._groups, x, v), self._acceleration(t, q, v)])

    def unpack(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Compute the configurations and velocities of one or more states, such as SciPy's ``solution.y``.

        Args:
            y: One state, shape (2 nv,), or N states of a motion in chronological order, shape (2 nv, N).

        Returns:
            q and v, with shapes (nq,) and (nv,) for one state, or (N, nq) and (N, nv) for N states.

        Raises:
            SimulationError: A rotation from q0 is nearly a full turn.
            BranchLost: A loop cannot be closed along the motion.
            ShapeError: The size is wrong.
        """
        table = np.asarray(y, dtype=np.float64)
        if table.ndim == 1:
            x, v = self._split(table)
            return self._configuration(x, self._last), v
        if table.ndim != 2 or len(table) != 2 * self.model.nv:
            raise ShapeError(
                f"unpack: y has shape {table.shape}, expected (2 nv,) = ({2 * self.model.nv},) or (2 nv, N). Pass "
                "solution.y without changes."
            )
        n = self.model.nv
        q, last = np.empty((table.shape[1], self.model.nq)), self.q0
        for i, x in enumerate(table[:n].T):
            last = q[i] = self._configuration(np.ascontiguousarray(x), last)
        return q, np.ascontiguousarray(table[n:].T)

    def _split(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        state, n = array("y", y), self.model.nv
        if state.size != 2 * n:
            raise ShapeError(f"y has size {state.size}, expected 2 nv = {2 * n} (increment and velocity).")
        return state[:n], state[n:].copy()

    def _configuration(self, x: np.ndarray, last: np.ndarray) -> np.ndarray:
        model, tree = self.model, self.model.tree
        for group in self._groups:
            turn = x[group.iv : group.iv + group.nv][-3:]
            if group.kind != layout.PLANAR and np.linalg.norm(turn) > _FAR:
                raise SimulationError(
                    f"ode: joint {group.joint!r} has turned by {np.linalg.norm(turn):.3g} rad from q0. Increments are "
                    "singular near a full turn. Stop earlier (solve_ivp(..., events=...)) and restart from that "
                    "configuration with simulation.ode(model, q), or use pc.simulate, which has no such limit."
                )
        if not model.closures or not np.isfinite(x).all():
            return integrate(model, self.q0, x)
        increment = np.zeros(tree.nv)
        increment[model.idx_v_independent] = x
        target = np.array(pin.integrate(tree, self.q0, increment))
        try:
            return integrate(model, last, np.array(pin.difference(tree, last, target)[model.idx_v_independent]))
        except BranchLost:
            return integrate(model, self.q0, x)  # the last state may have been a distant trial of the integrator

    def _acceleration(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        model, tau = self.model, self._tau
        if tau is None:
            torque = np.zeros(model.nv)
        elif callable(tau):
            torque = _finite("tau", t, velocity(model, "the return value of tau", tau(t, q.copy(), v.copy())))
        else:
            torque = tau
        if self._dynamics is None:
            return aba(model, self._data, q, v, torque)
        acceleration = self._dynamics(q.copy(), v.copy(), torque.copy())
        return _finite("dynamics", t, velocity(model, "the return value of dynamics", acceleration))


def _finite(name: str, t: float, x: np.ndarray) -> np.ndarray:
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        raise SimulationError(f"ode: {name} returned the invalid value {x[bad[0]]} for entry {bad[0]} at t = {t:g} s.")
    return x


def ode(
    model: ClusterModel,
    q0: ArrayLike,
    tau: ArrayLike | Callable[..., Any] | None = None,
    *,
    dynamics: Callable[..., Any] | None = None,
) -> Ode:
    """Build the equation of motion for SciPy's ``solve_ivp``; the state contains the increment from q0.

    Args:
        model: Cluster model.
        q0: Configuration from which increments are measured, shape (nq,). It must satisfy the constraints.
        tau: None, constant torques of shape (nv,), or a function ``tau(t, q, v)``; [N m] or [N].
        dynamics: A function ``(q, v, tau)`` that replaces ``pc.aba`` and returns the acceleration.

    Returns:
        The right-hand side f, with the methods ``y0(v0)`` and ``unpack(y)``.

    Raises:
        ConfigurationError: ``q0`` violates a constraint.
        SimulationError: A torque is not finite.
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.

    References:
        Munthe-Kaas, "High order Runge-Kutta methods on manifolds", 1999.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from scipy.integrate import solve_ivp
        >>> model = pc.load("four_bar")
        >>> f = pc.simulation.ode(model, pc.neutral(model))
        >>> solution = solve_ivp(f, (0.0, 0.1), f.y0(np.zeros(model.nv)), method="DOP853", rtol=1e-9)
        >>> q, v = f.unpack(solution.y)
        >>> q.shape[1] == model.nq
        True
    """
    check_types("ode", model, dynamics=dynamics)
    q = vector(model, "q0", q0, model.nq, "nq (the whole tree)").copy()
    check(model, q)
    if tau is not None and not callable(tau) and np.ndim(tau) > 1:
        raise ShapeError("ode: tau must be a constant of shape (nv,), or a function tau(t, q, v).")
    torque = torques(model, tau, 1)
    return Ode(model, q, torque[0] if isinstance(torque, np.ndarray) else torque, dynamics)
