"""Returns the serial tree of a robot with closed loops, with constant armature."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ..constraints import Spring
from ..constraints.closures import massive
from ..errors import ModelError
from ..model import ClusterModel, buildReducedModel, inertia_tree_of


def serial_tree(model: ClusterModel, armature: Mapping[str, float] | None = None) -> ClusterModel:
    """Return the tree of the independent joints, as most simulators use it, without rotors, couplings and loops.

    Dependent links and rotors are fixed to their carriers at the reference pose. The mass of a rod is divided between
    its two ends. The tree contains the springs along single joints.

    Args:
        model: The exact robot.
        armature: Armature by joint, [kg m^2] or [kg], which is added to the armature in the robot's file.

    Raises:
        ModelError: A dependent joint carries an independent joint, so the serial tree has other kinematics.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.approximations.serial import serial_tree
        >>> serial_tree(pc.load("ankle_2rsu"), {"ankle_pitch": 0.01}).independent_joints
        ('ankle_pitch', 'ankle_roll')
    """
    tree, free = inertia_tree_of(model.tree, model.rotors, ()), set(model.independent_joints)
    for rod in massive(model.closures):
        for j, point, mass in rod.masses_of_ends:  # Half of the mass that is at the midpoint is added to each end.
            end = pin.Inertia(mass + 0.5 * rod.point_masses[1], point, np.zeros((3, 3)))
            tree.inertias[j] = tree.inertias[j] + end if j else tree.inertias[j]
    if inside := inside_chain(model):
        raise ModelError(
            f"{model.name!r} has no serial tree with the same kinematics, because the dependent joints "
            f"{', '.join(map(repr, inside))} carry independent joints. Select other independent joints, for example "
            "with --independent or pc.with_independent."
        )
    values = np.array(tree.armature)
    for name, value in (armature or {}).items():
        values[tree.idx_vs[tree.getJointId(name)]] += value
    tree.armature = values
    springs = [c for c in model.constraints if isinstance(c, Spring) and isinstance(c.along, str) and c.along in free]
    bare = ClusterModel(tree, springs, model.q_reference, name=model.name, collision=model.collision)
    gone = [tree.getJointId(name) for name in model.dependent_joints]
    serial: ClusterModel = buildReducedModel(bare, gone, model.q_reference)
    return serial


def inside_chain(model: ClusterModel) -> list[str]:
    """Return the names of the dependent joints that carry independent joints."""
    tree, free = model.own_tree, set(model.independent_joints)
    above = {int(k) for name in free for k in list(tree.supports[tree.getJointId(name)])[1:]}
    return [tree.names[k] for k in sorted(above) if tree.names[k] not in free]
