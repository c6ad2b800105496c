"""``pc.read_controls`` against MuJoCo, which reads the same file: actuator forces, sensors and keyframes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.messages import raises, warns

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco model="arm"><compiler angle="{angle}"/>{default}<worldbody><body name="upper">
  <joint name="shoulder" axis="0 1 0" range="-40 90" armature="0.02"/>
  <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0.1"/>
  <body name="lower" pos="0.3 0 0.1"><joint name="slider" type="slide" axis="1 0 1" range="-0.5 1" ref="0.1"/>
  <geom type="box" size="0.1 0.05 0.02"/></body></body></worldbody><actuator>{actuators}</actuator></mujoco>"""
LAWS = {
    "gains": ("", '<position joint="shoulder" kp="50" kv="3"/><position joint="slider" kp="20"/>'),
    "order of the file": ("", '<position joint="slider" kp="20" kv="2"/><position joint="shoulder" kp="50"/>'),
    "gear and range": ("", '<position joint="shoulder" kp="50" kv="3" gear="-2" ctrlrange="-0.4 1.5"/>'),
    "range that is switched off": ("", '<position joint="slider" kp="9" ctrlrange="-0.1 0.1" ctrllimited="false"/>'),
    "clamping that is switched off": (
        '<option><flag clampctrl="disable"/></option>', '<position joint="slider" kp="9" ctrlrange="-0.1 0.1"/>',
    ),
    "range of the joint": (
        "", '<position joint="shoulder" kp="5" inheritrange="0.8"/>'
        '<position joint="slider" gear="2" inheritrange="1"/>',
    ),
    "range of the joint that is switched off": (
        '<default><position inheritrange="0.2"/></default>', '<position joint="shoulder" ctrllimited="false"/>',
    ),
    "classes whose law does not apply": (
        '<default><default class="a"><intvelocity kp="3" inheritrange="1"/></default>'
        '<default class="b"><general gainprm="30" gaintype="affine" biasprm="1 -30 -2" inheritrange="1"/></default>'
        "</default>",
        '<position joint="shoulder" class="a"/><position joint="slider" class="b"/>',
    ),
    "general": ("", '<general joint="shoulder" gainprm="50" biastype="affine" biasprm="0 -50 -3"/>'),
    "damping ratio": (
        "", '<position joint="shoulder" kp="50" dampratio="0.7" gear="3" armature="0.01"/>'
        '<general joint="slider" gainprm="8" biastype="affine" biasprm="0 -8 1"/>',
    ),
    "force range": ("", '<position joint="shoulder" kp="50" gear="2" forcerange="-4 4"/>'),
    "force range that is switched off": (
        "", '<position joint="shoulder" kp="50" forcerange="-4 4" forcelimited="false"/>',
    ),
    "nested classes": (
        '<default><position kp="40" dampratio="1"/><default class="stiff"><position kv="3" ctrlrange="-1 2"/></default>'
        "</default>",
        '<position joint="shoulder" class="stiff"/><position joint="slider" kp="30"/>',
    ),
    "classes of other types": (
        '<default><motor ctrlrange="-1 1" gear="2"/><default class="a"><velocity kv="7"/></default>'
        '<default class="b"><general gainprm="30" biasprm="1 -30 -2"/></default></default>',
        '<position joint="shoulder" kp="30"/><position joint="slider" class="b"/>',
    ),
}  # fmt: skip


def read(text: str, **options: Any) -> tuple[pc.ClusterModel, dict[str, Any]]:
    model = pc.buildModelFromMJCF(text)
    return model, pc.read_controls(text, model, **options)


@pytest.mark.parametrize("law", LAWS)
def test_the_drive_has_mujocos_forces(law: str) -> None:
    default, actuators = LAWS[law]
    text = ARM.format(angle="degree", default=default, actuators=actuators)
    model, controls = read(text)
    drive, there = controls["drive"], mujoco.MjModel.from_xml_string(text)
    assert list(drive.joints) == [there.joint(i).name for i in there.actuator_trnid[:, 0]]
    data, rng = mujoco.MjData(there), np.random.default_rng(0)
    at = there.actuator_trnid[:, 0]
    limits = np.asarray(model.tree.effortLimit)[at] if drive.limit == "motor" else np.full(len(at), np.inf)
    clamped = 0
    for _ in range(20):
        data.qpos, data.qvel, data.ctrl = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2), rng.uniform(-3, 3, there.nu)
        mujoco.mj_forward(there, data)
        targets = data.ctrl / there.actuator_gear[:, 0]
        inside = targets if drive.range is None else np.clip(targets, *np.transpose(drive.range))
        torques = drive.kp * (inside - data.qpos[at]) - drive.kd * data.qvel[at]
        clamped += int((np.clip(torques, -limits, limits) != torques).any())
        np.testing.assert_allclose(np.clip(torques, -limits, limits), data.qfrc_actuator[at], rtol=1e-6, atol=1e-9)
    assert bool(clamped) == (law == "force range")  # the relative tolerance is that of MuJoCo's inertia, for dampratio


