"""Loops and rods: rows that vanish where the joint is closed, and refusals."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from support.closure_values import closure_value
from support.messages import raises, warns

from pin_clusters.constraints import Loop, Rod
from pin_clusters.constraints.loop import KINDS
from pin_clusters.errors import ConstraintError, PinClustersWarning, UnknownNameError

pytestmark = pytest.mark.jitless


def two_free_bodies():
    """Two bodies that can take any pose, without a free joint on the universe."""
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "base")
    for name in "ab":
        j = tree.addJoint(base, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
        tree.addBodyFrame(f"link_{name}", j, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5])), 0)
    return tree


def axis_turn(axis, x):
    return pin.SE3(pin.AngleAxis(x, np.asarray(axis, dtype=float)).toRotationMatrix(), np.zeros(3))


def shift(vector):
    return pin.SE3(np.eye(3), np.asarray(vector, dtype=float))


def motions(kind, axis, axis_b, rng):
    """A motion of frame b in frame a that the joint allows."""
    axis, axis_b = np.asarray(axis), np.asarray(axis_b)
    along, angle, other = rng.uniform(-1.5, 1.5, 3)
    if kind == "spherical":
        return pin.SE3(pin.SE3.Random().rotation, np.zeros(3))
    if kind == "universal":
        # a turn about the axis in a, one about the axis in b, and between them the cross
        cross = pin.Quaternion.FromTwoVectors(axis_b, axis_b - (axis_b @ axis) * axis).toRotationMatrix()
        return axis_turn(axis, angle) * pin.SE3(cross, np.zeros(3)) * axis_turn(axis_b, other)
    back = pin.SE3(pin.Quaternion.FromTwoVectors(axis, axis_b).toRotationMatrix(), np.zeros(3)).inverse()
    if kind == "planar":
        across = np.cross(axis, [0.3, -0.4, 0.5])
        return shift(across) * axis_turn(axis, angle) * back
    turned = axis_turn(axis, angle) if kind in ("revolute", "cylindrical") else pin.SE3.Identity()
    return shift(along * axis if kind in ("prismatic", "cylindrical") else np.zeros(3)) * turned * back


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("oblique", [False, True])
def test_rows_vanish_for_what_the_joint_allows_and_only_for_that(kind, oblique):
    rng, tree = np.random.default_rng(3), two_free_bodies()
    pin.seed(3)
    axis, axis_b = ([0.6, 0.0, 0.8], [0.0, -0.28, 0.96]) if oblique else ([1, 0, 0], None)
    second = axis_b or ([0, 1, 0] if kind == "universal" else axis)
    frame_a, frame_b = pin.SE3.Random(), pin.SE3.Random()
    (closure,) = Loop(("a", frame_a), ("b", frame_b), kind, axis, axis_b).closures(tree)
    assert len(closure.units) == closure.size == len(KINDS[kind][1])
    for _ in range(5):
        body_a = pin.SE3.Random()
        body_b = body_a * frame_a * motions(kind, axis, second, rng) * frame_b.inverse()
        q = np.concatenate([[0.7], pin.SE3ToXYZQUAT(body_a), pin.SE3ToXYZQUAT(body_b)])
        np.testing.assert_allclose(closure_value(tree, closure, q), 0.0, atol=1e-12)
        # all other motions open it: the rows' rank is what the joint takes away
        columns = []
        for direction in np.eye(6):
            moved = pin.integrate(tree, q, 1e-5 * np.concatenate([np.zeros(7), direction]))
            columns.append(closure_value(tree, closure, moved) / 1e-5)
        assert np.linalg.matrix_rank(np.array(columns), tol=1e-2) == closure.size


def test_an_axis_turned_round_is_not_closed():
    tree = two_free_bodies()
    (closure,) = Loop("a", "b", "revolute", axis=(0, 0, 1)).closures(tree)
    half = pin.SE3(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
    q = np.concatenate([[0.0], pin.SE3ToXYZQUAT(pin.SE3.Identity()), pin.SE3ToXYZQUAT(half)])
    assert np.linalg.norm(closure_value(tree, closure, q)) == pytest.approx(np.pi)


def test_names_of_bodies_and_frames_and_the_universe():
    tree = two_free_bodies()
    (closure,) = Loop("link_b", ("universe", [1.0, 2.0, 3.0]), "spherical").closures(tree)
    assert (closure.joint_a, closure.joint_b) == (tree.getJointId("b"), 0)
    np.testing.assert_array_equal(closure.placement_a.translation, [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(closure.placement_b.translation, [1.0, 2.0, 3.0])
    assert closure.labels[0] == "Loop('link_b', 'universe', 'spherical'): x"


def test_values_pickle_compare_and_hash():
    loops = [
        Loop(("a", pin.SE3.Random()), "b", "planar", axis=(0, 0, 1), axis_b=(0, 1, 0), name="gate"),
        Loop(("a", np.eye(4)), ("b", [1, 2, 3]), "fixed"),
        Rod(("a", [1, 2, 3]), "b", length=0.3, mass=0.1),
    ]
    for loop in loops:
        again = pickle.loads(pickle.dumps(loop))
        assert again == loop
        assert hash(again) == hash(loop)
        assert repr(again) == repr(loop)
    assert loops[0].label == "Loop('gate')"
    assert loops[0] != loops[1]


def test_an_axis_of_another_length_is_normalised_with_a_warning():
    with warns(PinClustersWarning, "2"):
        loop = Loop("a", "b", "revolute", axis=(0, 0, -2))
    assert loop.axis == (0.0, 0.0, -1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Loop("a", "b", "revolut"), "'revolute'"),
        (lambda: Loop("a", "b", "revolute", axis=(0, 0, 0)), "(0, 0, 0)"),
        (lambda: Loop("a", "b", "revolute", axis=(0, 0, np.nan)), "(0, 0, nan)"),
        (lambda: Loop("a", "b", "prismatic", axis=(0, 0, 1), axis_b=(0, 0, -1)), ""),
        (lambda: Loop(("a", [1, 2]), "b", "fixed"), "'a' frame_a pinocchio.SE3"),
        (lambda: Loop(("a", [1, 2, np.inf]), "b", "fixed"), "'a' frame_a"),
        (lambda: Loop(("a", 2 * np.eye(4)), "b", "fixed"), "'a' frame_a pinocchio.SE3"),
        (lambda: Loop(3, "b", "fixed"), "frame_a pinocchio.SE3 4x4"),
        (lambda: Rod("a", "b", length=0.0), "pc.Loop"),
        (lambda: Rod("a", "b", length=-1.0), "-1.0"),
        (lambda: Rod("a", "b", mass=-1.0), "-1.0"),
        (lambda: Loop("a", "link_a", "fixed").closures(two_free_bodies()), "'a'"),
        (lambda: Rod(("a", [1, 0, 0]), "link_a").closures(two_free_bodies()), "'a'"),
    ],
)
def test_refusals(make, message):
    with raises(ConstraintError, message):
        make()


def test_unknown_frame():
    with raises(UnknownNameError, "'link_a'"):
        Loop("linka", "b", "fixed").closures(two_free_bodies())


@pytest.mark.parametrize("make", [lambda a, b: Loop(a, b, "spherical"), Rod])
def test_a_path_through_the_floating_base_is_a_contact(make):
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    for name in ("left", "right"):
        tree.addJoint(base, pin.JointModelRX(), pin.SE3.Identity(), name)
    with raises(ConstraintError, "'root'") as caught:
        make("left", "universe").closures(tree)
    assert "attach it to one leg" in str(caught.value)
    assert make("left", "right").closures(tree)
    assert make("left", "root").closures(tree)  # to the base body itself


def test_rod_closure():
    tree = two_free_bodies()
    (closure,) = Rod(("a", [0, 0, 1]), "link_b", mass=0.2).closures(tree)
    assert closure.length is None
    assert closure.mass == 0.2
    np.testing.assert_array_equal(closure.point_a, [0, 0, 1])
    np.testing.assert_array_equal(closure.point_b, [0, 0, 0.5])
    assert closure.units == ("m",)
