"""Motion on a ground from event to event: closed forms, other integrators, and the time-stepping mode."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from support.messages import raises

import pin_clusters as pc
from pin_clusters.simulation.ground import events

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
G = 9.81
FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}
HALF = np.array([0.1, 0.06, 0.04])
CORNERS = {"body": [(x, y, z) for x in (-0.1, 0.1) for y in (-0.06, 0.06) for z in (-0.04, 0.04)]}

LOOSE = {"rtol": 0.5}
"""Steps of length dt, between events."""


def robot(*joints: Any, inertia: pin.Inertia | None = None) -> pc.ClusterModel:
    """Return a chain of massless joints with one body at its end."""
    tree = pin.Model()
    tree.name, last = "robot", 0
    for i, joint in enumerate(joints):
        name = "body" if i == len(joints) - 1 else f"joint {i}"
        last = tree.addJoint(last, joint, pin.SE3.Identity(), name)
    tree.appendBodyToJoint(last, inertia or pin.Inertia.FromBox(2.0, *(2.0 * HALF)), pin.SE3.Identity())
    return pc.ClusterModel(tree)


def block() -> pc.ClusterModel:
    return robot(pin.JointModelFreeFlyer())


def run(model: pc.ClusterModel, q: Any, v: Any, tau: Any, duration: float, dt: float, **more: Any) -> Any:
    return pc.simulate(model, q, v, tau, duration, dt, method=more.pop("method", "events"), **more)


def on_slope(model: pc.ClusterModel, angle: float, friction: float) -> tuple[np.ndarray, pc.Ground]:
    """Return the block, flat on a slope that falls along x, and the slope."""
    ground = pc.Ground(friction, (np.sin(angle), 0.0, np.cos(angle)))
    q = pc.neutral(model)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rpyToMatrix(0.0, angle, 0.0), np.zeros(3)))
    return pc.on_ground(model, q, ground, CORNERS), ground


@pytest.mark.parametrize("radius", [0.0, 0.03])
def test_touch_down_is_found_to_ten_digits(radius: float) -> None:
    model = block()
    points = pc.contact_points(model, CORNERS, radius)
    q = pc.on_ground(model, pc.neutral(model), touching=points, above=0.1)
    result = run(model, q, np.zeros(6), None, 0.2, 1e-2, ground=pc.Ground(), touching=points)
    (landed,) = result.touchdowns
    assert abs(landed.time - np.sqrt(0.2 / G)) < 1e-12
    # of the first 15 ms, which are one step and a half: the blow, and the weight until the end of the next step
    assert 2.0 * np.sqrt(0.2 * G) < landed.impulse[2] < 2.0 * (np.sqrt(0.2 * G) + 2e-2 * G)
    assert np.abs(result.v[-1]).max() < 1e-14
    assert abs(result.contact_impulses[:, 0, 2].sum() - 2.0 * G * 0.2) < 1e-11  # momentum


def test_errors_fall_with_the_tolerance_whatever_the_samples_are() -> None:
    model = robot(pin.JointModelPX(), pin.JointModelPZ())
    w, a, duration = 20.0, 0.1, 0.16

    def spring(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.0, 2.0 * (G - w**2 * q[1])])

    lands, errors = 2.0 * np.pi / (3.0 * w), []
    for rtol in (1e-3, 1e-5, 1e-7, 1e-9):  # it swings down from a, stops dead at -a / 2, and leaves
        result = run(
            model, [0.0, a], np.zeros(2), spring, duration, 0.08, ground=pc.Ground(height=-0.5 * a),
            touching={"body": [0.0, 0.0, 0.0]}, rtol=rtol, atol=1e-2 * rtol,
        )  # fmt: skip
        (landed,) = result.touchdowns
        end = -0.5 * a * np.cos(w * (duration - lands))
        errors.append([abs(landed.time - lands), abs(result.q[-1, 1] - end)])
        assert len(result.time) == 3
        assert max(errors[-1]) < 10.0 * rtol
    assert (np.array(errors[:-1]) > 10.0 * np.array(errors[1:])).all(), errors


def test_torques_are_held_and_may_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    model, mass, dt = robot(pin.JointModelPX(), pin.JointModelPZ()), 2.0, 0.05
    rows = np.array([[30.0, 0.0], [-14.0, 0.0], [50.0, 0.0], [50.0, 0.0]])
    kept: dict[str, Any] = dict(ground=pc.Ground(0.0), touching={"body": [0.0, 0.0, 0.0]})
    held = run(model, np.zeros(2), np.zeros(2), rows, 4 * dt, dt, **kept)
    assert held.v[:, 0] == pytest.approx(np.r_[0.0, np.cumsum(rows[:, 0])] * dt / mass, abs=1e-14)

    def jump(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([30.0 if t < 0.0637 else -14.0, 0.0])

    jumped = run(model, np.zeros(2), np.zeros(2), jump, 4 * dt, dt, **kept)
    assert jumped.v[-1, 0] == pytest.approx((30.0 * 0.0637 - 14.0 * (0.2 - 0.0637)) / mass, abs=1e-5)

    noise = np.random.default_rng(0)
    monkeypatch.setattr(events, "_TRIES", 100)
    with raises(pc.SimulationError, "100 rtol 1e-08"):
        run(model, np.zeros(2), np.zeros(2), lambda t, q, v: noise.normal(size=2), 0.05, dt, **kept)


@pytest.mark.ci
@pytest.mark.parametrize("spin", [0.0, pytest.param(5.0, marks=pytest.mark.long)])
def test_of_order_four_while_it_slides_along_a_curve(spin: float) -> None:
    model = block()
    angle, mu = 0.35, 0.5
    q, ground = on_slope(model, angle, mu)
    steps = (1e-2, 5e-3, 2.5e-3)
    runs = [
        run(model, q, [0.0, 1.5, 0, 0, 0, spin], None, 0.2, dt, ground=ground, touching=CORNERS, **loose)
        for dt, loose in (*((dt, LOOSE) for dt in steps), (6.25e-4, {}))
    ]
    if spin:  # pressures of four corners are not unique: against itself
        errors = [np.abs(r.q[-1] - runs[-1].q[-1]).max() for r in runs[:-1]]
    else:  # a point of mass, integrated by others

        def puck(t: float, x: np.ndarray) -> np.ndarray:
            u = x[2:]
            return np.r_[u, np.array([G * np.sin(angle), 0.0]) - mu * G * np.cos(angle) * u / np.linalg.norm(u)]

        end = solve_ivp(puck, (0.0, 0.2), [0.0, 0.0, 0.0, 1.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
        ends = [np.array([(r.q[-1, :3] - q[:3]) @ down, r.q[-1, 1] - q[1]]) for r in runs]
        errors = [np.abs(x - end[:2]).max() for x in ends[:-1]]
        assert np.abs(ends[-1] - end[:2]).max() < 1e-11
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders.min() > 3.7, errors
    assert errors[-1] < 1e-9
    assert max(r.contact_laws[:, :2].max() for r in runs) < 1e-12


def test_slides_up_a_slope_turns_and_slides_down() -> None:
    model = block()
    angle, mu, v0 = 0.5, 0.3, 1.0
    q, ground = on_slope(model, angle, mu)
    up, down = (G * (np.sin(angle) + s * mu * np.cos(angle)) for s in (1.0, -1.0))
    turn = v0 / up
    result = run(model, q, [-v0, 0, 0, 0, 0, 0], None, 0.5, 1e-2, ground=ground, touching=CORNERS)
    moved = (result.q[-1, :3] - q[:3]) @ [np.cos(angle), 0.0, -np.sin(angle)]
    assert abs(moved - (-(v0**2) / (2.0 * up) + down * (0.5 - turn) ** 2 / 2.0)) < 1e-9
    lost = 2.0 * mu * G * np.cos(angle) * (v0**2 / (2.0 * up) + down * (0.5 - turn) ** 2 / 2.0)
    assert abs(result.contact_work.sum() + lost) < 1e-7


@pytest.mark.ci
def test_slides_to_rest_and_stays() -> None:
    model = block()
    q = pc.on_ground(model, pc.neutral(model), touching=CORNERS)
    result = run(model, q, [0.8, 0.6, 0, 0, 0, 0], None, 0.5, 1e-2, ground=pc.Ground(0.4), touching=CORNERS)
    assert np.abs(result.q[-1, :2] - np.array([0.8, 0.6]) / (2.0 * 0.4 * G)).max() < 1e-10
    assert np.abs(result.v[-1]).max() < 1e-12


def test_slips_where_the_push_exceeds_friction() -> None:
    model = robot(pin.JointModelPX(), pin.JointModelPZ())  # of one point forces are unique
    mu, rate = 0.5, 20.0
    slips = mu * 2.0 * G / rate

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([rate * t, 0.0])

    result = run(model, np.zeros(2), np.zeros(2), push, 0.8, 1e-2, ground=pc.Ground(mu), touching={"body": [0, 0, 0]})
    assert not result.v[result.time < slips].any()
    assert abs(result.q[-1, 0] - rate * (0.8 - slips) ** 3 / 12.0) < 1e-11
    assert abs(result.contact_impulses[:, 0, 0].sum() + rate * slips**2 / 2.0 + mu * 2.0 * G * (0.8 - slips)) < 1e-11


@pytest.mark.ci
def test_a_block_slips_as_a_whole() -> None:
    model = block()
    mu, rate = 0.5, 40.0
    slips = mu * 2.0 * G / rate
    q = pc.on_ground(model, pc.neutral(model), touching=CORNERS)

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([rate * t, 0, 0, 0, 0, 0])

    result = run(model, q, np.zeros(6), push, 0.4, 2e-3, ground=pc.Ground(mu), touching=CORNERS)
    assert np.abs(result.v[result.time < slips - 1e-4]).max() < 1e-13
    assert abs(result.q[-1, 0] - rate * (0.4 - slips) ** 3 / 12.0) < 1e-9
    assert np.abs(result.v[-1, 1:]).max() < 1e-10


def test_leaves_the_ground_when_it_is_lifted() -> None:
    model = robot(pin.JointModelFreeFlyer())
    q = pc.on_ground(model, pc.neutral(model), touching=CORNERS)
    leaves = 2.0 * G / 60.0

    def lift(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0, 0, 60.0 * t, 0, 0, 0])

    result = run(model, q, np.zeros(6), lift, 0.6, 1e-2, ground=pc.Ground(), touching=CORNERS)
    assert abs(result.q[-1, 2] - q[2] - 60.0 * (0.6 - leaves) ** 3 / 12.0) < 1e-12
    assert abs(result.contact_impulses[:, 0, 2].sum() - 30.0 * leaves**2) < 1e-11


def test_a_ball_slides_then_rolls() -> None:
    model = robot(pin.JointModelFreeFlyer(), inertia=pin.Inertia.FromSphere(2.0, 0.5))
    points = pc.contact_points(model, {"body": [0.0, 0.0, 0.0]}, 0.5)
    q = pc.on_ground(model, pc.neutral(model), touching=points)
    result = run(model, q, [1.2, 1.6, 0, 0, 0, 0], None, 0.4, 5e-3, ground=pc.Ground(0.5), touching=points)
    rolls = 4.0 / (7.0 * 0.5 * G)
    way = 2.0 * rolls - 0.25 * G * rolls**2 + 10.0 / 7.0 * (0.4 - rolls)
    assert np.abs(result.q[-1, :2] - q[:2] - way * np.array([0.6, 0.8])).max() < 1e-8
    assert abs(np.linalg.norm(result.v[-1, :3]) - 10.0 / 7.0) < 1e-8


def test_a_tip_that_dips_below_between_two_steps_is_found() -> None:
    model = robot(pin.JointModelRY())
    way = 0.5 - 1e-4
    result = run(model, [-0.32], [8.0], None, 0.1, 5e-2, ground=pc.Ground(height=-way), touching={"body": [0, 0, -0.5]})
    (landed,) = result.touchdowns
    assert 0.0 < landed.time < 0.05
    assert result.gap.min() > -1e-10
    assert np.abs(result.v[-1]).max() < 1e-12


@pytest.mark.ci
def test_a_stance_is_that_of_held_contacts() -> None:
    model = pc.load("mini_cheetah")
    q0 = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, 0.6, -1.2], 4)])
    q = pc.on_ground(model, q0, touching=FEET)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        free = -60.0 * pc.difference(model, q0, q) - v + 2.0 * np.sin(20.0 * t)
        return np.r_[np.zeros(6), free[6:]]

    foot = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.195]))
    held = [
        pc.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, model.getJointId(name), foot, pin.LOCAL_WORLD_ALIGNED
        )
        for name in FEET
    ]
    results = [
        run(model, q, np.zeros(18), tau, 0.04, dt, ground=pc.Ground(1.0), touching=FEET, **LOOSE)
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    fine = pc.simulate(model, q, np.zeros(18), tau, 0.04, 2.5e-4, contacts=held, method="rkmk4")
    errors = np.array([np.abs(r.q[-1] - fine.q[-1]).max() for r in results])
    assert np.log2(errors[:-1] / errors[1:]).min() > 3.6
    assert errors[-1] < 1e-7
    w = np.full(len(fine.time), 2.0)  # Simpson's rule
    w[1::2], w[[0, -1]] = 4.0, 1.0
    pushed = (w @ fine.contact_forces / 3.0 * 2.5e-4).reshape(4, 3)
    assert np.abs(results[-1].contact_impulses.sum(axis=0) - pushed).max() < 1e-7


@pytest.mark.ci
def test_feet_that_roll_are_of_order_four() -> None:
    model = pc.load("mini_cheetah")
    q0 = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.1, 0.6, -1.2], 4)])
    balls = pc.contact_points(model, FEET, 0.04)
    q = pc.on_ground(model, q0, touching=balls)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        free = -60.0 * pc.difference(model, q0, q) - v + 2.0 * np.sin(20.0 * t)
        return np.r_[np.zeros(6), free[6:]]

    runs = [
        run(model, q, np.zeros(18), tau, 0.04, dt, ground=pc.Ground(1.0), touching=balls, **LOOSE)
        for dt in (4e-3, 2e-3, 1e-3, 2.5e-4)
    ]
    for what in (lambda r: r.q[-1], lambda r: r.contact_impulses.sum(axis=0)):
        errors = np.array([np.abs(what(r) - what(runs[-1])).max() for r in runs[:-1]])
        assert np.log2(errors[:-1] / errors[1:]).min() > 3.6, errors


@pytest.mark.ci
def test_stops_of_a_linkage() -> None:
    model = pc.load("ankle_2rsu")

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([4.0 * np.cos(8.0 * t), 2.0])

    q = pc.neutral(model)
    results = [
        run(model, q, np.zeros(2), tau, 0.45, dt, limits="position", method=method)
        for method, dt in (("events", 3e-3), ("events", 1.5e-3), ("moreau", 1e-3), ("moreau", 5e-4))
    ]
    first, finer, *others = results
    assert np.abs(first.limit_impulses.sum(axis=0) - finer.limit_impulses.sum(axis=0)).max() < 2e-6
    tree = model.own_tree
    assert min((first.q - tree.lowerPositionLimit).min(), (tree.upperPositionLimit - first.q).min()) > -1e-12
    pushed = first.limit_impulses.sum(axis=0)
    assert (pushed > 0.1).sum() >= 3
    assert (first.limit_impulses >= 0.0).all()
    apart = [np.abs(r.limit_impulses.sum(axis=0) - pushed).max() for r in others]
    assert apart[0] < 5e-3
    assert apart[1] < 0.75 * apart[0]


@pytest.mark.ci
def test_a_landing_agrees_with_time_stepping() -> None:
    model = pc.load("mini_cheetah")
    q0 = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, 0.6, -1.2], 4)])
    q = pc.on_ground(model, q0, touching=FEET, above=0.02)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.r_[np.zeros(6), (-40.0 * pc.difference(model, q0, q) - v)[6:]]

    def drop(method: str, dt: float) -> Any:
        return run(model, q, np.zeros(18), tau, 0.12, dt, ground=pc.Ground(), touching=FEET, method=method)

    exact = drop("events", 2e-3)
    assert all(abs(x.time - np.sqrt(0.04 / G)) < 1e-6 for x in exact.touchdowns)
    steps = 1e-3 * 0.5 ** np.arange(7)
    apart = np.array([np.abs(drop("moreau", dt).q[-1] - exact.q[-1]).max() for dt in steps])
    assert (apart < 20.0 * steps).all(), apart
    # single ratios depend on where in a step the feet land
    assert np.polyfit(np.log(steps), np.log(apart), 1)[0] > 0.9, apart


@pytest.mark.ci
def test_impacts_turn_slides_round_and_keep_the_laws() -> None:
    model = pc.load("mini_cheetah")
    rest = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, 0.6, -1.2], 4)])
    rng = np.random.default_rng(0)
    turn, v = np.r_[np.zeros(3), 0.15 * rng.standard_normal(3), np.zeros(12)], np.zeros(18)
    q = pc.on_ground(model, pc.integrate(model, rest, turn), touching=FEET, above=0.01)
    v[:6] = 0.2 * rng.standard_normal(6)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.r_[np.zeros(6), (-40.0 * pc.difference(model, rest, q) - 1.8 * v)[6:]]

    result = run(model, q, v, tau, 0.08, 2e-3, ground=pc.Ground(0.7), touching=FEET)
    assert result.contact_laws[:, :2].max() < 1e-6
    assert result.contact_work.max() < 1e-9


@pytest.mark.ci
def test_a_thrown_block_comes_to_rest() -> None:
    model = block()
    q = pc.neutral(model)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rpyToMatrix(0.3, 0.4, 0.5), np.array([0.0, 0.0, 0.2])))
    result = run(
        model, q, [1.0, 0.3, 0, 1, 2, 3], None, 0.3, 5e-3, ground=pc.Ground(0.5, (0.1, 0.0, 1.0)), touching=CORNERS
    )
    assert np.abs(result.v[-1]).max() < 1e-12
    assert result.contact_work.max() < 1e-12
    assert result.gap.min() > -1e-10
    assert result.contact_laws.max() < 1e-4
    assert result.contact_laws[:, :2].max() < 1e-6


def test_what_it_does_not_know_is_refused() -> None:
    model = block()
    geometry = pin.GeometryModel()
    geometry.addGeometryObject(
        pin.GeometryObject("barrel", model.getJointId("body"), 0, pin.SE3.Identity(), coal.Cylinder(0.1, 0.2))
    )
    with raises(pc.SimulationError, "'events'"):
        run(model, pc.neutral(model), np.zeros(6), None, 0.1, 1e-2, ground=pc.Ground(height=-1.0), touching=geometry)
    with raises(pc.SimulationError, "'events'"):
        run(model, pc.neutral(model), np.zeros(6), None, 0.1, 1e-2)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"rtol": 0.0}, pc.SimulationError, "rtol 0"),
        ({"rtol": float("nan")}, pc.SimulationError, "rtol nan"),
        ({"atol": "fine"}, pc.ArgumentTypeError, "atol 'fine'"),
        ({"atol": 1e-9, "method": "moreau"}, pc.SimulationError, "'moreau' dt"),
        ({"rtol": 1e-9, "method": "rk4", "ground": None, "touching": None}, pc.SimulationError, "method='events'"),
    ],
)
def test_tolerances_that_are_refused(given: dict[str, Any], error: type[Exception], says: str) -> None:
    model = block()
    with raises(error, says):
        run(
            model,
            pc.neutral(model),
            np.zeros(6),
            None,
            0.1,
            1e-2,
            **{"ground": pc.Ground(), "touching": CORNERS} | given,
        )


def test_what_diverges_is_said() -> None:
    model = robot(pin.JointModelPX(), pin.JointModelPZ())
    with raises(pc.SimulationError) as caught:
        run(
            model, np.zeros(2), [1.0, 0.0], lambda t, q, v: np.array([60.0 * v[0], 0.0]), 1.0, 0.25,
            ground=pc.Ground(0.0), touching={"body": [0.0, 0.0, 0.0]}, rtol=1e-5,
        )  # fmt: skip
    assert caught.value.result.v[-1, 0] == pytest.approx(np.exp(30.0 * caught.value.result.time[-1]), rel=1e-3)


def test_a_storm_of_events_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_MOST", 3)
    model = block()
    q = pc.neutral(model)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rpyToMatrix(0.3, 0.4, 0.5), np.array([0.0, 0.0, 0.2])))
    with raises(pc.SimulationError, "3 'body' method='moreau'") as caught:
        run(model, q, [1.0, 0.3, 0, 1, 2, 3], None, 0.3, 5e-3, ground=pc.Ground(0.5, (0.1, 0.0, 1.0)), touching=CORNERS)
    assert 10 < len(caught.value.result.time) < 61


@pytest.mark.ci
def test_points_inside_the_hull_of_others_change_nothing() -> None:
    """A sole of 64 points touches at its four corners; a line of points touches at its ends."""
    tree = pin.Model()
    body = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    tree.appendBodyToJoint(body, pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.2), pin.SE3.Identity())
    model, side = pc.ClusterModel(tree), np.linspace(-0.1, 0.1, 8)
    sole = np.array([(x, 0.5 * y, -0.1) for x in side for y in side])
    tilt = pin.Quaternion(pin.exp3(np.array([0.02, 0.03, 0.0]))).coeffs()
    q = pc.on_ground(model, np.r_[0.0, 0.0, 0.0, tilt], touching={"body": sole}, above=0.01)
    v = np.r_[0.3, 0.2, 0.0, 0.0, 0.0, 0.0]
    runs = [
        pc.simulate(model, q, v, duration=0.1, dt=0.01, ground=pc.Ground(0.4), touching={"body": x}, method="events")
        for x in (sole, sole[[0, 7, 56, 63]])
    ]
    assert runs[0].touchdowns
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() < 1e-9
    line = pc.contact_points(model, {"body": np.outer(side, (1.0, 2.0, 0.0))})
    assert sorted(events.corners(line).places[:, 0]) == [-0.1, 0.1]
    assert len(events.corners(pc.contact_points(model, {"body": np.zeros((3, 3))}))) == 1


def test_too_many_points_at_once_are_refused() -> None:
    """A ring of 40 points lands flat: the search for modes would take minutes."""
    tree = pin.Model()
    body = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    tree.appendBodyToJoint(body, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), pin.SE3.Identity())
    model, angle = pc.ClusterModel(tree), 2.0 * np.pi * np.arange(40) / 40
    ring = {"body": np.c_[0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full(40, -0.1)]}
    q = [0.0, 0.0, 0.11, 0.0, 0.0, 0.0, 1.0]
    with raises(pc.TooLargeError, "40 20 method='moreau'"):
        pc.simulate(model, q, np.zeros(6), duration=0.3, dt=0.01, ground=pc.Ground(), touching=ring, method="events")
