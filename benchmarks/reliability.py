"""Run the reliability checks and count their cases: ``python benchmarks/reliability.py [--calls N]``; half an hour.

The script fuzzes calls on both engines, runs the C extension and exported C under sanitizers, passes invalid arguments
and searches for leaks, each in its own process. It also counts samples and tests. The page ``docs/reliability.md``
shows the numbers. The script stops at the first check that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import timing
from report_loops import markdown, where

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "reliability.json"
HOSTILE = "tests/support/hostile.py"


def run(*command: str, **environment: str) -> str:
    """Run a command in the checkout; return what it prints."""
    print("$", *command, flush=True)
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout


def counted(*arguments: str, **environment: str) -> dict[str, Any]:
    """Run a check in Python; return the counts in its last line."""
    found: dict[str, Any] = json.loads(run(sys.executable, "-P", *arguments, **environment).splitlines()[-1])
    return found


def tests(*options: str) -> int:
    """Count the tests of a run."""
    text = run(sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options)
    found = re.search(r"(\d+)(?:/\d+)? tests collected", text)
    assert found is not None, text[-500:]
    return int(found.group(1))


def measure(calls: int) -> dict[str, Any]:
    """Run all checks."""
    fuzz = [HOSTILE, "fuzz", "--calls", str(calls), "--robots"]
    sanitized = run(".ci/sanitize", str(calls // 10), PYTHON=sys.executable)
    lines = [json.loads(line) for line in sanitized.splitlines() if line.startswith("{")]
    exported = next(i for i, x in enumerate(lines) if "functions" in x)
    return {
        "fuzz": counted(*fuzz, "mini_cheetah", "four_bar", "tello", PIN_CLUSTERS_ENGINE="tables"),
        "fuzz_traced": counted(*fuzz, "four_bar", PIN_CLUSTERS_ENGINE="auto"),
        "walk": counted(HOSTILE, "walk", "--robots", "mini_cheetah", "four_bar", "--every", "5"),
        "leaks": counted(HOSTILE, "leaks", "--robots", "mini_cheetah", "--calls", str(calls // 5)),
        "sanitized": {"calls": sum(x["calls"] for x in lines[exported + 2 :])},  # a call compiles the kernels before
        "exported": lines[exported],
        "samples": json.loads(run(sys.executable, "-P", "-c", SAMPLES, PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}")),
        "tests": {"everyday": tests(), "every change": tests("--ci"), "release": tests("--long")},
    }


SAMPLES = """
import json
from samples import pool
loops = [key for key in pool.ALL if not str(key).startswith("tree-")]
print(json.dumps({"trees": len(pool.TREES), "loops": len(loops)}))
"""


def table(results: dict[str, Any]) -> str:
    """Return the table of the page."""
    r = results["found"]
    rows = [
        [
            "Fuzz test of generic kernels: random functions and arguments. Results, errors and `data` must match the "
            "Python functions bit by bit.", f"{r['fuzz']['calls']:,} calls on 3 robots", "0 differences",
        ],
        ["Fuzz test of robot-specific code", f"{r['fuzz_traced']['calls']:,} calls", "0 differences"],
        [
            "Invalid arguments: objects of the wrong type or size replace each argument (one case in five is run)",
            f"{r['walk']['calls']:,} calls", "0 differences",
        ],
        [
            "C extension under AddressSanitizer and UndefinedBehaviorSanitizer", f"{r['sanitized']['calls']:,} calls",
            "0 reports",
        ],
        [
            "Exported C under the same sanitizers, with arrays of exact size, NaN and infinities",
            f"{r['exported']['calls']:,} calls of {r['exported']['functions']} functions", "0 reports",
        ],
        [
            "Leaks of references, objects and memory pages, in valid and invalid calls",
            f"{r['leaks']['calls']:,} calls", "none",
        ],
        ["Random trees with couplings and rotors in the tests of physical laws", f"{r['samples']['trees']}", ""],
        ["Mechanisms with closed loops in the tests of physical laws", f"{r['samples']['loops']}", ""],
    ]  # fmt: skip
    tests_of = r["tests"]
    sizes = (
        f"{tests_of['everyday']:,} in the everyday run, {tests_of['every change']:,} for every change, "
        f"{tests_of['release']:,} for a release"
    )
    return f"{where(results)}\n\n{markdown(['check', 'number', 'found'], rows)}\n\nNumber of tests: {sizes}."


def main(arguments: list[str] | None = None) -> int:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000, help="of the fuzz on each engine")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    results = {"machine": timing.machine(), "found": measure(given.calls)}
    print(table(results))
    timing.write(results, given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
