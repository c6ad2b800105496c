"""Draws robots with their rotors, belts and loops in meshcat, which must be installed (``pip install meshcat``)."""

import warnings
from collections.abc import Sequence
from typing import Any

from .._support import extras
from .._support.arrays import ArrayLike
from ..errors import NotAvailableError
from ..model import ClusterModel
from ..simulation import Ground, SimulationResult

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # meshcat imports a deprecated module of pyzmq.
        import meshcat
except ImportError as error:
    raise NotAvailableError(
        f"pin_clusters.visualize needs meshcat, which is not installed ({error}). {extras.cure('viz')}"
    ) from error

from .arrows import Arrow
from .keyframes import Recording
from .page import Legend
from .recorder import Recorder
from .server import ViewerError
from .viewer import MeshcatVisualizer

__all__ = ["Arrow", "Legend", "MeshcatVisualizer", "Recorder", "Recording", "ViewerError", "animate", "offline"]


def offline() -> Any:
    """Return a ``meshcat.Visualizer`` without a server. It records the scene for ``static_html`` and ``save``.

    Example:
        >>> import pin_clusters as pc
        >>> viz = pc.visualize.MeshcatVisualizer(pc.load("four_bar"))
        >>> viz.initViewer(viewer=pc.visualize.offline(), loadModel=True)
        >>> len(viz.viewer.window.paths) > 10
        True
    """
    return meshcat.Visualizer(window=Recorder())


def animate(
    model: ClusterModel,
    time: ArrayLike,
    q: ArrayLike,
    *,
    ghost: tuple[ArrayLike, ArrayLike] | None = None,
    ghost_model: ClusterModel | None = None,
    ghost_label: str = "approximation",
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    notes: Sequence[str] = (),
    viewer: Any = None,
    ground: Ground | None = None,
    contacts: SimulationResult | None = None,
    ghost_contacts: SimulationResult | None = None,
) -> MeshcatVisualizer:
    """Return a viewer that plays a motion in the browser, or in a saved page that needs no network connection.

    The animation has at least 30 key frames per second. Fast rotations add key frames, so that no part turns by more
    than 80 degrees between two of them. If a rotor would need more than 60 key frames per second, it is drawn at a
    lower speed, which the legend states. The lengths of arrows and the colours of loop closures are also animated.

    Args:
        model: The robot.
        time: Ascending times, shape (n,), [s].
        q: Configurations of the whole tree, shape (n, nq), [rad] or [m]. Continuous joints must turn by less than half
            a turn from one configuration to the next.
        ghost: Times, [s], and configurations of a second motion, which is drawn as a translucent robot.
        ghost_model: Robot that performs the second motion; by default ``model``.
        ghost_label: Description of the ghost in the legend.
        v: Independent velocities, shape (n, nv), [rad/s] or [m/s]. If ``v`` or ``tau`` is passed, forces are drawn.
        tau: Independent torques, shape (n, nv), [N m] or [N]. If only one of ``v``, ``tau`` is passed, the other is 0.
        notes: Additional sentences for the legend.
        viewer: As in ``MeshcatVisualizer.initViewer``. By default, no server is started; only pages can be written.
        ground: Ground plane to draw.
        contacts: Simulation result that contains ``time`` and ``q``; its ground contact forces are drawn.
        ghost_contacts: Simulation result of the ghost. If it is passed, the ghost is drawn next to the robot.

    Returns:
        The viewer; ``save(path)`` writes the page.

    Raises:
        ShapeError: The sizes of the arguments do not match each other or the model.
        ConfigurationError: A value is not finite, or the times do not ascend.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> v = np.full(model.nv, 0.1)
        >>> q = [pc.neutral(model)]
        >>> for _ in range(10):
        ...     q.append(pc.integrate(model, q[-1], v))
        >>> viz = pc.visualize.animate(model, np.arange(11) * 0.1, q)
        >>> "set_animation" in [c["type"] for c in viz.viewer.window.commands]
        True
    """
    visualizer = MeshcatVisualizer(model)
    visualizer.initViewer(viewer=offline() if viewer is None else viewer, loadModel=True)
    visualizer.animate(
        time,
        q,
        ghost=ghost,
        ghost_model=ghost_model,
        ghost_label=ghost_label,
        v=v,
        tau=tau,
        notes=notes,
        ground=ground,
        contacts=contacts,
        ghost_contacts=ghost_contacts,
    )
    return visualizer
