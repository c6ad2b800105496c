"""Measure how reliable the errors of ``pc.identify`` are: ``python benchmarks/identification.py [--development]``.

The script simulates logs of each robot with different motions, friction, start values and noise (``tests/support/
logs.py``), identifies each log, and counts how often the truth is within two standard errors; 95 % is right. It writes
``results/identification.json`` and the table of ``docs/measured/identification.md``. The method was chosen on other
logs, which ``--development`` uses.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from report import fill
from report_loops import markdown
from support import logs

import pin_clusters as pc

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "identification.json"
PAGE = ROOT / "docs" / "measured" / "identification.md"
RUNS, QUICK = 200, 3
REPORTED = 1000
"""The first log that is reported; those before are for development."""


def measure(name: str, first: int, runs: int) -> dict[str, Any]:
    """Return, of a robot, errors in units of standard errors and both as shares of the truth; (runs, parameters)."""
    found: dict[str, list[Any]] = {"z": [], "off": [], "error": [], "start": [], "bias": []}
    begun, labels = time.monotonic(), ()
    for run in range(first, first + runs):
        rng = np.random.default_rng([run, sum(map(ord, name))])
        case = logs.case(name, rng)
        log = logs.noisy(logs.simulated(case.true, rng), rng)
        result, labels = pc.identify(case.believed, log, case.what), ()
        labels, off = result.parameters, result.estimate - case.values
        for key, x in (("z", off / result.error), ("off", off / case.values), ("error", result.error / case.values),
                       ("start", result.prior / case.values - 1.0), ("bias", result.bias / result.error)):  # fmt: skip
            found[key].append([float(f"{y:.4g}") for y in x])
    return {
        "parameters": list(labels),
        "first": first,
        "runs": runs,
        "seconds": (time.monotonic() - begun) / runs,
        **found,
    }


def table(results: dict[str, Any]) -> str:
    """Return the table of the documentation."""
    rows = []
    for robot, r in results["robots"].items():
        kinds = [label.rpartition(": ")[2] for label in r["parameters"]]
        z, off, error, start, bias = (np.array(r[key]) for key in ("z", "off", "error", "start", "bias"))
        for kind in [*dict.fromkeys(kinds), ""]:
            at = [k for k, x in enumerate(kinds) if kind in ("", x)]
            shares = (f"{100.0 * np.median(np.abs(x[:, at])):.2g}" for x in (start, off, error))
            within = np.mean(np.abs(z[:, at]) < 2.0, axis=1)  # of each log, as parameters of one are not independent
            sampling = np.std(within) / np.sqrt(max(len(within) - 1, 1))
            numbers = [f"{within.mean():.1%} ± {100.0 * sampling:.1f}", f"{np.sqrt(np.mean(z[:, at] ** 2)):.2f}"]
            each = np.mean(np.abs(z[:, at]) < 2.0, axis=0)
            rows.append([
                f"`{robot}`, {r['runs']} logs" if kind == kinds[0] else "", f"`{kind}`" if kind else "**all**",
                str(len(at)), *(shares if kind else [""] * 3), *numbers, f"{each.min():.0%} to {each.max():.0%}",
                f"{np.mean(np.abs(np.mean(bias[:, at], axis=0))):.2f}",
            ])  # fmt: skip
    head = ["robot", "kind", "count", "initial error, %", "error, %", "standard error, %",
            "within 2 standard errors", "RMS of error / standard error", "range over parameters",
            "removed bias"]  # fmt: skip
    return markdown(head, rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--robots", nargs="+", choices=list(logs.WHAT), default=list(logs.WHAT))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} runs, printed only")
    parser.add_argument("--development", action="store_true", help="logs that choices may be made on, printed only")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    first, runs = 0 if chosen.development else REPORTED, QUICK if chosen.quick else chosen.runs
    results = {"robots": {name: measure(name, first, runs) for name in chosen.robots}}
    print(table(results))
    if not (chosen.quick or chosen.development):
        RESULTS.write_text(json.dumps(results) + "\n", encoding="utf-8")
        text = fill(PAGE.read_text(encoding="utf-8"), "identification", table(json.loads(RESULTS.read_text())))
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
