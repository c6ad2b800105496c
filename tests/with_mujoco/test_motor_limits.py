"""Torque limits at the motors of belts, differentials and rods, as a part of ``pc.mujoco.Exact``."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from support import exact_mujoco as em
from support.messages import raises

import pin_clusters as pc
from pin_clusters.mujoco import _library, _registry

pytest.importorskip("mujoco", minversion="3.11.0")

MOTOR = {"voltage": 24.0, "torque_constant": 0.05, "resistance": 0.5, "no_load_speed": 500.0, "peak_torque": 1.5}
MECHANISMS = {
    "ankle_2rsu": [(("ankle_pitch", "ankle_roll"), ("rotor:crank_left", "rotor:crank_right"))],
    "tello": [
        (("left_hip_roll", "left_hip_pitch"), ("left_hip_rotor_1", "left_hip_rotor_2")),
        (("right_knee", "right_ankle"), ("right_knee_ankle_rotor_1", "right_knee_ankle_rotor_2")),
    ],
    "mit_humanoid": [(("left_knee", "left_ankle"), ("left_knee_rotor", "left_ankle_rotor"))],
}
SIZES = {"ankle_2rsu": 60.0, "tello": 40.0, "mit_humanoid": 100.0}
"""Standard deviation of the commanded torques [N m]; about half of the motors saturate."""


def made(name: str, **values: Any) -> tuple[pc.ClusterModel, Any, list[pc.MotorSpace]]:
    """Return a robot whose motors have limits, its tree with one actuator per joint, and its mechanisms."""
    robot = em.exact(name)
    motors = [pc.Motor(**(values or MOTOR)).on(r.name) for r in robot.motors]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(robot.tree, [*robot.constraints, *motors], robot.q_reference, name=robot.name)
    if name in em.LOOP_JOINTS:
        model = pc.with_independent(model, em.LOOP_JOINTS[name])[0]
    tree, spaces = em.tree_of(model), [pc.MotorSpace(model, *names) for names in MECHANISMS[name]]
    for space in spaces:
        ids = [tree.joint(joint).id for joint in space.joints]
        tree.jnt_limited[ids], tree.jnt_range[ids] = 1, space.region
    return model, tree, spaces


def commanded(tree: Any, at: em.Coordinates, tau: np.ndarray) -> np.ndarray:
    """Return the controls that produce the joint torques ``tau``."""
    dofs = tree.jnt_dofadr[tree.actuator_trnid[:, 0]].tolist()
    return np.array([tau[at.v[at.dofs.index(dof)]] for dof in dofs])


def limited(model: pc.ClusterModel, data: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the joint torques after limiting, from the actuation matrix of the whole robot."""
    B, names = pc.actuation_matrix(model, data, q), [r.name for r in model.motors]
    motors = {m for _, of in MECHANISMS[model.name.split(",")[0].strip()] for m in of}
    columns = [k for k, name in enumerate(names) if name in motors]
    B = B[:, columns]
    torques, (low, high) = np.linalg.lstsq(B, tau, rcond=None)[0], pc.Motor(**MOTOR).torque_limits(v @ B)
    return tau + B @ (np.clip(torques, low, high) - torques)


@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations(name: str, rng: np.random.Generator) -> None:
    """The tolerance equals the tolerance without limits."""
    model, tree, spaces = made(name)
    exact, at, data, d = pc.mujoco.Exact(model, tree, spaces), em.Coordinates(model, tree), None, mujoco.MjData(tree)
    data, apart, changed = model.createData(), [], 0
    for q, v, _ in em.states(model, rng, 30):
        tau = np.zeros(model.nv)
        tau[at.v] = SIZES[name] * rng.standard_normal(len(at.v))
        applied = limited(model, data, q, v, tau)
        changed += bool(np.abs(applied - tau).max() > 1.0)
        at.put(d, q, v)
        d.ctrl[:] = commanded(tree, at, tau)
        expected = at.acceleration(q, v, pc.aba(model, data, q, v, applied), tree.nv)
        with exact:
            mujoco.mj_forward(tree, d)
            apart.append(np.abs(d.qacc - expected).max() / np.abs(expected).max())
            mujoco.mj_forwardSkip(tree, d, mujoco.mjtStage.mjSTAGE_VEL, 1)
            apart.append(np.abs(d.qacc - expected).max() / np.abs(expected).max())
    assert max(apart) < 1e-11
    assert changed > 15


