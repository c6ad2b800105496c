"""``<transmission>`` of ROS 1 and ros2_control: rotors, where an inertia is known for them.

With n the reductions of actuators (a) and joints (j), the speeds of the actuators are, as ROS defines them
(transmission_interface; the half differential is that of pal_transmissions)::

    simple              a = n_a n_j j
    differential        a1 = n_a1 (n_j1 j1 + n_j2 j2)      a2 = n_a2 (n_j1 j1 - n_j2 j2)
    half differential   a1 = n_a1 n_j1 j1                  a2 = n_a2 (n_j1 j1 + n_j2 j2)
    four-bar linkage    a1 = n_a1 n_j1 j1                  a2 = n_a2 (j1 + n_j2 j2)

The inertia comes from Drake's ``<drake:rotor_inertia value=.../>`` of an actuator, whose ``<drake:gear_ratio>`` is then
n_a, or from the caller. A reduction alone says nothing about the dynamics.
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

# Per actuator, which joints turn it, and in which sense.
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
    """A motor of a transmission; messages call it ``owner``.

    ``kind`` is one of ``KINDS``, or what the file says; ``ratios``, speed per speed of each joint, are empty if not
    known; ``inertia``, of the rotor [kg m^2], is None unless the file says it.
    """

    name: str
    owner: str
    kind: str
    ratios: Mapping[str, float]
    inertia: float | None

    def build(self, inertia: float) -> Rotor:
        """Return the rotor."""
        if not self.ratios and self.kind in KINDS:
            raise LoadError(
                f"{self.owner}: a rotor inertia is given, but a {self.kind} transmission needs {len(KINDS[self.kind])} "
                f"actuators and {len(KINDS[self.kind][0])} joints of the file. Add them, or pass pc.Rotor in "
                "constraints=."
            )
        if not self.ratios:
            raise LoadError(
                f"{self.owner}: a rotor inertia is given, but how it turns is not known: transmissions of type "
                f"{self.kind!r} are not read. Known types: {', '.join(KINDS)}. Pass pc.Rotor in constraints=."
            )
        with in_words_of(self.owner):
            return Rotor(
                tuple(self.ratios), tuple(self.ratios.values()), axial_inertia=inertia, name=f"rotor:{self.name}"
            )


def read_rotors(description: Description, given: Mapping[str, float] | None, notes: Notes) -> list[Rotor]:
    """Return the rotors of all transmissions for which an inertia is known.

    Args:
        description: The file.
        given: Inertias, by actuator, or by joint if a simple transmission drives it; [kg m^2].
        notes: Receives what has no effect.

    Raises:
        LoadError: An inertia is stated that cannot be honoured, or twice.
        UnknownNameError: ``given`` names something that no transmission has.
        ArgumentTypeError: ``given`` is no mapping of names to numbers.
    """
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
                f"{actuator.owner}: its rotor has several inertias, {', '.join(f'{i:g}' for i in stated)} kg m^2. "
                "State one."
            )
        if stated and stated[0]:
            rotors.append(actuator.build(stated[0]))
        elif not stated and any(abs(abs(ratio) - 1.0) > 1e-12 for ratio in actuator.ratios.values()):
            silent[actuator.name] = max(map(abs, actuator.ratios.values()))
    if unknown := [name for name in inertias if name not in used]:
        known = dict.fromkeys(n for a in actuators for n in (a.name, *_sole(a)))
        raise UnknownNameError(
            f"rotor_inertias: no transmission has an actuator, and no simple one a joint, {unknown[0]!r}."
            + (did_you_mean(unknown[0], known) or " The file has no transmissions; pass pc.Rotor in constraints=.")
        )
    if silent:
        listed = ", ".join(f"{name!r} ({ratio:g})" for name, ratio in list(silent.items())[:MANY])
        more = f", ... ({len(silent)} in all)" if len(silent) > MANY else ""
        notes.messages.append(
            f"transmissions state reductions, but no inertia of a rotor, and so change nothing: {listed}{more}. Give "
            "rotor_inertias={...} where you know them."
        )
    return rotors


def _sole(actuator: Actuator) -> tuple[str, ...]:
    """Return the joint of a simple transmission."""
    return tuple(actuator.ratios) if actuator.kind == "simple" else ()


def _checked(given: Mapping[str, float] | None) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentTypeError(
            f"rotor_inertias must map names of actuators or joints to kg m^2, such as {{'knee': 1e-4}}, got {given!r}."
        )
    found = {}
    for name, inertia in given.items():
        try:
            found[name] = float(inertia)
        except (TypeError, ValueError):
            found[name] = math.nan
        if not (math.isfinite(found[name]) and found[name] >= 0.0):
            raise ArgumentTypeError(f"rotor_inertias: that of {name!r} must be a number of kg m^2, got {inertia!r}.")
    return found


def _actuators(description: Description, notes: Notes) -> Iterator[Actuator]:
    """Return the actuators of all transmissions; count those elements that state nothing about the dynamics."""
    for place in (description.root, *description.root.findall("ros2_control")):
        if place is not description.root:
            notes.for_others["<ros2_control>"] += 1
        for element in place.findall("transmission"):
            found = _of_transmission(element, description)
            if place is description.root and all(a.inertia is None for a in found):
                notes.for_others["<transmission>"] += 1
            yield from found


def _of_transmission(element: ET.Element, description: Description) -> list[Actuator]:
    name = element.get("name")
    owner = f"transmission {name!r}" if name else "<transmission>"
    kind = (element.findtext("type") or element.findtext("plugin") or element.get("type") or "").strip()
    short = kind.rpartition("/")[2].lower().replace("_", "").removesuffix("transmission") or "simple"
    actuators, joints = (_by_role(element.findall(tag), tag) for tag in ("actuator", "joint"))
    scheme = KINDS.get(short)
    fits = scheme is not None and len(actuators) == len(scheme) and len(joints) == len(scheme[0])
    own = [_stated(a, owner) for a in actuators]
    # a transmission with an inertia must be understood; one without need not
    matters = any(inertia is not None for inertia, _ in own)
    names = [j.get("name") or "" for j in joints]
    if matters and (unknown := [n for n in names if n not in description.joints]):
        raise LoadError(f"{owner}: joint {unknown[0]!r} does not exist.{did_you_mean(unknown[0], description.joints)}")
    fits = fits and all(n in description.joints for n in names)
    found = []
    for k, (actuator, (inertia, gear)) in enumerate(zip(actuators, own, strict=True)):
        ratios: dict[str, float] = {}
        if fits and scheme is not None:
            n_a = _reduction(actuator, owner) * (_reduction(element, owner) if short == "simple" else 1.0)
            n_j = [_reduction(j, owner) for j in joints]
            if gear is not None:
                n_a = _gear(gear, n_a * math.prod(n_j), short, owner)
                n_j = [1.0]
            elif inertia is not None and n_a * n_j[0] != 1.0 and short == "simple":
                raise LoadError(
                    f"{owner}: it has a rotor inertia and a mechanicalReduction of {n_a * n_j[0]:g}, but no gear "
                    "ratio, which Drake then takes as 1. State <drake:gear_ratio value=.../>."
                )
            if short == "fourbarlinkage" and k == 1:
                n_j[0] = 1.0
            ratios = {n: n_a * c * r for n, c, r in zip(names, scheme[k], n_j, strict=True) if c}
        label = actuator.get("name") or (f"{name}_{k + 1}" if name and len(actuators) > 1 else name) or "actuator"
        found.append(Actuator(label, owner, short if scheme is not None else kind, ratios, inertia))
    return found


def _by_role(elements: list[ET.Element], tag: str) -> list[ET.Element]:
    """Return actuators or joints in the order of their roles, ``actuator1`` first; else in that of the file."""
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
                raise LoadError(f"{owner}: the {tag} is 0. Give that of the gear.")
            return ratio
    return 1.0


def drakes(elements: Iterable[ET.Element], owner: str) -> dict[str, float]:
    """Return Drake's ``rotor_inertia`` and ``gear_ratio``, as far as they are among some elements."""
    found: dict[str, float] = {}
    for element in elements:
        local = local_name(element.tag)
        if local in ("rotor_inertia", "gear_ratio"):
            if local in found:
                raise LoadError(f"{owner}: <{local}> is stated twice. Keep one.")
            found[local] = number(element.get("value") or element.text or "", local, owner)
    return found


def _stated(actuator: ET.Element, owner: str) -> tuple[float | None, float | None]:
    """Return Drake's rotor inertia and gear ratio."""
    found = drakes(actuator.iter(), f"{owner}, actuator {actuator.get('name')!r}")
    inertia = found.get("rotor_inertia")
    if inertia is not None and inertia < 0.0:
        raise LoadError(f"{owner}: the rotor inertia is {inertia:g} kg m^2; it must not be negative.")
    return inertia, found.get("gear_ratio")


def _gear(gear: float, reduction: float, kind: str, owner: str) -> float:
    """Return Drake's gear ratio, if nothing contradicts it."""
    if kind != "simple":
        raise LoadError(f"{owner}: Drake's gear ratio is for one joint. State the reductions of a {kind} instead.")
    if gear == 0.0:
        raise LoadError(f"{owner}: the gear ratio is 0. Give that of the gear.")
    if reduction not in (1.0, gear):
        raise LoadError(f"{owner}: the gear ratio is {gear:g}, but mechanicalReduction {reduction:g}. State one.")
    return gear
