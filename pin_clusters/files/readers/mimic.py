"""``pc.expand_mimic``: convert Pinocchio's mimic joints to ordinary joints and couplings."""

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinate, copy_fields, in_q, in_v, set_coordinate
from ...constraints import LinearCoupling
from ...errors import ArgumentTypeError, UnsupportedJointError
from ._trees import joint_model, like

_MIMIC = "JointModelMimic"


def expand_mimic(model: pin.Model) -> tuple[pin.Model, tuple[LinearCoupling, ...]]:
    """Replace mimic joints by ordinary joints with linear couplings.

    Pinocchio's mimic joints have no coordinate, and several algorithms of Pinocchio do not support mimic joints. Every
    joint of the result has its own coordinates, as ``ClusterModel`` requires. The order and the names of the joints,
    the placements, the inertias and the frames do not change.

    Args:
        model: Any model, such as one read with ``mimic=True``; it is not changed.

    Returns:
        The tree, and one ``LinearCoupling`` per mimic joint (ratio in rad/rad, m/m, m/rad or rad/m). The position and
        velocity limits of a mimic joint are computed from the limits of its master joint. The armature of a mimic joint
        is zero, as in Pinocchio.

    Raises:
        ArgumentTypeError: ``model`` is not a ``pin.Model``.
        UnsupportedJointError: A mimic joint has several degrees of freedom, or a scaling of 0.

    Example:
        >>> import pin_clusters as pc, pinocchio as pin
        >>> model = pin.buildModelFromUrdf("gripper.urdf", mimic=True)  # doctest: +SKIP
        >>> model = pc.ClusterModel(*pc.expand_mimic(model))  # doctest: +SKIP
    """
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"model must be a pinocchio.Model, got {type(model).__name__}.")
    masters = {j: _master(model, j) for j in range(1, model.njoints) if model.joints[j].shortname() == _MIMIC}
    if not masters:
        return model.copy(), ()
    tree = like(model)
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    couplings = []
    for j in range(1, model.njoints):
        joint = model.joints[j]
        if j in masters:
            scaling, offset = _affine(joint)
            joint = _own_joint(model, data, j, masters[j], scaling)
            couplings.append(LinearCoupling(model.names[j], {model.names[masters[j]]: scaling}, offset))
        tree.addJoint(model.parents[j], joint, model.jointPlacements[j], model.names[j])
        tree.inertias[j] = model.inertias[j]
    for frame in list(model.frames)[1:]:
        tree.addFrame(frame, False)
    for j in range(1, model.njoints):
        if j in masters:
            _follow_fields(model, tree, j, masters[j])
        else:
            copy_fields(model, j, tree, j)
    for entry in model.referenceConfigurations:
        tree.referenceConfigurations[entry.key()] = _expanded(model, tree, masters, np.asarray(entry.data()))
    return tree, tuple(couplings)


def _affine(joint: pin.JointModel) -> tuple[float, float]:
    inner = joint.extract() if hasattr(joint, "extract") else joint
    return float(inner.scaling), float(inner.offset)


def _master(model: pin.Model, j: int) -> int:
    for k in range(1, model.njoints):
        candidate = model.joints[k]
        if candidate.shortname() != _MIMIC and candidate.nv == 1 and candidate.idx_v == model.joints[j].idx_v:
            return k
    raise UnsupportedJointError(
        f"mimic joint {model.names[j]!r} depends on a joint with several degrees of freedom, which cannot be coupled. "
        "Split that joint into joints with one degree of freedom."
    )


def _own_joint(model: pin.Model, data: pin.Data, j: int, master: int, scaling: float) -> pin.JointModel:
    """Build the ordinary joint for mimic joint ``j`` from the joint's motion subspace, which includes the scaling."""
    if scaling == 0.0:
        raise UnsupportedJointError(f"mimic joint {model.names[j]!r} has a scaling of 0. Make it a fixed joint.")
    scaled = data.joints[j].S
    subspace = np.asarray(scaled.matrix() if hasattr(scaled, "matrix") else scaled).reshape(6) / scaling
    linear, angular = subspace[:3], subspace[3:]
    turns = np.linalg.norm(angular) > 0.5
    axis = angular if turns else linear
    axis = axis / np.linalg.norm(axis)
    pitch = float(linear @ axis) if turns else 0.0
    kind = "P" if not turns else "H" if pitch != 0.0 else "RUB" if model.joints[master].nq == 2 else "R"
    return joint_model(kind, axis, pitch, tolerance=1e-15)


def _follow_fields(model: pin.Model, tree: pin.Model, j: int, master: int) -> None:
    q_new, v_new, q_old, v_old = in_q(tree, j), in_v(tree, j), in_q(model, master), in_v(model, master)
    scaling, offset = _affine(model.joints[j])
    with np.errstate(over="ignore"):  # The largest float means "no limit"; its multiples may overflow.
        speed = np.nan_to_num(abs(scaling) * model.velocityLimit[v_old])
        limits = (model.lowerPositionLimit, model.upperPositionLimit)
        ends = np.nan_to_num(np.sort([scaling * limit[q_old][0] + offset for limit in limits]))
    tree.velocityLimit[v_new] = speed
    if hasattr(tree, "lowerVelocityLimit"):
        tree.lowerVelocityLimit[v_new] = -speed
    if len(q_new) == 1:
        tree.lowerPositionLimit[q_new], tree.upperPositionLimit[q_new] = ends


def _expanded(model: pin.Model, tree: pin.Model, masters: dict[int, int], q: np.ndarray) -> np.ndarray:
    full = np.array(pin.neutral(tree))
    for j in range(1, model.njoints):
        if j in masters:
            scaling, offset = _affine(model.joints[j])
            set_coordinate(tree, j, full, scaling * coordinate(model, masters[j], q) + offset)
        else:
            full[in_q(tree, j)] = q[in_q(model, j)]
    return full
