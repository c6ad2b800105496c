"""Approximate dynamics of transmissions and closed loops, as many simulators use them.

Without closed loops, the rotors are fixed to their carriers at angle 0. A constant matrix, which is added to the mass
matrix, represents their spin. J_r is the axial inertia of rotor r, and g_r contains its speed per unit of each v_i:

- ``none``: the matrix is zero; reflected inertia is neglected.
- ``diagonal``: the reflected inertia of each joint, ``sum_r J_r g_ri^2``, is the ``armature`` of the joint.
- ``block``: the full matrix ``sum_r J_r g_r' g_r``, which couples joints that share a belt.

All three approximations neglect the effects of carrier acceleration and carrier rotation on a spinning rotor.

For robots with closed loops (the exact acceleration of the tree is G(q) a + g, with the coupling Jacobian G):

- ``unconstrained``: ``tau = M_ii a + h_i``, the tree's equations of motion for the independent joints i, at exact q, v.
- ``frozen``: ``tau = G0' rnea_tree(q, G0 v, G0 a)``, where G0 is G at the reference pose.
- ``no rotor`` (only for robots with rotors): exact loops; the rotors do not spin relative to their carriers.
- ``armature`` (only for robots with rotors): like ``no rotor``, but ``J ratio^2`` of each rotor is added to the
  armature of the tree joints that drive it. Pinocchio and MuJoCo use this approximation.

The forward dynamics of an approximation solve its inverse dynamics for a.
"""

from typing import Any

from .._support import old_names
from ..model import ClusterModel, check_model
from ._base import DEFINITIONS, LABELS, LEVELS, LOOP_LEVELS, ROTOR_LEVELS, Approximation, names
from ._constant import Armature, Block, followers
from ._loops import Frozen, Locked, Unconstrained
from .robots import robot

__all__ = [
    "DEFINITIONS", "LABELS", "LEVELS", "LOOP_LEVELS", "ROTOR_LEVELS", "Approximation", "Block", "followers", "names",
    "of", "robot",
]  # fmt: skip

_KINDS: dict[str, type[Approximation]] = {
    "none": Armature,
    "diagonal": Armature,
    "block": Block,
    "unconstrained": Unconstrained,
    "frozen": Frozen,
    "no rotor": Locked,
    "armature": Locked,
}


def of(model: ClusterModel, drop_rotors: bool = False) -> dict[str, Approximation]:
    """Return the approximations of a robot.

    Args:
        model: The robot. If it has no closed loops, all dependent joints must be rotors.
        drop_rotors: Whether to omit the mass and inertia of the rotors. The default, which adds them to the carriers,
            is more accurate. ``unconstrained`` and ``frozen`` always keep the rotors.

    Returns:
        A dict from names to approximations, in the order of ``names(model)``. Each approximation has its own
        workspaces; threads must not share an approximation.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: A robot without closed loops has a dependent joint that is not a rotor.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from pin_clusters import approximations
        >>> model = pc.load("mit_humanoid_leg")
        >>> levels = approximations.of(model)
        >>> list(levels)
        ['none', 'diagonal', 'block']
        >>> q, v, tau = pc.neutral(model), np.ones(model.nv), np.zeros(model.nv)
        >>> a = levels["block"].aba(q, v, tau)
        >>> np.allclose(levels["block"].rnea(q, v, a), tau)
        True
    """
    check_model(model, "approximations.of")
    return {name: _KINDS[name](model, name, bool(drop_rotors)) for name in names(model)}


def __getattr__(name: str) -> Any:
    if name in ("RUNGS", "LOOP_RUNGS", "ROTOR_RUNGS"):
        return old_names.constant(globals(), name, name.replace("RUNGS", "LEVELS"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
