"""Reads driven joints, their gears, and the armature and limits of motors from ``<actuator>`` and ``<tendon>``."""

import dataclasses
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._support.arrays import in_order
from ...._support.trees import in_v
from ....constraints import Motor, Rotor, Spring
from ....errors import LoadError, did_you_mean
from ._bodies import Body, Joint
from ._document import Document
from ._elements import Element, check_tag
from ._tree import Layout


@dataclass(frozen=True)
class Actuator:
    name: str  # label for messages
    joint: str | None  # driven joint, or None
    tendon: str | None  # driven tendon, or None
    gear: float  # first number of the attribute gear
    armature: float  # inertia of the motor, before the gear, [kg m^2] or [kg]
    damping: tuple[float, ...]  # damping coefficients of v, v |v| and v^3, before the gear
    force: float | None  # largest force before the gear, [N m] or [N], or None
    electric: dict[str, float]  # fields of ``Motor`` from a ``<dcmotor>``


def read_actuators(document: Document, joints: Mapping[str, Joint], tendons: "Mapping[str, Tendon]") -> list[Actuator]:
    actuators = []
    for count, element in enumerate(document.sections["actuator"]):
        owner = f"actuator {element.get('name') or count!r}"
        a = document.elements.of(element, "actuator", owner)
        joint, tendon = a.joint or a.jointinparent, a.tendon
        if joint and joint not in joints:
            raise LoadError(f"{owner}: there is no joint {joint!r}.{did_you_mean(joint, joints)}")
        if tendon and tendon not in tendons:
            raise LoadError(f"{owner}: there is no tendon {tendon!r}.{did_you_mean(tendon, tendons)}")
        if (a.armature or any(a.damping)) and not (tendon or (joint and joints[joint].scalar)):
            raise LoadError(f"{owner}: armature and damping are only for hinges, slides and tendons. Remove them.")
        electric = _electric(a) if element.tag == "dcmotor" else {}
        limits = ("forcerange", "forcelimited"), ("ctrlrange", "ctrllimited")
        given = limits[a.forcerange is None and element.tag == "motor"]
        forces = a.limits(*given, document.compiler.autolimits, needed=False)
        force = electric.pop("force", None) if forces is None else max(abs(forces[0]), abs(forces[1]))
        actuators.append(Actuator(owner, joint, tendon, a.gear[0], a.armature, a.damping, force, electric))
    return actuators


def _electric(a: Element) -> dict[str, float]:
    k = math.sqrt(a.motorconst[0] * a.motorconst[-1]) if a.motorconst else 0.0
    constants = {"torque_constant": k, "resistance": a.resistance, "force": a.saturation[0] if a.saturation else 0.0}
    if a.nominal and min(a.nominal) > 0.0:
        voltage, stall, free = a.nominal
        k = voltage / free
        constants |= {
            "voltage": voltage,
            "no_load_speed": free,
            "torque_constant": k,
            "resistance": k * voltage / stall,
        }
    return {key: x for key, x in constants.items() if x > 0.0}


def driven(actuators: Sequence[Actuator], tendons: "Mapping[str, Tendon]", layout: Layout) -> list[str]:
    names: list[str] = []
    for actuator in actuators:
        names += [actuator.joint] if actuator.joint else []
        names += list(tendons[actuator.tendon].joints) if actuator.tendon else []
    return [name for name in dict.fromkeys(names) if name in layout.ids]


def add_armature(actuators: Sequence[Actuator], layout: Layout) -> None:
    tree = layout.tree
    for actuator, i in _of_scalars(actuators, layout):
        tree.armature[i] += actuator.armature * actuator.gear**2
        if actuator.force is not None:
            tree.effortLimit[i] = min(tree.effortLimit[i], actuator.force * abs(actuator.gear))


def rotors(actuators: Sequence[Actuator], layout: Layout, passive: list[Any]) -> tuple[list[Rotor], list[str]]:
    """Replace the armature of each geared joint by a ``Rotor`` with a ``Motor``; the parent body carries the rotor.

    Linear damping and dry friction of these joints are moved from the springs in ``passive`` to the motors. The second
    result lists joints whose armature remains, because no actuator with a gear drives them.
    """
    created: list[Rotor] = []
    tree = layout.tree
    springs = {s.along: i for i, s in enumerate(passive) if isinstance(s, Spring) and isinstance(s.along, str)}
    for actuator, i in _of_scalars(actuators, layout):
        armature, gear = float(tree.armature[i]), actuator.gear
        if armature > 0.0 and gear != 0.0:  # The first actuator of a joint sets its armature to 0.
            fields, name = dict[str, Any](actuator.electric, peak_torque=actuator.force or None), str(actuator.joint)
            if name in springs:
                s = passive[springs[name]]
                fields |= {"viscous": s.damping[0] / gear**2, "coulomb": s.friction / abs(gear)}
                passive[springs[name]] = dataclasses.replace(s, damping=(0.0, *s.damping[1:]), friction=0.0)
            motor = Motor(**fields) if any(fields.values()) else None
            created.append(Rotor(name, gear, axial_inertia=armature / gear**2, motor=motor))
            tree.armature[i] = 0.0
    return created, [tree.names[j] for j in range(1, tree.njoints) if any(tree.armature[in_v(tree, j)] > 0.0)]


