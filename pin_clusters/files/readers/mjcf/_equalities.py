"""``<equality>``: connect and weld become loops; joint and tendon equalities become couplings or locks."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ....constraints import Loop
from ....errors import LoadError, did_you_mean
from .._xml import in_words_of
from ._actuators import Tendon
from ._bodies import Body, Joint, body_at
from ._document import Document
from ._elements import Element, of_quaternion
from ._tree import Layout, poses_of_file

KINDS = {"connect": "connect", "weld": "weld", "joint": "equality joint", "tendon": "equality tendon"}
"""For each tag, its key in the dictionary ``ATTRIBUTES``."""


@dataclass(frozen=True)
class Tie:
    """A ``<connect>`` or a ``<weld>``: two frames that coincide."""

    name: str  # label for messages
    kind: str  # kind of the loop: ``"spherical"`` or ``"fixed"``
    bodies: tuple[int, int]  # indices of the bodies
    frames: tuple[pin.SE3, pin.SE3]  # placement of the frame in each body


@dataclass(frozen=True)
class Equation:
    """The equation sum(left * x) = polynomial(sum(right * x)); x are joint displacements from the pose of the file."""

    name: str  # name of the equality
    left: Mapping[str, float]  # coefficients by joint
    right: Mapping[str, float]  # coefficients by joint; empty if the equation locks joints
    coefficients: tuple[float, ...]  # coefficients of the polynomial, c0 first, without trailing zeros
    distance: Tendon | None = None  # spatial tendon whose length differs by c0 from its length in the pose of the file

    @property
    def owner(self) -> str:
        return f"equality {self.name!r}"


def read_equalities(
    document: Document, bodies: list[Body], tendons: Mapping[str, Tendon]
) -> tuple[list[Tie], list[Equation]]:
    ties: list[Tie] = []
    equations: list[Equation] = []
    poses = poses_of_file(bodies)
    sites = {name: (i, M) for i, body in enumerate(bodies) for name, M in body.sites}
    joints = {j.name: j for b in bodies for j in b.joints}
    inactive, soft = [], False
    none = "equality" in document.disabled
    for count, element in enumerate(document.sections["equality"]):
        kind = element.tag
        label = element.get("name") or _parties(element) or str(count)
        owner = f"equality '{kind} {label}'"
        a = document.elements.of(element, KINDS.get(kind, "soft equality"), owner, defaults="equality")
        if not a.active or none:
            inactive.append(f"{kind} {label}")
            continue
        if kind not in KINDS:
            raise LoadError(f"{owner}: <{kind}> (soft bodies, distances) is not supported. Remove it.")
        soft = soft or "solref" in a or "solimp" in a
        if kind in ("connect", "weld"):
            ties.append(_tie(kind, f"{kind} {label}", a, bodies, poses, sites))
        else:
            equations.append(_equation(kind, f"{kind} {label}", a, joints, tendons))
    if soft:
        document.notes.messages.append("equality constraints are exact: solref and solimp are ignored.")
    document.notes.about(inactive, "inactive equalities are ignored: {}.")
    return ties, equations


def _parties(element: ET.Element) -> str:
    keys = ("site1", "site2", "body1", "body2", "joint1", "joint2", "tendon1", "tendon2")
    return " - ".join(name for key in keys if (name := element.get(key)))


def _tie(
    kind: str,
    name: str,
    a: Element,
    bodies: list[Body],
    poses: Sequence[pin.SE3],
    sites: Mapping[str, tuple[int, pin.SE3]],
) -> Tie:
    owner = a.owner
    loose = kind == "connect" or a.torquescale == 0.0
    if "site1" in a or "site2" in a:
        if "body1" in a or "body2" in a:
            raise LoadError(f"{owner}: specify two bodies or two sites, not both.")
        (body1, first), (body2, second) = (_site(a, key, sites) for key in ("site1", "site2"))
    elif "body1" not in a:
        raise LoadError(f"{owner}: body1 is missing. Specify a body, or two sites.")
    elif kind == "connect" and "anchor" not in a:
        raise LoadError(f"{owner}: anchor is missing. Specify the point in body1.")
    else:
        body1, body2 = body_at(bodies, a.body1, owner), body_at(bodies, a.body2, owner) if a.body2 else 0
        between = poses[body1].actInv(poses[body2])  # placement of body 2 in body 1, in the pose of the file
        anchor = pin.SE3(np.eye(3), a.anchor) if loose else pin.SE3.Identity()
        if kind == "connect":
            first, second = anchor, between.actInv(anchor)
        else:
            if a.relpose is not None and any(a.relpose[3:]):
                between = pin.SE3(of_quaternion(a.relpose[3:], "relpose", owner), a.relpose[:3])
            first, second = between * anchor, anchor
    for body in (bodies[body1], bodies[body2]):
        if body.mocap:
            raise LoadError(
                f"{owner}: {body.owner} is a mocap body, whose motion is prescribed, and cannot be part of a "
                "constraint. Set active='false', or remove the equality."
            )
    return Tie(name, "spherical" if loose else "fixed", (body1, body2), (first, second))


def _site(a: Element, key: str, sites: Mapping[str, tuple[int, pin.SE3]]) -> tuple[int, pin.SE3]:
    owner, name = a.owner, getattr(a, key)
    if not name:
        raise LoadError(f"{owner}: {key} is missing. Specify two sites, or two bodies.")
    if name not in sites:
        raise LoadError(f"{owner}: {key} {name!r} does not exist.{did_you_mean(name, sites)}")
    return sites[name]


def _equation(kind: str, name: str, a: Element, joints: Mapping[str, Joint], tendons: Mapping[str, Tendon]) -> Equation:
    first, second = getattr(a, f"{kind}1"), getattr(a, f"{kind}2")
    if not first:
        raise LoadError(f"{a.owner}: {kind}1 is missing. Specify the dependent {kind}.")
    if second == first:
        raise LoadError(f"{a.owner}: {kind}1 and {kind}2 are both {first!r}. Specify another {kind}2.")
    coefficients = a.polycoef + (0.0, 1.0)[len(a.polycoef) :]
    degree = max((i for i, c in enumerate(coefficients) if c != 0.0), default=0) if second else 0
    single = tendons.get(first) if kind == "tendon" and not second else None
    if single is not None and single.kind == "spatial" and len(single.sites) == 2 and not single.wrapped:
        return Equation(name, {}, {}, coefficients[:1], single)
    lhs, rhs = (_terms(kind, side, a.owner, joints, tendons) if side else {} for side in (first, second))
    return Equation(name, lhs, rhs, coefficients[: degree + 1])


def _terms(
    kind: str, name: str, owner: str, joints: Mapping[str, Joint], tendons: Mapping[str, Tendon]
) -> dict[str, float]:
    if kind == "tendon" and name in tendons:
        return tendons[name].coefficients(owner)
    if kind == "joint" and name in joints:
        if not joints[name].scalar:
            raise LoadError(f"{owner}: joint {name!r} has several degrees of freedom. Use hinges or slides.")
        return {name: 1.0}
    candidates = tendons if kind == "tendon" else [n for n, joint in joints.items() if joint.scalar]
    raise LoadError(f"{owner}: there is no {kind} {name!r}.{did_you_mean(name, candidates)}")


def build_ties(ties: Sequence[Tie], layout: Layout) -> list[Any]:
    loops = []
    for tie in ties:
        with in_words_of(f"equality {tie.name!r}"):
            a, b = (layout.frame(i, M) for i, M in zip(tie.bodies, tie.frames, strict=True))
            loop = Loop(a, b, tie.kind, name=tie.name)
            loop.closures(layout.tree)  # checks the loop here, so that errors contain the name of the equality
            loops.append(loop)
    return loops
