"""Inverse kinematics: targets are reached with loops closed and limits kept, or the nearest is told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc

ENDS = {
    "cassie_leg": ["foot"], "digit_leg": ["toe_roll"],
    "delta": ["platform_z"], "ankle_2rsu": ["ankle_roll"], "planar_leg_linkage": ["foot"],
    "mini_cheetah": ["FL_foot", "HR_foot", "trunk"], "mit_humanoid": ["left_ankle", "right_ankle"],
    "tello": ["left_ankle", "right_ankle"], "cassie": ["left_sole", "right_sole"], "kangaroo_leg": ["ankle_roll"],
}  # fmt: skip
QUICK = ("cassie_leg", "digit_leg")


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "robot .* no real body", pc.PinClustersWarning)
        return pc.load(name)


def places(model: pc.ClusterModel, q: np.ndarray, frames: list[str]) -> dict[str, pin.SE3]:
    """Pinocchio's own kinematics of the tree."""
    tree, data = model.tree, model.tree.createData()
    pin.framesForwardKinematics(tree, data, q)
    return {name: data.oMf[tree.getFrameId(name)].copy() for name in frames}


def beyond_limits(model: pc.ClusterModel, q: np.ndarray) -> float:
    """By how much the worst joint of one degree of freedom is beyond its limits."""
    tree = model.tree
    at = [tree.idx_qs[j] for j in range(1, tree.njoints) if tree.nqs[j] == tree.nvs[j] == 1]
    low, high = tree.lowerPositionLimit[at], tree.upperPositionLimit[at]
    return float(np.where(low < high, np.maximum(low - q[at], q[at] - high), 0.0).max())


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.ci] * (n not in QUICK)) for n in ENDS])
def test_targets_are_reached_with_loops_closed(name: str) -> None:
    model, frames = load(name), ENDS[name]
    rng, q0, data, tried = np.random.default_rng(2), pc.neutral(model), model.createData(), 0
    for _ in range(40):
        way = (0.1 if name == "kangaroo_leg" else 0.3) * rng.uniform(-1.0, 1.0, size=model.nv)
        goal = pc.integrate(model, q0, way)
        if tried == 5 or beyond_limits(model, goal) > 0.0:
            continue
        tried += 1
        targets: dict[str, Any] = places(model, goal, frames)
        targets[frames[0]] = targets[frames[0]].translation if tried == 1 else targets[frames[0]]
        start = pin.integrate(model.tree, q0, 0.01 * rng.normal(size=model.tree.nv)) if tried == 2 else q0  # loops open
        found = pc.inverse_kinematics(model, start, targets, data=data)
        for frame, M in places(model, found.q, frames).items():
            away = M.translation - getattr(targets[frame], "translation", targets[frame])
            turned = pin.log3(targets[frame].rotation.T @ M.rotation) if isinstance(targets[frame], pin.SE3) else [0.0]
            np.testing.assert_allclose(found.errors[frame], (np.linalg.norm(away), np.linalg.norm(turned)), atol=1e-12)
            assert max(found.errors[frame]) <= 1e-9
        assert found.converged
        assert found.loop_residual == np.abs(pc.residual(model, found.q)).max(initial=0.0) < 1e-10
        assert beyond_limits(model, found.q) <= 0.0
    assert tried == 5


def test_dependent_joints_keep_their_limits() -> None:
    """The tarsus is turned by the knee through a rod; a target for which it would have to pass its limit."""
    model = load("cassie_leg")
    tree, q = model.tree, pc.neutral(model)
    knee, tarsus = model.joint_idx_v("knee"), tree.idx_qs[model.getJointId("tarsus")]
    while q[tarsus] > tree.lowerPositionLimit[tarsus] - 0.05:
        q = pc.integrate(model, q, 0.02 * np.eye(model.nv)[knee])
    targets = places(model, q, ["foot"])
    with warns(pc.PinClustersWarning, "'foot' tarsus"):
        found = pc.inverse_kinematics(model, pc.neutral(model), targets)
    assert not found.converged
    assert "tarsus" in found.at_limits
    assert beyond_limits(model, found.q) <= 0.0
    assert found.loop_residual < 1e-10

    def cost(q: np.ndarray) -> float:
        M = places(model, q, ["foot"])["foot"]
        turned = pin.log3(targets["foot"].rotation.T @ M.rotation)
        return float(np.sum((M.translation - targets["foot"].translation) ** 2) + turned @ turned)

    rng, near = np.random.default_rng(0), []
    for _ in range(200):
        moved = pc.integrate(model, found.q, 1e-3 * rng.normal(size=model.nv))
        if beyond_limits(model, moved) <= 0.0:
            near.append(cost(moved))
    assert len(near) > 20
    assert min(near) > cost(found.q) - 1e-9  # it is the nearest


