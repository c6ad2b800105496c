"""Motions for the study: waves, minimum-jerk motions between poses, recordings."""

from ._base import (
    MAX_SAMPLES,
    Motion,
    Trajectory,
    TrajectoryError,
    base_columns,
    centre,
    floating_base,
    held,
    moved_joints,
)
from ._columns import BASE
from .library import motion, motions, robot_of
from .minimum_jerk import MinimumJerk, Pose
from .recorded import Recorded
from .waves import Chirp, Sine, Swing, Wave

__all__ = [
    "BASE",
    "MAX_SAMPLES",
    "Chirp",
    "MinimumJerk",
    "Motion",
    "Pose",
    "Recorded",
    "Sine",
    "Swing",
    "Trajectory",
    "TrajectoryError",
    "Wave",
    "base_columns",
    "centre",
    "floating_base",
    "held",
    "motion",
    "motions",
    "moved_joints",
    "robot_of",
]
