"""Let a quadruped trot on a ground while it is pushed, with exact rotors and with armature.

The Mini Cheetah trots at 0.4 m/s. Raibert's heuristic places a foot under the hip, ahead by half the distance travelled
in a stance, and further out if the trunk is too fast. The transposed Jacobian maps the stance forces that hold the
trunk to torques, and a PD controller moves the swing legs. The controller uses a clock and does not detect contacts;
`ground=pc.Ground()` computes which feet land, stick, slide and lift off. The same controller drives both robots. Run
`python examples/18_trot.py --seconds 10` for three pushes, and open `trot.html`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters import approximations, visualize

DT, SECONDS, STAND, PERIOD = 1e-3, 1.5, 0.1, 0.36  # [s]: time step, duration, initial stance, gait period
LEGS, PAIRS = ("FL", "FR", "HL", "HR"), ((0, 3), (1, 2))
BENT, SPEED, LIFT = [0.0, -0.8, 1.6], np.array([0.4, 0.0, 0.0]), 0.06  # leg angles [rad]; trunk [m/s]; swing height [m]
FOOT_P, FOOT_D = 500.0, 12.0  # [N/m, N s/m]
TRUNK_P, TRUNK_D = np.array([0.0, 0, 100, 150, 150, 100]), np.array([8.0, 8, 15, 20, 20, 15])  # [1/s^2, 1/s]
PUSHES, PUSH, LONG = (0.8, 4.0, 7.0), np.array([10.0, 25.0, 0.0]), 0.1  # start [s], force [N], duration [s]


def trot(model: pc.ClusterModel, home: np.ndarray, legs: tuple[str, ...] = LEGS) -> Callable[..., np.ndarray]:
    """Return the controller, a function tau(t, q, v), which holds the height of the pose `home`."""
    data, axes = model.createData(), pin.LOCAL_WORLD_ALIGNED
    feet = [model.getFrameId(f"{leg}_foot") for leg in legs]
    pc.framesForwardKinematics(model, data, home)
    under = [data.oMf[i].translation - home[:3] for i in feet]  # position of each foot relative to the trunk
    left = [data.oMf[i].translation.copy() for i in feet]  # where each foot lifted off

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        J = [pc.computeFrameJacobian(model, data, q, i, axes)[:3] for i in feet]
        pc.framesForwardKinematics(model, data, q)
        places, R = [data.oMf[i].translation.copy() for i in feet], data.oMi[1].rotation
        speed, gravity, M = R @ v[:3], pc.computeGeneralizedGravity(model, data, q), pc.crba(model, data, q)
        half, s = divmod(max(t - STAND, 0.0) / (PERIOD / 2), 1.0)
        swinging = PAIRS[int(half) % 2] if t >= STAND else ()
        standing = [i for i in range(4) if i not in swinging]
        wanted = SPEED * min(1.0, max(t - STAND, 0.0) / 0.5)
        off = np.concatenate([R.T @ [0.0, 0.0, home[2] - q[2]], -pin.log3(R)])  # x, y are free
        late = np.concatenate([R.T @ wanted, np.zeros(3)]) - v[:6]
        wrench = gravity[:6] + M[:6, :6] @ (TRUNK_P * off + TRUNK_D * late)
        grip = np.vstack([J[i] for i in standing])
        tau = gravity - grip.T @ np.linalg.lstsq(grip[:, :6].T, wrench, rcond=None)[0]
        for i in standing:
            left[i] = places[i]
        for i in swinging:
            goal = q[:3] + under[i] + speed * PERIOD / 4 + 0.12 * (speed - wanted)
            goal[2], way = 0.0, s - np.sin(2 * np.pi * s) / (2 * np.pi)
            point = left[i] + way * (goal - left[i]) + [0.0, 0.0, LIFT * np.sin(np.pi * s) ** 2]
            rate = (1 - np.cos(2 * np.pi * s)) * (goal - left[i]) + [0.0, 0.0, LIFT * np.pi * np.sin(2 * np.pi * s)]
            tau += J[i].T @ (FOOT_P * (point - places[i]) + FOOT_D * (rate / (PERIOD / 2) - J[i] @ v))
        pushed = any(start <= t < start + LONG for start in PUSHES)
        tau[:6] = np.concatenate([R.T @ PUSH * pushed, np.zeros(3)])  # the trunk has no motor, only the push
        return tau

    return control


def main(seconds: float = SECONDS) -> dict[str, pc.SimulationResult]:
    """Simulate both robots, write the page, and return the motions."""
    warnings.simplefilter("ignore", pc.PinClustersWarning)  # the published hip inertias are not physical
    exact = pc.load("mini_cheetah")
    home = pc.integrate(exact, pc.neutral(exact), np.concatenate([np.zeros(6), *[BENT] * 4]))
    feet = pc.contact_points(exact, [f"{leg}_foot_link" for leg in LEGS])
    q0, v0, found = pc.on_ground(exact, home, touching=feet), np.zeros(exact.nv), {}
    for name, robot in (("exact", exact), ("armature", approximations.robot(exact, "diagonal"))):
        run = found[name] = pc.simulate(robot, q0, v0, trot(exact, q0), seconds, DT, ground=pc.Ground(), touching=feet)
        landed, high = [t.impulse[2] for t in run.touchdowns], run.q[:, 2]
        print(f"{name}: {run.q[-1, 0]:.3f} m in {seconds:g} s, {high.min():.3f} to {high.max():.3f} m high")
        print(f"  {len(landed)} touch-downs, {np.median(landed):.3f} N s in 2 ms (median), {max(landed):.3f}")
        assert high.min() > 0.2  # the robot has not fallen
        assert max(run.contact_laws[:, 1].max(), -run.gap.min(), run.contact_work.max()) < 1e-6
    (time, q), ghost = ((run.time[::20], run.q[::20]) for run in found.values())
    visualize.animate(exact, time, q, ghost=ghost, ghost_label="armature, same controller").save("trot.html")
    return found


if __name__ == "__main__":
    main(float(sys.argv[2]) if sys.argv[1:2] == ["--seconds"] else SECONDS)
