"""Laws of contact: what lands, sticks, slides and leaves does so whatever the implementation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support import grounds
from support.ground_steps import rebuild
from support.messages import raises

import pin_clusters as pc
from pin_clusters.simulation.ground.solver import Impulses, NotSolved

pytestmark = grounds.NEEDED

G = 9.81


def slide(degrees: float, mass: float) -> tuple[float, float]:
    """How far a block has gone on a slope of so much more than atan(mu), and how far it should, after 0.5 s."""
    mu, T = 0.5, 0.5
    slope = np.arctan(mu) + np.deg2rad(degrees)
    model = grounds.block(mass=mass)
    points = pc.contact_points(model, {"block": grounds.corners(grounds.BLOCK)[::2]})  # of the lower face
    ground = pc.Ground(mu, (np.sin(slope), 0.0, np.cos(slope)))
    R = pin.utils.rotate("y", slope)
    q = np.r_[R @ [0.0, 0.0, 0.05], pin.Quaternion(R).coeffs()]
    r = pc.simulate(model, q, np.zeros(6), duration=T, dt=1e-3, ground=ground, touching=points)
    law = max(0.0, G * (np.sin(slope) - mu * np.cos(slope)) * T**2 / 2)
    assert r.contact_laws[:, 0].max() < 1e-12 * max(1.0, mass)
    return float(np.linalg.norm(r.q[-1, :3] - q[:3])), law


@pytest.mark.parametrize(("degrees", "mass"), [(-0.05, 2.0), (0.05, 2.0), (5.0, 2.0), (0.05, 1e-6), (0.05, 1e6)])
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above_it(degrees: float, mass: float) -> None:
    """Whatever its mass: tolerances are velocities."""
    found, law = slide(degrees, mass)
    assert abs(found - law) < 1e-6
    assert (law > 1e-4) == (degrees > 0.0)


def test_without_friction_it_slides_as_on_ice() -> None:
    model, points = grounds.robot("block")
    ground = pc.Ground(0.0, (1.0, 0.0, 1.0))
    R = pin.utils.rotate("y", np.pi / 4)
    q = np.r_[R @ [0.0, 0.0, 0.05], pin.Quaternion(R).coeffs()]
    r = pc.simulate(model, q, np.zeros(6), duration=0.2, ground=ground, touching=points)
    assert abs(np.linalg.norm(r.q[-1, :3] - q[:3]) - G * np.sqrt(0.5) * 0.02) < 1e-6
    along = r.contact_impulses @ np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]).T
    assert np.abs(along).max() < 1e-12


def thrown(dt: float, seed: int = 0, duration: float = 1.0) -> pc.SimulationResult:
    model, points = grounds.robot("block")
    rng = np.random.default_rng(seed)
    ground = pc.Ground(0.4)
    q = np.r_[0.0, 0.0, 0.0, pin.Quaternion(pin.exp3(rng.normal(size=3))).coeffs()]
    q = pc.on_ground(model, q, ground, points, above=0.1)
    v = np.r_[1.0, 0.5, 0.0, 4.0 * rng.normal(size=3)]
    return pc.simulate(model, q, v, duration=duration, dt=dt, ground=ground, touching=points)


def rise(r: pc.SimulationResult) -> float:
    """By how much the energy is above its lowest so far, at most."""
    return float((r.energy - np.minimum.accumulate(r.energy)).max())


def test_a_thrown_blocks_energy_falls_and_it_comes_to_rest() -> None:
    runs = [thrown(dt, 2, 0.5) for dt in (2e-3, 1e-3, 5e-4)]
    above = [rise(r) for r in runs]
    assert above[0] < 1e-3 * np.ptp(runs[0].energy)
    # what is lost goes through the contacts; weight works along the middle of two velocities: of first order too
    apart = [abs(r.contact_work.sum() - (r.energy[-1] - r.energy[0])) for r in runs]
    assert apart[1] < 0.02 * np.ptp(runs[1].energy)
    assert 1.6 < above[0] / above[1] < 2.4
    assert 1.6 < above[1] / above[2] < 2.4
    for dt, x in zip((2e-3, 1e-3, 5e-4), apart, strict=True):  # how much depends on where in a step each corner lands
        assert x < 25.0 * dt
    r = thrown(1e-3, 0, 0.5)
    assert np.abs(r.v[-1]).max() < 1e-6
    assert abs(r.contact_impulses[-50:-1, 0, 2] - 2.0 * G * 1e-3).max() < 1e-8
    assert (r.contact_work <= 0.0).all()
    assert r.contact_work.sum() < -1.0


def body_that_lands(seed: int) -> tuple[pc.ClusterModel, dict[str, Any], np.ndarray, float]:
    """A rigid body that falls at 1 m/s onto an eccentric point, and slides: model, point, velocity, friction."""
    rng = np.random.default_rng(seed)
    moments = 10 ** rng.uniform(-3.0, -1.5, 3)
    moments = np.minimum(moments, 0.99 * (moments.sum() - moments))  # of a body that there can be
    point, v, friction = (
        rng.uniform(-0.3, 0.3, 3),
        np.r_[rng.uniform(-1.5, 1.5, 2), -1.0, 0.0, 0.0, 0.0],
        rng.uniform(0.2, 1.2),
    )
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    tree.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.diag(moments)), pin.SE3.Identity())
    tree.gravity.linear = np.zeros(3)
    return pc.ClusterModel(tree), {"body": [*point[:2], -0.1]}, v, float(friction)


PHASES = np.linspace(0.02, 0.98, 5)


def spread(runs: list[pc.SimulationResult]) -> float:
    """By how much impulses and final velocities differ, relative to their size."""
    impulses, v = np.array([r.contact_impulses.sum(axis=(0, 1)) for r in runs]), np.array([r.v[-1] for r in runs])
    assert np.linalg.norm(impulses, axis=1).min() > 1e-3
    return max(
        float(np.linalg.norm(np.ptp(impulses, axis=0)) / np.linalg.norm(impulses[0])),
        float(np.ptp(v, axis=0).max() / np.abs(v).max()),
    )


@pytest.mark.parametrize("seeds", [range(17, 23), pytest.param(range(60), marks=pytest.mark.ci)], ids=["6", "60"])
def test_a_sliding_impact_does_not_depend_on_its_time_within_a_step(seeds: range) -> None:
    """Dividing an impact between two steps changes its impulse by up to 14 % (seed 17), at any step size."""
    dt = 1e-4
    for seed in seeds:
        model, point, v, friction = body_that_lands(seed)
        q, runs = pc.neutral(model), []
        for phase in PHASES:
            q[2] = 0.1 + dt * (5.5 + phase)
            runs.append(pc.simulate(model, q, v, duration=12 * dt, dt=dt, ground=pc.Ground(friction), touching=point))
        assert spread(runs) < 0.01


@pytest.mark.parametrize("seed", [1, pytest.param(0, marks=pytest.mark.ci), pytest.param(3, marks=pytest.mark.ci)])
def test_nor_does_the_landing_of_an_arm(seed: int) -> None:
    """An arm of four hinges lands on its tip; the ground is placed where the tip is at the time of the landing."""
    rng, tree, joint, tip = np.random.default_rng(seed), pin.Model(), 0, np.array([0.3, 0.0, 0.0])
    for i in range(4):
        axis, turn, offset = rng.normal(size=3), pin.exp3(rng.uniform(-0.3, 0.3, 3)), rng.uniform(-0.05, 0.05, 3)
        hinge = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        joint = tree.addJoint(joint, hinge, pin.SE3(turn, offset + (i > 0) * tip), f"hinge {i}")
        tree.appendBodyToJoint(joint, pin.Inertia(1.0, 0.5 * tip, np.diag([0.002, 0.01, 0.01])), pin.SE3.Identity())
    model, dt = pc.ClusterModel(tree), 1e-4
    data, q, v = model.createData(), rng.uniform(-0.5, 0.5, 4), rng.uniform(-2.0, 2.0, 4)
    runs = []
    for phase in PHASES:
        flight = pc.simulate(model, q, v, np.zeros(4), 20e-3 + phase * dt, dt)
        pc.forwardKinematics(model, data, flight.q[-1], flight.v[-1])
        place, velocity = data.oMi[joint].act(tip), data.oMi[joint].act(data.v[joint])
        rate = velocity.linear + np.cross(velocity.angular, place)
        normal = np.linspace(0.3, -0.2, 3) - rate / np.linalg.norm(rate)  # oblique
        normal /= np.linalg.norm(normal)
        ground = pc.Ground(0.4, tuple(normal), float(normal @ place))
        runs.append(pc.simulate(model, q, v, np.zeros(4), 24e-3, dt, ground=ground, touching={f"hinge {3}": tip}))
    assert spread(runs) < 0.01


@pytest.mark.ci
@pytest.mark.parametrize("name", ["mini_cheetah", "mit_humanoid"])
def test_a_robot_that_rests_does_not_drift(name: str) -> None:
    """A robot stands under PD control; when its slow rocking has decayed, nothing moves by more than 1e-6 m."""
    model, points = grounds.robot(name)
    home = pc.neutral(model)
    if name == "mini_cheetah":
        home = pc.integrate(model, home, np.r_[np.zeros(6), np.tile([0.1, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, touching=points, above=1e-4)
    r = pc.simulate(model, q, np.zeros(model.nv), grounds.held(model, home, 200.0, 6.0), 60.0, 1e-3,
                    ground=pc.Ground(0.8), touching=points, record=1000)  # fmt: skip
    settled = 10 if name == "mini_cheetah" else 45  # s
    assert np.abs(r.q[settled:] - r.q[-1]).max() < 1e-6
    assert r.gap.min() > -1e-8


def landing(name: str, dt: float = 1e-3, duration: float = 0.15, mu: float = 0.6) -> Any:
    """A robot that falls on its feet, slides and sticks."""
    model, _ = grounds.robot(name)
    points, ground = pc.contact_points(model, grounds.feet(name)), pc.Ground(mu, (0.1, -0.05, 1.0), 0.3)
    home = pc.neutral(model)
    if name == "mini_cheetah":
        home = pc.integrate(model, home, np.r_[np.zeros(6), np.tile([0.1, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, ground, points, above=0.02)
    v = np.zeros(model.nv)
    v[:6] = 0.4, 0.2, -1.0, 0.5, -0.5, 0.3
    gains, stops = ((10.0, 0.1), "position") if name == "tello" else ((60.0, 1.5), False)
    r = pc.simulate(
        model, q, v, grounds.held(model, home, *gains), duration, dt, ground=ground, touching=points, limits=stops
    )
    return model, points, ground, r


def test_each_steps_impulses_obey_the_laws() -> None:
    """Recomputed: one point per body, so that the impulses of the result are those of points."""
    model, points, ground, r = landing("mini_cheetah")
    assert r.contact_impulses.shape[1] == 4
    seen = 0
    for k in range(15, len(r.time) - 1, 3):
        s = rebuild(model, r, k, points, ground)
        l = (r.contact_impulses[k] @ s.axes.T).ravel()
        change = s.M @ (s.after - s.free)
        assert np.abs(change - s.J.T @ l).max() < 1e-12 * max(1.0, np.abs(s.M @ s.free).max())
        assert s.room.min() > -1e-8
        assert np.abs(r.gap[k] - s.room)[np.isfinite(r.gap[k])].max(initial=0.0) < 1e-12
        u, l = s.end.reshape(-1, 3), l.reshape(-1, 3)
        assert (np.hypot(l[:, 0], l[:, 1]) <= ground.friction * l[:, 2] + 1e-12).all()
        assert u[:, 2].min() > -1e-6
        lost = np.sum(l * u, axis=1) + ground.friction * np.hypot(u[:, 0], u[:, 1]) * l[:, 2]
        assert np.abs(lost).max() < 1e-6
        # the most work that friction can take: against the velocity where it slides
        for x, rate in zip(l, u, strict=True):
            if x[2] > 1e-6 and np.hypot(*rate[:2]) > 1e-3:
                assert np.abs(x[:2] + ground.friction * x[2] * rate[:2] / np.hypot(*rate[:2])).max() < 1e-4 * x[2]
                seen += 1
        work = 0.5 * np.sum(l * (s.J @ (s.free + s.after)).reshape(-1, 3))
        assert abs(work - r.contact_work[k]) < 1e-9
    assert seen > 5
    assert (r.contact_work <= 0.0).all()
    assert r.contact_laws[:, 0].max() < 1e-12
    assert r.contact_laws[:, 1].max() < 1e-6


@pytest.mark.parametrize("name", ["mit_humanoid", "tello", pytest.param("cassie", marks=pytest.mark.long)])
def test_momentum_changes_by_the_impulses_of_bodies(name: str) -> None:
    """Their sums and centres of pressure give force and moment, but for the moment about the normal."""
    model, points, ground, r = landing(name, duration=0.25)
    times = np.flatnonzero(r.contact_impulses.any(axis=(1, 2)))
    times = times[:: max(1, len(times) // 6)]
    assert len(times) > 3
    for k in times.tolist():
        s = rebuild(model, r, k, points, ground)
        change = s.M @ (s.after - s.free)
        R, x = pin.Quaternion(s.q[3:7]).toRotationMatrix(), s.q[:3]
        pushed = r.contact_impulses[k].any(axis=1)
        force, centre = r.contact_impulses[k][pushed], r.contact_centres[k][pushed]
        size = np.abs(change).max() + np.abs(s.M[:6] @ s.free).max()
        assert np.abs(R @ change[:3] - force.sum(axis=0)).max() < 1e-12 * size
        # what is left of the moment is the friction's, about the normal, as points that push lie in a plane, almost
        moment = R @ change[3:6] - np.cross(centre - x, force).sum(axis=0)
        assert np.abs(moment - (moment @ s.axes[2]) * s.axes[2]).max() < 1e-6 * size
    assert (r.contact_work <= 0.0).all()
    assert r.residual.max() < 1e-12


def test_second_order_in_flight() -> None:
    model, points = grounds.robot("mini_cheetah")
    rng = np.random.default_rng(5)
    q, v = pc.integrate(model, pc.neutral(model), 0.3 * rng.normal(size=18)), 3.0 * rng.normal(size=18)
    exact = pc.simulate(model, q, v, duration=0.2, dt=5e-4, method="rkmk4")
    far = pc.Ground(height=-100.0)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        r = pc.simulate(model, q, v, duration=0.2, dt=dt, ground=far, touching=points)
        assert r.method == "moreau"
        assert not r.contact_impulses.any()
        assert np.isinf(r.gap).all()
        errors.append(np.abs(pc.difference(model, exact.q[-1], r.q[-1])).max())
    assert errors[-1] < 2e-5
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5


def test_first_order_in_stance() -> None:
    """Against contacts that are held: nothing leaves, nothing slides."""
    model, _ = grounds.robot("mini_cheetah")
    points, ground = pc.contact_points(model, grounds.feet("mini_cheetah")), pc.Ground(5.0)
    home = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, ground, points)
    aim = pc.integrate(model, home, np.r_[np.zeros(6), np.tile([0.0, 0.02, -0.03], 4)])
    pose = grounds.held(model, aim, 100.0, 2.0)
    held = [
        pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, int(j), pin.SE3(np.eye(3), x), 0, pin.SE3.Identity())
        for j, x in zip(points.joints, points.places, strict=True)
    ]
    exact = pc.simulate(model, q, np.zeros(18), pose, 0.1, 1e-3, method="rkmk4", contacts=held)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        r = pc.simulate(model, q, np.zeros(18), pose, 0.1, dt, ground=ground, touching=points)
        errors.append(np.abs(pc.difference(model, exact.q[-1], r.q[-1])).max())
        force = np.linalg.norm(r.contact_impulses[-2] / dt, axis=1)
    assert np.abs(exact.q[-1] - exact.q[0]).max() > 5e-3  # it moves
    assert errors[-1] < 1e-3
    assert 1.7 < errors[0] / errors[1] < 2.4
    assert 1.7 < errors[1] / errors[2] < 2.4
    there = np.linalg.norm(exact.contact_forces[-1].reshape(-1, 3), axis=1)
    assert np.abs(force - there).max() < 0.01 * there.max()


def world_turned(turn: np.ndarray, name: str = "mini_cheetah") -> tuple[Any, ...]:
    """The same landing in a world that is turned: its gravity, its ground, the robot and its speed."""
    model, points = grounds.robot(name)
    tree = model.tree.copy()
    tree.gravity.linear = turn @ tree.gravity.linear
    there = pc.ClusterModel(tree, model.constraints, q_reference=model.q_reference, preferred=model.preferred)
    ground = pc.Ground(0.5, tuple(turn @ [0.1, 0.0, 1.0]), 0.2)
    base = pc.neutral(model)
    q = pc.on_ground(model, base, pc.Ground(0.5, (0.1, 0.0, 1.0), 0.2), points, above=0.01)
    q[:3] = turn @ q[:3]
    q[3:7] = pin.Quaternion(turn @ pin.Quaternion(q[3:7]).toRotationMatrix()).coeffs()
    v = np.r_[0.5, 0.3, -1.0, 1.0, 0.5, 0.3, np.linspace(-1.0, 1.0, model.nv - 6)]
    return there, q, v, ground, pc.contact_points(there, grounds.feet(name))


def test_a_turned_world_gives_turned_motion() -> None:
    turn = pin.exp3(np.array([0.7, -1.1, 0.4]))
    ends = []
    for R in (np.eye(3), turn):
        model, q, v, ground, points = world_turned(R)
        r = pc.simulate(model, q, v, duration=0.08, dt=1e-3, ground=ground, touching=points)
        assert r.contact_impulses.any()
        ends.append((r.q[-1, :3] @ R, r.q[-1, 7:], r.v[-1], r.contact_impulses.sum(axis=0) @ R))
    for one, two in zip(*ends, strict=True):
        assert np.abs(one - two).max() < 1e-5  # the solver's tolerance, over the steps


def test_a_mirrored_robot_moves_mirrored() -> None:
    """Left and right of the humanoid are mirrored: so are their poses, speeds, and all that follows."""
    model, _ = grounds.robot("mini_cheetah")
    points, ground = pc.contact_points(model, grounds.feet("mini_cheetah")), pc.Ground(0.5)
    names, flip = list(model.independent_joints), np.diag([1.0, -1.0, 1.0])

    def mirrored(x: np.ndarray) -> np.ndarray:
        """Of a velocity: left is right; axes in the mirror's plane turn the other way."""
        out = np.empty_like(x)
        out[:3], out[3:6] = flip @ x[:3], -flip @ x[3:6]
        for name in names[1:]:
            other = (
                name.translate(
                    str.maketrans("LR", "RL"),
                )
                if name[1] in "LR"
                else name
            )
            other = name[0] + {"L": "R", "R": "L"}[name[1]] + name[2:]
            out[model.joint_idx_v(other)] = x[model.joint_idx_v(name)] * (-1.0 if name.endswith("abad") else 1.0)
        return out

    x = 0.2 * np.cos(np.arange(18.0))
    x[:3] = 0.0
    v = np.sin(np.arange(18.0))
    v[2] = -1.0
    runs = []
    for pose, speed in ((x, v), (mirrored(x), mirrored(v))):
        q = pc.on_ground(model, pc.integrate(model, pc.neutral(model), pose), ground, points, above=0.005)
        runs.append(pc.simulate(model, q, speed, duration=0.08, dt=1e-3, ground=ground, touching=points))
    one, two = runs
    assert one.contact_impulses.any()
    assert np.abs(mirrored(one.v[-1]) - two.v[-1]).max() < 1e-5
    assert np.abs(one.q[-1, :3] * [1.0, -1.0, 1.0] - two.q[-1, :3]).max() < 1e-7
    assert np.abs(one.contact_impulses[:, [1, 0, 3, 2]] * [1.0, -1.0, 1.0] - two.contact_impulses).max() < 1e-5


