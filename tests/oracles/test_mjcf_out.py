"""What ``pc.to_mjcf`` writes, compiled by MuJoCo, against this package: mass matrix, inverse dynamics, steps."""

from __future__ import annotations

import numpy as np
import pytest
from samples import mechanisms
from samples.pool import error
from support.draws import draw

import pin_clusters as pc
from pin_clusters.approximations.armature import axial_inertia

mujoco = pytest.importorskip("mujoco", minversion="3.3.4")
from support.compiled import Compiled, load  # noqa: E402

OFTEN = ("mini_cheetah", "mit_humanoid_leg", "four_bar", "ankle_2rsu", "cassie_leg", "tello")
LONG = (
    "mit_humanoid", "jvrc1", "teleop_arm", "delta", "geared_chain", "belt_chain", "watt_six_bar", "six_bar",
    "planar_leg_linkage", "jvrc1_as_published", "cassie", "robotiq_2f85",
    "tello_with_arms", "digit_leg", "kangaroo_leg",
)  # fmt: skip
ROBOTS = [*OFTEN, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]


def level(model: pc.ClusterModel, name: str, q: np.ndarray) -> np.ndarray:
    """The mass matrix of an approximation, from the ladder; the block one with loops from its definition."""
    if name == "exact":
        return pc.crba(model, model.createData(), q)
    ladder = pc.approximations.of(model)
    if not model.closures:
        return ladder["block" if name == "best" else name].crba(q)
    if not model.rotors:
        return pc.crba(model, model.createData(), q)
    if name == "diagonal":
        return ladder["armature"].crba(q)
    G = pc.coupling_jacobian(model, model.createData(), q)
    block = np.zeros((model.tree.nv, model.tree.nv))
    for r in model.rotors:
        g = np.zeros(model.tree.nv)
        for iv, ratio in r.drivers:
            g[iv] = ratio
        block += axial_inertia(model, r) * np.outer(g, g)
    return ladder["no rotor"].crba(q) + G.T @ block @ G


def poses(model: pc.ClusterModel, rng: np.random.Generator, count: int) -> list[np.ndarray]:
    start = pc.neutral(model)
    if model.closures:
        return [mechanisms.random_pose(model, start, rng, 0.3) for _ in range(count)]
    return [pc.integrate(model, start, rng.normal(size=model.nv)) for _ in range(count)]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("approximation", ["best", "diagonal", "exact"])
def test_the_mass_matrix_is_that_of_the_rung(name: str, approximation: str) -> None:
    model, rng = load(name), draw(f"mjcf out {name}")  # the same poses for all
    if (name, approximation) == ("jvrc1_as_published", "exact"):
        pytest.skip("its rotors are no real bodies")
    if name.startswith("tello") and approximation != "exact":
        pytest.skip("motors of differentials lead, and stay bodies in all files")
    there = Compiled(model, pc.to_mjcf(model, approximation))
    for q in poses(model, rng, 3):
        M = level(model, approximation, q)
        assert error(there.mass_matrix(q), M) < 1e-10
        assert there.residual() < 1e-9 or not model.closures


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_with_all_bodies_is_exact(name: str) -> None:
    if name == "jvrc1_as_published":
        pytest.skip("its rotors are no real bodies")
    model, rng = load(name), draw(f"mjcf bias {name}")
    there, data = Compiled(model, pc.to_mjcf(model, "exact")), model.createData()
    for q in poses(model, rng, 2):
        v, a = rng.normal(size=(2, model.nv))
        for acceleration in (0.0 * a, a):
            tau = pc.rnea(model, data, q, v, acceleration)
            assert error(there.torque(q, v, acceleration), tau) < 1e-8


SPRUNG = ["robotiq_2f85", pytest.param("cassie", marks=pytest.mark.long)]


@pytest.mark.parametrize("name", SPRUNG)
def test_springs_act_as_here(name: str) -> None:
    model, rng = load(name), draw(f"mjcf springs {name}")
    there, data = Compiled(model, pc.to_mjcf(model)), model.createData()
    assert model.passive is not None
    for q in poses(model, rng, 2):
        there.place(q)
        rate = pc.coupling_jacobian(model, data, q) @ rng.normal(size=model.nv)
        acting = model.passive.torque(q, rate)
        for j, i in there.joints.items():
            if model.tree.nvs[j] == 1:
                there.data.qvel[there.there.jnt_dofadr[i]] = rate[model.tree.idx_vs[j]]
        mujoco.mj_fwdVelocity(there.there, there.data)
        for j, i in there.joints.items():
            if model.tree.nvs[j] == 1:
                force = there.data.qfrc_passive[there.there.jnt_dofadr[i]]
                assert force == pytest.approx(acting[model.tree.idx_vs[j]], rel=1e-10, abs=1e-12)
