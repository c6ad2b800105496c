"""Find the motors of a cluster, the joints that they drive, and their torque and speed limits."""

import math
from dataclasses import dataclass

import numpy as np

from ..._support.trees import joint_in_v, slides
from ...model import Cluster, ClusterModel, RotorElement

_NO_EFFORT = 1e6  # Effort and velocity limits above this value count as no limit


@dataclass(frozen=True, eq=False)
class Motor:
    """A motor of a cluster, which is a rotor or, for direct drive, a joint without a rotor."""

    name: str  # name of the rotor or joint
    row: np.ndarray  # the motor speed is ``row @ v_tree``, shape (tree.nv,)
    torque_row: np.ndarray  # a motor torque t corresponds to the tree torques ``torque_row * t``, shape (tree.nv,)
    limit: float  # largest torque, [N m] or [N]; 1 if no limit is given
    given: bool  # whether a torque limit is given
    unit: str  # ``"N m"`` or ``"N"``
    source: str  # description of the source of the limit
    speed: float = 1.0  # largest speed, [rad/s] or [m/s]; 1 if no limit is given


def motors(model: ClusterModel, cluster: Cluster) -> tuple[Motor, ...]:
    """Return a cluster's rotors; if there are none, return independent joints, preferably those with effort limits.

    The torque limit of a rotor is the effort limit of its joint. For a rotor without a joint in the file, it is the
    effort limit of the driven joint divided by the ratio; if such a rotor drives several joints, there is no limit.
    """
    if rotors := [r for r in model.motors if r.name in cluster.rotors]:
        return tuple(_of_rotor(model, r) for r in rotors)
    tree = model.own_tree
    ids = [tree.getJointId(name) for name in cluster.independent]
    ids = [j for j in ids if tree.nvs[j] == 1]
    driven = [j for j in ids if _effort(model, int(tree.idx_vs[j])) is not None] or ids
    return tuple(_of_joint(model, j) for j in driven)


def _of_rotor(model: ClusterModel, r: RotorElement) -> Motor:
    tree = model.own_tree
    row = np.zeros(tree.nv)
    for iv, ratio in r.drivers:
        row[iv] += ratio
    torque_row, limit, source = row, None, ""
    if r.joint_id is not None:
        iv = int(tree.idx_vs[r.joint_id])
        torque_row = np.eye(tree.nv)[iv]
        limit, source = _effort(model, iv), f"effort of {tree.names[r.joint_id]}"
    elif len(r.drivers) == 1:
        iv, ratio = r.drivers[0]
        effort = _effort(model, iv)
        name = tree.names[joint_in_v(tree, iv)]
        limit = None if effort is None or ratio == 0.0 else effort / abs(ratio)
        source = f"effort of {name} over the ratio {abs(ratio):g}"
    return Motor(
        r.name, row, torque_row, limit or 1.0, limit is not None, "N m", source if limit else "", _speed(model, row)
    )


def _of_joint(model: ClusterModel, j: int) -> Motor:
    tree = model.own_tree
    row = np.eye(tree.nv)[tree.idx_vs[j]]
    limit = _effort(model, int(tree.idx_vs[j]))
    unit = "N" if slides(tree, j) else "N m"
    source = f"effort of {tree.names[j]}" if limit else ""
    return Motor(tree.names[j], row, row, limit or 1.0, limit is not None, unit, source, _speed(model, row))


def _effort(model: ClusterModel, iv: int) -> float | None:
    effort = float(model.own_tree.effortLimit[iv])
    return effort if math.isfinite(effort) and 0.0 < effort < _NO_EFFORT else None


def _speed(model: ClusterModel, row: np.ndarray) -> float:
    """Return a motor's speed limit; 1 if there is no limit, or if the motor drives several joints."""
    (ivs,), limits = np.nonzero(row), model.own_tree.velocityLimit
    return float(abs(row[ivs[0]]) * limits[ivs[0]]) if len(ivs) == 1 and 0.0 < limits[ivs[0]] < _NO_EFFORT else 1.0
