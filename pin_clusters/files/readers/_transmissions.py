"""Reads ``<transmission>`` (ROS 1, ros2_control); builds a rotor for each actuator with a known rotor inertia.

The reductions n relate the speeds of actuators (a) and joints (j). The equations are defined in ROS
(transmission_interface; pal_transmissions for the half differential)::

    simple              a = n_a n_j j
    differential        a1 = n_a1 (n_j1 j1 + n_j2 j2)      a2 = n_a2 (n_j1 j1 - n_j2 j2)
    half differential   a1 = n_a1 n_j1 j1                  a2 = n_a2 (n_j1 j1 + n_j2 j2)
    four-bar linkage    a1 = n_a1 n_j1 j1                  a2 = n_a2 (j1 + n_j2 j2)

The inertia comes from the caller, or from an actuator's ``<drake:rotor_inertia value=.../>``. In a simple transmission,
``<drake:gear_ratio>`` replaces n_a n_j. If the inertia is unknown, the reduction does not affect the dynamics.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...constraints import Rotor
from ...errors import ArgumentTypeError, LoadError, UnknownNameError, did_you_mean
from ._notes import Notes, local_name
from ._numbers import number
from ._xml import Description, in_words_of

# By type: for each actuator, the factors of the joint speeds in the rotor speed, without reductions.
KINDS: dict[str, tuple[tuple[float, ...], ...]] = {
    "simple": ((1.0,),),
    "differential": ((1.0, 1.0), (1.0, -1.0)),
    "halfdifferential": ((1.0, 0.0), (1.0, 1.0)),
    "fourbarlinkage": ((1.0, 0.0), (1.0, 1.0)),
}
REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
MANY = 6


@dataclass(frozen=True)
class Actuator:
    name: str
    owner: str  # label for messages
    kind: str  # a key of ``KINDS``, or an unsupported type from the file
    ratios: Mapping[str, float]  # rotor speed per joint speed, by joint; empty if unknown
    inertia: float | None  # axial inertia of the rotor in the file, [kg m^2]

    def build(self, inertia: float) -> Rotor:
        if not self.ratios and self.kind in KINDS:
            raise LoadError(
                f"{self.owner} has a rotor inertia, but a {self.kind} transmission needs {len(KINDS[self.kind])} "
                f"actuators and {len(KINDS[self.kind][0])} joints of the file. Add them, or pass pc.Rotor in "
                "constraints=."
            )
        if not self.ratios:
            raise LoadError(
                f"{self.owner} has a rotor inertia, but transmissions of type {self.kind!r} are not supported. "
                f"Supported types: {', '.join(KINDS)}. Pass pc.Rotor in constraints=."
            )
        with in_words_of(self.owner):
            return Rotor(
                tuple(self.ratios), tuple(self.ratios.values()), axial_inertia=inertia, name=f"rotor:{self.name}"
            )


def read_rotors(description: Description, given: Mapping[str, float] | None, notes: Notes) -> list[Rotor]:
    """Build the rotors with known inertias; ``given`` is the argument ``rotor_inertias`` of the loader, [kg m^2]."""
    inertias = _checked(given)
    actuators = list(_actuators(description, notes))
    rotors, silent = list[Rotor](), dict[str, float]()
    used = set[str]()
    for actuator in actuators:
        names = [n for n in (actuator.name, *_sole(actuator)) if n in inertias]
        used.update(names)
        stated = [inertias[n] for n in names] + ([] if actuator.inertia is None else [actuator.inertia])
        if len(set(stated)) > 1:
            raise LoadError(
                f"{actuator.owner} has several rotor inertias: {', '.join(f'{i:g}' for i in stated)}. Keep one."
            )
        if stated and stated[0]:
            rotors.append(actuator.build(stated[0]))
        elif not stated and any(abs(abs(ratio) - 1.0) > 1e-12 for ratio in actuator.ratios.values()):
            silent[actuator.name] = max(map(abs, actuator.ratios.values()))
    if unknown := [name for name in inertias if name not in used]:
        known_names = dict.fromkeys(n for a in actuators for n in (a.name, *_sole(a)))
        raise UnknownNameError(
            f"rotor_inertias: {unknown[0]!r} is neither an actuator nor the joint of a simple transmission."
            + (
                did_you_mean(unknown[0], known_names)
                or " The file has no transmissions; pass pc.Rotor in constraints=."
            )
        )
    if silent:
        listed = ", ".join(f"{name!r} (ratio {ratio:g})" for name, ratio in list(silent.items())[:MANY])
        remainder = f", ... ({len(silent)} in total)" if len(silent) > MANY else ""
        notes.messages.append(
            f"transmissions without rotor inertia do not affect the dynamics: {listed}{remainder}. Pass known inertias "
            "as rotor_inertias={...}."
        )
    return rotors


def _sole(actuator: Actuator) -> tuple[str, ...]:
    return tuple(actuator.ratios) if actuator.kind == "simple" else ()


def _checked(given: Mapping[str, float] | None) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentTypeError(
            f"rotor_inertias must map names of actuators or joints to kg m^2, such as {{'knee': 1e-4}}, got {given!r}."
        )
    inertias = {}
    for name, inertia in given.items():
        try:
            inertias[name] = float(inertia)
        except (TypeError, ValueError):
            inertias[name] = math.nan
        if not (math.isfinite(inertias[name]) and inertias[name] >= 0.0):
            raise ArgumentTypeError(f"rotor_inertias[{name!r}] must be a number >= 0 in kg m^2, got {inertia!r}.")
    return inertias


def _actuators(description: Description, notes: Notes) -> Iterator[Actuator]:
    for parent in (description.root, *description.root.findall("ros2_control")):
        if parent is not description.root:
            notes.for_others["<ros2_control>"] += 1
        for element in parent.findall("transmission"):
            actuators = _of_transmission(element, description)
            if parent is description.root and all(a.inertia is None for a in actuators):
                notes.for_others["<transmission>"] += 1
            yield from actuators


def _of_transmission(element: ET.Element, description: Description) -> list[Actuator]:
    name = element.get("name")
    owner = f"transmission {name!r}" if name else "<transmission>"
    kind = (element.findtext("type") or element.findtext("plugin") or element.get("type") or "").strip()
    short = kind.rpartition("/")[2].lower().replace("_", "").removesuffix("transmission") or "simple"
    actuators, joints = (_by_role(element.findall(tag), tag) for tag in ("actuator", "joint"))
    scheme = KINDS.get(short)
    fits = scheme is not None and len(actuators) == len(scheme) and len(joints) == len(scheme[0])
    drake_values = [_stated(a, owner) for a in actuators]
    # A transmission without an inertia has no effect, so it need not be valid.
    matters = any(inertia is not None for inertia, _ in drake_values)
    names = [j.get("name") or "" for j in joints]
    if matters and (unknown := [n for n in names if n not in description.joints]):
        raise LoadError(f"{owner}: joint {unknown[0]!r} does not exist.{did_you_mean(unknown[0], description.joints)}")
    fits = fits and all(n in description.joints for n in names)
    built = []
    for k, (actuator, (inertia, gear)) in enumerate(zip(actuators, drake_values, strict=True)):
        ratios: dict[str, float] = {}
        if fits and scheme is not None:
            n_a = _reduction(actuator, owner) * (_reduction(element, owner) if short == "simple" else 1.0)
            n_j = [_reduction(j, owner) for j in joints]
            if gear is not None:
                n_a = _gear(gear, n_a * math.prod(n_j), short, owner)
                n_j = [1.0]
            elif inertia is not None and n_a * n_j[0] != 1.0 and short == "simple":
                raise LoadError(
                    f"{owner} has a rotor inertia and a mechanicalReduction of {n_a * n_j[0]:g}, but no gear ratio, so "
                    "Drake assumes a gear ratio of 1. Add <drake:gear_ratio value=.../>."
                )
            if short == "fourbarlinkage" and k == 1:
                n_j[0] = 1.0
            ratios = {n: n_a * c * r for n, c, r in zip(names, scheme[k], n_j, strict=True) if c}
        label = actuator.get("name") or (f"{name}_{k + 1}" if name and len(actuators) > 1 else name) or "actuator"
        built.append(Actuator(label, owner, short if scheme is not None else kind, ratios, inertia))
    return built


def _by_role(elements: list[ET.Element], tag: str) -> list[ET.Element]:
    """Sort actuators or joints by role, ``actuator1`` first; keep the order of the file if there are no roles."""
    roles = [(e.get("role") or e.findtext("role") or "").strip() for e in elements]
    if all(re.fullmatch(rf"{tag}\d", role) for role in roles) and len(set(roles)) == len(roles):
        return [e for _, e in sorted(zip(roles, elements, strict=True), key=lambda pair: pair[0])]
    return elements


def _reduction(element: ET.Element, owner: str) -> float:
    for tag in REDUCTIONS:
        text = element.findtext(tag)
        if text is not None:
            ratio = number(text, tag, owner)
            if ratio == 0.0:
                raise LoadError(f"{owner}: the {tag} must not be 0. Specify the reduction of the gear.")
            return ratio
    return 1.0


def drakes(elements: Iterable[ET.Element], owner: str) -> dict[str, float]:
    """Read Drake's ``rotor_inertia`` and ``gear_ratio`` from elements; missing values are absent from the result."""
    values: dict[str, float] = {}
    for element in elements:
        local = local_name(element.tag)
        if local in ("rotor_inertia", "gear_ratio"):
            if local in values:
                raise LoadError(f"{owner}: <{local}> appears twice. Keep one of them.")
            values[local] = number(element.get("value") or element.text or "", local, owner)
    return values


def _stated(actuator: ET.Element, owner: str) -> tuple[float | None, float | None]:
    values = drakes(actuator.iter(), f"{owner}, actuator {actuator.get('name')!r}")
    inertia = values.get("rotor_inertia")
    if inertia is not None and inertia < 0.0:
        raise LoadError(f"{owner}: the rotor inertia is {inertia:g} kg m^2; it must not be negative.")
    return inertia, values.get("gear_ratio")


def _gear(gear: float, reduction: float, kind: str, owner: str) -> float:
    if kind != "simple":
        raise LoadError(f"{owner}: <drake:gear_ratio> is not allowed for type {kind}. Use mechanicalReduction.")
    if gear == 0.0:
        raise LoadError(f"{owner}: the gear ratio must not be 0. Specify the ratio of the gear.")
    if reduction not in (1.0, gear):
        raise LoadError(f"{owner}: the gear ratio is {gear:g}, but mechanicalReduction is {reduction:g}. Remove one.")
    return gear
