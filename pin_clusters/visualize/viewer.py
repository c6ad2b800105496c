"""Provides Pinocchio's meshcat viewer for cluster models."""

import os
from collections.abc import Iterable
from typing import Any

from .._support.arrays import ArrayLike
from .._support.whole_files import refused, whole
from ..constraints.closures import FrameClosure, JointClosure, RodClosure
from . import arrows, camera, page, palette
from .arrows import Arrow
from .figure import Figure
from .keyframes import Recording
from .nodes import matrix, stretched
from .page import Legend
from .recording import record
from .rotors import name_of_node
from .scene import Scene
from .server import ViewerError


class MeshcatVisualizer(Scene):
    """Version of Pinocchio's ``MeshcatVisualizer`` that also draws transmissions and closed loops.

    The viewer has the methods of Pinocchio's viewer; ``q`` is a configuration of the whole tree. It draws belts, rods,
    loop closures, rotors (which turn with their gear ratios), and the meshes of ``visual_model``. The colour of an open
    loop closure is vermillion. A robot without ``visual_model`` is drawn from its joints and inertias. A ``Rotor``
    without a placement is drawn on the joint that it drives. A rotor is drawn as a homogeneous disc with the rotor's
    inertia; its radius is limited to between 14 and 22 per cent of a typical link length.

    Args:
        model: The robot.
        collision_model: As in Pinocchio.
        visual_model: As in Pinocchio. If it is None, bodies are drawn from joints and inertias.
        copy_models: As in Pinocchio.
        data: Workspace, a ``pin.Data`` of ``model.tree`` or a ``ClusterData``; by default, a new one is created.
        collision_data: As in Pinocchio.
        visual_data: As in Pinocchio.
        draw: Groups to draw, from ``"links", "joints", "rotors", "belts", "closures"``. By default, all groups are
            drawn; if ``visual_model`` is passed, links and joints are omitted.

    Attributes:
        cluster_model: The robot. The attribute ``model`` is its tree, as Pinocchio's methods require.
        viewer: The ``meshcat.Visualizer``.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        UnknownNameError: ``draw`` contains an unknown group.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> viz = pc.visualize.MeshcatVisualizer(model)
        >>> viz.initViewer(viewer=pc.visualize.offline(), loadModel=True)  # without viewer=: a server, as in Pinocchio
        >>> viz.display(pc.neutral(model))
        >>> "<html" in viz.static_html()
        True
    """

    def displayForces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau_tree: ArrayLike,
        fext: Any = None,
        *,
        bearings: bool = False,
        scale: float | None = None,
    ) -> list[Arrow]:
        """Show a configuration, with arrows for the forces of loops and rods and for the external forces.

        Args:
            q: Configuration of the whole tree, shape (nq,), [rad] or [m].
            v: Independent velocity, shape (nv,), [rad/s] or [m/s].
            tau_tree: Torques on every joint of the tree, shape (tree.nv,), [N m] or [N].
            fext: External forces in joint frames. The arrows are drawn at the origins of these frames.
            bearings: Whether to draw joint forces, too.
            scale: Arrow length per unit force, [m/N]. By default, the longest arrow is a third of the robot's size.

        Returns:
            The arrows, in the world frame.

        Raises:
            PinClustersError: ``pc.constraint_forces`` raises an error for these arguments.
        """
        self.display(q)
        data = self.cluster_model.createData()
        drawn_arrows = arrows.of_constraints(self.cluster_model, data, q, v, tau_tree, fext, bearings=bearings)
        self._scale = self.force_scale(drawn_arrows) if scale is None else float(scale)
        for name in set(self._arrows) - {a.name for a in drawn_arrows}:
            self.root[f"forces/{name}"].delete()
        self._arrows = {}
        for a in drawn_arrows:
            self._draw(a)
        return drawn_arrows

    def drawArrow(self, name: str, point: ArrayLike, force: ArrayLike, color: str = palette.CONTACT) -> None:
        """Draw a force at a point, such as a contact force.

        Args:
            name: Name of the node; a second call with the same name moves the arrow.
            point: Point of application in the world frame, shape (3,), [m].
            force: Force in the world frame, shape (3,), [N]. The scale of ``displayForces`` is used.
            color: Colour, such as ``"#009e73"``.

        Raises:
            ShapeError: ``point`` or ``force`` does not have three numbers.
            ArgumentTypeError: ``name`` or ``color`` is not a string.
        """
        self._check_ready(True)
        a = arrows.checked(name, point, force, color)
        if self._scale is None:
            self._scale = self.force_scale([a])
        self._draw(a)

    def _draw(self, a: Arrow) -> None:
        node = self.root[f"forces/{a.name}"]
        if a.name not in self._arrows:
            node.set_object(*arrows.shape(self.figure.skeleton.unit, a.color))
        self._arrows[a.name] = a
        node.set_transform(matrix(*stretched(a.point, (self._scale or 1.0) * a.force)))

    def animate(self, time: ArrayLike, q: ArrayLike, **options: Any) -> Recording:
        """Add an animation to the scene. It plays in the browser and in the page of ``static_html``.

        Args:
            time: Ascending times, shape (n,), [s].
            q: Configurations, shape (n, nq), [rad] or [m].
            options: ``ghost``, ``ghost_model``, ``ghost_label``, ``v``, ``tau``, ``notes``, ``ground``, ``contacts``,
                and ``ghost_contacts``, as in ``pin_clusters.visualize.animate``.

        Returns:
            The recording. Its ``notes`` explain how the drawing differs from the motion.

        Raises:
            ShapeError: The sizes of the arguments do not match each other or the model.
            ConfigurationError: A value is not finite, or the times do not ascend.
        """
        self._check_ready(True)
        self._recording = record(self, time, q, **options)
        return self._recording

    def legend(self) -> page.Legend:
        """Return the text for the legend of the page."""
        return legend_of(self.figure, self._recording, self._arrows.values())

    def static_html(self) -> str:
        """Return the scene, its animation and a legend as one HTML page that needs no network connection."""
        self._check_ready(True)
        assert self._recorder is not None
        return page.write(
            self._recorder.packed(),
            self.legend(),
            player=self._recording is not None,
            camera=camera.script(*self._camera, player=self._recording is not None),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page that ``static_html`` returns to a file.

        Raises:
            ViewerError: The file cannot be written.
        """
        text = self.static_html()
        with refused(ViewerError, os.fspath(path)), whole(path) as (part,):
            part.write_text(text, encoding="utf-8")


def legend_of(figure: Figure, recording: Recording | None, arrows: Iterable[Arrow]) -> Legend:
    model, skeleton = figure.model, figure.skeleton
    kinds = {n.path.split("/")[0] for n in figure.nodes}
    levels = sorted({x for j, x in enumerate(skeleton.levels) if j and x >= 0})
    bodies = bool(kinds & {"links", "joints", "rotors"})
    followers = {n.path for n in figure.nodes} & {f"joints/{name_of_node(n)}" for n in model.dependent_joints}
    colors = {a.color for a in arrows}
    forces = recording is not None and recording.forces
    ghost, notes = ("", ()) if recording is None else (recording.ghost, recording.notes)
    entries = (
        *((bodies, palette.of_level(level), _members(figure, level)) for level in levels),
        (followers, palette.STRUCTURE, "light caps: dependent joints"),
        ("rotors" in kinds, palette.MARK, "white spoke: a rotor, turning at its ratio"),
        ("belts" in kinds, palette.BELT, "belts and shafts"),
        ("closures" in kinds, palette.CLOSED, f"{_closures(figure)}, closed"),
        ("closures" in kinds, palette.OPEN, f"{_closures(figure)}, open by {palette.AJAR:g} of their size"),
        (forces or palette.FORCE in colors, palette.FORCE, "constraint forces"),
        (palette.CONTACT in colors, palette.CONTACT, "external forces"),
        (recording is not None and recording.contacts, palette.CONTACT, "ground forces"),
        (ghost, palette.GHOST, ghost),
    )
    return Legend(model.name or "robot", tuple((color, text) for shown, color, text in entries if shown), notes)


def _closures(figure: Figure) -> str:
    kinds = [
        name
        for name, kind in (("rods", RodClosure), ("loops", FrameClosure), ("differentials", JointClosure))
        if any(isinstance(c, kind) for c in figure.model.closures)
    ]
    return " and ".join(filter(None, [", ".join(kinds[:-1]), *kinds[-1:]]))


def _members(figure: Figure, level: int) -> str:
    model = figure.model
    names = [
        name
        for name, joint_level in zip(model.tree.names, figure.skeleton.levels, strict=True)
        if joint_level == level and name in model.independent_joints
    ]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return shown or "-"
