"""Plan swing-ups with CasADi and IPOPT for exact rotors and for armature, and execute both plans on the exact robot.

Weak motors swing up two mechanisms that hang at rest: a double pendulum with the elbow motor in its upper arm, and a
four-bar with a motor in the crank that drives the coupler. `pc.casadi.function` provides the dynamics with rotors and
the closed loop, and `pc.casadi.integrate` integrates q; CasADi differentiates both functions for IPOPT. Armature adds
the reflected inertia of a rotor to its joint, but ignores that the rotor moves with the body that carries it.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pinocchio as pin

import pin_clusters as pc

try:
    import casadi as ca
except ImportError:
    raise SystemExit("This example needs CasADi: pip install '.[casadi]'") from None

STEPS, RATIO, ROTOR = 80, 11.0, 8e-5  # steps of a plan; gear ratio; axial inertia of the rotors [kg m^2]


class Task(NamedTuple):
    """Both robots, motor indices in v, torque limit [N m], duration [s], start q, goal of independent joints [rad]."""

    exact: pc.ClusterModel
    armature: pc.ClusterModel
    motors: list[int]
    limit: float
    duration: float
    start: np.ndarray
    goal: np.ndarray


def robots(tree: pin.Model, motors: list[int], loops: list[pc.Loop]) -> tuple[pc.ClusterModel, pc.ClusterModel]:
    """Return a model with one rotor per motor on the parent body of its joint, and a model with armature instead."""
    (rough := tree.copy()).armature[motors] = ROTOR * RATIO**2
    rotors = [pc.Rotor(tree.names[1 + i], RATIO, axial_inertia=ROTOR) for i in motors]
    return pc.ClusterModel(tree, [*loops, *rotors]), pc.ClusterModel(rough, loops)


def tasks() -> dict[str, Task]:
    """Return the tasks of the double pendulum and of the four-bar, which hang at rest."""
    arm, rod = pin.Model(), pin.Inertia(0.6, np.array([0.0, 0.0, 0.15]), np.diag([4.5e-3, 4.5e-3, 1e-4]))
    for name, parent, z in (("shoulder", 0, 0.0), ("elbow", 1, 0.3)):
        joint = arm.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, z])), name)
        arm.appendBodyToJoint(joint, rod, pin.SE3.Identity())
    pin_of_rocker = ("coupler", [0.21, 0.0, 0.20]), ("rocker", [-0.16, 0.0, 0.30])
    bars = robots(pc.load("four_bar").tree, [1], [pc.Loop(*pin_of_rocker, "revolute", axis=(0, 1, 0))])
    turn = [pc.integrate(bars[0], pc.neutral(bars[0]), [x]) for x in np.linspace(-np.pi, np.pi, 201)]
    turn.sort(key=lambda q: pc.computePotentialEnergy(bars[0], bars[0].createData(), q))
    return {
        "double pendulum": Task(*robots(arm, [0, 1], []), [0, 1], 1.0, 1.2, np.array([np.pi, 0.0]), np.zeros(2)),
        "four-bar": Task(*bars, [1], 0.3, 1.5, turn[0], turn[-1][:1]),
    }


def step(model: pc.ClusterModel, motors: list[int], h: float) -> ca.Function:
    """Return an RK4 step on the manifold with constant motor torques."""
    aba, G = pc.casadi.function(model, "aba"), pc.casadi.function(model, "coupling_jacobian")
    q, v, u = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("u", len(motors))
    move, speeds, rates = pc.casadi.integrate(model), [], []
    for c in (0.0, h / 2, h / 2, h):
        at = move(q=q, v=c * speeds[-1])["q_next"] if c else q
        speeds.append(v + c * rates[-1] if c else v)
        rates.append(aba(at, speeds[-1], G(at)[motors, :].T @ u))
    way, gain = (h / 6 * (x[0] + 2 * x[1] + 2 * x[2] + x[3]) for x in (speeds, rates))
    return ca.Function("step", [q, v, u], [move(q=q, v=way)["q_next"], v + gain])


def plan(task: Task, model: pc.ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return q and torques of the swing-up with minimum squared torques."""
    problem, h, lead = ca.Opti(), task.duration / STEPS, model.idx_v_independent.tolist()
    q, v = problem.variable(model.nq, STEPS + 1), problem.variable(model.nv, STEPS + 1)
    u, steps = problem.variable(len(task.motors), STEPS), step(model, task.motors, h).map(STEPS)
    after = steps(q[:, :-1], v[:, :-1], u)
    problem.subject_to([ca.vec(x[:, 1:] - y) == 0 for x, y in zip((q, v), after, strict=True)])
    problem.subject_to([q[:, 0] == task.start, v[:, 0] == 0, q[lead, -1] == task.goal, v[:, -1] == 0])
    problem.subject_to(problem.bounded(-task.limit, ca.vec(u), task.limit))
    problem.minimize(h * ca.sumsqr(u))
    way = np.linspace(0.0, 1.0, STEPS + 1)[:, None] * (task.goal - task.start[lead])
    problem.set_initial(q, np.array([pc.integrate(model, task.start, x) for x in way]).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 1000})
    found = problem.solve()
    return np.array(found.value(q)).reshape(model.nq, -1).T, np.array(found.value(u)).reshape(-1, STEPS).T


def play(task: Task, torques: np.ndarray) -> np.ndarray:
    """Apply torques to the exact robot with smaller steps; return q at the steps of the plan."""
    model, data, h = task.exact, task.exact.createData(), task.duration / STEPS
    qs, v = [task.start], np.zeros(model.nv)
    for u in torques:
        tau = partial(lambda u, t, q, v: pc.coupling_jacobian(model, data, q)[task.motors].T @ u, u)
        moved = pc.simulate(model, qs[-1], v, tau, h, h / 4)
        qs, v = [*qs, moved.q[-1]], moved.v[-1]
    return np.array(qs)


def main() -> dict[str, dict[str, np.ndarray]]:
    """Plan and execute the swing-ups; return the angles of all joints over time [rad]."""
    found = {}
    for name, task in tasks().items():
        for kind, model in (("exact", task.exact), ("armature", task.armature)):
            q, u = plan(task, model)
            found[f"{name}, {kind}"] = {"planned": q, "played": (played := play(task, u))}
            miss = np.degrees(np.abs(played[-1, model.idx_v_independent] - task.goal)).max()
            effort = task.duration / STEPS * np.sum(u**2)
            print(f"{name}, planned with {kind}: {effort:.4f} (N m)^2 s, goal missed by {miss:.3f} deg")
            assert miss < 0.1 if kind == "exact" else miss > 30.0
    return found


if __name__ == "__main__":
    main()
