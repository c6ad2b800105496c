"""Bodies of an MJCF file: those of the tree, without the rotors that are locked, with those that the file adds."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ...errors import ModelError, UnsupportedJointError
from ...model import ClusterModel, RotorElement, visit
from . import _masses
from ._joints import parts_of
from ._links import own_bodies
from ._text import Names, text

MAX_DEPTH = 200
"""Bodies within each other."""


@dataclass(eq=False)
class Joint:
    """A joint of a body."""

    name: str  # of the joint
    kind: str  # ``"hinge"``, ``"slide"``, ``"free"`` or ``"ball"``
    axis: np.ndarray  # unit vector in the frame of the body, shape (3,)
    # a point of the axis, in the frame of the body, shape (3,)
    pos: np.ndarray = field(default_factory=lambda: np.zeros(3))
    # where its coordinate is in the model's q; None of joints that the file adds, which are 0 at the reference
    at_q: range | None = None
    at_v: range | None = None  # where its velocity is in the tree's v; None of joints that the file adds
    turns: bool = False  # whether the model has cosine and sine
    armature: float = 0.0  # [kg m^2] or [kg]


@dataclass(eq=False)
class Body:
    """A body."""

    name: str  # of the body
    parent: "Body | None"  # the body that carries it; None for the world
    place: pin.SE3  # its frame in that of the parent
    joints: list[Joint]  # between them; none for the world alone
    P: np.ndarray  # moments of its mass, shape (4, 4)
    # the same before anything was moved to another body
    drawn: np.ndarray = field(default_factory=lambda: np.zeros((4, 4)))
    spins: bool = False  # whether it is a rotor
    sites: list[tuple[str, pin.SE3]] = field(default_factory=list)  # name and placement of each site

    def __post_init__(self) -> None:
        self.drawn = self.P.copy()


class Bodies:
    """The bodies of one file.

    Args:
        model: The robot.
        locked: Joint ids of rotors that are fixed to their carriers at angle 0.
        rotors: Whether the ``Rotor`` constraints become bodies; else those with an inertia of their own are added to
            their carriers.

    Attributes:
        world: The world.
        all: The others, each after its parent.
        of_joint: The body that each joint of the tree moves, and where that joint's frame is in it.
        of_rotor: Body of each ``Rotor``, by its name in ``model.rotors``.
        by_velocity: Names of the joints of one degree of freedom, by their places in the tree's v.
        remarks: What is to be said about them.
    """

    def __init__(self, model: ClusterModel, locked: Collection[int], rotors: bool) -> None:
        self.model, self.tree = model, model.own_tree
        self.names = Names(["world"])
        self.joint_names, self.site_names = Names(), Names()
        self.world = Body("world", None, pin.SE3.Identity(), [], np.zeros((4, 4)))
        self.all: list[Body] = []
        self.of_joint: dict[int, tuple[Body, pin.SE3]] = {0: (self.world, pin.SE3.Identity())}
        self.of_rotor: dict[str, Body] = {}
        self.remarks: list[str] = []
        places, names, sizes = list(self.tree.idx_vs), list(self.tree.names), list(self.tree.nvs)
        self.by_velocity = {int(i): str(n) for i, n, nv in zip(places, names, sizes, strict=True) if nv == 1}
        self._spinning = {r.joint_id for r in model.rotors if r.spins}
        self._own_names = {j: f.name for j, f in own_bodies(self.tree).items()}
        for _, j in visit(self.tree, ()):
            if j in locked:
                self._lock(j)
            else:
                self._add_joint(j)
        for r in model.rotors:
            if r.source is None:
                continue
            body, place = self.of_joint[r.carrier_id]
            if rotors:
                self._add_rotor(r)
            elif r.inertia is not None and body is not self.world:
                body.P += _masses.placed(place * r.placement, _masses.moments(r.inertia))
                body.drawn = body.P.copy()

    def drives(self, rotor: RotorElement) -> list[tuple[str, float]]:
        """Return the joints of the tree that turn a rotor, with their ratios."""
        return [(self.by_velocity[iv], float(ratio)) for iv, ratio in rotor.drivers]

    def _lock(self, j: int) -> None:
        body, place = self.of_joint[int(self.tree.parents[j])]
        here = place * self.tree.jointPlacements[j]
        self.of_joint[j] = body, here
        if body is not self.world:
            body.P += _masses.placed(here, _masses.moments(self.tree.inertias[j]))
            body.drawn = body.P.copy()

    def _add_joint(self, j: int) -> None:
        parent, place = self.of_joint[int(self.tree.parents[j])]
        joints, frames, kinds = [], [pin.SE3.Identity()], []
        armature = self.model.inertia_tree.armature
        for part in parts_of(self.tree, j, "MJCF"):
            frames.append(frames[-1] * part.placement)
            kinds.append(part.kind)
            if part.kind == "free" and parent is not self.world:
                raise UnsupportedJointError(
                    f"joint {part.name!r} is free, but hangs from a body; MuJoCo has free joints below the world only. "
                    "Hang the body from the world, or give it three slides and a ball joint."
                )
            given = armature[list(part.at_v)]
            own = 0.0 if part.kind in ("planar", "free") else float(given[0])
            if np.any(given != own):
                self.remarks.append(
                    f"armature of joint {part.name}: {text(given)} in the model, {text(own)} here. MuJoCo has one "
                    "number for a ball, and means another force by that of a free joint."
                )
            if part.kind == "planar":
                joints += self._planar(part.name, frames[-1], part.at_q.start)
            else:
                joint = Joint(
                    self.joint_names(part.name),
                    part.kind,
                    part.axis,
                    at_q=part.at_q,
                    at_v=part.at_v,
                    turns=part.turns,
                    armature=own,
                )
                joints.append((joint, frames[-1]))
        last = frames[-1]
        for joint, frame in joints:
            to = last.actInv(frame)
            joint.axis, joint.pos = to.rotation @ joint.axis, np.array(to.translation)
        name = self.names(self._own_names.get(j, f"{self.tree.names[j]}_link"))
        body = Body(name, parent, place * last, [joint for joint, _ in joints], _masses.moments(self.tree.inertias[j]))
        body.spins = j in self._spinning
        self.all.append(body)
        self.of_joint[j] = body, pin.SE3.Identity()

    def _planar(self, name: str, frame: pin.SE3, i: int) -> list[tuple[Joint, pin.SE3]]:
        self.remarks.append(f"planar joint {name}: two slides and a hinge; its velocity is that in its parent's axes.")
        x, y, z = np.eye(3)
        parts = (("_x", "slide", x, range(i, i + 1)), ("_y", "slide", y, range(i + 1, i + 2)))
        joints = [Joint(self.joint_names(name + end), kind, a, at_q=at) for end, kind, a, at in parts]
        joints.append(Joint(self.joint_names(name), "hinge", z, at_q=range(i + 2, i + 4), turns=True))
        return [(joint, frame) for joint in joints]

    def _add_rotor(self, r: RotorElement) -> None:
        """Add the body of a ``Rotor``; if it is in its carrier's link already, it is taken from there."""
        body, place = self.of_joint[r.carrier_id]
        axis = np.array(r.placement.rotation.T @ r.axis)
        here = place * r.placement
        if r.inertia is not None and body is not self.world:
            P = _masses.moments(r.inertia)
        else:
            P = _masses.spin(r.axial_inertia, axis)
            body.P -= _masses.placed(here, P)
        joint = Joint(self.joint_names(r.name), "hinge", axis)
        rotor = Body(self.names(f"{r.name}_body"), body, here, [joint], P, spins=True)
        self.all.append(rotor)
        self.of_rotor[r.name] = rotor

    def carried(self) -> dict[Body, list[Body]]:
        """Return the bodies that each body carries.

        Raises:
            ModelError: They hang from each other too deep to be written.
        """
        found: dict[Body, list[Body]] = {self.world: []}
        depth = {self.world: 0}
        for body in self.all:
            above = body.parent or self.world
            found.setdefault(body, [])
            found[above].append(body)
            depth[body] = depth[above] + 1
            if depth[body] > MAX_DEPTH:
                raise ModelError(
                    f"to_mjcf: more than {MAX_DEPTH} bodies hang from each other, as far as {body.name!r}, and so deep "
                    "no XML is read. Split the chain."
                )
        return found

    def merge(self) -> None:
        """Join bodies without any inertia with the one that they carry: MuJoCo has several joints on a body."""
        carried = self.carried()
        for body in list(self.all):
            if np.any(body.P) or len(carried[body]) != 1:
                continue
            (child,) = carried[body]
            for joint in body.joints:
                back = child.place.inverse()
                joint.axis = np.array(back.rotation @ joint.axis)
                joint.pos = np.array(back.act(joint.pos))
            child.joints = body.joints + child.joints
            child.place, child.parent = body.place * child.place, body.parent
            for j, (owner, _) in list(self.of_joint.items()):
                if owner is body:
                    del self.of_joint[j]
                    self.remarks.append(
                        f"{body.name} has no inertia: its joint is one of {child.name}, and its frames are left out."
                    )
            self.all.remove(body)

    def settle(self) -> None:
        """Let bodies that MuJoCo would refuse borrow from those that carry them; ``ModelError`` if one cannot."""
        moved = []
        for body in reversed(self.all):  # each is behind its parent
            if _masses.admissible(body.P):
                continue
            added = self._borrowed(body)
            if added is None or not _masses.admissible(body.P + added):
                raise self._refused(body)
            body.P = body.P + added
            assert body.parent is not None
            if body.parent is not self.world:
                body.parent.P = body.parent.P - _masses.placed(body.place, added)
            moved.append(body.name)
        if moved:
            self.remarks.append(
                "inertia along the axes of joints was moved from the bodies before them, so that MuJoCo takes all "
                f"bodies; no motion changes by that: {', '.join(moved)}."
            )

    def _borrowed(self, body: Body) -> np.ndarray | None:
        if len(body.joints) != 1:
            return None
        joint = body.joints[0]
        if joint.kind == "hinge":
            return _masses.borrowed_by_hinge(body.P, joint.axis, joint.pos)
        return _masses.borrowed_by_slide(body.P) if joint.kind == "slide" else None

    def _refused(self, body: Body) -> ModelError:
        found, _ = _masses.principal(body.P)
        lent = [b.name for b in self.carried()[body] if b.spins]
        why = "no real body has them"
        if not body.P[3, 3] > 0.1 * _masses.LEAST_MOMENT and not lent:
            why = "MuJoCo moves no body without mass"
        if lent:
            why = f"the link has less inertia than the rotors that it is said to hold ({', '.join(lent)})"
        return ModelError(
            f"to_mjcf: the body {body.name!r} has {body.P[3, 3]:.4g} kg and the principal moments "
            f"{', '.join(f'{x:.4g}' for x in found)} kg m^2: {why}, and what moves it has nothing to lend. Correct its "
            "inertia."
        )
