"""A robot as MuJoCo will have it: which rotors are bodies, which are armature, and what ties the joints."""

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
    """Bodies and ties of a robot.

    Args:
        model: The robot.
        rung: ``"best"``, ``"diagonal"`` or ``"exact"``.
        stiff: Time constant of the equalities, [s].

    Attributes:
        bodies: Its bodies.
        ties: What ties them.
        joints: Joints by name.
        springs: What the robot does by itself along joints, as attributes by their names.
        across: Names of rotors whose tendon ties joints of different branches.
        tendon_of: Name of the tendon of each rotor that shares joints with others, where it is armature.
    """

    def __init__(self, model: ClusterModel, rung: str, stiff: float) -> None:
        self.model, self.tree, self.rung = model, model.own_tree, rung
        following = {row.dependent for row in model.coupling_rows}
        self._locked = [r for r in model.rotors if rung != "exact" and (r.joint_id is None or r.joint_id in following)]
        locked = {r.joint_id for r in self._locked if r.joint_id is not None}
        self.bodies = Bodies(model, locked, rung == "exact")
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

    # --- rotors

    def _armature(self) -> None:
        """Put the reflected inertia of locked rotors on joints, and for ``best`` on tendons."""
        shared: list[Driven] = []
        for r in self._locked:
            d = Driven(r.name, axial_inertia(self.model, r), dict(self.bodies.drives(r)))
            if len(d.ratios) != 1 and self.rung != "diagonal":
                shared.append(d)
                continue
            for joint, ratio in d.ratios.items():
                self.joints[joint].armature += d.inertia * ratio**2
        self.tendon_of: dict[str, str] = {}
        for d in (shared := joined(shared)):
            self.tendon_of[d.rotor] = self.ties.fixed(d.rotor, list(d.ratios.items()), {"armature": text(d.inertia)})
        self.across = [d.rotor for d in shared if not self._in_a_row(d.ratios)]

    def _in_a_row(self, joints: Iterable[str]) -> bool:
        """Return whether each joint moves the next one; else MuJoCo's mass matrix has no entry for the pair."""
        ids = [self.tree.getJointId(name) for name in joints]
        support = max((set(map(int, self.tree.supports[i])) for i in ids), key=len)
        return support.issuperset(ids)

    def _sites(self) -> None:
        """Add a site for each frame that is no joint or body of its own."""
        of_joint = self.bodies.of_joint
        for f in further_frames(self.tree, lambda f: f.name == of_joint[f.parentJoint][0].name):
            body, place = of_joint[f.parentJoint]
            body.sites.append((self.bodies.site_names(f.name), place * f.placement))


BENT = "4.0.0"
"""First MuJoCo whose springs and dampers may be polynomials."""


def add_springs(ties: Ties) -> dict[str, dict[str, str]]:
    """Write what a robot does by itself: along anything but a joint of its own as tendons.

    Returns:
        Attributes by the name of a joint.

    Raises:
        ConstraintError: MuJoCo has nothing that says one of them.
    """
    tree, of_joint, bent = ties.tree, dict[str, dict[str, str]](), False
    for c in (*ties.model.constraints, *friction_of_motors(tree, ties.model.rotors)):
        if isinstance(c, GravityCompensation):
            raise ConstraintError(
                f"to_mjcf: {c.label} holds {c.mass:g} kg of a body, and MuJoCo can hold a part of a whole body only. "
                "Take it out of the model, and add gravcomp to the file's body."
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
                    f"to_mjcf: {c.label} acts on joint {tree.names[j]!r} of several degrees of freedom, which is not "
                    "written. Put it on simple joints."
                )
            own, more = of_joint.setdefault(str(tree.names[j]), {}), _numbers(c, "springref")
            if not slack and not own.keys() & more.keys():
                own |= more
                continue
        terms = [(str(tree.names[j]), x) for j, x in ids.items()]
        ties.fixed(c.name or c.label, terms, more=_numbers(c, "springlength"))
    if bent:
        ties.bodies.remarks.append(f"Springs and dampers that are polynomials need MuJoCo {BENT} or newer.")
    return of_joint


def _numbers(c: Spring, rest: str) -> dict[str, str]:
    """Return the attributes of a spring; ``rest`` is that of its rest."""
    found: dict[str, str] = {}
    for key, value in (("stiffness", c.stiffness), ("damping", c.damping)):
        if any(value):
            found[key] = text(value if any(value[1:]) else value[:1])
    if c.friction:
        found["frictionloss"] = text(c.friction)
    if any(c.stiffness):
        at = tuple(c.rest or (0.0,))
        if rest == "springlength" and min(at) < 0.0:
            raise ConstraintError(
                f"to_mjcf: {c.label} rests at {text(at)}, and the rest of a tendon of MuJoCo cannot be negative. "
                "Turn the signs of its coefficients, or count from elsewhere."
            )
        found[rest] = text(at)
    return found
