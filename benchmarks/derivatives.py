"""Measure derivatives and regressors: ``python benchmarks/derivatives.py [--quick] [--robots NAME ...]``.

Each function through the public Python API against Pinocchio's of the same name, on the approximate robot
(``baselines.armature_model``), or on the spanning tree, cut open, where loops leave no such robot. Then rows of states
on one thread over one call of Pinocchio, which has no batches of derivatives; and differences of ``pc.aba`` along
``pc.integrate`` over ``pc.computeABADerivatives``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import everyday
import numpy as np
import operational
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters import batch
from pin_clusters.files import readers as loaders
from pin_clusters.verification.timing import Call, Timing, interleaved

RESULTS = Path(__file__).parent / "results" / "derivatives.json"
ARMATURE = ("mini_cheetah", "mit_humanoid", "jvrc1")
"""Robots that Pinocchio can approximate: they have goals, and contacts."""
ROBOTS = (*ARMATURE, "tello", "cassie_leg", "four_bar")
FULL = {"repeats": 41, "block": 2e-3, "rows": 256}
QUICK = {"repeats": 5, "block": 2e-4, "rows": 32}

FUNCTIONS: dict[str, str] = {
    "computeRNEADerivatives": "qva",
    "computeABADerivatives": "qva",
    "computeGeneralizedGravityDerivatives": "q",
    "computeCoriolisMatrix": "qv",
    "computeCentroidalDynamicsDerivatives": "qva",
    "computeForwardKinematicsDerivatives": "qva",
    "getJointVelocityDerivatives": "jr",
    "getJointAccelerationDerivatives": "jr",
    "getFrameVelocityDerivatives": "fr",
    "getFrameAccelerationDerivatives": "fr",
    "getCenterOfMassVelocityDerivatives": "",
    "computeJointJacobians": "q",
    "computeJointKinematicHessians": "",
    "getJointKinematicHessian": "jr",
    "dccrba": "qv",
    "computeCentroidalMapTimeVariation": "qv",
    "dIntegrate": "qv",
    "dDifference": "qm",
    "computeJointTorqueRegressor": "qva",
    "computeStaticRegressor": "q",
    "computeKineticEnergyRegressor": "qv",
    "computePotentialEnergyRegressor": "q",
}
"""What each takes besides model and data: q, v, a, a joint, a frame, a reference frame, q moved by v."""
GOALS = {
    "computeRNEADerivatives": 0.15, "computeABADerivatives": 0.25, "computeCoriolisMatrix": 0.40,
    "computeCentroidalDynamicsDerivatives": 0.35, "computeJointTorqueRegressor": 0.40,
}  # fmt: skip
"""Largest ratios of the first three robots."""
OPEN_TREE, DIFFERENCES = 0.5, 20.0
"""Largest ratio of ``tello``; smallest one of differences."""
ROWS = {"computeRNEADerivatives": 0.08, "computeABADerivatives": 0.15}
"""Largest ratios of a row to Pinocchio's call."""


def calls(package: Any, model: Any, state: tuple[np.ndarray, ...]) -> dict[str, Call]:
    """Return the call of each function, all on one data, which holds results of the state."""
    data, (q, v, _) = model.createData(), state
    given = dict(zip("qva", state, strict=True))
    given |= {"m": package.integrate(model, q, 0.1 * v), "f": model.nframes - 1, "j": model.njoints - 1}
    given["r"] = pin.LOCAL_WORLD_ALIGNED
    found: dict[str, Call] = {}
    for name, takes in FUNCTIONS.items():
        where = (model,) if name in ("dIntegrate", "dDifference") else (model, data)
        found[name] = getattr(package, name), (*where, *(given[x] for x in takes))
        found[name][0](*found[name][1])
    return found


def touching(package: Any, model: Any, names: list[str], state: tuple[np.ndarray, ...]) -> dict[str, Call]:
    """Return derivatives of dynamics and of an impact with contacts of joints with the world."""
    data, (q, v, tau) = model.createData(), state
    tree = model.tree if package is pc else model
    joints = [tree.getJointId(name) for name in names]
    models, datas = operational.on_tips(tree, joints, pin.ContactType.CONTACT_3D)
    if package is pc:  # items of Pinocchio's lists go the way of Python
        models = [pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, j, pin.LOCAL) for j in joints]
        datas = [x.createData() for x in models]
    package.initConstraintDynamics(model, data, models, datas)
    package.constraintDynamics(model, data, q, v, tau, models, datas)
    other = model.createData()
    package.initConstraintDynamics(model, other, models, datas)
    exactly = pin.ProximalSettings(1e-12, 0.0, 1)
    package.impulseDynamics(model, other, q, v, models, datas, 0.0, exactly)
    return {
        "computeConstraintDynamicsDerivatives": (
            package.computeConstraintDynamicsDerivatives, (model, data, models, datas)
        ),
        "computeImpulseDynamicsDerivatives": (
            package.computeImpulseDynamicsDerivatives, (model, other, models, datas, 0.0, exactly)
        ),
    }  # fmt: skip


