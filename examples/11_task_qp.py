"""Control a humanoid by a quadratic program without accelerations: J M^-1 [B, J_c'] replaces the mass matrix M.

The MIT Humanoid stands on the corners of its feet, eight points, and accelerates its trunk up and forward. The usual
quadratic program has accelerations, motor torques and contact forces as unknowns, 24 + 18 + 24, and the dynamics as
equality constraints. `pc.task_input_matrix` maps torques and forces directly to task accelerations, including rotors
and belts, so 42 unknowns and no equality constraints remain. Both programs agree. The solver is ProxQP.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pinocchio as pin
import proxsuite
from scipy.linalg import block_diag

import pin_clusters as pc

FRICTION, LIMIT, REPEATS = 0.6, 3.0, 20  # friction, torque limit of the rotors [N m], timings
BENT = {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}  # [rad]
CORNERS = [(x, y) for x in (0.1, -0.05) for y in (0.03, -0.03)]  # in the frame of the foot [m]
FEET, ALIGNED = ("left_ankle", "right_ankle"), pin.LOCAL_WORLD_ALIGNED


def humanoid() -> tuple[pc.ClusterModel, list[str]]:
    """Return the MIT Humanoid with frames at the corners of its feet, and the names of these frames."""
    shipped = pc.load("mit_humanoid")
    tree, names = shipped.tree.copy(), [f"{foot}_{i}" for foot in FEET for i in range(len(CORNERS))]
    for name, xy in zip(names, 2 * CORNERS, strict=True):
        place = pin.SE3(np.eye(3), np.array([*xy, -0.041]))
        tree.addFrame(pin.Frame(name, tree.getJointId(name[:-2]), place, pin.OP_FRAME))
    return pc.ClusterModel(tree, shipped.constraints), names


def solved(*program: np.ndarray) -> np.ndarray:
    """Return the solution of the quadratic program (H, g, A, b, C, low, high)."""
    qp = proxsuite.proxqp.dense.QP(*map(len, program[:6:2]))
    qp.settings.eps_abs, qp.settings.eps_rel = 1e-10, 0.0
    qp.init(*program)
    qp.solve()
    return np.array(qp.results.x)


def main() -> dict[str, Any]:
    """Compare both programs; return motor torques [N m], and times to build and to solve [s], per program."""
    model, corners = humanoid()
    data, nv, m, tasks = model.createData(), model.nv, len(model.rotors), [model.names[1], *FEET]
    terms = pc.FrameTerms(model, [*tasks, *corners], ALIGNED)
    bent = np.zeros(nv)
    for joint, angle in BENT.items():
        bent[[model.joint_idx_v(f"left_{joint}"), model.joint_idx_v(f"right_{joint}")]] = angle
    q, v = pc.integrate(model, pc.neutral(model), bent), 0.1 * np.sin(np.arange(nv))
    # desired accelerations: the trunk forward and up [m/s^2], the feet zero
    wanted, weight = np.array([0.5, 0.0, 1.0, *[0.0] * 15]), np.repeat([1.0, 10.0], [6, 12])
    cone = np.array([[1, 0, FRICTION], [-1, 0, FRICTION], [0, 1, FRICTION], [0, -1, FRICTION]])
    C = block_diag(np.eye(m), *[cone] * 8)  # acts on x = (motor torques, contact forces)
    low, high = np.repeat([-LIMIT, 0.0], [m, 32]), np.repeat([LIMIT, 1e6], [m, 32])
    small = np.repeat([1e-1, 1e-3], [m, 24])  # regularizes redundant forces

    def with_accelerations() -> tuple[np.ndarray, ...]:
        pc.computeAllTerms(model, data, q, v, out=terms)
        B, J, J_c = pc.actuation_matrix(model, data, q), terms.J[:3].reshape(18, nv), terms.J[3:, :3].reshape(24, nv)
        drift = terms.spatial_drift[:3].ravel()
        H = block_diag(J.T @ (weight[:, None] * J), np.diag(small))
        g = np.concatenate([J.T @ (weight * (drift - wanted)), np.zeros(m + 24)])
        return H, g, np.hstack([terms.M, -B, -J_c.T]), -terms.nle, np.hstack([np.zeros((len(C), nv)), C]), low, high

    def without() -> tuple[np.ndarray, ...]:
        A, free = pc.task_input_matrix(model, data, q, tasks, None, corners, reference=ALIGNED, v=v)
        H, g = A.T @ (weight[:, None] * A) + np.diag(small), A.T @ (weight * (free - wanted))
        return H, g, np.zeros((0, m + 24)), np.zeros(0), C, low, high

    found: dict[str, Any] = {}
    for name, program, times in (("with accelerations", with_accelerations, []), ("without", without, [])):
        for _ in range(REPEATS):
            start, given, middle = time.perf_counter(), program(), time.perf_counter()
            torques = solved(*given)[-m - 24 : -24]
            times.append((middle - start, time.perf_counter() - middle))
        found[name] = torques, *np.min(times, axis=0)
        made, needed = 1e6 * np.array(found[name][1:])
        print(
            f"{name:18}: built in {made:.0f} us, solved in {needed:.0f} us, torques <= {np.abs(torques).max():.3f} N m"
        )
    difference = np.abs(found["without"][0] - found["with accelerations"][0]).max()
    print(f"the torques differ by {difference:.0e} N m")
    assert difference < 1e-9  # the tolerance of the solver is 1e-10
    return found


if __name__ == "__main__":
    main()
