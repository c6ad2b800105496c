"""Measure the accuracy against projection of Pinocchio: ``python benchmarks/accuracy.py [--states N]``.

Every shipped robot without closed loops, on a fixed and on a floating base, under random gravity: the worst relative
error over random states. The oracle has each rotor as a body (``pin_clusters.model``) and projects Pinocchio's
spanning tree, ``G' rnea`` and ``G' M G``; forward dynamics and inverses are judged by their residual (backward error),
next to Pinocchio's own on the spanning tree.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters.model.expansion import expand

RESULTS = Path(__file__).parent / "results" / "accuracy.json"
GRAVITIES = 4


def relative(x: np.ndarray | float, reference: np.ndarray | float) -> float:
    """Return the largest difference over the largest entry of the reference."""
    return float(np.abs(np.asarray(x) - reference).max() / np.abs(reference).max())


def backward(M: np.ndarray, a: np.ndarray, h: np.ndarray, tau: np.ndarray) -> float:
    """Return ``|M a + h - tau| / (|M| |a| + |h| + |tau|)``, largest entries."""
    size = np.abs(M).max() * np.abs(a).max() + np.abs(h).max() + np.abs(tau).max()
    return float(np.abs(M @ a + h - tau).max() / size)


def inverse_error(inverse: np.ndarray, M: np.ndarray) -> float:
    """Return ``|Minv M - 1| / cond(M)``."""
    return float(np.abs(inverse @ M - np.eye(len(M))).max() / np.linalg.cond(M))


def one_state(model: pc.ClusterModel, rng: np.random.Generator) -> dict[str, float]:
    """Return the errors of all algorithms at one random state."""
    data, full = model.createData(), expand(model)
    tree, G = full.tree, full.G
    work = tree.createData()
    q = pc.randomConfiguration(model)
    v, a, tau = rng.normal(size=(3, model.nv))
    forces = rng.normal(size=(model.njoints, 6))
    qf = full.configuration(q)
    M_tree = pin.crba(tree, work, qf)
    M = G.T @ M_tree @ G
    h = G.T @ pin.nonLinearEffects(tree, work, qf, G @ v)
    h_forced = G.T @ pin.rnea(tree, work, qf, G @ v, 0.0 * (G @ v), full.fext(forces))
    found = {
        "rnea": relative(pc.rnea(model, data, q, v, a), M @ a + h),
        "rnea, fext": relative(pc.rnea(model, data, q, v, a, forces), M @ a + h_forced),
        "nonLinearEffects": relative(pc.nonLinearEffects(model, data, q, v), h),
        "crba": relative(pc.crba(model, data, q), M),
        "kinetic energy": relative(pc.computeKineticEnergy(model, data, q, v), 0.5 * v @ M @ v),
        "aba (residual)": backward(M, pc.aba(model, data, q, v, tau), h, tau),
        "aba, fext (residual)": backward(M, pc.aba(model, data, q, v, tau, forces), h_forced, tau),
        "computeMinverse (residual)": inverse_error(pc.computeMinverse(model, data, q), M),
    }
    tau_tree = rng.normal(size=tree.nv)
    found["pin.aba on the tree (residual)"] = backward(
        M_tree, pin.aba(tree, work, qf, G @ v, tau_tree), pin.nonLinearEffects(tree, work, qf, G @ v), tau_tree
    )
    found["pin.computeMinverse on the tree (residual)"] = inverse_error(pin.computeMinverse(tree, work, qf), M_tree)
    return found


def worst(robot: str, states: int) -> dict[str, float]:
    """Return the worst errors of a robot, both bases and several gravities together."""
    rng, errors = np.random.default_rng(len(robot)), {}
    pin.seed(len(robot))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        models = [pc.load(robot, root_joint=None), pc.load(robot, root_joint=pin.JointModelFreeFlyer())]
        for model in models:
            for _ in range(GRAVITIES):
                turned = model.with_gravity(rng.normal(size=3) * 9.81)
                for _ in range(-(-states // GRAVITIES)):
                    for name, error in one_state(turned, rng).items():
                        errors[name] = max(errors.get(name, 0.0), error)
    return errors


def without_loops() -> list[str]:
    """Return the shipped robots without closed loops; ``accuracy_loops.py`` has the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return [robot for robot in pc.robots() if not pc.load(robot).closures]


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=100, help="random states per robot and base")
    states = parser.parse_args().states
    found = {robot: worst(robot, states) for robot in without_loops()}
    names = next(iter(found.values()))
    width = max(map(len, names))
    print(" " * width, *(f"{robot:>20}" for robot in found))
    for name in names:
        print(f"{name:{width}}", *(f"{found[robot][name]:20.1e}" for robot in found))
    RESULTS.parent.mkdir(exist_ok=True)
    text = json.dumps({"machine": timing.machine(), "states_per_robot_and_base": states, "worst": found}, indent=1)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
