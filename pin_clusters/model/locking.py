"""The same robot with joints held where they are: fewer joints, the same bodies, and the constraints that are left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import configuration
from .._support.trees import PER_POSITION, PER_VELOCITY, in_q, in_v
from ..constraints import Rotor, Spring
from ..constraints.closures import RodClosure, massive
from ..errors import ArgumentTypeError, ConstraintError, ModelError
from .parts import ModelParts


def locked(model: Any, joints: Iterable[Any], q: Any) -> tuple[Any, Reduction]:
    """Return a model whose joints are held, and how its tree was reduced; see ``ClusterModel.with_locked``."""
    own, q = model.own_tree, configuration(model, "q", q)
    held = _ids(model, joints)
    reduction = Reduction(own, held, q)
    names = {own.names[j] for j in held}
    constraints = _left(model, names, reduction)
    for rod in massive(model.closures):
        if rod.source not in constraints:
            reduction.add_rod(rod)
    reference, independent = model._wishes
    other = type(model)(
        reduction.tree, constraints, None if reference is None else reduction.configuration(np.asarray(reference)),
        independent=None if independent is None else [name for name in independent if name not in names],
        preferred=[name for name in model.preferred if name not in names], name=model.name,
        collision=reduction.geometry(model.collision),
    )  # fmt: skip
    return other, reduction


def _ids(model: ModelParts, joints: Any) -> list[int]:
    if isinstance(joints, (str, bytes)) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"with_locked: joints must be a list of names or ids, got {joints!r}.")
    found = []
    for joint in joints:
        j = model.getJointId(joint) if isinstance(joint, str) else joint
        if isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 < j < model.njoints:
            raise ArgumentTypeError(
                f"with_locked: joints must be names, or ids from 1 to {model.njoints - 1}, got {joint!r}."
            )
        found.append(int(j))
    if len(set(found)) == model.njoints - 1:
        raise ModelError("with_locked: all joints are locked, so nothing moves. Leave one out.")
    return sorted(set(found))


class Reduction:
    """A tree without some joints, whose bodies are parts of those that carry them, in any order of joints.

    Attributes:
        tree: The tree that is left.
        joint: Joint id there of what each joint of the whole tree moved.
        offset: Placement there of the frame of each joint.
    """

    def __init__(self, whole: pin.Model, held: Sequence[int], q: np.ndarray) -> None:
        """Hold joints, by id, at a configuration."""
        self.tree, self._whole, self._held = pin.Model(), whole, set(held)
        self.joint, self.offset = [0], [pin.SE3.Identity()]
        placed = whole.createData()
        pin.forwardKinematics(whole, placed, q)
        tree = self.tree
        tree.name, tree.gravity = whole.name, whole.gravity
        tree.inertias[0] = whole.inertias[0]
        for j in range(1, whole.njoints):
            parent, base = self.joint[whole.parents[j]], self.offset[whole.parents[j]]
            if j in self._held:
                offset = base * placed.liMi[j]
                tree.appendBodyToJoint(parent, whole.inertias[j], offset)
                self.joint.append(parent)
                self.offset.append(offset)
                continue
            new = tree.addJoint(parent, whole.joints[j], base * whole.jointPlacements[j], whole.names[j])
            tree.appendBodyToJoint(new, whole.inertias[j], pin.SE3.Identity())
            self.joint.append(new)
            self.offset.append(pin.SE3.Identity())
        self._q = [i for j in range(1, whole.njoints) if j not in self._held for i in in_q(whole, j)]
        self._v = [i for j in range(1, whole.njoints) if j not in self._held for i in in_v(whole, j)]
        for names, kept in ((PER_VELOCITY, self._v), (PER_POSITION, self._q)):
            for name in names:
                if hasattr(whole, name):
                    setattr(tree, name, np.array(getattr(whole, name))[kept])
        self._add_frames()
        for item in whole.referenceConfigurations:
            tree.referenceConfigurations[item.key()] = self.configuration(np.array(item.data()))

    def _add_frames(self) -> None:
        """Add all frames in their order; that of a held joint stays, as a fixed one."""
        for frame in list(self._whole.frames)[1:]:
            j, kind = frame.parentJoint, frame.type
            if kind == pin.FrameType.JOINT and j in self._held:
                kind = pin.FrameType.FIXED_JOINT
            place = self.joint[j], frame.parentFrame, self.offset[j] * frame.placement
            self.tree.addFrame(pin.Frame(frame.name, *place, kind), False)

    def add_rod(self, rod: RodClosure) -> None:
        """Add the mass of a rod between bodies that are one now: at its ends and in its middle."""
        joint = max(self.joint[j] for j, _ in rod.ends)
        places = [self.offset[j].act(point) for j, point in rod.ends]
        points = zip(rod.point_masses, (places[0], 0.5 * (places[0] + places[1]), places[1]), strict=True)
        for mass, place in points if joint else ():
            self.tree.inertias[joint] = self.tree.inertias[joint] + pin.Inertia(mass, place, np.zeros((3, 3)))

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return what is left of a configuration of the whole tree."""
        return q[self._q]

    def geometry(self, shapes: pin.GeometryModel) -> pin.GeometryModel:
        """Return shapes on the tree that is left."""
        found = shapes.clone()
        for shape in found.geometryObjects:
            j = shape.parentJoint
            shape.placement = self.offset[j] * shape.placement
            shape.parentJoint = self.joint[j]
        return found


def _left(model: ModelParts, held: set[str], reduction: Reduction) -> list[Any]:
    """Return the constraints that are left; rotors that stand still become parts of what carries them.

    Raises:
        ConstraintError: A constraint ties joints of which some are held.
    """
    found: list[Any] = []
    for constraint in model.constraints:
        if isinstance(constraint, Rotor):
            found += _rotor(model, constraint, held, reduction)
            continue
        tied = {name for c in model.clusters if constraint in c.constraints for name in c.joints}
        if isinstance(constraint, Spring) and isinstance(constraint.along, str):
            tied = {constraint.along}
        if not tied & held:
            found.append(constraint)
        elif not tied <= held:
            names = ", ".join(map(repr, sorted(tied - held)))
            raise ConstraintError(
                f"with_locked: {constraint} ties locked joints to {names}, which would be cut. Lock these as well, or "
                "none of them."
            )
    return found


def _rotor(model: ModelParts, rotor: Rotor, held: set[str], reduction: Reduction) -> list[Rotor]:
    """Return what is left of a rotor: it as it is, with the joints that still move, or none."""
    row, tree = rotor.resolve(model.own_tree), reduction.tree
    carrier, offset = reduction.joint[row.carrier], reduction.offset[row.carrier]
    names = [model.own_tree.names[j] for j in row.joints]
    moving = [(name, ratio) for name, ratio in zip(names, row.ratios, strict=True) if name not in held]
    if not moving:
        if row.inertia is not None and carrier:
            tree.inertias[carrier] = tree.inertias[carrier] + (offset * row.placement).act(row.inertia)
        return []
    if len(moving) == len(names) and carrier and row.carrier and model.own_tree.names[row.carrier] not in held:
        return [rotor]
    joints, ratios = zip(*moving, strict=True)
    axis = row.placement.rotation.T @ row.axis
    return [
        replace(
            rotor, joints=list(joints), ratios=list(ratios), carrier=tree.names[carrier], axis=tuple(axis),
            placement=offset * row.placement,
        )
    ]  # fmt: skip
