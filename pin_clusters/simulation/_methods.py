"""Methods as data, and one step of any of them on any coordinates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._coordinates import Coordinates
from ._groups import increment_rate

# acceleration at a time, a configuration and a velocity
Acceleration = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Method:
    """Tableaux of a partitioned Runge-Kutta method; the last row of each is the step itself.

    Attributes:
        times: Of the stages, in parts of a step.
        velocities: Weights of the accelerations, shape (stages + 1, stages + 1).
        positions: Weights of the velocities in the increment of the configuration; the step's own velocity is the last.
        corrected: Whether rates of the increment are added up, not velocities, which need not commute (Munthe-Kaas).
    """

    times: tuple[float, ...]
    velocities: np.ndarray
    positions: np.ndarray
    corrected: bool = False


_RK4 = np.zeros((5, 5))
_RK4[1, 0] = _RK4[2, 1] = 0.5
_RK4[3, 2] = 1.0
_RK4[4, :4] = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0
_TIMES = (0.0, 0.5, 0.5, 1.0)
# the new velocity moves the configuration
_EULER = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])

METHODS = {
    "rk4": Method(_TIMES, _RK4, _RK4),
    "semi_implicit": Method((0.0,), *_EULER),
    "rkmk4": Method(_TIMES, _RK4, _RK4, corrected=True),
}


def step(
    method: Method, f: Acceleration, on: Coordinates, t: float, h: float, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return the state after a step that begins with acceleration a, and rates of the increment at stages and end."""
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
