"""Centre of mass and momentum, against trees in which every rotor is a body, and against finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from samples.mixed import KINDS, disc, error, planar_leg, random_state, robot, rotors_as_bodies
from support.messages import raises

from pin_clusters.algorithms.dynamics.aba import aba
from pin_clusters.algorithms.dynamics.rnea import rnea
from pin_clusters.algorithms.kinematics import centroidal, kinematics
from pin_clusters.constraints import Rotor
from pin_clusters.errors import ArgumentTypeError, ShapeError
from pin_clusters.model import ClusterModel
from pin_clusters.model import configuration as conf

# the same operations in another order, rotors of 12 times the joint speed
ROUNDING = 1e-13
# central differences with h = 1e-5, see test_kinematics
DIFFERENCES = 1e-6
H = 1e-5


def bodies(model, q):
    """Tree with all rotors as bodies, its G, a configuration of it at any rotor angle, and its data."""
    tree, G = rotors_as_bodies(model)
    angles = np.random.default_rng(1).uniform(-3, 3, size=tree.nq - model.nq)
    return tree, G, np.concatenate([q, angles]), tree.createData()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", pool.some(range(3), 1, rest="ci"))
def test_everything_equals_the_tree_with_rotors_as_bodies(kind, seed):
    model = robot(kind, seed)
    data = model.createData()
    q, v, a = random_state(model, seed)
    tree, G, whole, other = bodies(model, q)
    com = centroidal.centerOfMass(model, data, q, v, a)
    assert error(com, pin.centerOfMass(tree, other, whole, G @ v, G @ a)) < ROUNDING
    assert np.array_equal(com, data.com[0])
    assert data.mass[0] == pytest.approx(other.mass[0], rel=1e-14)
    assert error(data.vcom[0], other.vcom[0]) < ROUNDING
    assert error(data.acom[0], other.acom[0]) < ROUNDING
    J = centroidal.jacobianCenterOfMass(model, data, q)
    assert error(J, pin.jacobianCenterOfMass(tree, other, whole) @ G) < ROUNDING
    assert np.array_equal(J, data.Jcom)
    h = centroidal.computeCentroidalMomentum(model, data, q, v)
    assert isinstance(h, pin.Force)
    assert error(h.vector, pin.computeCentroidalMomentum(tree, other, whole, G @ v).vector) < ROUNDING
    assert h == data.hg
    A = centroidal.computeCentroidalMap(model, data, q)
    assert error(A, pin.computeCentroidalMap(tree, other, whole) @ G) < ROUNDING
    assert np.array_equal(A, data.Ag)
    assert error(A @ v, h.vector) < ROUNDING
    assert error(centroidal.ccrba(model, data, q, v), A) < ROUNDING
    assert error(data.hg.vector, h.vector) < ROUNDING
    rate = centroidal.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    theirs = pin.computeCentroidalMomentumTimeVariation(tree, other, whole, G @ v, G @ a)
    assert error(rate.vector, theirs.vector) < ROUNDING
    assert error(data.hg.vector, h.vector) < ROUNDING
    assert data.tree.dhg == rate


@pytest.mark.parametrize("kind", ["free", "fixed"])
def test_by_finite_differences(kind):
    """Independent of every velocity of Pinocchio: positions and momenta along pc.integrate."""
    model = robot(kind, 1)
    data, near = model.createData(), model.createData()
    q, v, a = random_state(model, 1)
    states = [(conf.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a) for t in (-H, H)]
    com = [centroidal.centerOfMass(model, near, qt) for qt, _ in states]
    momentum = [centroidal.computeCentroidalMomentum(model, near, qt, vt).vector for qt, vt in states]
    assert error((com[1] - com[0]) / (2 * H), centroidal.jacobianCenterOfMass(model, data, q) @ v) < DIFFERENCES
    rate = centroidal.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
    # momenta are of order 1e2 here, and their rounding is divided by h
    assert error((momentum[1] - momentum[0]) / (2 * H), rate) < DIFFERENCES
    mass = pin.computeTotalMass(model.inertia_tree)
    centroidal.centerOfMass(model, data, q, v)
    assert error(momentum[0][:3] + momentum[1][:3], 2 * mass * data.vcom[0]) < DIFFERENCES


@pytest.mark.parametrize("seed", range(3))
def test_newton_and_euler_for_a_floating_robot(seed):
    """The base feels what changes the momentum: no force but gravity and that on the base acts from outside."""
    model = robot("free", seed)
    data = model.createData()
    q, v, a = random_state(model, seed)
    tau = rnea(model, data, q, v, a)
    rate = centroidal.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    com, mass = data.com[0].copy(), pin.computeTotalMass(model.inertia_tree)
    oMb = data.oMi[model.getJointId("root")]
    on_base = oMb.act(pin.Force(tau[:6]))
    weight = mass * np.asarray(model.gravity.linear)
    scale = max(1.0, np.abs(tau).max())
    assert np.abs(on_base.linear + weight - rate.linear).max() < ROUNDING * scale * 10
    about_com = on_base.angular - np.cross(com, on_base.linear)
    assert np.abs(about_com - rate.angular).max() < ROUNDING * scale * 10


def test_momentum_is_kept_in_free_fall():
    """Passive floating robot without gravity: the momentum about the centre of mass stays (fourth-order steps)."""
    model = robot("free").with_gravity(np.zeros(3))
    data = model.createData()
    q, v, _ = random_state(model)
    v, none = 0.3 * v, np.zeros(model.nv)
    start = centroidal.computeCentroidalMomentum(model, data, q, v).vector
    h = 1e-3
    for _ in range(100):
        k1v, k1 = v, aba(model, data, q, v, none)
        k2v = v + 0.5 * h * k1
        k2 = aba(model, data, conf.integrate(model, q, 0.5 * h * k1v), k2v, none)
        k3v = v + 0.5 * h * k2
        k3 = aba(model, data, conf.integrate(model, q, 0.5 * h * k2v), k3v, none)
        k4v = v + h * k3
        k4 = aba(model, data, conf.integrate(model, q, h * k3v), k4v, none)
        q = conf.integrate(model, q, h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v))
        v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    end = centroidal.computeCentroidalMomentum(model, data, q, v).vector
    # plain RK4 on a group is of third order at worst: (1e-3)^3 times 0.1 s
    assert error(end, start) < 1e-7
    assert np.abs(conf.residual(model, q)).max() < 1e-12


def test_spin_of_one_rotor_in_closed_form():
    """A wheel on a floating body at rest: only the rotor turns, J s times its speed is all the momentum there is."""
    axis = np.array([0.0, 0.6, 0.8])
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    link = pin.Inertia(3.0, np.array([0.1, -0.2, 0.3]), np.diag([1.0, 1.2, 1.4]))  # can hold the wheel
    tree.appendBodyToJoint(base, link, pin.SE3.Identity())
    crank = tree.addJoint(base, pin.JointModelRX(), pin.SE3.Identity(), "crank")
    tree.appendBodyToJoint(crank, pin.Inertia.Zero(), pin.SE3.Identity())
    whole = Rotor("crank", 50.0, inertia=disc(axis, 2.0, 0.3, 0.2), axis=axis, placement=pin.SE3.Random())
    axial = Rotor("crank", 50.0, axial_inertia=0.3, axis=axis, placement=whole.placement)
    for rotor in (whole, axial):
        model = ClusterModel(tree, [rotor])
        data = model.createData()
        pin.seed(1)
        q = conf.randomConfiguration(model)
        v = np.array([0, 0, 0, 0, 0, 0, 2.0])
        h = centroidal.computeCentroidalMomentum(model, data, q, v)
        spin = data.oMi[base].rotation @ rotor.placement.rotation @ axis
        assert error(h.vector, [0, 0, 0, *(0.3 * 100.0 * spin)]) < 1e-14
        centroidal.centerOfMass(model, data, q)
        extra = 2.0 if rotor is whole else 0.0
        assert data.mass[0] == pytest.approx(tree.inertias[base].mass + extra, rel=1e-15)


def test_leg_in_closed_form():
    model = planar_leg()
    data = model.createData()
    q = conf.integrate(model, conf.neutral(model), [0.3, -0.7])
    c1, c12 = np.array([np.cos(0.3), np.sin(0.3), 0]), np.array([np.cos(-0.4), np.sin(-0.4), 0])
    # thigh 2 kg at 0.25 m, shank 1 kg at 0.2 m below the knee (0.5 m), rotors 0.3 and 0.2 kg at the hip
    com = (2.0 * 0.25 * c1 + 1.0 * (0.5 * c1 + 0.2 * c12)) / 3.5
    assert error(centroidal.centerOfMass(model, data, q), com) < 1e-15
    v = np.array([0.5, 2.0])
    h = centroidal.computeCentroidalMomentum(model, data, q, v)
    w = np.array([0.0, 0.0, 1.0])
    turn = [0.5, 2.5]
    points = [(2.0, 0.25 * c1), (1.0, 0.5 * c1 + 0.2 * c12), (0.5, np.zeros(3))]
    speeds = [
        0.25 * np.cross(w, c1) * turn[0],
        0.5 * np.cross(w, c1) * turn[0] + 0.2 * np.cross(w, c12) * turn[1],
        0 * w,
    ]
    linear = sum(m * s for (m, _), s in zip(points, speeds, strict=True))
    spins = 0.1 * turn[0] + 0.05 * turn[1] + 0.01 * (6 * v[0]) + 0.02 * (v[0] + 9 * v[1])
    angular = sum(np.cross(x - com, m * s) for (m, x), s in zip(points, speeds, strict=True)) + spins * w
    assert error(h.vector, [*linear, *angular]) < 1e-14


def test_without_q_after_forward_kinematics_and_subtrees():
    model = robot("free")
    data, other = model.createData(), model.createData()
    q, v, a = random_state(model)
    kinematics.forwardKinematics(model, data, q, v, a)
    com = centroidal.centerOfMass(model, data)
    assert error(com, centroidal.centerOfMass(model, other, q)) < ROUNDING
    assert (
        error(centroidal.jacobianCenterOfMass(model, data), centroidal.jacobianCenterOfMass(model, other, q)) < ROUNDING
    )
    centroidal.centerOfMass(model, other, q, compute_subtree_coms=True)
    theirs = model.tree.createData()
    pin.centerOfMass(model.inertia_tree, theirs, q, True)
    for j in range(model.njoints):
        assert error(other.com[j], theirs.com[j]) < ROUNDING
    assert error(centroidal.centerOfMass(model, other, q, compute_subtree_coms=False), com) < ROUNDING


def test_results_are_fresh():
    model = robot("free")
    data = model.createData()
    q, v, _ = random_state(model)
    results = [
        centroidal.centerOfMass(model, data, q, v),
        centroidal.jacobianCenterOfMass(model, data, q),
        centroidal.computeCentroidalMap(model, data, q),
        centroidal.computeCentroidalMomentum(model, data, q, v).vector,
    ]
    kept = [x.copy() for x in results]
    moved = conf.integrate(model, q, v)
    centroidal.centerOfMass(model, data, moved, v)
    centroidal.jacobianCenterOfMass(model, data, moved)
    centroidal.computeCentroidalMap(model, data, moved)
    centroidal.computeCentroidalMomentum(model, data, moved, v)
    assert all(np.array_equal(x, y) for x, y in zip(results, kept, strict=True))
    results[1][:] = 0.0
    assert np.any(data.Jcom)


def test_errors():
    model = robot("free")
    data = model.createData()
    q, v, a = random_state(model)
    with raises(ArgumentTypeError, "v q"):
        centroidal.centerOfMass(model, data, v=v)
    with raises(ArgumentTypeError, "v q"):
        centroidal.centerOfMass(model, data, q, a=a)
    with raises(ShapeError, "'free' v nv"):
        centroidal.computeCentroidalMomentum(model, data, q, model.coupling_matrix @ v)
    with raises(ShapeError, "q"):
        centroidal.computeCentroidalMap(model, data, v)
    with raises(ArgumentTypeError, "ClusterModel"):
        centroidal.ccrba(data, data.tree, q, v)
