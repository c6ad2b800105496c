"""Pink on robots with loops and gears: what its velocities and configurations leave closed."""

from __future__ import annotations

import numpy as np
import pytest
from support.messages import raises

import pin_clusters as pc

pink = pytest.importorskip("pink", reason="needs Pink: pip install '.[control]'")
pytest.importorskip("quadprog", reason="needs a solver: pip install '.[control]'")

from pin_clusters import pink as pcp  # noqa: E402

DT = 1e-2
pytestmark = pytest.mark.filterwarnings("ignore:robot .* no real body")


def tasks_of(model: pc.ClusterModel, frames: list[str]) -> list[pink.tasks.FrameTask]:
    """Return tasks that lead to a pose of the robot."""
    way = 0.15 * np.random.default_rng(0).uniform(-1.0, 1.0, size=model.nv)
    goal, data = pc.integrate(model, pc.neutral(model), way), model.createData()
    pc.framesForwardKinematics(model, data, goal)
    tasks = [pink.tasks.FrameTask(f, position_cost=1.0, orientation_cost=1.0) for f in frames]
    for task in tasks:
        task.set_target(data.oMf[model.getFrameId(task.frame)].copy())
    return tasks


def distance(configuration: pink.Configuration, tasks: list[pink.tasks.FrameTask]) -> float:
    return max(float(np.linalg.norm(task.compute_error(configuration)[:3])) for task in tasks)


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("digit_leg", ["toe_roll"]),
        pytest.param("cassie", ["left_sole", "right_sole"], marks=pytest.mark.ci),
        pytest.param("tello", ["left_ankle", "right_ankle"], marks=pytest.mark.ci),
        pytest.param("mini_cheetah", ["FL_foot", "HR_foot"], marks=pytest.mark.ci),
    ],
)
def test_loops_stay_closed_and_feet_arrive(name: str, frames: list[str]) -> None:
    model = pc.load(name)
    tasks, start = tasks_of(model, frames), pc.neutral(model)
    open_by = 0.01 * np.random.default_rng(1).normal(size=model.nq) * (model.closures != ())
    configuration = pcp.Configuration(model, start + (open_by if name == "digit_leg" else 0.0))
    assert np.abs(pc.residual(model, configuration.q)).max() < 1e-10
    coupling, data, began = pcp.Coupling(model), model.createData(), distance(configuration, tasks)
    for _ in range(60):
        v = pink.solve_ik(configuration, tasks, DT, solver="quadprog", damping=1e-8, constraints=[coupling])
        own = v[model.idx_v_independent]
        made = pc.coupling_jacobian(model, data, configuration.q) @ own
        np.testing.assert_allclose(v, made, atol=1e-10 * max(1.0, np.abs(v).max()))
        configuration.integrate_inplace(v, DT)
        assert np.abs(pc.residual(model, configuration.q)).max() < 1e-10
    assert began > 1e-2
    assert distance(configuration, tasks) < 1e-6


def test_without_the_constraint_the_foot_goes_astray() -> None:
    """Independent velocities of a solution on the tree, which counts on dependent ones that do not come."""
    model = pc.load("digit_leg")
    tasks, configuration = tasks_of(model, ["toe_roll"]), pcp.Configuration(model, pc.neutral(model))
    for _ in range(60):
        v = pink.solve_ik(configuration, tasks, DT, solver="quadprog", damping=1e-8)
        configuration.integrate_inplace(v, DT)
    assert distance(configuration, tasks) > 1e-2


def test_a_tree_of_pinocchio_is_refused() -> None:
    model = pc.load("four_bar")
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pcp.Configuration(model.tree, pc.neutral(model))


def test_rows_are_those_of_dependent_joints() -> None:
    model = pc.load("mit_humanoid_leg")
    coupling, configuration = pcp.Coupling(model), pcp.Configuration(model, pc.neutral(model))
    J = coupling.compute_jacobian(configuration)
    assert J.shape == (model.tree.nv - model.nv, model.tree.nv)
    assert np.abs(J @ model.coupling_matrix).max() == 0.0
    assert np.linalg.matrix_rank(J) == len(J) == len(coupling.compute_error(configuration))
    assert repr(coupling) == "Coupling('mit_humanoid_leg')"
