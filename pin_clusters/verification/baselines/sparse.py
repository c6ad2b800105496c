"""Sparse factorisation of the tree with every rotor a body, its couplings and loops as constraints. Exact.

With Pinocchio's Cholesky decomposition of the tree's mass matrix, M = U D U', whose zeros are those of the tree, and
the rows K of everything that ties it, the inverse inertia that a task J feels is

    J M^-1 J' - J M^-1 K' (K M^-1 K')^-1 K M^-1 J'.

Every rotor is a constraint here, so that the system of K grows with the number of gears. A rod that has mass ties
branches of the tree, where a factorisation of the tree has zeros: it is refused. So is a rotor without mass, which
alone has no inertia.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import NotAvailableError
from ...model import ClusterModel
from ._frames import documented_with_loops, rows_of_frames
from ._workspace import check
from .lagrange import LagrangeWorkspace


class SparseWorkspace(LagrangeWorkspace):
    """Workspace with the constraint matrix."""


def createData(model: ClusterModel) -> SparseWorkspace:
    """Return a workspace for the functions of this module; one per thread.

    Raises:
        NotAvailableError: A rod has mass.
    """
    data = SparseWorkspace(model)
    if data.rods is not None:
        raise NotAvailableError(
            f"{data.rods.closures[0].source.label} has mass, which ties branches of the tree where its factorisation "
            "has zeros. Use pin_clusters.verification.baselines.projection."
        )
    return data


@documented_with_loops
def inverse_operational_inertia(
    model: ClusterModel,
    data: SparseWorkspace,
    q: np.ndarray,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
) -> np.ndarray:
    """Compute the inverse operational inertia of a constrained tree from the factorisation of the free one.

    Returns:
        Symmetric, shape (rows, rows).
    """
    check(model, data, SparseWorkspace, __name__)
    q = np.asarray(q, dtype=float)
    combine = None if data.loops is None else data.close(q, np.zeros(model.nv))
    K = data.K if combine is None else combine.T @ data.K
    q = data.configuration(q)
    J = rows_of_frames(model, data, q, frames, reference, rows)
    pin.crba(data.tree, data.data, q)
    pin.cholesky.decompose(data.tree, data.data)
    both = np.vstack([J, K])
    columns = np.stack([pin.cholesky.solve(data.tree, data.data, row) for row in both], axis=1)
    A = both @ columns
    n = len(J)
    task, cross, tie = A[:n, :n], A[:n, n:], A[n:, n:]
    # rows of gears and of loops are made comparable before they are solved
    scale = 1.0 / np.sqrt(tie.diagonal())
    cross, tie = cross * scale, tie * np.outer(scale, scale)
    found = task - cross @ np.linalg.solve(tie, cross.T)
    return 0.5 * (found + found.T)
