"""Define the entries of the atlas, which contain the numbers and the verdict for each robot."""

import math
from dataclasses import dataclass
from typing import Any

from ..pages.results import Result
from ..pages.template import number

NONE, DIAGONAL, BLOCK, PUBLISHED = "none", "right armature", "block armature", "published"
MOTIONS = ("sine", "chirp", "gait")  # Names of the motions along which torque errors are compared
SAME = 0.01  # Relative difference up to which two armature values count as equal


def spanned(low: float, high: float) -> str:
    return f"{low:.2g}" if high - low < SAME else f"{low:.2g} to {high:.2g}"


@dataclass(frozen=True)
class JointLine(Result):
    """Armature of a group of joints with equal values, [kg m^2], or [kg] for prismatic joints.

    Attributes:
        joints: Names of the joints.
        turns: Gear ratio and axial rotor inertia, [kg m^2], of each motor that drives one of these joints.
        first: Sum of ``ratio^2 * J`` over these motors, where J is the axial rotor inertia.
        total: ``first`` plus the inertia of further gear stages.
        published: Armature in each published set; None if the set does not contain these joints.
    """

    joints: tuple[str, ...]
    turns: tuple[tuple[float, float], ...]
    first: float
    total: float
    published: tuple[float | None, ...]


@dataclass(frozen=True)
class Judged(Result):
    """Errors that a set of armature values causes.

    Attributes:
        name: ``"none"``, ``"published"``, ``"right armature"`` or ``"block armature"`` (computed from rotors).
        where: Source of a published armature set.
        low: Smallest ratio, over the joints, of this armature to the correct armature; ``high`` is the largest ratio.
        percent: RMS torque error in per cent of the joint's peak torque, by motion and by driven joint.
        inertia: Mean error of the operational-space inertia, by frame, [%].
        touch: Mean error of the touch-down impulse, by frame, [%], for a floating base on flat ground without
            restitution; empty for a fixed base.
    """

    name: str
    where: str
    low: float
    high: float
    percent: dict[str, dict[str, float]]
    inertia: dict[str, float]
    touch: dict[str, float]

    def worst(self, motion: str) -> tuple[str, float]:
        """Return the joint with the largest error along a motion, and the error, [%]; NaN if unknown."""
        return max(self.percent.get(motion, {}).items(), key=lambda x: round(x[1], 9), default=("", math.nan))

    @property
    def push(self) -> float:
        """Largest error of the operational-space inertia, [%]."""
        return max(self.inertia.values(), default=math.nan)

    @property
    def landing(self) -> float:
        """Largest error of the touch-down impulse, [%]."""
        return max(self.touch.values(), default=math.nan)


@dataclass(frozen=True)
class Entry(Result):
    """A robot of the atlas.

    Attributes:
        name: Name of the robot's sheet; ``robot`` is the full name of the robot.
        state: ``"known"``, or the reason why nothing was computed: ``"unknown"``, ``"no file"``, ``"not here"``,
            ``"other version"``, ``"failed"``.
        file: Description of the robot file's origin; ``digest`` is the file's SHA-256.
        sure: Kinds of sources from which the motor data come, such as ``"maker"`` or ``"measured"``.
        joints: Armature of the joints.
        judged: Errors of ``none``, ``right armature``, ``block armature`` (only without loops) and each published set.
        gait: Name of the recorded gait of this robot in ``pc.study.motions()``; empty if there is none.
        verdict: The result in one sentence.
    """

    name: str
    robot: str
    state: str
    file: str = ""
    digest: str = ""
    sure: tuple[str, ...] = ()
    joints: tuple[JointLine, ...] = ()
    judged: tuple[Judged, ...] = ()
    gait: str = ""
    verdict: str = ""

    def error(self, name: str, motion: str = "sine") -> float:
        """Return the largest torque error, [%], of the set ``name`` (``"published"``: the worst of these), or NaN."""
        judged = self.worst if name == PUBLISHED else next((j for j in self.judged if j.name == name), None)
        return judged.worst(motion)[1] if judged else math.nan

    @property
    def published(self) -> list[Judged]:
        """Errors of the published sets."""
        return [j for j in self.judged if j.name == PUBLISHED]

    @property
    def worst(self) -> Judged | None:
        """The published set with the largest error along the sine motion."""
        return max(self.published, key=lambda j: j.worst("sine")[1], default=None)

    @property
    def span(self) -> str:
        """Smallest and largest ratio of published to correct armature over all sets."""
        sets = self.published
        return spanned(min(j.low for j in sets), max(j.high for j in sets)) if sets else "-"

    @property
    def title(self) -> str:
        """Short name of the robot."""
        return self.robot.split(",")[0].split(" (")[0]

    def said(self) -> str:
        """Return the verdict in one sentence."""
        remaining = f"correct armature has an error of {two(self.error(DIAGONAL))} %"
        if not math.isnan(block := self.error(BLOCK)):
            remaining += f", block armature of {two(block)} %"
        correct_count = sum(max(abs(j.low - 1.0), abs(j.high - 1.0)) < SAME for j in self.published)
        if self.worst is None:
            missing = f"without armature the torque error is up to {two(self.error(NONE))} % of the peak torque"
            return f"No published armature was found; {missing}; {remaining}."
        if correct_count == len(self.published):
            return f"The published armature agrees with gear ratios and rotor inertias; {remaining}."
        joint, percent = self.worst.worst("sine")
        verb = "is" if correct_count == 1 else "are"
        best = f" ({correct_count} of {len(self.published)} sets {verb} correct)" if correct_count else ""
        times = f"with {spanned(self.worst.low, self.worst.high)} times the correct value"
        return (
            f"Published armature{best} causes torque errors of up to {two(percent)} % of the peak torque, at {joint}, "
            f"{times}; {remaining}."
        )


def two(x: float) -> str:
    return "" if math.isnan(x) else number(float(f"{x:.0f}" if abs(x) >= 99.5 else f"{x:.2g}"))


def row(e: Entry) -> dict[str, Any]:
    push, landing = (e.worst.push, e.worst.landing) if e.worst else (math.nan, math.nan)
    return {
        "published / correct": e.span if e.judged else "",
        PUBLISHED: e.error(PUBLISHED),
        NONE: e.error(NONE),
        "correct": e.error(DIAGONAL),
        "block": e.error(BLOCK),
        "published, chirp": e.error(PUBLISHED, "chirp"),
        "correct, own gait": e.error(DIAGONAL, "gait"),
        "inertia at ends, published": push,
        "touch-down, published": landing,
    }
