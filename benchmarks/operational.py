"""Measure operational space, input matrices, hybrid dynamics, contacts: ``python benchmarks/operational.py [--quick]``.

Through the public Python API, four feet or hands per robot. Pinocchio gets the approximate robot
(``baselines.armature_model``) and its shortest ways there; exact rivals are projection and forces one by one.
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
from pin_clusters import baselines, loaders
from pin_clusters.armature import independent_q
from pin_clusters.timing import Call, interleaved

RESULTS = Path(__file__).parent / "results" / "operational.json"
ROBOTS = ("mini_cheetah", "mit_humanoid")
LENGTHS, QUICK_LENGTHS = (50, 100, 200), (10, 20)
FULL = {"repeats": 41, "block": 2e-3}
QUICK = {"repeats": 5, "block": 5e-4}
RATIOS = {
    "inverse operational inertia / Pinocchio's shortest way": ("osim", "pin.shortest"),
    "projection / inverse operational inertia": ("projection", "osim"),
    "input matrix / aba": ("iim", "aba"),
    "forces one by one / input matrix": ("one by one", "iim"),
    "hybrid dynamics / aba": ("hybrid", "aba"),
    "constraintDynamics / Pinocchio's": ("contacts", "pin.contacts"),
}


def tips(tree: pin.Model) -> list[int]:
    """Return the last joints of the last four branches."""
    return [j for j in range(1, tree.njoints) if j not in list(tree.parents)][-4:]


def on_tips(tree: pin.Model, joints: list[int], kind: Any) -> tuple[Any, Any]:
    """Return contacts of joints with the world, as Pinocchio takes them."""
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for j in joints:
        models.append(pin.RigidConstraintModel(kind, tree, j, pin.LOCAL))
        datas.append(models[-1].createData())
    return models, datas


def calls(model: pc.ClusterModel) -> dict[str, Call]:
    """Return all that is timed of a robot."""
    rng = np.random.default_rng(0)
    tree, data, nv = baselines.armature_model(model, "diagonal"), model.createData(), model.nv
    theirs = tree.createData()
    q = pc.integrate(model, pc.neutral(model), 0.2 * rng.standard_normal(nv))
    q_tree, v, tau = np.ascontiguousarray(q[independent_q(model, tree)]), rng.standard_normal(nv), np.ones(nv)
    joints = tips(tree)
    names = [tree.names[j] for j in joints]
    frames, own = [model.getFrameId(n) for n in names], [tree.getFrameId(n) for n in names]
    points = (model.nframes - 1 - np.arange(8)).tolist()
    whole, flat = on_tips(tree, joints, pin.ContactType.CONTACT_6D), on_tips(tree, joints, pin.ContactType.CONTACT_3D)
    feet = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId(n), pin.LOCAL) for n in names]
    mask = np.arange(nv) % 2 == 0

    def by_jacobians() -> np.ndarray:
        inverse = pin.computeMinverse(tree, theirs, q_tree)
        J = np.vstack([pin.computeFrameJacobian(tree, theirs, q_tree, i, pin.LOCAL) for i in own])
        return np.asarray(J @ inverse @ J.T)

    work, single = baselines.projection.createData(model), baselines.unit_forces.createData(model)
    pin.initConstraintDynamics(tree, theirs, *flat)
    return {
        "aba": (pc.aba, (model, data, q, v, tau)),
        "osim": (pc.inverse_operational_inertia, (model, data, q, frames)),
        "pin.minverse": (by_jacobians, ()),
        "pin.delassus": (pin.computeDelassusMatrix, (tree, theirs, q_tree, *whole, 0.0)),
        "projection": (baselines.projection.inverse_operational_inertia, (model, work, q, frames)),
        "iim": (pc.inverse_input_matrix, (model, data, q, None, points)),
        "one by one": (baselines.unit_forces.inverse_input_matrix, (model, single, q, None, points)),
        "hybrid": (pc.hybrid_dynamics, (model, data, q, v, tau, v, mask)),
        "contacts": (pc.constraintDynamics, (model, data, q, v, tau, feet, [c.createData() for c in feet])),
        "pin.contacts": (pin.constraintDynamics, (tree, theirs, q_tree, v, tau, *flat)),
    }


def measure(model: pc.ClusterModel, *, repeats: int, block: float) -> dict[str, Any]:
    """Time one robot: all times, and the ratios that the documentation shows."""
    found = calls(model)
    for function, given in found.values():
        function(*given)
    t = interleaved(found, repeats=repeats, block=block)
    shortest = min(("pin.minverse", "pin.delassus"), key=lambda name: t[name].median)
    t["pin.shortest"] = t[shortest]
    return {
        "shortest": shortest.removeprefix("pin."),
        "inputs": len(model.rotors) + 24,
        "times": {name: timing.number(x) for name, x in t.items()},
        "ratio": {name: round(t[a].ratio(t[b]), 3) for name, (a, b) in RATIOS.items()},
    }


def chains(lengths: tuple[int, ...], *, repeats: int, block: float) -> dict[str, Any]:
    """Time chains with a geared rotor on every joint: two frames, one input, and all inputs."""
    found: dict[str, Call] = {}
    for n in lengths:
        model = loaders.load("geared_chain", n=n)
        data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        ends = [model.nframes - 1, model.nframes // 2]
        found[f"osim {n}"] = pc.inverse_operational_inertia, (model, data, q, ends)
        found[f"aba {n}"] = pc.aba, (model, data, q, v, v)
        if n <= lengths[0]:
            found["one"] = pc.inverse_input_matrix, (model, data, q, np.eye(n, 1))
            found["all"] = pc.inverse_input_matrix, (model, data, q, np.eye(n))
            single = baselines.unit_forces.createData(model)
            found["one by one, one"] = baselines.unit_forces.inverse_input_matrix, (model, single, q, np.eye(n, 1))
            found["one by one, all"] = baselines.unit_forces.inverse_input_matrix, (model, single, q, np.eye(n))
    for function, given in found.values():
        function(*given)
    t = interleaved(found, repeats=repeats, block=block)
    times = np.log([t[f"osim {n}"].median for n in lengths])
    base = t[f"aba {lengths[0]}"]
    return {
        "lengths": lengths,
        "slope": round(float(np.polyfit(np.log(lengths), times, 1)[0]), 3),
        "times": {name: timing.number(x) for name, x in t.items()},
        "one / aba": round(t["one"].ratio(base), 2),
        "all / aba": round(t["all"].ratio(base), 2),
        "one by one / all at once": round(t["one by one, all"].ratio(t["all"]), 2),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, choices=ROBOTS)
    parser.add_argument("--output", type=Path, help="JSON file (default: results/operational.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = loaders.load(name)
        results["robots"][name] = found = measure(model, **effort)
        print(f"\n{name}: Pinocchio's shortest way is by {found['shortest']}; us")
        print(*(f"  {key:16} {x['median_us']:10.2f}" for key, x in found["times"].items()), sep="\n")
        print(*(f"  {key:56} {x:8.2f}" for key, x in found["ratio"].items()), sep="\n")
    results["chains"] = found = chains(QUICK_LENGTHS if chosen.quick else LENGTHS, **effort)
    print("\nchains:", {key: x for key, x in found.items() if key != "times"})
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
