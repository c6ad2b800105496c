"""Proximal policy optimization (PPO) with `pc.Worlds`, which examples 23 and 24 import.

A `Task` connects a policy to robots; its subclasses define the reward. `train` learns a policy in `pc.Worlds`, and
`replay` runs the mean action of the policy with `pc.simulate`. An action is an offset of the joint targets of a PD
drive at 50 Hz. The exploration noise decreases during the training, so that the mean action succeeds without noise.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import pin_clusters as pc

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise SystemExit("This example needs JAX: pip install '.[jax]'") from None

SUBSTEPS, DT, EPISODE = 10, 2e-3, 500  # time steps per control step, time step [s], control steps per episode
CONTROL = SUBSTEPS * DT  # [s]
STEPS, GAMMA, LAMBDA, EPOCHS, BATCHES, CLIP = 24, 0.99, 0.95, 4, 4, 0.2  # STEPS: control steps per update
NOISE = 0.5, 0.1  # standard deviation of the actions at the start and at the end of the training


@dataclass
class Robot:
    """A robot with a floating base and PD drives."""

    model: pc.ClusterModel
    home: np.ndarray  # initial configuration, shape (nq,)
    touching: list[str]  # contact points, foot by foot
    kp: np.ndarray  # [N m/rad], shape (nu,)
    kd: np.ndarray  # [N m s/rad], shape (nu,)
    scale: np.ndarray  # offset of the joint targets per unit of the action [rad], shape (nu,)


class Task:
    """Observations, rewards and falls of n robots.

    Attributes:
        random: Whether commands change at random; False in replays.
        q: Configurations, shape (n, nq).
        v: Velocities, shape (n, nv), of which the first six are the velocity of the trunk in its axes.
        heights: Smallest distance of each foot from the ground, shape (n, feet), [m].
        gravity: Direction of gravity in the axes of the trunk, shape (n, 3).
    """

    def __init__(self, robot: Robot, n: int, seed: int = 0, threads: int = 1) -> None:
        self.robot, self.rng, self.random, self.dt = robot, np.random.default_rng(seed), True, 0.0
        self.worlds = w = pc.Worlds(
            robot.model, n, ground=pc.Ground(0.8), touching=robot.touching, dt=DT, substeps=SUBSTEPS, sweeps=8,
            q=robot.home, drive=pc.Drive(robot.kp, robot.kd, limit="motor"), vary=("friction",), dtype="float32",
            threads=threads,
        )  # fmt: skip
        self.nu, self.q, self.v, (self.iq, self.iv) = w.nu, w.q, w.v, w.driven.T
        self.feet = len(set(pc.contact_points(robot.model, robot.touching).joints))
        self.allocate(n)
        self.restart(np.ones(n, dtype=bool))
        self.age = self.rng.integers(0, EPISODE, n)

    def allocate(self, n: int) -> None:
        """Create the arrays of n robots."""
        self.n, self.actions, self.age = n, np.zeros((n, self.nu)), np.zeros(n, dtype=int)
        self.heights, self.gravity = np.zeros((n, self.feet)), np.tile([0.0, 0.0, -1.0], (n, 1))

    def alone(self, dt: float) -> Any:
        """Return the task for one robot that `pc.simulate` moves with this time step."""
        one = copy.copy(self)
        one.q, one.v, one.dt, one.random = self.robot.home[None].copy(), np.zeros((1, self.v.shape[1])), dt, False
        one.allocate(1)
        return one

    def restart(self, mask: np.ndarray) -> None:
        """Begin new episodes in the worlds of the mask."""
        if mask.any():
            self.worlds.reset(mask, v=0.1 * self.rng.standard_normal(self.v.shape))
            self.worlds.friction[mask] = self.rng.uniform(0.5, 1.1, int(mask.sum()))
            self.actions[mask], self.age[mask], self.gravity[mask] = 0.0, 0, [0.0, 0.0, -1.0]

    def observe(self) -> np.ndarray:
        """Return what the policy sees, shape (n, size)."""
        scale, v = self.robot.scale / 0.3, self.v
        joints = [(self.q[:, self.iq] - self.worlds.rest) / scale, 0.05 * v[:, self.iv] / scale, self.actions]
        return np.concatenate([self.gravity, 2 * v[:, :3], 0.25 * v[:, 3:6], *joints], axis=1).astype(np.float32)

    def reward(self, change: np.ndarray) -> np.ndarray:
        """Return the rewards, shape (n,), given the change of the actions."""
        raise NotImplementedError

    def speed(self) -> float:
        """Return the mean forward speed of the robots that walk [m/s]."""
        return float(self.v[:, 0].mean())

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Apply the actions; return the rewards, which robots fell, and which episodes ended."""
        actions = np.clip(actions, -3.0, 3.0)
        self.move(self.worlds.rest + self.robot.scale * actions)
        x, y, z, w = self.q[:, 3:7].T
        self.gravity = np.stack([-2 * (x * z - w * y), -2 * (y * z + w * x), 2 * (x * x + y * y) - 1], axis=1)
        failed = np.zeros(1, dtype=bool) if self.dt else self.worlds.status != 0
        fell = failed | (self.q[:, 2] < 0.5 * self.robot.home[2]) | (self.gravity[:, 2] > -0.6)
        reward = np.where(failed, 0.0, np.maximum(self.reward(actions - self.actions), -2.0)) - 2.0 * fell
        self.actions, self.age = actions, self.age + 1
        return reward.astype(np.float32), fell, fell | (self.age >= EPISODE)

    def move(self, targets: np.ndarray) -> None:
        """Advance the robots by one control step, in the worlds or by `pc.simulate`."""
        robot = self.robot
        if not self.dt:
            self.worlds.step(targets)
            self.heights = self.worlds.gaps.reshape(self.n, self.feet, -1).min(axis=2)
            return

        def pd(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            tau = np.zeros(len(v))
            tau[self.iv] = robot.kp * (targets[0] - q[self.iq]) - robot.kd * v[self.iv]
            return tau

        model, ground, start = robot.model, pc.Ground(0.8), (self.q[0], self.v[0])
        self.motion = pc.simulate(
            model, *start, pd, CONTROL, self.dt, ground=ground, touching=robot.touching, limits="effort"
        )
        self.q, self.v, data = self.motion.q[-1:], self.motion.v[-1:], model.createData()
        pc.framesForwardKinematics(model, data, self.q[0])
        points = np.array([data.oMf[model.getFrameId(name)].translation[2] for name in robot.touching])
        self.heights = points.reshape(1, self.feet, -1).min(axis=2)


def layers(key: Any, sizes: tuple[int, ...]) -> list[Any]:
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [1.0] * (len(sizes) - 2) + [0.05]
    pairs = zip(keys, sizes[:-1], sizes[1:], gains, strict=True)
    return [(g * jax.random.normal(k, (m, n)) / np.sqrt(m), jnp.zeros(n)) for k, m, n, g in pairs]


@jax.jit
def network(weights: list[Any], x: Any) -> Any:
    for W, b in weights[:-1]:
        x = jnp.tanh(x @ W + b)
    W, b = weights[-1]
    return x @ W + b


def log_probability(mean: Any, noise: Any, actions: Any) -> Any:
    return (-0.5 * ((actions - mean) / noise) ** 2 - jnp.log(noise)).sum(axis=1)


@jax.jit
def act(P: Any, noise: Any, observations: Any, key: Any) -> tuple[Any, Any, Any]:
    mean = network(P["policy"], observations)
    actions = mean + noise * jax.random.normal(key, mean.shape)
    return actions, log_probability(mean, noise, actions), network(P["value"], observations)[:, 0]


def loss(P: Any, noise: Any, observations: Any, actions: Any, before: Any, advantages: Any, returns: Any) -> Any:
    now = log_probability(network(P["policy"], observations), noise, actions)
    ratio = jnp.exp(now - before)
    gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantages)
    error = (network(P["value"], observations)[:, 0] - returns) ** 2
    return -gain.mean() + 0.5 * error.mean(), (before - now).mean()