ROBOT = """<mujoco model="hopper"><compiler angle="radian"/><worldbody><site name="mark" pos="1 2 3"/>
<body name="base" pos="0 0 1"><freejoint name="base"/><geom type="box" size="0.2 0.1 0.1" mass="3"/>
  <site name="imu" pos="0.1 -0.05 0.02" euler="0.3 -0.4 0.5"/>
  <body name="leg" pos="0.05 0 -0.1" quat="0.9 0.1 0.3 -0.2">
    <joint name="hip" axis="0 1 0" pos="0 0 0.02" damping="0.1"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0.7"/>
    <body name="foot" pos="0.02 0.01 -0.3" euler="0.2 0.1 -0.6"><geom type="sphere" size="0.04" mass="0.3"/>
      <site name="leg" pos="0.01 0.02 -0.05" zaxis="1 2 3"/>
      <body name="toe" pos="0.1 0 0"><joint name="toe" type="slide" axis="1 0 0.2"/><geom size="0.03" mass="0.2"/>
      <site name="tip" pos="0.03 0 0"/></body></body></body></body></worldbody>
<actuator><position name="p" joint="toe" kp="300" kv="5" gear="2" ctrlrange="-0.1 0.1"/>
  <general joint="hip" gainprm="40" biastype="affine" biasprm="0 -40 -2"/></actuator>
<sensor><gyro name="w" site="imu"/><accelerometer name="a" site="imu"/><velocimeter name="u" site="imu"/>
  <gyro name="w2" site="leg"/><accelerometer name="a2" site="leg"/><velocimeter name="u2" site="tip"/>
  <framepos name="x" objtype="site" objname="leg"/><framequat name="r" objtype="xbody" objname="leg"/>
  <framepos name="x2" objtype="xbody" objname="foot"/><framequat name="r2" objtype="site" objname="tip"/>
  <framepos name="x3" objtype="site" objname="mark"/><framepos name="x4" objtype="xbody" objname="world"/>
  <framepos objtype="xbody" objname="base"/><touch name="force" site="tip"/></sensor>
<keyframe><key qpos="0 0 0.5 2 0 0 2 0.3 0.05"/><key name="high" qpos="1 2 3 0 1 0 0 -0.3 0.01"/>
<key name="empty" time="1"/></keyframe></mujoco>"""


def test_sensors_and_accelerations_are_mujocos() -> None:
    model, controls = read(ROBOT)
    h, n, rng = 1e-6, 6, np.random.default_rng(1)
    worlds = pc.Worlds(model, n, dt=h, **controls)
    q = np.array([pc.integrate(model, worlds.q0, 0.5 * rng.standard_normal(model.nv)) for _ in range(n)])
    worlds.reset(q=q, v=rng.standard_normal((n, model.nv)))
    ctrl = rng.uniform(-0.3, 0.3, (n, 2))
    before = worlds.v.copy()
    worlds.step(ctrl / [2.0, 1.0])
    assert not worlds.status.any()
    there = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(there)
    assert len(worlds.sensors) == there.nsensor
    names = [there.sensor(i).name or f"framepos{i}" for i in range(there.nsensor)]
    assert list(worlds.sensors) == names
    for i in range(n):
        data.qpos, data.ctrl = worlds.q[i, [0, 1, 2, 6, 3, 4, 5, 7, 8]], ctrl[i]
        mujoco.mju_rotVecQuat(data.qvel[:3], worlds.v[i, :3], data.qpos[3:7])
        data.qvel[3:] = worlds.v[i, 3:]
        mujoco.mj_forward(there, data)
        # MuJoCo's acceleration is that at the end of the step: the difference is h times a jerk of up to 1e4 rad/s^3
        np.testing.assert_allclose((worlds.v[i, 6:] - before[i, 6:]) / h, data.qacc[6:], rtol=1e-4, atol=1e-2)
        for name, sensor in zip(names, map(there.sensor, range(there.nsensor)), strict=True):
            value, expected = worlds.sensors[name][i], data.sensordata[sensor.adr[0] : sensor.adr[0] + sensor.dim[0]]
            if name.startswith("r"):
                value = value[[3, 0, 1, 2]] * np.sign(value[[3, 0, 1, 2]] @ expected)
            tolerance = 1e-2 if name.startswith("a") else 1e-9
            np.testing.assert_allclose(value, expected, rtol=tolerance / 100.0, atol=tolerance, err_msg=name)


