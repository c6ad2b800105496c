"""Control a humanoid by a quadratic program with torque limits of the motors, not of the joints.

The MIT Humanoid squats on both feet. At each step a QP computes accelerations, motor torques and contact forces. Its
constraints are the exact dynamics M a + h = B tau_motor + J' f, fixed feet, friction cones and torque limits. A belt
couples the motors of knee and ankle, so B is not diagonal, and a motor limit is not a joint limit. The simulation uses
`pc.constraintDynamics` with four contact points. The solver is ProxQP (`pip install proxsuite`).
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import proxsuite

import pin_clusters as pc

DT, STEPS, PERIOD, DEPTH, DAMPING = 2e-3, 400, 0.8, 0.10, 20.0  # [s], -, [s], [m], drift damping [1/s]
FRICTION, SMALL, LARGE = 0.6, 1.2, 2.5  # friction; torque limits of both rotor sizes [N m]; assumed
BENT = {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}  # initial pose [rad]


def humanoid() -> tuple[pc.ClusterModel, list[int]]:
    """Return the MIT Humanoid with frames at toes and heels, and the ids of these frames."""
    shipped = pc.load("mit_humanoid")
    tree, ids = shipped.tree.copy(), []
    for foot in ("left_ankle", "right_ankle"):
        for name, x in (("toe", 0.1), ("heel", -0.05)):
            place = pin.SE3(np.eye(3), np.array([x, 0.0, -0.041]))
            ids.append(tree.addFrame(pin.Frame(f"{foot}_{name}", tree.getJointId(foot), place, pin.OP_FRAME)))
    return pc.ClusterModel(tree, shipped.constraints), ids


def main() -> dict[str, np.ndarray]:
    """Squat; return time [s], heights of the centre of mass [m], and torques of a knee motor [N m]."""
    model, points = humanoid()
    data, nv, m = model.createData(), model.nv, len(model.rotors)
    limit = np.array([LARGE if "hip_ry" in r.name or "knee" in r.name else SMALL for r in model.rotors])
    v = np.zeros(nv)
    for joint, angle in BENT.items():
        v[[model.joint_idx_v(f"left_{joint}"), model.joint_idx_v(f"right_{joint}")]] = angle
    start = q = pc.integrate(model, pc.neutral(model), v)
    v, home = np.zeros(nv), pc.centerOfMass(model, data, q).copy()
    weight = np.concatenate([np.zeros(3), np.ones(3), np.full(nv - 6, 0.01)])  # weights of trunk orientation, posture

    cone = np.array([[1, 0, FRICTION], [-1, 0, FRICTION], [0, 1, FRICTION], [0, -1, FRICTION]])
    C = np.zeros((m + 16, nv + m + 12))  # acts on x = (a, motor torques, contact forces)
    C[:m, nv : nv + m], C[m:, nv + m :] = np.eye(m), np.kron(np.eye(4), cone)
    low, high = np.concatenate([-limit, np.zeros(16)]), np.concatenate([limit, np.full(16, 1e6)])
    qp = proxsuite.proxqp.dense.QP(nv + m + 12, nv + 12, m + 16)
    qp.settings.eps_abs, qp.settings.eps_primal_inf = 1e-9, 1e-12  # collinear contacts are redundant
    kind, axes, sites = pin.ContactType.CONTACT_3D, pin.LOCAL_WORLD_ALIGNED, [model.frames[i] for i in points]
    contacts = [pc.RigidConstraintModel(kind, model, site.parentJoint, site.placement, axes) for site in sites]
    results = [contact.createData() for contact in contacts]
    terms = pc.FrameTerms(model, points, axes)  # filled at each step
    knee, log, worst = [r.name for r in model.rotors].index("left_knee_rotor"), [], np.zeros(2)
    for k in range(STEPS):
        # exact terms of the robot with rotors and belts
        pc.computeAllTerms(model, data, q, v, out=terms)
        M, h, B, com_J = terms.M, terms.nle, pc.actuation_matrix(model, data, q), terms.Jcom
        J, drift = terms.J[:, :3].reshape(12, nv), terms.classical_drift[:, :3].ravel()
        stop = -drift - DAMPING * J @ v  # J a = stop keeps the feet fixed
        # tasks: the centre of mass follows a cosine, the trunk stays upright, the joints stay near the initial pose
        phase = 2 * np.pi * k * DT / PERIOD
        goal = home - [0, 0, DEPTH / 2 * (1 - np.cos(phase))]
        speed, pull = -np.pi * DEPTH / PERIOD * np.sin(phase), -2 * DEPTH * (np.pi / PERIOD) ** 2 * np.cos(phase)
        com_a = np.array([0, 0, pull]) + 30 * ([0, 0, speed] - terms.vcom) + 225 * (goal - terms.com) - terms.acom
        rest = 100 * pc.difference(model, q, start) - 20 * v
        H = np.diag(np.full(nv + m + 12, 1e-6))
        H[:nv, :nv] += 100 * com_J.T @ com_J + np.diag(weight)
        g = np.concatenate([-100 * com_J.T @ com_a - weight * rest, np.zeros(m + 12)])
        A, b = np.block([[M, -B, -J.T], [J, np.zeros((12, m + 12))]]), np.concatenate([-h, stop])
        (qp.update if k else qp.init)(H, g, A, b, C, low, high)
        qp.solve()
        motor = qp.results.x[nv : nv + m]
        # simulate; the contacts damp their drift, and redundant contact forces have minimum norm
        for result, slip in zip(results, (J @ v).reshape(4, 3), strict=True):
            result.contact_acceleration_desired = pin.Motion(-DAMPING * slip, np.zeros(3))
        a = pc.constraintDynamics(model, data, q, v, B @ motor, contacts, results)
        worst = np.maximum(worst, [np.abs(a - qp.results.x[:nv]).max(), (np.abs(motor) / limit).max()])
        log.append([k * DT, goal[2], terms.com[2], motor[knee]])
        q, v = pc.integrate(model, q, DT * v + DT**2 / 2 * a), v + DT * a
    time, wanted, reached, torque = np.array(log).T
    miss = np.abs(wanted - reached).max()
    print(f"simulation and QP agree to {worst[0]:.0e} rad/s^2; largest motor torque: {worst[1]:.3f} of its limit")
    print(f"centre of mass: {1e3 * np.ptp(wanted):.0f} mm down and up, largest tracking error {1e3 * miss:.1f} mm")
    assert worst[0] < 1e-6  # QP and simulation solve the same equations; QP tolerance 1e-9
    assert worst[1] < 1.0 + 1e-6  # the knees reach their limit on the way up and do not exceed it
    assert miss < 0.01
    return {"time": time, "wanted": wanted, "reached": reached, "torque": torque}


if __name__ == "__main__":
    main()
