"""Positions, velocities and force responses of points on bodies."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from ..._support.arrays import ArrayLike, numbers, plain
from ...errors import ArgumentTypeError, ShapeError
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared.points import points_of

_documented = _check.documented(_check.SINGULAR)


class PointResponse(NamedTuple):
    """Motion and force response of n points. J is their Jacobian: the point velocities in world axes are J v.

    Attributes:
        positions: Positions in the world, shape (n, 3), [m].
        velocities: Velocities J v, shape (3 n,), [m/s].
        response: M^-1 J', shape (nv, 3 n): change of the independent velocities per unit impulse, [1/kg] or [1/(kg m)].
        gram: J M^-1 J', shape (3 n, 3 n), symmetric, [1/kg].
    """

    positions: np.ndarray
    velocities: np.ndarray
    response: np.ndarray
    gram: np.ndarray


@_documented
def point_response(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, joints: Iterable[str | int], places: ArrayLike
) -> PointResponse:
    """Compute positions and velocities of points, and the accelerations due to unit forces at these points.

    The results include rotors and closed loops. Repeated calls for points on the same joints are faster.

    Args:
        joints: Names or ids of the joints that move the points, one per point.
        places: Positions of the points in the frames of these joints, shape (n, 3), [m].

    Returns:
        Positions, velocities and responses, in the units of ``PointResponse``; new arrays.

    Raises:
        UnknownNameError: The model has no such joint.
        ShapeError: ``places`` does not have shape (n, 3).
        ArgumentTypeError: An argument has a wrong type, or a position is not finite.

    References:
        docs/algorithms.md, (O1) to (O5), with point forces.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> soles = [(0.1, 0.03, -0.041), (0.1, -0.03, -0.041), (-0.05, 0.0, -0.041)]
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> points = pc.point_response(model, data, q, v, ["left_ankle"] * 3, soles)
        >>> points.response.shape, points.gram.shape, points.velocities.shape
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
    if isinstance(joints, (str, bytes, Mapping, Set)) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"joints must be a list of names or ids, one per point, got {joints!r}.")
    return tuple(model.getJointId(j) if isinstance(j, str) else _ids.joint(model, j) for j in joints)


def places_of(model: ClusterModel, joints: tuple[int, ...], places: Any) -> np.ndarray:
    positions = numbers("places", places)
    if positions.size == 0 and not joints:
        return np.zeros((0, 3))
    if positions.shape != (len(joints), 3):
        raise ShapeError(f"places has shape {positions.shape}, expected ({len(joints)}, 3): one position per joint.")
    bad = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if bad.size:
        i, name = int(bad[0]), model.own_tree.names[joints[int(bad[0])]]
        raise ArgumentTypeError(f"places[{i}] on joint {name!r} must be finite, got {positions[i]}.")
    return plain(positions)
