"""Exact rotors, belts, differentials and closed loops in MuJoCo's serial trees, for an unchanged simulation loop."""

from . import warp
from .exact import Exact
from .report import Report

__all__ = ["Exact", "Report", "warp"]
