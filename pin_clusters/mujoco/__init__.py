"""Exact rotors, belts, differentials and closed loops in MuJoCo's serial trees, without a change of the user's loop."""

from . import warp
from .exact import Exact
from .report import Report

__all__ = ["Exact", "Report", "warp"]
