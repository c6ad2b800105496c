"""Builds the couplings of ``gearbox`` and ``<mimic>``, the springs, and the rotors with Drake's inertias.

A gearbox with the reference body R couples two angles: theta_2 = -ratio theta_1 (SDF specification). Relative to R,
theta_1 is the angle of the parent link about ``axis``, and theta_2 is the angle of the child link about ``axis2``.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from ....constraints import Gear, LinearCoupling, Rotor, Spring
from ....errors import LoadError
from .._transmissions import drakes
from .._xml import in_words_of
from ._parts import Joint, Parts
from ._scopes import Scope
from ._spanning import PERPENDICULAR, Spanning


def couplings_of(parts: Parts, spanning: Spanning) -> list[Any]:
    couplings: list[Any] = []
    followers = set[str]()
    for joint in parts.joints.values():
        for i, axis in enumerate(joint.axes):
            if axis.mimic is None:
                continue
            name = joint.names[i]
            leader, which, multiplier, offset = axis.mimic
            leading = parts.joints[leader]
            if which >= len(leading.axes) or leading.kind == "gearbox":
                raise LoadError(f"{joint.owner}: <mimic> refers to an axis that joint {leader!r} does not have.")
            with in_words_of(f"{joint.owner}, <mimic>"):
                couplings.append(LinearCoupling(name, {leading.names[which]: multiplier}, offset))
            followers.add(name)
    inner = {b.inner for b in spanning.branches}
    for joint in parts.joints.values():
        if joint.kind == "gearbox":
            couplings.append(_gearbox(joint, spanning, inner, followers))
    return couplings


def _gearbox(joint: Joint, spanning: Spanning, inner: Collection[str], followers: set[str]) -> Any:
    terms: dict[str, float] = {}
    for link, axis, factor in ((joint.parent, joint.axes[0], joint.lead), (joint.child, joint.axes[1], 1.0)):
        direction = joint.place.rotation @ axis.direction
        for name, sign in angle(joint, spanning, joint.reference, link, direction).items():
            terms[name] = terms.get(name, 0.0) + factor * sign
    terms = {name: c for name, c in terms.items() if c}
    free = [name for name in terms if name not in followers]
    if len(terms) < 2 or not free:
        raise LoadError(
            f"{joint.owner}: its two angles depend on {len(terms)} joint(s), but a coupling needs two joints, of which "
            "one is not yet dependent. Check <parent>, <child> and <gearbox_reference_body>."
        )
    outer = {b.joint.name: b.outer for b in spanning.branches}
    # The rotor is the joint whose body has no children, or else the fastest joint.
    dependent = min(free, key=lambda name: (outer[name] in inner, abs(terms[name]), -list(terms).index(name)))
    followers.add(dependent)
    coefficients = {name: -c / terms[dependent] for name, c in terms.items() if name != dependent}
    with in_words_of(joint.owner):
        if len(coefficients) == 1:
            ((link, ratio),) = coefficients.items()
            return Gear(link, dependent, ratio)
        return LinearCoupling(dependent, coefficients)


def angle(joint: Joint, spanning: Spanning, reference: str, link: str, direction: np.ndarray) -> dict[str, float]:
    """Write the relative angle of two links about ``direction`` as a sum of joint angles; return the coefficients."""
    terms: dict[str, float] = {}
    for path, sense in zip(spanning.between(reference, link), (-1.0, 1.0), strict=True):
        for branch in path:
            turning = branch.joint
            if turning.kind == "fixed":
                continue
            along = 0.0
            if turning.kind in ("revolute", "continuous"):
                along = float(direction @ turning.place.rotation @ turning.axes[0].direction)
            if abs(abs(along) - 1.0) > PERPENDICULAR:
                raise LoadError(
                    f"{joint.owner}: joint {turning.name!r} between link {link!r} and the reference body "
                    f"{reference!r} is not parallel to the axis of the gearbox, so the angle is undefined. Specify "
                    "another reference body, or correct the axes."
                )
            terms[turning.name] = sense * np.sign(along) * (-1.0 if branch.backwards else 1.0)
    return terms


def springs_of(spanning: Spanning) -> list[Spring]:
    forces = []
    for branch in spanning.branches:
        for i, axis in enumerate(branch.joint.axes):
            if axis.stiffness or axis.damping or axis.friction:
                with in_words_of(branch.joint.owner):
                    forces.append(Spring(branch.joint.names[i], axis.stiffness, axis.rest, axis.damping, axis.friction))
    return forces


def rotors_of(scope: Scope, spanning: Spanning) -> list[Rotor]:
    rotors = []
    moving = {branch.joint.name: branch.joint for branch in spanning.branches if branch.joint.kind != "fixed"}
    for model_scope in scope.every():
        for name, element in model_scope.members.items():
            owner = f"joint {model_scope.full(name)!r}"
            for i, tag in enumerate(("axis", "axis2")):
                stated = drakes(element.iterfind(f"{tag}/*"), owner) if element.tag == "joint" else {}
                if not stated.get("rotor_inertia"):
                    continue
                if model_scope.full(name) not in moving:
                    raise LoadError(
                        f"{owner} has a rotor, but no coordinate, because it closes a loop or cannot move. Remove "
                        "<drake:rotor_inertia>, or add a <mimic> or a spring, which keeps the joint in the tree."
                    )
                with in_words_of(owner):
                    rotors.append(
                        Rotor(
                            moving[model_scope.full(name)].names[i],
                            stated.get("gear_ratio", 1.0),
                            axial_inertia=stated["rotor_inertia"],
                        )
                    )
    return rotors
