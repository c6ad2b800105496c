"""Properties of random mechanisms with closed loops: geometry, lengths, axes, rotors and states drawn anew per seed.

Planar loops (also written with 1.5708 for a quarter turn), spatial loops and rods on random trees, Bennett's and
Sarrus' linkage with exact geometry; on the ground and on floating bases, with rotors on joints of the loops.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, trees
from samples.pool import error, slope, step_of
from support.loops import errors
from support.tolerances import BACKWARD, backward

import pin_clusters as pc

X, Y, Z = np.eye(3)
# relative to max(1, largest entry), where K_d is conditioned better than 300
LIMIT = 1e-10
# rows that are dropped miss by the misalignment of the geometry, which the results feel some times over
SLOPPY = 30.0

pytestmark = pytest.mark.jitless


# --- mechanisms -------------------------------------------------------------------------------------------------------


def base_of(b: mechanisms.Builder, rng: np.random.Generator, floating: bool) -> str | None:
    """A free flyer somewhere, or nothing."""
    if not floating:
        return None
    b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3))
    b.pose["base"] = pin.SE3ToXYZQUAT(trees.placement(rng))
    return "base"


def with_rotors(b: mechanisms.Builder, loop: pc.Loop, joints: list[str], base: str | None, n: int, **more: Any) -> Any:
    """One velocity of the loop leads; rotors of any of its joints, on any of its bodies."""
    constraints: list[Any] = [loop]
    mechanisms.add_rotors(b.rng, constraints, joints, n)
    independent = ((base,) if base else ()) + (joints[0],)
    return b.mechanism(constraints, independent, 7 if base else 1, **more)


def bennett(rng: np.random.Generator, *, floating: bool = False, fixed: bool = False) -> mechanisms.Mechanism:
    """Lengths, twists and pose at random, in Bennett's proportions; the place of its ground hinge too."""
    a, alpha, beta = rng.uniform(0.3, 0.7), rng.uniform(0.4, 1.0), rng.uniform(1.1, 1.9)
    c = a * np.sin(beta) / np.sin(alpha)
    first = float(rng.uniform(0.5, 1.2)) * rng.choice([-1.0, 1.0])
    ratio = np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0)
    second = 2.0 * np.arctan(ratio / np.tan(first / 2.0))

    def bar(length: float, twist: float) -> pin.SE3:
        return pin.SE3(np.eye(3), length * X) * pin.SE3(pin.exp3(twist * X), np.zeros(3))

    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    b.add("one", base, Z, ground, first)
    b.add("two", "one", Z, bar(a, alpha), second)
    b.add("three", "two", Z, bar(c, beta), -first)
    joints = ["one", "two", "three"]
    if fixed:
        b.add("four", "three", Z, bar(a, alpha), -second)
        joints.append("four")
        loop = pc.Loop(("four", bar(c, beta)), (base or "universe", ground), "fixed")
    else:
        back = ground * bar(c, beta).inverse()
        loop = pc.Loop(("three", bar(a, alpha)), (base or "universe", back), "revolute", Z)
    return with_rotors(b, loop, joints, base, int(rng.integers(1, 3)), spread=0.25)


def sarrus(rng: np.random.Generator, *, floating: bool = False) -> mechanisms.Mechanism:
    """Two hinged legs of any lengths in planes that meet at any angle: the platform moves along their common line."""
    angle = rng.uniform(0.6, 2.4)
    turn = pin.exp3(angle * Z)
    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    # each leg leans by theta below and by phi above, so that its end is over x = start - drift, at the same height
    theta, low, high, start = rng.uniform(0.4, 0.7), rng.uniform(0.35, 0.5), rng.uniform(0.35, 0.5), 0.3
    phi = np.arcsin(low * np.sin(theta) / high)  # the leg's end is right above its foot
    b.add("a1", base, Y, ground * pin.SE3(np.eye(3), start * X), -theta)
    b.add("a2", "a1", Y, low * Z, theta + phi)
    b.add("platform", "a2", Y, high * Z, -phi)
    top = low * np.cos(theta) + high * np.cos(phi)
    ratio = rng.uniform(0.55, 0.8)  # the second leg: other lengths, the same height
    second = top / (2.0 * np.cos(ratio))
    b.add("b1", base, Y, ground * pin.SE3(turn, turn @ (start * X)), -ratio)
    b.add("b2", "b1", Y, second * Z, 2.0 * ratio)
    # on the platform: where the second leg ends, turned as that leg is
    seat = pin.SE3(turn, turn @ (start * X) - start * X)
    loop = pc.Loop(("b2", second * Z), ("platform", seat), "revolute", Y)
    return with_rotors(b, loop, ["a1", "a2", "platform", "b1", "b2"], base, int(rng.integers(1, 4)), spread=0.15)


