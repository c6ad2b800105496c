"""Measure what a control loop calls besides dynamics: ``python benchmarks/everyday.py [--quick] [--robots NAME ...]``.

Each function once, through the public Python API, against Pinocchio's function of the same name: on the robot without
rotors (``baselines.armature_model``), or on the spanning tree where the loops leave no such robot.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters.approximations.armature import independent_q
from pin_clusters.files import readers as loaders
from pin_clusters.verification.baselines import armature_model
from pin_clusters.verification.timing import Call, interleaved

RESULTS = Path(__file__).parent / "results" / "everyday.json"
SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
SOLO12 = SHARE / "solo_description" / "robots" / "solo12.urdf"
ROBOTS = ("mini_cheetah", "mit_humanoid", "jvrc1", "teleop_arm", "four_bar", "tello", "cassie_leg")
FULL = {"repeats": 41, "block": 2e-3}
QUICK = {"repeats": 9, "block": 5e-4}

FUNCTIONS: dict[str, str] = {
    "forwardKinematics": "qva",
    "updateFramePlacements": "",
    "computeJointJacobians": "q",
    "getFrameJacobian": "fr",
    "computeFrameJacobian": "qfr",
    "computeJointJacobiansTimeVariation": "qv",
    "getFrameJacobianTimeVariation": "fr",
    "centerOfMass": "qva",
    "jacobianCenterOfMass": "q",
    "computeCentroidalMap": "q",
    "computeCentroidalMomentum": "qv",
    "ccrba": "qv",
    "computeCentroidalMomentumTimeVariation": "qva",
    "computeAllTerms": "qv",
    "rnea": "qva",
    "aba": "qva",
    "crba": "q",
    "integrate": "qv",
}
"""What each takes besides model and data: q, v, a, a frame, a reference frame. ``integrate`` takes no data."""


def solo12() -> pc.ClusterModel:
    """Return solo12 of example-robot-data with a rotor on each of its joints."""
    tree = pin.buildModelFromUrdf(str(SOLO12), pin.JointModelFreeFlyer())
    ball = pin.Inertia(0.05, np.zeros(3), 4e-6 * np.eye(3))
    return pc.ClusterModel(tree, [pc.Rotor(name, 9.0, inertia=ball) for name in list(tree.names)[2:]], name="solo12")


def rival(model: pc.ClusterModel, q: np.ndarray, *rates: np.ndarray) -> tuple[pin.Model, tuple[np.ndarray, ...]]:
    """Return what Pinocchio is given: a model and the same state of it."""
    if not model.closures:
        try:
            tree = armature_model(model, "diagonal")
        except pc.ModelError:
            pass  # dependent joints that are no rotors
        else:
            return tree, (np.ascontiguousarray(q[independent_q(model, tree)]), *rates)
    data, (v, a) = model.createData(), rates
    v_tree, a_tree = pc.spanning_velocity(model, data, q, v), pc.spanning_acceleration(model, data, q, v, a)
    return model.tree, (q, v_tree, a_tree)


def calls(package: Any, model: Any, state: tuple[np.ndarray, ...], frame: int) -> dict[str, Call]:
    """Return the call of each function, all on one data, which holds results of the state."""
    data = model.createData()
    given = dict(zip("qvafr", (*state, frame, pin.LOCAL_WORLD_ALIGNED), strict=True))
    found: dict[str, Call] = {}
    for name, takes in FUNCTIONS.items():
        where = (model,) if name == "integrate" else (model, data)
        found[name] = getattr(package, name), (*where, *(given[x] for x in takes))
        found[name][0](*found[name][1])
    return found


def measure(model: pc.ClusterModel, *, repeats: int, block: float) -> dict[str, Any]:
    """Time all functions of a robot.

    Returns:
        ``times`` of both; ``ratio`` to Pinocchio per function; ``once``: of each function one call, [us].
    """
    rng = np.random.default_rng(0)
    pin.seed(0)
    q, v, a = pc.randomConfiguration(model), 0.1 * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    tree, state = rival(model, q, v, a)
    ours = calls(pc, model, (q, v, a), model.nframes - 1)
    theirs = calls(pin, tree, state, tree.nframes - 1)
    both = {f"pc.{name}": call for name, call in ours.items()} | {f"pin.{name}": call for name, call in theirs.items()}
    t = interleaved(both, repeats=repeats, block=block)
    return {
        "nv": model.nv,
        "nv_tree": model.tree.nv,
        "rival": "armature" if tree is not model.tree else "spanning tree",
        "times": {name: timing.number(x) for name, x in t.items()},
        "ratio": {name: round(t[f"pc.{name}"].ratio(t[f"pin.{name}"]), 3) for name in FUNCTIONS},
        "once": {p: round(1e6 * sum(t[f"{p}.{name}"].median for name in FUNCTIONS), 2) for p in ("pc", "pin")},
    }


def show(robot: str, found: dict[str, Any]) -> None:
    """Print the numbers of one robot."""
    print(f"\n{robot}: nv = {found['nv']} of {found['nv_tree']}; Pinocchio on the {found['rival']}")
    print(f"  {'':40} {'pc':>9} {'pin':>9} {'ratio':>7}")
    for name, ratio in found["ratio"].items():
        mine, other = (found["times"][f"{p}.{name}"]["median_us"] for p in ("pc", "pin"))
        print(f"  {name:40} {mine:9.2f} {other:9.2f} {ratio:7.2f}")
    print(f"  {'all of them once':40} {found['once']['pc']:9.2f} {found['once']['pin']:9.2f}")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    known = [*(["solo12"] if SOLO12.exists() else []), *ROBOTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=known, help=f"of {', '.join(known)}")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/everyday.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.robots if name not in {*known, *loaders.robots()}]
    if unknown:
        parser.error(f"unknown robot {unknown[0]!r}; known: {', '.join(known)}")
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = solo12() if name == "solo12" else loaders.load(name)
        results["robots"][name] = measure(model, **effort)
        show(name, results["robots"][name])
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    if output is not None:
        print(f"\nwritten: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
