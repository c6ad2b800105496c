"""Forward dynamics by unit vectors: inverse dynamics gives each column of the mass matrix. Exact.

One inverse dynamics of the tree in which every rotor is a body gives h. For each independent velocity, an inverse
dynamics at rest, without gravity, with the accelerations G e_k gives a column of M = G' M_t G. A dense Cholesky
factorisation of M then gives the accelerations. The cost is quadratic for M, and cubic for its factor, with a small
constant.

References:
    Walker and Orin, "Efficient dynamic computer simulation of robotic mechanisms", method 1. Yamane and Nakamura also
    compare their algorithm with this method.
"""

from ...model import ClusterModel
from ._method import Method, functions_of
from ._patterns import generalized


class UnitVectors(Method):
    """Workspace of this module."""


def createData(model: ClusterModel) -> UnitVectors:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: The baseline does not support a constraint of the model.
    """
    function = ("joint_space", "unit_vectors", "forward dynamics by unit vectors")
    return UnitVectors(model, generalized, function, maximal=False)


aba, _ = functions_of(UnitVectors, __name__)
