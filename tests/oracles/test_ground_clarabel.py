"""Steps on a ground against Clarabel: a second-order cone programme with De Saxce's shift.

Everything is made again from the result: the middle of the step, mass matrix, rows. Velocities after the step are
compared, as impulses of redundant points are not unique. With the shift of the result they are: the programme is
convex. Where redundant points slide and turn, other shifts are solutions too, with velocities apart by 0.04 m/s in
these runs: how the weight is spread is not determined. Where no point is redundant, the shift is found from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy import sparse
from support import grounds
from support.ground_steps import Step, rebuild

import pin_clusters as pc

clarabel = pytest.importorskip("clarabel")

pytestmark = grounds.NEEDED


def shift_of(s: Step, u: np.ndarray, mu: float) -> np.ndarray:
    """mu |u_T| n of each contact."""
    out, k = np.zeros(len(u)), 3 * s.contacts
    out[2:k:3] = mu * np.hypot(u[0:k:3], u[1:k:3])
    return out


def velocity(s: Step, mu: float, shift: np.ndarray, times: int = 1) -> np.ndarray:
    """Return the u of least l' G l / 2 + l' (g + mu |u_T| n) in the cones; stop when the shift is constant."""
    G, g, n = s.G, s.J @ s.free + s.offset, len(s.J)
    G, rest = n / G.trace() * G, n - 3 * s.contacts
    A, cones = np.zeros((n, n)), [clarabel.SecondOrderConeT(3)] * s.contacts
    for i in range(0, 3 * s.contacts, 3):
        A[i, i + 2], A[i + 1, i], A[i + 2, i + 1] = -mu, -1.0, -1.0
    A[3 * s.contacts :, 3 * s.contacts :] = -np.eye(rest)
    cones += [clarabel.NonnegativeConeT(rest)] if rest else []
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    for _ in range(times):
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(G)), g + shift, sparse.csc_matrix(A), np.zeros(n), cones, settings
        )
        u = G @ np.array(solver.solve().x) + g
        change, shift = np.abs(shift - shift_of(s, u, mu)).max(), shift_of(s, u, mu)
        if times == 1 or change < 1e-7:  # a tenth of the tolerance of the comparison
            return u
    raise AssertionError(f"the shift still changes by {change:.0e} after {times} rounds")


def run(name: str, mu: float, limits: Any, seed: int) -> Any:
    model, _ = grounds.robot(name)
    with_trunk = grounds.robot(name)[1]
    rng = np.random.default_rng(seed)
    feet = with_trunk if name == "block" else pc.contact_points(model, grounds.feet(name))
    ground = pc.Ground(mu, (0.1, 0.2, 1.0), 0.5)
    home = pc.neutral(model)
    if name == "mini_cheetah":
        home = pc.integrate(model, home, np.r_[np.zeros(6), np.tile([0.1, -0.8, 1.6], 4)])
    if name == "block":
        home[3:7] = pin.Quaternion(pin.exp3(rng.normal(size=3))).coeffs()
    q = pc.on_ground(model, home, ground, feet, above=0.01)
    v = np.zeros(model.nv)
    v[:6] = rng.normal(size=6)
    v[:3] = pin.Quaternion(q[3:7]).toRotationMatrix().T @ [0.4, -0.3, -1.0]
    held = grounds.held(model, home, *{"tello": (10.0, 0.1), "block": (0.0, 0.0)}.get(name, (60.0, 1.5)))
    return model, feet, ground, pc.simulate(model, q, v, held, 0.3, 1e-3, ground=ground, touching=feet, limits=limits)


@pytest.mark.parametrize(
    ("name", "mu", "limits", "count"),
    [
        ("block", 0.4, False, 20), ("mini_cheetah", 0.6, False, 12), ("mit_humanoid", 0.8, False, 8),
        pytest.param("tello", 0.5, "position", 8),
        pytest.param("cassie", 0.9, "position", 20, marks=pytest.mark.long),
        pytest.param("jvrc1", 0.3, False, 20, marks=pytest.mark.long),
        pytest.param("mini_cheetah", 1.2, False, 60, marks=pytest.mark.long),
        pytest.param("mit_humanoid", 0.2, False, 60, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_each_step_is_that_of_a_cone_programme(name: str, mu: float, limits: Any, count: int) -> None:
    model, points, ground, r = run(name, mu, limits, 3)
    worst = 0.0
    for s in steps(model, points, ground, r, count):
        u = velocity(s, mu, shift_of(s, s.end, mu))
        worst = max(worst, np.abs(u - s.end).max() / max(1.0, np.abs(s.free).max()))
    # laws are kept to 3e-7; where soles or feet of several points slide, velocities follow them some 20 times as far
    assert worst < (
        1e-5 if (name, mu) in {("jvrc1", 0.3), ("mit_humanoid", 0.2), ("cassie", 0.9), ("tello", 0.5)} else 1e-6
    )


def test_where_nothing_is_redundant_from_nothing() -> None:
    model, points, ground, r = run("mini_cheetah", 0.6, False, 3)
    worst = 0.0
    for s in steps(model, points, ground, r, 30):
        u = velocity(s, 0.6, np.zeros(len(s.J)), 1000)
        worst = max(worst, np.abs(u - s.end).max() / max(1.0, np.abs(s.free).max()))
    assert worst < 1e-6


def steps(model: Any, points: Any, ground: Any, r: pc.SimulationResult, count: int) -> Iterator[Step]:
    """Some in which something pushed, with what is near."""
    pushed = np.flatnonzero(r.contact_impulses.any(axis=(1, 2)) | r.limit_impulses.any(axis=1))
    assert len(pushed) >= count
    tree, stops = model.tree, []
    for text in r.stops:
        joint, sign, _ = text.split()
        at = tree.joints[tree.getJointId(joint)].idx_q
        low, high = tree.lowerPositionLimit[at], tree.upperPositionLimit[at]
        stops.append((joint, 1.0, low) if sign == ">" else (joint, -1.0, high))
    for k in pushed[:: max(1, len(pushed) // count)].tolist():
        s = rebuild(model, r, k, points, ground, stops)
        near = s.room < 0.05  # what is far would be open by more than any velocity of a point here
        rows = np.concatenate([np.repeat(near[: s.contacts], 3), np.ones(len(stops), dtype=bool)])
        s.J, s.offset, s.contacts = s.J[rows], s.offset[rows], int(near[: s.contacts].sum())
        yield s
