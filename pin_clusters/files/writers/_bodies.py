"""Bodies of an MJCF file: all bodies of the tree except locked rotors, and bodies that the writer adds."""

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
"""Largest nesting depth of bodies."""


@dataclass(eq=False)
class Joint:
    name: str
    kind: str  # ``"hinge"``, ``"slide"``, ``"free"`` or ``"ball"``
    axis: np.ndarray  # unit vector in the frame of the body, shape (3,)
    pos: np.ndarray = field(default_factory=lambda: np.zeros(3))  # point on the axis, in the body, shape (3,), [m]
    at_q: range | None = None  # indices in the model's q; None for added joints, which are 0 at the reference pose
    at_v: range | None = None  # indices in the tree's v; None for joints that the file adds
    turns: bool = False  # True if the model's q contains the cosine and sine of the angle
    armature: float = 0.0  # [kg m^2] or [kg]


@dataclass(eq=False)
class Body:
    name: str
    parent: "Body | None"  # None for the world
    place: pin.SE3  # placement in the frame of the parent
    joints: list[Joint]  # joints between parent and body; empty only for the world
    P: np.ndarray  # mass moments as defined in ``_masses``, shape (4, 4)
    drawn: np.ndarray = field(default_factory=lambda: np.zeros((4, 4)))  # P before ``settle``; used for drawing
    spins: bool = False  # True for rotors
    sites: list[tuple[str, pin.SE3]] = field(default_factory=list)  # name, placement in the frame of the body

    def __post_init__(self) -> None:
        self.drawn = self.P.copy()


