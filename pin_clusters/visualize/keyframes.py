"""Selects the key frames of a motion so that the browser interpolates its rotations correctly."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import meshcat.animation as ma
import numpy as np
import pinocchio as pin

TURN = math.radians(80.0)
"""Largest rotation between two key frames, [rad]. The browser interpolates along the shorter rotation, which is correct
below 180 degrees."""
FRAMES = 30.0
"""Number of key frames per second for slow motions."""
MOST = 60.0
"""Maximum number of key frames per second for a rotor; faster rotors are drawn at a lower speed."""


@dataclass(eq=False)
class Track:
    """Poses of one node over time; ``scales`` and ``colors`` are empty if they do not change."""

    time: list[float] = field(default_factory=list)  # [s]
    poses: list[pin.SE3] = field(default_factory=list)
    scales: list[np.ndarray] = field(default_factory=list)
    colors: list[np.ndarray] = field(default_factory=list)

    def add(self, time: float, pose: pin.SE3, scale: np.ndarray | None = None, color: np.ndarray | None = None) -> None:
        self.time.append(float(time))
        self.poses.append(pose)
        if scale is not None:
            self.scales.append(scale)
        if color is not None:
            self.colors.append(color)


@dataclass(frozen=True, eq=False)
class Recording:
    """The result of ``MeshcatVisualizer.animate``: the key frames, and notes for the legend.

    Attributes:
        tracks: Maps the path of each moving node, relative to the robot's root node, to its key frames.
        duration: Duration of the motion, [s].
        parts: Maps the name of each rotor to the ratio of its drawn speed to its real speed, 1 for most rotors.
        ghost: Description of the ghost; empty if there is no ghost.
        forces: Whether arrows for constraint forces are animated.
        notes: Sentences that explain how the drawing differs from the motion.
        contacts: Whether arrows for contact forces with the ground are animated.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> viz = pc.visualize.MeshcatVisualizer(model)
        >>> viz.initViewer(viewer=pc.visualize.offline(), loadModel=True)
        >>> viz.animate([0.0, 0.5], [pc.neutral(model)] * 2).duration
        0.5
    """

    tracks: dict[str, Track]
    duration: float
    parts: dict[str, float]
    ghost: str
    forces: bool
    notes: tuple[str, ...]
    contacts: bool = False


def largest_turn(poses: Sequence[pin.SE3]) -> float:
    return max((_angle(a.rotation, b.rotation) for a, b in itertools.pairwise(poses)), default=0.0)


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return math.acos(min(1.0, max(-1.0, 0.5 * (float(np.sum(a * b)) - 1.0))))


def frames(time: np.ndarray, turns: Callable[[np.ndarray], float]) -> np.ndarray:
    """Choose key frames at ``FRAMES`` per second; double the rate until the rotation ``turns`` is at most ``TURN``."""
    rate = FRAMES
    while True:
        count = max(2, math.ceil((time[-1] - time[0]) * rate) + 1)
        samples = np.unique(np.searchsorted(time, np.linspace(time[0], time[-1], count) - 1e-12))
        samples = samples[samples < len(time)]
        if len(samples) >= len(time) or turns(samples) <= TURN:
            return samples
        rate *= 2.0


def needed(time: Sequence[float], poses: Sequence[pin.SE3]) -> list[int]:
    """Return the indices of the key frames that a node needs: ``FRAMES`` per second, more during fast rotations."""
    frames_kept = [0]
    for k in range(1, len(time)):
        ahead = min(k + 1, len(time) - 1)
        due = time[k] - time[frames_kept[-1]] >= 0.9 / FRAMES
        if ahead == k or due or _angle(poses[frames_kept[-1]].rotation, poses[ahead].rotation) > TURN:
            frames_kept.append(k)
    return frames_kept


def spin(time: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the times and the angles (not wrapped) of a rotor's key frames, and the ratio of drawn to real speed.

    Angles change by at most ``TURN`` per key frame. The ratio is below 1 if ``MOST`` frames per second are too few.
    """
    speed = np.abs(np.diff(angle)) / np.maximum(np.diff(time), 1e-12)
    fastest = float(speed.max()) if len(speed) else 0.0
    part = min(1.0, MOST * TURN / fastest) if fastest > 0.0 else 1.0
    drawn = angle[0] + part * (angle - angle[0])
    times, angles = [float(time[0])], [float(drawn[0])]
    for k in range(1, len(time)):
        # Samples are omitted if the frame rate does not require them and the rotation is small.
        last = k == len(time) - 1
        ahead = abs(drawn[min(k + 1, len(time) - 1)] - angles[-1]) > 0.75 * TURN
        if last or ahead or time[k] - times[-1] >= 1.0 / FRAMES - 1e-9:
            steps = max(1, math.ceil(abs(drawn[k] - angles[-1]) / TURN))
            for i in range(1, steps + 1):
                times.append(times[-1] + (float(time[k]) - times[-1]) / (steps - i + 1))
                angles.append(angles[-1] + (float(drawn[k]) - angles[-1]) / (steps - i + 1))
    return np.array(times), np.array(angles), part


def animation(root: Any, tracks: dict[str, Track]) -> Any:
    """Return a meshcat animation; ``tracks`` maps the path of each moving node, relative to ``root``, to its track."""
    result = ma.Animation(default_framerate=FRAMES)
    for path, track in tracks.items():
        for below, name, kind, values in (
            ("", "position", "vector3", [p.translation for p in track.poses]),
            ("", "quaternion", "quaternion", [p.rotation for p in track.poses]),
            ("", "scale", "vector3", track.scales),
            ("/<object>", "material.color", "color", track.colors),
        ):
            if not values or not np.any(np.abs(np.array(values) - values[0]) > 1e-9):
                continue
            if kind == "quaternion":
                values = _continuous([pin.Quaternion(R).coeffs() for R in values])
            clip = result.clips.setdefault(root[path + below].path, ma.AnimationClip(fps=FRAMES))
            clip.tracks[name] = moved = ma.AnimationTrack(name, kind)
            # The browser uses single precision.
            moved.frames = [float(np.float32(t * FRAMES)) for t in track.time]
            moved.values = [[float(np.float32(x)) for x in value] for value in values]
    return result


def _continuous(quaternions: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Choose the signs of quaternions (x, y, z, w) so that consecutive quaternions are close to each other."""
    flips = [1.0, *(1.0 if a @ b >= 0.0 else -1.0 for a, b in itertools.pairwise(quaternions))]
    return list(np.cumprod(flips)[:, None] * quaternions)
