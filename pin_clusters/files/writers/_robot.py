"""A robot as MuJoCo will have it: which rotors are bodies, which are armature, and what ties the joints."""

from __future__ import annotations

from collections.abc import Iterable

import pinocchio as pin

from ...approximations import followers
from ...approximations.armature import Driven, axial_inertia, joined
from ...model import ClusterModel
from ._bodies import Bodies, Joint
from ._cranks import add_cranks
from ._numbers import text
from ._springs import Springs
from ._ties import Ties, drives


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
        springs: What the robot does by itself.
        across: Names of rotors whose tendon ties joints of different branches.
        tendon_of: Name of the tendon of each rotor that shares joints with others, where it is armature.
    """

    def __init__(self, model: ClusterModel, rung: str, stiff: float) -> None:
        self.model, self.tree, self.rung = model, model.own_tree, rung
        following = {row.dependent for row in model.coupling_rows}
        free = set(followers(model))
        self._locked = [
            r
            for r in model.rotors
            if rung != "exact" and (r.joint_id is None or (r.joint_id in following and r.name not in free))
        ]
        locked = {r.joint_id for r in self._locked if r.joint_id is not None}
        self.bodies = Bodies(model, locked, rung == "exact")
        self._sites()
        self.ties = Ties(model, self.bodies, {"solref": text(stiff, 1.0), "solimp": "0.9999 0.9999 0.001"})
        for row in model.coupling_rows:
            if row.dependent not in locked:
                self.ties.add_row(row)
        for r in model.rotors:
            if r.name in self.bodies.of_rotor:
                self.ties.follow(self.bodies.of_rotor[r.name].joints[0].name, drives(r, self.bodies.by_velocity))
        closures = add_cranks(self.ties, model.closures)
        self.bodies.merge()
        self.bodies.settle()
        for closure in closures:
            self.ties.add_closure(closure)
        self.joints: dict[str, Joint] = {joint.name: joint for body in self.bodies.all for joint in body.joints}
        self._armature()
        self.springs = Springs(model, self.bodies, self.ties)

    # --- rotors

    def _armature(self) -> None:
        """Put the reflected inertia of locked rotors on joints, and for ``best`` on tendons."""
        shared: list[Driven] = []
        for r in self._locked:
            d = Driven(r.name, axial_inertia(self.model, r), dict(drives(r, self.bodies.by_velocity)))
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
        frames = list(self.tree.frames)
        holding = {f.parentFrame for f in frames if f.type == pin.FrameType.BODY}
        for k, f in enumerate(frames):
            body, place = self.bodies.of_joint[f.parentJoint]
            named = f.type == pin.FrameType.BODY and f.name == body.name
            if (
                not k
                or named
                or f.type == pin.FrameType.JOINT
                or (f.type == pin.FrameType.FIXED_JOINT and k in holding)
            ):
                continue
            body.sites.append((self.bodies.site_names(f.name), place * f.placement))
