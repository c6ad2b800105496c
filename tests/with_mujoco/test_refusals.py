"""Models that ``pc.mujoco.Exact`` rejects, and the reasons that its messages give."""

from __future__ import annotations

import ctypes
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support import exact_mujoco as em
from support.messages import raises

import pin_clusters as pc
from pin_clusters.mujoco import _library

pytest.importorskip("mujoco", minversion="3.11.0")

PENDULUM = "<mujoco><worldbody><body><joint name='j'/><geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"


@pytest.mark.parametrize(
    ("name", "independent", "followers"),
    [
        ("cassie", None, "left_tarsus right_tarsus"),
        ("cassie_leg", None, "tarsus"),
        ("digit_leg", ["hip_roll", "hip_yaw", "hip_pitch", "knee", "toe_pitch", "toe_roll"], "tarsus"),
        ("kangaroo_leg", ["hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_roll", "ankle_pitch"], "thigh"),
    ],
)
def test_dependent_joints_inside_the_chain_are_named(name: str, independent: Any, followers: str) -> None:
    model = pc.load(name)
    if independent:
        model = pc.with_independent(model, independent)[0]
    with raises(pc.ModelError, followers):
        pc.mujoco.Exact(model, mujoco.MjModel.from_xml_string(PENDULUM))


def arms(*constraints: Any) -> pc.ClusterModel:
    """Return two arms on one base, with two joints each."""
    tree = pin.Model()
    for side in ("left", "right"):
        j = 0
        for name, x in (("shoulder", 0.3 if side == "left" else -0.3), ("elbow", 0.0)):
            place = pin.SE3(np.eye(3), np.array([x, 0.0, -0.2]))
            j = tree.addJoint(j, pin.JointModelRY(), place, f"{side}_{name}")
            tree.appendBodyToJoint(
                j, pin.Inertia(1.0, np.array([0.0, 0.0, -0.1]), 0.01 * np.eye(3)), pin.SE3.Identity()
            )
    return pc.ClusterModel(tree, constraints, name="arms")


def tree() -> Any:
    return mujoco.MjModel.from_xml_string(pc.to_mjcf(arms(), integrator="Euler"))


ROTOR = pc.Rotor("left_elbow", 9.0, axial_inertia=1e-4)


def test_couplings_between_branches_are_named() -> None:
    belt = pc.Rotor(
        ["left_shoulder", "right_elbow"], [5.0, 5.0], axial_inertia=1e-5, carrier="universe", axis=[0, 1, 0]
    )
    with raises(pc.ModelError, "left_shoulder right_elbow"):
        pc.mujoco.Exact(arms(belt), tree())


@pytest.mark.skipif(not hasattr(mujoco.mjtIntegrator, "mjINT_DISCRETE"), reason="new in MuJoCo 3.13")
def test_the_integrator_discrete() -> None:
    discrete, changed = tree(), tree()
    discrete.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    with raises(pc.ModelError, "discrete"):
        pc.mujoco.Exact(arms(ROTOR), discrete)
    exact = pc.mujoco.Exact(arms(ROTOR), changed)
    changed.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    with raises(pc.ModelError, "discrete"):
        exact.install()


def test_options() -> None:
    kinds, undamped = mujoco.mjtDisableBit, tree()
    undamped.opt.disableflags |= int(kinds.mjDSBL_SPRING) | int(kinds.mjDSBL_DAMPER)
    with raises(pc.ModelError, "springs dampers"):
        pc.mujoco.Exact(arms(ROTOR), undamped)
    changed = tree()
    exact = pc.mujoco.Exact(arms(ROTOR), changed)
    changed.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    with raises(pc.NotAvailableError, "RK4"):
        exact.step(mujoco.MjData(changed))
    changed.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
    with raises(pc.ModelError, "invdiscrete"):
        exact.inverse(mujoco.MjData(changed))


