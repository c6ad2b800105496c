"""Functions on the valid configurations of a cluster model, which satisfy the couplings and close the loops.

``q`` always contains every joint of the tree, so all Pinocchio functions, viewers and collision checkers accept it.
"""

from .branches import branches as branches
from .distances import dIntegrateTransport as dIntegrateTransport
from .distances import distance as distance
from .distances import isNormalized as isNormalized
from .distances import isSameConfiguration as isSameConfiguration
from .distances import normalize as normalize
from .distances import squaredDistance as squaredDistance
from .manifold import ResidualRow as ResidualRow
from .manifold import check as check
from .manifold import residual as residual
from .manifold import residual_rows as residual_rows
from .motions import difference as difference
from .motions import integrate as integrate
from .motions import interpolate as interpolate
from .points import neutral as neutral
from .points import project as project
from .points import randomConfiguration as randomConfiguration
from .tangents import dDifference as dDifference
from .tangents import dIntegrate as dIntegrate
