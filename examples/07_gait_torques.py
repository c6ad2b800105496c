"""Compute torque, speed and power of each motor of a walking robot by inverse dynamics of a recorded gait.

The package contains the recording: a walk of the MIT Humanoid with base and joint poses and contact forces at 100 Hz.
The motion is computed, not measured. Store your own recording as a CSV or NPZ file with one column per joint, and load
it with `study.trajectories.Recorded.from_file("gait.csv", cutoff=8.0)`.
"""

from __future__ import annotations

import numpy as np

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.studies import study


def main() -> dict[str, np.ndarray]:
    """Print the requirements of the motors of the left leg; return torque and power per motor over time."""
    model = pc.load("mit_humanoid")
    data = model.createData()
    gait = study.trajectories.motion("mit_humanoid_walk").resampled(2e-3)
    time, q, v, a = gait.states(model)  # the rotors turn with the joints; the base moves as recorded
    ground = gait.loads(model, time, q)  # J' f for the recorded contact forces
    print(f"{gait.label}: {len(time)} states of {model.name}, nv = {model.nv}, {len(model.rotors)} motors")

    tau = np.array([pc.rnea(model, data, *state) for state in zip(q, v, a, strict=True)]) - ground
    B = pc.actuation_matrix(model, data, q[0])[6:]  # constant for gears and belts; the base has no motor
    torque = np.linalg.solve(B, tau[:, 6:].T).T  # at the rotors [N m]
    speed = np.array([pc.rotor_velocity(model, data, *state) for state in zip(q, v, strict=True)])  # [rad/s]
    power = torque * speed  # mechanical [W]

    rough = approximations.of(model)["diagonal"]
    approximate = np.array([rough.rnea(*state) for state in zip(q, v, a, strict=True)]) - ground
    error = np.linalg.solve(B, approximate[:, 6:].T).T - torque
    print("motor                     torque, largest   speed, largest   power, largest   torque error of armature, RMS")
    for k, rotor in enumerate(model.rotors):
        if rotor.name.startswith("left") and any(part in rotor.name for part in ("hip", "knee", "ankle")):
            largest = [np.abs(x[:, k]).max() for x in (torque, speed, power)]
            rms = [np.sqrt(np.mean(x[:, k] ** 2)) for x in (error, torque)]
            print(f"  {rotor.name:20s} {largest[0]:10.3f} N m {largest[1]:12.1f} rad/s {largest[2]:10.1f} W"
                  f" {rms[0]:14.4f} N m ({rms[0] / rms[1]:.1%})")  # fmt: skip
    base = np.abs(tau[:, :6]).max(axis=0)
    print(f"remaining wrench at the base, which has no motor: {base[:3].max():.2f} N, {base[3:].max():.2f} N m")

    # energy balance: the work of motors, ground and remaining base wrench equals the change of energy
    energy = np.array([pc.computeMechanicalEnergy(model, data, *state) for state in zip(q, v, strict=True)])
    flow = power.sum(axis=1) + np.sum(tau[:, :6] * v[:, :6], axis=1) + np.sum(ground * v, axis=1)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (flow[1:] + flow[:-1]) * np.diff(time))])
    swing, miss = np.ptp(energy), np.abs(work - (energy - energy[0])).max()
    print(f"the energy varies by {swing:.2f} J, and the work agrees with it to {miss:.4f} J")
    assert miss < 1e-2 * swing  # trapezoidal rule; the curves change quickly at touch-down
    return {"time": time, "torque": torque, "power": power}


if __name__ == "__main__":
    main()
