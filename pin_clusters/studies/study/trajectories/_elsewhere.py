"""Use recordings of joints other than the independent joints, such as encoder values of a knee or of motors."""

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
    """Make recorded joints (with ``hold``, also joints at rest) independent in the loops whose poses they determine."""
    independent_names: list[str] = []
    for loop in loops_of(model).clusters if model.closures else ():
        names = [model.names[j] for j in loop.joints if model.own_tree.nvs[j] == 1]
        free = [name for name in names if name in model.independent_joints]
        if all(name in recorded for name in free) or not any(name in recorded for name in names):
            continue
        independent_names += next(_choices(model, names, free, recorded, hold), [])
    return with_independent(model, independent_names)[0] if independent_names else model


def _choices(
    model: ClusterModel, names: list[str], free: list[str], recorded: Columns, hold: bool
) -> Iterator[list[str]]:
    recorded_free = [name for name in free if name in recorded]
    candidates = [name for name in names if name in recorded and name not in recorded_free]
    resting = [name for name in free if name not in recorded] if hold else []
    driven = {i for r in model.rotors for i, _ in r.drivers} | {*np.flatnonzero(model.own_tree.effortLimit > 0.0)}
    resting.sort(key=lambda name: joint_of(model, name).idx_v in driven)  # prefer to hold unactuated joints
    for count in range(min(len(candidates), len(free) - len(recorded_free)), 0, -1):
        for added in itertools.combinations(candidates, count):
            for at_rest in itertools.combinations(resting, len(free) - len(recorded_free) - count):
                independent = [*recorded_free, *added, *at_rest]
                try:
                    with_independent(model, independent)
                except ConstraintError:
                    continue
                yield independent


def through_gears(model: ClusterModel, recorded: Columns) -> dict[str, tuple[dict[str, float], float]]:
    """Express unrecorded independent joints outside of loops as sum(ratio * recorded joint) + offset."""
    relations: dict[str, tuple[dict[str, float], float]] = {}
    looped = {model.names[j] for loop in (loops_of(model).clusters if model.closures else ()) for j in loop.joints}
    for cluster in model.clusters:
        unrecorded = [name for name in cluster.independent if name not in recorded]
        recorded_names = [name for name in cluster.joints if name in recorded]
        # The angle of a continuous joint (nq = 2) is only known modulo 2 pi, so its turns cannot be recovered.
        solvable = not looped & set(cluster.joints) and all(joint_of(model, name).nq == 1 for name in cluster.joints)
        if unrecorded and recorded_names and solvable:
            relations |= _solved(model, cluster, recorded_names, unrecorded)
    return relations


def _solved(
    model: ClusterModel, cluster: Cluster, recorded_names: list[str], unrecorded: list[str]
) -> dict[str, tuple[dict[str, float], float]]:
    G = coupling_jacobian(model, model.createData(), model.q_reference)
    columns = [model.joint_idx_v(name) for name in cluster.independent]
    rows = [joint_of(model, name).idx_v for name in recorded_names]
    A = G[np.ix_(rows, columns)]
    if np.linalg.matrix_rank(A) < len(columns):
        return {}
    q = neutral(model)
    offsets = coordinates(model, q, tuple(recorded_names)) - A @ coordinates(model, q, tuple(cluster.independent))
    rows_of = dict(zip(cluster.independent, np.linalg.pinv(A), strict=True))
    return {name: (by_name(recorded_names, rows_of[name]), -float(rows_of[name] @ offsets)) for name in unrecorded}
