"""Which leaf bodies that follow other joints are rotors, and which of these are motors: fingers are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters import approximations

SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
DISC = pin.Inertia(0.1, np.zeros(3), np.diag([1e-4, 1e-4, 2e-4]))
MOTOR = pc.Rotor("leads", 100.0, axial_inertia=1e-6, name="motor")


def pair(joint: pin.JointModel, body: pin.Inertia, *constraints: Any) -> pc.ClusterModel:
    """A link that leads, and beside it a body that follows."""
    tree = pin.Model()
    tree.name = "pair"
    link = pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.01 * np.eye(3))
    for name, kind, inertia in (("leads", pin.JointModelRZ(), link), ("follows", joint, body)):
        tree.appendBodyToJoint(tree.addJoint(0, kind, pin.SE3.Identity(), name), inertia, pin.SE3.Identity())
    return pc.ClusterModel(tree, constraints)


def off(distance: float) -> pin.Inertia:
    """The disc with its centre of mass off the axis; its inertia about it is that of 0.0447 m."""
    return pin.Inertia(0.1, np.array([distance, 0.0, 0.0]), DISC.inertia)


def follow(ratio: float) -> pc.LinearCoupling:
    return pc.LinearCoupling("follows", {"leads": ratio})


@pytest.mark.parametrize(
    ("joint", "body", "tie", "is_rotor"),
    [
        (pin.JointModelRZ(), DISC, follow(6.0), True),
        (pin.JointModelRZ(), DISC, follow(-1.0), False),  # a wheel beside a wheel
        (pin.JointModelRZ(), DISC, follow(0.5), False),
        (pin.JointModelRZ(), DISC, pc.Gear("leads", "follows", 0.5), True),  # a gear says what it is
        (pin.JointModelRZ(), DISC, pc.Belt("leads", "follows", 1.0), True),
        (pin.JointModelRZ(), off(0.044), follow(6.0), True),
        (pin.JointModelRZ(), off(0.046), follow(6.0), False),  # it swings
        (pin.JointModelRZ(), off(0.046), pc.Gear("leads", "follows", 6.0), False),
        (pin.JointModelPX(), DISC, follow(6.0), False),
        (pin.JointModelPX(), DISC, pc.Gear("leads", "follows", 6.0), False),
    ],
)
def test_a_rotor_turns_about_its_centre_and_faster_than_what_drives_it(
    joint: pin.JointModel, body: pin.Inertia, tie: Any, is_rotor: bool
) -> None:
    model = pair(joint, body, tie)
    (cluster,) = model.clusters
    assert ([r.name for r in model.rotors], cluster.rotors) == ((["follows"], ("follows",)) if is_rotor else ([], ()))
    assert approximations.followers(model) == (() if is_rotor else ("follows",))
    assert not model.closures
    assert cluster.dependent == ("follows",)
    if not is_rotor:
        assert cluster.bodies == ()
        assert str(cluster) == "leads -> follows   (on universe)"


def test_a_gripper_has_the_motors_that_are_stated(rng: np.random.Generator) -> None:
    model = pair(pin.JointModelPX(), off(0.1), follow(-0.1), MOTOR)
    data, q = model.createData(), pc.neutral(model)
    assert [r.name for r in model.motors] == ["motor"]
    assert pc.motor_torque(model, data, q, [3.0]) == pytest.approx([0.03], rel=1e-14)
    v, a = rng.normal(size=(2, 1))
    expected = pc.rnea(model, data, q, v, a)
    wide = pin.Data(model.tree)
    G = model.coupling_matrix  # Pinocchio's tree, and the finger's mass in the torque of what leads
    torque = G.T @ pin.rnea(model.tree, wide, q, G @ v, G @ a) + 1e-6 * 100.0**2 * a
    assert expected == pytest.approx(torque, rel=1e-12)


def test_approximations_lock_a_finger_as_they_did() -> None:
    """Its mass is in its carrier, what it reflects is armature; the robot's own reflected inertia has no finger."""
    model = pair(pin.JointModelPX(), DISC, follow(-0.1), MOTOR)
    q, link = pc.neutral(model), 0.01 + 0.2**2
    for name, more in (("none", 0.0), ("diagonal", 0.01 + 0.1 * 0.1**2), ("block", 0.01 + 0.1 * 0.1**2)):
        assert approximations.of(model)[name].crba(q).item() == pytest.approx(link + more, rel=1e-12), name
        robot = approximations.robot(model, name)
        assert pc.crba(robot, robot.createData(), q).item() == pytest.approx(link + more, rel=1e-12), name
    assert approximations.of(pair(pin.JointModelPX(), DISC, follow(-0.1)))["diagonal"].crba(q).item() > link


def stages(*ratios: float, chained: bool = False) -> pc.ClusterModel:
    """A link, and discs that turn with it; or each with the one before."""
    tree = pin.Model()
    names = ["link", *(f"disc_{i}" for i in range(len(ratios)))]
    for k, name in enumerate(names):
        inertia = DISC if k else pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.01 * np.eye(3))
        tree.appendBodyToJoint(
            tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name), inertia, pin.SE3.Identity()
        )
    before = names if chained else ["link"] * len(names)
    return pc.ClusterModel(tree, [pc.Gear(a, b, x) for a, b, x in zip(before, names[1:], ratios, strict=False)])


def test_of_bodies_that_always_turn_together_the_fastest_are_motors() -> None:
    assert [r.driven for r in stages(4.0, -20.0, 5.0).rotors] == [False, True, False]
    assert [r.driven for r in stages(-9.0, 9.0).rotors] == [True, True]  # two motors on one joint
    assert [r.driven for r in stages(4.0, 5.0, chained=True).rotors] == [False, True]
    both = pc.load("mit_humanoid_leg")
    assert all(r.driven for r in both.rotors)
    tree = stages(1.0, 1.0, 1.0).own_tree  # a differential: the same joints, but no stage of each other
    ties = [
        pc.LinearCoupling("disc_1", {"link": 6.0, "disc_0": 6.0}),
        pc.LinearCoupling("disc_2", {"link": 5.0, "disc_0": -5.0}),
    ]
    assert [r.driven for r in pc.ClusterModel(tree, ties).rotors] == [True, True]


@pytest.mark.filterwarnings("ignore::pin_clusters.errors.PinClustersWarning")
@pytest.mark.parametrize(
    ("file", "fingers"),
    [
        ("panda_description/urdf/panda.urdf", ("panda_finger_joint2",)),
        ("baxter_description/urdf/baxter.urdf", None),
    ],
)
def test_fingers_of_robots_are_no_rotors(file: str, fingers: tuple[str, ...] | None) -> None:
    if not (SHARE / file).exists():
        pytest.skip("needs example-robot-data")
    model = pc.buildModelFromUrdf(SHARE / file)
    assert model.rotors == ()
    found = approximations.followers(model)
    assert found == fingers if fingers else len(found) == len(model.dependent_joints)


def test_the_pads_of_a_gripper_with_loops_are_no_rotors() -> None:
    model = pc.load("robotiq_2f85")
    assert model.rotors == ()
    assert approximations.followers(model) == ()
