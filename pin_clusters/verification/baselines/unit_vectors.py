"""Forward dynamics by unit vectors: the mass matrix column by column, by inverse dynamics. Exact.

One inverse dynamics of the tree with every rotor a body gives h, one for each independent velocity a column of
M = G' M_t G: at rest, without gravity, at the accelerations G e_k. Then M is solved by dense Cholesky. The cost is
quadratic for M and cubic, with a small factor, for its Cholesky factor.

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
    """Return a workspace for the functions of this module; one per thread.

    Raises:
        NotAvailableError: A constraint is of a kind that has no rows here.
    """
    function = ("joint_space", "unit_vectors", "forward dynamics by unit vectors")
    return UnitVectors(model, generalized, function, maximal=False)


aba, _ = functions_of(UnitVectors, __name__)
