"""Convex hulls of points."""

from typing import Any

import numpy as np

from ..errors import InertiaError, LoadError

MAX_POINTS = 2**18  # the convex hull of this many points takes 10 s
LARGEST = 1e30
"""Largest valid magnitude of a coordinate, [m]."""
MOST_NEIGHBOURS = 255
"""Largest number of triangles at a vertex of a hull, because coal stores this number in a byte."""
Soup = tuple[np.ndarray, np.ndarray]
"""Vertices, shape (n, 3), and triangles as vertex indices, shape (m, 3)."""


def hull_of(vertices: np.ndarray, what: str) -> Soup:
    """Compute the convex hull of points; return all distinct points and the triangles, whose normals point outwards."""
    from scipy.spatial import ConvexHull, QhullError

    vertices = np.unique(vertices, axis=0)
    if len(vertices) > MAX_POINTS:
        raise LoadError(f"{what}: it has {len(vertices)} points; the maximum for a convex hull is {MAX_POINTS}.")
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        raise InertiaError(f"{what}: its points lie in a plane, so its convex hull has no volume.") from None
    faces = hull.simplices.copy()
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def hull(points: np.ndarray, what: str) -> Any:
    """Return the convex hull of points, shape (n, 3), as a coal shape; coal's own hull crashes for planar points."""
    if not (np.abs(points) <= LARGEST).all():  # also catches NaN, which binary files can contain
        raise LoadError(f"{what}: its vertices must have finite coordinates up to {LARGEST:g} m.")
    import coal  # collision library of Pinocchio

    vertices, triangles = hull_of(points, what)
    corners, triangles = np.unique(triangles, return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    if np.bincount(triangles.ravel()).max() > MOST_NEIGHBOURS:
        raise LoadError(f"{what}: more than {MOST_NEIGHBOURS} triangles of its hull share a vertex. Simplify the mesh.")
    corner_points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in vertices[corners]:
        corner_points.append(point)
    for face in triangles.tolist():
        faces.append(coal.Triangle(*face))
    return coal.Convex(corner_points, faces)
