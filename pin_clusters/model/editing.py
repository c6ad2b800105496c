"""Locks or adds joints, and joins two robots: copies the trees and adapts the constraints to the copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import configuration
from .._support.trees import coordinate, copy_fields, in_q
from ..constraints import GravityCompensation, Motor, Rotor, Spring
from ..constraints._frames import attached, frame_of, moved_frames, names_in, resolve_frame
from ..constraints.closures import massive
from ..constraints.rows import joint_id
from ..errors import ArgumentTypeError, ConstraintError, ModelError
from .parts import ModelParts, checked_constraints


class TreeCopy:
    """Copies joints, frames and named configurations of the tree ``old`` into ``tree``, parents before children.

    ``base`` contains the joint, placement and frame of ``tree`` at which the copy is attached; the default is the
    universe. ``joint`` maps each joint id of ``old`` to the id of the joint of ``tree`` that moves the same body;
    ``offset`` contains the placements of the old in the new joint frames. ``held`` contains the names of fixed joints.
    """

    def __init__(self, old: pin.Model, tree: pin.Model | None = None, base: Any = None) -> None:
        self.old, self.tree, self.held = old, pin.Model() if tree is None else tree, set[str]()
        if tree is None:
            self.tree.name, self.tree.gravity = old.name, old.gravity
        self.joint, self.offset = dict[int, int](), dict[int, pin.SE3]()
        joint, offset, frame = base or (0, pin.SE3.Identity(), 0)
        self._frame: int = frame
        self._put(0, joint, offset)

    def _put(self, j: int, to: int, placement: pin.SE3) -> None:
        self.joint[j], self.offset[j] = to, placement
        self.tree.appendBodyToJoint(to, self.old.inertias[j], placement)

    def add(self, joints: Iterable[int], base: tuple[int, pin.SE3] | None = None) -> None:
        """Copy joints; if ``base`` is given, it replaces their parent and placement in the old tree."""
        for j in joints:
            above = self.old.parents[j]
            parent, placement = base or (self.joint[above], self.offset[above] * self.old.jointPlacements[j])
            new = self.tree.addJoint(parent, self.old.joints[j], placement, self.old.names[j])
            copy_fields(self.old, j, self.tree, new)
            self._put(j, new, pin.SE3.Identity())
            self.tree.inertias[new] = self.old.inertias[j]  # The addition in _put rounds the values.

    def hold(self, j: int, placement: pin.SE3) -> None:
        self.held.add(self.old.names[j])
        self._put(j, self.joint[self.old.parents[j]], self.offset[self.old.parents[j]] * placement)

    @property
    def places(self) -> dict[str, tuple[str, pin.SE3]]:
        """For each joint that was not copied: the joint of ``tree`` that moves its body, and the body's placement."""
        away = {j: self.joint[j] for j in self.joint if self.old.names[j] in self.held}
        if self.joint[0] or not self.offset[0].isIdentity(0.0):
            away[0] = self.joint[0]
        return {self.old.names[j]: (self.tree.names[to], self.offset[j]) for j, to in away.items()}

    def finish(self) -> None:
        """Copy the frames, in the same order, and the named configurations; call this after all joints were added."""
        self._shift = self.tree.nframes - 1
        for frame in list(self.old.frames)[1:]:
            j, kind = frame.parentJoint, frame.type
            if kind == pin.FrameType.JOINT and self.old.names[j] in self.held:
                kind = pin.FrameType.FIXED_JOINT
            location = self.joint[j], self.frame(frame.parentFrame), self.offset[j] * frame.placement
            self.tree.addFrame(pin.Frame(frame.name, *location, kind, frame.inertia), False)
        configurations = {item.key(): np.array(item.data()) for item in self.tree.referenceConfigurations}
        for item in self.old.referenceConfigurations:
            self.tree.referenceConfigurations[item.key()] = self.configuration(
                item.data(), configurations.get(item.key())
            )

    def frame(self, k: int) -> int:
        return k + self._shift if k else self._frame

    def configuration(self, q: np.ndarray, rest: np.ndarray | None = None) -> np.ndarray:
        """Return a configuration of ``tree``: q for copied joints, ``rest`` (by default neutral) for other joints."""
        q_new = pin.neutral(self.tree) if rest is None else rest
        for j in range(1, self.old.njoints):
            if self.old.names[j] not in self.held:
                q_new[in_q(self.tree, self.joint[j])] = np.asarray(q)[in_q(self.old, j)]
        return q_new

    def geometry(self, shapes: pin.GeometryModel) -> pin.GeometryModel:
        copied = shapes.clone()
        for shape in copied.geometryObjects:
            j = shape.parentJoint
            shape.placement = self.offset[j] * shape.placement
            shape.parentJoint, shape.parentFrame = self.joint[j], self.frame(shape.parentFrame)
        return copied


