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


def costs(state: Any, nu: int) -> Any:
    """Return a sum of costs of state and control."""
    total = croc.CostModelSum(state, nu)
    total.addCost("control", croc.CostModelResidual(state, croc.ResidualModelControl(state, nu)), 0.3)
    total.addCost("state", croc.CostModelResidual(state, croc.ResidualModelState(state, state.zero(), nu)), 2.0)
    return total


def draw(space: Any, nu: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a state near the neutral one, and controls."""
    rng = np.random.default_rng(0)
    return space.integrate(space.zero(), 0.3 * rng.normal(size=space.ndx)), rng.normal(size=nu)


def slopes(step: Any, space: Any, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives of a step by central differences along the space."""

    def reached(dx: np.ndarray, du: np.ndarray) -> np.ndarray:
        data = step.createData()
        step.calc(data, space.integrate(x, dx), u + du)
        return np.array(data.xnext)

    h, found = 1e-5, []
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
    action = example.Dynamics(space, motors, costs(space, motors.shape[1]))
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
    for found, expected in zip((data.Fx, data.Fu), slopes(step, space, x, u), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


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


def test_dynamics_are_those_of_crocoddyl_on_a_robot_with_armature(example: ModuleType) -> None:
    tree = pc.baselines.armature_model(pc.load("mit_humanoid"))
    theirs = croc.StateMultibody(tree)
    motors, base = np.eye(tree.nv)[:, 6:], croc.ActuationModelFloatingBase(theirs)
    ours = example.Space(pc.ClusterModel(tree))
    pair = (
        example.Dynamics(ours, motors, costs(ours, motors.shape[1])),
        croc.DifferentialActionModelFreeFwdDynamics(theirs, base, costs(theirs, motors.shape[1])),
    )
    x, u = draw(ours, motors.shape[1])
    results = []
    for action in pair:
        data = action.createData()
        action.calc(data, x, u)
        action.calcDiff(data, x, u)
        results.append(
            {name: np.array(getattr(data, name)) for name in ("xout", "Fx", "Fu", "cost", "Lx", "Lu", "Lxx")}
        )
    for name, expected in results[1].items():
        np.testing.assert_allclose(
            results[0][name], expected, rtol=0.0, atol=1e-9 * max(1.0, np.abs(expected).max()), err_msg=name
        )


def test_trial_far_astray_is_not_a_number(example: ModuleType) -> None:
    model = pc.ClusterModel(pin.buildSampleModelHumanoid())
    space = example.Space(model)
    action = example.Dynamics(space, np.eye(model.nv), costs(space, model.nv))
    data, x = action.createData(), space.zero()
    x[: model.nq] *= 1e21
    x[model.nq :] = 1e21
    action.calc(data, x, np.full(model.nv, 1e22))
    assert not np.isfinite(data.xout).all()
