"""Draws a small picture of a robot without a browser."""

import io

import numpy as np

from ..model import ClusterModel
from .camera import fitted
from .figure import Figure
from .nodes import matrix

_FROM = np.array([0.8, 0.55, 0.28])
_LIGHT = np.array([0.55, 0.15, 0.82])


def picture(model: ClusterModel, q: np.ndarray, pixels: int = 220) -> bytes:
    """Return a square PNG image of a robot at q, viewed diagonally from above, with a transparent background.

    The picture contains links, joints, rotors, belts and loops; the meshes of the robot's model file are not drawn.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure as Drawing

    figure = Figure(model)
    state, above = figure.state(q), dict[str, np.ndarray]()
    corners, colors = [], []
    for node in figure.nodes:
        M = above[node.path] = above.get(node.path.rpartition("/")[0], np.eye(4)) @ matrix(*node.pose(state))
        if (mesh := node.mesh) is not None:
            corners.append((mesh.vertices @ M[:3, :3].T + M[:3, 3])[mesh.faces])
            colors.append(np.insert(mesh.colors[mesh.faces].mean(axis=1), 3, node.opacity, axis=1))
    triangles, color = np.concatenate(corners), np.concatenate(colors)
    target, offset = fitted(triangles.reshape(-1, 3), _FROM / np.linalg.norm(_FROM))
    far, right = float(np.linalg.norm(offset)), np.array([-_FROM[1], _FROM[0], 0.0]) / np.hypot(*_FROM[:2])
    in_view = (triangles - target) @ np.stack([right, np.cross(offset / far, right), offset / far]).T
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    color[:, :3] *= (0.72 + 0.28 * np.abs(normal @ _LIGHT))[:, None]
    shown = np.argsort(in_view[:, :, 2].mean(axis=1))
    flat = in_view[shown, :, :2] / (far - in_view[shown, :, 2:])
    drawn = Drawing(figsize=(1.0, 1.0), dpi=pixels)
    plane = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
    plane.add_collection(PolyCollection(flat, facecolors=color[shown], edgecolors=color[shown], linewidths=0.1))
    half = 1.04 * float(np.abs(flat).max())
    plane.set(xlim=(-half, half), ylim=(-half, half), aspect="equal")
    plane.axis("off")
    stream = io.BytesIO()
    drawn.savefig(stream, format="png", transparent=True, metadata={"Software": None})
    return stream.getvalue()
