"""A hop by optimal control: ``python benchmarks/hop.py`` prints what an iteration costs; half a minute.

The MIT Mini Cheetah with its rotors stands on four feet, pushes itself off and flies: 55 nodes of 10 ms, contacts in
the first 35. A pass of derivatives is timed beside Crocoddyl's differences of the same dynamics. Needs Crocoddyl:
``pip install '.[control]'``.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import crocoddyl as croc
import numpy as np
import pinocchio as pin

import pin_clusters as pc
import pin_clusters.crocoddyl as pcc
from pin_clusters.verification.timing import interleaved

NODES, STANCE, DT, HEIGHT, RISE = 55, 35, 0.01, 0.26, 0.15  # -, -, [s], of the trunk [m], at the end [m]
FEET = ("FL_foot", "FR_foot", "HL_foot", "HR_foot")


def robot() -> tuple[pc.ClusterModel, np.ndarray, list[Any]]:
    """Return the robot, a pose in which it stands, by inverse kinematics, and the contacts of its feet."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "robot .* no real body", pc.PinClustersWarning)
        model = pc.load("mini_cheetah")
    q, data = pc.neutral(model), model.createData()
    for leg in ("FL", "FR", "HL", "HR"):
        for joint, angle in (("hip", -0.8), ("knee", 1.6)):
            q[model.idx_qs[model.getJointId(f"{leg}_{joint}")]] = angle
    q = pc.project(model, q, hold=model.independent_joints)
    pc.framesForwardKinematics(model, data, q)
    targets: dict[str, Any] = {foot: [*data.oMf[model.getFrameId(foot)].translation[:2], 0.0] for foot in FEET}
    targets["trunk"] = pin.SE3(np.eye(3), np.array([0.0, 0.0, HEIGHT]))
    stand = pc.inverse_kinematics(model, q, targets)
    frames = [model.frames[model.getFrameId(foot)] for foot in FEET]
    axes = pin.LOCAL_WORLD_ALIGNED
    kind = pin.ContactType.CONTACT_3D
    contacts = [pc.RigidConstraintModel(kind, model, f.parentJoint, f.placement, axes) for f in frames]
    for contact in contacts:
        contact.m_baumgarte_parameters.Kd = 20.0
    return model, stand.q, contacts


def problem(differences: bool = False) -> croc.ShootingProblem:
    """Return the hop, with Crocoddyl's differences in place of derivatives or not."""
    model, q, contacts = robot()
    state, motors = pcc.State(model), np.eye(model.nv)[:, 6:]
    nu, x0 = motors.shape[1], np.r_[q, np.zeros(model.nv)]
    up = state.integrate(x0, np.r_[0.0, 0.0, RISE, np.zeros(2 * model.nv - 3)])
    way = np.r_[np.full(6, 0.1), np.full(12, 1.0), np.full(18, 0.01)]
    end = np.r_[np.full(6, 1e3), np.full(12, 1.0), np.full(6, 10.0), np.full(12, 0.1)]

    def costs(weights: np.ndarray, goal: np.ndarray) -> croc.CostModelSum:
        total, near = croc.CostModelSum(state, nu), croc.ActivationModelWeightedQuad(weights)
        total.addCost("state", croc.CostModelResidual(state, near, pcc.ResidualModelState(state, goal, nu)), 1.0)
        total.addCost("effort", croc.CostModelResidual(state, croc.ResidualModelControl(state, nu)), 1e-3)
        return total

    def action(held: list[Any], total: croc.CostModelSum, dt: float) -> Any:
        dynamics = pcc.DifferentialActionModel(state, motors, held, total)
        return croc.IntegratedActionModelEuler(
            croc.DifferentialActionModelNumDiff(dynamics, True) if differences else dynamics, dt
        )

    stance, flight = action(contacts, costs(way, x0), DT), action([], costs(way, x0), DT)
    nodes = [stance] * STANCE + [flight] * (NODES - STANCE)
    return croc.ShootingProblem(x0, nodes, action([], costs(end, up), 0.0))


def start(shooting: croc.ShootingProblem) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the robot standing still, without torques, and load the kernels."""
    xs, us = [shooting.x0] * (NODES + 1), [np.zeros(12)] * NODES
    shooting.calc(xs, us), shooting.calcDiff(xs, us)
    return xs, us


def solved() -> tuple[croc.SolverFDDP, float]:
    """Return the solver when it has finished, and the time of an iteration [s]."""
    plan = croc.SolverFDDP(problem())
    xs, us = start(plan.problem)
    plan.th_stop, begun = 1e-7, time.perf_counter()
    assert plan.solve(xs, us, 100)
    return plan, (time.perf_counter() - begun) / plan.iter


def main() -> None:
    """Print what an iteration takes, and derivatives beside differences."""
    plan, each = solved()
    up = plan.xs[-1][2] - plan.xs[0][2]
    print(f"{NODES} nodes, {plan.iter} iterations of {1e3 * each:.0f} ms, cost {plan.cost:.3f}, trunk {up:.3f} m up")
    ways = {name: problem(differences) for name, differences in (("exact", False), ("differences", True))}
    timings = interleaved({name: (way.calcDiff, start(way)) for name, way in ways.items()}, repeats=3)
    words = [f"{name} {1e3 * timing.median:.0f} ms" for name, timing in timings.items()]
    print("derivatives", *words, f"ratio {timings['differences'].ratio(timings['exact']):.0f}", sep=", ")


if __name__ == "__main__":
    main()
