"""States, residuals, dynamics with contacts and impacts for Crocoddyl, of any robot; and a hop."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples.bad_loops import parallelogram
from support.messages import raises

import pin_clusters as pc

croc = pytest.importorskip("crocoddyl", reason="needs Crocoddyl: pip install '.[control]'")
from pin_clusters import crocoddyl as pcc  # noqa: E402


def costs(state: Any, nu: int, deviation: Any = pcc.ResidualModelState) -> Any:
    """Return a sum of costs of state and control."""
    rng = np.random.default_rng(1)
    reference = state.integrate(state.zero(), 0.3 * rng.normal(size=state.ndx))
    total = croc.CostModelSum(state, nu)
    total.addCost("control", croc.CostModelResidual(state, croc.ResidualModelControl(state, nu)), 0.3)
    total.addCost("state", croc.CostModelResidual(state, deviation(state, reference, nu)), 2.0)
    return total


def draw(space: Any, nu: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a state near the neutral one, and controls."""
    rng = np.random.default_rng(0)
    return space.integrate(space.zero(), 0.3 * rng.normal(size=space.ndx)), rng.normal(size=nu)


def central(step: Any, space: Any, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives of a step by central differences along the space."""

    def reached(dx: np.ndarray, du: np.ndarray) -> np.ndarray:
        data = step.createData()
        step.calc(data, space.integrate(x, dx), u + du)
        return np.array(data.xnext)

    h, found = 1e-6, []
    for n, k in ((space.ndx, 0), (len(u), 1)):
        columns = []
        for e in h * np.eye(n):
            one, other = ((s * e, 0.0 * u) if k == 0 else (np.zeros(space.ndx), s * e) for s in (1.0, -1.0))
            columns.append(space.diff(reached(*other), reached(*one)) / (2.0 * h))
        found.append(np.array(columns).T)
    return found[0], found[1]


@pytest.mark.parametrize("robot", ["mit_humanoid", "four_bar"])
@pytest.mark.parametrize("integrator", ["euler", "four"])
def test_derivatives_of_a_step(robot: str, integrator: str) -> None:
    """A floating base with rotors that are bodies, and a closed loop."""
    model = pc.load(robot)
    space, motors = pcc.State(model), np.eye(model.nv)[:, 6 * (robot == "mit_humanoid") :]
    action = pcc.DifferentialActionModel(space, motors, (), costs(space, motors.shape[1]))
    euler = integrator == "euler"
    step = (
        croc.IntegratedActionModelEuler(action, 0.02)
        if euler
        else croc.IntegratedActionModelRK(action, croc.RKType.four, 0.02)
    )
    x, u = draw(space, motors.shape[1])
    data = step.createData()
    step.calc(data, x, u)
    step.calcDiff(data, x, u)
    for found, expected in zip((data.Fx, data.Fu), central(step, space, x, u), strict=True):
        found = np.reshape(found, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())


def test_states_are_those_of_pinocchio_without_couplings() -> None:
    """And so of Crocoddyl's ``StateMultibody``, which cannot be asked where it was built for another Pinocchio."""
    tree = pc.baselines.armature_model(pc.load("mit_humanoid"))
    space, n = pcc.State(pc.ClusterModel(tree)), tree.nq
    (x, _), y = draw(space, 1), space.rand()
    dx = space.diff(x, y)
    np.testing.assert_allclose(space.zero(), np.append(pin.neutral(tree), np.zeros(tree.nv)), atol=1e-14)
    np.testing.assert_allclose(dx, np.append(pin.difference(tree, x[:n], y[:n]), y[n:] - x[n:]), atol=1e-12)
    moved = np.append(pin.integrate(tree, x[:n], dx[: tree.nv]), x[n:] + dx[tree.nv :])
    np.testing.assert_allclose(space.integrate(x, dx), moved, atol=1e-12)
    arguments = {"Jdiff": (x, y), "Jintegrate": (x, dx)}
    of_q = {
        "Jdiff": pin.dDifference(tree, x[:n], y[:n]),
        "Jintegrate": pin.dIntegrate(tree, x[:n], dx[: tree.nv]),
    }
    one, zero = np.eye(tree.nv), np.zeros((tree.nv, tree.nv))
    for name, first in (("Jdiff", -one), ("Jintegrate", one)):
        expected = [np.block([[J, zero], [zero, of_v]]) for J, of_v in zip(of_q[name], (first, one), strict=True)]
        both = getattr(space, name)(*arguments[name])
        for k, which in enumerate((croc.Jcomponent.first, croc.Jcomponent.second)):
            np.testing.assert_allclose(getattr(space, name)(*arguments[name], which), expected[k], atol=1e-10)
            np.testing.assert_allclose(both[k], expected[k], atol=1e-10)
    moved = space.JintegrateTransport(x, dx, np.eye(space.ndx), croc.Jcomponent.second)
    np.testing.assert_allclose(moved, space.Jintegrate(x, dx, croc.Jcomponent.second), atol=1e-12)


def test_dynamics_and_costs_on_a_robot_with_armature() -> None:
    """Pinocchio has the dynamics; the costs are written down."""
    tree = pc.baselines.armature_model(pc.load("mit_humanoid"))
    space, motors, own = pcc.State(pc.ClusterModel(tree)), np.eye(tree.nv)[:, 6:], tree.createData()
    nu = motors.shape[1]
    x, u = draw(space, nu)
    action = pcc.DifferentialActionModel(space, motors, (), costs(space, nu))
    found = action.createData()
    action.calc(found, x, u)
    action.calcDiff(found, x, u)
    reference = space.integrate(space.zero(), 0.3 * np.random.default_rng(1).normal(size=space.ndx))
    r, J = space.diff(reference, x), np.eye(space.ndx)
    J[: tree.nv, : tree.nv] = pin.dDifference(tree, reference[: tree.nq], x[: tree.nq], pin.ARG1)
    slopes = pin.computeABADerivatives(tree, own, x[: tree.nq], x[tree.nq :], motors @ u)
    expected = {
        "cost": 0.15 * u @ u + r @ r, "Lx": 2.0 * J.T @ r, "Lu": 0.3 * u, "Lxx": 2.0 * J.T @ J, "Luu": 0.3 * np.eye(nu),
        "xout": own.ddq, "Fx": np.hstack(slopes[:2]), "Fu": slopes[2] @ motors,
    }  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-9 * np.abs(value).max(), err_msg=name)


