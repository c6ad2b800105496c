"""``pc.mujoco.warp`` on the CPU: accelerations, steps with contacts, inertias of each world, and rejected models."""

from __future__ import annotations

import sys
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support import exact_mujoco as em
from support import landings
from support.messages import raises

import pin_clusters as pc

mjw = pytest.importorskip("mujoco_warp", minversion="3.11.0")
wp = pytest.importorskip("warp")
wp.config.log_level = wp.LOG_WARNING
pytestmark = pytest.mark.ci  # MuJoCo Warp compiles its kernels, which takes a minute or two.

WORLDS = 64
TOLERANCE = 2e-6
"""MuJoCo Warp computes in single precision, whose unit roundoff is 6e-8. The mass matrices have condition numbers of
10 to 30 after scaling, so the error is a few hundred 1e-8. The trees alone differ from MuJoCo in C by up to 9e-6."""


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def written(d: Any, **values: Any) -> None:
    for name, value in values.items():
        array = getattr(d, name)
        array.assign(np.broadcast_to(value, array.shape).astype(np.float32))


def pair(tree: Any, worlds: int = 1) -> tuple[Any, Any]:
    return mjw.put_model(tree), mjw.make_data(tree, nworld=worlds, nconmax=32, njmax=128)


def drawn(model: pc.ClusterModel, tree: Any, rng: np.random.Generator, worlds: int) -> dict[str, np.ndarray]:
    """Return random states and the exact accelerations."""
    at, d, data, rows = em.Coordinates(model, tree), mujoco.MjData(tree), model.createData(), []
    for q, v, tau in em.states(model, rng, worlds):
        at.put(d, q, v, tau)
        acceleration = at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv)
        rows.append((d.qpos.copy(), d.qvel.copy(), d.qfrc_applied.copy(), acceleration))
    return dict(zip(("qpos", "qvel", "qfrc_applied", "qacc"), map(np.array, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("name", ["mini_cheetah", "mit_humanoid", *em.LOOPS])
def test_accelerations(name: str, rng: np.random.Generator) -> None:
    model = em.exact(name)
    tree = em.tree_of(model)
    tree.dof_armature[-1] = 0.1
    m, d = pair(tree, WORLDS)
    states = drawn(model, tree, rng, WORLDS)
    expected = states.pop("qacc")
    written(d, **states)
    exact = pc.mujoco.warp.install(model, tree, m, d)
    for _ in range(2):  # The second evaluation starts at the dependent joints of the first.
        mjw.forward(m, d)
        assert relative(d.qacc.numpy(), expected) < TOLERANCE
    assert not exact.beyond_reach(d).any()
    exact.remove()
    mjw.forward(m, d)
    assert relative(d.qacc.numpy(), expected) > 1.0


def scene(model: pc.ClusterModel, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the MIT Humanoid above the ground, and its state."""
    tree, d = landings.scene(em.tree_text(model), 1e-3, 1.0), mujoco.MjData(em.tree_of(model))
    em.Coordinates(model, tree).put(d, landings.pose(model, 0.3), np.zeros(model.nv))
    d.qvel[2] = -landings.SPEED
    for name, value in options.items():
        setattr(tree.opt, name, value)
    return tree, d.qpos, d.qvel


def steps(tree: Any, m: Any, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    d = mjw.make_data(tree, nworld=2, nconmax=32, njmax=128)
    written(d, qpos=qpos, qvel=qvel)
    for _ in range(20):
        mjw.step(m, d)
    return d.qvel.numpy()[1].copy()


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_steps_with_contacts(integrator: str) -> None:
    model = em.exact("mit_humanoid")
    tree, qpos, qvel = scene(model, integrator=getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    m, c = mjw.put_model(tree), mujoco.MjData(tree)
    pc.mujoco.warp.install(model, tree, m, mjw.make_data(tree, nworld=2))
    c.qpos[:], c.qvel[:] = qpos, qvel
    contacts = 0
    with pc.mujoco.Exact(model, tree):
        for _ in range(20):
            mujoco.mj_step(tree, c)
            contacts = max(contacts, c.ncon)
    assert contacts > 3
    assert relative(steps(tree, m, qpos, qvel), c.qvel) < 1e-4  # Contacts amplify the rounding errors of 20 steps.


def test_step_in_two_parts() -> None:
    """``step1`` factorises the mass matrix before the callback."""
    model = em.exact("mit_humanoid")
    tree = em.tree_of(model)
    m, d = pair(tree)
    pc.mujoco.warp.install(model, tree, m, d)
    state = {"qpos": tree.qpos0, "qvel": np.random.default_rng(0).normal(size=tree.nv)}
    results = []
    for functions in ([mjw.step], [mjw.step1, mjw.step2]):
        mjw.reset_data(m, d)
        written(d, **state)
        for function in functions:
            function(m, d)
        results.append((d.qacc_smooth.numpy().copy(), d.qvel.numpy().copy()))
    for whole, parts in zip(*results, strict=True):
        assert relative(parts, whole) < TOLERANCE


def arm(inertia: float) -> pc.ClusterModel:
    rotor = pc.Rotor("shoulder_pitch", 9.0, axial_inertia=inertia, carrier="shoulder_pitch", axis=[0.6, 0.8, 0.0])
    belt = pc.Rotor(["shoulder_pitch", "elbow"], [6.0, 5.0], axial_inertia=2.0 * inertia)
    fixed = pc.Rotor("shoulder_yaw", 7.0, axial_inertia=3.0 * inertia)
    return pc.ClusterModel(tree_of_arm(), [rotor, belt, fixed])


def tree_of_arm() -> pin.Model:
    tree, parent = pin.Model(), 0
    for name, joint in (("yaw", pin.JointModelRZ()), ("pitch", pin.JointModelRY()), ("elbow", pin.JointModelRY())):
        place = pin.SE3(np.eye(3), np.array([0.1, 0.0, -0.3]))
        parent = tree.addJoint(parent, joint, place, name if name == "elbow" else f"shoulder_{name}")
        tree.appendBodyToJoint(
            parent, pin.Inertia(1.0, np.array([0.0, 0.02, -0.1]), 0.01 * np.eye(3)), pin.SE3.Identity()
        )
    return tree


def test_inertias_of_each_world(rng: np.random.Generator) -> None:
    tree = mujoco.MjModel.from_xml_string(pc.to_mjcf(arm(1e-4), integrator="Euler"))
    m, d = pair(tree, 3)
    exact = pc.mujoco.warp.install(arm(1e-4), tree, m, d)
    np.testing.assert_allclose(exact.rotor_inertias.numpy(), [[1e-4, 2e-4, 3e-4]] * 3)
    factors = np.array([1.0, 3.0, 0.1])
    exact.rotor_inertias.assign((exact.rotor_inertias.numpy() * factors[:, None]).astype(np.float32))
    states = [drawn(arm(1e-4 * x), tree, np.random.default_rng(5), 1) for x in factors]
    written(d, **{name: states[0][name] for name in ("qpos", "qvel", "qfrc_applied")})
    mjw.forward(m, d)
    for row, state in zip(d.qacc.numpy(), states, strict=True):
        assert relative(row, state["qacc"][0]) < TOLERANCE


def test_a_callback_of_the_user_is_called() -> None:
    model = em.exact("mini_cheetah")
    tree = em.tree_of(model)
    m, d = pair(tree)
    calls = []
    m.callback.passive = own = lambda m, d: calls.append(d.nworld)
    exact = pc.mujoco.warp.install(model, tree, m, d)
    mjw.forward(m, d)
    assert calls == [1]
    exact.remove()
    assert m.callback.passive is own
    mjw.forward(m, d)
    M = d.M.numpy().copy()
    exact = pc.mujoco.warp.install(model, tree, m, d)
    m.callback.passive = lambda m, d: exact(m, d)
    exact.remove()  # The callback that was set afterwards stays.
    mjw.forward(m, d)
    np.testing.assert_array_equal(d.M.numpy(), M)
    assert calls == [1, 1, 1]


def test_worlds_with_nan_and_poses_beyond_the_reach() -> None:
    model = em.exact("ankle_2rsu")
    tree = em.tree_of(model)
    m, d = pair(tree, 3)
    exact = pc.mujoco.warp.install(model, tree, m, d)
    written(d, qpos=[[0.0, 0.0], [np.nan, 0.0], [2.5, 0.0]], qvel=1.0)
    mjw.forward(m, d)
    acceleration = d.qacc.numpy().copy()
    np.testing.assert_array_equal(np.isnan(acceleration).any(axis=1), [False, True, False])
    np.testing.assert_array_equal(exact.beyond_reach(d), [0.0, 1.0, 1.0])
    with pc.mujoco.Exact(model, tree):
        for world, angle in ((0, 0.0), (2, 2.5)):
            c = mujoco.MjData(tree)
            c.qpos[:], c.qvel[:] = [angle, 0.0], 1.0
            mujoco.mj_forward(tree, c)
            assert relative(acceleration[world], c.qacc) < 10 * TOLERANCE  # The linkage is almost singular.
    mjw.reset_data(m, d)
    written(d, qvel=1.0)
    mjw.forward(m, d)
    np.testing.assert_allclose(d.qacc.numpy(), acceleration[[0, 0, 0]], rtol=1e-5)
    assert not exact.beyond_reach(d).any()


def test_rejected_models(monkeypatch: pytest.MonkeyPatch) -> None:
    model, install = em.exact("mini_cheetah"), pc.mujoco.warp.install
    tree, bits = em.tree_of(model), mujoco.mjtDisableBit
    m, d = pair(tree)
    with raises(pc.ArgumentTypeError, "d Data Model"):
        install(model, tree, m, m)
    other, _ = pair(em.tree_of(em.exact("mit_humanoid")))
    with raises(pc.ModelError, "jnt_type"):
        install(model, tree, other, d)
    with raises(pc.ModelError, "left_tarsus right_tarsus"):
        install(pc.load("cassie"), tree, m, d)
    discrete = getattr(mujoco.mjtIntegrator, "mjINT_DISCRETE", None)  # not in older versions
    for field, value, name in (
        *([("integrator", int(discrete), "discrete")] if discrete is not None else []),
        ("enableflags", int(mujoco.mjtEnableBit.mjENBL_SLEEP), "sleep"),
        ("disableflags", int(bits.mjDSBL_SPRING) | int(bits.mjDSBL_DAMPER), "springs dampers"),
    ):
        before = getattr(m.opt, field)
        setattr(m.opt, field, value)
        with raises(pc.ModelError, name):
            install(model, tree, m, d)
        setattr(m.opt, field, before)
    install(model, tree, m, d)
    with raises(pc.ModelError, "remove"):
        install(model, tree, m, d)
    with raises(pc.ModelError, "1 2"):
        mjw.forward(m, mjw.make_data(tree, nworld=2))
    m.opt.disableflags |= int(bits.mjDSBL_SPRING) | int(bits.mjDSBL_DAMPER)
    with raises(pc.ModelError, "springs dampers"):
        m.callback.passive(m, d)
    for version in ("3.10.0.3", "4.1.0"):
        monkeypatch.setattr(mjw, "__version__", version)
        with raises(pc.NotAvailableError, f"3.11.0 4.0.0 {version}"):
            install(model, tree, m, d)
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with raises(pc.NotAvailableError, "mujoco-warp mjwarp"):
        install(model, tree, m, d)
