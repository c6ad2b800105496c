"""Derivatives of motions of robots of all kinds, against differences along ``pc.integrate``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import differences
from support.moving import FRAMES, derived, motions, places

import pin_clusters as pc

# the same operations in another order, over max(1, largest entry)
ROUNDING = 1e-12
# differences of eighth order: rounding over the step, more in loops, which take smaller ones
ALONG_Q = {"tree": 1e-11, "loop": 1e-10}
# terms of accelerations grow with cond(K_d)^3 and cancel: what is left of them, and of their differences
CANCELLED, CANCELLED_ALONG_Q = 2e-16, 1e-15
# in v exact: rounding, in loops times cond(K_d)
EXACT = {"tree": 1e-12, "loop": 4e-12}
# what misaligned geometry misses
SLOPPY = 1e2


SHIPPED = pc.robots()
OFTEN = ["mini_cheetah", "tello", "cassie_leg", "delta", "belt_chain"]


def each() -> pytest.MarkDecorator:
    """Samples of the pool, and robots that ship with the package."""
    _, pooled = pool.each(everyday=pool.TWO).args
    return pytest.mark.parametrize("key", [*pooled, *pool.some(SHIPPED, OFTEN, rest="ci", everyday=0)])


class State(NamedTuple):
    model: pc.ClusterModel
    data: pc.ClusterData
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    along_q: float
    exact: float
    rounding: float


def state(key: Any, rng: np.random.Generator) -> State:
    """A state, and limits of errors there."""
    misaligned = 0.0
    if key in SHIPPED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = pc.load(key)
        pin.seed(int(rng.integers(1 << 30)))
        q = pc.integrate(model, pc.neutral(model), 0.1 * rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
    else:
        case, model, _, q, v, a, _ = pool.state(key, rng)
        misaligned = SLOPPY * case.exact
    kind, data = "loop" if model.closures else "tree", model.createData()
    grown = max((loop.K_d for loop in pc.condition(model, data, q)), default=0.0) ** 3
    along_q, rounding = ALONG_Q[kind] + misaligned + CANCELLED_ALONG_Q * grown, ROUNDING + CANCELLED * grown
    return State(model, data, q, v, a, along_q, EXACT[kind] + misaligned, rounding)


@each()
def test_motions_of_frames_and_points(key: Any, rng: np.random.Generator) -> None:
    model, data, q, v, a, along_q, exact, _ = state(key, rng)
    frames = places(model, rng)
    pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
    by_q, by_v, by_a = derived(model, data, frames)
    at = motions(model, frames)
    assert pool.error(by_q, differences.along(lambda x: at(x, v, a), model, q)) < along_q
    assert pool.error(by_v, differences.quadratic(lambda x: at(q, x, a), v)) < exact
    assert pool.error(by_a, differences.linear(lambda x: at(q, v, x), a)) < exact


@each()
def test_the_same_in_every_way(key: Any, rng: np.random.Generator) -> None:
    """Joints, frames by their placement, and axes of the world at the place: all from frames and the world's frame."""
    model, data, q, v, a, *_, rounding = state(key, rng)
    pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
    pc.updateFramePlacements(model, data)
    for frame in places(model, rng):
        place = model.frames[frame]
        for name in ("Velocity", "Acceleration"):
            of_frame = getattr(pc, f"getFrame{name}Derivatives")
            of_joint = getattr(pc, f"getJoint{name}Derivatives")
            for rf in FRAMES:
                here = of_frame(model, data, frame, rf)
                there = of_frame(model, data, place.parentJoint, place.placement, rf)
                assert all(pool.error(x, y) < rounding for x, y in zip(here, there, strict=True))
                here = of_frame(model, data, place.parentJoint, pin.SE3.Identity(), rf)
                there = of_joint(model, data, place.parentJoint, rf)
                assert all(pool.error(x, y) < rounding for x, y in zip(here, there, strict=True))
            moved = pin.SE3(np.eye(3), np.array(data.oMf[frame].translation)).toActionMatrixInverse()
            world = of_frame(model, data, frame, pin.WORLD)
            aligned = of_frame(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            for x, y in zip(aligned, world, strict=True):
                assert pool.error(x, moved @ y) < rounding


@each()
def test_centre_of_mass(key: Any, rng: np.random.Generator) -> None:
    model, data, q, v, _, along_q, *_ = state(key, rng)
    other = model.createData()

    def velocity(x: np.ndarray) -> np.ndarray:
        pc.centerOfMass(model, other, x, v)
        return np.array(other.vcom[0])

    by_q = differences.along(velocity, model, q)
    pc.centerOfMass(model, data, q, v)
    assert pool.error(pc.getCenterOfMassVelocityDerivatives(model, data), by_q) < along_q
    pc.computeJointJacobian(model, data, pc.neutral(model), model.njoints - 1)  # moves links where it was computed
    assert pool.error(pc.getCenterOfMassVelocityDerivatives(model, data), by_q) < along_q


@each()
def test_rate_of_the_momentum_matrix(key: Any, rng: np.random.Generator) -> None:
    model, data, q, v, a, along_q, exact, _ = state(key, rng)
    found = pc.dccrba(model, data, q, v)
    assert np.array_equal(found, data.dAg)
    assert np.array_equal(found, pc.computeCentroidalMapTimeVariation(model, data, q, v))
    other = model.createData()
    along = differences.along(lambda x: pc.computeCentroidalMap(model, other, x), model, q) @ v
    assert pool.error(found, along) < along_q
    rate = pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
    assert pool.error(data.Ag @ a + found @ v, rate) < exact


@each()
def test_jacobians(key: Any, rng: np.random.Generator) -> None:
    model, data, q, _, _, along_q, _, rounding = state(key, rng)
    other = model.createData()
    pc.computeJointKinematicHessians(model, data, q)
    for frame in places(model, rng)[-2:]:
        place = model.frames[frame]
        for rf in FRAMES:
            which = frame, rf
            by_q = differences.along(lambda x, which=which: pc.computeFrameJacobian(model, other, x, *which), model, q)
            found = pc.getFrameKinematicHessian(model, data, frame, rf)
            assert pool.error(found, by_q) < along_q
            same = pc.getFrameKinematicHessian(model, data, place.parentJoint, place.placement, rf)
            assert pool.error(found, same) < rounding
            joint = pc.getJointKinematicHessian(model, data, place.parentJoint, rf)
            same = pc.getFrameKinematicHessian(model, data, place.parentJoint, pin.SE3.Identity(), rf)
            assert pool.error(joint, same) < rounding


def in_vector(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: float = 1e-2) -> np.ndarray:
    """Differences of eighth order in a vector, a column per entry; with a shorter step where a linkage ends."""
    steps = h * np.eye(len(x))
    try:
        return np.stack(
            [sum(c * (function(x + n * e) - function(x - n * e)) for c, n in differences.STENCIL) / h for e in steps],
            axis=-1,
        )
    except pc.BranchLost:
        return in_vector(function, x, 0.5 * h)


@each()
def test_moves(key: Any, rng: np.random.Generator) -> None:
    """Along ``pc.integrate`` at both ends: difference(integrate(q, v), integrate(q moved, v)) and its like."""
    model, _, q, *_ = state(key, rng)
    v = 0.05 * rng.normal(size=model.nv)
    while True:
        try:
            reached = pc.integrate(model, q, v)
            break
        except pc.BranchLost:
            v *= 0.5
    tree, idx = model.tree, model.idx_v_independent

    def apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return pin.difference(tree, x, y)[idx]

    by_q = differences.along(lambda x: apart(reached, pc.integrate(model, x, v)), model, q)
    by_v = in_vector(lambda x: apart(reached, pc.integrate(model, q, x)), v)
    found = pc.dIntegrate(model, q, v)
    assert pool.error(found[0], by_q) < 1e-10
    assert pool.error(found[1], by_v) < 1e-10
    found = pc.dDifference(model, q, reached)
    assert pool.error(found[0], differences.along(lambda x: apart(x, reached), model, q)) < 1e-10
    assert pool.error(found[1], differences.along(lambda x: apart(q, x), model, reached)) < 1e-10