def test_a_trial_at_a_singular_pose_is_not_a_number() -> None:
    """A parallelogram with all bars in line."""
    model = parallelogram()
    space = pcc.State(model)
    action = pcc.DifferentialActionModel(space, np.eye(1), (), costs(space, 1))
    x, data = np.zeros(4), action.createData()
    with pytest.raises(pc.SingularClusterError):
        pc.aba(model, model.createData(), x[:3], x[3:], np.ones(1))
    action.calc(data, x, np.ones(1))
    assert np.isnan(data.xout).all()


def stencil(function: Callable[[np.ndarray], np.ndarray], n: int, h: float = 4e-4) -> np.ndarray:
    """Return a derivative by central differences of fourth order: to 1e-9, where Crocoddyl's own end at 1e-7."""
    columns = []
    for e in h * np.eye(n):
        columns.append((8.0 * (function(e) - function(-e)) - function(2.0 * e) + function(-2.0 * e)) / (12.0 * h))
    return np.array(columns).T


POINT, FLAT, ALIGNED = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D, pin.LOCAL_WORLD_ALIGNED


@pytest.mark.filterwarnings("ignore:robot .* no real body")
@pytest.mark.parametrize(
    ("name", "frames", "kind", "axes"),
    [
        ("cassie_leg", ["foot"], POINT, ALIGNED),  # a fixed base, a closed loop
        pytest.param("mini_cheetah", ["FL_foot", "HR_foot"], POINT, ALIGNED, marks=pytest.mark.ci),
        pytest.param("mit_humanoid", ["left_ankle", "right_ankle"], FLAT, pin.LOCAL, marks=pytest.mark.ci),
        pytest.param("cassie", ["left_sole", "right_sole"], POINT, ALIGNED, marks=pytest.mark.ci),
        pytest.param("tello", ["left_ankle"], POINT, pin.LOCAL, marks=pytest.mark.ci),
    ],
)
def test_derivatives_with_contacts(name: str, frames: list[str], kind: Any, axes: Any) -> None:
    model = pc.load(name)
    space, contacts = pcc.State(model), []
    for frame in (model.frames[model.getFrameId(f)] for f in frames):
        contacts.append(pc.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement, axes))
        contacts[-1].m_baumgarte_parameters.Kd = 10.0
    motors = np.eye(model.nv)[:, 6 * (model.joints[1].nv == 6) :]
    nu = motors.shape[1]
    total, rows = costs(space, nu), len(frames) * (3 if kind == POINT else 6)
    cones = np.random.default_rng(3).normal(size=(rows + 1, rows))
    force = croc.CostModelResidual(space, pcc.ResidualModelContactForce(space, cones, nu))
    total.addCost("force", force, 1e-4)
    action = pcc.DifferentialActionModel(space, motors, contacts, total)
    (x, u), data, other = draw(space, nu), action.createData(), action.createData()
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    pc.computeJointJacobians(model, data.robot, x[: model.nq])
    J = pc.getConstraintsJacobian(model, data.robot, contacts, data.contacts)
    assert np.abs(J).max() > 0.1
    assert np.abs(J @ np.reshape(data.Fu, (model.nv, nu))).max() < 1e-8  # the contacts hold
    q, v = np.split(x, [model.nq])
    held = np.linalg.lstsq(J.T, pc.rnea(model, model.createData(), q, v, data.xout) - motors @ u)[0]
    found = data.costs.costs.todict()["force"].residual.r  # forces are what Newton's law leaves
    np.testing.assert_allclose(found, cones @ held, rtol=0.0, atol=1e-8 * np.abs(found).max())

    def reached(dx: np.ndarray, du: np.ndarray) -> np.ndarray:
        action.calc(other, space.integrate(x, dx), u + du)
        return np.append(other.xout, other.cost)

    rest = np.zeros(space.ndx)
    by_x, by_u = stencil(lambda dx: reached(dx, 0.0 * u), space.ndx), stencil(lambda du: reached(rest, du), nu)
    pairs = (data.Fx, by_x[:-1]), (data.Fu, by_u[:-1]), (data.Lx, by_x[-1]), (data.Lu, by_u[-1])
    for found, expected in pairs:
        found = np.reshape(found, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())
    theirs = croc.DifferentialActionModelNumDiff(action, True)
    differences = theirs.createData()
    theirs.calc(differences, x, u)
    theirs.calcDiff(differences, x, u)
    for name_of, expected in (("Fx", differences.Fx), ("Fu", differences.Fu)):
        found = np.reshape(getattr(data, name_of), np.shape(expected))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "frame"), [("cassie_leg", "foot"), pytest.param("mini_cheetah", "HR_foot", marks=pytest.mark.ci)]
)
@pytest.mark.filterwarnings("ignore:robot .* no real body")
def test_residuals_of_frames_and_the_centre_of_mass(name: str, frame: str) -> None:
    """Values are Pinocchio's for the tree, velocities by differences of its placements; so are the derivatives."""
    model = pc.load(name)
    space, tree, own, frame_id = pcc.State(model), model.tree, model.tree.createData(), model.getFrameId(frame)
    x, _ = draw(space, 1)

    def place(time: float) -> pin.SE3:
        pin.framesForwardKinematics(tree, own, pc.integrate(model, x[: model.nq], time * x[model.nq :]))
        return own.oMf[frame_id].copy()

    M, h, goal, v0 = place(0.0), 1e-4, pin.SE3.Random(), pin.Motion.Random()
    v = pin.Motion((pin.log6(M.actInv(place(h))) - pin.log6(M.actInv(place(-h)))).vector / (2.0 * h))
    aligned, point = pin.SE3(M.rotation, np.zeros(3)), np.array([0.1, 0.2, 0.3])
    velocity = pcc.ResidualModelFrameVelocity
    expected = [
        (pcc.ResidualModelFramePlacement(space, frame_id, goal, 2), pin.log6(goal.actInv(M)).vector),
        (pcc.ResidualModelFramePlacement(space, frame_id, point, 2), M.translation - point),
        (velocity(space, frame_id, v0, pin.LOCAL, 2), (v - v0).vector),
        (velocity(space, frame_id, v0, pin.WORLD, 2), (M.act(v) - v0).vector),
        (velocity(space, frame_id, v0, ALIGNED, 2), (aligned.act(v) - v0).vector),
        (
            pcc.ResidualModelCoMPosition(space, point, 2),
            pc.centerOfMass(model, model.createData(), x[: model.nq]) - point,
        ),
    ]
    for residual, value in expected:
        data, other = (residual.createData(croc.DataCollectorAbstract()) for _ in range(2))

        def reached(dx: np.ndarray, residual: Any = residual, other: Any = other) -> np.ndarray:
            residual.calc(other, space.integrate(x, dx))
            return np.array(other.r)

        residual.calc(data, x)
        residual.calcDiff(data, x)
        np.testing.assert_allclose(data.r, value, atol=1e-6 * (1.0 + np.abs(value).max()))
        by_x = stencil(reached, space.ndx)
        np.testing.assert_allclose(data.Rx, by_x, rtol=0.0, atol=1e-8 * np.abs(by_x).max())


