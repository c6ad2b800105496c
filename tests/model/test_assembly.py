"""Analysis of closed loops when a model is built: rows kept, reference pose, independent joints, refusals."""

import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

from pin_clusters.constraints.called import CallableClosure
from pin_clusters.constraints.closures import FrameClosure, HarmonicClosure, RodClosure
from pin_clusters.constraints.rows import Row
from pin_clusters.errors import ConfigurationError, ConstraintError, PinClustersWarning, ShapeError
from pin_clusters.model.assembly import (
    ClusterLoops,
    LinearClosure,
    analyse,
    choose_independents,
    condition_numbers,
    project,
)
from pin_clusters.model.assembly.evaluate import Equations
from pin_clusters.model.assembly.project import AssemblyFailure

pytestmark = pytest.mark.jitless

Z = np.array([0.0, 0.0, 1.0])
ROWS = {
    "fixed": ("full", range(6), "mmmrrr"),
    "revolute": ("axis", (0, 1, 2, 3, 4), "mmmrr"),
    "prismatic": ("full", (0, 1, 3, 4, 5), "mmrrr"),
    "cylindrical": ("axis", (0, 1, 3, 4), "mmrr"),
    "spherical": ("none", (0, 1, 2), "mmm"),
    "universal": ("universal", (0, 1, 2, 5), "mmmr"),
    "planar": ("axis", (2, 3, 4), "mrr"),
}


def at(x=0.0, y=0.0, z=0.0, rpy=(0.0, 0.0, 0.0)):
    return pin.SE3(pin.rpy.rpyToMatrix(np.array(rpy)), np.array([x, y, z]))


def source(name):
    return SimpleNamespace(label=f"loop {name!r}")


def loop(a, pa, b, pb, kind="revolute", name="closure"):
    rotation, rows, units = ROWS[kind]
    labels = ("x", "y", "z", "rx", "ry", "rz")
    return FrameClosure(
        source(name), tuple(labels[i] for i in rows), tuple({"m": "m", "r": "rad"}[u] for u in units), a, pa, b, pb,
        rotation, np.eye(6)[list(rows)],
    )  # fmt: skip


def rod(a, pa, b, pb, length=None, name="rod"):
    return RodClosure(source(name), ("length",), ("m",), a, np.array(pa), b, np.array(pb), length, 0.0)


def chain(*joints):
    """A tree from (parent, joint model, placement)."""
    tree = pin.Model()
    for i, (parent, joint, placement) in enumerate(joints):
        tree.addJoint(parent, joint, placement, f"j{i + 1}")
    return tree


def four_bar(ground=0.4, crank=0.1, coupler=0.35, rocker=0.3, half_turn=math.pi / 2):
    """Axes along world y, written with frames whose z is the axis, by way of rpy as files do."""
    turn = (half_turn, 0.0, 0.0)
    tree = chain(
        (0, pin.JointModelRZ(), at(rpy=turn)),
        (1, pin.JointModelRZ(), at(crank)),
        (0, pin.JointModelRY(), at(ground)),
    )
    # the rocker turns about y, the coupler about the z that rpy turned to -y
    return tree, loop(2, at(coupler), 3, at(rocker, rpy=turn))


def cluster(tree, *closures, rows=(), independent=()):
    return ClusterLoops(tuple(range(1, tree.njoints)), closures, rows, independent)


def bennett():
    """Denavit-Hartenberg: alternate links equal, a / sin(alpha) equal."""
    a, alpha, beta = 0.3, 0.6, 1.1
    b = a * math.sin(beta) / math.sin(alpha)
    link = {True: at(a, rpy=(alpha, 0, 0)), False: at(b, rpy=(beta, 0, 0))}
    tree = chain(
        (0, pin.JointModelRZ(), at()),
        (1, pin.JointModelRZ(), link[True]),
        (2, pin.JointModelRZ(), link[False]),
    )
    return tree, loop(0, link[False].inverse(), 3, link[True])


