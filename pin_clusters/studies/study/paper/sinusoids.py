"""Compare torques along sines of several frequencies (arXiv 2311.13732, figure 14)."""

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
from ..approximate_dynamics import Progress, part_of
from ..plots import Figure, draw_joint, head, named, panels, shown_samples
from ..trajectories import Sine
from ._drawing import STYLES, headed
from ._effort import Effort
from ._experiment import Experiment, documented, rotors
from ._numbers import CHIGNOLI
from ._part import Results, Rows, Statement

ROBOT = "mit_humanoid_leg"  # Robot in the paper's accuracy figure
FREQUENCIES = (0.25, 0.5, 0.75, 1.5)


@dataclass(frozen=True, eq=False)
class TorqueSinusoids(Experiment):
    """Results of the study of one robot at several frequencies."""

    results: tuple[StudyResult, ...]  # one study per frequency, in order
    joint: str  # drawn joint: the knee, as in the paper's figure, or the joint with the largest error

    @property
    def frequencies(self) -> tuple[float, ...]:
        return tuple(result.sine.frequency for result in self.results)

    @property
    def title(self) -> str:
        last = self.results[-1]
        listed = ", ".join(f"{f:g}" for f in self.frequencies)
        return (
            f"{last.robot}: inverse dynamics with a fixed base, each joint moving by {last.sine.amplitude:g} "
            f"sin(2 pi f t), f = {listed} Hz, for {last.sine.duration:g} s; rotors {rotors(last.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        last = self.results[-1]
        k = last.joints.index(self.joint)
        share = last.share(last.rms_error)
        shares_text = ", ".join(f"{share[r][k]:.1f} % with {LABELS[r]}" for r in last.approximate)
        frequency = last.sine.frequency
        return f"RMS error at {self.joint}, in per cent of its largest torque, at {frequency:g} Hz: {shares_text}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "experiment": "torque-sinusoids",
            "robot": self.results[-1].robot,
            "joint_drawn": self.joint,
            "studies": [report.as_dict(result) for result in self.results],
        }

    def tables(self) -> list[tuple[str, Rows]]:
        tables = []
        for result in self.results:
            rows = [("", *result.joints), *report.table(result)]
            tables.append((f"RMS torque error at {result.sine.frequency:g} Hz, {report.unit(result)}", rows))
        last = self.results[-1]
        k = last.joints.index(self.joint)
        joint_rows: Rows = [("", *(f"{f:g} Hz" for f in self.frequencies))]
        for level in last.approximate:
            shares = [(r.share(r.rms_error)[level][k], r.share(r.peak_error)[level][k]) for r in self.results]
            joint_rows.append((report.label(last, level), *(f"{x:.1f}/{y:.1f}" for x, y in shares)))
        return [*tables, (f"RMS/largest error at {self.joint}, % of its largest torque", joint_rows)]

    def draw(self, figure: Figure) -> None:
        n, last = len(self.results), self.results[-1]
        all_axes = panels(figure, 2, n, height=1.6 * n + 1.75, gap=0.2, top=1.5, bottom=0.5, hspace=0.45)
        for row, result in enumerate(self.results):
            k = result.joints.index(self.joint)
            title, shown, quantity = f"{result.sine.frequency:g} Hz", shown_samples(result), "torque"
            share = result.share(result.rms_error)
            text = "RMS, % of the largest torque:  " + "   ".join(f"{r} {x[k]:.1f}" for r, x in share.items())
            axes = all_axes[2 * row : 2 * row + 2]
            draw_joint(axes, result, k, shown, title, text, what=quantity, last=row == n - 1).set_fontsize(8.0)
            for x in axes:
                x.yaxis.set_label_coords(-0.115, 0.5)
        amplitude = f"Each joint follows {last.sine.amplitude:g} sin(2$\\pi$ f t); two periods are shown."
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
    """Run the study of a robot along sines of several frequencies.

    Args:
        frequencies: Frequencies of the sines, [Hz].
        joint: Joint to draw; by default ``knee`` or, if there is no ``knee``, the joint with the largest error.
    """
    results = []
    for i, frequency in enumerate(frequencies):
        part_progress = part_of(progress, i, len(frequencies))
        sine = Sine(amplitude, frequency, duration, dt, in_phase=True)
        results.append(study(model, sine, drop_rotors=drop_rotors, base="fixed", progress=part_progress))
    last = results[-1]
    if joint is None:
        rms = last.rms_error[next(reversed(last.approximate))] if model.closures else last.rms_error["diagonal"]
        joint = "knee" if "knee" in last.joints else last.joints[int(np.argmax(rms))]
    elif joint not in last.joints:
        hint = did_you_mean(joint, last.joints, limit=len(last.joints))
        raise UnknownNameError(f"joint {joint!r} of {last.robot} does not exist or does not move.{hint}")
    return TorqueSinusoids(tuple(results), joint)


