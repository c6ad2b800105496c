"""The bridge to the spanning tree, and the motor side."""

from __future__ import annotations

import contextlib

import numpy as np
import pinocchio as pin
import pytest
from samples.mixed import KINDS, error, planar_leg, random_state, robot, rotors_as_bodies
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support import missing
from pin_clusters.algorithms.dynamics import coupling, motor
from pin_clusters.algorithms.dynamics.rnea import rnea
from pin_clusters.algorithms.passed import _ON_TREE
from pin_clusters.constraints import Gear, LinearCoupling, Rotor
from pin_clusters.errors import ArgumentTypeError, ConfigurationError, ModelError, NotAvailableError, ShapeError
from pin_clusters.model import ClusterModel
from pin_clusters.model import configuration as conf

# sums of a few products of numbers up to ten
ROUNDING = 1e-14


@pytest.mark.parametrize("kind", KINDS)
def test_spanning_velocity_is_the_derivative_of_the_couplings(kind):
    """G by another route: the motion of the whole tree along pc.integrate."""
    model = robot(kind)
    data = model.createData()
    q, v, a = random_state(model)
    h = 1e-6
    moved = pin.difference(model.tree, conf.integrate(model, q, -h * v), conf.integrate(model, q, h * v)) / (2 * h)
    assert error(moved, coupling.spanning_velocity(model, data, q, v)) < 1e-8  # rounding of q over h
    G = coupling.coupling_jacobian(model, data, q)
    assert G.shape == (model.tree.nv, model.nv)
    assert error(G @ v, coupling.spanning_velocity(model, data, q, v)) < ROUNDING
    bias = coupling.coupling_bias(model, data, q, v)
    assert bias.shape == (model.tree.nv,)
    assert error(G @ a + bias, coupling.spanning_acceleration(model, data, q, v, a)) < ROUNDING
    assert np.array_equal(G[model.idx_v_independent], np.eye(model.nv))
    G[:] = 0.0  # a fresh array: the model keeps its own
    assert np.any(coupling.coupling_jacobian(model, data, q))


def test_chain_in_closed_form():
    model = robot("free")
    data = model.createData()
    q, v, _ = random_state(model)
    whole = coupling.spanning_velocity(model, data, q, v)

    def speed(name):
        return whole[model.tree.joints[model.getJointId(name)].idx_v]

    assert speed("arm_rotor") == pytest.approx(-7.5 * speed("arm"), rel=1e-14)
    assert speed("far") == pytest.approx(0.8 * speed("tip") + 0.75 * speed("arm"), rel=1e-13)
    assert speed("follow") == pytest.approx(0.5 * (2.0 * speed("spin") + 0.7 * speed("slide")), rel=1e-13)
    assert speed("arm") == v[model.joint_idx_v("arm")]


