"""Kinematics, Jacobians and all terms, against Pinocchio on the tree and against finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples.mixed import KINDS, error, planar_leg, random_state, robot
from support.messages import raises

import pin_clusters as pc
from pin_clusters.algorithms.dynamics import all_terms, energy, rnea
from pin_clusters.algorithms.dynamics.crba import crba
from pin_clusters.algorithms.kinematics import centroidal, jacobians, kinematics
from pin_clusters.errors import ArgumentTypeError, ConfigurationError, DataMismatchError, ShapeError, UnknownNameError
from pin_clusters.model import configuration as conf

FRAMES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
# the same operations in another order: some roundings of numbers of order one, through a tree seven joints deep
ROUNDING = 1e-13
# central differences with h = 1e-5: truncation h^2 times third derivatives (up to 1e3 here), rounding 1e-16 / h
DIFFERENCES = 1e-6
H = 1e-5


def at(model, q, v, a, t):
    """State on a motion whose velocity is v and acceleration is a at t = 0, to second order in t."""
    return conf.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_forward_kinematics_is_pinocchios_with_velocities_of_the_tree(kind, seed):
    model = robot(kind, seed)
    data, tree = model.createData(), model.tree.createData()
    q, v, a = random_state(model, seed)
    G = model.coupling_matrix
    pin.forwardKinematics(model.tree, tree, q, G @ v, G @ a)
    pin.updateFramePlacements(model.tree, tree)
    kinematics.forwardKinematics(model, data, q, v, a)
    kinematics.updateFramePlacements(model, data)
    for j in range(model.njoints):
        assert error(data.oMi[j].homogeneous, tree.oMi[j].homogeneous) < ROUNDING
        assert error(data.v[j].vector, tree.v[j].vector) < ROUNDING
        assert error(data.a[j].vector, tree.a[j].vector) < ROUNDING
        for rf in FRAMES:
            for f in ("getVelocity", "getAcceleration", "getClassicalAcceleration"):
                own, theirs = getattr(kinematics, f)(model, data, j, rf), getattr(pin, f)(model.tree, tree, j, rf)
                assert error(own.vector, theirs.vector) < ROUNDING, f
    for k in range(model.nframes):
        assert error(data.oMf[k].homogeneous, tree.oMf[k].homogeneous) < ROUNDING
        for rf in FRAMES:
            for f in ("getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration"):
                own, theirs = getattr(kinematics, f)(model, data, k, rf), getattr(pin, f)(model.tree, tree, k, rf)
                assert error(own.vector, theirs.vector) < ROUNDING, f


def test_placements_in_every_way():
    model = robot("free")
    data, other = model.createData(), model.createData()
    q, v, _ = random_state(model)
    kinematics.framesForwardKinematics(model, data, q)
    kinematics.forwardKinematics(model, other, q)
    one = model.getFrameId("tip_tool")
    placement = kinematics.updateFramePlacement(model, other, one)
    assert error(placement.homogeneous, data.oMf[one].homogeneous) < ROUNDING
    kinematics.updateGlobalPlacements(model, other)
    kinematics.updateFramePlacements(model, other)
    assert all(error(x.homogeneous, y.homogeneous) < ROUNDING for x, y in zip(data.oMf, other.oMf, strict=True))
    kept = placement.copy()
    kinematics.forwardKinematics(model, other, conf.integrate(model, q, v))
    kinematics.updateFramePlacements(model, other)
    assert error(placement.homogeneous, kept.homogeneous) == 0.0  # results are fresh


@pytest.mark.parametrize("kind", ["free", "lines"])
def test_velocities_and_accelerations_are_derivatives(kind):
    """Independent of Pinocchio's velocities: placements along pc.integrate, by central differences."""
    model = robot(kind)
    data, near = model.createData(), model.createData()
    q, v, a = random_state(model, 2)
    kinematics.forwardKinematics(model, data, q, v, a)
    kinematics.updateFramePlacements(model, data)
    states = [at(model, q, v, a, t) for t in (-H, H)]
    for name in ("far_tool", "tip_tool", "follow_tool", "spun_tool", "arm_rotor_tool"):
        k = model.getFrameId(name)
        placements, speeds = [], []
        for qt, vt in states:
            kinematics.forwardKinematics(model, near, qt, vt)
            placements.append(kinematics.updateFramePlacement(model, near, k))
            speeds.append(kinematics.getFrameVelocity(model, near, k, pin.LOCAL).vector)
        measured = pin.log6(placements[0].actInv(placements[1])).vector / (2 * H)
        assert error(measured, kinematics.getFrameVelocity(model, data, k, pin.LOCAL).vector) < DIFFERENCES
        measured = (speeds[1] - speeds[0]) / (2 * H)
        assert error(measured, kinematics.getFrameAcceleration(model, data, k, pin.LOCAL).vector) < DIFFERENCES


