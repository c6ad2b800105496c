"""The library of mechanisms: one file each, reached as ``Differential.<mechanism>``."""

from __future__ import annotations

from ._base import Differential
from .ankle_2rsu import Ankle2Rsu
from .bevel import Bevel
from .five_bar import FiveBar
from .parallelogram import Parallelogram
from .planetary import Planetary
from .push_rod_ankle import PushRodAnkle
from .tello_hip import TelloHip
from .tello_knee_ankle import TelloKneeAnkle

__all__ = [
    "Ankle2Rsu",
    "Bevel",
    "Differential",
    "FiveBar",
    "Parallelogram",
    "Planetary",
    "PushRodAnkle",
    "TelloHip",
    "TelloKneeAnkle",
]
