"""Is armature enough? The largest error of each approximation against a threshold, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, ModelError, PinClustersError
from ..pages.results import Result
from ..pages.template import number as number
from ..study import StudyResult
from ..study._samples import usual
from ..study.report import percent_of

EXACT = 1e-6
"""Below this part of the peak torque, [%], an approximation is called exact: rounding is no error."""


class ThresholdError(PinClustersError, ValueError):
    """A threshold is no percentage."""


@dataclass(frozen=True)
class Worst(Result):
    """Where an approximation is worst.

    Attributes:
        joint: Name of the joint.
        percent: RMS of the torque error as a part of the joint's peak torque, [%].
        rms: The same in the joint's unit.
        peak: The joint's largest exact torque.
        unit: ``"N m"`` or ``"N"``.
    """

    joint: str
    percent: float
    rms: float
    peak: float
    unit: str


@dataclass(frozen=True)
class Verdict(Result):
    """The answer.

    Attributes:
        enough: Whether the approximation that is asked about stays within the threshold at every joint.
        asked: Name of that approximation: ``"diagonal"``, with closed loops ``"armature"`` or ``"frozen"``.
        best: The coarsest approximation that stays within the threshold; None if only the exact robot does.
        threshold: Largest RMS error that is enough, [%] of the joint's peak torque on the motion.
        worst: Per approximation, where it is worst.
        above: Names of the joints at which the approximation that is asked about is above the threshold.
        sentence: The answer in one sentence.
        advice: What to do, in one or two.
    """

    enough: bool
    asked: str
    best: str | None
    threshold: float
    worst: dict[str, Worst]
    above: tuple[str, ...]
    sentence: str
    advice: str

    _json = "enough sentence advice asked best threshold_percent:threshold joints_above:above worst"


def check_threshold(threshold: Any) -> float:
    """Return a threshold as a number, [%]; what is not between 0 and 100 is a ``ThresholdError``."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(f"threshold must be a number (per cent), got {threshold!r}.")
    if not (math.isfinite(threshold) and 0.0 < threshold <= 100.0):
        raise ThresholdError(
            f"threshold must be above 0 and at most 100, in per cent of the joint's peak torque, got {threshold:g}."
        )
    return float(threshold)


def judge(study: StudyResult, threshold: float = 5.0) -> Verdict:
    """Compare the errors of a study with the largest one that is enough, [%] of the joint's peak torque on the motion.

    Only joints count, not the wrench on a floating base, which no motor makes.

    Raises:
        ThresholdError: The threshold is not between 0 and 100.
        ModelError: No torque acts along the motion, so there is nothing to compare with.
    """
    threshold = check_threshold(threshold)
    columns = study.actuated
    if not np.any(study.max_exact[columns] > 0.0):
        raise ModelError(
            f"no torque acts on {study.robot!r} along this motion, so there is nothing to audit. Choose another motion."
        )
    percent = study.share(study.rms_error)
    worst = {rung: _worst(study, rung, values) for rung, values in percent.items()}
    asked = usual(worst)
    # the coarser rungs of loops answer other questions, so only what is asked about and what refines it counts
    candidates = {"diagonal": ("none", "diagonal", "block"), "armature": ("no rotor", "armature")}.get(asked, (asked,))
    best = next((rung for rung in candidates if worst[rung].percent <= threshold), None)
    above = tuple(study.joints[k] for k in columns if percent[asked][k] > threshold)
    enough = not above
    return Verdict(
        enough, asked, best, threshold, worst, above,
        _sentence(study, asked, worst[asked], enough, threshold, len(above), len(columns)),
        _advice(asked, best, worst, threshold),
    )  # fmt: skip


def percent(value: float) -> str:
    """Return a percentage with two digits, as it reads best."""
    return "<0.01 %" if EXACT <= value < 0.01 else percent_of(value)


def _worst(study: StudyResult, rung: str, values: np.ndarray) -> Worst:
    # of joints that differ by rounding only, the first
    k = int(study.actuated[np.argmax(np.round(values[study.actuated], 9))])
    return Worst(
        study.joints[k], float(values[k]), float(study.rms_error[rung][k]), float(study.max_exact[k]), study.units[k]
    )


_WHAT = {
    "diagonal": "diagonal armature",
    "armature": "armature on the joints that drive the rotors, with exact loops,",
    "frozen": "a constant coupling in place of its closed loops",
}


def _sentence(
    study: StudyResult, asked: str, worst: Worst, enough: bool, threshold: float, above: int, joints: int
) -> str:
    """Say yes or no, where it is worst, and the threshold."""
    question = "A constant coupling" if asked == "frozen" else "Armature"
    limit = f"{threshold:g} % of the peak torque"
    robot, what = study.robot, _WHAT[asked]
    if study.drop_rotors and asked != "frozen":
        what = what.rstrip(",") + ", rotors' mass left out,"
    if worst.percent < EXACT:
        return f"{question} is enough for {robot}: on this motion {what} is exact at every joint (threshold: {limit})."
    where = f"{percent(worst.percent)} of the peak torque at {worst.joint} ({number(worst.rms)} of "
    where += f"{number(worst.peak)} {worst.unit})"
    if enough:
        return (
            f"{question} is enough for {robot}: on this motion the RMS torque error of {what} is at most {where}, "
            f"within the threshold of {threshold:g} %."
        )
    return (
        f"{question} is not enough for {robot}: on this motion the RMS torque error of {what} reaches {where}, "
        f"above the threshold of {threshold:g} % (exceeded at {above} of {joints} joints)."
    )


def _advice(asked: str, best: str | None, worst: dict[str, Worst], threshold: float) -> str:
    """Say what to use instead."""
    if asked == "frozen":
        if best:
            return "The loops may be replaced by the constant ratios that they have in the reference pose."
        return "Only the exact loops stay within the threshold."
    if best in ("none", "no rotor"):
        return "On this motion the rotors' spin matters so little that even no armature would be within the threshold."
    if best in ("diagonal", "armature"):
        return "Armature with the right values, J ratio^2 of each joint's rotors, is all that it takes."
    if best == "block":
        w = worst["block"]
        return (
            f"Block armature, with the off-diagonal terms of joints that share a rotor, is enough: at most "
            f"{percent(w.percent)}, at {w.joint}. In MuJoCo it is a tendon with armature: the page has the lines."
        )
    if asked == "armature":
        return "The loops are exact in this approximation, so what is missing is the rotors' own: use exact rotors."
    block, diagonal = worst["block"], worst["diagonal"]
    if block.percent > 0.95 * diagonal.percent:
        return "Off-diagonal terms (block armature) do not help; only exact rotors stay within the threshold."
    return (
        f"Block armature, with the off-diagonal terms of joints that share a rotor, leaves at most "
        f"{percent(block.percent)}, at {block.joint}; only exact rotors stay within {threshold:g} %."
    )
