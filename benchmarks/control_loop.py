"""Exported C in a C++ loop at 1 kHz: median, 99th percentile and worst time of each function and an empty one.

python benchmarks/control_loop.py [ROBOT ...] [--seconds S]
writes results/control_loop.json and docs/measured/control-loop.md
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import timing
from report_loops import where

import pin_clusters as pc

HERE = Path(__file__).parent
ROBOTS = ("mit_humanoid_leg", "mini_cheetah", "tello", "mit_humanoid", "four_bar")
FUNCTIONS = ("rnea", "aba", "step")
BEGIN, END = "<!-- control_loop: begin -->\n", "<!-- control_loop: end -->\n"


def build(robot: str, folder: Path, compiler: str = "g++") -> Path:
    """Export a robot, and compile the loop with its machine code; return the program."""
    made = pc.codegen.export(pc.load(robot), folder, FUNCTIONS)
    name, program = made.name, folder / "control_loop"
    command = [
        compiler, "-O2", "-std=c++17", f"-DROBOT={name}", "-include", f"{name}.h", "-I.",
        str(HERE / "control_loop.cpp"), f"{name}.o", "-lm", "-o", program.name,
    ]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return program


def run(program: Path, ticks: int, period: int = 1_000_000) -> dict[str, Any]:
    """Run the loop; return its output."""
    printed = subprocess.run([program, str(ticks), str(period), "1"], check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def table(found: dict[str, dict[str, Any]]) -> str:
    """Return the results as a table."""
    lines = ["| robot | function | median | 99th percentile | worst |", "|---|---|---|---|---|"]
    for robot, result in found.items():
        for function in ("empty", *FUNCTIONS):
            t = result[function]
            label = "empty function" if function == "empty" else f"`{function}`"
            row = " | ".join(f"{t[key]:.2f}" for key in ("median", "p99", "worst"))
            lines.append(f"| {robot if function == 'empty' else ''} | {label} | {row} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--seconds", type=float, default=10.0, help="duration of the loop of each robot")
    args = parser.parse_args()
    if shutil.which("g++") is None:
        raise SystemExit("the loop needs g++ (Debian, Ubuntu: apt-get install g++)")
    found: dict[str, dict[str, Any]] = {}
    for robot in args.robots:
        with tempfile.TemporaryDirectory() as work:
            found[robot] = run(build(robot, Path(work)), int(1e3 * args.seconds))
        print(robot, json.dumps({key: x for key, x in found[robot].items() if key != "q"}), flush=True)
    if tuple(args.robots) == ROBOTS:
        about = {"machine": timing.machine(), "seconds": args.seconds}
        text = json.dumps({**about, "robots": found}, indent=1)
        (HERE / "results" / "control_loop.json").write_text(text + "\n", encoding="utf-8")
        page = HERE.parent / "docs" / "measured" / "control-loop.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(
            before + BEGIN + where(about) + "\n\n" + table(found) + END + rest.partition(END)[2], encoding="utf-8"
        )


if __name__ == "__main__":
    main()
