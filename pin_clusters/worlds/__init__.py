"""Many copies of a robot that step side by side, for training."""

from .drive import Drive as Drive
