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

# here and not in the class, which the mechanisms derive from
Differential.ankle_2rsu = Ankle2Rsu
Differential.bevel = Bevel
Differential.five_bar = FiveBar
Differential.parallelogram = Parallelogram
Differential.planetary = Planetary
Differential.push_rod_ankle = PushRodAnkle
Differential.tello_hip = TelloHip
Differential.tello_knee_ankle = TelloKneeAnkle

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
