"""The approximations that simulators use in place of exact transmissions and loops: a ladder with named rungs.

Without closed loops, a constant matrix in place of the rotors' spin; the links carry the rotors, locked at angle 0:

- ``none``: the rotors do not spin; reflected inertia is left out.
- ``diagonal``: each joint gets its own reflected inertia, ``sum_r J_r g_ri^2``: Pinocchio's ``armature``.
- ``block``: the whole ``sum_r J_r g_r' g_r``, with the coupling of joints that share a belt.

All three lack what the acceleration and the rotation of the carrier do to a spinning rotor.

With closed loops, where G(q) and g are their coupling (tree acceleration = G a + g):

- ``unconstrained``: the independent joints' own rows of the tree, ``M_ii a + h_i``, at the true q and velocity G v.
- ``frozen``: the coupling of the reference pose at every pose, ``G0' rnea_tree(q, G0 v, G0 a)``, like gears.
- ``no rotor`` (if it has rotors): exact loops; the rotors do not spin relative to their carriers.
- ``armature`` (if it has rotors): the same with ``J ratio^2`` as armature on the joints of the tree that drive each
  rotor, before they are reduced with G: what Pinocchio and MuJoCo offer.

Forward dynamics of each is the inverse of its own inverse dynamics.
"""

from ..model import ClusterModel, check_model
from ._base import DEFINITIONS, LABELS, LOOP_RUNGS, ROTOR_RUNGS, RUNGS, Approximation, names
from ._constant import Armature, Block, followers
from ._loops import Frozen, Locked, Unconstrained
from .robots import robot

__all__ = [
    "DEFINITIONS",
    "LABELS",
    "LOOP_RUNGS",
    "ROTOR_RUNGS",
    "RUNGS",
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
        model: The robot; without closed loops its dependent joints must be rotors.
        drop_rotors: Leave the rotors out, mass and all, instead of locking them into their carriers at angle 0, which
            is the fairest approximation. ``unconstrained`` and ``frozen``, which are about loops, keep them.

    Returns:
        Approximations by name, in the order of ``names(model)``. Each has workspaces of its own: one per thread.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: Without closed loops, a dependent joint is not a rotor.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from pin_clusters import approximations
        >>> model = pc.load("mit_humanoid_leg")
        >>> rungs = approximations.of(model)
        >>> list(rungs)
        ['none', 'diagonal', 'block']
        >>> q, v, tau = pc.neutral(model), np.ones(model.nv), np.zeros(model.nv)
        >>> a = rungs["block"].aba(q, v, tau)
        >>> np.allclose(rungs["block"].rnea(q, v, a), tau)
        True
    """
    check_model(model, "approximations.of")
    return {name: _KINDS[name](model, name, bool(drop_rotors)) for name in names(model)}
