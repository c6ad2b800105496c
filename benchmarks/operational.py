"""Measure operational space, input matrices, hybrid dynamics, contacts: ``python benchmarks/operational.py [--quick]``.

Through the public Python API, four feet or hands per robot. Pinocchio gets the approximate robot
(``baselines.armature_model``) and its shortest ways there; exact rivals are projection and forces one by one, the
latter (eUFM) with projection and, compiled as all else, with ``pc.aba``. Chains stand beside what was published.

The longest chain takes 8 GB: a ``pin.Data`` has four tables of nv^3 numbers, and there are two while it is made.
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
from pin_clusters.verification import baselines
from pin_clusters.verification.timing import Call, interleaved

RESULTS = Path(__file__).parent / "results" / "operational.json"
ROBOTS = ("mini_cheetah", "mit_humanoid")
LENGTHS, QUICK_LENGTHS = (50, 100, 200, 350, 500), (10, 20)
"""Of chains whose slope is measured."""
INPUTS, QUICK_INPUTS = (1, 10, 50), (1, 5)
"""Of chains whose input matrix is measured."""
PUBLISHED: dict[int | str, dict[str, float]] = {
    50: {"one / aba": 1.84, "all / aba": 1.82, "forces / one": 0.84, "forces / all": 15.6},
    "mit_humanoid": {"all / aba": 1.52, "forces / all": 16.3},
}
"""Kroeg, Gattringer and Mueller: chain of 50 links; humanoid of 24 velocities, 18 motors and 8 contact points."""
FULL = {"repeats": 41, "block": 2e-3}
QUICK = {"repeats": 5, "block": 5e-4}
RATIOS = {
    "inverse operational inertia / Pinocchio's shortest way": ("osim", "pin.shortest"),
    "projection / inverse operational inertia": ("projection", "osim"),
    "input matrix / aba": ("iim", "aba"),
    "forces one by one, by projection / input matrix": ("one by one", "iim"),
    "forces one by one, by aba / input matrix": ("forces", "iim"),
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
        "forces": (one_by_one, (model, data, q, pc.actuation_matrix(model, data, q), points)),
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


def one_by_one(
    model: pc.ClusterModel, data: pc.ClusterData, q: np.ndarray, B: np.ndarray, points: list[int]
) -> np.ndarray:
    """Return M^-1 [B, J'] by one run of ``pc.aba`` without inputs and one per input, as lean as Python can be.

    Forces at points become torques by Jacobians, which is quicker than external forces.
    """
    rest = np.zeros(model.nv)
    rows = [B.T, *(pc.computeFrameJacobian(model, data, q, f, pin.LOCAL)[:3] for f in points)]
    free = pc.aba(model, data, q, rest, rest)
    inputs = np.ascontiguousarray(np.concatenate(rows))
    return np.array([pc.aba(model, data, q, rest, tau) for tau in inputs]).T - free[:, None]


def chain(n: int) -> pc.ClusterModel:
    """Return the geared chain of the loaders with ``Rotor`` in the place of bodies: half as many joints in its tree."""
    tree, gears = loaders.chains.geared_chain(n)
    links, ids = pin.Model(), [0]
    links.gravity = tree.gravity
    for gear in gears:
        j = tree.getJointId(gear.link)
        ids.append(links.addJoint(ids[-1], tree.joints[j], tree.jointPlacements[j], gear.link))
        links.appendBodyToJoint(ids[-1], tree.inertias[j], pin.SE3.Identity())
        links.addJointFrame(ids[-1])
    axial = float(tree.inertias[tree.getJointId(gears[0].rotor)].inertia[2, 2])
    return pc.ClusterModel(links, [pc.Rotor(gear.link, gear.ratio, axial_inertia=axial) for gear in gears])


def slope(lengths: tuple[int, ...], *, repeats: int, block: float) -> dict[str, Any]:
    """Time the inertia of two frames of chains: how time grows with their length."""
    found: dict[str, Call] = {}
    for n in lengths:
        model = chain(n)
        data, q = model.createData(), pc.neutral(model)
        found[f"osim {n}"] = pc.inverse_operational_inertia, (model, data, q, [model.nframes - 1, model.nframes // 2])
        found[f"aba {n}"] = pc.aba, (model, data, q, np.ones(n), np.ones(n))
    t = interleaved(found, repeats=repeats, block=block)
    return {
        "lengths": lengths,
        "slope": {
            name: round(float(np.polyfit(np.log(lengths), np.log([t[f"{name} {n}"].median for n in lengths]), 1)[0]), 3)
            for name in ("osim", "aba")
        },
        "times": {name: timing.number(x) for name, x in t.items()},
    }


def inputs(n: int, *, repeats: int, block: float) -> dict[str, Any]:
    """Time the input matrix of a chain, of one input and of all of them, beside forces one by one."""
    model = chain(n)
    data, q = model.createData(), pc.neutral(model)
    one, every = np.eye(n, 1), np.eye(n)
    found: dict[str, Call] = {
        "aba": (pc.aba, (model, data, q, np.zeros(n), np.zeros(n))),
        "one": (pc.inverse_input_matrix, (model, data, q, one)),
        "all": (pc.inverse_input_matrix, (model, data, q, every)),
        "forces, one": (one_by_one, (model, data, q, one, [])),
        "forces, all": (one_by_one, (model, data, q, every, [])),
    }
    t = interleaved(found, repeats=repeats, block=block)
    ratios = {
        "one / aba": t["one"].ratio(t["aba"]),
        "all / aba": t["all"].ratio(t["aba"]),
        "forces / one": t["forces, one"].ratio(t["one"]),
        "forces / all": t["forces, all"].ratio(t["all"]),
    }
    if n > 1:  # what one more column takes
        more = (t["all"].samples - t["one"].samples) / (n - 1) / t["aba"].samples
        ratios["column / aba"] = float(np.median(more))
    return {"ratio": {k: round(x, 4) for k, x in ratios.items()}, "times": {k: timing.number(x) for k, x in t.items()}}


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
    results["chains"] = found = slope(QUICK_LENGTHS if chosen.quick else LENGTHS, **effort)
    print("\nchains:", {key: x for key, x in found.items() if key != "times"})
    results["inputs"] = {n: inputs(n, **effort) for n in (QUICK_INPUTS if chosen.quick else INPUTS)}
    print(*(f"inputs, {n} links: {found['ratio']}" for n, found in results["inputs"].items()), sep="\n")
    results["published"] = PUBLISHED
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