def test_the_clamp_of_targets() -> None:
    """A target outside the range acts like the end of the range, and NaN is still noticed."""
    model, controls = read(ROBOT)
    worlds = pc.Worlds(model, 4, dt=1e-4, substeps=3, **controls)
    assert [model.own_tree.names[j] for j in range(1, model.own_tree.njoints)][-2:] == ["hip", "toe"]
    np.testing.assert_allclose(controls["drive"].range, [[-0.05, 0.05], [-np.inf, np.inf]])
    targets = np.array([[0.05, 0.5], [0.3, 0.5], [-0.3, 0.5], [np.nan, 0.5]])
    worlds.step(targets)
    assert worlds.status.tolist() == [0, 0, 0, 3]
    assert (worlds.q[0] == worlds.q[1]).all()
    assert abs(worlds.q[2] - worlds.q[1]).max() > 1e-5
    for difference in worlds.exact([0, 1, 2]):
        assert difference.v < 1e-6  # another integrator, of which the error in three steps is h^2 times the jerk
    np.testing.assert_allclose(pc.trace(model, "step", drive=controls["drive"])(
        worlds.q[0], worlds.v[0], np.array([np.nan, 0.0]))[1], np.nan, equal_nan=True)  # fmt: skip


def test_keyframes() -> None:
    model, controls = read(ROBOT)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(controls["q"], [0, 0, 0.5, 0, 0, half, half, 0.3, 0.05], atol=1e-15)
    np.testing.assert_allclose(read(ROBOT, keyframe="high")[1]["q"], [1, 2, 3, 1, 0, 0, 0, -0.3, 0.01], atol=1e-15)
    np.testing.assert_allclose(read(ROBOT, keyframe="0")[1]["q"], controls["q"])
    assert "q" not in read(ARM.format(angle="degree", default="", actuators=""))[1]
    for name in ("hgih", "empty"):
        with raises(pc.UnknownNameError, f"'{name}'"):
            pc.read_controls(ROBOT, model, name)


LOOP = """<mujoco model="bars"><compiler angle="radian"/><worldbody>
<body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.2"/>
<body name="rod" pos="0 0 0.2"><joint name="rod" axis="0 1 0"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.4 0 0"/></body></body>
<body name="rocker" pos="0.4 0 0"><joint name="rocker" axis="0 1 0"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.25"/></body>
</worldbody><equality><connect body1="rod" body2="rocker" anchor="0.4 0 0"/></equality>
<actuator><position joint="crank" kp="3"/>{}</actuator>
<keyframe><key name="open" qpos="0.3 -0.28 0.31"/></keyframe></mujoco>"""


@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_the_loops_of_a_keyframe_are_closed() -> None:
    model, controls = read(LOOP.format(""))
    opened = np.array([0.3, -0.28, 0.31])
    assert np.abs(pc.residual(model, opened)).max() > 1e-3
    assert np.abs(pc.residual(model, controls["q"])).max() < 1e-9
    np.testing.assert_allclose(controls["q"], opened, atol=0.05)  # the gap of 5 mm over the length of the bars
    worlds = pc.Worlds(model, 2, dt=1e-3, **controls)
    worlds.step()
    assert not worlds.status.any()


def test_left_out_contents_are_named() -> None:
    more = """<actuator><motor name="m" joint="hip"/><velocity joint="toe" kv="3"/>
      <general name="g" joint="toe" gainprm="4" biastype="affine" biasprm="0 -5"/>
      <position joint="toe" name="skewed" forcerange="-3 5" delay="0.01" nsample="2"/></actuator>
      <sensor><jointpos name="angle" joint="hip"/><framepos name="rel" objtype="site" objname="tip" reftype="site"
      refname="mark"/><framequat name="inertial" objtype="body" objname="leg"/><gyro name="noisy" site="tip" noise="0.1"
      cutoff="2"/></sensor>"""
    text = ROBOT.replace("<keyframe>", f"{more}<keyframe>").replace(
        '<position name="p" joint="toe"', '<motor joint="toe"'
    )
    text = text.replace('kp="300" kv="5" ', "")
    model = pc.buildModelFromMJCF(text)
    with (
        warns(pc.PinClustersWarning, "'hopper' 'm' 'g' '0' '3'"),
        warns(pc.PinClustersWarning, "'angle' 'rel' 'inertial'"),
        warns(
            pc.PinClustersWarning,
            "'smaller end of forcerange of skewed' 'delay of skewed' 'noise of noisy' 'cutoff of noisy'",
        ),
    ):
        controls = pc.read_controls(text, model)
    assert controls["drive"].joints == ("hip", "toe")
    assert "noisy" in controls["sensors"]
    assert not {"angle", "rel", "inertial"} & set(controls["sensors"])
    text = ARM.format(angle="degree", default="", actuators='<motor joint="slider"/>')
    with warns(pc.PinClustersWarning, "'0'"):
        controls = read(text)[1]
    assert controls == {"drive": None, "sensors": {}}