def test_armature_that_stays() -> None:
    armed = tree()
    armed.dof_armature[0] = 0.1
    before = armed.dof_armature.copy()
    with raises(pc.ModelError, "left_shoulder"):
        pc.mujoco.Exact(arms(ROTOR), armed)
    np.testing.assert_array_equal(armed.dof_armature, before)  # a model that is rejected stays unchanged
    spec = mujoco.MjSpec.from_string(pc.to_mjcf(arms(), integrator="Euler"))
    tendon = spec.add_tendon(name="coupling", armature=0.1)
    tendon.wrap_joint("left_elbow", 1.0)
    tendon.wrap_joint("left_shoulder", 1.0)
    with raises(pc.ModelError, "left_shoulder"):
        pc.mujoco.Exact(arms(ROTOR), spec.compile())
    motor = mujoco.MjSpec.from_string(pc.to_mjcf(arms(), integrator="Euler"))
    actuator = motor.add_actuator(name="motor", target="right_elbow", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.armature = 0.1
    with raises(pc.ModelError, "right_elbow"):
        pc.mujoco.Exact(arms(ROTOR), motor.compile())
    pc.mujoco.Exact(arms(ROTOR, pc.Rotor("left_shoulder", 9.0, axial_inertia=1e-4)), spec.compile())


@pytest.mark.parametrize("field", ["dof_armature", "jnt_axis", "body_pos", "opt.gravity"])
def test_models_that_were_changed(field: str) -> None:
    model = em.exact("ankle_2rsu")
    changed = em.tree_of(model)
    exact = pc.mujoco.Exact(model, changed)
    place: Any = changed
    for name in field.split("."):
        place = getattr(place, name)
    place[-1] += 0.1
    for call in (
        exact.install,
        lambda: exact.step(mujoco.MjData(changed)),
        lambda: exact.inverse(mujoco.MjData(changed)),
    ):
        with raises(pc.ModelError, field):
            call()


def test_several_joints_in_one_body() -> None:
    text = pc.to_mjcf(arms(), integrator="Euler")
    body = mujoco.MjModel.from_xml_string(text)
    spec = mujoco.MjSpec.from_string(text)
    elbow = next(b for b in spec.bodies if any(j.name == "left_elbow" for j in b.joints))
    elbow.add_joint(name="twist", axis=[0, 0, 1])
    chain = arms(ROTOR, pc.Rotor("left_elbow", 9.0, axial_inertia=1e-5, carrier="left_elbow", axis=[1, 0, 0], name="r"))
    pc.mujoco.Exact(chain, body)
    with raises(pc.UnsupportedJointError, "left_elbow r"):
        pc.mujoco.Exact(chain, spec.compile())


def test_tables_of_differences() -> None:
    wrong = tree()
    wrong.jnt_axis[1] = [1.0, 0.0, 0.0]
    wrong.body_pos[3] += [0.0, 0.0, 0.05]
    with raises(pc.ModelError, "left_elbow axis right_shoulder anchor right_elbow"):
        pc.mujoco.Exact(arms(ROTOR), wrong)
    heavy = tree()
    heavy.body_mass[2] *= 1.1
    with raises(pc.ModelError, "left_elbow mass 1.1"):
        pc.mujoco.Exact(arms(ROTOR), heavy)
    with raises(pc.ModelError, "left_shoulder right_elbow missing"):
        pc.mujoco.Exact(arms(ROTOR), mujoco.MjModel.from_xml_string(PENDULUM))
    slides = mujoco.MjModel.from_xml_string(pc.to_mjcf(arms(), integrator="Euler").replace('"hinge"', '"slide"'))
    with raises(pc.ModelError, "type hinge slide"):
        pc.mujoco.Exact(arms(ROTOR), slides)
    cart = pc.to_mjcf(arms(), integrator="Euler").replace("<worldbody>", "<worldbody><body><joint name='cart'/>", 1)
    cart = cart.replace("</worldbody>", "<geom size='.1'/></body></worldbody>")
    with raises(pc.ModelError, "cart"):
        pc.mujoco.Exact(arms(ROTOR), mujoco.MjModel.from_xml_string(cart))


def test_sizes_and_types() -> None:
    model = em.exact("ankle_2rsu")
    small = mujoco.MjModel.from_xml_string(em.tree_text(model).replace('nuserdata="80"', 'nuserdata="3"'))
    with raises(pc.ModelError, "nuserdata 3 4"):
        pc.mujoco.Exact(model, small)
    with raises(pc.ArgumentTypeError, "MjData"):
        pc.mujoco.Exact(model, mujoco.MjData(small))
    with raises(pc.ArgumentTypeError):
        pc.mujoco.Exact(model.tree, small)  # type: ignore[arg-type]


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.3.4", "4.1.0"):
        monkeypatch.setattr(mujoco, "__version__", version)
        _library.library.cache_clear()
        with raises(pc.NotAvailableError, f"3.11.0 4.0.0 {version}"):
            pc.mujoco.Exact(arms(ROTOR), tree())
    monkeypatch.undo()
    _library.library.cache_clear()


def test_an_unknown_layout_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_library._NUMBERS, "int", ctypes.c_int64)
    _library.offsets.cache_clear()
    with raises(pc.NotAvailableError, "mjData"):
        _library.offsets()
    monkeypatch.undo()
    _library.offsets.cache_clear()
    assert _library.offsets()["qvel"] == _library.offsets()["qpos"] + 8