def sarrus():
    """Two dyads of parallel hinges in planes at a right angle lift a platform straight."""
    tree = chain(
        (0, pin.JointModelRY(), at(0.2)),
        (1, pin.JointModelRY(), at(0.3)),
        (2, pin.JointModelRY(), at(0.25)),
        (0, pin.JointModelRX(), at(0, 0.2)),
        (4, pin.JointModelRX(), at(0, 0.3)),
    )
    return tree, loop(3, at(-0.2, 0.2, rpy=(0, math.pi / 2, 0)), 5, at(0, 0.25, rpy=(0, math.pi / 2, 0)))


def slider_crank():
    tree = chain(
        (0, pin.JointModelRY(), at()),
        (1, pin.JointModelRY(), at(0.1)),
        (0, pin.JointModelPX(), at(0.2, 0.0, 0.05)),
    )
    return tree, loop(2, at(0.3, rpy=(-math.pi / 2, 0, 0)), 3, at(rpy=(-math.pi / 2, 0, 0)))


def rssr():
    """Crank and rocker about skew axes, joined by a rod of constant length."""
    tree = chain((0, pin.JointModelRZ(), at()), (0, pin.JointModelRX(), at(0.4, 0.1, 0.1)))
    return tree, rod(1, (0.1, 0, 0), 2, (0, 0.25, 0), length=0.4)


def delta():
    """Three arms of one hinge, a platform on a translation joint, three pairs of rods."""
    tree = pin.Model()
    closures = []
    turns = [pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 2 * math.pi * i / 3), np.zeros(3)) for i in range(3)]
    for i, turn in enumerate(turns):
        tree.addJoint(0, pin.JointModelRY(), turn * at(0.2), f"arm{i}")
    tree.addJoint(0, pin.JointModelTranslation(), at(), "platform")
    for i, turn in enumerate(turns):
        for side in (-0.05, 0.05):
            closures.append(
                rod(i + 1, (0.2, side, 0.0), 4, turn.act(np.array([0.08, side, -0.3])), 0.4, name=f"rod{i}{side:+}")
            )
    return tree, closures


def moves(tree, found, closures, q, rng, rows=()):
    """All equations hold near q along the mechanism: project off it and look at all rows."""
    kept = Equations(tree, found.kept)
    full = Equations(tree, closures, rows)
    for _ in range(5):
        q1 = project(kept, tree, pin.integrate(tree, q, 0.2 * rng.normal(size=tree.nv)), rank_tolerance=1e-9)
        assert np.max(np.abs(full.residual(q1) / full.scales(q1))) < max(1e-12, 10 * found.dropped)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_derivative_on_the_manifold(kind, seed):
    rng = np.random.default_rng(seed)
    tree = chain(
        (0, pin.JointModelFreeFlyer(), at()),
        (1, pin.JointModelSpherical(), pin.SE3.Random()),
        (2, pin.JointModelRX(), pin.SE3.Random()),
        (1, pin.JointModelRUBZ(), pin.SE3.Random()),
        (4, pin.JointModelPY(), pin.SE3.Random()),
    )
    q = pin.integrate(tree, pin.neutral(tree), rng.normal(size=tree.nv))
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    pa = pin.SE3.Random()
    # frame b such that the loop is closed here, up to what the kind leaves free
    free = {
        "fixed": at(), "revolute": at(rpy=(0, 0, 0.7)), "prismatic": at(z=0.3), "cylindrical": at(z=0.3, rpy=(0, 0, 1)),
        "spherical": at(rpy=(0.3, 0.4, 0.5)),
        # x of b at a right angle to z of a
        "universal": at(rpy=(0, 0, 0.4)) * at(rpy=(0.8, 0, 0)), "planar": at(0.2, 0.3, rpy=(0, 0, 1)),
    }[kind]  # fmt: skip
    pb = data.oMi[5].inverse() * data.oMi[3] * pa * free
    equations = Equations(tree, [loop(3, pa, 5, pb, kind), rod(3, (0.1, 0.2, 0.3), 5, (1.0, 0.0, 0.5), 0.3)])
    assert np.max(np.abs(equations.residual(q)[:-1])) < 1e-12
    K = equations.jacobian(q)
    h = 1e-5
    for i, e in enumerate(np.eye(tree.nv)):
        d = (equations.residual(pin.integrate(tree, q, h * e)) - equations.residual(pin.integrate(tree, q, -h * e))) / (
            2 * h
        )
        np.testing.assert_allclose(K[:, i], d, atol=2e-9)
    assert not K[:, :6].any()  # the free flyer carries both
    assert equations.labels[-1] == "length"
    assert tuple(c.size for c in equations.closures) == (len(ROWS[kind][2]), 1)