@pytest.mark.ci
def test_limits_hold_wherever_targets_are() -> None:
    """Steps pass the limits of dependent joints, which are no lines, and must not end there."""
    model = load("cassie_leg")
    rng, data, tried, left = np.random.default_rng(5), model.createData(), 0, 0.0
    for _ in range(60):
        try:
            goal = pc.integrate(model, pc.neutral(model), 1.2 * rng.uniform(-1.0, 1.0, size=model.nv))
        except pc.BranchLost:
            continue
        tried += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            found = pc.inverse_kinematics(model, pc.neutral(model), places(model, goal, ["foot"]), data=data)
        assert beyond_limits(model, found.q) <= 0.0
        assert found.loop_residual < 1e-10
        assert found.converged or beyond_limits(model, goal) > 0.0
        left += float(np.sum(np.square(found.errors["foot"])))
    assert tried > 30
    assert left < 16.0  # 15.1; 16.8 where a last step beyond the limits costs all before


def test_loops_of_the_start_are_closed_first() -> None:
    model = load("cassie_leg")
    start = pin.integrate(model.tree, pc.neutral(model), 0.01 * np.random.default_rng(0).normal(size=model.tree.nv))
    assert np.abs(pc.residual(model, start)).max() > 1e-4
    found = pc.inverse_kinematics(model, start, places(model, start, ["foot"]))  # as it stands, it is there
    assert found.loop_residual < 1e-10


def test_weights_share_between_targets_that_contradict_each_other() -> None:
    model = load("mini_cheetah")
    goals = {"trunk": np.array([0.1, 0.0, 0.3]), "root_joint": np.array([0.0, 0.2, 0.0])}  # the same point
    weights = {"trunk": (2.0, 1.0)}
    with warns(pc.PinClustersWarning, "targets"):
        found = pc.inverse_kinematics(model, pc.neutral(model), goals, weights=weights)
    np.testing.assert_allclose(found.q[:3], (4.0 * goals["trunk"] + goals["root_joint"]) / 5.0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:robot .* no real body")
def test_centre_of_mass_goes_where_it_shall() -> None:
    """With the feet where they are; alone; and shared with a target that contradicts it."""
    model = load("mini_cheetah")
    feet, tree, own = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"], model.inertia_tree, model.tree.createData()
    q0 = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    goal = pin.centerOfMass(tree, own, q0) + np.array([0.03, -0.02, 0.01])
    for targets in ({f: M.translation for f, M in places(model, q0, feet).items()}, {}):
        found = pc.inverse_kinematics(model, q0, targets, center_of_mass=goal)
        assert found.converged
        assert [*found.errors] == [*targets, "center_of_mass"]
        np.testing.assert_allclose(pin.centerOfMass(tree, own, found.q), goal, atol=1e-9)
        now = places(model, found.q, feet)
        for foot, place in targets.items():
            np.testing.assert_allclose(now[foot].translation, place, atol=1e-9)
    far = places(model, q0, feet)
    high = goal + np.array([0.0, 0.0, 1.0])
    with warns(pc.PinClustersWarning, "'center_of_mass' 0"):
        one = pc.inverse_kinematics(model, q0, far, center_of_mass=high, attempts=1)
    with warns(pc.PinClustersWarning, "'center_of_mass'"):
        more = pc.inverse_kinematics(model, q0, far, center_of_mass=high, attempts=1, weights={"center_of_mass": 10.0})
    assert more.errors["center_of_mass"][0] < 0.5 * one.errors["center_of_mass"][0]


def test_posture_takes_the_freedom_that_targets_leave() -> None:
    model = load("mit_humanoid_leg")
    q0, data = pc.neutral(model), model.createData()
    goal = pc.integrate(model, q0, np.array([0.2, -0.1, -0.5, 0.9, 0.3]))
    targets = {"ankle": places(model, goal, ["ankle"])["ankle"].translation}
    posture = pc.integrate(model, q0, np.array([0.0, 0.0, -0.3, 0.7, 0.5]))
    one, other = (pc.inverse_kinematics(model, q0, targets, posture=posture, posture_weight=w) for w in (0.0, 1e-2))
    np.testing.assert_array_equal(pc.inverse_kinematics(model, q0, targets, posture=posture).q, other.q)
    assert one.converged
    assert other.converged
    away = pc.difference(model, posture, other.q)
    assert np.linalg.norm(away) < 0.9 * np.linalg.norm(pc.difference(model, posture, one.q))
    J = pc.computeFrameJacobian(model, data, other.q, model.getFrameId("ankle"), pin.LOCAL)[:3]
    free = np.eye(model.nv) - np.linalg.pinv(J) @ J
    assert np.abs(free @ away).max() < 1e-3 * np.abs(away).max() + 1e-3  # nothing nearer is left, but by the weight


def test_straight_leg_is_left_by_another_attempt() -> None:
    """Nothing moves a stretched leg towards its hip, at first order."""
    tree = pin.Model()
    for parent in (0, 1):
        tree.addJoint(
            parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -float(parent)])), f"j{parent}"
        )
        tree.appendBodyToJoint(parent + 1, pin.Inertia.Random(), pin.SE3.Identity())
    tree.addFrame(pin.Frame("foot", 2, pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.0])), pin.FrameType.OP_FRAME))
    model, up = pc.ClusterModel(tree), {"foot": np.array([0.0, 0.0, -1.8])}
    with warns(pc.PinClustersWarning, "'foot' 0.2 0"):
        once = pc.inverse_kinematics(model, np.zeros(2), up, attempts=1)
    assert not once.converged
    assert once.iterations == 0
    assert pc.inverse_kinematics(model, np.zeros(2), up).converged


