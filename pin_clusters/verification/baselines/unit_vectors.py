"""Forward dynamics by unit vectors: the mass matrix column by column, by inverse dynamics. Exact.

One inverse dynamics of the tree with every rotor as a body gives h. One more per independent velocity gives a column of
M = G' M_t G: at rest, without gravity, at the accelerations G e_k. Dense Cholesky factorisation then solves with M. The
cost is quadratic for M and cubic, with a small factor, for its Cholesky factor.

References:
    Walker and Orin, "Efficient dynamic computer simulation of robotic mechanisms", method 1; the unit-vector method
    that Yamane and Nakamura compare with.
"""

from ...model import ClusterModel
from ._method import Method, functions_of
from ._patterns import generalized


class UnitVectors(Method):
    """Workspace of this module."""


def createData(model: ClusterModel) -> UnitVectors:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: This baseline does not support a constraint of the model.
    """
    function = ("joint_space", "unit_vectors", "forward dynamics by unit vectors")
    return UnitVectors(model, generalized, function, maximal=False)


aba, _ = functions_of(UnitVectors, __name__)
