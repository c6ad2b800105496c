"""Names of Pinocchio that are asked of pc: all are answered, and no route leads nowhere."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support import missing
from pin_clusters._support.extras import NAMES
from pin_clusters._support.pinocchio_names import ELSEWHERE

pytestmark = pytest.mark.jitless
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module("names_of_pinocchio")
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_every_name_of_the_installed_pinocchio_is_answered(script) -> None:
    names = script.names()
    assert {"aba", "utils", "rpy", "explog", "cholesky", "visualize", "robot_wrapper", "shortcuts", "deprecation"} <= {
        *names
    }
    assert script.unanswered() == []


def test_what_only_other_releases_have_is_answered(script) -> None:
    assert {n for group in script.BUILDS.values() for n in group} <= {*ELSEWHERE}
    for name, where in ELSEWHERE.items():
        if hasattr(pc, name):
            continue
        with raises(pc.NotAvailableError, repr(name)) as told:
            getattr(pc, name)
        assert hasattr(pin, name) or f"it exists in pinocchio {where}, but not in the installed" in str(told.value)


def test_no_name_of_the_other_releases_is_in_both() -> None:
    """What the installed release lacks or has is told by the table: nothing in it is in the other column."""
    mine, other = ("3.8.0", "4.1.0") if pin.__version__ == "3.8.0" else ("4.1.0", "3.8.0")
    if pin.__version__ != mine:
        pytest.skip(f"the table is of {mine} and {other}, this is {pin.__version__}")
    assert [n for n, where in ELSEWHERE.items() if where == mine and not hasattr(pin, n)] == []
    assert [n for n, where in ELSEWHERE.items() if where == other and hasattr(pin, n)] == []


def test_routes_lead_to_what_exists() -> None:
    for name in {*missing._ROUTES, *ELSEWHERE, *(n for n in dir(pin) if n[0] != "_")}:
        for where, _, path in re.findall(r"\b(pc|pinocchio)\.((\w+)(?:\.\w+)*)", missing.route(name)):
            first = where == "pc"
            path = _ or path
            if not first and (path.split(".")[0] in ELSEWHERE or path == name):
                continue
            if first and path.split(".")[0] in NAMES:
                continue  # a door to another package, which need not be here
            thing = pc if first else pin
            for part in path.split("."):
                thing = getattr(thing, part)


@pytest.mark.parametrize("name", ["nope", "abba", "__wrapped__", "computeRNEADerivativesInParalel"])
def test_what_no_pinocchio_has(name: str) -> None:
    assert not hasattr(pc, name)
    with pytest.raises(AttributeError, match=name) as told:
        getattr(pc, name)
    assert not isinstance(told.value, pc.NotAvailableError)
    assert (told.value.name, told.value.obj) == (name, pc)  # of which Python makes "Did you mean"


def test_what_depends_on_no_model_is_pinocchios() -> None:
    for name in ("SE3", "Motion", "Model", "LOCAL", "rpy", "liegroups", "log6", "exp3", "StdVec_Force", "seed"):
        assert getattr(pc, name) is getattr(pin, name)
        assert name in dir(pc)
    for name in ("utils", "rpy", "shortcuts"):
        assert importlib.import_module(f"pin_clusters.{name}") is importlib.import_module(f"pinocchio.{name}")
    for name in ("visualize", "robot_wrapper"):
        assert importlib.util.find_spec(f"pin_clusters.{name}").origin.startswith(str(Path(pc.__file__).parent))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pin_clusters.nothing_of_this_name")


@pytest.mark.skipif(not pin.__version__.startswith("4"), reason="classes of Pinocchio 4")
def test_classes_that_take_a_model() -> None:
    """Those that read placements take its tree; a factor of the mass matrix would leave out the rotors."""
    model = pc.load("mit_humanoid_leg")
    name = "BroadPhaseManager_DynamicAABBTreeCollisionManager"
    manager = getattr(pc, name)(model, model.collision, model.collision.createData())
    assert isinstance(manager, getattr(pin, name))
    place = pin.SE3.Identity()
    points = pc.PointContactConstraintModel(model, 2, place, 0, place)
    assert points == pin.PointContactConstraintModel(model.tree, 2, place, 0, place)
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    with raises(pc.NotAvailableError, "ContactCholeskyDecomposition pc.computeKKTContactDynamicMatrixInverse"):
        pc.ContactCholeskyDecomposition(model, model.createData(), contacts, datas)
    factors = pc.ContactCholeskyDecomposition(model.tree, model.tree.createData(), contacts, datas)
    assert isinstance(factors, pin.ContactCholeskyDecomposition)


@pytest.mark.skipif(not pin.__version__.startswith("4"), reason="classes of Pinocchio 4")
def test_what_pinocchio_would_read_beyond_its_arrays_is_an_error() -> None:
    model, other, place = pc.load("four_bar"), pc.load("mit_humanoid_leg"), pin.SE3.Identity()
    data, wrong, shapes = model.createData(), other.createData(), model.collision
    for joint in (10**6, np.int64(10**6), -1):
        with raises(pc.UnknownNameError, f"joint_id {joint} 'four_bar'"):
            pc.PointContactConstraintModel(model, joint, place, 0, place)
    for joint in (2**63, -1, model.njoints):
        with raises(pc.UnknownNameError, f"joint_id {joint} 'four_bar'"):
            pc.computeJointKinematicRegressor(model, data, joint, pin.LOCAL)
    with raises(pc.UnknownNameError, f"frame_id {2**63} 'four_bar'"):
        pc.computeFrameKinematicRegressor(model, data, 2**63, pin.LOCAL)
    with raises(pc.DataMismatchError, "data 'mit_humanoid_leg'"):
        pc.computeJointKinematicRegressor(model, wrong, 1, pin.LOCAL)
    with raises(pc.DataMismatchError, "pinocchio.Data 'four_bar'"):
        pc.computeJointKinematicRegressor(model, model.tree.createData(), 1, pin.LOCAL)
    with raises(pc.DataMismatchError, "pinocchio.Model ClusterData"):
        pc.computeJointKinematicRegressor(other.tree, data, 1, pin.LOCAL)
    with raises(pc.DataMismatchError, "updateGeometryPlacements 'four_bar' joint"):
        pc.updateGeometryPlacements(model, data, other.collision, other.collision.createData())
    with raises(pc.DataMismatchError, "updateGeometryPlacements placements"):
        pc.updateGeometryPlacements(model, data, shapes, other.collision.createData())


def test_a_model_is_made_joint_by_joint() -> None:
    """As the first line of a program: ``import pin_clusters as pin``."""
    model = pc.Model()
    joint = model.addJoint(0, pc.JointModelRX(), pc.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pc.Inertia.Random(), pc.SE3.Identity())
    data, q, v = pc.Data(model), pc.neutral(model), np.ones(1)
    assert np.array_equal(pc.rnea(model, data, q, v, v), pin.rnea(model, model.createData(), q, v, v))
    assert isinstance(data, pc.Data)
    robot = pc.ClusterModel(model, [pc.Rotor("joint", 6.0, axial_inertia=1e-3)])
    assert isinstance(pc.Data(robot), pc.ClusterData)
    assert isinstance(pc.Data(robot), pc.Data)
    assert not isinstance(robot, pc.Data)
    with raises(pc.ArgumentTypeError, "Data ClusterModel int"):
        pc.Data(3)


def test_the_route_of_jacobians_of_subtrees() -> None:
    """The centre of mass of the subtree of the floating base is that of the robot."""
    model = pc.load("mit_humanoid_leg", root_joint=None)
    data, q = model.createData(), pc.randomConfiguration(model)
    tree = pin.jacobianSubtreeCenterOfMass(model.inertia_tree, data.tree, q, 0)
    assert np.allclose(tree @ pc.coupling_jacobian(model, data, q), pc.jacobianCenterOfMass(model, data, q), atol=1e-12)
