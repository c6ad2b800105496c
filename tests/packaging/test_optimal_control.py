"""What users copy from the example of optimal control: a space of states and dynamics for Crocoddyl, for any robot."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc

croc = pytest.importorskip("crocoddyl", reason="needs Crocoddyl: pip install 'pin-clusters[control]'")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "15_optimal_control.py"
    spec = importlib.util.spec_from_file_location("optimal_control", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def costs(state: Any, nu: int, deviation: Any) -> Any:
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
def test_derivatives_of_a_step(example: ModuleType, robot: str, integrator: str) -> None:
    """A floating base with rotors that are bodies, and a closed loop."""
    model = pc.load(robot)
    space, motors = example.Space(model), np.eye(model.nv)[:, 6 * (robot == "mit_humanoid") :]
    action = example.Dynamics(space, motors, costs(space, motors.shape[1], example.Deviation))
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


def test_space_is_that_of_crocoddyl_where_that_has_one(example: ModuleType) -> None:
    tree = pc.baselines.armature_model(pc.load("mit_humanoid"))
    ours, theirs = example.Space(pc.ClusterModel(tree)), croc.StateMultibody(tree)
    (x, _), y = draw(ours, 1), ours.rand()
    dx = ours.diff(x, y)
    np.testing.assert_allclose(ours.zero(), theirs.zero(), atol=1e-14)
    np.testing.assert_allclose(dx, theirs.diff(x, y), atol=1e-12)
    np.testing.assert_allclose(ours.integrate(x, dx), theirs.integrate(x, dx), atol=1e-12)
    np.testing.assert_allclose(ours.diff(ours.integrate(x, dx), y), 0.0, atol=1e-9)
    for name, arguments in (("Jdiff", (x, y)), ("Jintegrate", (x, dx))):
        for which in (croc.Jcomponent.first, croc.Jcomponent.second):
            found = getattr(ours, name)(*arguments, which)
            expected = np.asarray(getattr(theirs, name)(*arguments, which))
            np.testing.assert_allclose(found, expected.reshape(found.shape), atol=1e-10)
        assert len(getattr(ours, name)(*arguments, croc.Jcomponent.both)) == 2


def test_dynamics_and_costs_on_a_robot_with_armature(example: ModuleType) -> None:
    """Pinocchio has the dynamics, and Crocoddyl the costs on its own space."""
    tree = pc.baselines.armature_model(pc.load("mit_humanoid"))
    theirs, ours, motors = croc.StateMultibody(tree), example.Space(pc.ClusterModel(tree)), np.eye(tree.nv)[:, 6:]
    nu = motors.shape[1]
    x, u = draw(ours, nu)
    action, expected = (
        example.Dynamics(ours, motors, costs(ours, nu, example.Deviation)),
        costs(theirs, nu, croc.ResidualModelState),
    )
    found, wanted = action.createData(), expected.createData(croc.DataCollectorAbstract())
    for part, data in ((action, found), (expected, wanted)):
        part.calc(data, x, u)
        part.calcDiff(data, x, u)
    for name in ("cost", "Lx", "Lu", "Lxx", "Luu"):
        value = np.array(getattr(wanted, name))
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-10 * np.abs(value).max(), err_msg=name)
    own = tree.createData()
    slopes = pin.computeABADerivatives(tree, own, x[: tree.nq], x[tree.nq :], motors @ u)
    reference = own.ddq, np.hstack(slopes[:2]), slopes[2] @ motors
    for name, value in zip(("xout", "Fx", "Fu"), reference, strict=True):
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-9 * np.abs(value).max(), err_msg=name)


def test_trial_far_astray_is_not_a_number(example: ModuleType) -> None:
    model = pc.load("mit_humanoid")
    space = example.Space(model)
    action = example.Dynamics(space, np.eye(model.nv), costs(space, model.nv, example.Deviation))
    astray = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        far = rng.normal(size=model.nv) * 10.0 ** rng.uniform(5.0, 22.0)
        x, data, tau = (
            space.integrate(space.zero(), np.append(far, np.zeros(model.nv))),
            action.createData(),
            np.ones(model.nv),
        )
        try:
            pc.aba(model, model.createData(), x[: model.nq], x[model.nq :], tau)
        except pc.SingularClusterError:
            astray += 1
            action.calc(data, x, tau)
            assert np.isnan(data.xout).all()
    assert astray
