"""Returns approximations as cluster models, so that contacts, batches and file output can use them."""

import numpy as np
import pinocchio as pin

from .._support import old_names
from ..constraints import Motor, Rotor
from ..errors import UnknownNameError, did_you_mean
from ..model import ClusterModel, friction_of_motors, inertia_tree_of
from ._base import LEVELS, ROTOR_LEVELS
from .armature import axial_inertia, check_rotors, locked, reflected_inertia


@old_names.argument("rung", "level")
def robot(model: ClusterModel, level: str) -> ClusterModel:
    """Return an approximation as a model with the joints, configurations and independent joints of the exact model.

    The mass and inertia of the rotors, at angle 0, are added to their carriers; the rotor bodies stay in the model
    without inertia. Joint armature [kg m^2] represents the spin of the rotors. In ``block``, massless rotors on the
    universe represent the spin, because the motion of carriers does not affect such rotors. Motor friction becomes
    joint friction, and gears have no losses.

    Args:
        model: The exact robot.
        level: ``"none"``, ``"diagonal"`` or ``"block"``; for robots with closed loops ``"no rotor"`` or ``"armature"``.

    Raises:
        UnknownNameError: The robot has no such approximation, or a ``ClusterModel`` cannot represent it.
        ModelError: A robot without closed loops has a dependent joint that is not a rotor.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from pin_clusters import approximations
        >>> model = pc.load("mit_humanoid_leg")
        >>> block = approximations.robot(model, "block")
        >>> q, v, a = pc.neutral(model), np.ones(model.nv), np.zeros(model.nv)
        >>> torques = pc.rnea(block, block.createData(), q, v, a)
        >>> bool(np.allclose(torques, approximations.of(model)["block"].rnea(q, v, a)))
        True
    """
    levels = ROTOR_LEVELS if model.closures else LEVELS
    if level not in levels or not locked(model):
        why = f".{did_you_mean(level, levels, limit=len(levels))}" if locked(model) else ", because it has no rotors."
        raise UnknownNameError(f"robot {model.name!r} has no approximation {level!r} as a ClusterModel{why}")
    if not model.closures:
        check_rotors(model)
    tree = inertia_tree_of(model.tree, model.rotors, ())
    armature, of_joints = np.array(tree.armature), np.zeros(model.tree.nv)
    constraints = [c for c in model.constraints if not isinstance(c, (Motor, Rotor))]
    constraints += friction_of_motors(tree, model.rotors)
    if level == "diagonal":
        of_joints[model.idx_v_independent] = np.diag(reflected_inertia(model))
    for r in reversed(locked(model)):  # reversed, because rotors must be merged before their carriers
        J = axial_inertia(model, r)
        if r.joint_id is not None:
            j, carrier = r.joint_id, tree.parents[r.joint_id]
            if carrier:
                tree.inertias[carrier] = tree.inertias[carrier] + tree.jointPlacements[j].act(tree.inertias[j])
            tree.inertias[j] = pin.Inertia.Zero()
            armature[tree.joints[j].idx_v] = 0.0
        if level == "armature":
            for i, ratio in r.drivers:
                of_joints[i] += J * ratio**2
        driven = {name: r.row[model.joint_idx_v(name)] for name in model.independent_joints}
        driven = {name: float(ratio) for name, ratio in driven.items() if ratio}
        if level == "block" and driven and J:
            spin = Rotor(
                list(driven),
                list(driven.values()),
                axial_inertia=J,
                axis=(0.0, 0.0, 1.0),
                carrier="universe",
                armature="keep",
                driven=r.driven,
                name=f"block:{r.name}",
            )
            constraints.append(spin)
    tree.armature = armature + of_joints
    return ClusterModel(tree, constraints, model.q_reference, independent=model.independent_joints, name=model.name)
