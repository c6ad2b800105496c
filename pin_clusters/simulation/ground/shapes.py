"""Shapes that may touch: coal says where. What touches a plane only at points or balls becomes such."""

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
from .points import NOTHING, ContactPoints

_CORNERS = 4
"""Of a face that lies on another are enough: more say the same again."""
_LEVEL = 1e-6
"""[m]: corners whose heights above the other face differ by less are pushed together; coal's 1e-3 lets boxes lean."""
_CLOSE, _APART = 1e-5, 1e-4
"""[m]: of shapes that are closer coal's normals are poor, so it looks at them with one so far moved off."""
_EXACT = 1e-9
"""Tolerance of coal's distances; its 1e-6 puts points of round shapes off by 0.03 mm."""


@dataclass
class Found:
    """Contacts between shapes, as in ``Near``."""

    joints: np.ndarray
    places: np.ndarray
    axes: np.ndarray
    friction: np.ndarray
    gaps: np.ndarray
    keys: list[Hashable] = field(default_factory=list)


class Shapes:
    """Pairs of shapes that coal looks at.

    Attributes:
        joints: Ids of the joints that carry them.
        guards: Where they can meet the ground, as of ``Steps``; None if they meet other things.
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
        for one, two in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(one, two))
        self._data = self._geometry.createData()
        for request, patches in zip(self._data.collisionRequests, self._data.contactPatchRequests, strict=True):
            request.num_max_contacts, request.gjk_tolerance = 64, _EXACT
            request.enable_contact = True  # without, all that is inside of something has NaN for its normal
            patches.setPatchTolerance(_LEVEL)
        self._reach, self._pairs, self._normals = -1.0, pairs, dict[int, np.ndarray]()
        objects = self._geometry.geometryObjects
        self._carriers = [(objects[one].parentJoint, objects[two].parentJoint) for one, two in pairs]
        # coal finds their faces only in one of both orders
        self._lids = [bool({_kind(objects[i]) for i in pair} & {"Cylinder", "Cone"}) for pair in pairs]
        self._flat = [not {_kind(objects[one]), _kind(objects[two])} & {"Sphere", "Ellipsoid"} for one, two in pairs]
        self.joints = {j for pair in self._carriers for j in pair}

    def look(self, data: pin.Data, reach: float) -> Found:
        """Return the contacts at the placements of the joints in the data, of what is nearer than that, [m]."""
        geometry, own = self._geometry, self._data
        if reach != self._reach:
            own.setSecurityMargins(geometry, np.full((geometry.ngeoms, geometry.ngeoms), reach), True, True)
            self._reach = reach
        pin.updateGeometryPlacements(self._tree, data, geometry, own)
        pin.computeCollisions(geometry, own, False)
        if any(self._flat):
            pin.computeContactPatches(geometry, own)
        joints, places, axes, gaps, keys = [], [], [], [], list[Hashable]()
        for k, result in enumerate(own.collisionResults):
            if not result.numContacts():
                continue
            contact = result.getContact(0)
            normal, gap = -contact.normal, contact.penetration_depth
            sure = abs(gap) > _CLOSE
            if sure and not self._lids[k]:
                points = _points(contact, own.contactPatchResults[k] if self._flat[k] else None)
            else:
                points, normal, gap = self._closely(k, normal if sure else self._normals.get(k))
            self._normals[k] = normal
            points = _few(points, normal)
            one, two = self._carriers[k]
            for i, point in enumerate(points):
                joints.append((one, two))
                places.append(point)
                axes.append(axes_of(normal))
                gaps.append(gap)
                keys.append((k, i))
        n = len(keys)
        return Found(
            np.array(joints, dtype=np.int64).reshape(n, 2),
            np.array(places).reshape(n, 3),
            np.array(axes).reshape(n, 3, 3),
            np.full(n, self._mu),
            np.array(gaps).reshape(n),
            keys,
        )

    def _closely(self, k: int, way: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, float]:
        """Return points, normal and gap of shapes that just touch: looked at with the first one moved off."""
        if way is None or not len((found := self._moved(k, way))[0]):
            # on which way do they come free at once?
            found = max((self._moved(k, s * x) for x in np.eye(3) for s in (1.0, -1.0)), key=lambda f: f[2])
            found = self._moved(k, found[1])
        return found

    def _moved(self, k: int, way: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return points, normal and gap, from a look with the first shape moved along a way."""
        import coal

        (one, two), own, request = self._pairs[k], self._data, self._data.collisionRequests[k]
        first, off, best = self._geometry.geometryObjects[one].geometry, _APART * way, np.zeros((0, 3))
        a, M = own.oMg[one], own.oMg[two]
        here = (first, coal.Transform3s(a.rotation, a.translation + off))
        there = (self._geometry.geometryObjects[two].geometry, coal.Transform3s(M.rotation, M.translation))
        normal, gap = way, -np.inf
        for side, (x, y) in ((1.0, (here, there)), (-1.0, (there, here)))[: 1 + self._lids[k]]:
            result, patches = coal.CollisionResult(), coal.ContactPatchResult()
            coal.collide(*x, *y, request, result)
            if not result.numContacts() or not np.isfinite((contact := result.getContact(0)).normal).all():
                continue
            if self._flat[k]:
                coal.computeContactPatch(*x, *y, result, own.contactPatchRequests[k], patches)
            found = _points(contact, patches)
            if len(found) > len(best):
                best, normal = found, -side * contact.normal
                gap = contact.penetration_depth - float(off @ normal)
        return best - 0.5 * off, normal, gap


