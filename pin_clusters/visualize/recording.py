"""Converts a motion to an animation of the scene."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ArgumentTypeError, ConfigurationError, ShapeError
from ..model import ClusterModel
from ..simulation import Ground, SimulationResult
from . import arrows, keyframes, landing, palette
from .figure import Figure
from .keyframes import Recording, Track
from .nodes import Spin, State, stretched
from .scene import Scene

_FOREVER = 10_000_000
_LOOKS = 12
"""Number of poses of the motion in which the camera must show the whole robot."""
GHOST_KINDS = ("links", "joints", "rotors", "closures")
"""Names of the groups of nodes that are drawn for a ghost."""


def record(
    viewer: Scene,
    time: Any,
    q: Any,
    *,
    ghost: tuple[Any, Any] | None = None,
    ghost_model: ClusterModel | None = None,
    ghost_label: str = "approximation",
    v: Any = None,
    tau: Any = None,
    notes: Sequence[str] = (),
    ground: Ground | None = None,
    contacts: SimulationResult | None = None,
    ghost_contacts: SimulationResult | None = None,
) -> Recording:
    model = viewer.cluster_model
    time, q = motion(model, time, q)
    figure = viewer.figure
    tracks, parts, samples = _tracks(figure, time, q)
    tracks |= _visuals(viewer, time, q, samples)
    clouds = [viewer.cloud(x) for x in q[:: max(1, len(q) // _LOOKS)]]
    if v is not None or tau is not None:
        moved, tips = _forces(viewer, time, q, v, tau, samples)
        tracks |= moved
        clouds.append(tips)
    scale = 1.0
    if contacts is not None:
        pushed = landing.pushes(contacts, time, samples)
        scale = viewer.force_scale(a for arrows in pushed for a in arrows)
        tracks |= landing.tracks(viewer.root, figure.skeleton.unit, time[samples], pushed, scale, palette.CONTACT)
        clouds += [np.array([a.point + scale * a.force for a in arrows]) for arrows in pushed]
        notes = [*notes, landing.NOTE]
    viewer.display(q[0])
    animation = keyframes.animation(viewer.root, tracks)
    if ghost is not None:
        points = np.concatenate(clouds)
        # A ghost with its own contact forces is drawn next to the robot.
        aside = np.array([0.0, 1.2 * np.ptp(points[:, 1]), 0.0]) if ghost_contacts is not None else np.zeros(3)
        clips, cloud = _ghost(
            viewer, ghost, ghost_model or model, float(time[-1] - time[0]), aside, ghost_contacts, scale
        )
        animation.clips.update(clips)
        clouds.append(_near(cloud, points) + aside)
    viewer.ground = ground
    viewer.frame(np.concatenate(clouds))
    viewer.viewer.set_animation(animation, play=True, repetitions=_FOREVER)
    label = f"translucent: {ghost_label}" if ghost is not None else ""
    grounded = contacts is not None
    forces = any(path.startswith("forces/") and not path.startswith(landing.PATH) for path in tracks)
    return Recording(tracks, float(time[-1] - time[0]), parts, label, forces, (*notes, *_slowed(parts)), grounded)


def _near(cloud: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Clip the ghost's points to a region around the robot, because the ghost may fly or fall far away."""
    low, high = own.min(axis=0), own.max(axis=0)
    margin = 0.3 * np.linalg.norm(high - low)
    return np.clip(cloud, low - [margin, margin, 0.0], high + margin)


def _slowed(parts: dict[str, float]) -> list[str]:
    slow = {name: part for name, part in parts.items() if part < 1.0}
    if len(slow) > 3:
        least = min(slow.values())
        return [f"{len(slow)} rotors are drawn at {least:.2g} to 1 times their speed, so that turns can be seen."]
    return [f"{n} is drawn at {part:.2g} times its speed, so that turns can be seen." for n, part in slow.items()]


