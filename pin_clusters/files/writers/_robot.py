"""Converts a model to MuJoCo's elements: rotors (as bodies or armature), constraints and springs."""

from collections.abc import Iterable, Mapping

from ...approximations.armature import Driven, axial_inertia, joined
from ...constraints.rows import joint_id
from ...constraints.spring import GravityCompensation, Spring
from ...errors import ConstraintError
from ...model import ClusterModel, friction_of_motors
from ._bodies import Bodies, Joint
from ._cranks import add_cranks
from ._joints import place_of
from ._links import further_frames
from ._text import text
from ._ties import Ties


class Robot:
    """Bodies and constraints of a robot; ``stiff`` is the time constant of the equality constraints, [s].

    Attributes:
        joints: Joints by name.
        springs: Attributes of springs, dampers and dry friction, by the name of the joint.
        across: Names of rotors whose tendon couples joints of different branches.
        tendon_of: Name of the tendon with a rotor's armature, for each rotor that is driven by several joints.
    """

    def __init__(self, model: ClusterModel, approximation: str, stiff: float) -> None:
        self.model, self.tree, self.approximation = model, model.own_tree, approximation
        following = {row.dependent for row in model.coupling_rows}
        self._locked = [
            r for r in model.rotors if approximation != "exact" and (r.joint_id is None or r.joint_id in following)
        ]
        locked = {r.joint_id for r in self._locked if r.joint_id is not None}
        self.bodies = Bodies(model, locked, approximation == "exact")
        self._sites()
        self.ties = Ties(model, self.bodies, {"solref": text(stiff, 1.0), "solimp": "0.9999 0.9999 0.001"})
        for row in model.coupling_rows:
            if row.dependent not in locked:
                terms = [(str(self.tree.names[j]), c) for j, c in row.terms]
                self.ties.follow(str(self.tree.names[row.dependent]), terms, row.offset)
        for r in model.rotors:
            if r.name in self.bodies.of_rotor:
                self.ties.follow(self.bodies.of_rotor[r.name].joints[0].name, self.bodies.drives(r))
        closures = add_cranks(self.ties, model.closures)
        self.bodies.merge()
        self.bodies.settle()
        for closure in closures:
            self.ties.add_closure(closure)
        self.joints: dict[str, Joint] = {joint.name: joint for body in self.bodies.all for joint in body.joints}
        self._armature()
        self.springs = add_springs(self.ties)

    def _armature(self) -> None:
        shared: list[Driven] = []
        for r in self._locked:
            d = Driven(r.name, axial_inertia(self.model, r), dict(self.bodies.drives(r)))
            if len(d.ratios) != 1 and self.approximation != "diagonal":
                shared.append(d)
                continue
            for joint, ratio in d.ratios.items():
                self.joints[joint].armature += d.inertia * ratio**2
        self.tendon_of: dict[str, str] = {}
        for d in (shared := joined(shared)):
            self.tendon_of[d.rotor] = self.ties.fixed(d.rotor, list(d.ratios.items()), {"armature": text(d.inertia)})
        self.across = [d.rotor for d in shared if not self._in_a_row(d.ratios)]

    def _in_a_row(self, joints: Iterable[str]) -> bool:
        """Check whether all joints are on one path from the root; MuJoCo's mass matrix couples only such joints."""
        ids = [self.tree.getJointId(name) for name in joints]
        support = max((set(map(int, self.tree.supports[i])) for i in ids), key=len)
        return support.issuperset(ids)

    def _sites(self) -> None:
        of_joint = self.bodies.of_joint
        for f in further_frames(self.tree, lambda f: f.name == of_joint[f.parentJoint][0].name):
            body, joint_frame = of_joint[f.parentJoint]
            body.sites.append((self.bodies.site_names(f.name), joint_frame * f.placement))


BENT = "4.0.0"
"""First MuJoCo version with polynomial springs and dampers."""


def add_springs(ties: Ties) -> dict[str, dict[str, str]]:
    """Add springs, dampers and dry friction as tendons; return those on a single joint as joint attributes."""
    tree, of_joint, bent = ties.tree, dict[str, dict[str, str]](), False
    for c in (*ties.model.constraints, *friction_of_motors(tree, ties.model.rotors)):
        if isinstance(c, GravityCompensation):
            raise ConstraintError(
                f"to_mjcf: {c.label} compensates the weight of {c.mass:g} kg, but MuJoCo's gravcomp is a fraction of "
                "a body's weight. Remove the constraint from the model, and add gravcomp to the body in the file."
            )
        if not isinstance(c, Spring):
            continue
        bent = bent or any(c.stiffness[1:]) or any(c.damping[1:])
        if isinstance(c.along, tuple):
            places = [place_of(tree, p, c.label) for p in c.along]
            ties.spatial(c.name or c.label, places, _numbers(c, "springlength"))
            continue
        along: Mapping[str, float] = {c.along: 1.0} if isinstance(c.along, str) else c.along
        ids = {joint_id(tree, n, c.label): x for n, x in along.items()}
        if isinstance(c.along, str):
            (j,) = ids
            slack = c.rest is not None and len(c.rest) > 1 and c.rest[0] != c.rest[-1]
            if tree.nvs[j] != 1:
                raise ConstraintError(
                    f"to_mjcf: {c.label} acts on joint {tree.names[j]!r}, which has several degrees of freedom. Use "
                    "joints with one degree of freedom."
                )
            attributes, added = of_joint.setdefault(str(tree.names[j]), {}), _numbers(c, "springref")
            if not slack and not attributes.keys() & added.keys():
                attributes |= added
                continue
        terms = [(str(tree.names[j]), x) for j, x in ids.items()]
        ties.fixed(c.name or c.label, terms, more=_numbers(c, "springlength"))
    if bent:
        ties.bodies.remarks.append(f"Polynomial springs and dampers need MuJoCo {BENT} or newer.")
    return of_joint


def _numbers(c: Spring, rest: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for key, value in (("stiffness", c.stiffness), ("damping", c.damping)):
        if any(value):
            attributes[key] = text(value if any(value[1:]) else value[:1])
    if c.friction:
        attributes["frictionloss"] = text(c.friction)
    if any(c.stiffness):
        rest_positions = tuple(c.rest or (0.0,))
        if rest == "springlength" and min(rest_positions) < 0.0:
            raise ConstraintError(
                f"to_mjcf: {c.label} has the rest length {text(rest_positions)}, but MuJoCo's tendons require a "
                "rest length of at least 0. Negate all its coefficients, or shift the zero of the joints."
            )
        attributes[rest] = text(rest_positions)
    return attributes
