"""Analyses closed loops while a model is built. This code uses only NumPy and Pinocchio, no compiled kernels."""

from .analysis import Assembly as Assembly
from .analysis import LoopAnalysis as LoopAnalysis
from .analysis import analyse as analyse
from .evaluate import Equations as Equations
from .linear import Follower as Follower
from .linear import LinearClosure as LinearClosure
from .linear import linear_closure as linear_closure
from .linear import rounded as rounded
from .project import AssemblyFailure as AssemblyFailure
from .project import project as project
from .selection import choose_independents as choose_independents
from .selection import condition_numbers as condition_numbers
from .subtree import ClusterLoops as ClusterLoops
