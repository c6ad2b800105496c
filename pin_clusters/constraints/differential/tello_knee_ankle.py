"""Tello's knee-ankle differential."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
import pinocchio as pin

from .._closed_form import ClosedForm, sine_equation
from .._harmonics import coordinates, cos, harmonic_closure, linear, sin
from ..closures import Closure
from ..coupling import Coupling
from ._base import Differential

LENGTHS = ("crank_short", "crank_long", "fixed", "rod", "foot_long", "foot_short", "constant")
PHASES = ("phase_short", "phase_long", "phase_fixed", "phase_rod", "phase_foot_long", "phase_foot_short")


@dataclass(frozen=True)
class TelloKneeAnkle(Differential, mechanism="tello_knee_ankle", independent=("rotor_1", "rotor_2")):
    """Knee and ankle of the Tello leg: the sum of two motor angles turns the shin; their difference turns the foot.

    Let y_i be the angle of rotor i divided by ``gear``, l1 the angle of the shin, l2 the angle of the foot (both about
    y), and d = (y_1 - y_2) / 2. The phases are in multiples of ``pi``. The equations are::

        0 = crank_short cos(d + phase_short pi) - crank_long cos(d + phase_long pi) - fixed cos(phase_fixed pi)
            - rod sin(d + l2 + phase_rod pi) + foot_long sin(l2 + phase_foot_long pi)
            - foot_short sin(l2 + phase_foot_short pi) + constant
        0 = l1 - (y_1 + y_2) / 2

    Source: closure equations of the UIUC Tello leg, published with generalized_rbda. In closed form, the link angles
    are functions of the rotor angles: for given d, the first equation is ``a sin l2 + b cos l2 = c``. ``closed_form``
    lists the solution of the real robot first.

    Singular poses: If foot and rod are in line (``a^2 + b^2 = c^2``), the rotors cannot be independent. If crank and
    rod are in line, the links cannot be independent.

    Args:
        rotor_1: Revolute joint of motor 1.
        rotor_2: Revolute joint of motor 2.
        shin: Revolute joint from thigh to shin.
        foot: Revolute joint from shin to foot.
        gear: Turns of a rotor per turn of its crank.
        crank_short: Length in the equations above, [m].
        crank_long: Length in the equations, [m].
        fixed: Length in the equations, [m].
        rod: Length in the equations, [m].
        foot_long: Length in the equations, [m].
        foot_short: Length in the equations, [m].
        constant: Length in the equations, [m].
        phase_short: Phase in the equations, in multiples of pi.
        phase_long: Phase in the equations, in multiples of pi.
        phase_fixed: Phase in the equations, in multiples of pi.
        phase_rod: Phase in the equations, in multiples of pi.
        phase_foot_long: Phase in the equations, in multiples of pi.
        phase_foot_short: Phase in the equations, in multiples of pi.
        pi: Value of pi in the phases. To compare results with a program that uses 3.1415, pass 3.1415; this changes the
            sixth digit of the results.

    Raises:
        ConstraintError: A name or number is invalid, or a joint is repeated.
    """

    rotor_1: str
    rotor_2: str
    shin: str
    foot: str
    _: KW_ONLY
    gear: float = 6.0
    crank_short: float = 0.00336
    crank_long: float = 0.0208
    fixed: float = 0.02184
    rod: float = 0.0028
    foot_long: float = 0.0182
    foot_short: float = 0.00294
    constant: float = 0.02613584
    phase_short: float = 1979.0 / 4500.0
    phase_long: float = 493.0 / 1500.0
    phase_fixed: float = 1.0 / 9.0
    phase_rod: float = 231.0 / 500.0
    phase_foot_long: float = 2.0 / 15.0
    phase_foot_short: float = 1.0 / 45.0
    pi: float = math.pi

    def __post_init__(self) -> None:
        self._check_joints()
        self._check_numbers(("gear",), nonzero=True)
        self._check_numbers((*LENGTHS, *PHASES, "pi"))

    def _angles(self) -> list[float]:
        return [getattr(self, f) * self.pi for f in PHASES]

    def closures(self, tree: pin.Model) -> list[Closure]:
        x1, x2, l1, l2 = coordinates(4)
        d = (x1 - x2) / (2.0 * self.gear)
        p_short, p_long, p_fixed, p_rod, p_foot_long, p_foot_short = self._angles()
        four_bar = (
            self.crank_short * cos(d + p_short)
            - self.crank_long * cos(d + p_long)
            - self.fixed * math.cos(p_fixed)
            - self.rod * sin(d + l2 + p_rod)
            + self.foot_long * sin(l2 + p_foot_long)
            - self.foot_short * sin(l2 + p_foot_short)
            + self.constant
        )
        mean = linear(l1 - (x1 + x2) / (2.0 * self.gear))
        labels = (f"{self.label}: four-bar of the foot", f"{self.label}: mean of the motors")
        return [harmonic_closure(self, self._coordinate_joints(tree), (four_bar, mean), labels, ("m", "rad"))]

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the link angles as functions of the rotor angles, with the real robot's assembly first."""
        rotor_1, rotor_2, shin, foot = self._coordinate_joints(tree)
        return ClosedForm((rotor_1, rotor_2), (shin, foot), self._links)

    def _links(self, rotors: np.ndarray) -> list[np.ndarray]:
        y1, y2 = (float(x) / self.gear for x in rotors)
        d = (y1 - y2) / 2.0
        p_short, p_long, p_fixed, p_rod, p_foot_long, p_foot_short = self._angles()
        a = -self.rod * math.cos(d + p_rod)
        a += self.foot_long * math.cos(p_foot_long) - self.foot_short * math.cos(p_foot_short)
        b = -self.rod * math.sin(d + p_rod)
        b += self.foot_long * math.sin(p_foot_long) - self.foot_short * math.sin(p_foot_short)
        c = self.crank_long * math.cos(d + p_long) - self.crank_short * math.cos(d + p_short)
        c += self.fixed * math.cos(p_fixed) - self.constant
        return [np.array([(y1 + y2) / 2.0, foot]) for foot in sine_equation(a, b, c)[::-1]]

    def generic(self, tree: pin.Model) -> list[Coupling]:
        lengths = tuple(getattr(self, f) for f in LENGTHS)
        phi = partial(tello_knee_ankle_phi, gear=self.gear, lengths=lengths, phases=tuple(self._angles()))
        return self._coupling(phi)


def tello_knee_ankle_phi(x: np.ndarray, gear: float, lengths: Sequence[float], phases: Sequence[float]) -> np.ndarray:
    """Return the two published equations; x contains the angles of rotor 1, rotor 2, shin and foot."""
    crank_short, crank_long, fixed, rod, foot_long, foot_short, constant = lengths
    p_short, p_long, p_fixed, p_rod, p_foot_long, p_foot_short = phases
    y1, y2, l1, l2 = x[0] / gear, x[1] / gear, x[2], x[3]
    d = (y1 - y2) / 2.0
    return np.array(
        [
            crank_short * np.cos(d + p_short)
            - crank_long * np.cos(d + p_long)
            - fixed * np.cos(p_fixed)
            - rod * np.sin(d + l2 + p_rod)
            + foot_long * np.sin(l2 + p_foot_long)
            - foot_short * np.sin(l2 + p_foot_short)
            + constant,
            l1 - (y1 + y2) / 2.0,
        ]
    )