@pytest.mark.parametrize("name", ["ankle_2rsu", pytest.param("tello", marks=pytest.mark.ci)])
def test_stages_copies_and_rollouts(name: str) -> None:
    """Python's stages, a pickled copy, and threads of ``rollout`` compute the same motion."""
    model, tree, spaces = made(name)
    exact, at, d = pc.mujoco.Exact(model, tree, spaces), em.Coordinates(model, tree), mujoco.MjData(tree)
    tree.opt.timestep = 1e-4
    at.put(d, pc.neutral(model), np.zeros(model.nv))
    controls = SIZES[name] * np.random.default_rng(3).standard_normal((4, 20, tree.nu))
    state = np.zeros(mujoco.mj_stateSize(tree, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(tree, d, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    copy = pickle.loads(pickle.dumps(exact))
    final = []

    def installed(data: Any) -> None:
        mujoco.mj_step(tree, data)

    for of, step in ((exact, exact.step), (copy, copy.step), (exact, installed)):
        mujoco.mj_setState(of.mj_model, d, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        of.reset(d)
        with exact if step is installed else contextlib.nullcontext():
            for control in controls[0]:
                d.ctrl[:] = control
                step(d)
        final.append(np.r_[d.qpos, d.qvel])
    np.testing.assert_allclose(final[1], final[0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(final[2], final[0], rtol=0.0, atol=1e-12)
    with exact:
        datas = [mujoco.MjData(tree) for _ in range(2)]
        states, _ = mujoco.rollout.rollout(tree, datas, np.tile(state, (4, 1)), control=controls)
    np.testing.assert_allclose(states[0, -1, 1 : 1 + final[0].size], final[0], rtol=0.0, atol=1e-12)


def test_derivatives_with_respect_to_controls() -> None:
    """A motor beyond its limit does not react to the control; other derivatives equal those without limits."""
    model, tree, spaces = made("ankle_2rsu", peak_torque=1.0)
    exact, d = pc.mujoco.Exact(model, tree, spaces), mujoco.MjData(tree)
    em.Coordinates(model, tree).put(d, pc.neutral(model), np.zeros(model.nv))
    A, B = np.zeros((4, 4)), [np.zeros((4, 2)) for _ in range(3)]
    without = pc.mujoco.Exact(model, tree)
    for control, out, of in ((0.1, B[0], exact), (0.1, B[1], without), (900.0, B[2], exact)):
        d.ctrl[:] = control, 0.0
        with of:
            mujoco.mjd_transitionFD(tree, d, 1e-6, 1, A, out, None, None)
    np.testing.assert_allclose(B[0], B[1], rtol=1e-9, atol=1e-12)
    assert np.abs(B[0]).max() > 1e-4
    assert np.abs(B[2]).max() < 1e-4 * np.abs(B[0]).max()  # rounding errors of large torques, divided by 2e-6


def test_the_control_of_the_user_comes_first() -> None:
    model, tree, spaces = made("ankle_2rsu")
    exact, d, calls = pc.mujoco.Exact(model, tree, spaces), mujoco.MjData(tree), []
    em.Coordinates(model, tree).put(d, pc.neutral(model), np.zeros(model.nv))

    def control(_: Any, data: Any) -> None:
        calls.append(1)
        data.ctrl[:] = 500.0, -300.0

    try:
        mujoco.set_mjcb_control(control)
        with exact:
            mujoco.mj_forward(tree, d)
            found = d.qacc.copy()
        assert mujoco.get_mjcb_control() is control
    finally:
        mujoco.set_mjcb_control(None)
    assert len(calls) == 1
    d.ctrl[:] = 500.0, -300.0
    with exact:
        mujoco.mj_forward(tree, d)
        assert exact.installed
        mujoco.set_mjcb_control(None)
        assert not exact.installed
    np.testing.assert_array_equal(found, d.qacc)
    assert _library.callback_cell("mjcb_control").value is None
    with pc.mujoco.Exact(model, tree):  # without limits
        mujoco.mj_forward(tree, d)
    assert np.abs(d.qacc - found).max() > 1.0


def test_poses_beyond_the_reach() -> None:
    """The torques stay finite and bounded, with the ratios of the reference pose."""
    model, tree, spaces = made("ankle_2rsu")
    exact, d = pc.mujoco.Exact(model, tree, spaces), mujoco.MjData(tree)
    d.qpos[:], d.ctrl[:] = (1.4, 1.2), (500.0, 0.0)
    with exact:
        mujoco.mj_forward(tree, d)
    J = spaces[0].jacobian(np.zeros(2))
    applied = exact.applied_torque(d)
    np.testing.assert_allclose(np.abs(np.linalg.solve(J.T, applied)), MOTOR["peak_torque"], rtol=1e-12)
    d.qpos[0] = np.nan
    with exact:
        mujoco.mj_forward(tree, d)


def test_two_objects_of_which_one_has_limits() -> None:
    """Removing ``limited`` removes the limits; the other object stays exact."""
    model, tree, spaces = made("ankle_2rsu")
    other = em.tree_of(model)
    limited, plain, d = pc.mujoco.Exact(model, tree, spaces), pc.mujoco.Exact(model, other), mujoco.MjData(other)
    d.ctrl[:] = 500.0, 0.0
    with plain:
        mujoco.mj_forward(other, d)
        expected = d.qacc.copy()
        with limited:
            mujoco.mj_forward(other, d)
            np.testing.assert_array_equal(d.qacc, expected)
            mujoco.mj_forward(tree, d)
            assert np.abs(d.qacc - expected).max() > 1.0
        assert plain.installed
        mujoco.mj_forward(other, d)
        np.testing.assert_array_equal(d.qacc, expected)
    assert _library.callback_cell("mjcb_control").value is None


def test_a_control_that_is_set_later_is_an_error_of_stages() -> None:
    model, tree, spaces = made("ankle_2rsu")
    exact, d = pc.mujoco.Exact(model, tree, spaces), mujoco.MjData(tree)
    try:
        with exact:
            mujoco.set_mjcb_control(lambda m, d: None)
            for call in (exact.step, exact.inverse):
                with raises(pc.ModelError, "mjcb_control"):
                    call(d)
            exact.install()
            exact.step(d)
    finally:
        mujoco.set_mjcb_control(None)


def test_an_error_of_an_actuator_ends_the_step_only() -> None:
    model, _, spaces = made("ankle_2rsu")
    spec = mujoco.MjSpec.from_string(em.tree_text(model))
    spec.actuators[0].gaintype = mujoco.mjtGain.mjGAIN_USER
    tree = spec.compile()
    exact, d, abandoned = pc.mujoco.Exact(model, tree, spaces), mujoco.MjData(tree), list(_registry._abandoned)

    def gain(*_: Any) -> float:
        raise ZeroDivisionError

    try:
        mujoco.set_mjcb_act_gain(gain)
        with pytest.raises(ZeroDivisionError):
            exact.step(d)
        with exact, pytest.raises(ZeroDivisionError):
            mujoco.mj_step(tree, d)
        assert not exact.installed
        assert _registry._abandoned == abandoned  # The removal did not wait in vain.
    finally:
        mujoco.set_mjcb_act_gain(None)


def test_the_report_names_motors_without_limits() -> None:
    model, tree, spaces = made("mit_humanoid")
    (left,) = pc.mujoco.Exact(model, tree, spaces).report().left
    assert "torque limits" in left
    assert "left_knee_rotor" not in left


def test_a_joint_must_stay_in_the_region_of_its_mechanism() -> None:
    """Without a closed form, a MotorSpace is valid in its region only."""
    four_bar = pc.load("four_bar")
    whole = four_bar.tree.copy()
    whole.effortLimit = np.full(whole.nv, 2.0)
    model = pc.ClusterModel(whole, four_bar.constraints, four_bar.q_reference, name="four_bar")
    tree, space = em.tree_of(model), pc.MotorSpace(model, ["crank"], ["rocker"])
    with raises(pc.ModelError, "crank -0.5 0.5"):
        pc.mujoco.Exact(model, tree, [space])
    tree.jnt_limited[0], tree.jnt_range[0] = 1, (-0.5, 0.5)
    exact, d = pc.mujoco.Exact(model, tree, [space]), mujoco.MjData(tree)
    d.qpos[0], d.ctrl[0] = 0.3, 50.0
    with exact:
        mujoco.mj_forward(tree, d)
    assert exact.applied_torque(d)[0] == pytest.approx(abs(space.jacobian([0.3])[0, 0]) * 2.0, rel=1e-9)


def test_errors() -> None:
    model, tree, spaces = made("ankle_2rsu")
    leg = pc.load("mit_humanoid_leg")
    other = pc.MotorSpace(leg, ["knee", "ankle"], ["knee_rotor", "ankle_rotor"])
    with raises(pc.ArgumentTypeError, "MotorSpace int"):
        pc.mujoco.Exact(model, tree, [3])
    with raises(pc.ModelError, "knee_rotor ankle_2rsu"):
        pc.mujoco.Exact(model, tree, [other])
    _, _, strong = made("ankle_2rsu", **(MOTOR | {"peak_torque": 3.0}))
    with raises(pc.ModelError, "rotor:crank_left ankle_2rsu"):
        pc.mujoco.Exact(model, tree, strong)
    cranks = pc.MotorSpace(model, ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
    with raises(pc.ModelError, "crank_left rotor:crank_left"):
        pc.mujoco.Exact(model, tree, [cranks])
    with raises(pc.ArgumentTypeError, "MotorSpace"):
        pc.mujoco.Exact(model, tree, spaces[0])  # type: ignore[arg-type]
    with raises(pc.ModelError, "ankle_pitch two"):
        pc.mujoco.Exact(model, tree, [*spaces, *spaces])
    biped, of_biped, hips = made("tello", viscous=1e-6)
    with raises(pc.ModelError, "left_hip_rotor_1 peak_torque"):
        pc.mujoco.Exact(biped, of_biped, hips)
    small = mujoco.MjModel.from_xml_string(em.tree_text(model).replace(em.SETTINGS, '<size nuserdata="1"/>'))
    with raises(pc.ModelError, "nuserdata 6"):
        pc.mujoco.Exact(model, small, spaces)
