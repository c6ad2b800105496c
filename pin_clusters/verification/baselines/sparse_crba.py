"""Forward dynamics by composite inertias, and a factor of the mass matrix that keeps its zeros. Exact.

The composite inertias of the tree with every rotor a body give its mass matrix M_t, where one velocity moves the body
of another. What independent velocities share of M = G' M_t G follows from that: two of different branches share
nothing, those of a cluster and of the clusters between it and the base do. M = L' D L, taken from the tips to the
base, has entries of L where M has them (``nnz_L == nnz_M`` but for couplings of the user that tie branches).

References:
    Featherstone, "Rigid Body Dynamics Algorithms", chapter 6; "Efficient factorization of the joint-space inertia
    matrix for branched kinematic trees".
"""

from ...model import ClusterModel
from ._method import Method, functions_of
from ._patterns import generalized


class SparseCrba(Method):
    """Workspace of this module.

    Attributes:
        nnz_M: Entries below and on the diagonal of the mass matrix that are not zero.
        nnz_L: The same of its factor.
    """

    def __init__(self, model: ClusterModel) -> None:
        function = ("joint_space", "sparse_crba", "forward dynamics by composite inertias")
        super().__init__(model, generalized, function, maximal=False)
        self.nnz_M, self.nnz_L = self.tables.entries_of_M


def createData(model: ClusterModel) -> SparseCrba:
    """Return a workspace for the functions of this module; one per thread.

    Raises:
        NotAvailableError: A constraint is of a kind that has no rows here.
    """
    return SparseCrba(model)


aba, _ = functions_of(SparseCrba, __name__)
