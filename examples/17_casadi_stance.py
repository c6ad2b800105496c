"""Plan the rise of a leg from a squat with a contact at its foot, by CasADi and IPOPT.

A leg of the MIT Humanoid with its rotors slides on a vertical rail. Its foot has a rigid contact, and
`pc.casadi.function(model, "constraintDynamics", contacts=[...])` returns accelerations and contact forces as CasADi
functions. IPOPT minimizes the squared torques, with the contact forces in the friction cone. `pc.simulate` then
executes the plan with the same contact.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

try:
    import casadi as ca
except ImportError:
    raise SystemExit("This example needs CasADi: pip install '.[casadi]'") from None

STEPS, DURATION, RISE, FRICTION = 20, 0.4, 0.12, 0.5  # steps of the plan, [s], [m], friction along each axis
GAINS = 400.0, 40.0  # Baumgarte stabilization of the contact, [1/s^2] and [1/s]


def on_the_ground() -> tuple[pc.ClusterModel, np.ndarray, pin.RigidConstraintModel]:
    """Return the leg on its rail, a squat configuration, and the contact of its foot in this configuration."""
    model = pc.load("mit_humanoid_leg", root_joint=pin.JointModelPZ())
    data, q = model.createData(), pc.neutral(model)
    squat = {"hip_ry": -0.7, "knee": 1.4, "ankle": -0.7}
    v = np.zeros(model.nv)
    for k, name in enumerate(model.independent_joints):
        v[k] = next((x for part, x in squat.items() if part in name), 0.0)
    q = pc.integrate(model, q, v)
    pc.forwardKinematics(model, data, q)
    foot = model.getJointId(next(name for name in model.names if "ankle" in name and "rotor" not in name))
    sole = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.04]))
    spot = pin.SE3(np.eye(3), (data.oMi[foot] * sole).translation)
    kind, axes = pin.ContactType.CONTACT_3D, pin.LOCAL_WORLD_ALIGNED
    contact = pin.RigidConstraintModel(kind, model.tree, foot, sole, 0, spot, axes)
    contact.m_baumgarte_parameters.Kp, contact.m_baumgarte_parameters.Kd = GAINS
    return model, q, contact


def plan(model: pc.ClusterModel, start: np.ndarray, contact: pin.RigidConstraintModel) -> dict[str, np.ndarray]:
    """Return configurations, torques and contact forces of the rise with minimum squared torques."""
    dynamics = pc.casadi.function(model, "constraintDynamics", contacts=[contact])
    move, h = pc.casadi.integrate(model), DURATION / STEPS
    q, v, u = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("u", model.nv - 1)))
    tau = ca.vertcat(0.0, u)  # the rail has no motor
    a, force = dynamics(q, v, tau)
    half = move(q, h / 2 * v), v + h / 2 * a
    middle, _ = dynamics(*half, tau)
    step = ca.Function("step", [q, v, u], [move(q, h * half[1]), v + h * middle, force]).map(STEPS)
    problem = ca.Opti()
    Q, V, U = (problem.variable(n, m) for n, m in ((model.nq, STEPS + 1), (model.nv, STEPS + 1), (model.nv - 1, STEPS)))
    *after, forces = step(Q[:, :-1], V[:, :-1], U)
    problem.subject_to([ca.vec(x[:, 1:] - y) == 0 for x, y in zip((Q, V), after, strict=True)])
    problem.subject_to([Q[:, 0] == start, V[:, 0] == 0, Q[0, -1] == start[0] + RISE, V[:, -1] == 0])
    # friction cone; the forces act on the foot
    pushes = FRICTION * forces[2, :]
    problem.subject_to([ca.vec(pushes - x) >= 0 for k in (0, 1) for x in (forces[k, :], -forces[k, :])])
    problem.minimize(h * ca.sumsqr(U) + 1e-2 * h * ca.sumsqr(V))
    problem.set_initial(Q, np.tile(start, (STEPS + 1, 1)).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 300})
    found = problem.solve()
    return {name: np.array(found.value(x)).T for name, x in (("q", Q), ("torques", U), ("forces", forces))}


def main() -> dict[str, np.ndarray]:
    """Plan and simulate the rise; return the plan and the simulated height on the rail [m]."""
    model, start, contact = on_the_ground()
    found = plan(model, start, contact)
    h, held = DURATION / STEPS, np.hstack([np.zeros((STEPS, 1)), found["torques"]])
    run = pc.simulate(
        model, start, np.zeros(model.nv), lambda t, q, v: held[min(int(t / h + 1e-9), STEPS - 1)], DURATION, h / 10,
        contacts=[contact],
    )  # fmt: skip
    found["height"] = run.q[:, 0]
    rise, least = run.q[-1, 0] - start[0], found["forces"][:, 2].min()
    slope = np.abs(found["forces"][:, :2]).max(axis=1) / found["forces"][:, 2]
    print(f"planned rise {RISE * 100:.1f} cm, simulated {rise * 100:.2f} cm")
    print(f"contact force at least {least:.1f} N, friction at most {slope.max():.2f} of {FRICTION}")
    assert abs(rise - RISE) < 0.01
    assert least > 0.0
    assert slope.max() < FRICTION + 1e-6
    return found


if __name__ == "__main__":
    main()
