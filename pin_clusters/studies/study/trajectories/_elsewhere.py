"""Motions recorded at other joints than the independent ones, such as a knee's own encoder, or those of motors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....algorithms.dynamics.coupling import coupling_jacobian
from ....algorithms.dynamics.with_independent import CoordinateChange, with_independent
from ....errors import ConstraintError
from ....model import Cluster, ClusterModel, loops_of
from ....model.configuration import neutral
from ._base import Motion, coordinates, joint_of

if TYPE_CHECKING:
    from .recorded import Recorded

Columns = Mapping[str, np.ndarray]


def states(recorded: Recorded, model: ClusterModel) -> Motion:
    """Return the motion of a robot, led by the joints that were recorded; as ``Recorded.states`` says."""
    if any(name not in model.names for name in recorded.positions):
        return recorded._states(model)  # which says so
    whole = _with_gears(recorded, model)
    other = _led_by(model, whole.positions, whole.missing == "hold")
    time, q, v, a = whole._states(other)
    if other is not model:
        change = CoordinateChange(other, model)
        rates = [(change.velocity_to_new(*x[:2]), change.acceleration_to_new(*x)) for x in zip(q, v, a, strict=True)]
        v, a = (np.array(part) for part in zip(*rates, strict=True))
    return time, q, v, a


def _with_gears(recorded: Recorded, model: ClusterModel) -> Recorded:
    """Return the recording with the joints that follow from what was recorded at rotors."""
    found = _through_gears(model, recorded.positions)
    kinds = [dict(x) for x in (recorded.positions, recorded.velocities, recorded.accelerations)]
    for name, terms in found.items():
        others = [(n, c * recorded._unit(model, n)) for n, c in terms.items() if n]
        for kind, columns in enumerate(kinds):
            if all(n in columns for n, _ in others):
                value = np.sum([c * columns[n] for n, c in others], axis=0) + (0.0 if kind else terms[""])
                columns[name] = value / recorded._unit(model, name)
    if not found:
        return recorded
    return replace(recorded, positions=kinds[0], velocities=kinds[1], accelerations=kinds[2])


def _led_by(model: ClusterModel, recorded: Columns, hold: bool) -> ClusterModel:
    """Return the robot with independent joints that were recorded, where these determine its loops; else as it is.

    Args:
        model: The robot.
        recorded: Its joints that were recorded.
        hold: Whether joints that were not recorded rest, so that they may be among the independent ones.
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
    resting.sort(key=lambda name: _driven(model, name))  # springs rest rather than motors
    for count in range(min(len(others), len(free) - len(own)), 0, -1):
        for more in itertools.combinations(others, count):
            for rest in itertools.combinations(resting, len(free) - len(own) - count):
                chosen = [*own, *more, *rest]
                try:
                    with_independent(model, chosen)
                except ConstraintError:
                    continue
                yield chosen


def _through_gears(model: ClusterModel, recorded: Columns) -> dict[str, dict[str, float]]:
    """Return, for independent joints that follow from others by constant ratios, how: joint to coefficient.

    The entry of ``""`` is the offset. Clusters with closed loops are not looked at.
    """
    found: dict[str, dict[str, float]] = {}
    looped = {model.names[j] for loop in (loops_of(model).clusters if model.closures else ()) for j in loop.joints}
    for cluster in model.clusters:
        lacking = [name for name in cluster.independent if name not in recorded]
        given = [name for name in cluster.joints if name in recorded]
        if lacking and given and not looped & set(cluster.joints) and _lines(model, cluster):
            found |= _solved(model, cluster, given, lacking)
    return found


def _driven(model: ClusterModel, name: str) -> bool:
    iv = joint_of(model, name).idx_v
    return any(iv == i for r in model.rotors for i, _ in r.drivers) or bool(model.own_tree.effortLimit[iv] > 0.0)


def _lines(model: ClusterModel, cluster: Cluster) -> bool:
    """Whether all joints of a cluster have one coordinate, which no turn leaves open."""
    return all(joint_of(model, name).nq == 1 for name in cluster.joints)


def _solved(model: ClusterModel, cluster: Cluster, given: list[str], lacking: list[str]) -> dict[str, dict[str, float]]:
    G = coupling_jacobian(model, model.createData(), model.q_reference)
    columns = [model.joint_idx_v(name) for name in cluster.independent]
    rows = [joint_of(model, name).idx_v for name in given]
    A = G[np.ix_(rows, columns)]
    if np.linalg.matrix_rank(A) < len(columns):
        return {}
    q = neutral(model)
    at = coordinates(model, q, tuple(given)) - A @ coordinates(model, q, tuple(cluster.independent))
    inverse = np.linalg.pinv(A)
    found: dict[str, dict[str, float]] = {}
    for name in lacking:
        row = inverse[cluster.independent.index(name)]
        found[name] = dict(zip(given, map(float, row), strict=True)) | {"": -float(row @ at)}
    return found