def sloppy(rng: np.random.Generator, *, floating: bool = False) -> mechanisms.Mechanism:
    """A planar four-bar, each of whose bodies is turned by a rounded quarter turn."""
    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    turn = pin.SE3(pin.rpy.rpyToMatrix(1.5708, 0.0, 0.0), np.zeros(3))
    lengths = rng.uniform(0.3, 0.4), rng.uniform(0.8, 1.0), rng.uniform(0.6, 0.8)
    b.add("crank", base, Z, ground * turn, rng.uniform(0.2, 1.0))
    b.add("coupler", "crank", Z, lengths[0] * X, -0.9)
    b.add("rocker", base, Y, ground * pin.SE3(np.eye(3), X), 0.3)
    loop = pc.Loop(("coupler", lengths[1] * X), ("rocker", pin.SE3(turn.rotation, lengths[2] * Z)), "revolute", Z)
    return with_rotors(b, loop, ["crank", "coupler", "rocker"], base, int(rng.integers(1, 3)), exact=1e-5)


def planar(rng: np.random.Generator, seed: int) -> mechanisms.Mechanism:
    return mechanisms.random_planar(
        rng, floating=seed % 2 == 1, loops=1 + seed // 2 % 2, rotors=1 + seed % 3, serial=seed % 4 == 3
    )


def spatial(rng: np.random.Generator, seed: int) -> mechanisms.Mechanism:
    return mechanisms.random_mechanism(
        rng, floating=seed % 2 == 1, loops=1 + seed // 4 % 2, rods=seed // 2 % 2, rotors=1 + seed % 3
    )


FAMILIES: dict[str, tuple[Any, int]] = {
    "planar": (planar, 16),
    "spatial": (spatial, 20),
    "bennett": (lambda rng, seed: bennett(rng, floating=seed % 2 == 1, fixed=seed % 4 > 1), 10),
    "sarrus": (lambda rng, seed: sarrus(rng, floating=seed % 2 == 1), 8),
    "sloppy": (lambda rng, seed: sloppy(rng, floating=seed % 2 == 1), 6),
}


class Drawn(NamedTuple):
    m: mechanisms.Mechanism
    model: pc.ClusterModel
    q: np.ndarray  # assembled, by Newton's method of the tests

    @property
    def slack(self) -> float:
        """What inexact geometry adds to errors."""
        return SLOPPY * self.m.exact


@pytest.fixture(
    scope="module", params=[(name, seed) for name in FAMILIES for seed in range(FAMILIES[name][1])],
    ids=lambda p: f"{p[0]}-{p[1]}",
)  # fmt: skip
def drawn(request: pytest.FixtureRequest) -> Drawn:
    name, seed = request.param
    rng = np.random.default_rng([seed, *name.encode()])
    m = FAMILIES[name][0](rng, seed)
    with warnings.catch_warnings():
        if m.exact:  # says that rows are dropped
            warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = m.build()
    assert model.nv == m.nv
    assert set(model.independent_joints) == set(m.independent or ())
    assert model.rotors  # on joints of the loops
    for _ in range(5):
        q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
        if np.abs(pin.difference(model.tree, m.q0, q)).max() > 0.05:  # a direction at random may be short
            break
    return Drawn(m, model, q)


