"""Values of closures from Pinocchio's forward kinematics, written from the definitions alone."""

import numpy as np
import pinocchio as pin

from pin_clusters.constraints.closures import FrameClosure, JointClosure, RodClosure


def closure_value(tree, closure, q):
    if isinstance(closure, JointClosure):
        return closure.value(coordinates(tree, q, closure.joints))
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    if isinstance(closure, RodClosure):
        ends = data.oMi[closure.joint_a].act(closure.point_a), data.oMi[closure.joint_b].act(closure.point_b)
        return np.array([np.linalg.norm(ends[1] - ends[0]) - closure.length])
    assert isinstance(closure, FrameClosure)
    a_M_b = (data.oMi[closure.joint_a] * closure.placement_a).inverse() * (
        data.oMi[closure.joint_b] * closure.placement_b
    )
    return closure.rows @ np.concatenate([a_M_b.translation, rotation_vector(a_M_b.rotation, closure.rotation)])


def rotation_vector(R, rotation):
    if rotation == "full":
        return pin.log3(R)
    if rotation == "axis":
        return pin.log3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), R[:, 2]).toRotationMatrix())
    if rotation == "universal":
        return np.array([0.0, 0.0, np.arcsin(R[2, 0])])
    return np.zeros(3)


def coordinates(tree, q, joints):
    """Angles and positions of joints; a continuous joint counts by its angle."""
    values = []
    for j in joints:
        joint = tree.joints[j]
        x = q[joint.idx_q : joint.idx_q + joint.nq]
        values.append(np.arctan2(x[1], x[0]) if joint.nq == 2 else x[0])
    return np.array(values)


def assembled(tree, q, joints, values):
    """Q with the coordinates of some joints replaced."""
    q = q.copy()
    for j, x in zip(joints, values, strict=True):
        joint = tree.joints[j]
        q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(x), np.sin(x)] if joint.nq == 2 else x
    return q


def assemblies(tree, constraint, x):
    """All q's of the closed form, for given independents."""
    form = constraint.closed_form(tree)
    q = assembled(tree, pin.neutral(tree), form.independent, x)
    return [assembled(tree, q, form.dependent, values) for values in form.solve(np.asarray(x, dtype=float))]
