"""Approximations of transmissions and loops that simulators use instead of the exact dynamics.

Without closed loops, the rotors are locked into the links at angle 0, and a constant matrix represents their spin:

- ``none``: the rotors do not spin; reflected inertia is neglected.
- ``diagonal``: the reflected inertia of each joint, ``sum_r J_r g_ri^2``, is the ``armature`` of the joint.
- ``block``: the full matrix ``sum_r J_r g_r' g_r``, which couples joints that share a belt.

All three approximations neglect the effects of carrier acceleration and carrier rotation on a spinning rotor.

With closed loops, let G(q) and g be the coupling (tree acceleration = G a + g):

- ``unconstrained``: the equations of the independent joints in the tree, ``M_ii a + h_i``, at the exact q and v.
- ``frozen``: the coupling G0 of the reference pose is used at every pose, ``G0' rnea_tree(q, G0 v, G0 a)``.
- ``no rotor`` (robots with rotors only): exact loops; the rotors do not spin relative to their carriers.
- ``armature`` (robots with rotors only): as ``no rotor``, with ``J ratio^2`` added to the armature of the tree joints
  that drive each rotor, before the reduction with G. Pinocchio and MuJoCo use this approximation.

The forward dynamics of each approximation are the inverse of its inverse dynamics.
"""

from typing import Any

from .._support import old_names
from ..model import ClusterModel, check_model
from ._base import DEFINITIONS, LABELS, LEVELS, LOOP_LEVELS, ROTOR_LEVELS, Approximation, names
from ._constant import Armature, Block, followers
from ._loops import Frozen, Locked, Unconstrained
from .robots import robot

__all__ = [
    "DEFINITIONS",
    "LABELS",
    "LEVELS",
    "LOOP_LEVELS",
    "ROTOR_LEVELS",
    "Approximation",
    "Block",
    "followers",
    "names",
    "of",
    "robot",
]

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
        model: The robot; without closed loops, all its dependent joints must be rotors.
        drop_rotors: Omit the mass and inertia of the rotors [kg, kg m^2]. The default, which locks the rotors into
            their carriers at angle 0, is more accurate. ``unconstrained`` and ``frozen`` always keep the rotors.

    Returns:
        Approximations by name, in the order of ``names(model)``. Each object has its own workspaces, so use a separate
            object in each thread.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: Without closed loops, a dependent joint is not a rotor.

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
