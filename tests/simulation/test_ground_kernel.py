"""Steps on a ground in compiled code: each number against its formula, in NumPy and by the public functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support import memory
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.kernels.steps import sticking_impulses
from pin_clusters.simulation import run
from pin_clusters.simulation._compiled import CompiledMoves
from pin_clusters.simulation._settings import Settings
from pin_clusters.simulation.ground import solver
from pin_clusters.simulation.ground.compiled_steps import Steps, at
from pin_clusters.simulation.ground.near import Stops, World
from pin_clusters.simulation.ground.points import NO_POINTS
from pin_clusters.simulation.ground.python_engine import GroundEngine
from pin_clusters.simulation.holding import Hold

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="no compiled steps"),
    pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio"),
]
DT, REACH = 1e-3, 0.05
FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}
SOLES = {f"{side}_ankle": [(x, y, -0.041) for x in (-0.05, 0.1) for y in (-0.03, 0.03)] for side in ("left", "right")}
SLOPE = pc.Ground(friction=0.6, normal=(0.1, -0.2, 1.0), height=0.3)


class Robot:
    """A robot above a ground, and what makes its steps."""

    def __init__(self, name: Any, points: Any, ground: pc.Ground, radius: float = 0.0, above: float = 0.0) -> None:
        self.model = model = pc.load(name) if isinstance(name, str) else name
        self.ground, self.points = ground, pc.contact_points(model, points, radius)
        self.q0 = pc.neutral(model)
        if points:
            self.q0 = pc.on_ground(model, self.q0, ground, self.points, above=above)
        self.on = CompiledMoves(model, model)
        self.data = model.createData()

    def steps(
        self, torque: np.ndarray, *, stops: bool = False, steps: int = 1000, last: float = DT, switch: bool = True,
        **changes: Any,
    ) -> Steps:  # fmt: skip
        world = World(self.model, self.ground, self.points, None, Stops(self.model, any_end=stops))
        given = Settings(
            self.model, self.q0, np.zeros(self.model.nv), torque, DT, steps, (steps - 1) * DT + last, "moreau",
            record=1, dynamics=None, switch=switch, progress=None, contacts=None, passive=None, world=world,
        )  # fmt: skip
        return Steps(self.on, given, NO_POINTS, torque, 200, **changes)

    def surface(self, q: np.ndarray, v: np.ndarray) -> Any:
        """Points where balls touch: positions, J, M^-1 J' and J M^-1 J' by frames that are there at this pose."""
        model, n = self.model, self.ground.axes[2]
        pc.forwardKinematics(model, self.data, q)
        J, X = [], []
        for j, place, radius in zip(self.points.joints.tolist(), self.points.places, self.points.radii, strict=True):
            M = self.data.tree.oMi[j]
            local = place - radius * M.rotation.T @ n
            X.append(M.act(local))
            whole = pc.computeJointJacobians(model, self.data, q)
            assert whole is not None
            own = pc.getJointJacobian(model, self.data, j, pin.LOCAL_WORLD_ALIGNED)
            J.append(own[:3] - np.cross((X[-1] - M.translation)[:, None], own[3:], axis=0))
        rows = np.concatenate(J)
        W = pc.computeMinverse(model, self.data, q) @ rows.T
        return np.array(X), rows, W, rows @ W


CASES = {
    "mini_cheetah": ("mini_cheetah", FEET, pc.Ground(), 0.0),
    "balls on a slope": ("mini_cheetah", FEET, SLOPE, 0.02),
    "tello": ("tello", SOLES, pc.Ground(), 0.0),
    "humanoid": ("mit_humanoid", SOLES, SLOPE, 0.0),
}


@pytest.mark.parametrize(
    ("case", "engine"),
    [
        *((case, "tables") for case in CASES),
        *(pytest.param(case, "traced", marks=[pytest.mark.ci] * (case == "humanoid")) for case in CASES),
    ],
)
def test_formulas(case: str, engine: str, rng: np.random.Generator) -> None:
    """Moreau's midpoint, laws and all that is left for the caller; limp, with random torques, from a throw."""
    if (case, engine) in (("humanoid", "tables"), ("tello", "traced")):
        pytest.skip("seen in the other engine")
    name, points, ground, radius = CASES[case]
    with pc.engine(engine):
        robot = Robot(name, points, ground, radius)
    model, E = robot.model, ground.axes
    torque = 0.3 * rng.normal(size=(40, model.nv))
    steps = robot.steps(torque)
    q, v = robot.q0, 0.3 * rng.normal(size=model.nv)
    steps.begin(0, q, v)
    touched, last = 0, np.zeros(3 * len(robot.points))
    for k in range(40):
        assert steps.run(k + 1) == at.DONE
        middle, tau = pc.integrate(model, q, 0.5 * DT * v), torque[k]
        X, J, W, _ = robot.surface(middle, v)
        if (X @ E[2] - ground.height).min() < -1e-9:
            x, push = pc.difference(model, middle, steps.middle), W.reshape(model.nv, -1, 3) @ E[2]
            y = np.linalg.lstsq(push, x)[0]  # some are put back twice, from poses that differ
            assert 0.0 < np.abs(x).max() < 0.1  # a light link of a limp leg
            assert np.abs(push @ y - x).max() < 1e-2 * np.abs(x).max()
            middle = steps.middle.copy()
        assert np.allclose(steps.middle, middle, rtol=0.0, atol=1e-12)
        X, J, W, G = robot.surface(middle, v)
        gaps = X @ E[2] - ground.height
        assert gaps.min() > -1e-8
        assert np.allclose(steps.gaps, gaps, rtol=0.0, atol=1e-12)
        half = v + 0.5 * DT * pc.aba(model, robot.data, middle, v, tau)
        free = v + DT * pc.aba(model, robot.data, middle, half, tau)
        scale = 1.0 + np.abs(free).max()
        assert np.abs(steps.free - free).max() < 1e-10 * scale
        p = steps.impulses.copy()
        if p.any():  # the guess is what was found last
            near = steps._system.near[: steps._clock[at.NEAR]]
            guess = steps._system.guess[: 3 * len(near)].reshape(-1, 3) * steps._numbers[at.SCALE]
            assert np.allclose(guess, (last.reshape(-1, 3) @ E.T)[near], rtol=1e-9, atol=1e-12)
            last = p
        if (gaps < REACH).any():
            assert np.allclose(steps.positions, X, rtol=0.0, atol=1e-12)
            assert np.abs(steps.velocities - J @ free).max() < 1e-10 * scale
            assert np.abs(steps.response - W).max() < 1e-10 * np.abs(W).max()
            assert np.abs(steps.gram - G).max() < 1e-10 * np.abs(G).max()
        # laws, from nothing but the impulses in the world; a point that would close strikes, and moves until it does
        ends, l = (J @ free + G @ p).reshape(-1, 3) @ E.T, p.reshape(-1, 3) @ E.T
        fall, open_by = (J @ free).reshape(-1, 3) @ E[2], np.maximum(gaps, 0.0)
        strikes = fall + open_by / DT < -100.0 * DT
        ends[~strikes, 2] += open_by[~strikes] / DT
        power = -l[strikes, 2] @ fall[strikes]
        delay = l[strikes, 2] @ open_by[strikes] / power if power > 0.0 else 0.0
        slide = np.hypot(ends[:, 0], ends[:, 1])
        laws = (
            np.max(np.hypot(l[:, 0], l[:, 1]) - ground.friction * l[:, 2], initial=0.0),
            np.max(-ends[l[:, 2] != 0.0, 2], initial=0.0),
            np.abs(np.sum(l * ends, axis=1) + ground.friction * slide * l[:, 2]).max(),
            0.5 * p @ (J @ free + J @ (free + W @ p)),
        )
        assert np.allclose(steps.laws, laws, rtol=1e-6, atol=1e-10)
        assert laws[0] < 1e-9
        assert np.max(-ends[gaps < REACH, 2], initial=0.0) < 2e-5
        assert laws[3] < 1e-9
        after = free + W @ p
        assert np.abs(steps.v - after).max() < 1e-9 * scale
        moved = 0.5 * DT * steps.v - delay * (W @ p)
        assert np.allclose(steps.q, pc.integrate(model, middle, moved), rtol=0.0, atol=1e-11)
        sample, rest = np.split(steps.samples[k], [steps.width])
        assert sample[0] == k
        assert np.array_equal(sample[4 : 4 + len(q) + len(v)], np.concatenate([q, v]))
        assert np.array_equal(rest, np.concatenate([steps.gaps, p, steps.positions.ravel(), steps.laws]))
        q, v, touched = steps.q.copy(), steps.v.copy(), touched + bool(p.any())
    assert touched > 5