def moved(c: Drawn, rng: np.random.Generator) -> np.ndarray:
    """An assembled pose on the branch, elsewhere; on the rows that the model solves for."""
    q = mechanisms.random_pose(c.model, c.q, rng, 0.3 * c.m.spread, 10.0 * c.m.exact)
    return pc.project(c.model, q) if c.m.exact else q


# --- properties -------------------------------------------------------------------------------------------------------


def test_it_moves(drawn: Drawn) -> None:
    """The states are not all the reference, and its loops do turn."""
    assert np.abs(pin.difference(drawn.model.tree, drawn.m.q0, drawn.q)).max() > 0.02
    G = pc.coupling_jacobian(drawn.model, drawn.model.createData(), drawn.q)
    dependent = np.setdiff1d(np.arange(drawn.model.tree.nv), drawn.model.idx_v_independent)
    assert np.abs(G[dependent]).max() > 1e-3


def test_all_algorithms_are_projection(drawn: Drawn, rng: np.random.Generator) -> None:
    model, data = drawn.model, drawn.model.createData()
    for _ in range(2):
        q = moved(drawn, rng)
        assert mechanisms.condition(model, q) < 1e3
        v, a, tau = rng.normal(size=(3, model.nv))
        fext = 5.0 * rng.normal(size=(model.njoints, 6))
        found = errors(model, q, v, a, 5.0 * tau, fext)
        M, h = pc.crba(model, data, q).copy(), pc.rnea(model, data, q, v, 0.0 * a, fext).copy()
        tau = pc.rnea(model, data, q, v, a, fext).copy()
        # aba inverts rnea: what is judged is the residual where G makes M and tau large
        assert backward(M, pc.aba(model, data, q, v, tau, fext), h, tau) < BACKWARD
        found["aba of rnea"] /= max(1.0, np.linalg.cond(M) / 1e3)
        for name, value in found.items():
            assert value < LIMIT + drawn.slack, (name, value)


def test_g_is_the_slope_of_assembled_motion(drawn: Drawn, rng: np.random.Generator) -> None:
    """Finite differences of the loops closed by the tests' own Newton method; column by column."""
    model, q = drawn.model, moved(drawn, rng)
    G = pc.coupling_jacobian(model, model.createData(), q).copy()
    h = 2e-4 / max(1.0, float(np.abs(G).max()))
    scale = float(np.abs(G).max()) ** 2 + 1.0  # of the curvature of the motion
    for k, e in enumerate(np.eye(model.nv)):
        measured = slope(lambda t, e=e: pin.difference(model.tree, q, mechanisms.move(model, q, t * e)), h)
        assert np.abs(G[:, k] - measured).max() < 1e-7 * scale + drawn.slack


def test_the_bias_is_the_slope_of_the_spanning_velocity(drawn: Drawn, rng: np.random.Generator) -> None:
    model, q = drawn.model, moved(drawn, rng)
    data, v = model.createData(), rng.normal(size=model.nv)
    g = pc.coupling_bias(model, data, q, v).copy()
    h = 2e-4 / max(1.0, float(np.abs(g).max()))
    measured = slope(lambda t: pc.coupling_jacobian(model, data, mechanisms.move(model, q, t * v)) @ v, h)
    assert np.abs(g - measured).max() < 1e-6 * (float(np.abs(g).max()) ** 2 + 1.0) + 10.0 * drawn.slack


def test_integrate_and_difference(drawn: Drawn, rng: np.random.Generator) -> None:
    """The round trip, the same poses as the tests' own motion, and closed by the rule."""
    model, q = drawn.model, moved(drawn, rng)
    q = pc.project(model, q)
    fastest = max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), q)).max()))
    for size in (1e-5, 0.02):
        v = size / fastest * rng.normal(size=model.nv)  # the dependent joints stay off their dead centres
        there = pc.integrate(model, q, v)
        assert np.abs(pc.difference(model, q, there) - v).max() < 1e-12
        own = mechanisms.move(model, q, v)
        # the rows that repeat others are solved for as well there, as far as they go
        assert np.abs(pin.difference(model.tree, own, there)).max() < 1e-9 + drawn.slack
        assert_closed(model, there, drawn.slack)
        back = pc.integrate(model, there, -v)
        if not drawn.m.independent or "base" not in drawn.m.independent:
            assert np.abs(pin.difference(model.tree, q, back)).max() < 1e-9


