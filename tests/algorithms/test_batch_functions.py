"""Batches of everything: shipped robots, sizes and threads, rows that fail, simulations, placements."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import linkages, pool
from support import rows
from support.messages import warns

import pin_clusters as pc
from pin_clusters.batch import _sharing, simulation
from pin_clusters.compiler.entry_points import JIT

OK, OPEN, SINGULAR, NAN = 0, 1, 2, 3
STATES = tuple(name for name in rows.FUNCTIONS if name not in ("rnea", "aba"))
"""Functions that came after ``rnea`` and ``aba``, whose tests are in ``test_batch.py``."""


@pytest.mark.ci
@pytest.mark.parametrize("name", pool.some(pc.robots(), ["mini_cheetah"], rest="ci"))
def test_shipped_robots(name: str) -> None:
    model, given = rows.model_of(name), rows.given_of(name, pc.batch.lanes + 3)
    # Traced rows have sums in an order of their own, times conditions up to a thousand.
    limit = 1e-13 if model.createData().engine == "tables" else 5e-13
    for function in rows.FUNCTIONS:
        wanted = rows.one_by_one(function, model, given)
        alone = rows.batch(function, model, given)
        shared = rows.batch(function, model, given, threads=2)
        assert rows.error(alone, wanted) < limit, function
        assert np.array_equal(alone, shared), function


@pytest.mark.parametrize("function", pool.some(STATES, ["crba", "integrate"], rest="ci"))
@pytest.mark.parametrize("name", pool.some(["delta", "mini_cheetah"], 1, rest="ci"))
def test_any_number_of_rows_and_threads(name: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sharing, "ROWS", 1)
    model, given, lanes = rows.model_of(name), rows.given_of(name, 40), pc.batch.lanes
    wanted = rows.batch(function, model, given)
    for n in sorted({0, 1, 2, lanes - 1, lanes, lanes + 1, 3 * lanes - 1, 40}):
        part = given.first(n)
        for threads in (1, 2, 3):
            status = np.full(part.count(function), 9, dtype=np.int8)
            found = rows.batch(function, model, part, threads=threads, status=status)
            assert found.shape == (part.count(function), wanted.shape[1] if n else 0)
            assert np.array_equal(found, wanted[: len(found)]) or n == 0
            assert not status.any()


def test_workspaces_that_are_kept_are_those_of_one_use() -> None:
    """Entries of M between branches are never written, those of its inverse are."""
    model, given = rows.model_of("mini_cheetah"), rows.given_of("mini_cheetah", 5)
    M = pc.batch.crba(model, given.q)
    for _ in range(2):
        assert rows.error(pc.batch.computeMinverse(model, given.q) @ M, np.tile(np.eye(model.nv), (5, 1, 1))) < 1e-9
        assert np.array_equal(pc.batch.crba(model, given.q), M)


@pytest.mark.jitless
@pytest.mark.parametrize("name", ["four_bar", "mit_humanoid_leg"])
def test_rows_are_single_states_without_the_jit_too(name: str) -> None:
    model, given = rows.model_of(name), rows.given_of(name, 3)
    for function in rows.FUNCTIONS:
        assert rows.error(rows.batch(function, model, given), rows.one_by_one(function, model, given)) < 1e-13, function


# --- rows that fail -----------------------------------------------------------------------------------------------


def change_point() -> pc.ClusterModel:
    """A parallelogram that folds: at 0 all links are in line, and no choice of the independent joint is regular."""
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.02 * np.eye(3))
    for name, parent, x in (("left", 0, 0.0), ("right", 0, 1.0), ("bar", 1, 0.5)):
        at = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        j = tree.addJoint(parent, pin.JointModelRY(), at, name)
        tree.addJointFrame(j)
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    loop = pc.Loop(("bar", [1.0, 0.0, 0.0]), ("right", [0.5, 0.0, 0.0]), "revolute", (0, 1, 0), name="close")
    return pc.ClusterModel(tree, [loop], np.array([-1.0, -1.0, 1.0]), independent=["left"])


BAD_ROWS = {
    "open": ([-1.0, -1.0, 1.001], OPEN),
    "singular": ([0.0, 0.0, 0.0], SINGULAR),
    "nan": ([np.nan, -1.0, 1.0], NAN),
    "inf": ([-1.0, np.inf, 1.0], NAN),
}
# where a row is no worse for it: placements are where q says, and only motions need loops that can follow
UNHURT = {("forwardKinematics", "open"), ("forwardKinematics", "singular"), ("integrate", "open")}
# a loop that cannot follow, or does not close with a step from where it is, is called open
OTHERWISE = {("integrate", "singular"): OPEN, ("simulate", "singular"): SINGULAR}


@pytest.mark.jitless
@pytest.mark.parametrize("function", [f for f in STATES if f != "project"])
@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_have_a_status_and_hurt_no_others(function: str, bad: str, rng: np.random.Generator) -> None:
    model = change_point()
    given = rows.near(model, pc.neutral(model), rng, 3)
    wanted = rows.batch(function, model, given)
    pose, code = BAD_ROWS[bad]
    code = OTHERWISE.get((function, bad), code)
    given.q[1] = pose
    if (function, bad) in UNHURT:
        status = np.zeros(3, dtype=np.int8)
        assert np.isfinite(rows.batch(function, model, given, status=status)[1]).all()
        assert not status.any()
        return
    status = np.zeros(3, dtype=np.int8)
    found = rows.batch(function, model, given, status=status)
    assert status.tolist() == [OK, code, OK]
    assert np.isnan(found[1]).all()
    assert np.array_equal(found[::2], wanted[::2])
    if code == NAN:  # no warning
        assert np.array_equal(rows.batch(function, model, given), found, equal_nan=True)
    else:
        with warns(pc.PinClustersWarning, "1 3 status"):
            assert np.array_equal(rows.batch(function, model, given), found, equal_nan=True)


@pytest.mark.jitless
def test_rows_that_cannot_be_projected() -> None:
    model = rows.model_of("mini_cheetah")
    q = np.tile(pc.neutral(model), (4, 1))
    q[1, 3:7] = 0.0
    q[2, -1] = np.nan
    q[3, 3:7] *= 3.0
    status = np.zeros(4, dtype=np.int8)
    found = pc.batch.project(model, q, status=status)
    assert status.tolist() == [OK, OPEN, NAN, OK]
    assert np.isnan(found[1:3]).all()
    assert np.allclose(found[::3], pc.neutral(model), atol=1e-15)
    bar = rows.model_of("four_bar")
    far = pc.neutral(bar) + np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.3, 0.0, 0.0]])
    found = pc.batch.project(bar, far)  # far from closed: the slower way of pc.project, for these rows alone
    assert np.array_equal(found, [pc.project(bar, x) for x in far])
    with warns(pc.PinClustersWarning, "1 2 pc.project"):
        pc.batch.project(bar, np.array([pc.neutral(bar), [0.0, 3.0, 0.0]]), hold=["crank", "coupler"])


@pytest.mark.jitless
@pytest.mark.parametrize("hold", [(), "crank", ["crank"]])
def test_held_joints_stay(hold: Any) -> None:
    model = rows.model_of("four_bar")
    q = np.tile(pc.neutral(model), (3, 1)) + 1e-3 * np.arange(9.0).reshape(3, 3)
    found = pc.batch.project(model, q, hold)
    assert np.array_equal(found, [pc.project(model, x, hold) for x in q])
    if hold:
        assert np.array_equal(found[:, 0], q[:, 0])


@pytest.mark.jitless
def test_held_joints_of_couplings_stay() -> None:
    model = rows.model_of("mit_humanoid_leg")
    names = [model.names[j] for j in (1, 2, model.njoints - 1)]
    q = pc.neutral(model) + 1e-2 * np.random.default_rng(0).normal(size=(4, model.nq))
    for hold in ((), names[:1], names[2:]):
        found = pc.batch.project(model, q, hold)
        assert rows.error(found, np.array([pc.project(model, x, hold) for x in q])) < 1e-13
        held = [model.idx_qs[model.getJointId(n)] for n in hold]
        assert np.array_equal(found[:, held], q[:, held])


@pytest.mark.jitless
def test_a_joint_that_moves_no_inertia() -> None:
    tree = pin.Model()
    for k, mass in enumerate((1.0, 0.0)):
        j = tree.addJoint(k, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3])), f"j{k}")
        tree.appendBodyToJoint(j, pin.Inertia(mass, np.zeros(3), 0.1 * mass * np.eye(3)), pin.SE3.Identity())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(tree)
    q, status = np.zeros((3, 2)), np.zeros(3, dtype=np.int8)
    assert np.isnan(pc.batch.computeMinverse(model, q, status=status)).all()
    assert status.tolist() == [SINGULAR] * 3
    status[:] = 0
    assert np.isnan(pc.batch.aba(model, q, q, q + 1.0, status=status)).all()
    assert status.tolist() == [SINGULAR] * 3
    assert np.isnan(pc.batch.inverse_operational_inertia(model, q, [0], status=status)).all()
    assert status.tolist() == [SINGULAR] * 3
    assert np.isfinite(pc.batch.crba(model, q, status=status)).all()
    assert not status.any()


# --- simulations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rk4", "rkmk4", "semi_implicit"])
@pytest.mark.parametrize("torques", ["none", "constant", "table"])
def test_simulations(method: str, torques: str, rng: np.random.Generator) -> None:
    model, duration, dt = rows.model_of("mit_humanoid_leg"), 0.0105, 1e-3
    given = rows.near(model, pc.neutral(model), rng, 3)
    shape = {"constant": (3, model.nv), "table": (3, 11, model.nv)}.get(torques)
    tau = None if shape is None else rng.normal(size=shape)
    for record in (None, 1, 4):
        time, q, v = pc.batch.simulate(
            model, given.q, given.v, tau, duration, dt, method=method, record=record, threads=2
        )
        for n in range(3):
            one = pc.simulate(
                model, given.q[n], given.v[n], None if tau is None else tau[n], duration, dt, method=method,
                record=record or 10**6,
            )  # fmt: skip
            kept = slice(None) if record else -1
            assert np.array_equal(time, one.time[kept])
            assert rows.error(np.atleast_2d(q[n]), np.atleast_2d(one.q[kept])) < 1e-13
            assert rows.error(np.atleast_2d(v[n]), np.atleast_2d(one.v[kept])) < 1e-13


def test_many_steps_are_done_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    from pin_clusters.batch import _runs

    model = rows.model_of("four_bar")
    given = rows.given_of("four_bar", 5)
    wanted = pc.batch.simulate(model, given.q, given.v, given.x, 0.0234, 1e-4, record=7)
    monkeypatch.setattr(_runs, "_STEPS", 50)
    monkeypatch.setattr(_runs, "_ALL_STEPS", 100)
    found = pc.batch.simulate(model, given.q, given.v, given.x, 0.0234, 1e-4, record=7)
    assert all(np.array_equal(x, y) for x, y in zip(found, wanted, strict=True))


@pytest.mark.skipif(not JIT, reason="rows go through Python there")
@pytest.mark.parametrize("robot", ["cassie_leg", "digit_leg"])
def test_loops_on_bodies_of_other_loops_start_closed(
    robot: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are judged where loops are closed, so that none goes through Python, which takes many times as long."""
    model = pc.load(robot)
    q = np.array([pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv)) for _ in range(3)])
    monkeypatch.setattr(simulation, "single_simulate", lambda *_, **__: pytest.fail("a row went through Python"))
    assert np.isfinite(
        pc.batch.simulate(model, q, np.zeros((3, model.nv)), duration=1e-3, dt=1e-4, passive=False).q
    ).all()