def test_antiparallel_axes_are_not_closed():
    tree = chain((0, pin.JointModelRX(), at()), (0, pin.JointModelRX(), at()))
    equations = Equations(tree, [loop(1, at(), 2, at(), "revolute")])
    assert np.linalg.norm(equations.residual(np.array([0.0, math.pi]))) == pytest.approx(math.pi)
    full = Equations(tree, [loop(1, at(), 2, at(), "fixed")])
    assert np.linalg.norm(full.residual(np.array([0.0, math.pi]))) == pytest.approx(math.pi)


def test_four_bar_drops_three_of_five_rows():
    tree, closure = four_bar()
    found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    assert a.rank == 2
    assert not a.pivoted
    assert [k.labels for k in a.kept] == [("x", "y")]
    np.testing.assert_array_equal(a.kept[0].rows, closure.rows[:2])
    assert a.independents == (0,)
    assert a.dependents == (1, 2)
    assert a.dropped < 1e-12
    assert a.worst_condition < 50
    np.testing.assert_allclose(a.scales, 0.1 + 0.4 + 0.35 + 0.3)
    equations = Equations(tree, [closure])
    q = found.q_reference
    assert np.max(np.abs(equations.residual(q) / equations.scales(q))) < 1e-13
    moves(tree, a, [closure], q, np.random.default_rng(0))


def test_a_file_that_writes_1_5708_closes_with_a_warning():
    tree, closure = four_bar(half_turn=1.5708)
    with warns(PinClustersWarning, "'closure' 3 5 1.5708"):
        found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    assert a.rank == 2
    assert not a.pivoted
    assert 1e-7 < a.dropped < 1e-5
    kept = Equations(tree, a.kept)
    assert np.max(np.abs(kept.residual(found.q_reference))) < 1e-13


@pytest.mark.parametrize("ground", [0.4, 0.2])
def test_zero_pose_of_a_change_point_four_bar_is_not_chosen(ground):
    tree, closure = four_bar(ground, 0.2, ground, 0.2)
    found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    q = found.q_reference
    K = Equations(tree, a.kept).jacobian(q) / a.scales[:, None]
    assert np.max(np.abs(q)) > 0.05
    assert condition_numbers(K, a.dependents)[0] < 100
    assert a.rank == 2
    np.testing.assert_array_equal(q, analyse(tree, [cluster(tree, closure)], ()).q_reference)


def test_a_change_point_as_reference_is_told():
    tree, closure = four_bar(0.4, 0.2, 0.4, 0.2)
    with warns(PinClustersWarning, "1"):
        found = analyse(tree, [cluster(tree, closure)], (), np.zeros(3))
    assert found.loops[0].rank == 2


def test_bennett_is_pivoted():
    tree, closure = bennett()
    found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    assert a.rank == 2  # three hinges in the tree, one degree of freedom
    assert a.pivoted
    assert sum(k.size for k in a.kept) > 2
    assert len(a.independents) == 1
    moves_pivoted = Equations(tree, a.kept)
    q = found.q_reference
    for _ in range(3):
        q = project(moves_pivoted, tree, pin.integrate(tree, q, np.full(3, 0.1)))
        assert np.max(np.abs(Equations(tree, [closure]).residual(q))) < 1e-11


def test_sarrus_has_a_constant_range():
    tree, closure = sarrus()
    found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    assert a.rank == 4
    assert not a.pivoted
    assert sum(k.size for k in a.kept) == 4
    assert len(a.independents) == 1
    assert a.dropped < 1e-12
    moves(tree, a, [closure], found.q_reference, np.random.default_rng(1))


def test_slider_crank():
    tree, closure = slider_crank()
    found = analyse(tree, [cluster(tree, closure)], ())
    (a,) = found.loops
    assert (a.rank, a.pivoted, a.independents, a.dependents) == (2, False, (0,), (1, 2))
    moves(tree, a, [closure], found.q_reference, np.random.default_rng(2))