@pytest.mark.parametrize("kind", KINDS)
def test_jacobians_give_the_velocities(kind):
    model = robot(kind, 1)
    data = model.createData()
    q, v, a = random_state(model, 3)
    dJ = jacobians.computeJointJacobiansTimeVariation(model, data, q, v)
    assert dJ.shape == (6, model.nv)
    J = data.J.copy()
    assert error(jacobians.computeJointJacobians(model, data, q), J) < ROUNDING
    J = jacobians.computeJointJacobians(model, data, q)
    assert J.shape == (6, model.nv)
    assert np.array_equal(J, data.J)
    kinematics.forwardKinematics(model, data, q, v, a)
    kinematics.updateFramePlacements(model, data)
    for rf in FRAMES:
        for j in range(1, model.njoints):
            Jj = jacobians.getJointJacobian(model, data, j, rf)
            assert Jj.shape == (6, model.nv)
            assert error(Jj @ v, kinematics.getVelocity(model, data, j, rf).vector) < ROUNDING
            if rf == pin.LOCAL:
                own = jacobians.computeJointJacobian(model, model.createData(), q, j)
                assert error(own, Jj) < ROUNDING
        for k in range(model.nframes):
            Jk = jacobians.getFrameJacobian(model, data, k, rf)
            assert error(Jk @ v, kinematics.getFrameVelocity(model, data, k, rf).vector) < ROUNDING
            own = jacobians.computeFrameJacobian(model, model.createData(), q, k, rf)
            assert error(own, Jk) < ROUNDING
    kinematics.updateFramePlacements(model, data)
    for k in range(model.nframes):
        Jk, dJk = (
            f(model, data, k, pin.LOCAL) for f in (jacobians.getFrameJacobian, jacobians.getFrameJacobianTimeVariation)
        )
        assert error(Jk @ a + dJk @ v, kinematics.getFrameAcceleration(model, data, k, pin.LOCAL).vector) < ROUNDING
    kinematics.forwardKinematics(model, data, q)
    assert error(jacobians.computeJointJacobians(model, data), J) < ROUNDING


def test_jacobian_derivatives_by_differences():
    model = robot("free", 2)
    data, near = model.createData(), model.createData()
    q, v, _ = random_state(model, 4)
    jacobians.computeJointJacobiansTimeVariation(model, data, q, v)
    for rf in FRAMES:
        for name in ("tip", "far", "follow", "zyx", "mixed"):
            j, k = model.getJointId(name), model.getFrameId(f"{name}_tool")
            joint, frame = [], []
            for t in (-H, H):
                jacobians.computeJointJacobians(model, near, conf.integrate(model, q, t * v))
                kinematics.updateFramePlacements(model, near)
                joint.append(jacobians.getJointJacobian(model, near, j, rf))
                frame.append(jacobians.getFrameJacobian(model, near, k, rf))
            dJ = jacobians.getJointJacobianTimeVariation(model, data, j, rf)
            assert error((joint[1] - joint[0]) / (2 * H), dJ) < DIFFERENCES
            kinematics.updateFramePlacements(model, data)
            dJ = jacobians.getFrameJacobianTimeVariation(model, data, k, rf)
            assert error((frame[1] - frame[0]) / (2 * H), dJ) < DIFFERENCES


def test_jacobian_of_the_leg_in_closed_form():
    model = planar_leg()
    q = conf.integrate(model, conf.neutral(model), [0.3, -0.7])
    J = jacobians.computeFrameJacobian(
        model, model.createData(), q, model.getFrameId("knee_rotor_tool"), pin.LOCAL_WORLD_ALIGNED
    )
    # the rotor of the belt sits at the hip and turns with the thigh and nine times the knee
    assert error(J, [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 9]]) < 1e-15
    J = jacobians.computeFrameJacobian(
        model, model.createData(), q, model.getFrameId("knee_tool"), pin.LOCAL_WORLD_ALIGNED
    )
    s, c = 0.5 * np.sin(0.3), 0.5 * np.cos(0.3)
    assert error(J, [[-s, 0], [c, 0], [0, 0], [0, 0], [0, 0], [1, 1]]) < 1e-15


