"""Without constraints everything is Pinocchio's: the robots of example-robot-data."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pin_clusters as pc
import pinocchio as pin
import pytest

import models
from tolerances import AGAINST_PINOCCHIO, BACKWARD, EXACT, backward, inverse_residual, relative

# the wheel puts its files next to Pinocchio's, and brings no loader
SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
FILES = (
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "baxter_description/urdf/baxter.urdf",
    "cassie_description/robots/cassie.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "g1_description/g1_29dof.urdf",
    "go2_description/urdf/go2.urdf",
    "human_description/urdf/human.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_description/robots/tiago.urdf",
    "ur_description/urdf/ur5_robot.urdf",
)
FLOATING = ("anymal", "cassie", "g1_", "go2", "human", "icub", "romeo", "talos")


def test_the_robots_are_there() -> None:
    """They are part of the test extra, so a missing folder must not pass as a skipped test."""
    assert SHARE.is_dir(), f"{SHARE}: pip install 'pin-clusters[test]'"
    missing = [f for f in FILES if not (SHARE / f).is_file()]
    assert not missing


@lru_cache(maxsize=1)
def load(file: str) -> pin.Model:
    floating = any(file.rsplit("/", 1)[-1].startswith(name) for name in FLOATING)
    args = (pin.JointModelFreeFlyer(),) if floating else ()
    return pin.buildModelFromUrdf(str(SHARE / file), *args)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.rsplit("/", 1)[-1].removesuffix(".urdf"))
def test_is_pinocchio_without_constraints(file: str, rng: np.random.Generator) -> None:
    tree = load(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(tree).with_gravity(rng.normal(size=3) * 8.0)
    tree = model.tree.copy()
    assert (model.nq, model.nv, len(model.clusters)) == (tree.nq, tree.nv, tree.njoints - 1)
    data, theirs = model.createData(), tree.createData()
    for _ in range(4):
        q, v, a, fext = models.random_state(model, rng)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force(f) for f in fext])
        tau = pin.rnea(tree, theirs, q, v, a, forces)
        h = pin.nonLinearEffects(tree, theirs, q, v).copy()
        M = np.triu(pin.crba(tree, theirs, q))
        M = M + np.triu(M, 1).T
        T, U = pin.computeKineticEnergy(tree, theirs, q, v), pin.computePotentialEnergy(tree, theirs, q)
        assert relative(pc.rnea(model, data, q, v, a, fext), tau) < EXACT
        assert relative(pc.nonLinearEffects(model, data, q, v), h) < EXACT
        assert relative(pc.computeGeneralizedGravity(model, data, q), pin.computeGeneralizedGravity(tree, theirs, q)) < EXACT
        assert relative(pc.crba(model, data, q), M) < EXACT
        assert abs(pc.computeKineticEnergy(model, data, q, v) - T) < EXACT * T
        assert abs(pc.computePotentialEnergy(model, data, q) - U) < EXACT * (abs(U) + T)
        own = backward(M, pin.aba(tree, theirs, q, v, tau), h, tau)
        assert backward(M, pc.aba(model, data, q, v, tau), h, tau) <= max(BACKWARD, AGAINST_PINOCCHIO * own)
        inverse = np.triu(pin.computeMinverse(tree, theirs, q))
        own = inverse_residual(inverse + np.triu(inverse, 1).T, M)
        mine = inverse_residual(pc.computeMinverse(model, data, q), M)
        assert mine <= max(BACKWARD, AGAINST_PINOCCHIO * own)
