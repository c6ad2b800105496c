"""Train a quadruped with exact rotors to walk, and replay the policy with `pc.simulate`.

1024 copies of the Mini Cheetah learn by proximal policy optimization (PPO) to walk at 0.5 m/s. An action is an offset
of the joint targets of a PD drive at 50 Hz. The exploration noise decreases during the training, so that the mean
action walks without noise. At the end, `pc.simulate` replays the policy without noise, with a time step of 0.5 ms. Run
`python examples/23_train_walk.py --seconds 240` for a policy that walks; the default only shows that the reward rises.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import pin_clusters as pc

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise SystemExit("This example needs JAX: pip install '.[jax]'") from None

N, STEPS, SUBSTEPS, DT = 1024, 24, 10, 2e-3  # worlds, control steps per update, time steps per control step, [s]
KP, KD, SCALE, SPEED = 30.0, 0.8, 0.3, 0.5  # [N m/rad], [N m s/rad], [rad], [m/s]
GAMMA, LAMBDA, EPOCHS, BATCHES, CLIP = 0.99, 0.95, 4, 4, 0.2
NOISE = 0.5, 0.1  # standard deviation of the actions at the start and at the end of the training
FEET = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]


def down_in_trunk(q: np.ndarray) -> np.ndarray:
    """Return the direction of gravity in axes of the trunk, shape (N, 3)."""
    x, y, z, w = q[:, 3:7].T
    return np.stack([-2 * (x * z - w * y), -2 * (y * z + w * x), -(1 - 2 * (x * x + y * y))], axis=1)


class Walk:
    """The task: observations, rewards and falls of the worlds."""

    def __init__(self, worlds: pc.Worlds) -> None:
        self.worlds, self.base, self.rng = worlds, worlds.rest, np.random.default_rng(0)
        tree, model = worlds.model.own_tree, worlds.model
        self.joints = np.array([tree.joints[model.getJointId(x)].idx_q for x in model.independent_joints[1:]])
        self.actions, self.age = np.zeros((worlds.n, worlds.nu)), self.rng.integers(0, 500, worlds.n)
        self.restart(np.ones(worlds.n, dtype=bool))

    def restart(self, mask: np.ndarray) -> None:
        w, count = self.worlds, int(mask.sum())
        if count:
            w.reset(mask, v=0.1 * self.rng.standard_normal((w.n, w.model.nv)))
            w.friction[mask] = self.rng.uniform(0.5, 1.1, count)
            self.actions[mask], self.age[mask] = 0.0, 0

    def observe(self, q: np.ndarray, v: np.ndarray, actions: np.ndarray) -> np.ndarray:
        parts = (
            down_in_trunk(q),
            2 * v[:, :3],
            0.25 * v[:, 3:6],
            q[:, self.joints] - self.base,
            0.05 * v[:, 6:],
            actions,
        )
        return np.concatenate(parts, axis=1).astype(np.float32)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Apply the actions; return the rewards, which worlds fell, and which episodes ended."""
        w, actions = self.worlds, np.clip(actions, -3.0, 3.0)
        w.step(self.base + SCALE * actions)
        g, v, change = down_in_trunk(w.q), w.v, actions - self.actions
        failed = w.status != 0
        fell = failed | (w.q[:, 2] < 0.13) | (g[:, 2] > -0.6)
        reward = np.exp(-((v[:, 0] - SPEED) ** 2 + v[:, 1] ** 2) / 0.1) + 0.4 * np.exp(-(v[:, 5] ** 2) / 0.25)
        reward -= 0.5 * v[:, 2] ** 2 + 0.03 * (v[:, 3] ** 2 + v[:, 4] ** 2) + 0.01 * (change**2).sum(axis=1)
        reward -= 2e-4 * (v[:, 6:] ** 2).sum(axis=1) + 0.5 * (g[:, 0] ** 2 + g[:, 1] ** 2) + 5 * (w.q[:, 2] - 0.26) ** 2
        reward = np.where(failed, 0.0, np.clip(reward, -2.0, 2.0)) - 2.0 * fell
        self.actions, self.age = actions, self.age + 1
        ended = fell | (self.age >= 500)
        self.restart(ended)
        return reward.astype(np.float32), fell, ended


def layers(key: Any, sizes: tuple[int, ...]) -> list[Any]:
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [1.0] * (len(sizes) - 2) + [0.05]
    pairs = zip(keys, sizes[:-1], sizes[1:], gains, strict=True)
    return [(g * jax.random.normal(k, (m, n)) / np.sqrt(m), jnp.zeros(n)) for k, m, n, g in pairs]


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