def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``pc.simulate`` make each step in Python."""
    monkeypatch.setattr(run, "ground_engine_for", lambda s, r, w, c: GroundEngine(s, r, w, compiled=c))


def test_the_motion_is_that_of_simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    in_python(monkeypatch)
    robot = Robot("mini_cheetah", FEET, SLOPE, 0.02, above=0.01)
    model, v0 = robot.model, np.full(robot.model.nv, 0.1)
    tau = np.linspace(-0.5, 0.5, model.nv)
    result = pc.simulate(model, robot.q0, v0, tau, 0.15, DT, ground=SLOPE, touching=robot.points)
    steps = robot.steps(tau[None])
    steps.begin(0, robot.q0, v0)
    assert steps.run(150) == at.DONE  # in one call: in flight, at touch-down and after
    assert steps.samples[:150, steps.width + 4 : steps.width + 16].any()
    assert np.abs(steps.q - result.q[-1]).max() < 1e-6
    assert np.abs(steps.samples[:150, 4 : 4 + model.nq] - result.q[:-1]).max() < 1e-6


def test_a_warm_call_runs_through_few_files() -> None:
    """A reader who follows ``pc.simulate`` on a ground opens at most 30 files."""
    model, ground = pc.load("mini_cheetah"), pc.Ground()
    q, still = pc.on_ground(model, pc.neutral(model), ground, FEET), np.zeros(model.nv)
    seen: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(Path(pc.__file__).parent)):
            seen.add(frame.f_code.co_filename)

    for profile in (None, None, note):
        sys.setprofile(profile)
        try:
            pc.simulate(model, q, still, duration=0.02, dt=DT, ground=ground, touching=FEET)
        finally:
            sys.setprofile(None)
    assert 10 < len(seen) <= 30


FALLS = {
    "mini_cheetah": (None, {"limits": True}), "mit_humanoid": (["left_toe", "left_heel", "right_toe"], {}),
    "tello": (SOLES, {"limits": "effort"}), "jvrc1": (None, {"limits": "position"}),
}  # fmt: skip


def limp(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Nothing but damping."""
    return np.where(np.arange(len(v)) < 6, 0.0, -0.5 * v)


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.ci] * (x in ("jvrc1", "tello"))) for x in FALLS])
def test_compiled_steps_are_those_in_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes that are watched, stops, limits of torques, a function that is asked; all of the result."""
    model, (touching, how) = pc.load(name), FALLS[name]
    q = pc.on_ground(model, pc.neutral(model), touching=touching, above=0.002)
    v = np.zeros(model.nv)
    v[:6] = 0.2, -0.1, -0.3, 0.3, 0.2, 0.1
    tau = Hold(model, q, 1e-3, pc.Ground(0.7), touching) if name == "tello" else limp
    found = []
    for compiled in (True, False):
        if not compiled:
            in_python(monkeypatch)
        found.append(pc.simulate(model, q, v, tau, 0.06, 1e-3, ground=pc.Ground(0.7), touching=touching, **how))
    one, other = found
    assert one.contact_impulses.any()
    # impulses are found to 3e-7 m/s, which bodies carry on for the rest of the motion
    for field in ("q", "v", "contact_impulses", "limit_impulses", "unmet_torque", "gap", "energy", "residual"):
        a, b = getattr(one, field), getattr(other, field)
        assert np.array_equal(np.isfinite(a), np.isfinite(b)), field
        both = np.isfinite(a)
        assert np.abs(a[both] - b[both]).max(initial=0.0) < 2e-4 * max(1.0, np.abs(b[both]).max(initial=0.0)), field
    assert [t.body for t in one.touchdowns] == [t.body for t in other.touchdowns]
    assert np.allclose([t.time for t in one.touchdowns], [t.time for t in other.touchdowns], rtol=0.0, atol=1.1e-3)


@pytest.mark.parametrize("stop", ["link", "rotor"])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_stops_of_single_velocities(stop: str, side: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A geared pendulum that falls on its stop, or its rotor's: found in the step that reaches it, not after."""
    tree = pin.Model()
    for k, name in enumerate(("link", "rotor")):
        tree.addJoint(k, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0.0, 0.1 * k, 0.0])), name)
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.array([0.0, 0.0, 0.3]), 0.01 * np.eye(3)), pin.SE3.Identity())
    tree.appendBodyToJoint(2, pin.Inertia(0.1, np.zeros(3), 1e-4 * np.eye(3)), pin.SE3.Identity())
    low, high = np.full((2, 2), [[-1e308], [1e308]])
    (low if side < 0.0 else high)[("link", "rotor").index(stop)] = side * {"link": 0.4, "rotor": 2.4}[stop]
    tree.lowerPositionLimit, tree.upperPositionLimit = low, high
    model = pc.ClusterModel(tree, [pc.Gear("link", "rotor", -6.0 if stop == "rotor" else 6.0)])
    start = {"q0": np.zeros(2), "v0": [side * (-1.0 if stop == "rotor" else 1.0)], "limits": "position"}
    one = pc.simulate(model, start.pop("q0"), start.pop("v0"), duration=0.5, **start)
    over = np.maximum(low - one.q, one.q - high).max()
    assert one.limit_impulses.sum() > 0.05  # a rotor feels a sixth
    assert over < 1e-9
    in_python(monkeypatch)
    other = pc.simulate(model, one.q[0], one.v[0], duration=0.5, limits="position")
    # the same steps but for the order of sums
    assert np.abs(one.q - other.q).max() < 1e-9
    assert np.abs(one.limit_impulses - other.limit_impulses).max() < 1e-9


