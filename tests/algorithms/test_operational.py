"""Operational space: J M^-1 J' by propagated forces, against routes that form J and M, and by its laws."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool, trees
from support.frames import gap, joint_force, some, with_frames
from support.messages import raises
from support.tolerances import EXACT

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import projection

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
# rounding of two routes, over the largest entry and the condition number of M: some ten times what is measured
LIMIT = 1e-13
# rows of closures that are dropped miss by the misalignment of the geometry
SLOPPY = 30.0


class Asked:
    """A sample at a pose, frames at random, and the dense inertia that all is compared with."""

    def __init__(self, key: pool.Key, rng: np.random.Generator) -> None:
        case = pool.case(key)
        self.of(with_frames(case.model, rng), case.pose(rng), rng, case.exact)

    def of(self, model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, exact: float = 0.0) -> None:
        self.model, self.q, self.data = model, q, model.createData()
        self.exact = projection.createData(model)
        self.names = some(model, rng)
        self.condition = float(np.linalg.cond(projection.crba(model, self.exact, q))) if model.nv else 1.0
        self.limit = LIMIT + SLOPPY * exact

    def close(self, x: np.ndarray, y: np.ndarray) -> bool:
        return gap(x, y, self.condition) < self.limit

    def compare(self, rng: np.random.Generator) -> None:
        model, data, q, names = self.model, self.data, self.q, self.names
        for axes in REFERENCES:
            A = pc.inverse_operational_inertia(model, data, q, names, axes)
            assert np.array_equal(A, A.T)
            w = np.linalg.eigvalsh(A)
            assert w[0] > -1e-13 * max(w[-1], 1e-300)
            assert self.close(A, projection.inverse_operational_inertia(model, self.exact, q, names, axes))
        force = rng.normal(size=6)
        da, inverse = pc.apply_test_force(model, data, q, names[0], force)
        J = reference.frame_jacobian(model, q, names[:1]) if self.exact.rods is None else None
        if J is not None:
            other, dense = reference.apply_test_force(model, q, names[0], force)
            assert self.close(da, other)
            assert self.close(inverse, dense)
            assert self.close(inverse @ force, J @ da)
            assert self.close(A, reference.inverse_operational_inertia(model, q, names, axes))
        assert np.array_equal(inverse, pc.inverse_operational_inertia(model, data, q, names[:1]))


@pool.each()
def test_dense_routes(key: pool.Key, rng: np.random.Generator) -> None:
    """Gears, belts, loops and rods; several frames on one body, on rotors, inside clusters, on the universe."""
    Asked(key, rng).compare(rng)


@pytest.mark.parametrize("seed", pool.some(range(60), 3))
def test_random_trees(seed: int, rng: np.random.Generator) -> None:
    robot = trees.random_robot(
        rng, int(rng.integers(1, 12)), floating=bool(seed % 2), couplings=int(rng.integers(0, 4)),
        rotor_bodies=int(rng.integers(1, 5)), rotors=int(rng.integers(0, 4)), chain=float(rng.random()),
    )  # fmt: skip
    asked = Asked.__new__(Asked)
    model = with_frames(robot.build(("as_added", "depth_first", "shuffled")[seed % 3], rng), rng)
    for _ in range(2):
        asked.of(model, trees.random_state(model, rng)[0], rng)
        asked.compare(rng)


@pytest.mark.parametrize("seed", pool.some(range(200, 260), 2))
def test_random_loops(seed: int, rng: np.random.Generator) -> None:
    m = mechanisms.random_one(rng, seed)
    model = pool.build(m)
    asked = Asked.__new__(Asked)
    asked.of(with_frames(model, rng), mechanisms.random_pose(model, m.q0, rng, 0.5 * m.spread), rng)
    asked.compare(rng)


# those of several kinds: rotors on a floating base, loops with functions, belts, rods with mass
OFTEN = ("mini_cheetah", "tello", "mit_humanoid_leg", "delta", "four_bar")


@pytest.mark.parametrize("base", ["as it is", "floating"])
@pytest.mark.parametrize("robot", pool.some(sorted(pc.robots()), OFTEN))
def test_shipped_robots(robot: str, base: str, rng: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(robot, **({} if base == "as it is" else {"root_joint": pin.JointModelFreeFlyer()}))
    asked = Asked.__new__(Asked)
    asked.of(with_frames(model, rng), pc.neutral(model), rng)
    if asked.condition > 1e13:  # planar linkages of rods without thickness, which float: an axis has no inertia
        assert base == "floating"
        with np.errstate(all="ignore"), raises(pc.SingularClusterError, "'root_joint'"):
            asked.compare(rng)
        return
    asked.compare(rng)
    q = pc.randomConfiguration(model) if not model.closures else pc.integrate(model, asked.q, 0.05 * np.ones(model.nv))
    asked.of(asked.model, q, rng)
    asked.compare(rng)


# --- laws ------------------------------------------------------------------------------------------------------------


@pool.each()
def test_a_force_accelerates_as_in_aba(key: pool.Key, rng: np.random.Generator) -> None:
    """Two runs of forward dynamics, with and without the force: nothing but the force is between them."""
    asked = Asked(key, rng)
    model, data, q = asked.model, asked.data, asked.q
    v, tau = rng.normal(size=(2, model.nv))
    frame, force = asked.names[-1], 10.0 * rng.normal(size=6)
    free = pc.aba(model, data, q, v, tau)
    pushed = pc.aba(model, data, q, v, tau, joint_force(model, frame, force))
    da, inverse = pc.apply_test_force(model, data, q, frame, force)
    # what is lost in the difference is rounding of its terms
    size = max(float(np.abs(x).max(initial=1e-300)) for x in (free, pushed, da))
    assert np.abs(pushed - free - da).max(initial=0.0) < asked.limit * asked.condition * size
    for given in (pin.Force(force), list(force), force.reshape(6, 1)):
        again, same = pc.apply_test_force(model, data, q, model.getFrameId(frame), given)
        assert np.array_equal(again, da)
        assert np.array_equal(same, inverse)


@pool.each()
def test_change_of_axes_by_adjoints(key: pool.Key, rng: np.random.Generator) -> None:
    asked = Asked(key, rng)
    model, data, q, names = asked.model, asked.data, asked.q, asked.names
    tree = model.own_tree.createData()
    pin.framesForwardKinematics(model.own_tree, tree, q)
    A = pc.inverse_operational_inertia(model, data, q, names)
    for axes in REFERENCES[1:]:
        X = np.zeros(A.shape)
        for i, name in enumerate(names):
            pose = tree.oMf[model.getFrameId(name)]
            own = pose if axes == pin.WORLD else pin.SE3(pose.rotation, np.zeros(3))
            X[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = own.toActionMatrix()
        assert asked.close(pc.inverse_operational_inertia(model, data, q, names, axes), X @ A @ X.T)


@pool.each()
def test_order_and_rows(key: pool.Key, rng: np.random.Generator) -> None:
    """Frames in another order permute the rows; rows are those of the whole; each by its name or its id."""
    asked = Asked(key, rng)
    model, data, q, names = asked.model, asked.data, asked.q, asked.names
    A = pc.inverse_operational_inertia(model, data, q, names, pin.WORLD)
    order = rng.permutation(len(names))
    found = pc.inverse_operational_inertia(model, data, q, [names[i] for i in order], pin.WORLD)
    at = np.concatenate([6 * i + np.arange(6) for i in order])
    assert gap(found, A[np.ix_(at, at)]) < EXACT
    linear = [i for i in range(len(A)) if i % 6 < 3]
    found = pc.inverse_operational_inertia(model, data, q, tuple(names), pin.WORLD, "linear")
    assert gap(found, A[np.ix_(linear, linear)]) < EXACT
    ids = [model.getFrameId(name) for name in names]
    for n in (1, 7, 8, 9, len(A)):
        rows = [int(r) for r in rng.permutation(len(A))[:n]]
        for given in (rows, tuple(rows), np.array(rows), (r for r in rows)):
            found = pc.inverse_operational_inertia(model, data, q, ids, pin.WORLD, given)
            assert found.shape == (n, n)
            assert gap(found, A[np.ix_(rows, rows)]) < EXACT


@pytest.mark.jitless
@pytest.mark.parametrize("columns", pool.some([1, 7, 8, 9, 42, 100], (1, 9, 42)))
@pytest.mark.parametrize("floating", [False, True])
def test_any_number_of_columns(columns: int, floating: bool, rng: np.random.Generator) -> None:
    """Packs that are full, and that are not."""
    robot = trees.random_robot(rng, 9, floating=floating, couplings=2, rotor_bodies=3, rotors=2)
    model = with_frames(robot.build("shuffled", rng), rng)
    q, data, exact = trees.random_state(model, rng)[0], model.createData(), projection.createData(model)
    names = [str(x) for x in rng.permutation([f"{name} {k}" for name in model.names for k in (0, 1)])[:17]]
    rows = rng.permutation(6 * len(names))[:columns]
    A = pc.inverse_operational_inertia(model, data, q, names, pin.LOCAL, rows)
    dense = projection.inverse_operational_inertia(model, exact, q, names, pin.LOCAL, rows)
    assert A.shape == (columns, columns)
    assert gap(A, dense, float(np.linalg.cond(projection.crba(model, exact, q)))) < LIMIT
    contacts, B = names[: columns // 3], rng.normal(size=(model.nv, columns - 3 * (columns // 3)))
    if len(contacts) == columns // 3:
        found = pc.inverse_input_matrix(model, data, q, B, contacts)
        assert found.shape == (model.nv, columns)
        dense = projection.inverse_input_matrix(model, exact, q, B, contacts)
        assert gap(found, dense, float(np.linalg.cond(projection.crba(model, exact, q)))) < LIMIT


@pytest.mark.jitless
def test_nothing_else_is_felt(rng: np.random.Generator) -> None:
    """Gravity, names and the order of the joints do not count."""
    robot = trees.random_robot(rng, 7, floating=True, couplings=1, rotor_bodies=3, rotors=2)
    one, two = robot.build(), robot.build("depth_first", names=lambda n: f"other_{n}")
    q = trees.random_state(one, rng)[0]
    q_two = np.zeros(two.nq)
    for j in range(1, one.njoints):
        own, other = one.tree.joints[j], two.tree.joints[two.getJointId(f"other_{one.names[j]}")]
        q_two[other.idx_q : other.idx_q + other.nq] = q[own.idx_q : own.idx_q + own.nq]
    names = [f.name for f in list(one.frames)[1:6]]
    A = pc.inverse_operational_inertia(one, one.createData(), q, names)
    condition = float(np.linalg.cond(pc.crba(one, one.createData(), q)))
    B = pc.inverse_operational_inertia(two, two.createData(), q_two, [f"other_{n}" for n in names])
    assert gap(B, A, condition) < LIMIT
    turned = one.with_gravity([3.0, -2.0, 1.0])
    assert np.array_equal(pc.inverse_operational_inertia(turned, turned.createData(), q, names), A)


@pytest.mark.jitless
def test_the_universe_does_not_move(rng: np.random.Generator) -> None:
    for floating in (False, True):
        model = with_frames(trees.geared_arm(floating=floating).build("shuffled", rng), rng)
        data, q = model.createData(), trees.random_state(model, rng)[0]
        for axes in REFERENCES:
            A = pc.inverse_operational_inertia(model, data, q, ["j1 0", "universe 1", 0], axes)
            assert not np.any(A[6:])
            alone = pc.inverse_operational_inertia(model, data, q, ["j1 0"], axes)
            assert gap(A[:6, :6], alone) < EXACT
        da, inverse = pc.apply_test_force(model, data, q, "universe", np.ones(6))
        assert not np.any(da)
        assert not np.any(inverse)


@pytest.mark.jitless
def test_rotors_on_the_universe(rng: np.random.Generator) -> None:
    """They have a place, and forces in the axes of the world find it."""
    for floating in (False, True):
        robot = trees.random_tree(rng, 4, kinds=["revolute"], chain=1.0, floating=floating)
        axis = trees.unit(rng)
        joint, body = pin.JointModelRevoluteUnaligned(axis), trees.rotor_inertia(rng, axis)
        robot.nodes.append(trees.Node("r", None, joint, trees.placement(rng), body))
        robot.constraints.append(lambda names: pc.Gear("j1", "r", -7.0, 0.4))
        model = with_frames(robot.build("shuffled", rng), rng)
        assert model.rotors[0].spins
        q, data, exact = trees.random_state(model, rng)[0], model.createData(), projection.createData(model)
        for axes in REFERENCES:
            for names in (["r 0", "r 1", "j2 0"], ["j2 1", "universe 0", "r 0"]):
                A = pc.inverse_operational_inertia(model, data, q, names, axes)
                dense = projection.inverse_operational_inertia(model, exact, q, names, axes)
                assert gap(A, dense, float(np.linalg.cond(projection.crba(model, exact, q)))) < LIMIT


# --- the inertia -----------------------------------------------------------------------------------------------------


@pytest.mark.jitless
def test_operational_inertia(rng: np.random.Generator) -> None:
    model = with_frames(trees.geared_arm(floating=True).build("shuffled", rng), rng)
    data, q = model.createData(), trees.random_state(model, rng)[0]
    names = ["j3 0", "base 1"]
    A = pc.inverse_operational_inertia(model, data, q, names, rows="linear")
    inertia = pc.operational_inertia(model, data, q, names, rows="linear")
    assert gap(inertia @ A, np.eye(6), float(np.linalg.cond(A))) < LIMIT
    assert np.allclose(inertia, inertia.T, rtol=1e-13, atol=1e-13 * np.abs(inertia).max())
    for damping in (0.01, np.float32(0.5), 2):
        damped = pc.operational_inertia(model, data, q, names, rows="linear", damping=damping)
        assert gap(damped, np.linalg.inv(A + damping * np.eye(6))) < 1e-10
    # the base alone feels all of the robot: locked joints would feel more
    whole = pc.operational_inertia(model, data, q, ["base 0"], rows=[0, 1, 2])
    assert np.trace(whole) / 3.0 < sum(i.mass for i in model.inertia_tree.inertias)


@pytest.mark.jitless
def test_rows_that_do_not_move_independently(rng: np.random.Generator) -> None:
    model = with_frames(trees.geared_arm().build("shuffled", rng), rng)
    data, q = model.createData(), trees.random_state(model, rng)[0]
    for names, rank in ((["j3 0"], 4), (["j3 0", "j3 1"], 4), (["j0 0", "r0 1"], 1), (["universe 0"], 0)):
        with raises(pc.RankError, f"{rank} rows damping") as e:
            pc.operational_inertia(model, data, q, names)
        assert e.value.rank == rank
        assert pickle.loads(pickle.dumps(e.value)).rank == rank
        A = pc.inverse_operational_inertia(model, data, q, names)
        damped = pc.operational_inertia(model, data, q, names, damping=1e-2)
        assert gap(damped, np.linalg.inv(A + 1e-2 * np.eye(len(A)))) < 1e-8
    assert pc.operational_inertia(model, data, q, ["j3 0"], rows="linear").shape == (3, 3)


@pytest.mark.jitless
def test_rows_of_rounding_do_not_move(rng: np.random.Generator) -> None:
    """A mechanism in a tilted plane: what it cannot do is there up to rounding, and no inertia to be inverted."""
    tree, up, tilt = pin.Model(), 0, pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    for k in range(4):
        up = tree.addJoint(up, pin.JointModelRZ(), tilt if k == 0 else pin.SE3(np.eye(3), np.eye(3)[0]), f"j{k}")
        tree.appendBodyToJoint(up, pin.Inertia.Random(), pin.SE3.Identity())
    turned = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    tree.addFrame(pin.Frame("tip", up, 0, turned, pin.FrameType.OP_FRAME), False)
    tree.addFrame(pin.Frame("j3", up, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME), False)
    model = pc.ClusterModel(tree)
    data, q = model.createData(), rng.normal(size=4)
    for axes in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD):
        with raises(pc.RankError, "3"):
            pc.operational_inertia(model, data, q, ["tip"], axes)
    with raises(pc.RankError, "1"):
        pc.operational_inertia(model, data, q, ["j3"], rows=[0, 2, 3, 4])


@pytest.mark.jitless
def test_a_small_robot_is_not_singular(rng: np.random.Generator) -> None:
    """Rows in metres are 1e6 times those in radians where a robot is a millionth of a metre long."""
    tree, up = pin.Model(), 0
    for k in range(6):
        joint = pin.JointModelRevoluteUnaligned(trees.unit(rng))
        up = tree.addJoint(up, joint, pin.SE3(pin.exp3(rng.normal(size=3)), 1e-6 * rng.normal(size=3)), f"j{k}")
        tree.appendBodyToJoint(up, pin.Inertia(1e-9, 1e-6 * rng.normal(size=3), 1e-21 * np.eye(3)), pin.SE3.Identity())
    tree.addFrame(pin.Frame("tip", up, 0, pin.SE3(np.eye(3), 1e-6 * np.ones(3)), pin.FrameType.OP_FRAME), False)
    model = pc.ClusterModel(tree)
    data, q = model.createData(), rng.normal(size=6)
    inertia = pc.operational_inertia(model, data, q, ["tip"])
    assert np.all(np.linalg.eigvalsh(inertia) > 0.0)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "much", True, None, [0.1]])
def test_bad_damping(bad: Any) -> None:
    model = trees.geared_arm().build()
    with raises(pc.ArgumentTypeError, "damping"):
        pc.operational_inertia(model, model.createData(), pc.neutral(model), [1], damping=bad)


@pytest.mark.jitless
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_propagates(bad: float) -> None:
    model = trees.geared_arm().build()
    data, q = model.createData(), pc.neutral(model)
    q[:] = bad
    last = model.nframes - 1
    with np.errstate(all="ignore"):
        assert np.isnan(pc.inverse_operational_inertia(model, data, q, [last])).all()
        assert np.isnan(pc.operational_inertia(model, data, q, [last])).all()
        assert np.isnan(pc.apply_test_force(model, data, q, last, np.ones(6))[0]).all()
        assert np.isnan(pc.inverse_input_matrix(model, data, q)).any()
    # and nothing of it stays
    fresh = pc.inverse_operational_inertia(model, model.createData(), pc.neutral(model), [last])
    assert np.array_equal(pc.inverse_operational_inertia(model, data, pc.neutral(model), [last]), fresh)


@pytest.mark.jitless
def test_no_inertia() -> None:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "bare")
    tree.addJointFrame(1, 0)
    model = pc.ClusterModel(tree)
    data = model.createData()
    for call in (
        lambda: pc.inverse_operational_inertia(model, data, [0.0], [1]),
        lambda: pc.apply_test_force(model, data, [0.0], 1, np.ones(6)),
        lambda: pc.inverse_input_matrix(model, data, [0.0]),
    ):
        with np.errstate(all="ignore"), raises(pc.SingularClusterError, "'bare'"):
            call()


@pytest.mark.jitless
def test_a_robot_that_does_not_move() -> None:
    tree = pin.Model()
    tree.addFrame(pin.Frame("wall", 0, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME), False)
    model = pc.ClusterModel(tree)
    data, q = model.createData(), np.zeros(0)
    assert np.array_equal(pc.inverse_operational_inertia(model, data, q, ["wall"], pin.WORLD), np.zeros((6, 6)))
    da, inverse = pc.apply_test_force(model, data, q, "wall", np.ones(6))
    assert da.shape == (0,)
    assert not np.any(inverse)
    assert pc.inverse_input_matrix(model, data, q).shape == (0, 0)
    assert pc.inverse_input_matrix(model, data, q, contacts=["wall"]).shape == (0, 3)


# --- what is asked ---------------------------------------------------------------------------------------------------

BAD_FRAMES: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown": (["j1_lin"], pc.UnknownNameError, "'j1_lin' 'j1_link'"),
    "too far": ([1, 99], pc.UnknownNameError, "frame_id 99 0"),
    "negative": ([-1], pc.UnknownNameError, "frame_id -1"),
    "twice": (["j1_link", "j0_link", "j1_link"], pc.ArgumentTypeError, "'j1_link'"),
    "twice by id": ([1, "universe", 0], pc.ArgumentTypeError, "0"),
    "none": ([], pc.ArgumentTypeError, "frames"),
    "no list": ("j1_link", pc.ArgumentTypeError, "'j1_link'"),
    "a number": (3, pc.ArgumentTypeError, "3"),
    "nothing": (None, pc.ArgumentTypeError, "None"),
    "bytes": (b"j1", pc.ArgumentTypeError, ""),
    "a set": ({"j1_link"}, pc.ArgumentTypeError, ""),
    "a dictionary": ({1: 2}, pc.ArgumentTypeError, ""),
    "no dimension": (np.array(1), pc.ArgumentTypeError, ""),
    "a generator": ((x for x in [1]), pc.ArgumentTypeError, ""),
    "truth": ([True], pc.ArgumentTypeError, "True bool"),
    "a fraction": ([1.0], pc.ArgumentTypeError, "1.0"),
    "lists": ([["j1_link"]], pc.ArgumentTypeError, "'j1_link'"),
    "a frame": ([pin.Frame("foot", 0, 0, pin.SE3.Identity(), pin.OP_FRAME)], pc.ArgumentTypeError, "frame_id 0"),
}
BAD_ROWS: dict[str, tuple[Any, str]] = {
    "too far": ([0, 12], "0 11 12"),
    "negative": ([-1], "-1"),
    "twice": ((3, 4, 3), "3"),
    "fraction": ([0.5], "0.5"),
    "truth": ([True, False], "True"),
    "a mask": (np.ones(12, dtype=bool), "0 11"),
    "none": ([], "rows"),
    "text": ("angular", "'linear' 'angular'"),
    "texts": (["linear"], "'linear'"),
    "a table": (np.zeros((2, 2), dtype=int), "0 11"),
    "no dimension": (np.array(1), "0 11"),
    "a set": ({1, 2}, "0 11"),
    "lists": ([[1]], "1"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_bad_frames(kind: str) -> None:
    frames, error, message = BAD_FRAMES[kind]
    model = trees.geared_arm().build()
    for function in (pc.inverse_operational_inertia, pc.operational_inertia):
        with raises(error, message):
            function(model, model.createData(), pc.neutral(model), frames)


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_bad_rows(kind: str) -> None:
    rows, message = BAD_ROWS[kind]
    model = trees.geared_arm().build()
    with raises(pc.ArgumentTypeError, message):
        pc.inverse_operational_inertia(model, model.createData(), pc.neutral(model), [1, 2], pin.LOCAL, rows)


def test_other_bad_arguments() -> None:
    model = trees.geared_arm().build()
    data, q = model.createData(), pc.neutral(model)
    for reference_frame in ("LOCAL", 1, None, []):
        with raises(pc.ArgumentTypeError, "pin.LOCAL pin.WORLD pin.LOCAL_WORLD_ALIGNED"):
            pc.inverse_operational_inertia(model, data, q, [1], reference_frame)
    with raises(pc.ShapeError, "q 3"):
        pc.inverse_operational_inertia(model, data, [0.0, 1.0, 2.0], [1])
    with pytest.raises(pc.DataMismatchError):
        pc.inverse_operational_inertia(model, trees.geared_arm().build().createData(), q, [1])
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        pc.inverse_operational_inertia(model.tree, data, q, [1])
    with raises(pc.ArgumentTypeError, "pin.Motion"):
        pc.apply_test_force(model, data, q, 1, pin.Motion.Zero())
    with raises(pc.ShapeError, "force 3"):
        pc.apply_test_force(model, data, q, 1, [1.0, 2.0, 3.0])
    with raises(pc.UnknownNameError, "'hand'"):
        pc.apply_test_force(model, data, q, "hand", np.ones(6))
    with raises(pc.ArgumentTypeError, "'j1_link' frame_id"):
        pc.apply_test_force(model, data, q, ["j1_link"], np.ones(6))
    data.check = True
    off = np.array(q)
    off[model.tree.joints[model.getJointId("r1")].idx_q] += 0.3
    with pytest.raises(pc.ConfigurationError):
        pc.inverse_operational_inertia(model, data, off, [1])


def test_a_name_of_several_frames(rng: np.random.Generator) -> None:
    """Pinocchio tells frames of one name apart by their types."""
    tree = trees.geared_arm().tree()
    tree.addFrame(pin.Frame("j1", 2, 0, pin.SE3.Random(), pin.FrameType.JOINT), False)
    tree.addFrame(pin.Frame("j1", 4, 0, pin.SE3.Random(), pin.FrameType.BODY), False)
    model = pc.ClusterModel(tree, trees.geared_arm().build().constraints)
    data, q = model.createData(), pc.neutral(model)
    n = model.nframes
    with raises(pc.ArgumentTypeError, f"'j1' {n - 2} (JOINT) {n - 1} (BODY) model.getFrameId"):
        pc.inverse_operational_inertia(model, data, q, ["j1"])
    one = pc.inverse_operational_inertia(model, data, q, [model.getFrameId("j1", pin.FrameType.BODY)])
    assert np.array_equal(one, pc.inverse_operational_inertia(model, data, q, [n - 1]))


def test_forms_of_frames(rng: np.random.Generator) -> None:
    """Names, ids and any whole numbers, side by side and in any list."""
    model = trees.geared_arm().build()
    data, q = model.createData(), trees.random_state(model, rng)[0]
    names = ["j1_link", "r2_link", "j3_link"]
    ids = [model.getFrameId(name) for name in names]
    A = pc.inverse_operational_inertia(model, data, q, names)
    for given in (
        tuple(names), ids, np.array(ids), np.array(ids, dtype=np.uint8), [names[0], ids[1], np.int32(ids[2])],
        np.array(names), [np.str_(name) for name in names], tuple(ids),
    ):  # fmt: skip
        assert np.array_equal(pc.inverse_operational_inertia(model, data, q, given), A)
    assert np.array_equal(pc.inverse_operational_inertia(model, data, list(q), names), A)
    assert np.array_equal(pc.inverse_operational_inertia(model, data, q.reshape(-1, 1), range(1, 2)),
                          pc.inverse_operational_inertia(model, data, q, [1]))  # fmt: skip
    first = pc.inverse_operational_inertia(model, data, q, names)
    first[:] = 7.0  # a fresh array each time
    assert np.array_equal(pc.inverse_operational_inertia(model, data, q, names), A)


# --- workspaces ------------------------------------------------------------------------------------------------------


@pytest.mark.jitless
def test_many_questions_to_one_workspace(rng: np.random.Generator) -> None:
    """What is kept for the next call is what was asked, not what looks like it."""
    model = with_frames(trees.random_robot(rng, 8, floating=True, couplings=2, rotor_bodies=3).build(), rng)
    data, q = model.createData(), trees.random_state(model, rng)[0]
    names = [f"{name} {k}" for name in model.names for k in (0, 1)]
    B = rng.normal(size=(model.nv, 3))
    for turn in range(2):
        for name in names:
            # one row, number 3, and three inputs: the numbers of both questions are the same
            for rows in (3, None, "linear", [0, 4]):
                A = pc.inverse_operational_inertia(model, data, q, [name], rows=rows)
                fresh = pc.inverse_operational_inertia(model, model.createData(), q, [name], rows=rows)
                assert np.array_equal(A, fresh), (turn, name, rows)
            found = pc.inverse_input_matrix(model, data, q, B, [name])
            assert found.shape == (model.nv, 6)
            assert np.array_equal(found, pc.inverse_input_matrix(model, model.createData(), q, B, [name]))
            da, _ = pc.apply_test_force(model, data, q, name, np.ones(6))
            assert np.array_equal(da, pc.apply_test_force(model, model.createData(), q, name, np.ones(6))[0])
            with pytest.raises(pc.ArgumentTypeError):
                pc.inverse_operational_inertia(model, data, q, [name], rows=True)
    pc.inverse_operational_inertia(model, data, q, [1])
    for alike in (True, 1.0, np.float64(1.0)):
        with raises(pc.ArgumentTypeError, "frame_id"):
            pc.inverse_operational_inertia(model, data, q, [alike])
    assert len(data._plans) <= 65


@pytest.mark.parametrize("key", ["tree-1", "rotors_on_a_loop_on_free_flyer"])
def test_copies_and_threads(key: pool.Key, rng: np.random.Generator) -> None:
    asked = Asked(key, rng)
    model, data, q, names = asked.model, asked.data, asked.q, asked.names
    A = pc.inverse_operational_inertia(model, data, q, names)
    for other in (data.copy(), copy.deepcopy(data), pickle.loads(pickle.dumps(data)), model.createData()):
        assert np.array_equal(pc.inverse_operational_inertia(other.model, other, q, names), A)
    assert np.array_equal(pc.inverse_operational_inertia(model, data, q, names), A)
    wrong: list[str] = []

    def work() -> None:
        own = model.createData()
        for k in range(50):
            some_names = names[: 1 + k % len(names)]
            found = pc.inverse_operational_inertia(model, own, q, some_names)
            if gap(found, A[: len(found), : len(found)]) > EXACT:
                wrong.append(f"{k}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pool.each(pool.LOOPS)
def test_g_depends_on_q(key: pool.Key, rng: np.random.Generator) -> None:
    """One workspace at one pose after the other."""
    asked = Asked(key, rng)
    model, names = asked.model, asked.names
    case = pool.case(key)
    exact = projection.createData(model)
    for k in range(3):
        q = asked.q
        if k:
            with contextlib.suppress(pc.BranchLost):  # some samples stand near a dead centre
                q = pc.integrate(model, asked.q, 0.02 * k * rng.choice([-1.0, 1.0], size=model.nv))
        A = pc.inverse_operational_inertia(model, asked.data, q, names)
        dense = projection.inverse_operational_inertia(model, exact, q, names)
        condition = float(np.linalg.cond(projection.crba(model, exact, q)))
        # K_d may be conditioned worse on the way than at the pose of the sample
        assert gap(A, dense, condition) < 1e-11 + SLOPPY * case.exact, k


def test_the_message_lists_the_frames() -> None:
    model = trees.geared_arm().build()
    with raises(pc.RankError, "12 1 2") as caught:
        pc.operational_inertia(model, model.createData(), pc.neutral(model), np.array([1, 2]))
    assert caught.value.rank < 12
