"""Forward dynamics by composite inertias, with a factor of the mass matrix that keeps its zeros. Exact.

The composite inertias of the tree with every rotor as a body give its mass matrix M_t, which is non-zero where one
velocity moves the body of another. The pattern of M = G' M_t G follows: independent velocities of different branches
have no common entry, but velocities of a cluster and of its ancestors have. In M = L' D L, factorised from the tips to
the base, L has the non-zeros of M (``nnz_L == nnz_M``, except for user couplings between branches).

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
        nnz_M: Number of non-zero entries on and below the diagonal of the mass matrix.
        nnz_L: Number of non-zero entries of its factor.
    """

    def __init__(self, model: ClusterModel) -> None:
        function = ("joint_space", "sparse_crba", "forward dynamics by composite inertias")
        super().__init__(model, generalized, function, maximal=False)
        self.nnz_M, self.nnz_L = self.tables.entries_of_M


def createData(model: ClusterModel) -> SparseCrba:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: This baseline does not support a constraint of the model.
    """
    return SparseCrba(model)


aba, _ = functions_of(SparseCrba, __name__)