def test_one_call_or_many_and_the_last_step(rng: np.random.Generator) -> None:
    """Torques of a table, or put there before each call; samples from where one begins; a shorter last step."""
    robot = Robot("mini_cheetah", FEET, pc.Ground(), above=0.002)
    table = rng.normal(size=(60, robot.model.nv))
    still = np.zeros(robot.model.nv)
    whole = robot.steps(table, steps=60, last=0.4 * DT)
    whole.begin(0, robot.q0, still)
    assert whole.run(60) == at.DONE
    one = np.zeros((1, robot.model.nv))
    each = robot.steps(one, steps=60, last=0.4 * DT)
    each.begin(0, robot.q0, still)
    for k in range(60):
        if k == 30:
            each.begin(k, each.q.copy(), each.v.copy())
        one[0] = table[k]
        assert each.run(k + 1) == at.DONE
        assert each.step == k + 1
    assert np.array_equal(each.q, whole.q)
    assert np.array_equal(each.samples[:30], whole.samples[30:60])
    longer = robot.steps(table)
    longer.begin(0, robot.q0, still)
    longer.run(60)
    ends = (pc.difference(robot.model, whole.samples[59, 4 : 4 + robot.model.nq], x.q) for x in (whole, longer))
    short, long = (float(np.abs(x).max()) for x in ends)
    assert 0.2 < short / long < 0.6


