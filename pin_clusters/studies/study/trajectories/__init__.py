"""Provide the motions of the study: waves, minimum-jerk motions between poses, and recordings."""

from ._base import MAX_SAMPLES as MAX_SAMPLES
from ._base import Motion as Motion
from ._base import Trajectory as Trajectory
from ._base import TrajectoryError as TrajectoryError
from ._base import base_columns as base_columns
from ._base import centre as centre
from ._base import floating_base as floating_base
from ._base import held as held
from ._base import moved_joints as moved_joints
from ._columns import BASE as BASE
from .library import motion as motion
from .library import motions as motions
from .library import robot_of as robot_of
from .minimum_jerk import MinimumJerk as MinimumJerk
from .minimum_jerk import Pose as Pose
from .recorded import Recorded as Recorded
from .waves import Chirp as Chirp
from .waves import Sine as Sine
from .waves import Swing as Swing
from .waves import Wave as Wave