@pytest.mark.parametrize("kind", KINDS)
def test_all_terms_fills_what_the_single_functions_give(kind):
    model = robot(kind, 3)
    data, other = model.createData(), model.createData()
    q, v, _ = random_state(model, 5)
    assert all_terms.computeAllTerms(model, data, q, v) is None
    assert error(data.M, crba(model, other, q)) < ROUNDING
    assert error(data.nle, rnea.nonLinearEffects(model, other, q, v)) < ROUNDING
    assert error(data.g, rnea.computeGeneralizedGravity(model, other, q)) < ROUNDING
    assert error(data.J, jacobians.computeJointJacobians(model, other, q)) < ROUNDING
    assert error(data.Jcom, centroidal.jacobianCenterOfMass(model, other, q)) < ROUNDING
    assert error(data.com[0], centroidal.centerOfMass(model, other, q, v)) < ROUNDING
    assert error(data.vcom[0], other.vcom[0]) < ROUNDING
    assert error(data.Ag, centroidal.computeCentroidalMap(model, other, q)) < ROUNDING
    assert error(data.hg.vector, centroidal.computeCentroidalMomentum(model, other, q, v).vector) < ROUNDING
    kinetic = energy.computeKineticEnergy(model, other, q, v)
    potential = energy.computePotentialEnergy(model, other, q)
    assert data.kinetic_energy == pytest.approx(kinetic, rel=1e-13)
    assert data.potential_energy == pytest.approx(potential, rel=1e-13)
    assert data.mechanical_energy == pytest.approx(kinetic + potential, rel=1e-12)
    kinematics.forwardKinematics(model, other, q, v)
    for j in range(model.njoints):
        assert error(data.oMi[j].homogeneous, other.oMi[j].homogeneous) < ROUNDING
        assert error(data.v[j].vector, other.v[j].vector) < ROUNDING


def test_inputs_of_every_kind():
    model = robot("free")
    data = model.createData()
    q, v, a = random_state(model)
    kinematics.forwardKinematics(model, data, q, v, a)
    expected = [x.vector.copy() for x in data.a]
    for convert in (list, tuple, lambda x: x[:, None], lambda x: np.repeat(x, 2)[::2], lambda x: x[None, :]):
        kinematics.forwardKinematics(model, data, convert(q), convert(v), convert(a))
        assert all(np.array_equal(x.vector, y) for x, y in zip(data.a, expected, strict=True))
    kinematics.forwardKinematics(model, data, *(x.astype(np.float32) for x in (q, v, a)))
    assert error([x.vector for x in data.a], expected) < 1e-4


def test_errors():
    model = robot("free")
    data = model.createData()
    q, v, a = random_state(model)
    with raises(ShapeError, "'free' v nv"):
        kinematics.forwardKinematics(model, data, q, model.coupling_matrix @ v)
    with raises(ShapeError, "q"):
        kinematics.forwardKinematics(model, data, v)
    with raises(ArgumentTypeError, "forwardKinematics q v"):
        kinematics.forwardKinematics(model, data, q, a=a)
    with raises(DataMismatchError, "pinocchio.Model ClusterData"):
        kinematics.forwardKinematics(model.tree, data, q)
    with raises(DataMismatchError, "ClusterData"):
        kinematics.updateFramePlacements(model, data.tree)
    with raises(DataMismatchError, "model.createData data.model"):
        jacobians.computeJointJacobians(model, robot("free").createData(), q)
    for bad in (-1, model.njoints):
        with raises(UnknownNameError, f"joint_id {bad} 0 {model.njoints - 1} model.getJointId"):
            kinematics.getVelocity(model, data, bad)
        with raises(UnknownNameError, "joint_id"):
            jacobians.getJointJacobian(model, data, bad, pin.LOCAL)
        with raises(UnknownNameError, "joint_id"):
            jacobians.computeJointJacobian(model, data, q, bad)
    with raises(UnknownNameError, "frame_id"):
        jacobians.computeFrameJacobian(model, data, q, model.nframes)
    with raises(UnknownNameError, "frame_id"):
        kinematics.updateFramePlacement(model, data, model.nframes)
    with raises(ArgumentTypeError, "model.getFrameId('tip_tool')"):
        kinematics.getFrameVelocity(model, data, "tip_tool")
    with raises(ArgumentTypeError, "frame_id 1.0"):
        kinematics.getFrameVelocity(model, data, 1.0)
    with raises(ArgumentTypeError, "pin.LOCAL 'LOCAL'"):
        kinematics.getFrameVelocity(model, data, 1, "LOCAL")
    assert kinematics.getVelocity(model, data, np.int64(1)) == data.v[1]


