"""The Gymnasium environment of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worlds.robots import GAINS, robot

import pin_clusters as pc

pytestmark = pytest.mark.ci
gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install '.[rl]'")
NAME = "mini_cheetah"


def env_of(n: int, **options: Any) -> Any:
    of = robot(NAME)
    worlds = pc.Worlds(
        of.model, n, ground=pc.Ground(), touching=of.feet, dt=2e-3, substeps=10, drive=pc.Drive(*GAINS[NAME]), q=of.q,
        dtype="float32",
    )  # fmt: skip

    def start(worlds: pc.Worlds, mask: np.ndarray, rng: np.random.Generator) -> None:
        worlds.v[mask, :3] = 0.1 * rng.standard_normal((int(mask.sum()), 3))

    options = {
        "observe": lambda w: np.concatenate([w.q[:, 2:], w.v], axis=1),
        "reward": lambda w, actions: w.v[:, 0] - 0.01 * (actions**2).sum(axis=1),
        "terminated": lambda w: w.q[:, 2] < 0.15,
        "start": start,
        "scale": 0.3,
        "max_steps": 20,
    } | options
    return pc.gym.WorldsEnv(worlds, **options)


def test_the_spaces_contain_what_the_environment_returns() -> None:
    env = env_of(6)
    env.action_space.seed(0)
    observations, info = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    assert info == {}
    for _ in range(30):
        observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observations)
        assert rewards.shape == terminated.shape == truncated.shape == (6,)
        assert terminated.dtype == truncated.dtype == bool
        assert not (terminated & truncated).any()
        assert info["status"].shape == (6,)


def test_a_seed_repeats_an_episode() -> None:
    env = env_of(3)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 3, 12)).astype(np.float32)
    runs = []
    for seed in (7, 7, 8):
        first, _ = env.reset(seed=seed)
        runs.append([first, *(env.step(a)[0] for a in actions)])
    assert all((x == y).all() for x, y in zip(runs[0], runs[1], strict=True))
    assert any((x != y).any() for x, y in zip(runs[0], runs[2], strict=True))


def test_the_next_step_resets() -> None:
    env = env_of(4, max_steps=3)
    first, _ = env.reset(seed=0)
    zeros = np.zeros((4, 12), dtype=np.float32)
    for _ in range(2):
        *_, truncated, _ = env.step(zeros)
        assert not truncated.any()
    *_, truncated, _ = env.step(zeros)
    assert truncated.all()
    observations, rewards, terminated, truncated, _ = env.step(zeros)  # resets, without a step
    assert not (terminated | truncated).any()
    assert (rewards == 0.0).all()
    np.testing.assert_array_equal(observations[:, :29], first[:, :29])  # the configuration; start changes velocities
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP


def test_a_fall_and_a_failure_terminate() -> None:
    env = env_of(3, terminated=lambda w: np.array([False, True, False]))
    env.reset(seed=0)
    env.worlds.v[2] = 1e9
    _, rewards, terminated, _, info = env.step(np.zeros((3, 12)))
    assert terminated.tolist() == [False, True, True]
    assert info["status"].tolist() == [0, 0, 3]
    assert np.isfinite(rewards).all()
    env.step(np.zeros((3, 12)))
    assert not env.worlds.status.any()


def test_a_wrapper_of_gymnasium_runs() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env_of(4, max_steps=5))
    env.reset(seed=0)
    lengths: list[int] = []
    for _ in range(14):
        *_, info = env.step(np.zeros((4, 12), dtype=np.float32))
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths == [5] * 8


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"observe": lambda w: w.q[0]}, pc.ShapeError),
        ({"scale": -1.0}, pc.SimulationError),
        ({"most": float("nan")}, pc.SimulationError),
        ({"max_steps": 0}, pc.ArgumentTypeError),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        env_of(2, **options)


def test_actions_and_rewards_of_a_wrong_shape() -> None:
    with pytest.raises(pc.ShapeError):
        env_of(2).step(np.zeros(12))
    with pytest.raises(pc.ShapeError):
        env_of(2, reward=lambda w, actions: 1.0).step(np.zeros((2, 12)))
