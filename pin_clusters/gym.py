"""A ``gymnasium.vector.VectorEnv`` whose environments are the worlds of ``pc.Worlds``; requires the extra ``rl``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._support.arrays import real, whole_number
from .errors import ArgumentTypeError, ShapeError, SimulationError
from .worlds import Worlds

Arrays = Callable[[Worlds], np.ndarray]


class WorldsEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Reinforcement-learning environments that step side by side.

    An action is an offset of the target positions: targets = q0 + ``scale`` * action, where q0 are the joint positions
    of the initial configuration. Without a drive, targets are torques: torques = ``scale`` * action.

    Autoreset follows Gymnasium's default, ``AutoresetMode.NEXT_STEP``: if an episode ends, the next step ignores the
    action of this world, resets it, and returns reward 0. A world whose ``status`` is not 0 ends its episode.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> worlds = pc.Worlds(pc.load("mit_humanoid_leg"), 8, substeps=5, drive=pc.Drive(50.0, 1.0))
        >>> env = pc.gym.WorldsEnv(
        ...     worlds,
        ...     observe=lambda w: np.concatenate([w.q, w.v], axis=1),
        ...     reward=lambda w, actions: -np.abs(w.v).sum(axis=1),
        ... )
        >>> observations, _ = env.reset(seed=0)
        >>> observations, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
        >>> observations.shape, rewards.shape, bool(terminated.any())
        ((8, 15), (8,), False)
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012 (as in the base class)

    def __init__(
        self,
        worlds: Worlds,
        *,
        observe: Arrays,
        reward: Callable[[Worlds, np.ndarray], np.ndarray],
        terminated: Arrays | None = None,
        start: Callable[[Worlds, np.ndarray, np.random.Generator], None] | None = None,
        scale: float = 1.0,
        most: float = 1.0,
        max_steps: int = 500,
    ) -> None:
        """Create the environments.

        Args:
            worlds: The worlds; the environment steps and resets them.
            observe: Function that returns the observations, shape (N, n).
            reward: Function of the worlds and the actions that returns the rewards, shape (N,).
            terminated: Function that returns which episodes have ended, shape (N,), bool.
            start: Function (worlds, mask, generator) that randomizes the worlds of the mask after their reset.
            scale: Factor of the actions, [rad], [m], [N m] or [N].
            most: Largest absolute value of an action; larger actions are clipped.
            max_steps: Number of control steps after which an episode is truncated.
        """
        if not isinstance(worlds, Worlds):
            raise ArgumentTypeError(f"WorldsEnv: worlds must be pc.Worlds, got {type(worlds).__name__}.")
        for name, value in (("scale", scale), ("most", most)):
            if (number := real(value)) is None or not 0.0 < number < np.inf:
                raise SimulationError(f"WorldsEnv: {name} must be positive and finite, got {value!r}.")
        self.worlds, self.num_envs = worlds, worlds.n
        self._observe, self._reward, self._terminated, self._start = observe, reward, terminated, start
        self._scale, self._most, self._steps = (
            float(scale),
            float(most),
            whole_number("WorldsEnv: max_steps", max_steps, 1),
        )
        self._base = worlds.rest
        self._age, self._done = np.zeros(worlds.n, dtype=np.int64), np.zeros(worlds.n, dtype=bool)
        size = self._observations().shape[1]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(-self._most, self._most, (worlds.nu,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, worlds.n)
        self.action_space = batch_space(self.single_action_space, worlds.n)

    def _observations(self) -> np.ndarray:
        observations = np.asarray(self._observe(self.worlds), dtype=np.float32)
        if observations.ndim != 2 or len(observations) != self.num_envs:
            raise ShapeError(
                f"WorldsEnv: observe returned shape {observations.shape}, expected ({self.num_envs}, n): one row per "
                "world."
            )
        return observations

    def _of_worlds(self, name: str, x: Any, kind: type) -> np.ndarray:
        array = np.asarray(x)
        if array.shape != (self.num_envs,):
            raise ShapeError(f"WorldsEnv: {name} returned shape {array.shape}, expected ({self.num_envs},).")
        return array.astype(kind)

    def _begin(self, mask: np.ndarray) -> None:
        self.worlds.reset(mask)
        if self._start is not None and mask.any():
            self._start(self.worlds, mask, self.np_random)
        self._age[mask], self._done[mask] = 0, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all worlds; ``seed`` sets the generator that ``start`` receives."""
        super().reset(seed=seed)
        self._begin(np.ones(self.num_envs, dtype=bool))
        return self._observations(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by a control step, and reset worlds whose episode has ended in the previous step."""
        given = np.asarray(actions, dtype=float)
        if given.shape != (self.num_envs, self.worlds.nu):
            raise ShapeError(
                f"WorldsEnv.step: actions have shape {given.shape}, expected ({self.num_envs}, {self.worlds.nu})."
            )
        begun, clipped = self._done.copy(), np.clip(given, -self._most, self._most)
        self.worlds.step(self._base + self._scale * clipped)
        if begun.any():
            self._begin(begun)
        self._age[~begun] += 1
        failed = self.worlds.status != 0
        with np.errstate(all="ignore"):  # rows that have failed may contain numbers of any size
            rewards = self._of_worlds("reward", self._reward(self.worlds, clipped), float)
            ended = np.zeros(self.num_envs, dtype=bool)
            if self._terminated is not None:
                ended = self._of_worlds("terminated", self._terminated(self.worlds), bool)
        terminations = (ended | failed) & ~begun
        truncations = (self._age >= self._steps) & ~terminations & ~begun
        self._done = terminations | truncations
        rewards[begun | ~np.isfinite(rewards)] = 0.0
        return self._observations(), rewards, terminations, truncations, {"status": self.worlds.status.copy()}
