"""Points by joint and place: positions, J v, M^-1 J' and J M^-1 J', against routes that form J and M."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.frames import gap, some, with_frames
from support.messages import raises
from support.tolerances import EXACT

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import projection

AXES = pin.LOCAL_WORLD_ALIGNED
# as in test_operational.py
LIMIT, SLOPPY = 1e-13, 30.0
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")


def compare(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, inexact: float = 0.0) -> None:
    """The points are the origins of frames, which the oracles know; two on a body, one on a rotor, on the universe."""
    exact, names, v = projection.createData(model), some(model, rng), rng.normal(size=model.nv)
    frames = [model.own_tree.frames[model.getFrameId(name)] for name in names]
    joints, places = [f.parentJoint for f in frames], np.array([f.placement.translation for f in frames])
    condition = float(np.linalg.cond(projection.crba(model, exact, q))) if model.nv else 1.0
    limit = LIMIT + SLOPPY * inexact
    found = pc.point_response(model, model.createData(), q, v, joints, places)
    assert np.array_equal(found.gram, found.gram.T)
    dense = projection.inverse_operational_inertia(model, exact, q, names, AXES, "linear")
    assert gap(found.gram, dense, condition) < limit
    response = projection.inverse_input_matrix(model, exact, q, np.zeros((model.nv, 0)), names, AXES)
    assert gap(found.response, response, condition) < limit
    if exact.rods is None:
        J = reference.frame_jacobian(model, q, names, AXES).reshape(-1, 2, 3, model.nv)[:, 0].reshape(-1, model.nv)
        assert gap(found.velocities, J @ v, 1e2) < limit
        assert gap(found.gram, J @ found.response, condition) < limit
    tree, data = model.own_tree, model.own_tree.createData()
    pin.framesForwardKinematics(tree, data, q)
    where = [data.oMf[model.getFrameId(name)].translation for name in names]
    assert gap(found.positions, np.array(where)) < EXACT


@pool.each()
def test_dense_routes(key: pool.Key, rng: np.random.Generator) -> None:
    """Gears, belts, loops and rods."""
    case = pool.case(key)
    compare(with_frames(case.model, rng), case.pose(rng), rng, case.exact)


@pytest.mark.parametrize("engine", ["tables", "traced"])
@pytest.mark.parametrize(
    "robot", pool.some(sorted(pc.robots()), ("mini_cheetah", "tello", "delta", "four_bar"), everyday=1)
)
def test_shipped_robots(robot: str, engine: str, rng: np.random.Generator) -> None:
    if engine == "traced" and (not kernels.JIT or kernels.BOUNDSCHECK):
        pytest.skip("nothing is traced")
    model = with_frames(pc.load(robot), rng)
    q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
    with pc.engine(engine):
        compare(model, q, rng)


@pytest.mark.jitless
def test_many_points(rng: np.random.Generator) -> None:
    """64 of them, most on few bodies; and none."""
    model = trees.geared_arm(floating=True).build("shuffled", rng)
    data, (q, v, *_) = model.createData(), trees.random_state(model, rng)
    joints, places = rng.integers(1, model.njoints, size=64).tolist(), rng.normal(size=(64, 3))
    every = pc.point_response(model, data, q, v, joints, places)
    assert np.linalg.matrix_rank(every.gram, tol=1e-9 * np.abs(every.gram).max()) <= model.nv
    for i in (0, 17, 63):
        one = pc.point_response(model, data, q, v, [model.names[joints[i]]], places[i : i + 1])
        rows = slice(3 * i, 3 * i + 3)
        whole = (every.positions[i : i + 1], every.velocities[rows], every.response[:, rows], every.gram[rows, rows])
        for x, y in zip(one, whole, strict=True):
            assert gap(x, y) < LIMIT
    none = pc.point_response(model, data, q, v, [], [])
    assert [x.shape for x in none] == [(0, 3), (0,), (model.nv, 0), (0, 0)]


@pytest.mark.jitless
def test_velocities_are_rates_of_positions(rng: np.random.Generator) -> None:
    """Of points in the plane of a four-bar linkage too, by differences."""
    for name in ("four_bar", "mini_cheetah"):
        model, h = pc.load(name), 1e-6
        data, joints = model.createData(), list(range(1, model.njoints))
        places = rng.normal(size=(len(joints), 3))
        q, v = pc.integrate(model, pc.neutral(model), 0.1 * rng.normal(size=model.nv)), rng.normal(size=model.nv)
        found = pc.point_response(model, data, q, v, joints, places)
        ends = (pc.integrate(model, q, x * v) for x in (h, -h))
        after, before = (pc.point_response(model, data, x, v, joints, places).positions for x in ends)
        assert gap(found.velocities.reshape(-1, 3), (after - before) / (2 * h)) < 1e-8


@pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced")
def test_another_place_is_the_same_code(rng: np.random.Generator) -> None:
    with pc.engine("traced"):
        model = pc.load("four_bar")
        data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        made = set()
        for joints in ([1, 2], [1, 2], [2, 1]):
            pc.point_response(model, data, q, v, joints, rng.normal(size=(2, 3)))
            made.add(len(model._functions.told()))
    assert len(made) == 2
    assert all(x.choice == "traced" for x in model._functions.told())


@pytest.mark.jitless
def test_bad_input() -> None:
    model = pc.load("four_bar")
    data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
    name = model.names[1]
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (["nobody"], [[0, 0, 0]], pc.UnknownNameError, "'nobody'"),
        ([99], [[0, 0, 0]], pc.UnknownNameError, "joint_id 99"),
        ([1.5], [[0, 0, 0]], pc.ArgumentTypeError, "joint_id 1.5"),
        (name, [[0, 0, 0]], pc.ArgumentTypeError, "'crank'"),
        ([name], [0, 0, 0], pc.ShapeError, "(3,) (1, 3)"),
        ([name, name], [[0, 0, 0]], pc.ShapeError, "(2, 3)"),
        ([name], [[0, np.nan, 0]], pc.ArgumentTypeError, f"places[0] '{name}' nan"),
        ([name], [["a", "b", "c"]], pc.ArgumentTypeError, ""),
    ]
    for joints, places, error, text in cases:
        with raises(error, text):
            pc.point_response(model, data, q, v, joints, places)
    with pytest.raises(pc.ShapeError):
        pc.point_response(model, data, q[:-1], v, [1], [[0, 0, 0]])
    assert np.isnan(pc.point_response(model, data, q * np.nan, v, [1], [[0, 0, 0]]).positions).any()