def test_forces_need_the_contacts_of_their_rows() -> None:
    space = pcc.State(pc.load("four_bar"))
    total = croc.CostModelSum(space, 1)
    total.addCost("f", croc.CostModelResidual(space, pcc.ResidualModelContactForce(space, np.eye(3), 1)), 1.0)
    with raises(pc.ShapeError, "A (3, 3) 0"):
        pcc.DifferentialActionModel(space, np.eye(1), (), total).createData()
    with raises(pc.ShapeError, "ResidualModelContactForce costs (3, 3)"):
        total.createData(croc.DataCollectorAbstract())
    with raises(pc.ShapeError, "reference 2"):
        pcc.ResidualModelCoMPosition(space, np.zeros(2), 1)


def test_a_matrix_that_does_not_fit() -> None:
    space = pcc.State(pc.load("four_bar"))
    with raises(pc.ShapeError, "actuation (2, 1) (1, 1)"):
        pcc.DifferentialActionModel(space, np.ones((2, 1)), (), costs(space, 1))


def contacts_of(model: pc.ClusterModel, frames: list[str]) -> list[Any]:
    """Return contacts of points at frames, in axes of the world."""
    found = [model.frames[model.getFrameId(f)] for f in frames]
    return [pc.RigidConstraintModel(POINT, model, f.parentJoint, f.placement, ALIGNED) for f in found]


