"""Analysis of closed loops when a model is built: NumPy and Pinocchio, no compiled code."""

from .analysis import Assembly, LoopAnalysis, analyse
from .clusters import ClusterLoops
from .evaluate import Equations
from .linear import Follower, LinearClosure, linear_closure, rounded
from .project import AssemblyFailure, project
from .selection import choose_independents, condition_numbers

__all__ = [
    "Assembly",
    "AssemblyFailure",
    "ClusterLoops",
    "Equations",
    "Follower",
    "LinearClosure",
    "LoopAnalysis",
    "analyse",
    "choose_independents",
    "condition_numbers",
    "linear_closure",
    "project",
    "rounded",
]
