"""Without constraints everything is Pinocchio's: the robots of example-robot-data."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.messages import raises, warns
from support.tolerances import AGAINST_PINOCCHIO, BACKWARD, EXACT, backward, inverse_residual, relative

import pin_clusters as pc
from pin_clusters.verification.baselines import projection

# the wheel puts its files next to Pinocchio's, and brings no loader
SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
# vehicles that release 5 has and 6 has not: massless fingers, no joint, no valid URDF
ONLY_IN_5 = ("bluevolta_", "bravo7_", "falcon_")
FILES = sorted(f for f in (str(p.relative_to(SHARE)) for p in SHARE.rglob("*.urdf")) if not f.startswith(ONLY_IN_5))
UNUSABLE = {
    "ur_description/urdf/ur3.urdf": "not a valid URDF: Pinocchio refuses it",
    "romeo_description/urdf/romeo.urdf": "a massless finger, see the test below",
    "romeo_description/urdf/romeo_laas_small.urdf": "an inertia that is not positive semidefinite, see the test below",
    "hector_description/robots/quadrotor_base.urdf": "no joint",
    "iris_description/robots/iris_simple.urdf": "no joint",
}
FLOATING = ("anymal", "cassie", "g1_", "go2", "human", "icub", "romeo", "talos")


def test_the_robots_are_there() -> None:
    """They are part of the test extra, so a missing folder must not pass as a skipped test."""
    assert SHARE.is_dir(), f"{SHARE}: pip install '.[test]'"
    assert len(FILES) > 50
    assert set(UNUSABLE) <= set(FILES)


def test_a_massless_leaf_is_named() -> None:
    """Pinocchio's aba gives NaN for this robot."""
    tree = load("romeo_description/urdf/romeo.urdf")
    massless = {n for n, i in zip(tree.names, tree.inertias, strict=True) if i.mass == 0.0 and n != "universe"}
    assert "LFinger23" in massless
    model = pc.ClusterModel(tree)
    data, q, zero = model.createData(), pin.neutral(tree), np.zeros(model.nv)
    for compute in (lambda: pc.aba(model, data, q, zero, zero), lambda: pc.computeMinverse(model, data, q)):
        with raises(pc.SingularClusterError) as caught:
            compute()
        assert set(caught.value.cluster) <= massless
    assert not np.all(np.isfinite(pin.aba(tree, tree.createData(), q, zero, zero)))
    assert relative(pc.crba(model, data, q), projection.crba(model, projection.createData(model), q)) < EXACT


def test_an_inertia_that_is_not_positive_semidefinite_is_reported(rng: np.random.Generator) -> None:
    tree = load("romeo_description/urdf/romeo_laas_small.urdf")
    with warns(pc.PinClustersWarning, "'root_joint'"):
        model = pc.ClusterModel(tree)
    q, v, a, _ = trees.random_state(model, rng)
    assert relative(pc.rnea(model, model.createData(), q, v, a), pin.rnea(tree, tree.createData(), q, v, a)) < EXACT


@lru_cache(maxsize=1)
def load(file: str) -> pin.Model:
    floating = any(file.rsplit("/", 1)[-1].startswith(name) for name in FLOATING)
    args = (pin.JointModelFreeFlyer(),) if floating else ()
    return pin.buildModelFromUrdf(str(SHARE / file), *args)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(f, id=f.removesuffix(".urdf").replace("/", "-"), marks=[pytest.mark.long] * (i % 3 > 0))
        for i, f in enumerate(f for f in FILES if f not in UNUSABLE)
    ],
)
def test_is_pinocchio_without_constraints(file: str, rng: np.random.Generator) -> None:
    tree = load(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(tree).with_gravity(rng.normal(size=3) * 8.0)
    tree = model.tree.copy()
    assert (model.nq, model.nv, len(model.clusters)) == (tree.nq, tree.nv, tree.njoints - 1)
    data, theirs = model.createData(), tree.createData()
    for _ in range(4):
        q, v, a, fext = trees.random_state(model, rng)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force(f) for f in fext])
        tau = pin.rnea(tree, theirs, q, v, a, forces)
        h = pin.nonLinearEffects(tree, theirs, q, v).copy()
        M = np.triu(pin.crba(tree, theirs, q))
        M = M + np.triu(M, 1).T
        T, U = pin.computeKineticEnergy(tree, theirs, q, v), pin.computePotentialEnergy(tree, theirs, q)
        assert relative(pc.rnea(model, data, q, v, a, fext), tau) < EXACT
        assert relative(pc.nonLinearEffects(model, data, q, v), h) < EXACT
        assert (
            relative(pc.computeGeneralizedGravity(model, data, q), pin.computeGeneralizedGravity(tree, theirs, q))
            < EXACT
        )
        assert relative(pc.crba(model, data, q), M) < EXACT
        assert abs(pc.computeKineticEnergy(model, data, q, v) - T) < EXACT * T
        assert abs(pc.computePotentialEnergy(model, data, q) - U) < EXACT * (abs(U) + T)
        own = backward(M, pin.aba(tree, theirs, q, v, tau), h, tau)
        assert backward(M, pc.aba(model, data, q, v, tau), h, tau) <= max(BACKWARD, AGAINST_PINOCCHIO * own)
        inverse = np.triu(pin.computeMinverse(tree, theirs, q))
        own = inverse_residual(inverse + np.triu(inverse, 1).T, M)
        mine = inverse_residual(pc.computeMinverse(model, data, q), M)
        assert mine <= max(BACKWARD, AGAINST_PINOCCHIO * own)
