"""Exact operational inertia by sparse factorisation; rotors are bodies, couplings and loops are constraints.

Pinocchio's Cholesky decomposition M = U D U' of the tree's mass matrix has zeros between branches. With the constraint
matrix K, the inverse inertia of a task with Jacobian J is

    J M^-1 J' - J M^-1 K' (K M^-1 K')^-1 K M^-1 J'.

Every rotor adds a constraint, so the size of K M^-1 K' grows with the number of gears. A rod with mass raises an error,
because it couples branches of the tree. A massless rotor raises an error, because the mass matrix is singular.
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
    """Workspace with the constraint matrix K."""


def createData(model: ClusterModel) -> SparseWorkspace:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        NotAvailableError: A rod has mass.
    """
    data = SparseWorkspace(model)
    if data.rods is not None:
        raise NotAvailableError(
            f"{data.rods.closures[0].source.label} has mass and couples branches of the tree, but the sparse "
            "factorisation requires uncoupled branches. Use pin_clusters.verification.baselines.projection."
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
    """Compute the inverse operational inertia, shape (rows, rows), from the factorisation of the unconstrained tree."""
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
    # Scale the rows, because the rows of gears and of loops differ in magnitude.
    scale = 1.0 / np.sqrt(constraint.diagonal())
    cross, constraint = cross * scale, constraint * np.outer(scale, scale)
    inertia = task - cross @ np.linalg.solve(constraint, cross.T)
    return 0.5 * (inertia + inertia.T)
