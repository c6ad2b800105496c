"""Programs that hold a ``RobotWrapper`` or build models of several files change their import line only."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from pinocchio import robot_wrapper, shortcuts
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
ROUNDING = 1e-12  # the same functions of the same numbers, or Pinocchio's of a robot without couplings

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="lower"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
</robot>
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    return path


def test_every_method_is_pinocchios_without_couplings(file: Path, rng: np.random.Generator) -> None:
    root = pin.JointModelFreeFlyer()
    ours, theirs = (kind.BuildFromURDF(str(file), None, root) for kind in (pc.RobotWrapper, pin.RobotWrapper))
    assert isinstance(ours.model, pc.ClusterModel)
    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    q = pin.integrate(theirs.model, theirs.q0, rng.normal(size=theirs.nv))
    v, a = rng.normal(size=(2, theirs.nv))
    frame, joint = theirs.model.nframes - 1, theirs.index("elbow")
    calls = [
        *((name, (q,)) for name in ("com", "Jcom", "mass", "gravity", "centroidalMap", "computeJointJacobians")),
        *((name, (q, v)) for name in ("com", "vcom", "nle", "centroidalMomentum")),
        *((name, (q, v, a)) for name in ("com", "acom", "centroidalMomentumVariation")),
        ("placement", (q, joint)), ("velocity", (q, v, joint)), ("acceleration", (q, v, a, joint)),
        ("classicalAcceleration", (q, v, a, joint)), ("framePlacement", (q, frame)), ("frameVelocity", (q, v, frame)),
        ("frameAcceleration", (q, v, a, frame)), ("frameClassicalAcceleration", (q, v, a, frame)),
        ("computeJointJacobian", (q, joint)), ("computeFrameJacobian", (q, frame)),
        ("getFrameJacobian", (frame, pin.LOCAL_WORLD_ALIGNED)), ("getJointJacobian", (joint,)), ("com", ()),
    ]  # fmt: skip
    for name, given in calls:
        x, y = (getattr(robot, name)(*given) for robot in (ours, theirs))
        pairs = zip(x, y, strict=True) if isinstance(y, tuple) else [(x, y)]
        for one, other in pairs:
            numbers = [getattr(z, "vector", getattr(z, "homogeneous", z)) for z in (one, other)]
            if name == "mass":
                numbers = [np.triu(z) for z in numbers]
            assert np.allclose(*numbers, atol=ROUNDING), name
    for robot in (ours, theirs):
        robot.updateGeometryPlacements(q)
    places = [robot.collision_data.oMg[1].homogeneous for robot in (ours, theirs)]
    assert np.allclose(*places, atol=ROUNDING)


def test_rotors_count() -> None:
    """The mass matrix of the wrapper is that of the robot; Pinocchio's, of the tree, leaves the rotor out."""
    tree = pin.buildModelFromXML(URDF)
    robot = pc.RobotWrapper(pc.ClusterModel(tree, [pc.Rotor("elbow", 9.0, axial_inertia=1e-3, carrier="shoulder")]))
    q = np.array([0.3, 0.4])
    assert np.array_equal(robot.mass(q), pc.crba(robot.model, robot.model.createData(), q))
    assert robot.mass(q)[1, 1] == pytest.approx(pin.RobotWrapper(robot.model.tree).mass(q)[1, 1] + 81e-3)


def test_a_wrapper_of_a_pinocchio_model_is_pinocchios() -> None:
    tree = pin.buildSampleModelManipulator()
    ours, theirs = pc.RobotWrapper(tree), pin.RobotWrapper(tree)
    assert isinstance(ours, pin.RobotWrapper)
    assert isinstance(ours.data, pin.Data)
    assert np.array_equal(ours.mass(ours.q0), theirs.mass(theirs.q0))


def test_readers_take_pinocchios_forms(file: Path) -> None:
    root = pin.JointModelFreeFlyer()
    for given, named in (
        ((), {}), ((root,), {}), ((root, "base"), {}), ((root, "base", True), {}), ((root, False), {}), ((True,), {}),
        ((), {"root_joint": root, "root_joint_name": "base", "mimic": False}),
    ):  # fmt: skip
        for build, what in (("buildModelFromUrdf", str(file)), ("buildModelFromXML", URDF)):
            ours, theirs = (getattr(package, build)(what, *given, **named) for package in (pc, pin))
            assert [*ours.names] == [*theirs.names]
            assert isinstance(ours, pc.ClusterModel)
    model, collision, visual = pc.buildModelsFromUrdf(str(file), None, root)
    assert isinstance(model, pc.ClusterModel)
    assert (collision.ngeoms, visual.ngeoms) == (2, 0)
    with raises(pc.ArgumentTypeError, "root_joint_name 'base' root_joint"):
        pc.buildModelFromUrdf(str(file), root_joint_name="base")
    with raises(pc.ArgumentTypeError, "root_joint_name 'one' 'two'"):
        pc.buildModelFromUrdf(str(file), root, "one", root_joint_name="two")
    with raises(pc.ArgumentTypeError, "mimic bool 3"):
        pc.buildModelFromUrdf(str(file), root, mimic=3)