def test_rod_between_cranks():
    tree, closure = rssr()
    (a,) = analyse(tree, [cluster(tree, closure)], ()).loops
    assert (a.rank, a.independents, a.kept) == (1, (0,), (closure,))


def test_delta():
    tree, closures = delta()
    found = analyse(tree, [cluster(tree, *closures)], ())
    (a,) = found.loops
    assert a.rank == 3
    assert not a.pivoted  # the two rods of a pair say the same
    assert [k.size for k in a.kept] == [1, 1, 1]
    assert [k.source.label for k in a.kept] == ["loop 'rod0-0.05'", "loop 'rod1-0.05'", "loop 'rod2-0.05'"]
    assert a.independents == (0, 1, 2)
    moves(tree, a, closures, found.q_reference, np.random.default_rng(3))


def test_lengths_of_rods_come_from_the_reference():
    tree, closures = delta()
    q = np.array([0.3, 0.35, 0.4, 0.01, 0.02, -0.05])
    free = [rod(c.joint_a, c.point_a, c.joint_b, c.point_b, None, name=str(i)) for i, c in enumerate(closures[::2])]
    found = analyse(tree, [cluster(tree, *free)], (), q)
    np.testing.assert_allclose(found.q_reference, q, atol=1e-14)
    assert all(isinstance(c, RodClosure) and c.length and c.length > 0.1 for c in found.loops[0].closures)
    assert free[0].length is None
    with raises(ConstraintError, "'rod' spherical pc.Loop"):
        analyse(tree, [cluster(tree, rod(1, (0.1, 0, 0), 1, (0.1, 0, 0)))], (), q)


def test_loop_to_the_universe_below_other_joints():
    """Crank, coupler, rocker in series, closed on the ground; a joint after them and one before another cluster."""
    tree = chain(
        (0, pin.JointModelRZ(), at()),
        (1, pin.JointModelRZ(), at(0.1)),
        (2, pin.JointModelRZ(), at(0.35)),
        (3, pin.JointModelRX(), at(0.1)),
    )
    closure = loop(0, at(0.4), 3, at(0.3))
    found = analyse(tree, [ClusterLoops((1, 2, 3), (closure,), ())], ())
    (a,) = found.loops
    assert (a.rank, a.independents, a.dependents) == (2, (0,), (1, 2))
    assert found.q_reference[3] == 0.0
    assert np.max(np.abs(Equations(tree, [closure]).residual(found.q_reference))) < 1e-12


def test_loop_below_a_free_flyer_and_a_hinge():
    tree = chain(
        (0, pin.JointModelFreeFlyer(), at()),
        (1, pin.JointModelRUBZ(), pin.SE3.Random()),
        (2, pin.JointModelRZ(), pin.SE3.Random()),
        (3, pin.JointModelRZ(), at(0.1)),
        (2, pin.JointModelRZ(), at()),
    )
    tree.jointPlacements[5] = tree.jointPlacements[3] * at(0.4)
    closure = loop(4, at(0.35), 5, at(0.3))
    q = pin.integrate(tree, pin.neutral(tree), np.r_[np.full(7, 0.3), np.zeros(3)])
    found = analyse(tree, [ClusterLoops((3, 4, 5), (closure,), ())], (), None)
    np.testing.assert_array_equal(found.q_reference[:9], pin.neutral(tree)[:9])
    q[9:] = found.q_reference[9:]
    again = analyse(tree, [ClusterLoops((3, 4, 5), (closure,), ())], (), q)
    np.testing.assert_allclose(again.q_reference, q, atol=1e-12)
    assert again.loops[0].independents == (7,)


def gear(dependent, masters, coefficients, offset=0.0):
    return Row(dependent, masters, coefficients, offset, source("gear"), (dependent, *masters))