@jax.jit
def update(P: Any, M: Any, V: Any, t: Any, rate: Any, noise: Any, *batch: Any) -> tuple[Any, Any, Any, Any]:
    """Take one step of Adam with a bounded gradient; return also the Kullback-Leibler divergence."""
    gradient, divergence = jax.grad(loss, has_aux=True)(P, noise, *batch)
    size = jnp.sqrt(sum((x**2).sum() for x in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / (size + 1e-8)), gradient)
    M = jax.tree.map(lambda m, x: 0.9 * m + 0.1 * x, M, gradient)
    V = jax.tree.map(lambda s, x: 0.999 * s + 0.001 * x * x, V, gradient)

    def moved(p: Any, m: Any, s: Any) -> Any:
        return p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(s / (1 - 0.999**t)) + 1e-8)

    return jax.tree.map(moved, P, M, V), M, V, divergence


def train(task: Task, seconds: float = np.inf, updates: float = np.inf, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Train for a CPU time or a number of updates; return parameters, and rows of CPU time, mean reward and speed."""
    begin, history, rng = time.process_time(), list[tuple[float, float, float]](), np.random.default_rng(seed)
    keys, size = jax.random.split(jax.random.key(seed), 3), task.observe().shape[1]
    P = {"policy": layers(keys[0], (size, 96, 64, task.nu)), "value": layers(keys[1], (size, 96, 64, 1))}
    M = V = jax.tree.map(jnp.zeros_like, P)
    key, t, rate = keys[2], 0, 1e-3
    while (progress := max((used := time.process_time() - begin) / seconds, len(history) / updates)) < 1.0:
        noise, rows = NOISE[0] * (NOISE[1] / NOISE[0]) ** progress, []
        for _ in range(STEPS):
            observations = task.observe()
            key, now = jax.random.split(key)
            actions, before, values = (np.asarray(x) for x in act(P, noise, observations, now))
            rows.append((observations, actions, before, values, *task.step(actions)))
            task.restart(rows[-1][-1])
        observations, actions, before, values, reward, fell, ended = (np.stack(x) for x in zip(*rows, strict=True))
        last = np.asarray(act(P, noise, task.observe(), key)[2])
        advantages, ahead = np.zeros_like(reward), np.zeros(task.n, dtype=np.float32)
        for i in reversed(range(STEPS)):
            after = last if i == STEPS - 1 else values[i + 1]
            future = np.where(fell[i], 0.0, np.where(ended[i], values[i], after))  # a time limit is not a fall
            ahead = reward[i] + GAMMA * future - values[i] + GAMMA * LAMBDA * np.where(ended[i], 0.0, ahead)
            advantages[i] = ahead
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        flat = [x.reshape(STEPS * task.n, *x.shape[2:]) for x in (observations, actions, before, advantages, returns)]
        for _ in range(EPOCHS):
            for part in np.array_split(rng.permutation(STEPS * task.n), BATCHES):
                t += 1
                P, M, V, divergence = update(P, M, V, t, rate, noise, *(x[part] for x in flat))
        rate = max(1e-4, rate / 1.3) if divergence > 0.02 else min(2e-3, rate * 1.3) if divergence < 0.006 else rate
        history.append((used, float(reward.mean()), task.speed()))
        if len(history) % 20 == 1:
            steps, falls = len(history) * STEPS * task.n / 1e6, fell.mean() * EPISODE
            print(f"{used:4.0f} s, {steps:.2f} million control steps: reward {history[-1][1]:.2f}, ", end="")
            print(f"speed {history[-1][2]:.2f} m/s, {falls:.2f} falls in {EPISODE * CONTROL:g} s", flush=True)
    return P, np.array(history)


def rise(history: np.ndarray) -> float:
    """Print and return the difference of the mean rewards in the last and first tenth of a training."""
    tenth = max(1, len(history) // 10)
    first, last = history[:tenth, 1].mean(), history[-tenth:, 1].mean()
    print(f"Mean reward: {first:.2f} in the first tenth of the training, {last:.2f} in the last tenth.")
    return last - first


def replay(one: Task, P: Any, seconds: float) -> np.ndarray:
    """Run the policy without noise until the robot of `Task.alone` falls.

    Returns:
        Rows of time [s], forward position [m], height of the trunk [m] and heights of the feet [m].
    """
    rows = []
    for k in range(round(seconds / CONTROL)):
        _, fell, _ = one.step(np.asarray(network(P["policy"], one.observe())))
        rows.append((CONTROL * (k + 1), one.q[0, 0], one.q[0, 2], *one.heights[0]))
        if fell[0]:
            break
    return np.array(rows)


def touchdowns(heights: np.ndarray) -> int:
    """Return how often a foot lands after a lift of at least 1 cm, given its heights."""
    state = np.select([heights > 0.01, heights < 1e-3], [1, 0], -1)
    state = state[state >= 0]
    return int((np.diff(state) < 0).sum())