def test_independent_velocity_undoes_and_refuses():
    model = robot("free")
    data = model.createData()
    q, v, _ = random_state(model)
    whole = coupling.spanning_velocity(model, data, q, v)
    assert np.array_equal(coupling.independent_velocity(model, data, q, whole), v)
    assert np.array_equal(coupling.independent_velocity(model, data, q, list(whole)), v)
    assert error(coupling.independent_velocity(model, data, q, whole.astype(np.float32)), v) < 1e-6
    whole[model.tree.joints[model.getJointId("far")].idx_v] += 0.5
    with raises(ConfigurationError, "'far' LinearCoupling('far')"):
        coupling.independent_velocity(model, data, q, whole)
    assert np.array_equal(coupling.independent_velocity(model, data, q, whole, tolerance=1.0), v)
    with raises(ShapeError, "v_tree 3"):
        coupling.independent_velocity(model, data, q, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("kind", KINDS)
def test_independent_torque_does_the_same_work(kind):
    model = robot(kind)
    data = model.createData()
    q, v, a = random_state(model)
    rng = np.random.default_rng(0)
    tau_tree = rng.normal(size=model.tree.nv)
    tau = coupling.independent_torque(model, data, q, tau_tree)
    assert tau @ v == pytest.approx(tau_tree @ coupling.spanning_velocity(model, data, q, v), rel=1e-12)
    if kind in ("free", "lines"):
        return
    # without Rotor constraints it is inverse dynamics by projection
    bare = ClusterModel(model.tree, [c for c in model.constraints if not isinstance(c, Rotor)])
    data = bare.createData()
    tree_tau = pin.rnea(
        bare.tree, bare.tree.createData(), q, *(coupling.coupling_jacobian(bare, data, q) @ x for x in (v, a))
    )
    assert error(rnea(bare, data, q, v, a), coupling.independent_torque(bare, data, q, tree_tau)) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_rotor_speeds_are_those_of_bodies(kind):
    model = robot(kind)
    data = model.createData()
    q, v, _ = random_state(model)
    speeds = motor.rotor_velocity(model, data, q, v)
    assert speeds.shape == (len(model.rotors),)
    tree, G = rotors_as_bodies(model)
    whole = tree.createData()
    pin.forwardKinematics(tree, whole, np.concatenate([q, np.zeros(tree.nq - model.nq)]), G @ v)
    for r, speed in zip(model.rotors, speeds, strict=True):
        j = tree.getJointId(r.name)
        # the spin is the angular velocity relative to the carrier, along the axis in the world
        relative = (
            whole.oMi[j].rotation @ whole.v[j].angular
            - whole.oMi[r.carrier_id].rotation @ whole.v[r.carrier_id].angular
        )
        axis = whole.oMi[r.carrier_id].rotation @ r.axis
        assert relative @ axis == pytest.approx(speed, rel=1e-12, abs=1e-12)
    B = motor.actuation_matrix(model, data, q)
    assert B.shape == (model.nv, len(model.rotors))
    assert error(B.T @ v, speeds) < ROUNDING


def test_motor_torque_does_the_same_work():
    model = planar_leg()
    data = model.createData()
    q, v, _ = random_state(model)
    tau = np.array([3.0, -9.0])
    found = motor.motor_torque(model, data, q, tau)
    assert [r.name for r in model.rotors] == ["hip_rotor", "knee_rotor"]
    # the belt's motor sits on the thigh: it turns at 9 times the knee, relative to the thigh
    assert error(found, [0.5, -1.0]) < ROUNDING
    assert found @ motor.rotor_velocity(model, data, q, v) == pytest.approx(tau @ v, rel=1e-13)
    assert error(motor.actuation_matrix(model, data, q) @ found, tau) < ROUNDING


def test_belt_over_two_joints():
    """The ankle's rotor on the thigh turns with knee and ankle: torques at the motors mix."""
    tree = planar_leg().tree
    model = ClusterModel(
        tree,
        [
            LinearCoupling("hip_rotor", {"hip": 6.0}),
            LinearCoupling("knee_rotor", {"knee": 12.0, "hip": 12.0}),
        ],
    )
    data = model.createData()
    q, v, _ = random_state(model)
    assert error(motor.rotor_velocity(model, data, q, v), [6 * v[0], 12 * v[0] + 12 * v[1]]) < ROUNDING
    # tau = B tau_motor: hip 6 m1 + 12 m2, knee 12 m2
    assert error(motor.motor_torque(model, data, q, [18.0, 12.0]), [1.0, 1.0]) < ROUNDING


def test_motor_torque_says_which_joints_have_no_motor():
    tree = planar_leg().tree
    model = ClusterModel(tree, [Gear("hip", "hip_rotor", 6.0)])
    with raises(ModelError, "1 nv 3 joint(s) 'knee' 'knee_rotor'"):
        motor.motor_torque(model, model.createData(), conf.neutral(model), np.zeros(3))
    two = [Gear("hip", "hip_rotor", 6.0), LinearCoupling("knee_rotor", {"hip": 6.0})]  # a slower one is a stage
    model = ClusterModel(tree, two)
    with raises(ModelError, "'knee'"):
        motor.motor_torque(model, model.createData(), conf.neutral(model), np.zeros(2))
    pair = ["shoulder1_joint", "shoulder2_joint"]
    rotors = [Rotor(pair, [2.0, -2.0], axial_inertia=1e-3, name=name) for name in ("first", "second")]
    rotors += [Rotor(f"{n}_joint", 3.0, axial_inertia=1e-3) for n in ("shoulder3", "elbow", "wrist1", "wrist2")]
    alike = ClusterModel(pin.buildSampleModelManipulator(), rotors)
    with raises(ModelError, "'shoulder1_joint' 'shoulder2_joint'"):
        motor.motor_torque(alike, alike.createData(), conf.neutral(alike), np.zeros(6))
    free = robot("free")
    with raises(ModelError, "'root' pc.actuation_matrix"):
        motor.motor_torque(free, free.createData(), conf.neutral(free), np.zeros(free.nv))


def test_errors():
    model = robot("free")
    data = model.createData()
    q, v, a = random_state(model)
    whole = model.coupling_matrix @ v
    calls = {
        coupling.spanning_velocity: (q, whole),
        coupling.coupling_bias: (q, whole),
        motor.rotor_velocity: (q, whole),
        motor.motor_torque: (q, whole),
    }
    for f, arguments in calls.items():
        with pytest.raises((ShapeError, ModelError)):
            f(model, data, *arguments)
        with raises(ArgumentTypeError, "ClusterModel"):
            f(model.tree, data, *arguments)
    with raises(ShapeError, "a"):
        coupling.spanning_acceleration(model, data, q, v, whole)
    with raises(ShapeError, "tau_tree"):
        coupling.independent_torque(model, data, q, v)
    with raises(ShapeError, "q"):
        coupling.coupling_jacobian(model, data, v)
    data.check = True
    bad = q.copy()
    bad[model.idx_qs[model.getJointId("far")]] += 0.1
    for f, arguments in ((coupling.coupling_jacobian, ()), (motor.actuation_matrix, ()), (motor.rotor_velocity, (v,))):
        with raises(ConfigurationError, "'far'"):
            f(model, data, bad, *arguments)
    assert a.shape == v.shape


def test_functions_of_models_without_a_cluster_version_have_a_route():
    model = robot("free")
    refused = 0
    for name in dir(pin):
        thing = getattr(pc, name) if name[0] != "_" else None
        if hasattr(thing, "__wrapped__") and name not in {*pc.__all__, *_ON_TREE}:
            with contextlib.suppress(TypeError, AttributeError, ValueError):  # of Pinocchio, which wants more arguments
                with raises(NotAvailableError, f"'{name}'"):
                    thing(model)
                refused += 1
    assert refused > 5
    assert "pc.expand_mimic" in missing.route("transformJointIntoMimic")
    assert "pc.batch.aba" in missing.route("abaInParallel")