def test_collisions_and_distances_take_the_robot(file: Path) -> None:
    model, collision, _ = pc.buildModelsFromUrdf(str(file))
    collision.addAllCollisionPairs()
    data, geometry, q = model.createData(), collision.createData(), np.array([0.1, 0.2])
    tree, plain, other = model.tree, model.tree.createData(), collision.createData()
    assert pc.computeCollisions(model, data, collision, geometry, q, False) == pin.computeCollisions(
        tree, plain, collision, other, q, False
    )
    pc.computeDistances(model, data, collision, geometry, q)
    pin.computeDistances(tree, plain, collision, other, q)
    assert [x.min_distance for x in geometry.distanceResults] == [x.min_distance for x in other.distanceResults]
    pc.forwardKinematics(model, data, -q)
    pc.updateGeometryPlacements(model, data, collision, geometry)
    pin.forwardKinematics(tree, plain, -q)
    pin.updateGeometryPlacements(tree, plain, collision, other)
    assert np.allclose(geometry.oMg[1].homogeneous, other.oMg[1].homogeneous)


@pytest.mark.parametrize("given", [np.array, list, np.float32])
@pytest.mark.parametrize("name", ["computeCollisions", "computeDistances", "updateGeometryPlacements"])
def test_functions_without_q_take_that_of_collisions(file: Path, name: str, given: Any) -> None:
    """Pinocchio's functions move the data: Jacobians that are given no q are those of the new pose."""
    model, collision, _ = pc.buildModelsFromUrdf(str(file))
    collision.addAllCollisionPairs()
    data, q = model.createData(), np.array([0.25, -0.5])  # numbers that float32 has as well
    pc.computeJointJacobians(model, data, 0.0 * q)
    getattr(pc, name)(model, data, collision, collision.createData(), given(q))
    found = pc.computeJointJacobians(model, data)
    assert np.array_equal(found, pc.computeJointJacobians(model, model.createData(), q))
    with raises(pc.ShapeError, "q 1 2"):
        getattr(pc, name)(model, data, collision, collision.createData(), given(q[:1]))


def test_a_program_changes_its_import_line_only(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
import pinocchio as pin
import numpy as np
from pinocchio.robot_wrapper import RobotWrapper
from pinocchio.utils import zero

model = pin.buildSampleModelManipulator()
data = pin.Data(model)
q, v = pin.neutral(model), zero(model.nv)
pin.forwardKinematics(model, data, q, v)
pin.updateFramePlacements(model, data)
target = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.1, 0.2, 0.3]))
error = pin.log6(data.oMf[-1].actInv(target)).vector
J = pin.computeFrameJacobian(model, data, q, model.nframes - 1, pin.ReferenceFrame.LOCAL)
robot = RobotWrapper(model)
found = [error, J.ravel(), pin.nle(model, data, q, v), robot.mass(q).ravel(), pin.centerOfMass(model, data, q, False)]
"""
    theirs: dict[str, object] = {}
    ours: dict[str, object] = {}
    exec(program, theirs)
    exec(
        program.replace("import pinocchio as", "import pin_clusters as").replace(
            "from pinocchio.", "from pin_clusters."
        ),
        ours,
    )
    assert "pin_clusters.utils" in sys.modules
    for x, y in zip(ours["found"], theirs["found"], strict=True):
        assert np.array_equal(x, y)


def test_what_pinocchios_code_calls_is_this_packages() -> None:
    """A later release of Pinocchio may call more functions; each must be the one that users of this package call."""
    source = "".join(inspect.getsource(module) for module in (robot_wrapper, shortcuts))
    names = set(re.findall(r"\bpin\.(\w+)", source))
    assert {"crba", "nonLinearEffects", "buildModelFromUrdf", "neutral"} <= names
    inside = pc.RobotWrapper.mass.__globals__["pin"]
    for name in names:
        try:
            expected = getattr(pc, name)
        except (AttributeError, pc.NotAvailableError):
            continue
        assert getattr(inside, name) is expected, name
