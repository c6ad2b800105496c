"""``pc.Worlds``: batches of traced steps, resets, status, threads, and the comparison with ``pc.simulate``."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from worlds.robots import GAINS, robot

import pin_clusters as pc

NAME = "mini_cheetah"


def worlds_of(n: int, **options: Any) -> pc.Worlds:
    of = robot(NAME)
    options = {"dt": 2e-3, "substeps": 4, "drive": pc.Drive(*GAINS[NAME]), "q": of.q} | options
    return pc.Worlds(of.model, n, ground=pc.Ground(0.7), touching=of.feet, **options)


def standing(worlds: pc.Worlds) -> np.ndarray:
    """Return the joint positions of the initial configuration."""
    tree, model = worlds.model.own_tree, worlds.model
    return worlds.q[0, [tree.joints[model.getJointId(x)].idx_q for x in model.independent_joints[1:]]].copy()


@pytest.mark.ci
def test_robots_stand_and_the_control_step_is_that_of_simulate() -> None:
    worlds, rng = worlds_of(20, limits="effort"), np.random.default_rng(1)
    base = standing(worlds)
    for _ in range(25):
        worlds.step(base + 0.1 * rng.uniform(-1.0, 1.0, (20, worlds.nu)))
    assert not worlds.status.any()
    assert worlds.in_contact.any(axis=1).mean() > 0.9
    assert (worlds.q[:, 2] > 0.8 * robot(NAME).q[2]).all()
    assert worlds.violation.max() < 1e-2
    before = worlds.state()
    # ten sweeps leave 1e-4 m/s at a foot, which is 1e-3 rad/s at a joint, and at most ten times more after four steps
    for difference in worlds.exact([0, 7, 19]):
        assert difference.v < 1e-2
        assert difference.q < 1e-4
        assert difference.status == 0
    after = worlds.state()
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.ci
def test_wrong_physics_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """``exact`` must fail for worlds with another friction: the test above can fail."""
    worlds, rng = worlds_of(8), np.random.default_rng(1)
    base = standing(worlds)
    v = np.zeros(worlds.model.nv)
    v[0] = 1.0  # the feet slide
    worlds.reset(v=v)
    for _ in range(5):
        worlds.step(base + 0.1 * rng.uniform(-1.0, 1.0, (8, worlds.nu)))
    assert max(d.v for d in worlds.exact([0, 1, 2])) < 2e-2
    monkeypatch.setitem(worlds._options, "ground", pc.Ground(0.3))
    assert max(d.v for d in worlds.exact([0, 1, 2])) > 0.05


@pytest.mark.ci
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.long)])
def test_the_results_do_not_depend_on_threads_and_neighbours(dtype: str) -> None:
    rng = np.random.default_rng(0)
    n = 150
    one, two, few = worlds_of(n, dtype=dtype), worlds_of(n, dtype=dtype, threads=3), worlds_of(7, dtype=dtype)
    base = standing(one)
    for _ in range(5):
        targets = base + 0.2 * rng.uniform(-1.0, 1.0, (n, 12))
        one.step(targets)
        two.step(targets)
        few.step(targets[50:57])
    for name in one.state():
        assert (one.state()[name] == two.state()[name]).all()
        assert (one.state()[name][50:57] == few.state()[name]).all()
    assert one.q.dtype == np.dtype(dtype)


@pytest.mark.ci
def test_a_world_that_fails_keeps_its_state_until_reset() -> None:
    worlds = worlds_of(5)
    base = np.tile(standing(worlds), (5, 1))
    worlds.step(base)
    before = worlds.q.copy()
    bad = base.copy()
    bad[2, 3] = np.nan
    worlds.step(bad)
    assert worlds.status.tolist() == [0, 0, 3, 0, 0]
    assert (worlds.q[2] == before[2]).all()
    assert (worlds.q[[0, 1, 3, 4]] != before[[0, 1, 3, 4]]).any(axis=1).all()
    worlds.step(base)
    assert worlds.status[2] == 3
    assert (worlds.q[2] == before[2]).all()
    worlds.reset(worlds.status != 0)
    worlds.step(base)
    assert not worlds.status.any()


def test_a_diverging_world_gets_a_status() -> None:
    worlds = worlds_of(3)
    v = np.zeros((3, worlds.model.nv))
    v[1] = 1e9
    worlds.reset(v=v)
    worlds.step(np.tile(standing(worlds), (3, 1)))
    assert worlds.status.tolist() == [0, 3, 0]


def test_reset_of_some_rows() -> None:
    worlds = worlds_of(4)
    base = np.tile(standing(worlds), (4, 1))
    worlds.step(base)
    kept, mask = worlds.q[[0, 2]].copy(), np.array([False, True, False, True])
    q = np.tile(robot(NAME).q, (4, 1))
    q[:, 2] += [0.1, 0.2, 0.3, 0.4]
    worlds.reset(mask, q=q, v=np.full(worlds.model.nv, 0.5))
    assert (worlds.q[[0, 2]] == kept).all()
    assert (worlds.q[[1, 3]] == q[[1, 3]]).all()
    assert (worlds.v[[1, 3]] == 0.5).all()
    assert not worlds.contact_impulses[[1, 3]].any()


@pytest.mark.ci
def test_reset_closes_loops() -> None:
    of = robot("tello")
    worlds = pc.Worlds(of.model, 3, ground=pc.Ground(), touching=of.feet, drive=pc.Drive(*GAINS["tello"]), q=of.q)
    change = np.r_[np.zeros(6), 0.2 * np.random.default_rng(0).uniform(-1.0, 1.0, of.model.nv - 6)]
    independent = {of.model.own_tree.joints[j].idx_q for j in map(of.model.getJointId, of.model.independent_joints)}
    q, moved = of.q.copy(), pc.integrate(of.model, of.q, change)
    q[list(independent)] = moved[list(independent)]  # the loops are open now
    assert np.abs(pc.residual(of.model, q)).max() > 1e-2
    worlds.reset(np.array([True, False, True]), q=q)
    assert np.abs(pc.residual(of.model, worlds.q[0])).max() < 1e-9
    np.testing.assert_allclose(worlds.q[2][list(independent)], moved[list(independent)], atol=1e-12)
    worlds.step()
    assert worlds.residual.max() < 1e-12
    assert not worlds.status.any()


@pytest.mark.ci
def test_varied_quantities() -> None:
    vary = ("gains", "strength", "friction", "wrench", "inertial", "delay")
    worlds = worlds_of(6, vary=vary, drive=pc.Drive(*GAINS[NAME], limit="motor"))
    rng, base = np.random.default_rng(2), standing(worlds)
    worlds.friction[:] = rng.uniform(0.3, 1.0, 6)
    worlds.kp[:] *= rng.uniform(0.8, 1.2, (6, 1))
    worlds.strength[:] = rng.uniform(0.7, 1.0, (6, 1))
    worlds.inertial[:] *= rng.uniform(0.9, 1.1, (6, 1))
    worlds.delay[:] = [0, 1, 2, 3, 4, 0]
    for _ in range(5):
        worlds.step(base + 0.1 * rng.uniform(-1.0, 1.0, (6, 12)))
    for difference in worlds.exact(range(6)):
        assert difference.v < 2e-2
        assert difference.status == 0
    v = worlds.v.copy()
    worlds.wrench[0, 0] = 100.0
    worlds.step()
    assert worlds.v[0, 0] > v[0, 0] + 0.05


@pytest.mark.ci
def test_saving_restoring_and_pickling() -> None:
    worlds = worlds_of(9, vary="friction")
    worlds.friction[:] = np.linspace(0.2, 1.0, 9)
    base = np.tile(standing(worlds), (9, 1))
    worlds.step(base)
    state, copy = worlds.state(), pickle.loads(pickle.dumps(worlds))
    worlds.step(base + 0.1)
    copy.step(base + 0.1)
    assert all((worlds.state()[name] == copy.state()[name]).all() for name in state)
    worlds.restore(state)
    worlds.step(base + 0.1)
    assert all((worlds.state()[name] == copy.state()[name]).all() for name in state)


def test_torques_without_a_drive() -> None:
    of = robot(NAME)
    worlds = pc.Worlds(of.model, 2, dt=1e-3)
    assert worlds.nu == of.model.nv
    tau = np.zeros((2, worlds.nu))
    tau[1, 8] = 1.0
    worlds.step(tau)
    a = [pc.aba(of.model, of.model.createData(), worlds.q0, np.zeros(worlds.nu), x) for x in tau]
    np.testing.assert_allclose(worlds.v / 1e-3, a, rtol=1e-2, atol=1e-2)  # over a step of 1 ms


def test_no_memory_is_allocated() -> None:
    import tracemalloc

    worlds = worlds_of(64)
    targets = np.tile(standing(worlds), (64, 1))
    worlds.step(targets)
    tracemalloc.start()
    for _ in range(20):
        worlds.step(targets)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000  # a single array of targets has 6 kB, all arrays of these worlds 56 kB


@pytest.fixture(scope="module")
def three() -> pc.Worlds:
    return worlds_of(3)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda w: w.reset([1, 2]), pc.ArgumentTypeError),
        (lambda w: w.reset(np.ones(2, dtype=bool)), pc.ShapeError),
        (lambda w: w.reset(q=np.zeros(3)), pc.ShapeError),
        (lambda w: w.reset(q=np.full(w.model.nq, np.nan)), pc.SimulationError),
        (lambda w: w.step(np.zeros((2, 12))), pc.ShapeError),
        (lambda w: w.exact([3]), pc.SimulationError),
        (lambda w: w.restore({}), pc.ShapeError),
        (lambda w: setattr(w, "q", 1.0), AttributeError),
        (lambda w: w.nope, AttributeError),
        (lambda w: worlds_of(0), pc.ArgumentTypeError),
        (lambda w: worlds_of(2, dtype="int32"), pc.ArgumentTypeError),
        (lambda w: worlds_of(2, substeps=0), pc.ArgumentTypeError),
        (lambda w: worlds_of(2, vary="nope"), pc.UnknownNameError),
        (lambda w: worlds_of(10**9), pc.TooLargeError),
        (lambda w: worlds_of(2, q=np.zeros(4)), pc.ShapeError),
    ],
)
def test_bad_input(call: Any, error: type[Exception], three: pc.Worlds) -> None:
    with pytest.raises(error):
        call(three)


@pytest.mark.ci
def test_a_delay_must_fit_into_a_control_step() -> None:
    worlds = worlds_of(2, vary="delay")
    worlds.delay[1] = 5
    with pytest.raises(pc.SimulationError):
        worlds.step()