def by_differences(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Call:
    """Return what takes central differences of forward dynamics."""
    data, step = model.createData(), 1e-5

    def differences() -> tuple[np.ndarray, np.ndarray]:
        by_q, by_v = np.empty((2, model.nv, model.nv))
        for k in range(model.nv):
            e = np.zeros(model.nv)
            e[k] = step
            ahead, behind = pc.integrate(model, q, e), pc.integrate(model, q, -e)
            by_q[:, k] = pc.aba(model, data, ahead, v, tau) - pc.aba(model, data, behind, v, tau)
            by_v[:, k] = pc.aba(model, data, q, v + e, tau) - pc.aba(model, data, q, v - e, tau)
        return by_q / (2.0 * step), by_v / (2.0 * step)

    return differences, ()


def in_rows(model: pc.ClusterModel, rows: int, q: np.ndarray) -> dict[str, Call]:
    """Return calls of batches on one thread, of states near q."""
    rng, found = np.random.default_rng(1), {}
    size = 0.05 if model.closures else 0.5
    many = batch.integrate(model, np.tile(q, (rows, 1)), size * rng.standard_normal((rows, model.nv)))
    v, x = rng.standard_normal((2, rows, model.nv))
    for name in ("computeRNEADerivatives", "computeABADerivatives"):
        f = getattr(batch, name)
        out = f(model, many, v, x)
        found[name] = (lambda f=f, out=out: f(model, many, v, x, threads=1, out=out)), ()
    return found


def measure(model: pc.ClusterModel, *, repeats: int, block: float, rows: int) -> dict[str, Any]:
    """Time all functions of a robot.

    Returns:
        ``times`` of both; ``ratio`` to Pinocchio per function; ``rows``: of a row to Pinocchio's call;
        ``differences``: over ``pc.computeABADerivatives``.
    """
    rng = np.random.default_rng(0)
    pin.seed(0)
    q = pc.randomConfiguration(model)
    if model.closures:
        q = pc.integrate(model, model.q_reference, 0.1 * rng.standard_normal(model.nv))
    v, a = 0.1 * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    tree, state = everyday.rival(model, q, v, a)
    both = {f"pc.{name}": call for name, call in calls(pc, model, (q, v, a)).items()}
    both |= {f"pin.{name}": call for name, call in calls(pin, tree, state).items()}
    names = list(FUNCTIONS)
    if tree is not model.tree:
        ends = [tree.names[j] for j in operational.tips(tree)]
        for package, robot, at in ((pc, model, (q, v, a)), (pin, tree, state)):
            found = touching(package, robot, ends, at)
            both |= {f"{'pc' if package is pc else 'pin'}.{name}": call for name, call in found.items()}
        names += list(found)
    t = interleaved(both, repeats=repeats, block=block)
    theirs = {f"pin.{name}": both[f"pin.{name}"] for name in ("computeRNEADerivatives", "computeABADerivatives")}
    batches = in_rows(model, rows, q)
    b = interleaved({**theirs, **batches}, repeats=repeats, block=block)
    of_row = {name: Timing(b[name].samples / rows, b[name].calls) for name in batches}
    d = interleaved(
        {"differences": by_differences(model, q, v, a), "exact": both["pc.computeABADerivatives"]},
        repeats=repeats, block=block,
    )  # fmt: skip
    return {
        "nv": model.nv,
        "nv_tree": model.tree.nv,
        "rival": "armature" if tree is not model.tree else "spanning tree",
        "times": {name: timing.number(x) for name, x in t.items()}
        | {f"batch.{name}": timing.number(x) for name, x in of_row.items()},
        "ratio": {name: round(t[f"pc.{name}"].ratio(t[f"pin.{name}"]), 3) for name in names},
        "rows": {name: round(x.ratio(b[f"pin.{name}"]), 3) for name, x in of_row.items()},
        "differences": round(d["differences"].ratio(d["exact"]), 1),
    }


def show(robot: str, found: dict[str, Any]) -> None:
    """Print the numbers of one robot."""
    print(f"\n{robot}: nv = {found['nv']} of {found['nv_tree']}; Pinocchio on the {found['rival']}")
    print(f"  {'':40} {'pc':>9} {'pin':>9} {'ratio':>7}")
    for name, ratio in found["ratio"].items():
        mine, other = (found["times"][f"{p}.{name}"]["median_us"] for p in ("pc", "pin"))
        print(f"  {name:40} {mine:9.2f} {other:9.2f} {ratio:7.2f}")
    for name, ratio in found["rows"].items():
        mine = found["times"][f"batch.{name}"]["median_us"]
        print(f"  {f'batch.{name}':40} {mine:9.2f} {'':>9} {ratio:7.2f}")
    print(f"  {'differences of aba / computeABADerivatives':40} {found['differences']:.1f}")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, help=f"of {', '.join(loaders.robots())}")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/derivatives.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.robots if name not in loaders.robots()]
    if unknown:
        parser.error(f"unknown robot {unknown[0]!r}; known: {', '.join(loaders.robots())}")
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = loaders.load(name)
        results["robots"][name] = measure(model, **effort)
        show(name, results["robots"][name])
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    if output is not None:
        print(f"\nwritten: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
