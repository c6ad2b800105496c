"""Points of bodies by joint and place: where they are, how they move, what forces at them do. All from one pass."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from ..._support.arrays import ArrayLike, numbers, plain
from ...errors import ArgumentTypeError, ShapeError
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared.points import points_of

_documented = _check.documented(solves=False)


class PointResponse(NamedTuple):
    """What n points of a robot do, with the rows J of their velocities along the axes of the world.

    Attributes:
        positions: In the world, shape (n, 3), [m].
        velocities: J v, shape (3 n,), [m/s].
        response: M^-1 J', shape (nv, 3 n): change of the independent velocities per impulse, [1/kg] for those in m.
        gram: J M^-1 J', shape (3 n, 3 n), symmetric, [1/kg].
    """

    positions: np.ndarray
    velocities: np.ndarray
    response: np.ndarray
    gram: np.ndarray


@_documented
def point_response(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, joints: Iterable[str | int], places: Any
) -> PointResponse:
    """Compute positions and velocities of points, and how forces at them accelerate the robot and each other.

    The forces are propagated to the base and their accelerations back, all at once; rotors and closed loops are exact.
    Of points elsewhere on the same joints nothing is made anew.

    Args:
        joints: Names or ids of joints, one per point; one may have several.
        places: Of the points in the frames of these joints, shape (n, 3), [m].

    Returns:
        ``PointResponse``; fresh arrays.

    Raises:
        UnknownNameError: There is no such joint.
        ShapeError: ``places`` is not of shape (n, 3).
        ArgumentTypeError: A type is wrong, or a place is not finite.
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> soles = [(0.1, 0.03, -0.041), (0.1, -0.03, -0.041), (-0.05, 0.0, -0.041)]
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> found = pc.point_response(model, data, q, v, ["left_ankle"] * 3, soles)
        >>> found.response.shape, found.gram.shape, found.velocities.shape
        ((24, 9), (9, 9), (9,))
    """
    q, v = _check.state(model, data, q, v)
    ids = joint_ids(model, joints)
    points = points_of(model, data, ids)
    points.put(places_of(model, ids, places))
    gram, response, positions, velocities = results = tuple(np.empty_like(x) for x in points.arguments[3:])
    points.run(model, data, q, v, results)
    return PointResponse(positions, velocities, response, gram)


def joint_ids(model: ClusterModel, joints: Any) -> tuple[int, ...]:
    """Return the ids of joints given by names or ids."""
    if isinstance(joints, (str, bytes, Mapping, Set)) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"joints must be a list of names or ids, one per point, got {joints!r}.")
    return tuple(model.getJointId(j) if isinstance(j, str) else _ids.joint(model, j) for j in joints)


def places_of(model: ClusterModel, joints: tuple[int, ...], places: Any) -> np.ndarray:
    """Return places of points, shape (n, 3)."""
    given = numbers("places", places)
    if given.size == 0 and not joints:
        return np.zeros((0, 3))
    if given.shape != (len(joints), 3):
        raise ShapeError(f"places has shape {given.shape}, expected ({len(joints)}, 3): a place per joint of `joints`.")
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
    if bad.size:
        i, name = int(bad[0]), model.own_tree.names[joints[int(bad[0])]]
        raise ArgumentTypeError(f"places[{i}], on joint {name!r}, is {given[i]}: it must be finite.")
    return plain(given)
