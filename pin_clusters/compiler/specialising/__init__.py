"""``pc.specialise``: code for one robot on this processor, made of its traces, in the place of kernels."""

from .making import Specialised
from .specialise import specialise

__all__ = ["Specialised", "specialise"]