def motorised(name: str) -> pc.ClusterModel:
    """Return a robot whose motors sit on joints that loops make dependent."""
    model = pc.load(name)
    turned = {"four_bar": ["rocker"], "cassie_leg": ["tarsus", "foot_crank", "shin"]}.get(name, [])
    rotors = [pc.Rotor(joint, 7.0, axial_inertia=1e-4, name=f"on {joint}") for joint in turned]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.ClusterModel(model.tree, [*model.constraints, *rotors])


@pytest.mark.parametrize(
    ("name", "frames"),
    [("ankle_2rsu", []), ("four_bar", []), pytest.param("cassie_leg", ["foot"], marks=pytest.mark.ci)],
)
def test_torques_of_motors_turn_with_the_pose(name: str, frames: list[str]) -> None:
    model = motorised(name)
    space, nu, contacts = pcc.State(model), len(model.motors), contacts_of(model, frames)
    total = costs(space, nu)
    if contacts:
        force = pcc.ResidualModelContactForce(space, np.random.default_rng(3).normal(size=(2, 3)), nu)
        total.addCost("force", croc.CostModelResidual(space, force), 1e-4)
    action = pcc.DifferentialActionModel(space, None, contacts or None, total)
    (x, u), data, other = draw(space, nu), action.createData(), action.createData()
    action.calc(data, x, u)
    q, v = np.split(x, [model.nq])
    at, own = (model, model.createData(), q, v), [contact.createData() for contact in contacts]
    tau = pc.independent_torque(*at[:3], sum(t * gear_row(model, m) for t, m in zip(u, model.motors, strict=True)))
    expected = pc.constraintDynamics(*at, tau, contacts, own) if contacts else pc.aba(*at, tau)
    np.testing.assert_allclose(data.xout, expected, atol=1e-10 * np.abs(expected).max())

    def reached(dx: np.ndarray, du: np.ndarray) -> np.ndarray:
        action.calc(other, space.integrate(x, dx), u + du)
        return np.append(other.xout, other.cost)

    rest = np.zeros(space.ndx)
    by_x, by_u = stencil(lambda dx: reached(dx, 0.0 * u), space.ndx), stencil(lambda du: reached(rest, du), nu)
    for _ in range(2):  # once more without a step between
        action.calcDiff(data, x, u)
        pairs = (data.Fx, by_x[:-1]), (data.Fu, by_u[:-1]), (data.Lx, by_x[-1]), (data.Lu, by_u[-1])
        for found, slope in pairs:
            np.testing.assert_allclose(np.reshape(found, slope.shape), slope, atol=1e-8 * np.abs(slope).max())