def train(task: Walk, seconds: float) -> tuple[Any, np.ndarray]:
    """Return the parameters after the given CPU time, and rows of CPU time [s], mean reward and mean speed [m/s]."""
    begin, history, rng = time.process_time(), list[tuple[float, float, float]](), np.random.default_rng(1)
    size, nu = task.observe(task.worlds.q, task.worlds.v, task.actions).shape[1], task.worlds.nu
    keys = jax.random.split(jax.random.key(0), 3)
    P = {"policy": layers(keys[0], (size, 96, 64, nu)), "value": layers(keys[1], (size, 96, 64, 1))}
    M = V = jax.tree.map(jnp.zeros_like, P)
    key, t, rate = keys[2], 0, 1e-3
    while (used := time.process_time() - begin) < seconds:
        noise = NOISE[0] * (NOISE[1] / NOISE[0]) ** (used / seconds)
        rows = []
        for _ in range(STEPS):
            observations = task.observe(task.worlds.q, task.worlds.v, task.actions)
            key, now = jax.random.split(key)
            actions, before, values = (np.asarray(x) for x in act(P, noise, observations, now))
            rows.append((observations, actions, before, values, *task.step(actions)))
        observations, actions, before, values, reward, fell, ended = (np.stack(x) for x in zip(*rows, strict=True))
        last = np.asarray(act(P, noise, task.observe(task.worlds.q, task.worlds.v, task.actions), key)[2])
        advantages, ahead = np.zeros_like(reward), np.zeros(N, dtype=np.float32)
        for i in reversed(range(STEPS)):
            after = last if i == STEPS - 1 else values[i + 1]
            future = np.where(fell[i], 0.0, np.where(ended[i], values[i], after))  # a time limit is not a fall
            ahead = reward[i] + GAMMA * future - values[i] + GAMMA * LAMBDA * np.where(ended[i], 0.0, ahead)
            advantages[i] = ahead
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        flat = [x.reshape(STEPS * N, *x.shape[2:]) for x in (observations, actions, before, advantages, returns)]
        for _ in range(EPOCHS):
            for part in np.array_split(rng.permutation(STEPS * N), BATCHES):
                t += 1
                P, M, V, divergence = update(P, M, V, t, rate, noise, *(x[part] for x in flat))
        rate = max(1e-4, rate / 1.3) if divergence > 0.02 else min(2e-3, rate * 1.3) if divergence < 0.006 else rate
        history.append((used, float(reward.mean()), float(task.worlds.v[:, 0].mean())))
        if len(history) % 20 == 1:
            steps = len(history) * STEPS * N / 1e6
            print(
                "{:4.0f} s, {:.2f} million control steps: reward {:.2f}, speed {:.2f} m/s".format(
                    used, steps, *history[-1][1:]
                )
            )
    return P, np.array(history)


def replay(task: Walk, P: Any, seconds: float, dt: float) -> np.ndarray:
    """Run the policy without noise on `pc.simulate`; return rows of time, forward position and height until a fall."""
    w, rows, ground, control = task.worlds, list[tuple[float, float, float]](), pc.Ground(0.8), SUBSTEPS * DT
    q, v, actions = w.q0.copy(), np.zeros(w.model.nv), np.zeros((1, w.nu))
    for k in range(round(seconds / control)):
        observation = task.observe(q[None], v[None], actions)
        actions = np.clip(np.asarray(network(P["policy"], observation)), -3.0, 3.0)
        targets = task.base + SCALE * actions[0]

        def pd(t: float, q: np.ndarray, v: np.ndarray, targets: np.ndarray = targets) -> np.ndarray:
            return np.r_[np.zeros(6), KP * (targets - q[task.joints]) - KD * v[6:]]

        every = round(control / dt)
        result = pc.simulate(
            w.model, q, v, pd, control, dt, ground=ground, touching=FEET, limits="effort", record=every
        )
        q, v = result.q[-1], result.v[-1]
        rows.append(((k + 1) * control, q[0], q[2]))
        if q[2] < 0.13:
            break
    return np.array(rows)


def main(seconds: float = 20.0) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load("mini_cheetah")
    bent = np.zeros(model.nv)
    bent[6:] = [{"hip": -0.8, "knee": 1.6}.get(x.split("_")[1], 0.0) for x in model.independent_joints[1:]]
    home = pc.on_ground(model, pc.integrate(model, pc.neutral(model), bent), touching=FEET)
    worlds = pc.Worlds(
        model, N, ground=pc.Ground(0.8), touching=FEET, dt=DT, substeps=SUBSTEPS, sweeps=8, q=home, dtype="float32",
        drive=pc.Drive(KP, KD, limit="motor"), vary=("friction",), threads=2,
    )  # fmt: skip
    task = Walk(worlds)
    P, history = train(task, seconds)
    tenth = max(1, len(history) // 10)
    first, last = history[:tenth, 1].mean(), history[-tenth:, 1].mean()
    print(f"Mean reward: {first:.2f} in the first tenth of the training, {last:.2f} in the last tenth.")
    assert last > first + 0.1
    walk = replay(task, P, 5.0 if seconds > 100.0 else 0.5, 5e-4)
    end = walk[-1]
    print(f"pc.simulate at 0.5 ms, without noise: {end[1]:.2f} m in {end[0]:.1f} s, height {walk[:, 2].min():.2f} m.")
    return {"history": history, "walk": walk}


if __name__ == "__main__":
    main(*(float(x) for x in sys.argv[2:3]))
