"""Contacts between shapes, computed by coal. Shapes that can touch a plane only at points or balls become points."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.hulls import hull
from ...errors import ArgumentTypeError, InertiaError, LoadError, SimulationError
from ...model import ClusterModel
from .plane import Ground, axes_of
from .points import NO_POINTS, ContactPoints

_CORNERS = 4
"""Maximum number of corners of a contact patch; additional corners would be redundant."""
_LEVEL = 1e-6
"""Corners whose heights differ by less than this [m] form one contact patch; at 1e-3, coal's default, boxes tilt."""
_CLOSE, _APART = 1e-5, 1e-4
"""Gap [m] below which coal's normals are inaccurate, and distance [m] by which one shape is then moved away."""
_EXACT = 1e-9
"""Tolerance of coal's distances; the default, 1e-6, causes errors of 0.03 mm at the points of round shapes."""


@dataclass
class ShapeContacts:
    """Contacts between shapes; the fields are described in ``Pairs``."""

    joints: np.ndarray
    places: np.ndarray
    axes: np.ndarray
    friction: np.ndarray
    gaps: np.ndarray
    keys: list[Hashable] = field(default_factory=list)


class Shapes:
    """Pairs of shapes whose contacts coal computes.

    Attributes:
        joints: Ids of the joints that carry the shapes.
        guards: Guard centres of the shapes, see ``Steps.__init__``; None if shapes can touch other shapes.
    """

    def __init__(
        self,
        model: ClusterModel,
        geometry: pin.GeometryModel,
        pairs: list[tuple[int, int]],
        mu: float,
        guards: ContactPoints | None,
    ) -> None:
        self._tree, self._mu, self.guards = model.own_tree, mu, guards
        self._geometry = geometry.copy()
        self._geometry.removeAllCollisionPairs()
        for shape_1, shape_2 in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(shape_1, shape_2))
        self._data = self._geometry.createData()
        for request, patches in zip(self._data.collisionRequests, self._data.contactPatchRequests, strict=True):
            request.num_max_contacts, request.gjk_tolerance = 64, _EXACT
            request.enable_contact = True  # otherwise, normals of penetrating shapes are NaN
            patches.setPatchTolerance(_LEVEL)
        self._reach, self._pairs, self._normals = -1.0, pairs, dict[int, np.ndarray]()
        objects = self._geometry.geometryObjects
        self._carriers = [(objects[shape_1].parentJoint, objects[shape_2].parentJoint) for shape_1, shape_2 in pairs]
        # For cylinders and cones, coal finds flat faces in only one of the two orders of a pair.
        self._lids = [bool({_kind(objects[i]) for i in pair} & {"Cylinder", "Cone"}) for pair in pairs]
        self._flat = [not {_kind(objects[i]), _kind(objects[j])} & {"Sphere", "Ellipsoid"} for i, j in pairs]
        self.joints = {j for pair in self._carriers for j in pair}

    def look(self, data: pin.Data, reach: float) -> ShapeContacts:
        """Compute the contacts within ``reach`` [m] at the joint placements of ``data``."""
        geometry, geometry_data = self._geometry, self._data
        if reach != self._reach:
            geometry_data.setSecurityMargins(geometry, np.full((geometry.ngeoms, geometry.ngeoms), reach), True, True)
            self._reach = reach
        pin.updateGeometryPlacements(self._tree, data, geometry, geometry_data)
        pin.computeCollisions(geometry, geometry_data, False)
        if any(self._flat):
            pin.computeContactPatches(geometry, geometry_data)
        joints, places, axes, gaps, keys = [], [], [], [], list[Hashable]()
        for k, result in enumerate(geometry_data.collisionResults):
            if not result.numContacts():
                continue
            contact = result.getContact(0)
            normal, gap = -contact.normal, contact.penetration_depth
            sure = abs(gap) > _CLOSE
            if sure and not self._lids[k]:
                points = _points(contact, geometry_data.contactPatchResults[k] if self._flat[k] else None)
            else:
                points, normal, gap = self._closely(k, normal if sure else self._normals.get(k))
            self._normals[k] = normal
            points = _few(points, normal)
            joint_1, joint_2 = self._carriers[k]
            for i, point in enumerate(points):
                joints.append((joint_1, joint_2))
                places.append(point)
                axes.append(axes_of(normal))
                gaps.append(gap)
                keys.append((k, i))
        n = len(keys)
        return ShapeContacts(
            np.array(joints, dtype=np.int64).reshape(n, 2),
            np.array(places).reshape(n, 3),
            np.array(axes).reshape(n, 3, 3),
            np.full(n, self._mu),
            np.array(gaps).reshape(n),
            keys,
        )

    def _closely(self, k: int, direction: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, float]:
        """Compute points, normal and gap of shapes that barely touch; the first shape is moved away for this query."""
        if direction is None or not len((contact := self._moved(k, direction))[0]):
            # Try all axes, and move along the direction that separates the shapes most.
            contact = max((self._moved(k, s * x) for x in np.eye(3) for s in (1.0, -1.0)), key=lambda f: f[2])
            contact = self._moved(k, contact[1])
        return contact

    def _moved(self, k: int, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Compute points, normal and gap; the first shape is moved along ``direction`` for this query."""
        import coal

        (shape_1, shape_2), geometry_data, request = self._pairs[k], self._data, self._data.collisionRequests[k]
        first, offset, best = self._geometry.geometryObjects[shape_1].geometry, _APART * direction, np.zeros((0, 3))
        a, M = geometry_data.oMg[shape_1], geometry_data.oMg[shape_2]
        moved = (first, coal.Transform3s(a.rotation, a.translation + offset))
        fixed = (self._geometry.geometryObjects[shape_2].geometry, coal.Transform3s(M.rotation, M.translation))
        normal, gap = direction, -np.inf
        for side, (x, y) in ((1.0, (moved, fixed)), (-1.0, (fixed, moved)))[: 1 + self._lids[k]]:
            result, patches = coal.CollisionResult(), coal.ContactPatchResult()
            coal.collide(*x, *y, request, result)
            if not result.numContacts() or not np.isfinite((contact := result.getContact(0)).normal).all():
                continue
            if self._flat[k]:
                coal.computeContactPatch(*x, *y, result, geometry_data.contactPatchRequests[k], patches)
            points = _points(contact, patches)
            if len(points) > len(best):
                best, normal = points, -side * contact.normal
                gap = contact.penetration_depth - float(offset @ normal)
        return best - 0.5 * offset, normal, gap


def _points(contact: Any, patches: Any) -> np.ndarray:
    if patches is not None and patches.numContactPatches():
        patch = patches.getContactPatch(0)
        if patch.size():
            return np.array([patch.getPoint(i) for i in range(patch.size())])
    return np.array([contact.pos])


def _few(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Select the corners of a polygon that are farthest in four perpendicular directions."""
    if len(points) <= _CORNERS:
        return points
    s, t, _ = axes_of(normal)
    far = [int(np.argmax(points @ direction)) for direction in (s + t, s - t, -s - t, t - s)]
    return np.asarray(points[sorted(set(far))])


def _kind(shape: Any) -> str:
    return type(shape.geometry).__name__


def touching_of(
    model: ClusterModel, geometry: pin.GeometryModel, ground: Ground | None, itself: bool
) -> tuple[ContactPoints, Shapes | None]:
    """Divide a geometry into points and balls that can touch the plane, and shapes whose contacts coal computes."""
    shapes = list(geometry.geometryObjects)
    for shape in shapes:
        if not 0 <= shape.parentJoint < model.njoints:
            raise SimulationError(
                f"simulate: shape {shape.name!r} belongs to joint {shape.parentJoint}, but model {model.name!r} has "
                f"joints up to {model.njoints - 1}. Build the geometry on model.tree."
            )
    moving = [i for i, shape in enumerate(shapes) if shape.parentJoint]
    if not moving:
        raise SimulationError(
            f"simulate: no shape of the geometry moves with model {model.name!r}. Pass points that can touch: "
            "touching=pc.contact_points(model, {...})."
        )
    fixed = [i for i, shape in enumerate(shapes) if not shape.parentJoint and not _is(shape, ground)]
    geometry, pairs = geometry.copy(), list[tuple[int, int]]()
    for i, convex in {i: _hull(shapes[i]) for i in (*moving, *fixed)}.items():
        if convex is not None:
            geometry.geometryObjects[i].geometry = convex
    # The first list is for guard centres of shapes whose contacts coal computes, the second list for contact points.
    point_parts: tuple[list[ContactPoints], list[ContactPoints]] = [NO_POINTS], [NO_POINTS]
    if ground is not None:
        plane = geometry.addGeometryObject(_plane(ground))
        for i in moving:
            x, radius, only_points = _corners(geometry.geometryObjects[i])
            placement, joint = shapes[i].placement, np.full(len(x), shapes[i].parentJoint)
            x = x @ placement.rotation.T + placement.translation
            point_parts[only_points].append(ContactPoints(joint, x, np.full(len(x), radius)))
            pairs += [] if only_points else [(i, plane)]
    shape_pairs = [(i, k) for i in moving for k in fixed]
    if itself:
        self_pairs = [(p.first, p.second) for p in geometry.collisionPairs]
        self_pairs = [(a, b) for a, b in self_pairs if shapes[a].parentJoint and shapes[b].parentJoint]
        if not self_pairs:
            raise SimulationError(
                "simulate: self_collisions=True, but the geometry has no pairs of the robot's own shapes. Call "
                "geometry.addCollisionPair(pin.CollisionPair(i, k)), or addAllCollisionPairs() and remove pairs of "
                "neighbours."
            )
        shape_pairs += self_pairs
    guards, points = map(_together, point_parts)
    mu = 0.8 if ground is None else ground.friction
    pairs += shape_pairs
    return points, Shapes(model, geometry, pairs, mu, None if shape_pairs else guards) if pairs else None


def _together(parts: list[ContactPoints]) -> ContactPoints:
    joints, places, radii = (np.concatenate([getattr(p, x) for p in parts]) for x in ("joints", "places", "radii"))
    return ContactPoints(joints, places, radii)


def _is(shape: Any, ground: Ground | None) -> bool:
    """Return whether a shape is the ground itself; some robot files contain the ground as a shape."""
    if ground is None or _kind(shape) not in ("Halfspace", "Plane"):
        return False
    placement, plane = shape.placement, shape.geometry
    n = placement.rotation @ plane.n
    return bool(np.allclose([*n, plane.d + n @ placement.translation], [*ground.normal, ground.height], atol=1e-9))


def _plane(ground: Ground) -> pin.GeometryObject:
    import coal

    return pin.GeometryObject(
        "the ground", 0, 0, pin.SE3.Identity(), coal.Halfspace(np.array(ground.normal), ground.height)
    )


def _hull(shape: Any) -> Any:
    if not hasattr(shape.geometry, "tri_indices"):
        return None
    try:
        return hull(np.asarray(shape.geometry.vertices()), f"simulate: shape {shape.name!r}")
    except (InertiaError, LoadError) as error:
        raise SimulationError(f"{error} Replace the shape by a box, a sphere or a capsule.") from None


def _corners(shape: Any) -> tuple[np.ndarray, float, bool]:
    """Return points in a shape's frame, a radius, and whether the shape touches a plane only at balls around them.

    If not, the points are guard centres (see ``Steps.__init__``), and coal computes the contacts.
    """
    g, kind = shape.geometry, _kind(shape)
    if kind == "Sphere":
        return np.zeros((1, 3)), float(g.radius), True
    if kind in ("Capsule", "Cylinder"):
        return np.array([[0.0, 0.0, s * g.halfLength] for s in (-1.0, 1.0)]), float(g.radius), kind == "Capsule"
    if kind == "Box":
        signs = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        return signs * g.halfSide, 0.0, True
    if kind.startswith("Convex"):
        return np.array([g.point(i) for i in range(g.num_points)]), 0.0, True
    if kind in ("Cone", "Ellipsoid"):
        radius = np.max(g.radii) if kind == "Ellipsoid" else np.hypot(g.radius, g.halfLength)
        return np.zeros((2, 3)), float(radius), False
    raise ArgumentTypeError(
        f"simulate: shape {shape.name!r} has the unsupported type {kind}. Use a sphere, box, capsule, cylinder, cone, "
        "ellipsoid, convex hull or mesh."
    )
