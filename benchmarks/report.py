"""Write the measured numbers into the README and the documentation: ``python benchmarks/report.py [--check]``.

What stands between ``<!-- generated: KEY -->`` and ``<!-- end -->`` was made by it. Keys: ``study`` (computed now),
``bench`` and ``accuracy`` (what ``run.py`` and ``accuracy.py`` wrote to ``results/``), and those of ``LOOPS``, which
names the file of each.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import exact_mujoco
import first_calls
import ground
import many_worlds
import mjcf_swing
import reliability
import report_batches
import report_calls
import report_derivatives
import report_every_call
import report_files
import report_learning
import report_loops
import report_mujoco
import report_operational
import report_readme
import report_simulation
import report_specialised
import report_traces
import report_training
import touchdown
import two_modes
import wbc
from report_loops import markdown, where

import pin_clusters as pc
from pin_clusters.files import readers as loaders
from pin_clusters.studies import study
from pin_clusters.studies.study import report

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "bench.json"
ACCURACY = ROOT / "benchmarks" / "results" / "accuracy.json"
LOOPS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "loops": ("loops.json", report_loops.loops_long),
    "accuracy of loops": ("accuracy_loops.json", report_loops.accuracy),
    "drift": ("drift.json", report_loops.drift),
    "simulation": ("simulation.json", report_simulation.tables),
    "standing": ("standing.json", report_simulation.standing),
    "everyday": ("everyday.json", report_calls.everyday),
    "wbc": ("wbc.json", wbc.table),
    "moves": ("moves.json", report_calls.moves),
    "prices": ("prices.json", report_calls.prices),
    "calls": ("calls.json", report_every_call.whole),
    "batches": ("batches.json", report_batches.tables),
    "derivatives": ("derivatives.json", report_derivatives.speed),
    "operational": ("operational.json", report_operational.speed),
    "accuracy of operational space": ("operational_accuracy.json", report_operational.accuracy),
    "accuracy of derivatives": ("derivatives_accuracy.json", report_derivatives.accuracy),
    "float32": ("learning.json", report_learning.float32),
    "step of many": ("learning.json", report_learning.step),
    "accuracy of traces": ("traces.json", report_traces.accuracy),
    "specialised": ("specialised.json", report_specialised.tables),
    "files": ("files.json", report_files.table),
    "files in MuJoCo": ("mujoco_files.json", report_mujoco.files),
    "swing": ("mjcf_swing.json", mjcf_swing.table),
    "two modes": ("two_modes.json", two_modes.table),
    "first calls": ("first_calls.json", first_calls.table),
    "worlds": ("worlds.json", many_worlds.tables),
    "exact in MuJoCo": ("exact_mujoco.json", exact_mujoco.tables),
    "ground": ("ground.json", ground.table),
    "reliability": ("reliability.json", reliability.table),
    "training": ("training.json", report_training.tables),
    "training short": ("training.json", report_training.short),
    "touchdown": ("touchdown.json", touchdown.table),
    "touchdown short": ("touchdown.json", touchdown.short),
}
"""Key, file in ``results/`` and what renders it; the README shows less of the speed."""
STUDY_ROBOT = "mit_humanoid_leg"


def study_table() -> str:
    """Return the table of the study, computed now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = loaders.load(STUDY_ROBOT, root_joint=None)
    locked, dropped = (study.run(model, study.Sine(in_phase=True), drop_rotors=drop) for drop in (False, True))
    *errors, exact = report.table(locked)
    errors += report.table(dropped)[:-1]
    sine = locked.sine
    text = (
        f"RMS error of the joint torques of `{STUDY_ROBOT}` [{report.unit(locked)}] with a fixed base. Every joint "
        f"moves as {sine.amplitude:g} sin(2 pi {sine.frequency:g} Hz t) rad for {sine.duration:g} s, all joints in "
        "phase as in arXiv 2311.13732 (`--in-phase`). The approximations add the mass and inertia of the locked rotors "
        "to their carriers, or leave them out (rotors dropped)."
    )
    return f"{text}\n\n{markdown(['', *locked.joints], [*errors, exact])}\n\n{report.verdict(locked)}"


def _pair(found: dict[str, Any], name: str) -> str:
    t = found["times"]
    ratio = found["ratio"][name]
    return f"{t[f'pc.{name}']['median_us']:.2f} / {t[f'pin.{name}']['median_us']:.2f} = **{ratio:.2f}**"


def ratios(results: dict[str, Any]) -> str:
    """Return the table of one state against Pinocchio."""
    head = ["robot", "nv (tree)", "rotors", "rnea", "aba", "crba", "projected Pinocchio / `pc.aba`"]
    rows = [
        [
            f"`{name}`", f"{r['nv']} ({r['nv_tree']})",
            f"{r['rotors']}" + ("" if r["rotors"] == r["spin_elements"] else f" ({r['spin_elements']} lumped)"),
            *(_pair(r, a) for a in ("rnea", "aba", "crba")), f"{r['projection']:.1f}",
        ]
        for name, r in results["robots"].items()
    ]  # fmt: skip
    return markdown(head, rows)


def batches(results: dict[str, Any]) -> str:
    """Return the table of batches on one thread."""
    rows = [
        [f"`{name}`", f"{b['states']}"]
        + [
            f"{b['times'][f'pc.batch.{a}']['median_us']:.3f} / {b['times'][f'pin.{a}InParallel']['median_us']:.2f} "
            f"= **{b['speedup'][a]:.1f} x**"
            for a in ("rnea", "aba")
        ]
        for name, b in ((name, r["batch"]) for name, r in results["robots"].items())
    ]
    return markdown(["robot", "states", "rnea", "aba"], rows)