def test_what_opens_is_left_out_and_looked_at() -> None:
    """A rod that slides and falls on one end, whose other end rises, but is thrown down by that in the same step."""
    tree = pin.Model()
    body = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "rod")
    tree.appendBodyToJoint(body, pin.Inertia.FromBox(1.0, 1.0, 0.02, 0.02), pin.SE3.Identity())
    robot = Robot(pc.ClusterModel(tree), {"rod": [(-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)]}, pc.Ground())
    v0, ends, calls = np.array([9.0, 0.0, -0.45, 0.0, -1.1, 0.0]), [], []  # the ends have -1 and 0.1 m/s
    for slack in (0.05, 1.0):
        steps = robot.steps(np.zeros((1, 6)), slack=slack)
        asked = [0, 0, 0]

        def counted(m: int, solve: Any, asked: list[int] = asked) -> Any:
            def solved() -> None:
                asked[m] += 1
                solve()

            return solved

        steps._systems = [(counted(m, x[0]), *x[1:]) for m, x in enumerate(steps._systems)]
        steps.begin(0, robot.q0, v0)
        assert steps.run(1) == at.DONE
        ends.append(steps.v.copy())
        calls.append(asked)
    assert calls == [[0, 1, 1], [0, 0, 1]]
    assert np.abs(ends[0] - ends[1]).max() < 1e-6
    assert np.abs(ends[0][[2, 4]]).max() < 1e-2  # both ends are held


