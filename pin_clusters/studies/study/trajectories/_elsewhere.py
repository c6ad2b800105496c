"""Motions recorded at other joints than the independent ones, such as a knee's own encoder, or those of motors."""

import itertools
from collections.abc import Iterator

import numpy as np

from ....algorithms.dynamics.coupling import coupling_jacobian
from ....algorithms.dynamics.with_independent import with_independent
from ....errors import ConstraintError
from ....model import Cluster, ClusterModel, loops_of
from ....model.configuration import neutral
from ...pages.results import by_name
from ._base import Columns, coordinates, joint_of


def led_by(model: ClusterModel, recorded: Columns, hold: bool) -> ClusterModel:
    """Return the robot with independent joints that were recorded, where these determine its loops; else as it is.

    ``hold``: joints that were not recorded rest, so that they may be among the independent ones.
    """
    wished: list[str] = []
    for loop in loops_of(model).clusters if model.closures else ():
        names = [model.names[j] for j in loop.joints if model.own_tree.nvs[j] == 1]
        free = [name for name in names if name in model.independent_joints]
        if all(name in recorded for name in free) or not any(name in recorded for name in names):
            continue
        wished += next(_choices(model, names, free, recorded, hold), [])
    return with_independent(model, wished)[0] if wished else model


def _choices(
    model: ClusterModel, names: list[str], free: list[str], recorded: Columns, hold: bool
) -> Iterator[list[str]]:
    """Go through independent joints of a cluster that were recorded (or rest) and that determine the others."""
    own = [name for name in free if name in recorded]
    others = [name for name in names if name in recorded and name not in own]
    resting = [name for name in free if name not in recorded] if hold else []
    driven = {i for r in model.rotors for i, _ in r.drivers} | {*np.flatnonzero(model.own_tree.effortLimit > 0.0)}
    resting.sort(key=lambda name: joint_of(model, name).idx_v in driven)  # springs rest rather than motors
    for count in range(min(len(others), len(free) - len(own)), 0, -1):
        for more in itertools.combinations(others, count):
            for rest in itertools.combinations(resting, len(free) - len(own) - count):
                chosen = [*own, *more, *rest]
                try:
                    with_independent(model, chosen)
                except ConstraintError:
                    continue
                yield chosen


def through_gears(model: ClusterModel, recorded: Columns) -> dict[str, tuple[dict[str, float], float]]:
    """Return, for independent joints that follow from others by constant ratios, the coefficients and the offset.

    Clusters with closed loops are not looked at.
    """
    found: dict[str, tuple[dict[str, float], float]] = {}
    looped = {model.names[j] for loop in (loops_of(model).clusters if model.closures else ()) for j in loop.joints}
    for cluster in model.clusters:
        lacking = [name for name in cluster.independent if name not in recorded]
        given = [name for name in cluster.joints if name in recorded]
        # all have one coordinate, which no turn leaves open
        plain = not looped & set(cluster.joints) and all(joint_of(model, name).nq == 1 for name in cluster.joints)
        if lacking and given and plain:
            found |= _solved(model, cluster, given, lacking)
    return found


def _solved(
    model: ClusterModel, cluster: Cluster, given: list[str], lacking: list[str]
) -> dict[str, tuple[dict[str, float], float]]:
    G = coupling_jacobian(model, model.createData(), model.q_reference)
    columns = [model.joint_idx_v(name) for name in cluster.independent]
    rows = [joint_of(model, name).idx_v for name in given]
    A = G[np.ix_(rows, columns)]
    if np.linalg.matrix_rank(A) < len(columns):
        return {}
    q = neutral(model)
    at = coordinates(model, q, tuple(given)) - A @ coordinates(model, q, tuple(cluster.independent))
    rows_of = dict(zip(cluster.independent, np.linalg.pinv(A), strict=True))
    return {name: (by_name(given, rows_of[name]), -float(rows_of[name] @ at)) for name in lacking}
