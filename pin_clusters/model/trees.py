"""Checks spanning trees, and adds the inertia of rotors and rods that are not bodies to a tree."""

import warnings
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .._support.trees import in_q, is_finite, joint_in_v
from ..constraints.closures import Closure, massive
from ..errors import InertiaError, ModelError, PinClustersWarning, UnsupportedJointError
from .elements import RotorElement
from .primitives import primitives_of


def check_tree(tree: pin.Model) -> None:
    """Raise an exception if the algorithms do not support a tree; warn about physically impossible inertias."""
    indefinite, names_so_far = [], set()
    for j in range(1, tree.njoints):
        name, inertia = tree.names[j], tree.inertias[j]
        if name in names_so_far:
            raise ModelError(f"Two joints of {tree.name!r} are named {name!r}. Rename one of them.")
        names_so_far.add(name)
        if "Mimic" in tree.joints[j].shortname():
            raise UnsupportedJointError(
                f"Joint {name!r} is a mimic joint. Convert the model to a tree and couplings first: "
                "tree, constraints = pc.expand_mimic(model); pc.ClusterModel(tree, constraints)."
            )
        primitives_of(tree.joints[j], tree.jointPlacements[j], name)  # raises an error for unsupported joints
        if not is_finite(inertia):
            raise InertiaError(f"The body of joint {name!r} has an inertia that is not finite.")
        if inertia.mass < 0.0:
            raise InertiaError(f"The body of joint {name!r} has mass {inertia.mass:g}; it must not be negative.")
        low, *_, high = np.linalg.eigvalsh(inertia.inertia)
        if low < -max(1e-9 * high, 1e-15):  # Smaller values are rounding errors.
            indefinite.append(name)
    if indefinite:
        names = ", ".join(map(repr, indefinite[:5])) + (", ..." if len(indefinite) > 5 else "")
        warnings.warn(
            f"{len(indefinite)} bodies of {tree.name!r} have a rotational inertia that is not positive semidefinite "
            f"(joints {names}). They are used unchanged, as in Pinocchio, so the mass matrix may be indefinite.",
            PinClustersWarning,
            stacklevel=3,
        )
    _warn_of_limits(tree)
    bad = np.flatnonzero(~np.isfinite(tree.armature))
    if bad.size:
        name = tree.names[joint_in_v(tree, bad[0])]
        raise InertiaError(f"The armature of joint {name!r} is {tree.armature[bad[0]]}; it must be finite.")
    if not np.all(np.isfinite(tree.gravity.linear)):
        raise ModelError(f"Gravity is {tree.gravity.linear}; it must be finite.")
    if np.any(tree.gravity.angular):
        raise ModelError(f"Gravity has an angular part {tree.gravity.angular}; only a linear part is supported.")


def _warn_of_limits(tree: pin.Model) -> None:
    lower, upper = np.array(tree.lowerPositionLimit), np.array(tree.upperPositionLimit)
    wrong = {int(i) for i in np.flatnonzero(~(lower <= upper))}
    if not wrong:
        return
    joints = [j for j in range(1, tree.njoints) if wrong & set(in_q(tree, j))]
    j = joints[0]
    i = min(wrong & set(in_q(tree, j)))
    further = ", ".join(repr(tree.names[k]) for k in joints[1:6]) + (", ..." if len(joints) > 6 else "")
    warnings.warn(
        f"The lower limit {lower[i]:g} of joint {tree.names[j]!r} is not below its upper limit {upper[i]:g}. Swap or "
        "correct them. The dynamics algorithms ignore limits, but pc.randomConfiguration, sweeps and pages that show "
        "joint ranges use them." + (f" This also applies to {further}." if further else ""),
        PinClustersWarning,
        stacklevel=4,
    )


def inertia_tree_of(tree: pin.Model, rotors: Sequence[RotorElement], closures: Sequence[Closure]) -> pin.Model:
    """Return a tree whose bodies include their rotors (unless these are bodies) and the masses at the ends of rods.

    The remaining mass of a rod (two thirds if it is slender) is not added. Armature that a ``Rotor`` replaces is zero.
    """
    lumped = tree.copy()
    for rod in massive(closures):
        for j, p, mass in rod.masses_of_ends:
            if j and mass:
                if mass < 0.0 and lumped.inertias[j].mass + mass <= 0.0:
                    raise InertiaError(
                        f"{rod.source.label}: its mass is distributed so unevenly that its end on the body of joint "
                        f"{tree.names[j]!r} counts as {mass:.3g} kg, but the body has {tree.inertias[j].mass:.3g} kg. "
                        "Model this rod as a body with a universal joint."
                    )
                lumped.inertias[j] = lumped.inertias[j] + pin.Inertia(mass, p, np.zeros((3, 3)))
    for r in rotors:
        if r.source is None:
            continue
        if r.inertia is not None and r.carrier_id:
            lumped.inertias[r.carrier_id] = lumped.inertias[r.carrier_id] + r.placement.act(r.inertia)
        if r.source.armature == "replace":
            armature = np.array(lumped.armature)
            armature[[i for i, _ in r.drivers]] = 0.0
            lumped.armature = armature
    return lumped
