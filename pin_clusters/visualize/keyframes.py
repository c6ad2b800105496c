"""From a motion to key frames: close enough for rotations, and with scales, which a transform does not keep."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import meshcat.animation as ma
import numpy as np
import pinocchio as pin

TURN = math.radians(80.0)
"""Largest rotation between key frames: the browser takes the shorter way, which is the right one below 180 degrees, and
90 is what is promised."""
FRAMES = 30.0
"""Key frames per second of what moves slowly."""
MOST = 60.0
"""Key frames per second and rotor; a rotor that needs more is drawn turning more slowly."""


@dataclass(eq=False)
class Track:
    """Poses of one node over time; scales and colours, three numbers each, only of what changes size or colour."""

    time: list[float] = field(default_factory=list)  # [s]
    poses: list[pin.SE3] = field(default_factory=list)
    scales: list[np.ndarray] = field(default_factory=list)
    colors: list[np.ndarray] = field(default_factory=list)

    def add(self, time: float, pose: pin.SE3, scale: np.ndarray | None = None, color: np.ndarray | None = None) -> None:
        """Add a key frame."""
        self.time.append(float(time))
        self.poses.append(pose)
        if scale is not None:
            self.scales.append(scale)
        if color is not None:
            self.colors.append(color)


@dataclass(frozen=True, eq=False)
class Recording:
    """What was recorded."""

    tracks: dict[str, Track]  # key frames by path below the root of the robot
    duration: float  # [s]
    parts: dict[str, float]  # part of its speed with which each rotor is drawn, by name; 1 for most
    ghost: str  # what the ghost is; empty if there is none
    forces: bool  # whether arrows move with it
    notes: tuple[str, ...]  # what is not drawn as it is, in sentences
    contacts: bool = False  # whether forces of the ground move with it


def largest_turn(poses: Sequence[pin.SE3]) -> float:
    """Return the largest rotation between neighbours, [rad]."""
    return max((_angle(a.rotation, b.rotation) for a, b in itertools.pairwise(poses)), default=0.0)


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return math.acos(min(1.0, max(-1.0, 0.5 * (float(np.sum(a * b)) - 1.0))))


def frames(time: np.ndarray, turns: Callable[[np.ndarray], float]) -> np.ndarray:
    """Choose samples as key frames: as many as ``FRAMES`` asks, twice that, and so on, until rotations are small.

    ``turns`` returns the largest rotation between chosen samples; the first and the last one are always chosen.
    """
    rate = FRAMES
    while True:
        count = max(2, math.ceil((time[-1] - time[0]) * rate) + 1)
        chosen = np.unique(np.searchsorted(time, np.linspace(time[0], time[-1], count) - 1e-12))
        chosen = chosen[chosen < len(time)]
        if len(chosen) >= len(time) or turns(chosen) <= TURN:
            return chosen
        rate *= 2.0


def needed(time: Sequence[float], poses: Sequence[pin.SE3]) -> list[int]:
    """Return which key frames a node needs: ``FRAMES`` per second, and those without which it would turn too far."""
    kept = [0]
    for k in range(1, len(time)):
        ahead = min(k + 1, len(time) - 1)
        due = time[k] - time[kept[-1]] >= 0.9 / FRAMES
        if ahead == k or due or _angle(poses[kept[-1]].rotation, poses[ahead].rotation) > TURN:
            kept.append(k)
    return kept


def spin(time: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return times and angles of the key frames of a rotor, which differ by less than ``TURN``; angles are not wrapped.

    The third result is the part of the rotor's speed with which it is drawn: 1, or less if it would need more than
    ``MOST`` key frames per second.
    """
    speed = np.abs(np.diff(angle)) / np.maximum(np.diff(time), 1e-12)
    fastest = float(speed.max()) if len(speed) else 0.0
    part = min(1.0, MOST * TURN / fastest) if fastest > 0.0 else 1.0
    drawn = angle[0] + part * (angle - angle[0])
    times, angles = [float(time[0])], [float(drawn[0])]
    for k in range(1, len(time)):
        # a sample that is neither due nor needed is left out
        last = k == len(time) - 1
        ahead = abs(drawn[min(k + 1, len(time) - 1)] - angles[-1]) > 0.75 * TURN
        if last or ahead or time[k] - times[-1] >= 1.0 / FRAMES - 1e-9:
            steps = max(1, math.ceil(abs(drawn[k] - angles[-1]) / TURN))
            for i in range(1, steps + 1):
                times.append(times[-1] + (float(time[k]) - times[-1]) / (steps - i + 1))
                angles.append(angles[-1] + (float(drawn[k]) - angles[-1]) / (steps - i + 1))
    return np.array(times), np.array(angles), part


def animation(root: Any, tracks: dict[str, Track]) -> Any:
    """Return meshcat's animation of tracks, by their path below a node; what does not move has none."""
    found = ma.Animation(default_framerate=FRAMES)
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
            clip = found.clips.setdefault(root[path + below].path, ma.AnimationClip(fps=FRAMES))
            clip.tracks[name] = moved = ma.AnimationTrack(name, kind)
            # single precision is what the browser computes with
            moved.frames = [float(np.float32(t * FRAMES)) for t in track.time]
            moved.values = [[float(np.float32(x)) for x in value] for value in values]
    return found


def _continuous(quaternions: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return quaternions (x, y, z, w) with the signs that make neighbours near."""
    flips = [1.0, *(1.0 if a @ b >= 0.0 else -1.0 for a, b in itertools.pairwise(quaternions))]
    return list(np.cumprod(flips)[:, None] * quaternions)