def test_gear_on_joints_of_the_loop_becomes_an_equation():
    """A five-bar whose two cranks are geared has one degree of freedom."""
    tree = chain(
        (0, pin.JointModelRZ(), at()),
        (1, pin.JointModelRZ(), at(0.2)),
        (0, pin.JointModelRZ(), at(0.3)),
        (3, pin.JointModelRZ(), at(0.2)),
        (1, pin.JointModelRX(), at()),
        (5, pin.JointModelRX(), at()),
    )
    closure = loop(2, at(0.3), 4, at(0.3))
    rows = (gear(3, (1,), (-1.0,), 0.1), gear(5, (2,), (9.0,), 0.2), gear(6, (5,), (2.0,)))
    found = analyse(tree, [cluster(tree, closure, rows=rows)], rows)
    (a,) = found.loops
    assert a.followers == rows[1:]
    assert a.rank == 3
    assert isinstance(a.kept[-1], LinearClosure)
    assert a.kept[-1].joints == (3, 1)
    np.testing.assert_array_equal(a.kept[-1].coefficients, [[1.0, 1.0]])
    assert len(a.independents) == 1
    assert set(a.independents) | set(a.dependents) == {0, 1, 2, 3}
    assert a.closures == (closure,)
    q = found.q_reference
    assert q[2] == pytest.approx(-q[0] + 0.1, abs=1e-12)
    assert q[4] == pytest.approx(9.0 * q[1] + 0.2, abs=1e-12)
    assert q[5] == pytest.approx(2.0 * q[4], abs=1e-12)
    equations = Equations(tree, [closure], rows)
    assert np.max(np.abs(equations.residual(q))) < 1e-12
    np.testing.assert_array_equal(equations.jacobian(q)[6], [0, -9, 0, 0, 1, 0])
    with raises(ConstraintError, "'j5'"):
        analyse(tree, [cluster(tree, closure, rows=rows, independent=(5,))], rows)


def test_gear_whose_dependent_leads_a_joint_of_the_loop():
    tree, closure = four_bar()
    tree.addJoint(0, pin.JointModelRX(), at(), "motor")
    tree.addJoint(0, pin.JointModelRX(), at(), "shaft")
    # the shaft follows the motor, and the crank the shaft: both are equations, and the motor is free
    rows = (gear(5, (4,), (3.0,)), gear(1, (5,), (0.5,)))
    (a,) = analyse(tree, [cluster(tree, closure, rows=rows)], rows).loops
    assert a.followers == ()
    assert a.rank == 4
    assert len(a.independents) == 1


def test_continuous_joints():
    tree = chain(
        (0, pin.JointModelRUBZ(), at()),
        (1, pin.JointModelRUBZ(), at(0.1)),
        (0, pin.JointModelRUBZ(), at(0.4)),
        (0, pin.JointModelRUBZ(), at()),
    )
    closure = loop(2, at(0.35), 3, at(0.3))
    rows = (gear(4, (1,), (2.0,), 5.0),)
    found = analyse(tree, [cluster(tree, closure, rows=rows)], rows)
    q = found.q_reference
    assert np.max(np.abs(Equations(tree, [closure], rows).residual(q))) < 1e-12
    np.testing.assert_allclose(np.linalg.norm(q.reshape(4, 2), axis=1), 1.0, atol=1e-14)


def test_closures_on_joints():
    """x2 = sin(x1) as a Python function, which cannot lose single rows; a redundant pair is solved per state."""

    def phi(x):
        return np.array([x[1] - math.sin(x[0])])

    def derivative(x):
        return np.array([[-math.cos(x[0]), 1.0]])

    tree = chain((0, pin.JointModelRX(), at()), (0, pin.JointModelPX(), at()), (0, pin.JointModelPX(), at()))
    sine = CallableClosure(source("sine"), ("s",), ("",), (1, 2), (phi, derivative, None, None), np.full(2, 0.02))
    found = analyse(tree, [cluster(tree, sine)], ())
    (a,) = found.loops
    assert (a.rank, a.independents) == (1, (0, 2))  # the third joint is untouched
    assert 1.0 <= a.scales[0] <= math.sqrt(2.0)
    with raises(ConstraintError, "3 2"):
        analyse(tree, [cluster(tree, sine, independent=(1, 2))], ())
    (wished,) = analyse(tree, [cluster(tree, sine, independent=(2,))], ()).loops
    assert wished.independents == (1, 2)
    (user,) = analyse(tree, [cluster(tree, sine, independent=(2,))], (), None, (1, 3)).loops
    assert user.independents == (0, 2)
    double = CallableClosure(source("again"), ("s",), ("",), (1, 2), (phi, derivative, None, None), np.full(2, 0.02))
    (a,) = analyse(tree, [cluster(tree, sine, double)], ()).loops
    assert (a.rank, a.pivoted, len(a.kept)) == (1, True, 2)