def assert_closed(model: pc.ClusterModel, q: np.ndarray, slack: float) -> None:
    """The rule: each row below 1e-13 of its scale, times max(1, |q| / 100 rad); by the tests' own rows as well."""
    scales = np.array([row.scale for row in pc.residual_rows(model)])
    allowed = 1e-13 * scales * max(1.0, np.abs(q).max() / 100.0) + slack
    assert np.all(np.abs(pc.residual(model, q)) <= allowed)
    own = mechanisms.residual(model, q)  # couplings, then closures, in the same order and units
    assert np.all(np.abs(own) <= 10.0 * allowed + 1e-15)


def test_project_is_the_nearest_assembled_pose(drawn: Drawn, rng: np.random.Generator) -> None:
    """The change has no part along the manifold, and others nearby are farther away; what is held stays."""
    model, q = drawn.model, moved(drawn, rng)
    tree = model.tree
    for size in (1e-5, 1e-3):
        off = np.array(pin.integrate(tree, q, size * rng.normal(size=tree.nv)))
        closed = pc.project(model, off)
        assert_closed(model, closed, drawn.slack)
        if drawn.m.exact:
            continue
        way = np.array(pin.difference(tree, off, closed))
        Q = np.linalg.qr(pc.coupling_jacobian(model, model.createData(), closed))[0]
        assert np.abs(Q.T @ way).max() < 200.0 * size * np.abs(way).max() + 1e-12
        for _ in range(3):
            # Pythagoras: the way to a neighbour is longer
            step = size * rng.normal(size=model.nv)
            other = np.array(pin.difference(tree, off, pc.integrate(model, closed, step)))
            assert other @ other > way @ way
    held = list(model.independent_joints)
    kept = pc.project(model, off, hold=held)
    assert_closed(model, kept, drawn.slack)
    assert np.abs(pin.difference(tree, off, kept)[model.idx_v_independent]).max() < 1e-15


def test_power_is_the_rate_of_the_energy(drawn: Drawn, rng: np.random.Generator) -> None:
    model, q = drawn.model, moved(drawn, rng)
    q = pc.project(model, q)
    v, a = rng.normal(size=(2, model.nv))
    data = model.createData()
    tau = pc.rnea(model, data, q, v, a).copy()
    h, rate = step_of(model, q, v)

    def energy(t: float) -> float:
        return pc.computeMechanicalEnergy(model, data, pc.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a)

    scale = np.abs(tau) @ np.abs(v) + abs(energy(0.0)) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(slope(energy, h) - tau @ v) < (1e-7 * rate + 10.0 * drawn.slack) * scale


def test_rows_of_a_batch(drawn: Drawn, rng: np.random.Generator) -> None:
    model = drawn.model
    q = np.array([pc.project(model, moved(drawn, rng)) for _ in range(3)])
    v, x = rng.normal(size=(2, 3, model.nv))
    data = model.createData()
    for f, g in ((pc.rnea, pc.batch.rnea), (pc.aba, pc.batch.aba)):
        single = np.array([f(model, data, *s).copy() for s in zip(q, v, x, strict=True)])
        status = np.zeros(3, dtype=np.int8)
        assert error(g(model, q, v, x, status=status), single) < LIMIT
        assert not status.any()


def test_independent_joints_are_chosen_alike_each_time(drawn: Drawn) -> None:
    m = drawn.m
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        one, two = (pc.ClusterModel(m.tree, m.constraints, m.q0) for _ in range(2))
    assert one.independent_joints == two.independent_joints
    assert one.nv == drawn.model.nv
    K_d = max(c.K_d for c in pc.condition(one, one.createData(), pc.neutral(one)))
    given = max(c.K_d for c in pc.condition(drawn.model, drawn.model.createData(), drawn.m.q0))
    assert K_d < 100.0 * given
