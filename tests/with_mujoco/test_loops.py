"""Dependent joints of closed loops in ``mjData.userdata``, and poses that the linkages cannot reach."""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from support import exact_mujoco as em

import pin_clusters as pc
from pin_clusters.mujoco._loop_code import MARK, USER

pytest.importorskip("mujoco", minversion="3.11.0")


def made(name: str) -> tuple[pc.ClusterModel, Any, Any]:
    model = em.exact(name)
    tree = em.tree_of(model)
    return model, tree, pc.mujoco.Exact(model, tree)


def test_dependent_joints_follow_the_exact_motion() -> None:
    model, tree, exact = made("tello")
    tree.opt.integrator, tree.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 5e-4
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    q, v = pc.neutral(model), 0.3 * np.random.default_rng(0).normal(size=model.nv)
    at.put(d, q, v)
    with exact:
        for _ in range(200):
            mujoco.mj_step(tree, d)
        mujoco.mj_forward(tree, d)
    motion = pc.simulate(model, q, v, duration=0.1, dt=2.5e-4)
    np.testing.assert_allclose(d.qpos[at.qpos], motion.q[-1][at.q], rtol=0.0, atol=1e-9)
    dependent = d.userdata[-len(exact._entry.traced.dependent) :]
    loops = [model.tree.idx_qs[model.tree.getJointId(f"{s}_{x}_rotor_{i}")]
             for s in ("left", "right") for x in ("knee_ankle", "hip") for i in (1, 2)]  # fmt: skip
    np.testing.assert_allclose(np.sort(dependent), np.sort(motion.q[-1][loops]), rtol=0.0, atol=1e-8)


def test_only_the_end_of_userdata_is_used() -> None:
    _, tree, exact = made("ankle_2rsu")
    d = mujoco.MjData(tree)
    d.userdata[:-4] = 7.0
    with exact:
        mujoco.mj_step(tree, d, 10)
    exact.reset(d)
    assert (d.userdata[:-4] == 7.0).all()
    assert d.userdata[-4 + MARK] == 1.0


