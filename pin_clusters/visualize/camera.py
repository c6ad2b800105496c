"""Sets the ground, the lights and the camera according to the size of the robot."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from .skeleton import Skeleton, facing

CAMERA = "/Cameras/default/rotated/<object>"
FIELD = 35.0
"""Vertical field of view, [deg]; meshcat's default of 75 degrees distorts near objects."""
NEAR, FAR = 1e-3, 1e2
"""Clipping distances, divided by the camera's distance from the robot; meshcat's default far plane is at 100 m."""
PLAYER = 56
"""Height of the bar with the play button, [pixels]; the robot is shown above this bar."""


def spacing(size: float) -> float:
    rough = size / 8.0
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda f: abs(math.log(f * power / rough)))


def set_scene(viewer: Any, cloud: np.ndarray, ground: pin.SE3 | None = None) -> None:
    """Set a white background, lights and a grid, which is on the ground or below the robot; hide the axes."""
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    size = max(float(np.linalg.norm(high - low)), 1e-6)
    center = 0.5 * (low + high)
    step = spacing(size)
    ground_pose = pin.SE3(np.eye(3), np.array([*center[:2], low[2]])) if ground is None else ground
    grid = ground_pose.homogeneous
    grid[:3, :3] *= step / 0.5  # The lines of meshcat's grid are half a metre apart.
    ground_point = ground_pose.rotation.T @ ground_pose.translation
    grid[:3, 3] = ground_pose.rotation @ [*np.round(ground_point[:2] / step) * step, ground_point[2] - 0.002 * size]
    viewer["/Grid"].set_transform(grid)
    viewer["/Grid/<object>"].set_property("color", [1.0, 1.0, 1.0, 0.4])
    viewer["/Axes"].set_property("visible", False)
    viewer["/Background"].set_property("top_color", [0.93, 0.95, 0.98])
    viewer["/Background"].set_property("bottom_color", [1.0, 1.0, 1.0])
    for name, side in (("PointLightNegativeX", 1.0), ("PointLightPositiveX", -1.0)):
        light = viewer[f"/Lights/{name}/<object>"]
        ground_pose = center + 1.5 * size * np.array([0.8 * side, 0.8 * side, 1.3])
        light.set_property("position", ground_pose.tolist())
        light.set_property("distance", 0.0)  # The intensity does not decrease with distance.
        light.set_property("intensity", 0.32)
    viewer["/Lights/AmbientLight/<object>"].set_property("intensity", 0.55)
    viewer["/Lights/FillLight/<object>"].set_property("intensity", 0.22)


def view(skeleton: Skeleton, cloud: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the target and the camera's offset from it, in the world, [m]; planar robots are seen along joint axes."""
    axis = facing(skeleton)
    if axis is None:
        direction = np.array([0.8, 0.6, 0.42])
    elif axis[2] > 0.9:  # For a horizontal plane, view from above; in-plane gravity points downwards in the view.
        gravity = np.array(skeleton.model.tree.gravity.linear)[:2]
        down = gravity / np.linalg.norm(gravity) if np.linalg.norm(gravity) > 0.0 else np.array([0.0, -1.0])
        direction = np.array([0.35 * down[0], 0.35 * down[1], 1.0])
    else:
        direction = axis + 0.22 * np.cross([0.0, 0.0, 1.0], axis) + np.array([0.0, 0.0, 0.28])
    return fitted(cloud, direction / np.linalg.norm(direction))


def fitted(cloud: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the target and offset for which all points fit in a square picture; ``direction`` points to the camera."""
    right = np.cross([0.0, 0.0, 1.0], direction)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(direction, right), direction])
    points = cloud @ axes.T
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    slope = math.tan(math.radians(0.5 * FIELD)) / 1.12  # The divisor leaves a margin around the points.
    for _ in range(3):  # With perspective, the centre of the picture depends on the distance.
        seen_from = points - middle
        distance = float(np.max(np.abs(seen_from[:, :2]).max(axis=1) / slope + seen_from[:, 2]))
        depth = np.maximum(distance - seen_from[:, 2], 1e-9)
        picture = seen_from[:, :2] / depth[:, None]
        middle[:2] += 0.5 * distance * (picture.min(axis=0) + picture.max(axis=0))
    return axes.T @ middle, max(distance, 1e-6) * direction


def set_camera(viewer: Any, target: np.ndarray, offset: np.ndarray) -> None:
    """Set the camera of a live viewer; ``script`` sets the camera of a page.

    meshcat's camera always looks at the origin of the world. The function moves it back until the target is visible.
    """
    far = float(np.linalg.norm(offset)) + float(np.linalg.norm(target))
    x, y, z = far * offset / np.linalg.norm(offset)
    position = [float(x), float(z), float(-y)]  # In meshcat's camera coordinates, y points upwards.
    for name, value in (("fov", FIELD), ("near", NEAR * far), ("far", FAR * far), ("position", position)):
        viewer[CAMERA].set_property(name, value)


def script(target: np.ndarray, offset: np.ndarray, *, player: bool = False) -> str:
    # Nine digits also suffice for robots with a size of a millimetre.
    tx, ty, tz, x, y, z = (float(f"{value:.9g}") for value in (*target, *offset))
    distance = float(np.linalg.norm(offset))
    return (
        f"(function () {{ const bar = {PLAYER if player else 0}, "
        "far = innerHeight / Math.min(Math.max(innerWidth, 1), Math.max(innerHeight - bar, 1)); "
        f"viewer.camera.fov = {FIELD}; viewer.camera.near = {NEAR * distance:.6g} * far; "
        f"viewer.camera.far = {FAR * distance:.6g} * far; viewer.controls.target.set({tx}, {tz}, {-ty}); "
        f"viewer.camera.position.set({tx} + far * {x}, {tz} + far * {z}, {-ty} - far * {y}); "
        # Shift the picture so that the legend does not cover the robot.
        'const aside = innerWidth < 700 ? 0 : 0.5 * document.getElementById("legend").offsetWidth / innerWidth; '
        "viewer.camera.view = {enabled: true, fullWidth: 1, fullHeight: 1, offsetX: -aside, "
        "offsetY: 0.5 * bar / innerHeight, width: 1, height: 1}; viewer.camera.updateProjectionMatrix(); "
        "viewer.controls.update(); viewer.set_dirty(); })();"
    )
