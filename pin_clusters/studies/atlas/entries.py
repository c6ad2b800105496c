"""What the atlas says of a robot."""

import math
from dataclasses import dataclass
from typing import Any

from ..pages.results import Result
from ..pages.template import number

NONE, DIAGONAL, BLOCK, PUBLISHED = "none", "right armature", "block armature", "published"
MOTIONS = ("sine", "chirp", "gait")
"""Names of the motions whose torque errors are compared."""
SAME = 0.01
"""Armature that differs by no more than this part is the same."""


def spanned(low: float, high: float) -> str:
    """Return how a set of quotients reads."""
    return f"{low:.2g}" if high - low < SAME else f"{low:.2g} to {high:.2g}"


@dataclass(frozen=True)
class JointLine(Result):
    """The motors of joints that are alike, and the armature of each; [kg m^2], or [kg] where they slide.

    Attributes:
        turns: Of each motor of one of them, turns per turn of the joint and inertia of the rotor.
        first: ``ratio^2 J`` of these.
        total: The same with what turns with further stages.
        published: As each published set has it; None where that does not name the joint.
    """

    joints: tuple[str, ...]
    turns: tuple[tuple[float, float], ...]
    first: float
    total: float
    published: tuple[float | None, ...]


@dataclass(frozen=True)
class Judged(Result):
    """What a set of armature gets wrong.

    Attributes:
        name: ``"none"``, ``"right armature"`` or ``"block armature"``, which gears and rotors make, or ``"published"``.
        where: Where it was published.
        low: Smallest quotient of its armature and the right one; ``high``, largest.
        percent: By motion and joint with a motor: RMS of the torque error, as per cent of the joint's peak torque.
        inertia: By frame: mean error of the inertia that a push on it feels, [%].
        touch: By frame: mean error of the impulse with which it comes down on flat ground and stays, the base free,
            [%]; empty where the base is fixed.
    """

    name: str
    where: str
    low: float
    high: float
    percent: dict[str, dict[str, float]]
    inertia: dict[str, float]
    touch: dict[str, float]

    def worst(self, motion: str) -> tuple[str, float]:
        """Return the joint at which it is worst along a motion, and its error, [%]; NaN of what is not known."""
        return max(self.percent.get(motion, {}).items(), key=lambda x: round(x[1], 9), default=("", math.nan))

    @property
    def push(self) -> float:
        """Largest error of the inertia at a frame, [%]."""
        return max(self.inertia.values(), default=math.nan)

    @property
    def landing(self) -> float:
        """Largest error of the impulse of touch-down, [%]."""
        return max(self.touch.values(), default=math.nan)


@dataclass(frozen=True)
class Entry(Result):
    """A robot of the atlas.

    Attributes:
        state: ``"known"``, or why nothing was computed: ``"unknown"``, ``"no file"``, ``"not here"``, ``"other
            version"``, ``"failed"``.
        file: Where its file comes from, in words; ``digest``, its SHA-256.
        sure: Who vouches for the numbers.
        judged: ``none``, ``right armature``, ``block armature`` (without loops) and each published set.
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
        """Return the largest error of none, right or block armature, or of the worst published set, [%], else NaN."""
        found = self.worst if name == PUBLISHED else next((j for j in self.judged if j.name == name), None)
        return found.worst(motion)[1] if found else math.nan

    @property
    def published(self) -> list[Judged]:
        """What was found of published armature."""
        return [j for j in self.judged if j.name == PUBLISHED]

    @property
    def worst(self) -> Judged | None:
        """The published set that is worst on the sine."""
        return max(self.published, key=lambda j: j.worst("sine")[1], default=None)

    @property
    def span(self) -> str:
        """Published armature over the right one, of all sets."""
        sets = self.published
        return spanned(min(j.low for j in sets), max(j.high for j in sets)) if sets else "-"

    @property
    def title(self) -> str:
        """The robot in few words."""
        return self.robot.split(",")[0].split(" (")[0]

    def said(self) -> str:
        """Say what was found in one sentence."""
        left = f"with the right armature {two(self.error(DIAGONAL))} % are left"
        if not math.isnan(block := self.error(BLOCK)):
            left += f", with block armature {two(block)} %"
        right = sum(max(abs(j.low - 1.0), abs(j.high - 1.0)) < SAME for j in self.published)
        if self.worst is None:
            lost = f"without any, up to {two(self.error(NONE))} % of the peak torque are missing"
            return f"No published armature could be traced; {lost}; {left}."
        if right == len(self.published):
            return f"Its published armature is what gears and rotors make; {left}."
        joint, percent = self.worst.worst("sine")
        best = f" (of {len(self.published)} sets {right} {'is' if right == 1 else 'are'} right)" if right else ""
        times = f"with {spanned(self.worst.low, self.worst.high)} times the right one"
        return (
            f"Published armature{best} is up to {two(percent)} % of the peak torque off, at {joint}, {times}; {left}."
        )


def two(x: float) -> str:
    """Return a number with two digits, with all digits before the point from 100 on; nothing for NaN."""
    return "" if math.isnan(x) else number(float(f"{x:.0f}" if abs(x) >= 99.5 else f"{x:.2g}"))


def row(e: Entry) -> dict[str, Any]:
    """Return what tables show, by heads: published over right, and errors, [%]."""
    push, landing = (e.worst.push, e.worst.landing) if e.worst else (math.nan, math.nan)
    return {
        "published over right": e.span if e.judged else "",
        PUBLISHED: e.error(PUBLISHED),
        NONE: e.error(NONE),
        "right": e.error(DIAGONAL),
        "block": e.error(BLOCK),
        "published, chirp": e.error(PUBLISHED, "chirp"),
        "right, own gait": e.error(DIAGONAL, "gait"),
        "inertia at ends, published": push,
        "touch-down, published": landing,
    }
