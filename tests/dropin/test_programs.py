"""Members of models, and getters after several calls, that public programs use."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
ROUNDING = 1e-12  # of two algorithms, relative to the largest entry


def arm() -> tuple[pin.Model, pc.ClusterModel]:
    tree = pin.buildSampleModelManipulator()
    return tree, pc.ClusterModel(tree)


def test_places_in_v_of_each_joint() -> None:
    """``idx_vs`` and ``nvs`` are Pinocchio's as long as v has all joints; with dependent ones they raise."""
    tree = pin.buildSampleModelHumanoid()
    model = pc.ClusterModel(tree, [pc.Rotor("rleg_shoulder2_joint", 9.0, axial_inertia=1e-5)])
    assert (list(model.idx_vs), list(model.nvs)) == (list(tree.idx_vs), list(tree.nvs))
    with raises(pc.NotAvailableError, "'idx_vs' model.joint_idx_v(name) model.tree.idx_vs"):
        pc.load("mit_humanoid_leg").idx_vs  # noqa: B018


def test_gravity_may_be_set_to_what_it_is() -> None:
    _, model = arm()
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    model.gravity.angular = np.zeros(3)
    with raises(pc.ModelError, "'linear' model.with_gravity(g)"):
        model.gravity.linear = np.array([0.0, 0.0, -9.80665])


def test_getters_raise_where_the_state_has_been_overwritten() -> None:
    """After ``computeMinverse``, the Jacobians are those of its pose, which ``crba`` overwrites."""
    _, model = arm()
    data, q, other = model.createData(), pc.neutral(model), np.full(model.nq, 0.3)
    pc.computeMinverse(model, data, q)
    pc.crba(model, data, other)
    with raises(pc.NotComputedError, "data.J pc.computeJointJacobians"):
        pc.getFrameJacobian(model, data, model.nframes - 1, pin.LOCAL_WORLD_ALIGNED)
    with raises(pc.NotComputedError, "data.J pc.computeJointJacobians"):
        pc.getJointJacobian(model, data, 3, pin.WORLD)
    for function in (pc.updateFramePlacements, lambda m, d: pc.updateFramePlacement(m, d, 3)):
        with raises(pc.NotComputedError, "data.oMi pc.forwardKinematics"):
            function(model, data)
    pc.forwardKinematics(model, data, q, other, other)
    pc.aba(model, data, q, other, other)
    with raises(pc.NotComputedError, "data.a"):
        pc.getFrameAcceleration(model, data, model.nframes - 1)


@pytest.mark.parametrize("frame", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED])
@pytest.mark.parametrize("kind", ["Joint", "Frame"])
def test_jacobians_after_dynamics(kind: str, frame: pin.ReferenceFrame) -> None:
    """The getters return Pinocchio's numbers after dynamics, once and again, and so does ``data.v`` behind them."""
    tree, model = arm()
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, tree.nv))
    found = []
    for package, robot in ((pc, model), (pin, tree)):
        data = robot.createData()
        index = tree.nframes - 1 if kind == "Frame" else tree.njoints - 1
        package.computeRNEADerivatives(robot, data, q, v, a)
        package.computeMinverse(robot, data, q)
        package.nonLinearEffects(robot, data, q, v)
        J = getattr(package, f"get{kind}Jacobian")(robot, data, index, frame)
        again = getattr(package, f"get{kind}Jacobian")(robot, data, index, frame)
        rate = getattr(package, f"get{kind}JacobianTimeVariation")(robot, data, index, frame)
        found.append((J, again, rate, data.v[3].vector))
    for ours, theirs in zip(*found, strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=ROUNDING * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("frame", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED])
@pytest.mark.parametrize("late", [False, True])
def test_rates_of_jacobians_have_the_velocity_that_pinocchio_takes(frame: pin.ReferenceFrame, late: bool) -> None:
    """In axes of the frame the last velocity of all, else that at which dJ was computed, at once or when it is read."""
    tree, model = arm()
    rng = np.random.default_rng(1)
    q, v, w, a = rng.normal(size=(4, tree.nv))
    rates = []
    for package, robot in ((pc, model), (pin, tree)):
        data = robot.createData()
        if late:
            package.computeRNEADerivatives(robot, data, q, v, a)
        else:
            package.computeJointJacobiansTimeVariation(robot, data, q, v)
        package.forwardKinematics(robot, data, q, w)
        rates.append(package.getFrameJacobianTimeVariation(robot, data, tree.nframes - 1, frame))
    assert np.allclose(*rates, rtol=0, atol=ROUNDING * np.abs(rates[1]).max())
