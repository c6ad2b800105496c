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
from ..study.report import percent_of
from .exercised import some
from .simulated import Simulated

EXACT = 1e-6
"""Below this part of the peak torque, [%], an approximation is called exact: rounding is no error."""


class ThresholdError(PinClustersError, ValueError):
    """A threshold is no percentage."""


THRESHOLDS = {"torque_control": 5.0, "simulation": 10.0, "policy": 20.0}
"""Largest errors that are enough, [%]: of the peak torque, for a controller that feeds torques forward; of the RMS
acceleration, for a simulation, and for a policy, as training with motors of 80 to 120 % of their strength covers so
much."""
_PURPOSES = dict(zip(THRESHOLDS, ("torque control", "simulation", "a policy"), strict=True))
_LEAST, _ROUNDING = 0.01, 1e-9
"""Errors of accelerations are stated as parts of at least this part of the largest acceleration of the same unit, and
of this much: a joint that is held does not accelerate."""


@dataclass(frozen=True)
class Worst(Result):
    """Where an approximation is worst.

    Attributes:
        joint: Name of the joint; of accelerations also ``"base (turning)"``, ``"base (translation)"``.
        percent: RMS of the error as a part of ``of``, [%].
        rms: The same in its unit.
        of: The joint's largest exact torque, or the RMS of its exact acceleration.
        unit: ``"N m"``, ``"N"``, ``"rad/s²"`` or ``"m/s²"``.
    """

    joint: str
    percent: float
    rms: float
    of: float
    unit: str


@dataclass(frozen=True)
class Line(Result):
    """The answer for one purpose.

    Attributes:
        purpose: ``"torque control"``, ``"simulation"`` or ``"a policy"``.
        enough: Whether the approximation that is asked about stays within the threshold at every joint.
        threshold: Largest RMS error that is enough, [%].
        worst: Per approximation, where it is worst.
        above: Names of the joints at which the approximation that is asked about is above the threshold.
        sentence: The answer in words; with closed loops, also whether they may be frozen.
    """

    purpose: str
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
        enough: Whether the approximation that is asked about is enough for torque control, simulation and a policy.
        asked: Name of that approximation: ``"diagonal"``, with closed loops ``"armature"`` or ``"frozen"``.
        best: The coarsest approximation that is enough for all three; None if only the exact robot is.
        lines: The answers for ``"torque_control"``, ``"simulation"`` and ``"policy"``.
        answer: The answer in a few words.
        sentence: The same in one sentence.
        advice: What to do, in one or two.
    """

    enough: bool
    asked: str
    best: str | None
    lines: dict[str, Line]
    answer: str
    sentence: str
    advice: str

    _json = "enough answer sentence advice asked best lines"

    @property
    def torque(self) -> Line:
        """The line on torque control."""
        return self.lines["torque_control"]


def check_threshold(threshold: Any) -> float:
    """Return a threshold as a number, [%]; what is not between 0 and 100 is a ``ThresholdError``."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(f"threshold must be a number (per cent), got {threshold!r}.")
    if not (math.isfinite(threshold) and 0.0 < threshold <= 100.0):
        raise ThresholdError(
            f"threshold must be above 0 and at most 100, in per cent of the joint's peak torque, got {threshold:g}."
        )
    return float(threshold)


@dataclass(frozen=True, eq=False)
class _Errors:
    """Errors of one kind, by columns: name, unit, what they are a part of, RMS and per cent of each approximation."""

    names: list[str]
    units: list[str]
    of: np.ndarray
    rms: dict[str, np.ndarray]
    percent: dict[str, np.ndarray]

    def worst(self, rung: str) -> Worst:
        # of joints that differ by rounding only, the first
        k = int(np.argmax(np.round(self.percent[rung], 9)))
        percent, rms = self.percent[rung][k], self.rms[rung][k]
        return Worst(self.names[k], float(percent), float(rms), float(self.of[k]), self.units[k])


def judge(
    study: StudyResult, simulated: Simulated, thresholds: Mapping[str, float] = THRESHOLDS, still: tuple[str, ...] = ()
) -> Verdict:
    """Compare the errors along a motion with the largest ones that are enough, [%], by the names in ``THRESHOLDS``.

    Of torques only joints count, not the wrench on a floating base, which no motor makes; of accelerations a base in
    flight counts too. Joints that the motion leaves ``still`` are named.

    Raises:
        ThresholdError: A threshold is not between 0 and 100.
        ModelError: No torque acts along the motion, so there is nothing to compare with.
    """
    limits = {name: check_threshold(thresholds.get(name, x)) for name, x in THRESHOLDS.items()}
    if not np.any(study.max_exact[study.actuated] > 0.0):
        raise ModelError(
            f"no torque acts on {study.robot!r} along this motion, so there is nothing to audit. Choose another motion."
        )
    torques, accelerations = _torques(study), _accelerations(study, simulated)
    asked = usual(study.approximate)
    lines = {
        name: _line(name, torques if name == "torque_control" else accelerations, asked, limit)
        for name, limit in limits.items()
    }
    # the coarser rungs of loops answer other questions, so only what is asked about and what refines it counts
    candidates = {"diagonal": ("none", "diagonal", "block"), "armature": ("no rotor", "armature")}.get(asked, (asked,))
    best = next((rung for rung in candidates if _excess(lines, rung) <= 1.0), None)
    enough = all(line.enough for line in lines.values())
    fit = _and([line.purpose for line in lines.values() if line.enough])
    yes = f"Yes, {'for the joints that this motion exercises' if still else 'on this motion'}"
    answer = yes if enough else f"For {fit} only" if fit else "No"
    return Verdict(
        enough, asked, best, lines, answer, _sentence(study, asked, lines, still), _advice(asked, best, lines)
    )