def test_loop_that_cannot_close():
    tree, closure = four_bar(ground=1.0, crank=0.1, coupler=0.2, rocker=0.3)
    with raises(ConstraintError, "'closure' 0.4 'j1' 'j2'"):
        analyse(tree, [cluster(tree, closure)], ())
    with raises(ConfigurationError, "'closure' 0.4"):
        analyse(tree, [cluster(tree, closure)], (), np.zeros(3))
    equations = Equations(tree, [closure])
    with pytest.raises(AssemblyFailure) as failure:
        project(equations, tree, np.zeros(3))
    assert failure.value.misfit > 0.1


def test_reference_that_is_far_from_closed():
    tree, closure = four_bar()
    with raises(ConfigurationError, "'closure' 'j3'"):
        analyse(tree, [cluster(tree, closure)], (), np.array([0.0, 3.0, 0.0]))
    with raises(ShapeError, "3"):
        analyse(tree, [cluster(tree, closure)], (), np.zeros(4))
    with raises(ConfigurationError, "'j2' q_reference nan"):
        analyse(tree, [cluster(tree, closure)], (), np.array([0.0, np.nan, 0.0]))


def test_reference_fixes_the_branch():
    tree, closure = four_bar()
    up = analyse(tree, [cluster(tree, closure)], ()).q_reference
    # the rocker on the other side of the ground: mirrored angles
    down = analyse(tree, [cluster(tree, closure)], (), -up).q_reference
    np.testing.assert_allclose(down, -up, atol=1e-12)


def test_mechanism_that_cannot_move():
    tree = chain((0, pin.JointModelRZ(), at()), (0, pin.JointModelRZ(), at(0.4)))
    with raises(ConstraintError, "'tie' 'j1' 'j2'"):
        analyse(tree, [cluster(tree, loop(1, at(0.3), 2, at(0.3), "revolute", "tie"))], ())


def test_links_that_are_just_long_enough_when_stretched():
    tree = chain((0, pin.JointModelRZ(), at()), (1, pin.JointModelRZ(), at(0.2)))
    closure = loop(0, at(0.5), 2, at(0.3), "spherical", "tie")
    with raises(ConstraintError, "'tie'"):
        analyse(tree, [cluster(tree, closure)], ())


def test_three_parallel_cranks():
    """Two parallelogram loops share a coupler: of four rows three count, another three at each pose."""
    tree = chain(*((p, pin.JointModelRZ(), at(x)) for p, x in ((0, 0.0), (1, 0.2), (0, 0.3), (0, 0.6))))
    closures = loop(2, at(0.3), 3, at(0.2)), loop(2, at(0.6), 4, at(0.2))
    for reference in (np.array([0.5, -0.48, 0.52, 0.5]), None):
        found = analyse(tree, [cluster(tree, *closures)], (), reference)
        (a,) = found.loops
        assert (a.rank, a.pivoted, a.independents) == (3, True, (0,))
        np.testing.assert_allclose(found.q_reference[1:] / found.q_reference[0], [-1.0, 1.0, 1.0], atol=1e-6)


def ball_rod(end="spherical", first=None):
    """Crank and rocker about skew axes, joined by a body on a spherical joint."""
    tree = chain((0, pin.JointModelRZ(), at()), (0, pin.JointModelRX(), at(0.4, 0.1, 0.1)))
    p = at(0.1)
    for joint in first or [pin.JointModelSpherical()]:
        j = tree.addJoint(1 if tree.njoints == 3 else tree.njoints - 1, joint, p, f"r{tree.njoints}")
        p = at()
    return tree, loop(j, at(0.4), 2, at(0, 0.25), end, "rod body")


