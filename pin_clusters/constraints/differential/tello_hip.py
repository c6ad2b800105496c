"""Tello's hip differential."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from .._closed_form import ClosedForm, solutions
from .._harmonics import coordinates, cos, harmonic_closure, sin
from ..closures import Closure
from ..coupling import Coupling
from ._base import Differential

LENGTHS = ("crank", "gimbal_length", "gimbal_offset", "post", "lateral", "constant")


@dataclass(frozen=True)
class TelloHip(Differential, mechanism="tello_hip", independent=("rotor_1", "rotor_2")):
    """The hip of the Tello leg: two motors drive gimbal and thigh together, through cranks and push-rods.

    Let y_i be the angle of rotor i divided by ``gear``. Let l1 be the angle of the gimbal (about x), l2 the angle of
    the thigh (about y), s_1 = +1 and s_2 = -1. The equations are::

        0 = crank sin y_i - gimbal_length cos l1 - s_i gimbal_offset sin l1 - post cos y_i cos l2
            - crank cos l1 sin l2 - s_i lateral sin y_i sin l1 + s_i lateral sin l1 sin l2
            - post cos l1 sin y_i sin l2 + constant                                              i = 1, 2

    Source: closure equations of the UIUC Tello leg in generalized_rbda, whose version 1.1.0 contains the derivation. In
    closed form, the rotor angles are functions of the link angles: each equation is ``a sin y + b cos y = c``. On the
    real robot, the crank angles stay near zero; ``closed_form`` lists this solution first.

    Singular poses: If a crank is in line with its rod (``a^2 + b^2 = c^2``), the rotors cannot be dependent. If the
    gradients of the two equations with respect to the link angles are parallel, the rotors cannot be independent. The
    zero pose does not satisfy the equations (residual 3.7 mm).

    Args:
        rotor_1: Revolute joint of motor 1.
        rotor_2: Revolute joint of motor 2.
        gimbal: Revolute joint from hip clamp to gimbal, about x.
        thigh: Revolute joint from gimbal to thigh, about y.
        gear: Turns of a rotor per turn of its crank.
        crank: Length in the equations above, [m].
        gimbal_length: Length in the equations, [m].
        gimbal_offset: Length in the equations, [m].
        post: Length in the equations, [m].
        lateral: Length in the equations, [m].
        constant: Length in the equations, [m].

    Raises:
        ConstraintError: A name or number is invalid, or a joint is repeated.
    """

    rotor_1: str
    rotor_2: str
    gimbal: str
    thigh: str
    _: KW_ONLY
    gear: float = 6.0
    crank: float = 0.0228
    gimbal_length: float = 0.0098
    gimbal_offset: float = 0.01995
    post: float = 0.0128
    lateral: float = 0.0112
    constant: float = 0.01888125

    def __post_init__(self) -> None:
        self._check_joints()
        self._check_numbers(("gear",), nonzero=True)
        self._check_numbers(LENGTHS)

    def closures(self, tree: pin.Model) -> list[Closure]:
        x1, x2, l1, l2 = coordinates(4)
        rows = _equations((x1, x2, l1, l2), self.gear, self._lengths(), sin, cos)
        labels = [f"{self.label}: crank {i}" for i in (1, 2)]
        return [harmonic_closure(self, self._coordinate_joints(tree), rows, labels, ("m", "m"))]

    def _lengths(self) -> tuple[float, ...]:
        return tuple(getattr(self, f) for f in LENGTHS)

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the rotor angles as functions of the link angles, with the real robot's assembly first."""
        rotor_1, rotor_2, gimbal, thigh = self._coordinate_joints(tree)
        return ClosedForm((gimbal, thigh), (rotor_1, rotor_2), partial(solutions, self._sines, (-1, -1)), self._sines)

    def _sines(self, l1: Any, l2: Any) -> list[tuple[Any, Any, Any, float]]:
        """Return (a, b, c, gear) for each rotor, whose angle is ``gear * y`` with ``a sin y + b cos y = c``."""
        s1, s2, c1, c2 = np.sin(l1), np.sin(l2), np.cos(l1), np.cos(l2)
        coefficients = []
        for s in (1.0, -1.0):
            a = self.crank - s * self.lateral * s1 - self.post * c1 * s2
            c = self.gimbal_length * c1 + s * self.gimbal_offset * s1 + self.crank * c1 * s2
            c = c - s * self.lateral * s1 * s2 - self.constant
            coefficients.append((a, -self.post * c2, c, self.gear))
        return coefficients

    def generic(self, tree: pin.Model) -> list[Coupling]:
        return self._coupling(partial(tello_hip_phi, gear=self.gear, lengths=self._lengths()))


def tello_hip_phi(x: np.ndarray, gear: float, lengths: Sequence[float]) -> np.ndarray:
    """Return the two published equations of the hip; x contains the angles of rotor 1, rotor 2, gimbal and thigh."""
    return np.array(_equations(x, gear, lengths, np.sin, np.cos))


def _equations(x: Any, gear: float, lengths: Sequence[float], sin: Callable[..., Any], cos: Callable[..., Any]) -> Any:
    """Return the two equations, for numbers or for symbolic angles; ``sin`` and ``cos`` accept the type of x."""
    crank, gimbal_length, gimbal_offset, post, lateral, constant = lengths
    l1, l2 = x[2], x[3]
    return [
        crank * sin(y)
        - gimbal_length * cos(l1)
        - s * gimbal_offset * sin(l1)
        - post * cos(y) * cos(l2)
        - crank * cos(l1) * sin(l2)
        - s * lateral * sin(y) * sin(l1)
        + s * lateral * sin(l1) * sin(l2)
        - post * cos(l1) * sin(y) * sin(l2)
        + constant
        for s, y in ((1.0, x[0] / gear), (-1.0, x[1] / gear))
    ]