def _torques(study: StudyResult) -> _Errors:
    kept = study.actuated
    names, units = ([x[k] for k in kept] for x in (study.joints, study.units))
    rms, percent = (
        {r: x[kept] for r, x in errors.items()} for errors in (study.rms_error, study.share(study.rms_error))
    )
    return _Errors(names, units, study.max_exact[kept], rms, percent)


def _accelerations(study: StudyResult, simulated: Simulated) -> _Errors:
    """Return errors of the accelerations of joints, and of a base in flight less free fall."""
    forward, flight = simulated.forward, simulated.flight
    units = {study.joints[k]: "m/s²" if study.units[k] == "N" else "rad/s²" for k in study.actuated}
    columns = [k for k, name in enumerate(forward.names) if name in units]
    names = [forward.names[k] for k in columns]
    kinds, of = [units[name] for name in names], forward.exact[columns]
    rms = {rung: x[columns] for rung, x in forward.rms.items()}
    if flight:
        names, kinds = [*names, "base (turning)", "base (translation)"], [*kinds, "rad/s²", "m/s²"]
        of = np.append(of, [flight.base[kind] for kind in ("angular", "linear")])
        rms = {r: np.append(x, [flight.base_error[r][kind] for kind in ("angular", "linear")]) for r, x in rms.items()}
    largest = {unit: max(x for x, kind in zip(of, kinds, strict=True) if kind == unit) for unit in kinds}
    scale = np.maximum(of, [max(_LEAST * largest[unit], _ROUNDING) for unit in kinds])
    return _Errors(names, kinds, of, rms, {rung: 100.0 * x / scale for rung, x in rms.items()})


def _line(name: str, errors: _Errors, asked: str, threshold: float) -> Line:
    worst = {rung: errors.worst(rung) for rung in errors.rms}
    above = tuple(n for n, x in zip(errors.names, errors.percent[asked], strict=True) if x > threshold)
    purpose = _PURPOSES[name]
    text = f"{purpose[0].upper()}{purpose[1:]}: {'not ' if above else ''}enough, with {_said(name, worst[asked])}; "
    text += f"threshold {threshold:g} %" + (f", exceeded at {len(above)} of {len(errors.names)}" if above else "")
    if asked == "armature":
        w = worst["frozen"]
        fit = "enough, too" if w.percent <= threshold else "not enough"
        text += f". Frozen loops: {percent(w.percent)}, at {w.joint}, {fit}"
    return Line(purpose, not above, threshold, worst, above, f"{text}.")


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
    torque, size = name == "torque_control", f"at {w.joint} ({number(w.rms)} of {number(w.of)} {w.unit})"
    if w.percent < EXACT:
        return f"no error of the {'torque' if torque else 'acceleration'}"
    if torque:
        return f"an RMS error of the torque of up to {w.percent:.3g} % of its peak, {size}"
    return f"accelerations off by up to {w.percent:.3g} % (RMS) under the exact torques, {size}"


def _and(words: list[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _sentence(study: StudyResult, asked: str, lines: dict[str, Line], still: tuple[str, ...]) -> str:
    """Say what it is enough for, and why: the line that is farthest above its threshold, or nearest to it."""
    question = "a constant coupling" if asked == "frozen" else "armature"
    good = [line.purpose for line in lines.values() if line.enough]
    bad = [line.purpose for line in lines.values() if not line.enough]
    head = f"For {study.robot}, {question} is {f'enough for {_and(good)}' if good else 'not enough'}"
    head += (", not" if good else "") + f" for {_and(bad, 'or')}" if bad else ""
    on = "on this motion" + (f", which does not exercise {some(still)}," if still else "")
    what = _WHAT[asked]
    if study.drop_rotors and asked != "frozen":
        what = what.rstrip(",") + ", rotors' mass left out,"
    name, line = max(lines.items(), key=lambda x: x[1].worst[asked].percent / x[1].threshold)
    if line.worst[asked].percent < EXACT:
        return f"{head}: {on} {what} is exact at every joint."
    side = f"{'above' if line.above else 'within'} the threshold of {line.threshold:g} % for {line.purpose}"
    return f"{head}: {on} {what} has {_said(name, line.worst[asked])}, {side}."


def _at_most(lines: dict[str, Line], rung: str) -> str:
    torque, acceleration = lines["torque_control"].worst[rung], lines["simulation"].worst[rung]
    return (
        f"at most {percent(torque.percent)} of the peak torque, at {torque.joint}, and {percent(acceleration.percent)} "
        f"of the acceleration, at {acceleration.joint}"
    )


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
    if best == "block":
        return (
            f"Block armature, with the off-diagonal terms of joints that share a rotor, is enough: "
            f"{_at_most(lines, 'block')}. In MuJoCo it is a tendon with armature: the page has the lines."
        )
    if asked == "armature":
        return "The loops are exact in this approximation, so what is missing is the rotors' own: use exact rotors."
    if _excess(lines, "block") > 0.95 * _excess(lines, "diagonal"):
        return "Off-diagonal terms (block armature) do not help; only exact rotors stay within all thresholds."
    return (
        f"Block armature, with the off-diagonal terms of joints that share a rotor, leaves {_at_most(lines, 'block')}; "
        "only exact rotors stay within all thresholds."
    )