def test_rod_body_that_can_spin_is_refused():
    tree, closure = ball_rod()
    with raises(ConstraintError, "'rod body' 'r3' pc.Rod"):
        analyse(tree, [cluster(tree, closure)], ())
    hinges = [pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()]
    tree, closure = ball_rod(first=hinges)
    with raises(ConstraintError, "'r5' 'r3' 'r4'"):
        analyse(tree, [cluster(tree, closure)], ())
    tree, closure = ball_rod(first=hinges[1:])  # U-S: y and z, so that the spin about x is blocked
    (a,) = analyse(tree, [cluster(tree, closure)], ()).loops
    assert (a.rank, a.independents) == (3, (2,))
    tree, closure = ball_rod("universal")  # S-U
    (a,) = analyse(tree, [cluster(tree, closure)], ()).loops
    assert (a.rank, len(a.independents)) == (4, 1)
    assert set(a.dependents) >= {2, 3, 4}  # a spherical joint is dependent as a whole


def test_body_on_a_ball_with_one_push_rod_is_a_mechanism():
    tree = chain((0, pin.JointModelSpherical(), at()), (0, pin.JointModelPZ(), at(0.2)))
    (a,) = analyse(tree, [cluster(tree, rod(1, (0.2, 0, 0.5), 2, (0, 0, 0), 0.5))], ()).loops
    assert (a.rank, a.independents, a.dependents) == (1, (0, 1, 2), (3,))


def test_joint_that_would_have_to_be_split():
    tree = chain((0, pin.JointModelSpherical(), at()))
    closure = rod(0, (0.3, 0.1, 0), 1, (0.2, 0, 0.5), 0.5)
    with raises(ConstraintError, "'j1' 2 3"):
        analyse(tree, [cluster(tree, closure)], ())


def test_wished_independent_joints():
    tree, closure = four_bar()
    (a,) = analyse(tree, [cluster(tree, closure, independent=(3,))], ()).loops
    assert a.independents == (2,)
    with raises(ConstraintError, "2 1 'j1'"):
        analyse(tree, [cluster(tree, closure, independent=(1, 3))], ())
    square = chain(
        (0, pin.JointModelPX(), at()), (0, pin.JointModelPX(), at()), (0, pin.JointModelPY(), at())
    )  # the third slides across
    closure = FrameClosure(source("x"), ("x",), ("m",), 1, at(), 2, at(), "none", np.eye(6)[:1])
    across = FrameClosure(source("y"), ("y",), ("m",), 3, at(), 0, at(), "none", np.eye(6)[1:2])
    with raises(ConstraintError, "'j1'"):
        analyse(square, [cluster(square, closure, across, independent=(3,))], ())


