"""Map speeds, torques and limits between motors and joints of Tello, whose differentials couple two joints each.

The motors are the independent coordinates of the robot. Hip roll, hip pitch, knee and ankle follow from the equations
of the differentials. `tau` therefore contains motor torques, and the coupling Jacobian G maps between joint space and
motor space at each pose. The legs hang from a fixed torso, and the left foot pushes against the ground.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

JOINTS = ["left_hip_roll", "left_hip_pitch", "left_knee", "left_ankle"]
MOTORS = ["left_hip_rotor_1", "left_hip_rotor_2", "left_knee_ankle_rotor_1", "left_knee_ankle_rotor_2"]
LIMIT = 2.0  # torque of every rotor [N m]; assumed, because the published model has no limits
PUSH = np.array([0.0, 0.0, 120.0])  # force of the ground on the left foot [N]; assumed
TOE = np.array([0.06, 0.0, -0.041])  # its point of application in the frame of the foot [m]; assumed


def pose(model: pc.ClusterModel, roll: float, pitch: float, knee: float) -> np.ndarray:
    """Return a closed configuration with these angles of the left leg [rad]."""
    q = pc.neutral(model)
    wanted = dict(zip(JOINTS, (roll, pitch, knee, -pitch - knee), strict=True))
    for joint, angle in wanted.items():
        q[model.tree.joints[model.getJointId(joint)].idx_q] = angle
    return pc.project(model, q, hold=[*wanted])  # closes the loops by moving only the motors


def maps(model: pc.ClusterModel, data: pc.ClusterData, q: np.ndarray) -> np.ndarray:
    """Return the joint speeds per motor speed, shape (4, 4)."""
    rows = [model.tree.joints[model.getJointId(j)].idx_v for j in JOINTS]
    columns = [model.joint_idx_v(m) for m in MOTORS]
    return pc.coupling_jacobian(model, data, q)[np.ix_(rows, columns)]


def main() -> dict[str, np.ndarray]:
    """Print speeds and torques of motors and joints; return the joint torque limits [N m]."""
    model = pc.load("tello", root_joint=None)
    data = model.createData()
    at = [model.joint_idx_v(m) for m in MOTORS]
    rng = np.random.default_rng(0)
    limits = {}
    for name, q in {"straight": pose(model, 0.0, -0.3, 0.6), "squat": pose(model, 0.3, -0.8, 1.5)}.items():
        print(f"--- {name}")
        joint_speed = maps(model, data, q)
        print("joint speed per motor speed:")
        for joint, row in zip(JOINTS, joint_speed, strict=True):
            print(f"  {joint:15s}", "  ".join(f"{x:8.4f}" for x in row))

        # holding torques against gravity and the push, first of the motors, then of the joints
        fext = pin.StdVec_Force([pin.Force.Zero()] * model.njoints)
        pc.forwardKinematics(model, data, q)
        foot = model.getJointId("left_ankle")
        force = data.tree.oMi[foot].rotation.T @ PUSH
        fext[foot] = pin.Force(force, np.cross(TOE, force))
        motor = pc.computeStaticTorque(model, data, q, fext)[at]
        joint = np.linalg.solve(joint_speed.T, motor)  # virtual work, joint_speed' joint = motor
        print("holding torque of the motors:", "  ".join(f"{t:.3f}" for t in motor), "N m")
        print("holding torque of the joints:", "  ".join(f"{t:.2f}" for t in joint), "N m")
        rows = [model.tree.joints[model.getJointId(j)].idx_v for j in JOINTS]
        whole = pin.computeStaticTorque(model.tree, model.tree.createData(), q, fext)  # of the tree with open loops
        assert np.allclose(joint, whole[rows], rtol=0.0, atol=1e-9)

        # the motor limits form a parallelogram of joint torques, because the joints share the motors
        corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * LIMIT
        for first, pair in ((0, "hip roll, pitch"), (2, "knee, ankle")):
            block = joint_speed[first : first + 2, first : first + 2]
            shape = np.linalg.solve(block.T, corners.T).T  # corners of the parallelogram [N m]
            alone = [np.abs(shape[:, i]).max() for i in (0, 1)]
            together = LIMIT / np.abs(block.T @ np.diag(alone)).sum(axis=1).max()
            print(f"{pair}: up to {alone[0]:.1f} and {alone[1]:.1f} N m, but only {together:.0%} of both at once")
            limits[f"{name}: {pair}"] = shape
            assert together < 0.51  # the full torque at one joint uses both motors

        # check the maps in motion: speeds, and equal power of the independent joints and the rotors
        v, a = rng.normal(0.0, 5.0, (2, model.nv))
        tau = pc.rnea(model, data, q, v, a)
        v_tree = pc.spanning_velocity(model, data, q, v)
        assert np.allclose(joint_speed @ v[at], v_tree[rows], rtol=0.0, atol=1e-12)
        B = pc.actuation_matrix(model, data, q)
        assert np.allclose(pc.rotor_velocity(model, data, q, v), B.T @ v, rtol=0.0, atol=1e-12)
        power = tau @ v
        assert np.isclose(pc.motor_torque(model, data, q, tau) @ (B.T @ v), power, rtol=1e-10)
    return limits


if __name__ == "__main__":
    main()