def gear_row(model: pc.ClusterModel, motor: Any) -> np.ndarray:
    """Return torques of the tree by that of a motor."""
    row = np.zeros(model.tree.nv)
    for i, ratio in motor.drivers:
        row[i] += ratio
    return row


def test_a_matrix_of_one_pose_is_refused() -> None:
    model = pc.load("ankle_2rsu")
    space = pcc.State(model)
    one = pc.actuation_matrix(model, model.createData(), pc.neutral(model))
    with raises(pc.ConstraintError, "actuation 'ankle_2rsu'"):
        pcc.DifferentialActionModel(space, one, (), costs(space, 2))
    units = np.eye(2)[:, :1]
    assert pcc.DifferentialActionModel(space, units, (), costs(space, 1)).actuation is units
    leg = pc.load("cassie_leg")  # of loops, but its motors are on independent joints
    constant = pc.actuation_matrix(leg, leg.createData(), pc.neutral(leg))
    space = pcc.State(leg)
    for given in (constant, None):
        action = pcc.DifferentialActionModel(space, given, None, costs(space, constant.shape[1]))
        np.testing.assert_array_equal(action.actuation, constant)


@pytest.mark.parametrize(
    ("name", "frames", "bounce"),
    [
        ("cassie_leg", ["foot"], 0.0),  # a closed loop
        pytest.param("mini_cheetah", ["FL_foot", "HR_foot"], 0.3, marks=pytest.mark.ci),
        pytest.param("cassie", ["left_sole", "right_sole"], 0.0, marks=pytest.mark.ci),
    ],
)
@pytest.mark.filterwarnings("ignore:robot .* no real body")
def test_impacts(name: str, frames: list[str], bounce: float) -> None:
    model = pc.load(name)
    space, contacts = pcc.State(model), contacts_of(model, frames)
    total, rows = croc.CostModelSum(space, 0), 3 * len(frames)
    A = np.random.default_rng(3).normal(size=(rows + 1, rows))
    reference = space.integrate(space.zero(), 0.3 * np.random.default_rng(1).normal(size=space.ndx))
    for key, residual in (
        ("state", pcc.ResidualModelState(space, reference, 0)),
        ("impulse", pcc.ResidualModelContactForce(space, A, 0)),
    ):
        total.addCost(key, croc.CostModelResidual(space, residual), 0.5)
    action = pcc.ActionModelImpulse(space, contacts, total, bounce)
    (x, _), data, other, u = draw(space, 0), action.createData(), action.createData(), np.zeros(0)
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    (q, v), (q_after, after) = (np.split(np.array(y), [model.nq]) for y in (x, data.xnext))
    assert np.array_equal(q, q_after)
    own = model.createData()
    pc.computeJointJacobians(model, own, q)
    J = pc.getConstraintsJacobian(model, own, contacts, [contact.createData() for contact in contacts])
    assert np.abs(J @ v).max() > 0.1
    np.testing.assert_allclose(J @ after, -bounce * J @ v, atol=1e-9)
    impulses = np.linalg.lstsq(J.T, pc.crba(model, own, q) @ (after - v))[0]
    r = data.costs.costs.todict()["impulse"].residual.r
    np.testing.assert_allclose(r, A @ impulses, atol=1e-8 * np.abs(r).max())
    assert data.cost == pytest.approx(0.25 * (r @ r + np.sum(space.diff(reference, x) ** 2)), rel=1e-8)

    def reached(dx: np.ndarray) -> np.ndarray:
        action.calc(other, space.integrate(x, dx), u)
        return np.append(space.diff(data.xnext, other.xnext), other.cost)

    by_x = stencil(reached, space.ndx)
    for found, expected in ((data.Fx, by_x[:-1]), (data.Lx, by_x[-1])):
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())