def test_choice_of_independents():
    K = np.array([[1.0, 1e-3, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    # columns 2 and 3 are sound, and the lowest independents are 0 (and 3, which nothing reaches)
    assert choose_independents([K], [(0,), (1,), (2,), (3,)])[0] == (0, 3)
    # column 0 independent leaves nearly parallel columns
    K = np.array([[1.0, 1.0, 1.0], [0.0, 1e-3, 0.0]])
    assert choose_independents([K], [(0,), (1,), (2,)])[0] == (0,)
    K = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    assert choose_independents([K], [(0,), (1,), (2,)])[0] == (0,)
    assert choose_independents([K], [(1,), (2,), (0,)])[0] == (0,)
    assert choose_independents([K[:, [1, 0, 2]][:, [2, 0, 1]]], [(0,), (1,), (2,)])[0] == (1,)
    assert choose_independents([K], [(0, 1), (2,)]) is None
    assert condition_numbers(np.eye(3), (0, 1, 2)) == (1.0, 1.0)
    assert condition_numbers(np.diag([1.0, 0.0]), (0, 1))[1] == math.inf


def test_choice_among_too_many_is_regular():
    rng = np.random.default_rng(0)
    Ks = [np.hstack([rng.normal(size=(9, 12)), rng.normal(size=(9, 9))]) for _ in range(3)]
    groups = [(i,) for i in range(18)] + [(18, 19, 20)]
    columns, worst, *_ = choose_independents(Ks, groups)
    assert len(columns) == 12
    assert worst < 1e3
    assert len({18, 19, 20} & set(columns)) in (0, 3)


def test_held_joints_stay():
    tree, closure = four_bar()
    q = analyse(tree, [cluster(tree, closure)], ()).q_reference
    start = q + np.array([0.1, 0.05, -0.03])
    held = project(Equations(tree, [closure]), tree, start, hold_iv=(0,))
    assert held[0] == start[0]
    free = project(Equations(tree, [closure]), tree, start)
    assert np.linalg.norm(free - start) < np.linalg.norm(held - start)


def test_harmonic_rows_are_dropped_one_by_one():
    tree = chain((0, pin.JointModelRX(), at()), (0, pin.JointModelRX(), at()))
    weights = np.array([[1.0, -1.0]])
    row = ((0.3, ((0, 0),)),)
    twice = ((0.6, ((0, 0),)),)
    closure = HarmonicClosure(source("h"), ("a", "b"), ("m", "m"), (1, 2), weights, np.zeros(1), (row, twice))
    (a,) = analyse(tree, [cluster(tree, closure)], ()).loops
    assert (a.rank, a.pivoted) == (1, False)
    assert a.kept[0].size == 1
    assert a.kept[0].terms == (twice,) or a.kept[0].terms == (row,)
    np.testing.assert_allclose(a.scales, 0.6)


def stewart():
    """A platform on six legs (two hinges, a slide, a ball), hung from the first."""
    tree, closures = pin.Model(), []
    base = [0.5 * np.array([math.cos(a), math.sin(a), 0.0]) for a in np.deg2rad([0, 20, 120, 140, 240, 260])]
    top = [np.array([0.3 * math.cos(a), 0.3 * math.sin(a), 0.6]) for a in np.deg2rad([-40, 60, 80, 180, 200, 300])]
    for i in range(6):
        d = top[i] - base[i]
        R = pin.Quaternion.FromTwoVectors(Z, d / np.linalg.norm(d)).matrix()
        j = tree.addJoint(0, pin.JointModelRX(), pin.SE3(R, base[i]), f"u{i}")
        j = tree.addJoint(j, pin.JointModelRY(), at(), f"v{i}")
        j = tree.addJoint(j, pin.JointModelPZ(), at(z=np.linalg.norm(d)), f"p{i}")
        if i == 0:
            platform = tree.addJoint(j, pin.JointModelSpherical(), pin.SE3(R.T, np.zeros(3)), "platform")
        else:
            closures.append(loop(j, at(), platform, pin.SE3(np.eye(3), top[i] - top[0]), "spherical", f"leg{i}"))
    return tree, closures


def test_platform_with_more_choices_than_are_tried_one_by_one():
    tree, closures = stewart()
    (a,) = analyse(tree, [cluster(tree, *closures)], ()).loops
    assert (a.rank, a.pivoted, len(a.independents)) == (15, False, 6)
    assert a.worst_condition < 100
    legs = tuple(int(tree.getJointId(f"p{i}")) for i in range(6))
    (a,) = analyse(tree, [cluster(tree, *closures, independent=legs)], ()).loops
    assert a.independents == tuple(tree.idx_vs[j] for j in legs)


@pytest.mark.parametrize("seed", range(12))
def test_random_spatial_loop(seed):
    """A loop that closes at a random pose: assembled there and from scratch, with all rows closed near by."""
    rng = np.random.default_rng(seed)
    kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelPZ, pin.JointModelRUBX)
    tree, ends = pin.Model(), [0, 0]
    for i in range(8):
        placement = pin.exp6(np.r_[0.3 * rng.normal(size=3), rng.normal(size=3)])
        ends[i % 2] = tree.addJoint(ends[i % 2], kinds[rng.integers(len(kinds))](), placement, f"j{i}")
    q = pin.integrate(tree, pin.neutral(tree), rng.uniform(-1.0, 1.0, tree.nv))
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    here = pin.exp6(rng.normal(size=6) * 0.3)
    there = data.oMi[ends[1]].inverse() * data.oMi[ends[0]] * here
    closure = loop(ends[0], here, ends[1], there, ("revolute", "cylindrical", "spherical")[seed % 3])
    equations = Equations(tree, [closure])
    for reference in (q, None):
        found = analyse(tree, [cluster(tree, closure)], (), reference)
        (a,) = found.loops
        r = equations.residual(found.q_reference) / equations.scales(found.q_reference)
        assert np.max(np.abs(r)) < 1e-12
        assert a.rank == closure.size
        assert len(a.independents) == 8 - a.rank
        assert np.isfinite(a.worst_condition)
        if reference is not None:
            np.testing.assert_allclose(found.q_reference, q, atol=1e-12)
