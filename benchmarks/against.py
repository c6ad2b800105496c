"""Time two states of this package against each other: ``python benchmarks/against.py OLD NEW [--robots NAME ...]``.

``OLD`` and ``NEW`` are folders in which ``pin_clusters`` lies: checkouts, or wheels taken apart. Both are imported in
one process, each under a name of its own, and what a control loop calls is timed in alternation
(``pin_clusters/verification/timing.py``), on models and data made anew for each round: where memory happens to lie
changes times by a few percent. Printed is the ratio NEW / OLD, the median over the rounds of each round's minima.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

from pin_clusters.verification.timing import Call, interleaved

ROBOTS = ("mini_cheetah", "mit_humanoid", "jvrc1", "teleop_arm", "four_bar", "tello", "cassie_leg", "digit_leg")
STATE = {
    "rnea": "qva", "aba": "qva", "crba": "q", "computeMinverse": "q", "nonLinearEffects": "qv",
    "computeGeneralizedGravity": "q", "computeStaticTorque": "qx", "computeKineticEnergy": "qv",
    "computePotentialEnergy": "q", "computeMechanicalEnergy": "qv", "computeCoriolisMatrix": "qv",
    "computeRNEADerivatives": "qva", "computeABADerivatives": "qva", "computeGeneralizedGravityDerivatives": "q",
    "computeStaticTorqueDerivatives": "qx", "computeCentroidalDynamicsDerivatives": "qva",
    "computeJointTorqueRegressor": "qva", "computeStaticRegressor": "q", "computeKineticEnergyRegressor": "qv",
    "computePotentialEnergyRegressor": "q", "forwardKinematics": "qva", "updateFramePlacements": "",
    "framesForwardKinematics": "q", "computeJointJacobians": "q", "computeJointJacobiansTimeVariation": "qv",
    "computeJointJacobian": "qj", "getJointJacobian": "jr", "computeFrameJacobian": "qfr", "getFrameJacobian": "fr",
    "getFrameJacobianTimeVariation": "fr", "centerOfMass": "qva", "jacobianCenterOfMass": "q",
    "computeCentroidalMap": "q", "computeCentroidalMomentum": "qv", "computeCentroidalMomentumTimeVariation": "qva",
    "ccrba": "qv", "dccrba": "qv", "computeAllTerms": "qv", "computeForwardKinematicsDerivatives": "qva",
    "getFrameVelocityDerivatives": "fr", "getFrameAccelerationDerivatives": "fr",
    "getCenterOfMassVelocityDerivatives": "", "computeJointKinematicHessians": "q", "getJointKinematicHessian": "jr",
    "getFrameKinematicHessian": "fr", "inverse_operational_inertia": "qF", "hybrid_dynamics": "qvaaH",
    "constraintDynamics": "qvaCD", "coupling_jacobian": "q", "spanning_velocity": "qv", "actuation_matrix": "q",
    "rotor_velocity": "qv", "passive_torque": "qv",
}  # fmt: skip
"""What each takes besides model and data. Letters: see ``calls``."""
MOVES = {"integrate": "qv", "difference": "qp", "project": "q", "neutral": ""}
BATCH = {
    "rnea": "qva", "aba": "qva", "crba": "q", "computeMinverse": "q", "forwardKinematics": "q", "integrate": "qv",
    "computeRNEADerivatives": "qva", "computeABADerivatives": "qva",
}  # fmt: skip
ROWS = 128


def package(folder: Path, name: str) -> ModuleType:
    """Import the package of a folder under a name of its own."""
    at = folder / "pin_clusters"
    spec = importlib.util.spec_from_file_location(name, at / "__init__.py", submodule_search_locations=[str(at)])
    if spec is None or spec.loader is None or not at.is_dir():
        raise SystemExit(f"{folder} has no folder pin_clusters")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def robot(pc: ModuleType, name: str) -> Any:
    """Return a shipped robot of a package, of its own files."""
    others = {key: sys.modules.pop(key) for key in list(sys.modules) if key.partition(".")[0] == "pin_clusters"}
    sys.modules["pin_clusters"] = pc
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pc.load(name)
    finally:
        sys.modules.update(others)


def calls(pc: ModuleType, name: str, state: dict[str, Any]) -> dict[str, Call]:
    """Return the call of each function, on a model and a data of their own, at a state that both packages share."""
    model = robot(pc, name)
    data, found = model.createData(), {}
    joint = model.getJointId(model.independent_joints[-1])
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, joint, pin.LOCAL)]
    given = {
        **state, "j": joint, "f": model.nframes - 1, "r": pin.LOCAL_WORLD_ALIGNED, "F": [model.nframes - 1],
        "H": model.independent_joints[-1:], "C": contacts, "D": [c.createData() for c in contacts],
    }  # fmt: skip
    rows = {x: np.ascontiguousarray(np.tile(given[x], (ROWS, 1))) for x in "qva"}
    pc.forwardKinematics(model, data, given["q"], given["v"], given["a"])
    for function, takes in STATE.items():
        found[function] = getattr(pc, function), (model, data, *(given[x] for x in takes))
    for function, takes in MOVES.items():
        found[function] = getattr(pc, function), (model, *(given[x] for x in takes))
    for function, takes in BATCH.items():
        found[f"batch.{function}"] = partial(getattr(pc.batch, function), threads=1), (model, *(rows[x] for x in takes))
    found["createData"] = model.createData, ()
    found["100 steps of simulate"] = pc.simulate, (model, given["q"], 0.0 * given["v"], 0.0 * given["v"], 0.01, 1e-4)
    usable = {}
    for function, call in found.items():
        try:
            call[0](*call[1])
        except Exception as error:  # of one package or of both: such a function is left out, and said
            print(f"  {pc.__name__}.{function}: {type(error).__name__}: {str(error)[:80]}")
        else:
            usable[function] = call
    return usable


def state(pc: ModuleType, name: str) -> dict[str, Any]:
    """Return a state of a robot near its neutral pose, by letter."""
    model, rng = robot(pc, name), np.random.default_rng(0)
    v, a = 0.05 * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    q = pc.integrate(model, pc.neutral(model), v)
    return {"q": q, "v": v, "a": a, "p": pc.integrate(model, q, v), "x": rng.standard_normal((model.njoints, 6))}


def measure(old: ModuleType, new: ModuleType, name: str, *, rounds: int, repeats: int, block: float) -> dict[str, Any]:
    """Return of each function the ratio of each round, and the least time of the new package."""
    shared, ratios, least = state(new, name), {}, {}
    rng, kept = np.random.default_rng(0), []
    for _ in range(rounds):
        # so that no two rounds find the same gaps
        kept += [np.empty(size) for size in rng.integers(1, 20_000, 50)]
        # whose data is made first is where memory is good
        order = (old, new) if len(next(iter(ratios.values()), ())) % 2 else (new, old)
        of = {pc.__name__: calls(pc, name, shared) for pc in order}
        for function in of[new.__name__].keys() & of[old.__name__].keys():
            pair = {pc.__name__: of[pc.__name__][function] for pc in order}
            t = interleaved(pair, repeats=repeats, block=block)
            ratios.setdefault(function, []).append(t[new.__name__].minimum / t[old.__name__].minimum)
            least[function] = min(least.get(function, np.inf), t[new.__name__].minimum)
    return {key: (sorted(ratios[key]), least[key]) for key in sorted(ratios, key=lambda x: -np.median(ratios[x]))}


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--block", type=float, default=1e-3, help="seconds")
    parser.add_argument("--above", type=float, default=1.03, help="print functions whose ratio is above this")
    chosen = parser.parse_args(arguments)
    if chosen.old.resolve() == chosen.new.resolve():
        parser.error(f"OLD and NEW are one folder, {chosen.old}")
    old, new = package(chosen.old, "pin_clusters_old"), package(chosen.new, "pin_clusters_new")
    for pc in (old, new):
        print(f"{pc.__name__}: {Path(str(pc.__file__)).parent}")
    effort = {"rounds": chosen.rounds, "repeats": chosen.repeats, "block": chosen.block}
    for name in chosen.robots:
        found = measure(old, new, name, **effort)
        medians = {key: float(np.median(ratios)) for key, (ratios, _) in found.items()}
        print(
            f"{name}: {len(found)} functions, ratio new / old: median {np.median(list(medians.values())):.3f}, "
            f"highest {max(medians.values()):.3f}",
            flush=True,
        )
        for key, (ratios, least) in found.items():
            if medians[key] > chosen.above:
                rounds = ", ".join(f"{ratio:.3f}" for ratio in ratios)
                print(f"  {key:40} {medians[key]:6.3f}  ({rounds}; {1e6 * least:.2f} us)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
