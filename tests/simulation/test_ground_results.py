"""Results of simulations on a ground: samples, touch-downs, files, pictures; functions that fail."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support import grounds
from support.messages import raises

import pin_clusters as pc

pytestmark = grounds.NEEDED


def drop(dt: float = 1e-3, duration: float = 0.12, tau: Any = None, **more: Any) -> pc.SimulationResult:
    """A quadruped that falls 20 mm."""
    model, _ = grounds.robot("mini_cheetah")
    feet = grounds.feet("mini_cheetah")
    home = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, touching=feet, above=0.02)
    tau = grounds.held(model, home, 60.0, 1.5) if tau is None else tau
    return pc.simulate(model, q, np.zeros(18), tau, duration, dt, ground=pc.Ground(), touching=feet, **more)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3, 5e-3])
def test_each_foot_lands_once_whatever_the_step(dt: float) -> None:
    r = drop(dt)
    assert sorted(t.body for t in r.touchdowns) == sorted(r.bodies)
    span = max(2e-3, 1.5 * dt)
    for t in r.touchdowns:
        b, first = r.bodies.index(t.body), round(t.time / dt)
        assert abs(t.time - np.sqrt(0.04 / 9.81)) < 3 * dt
        own = r.contact_impulses[first:, b][r.time[first:] - t.time < span - 1e-12]
        assert np.abs(own.sum(axis=0) - t.impulse).max() < 1e-12
        assert r.contact_impulses[first, b, 2] > 0.0
        assert not r.contact_impulses[:first, b].any()
        assert abs(t.point[2]) < 2e-3


def test_impulses_of_landings_do_not_depend_on_where_in_a_step_they_are() -> None:
    """The first step takes only what is left to the ground from it; two take all of the impact."""
    sums = [sum(t.impulse[2] for t in drop(1e-3, tau=None, record=1).touchdowns)]
    sums += [sum(t.impulse[2] for t in drop(dt).touchdowns) for dt in (0.97e-3, 0.93e-3, 0.9e-3)]
    assert np.ptp(sums) < 0.25 * max(sums)


@pytest.mark.parametrize("every", [3, 7])
def test_samples_add_up_steps(every: int) -> None:
    all_of_it, some = drop(), drop(record=every)
    assert np.abs(some.contact_impulses.sum(axis=0) - all_of_it.contact_impulses.sum(axis=0)).max() < 1e-12
    assert abs(some.contact_work.sum() - all_of_it.contact_work.sum()) < 1e-12
    for k in range(len(some.time) - 1):
        own = all_of_it.contact_impulses[every * k : every * (k + 1)].sum(axis=0)
        assert np.abs(some.contact_impulses[k] - own).max() < 1e-13
        assert np.array_equal(some.gap[k], all_of_it.gap[every * k : every * (k + 1)].min(axis=0))
    assert np.array_equal(some.q, all_of_it.q[np.r_[0 : len(all_of_it.time) - 1 : every, -1]])
    assert some.touchdowns == all_of_it.touchdowns


def test_files_keep_everything(tmp_path: Any) -> None:
    r = drop(limits="effort")
    r.to_npz(tmp_path / "drop.npz")
    for again in (pc.SimulationResult.from_npz(tmp_path / "drop.npz"), pickle.loads(pickle.dumps(r))):
        for name in r.__dataclass_fields__:
            before, after = getattr(r, name), getattr(again, name)
            if isinstance(before, np.ndarray):
                assert np.array_equal(before, after, equal_nan=True), name
            else:
                assert before == after, name
    assert r.touchdowns
    r.to_csv(tmp_path / "drop.csv")
    names = (tmp_path / "drop.csv").read_text().splitlines()[0].split(",")
    table = np.loadtxt(tmp_path / "drop.csv", delimiter=",", skiprows=1)
    assert len(names) == table.shape[1] == len(set(names))
    column = dict(zip(names, table.T, strict=True))
    for i, body in enumerate(r.bodies):
        for k, axis in enumerate("xyz"):
            assert np.array_equal(column[f"{body} impulse {axis} [N s]"], r.contact_impulses[:, i, k])
        assert np.array_equal(column[f"{body} gap [m]"], r.gap[:, i])


def test_a_picture_shows_forces(tmp_path: Any) -> None:
    r = drop()
    figure = r.plot(tmp_path / "drop.png")
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    at = titles.index("Vertical contact forces on bodies, averaged between samples")
    lines = figure.axes[at].get_lines()
    assert [line.get_label() for line in lines] == list(r.bodies)
    assert np.allclose(lines[0].get_ydata()[:-1], r.contact_impulses[:-1, 0, 2] / 1e-3)
    assert figure.axes[at].get_ylabel() == "[N]"
    flying = pc.SimulationResult.plot(drop(duration=0.02))
    assert not any("contact" in ax.get_title(loc="left") for ax in flying.axes)


def test_functions_that_fail_keep_what_was_computed() -> None:
    calls: list[float] = []

    def fails(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        calls.append(t)
        if t > 0.0795:
            raise ValueError("no torque today")
        return np.zeros(18)

    def nan(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.full(18, np.nan if t > 0.0795 else 0.0)

    for f, says in ((fails, "tau t 0.08 ValueError"), (nan, "tau nan")):
        with raises(pc.SimulationError, says) as caught:
            drop(tau=f)
        r = caught.value.result
        assert r is not None
        assert 79 <= len(r.time) <= 81
        assert r.contact_impulses.any()
        assert np.isfinite(r.q).all()
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert np.array_equal(again.result.contact_impulses, r.contact_impulses)
    assert sorted(set(calls)) == calls[: len(set(calls))]


def test_a_function_is_asked_once_per_step_and_may_write_on_what_it_gets() -> None:
    times: list[float] = []

    def writes(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        times.append(t)
        q[:], v[:] = np.nan, 1e9
        return np.zeros(18)

    r, clean = drop(tau=writes), drop(tau=lambda t, q, v: np.zeros(18))
    assert np.array_equal(r.q, clean.q)
    assert np.array_equal(times, r.time[:-1])


def test_once_also_where_independent_joints_change() -> None:
    """A crank turns through a dead centre of its rocker, which was independent; it has stops far off."""
    model, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])
    times: list[float] = []

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        times.append(t)
        return [0.1]

    r = pc.simulate(model, pc.neutral(model), [3.0], tau, 0.3, 1e-3, limits="position")
    assert r.switches
    assert not r.limit_impulses.any()
    assert len(times) == len(set(times)) == 300
    exact = pc.simulate(model, pc.neutral(model), [3.0], [0.1], 0.3, 1e-4)
    assert np.abs(r.q[-1] - exact.q[-1]).max() < 1e-3


def test_an_answer_that_is_kept_is_not_changed() -> None:
    kept = np.zeros(18)

    def same(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        kept[6] = 0.5 * np.sin(40.0 * t)
        return kept

    r = drop(tau=same, limits="effort")
    assert np.abs(r.tau[:-1, 6] - 0.5 * np.sin(40.0 * r.time[:-1])).max() < 1e-12


def test_ctrl_c_keeps_contacts() -> None:
    def stop(done: int, total: int) -> None:
        if done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        drop(progress=stop)
    assert caught.value.result.contact_impulses.any()
    assert pickle.loads(pickle.dumps(caught.value)).result.touchdowns
