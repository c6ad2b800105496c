"""Run the studies of ``docs/studies.md``: ``python benchmarks/studies.py``; half a minute.

The experiments of arXiv 2311.13732 by name, and the motions that ship with the package. Writes
``results/studies.json`` and ``docs/figures/study_*.png``; ``report_studies.py`` renders the tables.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import pin_clusters as pc
from pin_clusters.approximations import LABELS
from pin_clusters.studies import study
from pin_clusters.studies.study import paper, trajectories
from pin_clusters.studies.study.plots import STYLES, head, tidy

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "studies.json"
FIGURES = ROOT / "docs" / "figures"
DRAWN = (
    ("mini_cheetah_jump", "base moment y"), ("mini_cheetah_jump", "FL_hip"),
    ("mit_humanoid_walk", "left_knee"), ("mit_humanoid_walk", "left_ankle"),
)  # fmt: skip
DT = 1e-3


def along(name: str) -> study.StudyResult:
    """Return the study of a motion that ships with the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(trajectories.robot_of(name))
    return study.run(model, study.motion(name, dt=DT))


def summary(result: study.StudyResult) -> dict[str, Any]:
    """Return the worst joint of each approximation, and what it gets wrong at the base."""
    joints, found = result.actuated, {}
    rms, peak = result.share(result.rms_error), result.share(result.peak_error)
    for level in result.approximate:
        worst = int(joints[np.argmax(rms[level][joints])])
        found[level] = {
            "joint": result.joints[worst],
            "rms": float(result.rms_error[level][worst]),
            "rms_per_cent": float(rms[level][worst]),
            "peak_per_cent": float(peak[level][worst]),
            "base_moment_rms": float(np.linalg.norm(result.rms_error[level][3:6])),
        }
    return {
        "robot": result.robot,
        "duration": float(result.time[-1]),
        "samples": len(result.time),
        "largest_torque": float(result.max_exact[joints].max()),
        "approximations": found,
    }


def draw(results: dict[str, study.StudyResult], path: Path) -> None:
    """Draw some joints along the motions: torques on the left, errors on the right."""
    height = 1.7 * len(DRAWN) + 1.6
    figure = Figure(figsize=(9.6, height), dpi=110)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        len(DRAWN), 2, left=0.075, right=0.98, top=1.0 - 1.35 / height, bottom=0.45 / height, hspace=0.5, wspace=0.2
    )
    for row, (name, joint) in enumerate(DRAWN):
        result = results[name]
        k = result.joints.index(joint)
        torque, error = figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1])
        for level in result.approximate:
            torque.plot(result.time, result.approximate[level][:, k], **STYLES[level])
            error.plot(result.time, result.error(level)[:, k], **STYLES[level])
        torque.plot(result.time, result.exact[:, k], **STYLES["exact"])
        error.axhline(0.0, **STYLES["exact"] | {"linewidth": 0.9})
        torque.set_title(f"{name}: {joint}", fontsize=10, loc="left", pad=3.0, fontweight="bold")
        error.set_title("error", fontsize=10, loc="left", pad=3.0)
        for axes in (torque, error):
            axes.set_ylabel(f"[{result.units[k]}]", fontsize=8.5)
            axes.yaxis.set_label_coords(-0.115, 0.5)
            axes.set_xlim(0.0, float(result.time[-1]))
            axes.locator_params(axis="y", nbins=5)
            tidy(axes)
            if row == len(DRAWN) - 1:
                axes.set_xlabel("time [s]", fontsize=9)
    labels = {"exact": "exact"} | {level: LABELS[level] for level in study.LEVELS}
    head(
        figure, "Recorded motions: torques and moments, exact and approximate",
        ("Floating base; forces of the ground act on the joints. Error = approximate $-$ exact.",), labels, 0.025,
    )  # fmt: skip
    figure.savefig(path, facecolor="white")


def main() -> None:
    """Run everything."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found: dict[str, Any] = {"experiments": {}, "motions": {}}
    for name in paper.EXPERIMENTS:
        # what the URDF of generalized_rbda has at all joints, for numbers that stay
        options = {"max_torque": 150.0} if name == "torque-magnitude" else {}
        result = paper.run(name, **options)
        found["experiments"][name] = result.as_dict()
        result.save_plot(FIGURES / f"study_{name.replace('-', '_')}.png")
        print(result.title, result.summary, sep="\n", end="\n\n")
    results = {name: along(name) for name in study.motions()}
    found["motions"] = {name: summary(result) for name, result in results.items()}
    draw(results, FIGURES / "study_motions.png")
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written: {RESULTS.relative_to(ROOT)}, docs/figures/study_*.png")


if __name__ == "__main__":
    main()
