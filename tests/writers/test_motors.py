"""What files of robots say of motors, and what they cannot: friction of joints, torques, constants of DC motors."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from support.messages import warns

import pin_clusters as pc

LOSSY = pc.Motor(ratio=8.0, rotor_inertia=2e-5, viscous=1e-3, coulomb=0.02, peak_torque=3.0)
MJCF = """<mujoco><worldbody><body name="arm">
  <joint name="hinge" axis="0 1 0" damping="0.5" frictionloss="0.4" armature="{armature}" stiffness="{stiffness}"/>
  <geom type="capsule" size="0.05" fromto="0 0 0 1 0 0"/></body></worldbody>
  <actuator>{actuator}</actuator></mujoco>"""


def read(actuator: str, armature: float = 0.02, stiffness: float = 0.0, how: str = "rotor") -> pc.ClusterModel:
    return pc.buildModelFromMJCF(MJCF.format(actuator=actuator, armature=armature, stiffness=stiffness), armature=how)


def lossy() -> pc.ClusterModel:
    rotors = [pc.Rotor("elbow_joint", motor=LOSSY), pc.Rotor("wrist1_joint", 5.0, axial_inertia=1e-5)]
    return pc.ClusterModel(pin.buildSampleModelManipulator(), rotors)


def test_friction_of_a_geared_joint_is_its_motor_s() -> None:
    model = read('<motor joint="hinge" gear="10" forcerange="-3 3"/>')
    motor = model.rotors[0].motor
    assert motor is not None
    assert (motor.peak_torque, motor.viscous, motor.coulomb) == pytest.approx((3.0, 0.005, 0.04))
    assert model.passive is not None
    assert model.passive.springs == ()
    v = np.array([0.7])
    plain = read('<motor joint="hinge" gear="10" forcerange="-3 3"/>', how="keep")
    found = [pc.passive_torque(m, m.createData(), m.q_reference, v)[0] for m in (model, plain)]
    assert found == pytest.approx([-0.5 * 0.7 - 0.4] * 2)
    sprung = read('<motor joint="hinge" gear="10"/>', stiffness=2.0)
    assert [(s.stiffness[0], s.damping[0], s.friction) for s in sprung.passive.springs] == [(2.0, 0.0, 0.0)]
    # without a rotor it stays with the joint
    assert len(read('<motor joint="hinge" gear="10"/>', armature=0.0).passive.springs) == 1


def test_constants_of_dc_motors() -> None:
    said = read('<dcmotor joint="hinge" gear="10" nominal="24 4.8 240" saturation="2"/>').rotors[0].motor
    assert said is not None
    assert (said.voltage, said.torque_constant, said.resistance) == pytest.approx((24.0, 0.1, 0.5))
    assert (said.no_load_speed, said.peak_torque) == (240.0, 2.0)
    said = read('<dcmotor joint="hinge" gear="10" motorconst="0.1 0.4" resistance="0.5"/>').rotors[0].motor
    assert said is not None
    assert (said.voltage, said.torque_constant, said.resistance) == (None, pytest.approx(0.2), 0.5)


def test_friction_is_written_to_joints() -> None:
    model = lossy()
    joint = ET.fromstring(pc.to_mjcf(model)).find(".//joint[@name='elbow_joint']")
    assert joint is not None
    assert (float(joint.get("damping", 0)), float(joint.get("frictionloss", 0))) == pytest.approx((0.064, 0.16))
    motor = ET.fromstring(pc.to_mjcf(model)).find(".//motor[@joint='elbow_joint']")
    assert motor is not None
    assert motor.get("forcerange") == "-3 3"
    urdf = pc.to_urdf(model)
    dynamics = ET.fromstring(urdf.split("-->", 1)[1]).find("joint[@name='elbow_joint']/dynamics")
    assert dynamics is not None
    assert (float(dynamics.get("damping", 0)), float(dynamics.get("friction", 0))) == pytest.approx((0.064, 0.16))
    assert "Damping and friction without a pc.Spring" not in urdf
    back = pc.buildModelFromXML(urdf)
    q, v = pc.neutral(model), np.ones(model.nv)
    expected = pc.passive_torque(model, model.createData(), q, v)
    assert expected.any()
    assert pc.passive_torque(back, back.createData(), q, v) == pytest.approx(expected)


def test_friction_of_a_rotor_that_two_joints_turn_is_a_tendon_s() -> None:
    rotor = pc.Rotor(["elbow_joint", "wrist1_joint"], [8.0, 8.0], motor=LOSSY)
    model = pc.ClusterModel(pin.buildSampleModelManipulator(), [rotor])
    tendons = ET.fromstring(pc.to_mjcf(model)).findall(".//tendon/fixed[@damping]")
    assert [(float(t.get("damping", 0)), float(t.get("frictionloss", 0))) for t in tendons] == [(1e-3, 0.02)]
    spring = ET.fromstring(pc.to_urdf(model).split("-->", 1)[1]).find("spring")
    assert spring is not None
    assert spring.get("friction") == "0.02"


@pytest.mark.parametrize("write", [pc.to_mjcf, pc.to_urdf])
def test_what_files_cannot_hold_is_named(write: object) -> None:
    motor = pc.Motor(ratio=8.0, rotor_inertia=2e-5, efficiency=0.9, no_load_speed=100.0)
    model = pc.ClusterModel(pin.buildSampleModelManipulator(), [pc.Rotor("elbow_joint", motor=motor)])
    with warns(pc.PinClustersWarning, "elbow_joint voltage"):
        write(model)  # type: ignore[operator]


def test_approximations_have_the_friction() -> None:
    model = lossy()
    v = np.ones(model.nv)
    other = pc.approximations.robot(model, "diagonal")
    torques = [pc.passive_torque(m, m.createData(), pc.neutral(m), v) for m in (model, other)]
    assert torques[0].any()
    assert torques[1] == pytest.approx(torques[0])
