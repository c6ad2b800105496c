"""Plan a kick of a leg by optimal control, with exact rotors and with armature, and execute the plans on the exact leg.

Crocoddyl plans the motor torques. `pin_clusters.crocoddyl` provides the states, the residuals and the dynamics with
derivatives for any cluster model. The leg of the MIT Humanoid swings from a pose behind the body to a pose in front,
where the knee has a given speed. Two more plans use simpler models. The first has armature. The second also models the
belts between knee and ankle, but not the motion of rotors with their carriers. The exact robot then executes each plan,
open loop to show the error of the model, and with feedback to show the torques that compensate for this error.
"""

from __future__ import annotations

import time

import numpy as np

import pin_clusters as pc
from pin_clusters.verification.timing import interleaved

try:
    import crocoddyl as croc
except ImportError:
    raise SystemExit("This example needs Crocoddyl: pip install '.[control]'") from None
from pin_clusters.crocoddyl import DifferentialActionModel, ResidualModelState, State

STEPS, DT, TOE = 70, 0.005, np.array([0.1, 0.0, -0.041])  # -, [s], in the frame of the foot [m]
START = np.array([0.0, 0.0, 0.5, 1.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # angles [rad] and speeds [rad/s] of hip_rz,
GOAL = np.array([0.0, 0.0, -0.7, 0.3, 0.2, 0.0, 0.0, 0.0, -12.0, 0.0])  # hip_rx, hip_ry, knee, ankle; final state
WEIGHTS = np.array([1e3, 1e3, 1e3, 1e3, 1e3, 1.0, 1.0, 0.0, 1.0, 1.0])  # the speed of hip_ry is free
LOWEST, HIGHEST = np.array([-0.5, -0.5, -1.5, 0.0, -0.9]), np.array([0.5, 0.5, 1.0, 2.2, 0.9])


def robots() -> dict[str, pc.ClusterModel]:
    """Return the exact leg, the leg with armature and the coupling of the belts, and the leg with armature."""
    exact = pc.load("mit_humanoid_leg")
    bare, rough = (pc.baselines.armature_model(exact, kind) for kind in ("none", "diagonal"))
    grounded = []  # rotors on the ground do not move with a carrier
    for r in exact.rotors:
        driven = [exact.independent_joints[i] for i in r.row.nonzero()[0]]
        where = {"carrier": "universe", "axis": r.axis, "axial_inertia": r.axial_inertia}
        grounded.append(pc.Rotor(driven, r.row[r.row != 0.0], **where))
    return {"exact": exact, "armature and belts": pc.ClusterModel(bare, grounded), "armature": pc.ClusterModel(rough)}


def problem(space: State, motors: np.ndarray) -> croc.ShootingProblem:
    """Return the shooting problem: minimum motor torque along the way, and the goal at the end."""
    nu, free = motors.shape[1], np.full(5, np.inf)
    way, end = croc.CostModelSum(space, nu), croc.CostModelSum(space, nu)
    limits = croc.ActivationModelQuadraticBarrier(croc.ActivationBounds(np.r_[LOWEST, -free], np.r_[HIGHEST, free]))
    near = croc.ActivationModelWeightedQuad(WEIGHTS)
    goal = ResidualModelState(space, space.integrate(space.zero(), GOAL), nu)
    way.addCost("effort", croc.CostModelResidual(space, croc.ResidualModelControl(space, nu)), 1.0)
    way.addCost("limits", croc.CostModelResidual(space, limits, ResidualModelState(space, space.zero(), nu)), 1e2)
    end.addCost("goal", croc.CostModelResidual(space, near, goal), 1.0)
    step = croc.IntegratedActionModelRK(DifferentialActionModel(space, motors, (), way), croc.RKType.four, DT)
    last = croc.IntegratedActionModelEuler(DifferentialActionModel(space, motors, (), end), 0.0)
    return croc.ShootingProblem(space.integrate(space.zero(), START), [step] * STEPS, last)


def play(space: State, motors: np.ndarray, plan: croc.SolverFDDP, feedback: bool) -> tuple[np.ndarray, np.ndarray]:
    """Execute a plan on a robot with ten times smaller steps; return the states and the motor torques."""
    other, x, xs, us = plan.problem.terminalModel.state, space.integrate(space.zero(), START), [], []
    for k in range(STEPS):
        xs.append(x)
        seen = other.integrate(other.zero(), space.diff(space.zero(), x))  # x as a state of the planner's model
        us.append(plan.us[k] - feedback * plan.K[k] @ other.diff(plan.xs[k], seen))
        moved = pc.simulate(space.model, x[: space.nq], x[space.nq :], motors @ us[-1], DT, DT / 10)
        x = np.r_[moved.q[-1], moved.v[-1]]
    return np.array([*xs, x]), np.array(us)


def points(model: pc.ClusterModel, x: np.ndarray) -> np.ndarray:
    """Return the positions of hip, knee, ankle and toe [m]."""
    pc.forwardKinematics(model, data := model.createData(), x[: model.nq])
    poses = [data.oMi[model.getJointId(name)] for name in ("hip_ry", "knee", "ankle")]
    return np.array([*(pose.translation for pose in poses), poses[-1].act(TOE)])


def differences(model: pc.ClusterModel, data: pc.ClusterData, *at: np.ndarray) -> np.ndarray:
    """Return the derivatives of `pc.aba` with respect to q, v and tau by finite differences."""
    (q, v, tau), steps = at, 1e-7 * np.eye(model.nv)
    near = [(pc.integrate(model, q, step), v, tau) for step in steps] + [(q, v + step, tau) for step in steps]
    near += [(q, v, tau + step) for step in steps]
    return (np.array([pc.aba(model, data, *x) for x in near]) - pc.aba(model, data, *at)).T / 1e-7


def main() -> dict[str, dict[str, np.ndarray]]:
    """Plan and execute the kicks; return points of the leg [m], angles and speeds, and effort [(N m)^2 s]."""
    models, found = robots(), {}
    space, motors = State(models["exact"]), np.array([r.row for r in models["exact"].rotors]).T
    target = points(space.model, space.integrate(space.zero(), GOAL))[3]
    for name, model in models.items():
        plan = croc.SolverFDDP(problem(State(model), motors))
        xs, us, plan.th_stop = [plan.problem.x0] * (STEPS + 1), [np.zeros(motors.shape[1])] * STEPS, 1e-7
        plan.problem.calc(xs, us), plan.problem.calcDiff(xs, us)  # loads the kernels before the timing
        start = time.perf_counter()
        assert plan.solve(xs, us, 50)
        each = 1e3 * (time.perf_counter() - start) / plan.iter
        print(f"planned with {name}: {plan.iter} iterations of {each:.0f} ms, {STEPS} RK4 steps each")
        for way in ("torques alone", "with feedback"):
            states, torques = play(space, motors, plan, way == "with feedback")
            legs, effort = np.array([points(space.model, x) for x in states]), DT * np.sum(torques**2)
            moves, toe = (
                np.array([space.diff(space.zero(), x) for x in states]),
                1e3 * np.linalg.norm(legs[-1, 3] - target),
            )
            found[f"{name}, {way}"] = {"legs": legs, "moves": moves, "toe": toe, "effort": effort}
            off, more = moves[-1] - GOAL, effort / found["exact, torques alone"]["effort"] - 1.0
            words = f"errors: toe {toe:.1f} mm, ankle {np.degrees(off[4]):.1f} deg, knee {off[8]:.2f} rad/s"
            print(f"  {way}: {words}; motor effort {effort:.4f} (N m)^2 s, {more:+.1%}")
    assert found["exact, torques alone"]["toe"] < 0.2  # with ten times smaller steps
    assert found["armature, torques alone"]["toe"] > 2.0 * found["armature and belts, torques alone"]["toe"] > 20.0

    q, v = np.split(space.integrate(space.zero(), GOAL), [space.nq])
    at = space.model, space.model.createData(), q, v, np.zeros(space.nv)
    assert np.allclose(np.hstack(pc.computeABADerivatives(*at)), differences(*at), rtol=1e-4, atol=1e-4)
    timings = interleaved({"exact": (pc.computeABADerivatives, at), "differences": (differences, at)})
    words = (f"{name} {1e6 * timing.median:.1f} us" for name, timing in timings.items())
    print("derivatives", *words, f"ratio {timings['differences'].ratio(timings['exact']):.0f}", sep=", ")
    return found


if __name__ == "__main__":
    main()
