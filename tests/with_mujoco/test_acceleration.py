"""Accelerations of MuJoCo with ``pc.mujoco.Exact`` equal those of ``pc.aba``, and their inverse its torques."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from support import exact_mujoco as em

import pin_clusters as pc

pytest.importorskip("mujoco", minversion="3.11.0")


def error(model: pc.ClusterModel, tree: Any, rng: np.random.Generator, n: int) -> float:
    """Return the largest error of the accelerations, relative to the largest acceleration."""
    data, d, at = model.createData(), mujoco.MjData(tree), em.Coordinates(model, tree)
    apart, size = 0.0, 0.0
    for q, v, tau in em.states(model, rng, n):
        expected = at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv)
        at.put(d, q, v, tau)
        mujoco.mj_forward(tree, d)
        apart, size = max(apart, np.abs(d.qacc - expected).max()), max(size, np.abs(expected).max())
    return float(apart / size)


MIXED = pytest.param("jvrc1_as_published", marks=pytest.mark.long)  # some rotors are lumped, the others are bodies


LARGE = pytest.param("jvrc1", marks=pytest.mark.ci)


@pytest.mark.parametrize("name", ["mini_cheetah", "mit_humanoid", "teleop_arm", *em.LOOPS, LARGE, MIXED])
@pytest.mark.parametrize("rotors", [True, False], ids=["locked", "omitted"])
def test_accelerations_are_exact(name: str, rotors: bool, rng: np.random.Generator) -> None:
    model = em.exact(name)
    tree = em.tree_of(model, rotors)
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng, 20) < 1e-12
    assert error(model, tree, rng, 5) > 1e-2  # the tree alone


@pytest.mark.long
@pytest.mark.parametrize("name", [*em.GEARS, *em.LOOPS])
def test_accelerations_are_exact_in_many_states(name: str, rng: np.random.Generator) -> None:
    model = em.exact(name)
    tree = em.tree_of(model)
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng, 1000) < 1e-12


@pytest.mark.parametrize("approximation", ["best", "diagonal"])
def test_the_armature_of_a_file_is_replaced(approximation: Any, rng: np.random.Generator) -> None:
    model = em.exact("mit_humanoid")
    tree = mujoco.MjModel.from_xml_string(pc.to_mjcf(model, approximation))
    tree.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    weights = tree.dof_invweight0.copy()
    assert tree.dof_armature.any()
    assert error(model, tree, rng, 5) > 1e-3
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng, 10) < 1e-12
    assert not tree.dof_armature.any()
    assert not tree.tendon_armature.any()
    np.testing.assert_allclose(tree.dof_invweight0, weights, rtol=1e-9)


def test_softness_without_armature_in_the_file(rng: np.random.Generator) -> None:
    model = em.exact("mit_humanoid")
    bare, diagonal = em.tree_of(model), mujoco.MjModel.from_xml_string(pc.to_mjcf(model, "diagonal"))
    pc.mujoco.Exact(model, bare)
    # The armature of the file is the block's diagonal; Delta M also contains the motion of the carriers.
    np.testing.assert_allclose(bare.dof_invweight0[6:], diagonal.dof_invweight0[6:], rtol=0.15)


def test_bodies_whose_centre_differs(rng: np.random.Generator) -> None:
    model = em.exact("mini_cheetah")
    tree = em.tree_of(model)
    tree.body_ipos[2] += [0.01, 0.0, 0.02]
    tree.body_inertia[3] *= 1.5
    tree.body_mass[4] *= 1.0005
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng, 10) < 1e-12


@pytest.mark.parametrize("name", ["mini_cheetah", "ankle_2rsu"])
@pytest.mark.parametrize("installed", [True, False])
def test_inverse_dynamics(name: str, installed: bool, rng: np.random.Generator) -> None:
    model = em.exact(name)
    tree = em.tree_of(model)
    exact, data, d, at = (
        pc.mujoco.Exact(model, tree),
        model.createData(),
        mujoco.MjData(tree),
        em.Coordinates(model, tree),
    )
    if installed:
        exact.install()
    for q, v, tau in em.states(model, rng, 5):
        at.put(d, q, v, tau)
        d.qacc[:] = at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv)
        exact.reset(d)
        np.testing.assert_allclose(exact.inverse(d), d.qfrc_applied, rtol=0.0, atol=1e-10)
    exact.remove()


@pytest.mark.parametrize("name", ["mit_humanoid", "tello"])
def test_delta_is_the_difference_of_mass_matrices_and_biases(name: str, rng: np.random.Generator) -> None:
    model = em.exact(name)
    tree = em.tree_of(model)
    exact, d, at = pc.mujoco.Exact(model, tree), mujoco.MjData(tree), em.Coordinates(model, tree)
    data, M = model.createData(), np.zeros((tree.nv, tree.nv))
    for q, v, tau in em.states(model, rng, 5):
        at.put(d, q, v, tau)
        exact.reset(d)
        mujoco.mj_forward(tree, d)
        mujoco.mj_fullM(tree, d, M)
        dM, dh = exact.delta(d)
        np.testing.assert_array_equal(dM, dM.T)
        acceleration = at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv)
        np.testing.assert_allclose((M + dM) @ acceleration + d.qfrc_bias + dh, d.qfrc_applied, atol=1e-9)


def test_finite_differences_apply_the_difference_once() -> None:
    """``mj_forwardSkip`` calls the callback again for a mass matrix that is already exact."""
    model = em.exact("mini_cheetah")
    tree = em.tree_of(model)
    d = mujoco.MjData(tree)
    with pc.mujoco.Exact(model, tree):
        mujoco.mj_forward(tree, d)
        M, acceleration = d.M.copy(), d.qacc.copy()
        for _ in range(3):
            mujoco.mj_forwardSkip(tree, d, int(mujoco.mjtStage.mjSTAGE_POS), 1)
            mujoco.mj_fwdVelocity(tree, d)
        np.testing.assert_array_equal(d.M, M)
        mujoco.mj_forward(tree, d)
        np.testing.assert_array_equal(d.qacc, acceleration)
        A, B = np.zeros((2 * tree.nv, 2 * tree.nv)), np.zeros((2 * tree.nv, tree.nu))
        mujoco.mjd_transitionFD(tree, d, 1e-6, True, A, B, None, None)
    change = np.zeros(tree.nv)
    change[7] = 1e-6
    with pc.mujoco.Exact(model, tree):
        ends = []
        for sign in (1.0, -1.0):
            other = mujoco.MjData(tree)
            other.qvel[:] = sign * change
            mujoco.mj_step(tree, other)
            ends.append(other.qvel.copy())
    np.testing.assert_allclose(A[tree.nv :, tree.nv + 7], (ends[0] - ends[1]) / 2e-6, rtol=0.0, atol=1e-6)