@pytest.mark.parametrize(
    ("default", "actuators", "words"),
    [
        ("", '<position name="p" joint="slider" kp="3" timeconst="0.1"/>', "'p' filterexact timeconst"),
        ("", '<position joint="slider"/><position name="p" joint="slider"/>', "'p' 'slider'"),
        ("", '<position name="p" joint="slider" kv="1" dampratio="1"/>', "kv dampratio"),
        ("", '<position name="p" joint="slider" kv="-1"/>', "'p' kv -1"),
        ("", '<position name="p" joint="slider" ctrlrange="0 1" inheritrange="1"/>', "ctrlrange inheritrange"),
        ("", '<position name="p" joint="slider" ctrlrange="1 -1"/>', "'p' 1 -1"),
        ("", '<position name="p" joint="sldier"/>', "'p' 'sldier' 'slider'"),
        ("<default><position kp='3'/><velocity kv='4'/></default>", '<position name="p" joint="slider"/>', "'p'"),
    ],
)
def test_actuators_that_cannot_be_a_drive(default: str, actuators: str, words: str) -> None:
    model = pc.buildModelFromMJCF(ARM.format(angle="degree", default="", actuators=""))
    with raises(pc.LoadError, words):
        pc.read_controls(ARM.format(angle="degree", default=default, actuators=actuators), model)


def test_files_and_models_that_do_not_match() -> None:
    model = pc.buildModelFromMJCF(ROBOT)
    arm = ARM.format(angle="degree", default="", actuators='<position joint="slider"/>')
    with raises(pc.LoadError, "<robot> <mujoco>"):
        pc.read_controls("<robot name='x'/>", model)
    with raises(pc.UnknownNameError, "'slider' 'hopper' pc.buildModelFromMJCF"):
        pc.read_controls(arm, model)
    other = ARM.format(angle="degree", default="", actuators="").replace("</mujoco>", "{}</mujoco>")
    with raises(pc.UnknownNameError, "'imu' 'hopper'"):
        sensor = '<sensor><gyro site="imu"/></sensor>'
        pc.read_controls(
            other.format(sensor).replace('<body name="lower"', '<site name="imu"/><body name="lower"'),
            pc.buildModelFromMJCF(ROBOT.replace('"imu"', '"other"')),
        )
    with raises(pc.UnknownNameError, "'home' 'hopper'"):
        pc.read_controls(other.format('<keyframe><key name="home" qpos="0 0"/></keyframe>'), model)
    with raises(pc.LoadError, "'w' 'ium' 'imu'"):
        pc.read_controls(ROBOT.replace('name="w" site="imu"', 'name="w" site="ium"'), model)
    with raises(pc.LoadError, "'w'"):
        pc.read_controls(ROBOT.replace('name="w2"', 'name="w"'), model)
    with raises(pc.ArgumentTypeError, "keyframe 3"):
        pc.read_controls(ROBOT, model, 3)  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "int"):
        pc.read_controls(3, model)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_a_dependent_joint_cannot_be_driven() -> None:
    text = LOOP.format('<position name="second" joint="rocker"/>')
    with raises(pc.LoadError, "'second' 'rocker' independent"):
        read(text)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([1.0, -1.0], pc.SimulationError, "range 1 -1"),
        ([np.nan, 1.0], pc.SimulationError, "range nan"),
        ([1.0, 2.0, 3.0], pc.ShapeError, "range 3"),
        (1.0, pc.ShapeError, "range"),
        (np.zeros((3, 2)), pc.ShapeError, "range 3 2"),
        ("x", pc.ArgumentTypeError, "range"),
    ],
)
def test_bad_ranges(given: Any, error: type[Exception], words: str) -> None:
    model = pc.buildModelFromMJCF(ARM.format(angle="degree", default="", actuators=""))
    with raises(error, words):
        pc.trace(model, "step", drive=pc.Drive(range=given))
