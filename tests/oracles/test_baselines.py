"""What users do today: exact where it must be, wrong by what it leaves out where it is an approximation."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.messages import raises
from support.tolerances import EXACT, relative

import pin_clusters as pc
from pin_clusters.approximations.armature import independent_q, independent_v, reflected_inertia
from pin_clusters.verification.baselines import armature_model, block, lagrange, projection


def spinning_robot(rng: np.random.Generator, *, floating: bool = True) -> pc.ClusterModel:
    """Joints that are all independent, rotor bodies and Rotors with inertia, all of them spin elements."""
    robot = trees.random_tree(rng, 6, floating=floating, kinds=["revolute", "RX", "prismatic", "universal"], chain=0.6)
    single = [n.name for n in robot.nodes if n.joint.nv == 1]
    links = [n.name for n in robot.nodes]
    for i in range(3):
        axis, on = trees.unit(rng), links[int(rng.integers(len(links)))]
        chosen = [str(x) for x in rng.choice(single, size=min(2, len(single)), replace=False)]
        terms = {x: float(rng.normal() * 6.0) for x in chosen}
        body, where = trees.rotor_inertia(rng, axis), trees.placement(rng)
        if i < 2:
            joint = pin.JointModelRevoluteUnaligned(axis)
            robot.nodes.append(trees.Node(f"r{i}", on, joint, where, body, 1e-3))
            robot.constraints.append(
                lambda names, i=i, t=terms: pc.LinearCoupling(names(f"r{i}"), {names(k): c for k, c in t.items()})
            )
        else:
            options = {"inertia": body, "axis": axis, "placement": where, "armature": "keep"}
            robot.constraints.append(
                lambda names, on=on, t=terms, o=options: pc.Rotor(
                    [names(k) for k in t], list(t.values()), carrier=names(on), name=names("s"), **o
                )
            )
    return robot.build("shuffled", rng)


@pytest.mark.parametrize("seed", range(6))
def test_what_the_approximation_leaves_out(seed: int, rng: np.random.Generator) -> None:
    """M = M of the locked rotors + B + J (g' (s'Jw) + (s'Jw)' g): the last part is what no armature has."""
    model = spinning_robot(rng, floating=bool(seed % 2))
    assert all(r.spins for r in model.rotors)
    q, _, _, _ = trees.random_state(model, rng)
    locked = armature_model(model, "none")
    data, at = locked.createData(), independent_v(model, locked)
    locked_q = q[independent_q(model, locked)]
    M = np.triu(pin.crba(locked, data, locked_q))
    M = (M + np.triu(M, 1).T)[np.ix_(at, at)] + reflected_inertia(model)
    pin.computeJointJacobians(locked, data, locked_q)
    for r in model.rotors:
        jacobian = pin.getJointJacobian(locked, data, locked.getJointId(r.carrier), pin.LOCAL)[:, at]
        along = r.axis @ jacobian[3:]
        M += r.axial_inertia * (np.outer(r.row, along) + np.outer(along, r.row))
    assert relative(M, pc.crba(model, model.createData(), q)) < EXACT


def test_block_is_rnea_and_aba_of_one_model(rng: np.random.Generator) -> None:
    model = spinning_robot(rng)
    data = block.createData(model)
    q, v, a, fext = trees.random_state(model, rng)
    for forces in (None, fext):
        tau = block.rnea(model, data, q, v, a, forces)
        np.testing.assert_allclose(block.aba(model, data, q, v, tau, forces), a, atol=1e-10)
    assert np.count_nonzero(data.B - np.diag(np.diag(data.B)))


def test_approximations_are_exact_on_a_carrier_that_stands(rng: np.random.Generator) -> None:
    """A rotor on the universe has no gyroscopic moment and no carrier acceleration: armature is the truth."""
    robot = trees.random_tree(rng, 3, kinds=["revolute"], chain=1.0, armature=False)
    axis = trees.unit(rng)
    robot.nodes.append(
        trees.Node(
            "r", None, pin.JointModelRevoluteUnaligned(axis), trees.placement(rng), trees.rotor_inertia(rng, axis)
        )
    )
    robot.constraints.append(lambda names: pc.Gear("j1", "r", -7.0, 0.4))
    model = robot.build()
    approximate = armature_model(model)
    data, b = approximate.createData(), block.createData(model)
    q, v, a, _ = trees.random_state(model, rng)
    tau = pc.rnea(model, model.createData(), q, v, a)
    assert relative(pin.rnea(approximate, data, q[:3], v, a), tau) < EXACT
    assert relative(block.rnea(model, b, q, v, a), tau) < EXACT
    assert relative(block.aba(model, b, q, v, tau), a) < 1e-10


@pytest.mark.jitless
def test_armature_model(rng: np.random.Generator) -> None:
    model = spinning_robot(rng)
    none, diagonal = armature_model(model, "none"), armature_model(model, "diagonal")
    dropped = armature_model(model, "diagonal", drop_rotors=True)
    at = independent_v(model, none)
    B = reflected_inertia(model)
    for approximate in (none, diagonal, dropped):
        assert approximate.check(approximate.createData())
        assert sorted(approximate.names) == sorted(["universe", *model.independent_joints])
        assert approximate.nv == model.nv
        assert [f.name for f in approximate.frames] == [f.name for f in model.frames]
        np.testing.assert_array_equal(approximate.gravity.vector, model.gravity.vector)
    np.testing.assert_array_equal(np.array(none.armature)[at], model.armature)
    np.testing.assert_allclose(np.array(diagonal.armature)[at], model.armature + np.diag(B), rtol=1e-14)
    np.testing.assert_array_equal(diagonal.armature, dropped.armature)
    whole = sum(i.mass for i in model.inertia_tree.inertias)
    rotors = sum(r.inertia.mass for r in model.rotors)
    assert pin.computeTotalMass(none) == pytest.approx(whole, rel=1e-14)
    assert pin.computeTotalMass(dropped) == pytest.approx(whole - rotors, rel=1e-14)
    assert model.tree == model.own_tree
    # the rotors' armature counts through G as well
    assert any(model.tree.armature[model.tree.joints[r.joint_id].idx_v] > 0 for r in model.rotors if r.joint_id)


@pytest.mark.jitless
def test_frames_of_locked_rotors_stay_in_place(rng: np.random.Generator) -> None:
    model = trees.geared_arm().build("shuffled", rng)
    locked = armature_model(model, "none")
    q = trees.random_state(model, rng)[0]
    for r in model.rotors:  # at rotor angle 0
        q[model.tree.joints[r.joint_id].idx_q] = 0.0
    one, two = model.tree.createData(), locked.createData()
    pin.framesForwardKinematics(model.tree, one, q)
    pin.framesForwardKinematics(locked, two, q[independent_q(model, locked)])
    for f in model.frames:
        here, there = one.oMf[model.getFrameId(f.name)], two.oMf[locked.getFrameId(f.name)]
        np.testing.assert_allclose(here.homogeneous, there.homogeneous, atol=1e-14)


@pytest.mark.jitless
def test_replaced_armature_is_gone(rng: np.random.Generator) -> None:
    tree = trees.random_tree(rng, 3, kinds=["revolute"], chain=1.0, armature=False).tree()
    tree.armature = np.array([0.0, 0.5, 0.25])
    for option, left in (("keep", 0.5), ("replace", 0.0)):
        rotor = pc.Rotor("j1", 10.0, axial_inertia=1e-3, armature=option)
        model = pc.ClusterModel(tree, [rotor])
        np.testing.assert_allclose(armature_model(model, "none").armature, [0.0, left, 0.25])
        np.testing.assert_allclose(armature_model(model).armature, [0.0, left + 0.1, 0.25])


@pytest.mark.jitless
def test_what_is_no_rotor_is_named(rng: np.random.Generator) -> None:
    robot = trees.random_tree(rng, 4, kinds=["revolute"], chain=1.0)
    robot.constraints.append(lambda names: pc.LinearCoupling("j2", {"j1": 2.0}))
    with raises(pc.ModelError, "'j2'"):
        armature_model(robot.build())
    with raises(pc.ModelError, "'j2'"):
        block.createData(robot.build())
    axis = np.array([0.0, 0.0, 1.0])
    turned = trees.random_tree(rng, 2, kinds=["revolute"], chain=1.0)
    rotor = trees.Node("r", "j0", pin.JointModelRZ(), trees.placement(rng), trees.rotor_inertia(rng, axis))
    turned.nodes.append(rotor)
    turned.constraints.append(lambda names: pc.Gear("r", "j1", 0.1))
    with raises(pc.ModelError, "'r' 'j1'"):
        armature_model(turned.build())
    with raises(pc.ModelError, "'none' 'diagonal'"):
        armature_model(trees.geared_arm().build(), "block")  # type: ignore[arg-type]


@pytest.mark.jitless
def test_data_of_another_module_or_model_is_refused() -> None:
    model, other = trees.geared_arm().build(), trees.geared_arm(n=3).build()
    q, v = pin.neutral(model.tree), np.zeros(model.nv)
    wrong = (other, projection), (other, lagrange), (model, block)
    for owner, module in wrong:
        data = module.createData(owner)
        for compute in (projection.rnea, projection.aba):
            with raises(pc.DataMismatchError):
                compute(model, data, q, v, v)
        with raises(pc.DataMismatchError):
            projection.crba(model, data, q)
    with raises(pc.DataMismatchError):
        lagrange.aba(model, projection.createData(model), q, v, v)
    with raises(pc.DataMismatchError, "ClusterData"):
        block.rnea(model, model.createData(), q, v, v)


# RMS error in N m, hip_rz, hip_rx, hip_ry, knee, ankle: an independent script with the parameters of the paper
LADDER = {
    ("none", False): (0.267, 0.249, 0.966, 4.310, 1.588),
    ("diagonal", False): (0.196, 0.169, 0.341, 1.045, 0.826),
    ("block", False): (0.196, 0.169, 0.341, 0.301, 0.070),
    ("none", True): (0.288, 0.266, 0.989, 4.310, 1.588),
    ("diagonal", True): (0.206, 0.178, 0.365, 1.045, 0.826),
    ("block", True): (0.206, 0.178, 0.365, 0.301, 0.070),
}
LARGEST = (7.27, 10.30, 14.75, 11.23, 2.71)


@pytest.mark.ci
def test_ladder_of_the_mit_humanoid_leg() -> None:
    """The accuracy study, straight from the baselines: 0.5 rad at 1.5 Hz, every joint, 5 s, fixed base."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load("mit_humanoid_leg", root_joint=None)
    order = [model.joint_idx_v(name) for name in ("hip_rz", "hip_rx", "hip_ry", "knee", "ankle")]
    w, times = 2.0 * np.pi * 1.5, np.arange(0.0, 5.0, 5e-4)
    p = projection.createData(model)
    levels = {}
    for drop in (False, True):
        for name in ("none", "diagonal"):
            approximate = armature_model(model, name, drop)
            data = approximate.createData()
            levels[name, drop] = (
                independent_q(model, approximate),
                lambda q, qi, v, a, m=approximate, d=data: pin.rnea(m, d, qi, v, a),
            )
        b = block.createData(model, drop)
        levels["block", drop] = (b.at_q, lambda q, qi, v, a, b=b: block.rnea(model, b, q, v, a))
    errors: dict[tuple[str, bool], list[np.ndarray]] = {key: [] for key in levels}
    exact = []
    for t in times:
        unit = np.ones(model.nv)
        q = np.zeros(model.nq)
        for name in model.independent_joints:
            q[model.tree.joints[model.getJointId(name)].idx_q] = 0.5 * np.sin(w * t)
        q = trees.on_couplings(model, q)
        v, a = 0.5 * w * np.cos(w * t) * unit, -0.5 * w * w * np.sin(w * t) * unit
        exact.append(projection.rnea(model, p, q, v, a))
        for key, (at_q, torque) in levels.items():
            errors[key].append(torque(q, q[at_q], v, a) - exact[-1])
    for key, expected in LADDER.items():
        rms = np.sqrt(np.mean(np.square(errors[key]), axis=0))[order]
        np.testing.assert_allclose(rms, expected, atol=5e-4, err_msg=str(key))
    np.testing.assert_allclose(np.abs(exact).max(axis=0)[order], LARGEST, atol=5e-3)