def test_data_check_finds_what_is_off():
    model = robot("free")
    data = model.createData()
    data.check = True
    q, v, _ = random_state(model)
    kinematics.forwardKinematics(model, data, q, v)
    bad = q.copy()
    bad[model.idx_qs[model.getJointId("far")]] += 0.1
    for f in (kinematics.forwardKinematics, jacobians.computeJointJacobians, centroidal.centerOfMass):
        with raises(ConfigurationError, "'far' pc.project"):
            f(model, data, bad)
    model.tree.inertias[1] = pin.Inertia.Random()
    with raises(DataMismatchError, "'free' model.tree ClusterModel"):
        kinematics.forwardKinematics(model, data, q)


def test_nan_propagates():
    model = robot("free")
    data = model.createData()
    q, v, _ = random_state(model)
    kinematics.forwardKinematics(model, data, q, np.nan * v)
    assert np.isnan(data.v[model.getJointId("far")].vector).any()


@pytest.mark.jitless
def test_a_robot_of_one_velocity():
    """Pinocchio gives Jacobians of one column as vectors: each function that makes more of them, after another one."""
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), "hinge")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3)), pin.SE3.Identity())
    path = [("universe", [1.0, 0.0, 0.0]), ("hinge", [0.4, 0.1, 0.2]), ("universe", [0.5, 0.6, 0.5])]
    model = pc.ClusterModel(tree, [pc.Spring(path, 5.0)])
    data, plain = model.createData(), tree.createData()
    q, v, a = np.array([0.4]), np.array([-0.3]), np.array([0.7])
    contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, 1, pin.SE3.Identity(), pin.LOCAL)
    kinematics.forwardKinematics(model, data, q, v, a)
    J = pin.computeJointJacobians(tree, plain, q).reshape(6, 1)
    pin.jacobianCenterOfMass(tree, plain, q)
    assert error(jacobians.computeJointJacobians(model, data), J) < ROUNDING
    assert error(centroidal.jacobianCenterOfMass(model, data), plain.Jcom.reshape(3, 1)) < ROUNDING
    # of the origin of the joint, in its own axes: it does not move
    rows = pc.getConstraintsJacobian(model, data, [contact], [contact.createData()])
    assert error(rows, np.zeros((3, 1))) < ROUNDING
    own = pc.computeCentroidalDynamicsDerivatives(model, data, q, v, a)
    for one, other in zip(own, pc.reference.centroidal_derivatives(model, q, v, a), strict=True):
        assert error(one, other) < ROUNDING

    def length(x):
        pin.forwardKinematics(tree, plain, np.array([x]))
        first, middle, last = (plain.oMi[tree.getJointId(n)].act(np.array(p)) for n, p in path)
        return float(np.linalg.norm(middle - first) + np.linalg.norm(last - middle))

    pull = -5.0 * length(q[0]) * (length(q[0] + H) - length(q[0] - H)) / (2.0 * H)
    assert abs(pc.passive_torque(model, data, q, v)[0] - pull) < DIFFERENCES
    # a rod from the axis to the world stands still: it adds no equation, and its mass no torque
    model = pc.ClusterModel(tree, [pc.Rod(("hinge", [0.0, 0.4, 0.0]), path[0], mass=0.5)])
    data, work = model.createData(), pc.baselines.projection.createData(model)
    assert error(pc.baselines.projection.rnea(model, work, q, v, a), pc.rnea(model, data, q, v, a)) < ROUNDING
    kinematics.forwardKinematics(model, data, q, v, a)
    assert error(1.5 * centroidal.jacobianCenterOfMass(model, data), plain.Jcom.reshape(3, 1)) < ROUNDING