def test_data_without_reset_and_after_jumps(rng: np.random.Generator) -> None:
    """The result does not depend on the contents of ``userdata``, which may belong to another pose."""
    model, tree, exact = made("tello")
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    fresh = []
    drawn = em.states(model, rng, 5)
    with exact:
        for q, v, tau in drawn:
            other = mujoco.MjData(tree)
            at.put(other, q, v, tau)
            mujoco.mj_forward(tree, other)
            fresh.append(other.qacc.copy())
        for (q, v, tau), expected in zip(drawn, fresh, strict=True):
            at.put(d, q, v, tau)
            mujoco.mj_forward(tree, d)
            np.testing.assert_allclose(d.qacc, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert exact.beyond_reach(d) == 0


def test_another_branch_is_left_by_reset() -> None:
    _, tree, exact = made("ankle_2rsu")
    d = mujoco.MjData(tree)
    expected, _ = exact.delta(d)
    exact.reset(d)
    first = tree.nuserdata - exact._entry.size
    d.userdata[first + USER :] += 2.0  # another branch of the cranks
    exact.reset(d)
    np.testing.assert_array_equal(exact.delta(d)[0], expected)


def test_poses_beyond_the_reach() -> None:
    model, tree, exact = made("ankle_2rsu")
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    reached = 0
    with exact:
        for angle in np.linspace(0.0, 3.0, 61):
            d.qpos[:] = angle, 0.0
            d.qvel[:] = 1.0
            mujoco.mj_forward(tree, d)
            assert np.isfinite(d.qacc).all()
            assert np.linalg.eigvalsh(exact.delta(d)[0]).min() > 0.0
            if not exact.beyond_reach(d):
                reached += 1
                assert error_of(model, tree, d, at) < 1e-9
        assert 20 < reached < 40  # The change point is at 90 degrees.
        assert exact.beyond_reach(d) > 5
        fast = exact.delta(d)[1]
        d.qvel[:] = 0.0
        np.testing.assert_array_equal(exact.delta(d)[1], fast)  # like a gear, which has no velocity terms here
        d.qpos[:] = 0.0  # back in reach
        mujoco.mj_forward(tree, d)
        assert error_of(model, tree, d, at) < 1e-9
    mujoco.mj_resetData(tree, d)
    assert exact.beyond_reach(d) == 0


def error_of(model: pc.ClusterModel, tree: Any, d: Any, at: em.Coordinates) -> float:
    q, v = pc.neutral(model), np.zeros(model.nv)
    v[at.v] = d.qpos[at.qpos] - q[at.q]
    q = pc.integrate(model, q, v)
    v[at.v] = d.qvel[at.dofs]
    expected = pc.aba(model, model.createData(), q, v, np.zeros(model.nv))[at.v]
    return float(np.abs(d.qacc[at.dofs] - expected).max() / np.abs(expected).max())


def test_rollout_of_loops() -> None:
    _, tree, exact = made("tello")
    d, kind = mujoco.MjData(tree), mujoco.mjtState.mjSTATE_FULLPHYSICS
    d.qvel[6:] = 0.3
    state = np.zeros(mujoco.mj_stateSize(tree, kind))
    with exact:
        mujoco.mj_getState(tree, d, state, kind)
        datas = [mujoco.MjData(tree) for _ in range(2)]
        states, _ = mujoco.rollout.rollout(tree, datas, np.tile(state, (6, 1)), nstep=30)
        for _ in range(30):
            mujoco.mj_step(tree, d)
    for row in states[:, -1]:
        np.testing.assert_allclose(row[1 + tree.nq : 1 + tree.nq + tree.nv], d.qvel, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("share", [1.0 / 6.0, 0.5])
def test_bodies_that_include_the_masses_of_rods(share: float) -> None:
    """A sixth is the mass of a slender rod that counts as a point mass at its end; half makes the total mass right."""
    model = em.exact("ankle_2rsu")
    spec = mujoco.MjSpec.from_string(em.tree_text(model))
    foot = next(b for b in spec.bodies if any(j.name == "ankle_roll" for j in b.joints))
    for y in (0.04, -0.04):
        foot.add_body(mass=share * 0.05, inertia=[1e-12] * 3, ipos=[-0.04, y, 0.0], explicitinertial=True)
    tree = spec.compile()
    d, at, (q, v, tau) = (
        mujoco.MjData(tree),
        em.Coordinates(model, tree),
        em.states(model, np.random.default_rng(2), 1)[0],
    )
    at.put(d, q, v, tau)
    with pc.mujoco.Exact(model, tree):
        mujoco.mj_forward(tree, d)
    np.testing.assert_allclose(d.qacc, pc.aba(model, model.createData(), q, v, tau), rtol=1e-7)


def test_the_report_names_the_joints() -> None:
    _, _, exact = made("tello")
    report = exact.report()
    assert len(report.loops) == 8
    assert report.operations > 1000
    assert set(report.loops) <= set(report.inertia)
    for name in report.loops:
        assert name in str(report)


def test_closed_forms_need_no_previous_pose(rng: np.random.Generator) -> None:
    """Tello's hips have a closed form, so the contents of ``userdata`` do not matter if the other loops are locked."""
    whole = em.exact("tello")
    others = [name for name in whole.tree.names if "knee" in name or "ankle" in name]
    model = whole.with_locked(others, pc.neutral(whole))
    tree = em.tree_of(model)
    exact = pc.mujoco.Exact(model, tree)
    assert not exact._entry.traced.newton
    assert pc.mujoco.Exact(whole, em.tree_of(whole))._entry.traced.newton
    d, at, data = mujoco.MjData(tree), em.Coordinates(model, tree), model.createData()
    with exact:
        for q, v, tau in em.states(model, rng, 10):
            at.put(d, q, v, tau)
            d.userdata[:] = rng.normal(size=tree.nuserdata)
            mujoco.mj_forward(tree, d)
            expected = at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv)
            np.testing.assert_allclose(d.qacc, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
