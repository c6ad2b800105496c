"""Train a biped with closed loops to stand and to step, and replay the policy with `pc.simulate`.

Each leg of Tello has two differentials, which close loops: two motors move hip roll and pitch, two motors move knee and
ankle. The policy sets the motor positions. It sees a command, stand or step, and a clock. For the command "step", the
feet have to lift in turn, and the robot has to walk at 0.3 m/s. At the end, `pc.simulate` replays the policy without
exploration noise, with a time step of 0.5 ms: the robot stands for two seconds and then steps. Run
`python examples/24_train_loops.py --seconds 600` for a policy that succeeds; the default only shows that the reward
rises.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from ppo import CONTROL, Robot, Task, replay, rise, touchdowns, train

import pin_clusters as pc

SPEED, PERIOD, LIFT = 0.3, 0.64, 0.05  # [m/s], time of two steps [s], height of a lifted foot [m]
STAND = 2.0  # time before the first step of a replay [s]
LIMIT = 2.0  # torque of every rotor [N m]; assumed, because the published model has no limits
FEET = ["left_toe", "left_heel", "right_toe", "right_heel"]


class Step(Task):
    """Stand, or step with alternating feet at constant forward speed."""

    def allocate(self, n: int) -> None:
        super().allocate(n)
        self.go, self.phase = np.zeros(n, dtype=bool), np.zeros(n)

    def restart(self, mask: np.ndarray) -> None:
        super().restart(mask)
        self.go[mask], self.phase[mask] = self.rng.random(int(mask.sum())) < 0.8, 0.0

    def observe(self) -> np.ndarray:
        angle = 2 * np.pi * self.phase
        clock = self.go * np.stack([np.ones(self.n), np.sin(angle), np.cos(angle)])
        return np.concatenate([super().observe(), clock.T.astype(np.float32)], axis=1)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.random:
            change = self.rng.random(self.n) < 0.005
            self.go[change] = self.rng.random(int(change.sum())) < 0.8
        else:
            self.go[:] = self.age * CONTROL >= STAND
        self.phase = np.where(self.go, (self.phase + CONTROL / PERIOD) % 1.0, 0.0)
        return super().step(actions)

    def reward(self, change: np.ndarray) -> np.ndarray:
        g, v, wave = self.gravity, self.v, np.sin(2 * np.pi * self.phase)
        lifted = self.go[:, None] & (np.stack([wave, -wave], axis=1) > 0.2)
        feet = np.where(lifted, np.clip(self.heights / LIFT, 0.0, 1.0), np.exp(-np.abs(self.heights) / 0.01))
        reward = np.exp(-((v[:, 0] - SPEED * self.go) ** 2 + v[:, 1] ** 2) / 0.04) + 0.5 * feet.sum(axis=1)
        reward += 0.3 * np.exp(-(v[:, 5] ** 2) / 0.25) - 2 * (g[:, 0] ** 2 + g[:, 1] ** 2)
        reward -= 0.5 * v[:, 2] ** 2 + 0.05 * (v[:, 3] ** 2 + v[:, 4] ** 2) + 0.01 * (change**2).sum(axis=1)
        reward -= 1e-4 * ((v[:, self.iv] / self.robot.scale) ** 2).mean(axis=1) + 0.02 * (self.actions**2).mean(axis=1)
        return reward - 10 * (self.q[:, 2] - self.robot.home[2]) ** 2

    def speed(self) -> float:
        return float(self.v[self.go, 0].mean()) if self.go.any() else 0.0


def tello() -> Robot:
    """Return the robot with torque limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        published = pc.load("tello")
        tree = published.tree.copy()
        motors = [x for x in tree.names if "rotor" in x]
        limits = np.array(tree.effortLimit)
        limits[[tree.joints[tree.getJointId(x)].idx_v for x in motors]] = LIMIT
        tree.effortLimit = limits
        model = pc.ClusterModel(
            tree, published.constraints, published.q_reference, independent=published.independent_joints, name="tello"
        )
    home = pc.on_ground(model, model.q_reference, touching=FEET)
    yaw = np.array([x.endswith("yaw") for x in model.independent_joints[1:]])
    return Robot(model, home, FEET, np.where(yaw, 60.0, 2.5), np.where(yaw, 1.0, 0.05), np.where(yaw, 0.15, 1.5))


def main(seconds: float = 20.0) -> dict[str, np.ndarray]:
    task = Step(tello(), 1024, threads=2)
    P, history = train(task, seconds)
    assert rise(history) > 0.1
    walk = replay(task.alone(5e-4), P, 10.0 if seconds > 100.0 else 0.5)
    end, landings = walk[-1], [touchdowns(x) for x in walk[:, 3:].T]
    print(f"pc.simulate at 0.5 ms, without noise: {end[0]:.1f} s upright, {end[1]:.2f} m, {landings} touch-downs.")
    return {"history": history, "walk": walk}


if __name__ == "__main__":
    main(*(float(x) for x in sys.argv[2:3]))
