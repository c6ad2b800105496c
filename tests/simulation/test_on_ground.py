"""``pc.on_ground`` translates bases of any kind, from any distance, and moves nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support import grounds
from support.messages import raises

import pin_clusters as pc

pytestmark = grounds.NEEDED

FOOT = np.array([0.05, 0.0, -0.2])
SLIDES = [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ()]
TURNS = [pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()]
TILTED = [pin.JointModelPrismaticUnaligned(x) for x in np.eye(3) @ pin.exp3(np.array([0.3, 0.5, 0.1]))]


def composite() -> pin.JointModel:
    """Three slides and a ball as one joint."""
    joint = pin.JointModelComposite(4)
    for part in (*SLIDES, pin.JointModelSpherical()):
        joint.addJoint(part)
    return joint


BASES: dict[str, tuple[list[pin.JointModel], int]] = {  # and along how many axes they move
    "free-flyer": ([pin.JointModelFreeFlyer()], 3),
    "slides and a ball": ([*SLIDES, pin.JointModelSpherical()], 3),
    "slides and turns": ([*SLIDES, *TURNS], 3),
    "tilted slides and a ball": ([*TILTED, pin.JointModelSpherical()], 3),
    "turns, then slides": ([*TURNS, *SLIDES], 3),
    "translation": ([pin.JointModelTranslation(), pin.JointModelSphericalZYX()], 3),
    "composite": ([composite()], 3),
    "in a plane": ([pin.JointModelPX(), pin.JointModelPZ(), pin.JointModelRY()], 2),
    "a slide": ([pin.JointModelPZ(), pin.JointModelRY()], 1),
}


def robot(base: list[pin.JointModel], rotors: tuple[pc.Rotor, ...] = ()) -> pc.ClusterModel:
    """A trunk on a base, with a hip and a telescopic leg, which must not be moved."""
    tree, last = pin.Model(), 0
    for k, joint in enumerate(base):
        last = tree.addJoint(last, joint, pin.SE3.Identity(), f"base{k}")
    heavy, below = pin.Inertia(2.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.1]))
    tree.appendBodyToJoint(last, heavy, pin.SE3.Identity())
    for name, joint in (("hip", pin.JointModelRY()), ("leg", pin.JointModelPZ())):
        last = tree.addJoint(last, joint, below, name)
        tree.appendBodyToJoint(last, heavy, pin.SE3.Identity())
    return pc.ClusterModel(tree, rotors)


def height(model: pc.ClusterModel, q: np.ndarray, ground: pc.Ground) -> float:
    """How far the foot is above the ground, by Pinocchio alone."""
    tree = model.tree
    pin.forwardKinematics(tree, data := tree.createData(), q)
    return float(data.oMi[tree.getJointId("leg")].act(FOOT) @ np.array(ground.normal)) - ground.height


@pytest.mark.parametrize("away", [0.0, 1001.0, 1e7])
@pytest.mark.parametrize("kind", BASES)
def test_bases_of_any_kind_are_translated(kind: str, away: float, rng: np.random.Generator) -> None:
    joints, axes = BASES[kind]
    model = robot(joints)
    q = pin.randomConfiguration(model.tree, -np.ones(model.nq), np.ones(model.nq))
    ground = [pc.Ground(), pc.Ground(normal=(0.3, 0.0, 1.0)), pc.Ground(normal=(0.3, -0.2, 1.0), height=0.4)][axes - 1]
    q[: len(SLIDES[:axes]) if "free" in kind else 0] += away
    ground = pc.Ground(ground.friction, ground.normal, ground.height - away)
    found = pc.on_ground(model, q, ground, {"leg": FOOT}, above=0.03)
    assert abs(height(model, found, ground) - 0.03) < 1e-15 * max(100.0, 10.0 * away)
    # the robot moves along the normal and does not turn
    tree = model.tree
    before, after = tree.createData(), tree.createData()
    pin.forwardKinematics(tree, before, q)
    pin.forwardKinematics(tree, after, found)
    for name in ("hip", "leg"):
        one, two = (data.oMi[tree.getJointId(name)] for data in (before, after))
        assert np.abs(one.rotation - two.rotation).max() < 1e-12
        assert np.abs(np.cross(two.translation - one.translation, ground.normal)).max() < 1e-14 * max(
            100.0, 10.0 * away
        )


def test_rotors_of_slides_turn_along() -> None:
    tree = pin.Model()
    slide = tree.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "slide")
    motor = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "motor")
    tree.appendBodyToJoint(slide, pin.Inertia(3.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    tree.appendBodyToJoint(motor, pin.Inertia(0.1, np.zeros(3), np.diag([1e-4, 1e-4, 2e-4])), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Gear("slide", "motor", 40.0)])
    q = pc.on_ground(model, pc.neutral(model), touching={"slide": [0.0, 0.0, -1.0]}, above=0.1)
    assert np.abs(q[tree.idx_qs[slide]] - 1.1) < 1e-12
    assert np.abs(pc.residual(model, q)).max() < 1e-12


def test_two_robots_are_lifted_alike() -> None:
    tree = pin.Model()
    for name in ("one", "two"):
        joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    q = pc.neutral(model)
    q[[2, 9]] = 5.0, 2.0
    assert np.abs(pc.on_ground(model, q, touching=["one", "two"])[[2, 9]] - [3.0, 0.0]).max() < 1e-12
    assert np.abs(pc.on_ground(model, q, touching=["one"])[[2, 9]] - [0.0, 2.0]).max() < 1e-12


def test_what_no_base_can_lift() -> None:
    turning = robot([pin.JointModelRZ()])
    with raises(pc.ModelError, "on_ground root_joint=pin.JointModelFreeFlyer()"):
        pc.on_ground(turning, pc.neutral(turning), touching={"leg": FOOT})
    along = robot([pin.JointModelPX(), pin.JointModelRY()])
    with raises(pc.ModelError, "on_ground 0.0"):
        pc.on_ground(along, pc.neutral(along), touching={"leg": FOOT})
    tree = pin.Model()
    for name, joint in (("arm", pin.JointModelRY()), ("box", pin.JointModelFreeFlyer())):
        body = tree.addJoint(0, joint, pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 if name == "arm" else 1.0])), name)
        tree.appendBodyToJoint(body, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    with raises(pc.ModelError, "on_ground arm -0.5"):
        pc.on_ground(model, pc.neutral(model), touching=["arm", "box"])
    assert abs(pc.on_ground(model, pc.neutral(model), touching=["box"])[3] + 1.0) < 1e-12


def test_slides_keep_their_limits() -> None:
    tree = robot([pin.JointModelPZ()]).tree.copy()
    low, high = tree.lowerPositionLimit.copy(), tree.upperPositionLimit.copy()
    low[0], high[0] = -0.1, 0.35
    tree.lowerPositionLimit, tree.upperPositionLimit = low, high
    model = pc.ClusterModel(tree)
    with raises(pc.ModelError, "'base0' 0.4 -0.1 0.35"):  # the foot is 0.4 m below the base
        pc.on_ground(model, pc.neutral(model), touching={"leg": FOOT})


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"above": np.nan}, pc.SimulationError, "above nan"),
        ({"above": np.inf}, pc.SimulationError, "above inf"),
        ({"above": "x"}, pc.ArgumentTypeError, "above 'x'"),
        ({"above": [0.0, 0.1]}, pc.ArgumentTypeError, "above"),
        ({"q": [0.0, 0.0, np.nan, 0.0, 0.0, 0.0, 1.0]}, pc.ConfigurationError, "q[2] nan"),
        ({"q": [0.0, 0.0, np.inf, 0.0, 0.0, 0.0, 1.0]}, pc.ConfigurationError, "q[2] inf"),
        ({"q": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]}, pc.ConfigurationError, "2 1"),
    ],
)
def test_numbers_that_mean_nothing(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    model, points = grounds.robot("block")
    with raises(error, says):
        pc.on_ground(model, **({"q": pc.neutral(model), "touching": points} | changes))
