"""Compare the largest errors of the approximations with thresholds, and explain the verdict in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, ModelError, PinClustersError
from ..pages.results import Result
from ..pages.template import number as number
from ..study import StudyResult
from ..study._samples import usual
from ..study.metrics import ForwardError
from ..study.report import EXACT, percent_of
from .simulated import Simulated


class ThresholdError(PinClustersError, ValueError):
    """Error if a threshold is not a percentage."""


THRESHOLDS = {"torque control": 5.0, "simulation": 10.0, "a policy": 20.0}
"""Largest acceptable errors, [%]: relative to the peak torque (torque control) or to the RMS acceleration (simulation,
policy). The policy threshold corresponds to training with motor strengths between 80 and 120 %."""
_LEAST, _ROUNDING = 0.01, 1e-9  # Smallest scales of errors: relative to the largest acceleration, and absolute
_LISTED = 3  # largest number of joints that a sentence lists


@dataclass(frozen=True)
class Worst(Result):
    """The largest error of an approximation.

    Attributes:
        joint: Name of the joint; for acceleration errors also ``"base (turning)"`` or ``"base (translation)"``.
        percent: RMS error, [%] of the peak torque or of the RMS acceleration of that joint.
    """

    joint: str
    percent: float


@dataclass(frozen=True)
class Line(Result):
    """The verdict for one purpose, such as torque control.

    Attributes:
        enough: Whether the judged approximation stays within the threshold at every joint.
        threshold: Largest acceptable RMS error, [%].
        worst: Largest error of each approximation, by name.
        above: Names of the joints at which the judged approximation exceeds the threshold.
        sentence: The answer in words. With closed loops, it also describes the approximation with frozen loops.
    """

    enough: bool
    threshold: float
    worst: dict[str, Worst]
    above: tuple[str, ...]
    sentence: str

    _json = "enough sentence threshold_percent:threshold joints_above:above worst"


@dataclass(frozen=True)
class Verdict(Result):
    """The overall answer, determined by the purpose with the largest error relative to its threshold.

    Attributes:
        enough: Whether the judged approximation is accurate enough for all purposes.
        asked: Name of the judged approximation: ``"diagonal"``, or with closed loops ``"armature"`` or ``"frozen"``.
        best: The coarsest approximation that is accurate enough for all purposes; None if there is none.
        lines: The answers by purpose: ``"torque control"``, ``"simulation"``, ``"a policy"``.
        answer: The answer in a few words.
        sentence: The answer in one sentence.
        advice: The recommended action, in one or two sentences.
        free: Largest error of accelerations in free flight, per approximation; empty if the base does not float.
        flight: A sentence about ``free``; empty if the base does not float.
    """

    enough: bool
    asked: str
    best: str | None
    lines: dict[str, Line]
    answer: str
    sentence: str
    advice: str
    free: dict[str, Worst]
    flight: str

    _json = "enough answer sentence advice asked best lines free_flight:free flight"

    @property
    def torque(self) -> Line:
        """The answer for torque control."""
        return self.lines["torque control"]


def check_threshold(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(f"threshold must be a number (per cent), got {threshold!r}.")
    if not (math.isfinite(threshold) and 0.0 < threshold <= 100.0):
        raise ThresholdError(f"threshold must be above 0 and at most 100 per cent, got {threshold:g}.")
    return float(threshold)


def judge(
    study: StudyResult, simulated: Simulated, thresholds: Mapping[str, float] = THRESHOLDS, still: tuple[str, ...] = ()
) -> Verdict:
    """Compare the errors along a motion with ``thresholds``, a percentage for each purpose, as in ``THRESHOLDS``.

    Torque errors are judged at joints only, because no motor supplies the wrench on a floating base. Accelerations are
    judged with that wrench applied. The base acceleration is judged only if the motion moves the base. Free flight is
    reported but not judged. Raises ``ModelError`` if no torque acts along the motion.
    """
    limits = {name: check_threshold(thresholds.get(name, x)) for name, x in THRESHOLDS.items()}
    if not np.any(study.max_exact[study.actuated] > 0.0):
        raise ModelError(f"no torque acts on {study.robot!r} along this motion. Choose another motion.")
    asked, forward, flight = usual(study.approximate), simulated.forward, simulated.flight
    accelerations = _accelerations(study, forward, forward.base)
    share = study.share(study.rms_error)
    torques = {r: {study.joints[k]: float(x[k]) for k in study.actuated} for r, x in share.items()}
    lines = {
        name: _line(name, torques if name == "torque control" else accelerations, asked, limit)
        for name, limit in limits.items()
    }
    # With closed loops, coarser approximations also change the loops, so only these candidates are considered.
    candidates = {"diagonal": ("none", "diagonal", "block"), "armature": ("no rotor", "armature")}.get(asked, (asked,))
    best = next((level for level in candidates if _excess(lines, level) <= 1.0), None)
    fit = [name for name, line in lines.items() if line.enough]
    enough, yes = len(fit) == len(lines), "for the joints that this motion exercises" if still else "on this motion"
    answer = f"Yes, {yes}" if enough else f"For {_and(fit)} only" if fit else "No"
    sentence, advice = _sentence(study, asked, lines, still), _advice(asked, best, lines)
    free = dict[str, Worst]()
    if simulated.free is not None:
        free = _worst(_accelerations(study, simulated.free, flight.relative if flight else {}))
    return Verdict(enough, asked, best, lines, answer, sentence, advice, free, _flight(asked, free.get(asked)))


def _flight(asked: str, worst: Worst | None) -> str:
    if worst is None:
        return ""
    return (
        "Simulation and policy are judged along the motion, with the exact wrench on the base. In free flight, the "
        f"same torques act without that wrench, so the robot moves differently, and {_SUBJECT[asked]} has "
        f"{_error_text('', worst)}. The verdict does not depend on free flight."
    )


def _accelerations(
    study: StudyResult, forward: ForwardError, base: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    exact = dict(zip(forward.names, forward.exact.tolist(), strict=True))
    units = {study.joints[k]: study.units[k] for k in study.actuated}
    largest_by_unit = {unit: max(exact[n] for n, u in units.items() if u == unit) for unit in units.values()}
    scale = {n: max(exact[n], _LEAST * largest_by_unit[unit], _ROUNDING) for n, unit in units.items()}
    errors = {}
    for level, x in forward.rms.items():
        rms = dict(zip(forward.names, x.tolist(), strict=True))
        errors[level] = {n: 100.0 * rms[n] / scale[n] for n in units}
        for kind, word in (("angular", "turning"), ("linear", "translation")) if base else ():
            errors[level][f"base ({word})"] = 100.0 * base[level][kind]
    return errors


def _worst(errors: dict[str, dict[str, float]]) -> dict[str, Worst]:
    # Values are rounded so that the first of several joints with equal errors is selected.
    return {level: Worst(*max(x.items(), key=lambda n: round(n[1], 9))) for level, x in errors.items()}


def _line(name: str, errors: dict[str, dict[str, float]], asked: str, threshold: float) -> Line:
    worst = _worst(errors)
    above = tuple(n for n, x in errors[asked].items() if x > threshold)
    text = f"{name[0].upper()}{name[1:]}: {'not ' if above else ''}enough, with {_error_text(name, worst[asked])}; "
    text += f"threshold {threshold:g} %"
    text += f", exceeded at {len(above)} of {len(errors[asked])} joints" if above else ""
    if asked == "armature":
        w = worst["frozen"]
        text += f". Frozen loops: {percent(w.percent)}, at {w.joint}, {'' if w.percent <= threshold else 'not '}enough"
    return Line(not above, threshold, worst, above, f"{text}.")


def _excess(lines: Mapping[str, Line], level: str) -> float:
    return max(line.worst[level].percent / line.threshold for line in lines.values())


def percent(value: float) -> str:
    return "<0.01 %" if EXACT <= value < 0.01 else percent_of(value)


_SUBJECT = {
    "diagonal": "diagonal armature",
    "armature": "armature on the joints that drive the rotors, with exact loops,",
    "frozen": "a constant coupling in place of its closed loops",
}


def _error_text(name: str, w: Worst) -> str:
    torque = name == "torque control"
    if w.percent < EXACT:
        return f"no {'torque' if torque else 'acceleration'} error"
    if torque:
        return f"RMS torque errors of up to {w.percent:.3g} % of the peak torque, at {w.joint}"
    return f"acceleration errors of up to {w.percent:.3g} % (RMS) under the exact torques, at {w.joint}"


def _and(words: list[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _sentence(study: StudyResult, asked: str, lines: dict[str, Line], still: tuple[str, ...]) -> str:
    question = "a constant coupling" if asked == "frozen" else "armature"
    good, bad = ([name for name, line in lines.items() if line.enough is fit] for fit in (True, False))
    head = f"For {study.robot}, {question} is {f'enough for {_and(good)}' if good else 'not enough'}"
    head += (", not" if good else "") + f" for {_and(bad, 'or')}" if bad else ""
    names = ", ".join(still[:_LISTED]) + (f" and {len(still) - _LISTED} more" if still[_LISTED:] else "")
    motion_text = "on this motion" + (f", which does not exercise {names}," if still else "")
    subject = _SUBJECT[asked]
    if study.drop_rotors and asked != "frozen":
        subject = subject.rstrip(",") + ", without the rotors' mass,"
    name, line = max(lines.items(), key=lambda x: x[1].worst[asked].percent / x[1].threshold)
    if line.worst[asked].percent < EXACT:
        return f"{head}: {motion_text} {subject} is exact at every joint."
    side = f"{'above' if line.above else 'within'} the threshold of {line.threshold:g} % for {name}"
    return f"{head}: {motion_text} {subject} has {_error_text(name, line.worst[asked])}, {side}."


def _advice(asked: str, best: str | None, lines: dict[str, Line]) -> str:
    if asked == "frozen":
        if best:
            return "The loops can be replaced by the constant ratios of the reference pose."
        return "Only the exact loops stay within all thresholds."
    if best in ("none", "no rotor"):
        return "On this motion the rotors' spin has so little effect that no armature is needed."
    if best in ("diagonal", "armature"):
        return "Armature with the correct values, J ratio^2 of each joint's rotors, is sufficient."
    if asked == "armature":
        return "The loops are exact in this approximation, so the error comes from the rotors: use exact rotors."
    if best is None and _excess(lines, "block") > 0.95 * _excess(lines, "diagonal"):
        return "Off-diagonal terms (block armature) do not help; only exact rotors stay within all thresholds."
    x, y = (lines[name].worst["block"] for name in ("torque control", "simulation"))
    text = "Block armature, with the off-diagonal terms of joints that share a rotor, has errors of at most "
    text += (
        f"{percent(x.percent)} of the torque, at {x.joint}, and {percent(y.percent)} of the acceleration, at {y.joint}"
    )
    if best == "block":
        return f"{text}, which is enough. In MuJoCo, use a tendon with armature; the page has the code."
    return f"{text}; only exact rotors stay within all thresholds."
