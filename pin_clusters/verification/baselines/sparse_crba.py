"""Exact forward dynamics by composite inertias and a sparse factorisation of the mass matrix.

Composite inertias yield the mass matrix M_t of the tree in which every rotor is a body. An entry of M_t is non-zero if
the joint of its row moves the body of the joint of its column, or vice versa. In M = G' M_t G, entries of independent
velocities on different branches are therefore zero. M = L' D L is factorised from the tips to the base, and L has the
same non-zero entries as M (``nnz_L == nnz_M``), unless a constraint couples branches.

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
        nnz_L: Number of non-zero entries of the factor.
    """

    def __init__(self, model: ClusterModel) -> None:
        function = ("joint_space", "sparse_crba", "forward dynamics by composite inertias")
        super().__init__(model, generalized, function, maximal=False)
        self.nnz_M, self.nnz_L = self.tables.entries_of_M


def createData(model: ClusterModel) -> SparseCrba:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: The baseline does not support a constraint of the model.
    """
    return SparseCrba(model)


aba, _ = functions_of(SparseCrba, __name__)