def test_a_bad_answer_is_not_taken() -> None:
    """What the quick solver leaves undone is done by the other one; sliding points need a solver."""
    robot = Robot("mini_cheetah", FEET, pc.Ground())
    found, v0 = [], 2.0 * np.eye(robot.model.nv)[0]
    for spoil in (False, True):
        steps = robot.steps(np.zeros((1, robot.model.nv)))
        if spoil:
            steps._systems = [(lambda s=steps: s._system.answer.fill(0.0), *x[1:]) for x in steps._systems]
        steps.begin(0, robot.q0, v0)
        assert steps.run(20) == at.DONE
        assert np.count_nonzero(steps.iterations[:20]) > 10
        found.append(steps.q.copy())
    assert np.abs(found[0] - found[1]).max() < 1e-6  # 20 steps, each to 1e-7 m/s


@pytest.mark.parametrize("points", pool.some([4, 1, 9], 1, rest="ci"))
def test_points_that_stay_need_no_solver(points: int, rng: np.random.Generator) -> None:
    """A body falls on points below it, redundant ones too: what is found obeys the laws, and often something is."""
    plain: dict[str, Any] = {"__name__": sticking_impulses.__name__, "__package__": sticking_impulses.__package__}
    exec(Path(sticking_impulses.__file__).read_text(encoding="utf-8").replace("@inline", ""), plain)
    stay, let_go, mu, most = [], 0, np.full(points, 0.7), 1e-7
    for _ in range(100):
        places = np.c_[rng.uniform(-1.0, 1.0, (points, 2)), np.full(points, -0.5)]
        J = np.concatenate([np.c_[np.eye(3), -pin.skew(x)] for x in places])
        A = J / rng.uniform(0.2, 2.0, 6) @ J.T
        A *= len(A) / A.trace()
        g = J @ np.r_[0.3 * rng.normal(size=2), -1.0, 0.2 * rng.normal(size=3)]
        (l, u, change), held = np.zeros((3, 3 * points)), np.zeros(points, dtype=np.int64)
        stay.append(plain["hold"](points, 3, 0.7, most, A.ravel(), g, l, u, np.zeros(A.size), change, held))
        if stay[-1]:
            assert np.abs(u - A @ l - g).max() < 1e-12
            assert solver.distance(l, u, mu) < most
            assert solver.violation(l, u, mu).cone == 0.0
            let_go += points - int(held.sum())
        assert not plain["hold"](points, 3, 0.7, 0.0, A.ravel(), g, l, u, np.zeros(A.size), change, held)
    assert 0.3 < np.mean(stay) < 0.7  # others slide
    assert let_go > 0 or points == 1


