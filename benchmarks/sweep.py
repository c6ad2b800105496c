"""Sweep 10,000 random robots with a process pool, with Dask, and interrupted: ``python benchmarks/sweep.py``.

Runs ``pin-clusters sweep robots`` as a user would, three times into new folders, and compares the digests of all
numbers:

1. a pool of processes,
2. a local Dask cluster of as many processes,
3. a pool that is sent SIGINT, as by Ctrl-C, when 40 % of the chunks are there, and is then resumed.

Also runs ``pin-clusters sweep ratio``. Writes ``results/sweep.json`` and the figures of the documentation.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import timing

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sweep.json"
FIGURES = ROOT / "docs" / "figures"
ROBOTS, STATES = 10_000, 25
INTERRUPT_AT = 0.4
COMMAND = [sys.executable, "-m", "pin_clusters.cli", "sweep"]


def sweep(folder: Path, robots: int, states: int, *options: str, stop_at: float | None = None) -> dict[str, Any]:
    """Run the command; with ``stop_at`` send SIGINT to it and its processes when that share of the chunks is there.

    Returns:
        Seconds, exit code, what it said on stderr, chunks that are there, and what ``robots.json`` says.
    """
    # what was started in the background ignores it, and so would its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [*COMMAND, "robots", "--robots", str(robots), "--states", str(states), "--output", str(folder), *options]
    start = time.perf_counter()
    # a session of its own, whose processes all get the signal, as those of a terminal do
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        if stop_at is not None:
            while process.poll() is None and len(list(folder.glob("chunk_*.npz"))) < stop_at * chunks(robots):
                time.sleep(0.02)
            sent = time.perf_counter()
            os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=3600.0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    done: dict[str, Any] = {
        "seconds": time.perf_counter() - start,
        "exit_code": process.returncode,
        "stderr": said.strip(),
        "chunks": len(list(folder.glob("chunk_*.npz"))),
    }
    if stop_at is not None:
        done["seconds_to_stop"] = time.perf_counter() - sent
    written = folder / "robots.json"
    if written.is_file():
        found = json.loads(written.read_text(encoding="utf-8"))
        done |= {"digest": found["digest"], "effort": found["effort"], "failures": len(found["failures"])}
    return done


def chunks(robots: int) -> int:
    """Return how many chunks the command makes of so many robots."""
    return -(-robots // max(1, min(100, -(-robots // 100))))


def ratio(folder: Path) -> dict[str, Any]:
    """Sweep the ratios of the paper's leg."""
    subprocess.run([*COMMAND, "ratio", "--output", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return dict(json.loads((folder / "ratio.json").read_text(encoding="utf-8")))


def measure(folder: Path, robots: int, states: int, workers: int) -> dict[str, Any]:
    """Run everything."""
    same = ("--workers", str(workers))
    found: dict[str, Any] = {"robots": robots, "states": states, "workers": workers, "load": os.getloadavg()[0]}

    def tell(what: str, one: dict[str, Any]) -> None:
        effort = one.get("effort", {})
        print(
            f"{what:24} {one['seconds']:7.1f} s, exit code {one['exit_code']}, {one['chunks']} chunks, largest worker "
            f"{effort.get('largest_worker_mb', float('nan')):.0f} MB, digest {one.get('digest', '-')[:16]}",
            flush=True,
        )

    found["pool"] = sweep(folder / "pool", robots, states, *same)
    tell("process pool", found["pool"])
    found["dask"] = sweep(folder / "dask", robots, states, *same, "--dask", "local")
    tell("local Dask cluster", found["dask"])
    found["interrupted"] = sweep(folder / "again", robots, states, *same, stop_at=INTERRUPT_AT)
    tell("interrupted", found["interrupted"])
    print(f"  {found['interrupted']['stderr']}")
    found["resumed"] = sweep(folder / "again", robots, states, *same, "--resume")
    tell("resumed", found["resumed"])
    found["identical"] = len({found[key]["digest"] for key in ("pool", "dask", "resumed")}) == 1
    found["was_interrupted"] = found["interrupted"]["exit_code"] == 130
    print(f"the same numbers to the last bit: {'yes' if found['identical'] else 'NO'}")
    if not found["was_interrupted"]:
        print("NOT INTERRUPTED: the sweep ended before the signal, or ignored it")
    summary = json.loads((folder / "pool" / "robots.json").read_text(encoding="utf-8"))
    parts = ("with_floating_base", "links", "belts", "units", "mean", "quantiles")
    found["errors"] = {key: summary[key] for key in parts}
    found["ratio"] = ratio(folder / "ratio")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the results and copy the figures; exit code 1 if the numbers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 robots x 5 states; writes nothing by itself")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: one per core)")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/sweep.json, unless --quick)")
    parser.add_argument("--figures", type=Path, help="folder of figures (default: docs/figures, unless --quick)")
    chosen = parser.parse_args(arguments)
    output = chosen.output or (None if chosen.quick else RESULTS)
    figures = chosen.figures or (None if chosen.quick else FIGURES)
    robots, states = (200, 5) if chosen.quick else (ROBOTS, STATES)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = measure(folder, robots, states, chosen.workers)
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / "pool" / "robots.png", figures / "sweep_robots.png")
            shutil.copyfile(folder / "ratio" / "ratio.png", figures / "sweep_ratio.png")
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps({"machine": timing.machine(), **found}, indent=1) + "\n", encoding="utf-8")
    return 0 if found["identical"] and found["was_interrupted"] else 1


if __name__ == "__main__":
    sys.exit(main())