def test_touch_down_in_a_plan() -> None:
    """A leg swings, its foot touches down and stays."""
    model = pc.load("cassie_leg")
    space, contacts, nu = pcc.State(model), contacts_of(model, ["foot"]), 7
    swing, impact = (pcc.DifferentialActionModel(space, np.eye(nu), held, costs(space, nu)) for held in ((), contacts))
    free = croc.CostModelSum(space, 0)
    nodes = [croc.IntegratedActionModelEuler(swing, 0.005)] * 4
    nodes += [pcc.ActionModelImpulse(space, contacts, free), croc.IntegratedActionModelEuler(impact, 0.005)]
    x0, _ = draw(space, nu)
    plan = croc.SolverFDDP(croc.ShootingProblem(x0, nodes, croc.IntegratedActionModelEuler(swing, 0.0)))
    plan.th_stop = 1e-7
    assert plan.solve([x0] * 7, [np.zeros(node.nu) for node in nodes], 50)
    assert np.abs(plan.fs).max() < 1e-8
    data, speeds = model.createData(), []
    for x in plan.xs:
        pc.forwardKinematics(model, data, x[: model.nq], x[model.nq :])
        at = pc.getFrameVelocity(model, data, model.getFrameId("foot"), ALIGNED)
        speeds.append(np.abs(at.linear).max())
    assert speeds[4] > 0.1
    assert speeds[5] < 1e-9


def test_impact_astray_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.load("cassie_leg")
    space = pcc.State(model)
    action = pcc.ActionModelImpulse(space, contacts_of(model, ["foot"]), croc.CostModelSum(space, 0))
    data = action.createData()

    def lost(*_: Any) -> None:
        raise pc.SingularClusterError("no way")

    monkeypatch.setattr(pc, "impulseDynamics", lost)
    action.calc(data, space.zero(), np.zeros(0))
    assert np.isnan(data.xnext).all()


