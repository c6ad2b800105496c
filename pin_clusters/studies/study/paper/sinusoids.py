"""Torques along sines of several frequencies: figure 14 of arXiv 2311.13732, an experiment and a part of the page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._support.picture_names import literal
from ....approximations import LABELS
from ....errors import UnknownNameError, did_you_mean
from ....files.readers import load
from ....model import ClusterModel
from .. import report
from .._samples import labels
from ..accuracy import StudyResult
from ..accuracy import run as study
from ..plots import Figure, draw_joint, head, named, panels, shown_samples
from ..rungs import Progress, part_of
from ..trajectories import Sine
from ._drawing import STYLES, headed
from ._effort import Effort
from ._experiment import Experiment, documented, rotors
from ._numbers import CHIGNOLI
from ._part import Found, Rows, Statement

ROBOT = "mit_humanoid_leg"
"""The robot of the paper's accuracy figure."""
FREQUENCIES = (0.25, 0.5, 0.75, 1.5)


@dataclass(frozen=True, eq=False)
class TorqueSinusoids(Experiment):
    """The study of a robot at several frequencies.

    Attributes:
        results: One study per frequency, in their order.
        joint: The joint that is drawn: the knee of the paper's figure, or the one with the largest error.
    """

    results: tuple[StudyResult, ...]
    joint: str

    @property
    def frequencies(self) -> tuple[float, ...]:
        """[Hz]."""
        return tuple(result.sine.frequency for result in self.results)

    @property
    def title(self) -> str:
        """What was done."""
        last = self.results[-1]
        listed = ", ".join(f"{f:g}" for f in self.frequencies)
        return (
            f"{last.robot}: inverse dynamics with a fixed base, each joint moving by {last.sine.amplitude:g} "
            f"sin(2 pi f t), f = {listed} Hz, for {last.sine.duration:g} s; rotors {rotors(last.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        """What the error of the drawn joint is at the highest frequency."""
        last = self.results[-1]
        k = last.joints.index(self.joint)
        share = last.share(last.rms_error)
        said = ", ".join(f"{share[r][k]:.1f} % with {LABELS[r]}" for r in last.approximate)
        return f"RMS error at {self.joint}, as per cent of its largest torque, at {last.sine.frequency:g} Hz: {said}."

    def as_dict(self) -> dict[str, Any]:
        """Return all studies, ready for JSON."""
        return {
            "experiment": "torque-sinusoids",
            "robot": self.results[-1].robot,
            "joint_drawn": self.joint,
            "studies": [report.as_dict(result) for result in self.results],
        }

    def tables(self) -> list[tuple[str, Rows]]:
        """Return a table of RMS errors per frequency, and one of the drawn joint in per cent."""
        found = []
        for result in self.results:
            rows = [("", *result.joints), *report.table(result)]
            found.append((f"RMS torque error at {result.sine.frequency:g} Hz, {report.unit(result)}", rows))
        last = self.results[-1]
        k = last.joints.index(self.joint)
        first: Rows = [("", *(f"{f:g} Hz" for f in self.frequencies))]
        for rung in last.approximate:
            shares = [(r.share(r.rms_error)[rung][k], r.share(r.peak_error)[rung][k]) for r in self.results]
            first.append((report.label(last, rung), *(f"{x:.1f}/{y:.1f}" for x, y in shares)))
        return [*found, (f"RMS/largest error at {self.joint}, % of its largest torque", first)]

    def draw(self, figure: Figure) -> None:
        """Draw torques (left) and errors (right) of one joint, a row per frequency."""
        n, last = len(self.results), self.results[-1]
        every = panels(figure, 2, n, height=1.6 * n + 1.75, gap=0.2, top=1.5, bottom=0.5, hspace=0.45)
        for row, result in enumerate(self.results):
            k = result.joints.index(self.joint)
            title, shown, what = f"{result.sine.frequency:g} Hz", shown_samples(result), "torque"
            share = result.share(result.rms_error)
            text = "RMS, % of the largest torque:  " + "   ".join(f"{r} {x[k]:.1f}" for r, x in share.items())
            axes = every[2 * row : 2 * row + 2]
            draw_joint(axes, result, k, shown, title, text, what=what, last=row == n - 1).set_fontsize(8.0)
            for x in axes:
                x.yaxis.set_label_coords(-0.115, 0.5)
        amplitude = f"Each joint moves by {last.sine.amplitude:g} sin(2$\\pi$ f t); two periods are shown."
        head(
            figure,
            f"{literal(last.robot)}: torque at {literal(self.joint)}, exact and approximate",
            (
                f"Inverse dynamics, fixed base. {amplitude}",
                f"Rotors are {rotors(last.drop_rotors)}. Error = approximate $-$ exact; RMS over "
                f"{last.sine.duration:g} s.",
            ),
            labels(["exact", *last.approximate]),
        )


@documented
def run(
    model: ClusterModel,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
    frequencies: Sequence[float] = FREQUENCIES,
    amplitude: float = 0.5,
    duration: float = 5.0,
    dt: float = 5e-4,
    joint: str | None = None,
) -> TorqueSinusoids:
    """Study a robot along sines of several frequencies.

    Args:
        frequencies: [Hz].
        joint: The joint to draw; by default the knee, if there is one of that name, or the one with the largest error.

    Raises:
        TrajectoryError: A number is not allowed.
        UnknownNameError: There is no such joint.
    """
    results = []
    for i, frequency in enumerate(frequencies):
        tell = part_of(progress, i, len(frequencies))
        sine = Sine(amplitude, frequency, duration, dt, in_phase=True)
        results.append(study(model, sine, drop_rotors=drop_rotors, base="fixed", progress=tell))
    last = results[-1]
    if joint is None:
        rms = last.rms_error[next(reversed(last.approximate))] if model.closures else last.rms_error["diagonal"]
        joint = "knee" if "knee" in last.joints else last.joints[int(np.argmax(rms))]
    elif joint not in last.joints:
        hint = did_you_mean(joint, last.joints, limit=len(last.joints))
        raise UnknownNameError(f"{last.robot} moves no joint {joint!r}.{hint}")
    return TorqueSinusoids(tuple(results), joint)


# --- the part of the page ---------------------------------------------------------------------------------------------

TITLE = "Figure 14: torques along sines"
TIMED = (
    "Nothing is timed: errors of inverse dynamics, by `pin-clusters study --experiment torque-sinusoids --drop-rotors`."
)
SECONDS = (1.0, 1.0)
_SHOWN = {"none": "second", "diagonal": "approximate", "block": "other"}
SAID, DRAWN = "ankle", "knee"
"""The joint that the text names, and the one that the authors' script draws."""


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Run the experiment."""
    short: dict[str, Any] = effort.of({}, {"dt": 2e-3}, {"dt": 1e-2, "duration": 0.2})
    found = run(load(ROBOT, root_joint=None), drop_rotors=True, **short).as_dict()
    done()
    kept = ("joints", "unit", "trajectory", "rms_error", "per_cent_of_largest")
    return {**found, "studies": [{key: one[key] for key in kept} for one in found["studies"]]}


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return per cent of the largest torque at the fastest sine, all joints."""
    last = found["studies"][-1]
    share = last["per_cent_of_largest"]["rms"]
    rows: Rows = [("", *last["joints"])]
    rows += [(LABELS[rung], *(f"{x[j]:.1f}" for j in last["joints"])) for rung, x in share.items()]
    return [(f"RMS torque error at {last['trajectory']['frequency']:g} Hz, % of the joint's largest torque", rows)]


def says(found: Found) -> list[str]:
    """Return which joint it is about."""
    share = found["studies"][-1]["per_cent_of_largest"]["rms"]
    said = ", ".join(
        f"{share['none'][j]:.1f} % without and {share['diagonal'][j]:.1f} % with armature at the {j}"
        for j in (DRAWN, SAID)
    )
    return [f"The text of the paper names the {SAID}, the authors' script draws its fourth row, the {DRAWN}: {said}."]


def statements(found: Found) -> list[Statement]:
    """Say what armature leaves."""
    share = found["studies"][-1]["per_cent_of_largest"]["rms"]
    none, diagonal, block = (share[rung] for rung in _SHOWN)
    return [
        Statement(
            "Armature reduces the torque error that ignored rotors make, and does not remove it.",
            f"{CHIGNOLI}, Fig. 14",
            f"at the {DRAWN} from {none[DRAWN]:.1f} to {diagonal[DRAWN]:.1f} %, at the {SAID} from {none[SAID]:.1f} to "
            f"{diagonal[SAID]:.1f} %; with the off-diagonal terms of the belts {block[DRAWN]:.1f} and "
            f"{block[SAID]:.1f} %.",
            all(1.0 < diagonal[j] < none[j] for j in (DRAWN, SAID)),
        ),
    ]


def draw(figure: Figure, found: Found) -> None:
    """Draw the errors of all joints at all frequencies."""
    studies = found["studies"]
    joints = studies[-1]["joints"]
    top = max(x[j] for s in studies for x in s["per_cent_of_largest"]["rms"].values() for j in joints)
    all_axes = panels(figure, len(studies), gap=0.1, top=1.568, bottom=0.539)
    for k, (axes, one) in enumerate(zip(all_axes, studies, strict=True)):
        for i, (rung, key) in enumerate(_SHOWN.items()):
            share = one["per_cent_of_largest"]["rms"][rung]
            places = [m + (i - 1) * 0.27 for m in range(len(joints))]
            axes.bar(places, [share[j] for j in joints], 0.25, color=STYLES[key]["color"])
        axes.set_xticks(range(len(joints)), [j.replace("hip_", "") for j in joints])
        axes.set_ylim(0.0, 1.05 * top)
        axes.tick_params(labelleft=k == 0)
        named(axes, f"{one['trajectory']['frequency']:g} Hz", "joint", "" if k else "RMS error, % of largest torque")
        axes.grid(axis="x", visible=False)
    headed(
        figure,
        "Torque error of approximate transmissions along sines (figure 14)",
        (
            "Leg of the MIT Humanoid, base fixed, 0.5 sin(2$\\pi$ f t) rad at every joint; rotors left out of the "
            "approximations.",
            "rz, rx, ry: hip. Exact rotors: no error. At 0.5 Hz gravity and inertia nearly cancel at the knee.",
        ),
        {key: LABELS[rung] for rung, key in _SHOWN.items()},
        bars=True,
    )


FIGURES = {"chignoli_14_torque_sinusoids": draw}
