"""Condition numbers of the loop-closure constraints."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...model import ClusterData, ClusterModel, loops_of, names_of_cluster
from .._shared import check as _check

# If a condition number exceeds this limit, the smallest singular value is a rounding error and counts as zero.
_LOST = 1.0 / np.finfo(float).eps


class ClusterCondition(NamedTuple):
    """Condition numbers of the loop-closure constraints in one cluster.

    Constraint equations in [m] are divided by the length of the loop; equations in [rad] are not scaled.

    Attributes:
        cluster: Names of the cluster's joints that belong to a loop.
        K: Condition number of the constraint Jacobian: its largest singular value divided by its smallest singular
            value. Singular values that are zero at every pose are ignored. K is infinite at a bifurcation (change
            point), where every choice of independent joints is singular.
        K_d: Condition number of the constraint Jacobian's columns for the dependent joints. K_d is large near a
            singularity of the independent coordinates (dead centre); see ``with_independent``. If K_d exceeds 1e8, the
            algorithms raise ``SingularClusterError``.
    """

    cluster: tuple[str, ...]
    K: float
    K_d: float


@_check.documented(solves=False)
def condition(model: ClusterModel, data: ClusterData, q: ArrayLike) -> tuple[ClusterCondition, ...]:
    """Compute condition numbers, which measure how well the loops of each cluster determine its dependent joints.

    Args:
        q: Configuration of the spanning tree, shape (nq,). Singular configurations are allowed.

    Returns:
        One ``ClusterCondition`` per cluster with loops, in the order of ``model.clusters``. K and K_d have no unit.

    References:
        Golub and Van Loan, "Matrix Computations", section 2.6 (condition and singular values).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.condition(model, model.createData(), pc.neutral(model))[0].K_d.__round__(4)
        1.3746
    """
    q = _check.pose(model, data, q)
    if not model.closures:
        return ()
    loops = loops_of(model)
    return tuple(
        ClusterCondition(names_of_cluster(model, loop.joints), *(math.inf if x > _LOST else float(x) for x in numbers))
        for loop, (*numbers, _) in zip(loops.clusters, loops.conditions(q), strict=True)
    )