class Bodies:
    """The bodies of one file.

    Args:
        locked: Joint ids of rotors that are fixed to their carriers at angle 0.
        rotors: True if ``Rotor`` constraints become bodies. Otherwise their inertias are added to their carriers.

    Attributes:
        all: All bodies except the world, each after its parent.
        of_joint: For each joint id, the body that the joint moves, and the placement of the joint's frame in that body.
        of_rotor: Body of each ``Rotor``, by its name in ``model.rotors``.
        by_velocity: Names of the joints with one degree of freedom, by their index in the tree's v.
        remarks: Sentences for the comment at the top of the file.
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
            body, joint_frame = self.of_joint[r.carrier_id]
            if rotors:
                self._add_rotor(r)
            elif r.inertia is not None and body is not self.world:
                body.P += _masses.placed(joint_frame * r.placement, _masses.moments(r.inertia))
                body.drawn = body.P.copy()

    def drives(self, rotor: RotorElement) -> list[tuple[str, float]]:
        return [(self.by_velocity[iv], float(ratio)) for iv, ratio in rotor.drivers]

    def _lock(self, j: int) -> None:
        body, joint_frame = self.of_joint[int(self.tree.parents[j])]
        pose = joint_frame * self.tree.jointPlacements[j]
        self.of_joint[j] = body, pose
        if body is not self.world:
            body.P += _masses.placed(pose, _masses.moments(self.tree.inertias[j]))
            body.drawn = body.P.copy()

    def _add_joint(self, j: int) -> None:
        parent, anchor = self.of_joint[int(self.tree.parents[j])]
        joints, frames, kinds = [], [pin.SE3.Identity()], []
        armature = self.model.inertia_tree.armature
        for part in parts_of(self.tree, j, "MJCF"):
            frames.append(frames[-1] * part.placement)
            kinds.append(part.kind)
            if part.kind == "free" and parent is not self.world:
                raise UnsupportedJointError(
                    f"joint {part.name!r} is a free joint below a body, but MuJoCo supports free joints only directly "
                    "below the world. Attach the body to the world, or use three slides and a ball joint."
                )
            armatures = armature[list(part.at_v)]
            single_armature = 0.0 if part.kind in ("planar", "free") else float(armatures[0])
            if np.any(armatures != single_armature):
                self.remarks.append(
                    f"the armature of joint {part.name} is {text(armatures)} in the model, but {text(single_armature)} "
                    "in this file. MuJoCo has one value for a ball joint, and another definition for a free joint."
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
                    armature=single_armature,
                )
                joints.append((joint, frames[-1]))
        last = frames[-1]
        for joint, frame in joints:
            to = last.actInv(frame)
            joint.axis, joint.pos = to.rotation @ joint.axis, np.array(to.translation)
        name = self.names(self._own_names.get(j, f"{self.tree.names[j]}_link"))
        body = Body(name, parent, anchor * last, [joint for joint, _ in joints], _masses.moments(self.tree.inertias[j]))
        body.spins = j in self._spinning
        self.all.append(body)
        self.of_joint[j] = body, pin.SE3.Identity()

    def _planar(self, name: str, frame: pin.SE3, i: int) -> list[tuple[Joint, pin.SE3]]:
        self.remarks.append(f"planar joint {name} becomes two slides and a hinge; its velocity is in the parent frame.")
        x, y, z = np.eye(3)
        parts = (("_x", "slide", x, range(i, i + 1)), ("_y", "slide", y, range(i + 1, i + 2)))
        joints = [Joint(self.joint_names(name + end), kind, a, at_q=indices) for end, kind, a, indices in parts]
        joints.append(Joint(self.joint_names(name), "hinge", z, at_q=range(i + 2, i + 4), turns=True))
        return [(joint, frame) for joint in joints]

    def _add_rotor(self, r: RotorElement) -> None:
        """Add the body of a ``Rotor``; if the carrier's inertia includes the rotor, subtract the rotor's inertia."""
        body, joint_frame = self.of_joint[r.carrier_id]
        axis = np.array(r.placement.rotation.T @ r.axis)
        pose = joint_frame * r.placement
        if r.inertia is not None and body is not self.world:
            P = _masses.moments(r.inertia)
        else:
            P = _masses.spin(r.axial_inertia, axis)
            body.P -= _masses.placed(pose, P)
        joint = Joint(self.joint_names(r.name), "hinge", axis)
        rotor = Body(self.names(f"{r.name}_body"), body, pose, [joint], P, spins=True)
        self.all.append(rotor)
        self.of_rotor[r.name] = rotor

    def carried(self) -> dict[Body, list[Body]]:
        children: dict[Body, list[Body]] = {self.world: []}
        depth = {self.world: 0}
        for body in self.all:
            above = body.parent or self.world
            children.setdefault(body, [])
            children[above].append(body)
            depth[body] = depth[above] + 1
            if depth[body] > MAX_DEPTH:
                raise ModelError(
                    f"to_mjcf: more than {MAX_DEPTH} bodies are nested (down to {body.name!r}), which is too deep for "
                    "XML parsers. Split the chain."
                )
        return children

    def merge(self) -> None:
        """Merge each body without inertia into its only child, because MuJoCo rejects such bodies."""
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
                        f"{body.name} has no inertia: it is merged into {child.name}, and its frames are lost."
                    )
            self.all.remove(body)

    def settle(self) -> None:
        """Move inertia from parents to bodies that MuJoCo would reject; raise ``ModelError`` if this is impossible."""
        moved = []
        for body in reversed(self.all):  # children before their parents
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
                "inertia along joint axes was moved to these bodies from their parents, because MuJoCo rejects them "
                f"otherwise; no motion changes: {', '.join(moved)}."
            )

    def _borrowed(self, body: Body) -> np.ndarray | None:
        if len(body.joints) != 1:
            return None
        joint = body.joints[0]
        if joint.kind == "hinge":
            return _masses.borrowed_by_hinge(body.P, joint.axis, joint.pos)
        return _masses.borrowed_by_slide(body.P) if joint.kind == "slide" else None

    def _refused(self, body: Body) -> ModelError:
        moments, _ = _masses.principal(body.P)
        lent = [b.name for b in self.carried()[body] if b.spins]
        why = "these moments are not physical"
        if not body.P[3, 3] > 0.1 * _masses.LEAST_MOMENT and not lent:
            why = "MuJoCo rejects moving bodies without mass"
        if lent:
            why = f"the link has less inertia than the rotors in it ({', '.join(lent)})"
        return ModelError(
            f"to_mjcf: the body {body.name!r} has a mass of {body.P[3, 3]:.4g} kg and the principal moments "
            f"{', '.join(f'{x:.4g}' for x in moments)} kg m^2: {why}. Moving inertia from the parent "
            "body cannot correct this. Correct the inertia of the body."
        )
