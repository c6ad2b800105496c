"""A leg with rotors as links on fixed joints and armature at the knee, and a file of its motors."""

from __future__ import annotations

import pin_clusters as pc


def _link(name: str, mass: float, moments: str) -> str:
    ixx, iyy, izz = moments.split()
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 -0.1"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(name: str, parent: str, child: str, axis: str, more: str = "", rpy: str = "0 0 0") -> str:
    kind = "revolute" if axis else "fixed"
    inside = f'<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="40" velocity="20"/>{more}' if axis else ""
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="0 0.05 -0.2" rpy="{rpy}"/><parent link="{parent}"/>'
        f'<child link="{child}"/>{inside}</joint>'
    )


URDF = (
    '<robot name="leg">'
    + _link("base", 5.0, "0.1 0.1 0.1")
    + _link("thigh", 2.0, "0.02 0.02 0.01")
    + _link("shank", 1.0, "0.01 0.01 0.005")
    # about the hip's axis, x of the base, this rotor has what it has about its own y
    + _link("hip_rotor", 0.1, "6e-5 1.2e-4 6.5e-5")
    + _link("knee_rotor", 0.1, "6e-5 1.1e-4 5.5e-5")
    + _joint("hip_joint", "base", "thigh", "1 0 0")
    + _joint("knee_joint", "thigh", "shank", "0 1 0", '<dynamics damping="0" armature="0.02"/>')
    + _joint("hip_rotor_joint", "base", "hip_rotor", "", rpy="0 0 1.5707963267948966")
    + _joint("knee_rotor_joint", "thigh", "knee_rotor", "")
    + "</robot>"
)

MOTORS = """\
motors_version: 1
motors:
  - joint: hip_joint
    ratio: -6.33
    rotor_inertia: 1.2e-4
    limits: {at: joint, effort: 23.7, velocity: 30.1}
    source: the maker's URDF
  - joint: knee  # _joint may be left out
    name: knee_motor
    stages:
      - ratio: 5
        inertia: 3e-5
      - {ratio: 4, inertia: 2e-4}
    rotor_inertia: 1e-5
    armature: replace
    limits:
      at: motor
      effort: 2
      velocity: 300
"""


def in_python() -> tuple[pc.Rotor, ...]:
    """What ``MOTORS`` says."""
    how = {"armature": "replace"}
    return (
        pc.Rotor("hip_joint", -6.33, axial_inertia=1.2e-4),
        pc.Rotor("knee_joint", 20.0, axial_inertia=1e-5, name="knee_motor", **how),
        pc.Rotor("knee_joint", 4.0, axial_inertia=3e-5, name="knee_motor_stage_1", driven=False, **how),
        pc.Rotor("knee_joint", 1.0, axial_inertia=2e-4, name="knee_motor_stage_2", driven=False, **how),
    )