def readme_speed(results: dict[str, Any]) -> str:
    """Return the README's section on speed."""
    return report_readme.speed(ratios(results), results)


def bench_long(results: dict[str, Any]) -> str:
    """Return what the documentation shows."""
    overhead = markdown(
        ["robot", "rnea", "aba", "crba"],
        ([f"`{n}`", *(f"{x:.2f}" for x in r["overhead"].values())] for n, r in results["robots"].items()),
    )
    gates = markdown(
        ["robot", "ratio", "measured", "goal", ""],
        (
            [f"`{n}`", g["what"], f"{g['value']:.2f}", f"{g['limit']:g}", "met" if g["met"] else "not met"]
            for n, r in results["robots"].items()
            for g in r["gates"]
        ),
    )
    parts = [
        where(results),
        "## One state",
        "Time per call of the Python API in microseconds: exact robot with this package / approximate robot with "
        "Pinocchio = ratio. The last column is the time of the projection method (`baselines.projection.aba`) divided "
        "by the time of `pc.aba`. Projection computes the same exact result from Pinocchio's spanning tree. Rotors: "
        "their number, and the number that is lumped into the carriers if that is not all of them.",
        ratios(results),
        "## Batches",
        "Time per state on one thread in microseconds: exact robot with `pc.batch` / approximate robot with Pinocchio.",
        batches(results),
        "## Cost of rotors",
        "Time with rotors divided by the time without rotors, in this package.",
        overhead,
    ]
    if "first_call_s" in results:
        first = results["first_call_s"]
        rows = ([name, f"{first['cold'][name]:.2f}", f"{first['cached'][name]:.2f}"] for name in first["cold"])
        parts += ["## First call in a process", "Time in seconds.", markdown(["", "empty cache", "filled cache"], rows)]
    return "\n\n".join([*parts, "## Goals", gates])


def accuracy_table() -> str | None:
    """Return the table of the worst errors, None if they were not measured."""
    if not ACCURACY.is_file():
        return None
    results = json.loads(ACCURACY.read_text(encoding="utf-8"))
    worst = results["worst"]
    names = next(iter(worst.values()))
    rows = ([name, *(f"{worst[robot][name]:.0e}" for robot in worst)] for name in names)
    return (
        f"{where(results)}\n\n"
        f"Worst error over {results['states_per_robot_and_base']} random states with a fixed base and as many with a "
        "floating base, with random gravity. Errors are relative; rows with *residual* contain backward errors."
        f"\n\n{markdown(['', *(f'`{robot}`' for robot in worst)], rows)}"
    )


def fill(text: str, key: str, content: str) -> str:
    """Put ``content`` between the markers of ``key``; text without them stays as it is."""
    pattern = re.compile(rf"(<!-- generated: {key} -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda m: f"{m[1]}{content}\n{m[2]}", text)


def loop_sections(folder: Path) -> dict[str, tuple[str, str]]:
    """Return what goes between the markers of closed loops, in the README and elsewhere; of files that are there."""
    found = {}
    for key, (name, render) in LOOPS.items():
        path = folder / name
        if path.is_file():
            results = json.loads(path.read_text(encoding="utf-8"))
            short = report_loops.loops_short if key == "loops" else render
            found[key] = short(results), render(results)
        else:
            print(f"no {path}: its tables stay as they are", file=sys.stderr)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Render; with --check, only say whether something would change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the study is out of date")
    parser.add_argument("--results", type=Path, default=RESULTS, help="what run.py wrote")
    chosen = parser.parse_args(arguments)
    results = json.loads(chosen.results.read_text(encoding="utf-8")) if chosen.results.is_file() else None
    if results is None:
        print(f"no {chosen.results}: run benchmarks/run.py first; only the study is rendered", file=sys.stderr)
    bench: dict[str, Callable[[dict[str, Any]], str]] = {
        "README.md": readme_speed,
        "docs/performance.md": bench_long,
        "docs/accuracy.md": bench_long,
        "docs/measured/simulation.md": bench_long,
        "docs/measured/learning.md": bench_long,
        "docs/measured/mujoco.md": bench_long,
        "docs/files.md": bench_long,
        "docs/measured/first-calls.md": bench_long,
        "docs/measured/worlds.md": bench_long,
        "docs/measured/training.md": bench_long,
        "docs/training.md": bench_long,
        "docs/exact-mujoco.md": bench_long,
        "docs/measured/ground.md": bench_long,
        "docs/calls.md": bench_long,
        "docs/reliability.md": bench_long,
    }
    accuracy_text = accuracy_table()
    study_text, validation_text = study_table(), report_readme.validation()
    sections = loop_sections(chosen.results.parent)
    stale = 0
    for name, render in bench.items():
        path = ROOT / name
        if not path.is_file():
            print(f"{name} is not there", file=sys.stderr)
            continue
        before = path.read_text(encoding="utf-8")
        after = fill(before, "study", study_text)
        after = fill(after, "validation", validation_text)
        if accuracy_text is not None:
            after = fill(after, "accuracy", accuracy_text)
        if results is not None:
            after = fill(after, "bench", render(results))
        for key, (short, whole) in sections.items():
            after = fill(after, key, short if name == "README.md" else whole)
        after = report_loops.once(after)
        if after != before:
            stale = 1
            print(f"{name}: {'out of date' if chosen.check else 'written'}")
            if not chosen.check:
                path.write_text(after, encoding="utf-8")
    return stale if chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
