"""Planar linkages and the library of mechanisms against forward kinematics and their generic twins."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from samples.linkages import FOOT_ENDS, PINS, SHANK_ENDS, ankle, five_bar, four_bar, slider_crank
from support.closure_values import assembled, assemblies, closure_value, coordinates
from support.messages import raises

from pin_clusters.constraints import Coupling, Differential, FourBar, SliderCrank, coupling
from pin_clusters.constraints._functions import central_differences
from pin_clusters.errors import ConstraintError, UnknownNameError, UnsupportedJointError

pytestmark = pytest.mark.jitless
RNG_POSES = 6


@pytest.fixture(autouse=True)
def _said(monkeypatch):
    monkeypatch.setattr(coupling, "_warned_slow", True)


def linkages():
    for seed in range(3):
        for sign in (1, -1):
            for serial in (False, True):
                tree, closure = four_bar(seed, serial, sign)
                yield tree, FourBar("crank", "coupler", "rocker", closure)
            tree, closure = slider_crank(seed, sign)
            yield tree, SliderCrank("crank", "coupler", "slider", closure)
            tree, closure = five_bar(seed, sign)
            yield tree, Differential.five_bar("crank_1", "coupler_1", "crank_2", "coupler_2", closure)
        for pitch_first in (True, False):
            builder = ankle(seed, pitch_first)
            yield builder.tree, push_rods(builder)
            builder = ankle(seed, pitch_first, cranks=True)
            yield builder.tree, rsu(builder)


def push_rods(builder, **more):
    shank = [builder.at("shank", p) for p in SHANK_ENDS]
    foot = builder.tree.names[-1]
    ends = [builder.at(foot, FOOT_ENDS[0]), builder.poses[foot].inverse().act(builder.view @ FOOT_ENDS[1])]
    return Differential.push_rod_ankle("motor_1", "motor_2", "pitch", "roll", shank=shank, foot=ends, **more)


def rsu(builder, **more):
    pins = [builder.at(f"motor_{i}", p) for i, p in enumerate(PINS, start=1)]
    ends = [builder.at(builder.tree.names[-1], p) for p in FOOT_ENDS]
    return Differential.ankle_2rsu("motor_1", "motor_2", "pitch", "roll", pins=pins, foot=ends, **more)


CASES = list(linkages())
LABELS = [f"{i}-{linkage.label.split('(')[0]}" for i, (_, linkage) in enumerate(CASES)]


@pytest.mark.parametrize(("tree", "linkage"), CASES, ids=LABELS)
def test_closed_form_closes_the_mechanism_and_its_twin(tree, linkage):
    rng = np.random.default_rng(0)
    form = linkage.closed_form(tree)
    closures = [c for part in (linkage, *linkage.generic(tree)) for c in part.closures(tree)]
    assert set(linkage.independent) <= {tree.names[j] for j in (*form.independent, *form.dependent)}
    found = 0
    for x in rng.uniform(-0.4, 0.4, (RNG_POSES, len(form.independent))):
        poses = assemblies(tree, linkage, x)
        found += len(poses)
        for q in poses:
            for closure in closures:
                np.testing.assert_allclose(closure_value(tree, closure, q), 0.0, atol=1e-12)
    assert found >= RNG_POSES


@pytest.mark.parametrize(("tree", "linkage"), CASES, ids=LABELS)
def test_drawn_pose_is_among_the_assemblies(tree, linkage):
    form = linkage.closed_form(tree)
    gaps = [np.abs(q).max() for q in assemblies(tree, linkage, np.zeros(len(form.independent)))]
    assert min(gaps) < 1e-12


@pytest.mark.parametrize(("tree", "linkage"), CASES, ids=LABELS)
def test_values_pickle_and_compare(tree, linkage):
    again = pickle.loads(pickle.dumps(linkage))
    assert again == linkage
    assert hash(again) == hash(linkage)
    assert again.label == linkage.label
    assert pickle.loads(pickle.dumps(linkage.closed_form(tree))).dependent == linkage.closed_form(tree).dependent


@pytest.mark.parametrize("cranks", [False, True])
def test_ankle_rows_off_the_manifold_and_their_derivatives(cranks):
    builder = ankle(1, cranks=cranks)
    constraint = (rsu if cranks else push_rods)(builder)
    (closure,) = constraint.closures(builder.tree)
    for x in np.random.default_rng(1).uniform(-0.5, 0.5, (4, 4)) * [1 if cranks else 0.1, 1 if cranks else 0.1, 1, 1]:
        q = assembled(builder.tree, pin.neutral(builder.tree), closure.joints, x)
        errors = np.concatenate(
            [
                closure_value(builder.tree, c, q)
                for g in constraint.generic(builder.tree)
                for c in g.closures(builder.tree)
            ]
        )
        # (d^2 - l^2) / 2 reference = error (1 + ...) to first order
        reference = np.array(
            [g.length for g in constraint.geometry(builder.tree).cranks]
            if cranks
            else constraint.geometry(builder.tree).lengths
        )
        extended = reference if cranks else reference + x[:2]
        np.testing.assert_allclose(closure.value(x), errors * (2 * extended + errors) / (2 * reference), atol=1e-14)
        steps = np.full(4, 0.02)
        np.testing.assert_allclose(closure.jacobian(x), central_differences(closure.value, x, steps), atol=1e-12)
        np.testing.assert_allclose(closure.hessian(x), central_differences(closure.jacobian, x, steps), atol=1e-12)


def left_of(a, b, c, normal):
    return np.sign(np.cross(b - a, c - a) @ normal)


@pytest.mark.parametrize("branch", [1, -1])
@pytest.mark.parametrize("serial", [False, True])
def test_branch_of_a_four_bar_is_a_side(branch, serial):
    tree, closure = four_bar(5, serial)
    linkage = FourBar("crank", "coupler", "rocker", closure, branch=branch)
    (row,) = linkage.closures(tree)
    q = assemblies(tree, linkage, [0.3])[0]
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    joint = {name: data.oMi[tree.getJointId(name)].translation for name in ("coupler", "rocker")}
    tip = (data.oMi[row.joint_a] * row.placement_a).translation
    c, d = (joint["rocker"], tip) if serial else (tip, joint["rocker"])
    axis = np.array([0.0, 0.0, 1.0])
    crank = tree.getJointId("crank")
    normal = (data.oMi[row.joint_a] * row.placement_a).rotation @ axis
    turned = pin.computeJointJacobian(tree, data, q, crank)
    assert (data.oMi[crank].rotation @ turned[3:, tree.idx_vs[crank]]) @ normal > 0.99
    assert left_of(joint["coupler"], d, c, normal) == branch
    assert len(assemblies(tree, linkage, [0.3])) == 2


def test_branch_of_a_slider_crank_is_the_coordinate():
    tree, closure = slider_crank(2)
    ahead, behind = assemblies(tree, SliderCrank("crank", "coupler", "slider", closure), [0.5])
    assert ahead[-1] > behind[-1]
    other = assemblies(tree, SliderCrank("crank", "coupler", "slider", closure, branch=-1), [0.5])
    np.testing.assert_array_equal(other[0], behind)


def test_continuous_cranks_are_welcome():
    tree, closure = four_bar(4, continuous=True)
    linkage = FourBar("crank", "coupler", "rocker", closure)
    (row,) = linkage.closures(tree)
    for q in assemblies(tree, linkage, [0.4]):
        np.testing.assert_allclose(closure_value(tree, row, q), 0.0, atol=1e-13)


def test_out_of_reach_there_is_no_assembly():
    tree, closure = four_bar(0, points=((0, 0), (0.5, 0), (0.6, 0.05), (0.7, 0)))
    linkage = FourBar("crank", "coupler", "rocker", closure)
    assert linkage.closed_form(tree).solve(np.array([2.0])) == []


@pytest.mark.parametrize("serial", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_parallelogram_passes_its_change_points(serial, sign):
    tree, closure = four_bar(7, serial, sign, points=((0, 0), (0.1, 0.2), (0.5, 0.2), (0.4, 0.0)))
    constraint = Differential.parallelogram("crank", "coupler", "rocker", closure)
    rows = constraint.rows(tree)
    (loop,) = constraint.generic(tree)[0].closures(tree)
    change = -np.arctan2(0.2, 0.1)  # there all joints are in line
    for x in (0.0, 0.3, change, change + 1e-9, -2.5, 3.0):
        q = assembled(tree, pin.neutral(tree), [r.masters[0] for r in rows], [x] * len(rows))
        for row in rows:
            q = assembled(tree, q, [row.dependent], [row.coefficients[0] * x + row.offset])
        np.testing.assert_allclose(closure_value(tree, loop, q), 0.0, atol=1e-13)
    assert constraint.closures(tree) == []
    assert constraint.closed_form(tree) is None


def test_parallelogram_of_other_lengths_is_refused():
    tree, closure = four_bar(7, points=((0, 0), (0.1, 0.2), (0.5, 0.2), (0.41, 0.0)))
    with raises(ConstraintError, "crank rocker pc.FourBar"):
        Differential.parallelogram("crank", "coupler", "rocker", closure).rows(tree)


def gears(signs=(1, 1, 1)):
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "base")
    for name, sign in zip("abc", signs, strict=True):
        tree.addJoint(base, pin.JointModelRevoluteUnaligned(np.array([0.0, 0.0, sign])), pin.SE3.Identity(), name)
    tree.addJoint(tree.getJointId("c"), pin.JointModelRX(), pin.SE3.Identity(), "d")
    return tree


def test_bevel():
    constraint = Differential.bevel("a", "b", "c", "d", ratio=-2.0)
    tree = gears()
    pitch, roll = constraint.rows(tree)
    assert [tree.names[j] for j in (pitch.dependent, roll.dependent)] == ["c", "d"]
    assert (pitch.coefficients, roll.coefficients) == ((0.5, 0.5), (-1.0, 1.0))
    (twin,) = constraint.generic(tree)[0].closures(tree)
    np.testing.assert_allclose(twin.value(np.array([0.3, 0.1, 0.2, -0.2])), 0.0, atol=1e-15)
    assert constraint.independent == ("a", "b")


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, -1, 1)])
def test_planetary(signs):
    constraint = Differential.planetary("a", "b", "c", 20, 60)
    tree = gears(signs)
    (row,) = constraint.rows(tree)
    sun, ring = 0.8, -0.3
    carrier = sum(c * x for c, x in zip(row.coefficients, (sun, ring), strict=True))
    s, c, r = (sign * x for sign, x in zip(signs, (sun, carrier, ring), strict=True))
    assert 20 * (s - c) + 60 * (r - c) == pytest.approx(0.0, abs=1e-13)
    (twin,) = constraint.generic(tree)[0].closures(tree)
    np.testing.assert_allclose(twin.value(np.array([sun, carrier, ring])), 0.0, atol=1e-15)


def refusals():
    tree, closure = four_bar(0)
    names = ("crank", "coupler", "rocker")
    yield (
        lambda: FourBar("crank", "rocker", "coupler", closure).closures(tree),
        ConstraintError,
        "'rocker' 'base' 'crank'",
    )
    yield lambda: FourBar("crank", "crank", "rocker", closure), ConstraintError, ""
    yield lambda: FourBar(*names, closure, branch=2), ConstraintError, "branch"
    yield lambda: FourBar(*names, "coupler"), ConstraintError, "'coupler' FourBar closure"
    yield lambda: FourBar(*names, closure[::-1]).closures(tree), ConstraintError, "'coupler' 'rocker' FourBar"
    yield lambda: FourBar("cranc", *names[1:], closure).closures(tree), UnknownNameError, "'crank'"
    yield lambda: FourBar(*names, (("coupler", [0, 0, 0]), closure[1])).closures(tree), ConstraintError, "0"
    apart, frames = four_bar(0, height=0.01)
    yield lambda: FourBar(*names, frames).closures(apart), ConstraintError, "0.01"
    sliding, frames_2 = slider_crank(0)
    yield (
        lambda: FourBar("crank", "coupler", "slider", frames_2).closures(sliding),
        UnsupportedJointError,
        "pc.Loop",
    )
    yield (
        lambda: SliderCrank("crank", "coupler", "rocker", closure).closures(tree),
        UnsupportedJointError,
        "'rocker' SliderCrank JointModelRevoluteUnaligned",
    )
    skew = tree.copy()
    tilt = pin.SE3(pin.AngleAxis(2e-3, np.array([1.0, 0.0, 0.0])).toRotationMatrix(), np.zeros(3))
    skew.jointPlacements[3] = skew.jointPlacements[3] * tilt
    yield lambda: FourBar(*names, closure).closures(skew), ConstraintError, "pc.Loop"
    names_4 = ("motor_1", "motor_2", "pitch", "roll")
    yield (
        lambda: Differential.push_rod_ankle(*names_4, shank="ab", foot=""),
        ConstraintError,
        "'ab' Differential.push_rod_ankle shank",
    )
    builder = ankle(0)
    yield lambda: push_rods(builder, length0=[0.3, -0.1]), ConstraintError, "Differential.push_rod_ankle length0 0.3"
    yield lambda: rsu(ankle(0, cranks=True), branch=(1, 3)), ConstraintError, "branch"
    yield (
        lambda: Differential.planetary("base", "a", "b", 20, 60).rows(gears()),
        ConstraintError,
        "'base' 'universe' 'a'",
    )
    yield lambda: Differential.planetary("a", "b", "c", 0, 60), ConstraintError, "teeth_sun"
    yield lambda: Differential.bevel("a", "b", "a", "d"), ConstraintError, ""


@pytest.mark.parametrize(("make", "kind", "message"), list(refusals()))
def test_refusals(make, kind, message):
    with raises(kind, message):
        make()


def test_independents_are_inputs():
    tree, closure = five_bar()
    assert Differential.five_bar("crank_1", "coupler_1", "crank_2", "coupler_2", closure).independent == (
        "crank_1",
        "crank_2",
    )
    assert isinstance(Differential.tello_hip("a", "b", "c", "d").generic(tree)[0], Coupling)
    assert coordinates(tree, pin.neutral(tree), [2]).tolist() == [0.0]
