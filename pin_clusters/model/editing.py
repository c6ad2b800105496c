"""A robot with joints locked or added, and two robots in one: trees are copied, and constraints are carried over."""

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
    """The joints, frames and named configurations of a tree, copied into another tree.

    The order of the joints is arbitrary, as long as parents come before children.

    Attributes:
        old: The tree that is copied.
        tree: The tree that receives the copy.
        joint: By joint id of the old tree: the id of the joint of ``tree`` that moves the same body.
        offset: By joint id of the old tree: placement of the joint's frame in the frame of that joint.
        held: Names of joints of the old tree that are fixed in ``tree``.
    """

    def __init__(self, old: pin.Model, tree: pin.Model | None = None, base: Any = None) -> None:
        """Copy the universe to a joint of a tree, or of an empty one, at a placement in it and below a frame."""
        self.old, self.tree, self.held = old, pin.Model() if tree is None else tree, set[str]()
        if tree is None:
            self.tree.name, self.tree.gravity = old.name, old.gravity
        self.joint, self.offset = dict[int, int](), dict[int, pin.SE3]()
        joint, offset, frame = base or (0, pin.SE3.Identity(), 0)
        self._frame: int = frame
        self._put(0, joint, offset)

    def _put(self, j: int, to: int, at: pin.SE3) -> None:
        self.joint[j], self.offset[j] = to, at
        self.tree.appendBodyToJoint(to, self.old.inertias[j], at)

    def add(self, joints: Iterable[int], base: tuple[int, pin.SE3] | None = None) -> None:
        """Copy joints; their parents and placements are those of the old tree, or ``base``."""
        for j in joints:
            above = self.old.parents[j]
            parent, at = base or (self.joint[above], self.offset[above] * self.old.jointPlacements[j])
            new = self.tree.addJoint(parent, self.old.joints[j], at, self.old.names[j])
            copy_fields(self.old, j, self.tree, new)
            self._put(j, new, pin.SE3.Identity())
            self.tree.inertias[new] = self.old.inertias[j]  # exactly: a sum with nothing is rounded

    def hold(self, j: int, placement: pin.SE3) -> None:
        """Fix the body of a joint to that of the joint's parent."""
        self.held.add(self.old.names[j])
        self._put(j, self.joint[self.old.parents[j]], self.offset[self.old.parents[j]] * placement)

    @property
    def places(self) -> dict[str, tuple[str, pin.SE3]]:
        """Joint and placement in ``tree`` of bodies whose joint is not there, by the name of that joint."""
        away = {j: self.joint[j] for j in self.joint if self.old.names[j] in self.held}
        if self.joint[0] or not self.offset[0].isIdentity(0.0):
            away[0] = self.joint[0]
        return {self.old.names[j]: (self.tree.names[to], self.offset[j]) for j, to in away.items()}

    def finish(self) -> None:
        """Copy the frames in their order, and the named configurations, after all joints of the tree were added."""
        self._shift = self.tree.nframes - 1
        for frame in list(self.old.frames)[1:]:
            j, kind = frame.parentJoint, frame.type
            if kind == pin.FrameType.JOINT and self.old.names[j] in self.held:
                kind = pin.FrameType.FIXED_JOINT
            place = self.joint[j], self.frame(frame.parentFrame), self.offset[j] * frame.placement
            self.tree.addFrame(pin.Frame(frame.name, *place, kind, frame.inertia), False)
        there = {item.key(): np.array(item.data()) for item in self.tree.referenceConfigurations}
        for item in self.old.referenceConfigurations:
            self.tree.referenceConfigurations[item.key()] = self.configuration(item.data(), there.get(item.key()))

    def frame(self, k: int) -> int:
        """Return the id in ``tree`` of a frame."""
        return k + self._shift if k else self._frame

    def configuration(self, q: np.ndarray, rest: np.ndarray | None = None) -> np.ndarray:
        """Return a configuration of ``tree``: q of the joints that were copied, and ``rest`` (or neutral) elsewhere."""
        found = pin.neutral(self.tree) if rest is None else rest
        for j in range(1, self.old.njoints):
            if self.old.names[j] not in self.held:
                found[in_q(self.tree, self.joint[j])] = np.asarray(q)[in_q(self.old, j)]
        return found

    def geometry(self, shapes: pin.GeometryModel) -> pin.GeometryModel:
        """Return shapes of the old tree on ``tree``."""
        found = shapes.clone()
        for shape in found.geometryObjects:
            j = shape.parentJoint
            shape.placement = self.offset[j] * shape.placement
            shape.parentJoint, shape.parentFrame = self.joint[j], self.frame(shape.parentFrame)
        return found


