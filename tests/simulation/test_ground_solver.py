"""What Pinocchio's solvers do not look at, each behind a guard of ours; every test fails without its guard."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import grounds

import pin_clusters as pc
from pin_clusters.simulation.ground import solver as solvers

pytestmark = grounds.NEEDED


def solve(G: np.ndarray, g: np.ndarray, mu: list[float], solver: solvers.Impulses | None = None) -> np.ndarray:
    return (solver or solvers.Impulses()).solve(np.array(G), np.array(g), np.array(mu))


def missed(G: np.ndarray, g: np.ndarray, mu: list[float], l: np.ndarray) -> float:
    """By how much a law is missed, in velocities; written apart from the package."""
    u, worst = G @ l + g, 0.0
    scale = len(g) / np.trace(G)
    for i, m in enumerate(mu):
        push, rate = l[3 * i : 3 * i + 3] / scale, u[3 * i : 3 * i + 3]
        slide, side = np.hypot(*rate[:2]), np.hypot(*push[:2])
        worst = max(worst, side - m * push[2], -rate[2], min(push[2], abs(rate[2])))
        if slide > 1e-6:  # against the motion, on the cone
            worst = max(worst, np.abs(push[:2] + m * push[2] * rate[:2] / slide).max())
    for x, rate in zip(l[3 * len(mu) :] / scale, u[3 * len(mu) :], strict=True):
        worst = max(worst, -x, -rate, min(x, abs(rate)))
    return float(worst)


def soles(rng: np.random.Generator, points: int, legs: int) -> np.ndarray:
    """Redundant points on bodies of six freedoms, of unlike masses."""
    root = rng.normal(size=(6 * legs, 6 * legs)) + 3.0 * np.eye(6 * legs)
    J = np.zeros((3 * points, 6 * legs))
    for i in range(points):
        x = np.r_[0.1 * rng.normal(size=2), 0.0]
        at = 6 * (i % legs)
        J[3 * i : 3 * i + 3, at : at + 3], J[3 * i : 3 * i + 3, at + 3 : at + 6] = np.eye(3), -pin.skew(x)
    A = J @ root
    return A @ A.T / (6 * legs)


def test_no_rows_and_what_cannot_move() -> None:
    """ADMM on no rows ends the process; a matrix of zeros divides by its trace."""
    assert solve(np.zeros((0, 0)), np.zeros(0), []).shape == (0,)
    assert np.array_equal(solve(np.zeros((3, 3)), np.array([0.0, 0.0, -1.0]), [0.5]), np.zeros(3))


@pytest.mark.parametrize(("contacts", "stops"), [(1, 0), (0, 1), (0, 5), (3, 0), (2, 3)])
def test_rows_of_all_sets_are_those_of_the_matrix(contacts: int, stops: int) -> None:
    """Sizes are not checked there: with too few sets all is called solved. Each row falls by itself here."""
    n = 3 * contacts + stops
    g = np.linspace(-2.0, -1.0, n)
    l = solve(np.eye(n), g, [9.0] * contacts)
    assert np.abs(l + g).max() < 1e-6
    models, datas = solvers.Impulses().sets(np.full(contacts, 0.5), stops)
    assert len(models) == len(datas) == contacts + bool(stops)
    assert sum(m.residualSize() for m in models) == n


@pytest.mark.parametrize("where", ["G", "g"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_is_no_solution(where: str, value: float) -> None:
    """PGS calls it converged."""
    G, g = np.eye(3), np.array([0.0, 0.0, -1.0])
    (G if where == "G" else g)[-1] = value
    with pytest.raises(FloatingPointError):
        solve(G, g, [0.5])


def test_impulses_that_are_nan_are_none() -> None:
    """ADMM's of Painleve's rod: NaN is beyond no tolerance."""
    G = np.array([[26.0, 0.0, 0.0], [0.0, 10.65997381633641, -12.173095385977444], [0.0, -12.173095385977444, 16.34]])
    with pytest.raises(solvers.NotSolved):
        solve(G, np.array([0.0, -5.0, -0.00981]), [8.0])
    assert solvers.distance(np.full(3, np.nan), np.zeros(3), np.ones(1)) == np.inf
    assert solvers.distance(np.full(1, np.nan), np.zeros(1), np.zeros(0)) == np.inf


def test_a_contact_that_is_heavy_along_one_tangent() -> None:
    """PGS steps by the lighter one and does not converge beyond a ratio of 2: it alone has to, here."""
    solver = solvers.Impulses()
    solver._stages = solver._stages[:1]
    G, g = np.diag([1.0, 5.0, 1.0]), np.array([0.1, 0.2, -1.0])
    l = solve(G, g, [0.5], solver)
    assert np.abs(l - [-0.1, -0.04, 1.0]).max() < 1e-6
    turn = pin.utils.rotate("z", 0.6)
    l = solve(turn @ G @ turn.T, turn @ g, [0.5], solver)
    assert np.abs(turn.T @ l - [-0.1, -0.04, 1.0]).max() < 1e-6


def test_little_progress_is_no_solution() -> None:
    """PGS says converged when impulses change by less than a relative tolerance, whatever is left."""
    rng, worst, late = np.random.default_rng(0), 0.0, 0
    for _ in range(60):
        G = soles(rng, 6, 2)
        g = rng.normal(size=18) - np.tile([0.0, 0.0, 1.0], 6)
        solver = solvers.Impulses()
        l = solve(G, g, [0.7] * 6, solver)
        late += solver.iterations > 100
        worst = max(worst, missed(G, g, [0.7] * 6, l))
    assert worst < 1e-5
    assert late > 5  # PGS alone would not have done


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_tolerances_are_velocities_whatever_the_mass(size: float) -> None:
    """They mix N s, m/s and J: a flea or a ship has the same velocities."""
    rng = np.random.default_rng(4)
    G, g = soles(rng, 4, 1), rng.normal(size=12) - np.tile([0.0, 0.0, 1.0], 4)
    l = solve(G * size, g, [0.5] * 4)
    assert missed(G * size, g, [0.5] * 4, l) < 2e-6
    assert np.abs(size * G @ l - G @ solve(G, g, [0.5] * 4)).max() < 2e-6


def test_a_solver_keeps_nothing_of_the_problem_before() -> None:
    """ADMM leaves its damping in an operator, and a guess of another size raises."""
    rng, solver = np.random.default_rng(7), solvers.Impulses()
    hard = 0
    for n in (6, 1, 4, 6, 2, 6):
        G, g = soles(rng, n, 2), rng.normal(size=3 * n) - np.tile([0.0, 0.0, 1.0], n)
        l, fresh = solve(G, g, [0.7] * n, solver), solve(G, g, [0.7] * n)
        hard += solver.iterations > 100
        assert missed(G, g, [0.7] * n, l) < 1e-5
        assert np.abs(G @ (l - fresh)).max() < 1e-4
    assert hard


def test_each_contact_has_its_own_friction() -> None:
    """A set that was appended is a copy: friction has to be there before."""
    solver = solvers.Impulses()
    for mu in ([0.1, 0.9], [0.9, 0.1], [0.0, 0.3]):
        l = solve(np.eye(6), np.array([5.0, 0.0, -1.0] * 2), mu, solver)
        assert np.abs(l.reshape(2, 3) - [[-m, 0.0, 1.0] for m in mu]).max() < 1e-6


def test_a_guess_is_used_each_time() -> None:
    """It is forgotten by each call."""
    rng, solver = np.random.default_rng(5), solvers.Impulses()
    G, g = soles(rng, 3, 3), rng.normal(size=9) - np.tile([0.0, 0.0, 1.0], 3)
    l = solve(G, g, [0.6] * 3, solver)
    assert solver.iterations > 8
    for _ in range(3):
        solver.solve(G, g, np.full(3, 0.6), l)
        assert solver.iterations <= 3


def test_the_guess_may_be_far_off() -> None:
    rng, solver = np.random.default_rng(2), solvers.Impulses()
    for _ in range(20):
        G, g = soles(rng, 4, 2), rng.normal(size=12) - np.tile([0.0, 0.0, 1.0], 4)
        l = solver.solve(G, g, np.full(4, 0.6), 1e3 * rng.normal(size=12))
        assert missed(G, g, [0.6] * 4, l) < 1e-5


def test_what_has_no_solution_is_said() -> None:
    """Two stops close on one joint from both sides."""
    with pytest.raises(solvers.NotSolved) as caught:
        solve(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0]), [])
    assert caught.value.worst > 0.1
    assert caught.value.iterations > 100


def test_redundant_points_have_one_velocity() -> None:
    """No compliance is put on the diagonal: forces are not unique, velocities of what sticks are."""
    rng = np.random.default_rng(3)
    x = 0.1 * rng.normal(size=(32, 3)) * [1.0, 1.0, 0.0]
    J = np.concatenate([np.hstack([np.eye(3), -pin.skew(p)]) for p in x])
    G, g = J @ J.T, J @ np.array([0.1, 0.0, -1.0, 0.2, 0.1, 0.0])
    l = solve(G, g, [0.9] * 32)
    assert np.abs(G @ l + g).max() < 1e-5
    total = J.T @ l
    assert np.abs(total - [-0.1, 0.0, 1.0, -0.2, -0.1, 0.0]).max() < 1e-4
    assert np.isfinite(l).all()
    assert pc.Ground().friction == 0.8
