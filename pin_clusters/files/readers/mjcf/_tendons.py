"""``<tendon>``: sums of joints, and paths through sites."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....errors import LoadError, did_you_mean
from ._bodies import Body
from ._document import Document
from ._schema import TENDONS, check_attributes, check_tag
from ._values import Element


@dataclass(frozen=True)
class Tendon:
    """A tendon.

    Attributes:
        name: Unique.
        kind: ``"fixed"`` or ``"spatial"``.
        element: What else the file says.
        joints: Coefficients by joint, of a fixed one.
        sites: Names along the path, of a spatial one.
        wrapped: Whether it passes pulleys or wraps around geoms.
    """

    name: str
    kind: str
    element: Element
    joints: Mapping[str, float]
    sites: tuple[str, ...]
    wrapped: bool

    @property
    def owner(self) -> str:
        """How messages name it."""
        return f"tendon {self.name!r}"

    def coefficients(self, owner: str) -> dict[str, float]:
        """Return the coefficients of a fixed tendon; raise for a spatial one."""
        if self.kind != "fixed":
            raise LoadError(
                f"{owner}: {self.owner} is spatial, and its length is no sum of joints. Only one alone between two "
                "sites can be held: as a rod."
            )
        return dict(self.joints)


def read_tendons(document: Document, bodies: list[Body]) -> dict[str, Tendon]:
    """Return all tendons by name."""
    found: dict[str, Tendon] = {}
    joints = {j.name: j for b in bodies for j in b.joints}
    sites = {name for b in bodies for name, _ in b.sites}
    for count, element in enumerate(document.all("tendon")):
        check_tag(element, TENDONS, "tendon")
        name = element.get("name") or f"tendon{count}"
        owner = f"tendon {name!r}"
        check_attributes(element, element.tag, owner)
        if name in found:
            raise LoadError(f"Two tendons have the name {name!r}. Rename one.")
        a = document.element(element, element.tag, owner, defaults="tendon")
        if element.tag == "fixed":
            found[name] = Tendon(name, "fixed", a, _sum(document, element, joints, owner), (), False)
        else:
            found[name] = _path(element, name, a, sites, owner)
    return found


def _sum(document: Document, element: ET.Element, joints: Mapping[str, object], owner: str) -> dict[str, float]:
    total: dict[str, float] = {}
    for child in element:
        check_tag(child, {"joint"}, owner)
        given = document.plain(child, "tendon joint", owner)
        name = given.joint
        if name not in joints:
            raise LoadError(f"{owner}: there is no joint {name!r}.{did_you_mean(name, joints)}")
        if getattr(joints[name], "kind", "") not in ("hinge", "slide"):
            raise LoadError(f"{owner}: joint {name!r} has several degrees of freedom. A tendon adds hinges and slides.")
        if given.coef is None:
            raise LoadError(f"{owner}: the coef of joint {name!r} is missing. Give it.")
        total[name] = total.get(name, 0.0) + given.coef
    if not total:
        raise LoadError(f"{owner} has no joint. Name one, or remove it.")
    return {name: c for name, c in total.items() if c != 0.0}


def _path(element: ET.Element, name: str, a: Element, sites: set[str], owner: str) -> Tendon:
    passed: list[str] = []
    wrapped = False
    for child in element:
        check_tag(child, {"site", "geom", "pulley"}, owner)
        if child.tag == "site":
            site = child.get("site") or ""
            if site not in sites:
                raise LoadError(f"{owner}: there is no site {site!r}.{did_you_mean(site, sites)}")
            passed.append(site)
        wrapped = wrapped or child.tag != "site"
    if len(passed) < 2:
        raise LoadError(f"{owner}: a path needs two sites at least.")
    return Tendon(name, "spatial", a, {}, tuple(passed), wrapped)


def acts(tendon: Tendon) -> list[str]:
    """Return which of its attributes make it act on the robot by itself."""
    keys = ("stiffness", "damping", "frictionloss", "armature")
    return [key for key in keys if np.any(getattr(tendon.element, key))]
