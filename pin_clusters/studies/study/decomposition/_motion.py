"""Compute Jacobians, velocities, accelerations and torques of the expanded tree (``expand``) at many states.

J is the spatial Jacobian of all joints in the world frame (at its origin), and Jdot is its time derivative. If J
contains only the joints that move a body, the body's twist is ``J v`` and its spatial acceleration is ``J a + Jdot v``.
Pinocchio's Jdot assumes that each joint axis is fixed in the body that the joint moves. For joints whose axes move in
that body (universal, ZYX, composite), the bias ``c`` of the joint is added.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ....model import SpanningTree


@dataclass(frozen=True, eq=False)
class Motion:
    J: np.ndarray  # Jacobian in the world frame, rows [linear; angular], shape (N, 6, tree.nv)
    drift: np.ndarray  # columns of Jdot, each times its joint velocity, shape (N, 6, tree.nv)
    v: np.ndarray  # tree velocity, shape (N, tree.nv)
    columns: list[np.ndarray]  # for each joint, indices of the velocities on its path to the root
    placements: dict[int, tuple[np.ndarray, np.ndarray]]  # world rotation (N, 3, 3) and position (N, 3) by joint id
    gravity: np.ndarray  # gravitational acceleration, shape (3,), [m/s^2]

    def turning(self, j: int, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute angular velocity and acceleration, (N, 3), of joint j's body in world axes; j = 0 is the universe."""
        path = self.columns[j]
        J = self.J[:, 3:, path]
        return apply(J, self.v[:, path]), apply(J, a[:, path]) + self.drift[:, 3:, path].sum(axis=2)

    def wrench(self, j: int, inertia: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Compute the tree torques of ``I A + V x* I V``; A is acceleration minus gravity, I is in the frame of j."""
        path = self.columns[j]
        rotation, position = self.placements[j]
        twist = apply(self.J[:, :, path], self.v[:, path])
        acceleration = apply(self.J[:, :, path], a[:, path]) + self.drift[:, :, path].sum(axis=2)
        acceleration[:, :3] -= self.gravity
        V, A = (_to_body(rotation, position, x) for x in (twist, acceleration))
        momentum = V @ inertia
        force = A @ inertia
        force[:, :3] += np.cross(V[:, 3:], momentum[:, :3])
        force[:, 3:] += np.cross(V[:, 3:], momentum[:, 3:]) + np.cross(V[:, :3], momentum[:, :3])
        linear = apply(rotation, force[:, :3])
        angular = apply(rotation, force[:, 3:]) + np.cross(position, linear)
        return self._torques(path, np.hstack([linear, angular]), slice(0, 6))

    def moment(self, j: int, moment: np.ndarray) -> np.ndarray:
        """Convert a moment on a body, in world axes, (N, 3), to tree torques, (N, tree.nv)."""
        return self._torques(self.columns[j], moment, slice(3, 6))

    def _torques(self, path: np.ndarray, force: np.ndarray, rows: slice) -> np.ndarray:
        tau = np.zeros_like(self.v)
        tau[:, path] = apply(self.J[:, rows, path].transpose(0, 2, 1), force)
        return tau


def motion(span: SpanningTree, q: np.ndarray, v: np.ndarray, bodies: set[int]) -> Motion:
    """Evaluate the kinematics of the expanded tree for q in the order of the model, (N, nq), and tree velocities v."""
    tree, n = span.tree, len(q)
    data = tree.createData()
    J, drift = np.empty((2, n, 6, tree.nv))
    moving = [(tree.joints[j], j, tree.joints[j].createData()) for j in _with_moving_axes(tree)]
    placements = {j: (np.empty((n, 3, 3)), np.empty((n, 3))) for j in bodies}
    expanded = np.zeros((n, tree.nq))
    expanded[:, span.from_tree_q] = q
    for i in range(n):
        pin.computeJointJacobiansTimeVariation(tree, data, expanded[i], v[i])
        # The reshape is needed because Pinocchio returns a single column as a vector.
        J[i], drift[i] = data.J.reshape(6, -1), data.dJ.reshape(6, -1) * v[i]
        for joint, j, joint_data in moving:
            joint.calc(joint_data, expanded[i], v[i])
            drift[i, :, joint.idx_v] += data.oMi[j].act(joint_data.c).vector
        for j, (rotation, position) in placements.items():
            M = data.oMi[j]
            rotation[i], position[i] = M.rotation, M.translation
    columns = [_path(tree, j) for j in range(tree.njoints)]
    return Motion(J, drift, v, columns, placements, np.array(tree.gravity.linear))


def _with_moving_axes(tree: pin.Model) -> list[int]:
    v = np.random.default_rng(0).normal(size=tree.nv)
    q = pin.integrate(tree, pin.neutral(tree), v)
    joint_ids = []
    for j in range(1, tree.njoints):
        data = tree.joints[j].createData()
        tree.joints[j].calc(data, q, v)
        if np.any(np.abs(data.c.vector) > 1e-12):
            joint_ids.append(j)
    return joint_ids


def _path(tree: pin.Model, j: int) -> np.ndarray:
    joints = [tree.joints[k] for k in tree.supports[j] if k]
    return np.array([i for joint in joints for i in range(joint.idx_v, joint.idx_v + joint.nv)], dtype=np.int64)


def apply(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    if matrix.ndim == 2:
        return x @ matrix.T
    return np.matmul(matrix, x[:, :, None])[:, :, 0]


def transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)


def _to_body(rotation: np.ndarray, position: np.ndarray, x: np.ndarray) -> np.ndarray:
    back = transposed(rotation)
    return np.hstack([apply(back, x[:, :3] + np.cross(x[:, 3:], position)), apply(back, x[:, 3:])])
