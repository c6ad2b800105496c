"""One step of each method, on any coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._coordinates import Coordinates
from ._groups import increment_rate

# acceleration at a time, a configuration and a velocity
Acceleration = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
State = tuple[np.ndarray, np.ndarray]


def rk4(f: Acceleration, on: Coordinates, t: float, h: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> State:
    """Runge-Kutta of order 4 with increments added up as if all velocities commuted."""
    v2 = v + 0.5 * h * a
    a2 = f(t + 0.5 * h, on.move(q, 0.5 * h * v), v2)
    v3 = v + 0.5 * h * a2
    a3 = f(t + 0.5 * h, on.move(q, 0.5 * h * v2), v3)
    v4 = v + h * a3
    a4 = f(t + h, on.move(q, h * v3), v4)
    return on.move(q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)), v + h / 6.0 * (a + 2.0 * a2 + 2.0 * a3 + a4)


def semi_implicit(
    f: Acceleration, on: Coordinates, t: float, h: float, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> State:
    """Semi-implicit Euler: the new velocity moves the configuration."""
    v = v + h * a
    return on.move(q, h * v), v


def rkmk4(f: Acceleration, on: Coordinates, t: float, h: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> State:
    """Runge and Kutta's and Munthe-Kaas' method: rates of the increment, not velocities, are added up."""
    groups = on.groups
    x2, v2 = 0.5 * h * v, v + 0.5 * h * a
    k2, a2 = increment_rate(groups, x2, v2), f(t + 0.5 * h, on.move(q, x2), v2)
    x3, v3 = 0.5 * h * k2, v + 0.5 * h * a2
    k3, a3 = increment_rate(groups, x3, v3), f(t + 0.5 * h, on.move(q, x3), v3)
    x4, v4 = h * k3, v + h * a3
    k4, a4 = increment_rate(groups, x4, v4), f(t + h, on.move(q, x4), v4)
    return on.move(q, h / 6.0 * (v + 2.0 * k2 + 2.0 * k3 + k4)), v + h / 6.0 * (a + 2.0 * a2 + 2.0 * a3 + a4)


STEPS = {"rk4": rk4, "semi_implicit": semi_implicit, "rkmk4": rkmk4}
