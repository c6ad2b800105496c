"""Reads ``<coupling>`` and ``<loop>`` of URDF+, our extension of ``<coupling>``, and ``<mimic>``.

A ``<coupling>`` of URDF+ (Chignoli et al., arXiv 2411.19753) couples two links by the equation
``sum(q to successor) = ratio * sum(q to predecessor)``. Each sum is over the joints from the nearest common ancestor
(NCA) of both links to the successor or predecessor::

    <coupling name="ankle_belt">
      <predecessor link="ankle_link"/> <successor link="ankle_rotor_link"/> <ratio value="12"/>
    </coupling>

Our extension lists the joints, each with its own ratio: ``dependent = sum(ratio * independent)``::

    <coupling name="wrist_roll_belt">
      <dependent joint="wrist_roll_rotor"/>
      <independent joint="elbow" ratio="-6"/> <independent joint="wrist_roll" ratio="6"/>
    </coupling>

An optional ``<offset value="..."/>`` is added to the right-hand side of the equation.

A ``<loop>`` is a further joint between two links, which closes a loop::

    <loop name="coupler_to_rocker" type="revolute">
      <predecessor link="coupler"><origin xyz="1 0 0" rpy="0 0 0"/></predecessor>
      <successor link="rocker"><origin xyz="0.5 0 0"/></successor>
      <axis xyz="0 0 1"/>
    </loop>

Each origin is the placement of a joint frame in the frame of its link; the loop connects the two joint frames. The axis
(by default 1 0 0, as in URDF) has the same components in both joint frames.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from ...constraints import Belt, LinearCoupling, Loop
from ...errors import LoadError, did_you_mean
from ._checks import STRETCHED_LOOPS, normalise_axis
from ._notes import Notes
from ._numbers import number, numbers
from ._parts import SIDES, Part, end_of
from ._xml import Description, in_words_of, known, known_link, named, only_child, reference

KINDS = ("fixed", "revolute", "continuous", "prismatic", "cylindrical", "spherical", "universal", "planar")
WITHOUT_AXIS = ("fixed", "spherical")
DEFAULT_AXIS = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Tie:
    """A coupling in the file, before its dependent joint is chosen."""

    owner: str  # label for messages
    before: tuple[str, ...]  # joints between common ancestor and predecessor; empty if the file names a dependent joint
    after: tuple[str, ...]  # joints between common ancestor and successor, or only the dependent joint
    ratio: float = 0.0  # ratio of the belt
    offset: float = 0.0  # [rad] or [m]
    independent: dict[str, float] | None = None  # coefficients by joint, if the file lists joints

    @property
    def joints(self) -> tuple[str, ...]:
        return (*self.before, *self.after, *(self.independent or {}))

    def build(self, dependent: str) -> Belt | LinearCoupling:
        with in_words_of(self.owner):
            if self.independent is not None:
                return LinearCoupling(dependent, self.independent, self.offset)
            return Belt(self.before[-1], self.after[-1], self.ratio, self.offset, dependent)


def read_ties(description: Description, notes: Notes) -> list[Tie]:
    couplings = named(description.root.findall("coupling"), "coupling")
    ties = [_coupling(e, n, description, notes) for n, e in couplings.items()]
    return ties + _mimics(description, notes)


def _offset(element: ET.Element, owner: str) -> float:
    child = only_child(element, "offset", owner)
    return 0.0 if child is None else number(child.get("value"), "the offset", owner)


def _ratio(text: str | None, owner: str) -> float:
    ratio = number(text, "the ratio", owner)
    if ratio == 0.0:
        raise LoadError(f"{owner}: the ratio is 0, which removes the coupling. Specify the ratio of the gear.")
    return ratio


def _coupling(element: ET.Element, name: str, description: Description, notes: Notes) -> Tie:
    owner = f"coupling {name!r}"
    kind = element.get("type")
    if kind not in (None, "rolling"):
        notes.messages.append(f"{owner}: type {kind!r} is unknown and has no effect; the only known type is 'rolling'.")
    if element.find("dependent") is not None or element.find("independent") is not None:
        return _named_coupling(element, owner, description)
    ratio_element = only_child(element, "ratio", owner)
    if ratio_element is None:
        raise LoadError(
            f'{owner}: <ratio value="..."/> is missing. Add it: turns of the successor per turn of the predecessor.'
        )
    ratio = _ratio(ratio_element.get("value"), owner)
    first, last = (_path(element, tag, owner, description) for tag in ("predecessor", "successor"))
    before, after = tuple(j for j in first if j not in last), tuple(j for j in last if j not in first)
    if not before and not after:
        raise LoadError(f"{owner}: predecessor and successor belong to the same rigid body. Specify different bodies.")
    if not before or not after:
        inner, outer = ("predecessor", "successor") if not before else ("successor", "predecessor")
        raise LoadError(
            f"{owner}: the {inner} carries the {outer}, so one side of the coupling has no joint. "
            "List the joints instead with <dependent joint=.../> and <independent joint=... ratio=.../>."
        )
    return Tie(owner, before, after, ratio, _offset(element, owner))


def _path(element: ET.Element, tag: str, owner: str, description: Description) -> tuple[str, ...]:
    path = list[str]()
    joint = description.moving_joint(known_link(element, tag, description.links, owner))
    while joint is not None:
        path.append(joint)
        joint = description.moving_joint(description.parent_link[joint])
    return tuple(reversed(path))


def _known_joint(given: str | None, owner: str, description: Description) -> str:
    name = known(given, "joint", description.joints, owner)
    kind = description.joints[name].get("type")
    if kind not in ("revolute", "continuous", "prismatic"):
        raise LoadError(f"{owner}: joint {name!r} is {kind}, but a coupled joint must have one degree of freedom.")
    return name


def _named_coupling(element: ET.Element, owner: str, description: Description) -> Tie:
    mixed = [t for t in ("predecessor", "successor", "ratio") if element.find(t) is not None]
    if mixed:
        raise LoadError(
            f"{owner} mixes <{mixed[0]}> with <dependent> or <independent>. Use either predecessor, successor and "
            "ratio, or dependent and independent."
        )
    dependent = _known_joint(reference(element, "dependent", "joint", owner), owner, description)
    independent: dict[str, float] = {}
    for child in element.findall("independent"):
        name = _known_joint(child.get("joint"), owner, description)
        if name in independent:
            raise LoadError(f"{owner}: joint {name!r} appears twice. Keep one element with the sum of the ratios.")
        independent[name] = _ratio(child.get("ratio"), f"{owner}, joint {name!r}")
    if not independent:
        raise LoadError(f'{owner}: <independent joint="..." ratio="..."/> is missing. Add one per independent joint.')
    return Tie(owner, (), (dependent,), offset=_offset(element, owner), independent=independent)


def _mimics(description: Description, notes: Notes) -> list[Tie]:
    ties, fixed = [], []
    for name, joint in description.joints.items():
        owner = f"<mimic> of joint {name!r}"
        mimic = only_child(joint, "mimic", f"joint {name!r}")
        if mimic is None:
            continue
        if joint.get("type") == "fixed":
            fixed.append(name)
            continue
        _known_joint(name, owner, description)
        master = _known_joint(mimic.get("joint"), owner, description)
        multiplier = number(mimic.get("multiplier", "1"), "the multiplier", owner)
        offset = number(mimic.get("offset", "0"), "the offset", owner)
        if multiplier == 0.0:
            raise LoadError(f"{owner}: the multiplier is 0, so the joint cannot move. Make it a fixed joint.")
        if master == name:
            raise LoadError(f"{owner}: the joint mimics itself. Specify another joint.")
        ties.append(Tie(owner, (), (name,), offset=offset, independent={master: multiplier}))
    notes.about(fixed, "<mimic> has no effect on fixed joints: {}.")
    return ties


def read_loops(description: Description, notes: Notes) -> list[Part]:
    elements = named(description.root.findall("loop"), "loop")
    shared = [name for name in named(description.root.findall("coupling"), "coupling") if name in elements]
    if shared:
        raise LoadError(f"A loop and a coupling have the same name {shared[0]!r}. Rename one of them.")
    stretched: list[str] = []
    loops = [_loop(element, name, description, stretched) for name, element in elements.items()]
    notes.about(stretched, STRETCHED_LOOPS)
    return loops


def _loop(element: ET.Element, name: str, description: Description, stretched: list[str]) -> Part:
    owner = f"loop {name!r}"
    kind = element.get("type")
    if kind is None:
        raise LoadError(f'{owner}: the attribute type is missing. Add it, as in <loop name={name!r} type="revolute">.')
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS).replace("names", "types")
        raise LoadError(f"{owner}: type {kind!r} is unknown.{hint}")
    a, b = (end_of(element, side, owner, description) for side in SIDES)
    if description.moving_joint(a.link) == description.moving_joint(b.link):
        raise LoadError(
            f"{owner}: predecessor {a.link!r} and successor {b.link!r} belong to the same rigid body, so there is no "
            "loop. Specify links of different bodies."
        )
    axis = _axis(element, owner, kind, name, stretched)
    loop_kind = (
        "revolute" if kind == "continuous" else kind
    )  # These types differ only in limits, which loops do not have.
    return Part(owner, lambda tree: Loop(a.on(tree), b.on(tree), loop_kind, axis, name=name))


def _axis(element: ET.Element, owner: str, kind: str, name: str, stretched: list[str]) -> tuple[float, ...]:
    child = only_child(element, "axis", owner)
    if child is None or kind in WITHOUT_AXIS:
        return DEFAULT_AXIS
    if normalise_axis(child, owner):
        stretched.append(name)
    return numbers(child.get("xyz"), "the axis", owner, 3)
