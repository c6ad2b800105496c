"""The floating base among the joints."""

from __future__ import annotations

from ....errors import ModelError
from ....model import ClusterModel


def free_flyer(model: ClusterModel) -> int:
    """Return the id of the joint on which the base floats; 0 if there is none."""
    tree = model.tree
    found = (j for j in range(1, tree.njoints) if not tree.parents[j] and "FreeFlyer" in tree.joints[j].shortname())
    return next(found, 0)


def base_columns(model: ClusterModel) -> int | None:
    """Return where the six velocities of a floating base begin in v; None if there is no such base."""
    base = free_flyer(model)
    return model.joint_idx_v(model.tree.names[base]) if base else None


def flying_base(model: ClusterModel, caller: str) -> int:
    """Return the same for a robot that nothing else ties to the world, else raise ``ModelError``."""
    tree, first = model.tree, base_columns(model)
    if first is None:
        raise ModelError(
            f"{caller}: model {model.name!r} has no floating base, so it cannot fly. Load it with "
            "root_joint=pin.JointModelFreeFlyer()."
        )
    base = free_flyer(model)
    fixed = [tree.names[j] for j in range(1, tree.njoints) if not tree.parents[j] and j != base]
    fixed += [r.name for r in model.rotors if not r.carrier_id]
    fixed += [str(c.source.label) for c in model.closures if 0 in (getattr(c, "joint_a", 1), getattr(c, "joint_b", 1))]
    if fixed:
        raise ModelError(
            f"{caller}: {', '.join(map(repr, fixed))} of model {model.name!r} hold on to the world, so it cannot fly."
        )
    return first
