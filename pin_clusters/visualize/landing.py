"""A ground, and the forces with which it pushes what a simulation dropped on it."""

from typing import Any

import meshcat.geometry as mg
import numpy as np
import pinocchio as pin

from ..errors import ShapeError
from ..model import ClusterModel
from ..simulation import Ground, SimulationResult, contact_points
from . import arrows, meshes, palette
from .arrows import Arrow
from .keyframes import Track
from .nodes import matrix, stretched
from .rotors import name_of_node

WINDOW = 1.0 / 30.0
"""[s]: forces are means over it: an impact has none, only an impulse."""
NOTE = f"Forces of the ground are means over {1e3 * WINDOW:.0f} ms."
PATH = "forces/ground:"
_WIDE, _THICK = 4.0, 0.02


def plate(root: Any, ground: Ground | None, cloud: np.ndarray) -> None:
    """Draw the ground below what is seen, shape (n, 3); without one take it away."""
    root["ground"].delete()
    if ground is not None:
        size = float(np.linalg.norm(np.ptp(cloud, axis=0)))
        mesh = meshes.box(size * np.array([_WIDE, _WIDE, _THICK]), palette.GROUND)
        material = mg.MeshPhongMaterial(color=palette.number(palette.GROUND), shininess=0, specular=0)
        root["ground"].set_object(mg.TriangularMeshGeometry(mesh.vertices, mesh.faces), material)
        at = place(ground, cloud)
        at.translation -= (0.5 * _THICK + 4e-3) * size * at.rotation[:, 2]  # below the lines of the grid
        root["ground"].set_transform(matrix(at, None))


def place(ground: Ground, cloud: np.ndarray) -> pin.SE3:
    """Return a frame on the ground, below the middle of points; its z is the normal."""
    R, middle = ground.axes.T, cloud.mean(axis=0)
    return pin.SE3(R, middle + (ground.height - R[:, 2] @ middle) * R[:, 2])


def touching_shapes(model: ClusterModel, touching: Any) -> pin.GeometryModel | None:
    """Return shapes of what may touch the ground: the robot's, or balls at points, on legs of their own.

    ``touching`` is the argument of ``pc.simulate``; of None there are no shapes.
    """
    if touching is None or isinstance(touching, pin.GeometryModel):
        return touching
    import coal

    found, at = pin.GeometryModel(), contact_points(model, touching)
    for i, (j, x) in enumerate(zip(at.joints.tolist(), at.places, strict=True)):
        size = float(np.linalg.norm(x))
        leg = pin.SE3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), x).matrix(), 0.5 * x)
        parts = [("ball", coal.Sphere(0.01), pin.SE3(np.eye(3), x)), ("leg", coal.Cylinder(0.004, size), leg)]
        for name, shape, place in parts[: 1 + (size > 0.0)]:
            drawn = pin.GeometryObject(f"{name} {i}", j, 0, place, shape)
            drawn.meshColor = np.array([0.3, 0.32, 0.36, 1.0])
            found.addGeometryObject(drawn)
    return found


def pushes(result: SimulationResult, time: np.ndarray, chosen: np.ndarray) -> list[list[Arrow]]:
    """Return the forces on each body that is pushed at all, at the samples that are key frames."""
    found: list[list[Arrow]] = []
    if not np.array_equal(result.time, time):
        raise ShapeError("contacts must be of the simulation whose time and q are shown.")
    low, high = (np.clip(time[chosen] + side * 0.5 * WINDOW, time[0], time[-1]) for side in (-1.0, 1.0))
    for b, name in enumerate(result.bodies):
        l, at = result.contact_impulses[:-1, b], np.nan_to_num(result.contact_centres[:-1, b])
        size = np.linalg.norm(l, axis=1)[:, None]
        if size.any():  # an impulse is that of the time until the next sample
            sums = np.vstack([np.zeros(7), np.cumsum(np.hstack([l, size, size * at]), axis=0)])
            of = np.array([np.interp(high, time, x) - np.interp(low, time, x) for x in sums.T]).T
            pressed = of[:, 3:4] > 1e-9 * size.max()
            points = np.where(pressed, of[:, 4:] / np.where(pressed, of[:, 3:4], 1.0), at[np.argmax(size > 0.0)])
            forces = np.where(pressed, of[:, :3] / (high - low)[:, None], 0.0)
            found.append([Arrow(name_of_node(name), p, f, "") for p, f in zip(points, forces, strict=True)])
    return found


def tracks(
    root: Any, unit: float, time: np.ndarray, found: list[list[Arrow]], scale: float, color: str
) -> dict[str, Track]:
    """Draw arrows, and return their tracks; each list has one for each time."""
    moved = {PATH + pushed[0].name: Track() for pushed in found}
    for (path, track), pushed in zip(moved.items(), found, strict=True):
        root[path].set_object(*arrows.shape(unit, color))
        for t, a in zip(time, pushed, strict=True):
            track.add(t - time[0], *stretched(a.point, scale * a.force))
    return moved
