"""Sparse factorisation of the tree with every rotor as a body, and couplings and loops as constraints. Exact.

With Pinocchio's Cholesky decomposition M = U D U' of the tree's mass matrix, whose zeros follow from the tree, and the
constraint matrix K, the inverse inertia of a task with Jacobian J is

    J M^-1 J' - J M^-1 K' (K M^-1 K')^-1 K M^-1 J'.

Every rotor is a constraint here, so the system of K grows with the number of gears. A rod with mass couples branches of
the tree, where the factorisation has zeros, so it raises an error. So does a massless rotor, whose mass matrix is
singular.
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
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: A rod has mass.
    """
    data = SparseWorkspace(model)
    if data.rods is not None:
        raise NotAvailableError(
            f"{data.rods.closures[0].source.label} has mass, which couples branches of the tree where the sparse "
            "factorisation has zeros. Use pin_clusters.verification.baselines.projection."
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
    """Compute the inverse operational inertia of the constrained tree from the factorisation of the unconstrained tree.

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
    task_and_constraints = np.vstack([J, K])
    columns = np.stack([pin.cholesky.solve(data.tree, data.data, row) for row in task_and_constraints], axis=1)
    A = task_and_constraints @ columns
    n = len(J)
    task, cross, constraint = A[:n, :n], A[:n, n:], A[n:, n:]
    # Scaling makes rows of gears and of loops comparable before the solution.
    scale = 1.0 / np.sqrt(constraint.diagonal())
    cross, constraint = cross * scale, constraint * np.outer(scale, scale)
    inertia = task - cross @ np.linalg.solve(constraint, cross.T)
    return 0.5 * (inertia + inertia.T)
