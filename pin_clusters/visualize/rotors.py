"""Draws rotors: computes their size and position in the drawing, and their angles."""

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .._support.trees import coordinate, joint_axis, joint_in_v
from ..model import ClusterModel, RotorElement
from . import meshes, palette
from .nodes import Node, Rigid, Spin
from .skeleton import Skeleton, facing

_DENSITY = 5000.0
"""Density of a rotor with unknown mass, [kg/m^3]; a value between aluminium and copper with magnets."""
_FLAT = 0.4
"""Width of a rotor with unknown mass, as a fraction of its radius."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The size and the position of a drawn rotor."""

    index: int  # index in ``model.rotors``
    base: pin.SE3  # placement of the rotor frame at angle 0 in the carrier's joint frame
    axis: np.ndarray  # unit axis in the rotor frame, shape (3,)
    radius: float  # [m]
    width: float  # [m]
    shift: float  # shift of the wheel along the axis, away from joints and other rotors, [m]
    path: str  # path in the scene


def drawn(skeleton: Skeleton) -> list[Drawn]:
    """Return size and position of each rotor that turns; put rotors with the same axis and position side by side."""
    wheels: list[Drawn] = []
    for k, r in enumerate(skeleton.model.rotors):
        if r.joint_id is not None and r.joint_id not in skeleton.rotor_joints:
            continue
        base = _base(skeleton.model, r)
        axis = base.rotation.T @ r.axis
        radius, width = _size(skeleton, r)
        neighbours = [
            d
            for d in wheels
            if skeleton.model.rotors[d.index].carrier_id == r.carrier_id
            and np.linalg.norm(base.translation - d.base.translation) < 0.6 * (width + d.width)
            and abs(r.axis @ (d.base.rotation @ d.axis)) > 0.99
        ]
        shift = _clear_of_joint(skeleton, r, base, width)
        if neighbours:
            shift = neighbours[0].shift + math.copysign(sum(1.5 * d.width for d in neighbours), neighbours[0].shift)
        wheels.append(Drawn(k, base, axis, radius, width, shift, f"rotors/{name_of_node(r.name)}"))
    return wheels


def _clear_of_joint(skeleton: Skeleton, r: RotorElement, base: pin.SE3, width: float) -> float:
    """Return how far to shift a wheel along its axis, [m], so that a joint on this axis does not hide the wheel."""
    tree = skeleton.model.tree
    for j in range(1, tree.njoints):
        if tree.parents[j] != r.carrier_id or j in skeleton.rotor_joints:
            continue
        axis = joint_axis(tree.joints[j])
        M = tree.jointPlacements[j]
        if axis is None or abs(r.axis @ (M.rotation @ axis)) < 0.98:
            continue
        away = base.translation - M.translation
        along = float(away @ r.axis)
        if np.linalg.norm(away - along * r.axis) < 0.05 * skeleton.unit and abs(along) < 0.16 * skeleton.unit:
            front = facing(skeleton)  # visible side of a planar robot
            side = -1.0 if front is not None and front @ (skeleton.poses[r.carrier_id].rotation @ r.axis) < 0.0 else 1.0
            return side * (0.17 * skeleton.unit + 0.5 * width) - along
    return 0.0


def name_of_node(name: str) -> str:
    return str(name).replace("/", "|") or "-"


def _base(model: ClusterModel, r: RotorElement) -> pin.SE3:
    """Return the rotor frame in the carrier's frame; draw a ``Rotor`` without placement on the joint that it drives."""
    source = r.source
    if source is None or source.placement is not None:
        return r.placement
    joint = joint_in_v(model.tree, r.drivers[0][0])
    if model.tree.parents[joint] != r.carrier_id:
        return r.placement
    return pin.SE3(r.placement.rotation, model.tree.jointPlacements[joint].translation)


def _size(skeleton: Skeleton, r: RotorElement) -> tuple[float, float]:
    """Return radius and width, [m], of the homogeneous disc with a rotor's inertia, clipped to visible sizes."""
    J, u = r.axial_inertia, skeleton.unit
    mass = float(r.inertia.mass) if r.inertia is not None else 0.0
    if mass > 0.0:
        radius = math.sqrt(2.0 * J / mass)
        transverse = 0.5 * (float(np.trace(r.inertia.inertia)) - J)  # type: ignore[union-attr]  # it has a mass
        width = math.sqrt(max(12.0 * transverse / mass - 3.0 * radius**2, 0.0))
    else:
        radius = (2.0 * J / (_DENSITY * math.pi * _FLAT)) ** 0.2
        width = _FLAT * radius
    radius = min(max(radius, 0.14 * u), 0.22 * u)
    return radius, min(max(width, 0.25 * radius), 0.45 * radius)


def nodes(skeleton: Skeleton, rotors: list[Drawn]) -> list[Node]:
    drawn_nodes: list[Node] = []
    for d in rotors:
        r = skeleton.model.rotors[d.index]
        joint = r.joint_id if r.joint_id is not None else joint_in_v(skeleton.model.tree, r.drivers[0][0])
        color = palette.mixed(palette.of_level(max(skeleton.levels[joint], 0)), "#000000", 0.12)
        wheel = meshes.gear(d.radius, d.width, 14, color, palette.MARK)
        wheel = meshes.along(wheel, d.shift * d.axis, d.axis)
        drawn_nodes += [Rigid(d.path, None, r.carrier_id, d.base), Spin(f"{d.path}/spin", wheel, d.index, d.axis)]
    return drawn_nodes


class Angles:
    """Computes the angles of the rotors along a motion; counts the turns of continuous joints from pose to pose."""

    def __init__(self, model: ClusterModel) -> None:
        self._tree = tree = model.tree
        self._joints = [j for j in range(1, tree.njoints) if tree.nvs[j] == 1]
        self._circle = np.array([tree.nqs[j] == 2 for j in self._joints], dtype=bool)
        column = {tree.idx_vs[j]: i for i, j in enumerate(self._joints)}
        self._ratios = np.zeros((len(model.rotors), len(column)))
        for k, r in enumerate(model.rotors):
            terms = ((tree.idx_vs[r.joint_id], 1.0),) if r.joint_id is not None else r.drivers
            for iv, ratio in terms:
                self._ratios[k, column[iv]] += ratio
        self._last: np.ndarray | None = None

    def __call__(self, q: np.ndarray) -> np.ndarray:
        x = np.array([coordinate(self._tree, j, q) for j in self._joints])
        if self._last is not None:
            x += 2.0 * math.pi * np.rint((self._last - x) / (2.0 * math.pi)) * self._circle
        self._last = x
        return self._ratios @ x
