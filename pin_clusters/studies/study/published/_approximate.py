"""The approximate robot of a robot: armature in the place of rotors; of differentials, a serial robot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...._support.trees import in_v
from ....approximations.armature import armature_model
from ....approximations.armature import axial_inertia as axial
from ....errors import ModelError
from ....model import ClusterModel, depth_first
from ....verification.baselines import projection


def approximate(model: ClusterModel) -> tuple[pin.Model, str]:
    """Return the approximate robot for Pinocchio, and a note where armature alone does not give one."""
    try:
        return armature_model(model, "diagonal"), ""
    except ModelError as error:
        return serial(model), f"baselines.armature_model cannot express {model.name}: {error}"


def serial(model: ClusterModel) -> pin.Model:
    """Return the tree without rotors, all of its joints free, and what rotors reflect to them as armature.

    What simulators use for a differential: its links' joints are driven directly. The armature is the diagonal of what
    the rotors reflect at the reference pose.

    Raises:
        ModelError: The joints that are left are not as many as the robot has degrees of freedom.
    """
    rotors = [r for r in model.rotors if r.joint_id is not None]
    locked = [r.joint_id for r in model.rotors if r.joint_id is not None]
    tree = depth_first(model.inertia_tree.copy(), locked)
    if tree.nv != model.nv:
        raise ModelError(
            f"{model.name}: without its rotors the tree has {tree.nv} degrees of freedom, the robot {model.nv}, so "
            "that no serial robot stands for it."
        )
    full = model.tree
    space = projection.createData(model)
    space.couple(model.q_reference)
    G = space.G[space.span.from_tree_v]
    free = [i for name in list(tree.names)[1:] for i in in_v(full, full.getJointId(name))]
    spins = [in_v(full, j)[0] for j in locked]
    reflected = G[spins] @ np.linalg.inv(G[free])
    inertia = np.array([axial(model, r) for r in rotors])
    total = np.array(tree.armature)
    total += np.einsum("ki,k,ki->i", reflected, inertia, reflected)
    tree.armature = total
    return tree
