"""Exact forward dynamics from the mass matrix, whose columns are inverse dynamics of unit accelerations.

Inverse dynamics of the tree in which every rotor is a body yields the bias h. Column k of M = G' M_t G is the inverse
dynamics for the tree accelerations G e_k, at rest and without gravity. A dense Cholesky factorisation of M then yields
the accelerations. The cost of M grows with the square of the number of velocities; the cost of the factorisation is
cubic, with a small constant.

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