def motion(model: ClusterModel, time: Any, q: Any, what: str = "") -> tuple[np.ndarray, np.ndarray]:
    try:
        t, x = np.asarray(time, dtype=float), np.asarray(q, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{what}time and q must be arrays of numbers: {error}.") from None
    if t.ndim != 1 or len(t) < 2:
        raise ShapeError(f"{what}time has shape {t.shape}, expected (n,) with at least two times.")
    if x.shape != (len(t), model.nq):
        raise ShapeError(
            f"{what}q has shape {x.shape}, expected ({len(t)}, {model.nq}): one configuration of the whole tree of "
            f"{model.name!r} for each time."
        )
    if not np.all(np.isfinite(t)) or not np.all(np.diff(t) > 0.0):
        raise ConfigurationError(f"{what}time must be finite and ascending.")
    if not np.all(np.isfinite(x)):
        row = int(np.flatnonzero(~np.isfinite(x).all(axis=1))[0])
        raise ConfigurationError(f"{what}q[{row}] (t = {t[row]:g} s) is not finite.")
    return t, x


def _tracks(figure: Figure, time: np.ndarray, q: np.ndarray) -> tuple[dict[str, Track], dict[str, float], np.ndarray]:
    figure.restart()
    angles = np.array([figure.angles(x) for x in q])
    state = cache(lambda k: figure.state(q[k]))

    def turn(chosen: np.ndarray) -> float:
        bodies = set(range(1, figure.model.tree.njoints)) - figure.skeleton.rotor_joints
        return max((keyframes.largest_turn([state(int(k)).poses[j] for k in chosen]) for j in bodies), default=0.0)

    chosen = keyframes.frames(time, turn)
    tracks: dict[str, Track] = {}
    parts: dict[str, float] = {}
    for node in figure.nodes:
        track = tracks[node.path] = Track()
        if isinstance(node, Spin):
            times, values, part = keyframes.spin(time, angles[:, node.rotor])
            parts[figure.model.rotors[node.rotor].name] = part
            for t, value in zip(times, values, strict=True):
                track.add(t - time[0], *node.pose(State([], np.full(angles.shape[1], value), np.zeros(0))))
            continue
        moments = [time[k] - time[0] for k in chosen]
        for i in keyframes.needed(moments, [node.pose(state(int(k)))[0] for k in chosen]):
            now = state(int(chosen[i]))
            shade = None if node.closure is None else palette.of_residual(now.residuals[node.closure])
            track.add(moments[i], *node.pose(now), shade)
    figure.restart()
    return tracks, parts, chosen


def _visuals(viewer: Scene, time: np.ndarray, q: np.ndarray, chosen: np.ndarray) -> dict[str, Track]:
    shown = list(viewer.visual_model.geometryObjects)
    tracks = {f"visuals/{g.name}": Track() for g in shown}
    for k in chosen if shown else ():
        pin.forwardKinematics(viewer.model, viewer.data, q[k])
        for g, track in zip(shown, tracks.values(), strict=True):
            track.add(time[k] - time[0], viewer.data.oMi[g.parentJoint] * g.placement)
    return tracks


def _ghost(
    viewer: Scene,
    ghost: tuple[Any, Any],
    model: ClusterModel,
    duration: float,
    aside: np.ndarray,
    contacts: SimulationResult | None,
    scale: float,
) -> tuple[dict[Any, Any], np.ndarray]:
    """Draw the ghost; return its animation clips, as long as the robot's clips, and the points that it reaches."""
    time, q = motion(model, *ghost, what="ghost: ")
    figure = Figure(model, GHOST_KINDS, ghost=True)
    root = viewer.viewer[f"{viewer.viewerRootNodeName}_ghost"]
    root.delete()
    figure.load(root)
    root.set_transform(pin.SE3(np.eye(3), aside).homogeneous)
    tracks, _, samples = _tracks(figure, time, q)
    if contacts is not None:
        pushed = landing.pushes(contacts, time, samples)
        tracks |= landing.tracks(root, figure.skeleton.unit, time[samples], pushed, scale, palette.GHOST)
    figure.place(root, figure.state(q[0]))
    for track in tracks.values():
        track.colors.clear()
        if track.time[-1] < duration:  # If its motion is shorter, the ghost stays in its last pose.
            track.add(duration, track.poses[-1], track.scales[-1] if track.scales else None)
    cloud = np.concatenate([figure.cloud(x) for x in q[:: max(1, len(q) // _LOOKS)]])
    return keyframes.animation(root, tracks).clips, cloud


def _forces(
    viewer: Scene, time: np.ndarray, q: np.ndarray, v: Any, tau: Any, chosen: np.ndarray
) -> tuple[dict[str, Track], np.ndarray]:
    """Return the tracks of the force arrows, and the positions of the arrow tips, shape (n, 3), [m]."""
    model = viewer.cluster_model
    speeds = _rows(model, "v", v, len(time))
    torques = np.zeros((len(time), model.tree.nv))
    torques[:, model.idx_v_independent] = _rows(model, "tau", tau, len(time))
    data = model.createData()
    tracks: dict[str, Track] = {}
    samples = [arrows.of_constraints(model, data, q[k], speeds[k], torques[k]) for k in chosen]
    scale = viewer.force_scale(a for sample in samples for a in sample)
    for k, sample in zip(chosen, samples, strict=True):
        for a in sample:
            path = f"forces/{a.name}"
            if path not in tracks:
                tracks[path] = Track()
                viewer.root[path].set_object(*arrows.shape(viewer.figure.skeleton.unit, a.color))
            tracks[path].add(time[k] - time[0], *stretched(a.point, scale * a.force))
    return tracks, np.array([a.point + scale * a.force for sample in samples for a in sample]).reshape(-1, 3)


def _rows(model: ClusterModel, name: str, values: Any, n: int) -> np.ndarray:
    if values is None:
        return np.zeros((n, model.nv))
    rows = np.asarray(values, dtype=float)
    if rows.shape != (n, model.nv):
        raise ShapeError(f"{name} has shape {rows.shape}, expected ({n}, {model.nv}): one row for each time.")
    return rows
