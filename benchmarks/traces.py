"""Compare traces with kernels: ``python benchmarks/traces.py [--quick]``.

Every function of ``pc.trace`` on every shipped robot, on its own base and floating, in float64 and float32; then a
thousand random mechanisms (trees with rotors on any carrier, gears and belts; closed loops, rods with and without mass,
differentials; fixed and floating), dynamics with external forces on all, other functions by turns. Errors are over
max(1, largest entry). What a trace refuses is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import loop_mechanisms
import numpy as np
import pinocchio as pin
import timing
from samples import pool
from support.traced import INVERSE, Library, frames_of, state_of

import pin_clusters as pc
from pin_clusters.compiler import tracing

RESULTS = Path(__file__).resolve().parent / "results" / "traces.json"
SINGULAR = 1e12
"""Condition of M from which on what inverts it is left out: planar linkages of rods without thickness, which float."""
LIMIT = 1e-9
"""Of float64, over max(1, cond(M) / 1000) where M is inverted."""
STEPS, OPEN = 8, 1e-10
"""How often ``integrate`` corrects loops, and what counts as closed."""
GROUPS = {
    "inverse dynamics": (
        "rnea", "nonLinearEffects", "computeGeneralizedGravity", "computeStaticTorque", "energies"
    ),
    "forward dynamics": ("aba",),
    "matrices": ("crba", "computeMinverse", "computeCoriolisMatrix", "inverse_operational_inertia"),
    "derivatives": (
        "computeRNEADerivatives", "computeABADerivatives", "computeGeneralizedGravityDerivatives",
        "computeStaticTorqueDerivatives", "computeCentroidalDynamicsDerivatives",
        "getCenterOfMassVelocityDerivatives", "getFrameVelocityDerivatives", "getFrameAccelerationDerivatives",
    ),
    "frames and momentum": (
        "framesForwardKinematics", "computeFrameJacobian", "getFrameVelocity", "getFrameAcceleration", "centerOfMass",
        "jacobianCenterOfMass", "computeCentroidalMomentum", "computeCentroidalMap",
        "computeCentroidalMomentumTimeVariation", "computeCentroidalMapTimeVariation",
    ),
    "couplings, steps": ("coupling_jacobian", "coupling_bias", "integrate"),
}  # fmt: skip
"""Columns of the table; ``tangent`` is not in it, as the library has it by differences only."""


def errors(
    model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, functions: Iterable[str], *, forced: bool
) -> Iterator[tuple[str, float, float]]:
    """Yield name, error in float64 (over what cond(M) amplifies) and in float32."""
    state = state_of(model, q, rng)
    short = {name: x.astype(np.float32) for name, x in state.items()}  # what is rounded is rounded for both
    condition = float(np.linalg.cond(pc.crba(model, model.createData(), q)))
    frames = frames_of(model, rng)
    library = Library(model, frames, pin.LOCAL)
    fext = state["fext"].reshape(-1, 6)
    for name in functions:
        what = tracing.FUNCTIONS[name]
        if name in INVERSE and condition > SINGULAR:
            continue
        options: dict[str, Any] = {"frames": frames} if what.framed else {}
        if name == "integrate":
            options["steps"] = STEPS
        given = state | ({"v": 1e-3 * state["v"]} if name == "integrate" else {})
        if forced and what.forced:
            program = pc.trace(model, name, fext=True)
            inputs = [given[x] for x in what.inputs]
            right = getattr(pc, name)(model, library.data, *inputs, fext)
            right = list(right) if isinstance(right, tuple) else [right]
            found = [program(*inputs, fext.ravel())]
        else:
            program = pc.trace(model, name, **options)
            right = library.of(name, given)
            found = [program(*(given[x] for x in what.inputs))]
            if name == "integrate":
                if model.closures and not found[0][1][0] < OPEN:
                    continue  # near a dead centre steps are too long, and the residual says so
            else:
                found.append(program(*(short[x] for x in what.inputs)))
                exact = [x.astype(float) for x in library.of(name, {k: x.astype(float) for k, x in short.items()})]
        amplified = max(1.0, 1e-3 * condition) if name in INVERSE else 1.0
        double = worst(found[0], right) / amplified
        yield name, double, worst(found[1], exact) if len(found) > 1 else 0.0


def worst(found: Any, right: list[Any]) -> float:
    """Return the largest error of all outputs."""
    outputs = found if isinstance(found, tuple) else (found,)
    return max(pool.error(x, y) for x, y in zip(outputs, right, strict=True))


def robots(names: Iterable[str], states: int) -> dict[str, Any]:
    """Return the worst error of each function on each robot, in both precisions."""
    found: dict[str, Any] = {}
    functions = [name for group in GROUPS.values() for name in group]
    for name in names:
        mine: dict[str, list[float]] = {}
        for base in ({}, {"root_joint": pin.JointModelFreeFlyer()}):
            model = pc.load(name, **base)
            rng = np.random.default_rng(len(name))
            pin.seed(len(name))
            for _ in range(states):
                for function, *pair in errors(model, pc.randomConfiguration(model), rng, functions, forced=False):
                    mine[function] = [max(x, y) for x, y in zip(mine.get(function, [0.0, 0.0]), pair, strict=True)]
        found[name] = mine
        print(f"{name:28} " + " ".join(f"{max(pair[k] for pair in mine.values()):.0e}" for k in (0, 1)), flush=True)
    return found


def mechanisms(count: int) -> Iterator[tuple[str, pc.ClusterModel, np.ndarray]]:
    """Yield random mechanisms by turns: trees, loops, families of linkages, gears and differentials, all assembled."""
    others = [(name, make) for name, make in loop_mechanisms.MECHANISMS.items() if not name.startswith("robot")]
    for i in range(count):
        kind, seed = i % 10, 1000 + i
        if kind == 9:
            name, make = others[i // 10 % len(others)]
            sample = next(iter(make(np.random.default_rng(seed), 1)))
            yield name, sample.model, sample.poses[0]
            continue
        key: pool.Key = (
            f"tree-{seed}" if kind < 4 else seed if kind < 7 else f"{('planar', 'spatial')[kind - 7]}-{seed}"
        )
        case = pool.case.__wrapped__(key)  # they are not kept
        rng = np.random.default_rng(zlib.crc32(str(key).encode()))
        yield ("trees", "loops", "families")[(kind >= 4) + (kind >= 7)], case.model, case.pose(rng)


def fuzz(count: int) -> dict[str, Any]:
    """Return how many random mechanisms there were of each kind, which were refused, and the worst errors."""
    forced = [name for name, what in tracing.FUNCTIONS.items() if what.forced]
    derivatives = [name for name in forced if name not in ("rnea", "aba")]
    rest = [
        name for name, what in tracing.FUNCTIONS.items()
        if name not in forced and name != "tangent" and what.about != "contacts"
    ]  # fmt: skip
    found: dict[str, Any] = {"kinds": {}, "floating": 0, "loops": 0, "refused": [], "worst": {}, "missed": []}
    for i, (kind, model, q) in enumerate(mechanisms(count)):
        rng = np.random.default_rng(i)
        found["kinds"][kind] = found["kinds"].get(kind, 0) + 1
        found["floating"] += any("FreeFlyer" in j.shortname() for j in model.own_tree.joints)
        found["loops"] += bool(model.closures)
        mine = ["rnea", "aba", derivatives[i % len(derivatives)], *(rest[(2 * i + k) % len(rest)] for k in range(2))]
        try:
            for name, double, _ in errors(model, q, rng, mine, forced=True):
                found["worst"][name] = max(double, found["worst"].get(name, 0.0))
                if not double < LIMIT:
                    found["missed"].append(f"{name} on {i} ({kind}): {double:.0e}")
        except pc.NotAvailableError as error:
            found["refused"].append(f"{i} ({kind}): {error}")
        if i % 50 == 49:
            print(f"{i + 1} mechanisms, worst {max(found['worst'].values()):.0e}", flush=True)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mechanisms", type=int, default=1000)
    parser.add_argument("--states", type=int, default=2, help="random states per robot and base")
    parser.add_argument("--quick", action="store_true", help="a few of both; writes nothing without --output")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        names = ["mit_humanoid_leg", "four_bar"] if chosen.quick else pc.robots()
        results = {
            "machine": timing.machine(), "states": chosen.states,
            "robots": robots(names, 1 if chosen.quick else chosen.states),
            "fuzz": fuzz(10 if chosen.quick else chosen.mechanisms),
        }  # fmt: skip
    fuzzed = results["fuzz"]
    print(f"refused: {len(fuzzed['refused'])}; limits are missed by: {', '.join(fuzzed['missed']) or 'nothing'}")
    print(f"{time.perf_counter() - start:.0f} s")
    output = chosen.output or (None if chosen.quick else RESULTS)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