def _of_scalars(actuators: Sequence[Actuator], layout: Layout) -> Iterator[tuple[Actuator, int]]:
    for actuator in actuators:
        j = layout.ids.get(actuator.joint or "")
        if j is not None and layout.tree.nvs[j] == 1:
            yield actuator, layout.tree.idx_vs[j]


def tendon_rotors(actuators: Sequence[Actuator], tendons: "Mapping[str, Tendon]", layout: Layout) -> list[Any]:
    """Convert the armature of fixed tendons to rotors whose carrier is the world, which does not move."""
    created = []
    for tendon in tendons.values():
        a = tendon.element.armature
        a += in_order(m.armature * m.gear**2 for m in actuators if m.tendon == tendon.name)
        if a == 0.0:
            continue
        if a < 0.0:
            raise LoadError(f"{tendon.element.owner}: armature must not be negative, got {a:g}.")
        joints = {
            n: c for n, c in tendon.coefficients(f"armature of {tendon.element.owner}").items() if n in layout.ids
        }
        if len(joints) == 1:
            ((name, c),) = joints.items()
            layout.tree.armature[layout.tree.idx_vs[layout.ids[name]]] += a * c**2
        elif joints:
            created.append(
                Rotor(
                    list(joints),
                    list(joints.values()),
                    axial_inertia=a,
                    carrier="universe",
                    axis=(0.0, 0.0, 1.0),
                    armature="keep",
                    name=f"armature of {tendon.element.owner}",
                )
            )
    return created


@dataclass(frozen=True)
class Tendon:
    name: str  # unique
    kind: str  # ``"fixed"`` or ``"spatial"``
    element: Element
    joints: Mapping[str, float]  # fixed tendon: coefficients by joint
    sites: tuple[str, ...]  # spatial tendon: names of the sites along the path
    wrapped: bool  # True if the tendon passes pulleys or wraps around geoms

    def coefficients(self, owner: str) -> dict[str, float]:
        if self.kind != "fixed":
            raise LoadError(
                f"{owner}: {self.element.owner} is spatial, so its length is not a sum of joint coordinates. Use a "
                "fixed tendon, or an equality with only one spatial tendon, which connects two sites like a rod."
            )
        return dict(self.joints)


def read_tendons(document: Document, bodies: list[Body]) -> dict[str, Tendon]:
    tendons: dict[str, Tendon] = {}
    joints = {j.name: j for b in bodies for j in b.joints}
    sites = {name for b in bodies for name, _ in b.sites}
    for count, element in enumerate(document.sections["tendon"]):
        name = element.get("name") or f"tendon{count}"
        owner = f"tendon {name!r}"
        if name in tendons:
            raise LoadError(f"Two tendons have the same name {name!r}. Rename one of them.")
        a = document.elements.of(element, element.tag, owner, defaults="tendon")
        if element.tag == "fixed":
            tendons[name] = Tendon(name, "fixed", a, _sum(document, element, joints, owner), (), False)
        else:
            tendons[name] = _path(element, name, a, sites, owner)
    return tendons


def _sum(document: Document, element: ET.Element, joints: Mapping[str, Joint], owner: str) -> dict[str, float]:
    total: dict[str, float] = {}
    for child in element:
        check_tag(child, {"joint"}, owner)
        attributes = document.elements.plain(child, "tendon joint", owner)
        name = attributes.joint
        if name not in joints:
            raise LoadError(f"{owner}: there is no joint {name!r}.{did_you_mean(name, joints)}")
        if not joints[name].scalar:
            raise LoadError(f"{owner}: joint {name!r} has several degrees of freedom. Use hinges or slides.")
        if attributes.coef is None:
            raise LoadError(f"{owner}: the coef of joint {name!r} is missing. Add it.")
        total[name] = total.get(name, 0.0) + attributes.coef
    if not total:
        raise LoadError(f"{owner} has no joint. Add a joint, or remove the tendon.")
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
        raise LoadError(f"{owner}: a spatial tendon needs at least two sites.")
    return Tendon(name, "spatial", a, {}, tuple(passed), wrapped)


def acts(tendon: Tendon) -> list[str]:
    keys = ("stiffness", "damping", "frictionloss", "armature")
    return [key for key in keys if np.any(getattr(tendon.element, key))]
