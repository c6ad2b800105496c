"""Run the unit tests of Pinocchio's Python bindings with this package in place of Pinocchio.

Usage: python benchmarks/pinocchios_tests.py FOLDER

FOLDER is `unittest/python` of Pinocchio's source code, release 3.7 or newer. The script runs each test function with
`pinocchio`. It runs the functions that pass again, and `import pinocchio` then imports `pin_clusters`. The script
prints a table, and exits with 1 if less than 95 % of the functions that pass with `pinocchio` pass with `pin_clusters`.

`pin_clusters` forwards a call with a `pin.Model` to Pinocchio, and such a call tests nothing. So `pin.Model()` and the
functions that build models return a `Model`, which derives from `pin.Model`. The functions of `pin_clusters` and the
methods of the model receive a ClusterModel in its place. `pin_clusters.expand_mimic` converts mimic joints. If a test
changes a model, the next call makes a new ClusterModel, and empties the ClusterData that the test passes with it.
Attributes of the model that are no methods, such as its arrays, are Pinocchio's.

The column "calls" counts the calls that received a ClusterModel or a ClusterData. A test with 0 calls, such as a test
of SE3, shows only that `pin_clusters` has the names. Each file runs in a process of its own, in an empty working
directory, with generic kernels. Each test starts from the same random seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GOAL = 0.95  # of the tests that pass with Pinocchio
LIMIT = 600  # seconds for a file
RUN = Path(__file__).resolve().with_name("pinocchios_tests_run.py")


class One(NamedTuple):
    """The result of a test."""

    test: str
    outcome: str  # pass, fail or skip
    why: str = ""  # line of the test file, and the exception
    calls: int = 0


class Row(NamedTuple):
    """A test with both packages."""

    pin: One
    pc: One | None  # None if it does not pass with Pinocchio


def results_of(name: str, file: Path, omitted: list[str], folder: Path) -> dict[str, One]:
    """Return the results of a file by test. After a crash a new process runs the remaining tests."""
    out = folder / f"{name}.{file.stem}.jsonl"
    command = [sys.executable, "-W", "ignore", str(RUN), name, str(file), str(out)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    found: dict[str, One] = {}
    while True:
        known, given = len(found), json.dumps([*omitted, *found])
        try:
            end = subprocess.run(
                command, input=given, text=True, cwd=folder, env=env, capture_output=True, timeout=LIMIT
            )
            fine, last = end.returncode == 0, (end.stderr.splitlines() or [f"exit status {end.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            fine, last = False, f"more than {LIMIT} s"
        lines = out.read_text().splitlines() if out.is_file() else []
        found = {one.test: one for one in (One(**json.loads(line)) for line in lines)}
        if not fine and len(found) == known:  # it ended outside of a test
            return {**found, file.stem: One(file.stem, "fail", last)}
        if fine:
            return found


def rows_of(file: Path, folder: Path) -> Iterator[Row]:
    """Yield the results of a file with both packages."""
    theirs = results_of("pinocchio", file, [], folder)
    omitted = [test for test, one in theirs.items() if one.outcome != "pass"]
    ours = results_of("pin_clusters", file, omitted, folder) if len(omitted) < len(theirs) else {}
    others = [one.why for test, one in ours.items() if test not in theirs]  # of a file that cannot be imported
    for test, one in theirs.items():
        yield Row(one, None if test in omitted else ours.get(test) or One(test, "fail", " ".join(others)))


def report(rows: Iterator[Row]) -> bool:
    """Print the table; return whether enough tests pass."""
    print(f"{'test':80} {'pin':4} {'pc':4} calls  reason")
    done = []
    for row in rows:
        pc = row.pc or One(row.pin.test, "-", row.pin.why)
        print(f"{row.pin.test:80} {row.pin.outcome:4} {pc.outcome:4} {pc.calls:5}  {pc.why}".rstrip(), flush=True)
        done.append(row)
    compared = [row.pc for row in done if row.pc]
    passed = [one for one in compared if one.outcome == "pass"]
    wrapped = sum(one.calls > 0 for one in passed)
    print(
        f"{len(done)} tests; {len(compared)} pass with pin; of these {len(passed)} pass with pc "
        f"({wrapped} with a ClusterModel, {len(passed) - wrapped} without)"
    )
    return len(passed) >= GOAL * len(compared) > 0


def main() -> int:
    """Run all files and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.resolve().glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        return int(not report(row for file in files for row in rows_of(file, Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