def test_simulations_through_a_dead_centre_and_off_the_manifold() -> None:
    model = pool.case("slider_crank_serial").model
    bar = rows.model_of("four_bar")
    q = np.tile(pc.neutral(bar), (3, 1))
    q[1, 1] += 0.01
    status = np.zeros(3, dtype=np.int8)
    end = pc.batch.simulate(bar, q, np.array([[1.0], [1.0], [1e9]]), duration=0.01, status=status)
    assert status.tolist()[:2] == [OK, OPEN]
    assert status[2] != OK
    assert np.isnan(end.q[1:]).all()
    arm = rows.model_of("teleop_arm")
    q, v = np.tile(pc.neutral(arm), (3, 1)), np.array([0.0, 1e9, np.nan])[:, None] * np.ones(arm.nv)
    with warns(pc.PinClustersWarning, "1 3 0"):
        assert np.isnan(pc.batch.simulate(arm, q, v, duration=0.01).v[1:]).all()
    # with the slider independent, the crank passes its dead centres in other coordinates
    other, _ = pc.with_independent(bar, ["rocker"])
    start = pc.neutral(other)
    v = np.array([[0.1], [3.0]])
    one = [pc.simulate(other, start, x, None, 0.6, 1e-3) for x in v]
    found = pc.batch.simulate(other, np.tile(start, (2, 1)), v, None, 0.6, 1e-3, record=1)
    assert any(x.switches for x in one)
    assert rows.error(found.q.reshape(2, -1), np.array([x.q.ravel() for x in one])) < 1e-13
    assert model.closures