def test_what_is_given_is_checked_when_things_are_made() -> None:
    model = pc.load("cassie_leg")
    space, other, frame = pcc.State(model), pcc.State(pc.load("four_bar")), model.getFrameId("foot")
    total, free, contacts = costs(space, 7), croc.CostModelSum(space, 0), contacts_of(model, ["foot"])
    state, moving, place, force = (
        pcc.ResidualModelState,
        pcc.ResidualModelFrameVelocity,
        pcc.ResidualModelFramePlacement,
        pcc.ResidualModelContactForce,
    )
    action, impact, v = pcc.DifferentialActionModel, pcc.ActionModelImpulse, pin.Motion.Zero()
    euclidean = croc.StateVector(space.nx)
    kind, shape, unknown, wrong = pc.ArgumentTypeError, pc.ShapeError, pc.UnknownNameError, pc.ConstraintError
    cases: list[tuple[Any, Any, str]] = [
        (lambda: pcc.State(model.tree), kind, "crocoddyl.State model ClusterModel Model"),
        (lambda: pcc.State("cassie"), kind, "ClusterModel str"),
        (lambda: state(euclidean, np.zeros(space.nx), 7), kind, "state StateVector"),
        (lambda: pcc.ResidualModelCoMPosition(model, np.zeros(3), 7), kind, "ClusterModel"),
        (lambda: state(space, np.zeros(3), 7), shape, f"reference 3 nx {space.nx}"),
        (lambda: state(space, "stand", 7), kind, "reference"),
        (lambda: state(space, space.zero(), 7.0), kind, "nu 7.0"),
        (lambda: place(space, frame, np.zeros(6), 7), shape, "reference 6"),
        (lambda: place(space, model.nframes, np.zeros(3), 7), unknown, "model.getFrameId"),
        (lambda: moving(space, "foot", v, pin.LOCAL, 7), kind, "model.getFrameId('foot')"),
        (lambda: moving(space, frame, np.zeros(6), pin.LOCAL, 7), kind, "reference ndarray"),
        (lambda: moving(space, frame, v, "LOCAL", 7), kind, "reference_frame pin.LOCAL"),
        (lambda: force(space, np.zeros(3), 7), shape, "A (3,)"),
        (lambda: action(model, None, (), total), kind, "state ClusterModel"),
        (lambda: action(space, np.eye(7), (), None), kind, "costs CostModelSum NoneType"),
        (lambda: action(space, np.eye(7), (), costs(other, 7)), shape, f"nx {other.nx} {space.nx}"),
        (lambda: action(space, "motors", (), total), kind, "actuation"),
        (lambda: action(space, None, (), total), shape, "actuation (7, 5) (7, 7)"),
        (lambda: action(space, np.eye(7), contacts[0], total), kind, "contact_models"),
        (lambda: action(space, np.eye(7), ["foot"], total), kind, "contact_models[0] pin.RigidConstraintModel"),
        (lambda: impact(space, None, free), wrong, "0 costs nu"),
        (lambda: impact(space, contacts, total), wrong, "1 costs nu 7"),
        (lambda: impact(space, contacts, free, 1.5), kind, "r_coeff 0 1 1.5"),
        (lambda: impact(space, contacts, free, "none"), kind, "r_coeff 0 1 'none'"),
    ]
    for make, error, words in cases:
        with raises(error, words):
            make()
    for none in (None, ()):
        held = action(space, np.eye(7), none, total)
        assert list(held.contacts) == []
        held.calc(held.createData(), space.zero(), np.zeros(7))


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:robot .* no real body")
def test_hop_of_55_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    try:
        hop = importlib.import_module("hop")
        plan, _ = hop.solved()
    finally:
        sys.modules.pop("hop", None)
    assert plan.problem.T == 55
    assert plan.iter < 30
    xs, model = np.array(plan.xs), plan.problem.terminalModel.state.model
    assert np.abs(plan.fs).max() < 1e-8  # no gaps: the steps are those of the dynamics
    assert xs[-1][2] - xs[0][2] == pytest.approx(0.15, abs=0.02)
    data, feet = model.createData(), [model.getFrameId(foot) for foot in hop.FEET]
    for k, x in enumerate(xs):
        pc.framesForwardKinematics(model, data, x[: model.nq])
        heights = [data.oMf[i].translation[2] for i in feet]
        assert max(map(abs, heights)) < 2e-3 or k > hop.STANCE
    assert min(heights) > 0.01