def locked(model: Any, joints: Iterable[Any], q: Any) -> tuple[Any, TreeCopy]:
    """Return a model with locked joints and the copy of its tree; see ``ClusterModel.with_locked``."""
    own, q = model.own_tree, configuration(model, "q", q)
    ids = _ids(model, joints)
    placed = own.createData()
    pin.forwardKinematics(own, placed, q)
    copy = TreeCopy(own)
    for j in range(1, own.njoints):
        if j in ids:
            copy.hold(j, placed.liMi[j])
        else:
            copy.add([j])
    copy.finish()
    return _made({model: copy}, _carried(model, copy, q), copy.geometry(model.collision)), copy


def _ids(model: ModelParts, joints: Any) -> set[int]:
    if isinstance(joints, (str, bytes)) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"with_locked: joints must be a list of names or ids, got {joints!r}.")
    found = set()
    for joint in joints:
        j = model.getJointId(joint) if isinstance(joint, str) else joint
        if isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 < j < model.njoints:
            raise ArgumentTypeError(
                f"with_locked: joints must be names, or ids from 1 to {model.njoints - 1}, got {joint!r}."
            )
        found.add(int(j))
    if len(found) == model.njoints - 1:
        raise ModelError("with_locked: all joints are locked, so nothing moves. Leave one out.")
    return found


def jointed(
    model: Any, name: Any, joint: Any, parent: Any, placement: Any, before: Any, inertia: Any, constraints: Any
) -> Any:
    """Return a model with another joint; see ``ClusterModel.with_joint``."""
    own, who = model.own_tree, f"with_joint({name!r})"
    more = checked_constraints(who, constraints)
    _check_joint(own, who, name, joint, inertia)
    if (parent is None) == (before is None):
        raise ArgumentTypeError(
            f"{who}: give parent='hip' to add a joint with a new body, or before='knee' to insert a joint between "
            f"'knee' and its parent, but not both; got parent={parent!r}, before={before!r}."
        )
    copy, after = TreeCopy(own), own.njoints
    if before is None:
        place = frame_of(parent if placement is None else (parent, placement), "parent", who)
        to, at = resolve_frame(own, place, who)
    else:
        after = model.getJointId(before)
        to, at = own.parents[after], own.jointPlacements[after]
        if placement is not None:
            at = resolve_frame(own, frame_of((own.names[to], placement), "placement", who), who)[1]
    copy.add(range(1, after))
    new = copy.tree.addJoint(copy.joint[to], joint, at, name)
    above = next((k for k, f in enumerate(own.frames) if (f.parentJoint, f.type) == (to, pin.FrameType.JOINT)), 0)
    copy.tree.appendBodyToJoint(new, pin.Inertia.Zero() if inertia is None else inertia, pin.SE3.Identity())
    if before is not None:
        below = pin.SE3.Identity() if placement is None else at.actInv(own.jointPlacements[after])
        copy.add([after], (new, below))
        copy.add(range(after + 1, own.njoints))
    copy.finish()
    frame = copy.tree.addFrame(pin.Frame(name, new, above, pin.SE3.Identity(), pin.FrameType.JOINT), False)
    if before is not None and own.existFrame(before, pin.FrameType.JOINT):
        copy.tree.frames[own.getFrameId(before, pin.FrameType.JOINT)].parentFrame = frame
    # a cluster whose independent joints the user chose has a new degree of freedom
    chosen = {*(model._wishes[1] or ())}
    led = [name] if any(before in c.joints and chosen & {*c.joints} for c in model.clusters) else []
    return _made({model: copy}, [*_carried(model, copy), *more], copy.geometry(model.collision), led)