# --- placements, functions of the user, threads ---------------------------------------------------------------------


def test_frames_by_name_are_pinocchios() -> None:
    model, given = rows.model_of("mini_cheetah"), rows.given_of("mini_cheetah", 5)
    names = [model.frames[i].name for i in (4, model.nframes - 1)]
    data, tree = model.tree.createData(), model.tree
    found = pc.batch.forwardKinematics(model, given.q, names)
    for q, row in zip(given.q, found, strict=True):
        pin.framesForwardKinematics(tree, data, q)
        assert np.allclose(row, [pin.SE3ToXYZQUAT(data.oMf[tree.getFrameId(n)]) for n in names], rtol=0, atol=1e-14)


def test_quaternions_of_all_signs(rng: np.random.Generator) -> None:
    """As Pinocchio makes them of matrices, wherever the rotation is large."""
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    tool = tree.addFrame(pin.Frame("tool", j, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    model, data = pc.ClusterModel(tree), tree.createData()
    q = rng.normal(size=(200, 7))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    for angles in (np.pi * np.eye(3), -np.pi * np.eye(3)):
        q[:3, 3:] = [pin.Quaternion(pin.exp3(x)).coeffs() for x in angles]
        found = pc.batch.forwardKinematics(model, q)[:, 1], pc.batch.forwardKinematics(model, q, ["tool"])[:, 0]
        for x, base, end in zip(q, *found, strict=True):
            pin.framesForwardKinematics(tree, data, x)
            assert np.allclose(base, pin.SE3ToXYZQUAT(data.oMi[1]), rtol=0, atol=1e-13)
            assert np.allclose(end, pin.SE3ToXYZQUAT(data.oMf[tool]), rtol=0, atol=1e-13)


@pytest.mark.jitless
def test_functions_of_the_user_in_python_run_one_by_one(rng: np.random.Generator) -> None:
    tree, closure = linkages.four_bar(3)
    joints = ("crank", "coupler", "rocker")
    one = pc.ClusterModel(tree, [pc.FourBar(*joints, closure)], np.zeros(tree.nq))
    A, B, C, D = (np.array(p) for p in ((0.0, 0.0), (0.1, 0.2), (0.5, 0.3), (0.4, 0.0)))

    def turned(p: np.ndarray, angle: float) -> np.ndarray:
        return np.array([np.cos(angle) * p[0] - np.sin(angle) * p[1], np.sin(angle) * p[0] + np.cos(angle) * p[1]])

    def phi(x: np.ndarray) -> np.ndarray:
        return A + turned(B - A, x[0]) + turned(C - B, x[0] + x[1]) - D - turned(C - D, -x[2])

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*called from Python at each state.*")
        two = pc.ClusterModel(tree, [pc.Coupling(joints, phi, independent=["crank"])], np.zeros(tree.nq))
    given = rows.near(one, pc.neutral(one), rng, 2)
    for function in rows.FUNCTIONS:
        assert rows.error(rows.batch(function, two, given), rows.batch(function, one, given)) < 1e-9, function


@pytest.mark.jitless
def test_errors_of_a_thread_are_raised() -> None:
    def begin() -> Any:
        def run(first: int, last: int) -> None:
            if first >= 8:
                raise ValueError(f"rows {first} to {last}")

        return run

    with pytest.raises(ValueError, match="rows"):
        _sharing.share(64, 3, 1, begin)
    done: list[tuple[int, int]] = []
    _sharing.share(29, 2, 4, lambda: lambda first, last: done.append((first, last)))
    assert sorted(done) == [(k, min(k + 4, 29)) for k in range(0, 29, 4)]


def test_models_are_not_kept_alive_by_what_is_kept_for_them() -> None:
    from pin_clusters.batch import _cache

    model = change_point()
    q = np.tile(pc.neutral(model), (2, 1))
    pc.batch.inverse_operational_inertia(model, q, [1])
    assert _cache._entries(model)
    shared = weakref.ref(model.tables.topology)
    del model
    gc.collect()
    assert shared() is None