def locked(model: Any, joints: Iterable[Any], q: Any) -> tuple[Any, TreeCopy]:
    tree, q = model.own_tree, configuration(model, "q", q)
    ids = _ids(model, joints)
    placed = tree.createData()
    pin.forwardKinematics(tree, placed, q)
    copy = TreeCopy(tree)
    for j in range(1, tree.njoints):
        if j in ids:
            copy.hold(j, placed.liMi[j])
        else:
            copy.add([j])
    copy.finish()
    return _made({model: copy}, _carried(model, copy, q), copy.geometry(model.collision)), copy


def _ids(model: ModelParts, joints: Any) -> set[int]:
    if isinstance(joints, (str, bytes)) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"with_locked: joints must be a list of names or ids, got {joints!r}.")
    ids = set()
    for joint in joints:
        j = model.getJointId(joint) if isinstance(joint, str) else joint
        if isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 < j < model.njoints:
            raise ArgumentTypeError(
                f"with_locked: joints must be names, or ids from 1 to {model.njoints - 1}, got {joint!r}."
            )
        ids.add(int(j))
    if len(ids) == model.njoints - 1:
        raise ModelError("with_locked: all joints are locked, so nothing moves. Leave one of them unlocked.")
    return ids


def jointed(
    model: Any, name: Any, joint: Any, parent: Any, placement: Any, before: Any, inertia: Any, constraints: Any
) -> Any:
    tree, caller = model.own_tree, f"with_joint({name!r})"
    added = checked_constraints(caller, constraints)
    _check_joint(tree, caller, name, joint, inertia)
    if (parent is None) == (before is None):
        raise ArgumentTypeError(
            f"{caller}: pass parent='hip' to add a joint with a new body, or before='knee' to insert a joint between "
            f"'knee' and its parent, but not both; got parent={parent!r}, before={before!r}."
        )
    copy, after = TreeCopy(tree), tree.njoints
    if before is None:
        location = frame_of(parent if placement is None else (parent, placement), "parent", caller)
        to, offset = resolve_frame(tree, location, caller)
    else:
        after = model.getJointId(before)
        to, offset = tree.parents[after], tree.jointPlacements[after]
        if placement is not None:
            offset = resolve_frame(tree, frame_of((tree.names[to], placement), "placement", caller), caller)[1]
    copy.add(range(1, after))
    new = copy.tree.addJoint(copy.joint[to], joint, offset, name)
    above = next((k for k, f in enumerate(tree.frames) if (f.parentJoint, f.type) == (to, pin.FrameType.JOINT)), 0)
    copy.tree.appendBodyToJoint(new, pin.Inertia.Zero() if inertia is None else inertia, pin.SE3.Identity())
    if before is not None:
        below = pin.SE3.Identity() if placement is None else offset.actInv(tree.jointPlacements[after])
        copy.add([after], (new, below))
        copy.add(range(after + 1, tree.njoints))
    copy.finish()
    frame = copy.tree.addFrame(pin.Frame(name, new, above, pin.SE3.Identity(), pin.FrameType.JOINT), False)
    if before is not None and tree.existFrame(before, pin.FrameType.JOINT):
        copy.tree.frames[tree.getFrameId(before, pin.FrameType.JOINT)].parentFrame = frame
    # If the user chose the independent joints of the cluster, the new joint must be one of them.
    required = {*(model._requested[1] or ())}
    leading = [name] if any(before in c.joints and required & {*c.joints} for c in model.clusters) else []
    return _made({model: copy}, [*_carried(model, copy), *added], copy.geometry(model.collision), leading)