def test_out_of_reach_is_the_stretched_leg() -> None:
    model = load("mit_humanoid_leg")
    q0 = pc.integrate(model, pc.neutral(model), np.array([0.0, 0.0, 0.3, 0.5, 0.0]))
    straight = places(model, pc.neutral(model), ["ankle", "hip_ry"])
    way = straight["ankle"].translation - straight["hip_ry"].translation
    with warns(pc.PinClustersWarning, "'mit_humanoid_leg' 'ankle' inverse_kinematics"):
        found = pc.inverse_kinematics(model, q0, {"ankle": straight["ankle"].translation + way})
    assert found.errors["ankle"][0] < np.linalg.norm(way) + 1e-5


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_limit_holds_beside_one_that_is_unknown(side: str) -> None:
    """A pendulum whose other limit is NaN goes to its limit of 1 rad and no further."""
    sign = 1.0 if side == "upper" else -1.0
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "joint")
    tree.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    tree.addFrame(pin.Frame("tip", joint, pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    limits = {"lower": np.array([np.nan]), "upper": np.array([np.nan])} | {side: np.array([sign])}
    tree.lowerPositionLimit, tree.upperPositionLimit = limits["lower"], limits["upper"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(tree)
    with warns(pc.PinClustersWarning, "'tip' joint"):
        found = pc.inverse_kinematics(model, [0.0], {"tip": [0.0, 0.0, -0.3 * sign]})
    assert not found.converged
    assert abs(found.q[0] - sign) < 1e-6


def test_refusals() -> None:
    model = load("digit_leg")
    q0 = pc.neutral(model)
    at: dict[str, Any] = {"toe_roll": [0.0, 0.0, -1.0]}
    with raises(pc.UnknownNameError, "'toe_rol' 'toe_roll'"):
        pc.inverse_kinematics(model, q0, {"toe_rol": at["toe_roll"]})
    with raises(pc.UnknownNameError, "weights 'toe'"):
        pc.inverse_kinematics(model, q0, at, weights={"toe": 1.0})
    with raises(pc.ArgumentTypeError, "targets"):
        pc.inverse_kinematics(model, q0, [at])  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "targets"):
        pc.inverse_kinematics(model, q0, {})
    with raises(pc.ShapeError, "'toe_roll' 2 pin.SE3"):
        pc.inverse_kinematics(model, q0, {"toe_roll": [0.0, 0.0]})
    with raises(pc.ShapeError, "center_of_mass 2"):
        pc.inverse_kinematics(model, q0, {}, center_of_mass=[0.0, 0.0])
    named = model.with_frames({"center_of_mass": ("toe_roll", pin.SE3.Identity())})
    with raises(pc.ArgumentTypeError, "'center_of_mass'"):
        pc.inverse_kinematics(named, q0, {"center_of_mass": at["toe_roll"]}, center_of_mass=[0.0, 0.0, 0.0])
    with raises(pc.ShapeError, "q 3"):
        pc.inverse_kinematics(model, q0[:3], at)


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        ([np.nan, 0.0, 0.0], {}, "'toe_roll'"),
        (pin.SE3(np.eye(3), np.array([0.0, np.inf, 0.0])), {}, "'toe_roll'"),
        (pin.SE3(np.zeros((3, 3)), np.zeros(3)), {}, "'toe_roll' 0"),
        (pin.SE3(2.0 * np.eye(3), np.zeros(3)), {}, "'toe_roll' 8"),
        (pin.SE3(np.diag([1.0, 1.0, -1.0]), np.zeros(3)), {}, "'toe_roll' -1"),
        (pin.SE3(np.diag([1.0, np.nan, 1.0]), np.zeros(3)), {}, "'toe_roll'"),
        (None, {"weights": {"toe_roll": np.nan}}, "'toe_roll'"),
        (None, {"weights": {"toe_roll": -1.0}}, "'toe_roll' -1.0"),
        (None, {"weights": {"toe_roll": (1, 2, 3)}}, "'toe_roll' 1 2"),
        (None, {"weights": {"toe_roll": "much"}}, "'toe_roll'"),
        (None, {"tolerance": np.nan}, "tolerance 0"),
        (None, {"tolerance": 0.0}, "tolerance 0"),
        (None, {"posture_weight": -1.0}, "posture_weight"),
        (None, {"iterations": 0}, "iterations 1"),
        (None, {"attempts": 1.5}, "attempts 1"),
        (None, {"posture": np.nan}, "posture"),
    ],
)
def test_values_that_mean_nothing(target: Any, given: dict[str, Any], words: str) -> None:
    model = load("digit_leg")
    q0 = pc.neutral(model)
    given = {key: q0 + x if key == "posture" else x for key, x in given.items()}
    with raises(pc.ArgumentTypeError, words):
        pc.inverse_kinematics(model, q0, {"toe_roll": [0.0, 0.0, -1.0] if target is None else target}, **given)
