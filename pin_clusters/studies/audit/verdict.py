"""Is armature enough, and for what? The largest errors of each approximation against thresholds, in words."""

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
    """A threshold is no percentage."""


THRESHOLDS = {"torque control": 5.0, "simulation": 10.0, "a policy": 20.0}
"""Largest errors that are enough, [%]: of the peak torque for a controller that feeds torques forward; of the RMS
acceleration for the others, of which training with motors of 80 to 120 % of their strength covers the last."""
_LEAST, _ROUNDING, _NAMED = 0.01, 1e-9, 3
"""Errors of accelerations are parts of at least this part of the largest one of the same unit, and of this much."""


@dataclass(frozen=True)
class Worst(Result):
    """Where an approximation is worst.

    Attributes:
        joint: Its name; of accelerations also ``"base (turning)"``, ``"base (translation)"``.
        percent: RMS of the error as a part of the peak torque, or of the RMS acceleration, of that joint, [%].
    """

    joint: str
    percent: float


@dataclass(frozen=True)
class Line(Result):
    """The answer for one purpose.

    Attributes:
        enough: Whether the approximation that is asked about stays within the threshold at every joint.
        threshold: Largest RMS error that is enough, [%].
        worst: Per approximation, where it is worst.
        above: Names of the joints at which the approximation that is asked about is above the threshold.
        sentence: The answer in words; with closed loops, also whether they may be frozen.
    """

    enough: bool
    threshold: float
    worst: dict[str, Worst]
    above: tuple[str, ...]
    sentence: str

    _json = "enough sentence threshold_percent:threshold joints_above:above worst"


@dataclass(frozen=True)
class Verdict(Result):
    """The answer, which follows from the line that is farthest above its threshold.

    Attributes:
        enough: Whether the approximation that is asked about is enough for all purposes.
        asked: Name of that approximation: ``"diagonal"``, with closed loops ``"armature"`` or ``"frozen"``.
        best: The coarsest approximation that is enough for all of them; None if only the exact robot is.
        lines: The answers by purpose: ``"torque control"``, ``"simulation"``, ``"a policy"``.
        answer: The answer in a few words.
        sentence: The same in one sentence.
        advice: What to do, in one or two.
        free: Per approximation, where accelerations are worst in free flight; empty if the base does not float.
        flight: The same in words; empty if the base does not float.
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
        """The line on torque control."""
        return self.lines["torque control"]


def check_threshold(threshold: Any) -> float:
    """Return a threshold as a number, [%]; what is not between 0 and 100 is a ``ThresholdError``."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(f"threshold must be a number (per cent), got {threshold!r}.")
    if not (math.isfinite(threshold) and 0.0 < threshold <= 100.0):
        raise ThresholdError(
            f"threshold must be above 0 and at most 100, in per cent of the joint's peak torque, got {threshold:g}."
        )
    return float(threshold)


def judge(
    study: StudyResult, simulated: Simulated, thresholds: Mapping[str, float] = THRESHOLDS, still: tuple[str, ...] = ()
) -> Verdict:
    """Compare the errors along a motion with the largest ones that are enough, [%], by the names in ``THRESHOLDS``.

    Of torques only joints count, not the wrench on a floating base, which no motor makes. Accelerations count along the
    motion, with that wrench; those of a base only if the motion moves it. What happens in free flight, where the robot
    makes another motion, is said and does not count. Joints that the motion leaves ``still`` are named.

    Raises:
        ThresholdError: A threshold is not between 0 and 100.
        ModelError: No torque acts along the motion, so there is nothing to compare with.
    """
    limits = {name: check_threshold(thresholds.get(name, x)) for name, x in THRESHOLDS.items()}
    if not np.any(study.max_exact[study.actuated] > 0.0):
        raise ModelError(
            f"no torque acts on {study.robot!r} along this motion, so there is nothing to audit. Choose another motion."
        )
    asked, forward, flight = usual(study.approximate), simulated.forward, simulated.flight
    accelerations = _accelerations(study, forward, forward.base)
    share = study.share(study.rms_error)
    torques = {r: {study.joints[k]: float(x[k]) for k in study.actuated} for r, x in share.items()}
    lines = {
        name: _line(name, torques if name == "torque control" else accelerations, asked, limit)
        for name, limit in limits.items()
    }
    # the coarser rungs of loops answer other questions, so only what is asked about and what refines it counts
    candidates = {"diagonal": ("none", "diagonal", "block"), "armature": ("no rotor", "armature")}.get(asked, (asked,))
    best = next((rung for rung in candidates if _excess(lines, rung) <= 1.0), None)
    fit = [name for name, line in lines.items() if line.enough]
    enough, yes = len(fit) == len(lines), "for the joints that this motion exercises" if still else "on this motion"
    answer = f"Yes, {yes}" if enough else f"For {_and(fit)} only" if fit else "No"
    sentence, advice = _sentence(study, asked, lines, still), _advice(asked, best, lines)
    free = dict[str, Worst]()
    if simulated.free is not None:
        free = _worst(_accelerations(study, simulated.free, flight.relative if flight else {}))
    return Verdict(enough, asked, best, lines, answer, sentence, advice, free, _flight(asked, free.get(asked)))


def _flight(asked: str, worst: Worst | None) -> str:
    """Say what happens in free flight; nothing if the base does not float."""
    if worst is None:
        return ""
    return (
        "Simulation and policy are judged along the motion, with the exact wrench on the base. In free flight, where "
        f"the same torques act without that wrench, the robot makes another motion, and {_WHAT[asked]} has "
        f"{_said('', worst)}. The verdict does not depend on it."
    )