@pytest.mark.ci
def test_loops_stay_closed_for_ten_thousand_steps() -> None:
    """A linkage swings against its stops."""
    model = pc.load("ankle_2rsu")
    tau = lambda t, q, v: np.array([8.0 * np.sin(9.0 * t), 5.0 * np.cos(7.0 * t)]) - 0.3 * v  # noqa: E731
    r = pc.simulate(model, pc.neutral(model), np.zeros(2), tau, 10.0, 1e-3, limits=True)
    assert len(r.time) == 10001
    assert r.residual.max() < 1e-12
    assert (r.limit_impulses > 0.0).any(axis=0).sum() >= 2
    over = np.maximum(model.lowerPositionLimit - r.q, r.q - model.upperPositionLimit).max()
    assert over < 1e-5


@pytest.mark.ci
def test_stops_of_dependent_joints() -> None:
    """A crank of the ankle stops it: its law, recomputed, and the work of stops."""
    model = pc.load("ankle_2rsu")
    r = pc.simulate(model, pc.neutral(model), np.zeros(2), [-8.0, -8.0], 0.3, 1e-3, limits=True)
    ends = []
    for j in range(1, model.njoints):
        name, at = model.names[j], model.tree.joints[j].idx_q
        ends += [(name, 1.0, model.lowerPositionLimit[at]), (name, -1.0, model.upperPositionLimit[at])]
    nothing = pc.ContactPoints(np.zeros(0, dtype=int), np.zeros((0, 3)), np.zeros(0))
    pushed = r.limit_impulses[:-1].sum(axis=0) > 0.0
    assert {r.stops[i].split()[0] for i in np.flatnonzero(pushed)} & {"crank_left", "crank_right"}
    for k in np.flatnonzero(r.limit_impulses.any(axis=1)).tolist():
        s = rebuild(model, r, k, nothing, pc.Ground(), ends)
        l = r.limit_impulses[k]
        assert np.abs(s.M @ (s.after - s.free) - s.J.T @ l).max() < 1e-12
        assert l.min() >= 0.0
        assert s.end.min() > -1e-6
        assert np.abs(l * s.end).max() < 1e-8
        assert s.room.min() > -1e-8
    assert (r.contact_work <= 0.0).all()
    assert np.abs(r.v[-1]).max() < 1e-6  # it rests against them