def _check_joint(tree: pin.Model, who: str, name: Any, joint: Any, inertia: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(f"{who}: the name of a joint must be text.")
    if tree.existFrame(name) or tree.existJointName(name):
        raise ModelError(f"{who}: the model has a joint or frame {name!r} already. Choose another name.")
    try:
        pin.JointModel(joint)
    except TypeError:  # of Boost.Python
        what = f"a joint of Pinocchio, such as pin.JointModelRY(), got {joint!r}"
        raise ArgumentTypeError(f"{who}: joint must be {what}.") from None
    if not isinstance(inertia, (pin.Inertia, type(None))):
        raise ArgumentTypeError(f"{who}: inertia must be a pinocchio.Inertia or None, got {type(inertia).__name__}.")


def appended(
    model_a: Any, model_b: Any, shapes: tuple[pin.GeometryModel, pin.GeometryModel] | None, frame: Any, placement: Any
) -> tuple[Any, pin.GeometryModel]:
    """Return one model of two, and their shapes; see ``pc.appendModel``."""
    who, own = "appendModel", model_a.own_tree
    k = model_a.getFrameId(frame) if isinstance(frame, str) else frame
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k < own.nframes:
        raise ArgumentTypeError(f"{who}: frame_in_modelA must be an id from 0 to {own.nframes - 1}, got {frame!r}.")
    if not isinstance(placement, pin.SE3):
        raise ArgumentTypeError(f"{who}: aMb must be a pinocchio.SE3, got {type(placement).__name__}.")
    _check_names(model_a, model_b)
    place = own.frames[int(k)]
    first = [j for j in range(1, own.njoints) if j <= place.parentJoint or place.parentJoint in [*own.supports[j]]]
    a = TreeCopy(own)
    a.add(first)
    b = TreeCopy(model_b.own_tree, a.tree, (a.joint[place.parentJoint], place.placement * placement, int(k)))
    b.add(range(1, model_b.njoints))
    a.add(j for j in range(1, own.njoints) if j not in first)
    a.finish()
    b.finish()
    both = {model_a: a, model_b: b}
    constraints = [c for model, copy in both.items() for c in _carried(model, copy)]
    made = _made(both, constraints, _both_shapes(both, (model_a.collision, model_b.collision), across=False))
    return made, pin.GeometryModel() if shapes is None else _both_shapes(both, shapes, across=True)


def _check_names(*models: ModelParts) -> None:
    """Raise ``ModelError`` for names of both models that Pinocchio or a constraint would confuse."""
    joint = pin.FrameType.JOINT
    a, b = (
        {*((n, joint) for n in list(m.names)[1:]), *((f.name, f.type) for f in list(m.own_tree.frames)[1:])}
        for m in models
    )
    named = {name for model in models for c in model.constraints for name in names_in(c)}
    for name in sorted(named & {n for n, _ in a} & {n for n, _ in b} | {n for n, _ in a & b}):
        what = "joint" if (name, joint) in a | b else "frame"
        raise ModelError(f"appendModel: both models have a {what} or body named {name!r}. Rename it in one of them.")


def _both_shapes(
    both: Mapping[Any, TreeCopy], shapes: tuple[pin.GeometryModel, pin.GeometryModel], *, across: bool
) -> pin.GeometryModel:
    """Return the shapes of two models with their collision pairs; and with all pairs between them, if ``across``."""
    found, second = (copy.geometry(x) for copy, x in zip(both.values(), shapes, strict=True))
    n = found.ngeoms
    for shape in second.geometryObjects:
        found.addGeometryObject(shape)
    on = [x.parentJoint for x in found.geometryObjects]
    pairs = [(i, k) for i in range(n) for k in range(n, len(on)) if across and on[i] != on[k]]
    for i, k in [*((p.first + n, p.second + n) for p in second.collisionPairs), *pairs]:
        found.addCollisionPair(pin.CollisionPair(i, k))
    return found


def _made(
    copies: Mapping[Any, TreeCopy], constraints: list[Any], shapes: pin.GeometryModel, led: Iterable[str] = ()
) -> Any:
    """Return the model of the finished copies of models, with their wishes; ``led`` are more independent joints."""
    first, (reference, independent) = next(iter(copies)), (None, None)
    for model, copy in copies.items():
        own, names = model._wishes
        if any(m._wishes[0] is not None for m in copies):
            reference = copy.configuration(model.q_reference if own is None else own, reference)
        if names is not None:
            independent = [*(independent or led), *(name for name in names if name not in copy.held)]
    return type(first)(
        next(iter(copies.values())).tree,
        constraints,
        reference,
        independent=independent,
        name=first.name,
        preferred=[name for model, copy in copies.items() for name in model.preferred if name not in copy.held],
        collision=shapes,
    )


def _carried(model: ModelParts, copy: TreeCopy, q: np.ndarray | None = None) -> list[Any]:
    """Return the constraints of a model on the copy of its tree; rotors that stand still become parts of bodies.

    Raises:
        ConstraintError: A constraint ties joints of which some are held.
    """
    found: list[Any] = []
    places = {name: attached(*place) for name, place in copy.places.items()}
    for constraint in model.constraints:
        if isinstance(constraint, Rotor):
            found += _rotor(model, constraint, copy)
            continue
        if isinstance(constraint, GravityCompensation):
            found += _held_weight(constraint, copy)
            continue
        if isinstance(constraint, Spring) and isinstance(constraint.along, (str, Mapping)):
            found += _spring(constraint, copy, q)
            continue
        tied = {name for c in model.clusters if constraint in c.constraints for name in c.joints}
        if not tied & copy.held:
            found.append(moved_frames(constraint, places) if places else constraint)
        elif tied <= copy.held:
            _add_rod(model, constraint, copy)
        else:
            names = ", ".join(map(repr, sorted(tied - copy.held)))
            raise ConstraintError(
                f"with_locked: {constraint} ties locked joints to {names}, which would be cut. Lock these as well, or "
                "none of them."
            )
    before, after = ({c.name for c in cs if isinstance(c, Rotor)} for cs in (model.constraints, found))
    return [c for c in found if not (isinstance(c, Motor) and c.rotor in before - after | copy.held)]


def _add_rod(model: ModelParts, constraint: Any, copy: TreeCopy) -> None:
    """Add the mass of a rod between bodies that are one now: at its ends and in its middle."""
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
    """Return a spring along coordinates: the coordinates of held joints move the position of rest."""
    given = spring.along if isinstance(spring.along, Mapping) else {spring.along: 1.0}
    held = {x: j for x in given if copy.old.names[j := joint_id(copy.old, x, spring.label)] in copy.held}
    left = {x: c for x, c in given.items() if x not in held}
    if not held or not left:
        return [spring] if left else []
    shift = sum(given[x] * coordinate(copy.old, j, np.asarray(q)) for x, j in held.items())
    return [replace(spring, along=left, rest=tuple(r - shift for r in spring.rest or (0.0,)))]


def _rotor(model: ModelParts, rotor: Rotor, copy: TreeCopy) -> list[Rotor]:
    """Return what is left of a rotor: it as it is, with the joints that still move, or none."""
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