def _accelerations(
    study: StudyResult, forward: ForwardError, base: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return errors of the accelerations of joints, and those of a base, [%]."""
    exact = dict(zip(forward.names, forward.exact.tolist(), strict=True))
    units = {study.joints[k]: study.units[k] for k in study.actuated}
    most = {unit: max(exact[n] for n, u in units.items() if u == unit) for unit in units.values()}
    scale = {n: max(exact[n], _LEAST * most[unit], _ROUNDING) for n, unit in units.items()}
    found = {}
    for rung, x in forward.rms.items():
        rms = dict(zip(forward.names, x.tolist(), strict=True))
        found[rung] = {n: 100.0 * rms[n] / scale[n] for n in units}
        for kind, word in (("angular", "turning"), ("linear", "translation")) if base else ():
            found[rung][f"base ({word})"] = 100.0 * base[rung][kind]
    return found


def _worst(errors: dict[str, dict[str, float]]) -> dict[str, Worst]:
    # of joints that differ by rounding only, the first
    return {rung: Worst(*max(x.items(), key=lambda n: round(n[1], 9))) for rung, x in errors.items()}


def _line(name: str, errors: dict[str, dict[str, float]], asked: str, threshold: float) -> Line:
    worst = _worst(errors)
    above = tuple(n for n, x in errors[asked].items() if x > threshold)
    text = f"{name[0].upper()}{name[1:]}: {'not ' if above else ''}enough, with {_said(name, worst[asked])}; "
    text += f"threshold {threshold:g} %" + (f", exceeded at {len(above)} of {len(errors[asked])}" if above else "")
    if asked == "armature":
        w = worst["frozen"]
        text += f". Frozen loops: {percent(w.percent)}, at {w.joint}, {'' if w.percent <= threshold else 'not '}enough"
    return Line(not above, threshold, worst, above, f"{text}.")


def _excess(lines: Mapping[str, Line], rung: str) -> float:
    """Return how many times above its threshold an approximation is on the worst line; at most 1 is enough."""
    return max(line.worst[rung].percent / line.threshold for line in lines.values())


def percent(value: float) -> str:
    """Return a percentage with two digits, as it reads best."""
    return "<0.01 %" if EXACT <= value < 0.01 else percent_of(value)


_WHAT = {
    "diagonal": "diagonal armature",
    "armature": "armature on the joints that drive the rotors, with exact loops,",
    "frozen": "a constant coupling in place of its closed loops",
}


def _said(name: str, w: Worst) -> str:
    """Say how large an error is, and where."""
    torque = name == "torque control"
    if w.percent < EXACT:
        return f"no error of the {'torque' if torque else 'acceleration'}"
    if torque:
        return f"an RMS error of the torque of up to {w.percent:.3g} % of its peak, at {w.joint}"
    return f"accelerations off by up to {w.percent:.3g} % (RMS) under the exact torques, at {w.joint}"


def _and(words: list[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _sentence(study: StudyResult, asked: str, lines: dict[str, Line], still: tuple[str, ...]) -> str:
    """Say what it is enough for, and why: the line that is farthest above its threshold, or nearest to it."""
    question = "a constant coupling" if asked == "frozen" else "armature"
    good, bad = ([name for name, line in lines.items() if line.enough is fit] for fit in (True, False))
    head = f"For {study.robot}, {question} is {f'enough for {_and(good)}' if good else 'not enough'}"
    head += (", not" if good else "") + f" for {_and(bad, 'or')}" if bad else ""
    names = ", ".join(still[:_NAMED]) + (f" and {len(still) - _NAMED} more" if still[_NAMED:] else "")
    on = "on this motion" + (f", which does not exercise {names}," if still else "")
    what = _WHAT[asked]
    if study.drop_rotors and asked != "frozen":
        what = what.rstrip(",") + ", rotors' mass left out,"
    name, line = max(lines.items(), key=lambda x: x[1].worst[asked].percent / x[1].threshold)
    if line.worst[asked].percent < EXACT:
        return f"{head}: {on} {what} is exact at every joint."
    side = f"{'above' if line.above else 'within'} the threshold of {line.threshold:g} % for {name}"
    return f"{head}: {on} {what} has {_said(name, line.worst[asked])}, {side}."


def _advice(asked: str, best: str | None, lines: dict[str, Line]) -> str:
    """Say what to use instead."""
    if asked == "frozen":
        if best:
            return "The loops may be replaced by the constant ratios that they have in the reference pose."
        return "Only the exact loops stay within all thresholds."
    if best in ("none", "no rotor"):
        return "On this motion the rotors' spin matters so little that even no armature would be within the thresholds."
    if best in ("diagonal", "armature"):
        return "Armature with the right values, J ratio^2 of each joint's rotors, is all that it takes."
    if asked == "armature":
        return "The loops are exact in this approximation, so what is missing is the rotors' own: use exact rotors."
    if best is None and _excess(lines, "block") > 0.95 * _excess(lines, "diagonal"):
        return "Off-diagonal terms (block armature) do not help; only exact rotors stay within all thresholds."
    x, y = (lines[name].worst["block"] for name in ("torque control", "simulation"))
    text = "Block armature, with the off-diagonal terms of joints that share a rotor, leaves at most "
    text += (
        f"{percent(x.percent)} of the torque, at {x.joint}, and {percent(y.percent)} of the acceleration, at {y.joint}"
    )
    if best == "block":
        return f"{text}: enough. In MuJoCo it is a tendon with armature: the page has the lines."
    return f"{text}; only exact rotors stay within all thresholds."
