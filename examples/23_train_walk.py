"""Train a quadruped with exact rotors to walk, and replay the policy with `pc.simulate`.

1024 copies of the Mini Cheetah learn by proximal policy optimization (`ppo.py`) to walk at 0.5 m/s. At the end,
`pc.simulate` replays the policy without exploration noise, with a time step of 0.5 ms. Run
`python examples/23_train_walk.py --seconds 240` for a policy that walks; the default only shows that the reward rises.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from ppo import Robot, Task, replay, rise, train

import pin_clusters as pc

SPEED = 0.5  # [m/s]
FEET = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]


class Walk(Task):
    """Walk forward at constant speed."""

    def reward(self, change: np.ndarray) -> np.ndarray:
        g, v = self.gravity, self.v
        reward = np.exp(-((v[:, 0] - SPEED) ** 2 + v[:, 1] ** 2) / 0.1) + 0.4 * np.exp(-(v[:, 5] ** 2) / 0.25)
        reward -= 0.5 * v[:, 2] ** 2 + 0.03 * (v[:, 3] ** 2 + v[:, 4] ** 2) + 0.01 * (change**2).sum(axis=1)
        reward -= 2e-4 * (v[:, 6:] ** 2).sum(axis=1) + 0.5 * (g[:, 0] ** 2 + g[:, 1] ** 2)
        return reward - 5 * (self.q[:, 2] - 0.26) ** 2


def mini_cheetah() -> Robot:
    """Return the robot with bent legs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load("mini_cheetah")
    bent = np.zeros(model.nv)
    bent[6:] = [{"hip": -0.8, "knee": 1.6}.get(x.split("_")[1], 0.0) for x in model.independent_joints[1:]]
    home = pc.on_ground(model, pc.integrate(model, pc.neutral(model), bent), touching=FEET)
    return Robot(model, home, FEET, *(np.full(12, x) for x in (30.0, 0.8, 0.3)))


def main(seconds: float = 20.0) -> dict[str, np.ndarray]:
    task = Walk(mini_cheetah(), 1024, threads=2)
    P, history = train(task, seconds)
    assert rise(history) > 0.1
    walk = replay(task.alone(5e-4), P, 5.0 if seconds > 100.0 else 0.5)
    end = walk[-1]
    print(f"pc.simulate at 0.5 ms, without noise: {end[1]:.2f} m in {end[0]:.1f} s, height {walk[:, 2].min():.2f} m.")
    return {"history": history, "walk": walk}


if __name__ == "__main__":
    main(*(float(x) for x in sys.argv[2:3]))
