"""Joints held where they are: the torques of the others are those of the whole robot, moved in this way."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
ROUNDING = 1e-12  # the same numbers in another order of operations, relative to the largest torque
ROBOTS = ("mini_cheetah", "tello", "mit_humanoid", "cassie_leg", "digit_leg", "kangaroo_leg", "teleop_arm")


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def check(model: pc.ClusterModel, held: tuple[str, ...], rng: np.random.Generator, own: np.ndarray) -> None:
    """Compare inverse dynamics, masses and frames; ``own`` says which velocities the held joints have."""
    move = 0.1 * rng.normal(size=model.nv)
    move[own] = 0.0
    q = pc.integrate(model, model.q_reference, move)
    v, a = rng.normal(size=(2, model.nv))
    v[own] = a[own] = 0.0
    other = model.with_locked(held, q)
    left = [j for j in range(1, model.njoints) if model.names[j] not in held]
    less = np.concatenate([q[model.idx_qs[j] : model.idx_qs[j] + model.nqs[j]] for j in left])
    assert [*other.names] == ["universe", *(model.names[j] for j in left)]
    whole, part = model.createData(), other.createData()
    tau = pc.rnea(model, whole, q, v, a)[~own]
    found = pc.rnea(other, part, less, v[~own], a[~own])
    assert np.abs(tau - found).max() < ROUNDING * max(1.0, np.abs(tau).max())
    assert np.abs(pc.crba(model, whole, q)[~own][:, ~own] - pc.crba(other, part, less)).max() < ROUNDING * 1e2
    pc.framesForwardKinematics(model, whole, q)
    pc.framesForwardKinematics(other, part, less)
    assert [f.name for f in other.frames] == [f.name for f in model.frames]
    for x, y in zip(whole.oMf, part.oMf, strict=True):
        assert np.allclose(x.homogeneous, y.homogeneous, atol=ROUNDING)


@pytest.mark.parametrize("name", pool.some(ROBOTS, ["tello", "cassie_leg", "kangaroo_leg"], rest="ci"))
def test_shipped_robots(name: str, rng: np.random.Generator) -> None:
    model = load(name)
    for cluster in model.clusters:
        if cluster.joints == ("root_joint",):
            continue
        own = np.zeros(model.nv, dtype=bool)
        own[[model.joint_idx_v(joint) for joint in cluster.independent]] = True
        check(model, cluster.joints, rng, own)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed: int) -> None:
    """Joints in any order; rotors that are no bodies, on carriers that are held, driven by several joints."""
    rng = np.random.default_rng(seed)
    model = trees.random_robot(rng, 7, floating=seed % 2 == 1, couplings=1, rotor_bodies=1, rotors=4).build(
        ("as_added", "shuffled")[seed % 2], rng
    )
    for cluster in model.clusters:
        if len(cluster.joints) == model.njoints - 1 or not cluster.independent:
            continue
        own = np.zeros(model.nv, dtype=bool)
        for joint in cluster.independent:
            first = model.joint_idx_v(joint)
            own[first : first + model.own_tree.nvs[model.getJointId(joint)]] = True
        check(model, cluster.joints, rng, own)


def test_shapes_and_configurations_stay(rng: np.random.Generator) -> None:
    model = load("mit_humanoid")
    pose = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
    held = ["left_elbow", "left_elbow_rotor"]
    other = model.with_locked(held, pose)
    whole, part = model.collision, other.collision
    assert whole.ngeoms == part.ngeoms > 0
    datas = [shapes.createData() for shapes in (whole, part)]
    ids = [model.getJointId(name) for name in held]
    less = np.delete(pose, [i for j in ids for i in range(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])])
    for m, q, shapes, data in ((model, pose, whole, datas[0]), (other, less, part, datas[1])):
        pc.updateGeometryPlacements(m, m.createData(), shapes, data, q)
    for x, y in zip(datas[0].oMg, datas[1].oMg, strict=True):
        assert np.allclose(x.homogeneous, y.homogeneous, atol=ROUNDING)
    assert other.name == model.name
    assert np.array_equal(other.effortLimit, np.delete(model.effortLimit, model.joint_idx_v("left_elbow")))


def test_without_constraints_it_is_pinocchios(rng: np.random.Generator) -> None:
    """On trees that Pinocchio reduces: depth-first, with other names of joints than of bodies."""
    tree = pin.buildSampleModelHumanoidRandom()
    model, q = pc.ClusterModel(tree), pin.randomConfiguration(tree, -np.ones(tree.nq), np.ones(tree.nq))
    ids = [3, 7, 8]
    ours, theirs = pc.buildReducedModel(model, ids, q), pin.buildReducedModel(tree, ids, q)
    assert [*ours.names] == [*theirs.names]
    less = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    v, a = rng.normal(size=(2, theirs.nv))
    tau = pin.rnea(theirs, theirs.createData(), less, v, a)
    assert np.allclose(pc.rnea(ours, ours.createData(), less, v, a), tau, atol=1e-10)
    assert [*pc.buildReducedModel(tree, ids, q).names] == [*theirs.names]
    shapes = pin.GeometryModel()
    one = pc.buildReducedModel(model, shapes, ids, q)
    several = pc.buildReducedModel(
        model=model, list_of_geom_models=[shapes, None], list_of_joints_to_lock=ids, reference_configuration=q
    )
    assert isinstance(one[1], pin.GeometryModel)
    assert [type(x) for x in several[1]] == [pin.GeometryModel, type(None)]
    with raises(pc.ArgumentTypeError, "buildReducedModel list_of_joints_to_lock reference_configuration"):
        pc.buildReducedModel(model, ids)


def test_a_joint_and_its_body_may_have_one_name(rng: np.random.Generator) -> None:
    """In an order of joints that is not depth-first, on which Pinocchio's function ends the process."""
    tree = pin.Model()
    first = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "left")
    second = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Random(), "right")
    third = tree.addJoint(first, pin.JointModelRZ(), pin.SE3.Random(), "left tip")
    for joint in (first, second, third):
        tree.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        tree.addJointFrame(joint)
        tree.addFrame(pin.Frame(tree.names[joint], joint, 0, pin.SE3.Random(), pin.FrameType.BODY), False)
    model = pc.ClusterModel(tree)
    check(model, ("left",), rng, np.array([True, False, False]))
    kinds = [f.type for f in model.with_locked(["left"], np.zeros(3)).frames if f.name == "left"]
    assert kinds == [pin.FrameType.FIXED_JOINT, pin.FrameType.BODY]


def test_what_would_be_cut_or_is_no_joint() -> None:
    model = load("tello")
    q = pc.neutral(model)
    with raises(pc.ConstraintError, "with_locked 'left_knee_ankle_rotor_1' 'left_ankle'"):
        model.with_locked(["left_knee"], q)
    with raises(pc.UnknownNameError, "'elbow'"):
        model.with_locked(["elbow"], q)
    for wrong in ("left_knee", 3, [0], [True], [10**6]):
        with raises(pc.ArgumentTypeError, "with_locked joints"):
            model.with_locked(wrong, q)
    with raises(pc.ShapeError, "q 3"):
        model.with_locked([], np.zeros(3))
    with raises(pc.ModelError, "with_locked"):
        model.with_locked(range(1, model.njoints), q)
