"""Compute two values of the atlas step by step: the armature of the knees of the Unitree G1 and of the Booster T1.

The sheets `robot_models/atlas/*.yaml` of the package contain the motor data of both robots and their sources. In a gear
with several stages, a part turns at every stage: the rotor at full speed, the output of the first stage slower, and so
on. Each part adds its inertia times its squared speed to the inertia of the joint.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pin_clusters as pc
from pin_clusters.studies import atlas

LEG = """<robot name="leg"><link name="thigh"/><link name="shin"><inertial><origin xyz="0 0 -0.15"/><mass value="2.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{joint}" type="revolute"><parent link="thigh"/><child link="shin"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="20"/></joint></robot>"""
ROBOTS = {"unitree_g1": "left_knee_joint", "booster_t1": "Left_Knee_Pitch"}


def knee(name: str) -> tuple[dict, dict[str, float]]:
    """Return the motor of the knee, and the published armature values of this joint."""
    of, joint = atlas.sheet(name), ROBOTS[name]
    motor = next(m for m in of.motors if "nee" in m.get("joint", ""))
    fits = [(p["where"], {**p["armature"]}) for p in of.published]
    published = {w: a.get("*", a.get("*_knee", a.get("*_Knee_Pitch"))) for w, a in fits}
    print(f"\n{of.robot}: {joint}\n  {motor['source']}")
    return motor, {where: x for where, x in published.items() if x is not None}


def by_hand(motor: dict) -> float:
    """Sum the contributions of all stages from the motor to the joint, and print each step."""
    stages = motor.get("stages") or [{"ratio": motor["ratio"]}]
    speed = np.prod([s["ratio"] for s in stages])  # turns of the rotor per turn of the joint
    parts = [("rotor", motor["rotor_inertia"], speed)]
    for k, stage in enumerate(stages, 1):
        speed = speed / stage["ratio"]  # after this stage
        parts.append((f"output of stage {k}", stage.get("inertia", 0.0), speed))
    total = sum(J * n**2 for _, J, n in parts)
    for what, J, n in parts:
        print(f"  {what:18} {J:.4g} kg m^2 x {n:.5g}^2 = {J * n**2:.6f}, {100 * J * n**2 / total:.1f} % of all")
    print(f"  sum {total:.6f} kg m^2: the armature of this joint")
    return float(total)


def in_the_model(name: str, motor: dict) -> float:
    """Return the contribution of the same motor to the mass matrix of a leg."""
    entry = {k: v for k, v in motor.items() if k not in ("where", "limits")} | {"joint": ROBOTS[name]}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "leg.urdf"
        file.write_text(LEG.format(joint=ROBOTS[name]), encoding="utf-8")
        plain = pc.open_robot(file)
        geared = pc.open_robot(file, motors={"motors_version": 1, "motors": [entry]})
    M = [pc.crba(m, m.createData(), pc.neutral(m)).item() for m in (plain, geared)]
    return M[1] - M[0]


def main() -> dict[str, tuple[float, list[float]]]:
    swing = 0.5 * (2 * np.pi * 1.5) ** 2  # largest acceleration of a sine of 0.5 rad and 1.5 Hz, rad/s^2
    found = {}
    for name in ROBOTS:
        motor, published = knee(name)
        right = by_hand(motor)
        assert abs(in_the_model(name, motor) - right) < 1e-9 * right
        for where, value in published.items():
            off = (value - right) * swing
            print(f"  published {value:.6g}, {value / right:.3f} of the sum: error up to {off:+.2f} N m ({where[:60]})")
        found[name] = right, [*published.values()]
    right, published = found["unitree_g1"]
    assert f"{right:.3g}" == f"{published[-1]:.3g}" == "0.0251"  # equals the maker's value
    assert f"{100 * 4.89e-5 * 22.5**2 / right:.1f}" == "98.6"  # contribution of the rotor
    right, published = found["booster_t1"]
    assert abs(18.0**2 * 1.963e-4 - right) < 1e-12
    assert {0.0, 0.005, 0.01} < set(published)
    return found


if __name__ == "__main__":
    main()