def _points(contact: Any, patches: Any) -> np.ndarray:
    """Return the corners of a patch, or the point of the contact."""
    if patches is not None and patches.numContactPatches():
        patch = patches.getContactPatch(0)
        if patch.size():
            return np.array([patch.getPoint(i) for i in range(patch.size())])
    return np.array([contact.pos])


def _few(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the corners of a polygon that are farthest along four directions."""
    if len(points) <= _CORNERS:
        return points
    s, t, _ = axes_of(normal)
    far = [int(np.argmax(points @ way)) for way in (s + t, s - t, -s - t, t - s)]
    return np.asarray(points[sorted(set(far))])


def _kind(shape: Any) -> str:
    return type(shape.geometry).__name__


def touching_of(
    model: ClusterModel, geometry: pin.GeometryModel, ground: Ground | None, itself: bool
) -> tuple[ContactPoints, Shapes | None]:
    """Return what of a geometry touches the plane as points and balls, and what coal has to look at.

    Raises:
        SimulationError: It has no shapes on moving joints; one has no volume; no pair of the robot's own shapes.
        ArgumentTypeError: A shape is of no use.
    """
    shapes = list(geometry.geometryObjects)
    for shape in shapes:
        if not 0 <= shape.parentJoint < model.njoints:
            raise SimulationError(
                f"simulate: shape {shape.name!r} hangs on joint {shape.parentJoint}, but model {model.name!r} has "
                f"joints up to {model.njoints - 1}. Build the geometry on model.tree."
            )
    moving = [i for i, shape in enumerate(shapes) if shape.parentJoint]
    if not moving:
        raise SimulationError(
            f"simulate: no shape of the geometry moves with model {model.name!r}. Name points that touch: touching="
            "pc.contact_points(model, {...})."
        )
    fixed = [i for i, shape in enumerate(shapes) if not shape.parentJoint and not _is(shape, ground)]
    geometry, pairs = geometry.copy(), list[tuple[int, int]]()
    for i, convex in {i: _hull(shapes[i]) for i in (*moving, *fixed)}.items():
        if convex is not None:
            geometry.geometryObjects[i].geometry = convex
    found: tuple[list[ContactPoints], list[ContactPoints]] = [NOTHING], [NOTHING]  # what coal looks at; what not
    if ground is not None:
        plane = geometry.addGeometryObject(_plane(ground))
        for i in moving:
            x, radius, alone = _corners(geometry.geometryObjects[i])
            at, joint = shapes[i].placement, np.full(len(x), shapes[i].parentJoint)
            x = x @ at.rotation.T + at.translation
            found[alone].append(ContactPoints(joint, x, np.full(len(x), radius)))
            pairs += [] if alone else [(i, plane)]
    others = [(i, k) for i in moving for k in fixed]
    if itself:
        own = [(p.first, p.second) for p in geometry.collisionPairs]
        own = [(a, b) for a, b in own if shapes[a].parentJoint and shapes[b].parentJoint]
        if not own:
            raise SimulationError(
                "simulate: self_collisions=True, but the geometry has no pairs of the robot's own shapes. Add them: "
                "geometry.addCollisionPair(pin.CollisionPair(i, k)), or addAllCollisionPairs() and remove neighbours."
            )
        others += own
    guards, points = map(_together, found)
    mu = 0.8 if ground is None else ground.friction
    pairs += others
    return points, Shapes(model, geometry, pairs, mu, None if others else guards) if pairs else None


def _together(parts: list[ContactPoints]) -> ContactPoints:
    joints, places, radii = (np.concatenate([getattr(p, x) for p in parts]) for x in ("joints", "places", "radii"))
    return ContactPoints(joints, places, radii)


def _is(shape: Any, ground: Ground | None) -> bool:
    """Whether a shape is the ground once more, as files bring one."""
    if ground is None or _kind(shape) not in ("Halfspace", "Plane"):
        return False
    at, plane = shape.placement, shape.geometry
    n = at.rotation @ plane.n
    return bool(np.allclose([*n, plane.d + n @ at.translation], [*ground.normal, ground.height], atol=1e-9))


def _plane(ground: Ground) -> pin.GeometryObject:
    import coal

    return pin.GeometryObject(
        "the ground", 0, 0, pin.SE3.Identity(), coal.Halfspace(np.array(ground.normal), ground.height)
    )


def _hull(shape: Any) -> Any:
    """Return the convex hull of a mesh, None if it is no mesh."""
    if not hasattr(shape.geometry, "tri_indices"):
        return None
    try:
        return hull(np.asarray(shape.geometry.vertices()), f"simulate: shape {shape.name!r}")
    except (InertiaError, LoadError) as error:
        raise SimulationError(f"{error} Give it as a box, a sphere or a capsule.") from None


def _corners(shape: Any) -> tuple[np.ndarray, float, bool]:
    """Return the points of a shape that can touch a plane, in its axes, their radius, and whether these are all of it.

    If not, coal has to look where they are near: two centres of discs, or of one ball.
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
        f"simulate: shape {shape.name!r} is a {kind}; spheres, boxes, capsules, cylinders, cones, ellipsoids, convex "
        "hulls and meshes can touch."
    )
