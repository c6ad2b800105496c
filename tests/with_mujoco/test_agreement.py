"""The callback gives the same motion as stages called from Python, for all solvers, integrators and in ``rollout``."""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from support import exact_mujoco as em

import pin_clusters as pc

pytest.importorskip("mujoco", minversion="3.11.0")

STEPS = 50
SOLVERS = {"NEWTON": 1e-12, "CG": 1e-7, "PGS": 1e-7}
"""Largest difference of speeds, relative to the largest speed."""


def standing(model: pc.ClusterModel, **options: Any) -> tuple[Any, Any]:
    """Return the MIT Humanoid, which falls on eight points of its feet."""
    spec = mujoco.MjSpec.from_string(em.tree_text(model))
    for geom in list(spec.geoms):
        geom.contype = geom.conaffinity = 0
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], contype=1, conaffinity=1)
    for side in ("left", "right"):
        foot = next(x for x in spec.bodies if any(j.name == f"{side}_ankle" for j in x.joints))
        for x, y in ((-0.05, 0.03), (0.1, 0.03), (-0.05, -0.03), (0.1, -0.03)):
            sphere = mujoco.mjtGeom.mjGEOM_SPHERE
            foot.add_geom(type=sphere, size=[0.005, 0, 0], pos=[x, y, -0.04], mass=0, contype=1, conaffinity=1)
    spec.option.timestep, spec.option.tolerance, spec.option.iterations = 1e-3, 1e-14, 2000
    for name, value in options.items():
        setattr(spec.option, name, value)
    tree = spec.compile()
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    at.put(d, pc.neutral(model), np.zeros(model.nv))
    mujoco.mj_kinematics(tree, d)
    touching = [i for i in range(tree.ngeom) if tree.geom_type[i] == sphere and tree.geom_contype[i]]
    d.qpos[2] -= d.geom_xpos[touching, 2].min() - 0.003
    d.qvel[2] = -1.0
    return tree, d


def speeds(model: pc.ClusterModel, callback: bool, **options: Any) -> np.ndarray:
    tree, d = standing(model, **options)
    exact = pc.mujoco.Exact(model, tree)
    if callback:
        exact.install()
    for _ in range(STEPS):
        mujoco.mj_step(tree, d) if callback else exact.step(d)
    exact.remove()
    assert d.ncon > 2
    return d.qvel.copy()


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("integrator", ["EULER", "IMPLICIT", "IMPLICITFAST"])
def test_solvers_and_integrators(solver: str, integrator: str) -> None:
    model = em.exact("mit_humanoid")
    options = {
        "solver": getattr(mujoco.mjtSolver, f"mjSOL_{solver}"),
        "integrator": getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"),
    }
    stages = speeds(model, False, **options)
    assert apart(speeds(model, True, **options), stages) < 1e-12  # the same solver
    newton = speeds(model, False, **options | {"solver": mujoco.mjtSolver.mjSOL_NEWTON})
    assert apart(stages, newton) < SOLVERS[solver]  # the same solution


def test_noslip_uses_the_exact_matrix() -> None:
    model = em.exact("mit_humanoid")
    assert apart(speeds(model, True, noslip_iterations=3), speeds(model, False, noslip_iterations=3)) < 1e-12


def test_the_stages_do_not_equal_the_tree() -> None:
    model = em.exact("mit_humanoid")
    tree, d = standing(model)
    for _ in range(STEPS):
        mujoco.mj_step(tree, d)
    assert apart(d.qvel, speeds(model, False)) > 0.1


def test_rollout_in_threads() -> None:
    model = em.exact("mit_humanoid")
    stages = speeds(model, False)
    tree, d = standing(model)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(tree, kind))
    mujoco.mj_getState(tree, d, state, kind)
    with pc.mujoco.Exact(model, tree):
        datas = [mujoco.MjData(tree) for _ in range(2)]
        states, _ = mujoco.rollout.rollout(tree, datas, np.tile(state, (8, 1)), nstep=STEPS)
    ends = states[:, -1, 1 + tree.nq : 1 + tree.nq + tree.nv]
    assert max(apart(row, stages) for row in ends) < 1e-12


def test_runge_kutta_follows_the_exact_motion() -> None:
    """Without contacts, RK4 in MuJoCo equals RK4 of this package."""
    model = em.exact("mini_cheetah")
    tree = em.tree_of(model)
    tree.opt.integrator, tree.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 2.5e-4
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    q, v = pc.neutral(model), np.random.default_rng(0).normal(size=model.nv)
    at.put(d, q, v)
    with pc.mujoco.Exact(model, tree):
        for _ in range(400):
            mujoco.mj_step(tree, d)
    motion = pc.simulate(model, q, v, duration=0.1, dt=2.5e-4)
    other = mujoco.MjData(tree)
    at.put(other, motion.q[-1], motion.v[-1])
    np.testing.assert_allclose(d.qpos[7:], other.qpos[7:], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(d.qpos[:7], other.qpos[:7], rtol=0.0, atol=1e-8)  # the base of pc.simulate moves in arcs
    np.testing.assert_allclose(d.qvel, other.qvel, rtol=0.0, atol=1e-9)
