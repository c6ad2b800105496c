"""Robots with rotors, belts and loops in meshcat.

Needs ``pip install meshcat``.
"""

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
        warnings.simplefilter("ignore", DeprecationWarning)  # pyzmq's, for a module of its own that meshcat imports
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
    """Return a ``meshcat.Visualizer`` without a server: it only remembers, for ``static_html`` and ``save``."""
    return meshcat.Visualizer(window=Recorder())


def animate(
    model: ClusterModel,
    time: ArrayLike,
    q: ArrayLike,
    *,
    ghost: tuple[Any, Any] | None = None,
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
    """Return a viewer with a motion that plays in the browser, or in a page that needs no network.

    Key frames are 30 per second, more for what turns fast: between two of them nothing turns by more than 80 degrees. A
    rotor that would need more than 60 per second is drawn turning more slowly; the legend says so. What changes its
    length (gaps, arrows) has key frames of its scale, closures have some of their colour.

    Args:
        model: The robot.
        time: Ascending, shape (n,), [s].
        q: Configurations of the whole tree, shape (n, nq). Joints that know no turns (continuous ones) must move by
            less than half a turn from one to the next.
        ghost: Times and configurations of another motion, drawn translucent over the first one.
        ghost_model: Its robot; by default the same.
        ghost_label: What the legend says it is.
        v: Independent velocities, shape (n, nv), to draw forces of loops and rods as arrows; zero if only ``tau`` is
            given.
        tau: Independent torques, shape (n, nv); zero if only ``v`` is given.
        notes: Sentences for the legend.
        viewer: As in ``MeshcatVisualizer.initViewer``; by default none, only pages can be written.
        ground: A plane that is drawn.
        contacts: The simulation with a ground that time and q are from, to draw the ground's forces as arrows.
        ghost_contacts: The same of the ghost, which then stands beside the robot.

    Returns:
        The viewer; ``save(path)`` writes the page.

    Raises:
        ShapeError: The sizes do not fit.
        ConfigurationError: Something is not finite, or the times do not ascend.

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
    found = MeshcatVisualizer(model)
    found.initViewer(viewer=offline() if viewer is None else viewer, loadModel=True)
    found.animate(
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
    return found