def test_phases_of_the_caller() -> None:
    """Near a stop it returns with all that is there; a pose of the caller is taken over."""
    model = pc.load("ankle_2rsu")
    robot = Robot(model, {}, pc.Ground())
    steps = robot.steps(np.full((1, model.nv), -8.0), stops=True)
    stops, data = Stops(model), model.createData()
    steps.begin(0, pc.neutral(model), np.zeros(model.nv))
    code = steps.run(200)
    assert code == at.TOUCHING
    q, v = steps.q.copy(), steps.v.copy()
    assert 0 < steps.step < 200
    middle = pc.integrate(model, q, 0.5 * DT * v)
    assert np.allclose(steps.stop_gaps, stops.gaps(middle), rtol=0.0, atol=1e-11)
    assert steps.stop_gaps.min() < 0.1 <= stops.gaps(q).min() + 0.5 * DT * np.abs(v).max() * 10
    half = v + 0.5 * DT * pc.aba(model, data, middle, v, np.full(model.nv, -8.0))
    assert np.allclose(steps.free, v + DT * pc.aba(model, data, middle, half, np.full(model.nv, -8.0)), atol=1e-9)
    steps.begin(0, pc.neutral(model), np.zeros(model.nv))
    steps.middle[:] = pc.integrate(model, pc.neutral(model), [0.02, -0.01])
    given = steps.middle.copy()
    assert steps.run(1, at.GIVEN) == at.DONE
    assert np.array_equal(steps.middle, given)
    assert np.allclose(steps.q, pc.integrate(model, given, 0.5 * DT * steps.v), rtol=0.0, atol=1e-12)


def test_steps_that_cannot_be_done() -> None:
    """The state stays that at the start of the step."""
    robot = Robot("mini_cheetah", FEET, pc.Ground(), above=0.1)
    torque, v0 = np.zeros((3, robot.model.nv)), np.full(robot.model.nv, 0.1)
    torque[2, 7] = np.nan
    steps = robot.steps(torque)
    steps.begin(0, robot.q0, v0)
    assert steps.run(5) == at.FAILED
    assert steps.step == 2
    assert np.isfinite(steps.q).all()
    linkage = Robot("four_bar", {}, pc.Ground())
    model = linkage.model
    linkage.on.limits[:] = 1.0  # no pose is that good
    steps = linkage.steps(np.zeros((1, model.nv)))
    steps.begin(0, pc.neutral(model), np.zeros(model.nv))
    assert steps.run(5) == at.SINGULAR
    assert linkage.steps(np.zeros((1, model.nv)), switch=False).run(5) in (at.DONE, at.FAILED)


def test_many_points_of_which_few_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sphere of 3,000 points falls on one of them: the system has the rows of those that are near."""
    tree = pin.Model()
    body = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    tree.appendBodyToJoint(body, pin.Inertia.FromSphere(1.0, 1.0), pin.SE3.Identity())
    model, rng = pc.ClusterModel(tree), np.random.default_rng(0)
    places = rng.normal(size=(3000, 3))
    places /= np.linalg.norm(places, axis=1)[:, None]
    q = pc.on_ground(model, pc.neutral(model), touching={"body": places}, above=0.001)
    monkeypatch.setattr(memory, "available", lambda: 10**7)  # J M^-1 J' of all points takes 648 MB
    r = pc.simulate(model, q, np.zeros(6), duration=0.05, dt=1e-3, ground=pc.Ground(), touching={"body": places})
    assert abs(r.contact_impulses[20:-1, 0, 2].sum() - 9.81 * 1e-3 * (len(r.time) - 21)) < 1e-3
    flat = {"body": np.c_[rng.uniform(-1.0, 1.0, (1000, 2)), np.full(1000, -0.1)]}
    q = pc.on_ground(model, pc.neutral(model), touching=flat)
    with raises(pc.TooLargeError, "1000 0.0 GB"):
        pc.simulate(model, q, np.zeros(6), duration=0.01, dt=1e-3, ground=pc.Ground(), touching=flat)
