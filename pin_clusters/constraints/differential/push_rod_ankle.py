"""Universal ankle with two linear actuators (2-SPU)."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ConstraintError
from .._closed_form import ClosedForm, solutions
from .._frames import line_joint
from .._harmonics import coordinates, harmonic_closure, linear
from ..closures import Closure
from ..coupling import Coupling
from ..rows import store
from ._ankle import Ankle, anchor_point, anchors, rod_lengths
from ._base import Differential, End


@dataclass(frozen=True, eq=False)
class PushRodGeometry:
    """The dimensions of the mechanism in one tree: ends of the rods, and rod lengths at zero extension [m]."""

    ankle: Ankle
    actuators: tuple[int, ...]
    shank: tuple[np.ndarray, ...]
    foot: tuple[np.ndarray, ...]
    lengths: tuple[float, ...]

    def distances(self, pitch: Any, roll: Any) -> list[Any]:
        """Return the lengths of the two rods; complex angles give complex lengths."""
        rods = [self.ankle.foot_point(b, pitch, roll) - a for a, b in zip(self.shank, self.foot, strict=True)]
        return [np.sqrt(rod @ rod) for rod in rods]

    def extensions(self, pitch: Any, roll: Any) -> list[Any]:
        return [d - length for d, length in zip(self.distances(pitch, roll), self.lengths, strict=True)]

    def phi(self, x: np.ndarray) -> np.ndarray:
        """Return ``length - (length0 + extension)`` for each rod; x contains the two extensions, pitch and roll."""
        return np.array(self.distances(x[2], x[3])) - self.lengths - x[:2]


@dataclass(frozen=True)
class PushRodAnkle(Differential, mechanism="push_rod_ankle", independent=("actuator_1", "actuator_2")):
    """A universal ankle driven by two linear actuators from shank to foot (2-SPU).

    The coordinates of two prismatic joints of the tree are the extensions x_i of the actuators. The bodies of these
    joints only slide; the small rotations of the rods are neglected. Let a_i be the end of rod i on the shank, and
    b_i(pitch, roll) its end on the foot. The equations are::

        0 = (|b_i - a_i|^2 - (length0_i + x_i)^2) / (2 length0_i)        i = 1, 2

    In closed form, the extensions are functions of pitch and roll: ``x_i = |b_i - a_i| - length0_i``.

    Singular poses: If both rods have the same ratio of lever arms about pitch and roll, or if a rod has no lever arm
    about either axis, the actuators cannot be independent.

    Args:
        actuator_1: Prismatic joint of actuator 1.
        actuator_2: Prismatic joint of actuator 2.
        pitch: Revolute joint of the pitch motion, parent or child of the roll joint. The body of the lower joint is the
            foot; the parent body of the upper joint is the shank.
        roll: Revolute joint of the roll motion.
        shank: Ends of the two rods on the shank; each is a frame (name, or name and point), or three numbers in the
            frame of the shank's joint.
        foot: Ends of the two rods on the foot; each is a frame, or three numbers in the frame of the foot's joint.
        length0: Rod lengths at zero extension, [m]: two numbers, or one for both rods; by default the lengths at zero
            pitch and roll.

    Raises:
        ConstraintError: A name, point or length is invalid, or a joint is repeated.
    """

    actuator_1: str
    actuator_2: str
    pitch: str
    roll: str
    _: KW_ONLY
    shank: Any
    foot: Any
    length0: Any = None

    def __post_init__(self) -> None:
        self._check_joints()
        for f in ("shank", "foot"):
            store(self, **{f: anchors(getattr(self, f), f, self.label)})
        store(self, length0=rod_lengths(self.length0, "length0", self.label))

    def geometry(self, tree: pin.Model) -> PushRodGeometry:
        """Return the dimensions in ``tree``; raise ``ConstraintError`` if the joints do not form this ankle."""
        ankle = Ankle.read(tree, self.pitch, self.roll, self.label)
        actuators = tuple(line_joint(tree, n, self.label, prismatic=True)[0] for n in self.independent)
        shank = tuple(anchor_point(tree, p, ankle.shank, f"shank[{i}]", self.label) for i, p in enumerate(self.shank))
        foot = tuple(anchor_point(tree, p, ankle.foot, f"foot[{i}]", self.label) for i, p in enumerate(self.foot))
        geometry = PushRodGeometry(ankle, actuators, shank, foot, (0.0, 0.0))
        lengths = self.length0 or tuple(map(float, geometry.distances(0.0, 0.0)))
        if min(lengths) <= 0.0:
            raise ConstraintError(
                f"{self.label}: a rod has length 0 at zero pitch and roll. Check its ends, or specify length0."
            )
        return replace(geometry, lengths=lengths)

    def closures(self, tree: pin.Model) -> list[Closure]:
        g = self.geometry(tree)
        x1, x2, pitch, roll = coordinates(4)
        rows = []
        for x, a, b, length in zip((x1, x2), g.shank, g.foot, g.lengths, strict=True):
            # The equation is (d^2 - length^2 - 2 length x - x^2) / (2 length). It is expanded, because a difference of
            # large numbers loses digits.
            distance = g.ankle.square_distance(b, a, pitch, roll) - length**2
            rows.append(distance / (2.0 * length) - linear(x) - linear(x) * linear(x) / (2.0 * length))
        labels = [f"{self.label}: rod {i}" for i in (1, 2)]
        return [harmonic_closure(self, (*g.actuators, *g.ankle.pitch_roll), rows, labels, ("m", "m"))]

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the extensions as functions of pitch and roll; there is one assembly."""
        g = self.geometry(tree)
        return ClosedForm(g.ankle.pitch_roll, g.actuators, partial(solutions, g.extensions, (1, 1)), g.extensions)

    def rods(self, tree: pin.Model) -> list[tuple[End, End]]:
        g = self.geometry(tree)
        return [((g.ankle.shank, a), (g.ankle.foot, b)) for a, b in zip(g.shank, g.foot, strict=True)]

    def generic(self, tree: pin.Model) -> list[Coupling]:
        return self._coupling(self.geometry(tree).phi)
