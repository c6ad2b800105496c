"""Universal ankle with two cranks and two rods (2-RSU)."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ConstraintError
from .._closed_form import ClosedForm, solutions
from .._frames import coordinate_joint, line_joint
from .._harmonics import coordinates, harmonic_closure
from .._planar import check_branch
from ..closures import Closure
from ..rod import Rod
from ..rows import store
from ._ankle import Ankle, anchor_point, anchors, rod_lengths, turn
from ._base import Differential, End


@dataclass(frozen=True, eq=False)
class Crank:
    """One crank on the shank, with its rod to the foot."""

    joint: int  # joint id
    rotation: np.ndarray  # rotation of the joint placement
    origin: np.ndarray  # position of the joint placement, [m]
    axis: np.ndarray  # joint axis in the joint frame
    tip: np.ndarray  # pin of the crank in the frame of the joint, [m]
    end: np.ndarray  # end of the rod in the frame of the foot's joint, [m]
    length: float  # length of the rod, [m]


@dataclass(frozen=True, eq=False)
class Ankle2RsuGeometry:
    """The dimensions of the mechanism in one tree."""

    ankle: Ankle
    cranks: tuple[Crank, ...]
    branch: tuple[int, int]

    @property
    def joints(self) -> tuple[int, ...]:
        return tuple(crank.joint for crank in self.cranks)

    def square_distance(self, crank: Crank, x: Any, pitch: Any, roll: Any) -> Any:
        reach = self.ankle.square_distance(crank.end, crank.origin, pitch, roll)
        arm = crank.rotation @ (turn(crank.axis, x) @ crank.tip)
        to_foot = self.ankle.foot_point(crank.end, pitch, roll) - crank.origin
        return reach + crank.tip @ crank.tip - 2.0 * (arm @ to_foot)

    def sines(self, pitch: Any, roll: Any) -> list[tuple[Any, Any, Any, float]]:
        """Return (a, b, c, gear) for each crank: its angle x solves ``a sin x + b cos x = c``, and gear is 1."""
        coefficients = []
        for crank in self.cranks:
            # w is the vector from the crank's joint to the rod's end on the foot, in the joint frame of the crank.
            w = crank.rotation.T @ (self.ankle.foot_point(crank.end, pitch, roll) - crank.origin)
            along = (crank.tip @ crank.axis) * crank.axis
            c = 0.5 * (w @ w + crank.tip @ crank.tip - crank.length**2) - w @ along
            coefficients.append((w @ np.cross(crank.axis, crank.tip), w @ (crank.tip - along), c, 1.0))
        return coefficients


@dataclass(frozen=True)
class Ankle2Rsu(Differential, mechanism="ankle_2rsu", independent=("crank_1", "crank_2")):
    """A universal ankle driven by two cranks on the shank, each with a rod of constant length to the foot (2-RSU).

    Let a_i(x_i) be the pin of crank i, and b_i(pitch, roll) the end of its rod on the foot. The equations are::

        0 = (|b_i - a_i|^2 - length_i^2) / (2 length_i)        i = 1, 2

    In closed form, the crank angles are functions of pitch and roll: each equation is ``a sin x + b cos x = c``.

    Singular poses: If a crank is in line with its rod (seen along the crank's axis), pitch and roll cannot be
    independent. If both rods have the same ratio of lever arms about pitch and roll, or if a rod has no lever arm about
    either axis, the cranks cannot be independent. The rods have no mass; for rods with mass, use ``pc.Rod``.

    Args:
        crank_1: Revolute joint whose parent body is the shank.
        crank_2: Revolute joint whose parent body is the shank.
        pitch: Revolute joint of the pitch motion, parent or child of the roll joint. The body of the lower joint is the
            foot; the parent body of the upper joint is the shank.
        roll: Revolute joint of the roll motion.
        pins: Pins of the two cranks; each is a frame (name, or name and point), or three numbers in the frame of the
            crank's joint.
        foot: Ends of the two rods on the foot; each is a frame, or three numbers in the frame of the foot's joint.
        length: Lengths of the rods, [m]: two numbers, or one for both rods; by default the lengths at the zero pose.
        branch: Assembly mode of each crank: +1 if the crank's angle is larger than the angle at which the crank points
            to its rod's end on the foot, -1 if it is smaller. The model starts in this mode. If q_reference is in
            another mode than ``branch`` selects, q_reference takes precedence, and a warning is emitted.

    Raises:
        ConstraintError: A name, point, length or branch is invalid, or a joint is repeated.
    """

    crank_1: str
    crank_2: str
    pitch: str
    roll: str
    _: KW_ONLY
    pins: Any
    foot: Any
    length: Any = None
    branch: Any = (1, 1)

    def __post_init__(self) -> None:
        self._check_joints()
        for f in ("pins", "foot"):
            store(self, **{f: anchors(getattr(self, f), f, self.label)})
        store(self, length=rod_lengths(self.length, "length", self.label))
        branch = tuple(self.branch) if isinstance(self.branch, list | tuple) else (self.branch, self.branch)
        if len(branch) != 2:
            raise ConstraintError(f"{self.label}: branch must be +1, -1, or a pair of these, got {self.branch!r}.")
        store(self, branch=tuple(check_branch(b, self.label) for b in branch))

    def geometry(self, tree: pin.Model) -> Ankle2RsuGeometry:
        """Return the dimensions in ``tree``; raise ``ConstraintError`` if the joints do not form this ankle."""
        ankle = Ankle.read(tree, self.pitch, self.roll, self.label)
        return Ankle2RsuGeometry(ankle, tuple(self._crank(tree, ankle, i) for i in (0, 1)), self.branch)

    def _crank(self, tree: pin.Model, ankle: Ankle, i: int) -> Crank:
        name = self.independent[i]
        joint, axis = coordinate_joint(tree, name, self.label), line_joint(tree, name, self.label)[1]
        if tree.parents[joint] != ankle.shank:
            raise ConstraintError(
                f"{self.label}: crank {tree.names[joint]!r} hangs from {tree.names[tree.parents[joint]]!r}, but it "
                f"should hang from the shank, the body of {tree.names[ankle.shank]!r}. For other mechanisms use pc.Rod."
            )
        M = tree.jointPlacements[joint]
        tip = anchor_point(tree, self.pins[i], joint, f"pins[{i}]", self.label)
        end = anchor_point(tree, self.foot[i], ankle.foot, f"foot[{i}]", self.label)
        if not np.linalg.norm(np.cross(axis, tip)) > 0.0:
            raise ConstraintError(f"{self.label}: the pin of crank {tree.names[joint]!r} is on the crank's axis.")
        at_zero = ankle.foot_point(end, 0.0, 0.0) - M.translation - M.rotation @ tip
        length = self.length[i] if self.length else float(np.linalg.norm(at_zero))
        if length <= 0.0:
            raise ConstraintError(f"{self.label}: rod {i + 1} has length 0 at the zero pose. Check its two ends.")
        return Crank(joint, np.array(M.rotation), np.array(M.translation), axis, tip, end, length)

    def closures(self, tree: pin.Model) -> list[Closure]:
        g = self.geometry(tree)
        x1, x2, pitch, roll = coordinates(4)
        rows = [
            (g.square_distance(crank, x, pitch, roll) - crank.length**2) / (2.0 * crank.length)
            for crank, x in zip(g.cranks, (x1, x2), strict=True)
        ]
        labels = [f"{self.label}: rod {i}" for i in (1, 2)]
        return [harmonic_closure(self, (*g.joints, *g.ankle.pitch_roll), rows, labels, ("m", "m"))]

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the crank angles as functions of pitch and roll; there are at most four assemblies."""
        g = self.geometry(tree)
        return ClosedForm(g.ankle.pitch_roll, g.joints, partial(solutions, g.sines, g.branch), g.sines)

    def rods(self, tree: pin.Model) -> list[tuple[End, End]]:
        g = self.geometry(tree)
        return [((c.joint, c.tip), (g.ankle.foot, c.end)) for c in g.cranks]

    def generic(self, tree: pin.Model) -> list[Rod]:
        g, names = self.geometry(tree), tree.names
        return [
            Rod((names[c.joint], c.tip), (names[g.ankle.foot], c.end), length=c.length, name=f"generic rod {i}")
            for i, c in enumerate(g.cranks, start=1)
        ]
