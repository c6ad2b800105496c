"""The accuracy study: exact inverse dynamics against what simulators use in place of a transmission.

The approximations ("rungs") of robots without closed loops are ``none``, ``diagonal`` and ``block`` (armature), those
of robots with closed loops ``unconstrained`` and ``frozen``, and, if they have rotors, ``no rotor`` and ``armature``.
"""

from __future__ import annotations

from ...approximations import LOOP_RUNGS, ROTOR_RUNGS, RUNGS
from . import metrics, paper, published, trajectories
from .accuracy import StudyResult, run
from .decomposition import PART_LABELS, PARTS, Decomposition, decompose
from .reach import Reach
from .trajectories import Chirp, MinimumJerk, Recorded, Sine, Swing, Trajectory, TrajectoryError, motion, motions

__all__ = [
    "LOOP_RUNGS",
    "PARTS",
    "PART_LABELS",
    "ROTOR_RUNGS",
    "RUNGS",
    "Chirp",
    "Decomposition",
    "MinimumJerk",
    "Reach",
    "Recorded",
    "Sine",
    "StudyResult",
    "Swing",
    "Trajectory",
    "TrajectoryError",
    "decompose",
    "metrics",
    "motion",
    "motions",
    "paper",
    "published",
    "run",
    "trajectories",
]
