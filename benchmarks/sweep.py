"""Sweep 10,000 random robots with a process pool, with Dask, and interrupted: ``python benchmarks/sweep.py``.

Runs ``pin-clusters sweep robots`` as a user would, three times into new folders, and compares the digests of all
numbers:

1. a pool of processes,
2. a local Dask cluster of as many processes,
3. a pool that is sent SIGINT, as by Ctrl-C, when 40 % of the chunks are there, and is then resumed.

Also runs ``pin-clusters sweep ratio``, and 200 of the robots once more in code for the oldest x86-64 processor (no AVX,
no fused multiply-add), whose numbers are compared with those of this one. Writes ``results/sweep.json`` and the figures
of the documentation.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing

from pin_clusters.studies import sweeps

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sweep.json"
FIGURES = ROOT / "docs" / "figures"
ROBOTS, STATES = 10_000, 25
INTERRUPT_AT = 0.4
COMPARED = 200
"""Robots that are computed in code for another processor."""
OLD = {
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX2 FMA3",
}
"""What makes Numba, OpenBLAS and NumPy take the oldest processor; Pinocchio is compiled for it anyway."""
NOISE = 1e-9
"""Errors below this part of the exact quantity are none: the approximation is exact there, but for rounding."""
COMMAND = [sys.executable, "-m", "pin_clusters._cli.cli", "sweep"]


def sweep(
    folder: Path,
    robots: int,
    states: int,
    *options: str,
    stop_at: float | None = None,
    environment: dict[str, str] | None = None,
) -> dict[str, Any]:
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
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | (environment or {}),
    )  # fmt: skip
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


def processors(folder: Path, robots: int, states: int) -> dict[str, Any] | None:
    """Sweep some robots in code for this processor and for an old one; return how far apart the numbers are.

    Returns:
        Per quantity, over all robots and approximations: ``of_exact``, the largest difference over the size of what was
        approximated (or of the error, where that is larger); ``of_error``, the largest difference over the error itself
        where that is more than rounding; ``smallest_error``, relative, where the latter is. None on other machines.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    sweep(folder / "new", robots, states, "--workers", "1")
    # code for another processor belongs into another cache
    environment = OLD | {"PIN_CLUSTERS_CACHE": str(folder / "cache")}
    sweep(folder / "old", robots, states, "--workers", "1", environment=environment)
    new, old = sweeps.load(folder / "new"), sweeps.load(folder / "old")
    found: dict[str, Any] = {"robots": robots, "identical": new.digest == old.digest, "quantities": {}}
    for name in ("inverse", "forward", "base"):
        share = new[f"{name}_share"]
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.abs(new[name] - old[name]) / new[name]
            real = share > NOISE
        where = np.unravel_index(np.argmax(np.where(real, apart, 0.0)), share.shape)
        found["quantities"][name] = {
            "of_exact": float(np.nanmax(np.abs(share - old[f"{name}_share"]) / np.fmax(share, 1.0))),
            "of_error": float(apart[where]),
            "smallest_error": float(share[where]),
        }
    return found


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
    parser.add_argument("--processors", action="store_true", help="measure this part only, and keep the other results")
    parser.add_argument("--quick", action="store_true", help="200 robots x 5 states; writes nothing by itself")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: one per core)")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/sweep.json, unless --quick)")
    parser.add_argument("--figures", type=Path, help="folder of figures (default: docs/figures, unless --quick)")
    chosen = parser.parse_args(arguments)
    output = chosen.output or (None if chosen.quick else RESULTS)
    figures = chosen.figures or (None if chosen.quick else FIGURES)
    robots, states = (200, 5) if chosen.quick else (ROBOTS, STATES)
    if chosen.processors:
        with tempfile.TemporaryDirectory() as temporary:
            part = processors(Path(temporary), COMPARED, states)
        print(json.dumps(part, indent=1))
        if output is not None:
            known = json.loads(output.read_text(encoding="utf-8")) | {"processors": part}
            output.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = measure(folder, robots, states, chosen.workers)
        if not chosen.quick:  # compiles everything anew
            found["processors"] = processors(folder / "processors", COMPARED, states)
            print(f"on another processor: {found['processors']}")
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / "pool" / "robots.png", figures / "sweep_robots.png")
            shutil.copyfile(folder / "ratio" / "ratio.png", figures / "sweep_ratio.png")
    timing.write({"machine": timing.machine(), **found}, output)
    return 0 if found["identical"] and found["was_interrupted"] else 1


if __name__ == "__main__":
    sys.exit(main())