TITLE = "Figure 14: torques along sines"
TIMED = (
    "Nothing is timed: errors of inverse dynamics, by `pin-clusters study --experiment torque-sinusoids --drop-rotors`."
)
SECONDS = (1.0, 1.0)
_SHOWN = {"none": "second", "diagonal": "approximate", "block": "other"}
STATED, DRAWN = "ankle", "knee"  # joint in the text of the paper, and joint that the authors' script draws


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    short: dict[str, Any] = effort.of({}, {"dt": 2e-3}, {"dt": 1e-2, "duration": 0.2})
    experiment = run(load(ROBOT, root_joint=None), drop_rotors=True, **short).as_dict()
    done()
    keys = ("joints", "unit", "trajectory", "rms_error", "per_cent_of_largest")
    return {**experiment, "studies": [{key: study_entry[key] for key in keys} for study_entry in experiment["studies"]]}


def tables(results: Results) -> list[tuple[str, Rows]]:
    last = results["studies"][-1]
    share = last["per_cent_of_largest"]["rms"]
    rows: Rows = [("", *last["joints"])]
    rows += [(LABELS[level], *(f"{x[j]:.1f}" for j in last["joints"])) for level, x in share.items()]
    return [(f"RMS torque error at {last['trajectory']['frequency']:g} Hz, % of the joint's largest torque", rows)]


def says(results: Results) -> list[str]:
    share = results["studies"][-1]["per_cent_of_largest"]["rms"]
    shares_text = ", ".join(
        f"{share['none'][j]:.1f} % without and {share['diagonal'][j]:.1f} % with armature at the {j}"
        for j in (DRAWN, STATED)
    )
    return [
        f"The text of the paper refers to the {STATED}; the authors' script draws its fourth row, the {DRAWN}: "
        f"{shares_text}."
    ]


def statements(results: Results) -> list[Statement]:
    share = results["studies"][-1]["per_cent_of_largest"]["rms"]
    none, diagonal, block = (share[level] for level in _SHOWN)
    return [
        Statement(
            "Armature reduces the torque error of ignoring the rotors but does not remove it.",
            f"{CHIGNOLI}, Fig. 14",
            f"at the {DRAWN} from {none[DRAWN]:.1f} to {diagonal[DRAWN]:.1f} %, at the {STATED} from "
            f"{none[STATED]:.1f} to {diagonal[STATED]:.1f} %; with the off-diagonal terms of the belts "
            f"{block[DRAWN]:.1f} and {block[STATED]:.1f} %.",
            all(1.0 < diagonal[j] < none[j] for j in (DRAWN, STATED)),
        )
    ]


def draw(figure: Figure, results: Results) -> None:
    studies = results["studies"]
    joints = studies[-1]["joints"]
    top = max(x[j] for s in studies for x in s["per_cent_of_largest"]["rms"].values() for j in joints)
    all_axes = panels(figure, len(studies), gap=0.1, top=1.568, bottom=0.539)
    for k, (axes, study_entry) in enumerate(zip(all_axes, studies, strict=True)):
        for i, (level, key) in enumerate(_SHOWN.items()):
            share = study_entry["per_cent_of_largest"]["rms"][level]
            positions = [m + (i - 1) * 0.27 for m in range(len(joints))]
            axes.bar(positions, [share[j] for j in joints], 0.25, color=STYLES[key]["color"])
        axes.set_xticks(range(len(joints)), [j.replace("hip_", "") for j in joints])
        axes.set_ylim(0.0, 1.05 * top)
        axes.tick_params(labelleft=k == 0)
        named(
            axes,
            f"{study_entry['trajectory']['frequency']:g} Hz",
            "joint",
            "" if k else "RMS error, % of largest torque",
        )
        axes.grid(axis="x", visible=False)
    headed(
        figure,
        "Torque error of approximate transmissions along sines (figure 14)",
        (
            "Leg of the MIT Humanoid, fixed base, 0.5 sin(2$\\pi$ f t) rad at every joint; the approximations omit the "
            "rotors.",
            "rz, rx, ry: hip. Exact rotors have no error. At 0.5 Hz gravity and inertia nearly cancel at the knee.",
        ),
        {key: LABELS[level] for level, key in _SHOWN.items()},
        bars=True,
    )


FIGURES = {"chignoli_14_torque_sinusoids": draw}
