"""What turns a tree and constraints into clusters, clusters into the tables of the kernels, and closes loops.

The rest of the package imports from here, never from the modules inside.
"""

from __future__ import annotations

from .assembly import Equations, Follower, LoopAnalysis, rounded
from .cluster_data import ClusterData, with_loops
from .cluster_model import ClusterModel, alike, remake
from .continuation import carry
from .derivative_memory import DerivativeMemory
from .elements import Cluster, RotorElement
from .expansion import SpanningTree, depth_first, expand, index_maps, joint_forces, rotor_ids, visit
from .findings import once
from .loops import Loops, analysis_of, assemble, check_closed, close, loops_of, names_of_cluster, same_pose
from .parameters import ParameterColumns, parameter_columns
from .passive import FRICTION_SPEED, PassiveForces
from .primitives import Primitive, axis_to_z, primitives_of
from .repacking import numbers_of, repacked
from .singular import cluster_at, regular_independents, singular_error, weightless_error
from .tree_workspace import NOTHING

__all__ = [
    "FRICTION_SPEED",
    "NOTHING",
    "Cluster",
    "ClusterData",
    "ClusterModel",
    "DerivativeMemory",
    "Equations",
    "Follower",
    "LoopAnalysis",
    "Loops",
    "ParameterColumns",
    "PassiveForces",
    "Primitive",
    "RotorElement",
    "SpanningTree",
    "alike",
    "analysis_of",
    "assemble",
    "axis_to_z",
    "carry",
    "check_closed",
    "close",
    "cluster_at",
    "depth_first",
    "expand",
    "index_maps",
    "joint_forces",
    "loops_of",
    "names_of_cluster",
    "numbers_of",
    "once",
    "parameter_columns",
    "primitives_of",
    "regular_independents",
    "remake",
    "repacked",
    "rotor_ids",
    "rounded",
    "same_pose",
    "singular_error",
    "visit",
    "weightless_error",
    "with_loops",
]
