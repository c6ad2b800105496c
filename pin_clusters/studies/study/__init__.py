"""Compare the exact inverse dynamics with the approximations of transmissions that simulators use.

For robots without closed loops, the approximations are ``none``, ``diagonal`` and ``block`` (armature); with closed
loops, ``unconstrained``, ``frozen`` and, if there are rotors, ``no rotor`` and ``armature``.
"""

import warnings
from typing import Any

from ... import approximations
from ...approximations import LEVELS as LEVELS
from ...approximations import LOOP_LEVELS as LOOP_LEVELS
from ...approximations import ROTOR_LEVELS as ROTOR_LEVELS
from . import metrics as metrics
from . import paper as paper
from . import trajectories as trajectories
from .accuracy import StudyResult as StudyResult
from .accuracy import run as run
from .decomposition import PART_LABELS as PART_LABELS
from .decomposition import PARTS as PARTS
from .decomposition import Decomposition as Decomposition
from .decomposition import decompose as decompose
from .motor_energy import Efficiency as Efficiency
from .motor_energy import efficiency as efficiency
from .reach import Reach as Reach
from .trajectories import Chirp as Chirp
from .trajectories import MinimumJerk as MinimumJerk
from .trajectories import Recorded as Recorded
from .trajectories import Sine as Sine
from .trajectories import Swing as Swing
from .trajectories import Trajectory as Trajectory
from .trajectories import TrajectoryError as TrajectoryError
from .trajectories import motion as motion
from .trajectories import motions as motions


def __getattr__(name: str) -> Any:
    """Return the object that replaces a deprecated name."""
    if name in ("RUNGS", "LOOP_RUNGS", "ROTOR_RUNGS"):
        return getattr(approximations, name)
    if name == "published":
        warnings.warn("study.published has moved: use study.paper.published instead.", DeprecationWarning, stacklevel=2)
        return paper.published
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