def test_a_joint_at_its_stop_on_the_ground() -> None:
    """A foot on a slide, pushed down by a spring's torque beyond what it has: stop and ground at once."""
    tree = pin.Model()
    body = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    leg = tree.addJoint(body, pin.JointModelPZ(), pin.SE3.Identity(), "leg")
    tree.appendBodyToJoint(body, pin.Inertia.FromSphere(3.0, 0.2), pin.SE3.Identity())
    tree.appendBodyToJoint(leg, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.3])))
    low, high = tree.lowerPositionLimit.copy(), tree.upperPositionLimit.copy()
    low[7], high[7] = -0.05, 0.05
    tree.lowerPositionLimit, tree.upperPositionLimit = low, high
    model = pc.ClusterModel(tree)
    feet = {"leg": [(x, y, -0.4) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]}
    q = pc.on_ground(model, pc.neutral(model), touching=feet)
    r = pc.simulate(model, q, np.zeros(7), duration=0.4, ground=pc.Ground(), touching=feet, limits=True)
    # the body falls 0.05 m until the leg's upper end, and stands there on its stop
    assert abs(r.q[-1, 7] - 0.05) < 1e-8
    assert np.abs(r.v[-1]).max() < 1e-6
    assert abs(r.limit_impulses[-2].sum() - 3.0 * G * 1e-3) < 1e-6
    assert abs(r.contact_impulses[-2, 0, 2] - 4.0 * G * 1e-3) < 1e-6


