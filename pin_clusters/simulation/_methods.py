"""Coefficients of Runge-Kutta methods, and a function that computes one step."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._coordinates import Coordinates
from ._groups import increment_rate

# A function that returns the acceleration for a time [s], a configuration and a velocity.
Acceleration = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Method:
    """Tableaux of a partitioned Runge-Kutta method; the last row of each tableau has the weights of the full step."""

    times: tuple[float, ...]  # stage times, as fractions of a step
    velocities: np.ndarray  # weights of the accelerations in the velocity, shape (stages + 1, stages + 1)
    positions: np.ndarray  # weights of the velocities in the increment; last column: velocity at the end of the step
    # Whether the method sums rates of the increment (Munthe-Kaas method) instead of velocities, which may not commute.
    corrected: bool = False


_RK4 = np.zeros((5, 5))
_RK4[1, 0] = _RK4[2, 1] = 0.5
_RK4[3, 2] = 1.0
_RK4[4, :4] = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0
_TIMES = (0.0, 0.5, 0.5, 1.0)
# Semi-implicit Euler integrates the configuration with the new velocity.
_EULER = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])

METHODS = {
    "rk4": Method(_TIMES, _RK4, _RK4),
    "semi_implicit": Method((0.0,), *_EULER),
    "rkmk4": Method(_TIMES, _RK4, _RK4, corrected=True),
}


def step(
    method: Method, f: Acceleration, on: Coordinates, t: float, h: float, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return q and v after one step that begins with acceleration a, and the rates of the increment at all stages."""
    rates, accelerations, stages = [v], [a], len(method.times)
    for i in range(1, stages + 1):
        v_i = v + h * sum(w * x for w, x in zip(method.velocities[i], accelerations, strict=False) if w)
        rates.append(v_i)
        x = h * sum(w * k for w, k in zip(method.positions[i], rates, strict=False) if w)
        moved = on.move(q, x)
        if method.corrected:
            rates[i] = increment_rate(on.groups, x, v_i)
        if i < stages:
            accelerations.append(f(t + method.times[i] * h, moved, v_i))
    return moved, v_i, rates
