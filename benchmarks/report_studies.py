"""Write the tables of ``docs/studies.md``: ``python benchmarks/report_studies.py [--check]``.

Reads ``results/studies.json``, which ``studies.py`` writes, and fills the text between ``<!-- generated: KEY -->`` and
``<!-- end -->``. Keys: the names of the experiments, and ``motions``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from report import fill
from report_loops import markdown

from pin_clusters.approximations import LABELS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "studies.json"
PAGE = ROOT / "docs" / "studies.md"
TIMES = (0.1, 0.5, 1.0, 2.0, 5.0)


def sinusoids(found: dict[str, Any]) -> str:
    """Return the RMS errors of all joints at the highest frequency, and of the drawn joint at all frequencies."""
    studies, joint = found["studies"], found["joint_drawn"]
    last = studies[-1]
    joints = last["joints"]
    rows = [[LABELS[r], *(f"{x[j]:.3f}" for j in joints)] for r, x in last["rms_error"].items()]
    rows.append(["largest exact torque", *(f"{last['max_exact'][j]:.2f}" for j in joints)])
    heads = [f"{s['trajectory']['frequency']:g} Hz" for s in studies]
    shares = [
        [LABELS[level], *(_pair(s["per_cent_of_largest"], level, joint) for s in studies)]
        for level in last["rms_error"]
    ]
    return "\n\n".join([
        f"RMS torque error of `{found['robot']}` at {last['trajectory']['frequency']:g} Hz [{last['unit']}], with the "
        f"rotors {last['trajectory']['rotors_of_approximations']}:",
        markdown(["", *joints], rows),
        f"Error at the joint `{joint}` in percent of its largest torque at that frequency (RMS / peak):",
        markdown(["", *heads], shares),
    ])  # fmt: skip


def _pair(shares: dict[str, Any], level: str, joint: str) -> str:
    return f"{shares['rms'][level][joint]:.1f} / {shares['peak'][level][joint]:.1f}"


def magnitude(found: dict[str, Any]) -> str:
    """Return the errors at some magnitudes."""
    at = [i for i, x in enumerate(found["alpha"]) if i % 3 == 0]
    head = ["", *(f"alpha {found['alpha'][i]:.2f}" for i in at)]
    rows = [["norm of the exact acceleration [rad/s^2]", *(f"{found['exact_norm'][i]:.0f}" for i in at)]]
    rows += [[LABELS[r], *(_share(x[i]) for i in at)] for r, x in found["error_share"].items()]
    limit = next(iter(found["max_torque"].values()))
    return (
        f"Mean acceleration error of `{found['robot']}` over {found['samples']} states. Torques are within alpha times "
        f"{limit:g} N m, the effort limit of every joint in the published URDF.\n\n{markdown(head, rows)}"
    )


def _share(x: float) -> str:
    return f"{100.0 * x:.0f} %" if x > 1.0 else f"{100.0 * x:.2g} %"


def tracking(found: dict[str, Any]) -> str:
    """Return the drift at the times in ``TIMES``."""
    at = [min(range(len(found["time"])), key=lambda i, t=t: abs(found["time"][i] - t)) for t in TIMES]
    head = ["", *(f"{found['time'][i]:.2g} s" for i in at), "largest"]
    rows = [
        [LABELS.get(r, r), *(_mm(x[i]) for i in at), _mm(found["largest_drift"][r])] for r, x in found["drift"].items()
    ]
    motion = found["trajectory"]
    return (
        f"Distance [mm] between the frame `{found['frame']}` of `{found['robot']}` and its desired position. The "
        f"desired motion is {motion['amplitude']:g} sin(2 pi {motion['frequency']:g} Hz t) rad at every joint; the "
        f"integrator is RK4 with steps of {1e3 * found['step']:g} ms.\n\n{markdown(head, rows)}"
    )


def _mm(x: float | None) -> str:
    if x is None:
        return "-"
    return f"{1e3 * x:.0e}" if x < 1e-6 else f"{1e3 * x:.3g}"


def chains(found: dict[str, Any]) -> str:
    """Return the quantiles over the robots."""
    words = {"inverse_share": "torque", "forward_share": "acceleration", "base_share": "base in free flight, angular"}
    rows = []
    for metric, what in words.items():
        q = found["quantiles"][metric]
        rows += [[f"{what}: {LABELS[r]}", *(_share(q[s][r]) for s in q)] for r in q["0.5"]]
    head = ["", *(f"{100.0 * float(s):g} %" for s in found["quantiles"]["inverse_share"])]
    return (
        f"Percentiles of the error over {found['robots']} random robots with {found['states_per_robot']} states each "
        f"(seed {found['seed']}; {found['with_floating_base']} robots have a floating base):\n\n{markdown(head, rows)}"
    )


def motions(found: dict[str, Any]) -> str:
    """Return the worst joints along the motions."""
    rows = []
    for name, m in found.items():
        for level, x in m["approximations"].items():
            rows.append([
                f"`{name}`" if level == "none" else "", LABELS[level], x["joint"], f"{x['rms']:.3f}",
                f"{x['rms_per_cent']:.1f} / {x['peak_per_cent']:.1f}", f"{x['base_moment_rms']:.3f}",
            ])  # fmt: skip
    share, base = "RMS / peak error [% of its largest torque]", "base moment, RMS error [N m]"
    head = ["motion", "", "worst joint", "RMS error [N m]", share, base]
    return markdown(head, rows)


def sections(results: dict[str, Any]) -> dict[str, str]:
    """Return the text for each key."""
    experiments = results["experiments"]
    return {
        "torque-sinusoids": sinusoids(experiments["torque-sinusoids"]),
        "torque-magnitude": magnitude(experiments["torque-magnitude"]),
        "end-effector-tracking": tracking(experiments["end-effector-tracking"]),
        "random-chains": chains(experiments["random-chains"]),
        "motions": motions(results["motions"]),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the page; with --check, only report whether it would change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is out of date")
    check = parser.parse_args(arguments).check
    before = after = PAGE.read_text(encoding="utf-8")
    for key, text in sections(json.loads(RESULTS.read_text(encoding="utf-8"))).items():
        after = fill(after, key, text)
    if after == before:
        return 0
    print(f"docs/studies.md: {'out of date' if check else 'written'}")
    if not check:
        PAGE.write_text(after, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
