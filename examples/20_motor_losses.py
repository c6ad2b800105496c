"""Simulate an actuator with friction, gear losses, elasticity and backlash, and check its energy balance.

The output of the gear is a body, and a joint with a `pc.Spring` connects it to the link. The spring has a dead band,
the backlash, in which it exerts no force. The motor swings the link back and forth. The work of the motor equals the
losses in friction, gear and spring damping plus the stored energy.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

DT, SECONDS = 1e-4, 0.6  # [s]
BACKLASH = np.radians(0.5)  # in each direction
MOTOR = pc.Motor(ratio=50.0, rotor_inertia=2e-5, viscous=2e-5, coulomb=4e-3, efficiency=0.8, back_efficiency=0.7,
                 torque_constant=0.05, resistance=0.3)  # fmt: skip


def actuator() -> pc.ClusterModel:
    """Return a gear output on the ground and a link; the joint `twist` between them contains the spring."""
    tree = pin.Model()
    tree.name = "actuator"
    gear = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "gear")
    tree.appendBodyToJoint(gear, pin.Inertia(0.2, np.zeros(3), 2e-4 * np.eye(3)), pin.SE3.Identity())
    twist = tree.addJoint(gear, pin.JointModelRY(), pin.SE3.Identity(), "twist")
    tree.appendBodyToJoint(twist, pin.Inertia(2.0, np.array([0.0, 0.0, -0.2]), 0.02 * np.eye(3)), pin.SE3.Identity())
    spring = pc.Spring("twist", stiffness=400.0, rest=(-BACKLASH, BACKLASH), damping=0.3)
    return pc.ClusterModel(tree, [pc.Rotor("gear", motor=MOTOR), spring])


def main() -> dict[str, np.ndarray]:
    """Print the energy balance; return the motion, and energies over time."""
    model = actuator()
    data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
    time = np.arange(round(SECONDS / DT)) * DT
    angles, works = np.empty((len(time), 2)), np.zeros((len(time), 5))
    start = pc.computeMechanicalEnergy(model, data, q, v)
    for k, t in enumerate(time):
        u = np.array([0.25 * np.cos(2.0 * np.pi * 2.5 * t)])  # motor torque [N m]
        tau = pc.actuation_matrix(model, data, q) @ u
        # gear losses depend on the load and thus on the acceleration; passive_torque solves for both
        a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau, friction_speed=0.5))
        power = pc.motor_power(model, data, q, v, u, a, friction_speed=0.5)
        damping = 0.3 * v[1] ** 2
        works[k] = [power.mechanical[0], power.friction[0], power.gear[0], damping, power.copper[0]]
        angles[k] = q
        v = v + DT * a
        q = pc.integrate(model, q, DT * v)
    energies = np.cumsum(works, axis=0) * DT
    given, friction, gear, damped, copper = energies[-1]
    stretch = max(abs(q[1]) - BACKLASH, 0.0)
    stored = pc.computeMechanicalEnergy(model, data, q, v) - start + 0.5 * 400.0 * stretch**2
    print(f"mechanical work of the motor {given:.3f} J, loss in its windings {copper:.3f} J; the work goes to")
    for what, x in (("motor friction", friction), ("gear losses", gear), ("spring damping", damped),
                    ("stored energy", stored)):  # fmt: skip
        print(f"  {what:24s} {x:8.3f} J")
    miss = given - friction - gear - damped - stored
    print(
        f"the balance closes to {abs(miss):.4f} J; the link lags up to {np.degrees(np.abs(angles[:, 1]).max()):.2f} deg"
    )
    assert abs(miss) < 0.01 * given
    assert min(friction, gear, damped) > 0.0

    low, high = pc.Motor(voltage=24.0, torque_constant=0.05, resistance=0.3, peak_torque=1.0).torque_limits(400.0)
    print(f"torque limits at 24 V and 400 rad/s: {low:.2f} to {high:.2f} N m")
    return {"time": time, "gear": angles[:, 0], "twist": angles[:, 1], "energies": energies}


if __name__ == "__main__":
    main()
