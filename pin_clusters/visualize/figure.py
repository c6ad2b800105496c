"""Builds the scene nodes of a robot."""

from typing import Any

import meshcat.geometry as mg
import numpy as np

from ..model import ClusterModel
from . import belts, closures, links, palette, rotors
from .closures import Residuals
from .nodes import Node, Rigid, State, matrix
from .rotors import Angles, name_of_node
from .skeleton import skeleton_of, world

KINDS = ("links", "joints", "rotors", "belts", "closures")
"""Names of the groups of nodes that are drawn for a robot."""


class Figure:
    """The scene nodes of a robot, without the meshes of its model files."""

    def __init__(self, model: ClusterModel, kinds: tuple[str, ...] = KINDS, ghost: bool = False) -> None:
        self.model = model
        self.skeleton = skeleton_of(model)
        self.ghost = ghost
        self._data = model.tree.createData()
        self.angles, self._residuals = Angles(model), Residuals(model)
        self.nodes: list[Node] = [n for n in self._all() if n.path.split("/")[0] in kinds]

    def _all(self) -> list[Node]:
        model, skeleton = self.model, self.skeleton
        parts: list[Node] = []
        for j in range(model.tree.njoints):
            if j in skeleton.rotor_joints:
                continue
            name = name_of_node(model.tree.names[j])
            if links.is_trunk(skeleton, j):
                frame, walls = links.trunk(skeleton, j)
                parts += [Rigid(f"links/{name}", frame, j), Rigid(f"links/{name}:walls", walls, j, opacity=0.4)]
            elif (mesh := links.link(skeleton, j)) is not None:
                parts.append(Rigid(f"links/{name}", mesh, j))
            if j and (mesh := links.joint(skeleton, j, self._coincident(j))) is not None:
                parts.append(Rigid(f"joints/{name}", mesh, j))
        drawn = rotors.drawn(skeleton)
        return [*parts, *rotors.nodes(skeleton, drawn), *belts.nodes(skeleton, drawn), *closures.nodes(skeleton)]

    def _coincident(self, j: int) -> int:
        tree = self.model.tree
        peers = [k for k in range(1, j) if tree.parents[k] == tree.parents[j] and k not in self.skeleton.rotor_joints]
        tolerance = 0.02 * self.skeleton.unit
        place = tree.jointPlacements[j].translation
        return sum(bool(np.linalg.norm(place - tree.jointPlacements[k].translation) < tolerance) for k in peers)

    def cloud(self, q: np.ndarray) -> np.ndarray:
        """Return the vertices of all meshes at a configuration, in the world frame, shape (n, 3), [m]."""
        state = self.state(q)
        above: dict[str, np.ndarray] = {}
        corners = []
        for node in self.nodes:
            M = above[node.path] = above.get(node.path.rpartition("/")[0], np.eye(4)) @ matrix(*node.pose(state))
            if node.mesh is not None:
                corners.append(node.mesh.vertices @ M[:3, :3].T + M[:3, 3])
        self.restart()
        return np.concatenate(corners) if corners else np.array([self.skeleton.lower, self.skeleton.upper])

    def state(self, q: np.ndarray) -> State:
        """Return the state of all nodes at q; full turns of rotors are counted from call to call."""
        return State(world(self.model.tree, self._data, q), self.angles(q), self._residuals(q))

    def restart(self) -> None:
        self.angles = Angles(self.model)

    def load(self, root: Any) -> None:
        for node in self.nodes:
            if node.mesh is not None:
                root[node.path].set_object(*_object(node, self.ghost))

    def place(self, root: Any, state: State) -> None:
        for node in self.nodes:
            root[node.path].set_transform(matrix(*node.pose(state)))
            if node.closure is not None and not self.ghost:
                color = palette.of_residual(state.residuals[node.closure])
                root[f"{node.path}/<object>"].set_property("color", [*map(float, color), 1.0])


def _object(node: Node, ghost: bool) -> tuple[Any, Any]:
    mesh = node.mesh
    assert mesh is not None
    colored = not ghost and node.closure is None
    opacity = 0.32 * node.opacity if ghost else node.opacity
    options: dict[str, Any] = {"depthWrite": False} if opacity < 1.0 else {}
    if ghost:
        # The polygon offset draws the ghost behind the robot where both are in the same place.
        options |= {"polygonOffset": True, "polygonOffsetFactor": 2, "polygonOffsetUnits": 4}
    if colored:
        options["vertexColors"] = True
    color = palette.number(palette.GHOST if ghost else "#ffffff")
    shape = mg.TriangularMeshGeometry(mesh.vertices, mesh.faces, mesh.colors if colored else None)
    return shape, mg.MeshPhongMaterial(color=color, opacity=opacity, shininess=40, specular=0x222222, **options)
