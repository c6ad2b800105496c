"""Points and balls, fixed to bodies, that can touch the ground."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import array, joint_names, numbers
from ...errors import ArgumentTypeError, ShapeError, SimulationError, UnknownNameError, did_you_mean, shown
from ...model import ClusterModel, check_model
from .plane import number


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points of a robot that can touch the ground; each point is the centre of a ball, whose radius may be 0.

    Attributes:
        joints: Id of the joint that carries each point, shape (n,).
        places: Positions in the frames of these joints, shape (n, 3), [m].
        radii: Radii of the balls, shape (n,), [m].
        names: Names of these joints; ``simulate`` checks that they match the model.

    Raises:
        SimulationError: A joint is the universe, a position is not finite, or a radius is negative or not finite.
        ShapeError: The shapes of the arrays are wrong or do not match.
        ArgumentTypeError: A type is wrong.

    Example:
        >>> import pin_clusters as pc
        >>> len(pc.ContactPoints(joints=[1, 1], places=[[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]], radii=[0.0, 0.0]))
        2
    """

    joints: np.ndarray
    places: np.ndarray
    radii: np.ndarray
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the arrays, and copy them so that later changes to the caller's arrays have no effect."""
        joints = array("ContactPoints: joints", self.joints)
        n, kind = len(joints), numbers("ContactPoints: joints", self.joints).dtype
        wrong = (joints < 1) | (joints > 2**31) | (kind.kind not in "iu")
        if wrong.any():
            i = int(np.argmax(wrong))
            raise (SimulationError if kind.kind in "iu" else ArgumentTypeError)(
                f"ContactPoints: joints[{i}] must be the id of a moving joint, an integer of at least 1, got "
                f"{joints[i]:g} ({kind}). "
                "Use model.getJointId(name), or pc.contact_points(model, {name: places}). Joint 0 is the world."
            )
        arrays: dict[str, np.ndarray] = {"joints": joints.astype(np.int64)}
        for name, shape in (("places", (n, 3)), ("radii", (n,))):
            x = np.array(numbers(f"ContactPoints: {name}", getattr(self, name)), dtype=np.float64)
            if x.shape != shape:
                raise ShapeError(f"ContactPoints: {name} has shape {x.shape}, expected {shape}: {n} joints are given.")
            wrong = ~np.isfinite(x) | ((x < 0.0) & (name == "radii"))
            if wrong.any():
                i = int(np.argwhere(wrong)[0, 0])
                requirement = "finite and not negative" if name == "radii" else "finite"
                raise SimulationError(f"ContactPoints: {name}[{i}] must be {requirement} [m], got {x[i].tolist()}.")
            arrays[name] = x
        names = joint_names("ContactPoints: names", self.names)
        if len(names) not in (0, n):
            raise ShapeError(
                f"ContactPoints: {len(names)} names are given for {n} joints. Pass one name per joint, or no names."
            )
        for name, value in (arrays | {"names": names}).items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.joints)


def corners(points: ContactPoints) -> ContactPoints:
    """Return only points that can touch a plane: for each body, the vertices of the convex hull of its points."""
    from scipy.spatial import ConvexHull

    corner_indices = []
    for j, radius in sorted(set(zip(points.joints.tolist(), points.radii.tolist(), strict=True))):
        idx = np.flatnonzero((points.joints == j) & (points.radii == radius))
        x = points.places[idx] - points.places[idx].mean(axis=0)
        _, size, axes = np.linalg.svd(x, full_matrices=False)
        rank = int(np.count_nonzero(size > 1e-9 * max(1e-3, size[0])))
        along = x @ axes[:rank].T
        if rank > 1 and len(idx) > rank + 1:
            idx = idx[ConvexHull(along).vertices]
        elif rank < 2:
            idx = idx[list({int(along.sum(axis=1).argmin()), int(along.sum(axis=1).argmax())})]
        corner_indices.append(idx)
    idx = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *corner_indices]))
    return ContactPoints(
        points.joints[idx], points.places[idx], points.radii[idx], tuple(points.names[i] for i in idx if points.names)
    )


NO_POINTS = ContactPoints(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0))


def contact_points(model: ClusterModel, points: Any, radius: float = 0.0) -> ContactPoints:
    """Collect points of a robot that can touch the ground.

    Args:
        model: Cluster model.
        points: Names of frames whose origins can touch the ground; or a dict that maps the name of a frame or joint to
            one point, shape (3,), or to several points, shape (k, 3), in this frame, [m].
        radius: Radius of the ball around each point, [m].

    Returns:
        The points.

    Raises:
        UnknownNameError: The model has no joint or frame with this name.
        ShapeError: A point does not have three coordinates.
        SimulationError: A value is not finite, the radius is negative, or a point is fixed to the universe.
        ArgumentTypeError: A type is wrong.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> len(pc.contact_points(model, ["left_toe", "left_heel"]))
        2
        >>> len(pc.contact_points(model, {"right_ankle": [[0.1, 0.0, -0.041], [-0.05, 0.0, -0.041]]}, radius=0.01))
        2
    """
    check_model(model, "contact_points")
    radius = number("contact_points: radius", radius)
    if radius < 0.0:
        raise SimulationError(f"contact_points: radius = {radius:g} m is negative.")
    if isinstance(points, str):
        points = [points]
    if not isinstance(points, Iterable):
        raise ArgumentTypeError(
            "contact_points: points must be names of frames, or a dict from names of joints or frames to points, got "
            f"{type(points).__name__}."
        )
    # Entries become dict keys, so _frame must first raise an error for entries that are not names.
    by_name = points if isinstance(points, Mapping) else {n: (0.0, 0.0, 0.0) for n in points if _frame(model, n)}
    joints, places = [], [np.zeros((0, 3))]
    for name, places_there in by_name.items():
        joint, placement = _frame(model, name)
        x = np.asarray(numbers(f"contact_points: {name!r}", places_there), dtype=np.float64)
        if x.ndim not in (1, 2) or x.shape[-1] != 3:
            raise ShapeError(
                f"contact_points: {name!r} has shape {x.shape}, expected (3,) for one point, or (k, 3) for several."
            )
        if not np.isfinite(x).all():
            raise SimulationError(f"contact_points: a point of {name!r} is not finite: {x.tolist()}.")
        if joint == 0:
            raise SimulationError(f"contact_points: {name!r} is fixed to the world, so it can never touch the ground.")
        points_of_joint = x.reshape(-1, 3) @ placement.rotation.T + placement.translation
        places.append(points_of_joint)
        joints += [joint] * len(points_of_joint)
    names = tuple(model.names[j] for j in joints)
    return ContactPoints(np.array(joints, dtype=np.int64), np.concatenate(places), np.full(len(joints), radius), names)


def _frame(model: ClusterModel, name: Any) -> tuple[int, pin.SE3]:
    tree = model.own_tree
    if not isinstance(name, str):
        raise ArgumentTypeError(f"contact_points: names of frames or joints are expected, got {shown(name)}.")
    if tree.existJointName(name):
        return tree.getJointId(name), pin.SE3.Identity()
    if not tree.existFrame(name):
        names = [*tree.names[1:], *(f.name for f in tree.frames)]
        raise UnknownNameError(
            f"contact_points: model {model.name!r} has no frame or joint {name!r}.{did_you_mean(name, names)}"
        )
    frame = tree.frames[tree.getFrameId(name)]
    return frame.parentJoint, frame.placement
