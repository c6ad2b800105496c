"""What turns a tree and constraints into clusters, clusters into the tables of the kernels, and closes loops.

The rest of the package imports from here, never from the modules inside.
"""

from .assembly import Equations as Equations
from .assembly import Follower as Follower
from .assembly import LoopAnalysis as LoopAnalysis
from .assembly import rounded as rounded
from .cluster_data import ClusterData as ClusterData
from .cluster_data import with_loops as with_loops
from .cluster_model import ClusterModel as ClusterModel
from .cluster_model import alike as alike
from .cluster_model import check_model as check_model
from .cluster_model import remake as remake
from .cluster_model import varied as varied
from .continuation import carry as carry
from .derivative_memory import DerivativeMemory as DerivativeMemory
from .elements import Cluster as Cluster
from .elements import RotorElement as RotorElement
from .elements import find_rotors as find_rotors
from .expansion import SpanningTree as SpanningTree
from .expansion import depth_first as depth_first
from .expansion import expand as expand
from .expansion import index_maps as index_maps
from .expansion import joint_forces as joint_forces
from .expansion import rotor_ids as rotor_ids
from .expansion import visit as visit
from .findings import once as once
from .loops import Loops as Loops
from .loops import analysis_of as analysis_of
from .loops import assemble as assemble
from .loops import check_closed as check_closed
from .loops import close as close
from .loops import loops_of as loops_of
from .loops import movers_of as movers_of
from .loops import names_of_cluster as names_of_cluster
from .loops import same_pose as same_pose
from .motors import friction_of_motors as friction_of_motors
from .parameters import ParameterColumns as ParameterColumns
from .parameters import parameter_columns as parameter_columns
from .passive import FRICTION_SPEED as FRICTION_SPEED
from .passive import PassiveForces as PassiveForces
from .primitives import Primitive as Primitive
from .primitives import axis_to_z as axis_to_z
from .primitives import primitives_of as primitives_of
from .repacking import numbers_of as numbers_of
from .repacking import repacked as repacked
from .singular import cluster_at as cluster_at
from .singular import regular_independents as regular_independents
from .singular import singular_error as singular_error
from .singular import weightless_error as weightless_error
from .tree_workspace import NOTHING as NOTHING
from .trees import inertia_tree_of as inertia_tree_of
