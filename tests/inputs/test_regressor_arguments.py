"""Bad arguments of regressors, of models with other parameters, and of derivatives with respect to ratios."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc

pytestmark = pytest.mark.jitless


@pytest.fixture
def model() -> pc.ClusterModel:
    tree = pin.buildSampleModelManipulator()
    return pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=1e-5)])


def test_sizes_and_types_of_states(model: pc.ClusterModel) -> None:
    data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
    for function, given in (
        (pc.computeJointTorqueRegressor, (q, v, v)),
        (pc.computeKineticEnergyRegressor, (q, v)),
        (pc.computePotentialEnergyRegressor, (q,)),
        (pc.computeStaticRegressor, (q,)),
        (pc.computeRatioDerivatives, (q, v, v)),
    ):
        for i, name in enumerate("qva"[: len(given)]):
            wrong = [*given]
            wrong[i] = np.zeros(3)
            with raises(pc.ShapeError, f"{name} 3"):
                function(model, data, *wrong)
            wrong[i] = "text"
            with raises(pc.ArgumentTypeError, name):
                function(model, data, *wrong)
        with pytest.raises(pc.DataMismatchError):
            function(pc.load("four_bar"), data, *given)
        own = function is pc.computeRatioDerivatives  # Pinocchio has the others
        with raises(pc.ArgumentTypeError if own else pc.DataMismatchError, "ClusterModel"):
            function(model.tree, data, *given)


def test_sizes_of_parameters(model: pc.ClusterModel) -> None:
    values, _ = pc.parameters(model)
    with raises(pc.ShapeError, "30 61"):
        pc.with_parameters(model, pc.parameters(pc.load("four_bar"))[0])
    with raises(pc.ShapeError, "with_parameters (2, 61)"):
        pc.with_parameters(model, np.stack([values, values]))
    with raises(pc.ArgumentTypeError, "values"):
        pc.with_parameters(model, "text")
    for function in (pc.parameters, pc.identifiable_parameters):
        with raises(pc.ArgumentTypeError, "ClusterModel Model"):
            function(model.tree)
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        pc.with_parameters(model.tree, values)


@pytest.mark.parametrize(
    ("label", "value", "words"),
    [
        ("elbow_joint: mass", -1.0, "'elbow_joint' -1"),
        ("elbow_joint: mass", 0.0, "'elbow_joint'"),
        ("elbow_joint: Izz", -0.1, "'elbow_joint'"),
        ("elbow_joint: Ixx", 99.0, "'elbow_joint'"),
        ("elbow_joint: mx", 9.0, "'elbow_joint'"),
        ("elbow_joint: Ixy", np.nan, "elbow_joint nan"),
        ("rotor:elbow_joint: axial inertia", -1e-6, "elbow_joint -1e-06"),
    ],
)
def test_impossible_parameters_name_the_body(model: pc.ClusterModel, label: str, value: float, words: str) -> None:
    values, labels = pc.parameters(model)
    values[labels.index(label)] = value
    if label == "elbow_joint: mass" and not value:
        values[labels.index("elbow_joint: mx")] = 0.3
    with raises(pc.InertiaError, words):
        pc.with_parameters(model, values)


def test_negative_armature_and_rods_are_named() -> None:
    tree = pin.buildSampleModelManipulator()
    armature = np.zeros(tree.nv)
    armature[2] = 0.1
    tree.armature = armature
    model = pc.ClusterModel(tree)
    values, labels = pc.parameters(model)
    assert labels[-1] == "shoulder3_joint: armature"
    values[-1] = -0.1
    with raises(pc.InertiaError, "shoulder3_joint armature -0.1"):
        pc.with_parameters(model, values)
    delta = pc.load("delta")
    values, labels = pc.parameters(delta)
    assert labels[-1].startswith("Rod(")
    values[-1] *= -1.0
    with raises(pc.InertiaError, "with_parameters"):
        pc.with_parameters(delta, values)


def test_bodies_that_stay_as_they_are_may_be_impossible() -> None:
    """Published robots have such links; the rest can be identified all the same."""
    with warns(pc.PinClustersWarning, "'mini_cheetah' 'HR_hip_link' 'HL_hip_link'"):
        model = pc.load("mini_cheetah")
    values, labels = pc.parameters(model)
    values[labels.index("FL_knee: mass")] *= 1.1
    other = pc.with_parameters(model, values)
    assert pc.parameters(other)[0][labels.index("FL_knee: mass")] == values[labels.index("FL_knee: mass")]
    values[labels.index("FL_hip: Ixx")] *= 1.1
    with raises(pc.InertiaError, "'FL_hip'"):
        pc.with_parameters(model, values)


def test_a_rotor_that_is_no_more_balanced_stays_a_body() -> None:
    model = pc.load("mit_humanoid_leg")
    values, labels = pc.parameters(model)
    name = model.rotors[0].name
    values[labels.index(f"{name}: Ixx")] *= 1.2
    other = pc.with_parameters(model, values)
    assert model.rotors[0].spins
    assert not other.rotors[0].spins


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of kernels as plain Python
def test_singular_poses_are_named() -> None:
    model = pc.load("four_bar_change_point")
    data, q, v = model.createData(), np.zeros(model.nq), np.ones(1)
    for function, given in ((pc.computeJointTorqueRegressor, (q, v, v)), (pc.computeKineticEnergyRegressor, (q, v))):
        with pytest.raises(pc.SingularClusterError):
            function(model, data, *given)
    pc.computePotentialEnergyRegressor(model, data, q)  # needs no G


def test_ratios_on_which_it_depends_where_a_loop_is_closed() -> None:
    tree = pc.load("four_bar").tree
    j = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "motor")
    tree.appendBodyToJoint(j, pin.Inertia(0.1, np.zeros(3), 1e-4 * np.eye(3)), pin.SE3.Identity())
    ends = ("coupler", [0.21, 0.0, 0.20]), ("rocker", [-0.16, 0.0, 0.30])
    loop = pc.Loop(*ends, "revolute", axis=(0, 1, 0))
    model = pc.ClusterModel(tree, [loop, pc.LinearCoupling("crank", {"motor": 0.5})], independent=["motor"])
    data = model.createData()
    with raises(pc.ModelError, "LinearCoupling('crank') 'crank'"):
        pc.computeRatioDerivatives(model, data, pc.neutral(model), np.ones(1), np.ones(1))
