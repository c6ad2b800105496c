"""How well the loops determine the motion."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...model import ClusterData, ClusterModel, loops_of, names_of_cluster
from .._shared import check as _check

# beyond this a singular value is rounding
_LOST = 1.0 / np.finfo(float).eps


class ClusterCondition(NamedTuple):
    """Condition numbers of the loops of one cluster; rows scaled: metres by the length of the loop, radians by 1.

    Attributes:
        cluster: Names of its joints that the loops move.
        K: Of all columns, largest singular value over the smallest that is not always 0; infinite at a change point,
            where the mechanism gains a freedom and no choice of independent joints is regular.
        K_d: Of the dependent columns; large near a dead centre of the independent joints: others would be better, see
            ``with_independent``. Above 1e8 the algorithms raise ``SingularClusterError``.
    """

    cluster: tuple[str, ...]
    K: float
    K_d: float


@_check.documented(solves=False)
def condition(model: ClusterModel, data: ClusterData, q: ArrayLike) -> tuple[ClusterCondition, ...]:
    """Return how well the loops of each cluster determine its dependent joints.

    Args:
        q: Configuration of the whole tree, shape (nq,); it may be singular.

    Returns:
        One ``(cluster, K, K_d)`` per cluster with loops, in the order of ``model.clusters``; none for a model without.

    References:
        Golub and Van Loan, "Matrix Computations", section 2.6 (condition and singular values).

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> pc.condition(model, model.createData(), pc.neutral(model))
        ()
    """
    q = _check.pose(model, data, q)
    if not model.closures:
        return ()
    loops = loops_of(model)
    return tuple(
        ClusterCondition(names_of_cluster(model, loop.joints), *(math.inf if x > _LOST else float(x) for x in found))
        for loop, (*found, _) in zip(loops.clusters, loops.conditions(q), strict=True)
    )
