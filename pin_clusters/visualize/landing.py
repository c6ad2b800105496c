"""Draws the ground, and the contact forces of the ground on a simulated robot."""

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
"""Duration over which impulses are averaged to obtain forces, [s], because an impact has an impulse but no force."""
NOTE = f"Ground forces are means over {1e3 * WINDOW:.0f} ms."
PATH = "forces/ground:"
_WIDE, _THICK = 4.0, 0.02


def plate(root: Any, ground: Ground | None, cloud: np.ndarray) -> None:
    """Draw the ground below the points ``cloud``, shape (n, 3), [m]; if ``ground`` is None, remove it."""
    root["ground"].delete()
    if ground is not None:
        size = float(np.linalg.norm(np.ptp(cloud, axis=0)))
        mesh = meshes.box(size * np.array([_WIDE, _WIDE, _THICK]), palette.GROUND)
        material = mg.MeshPhongMaterial(color=palette.number(palette.GROUND), shininess=0, specular=0)
        root["ground"].set_object(mg.TriangularMeshGeometry(mesh.vertices, mesh.faces), material)
        ground_pose = place(ground, cloud)
        # The plate is slightly below the lines of the grid.
        ground_pose.translation -= (0.5 * _THICK + 4e-3) * size * ground_pose.rotation[:, 2]
        root["ground"].set_transform(matrix(ground_pose, None))


def place(ground: Ground, cloud: np.ndarray) -> pin.SE3:
    """Return a frame on the ground below the centre of the points; its z axis is the normal of the ground."""
    R, middle = ground.axes.T, cloud.mean(axis=0)
    return pin.SE3(R, middle + (ground.height - R[:, 2] @ middle) * R[:, 2])


def touching_shapes(model: ClusterModel, touching: Any) -> pin.GeometryModel | None:
    """Return shapes that show the argument ``touching`` of ``pc.simulate``; contact points are drawn as balls."""
    if touching is None or isinstance(touching, pin.GeometryModel):
        return touching
    import coal

    shapes, points = pin.GeometryModel(), contact_points(model, touching)
    for i, (j, x) in enumerate(zip(points.joints.tolist(), points.places, strict=True)):
        size = float(np.linalg.norm(x))
        leg = pin.SE3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), x).matrix(), 0.5 * x)
        parts = [("ball", coal.Sphere(0.01), pin.SE3(np.eye(3), x)), ("leg", coal.Cylinder(0.004, size), leg)]
        for name, shape, place in parts[: 1 + (size > 0.0)]:
            drawn = pin.GeometryObject(f"{name} {i}", j, 0, place, shape)
            drawn.meshColor = np.array([0.3, 0.32, 0.36, 1.0])
            shapes.addGeometryObject(drawn)
    return shapes


def pushes(result: SimulationResult, time: np.ndarray, chosen: np.ndarray) -> list[list[Arrow]]:
    forces_of_bodies: list[list[Arrow]] = []
    if not np.array_equal(result.time, time):
        raise ShapeError("contacts.time differs from time. Pass the simulation result that contains this time and q.")
    low, high = (np.clip(time[chosen] + side * 0.5 * WINDOW, time[0], time[-1]) for side in (-1.0, 1.0))
    for b, name in enumerate(result.bodies):
        l, centres = result.contact_impulses[:-1, b], np.nan_to_num(result.contact_centres[:-1, b])
        size = np.linalg.norm(l, axis=1)[:, None]
        if size.any():  # l[k] is the impulse between samples k and k + 1.
            sums = np.vstack([np.zeros(7), np.cumsum(np.hstack([l, size, size * centres]), axis=0)])
            of = np.array([np.interp(high, time, x) - np.interp(low, time, x) for x in sums.T]).T
            pressed = of[:, 3:4] > 1e-9 * size.max()
            points = np.where(pressed, of[:, 4:] / np.where(pressed, of[:, 3:4], 1.0), centres[np.argmax(size > 0.0)])
            forces = np.where(pressed, of[:, :3] / (high - low)[:, None], 0.0)
            forces_of_bodies.append([Arrow(name_of_node(name), p, f, "") for p, f in zip(points, forces, strict=True)])
    return forces_of_bodies


def tracks(
    root: Any, unit: float, time: np.ndarray, forces_of_bodies: list[list[Arrow]], scale: float, color: str
) -> dict[str, Track]:
    moved = {PATH + pushed[0].name: Track() for pushed in forces_of_bodies}
    for (path, track), pushed in zip(moved.items(), forces_of_bodies, strict=True):
        root[path].set_object(*arrows.shape(unit, color))
        for t, a in zip(time, pushed, strict=True):
            track.add(t - time[0], *stretched(a.point, scale * a.force))
    return moved