def _check_joint(tree: pin.Model, who: str, name: Any, joint: Any, inertia: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(f"{who}: the name of a joint must be text.")
    if tree.existFrame(name) or tree.existJointName(name):
        raise ModelError(f"{who}: the model already has a joint or frame {name!r}. Choose another name.")
    try:
        pin.JointModel(joint)
    except TypeError:  # Boost.Python raises TypeError for a wrong type.
        expected = f"a joint of Pinocchio, such as pin.JointModelRY(), got {joint!r}"
        raise ArgumentTypeError(f"{who}: joint must be {expected}.") from None
    if not isinstance(inertia, (pin.Inertia, type(None))):
        raise ArgumentTypeError(f"{who}: inertia must be a pinocchio.Inertia or None, got {type(inertia).__name__}.")


def appended(
    model_a: Any, model_b: Any, shapes: tuple[pin.GeometryModel, pin.GeometryModel] | None, frame: Any, placement: Any
) -> tuple[Any, pin.GeometryModel]:
    caller, tree = "appendModel", model_a.own_tree
    k = model_a.getFrameId(frame) if isinstance(frame, str) else frame
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k < tree.nframes:
        raise ArgumentTypeError(
            f"{caller}: frame_in_modelA must be a frame name, or an id from 0 to {tree.nframes - 1}, got {frame!r}."
        )
    if not isinstance(placement, pin.SE3):
        raise ArgumentTypeError(f"{caller}: aMb must be a pinocchio.SE3, got {type(placement).__name__}.")
    _check_names(model_a, model_b)
    base = tree.frames[int(k)]
    first = [j for j in range(1, tree.njoints) if j <= base.parentJoint or base.parentJoint in [*tree.supports[j]]]
    a = TreeCopy(tree)
    a.add(first)
    b = TreeCopy(model_b.own_tree, a.tree, (a.joint[base.parentJoint], base.placement * placement, int(k)))
    b.add(range(1, model_b.njoints))
    a.add(j for j in range(1, tree.njoints) if j not in first)
    a.finish()
    b.finish()
    copies = {model_a: a, model_b: b}
    constraints = [c for model, copy in copies.items() for c in _carried(model, copy)]
    joined = _made(copies, constraints, _both_shapes(copies, (model_a.collision, model_b.collision), across=False))
    return joined, pin.GeometryModel() if shapes is None else _both_shapes(copies, shapes, across=True)


def _check_names(*models: ModelParts) -> None:
    """Raise ``ModelError`` if a name in both models would be ambiguous for Pinocchio or for a constraint."""
    joint = pin.FrameType.JOINT
    a, b = (
        {*((n, joint) for n in list(m.names)[1:]), *((f.name, f.type) for f in list(m.own_tree.frames)[1:])}
        for m in models
    )
    named = {name for model in models for c in model.constraints for name in names_in(c)}
    for name in sorted(named & {n for n, _ in a} & {n for n, _ in b} | {n for n, _ in a & b}):
        kind = "joint" if (name, joint) in a | b else "frame"
        raise ModelError(f"appendModel: both models have a {kind} or body named {name!r}. Rename it in one of them.")


def _both_shapes(
    copies: Mapping[Any, TreeCopy], shapes: tuple[pin.GeometryModel, pin.GeometryModel], *, across: bool
) -> pin.GeometryModel:
    """Return the shapes of two models with their collision pairs; ``across`` adds all pairs between the models."""
    merged, second = (copy.geometry(x) for copy, x in zip(copies.values(), shapes, strict=True))
    n = merged.ngeoms
    for shape in second.geometryObjects:
        merged.addGeometryObject(shape)
    on = [x.parentJoint for x in merged.geometryObjects]
    pairs = [(i, k) for i in range(n) for k in range(n, len(on)) if across and on[i] != on[k]]
    for i, k in [*((p.first + n, p.second + n) for p in second.collisionPairs), *pairs]:
        merged.addCollisionPair(pin.CollisionPair(i, k))
    return merged


def _made(
    copies: Mapping[Any, TreeCopy], constraints: list[Any], shapes: pin.GeometryModel, led: Iterable[str] = ()
) -> Any:
    """Build the model from finished tree copies and the old models' options; ``led`` are extra independent joints."""
    first_model, (reference, independent) = next(iter(copies)), (None, None)
    for model, copy in copies.items():
        q_own, names = model._requested
        if any(m._requested[0] is not None for m in copies):
            reference = copy.configuration(model.q_reference if q_own is None else q_own, reference)
        if names is not None:
            independent = [*(independent or led), *(name for name in names if name not in copy.held)]
    return type(first_model)(
        next(iter(copies.values())).tree,
        constraints,
        reference,
        independent=independent,
        name=first_model.name,
        preferred=[name for model, copy in copies.items() for name in model.preferred if name not in copy.held],
        collision=shapes,
    )


def _carried(model: ModelParts, copy: TreeCopy, q: np.ndarray | None = None) -> list[Any]:
    """Adapt a model's constraints to the copy of its tree; rotors that no longer turn are added to their carriers."""
    carried: list[Any] = []
    places = {name: attached(*place) for name, place in copy.places.items()}
    for constraint in model.constraints:
        if isinstance(constraint, Rotor):
            carried += _rotor(model, constraint, copy)
            continue
        if isinstance(constraint, GravityCompensation):
            carried += _held_weight(constraint, copy)
            continue
        if isinstance(constraint, Spring) and isinstance(constraint.along, (str, Mapping)):
            carried += _spring(constraint, copy, q)
            continue
        coupled = {name for c in model.clusters if constraint in c.constraints for name in c.joints}
        if not coupled & copy.held:
            carried.append(moved_frames(constraint, places) if places else constraint)
        elif coupled <= copy.held:
            _add_rod(model, constraint, copy)
        else:
            names = ", ".join(map(repr, sorted(coupled - copy.held)))
            raise ConstraintError(
                f"with_locked: {constraint} couples locked joints to {names}. Lock all of these joints or none of them."
            )
    before, after = ({c.name for c in cs if isinstance(c, Rotor)} for cs in (model.constraints, carried))
    return [c for c in carried if not (isinstance(c, Motor) and c.rotor in before - after | copy.held)]


def _add_rod(model: ModelParts, constraint: Any, copy: TreeCopy) -> None:
    for rod in massive(model.closures):
        if rod.source is constraint:
            joint = max(copy.joint[j] for j, _ in rod.ends)
            a, b = (copy.offset[j].act(point) for j, point in rod.ends)
            for mass, place in zip(rod.point_masses, (a, 0.5 * (a + b), b), strict=True) if joint else ():
                copy.tree.inertias[joint] += pin.Inertia(mass, place, np.zeros((3, 3)))


def _held_weight(held: GravityCompensation, copy: TreeCopy) -> list[GravityCompensation]:
    j = joint_id(copy.old, held.body, held.label)
    if copy.old.names[j] not in copy.places:
        return [held]
    center = tuple(copy.offset[j].act(np.array(held.center)).tolist())
    return [replace(held, body=copy.tree.names[copy.joint[j]], center=center)] if copy.joint[j] else []


def _spring(spring: Spring, copy: TreeCopy, q: np.ndarray | None) -> list[Spring]:
    """Adapt a spring along joint coordinates to the copy; the coordinates of fixed joints shift its rest position."""
    coefficients = spring.along if isinstance(spring.along, Mapping) else {spring.along: 1.0}
    held = {x: j for x in coefficients if copy.old.names[j := joint_id(copy.old, x, spring.label)] in copy.held}
    moving = {x: c for x, c in coefficients.items() if x not in held}
    if not held or not moving:
        return [spring] if moving else []
    shift = sum(coefficients[x] * coordinate(copy.old, j, np.asarray(q)) for x, j in held.items())
    return [replace(spring, along=moving, rest=tuple(r - shift for r in spring.rest or (0.0,)))]


def _rotor(model: ModelParts, rotor: Rotor, copy: TreeCopy) -> list[Rotor]:
    """Adapt a rotor to the joints that still move; if there are none, add its inertia to the carrier."""
    row, old, tree = rotor.resolve(model.own_tree), copy.old, copy.tree
    carrier, offset = copy.joint[row.carrier], copy.offset[row.carrier]
    names = [old.names[j] for j in row.joints]
    moving = [(name, ratio) for name, ratio in zip(names, row.ratios, strict=True) if name not in copy.held]
    if not moving:
        if row.inertia is not None and carrier:
            tree.inertias[carrier] += (offset * row.placement).act(row.inertia)
        return []
    first = row.joints[0]
    same_parent = tree.parents[copy.joint[first]] == copy.joint[old.parents[first]]
    if len(moving) == len(names) and same_parent and old.names[row.carrier] not in copy.places:
        return [rotor]
    joints, ratios = zip(*moving, strict=True)
    axis = row.placement.rotation.T @ row.axis
    return [
        replace(
            rotor,
            joints=list(joints),
            ratios=list(ratios),
            carrier=tree.names[carrier],
            axis=tuple(axis),
            placement=offset * row.placement,
        )
    ]
