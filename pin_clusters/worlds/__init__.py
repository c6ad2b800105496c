"""Many copies of a robot that step side by side, for training: ``pc.Worlds``."""

from .controls import read_controls as read_controls
from .drive import Drive as Drive
from .referee import Difference as Difference
from .worlds import Worlds as Worlds
