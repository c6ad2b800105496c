"""Draws belts and gears between rotors and the joints that they drive, and bars for differentials."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .._support.trees import common_ancestor, joint_axis, joint_in_v, path_below
from ..constraints import Belt, Gear
from ..constraints.closures import JointClosure
from ..constraints.rows import moving_joint_id
from ..model import ClusterModel
from . import meshes, palette
from .meshes import Mesh
from .nodes import Node, Rigid
from .rotors import Drawn, name_of_node
from .skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Start:
    """The first wheel of a transmission, on the rotor."""

    body: int  # joint id of the carrier
    point: np.ndarray  # centre of the wheel in the carrier's frame, shape (3,), [m]
    axis: np.ndarray  # unit axis of the wheel, shape (3,)
    radius: float  # [m]
    width: float  # [m]


def nodes(skeleton: Skeleton, rotors: Sequence[Drawn]) -> list[Node]:
    model, drawn_nodes = skeleton.model, list[Node]()
    starts: dict[int, Start] = {}  # first wheel by the id of the rotor's joint
    shafts: list[Node] = []
    for d in rotors:
        r, axis = model.rotors[d.index], d.base.rotation @ d.axis
        start = Start(r.carrier_id, d.base.translation + d.shift * axis, axis, d.radius, d.width)
        if r.joint_id is not None:
            starts[r.joint_id] = start
            continue
        if r.source.placement is None:
            continue  # The position of the rotor is unknown, so no belt is drawn.
        path = _chain(model, start.body, [joint_in_v(model.tree, iv) for iv, _ in r.drivers])
        shafts += _named(f"belts/{name_of_node(r.name)}", _spans(skeleton, start, path))
    for c in model.constraints:
        if isinstance(c, Belt):
            drawn_nodes += _belt(skeleton, c, starts)
        elif isinstance(c, Gear):
            drawn_nodes += _gear(skeleton, c, starts)
    drawn_nodes += shafts
    for i, closure in enumerate(model.closures):
        if isinstance(closure, JointClosure):
            drawn_nodes += _ties(skeleton, i, closure, starts)
    return drawn_nodes


def _chain(model: ClusterModel, body: int, joints: Iterable[int]) -> list[int]:
    carried = (j for j in joints if body in model.tree.supports[j])
    return max((path_below(model.tree, body, j) for j in carried), key=len, default=[])


def _belt(skeleton: Skeleton, belt: Belt, starts: dict[int, Start]) -> list[Node]:
    tree = skeleton.model.tree
    first = moving_joint_id(tree, belt.predecessor, belt.label)
    last = moving_joint_id(tree, belt.successor, belt.label)
    nca = common_ancestor(tree, (first, last))
    before, after = path_below(tree, nca, first), path_below(tree, nca, last)
    if len(before) == 1 and before[0] in starts and after[-1] not in starts:
        before, after = after, before
    if len(after) == 1 and after[0] in starts:
        start = starts[after[0]]
    else:
        axis = joint_axis(tree.joints[after[0]])
        if axis is None:
            return []
        M, u = tree.jointPlacements[after[0]], skeleton.unit
        start = Start(nca, np.array(M.translation), M.rotation @ axis, 0.12 * u, 0.1 * u)
    return _named(f"belts/{name_of_node(belt.label)}", _spans(skeleton, start, before))


def _gear(skeleton: Skeleton, gear: Gear, starts: dict[int, Start]) -> list[Node]:
    """Return the wheel of the driven link, which meshes with the rotor; [] unless their axes are parallel and apart."""
    tree = skeleton.model.tree
    rotor, link = moving_joint_id(tree, gear.rotor, gear.label), moving_joint_id(tree, gear.link, gear.label)
    axis = joint_axis(tree.joints[link])
    start, M = starts.get(rotor), tree.jointPlacements[link]
    if start is None or axis is None or tree.parents[link] != start.body:
        return []
    away = start.point - M.translation
    offset = away - (away @ start.axis) * start.axis
    distance = float(np.linalg.norm(offset))
    if distance < 1.2 * start.radius or abs(start.axis @ (M.rotation @ axis)) < 0.98:
        return []
    wheel = meshes.gear(distance - 0.9 * start.radius, start.width, 28, palette.BASE, palette.STRUCTURE)
    center = M.rotation.T @ (start.axis * float(away @ start.axis))
    return [Rigid(f"belts/{name_of_node(gear.label)}", meshes.along(wheel, center, axis), link)]


def _spans(skeleton: Skeleton, start: Start, path: Sequence[int], tie: bool = False) -> list[tuple[int, Mesh]]:
    """Return body and mesh of each part of a transmission: bands between parallel axes, bars between other axes."""
    tree, u = skeleton.model.tree, skeleton.unit
    pieces: list[tuple[int, Mesh]] = []
    body, axis = start.body, start.axis
    first, last = min(0.6 * start.radius, 0.09 * u), 0.13 * u
    point = start.point + (0.0 if tie else 0.5 * start.width + 0.05 * u) * axis
    for j in path:
        M, joint_axis_there = tree.jointPlacements[j], joint_axis(tree.joints[j])
        if joint_axis_there is None:
            break
        turned_axis = M.rotation @ joint_axis_there
        level = float((point - M.translation) @ axis)
        target = M.translation + level * axis
        parallel = abs(axis @ turned_axis) > 0.98
        distance = float(np.linalg.norm(target - point))
        if tie or not parallel:
            goal = target if abs(level) < 0.5 * u else np.array(M.translation)
            if np.linalg.norm(goal - point) > 0.05 * u:
                color = palette.MARK if tie else palette.BELT
                pieces.append((body, meshes.capsule(point, goal, 0.022 * u, 0.022 * u, color)))
            target = goal
        elif distance > 0.18 * u:
            pieces.append((body, _band(point, target, axis, first, last, 0.07 * u)))
        elif abs(level) > 0.14 * u:
            pieces.append((body, meshes.capsule(point, M.translation, 0.04 * u, 0.04 * u, palette.BELT)))
        # Transform the point to the frame of the next body; the joint's axis is the same line in both frames.
        point = M.rotation.T @ (target - M.translation)
        axis = M.rotation.T @ axis if parallel or tie else joint_axis_there
        body, first = j, last
    return pieces


def _band(a: np.ndarray, b: np.ndarray, axis: np.ndarray, first: float, last: float, width: float) -> Mesh:
    span = b - a
    distance = float(np.linalg.norm(span))
    x = span / distance
    rotation = np.stack([x, np.cross(axis, x), axis], axis=1)
    belt = meshes.band(distance, first, last, width, palette.BELT)
    grey = palette.mixed(palette.BASE, palette.STRUCTURE, 0.5)
    wheels = [meshes.cylinder(r, -0.42 * width, 0.42 * width, grey) for r in (first, last)]
    return meshes.merged([belt, wheels[0], wheels[1].moved(np.array([distance, 0.0, 0.0]))]).moved(a, rotation)


def _ties(skeleton: Skeleton, i: int, closure: JointClosure, starts: dict[int, Start]) -> list[Node]:
    model, bars = skeleton.model, list[Node]()
    driven = [j for j in closure.joints if j not in starts]
    for j in closure.joints:
        if j in starts:
            spans = _spans(skeleton, starts[j], _chain(model, starts[j].body, driven), tie=True)
            name = f"closures/{i}_{name_of_node(closure.source.label)}/{name_of_node(model.tree.names[j])}"
            bars += _named(name, spans, closure=i)
    return bars


def _named(path: str, spans: Sequence[tuple[int, Mesh]], closure: int | None = None) -> list[Node]:
    return [Rigid(f"{path}/{k}", mesh, body, closure=closure) for k, (body, mesh) in enumerate(spans)]
