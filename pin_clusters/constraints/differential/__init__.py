"""Library of mechanisms, available as ``Differential.<mechanism>``; each mechanism has its own module."""

from typing import TYPE_CHECKING

from . import _base
from .ankle_2rsu import Ankle2Rsu as Ankle2Rsu
from .bevel import Bevel as Bevel
from .five_bar import FiveBar as FiveBar
from .parallelogram import Parallelogram as Parallelogram
from .planetary import Planetary as Planetary
from .push_rod_ankle import PushRodAnkle as PushRodAnkle
from .tello_hip import TelloHip as TelloHip
from .tello_knee_ankle import TelloKneeAnkle as TelloKneeAnkle

if TYPE_CHECKING:

    class Differential(_base.Differential):
        """Declares the attributes of ``Differential`` for type checkers; the mechanism classes set them at run time."""

        ankle_2rsu = Ankle2Rsu
        bevel = Bevel
        five_bar = FiveBar
        parallelogram = Parallelogram
        planetary = Planetary
        push_rod_ankle = PushRodAnkle
        tello_hip = TelloHip
        tello_knee_ankle = TelloKneeAnkle

else:
    Differential = _base.Differential
