"""Extends Pinocchio's viewer by the scene nodes of a cluster model."""

import itertools
import webbrowser
from collections.abc import Iterable
from typing import Any

import meshcat
import numpy as np
import pinocchio as pin
from pinocchio.visualize import MeshcatVisualizer as PinocchioViewer

from .._support.arrays import ArrayLike, vector
from .._support.trees import check_finite
from ..errors import UnknownNameError, did_you_mean
from ..model import ClusterData, ClusterModel, check_model
from ..simulation import Ground
from . import camera, landing, server
from .arrows import Arrow
from .figure import KINDS, Figure
from .keyframes import Recording
from .recorder import Recorder
from .server import ViewerError

_ENDLESS = 1e3
"""Shapes that are larger than this are treated as a ground plane, [m]."""


class Scene(PinocchioViewer):
    """Base class of ``MeshcatVisualizer`` with the methods that replace methods of Pinocchio's viewer."""

    def __init__(
        self,
        model: ClusterModel,
        collision_model: Any = None,
        visual_model: Any = None,
        copy_models: bool = False,
        data: Any = None,
        collision_data: Any = None,
        visual_data: Any = None,
        *,
        draw: Iterable[str] | None = None,
    ) -> None:
        check_model(model, "MeshcatVisualizer")
        if isinstance(data, ClusterData):
            data = data.tree
        default = KINDS if visual_model is None else ("rotors", "belts", "closures")
        # Pinocchio's display requires geometry models, which may be empty.
        shapes = [
            pin.GeometryModel() if given is None else given.copy() if copy_models else given
            for given in (collision_model, visual_model)
        ]
        super().__init__(model.tree, *shapes, False, data, collision_data, visual_data)
        self.cluster_model = model
        kinds = default if draw is None else tuple(draw)
        for kind in kinds:
            if kind not in KINDS:
                raise UnknownNameError(f"MeshcatVisualizer: no group of nodes {kind!r}.{did_you_mean(kind, KINDS)}")
        self.figure = Figure(model, kinds)
        self.ground: Ground | None = None
        self._recorder: Recorder | None = None
        self._owned: Any = None
        self._recording: Recording | None = None
        self._arrows: dict[str, Arrow] = {}
        self._scale: float | None = None
        self._cloud = self.cloud(model.q_reference)
        self._camera = camera.view(self.figure.skeleton, self._cloud)

    def initViewer(
        self,
        viewer: Any = None,
        open: bool = False,
        loadModel: bool = False,
        zmq_url: str | None = None,
        *,
        host: str | None = None,
    ) -> None:
        """Start a meshcat server, or use an existing one.

        Args:
            viewer: Existing ``meshcat.Visualizer`` to use, for example ``pc.visualize.offline()``. By default, a new
                server is started, or the server at ``zmq_url`` is used.
            open: Whether to open a browser.
            loadModel: Whether to call ``loadViewerModel``.
            zmq_url: Address of a running server.
            host: Address at which a new server listens, by default 127.0.0.1. For containers and remote use, pass
                ``"0.0.0.0"``; everyone who can reach this machine can then see the robot.

        Raises:
            ViewerError: The server does not start or answer, or ``host`` is passed with ``viewer`` or ``zmq_url``.
        """
        if host is not None and not (viewer is None and zmq_url is None):
            raise ViewerError("host is used only to start a new server. Omit viewer= and zmq_url=, or omit host=.")
        self.close()
        if viewer is None:
            self._owned = server.window(zmq_url, host)
            viewer = meshcat.Visualizer(window=Recorder(self._owned))
        elif not isinstance(viewer.window, Recorder):
            viewer = meshcat.Visualizer.view_into(Recorder(viewer.window), viewer.path)
        self._recorder = viewer.window
        super().initViewer(viewer=viewer, open=False, loadModel=loadModel)
        if open and not webbrowser.open(viewer.window.web_url, new=2):
            print(f"No browser was found; open {viewer.window.web_url} yourself.")  # noqa: T201

    def _check_meshcat_has_get_image(self) -> None:
        """Skip Pinocchio's check, because every supported version of meshcat has ``get_image``."""

    def loadViewerModel(
        self, rootNodeName: str = "pinocchio", color: Any = None, collision_color: Any = None, visual_color: Any = None
    ) -> None:
        """Draw the robot. The arguments are the same as in Pinocchio.

        Args:
            rootNodeName: Name of the robot in the scene.
            color: Colour of all meshes, four numbers from 0 to 1; deprecated in Pinocchio.
            collision_color: Colour of the meshes of ``collision_model``.
            visual_color: Colour of the meshes of ``visual_model``.
        """
        self._check_ready(False)
        super().loadViewerModel(rootNodeName, color, collision_color, visual_color)
        self.frame(self._cloud)
        self.figure.load(self.root)
        self.display(self.cluster_model.q_reference)

    @property
    def root(self) -> Any:
        """Root node of the robot in the scene."""
        return self.viewer[self.viewerRootNodeName]

    def display(self, q: ArrayLike | None = None) -> None:
        """Show a configuration.

        Args:
            q: Configuration of the whole tree, shape (nq,), [rad] or [m]. It may violate the constraints; open loops
                are then visible. If q is None, the last joint placements in ``data`` are drawn.

        Raises:
            ShapeError: The size of q is not nq.
            ArgumentTypeError: q does not contain real numbers.
            ConfigurationError: q is not finite.
            ViewerError: ``initViewer`` was not called before.
        """
        self._check_ready(True)
        if q is None:
            super().display()
            return
        q = vector(self.cluster_model, "q", q, self.cluster_model.nq, "nq (the whole tree)")
        check_finite(self.cluster_model.own_tree, "q", q)
        super().display(q)
        self.figure.place(self.root, self.figure.state(q))

    def clean(self) -> None:
        """Delete everything from the scene."""
        self._check_ready(False)
        self._arrows.clear()
        self._recording = None
        super().clean()

    def setCameraTarget(self, target: ArrayLike) -> None:
        """Aim the camera at a world point, shape (3,), [m]. In a live viewer, the camera can only move back."""
        self._look(np.array(target, dtype=float), self._camera[1])

    def setCameraPosition(self, position: ArrayLike) -> None:
        """Set the position of the camera relative to its target, shape (3,), [m], in world axes."""
        self._look(self._camera[0], np.array(position, dtype=float))

    def resetCamera(self) -> None:
        """Set the camera so that it shows the whole robot; a planar mechanism is viewed along its joint axes."""
        self._look(*camera.view(self.figure.skeleton, self._cloud))

    def _look(self, target: np.ndarray, offset: np.ndarray) -> None:
        self._camera = target, offset
        camera.set_camera(self.viewer, target, offset)

    def frame(self, cloud: np.ndarray) -> None:
        """Set the camera, the ground and the lights so that the world points, shape (n, 3), [m], are visible."""
        self._cloud = cloud
        landing.plate(self.root, self.ground, cloud)
        ground_pose = None if self.ground is None else landing.place(self.ground, cloud)
        camera.set_scene(self.viewer, cloud, ground_pose)
        self.resetCamera()

    def cloud(self, q: np.ndarray) -> np.ndarray:
        """Return the vertices of all meshes at a configuration, in the world frame, shape (n, 3), [m]."""
        points = [self.figure.cloud(q)] if self.figure.nodes else []
        pin.forwardKinematics(self.model, self.data, q)
        for g in self.visual_model.geometryObjects:
            g.geometry.computeLocalAABB()
            box = g.geometry.aabb_local
            corners = np.array(list(itertools.product(*zip(box.min_, box.max_, strict=True))))
            M = self.data.oMi[g.parentJoint] * g.placement
            if np.all(np.abs(corners) < _ENDLESS):  # Larger shapes are ground planes.
                points.append(corners @ M.rotation.T + M.translation)
        return np.concatenate(points) if points else np.array([self.figure.skeleton.lower, self.figure.skeleton.upper])

    def force_scale(self, found: Iterable[Arrow]) -> float:
        """Return the arrow length per unit force, [m/N], for which the longest arrow is a third of the robot's size.

        Forces below a millionth of the robot's weight count as rounding errors and are ignored.
        """
        tree = self.cluster_model.inertia_tree
        weight = sum(I.mass for I in tree.inertias) * np.linalg.norm(tree.gravity.linear)
        largest = max([1e-6 * weight, *(np.linalg.norm(a.force) for a in found)])
        return float(self.figure.skeleton.size / (3.0 * largest)) if largest > 0.0 else 1.0

    def displayGroup(self, kind: str, visibility: bool) -> None:
        """Show or hide ``"links"``, ``"joints"``, ``"rotors"``, ``"belts"``, ``"closures"`` or ``"forces"``.

        Raises:
            UnknownNameError: ``kind`` is not one of these groups.
        """
        self._check_ready(True)
        if kind not in (*KINDS, "forces"):
            raise UnknownNameError(f"no group of nodes {kind!r}.{did_you_mean(kind, (*KINDS, 'forces'))}")
        self.root[kind].set_property("visible", bool(visibility))

    def close(self) -> None:
        """Close the window, and stop the server if ``initViewer`` started it."""
        if self._owned is not None:
            server.close(self._owned)
        self._owned = self._recorder = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_ready(self, loaded: bool) -> None:
        if self._recorder is None:
            raise ViewerError("there is no viewer yet. Call initViewer() first, then loadViewerModel().")
        if loaded and not hasattr(self, "viewerRootNodeName"):
            raise ViewerError("the robot is not in the viewer yet. Call loadViewerModel() first.")
