"""The measurements: one state, batches, and the first call; all with ``verification.timing.interleaved``."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters import batch
from pin_clusters.approximations.armature import independent_q
from pin_clusters.compiler import choice
from pin_clusters.model.configuration import randomConfiguration
from pin_clusters.verification import baselines
from pin_clusters.verification.peers import ALGORITHMS, State, state
from pin_clusters.verification.timing import Timing, interleaved


def number(timing: Timing) -> dict[str, float]:
    """Return a timing as numbers, in microseconds per call."""
    return {
        "median_us": round(1e6 * timing.median, 4),
        "min_us": round(1e6 * timing.minimum, 4),
        "spread": round(timing.spread, 4),
    }


def single_state(model: pc.ClusterModel, *, repeats: int, block: float) -> dict[str, Any]:
    """Time one state of a robot.

    Returns:
        ``times``: of this package with rotors, without them, of Pinocchio, of projection; ``ratio``: to Pinocchio;
        ``overhead``: with rotors to without; ``projection``: projection to this package.
    """
    one: State = state(model)
    with_rotors = one.cluster_calls()
    without = one.cluster_calls(pc.ClusterModel(one.approximate))
    theirs = one.pinocchio_calls()
    workspace = baselines.projection.createData(model)
    calls = {f"pc.{name}": with_rotors[name] for name in ALGORITHMS}
    calls |= {f"pc.{name} without rotors": without[name] for name in ALGORITHMS}
    calls |= {f"pin.{name}": theirs[name] for name in ALGORITHMS}
    calls["projection.aba"] = (baselines.projection.aba, (model, workspace, one.q, one.v, one.x))
    t = interleaved(calls, repeats=repeats, block=block)
    return {
        "times": {name: number(x) for name, x in t.items()},
        "ratio": {name: round(t[f"pc.{name}"].ratio(t[f"pin.{name}"]), 4) for name in ALGORITHMS},
        "overhead": {name: round(t[f"pc.{name}"].ratio(t[f"pc.{name} without rotors"]), 4) for name in ALGORITHMS},
        "projection": round(t["projection.aba"].ratio(t["pc.aba"]), 2),
    }


def batches(model: pc.ClusterModel, *, repeats: int, block: float, states: int) -> dict[str, Any]:
    """Time batches on one thread against Pinocchio's, which compute the approximate robot.

    Returns:
        ``times`` per state, and ``speedup`` of this package, per algorithm.
    """
    one = state(model)
    approximate, at_q = one.approximate, independent_q(model, one.approximate)
    rng = np.random.default_rng(1)
    q = np.array([randomConfiguration(model) for _ in range(states)])
    v, x = rng.standard_normal((2, states, model.nv))
    out = np.empty_like(v)
    # Pinocchio wants a state per column
    q_own, v_own, x_own = np.asfortranarray(q[:, at_q].T), np.asfortranarray(v.T), np.asfortranarray(x.T)
    out_own = np.empty_like(v_own)
    pool = pin.ModelPool(approximate, 1)

    def ours(f: Any) -> None:
        f(model, q, v, x, threads=1, out=out)

    calls = {
        "pc.batch.rnea": (ours, (batch.rnea,)),
        "pc.batch.aba": (ours, (batch.aba,)),
        "pin.rneaInParallel": (pin.rneaInParallel, (1, pool, q_own, v_own, x_own, out_own)),
        "pin.abaInParallel": (pin.abaInParallel, (1, pool, q_own, v_own, x_own, out_own)),
    }
    t = interleaved(calls, repeats=repeats, block=block)
    return {
        "lanes": batch.lanes,
        "states": states,
        "times": {name: number(Timing(timing.samples / states, timing.calls)) for name, timing in t.items()},
        "speedup": {
            "rnea": round(t["pin.rneaInParallel"].ratio(t["pc.batch.rnea"]), 2),
            "aba": round(t["pin.abaInParallel"].ratio(t["pc.batch.aba"]), 2),
        },
    }


_FIRST = """
import time, numpy as np, warnings
warnings.simplefilter("ignore")
start = time.perf_counter()
import pin_clusters as pc
from pin_clusters import batch
from pin_clusters.files import readers as loaders
from pin_clusters.model.configuration import neutral
print("import", time.perf_counter() - start)
model = loaders.load("mit_humanoid_leg"); data = model.createData(); q, v = neutral(model), np.zeros(model.nv)
bar = loaders.load("four_bar"); swing = bar.createData(); p, w = neutral(bar), np.zeros(bar.nv)
for name, call in {
    "rnea": lambda: pc.rnea(model, data, q, v, v),
    "aba": lambda: pc.aba(model, data, q, v, v),
    "crba": lambda: pc.crba(model, data, q),
    "batch.rnea": lambda: batch.rnea(model, [q] * 16, [v] * 16, [v] * 16),
    "batch.aba": lambda: batch.aba(model, [q] * 16, [v] * 16, [v] * 16),
    "rnea (closed loops)": lambda: pc.rnea(bar, swing, p, w, w),
    "aba (closed loops)": lambda: pc.aba(bar, swing, p, w, w),
    "crba (closed loops)": lambda: pc.crba(bar, swing, p),
    "integrate (closed loops)": lambda: pc.integrate(bar, p, w + 0.1),
}.items():
    start = time.perf_counter()
    call()
    print(name, time.perf_counter() - start)
"""


def first_calls() -> dict[str, dict[str, float]]:
    """Time first calls in a new process, with an empty cache of kernels and with a full one, [s]."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PIN_CLUSTERS_CACHE": folder}

        def process() -> dict[str, float]:
            done = subprocess.run(
                [sys.executable, "-c", _FIRST], env=environment, capture_output=True, text=True, check=True
            )
            pairs = (line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
            return {name: round(float(seconds), 3) for name, seconds in pairs}

        return {"cold": process(), "cached": process()}


def machine() -> dict[str, Any]:
    """Return the processor, the versions, the default engine, the commit and the date of a measurement."""
    return {
        "cpu": _cpu(),
        "engine": choice.chosen(),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "lanes": batch.lanes,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pinocchio": pin.__version__,
        "numba": numba.__version__,
        "numpy": np.__version__,
        "pin_clusters": pc.__version__,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _commit() -> str:
    """Return the last commit that changed the package, with "+" if its files differ from it; empty without git."""
    git, package = ("git", "-C", str(Path(__file__).parent)), ("--", "../pin_clusters")
    try:
        last = subprocess.run(
            [*git, "log", "-1", "--format=%h", "--abbrev=12", *package], capture_output=True, text=True, check=True
        )
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", *package], capture_output=True, check=False)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return last.stdout.strip() + "+" * bool(changed.returncode)


def write(results: dict[str, Any], output: Path | None) -> None:
    """Write results as JSON, if there is a file to write to."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _cpu() -> str:
    """Return the processor's name; without /proc, what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    found = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = found.get("model name", platform.machine())
    family = f"family {found['cpu family']} model {found['model']}" if "cpu family" in found else ""
    return f"{name} ({family})" if family else name