@pytest.mark.parametrize("count", [1, 64])
def test_many_contacts_at_once(count: int) -> None:
    """A plate on 64 points lands flat and stands; a ball on one falls over its point."""
    model = grounds.block()
    side = np.linspace(-0.1, 0.1, int(np.sqrt(count)))
    points = {"block": [(x if count > 1 else 0.0, y if count > 1 else 0.0, -0.05) for x in side for y in side]}
    q = pc.on_ground(model, pc.neutral(model), touching=points, above=0.01)
    v = np.r_[0.3, 0.0, 0.0, np.zeros(3)]
    r = pc.simulate(model, q, v, duration=0.15, ground=pc.Ground(0.5), touching=points)
    assert len(r.touchdowns) == 1
    t = r.touchdowns[0]
    assert abs(t.time - np.sqrt(2 * 0.01 / G)) < 2e-3
    assert abs(t.impulse[2] - 2.0 * np.sqrt(2 * G * 0.01)) < 0.1
    assert r.gap.min() > -1e-8
    if count == 64:
        assert np.abs(r.v[-1]).max() < 1e-6
        assert abs(r.contact_impulses[-2, 0, 2] - 2.0 * G * 1e-3) < 1e-7
        assert r.contact_laws[:, 1].max() < 1e-5


def test_all_leave_and_land_at_once() -> None:
    """A robot jumps by a push of all legs: no impulse in flight, parabola, and it lands again."""
    model, _ = grounds.robot("mini_cheetah")
    points = pc.contact_points(model, grounds.feet("mini_cheetah"))
    home = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, touching=points)
    driven = np.arange(18) >= 6

    def jump(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        stretch = np.r_[np.zeros(6), np.tile([0.0, 0.4, -0.8], 4)]
        aim = pc.integrate(model, home, stretch if 0.05 < t < 0.1 else np.zeros(18))
        return driven * (100.0 * pc.difference(model, q, aim) - 3.0 * v)

    r = pc.simulate(model, q, np.zeros(18), jump, 0.65, 1e-3, ground=pc.Ground(0.8), touching=points)
    pressed = r.contact_impulses[:, :, 2].sum(axis=1) > 0.0
    assert (r.contact_impulses[:50, :, 2] > 0.0).all()
    air = np.flatnonzero(~pressed[:-1])
    assert len(air) > 50
    assert (np.diff(air) == 1).all()
    assert {t.body for t in r.touchdowns if t.time > 0.2} == {model.names[j] for j in points.joints.tolist()}
    flight, data = range(air[0] + 1, 99), model.createData()
    momentum = [pc.computeCentroidalMomentum(model, data, r.q[k], r.v[k]).linear[2] for k in flight]
    mass = sum(i.mass for i in model.inertias)
    assert np.abs(np.diff(momentum) / (1e-3 * mass) + G).max() < 1e-3


def test_an_end_that_another_presses_down() -> None:
    """A rod lands on one end at 10 m/s; the other one, open by 3 m/s, is thrown to the ground in the same step."""
    size, h = (1.0, 0.02, 0.02), 1e-3
    model = grounds.block(size)
    points = pc.contact_points(model, {"block": [(-0.5, 0.0, -0.01), (0.5, 0.0, -0.01)]})
    q = np.r_[0.0, 0.0, 0.0, pin.Quaternion(pin.utils.rotate("y", 0.003)).coeffs()]
    q = pc.on_ground(model, q, pc.Ground(), points, above=0.003)
    v = np.r_[0.0, 0.0, -5.0, 0.0, -10.0, 0.0]
    r = pc.simulate(model, q, v, duration=h, dt=h, ground=pc.Ground(), touching=points)
    s = rebuild(model, r, 0, points, pc.Ground())
    free = (s.J @ s.free + s.offset)[2::3]
    assert free[0] < -5.0
    assert free[1] > 1.5
    assert np.abs(s.end[2::3]).max() < 1e-6  # both are closed


@pytest.mark.ci
def test_the_ground_pushes_nobody_who_is_not_there() -> None:
    """Zero contacts: the same motion with a ground far off, and a robot that cannot leave its base."""
    model = pc.load("four_bar")
    r = pc.simulate(model, pc.neutral(model), np.ones(1), duration=0.1, ground=pc.Ground(height=-9.0),
                    touching={"coupler": (0.0, 0.0, 0.0)})  # fmt: skip
    exact = pc.simulate(model, pc.neutral(model), np.ones(1), duration=0.1)
    assert np.abs(r.q - exact.q).max() < 1e-5
    assert not r.contact_impulses.any()
    assert not r.touchdowns


def test_painleves_rod(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rod slides on its point, so leaning and so rough that a push along the ground presses it in.

    Forces have no answer there; impulses have one, an impact without collision: the point jams, and energy is lost.
    What the solvers cannot do is said.
    """
    tree = pin.Model()
    rod = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "rod")
    tree.appendBodyToJoint(rod, pin.Inertia(1.0, np.zeros(3), np.diag([1e-2, 1e-2, 1e-3])), pin.SE3.Identity())
    model, tip = pc.ClusterModel(tree), {"rod": (0.0, 0.0, -0.5)}

    def slide(angle: float, mu: float) -> pc.SimulationResult:
        # G_nn and G_nt of a rod: 1 / m + (l sin)^2 / I and l^2 sin cos / I
        s, c = 0.5 * np.sin(angle), 0.5 * np.cos(angle)
        assert (1.0 + s * s / 1e-2 < mu * s * c / 1e-2) == (mu > 0.5)
        R = pin.utils.rotate("y", angle)
        q = pc.on_ground(model, np.r_[0.0, 0.0, 0.0, pin.Quaternion(R).coeffs()], touching=tip)
        v = np.r_[R.T @ [-5.0, 0.0, 0.0], np.zeros(3)]
        return pc.simulate(model, q, v, duration=0.02, dt=1e-3, ground=pc.Ground(mu), touching=tip)

    assert slide(0.6, 0.3).contact_impulses[0].max() < 0.02
    for mu in (1.0, 3.0):
        r = slide(0.6, mu)
        assert r.contact_impulses[0, 0, 2] > 1.0  # at once, though it came along the ground
        assert r.contact_laws[:, 0].max() < 1e-12
        assert r.contact_laws[:, 1].max() < 1e-6
        assert r.energy[1] < r.energy[0] - 1.0
    monkeypatch.setattr(Impulses, "solve", lambda *_: (_ for _ in ()).throw(NotSolved(1.0, 7)))
    monkeypatch.setattr("pin_clusters.simulation.ground.compiled_steps.GOOD", -1.0)  # nothing is good enough
    with raises(pc.SimulationError, "7 friction") as caught:
        slide(0.9, 8.0)
    assert caught.value.result is not None
    assert len(caught.value.result.time) == 1


def test_a_limp_robot_falls_in_a_heap() -> None:
    model, points = grounds.robot("mini_cheetah")
    q = pc.on_ground(model, pc.neutral(model), pc.Ground(), points, above=0.05)
    v = np.r_[0.5, 0.0, 0.0, 2.0, 1.0, 0.0, np.full(12, 2.0)]
    r = pc.simulate(model, q, v, duration=0.6, ground=pc.Ground(0.6), touching=points)
    assert r.gap.min() > -1e-8
    assert (r.contact_work <= 0.0).all()
    assert rise(r) < 0.01 * np.ptp(r.energy)
    assert r.contact_laws[:, 1].max() < 1e-5


@pytest.mark.parametrize(
    "name", ["tello", *(pytest.param(n, marks=pytest.mark.long) for n in ("cassie", "mit_humanoid"))]
)
def test_what_the_ground_gives_is_weight_and_change_of_momentum(name: str) -> None:
    """Over a landing; first order in dt, as the weight works at the middle of each step."""
    off = []
    for dt in (1e-3, 5e-4):
        model, _, _, r = landing(name, dt, 0.3)
        data, mass = model.createData(), sum(i.mass for i in model.inertias)
        start, end = [pc.computeCentroidalMomentum(model, data, r.q[k], r.v[k]).linear for k in (0, -1)]
        given = r.contact_impulses.sum(axis=(0, 1))
        assert given[2] > 0.2 * mass * G * 0.3
        off.append(np.linalg.norm(end - start - given - [0.0, 0.0, -mass * G * 0.3]) / (mass * G * 0.3))
    assert off[0] < 5e-3
    assert off[1] < 0.75 * off[0]


@pytest.mark.ci
def test_who_stands_carries_its_weight() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load("tello")
    feet, home = grounds.feet("tello"), pc.neutral(model)
    q = pc.on_ground(model, home, touching=feet)
    held = grounds.held(model, home, 10.0, 0.1)
    r = pc.simulate(model, q, np.zeros(model.nv), held, 0.2, ground=pc.Ground(), touching=feet)
    weight = sum(i.mass for i in model.inertias) * G
    assert abs(r.contact_impulses[100:-1, :, 2].sum() / 0.1 - weight) < 0.02 * weight
    assert r.residual.max() < 1e-12
