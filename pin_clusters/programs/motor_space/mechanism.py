"""Which joints and motors are meant, and how motors turn with the joints of the tree; refused is what does not fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._support.arrays import joint_names
from ..._support.trees import coordinate, in_v, joint_in_v, set_coordinate, slides
from ...algorithms.dynamics.with_independent import with_independent
from ...errors import ModelError, UnknownNameError, UnsupportedJointError, did_you_mean
from ...model import Cluster, ClusterModel, check_model


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A cluster, the joints that are asked about, and its motors.

    Attributes:
        model: As it was given.
        by_joints: The same with the joints as independent ones.
        by_motors: The same with the joints that the motors turn.
        cluster: Whose they are.
        loops: Whether equations tie it that depend on the pose.
        joints: Ids of the joints.
        motors: Names of the motors.
        drivers: Ids of the joints that the motors turn.
        ratios: Positions of the motors = ratios @ positions of the drivers, shape (n, n).
        effort: Largest torques of the motors by the file, shape (n,); NaN if it gives none, [N m] or [N].
        speed: Largest speeds, likewise, [rad/s] or [m/s].
    """

    model: ClusterModel
    by_joints: ClusterModel
    by_motors: ClusterModel
    cluster: Cluster
    loops: bool
    joints: tuple[int, ...]
    motors: tuple[str, ...]
    drivers: tuple[int, ...]
    ratios: np.ndarray
    effort: np.ndarray
    speed: np.ndarray

    @property
    def ids(self) -> list[int]:
        """Joint ids of the cluster."""
        return [self.model.own_tree.getJointId(name) for name in self.cluster.joints]

    def place(self, j: int) -> tuple[str, str]:
        """Return name and unit of a joint."""
        tree = self.model.own_tree
        return tree.names[j], "m" if slides(tree, j) else "rad"

    def values(self, ids: Iterable[int], q: np.ndarray) -> np.ndarray:
        """Return coordinates of joints."""
        return np.array([coordinate(self.model.own_tree, j, q) for j in ids])

    def at(self, x: np.ndarray, q: np.ndarray | None = None) -> np.ndarray:
        """Return q, by default the reference pose, with the joints at x; what depends on them stays."""
        found = np.array(self.model.q_reference if q is None else q)
        for j, value in zip(self.joints, x, strict=True):
            set_coordinate(self.model.own_tree, j, found, float(value))
        return found

    def columns(self, model: ClusterModel) -> list[int]:
        """Return which entries of v are of the mechanism; where the joints are independent, in their order."""
        tree, independent = model.own_tree, model.idx_v_independent.tolist()
        if self.loops and model is self.by_joints:
            return [independent.index(tree.idx_vs[j]) for j in self.joints]
        own = {i for j in self.ids for i in in_v(tree, j)}
        return [k for k, iv in enumerate(independent) if iv in own]

    def of_joints(self, rates: np.ndarray) -> np.ndarray:
        """Return the rows of the joints of those of the tree's velocities."""
        return rates[[self.model.own_tree.idx_vs[j] for j in self.joints]]

    def of_motors(self, rates: np.ndarray) -> np.ndarray:
        """Return the rows of the motors of those of the tree's velocities."""
        return np.asarray(self.ratios @ rates[[self.model.own_tree.idx_vs[j] for j in self.drivers]])


def mechanism_of(model: ClusterModel, joints: Any, motors: Any) -> Mechanism:
    """Return the mechanism of some joints and motors."""
    check_model(model, "MotorSpace")
    tree, wanted, driving = model.own_tree, joint_names("joints", joints), joint_names("motors", motors)
    for what, names in (("joints", wanted), ("motors", driving)):
        if not names or len(set(names)) < len(names):
            raise ModelError(f"MotorSpace: {what} must name at least one, and each once; got {list(names)}.")
    ids = tuple(_joint(model, name, tree.names) for name in wanted)
    rotors = {r.name: r for r in model.rotors}
    rows = []
    for name in driving:
        own = name not in rotors or tree.existJointName(name)
        rows.append(((tree.idx_vs[_joint(model, name, [*tree.names, *rotors])], 1.0),) if own else rotors[name].drivers)
    cluster = next(c for c in model.clusters if wanted[0] in c.joints)
    ivs = sorted({int(iv) for row in rows for iv, _ in row})
    drivers = tuple(joint_in_v(tree, iv) for iv in ivs)
    free = sum(tree.nvs[tree.getJointId(name)] for name in cluster.independent)
    outside = [tree.names[j] for j in (*ids, *drivers) if tree.names[j] not in cluster.joints]
    if outside:
        raise ModelError(
            f"MotorSpace: {outside[0]!r} moves apart from {wanted[0]!r}, which is tied to {', '.join(cluster.joints)}. "
            "Joints and motors must be of one mechanism: make a MotorSpace of each."
        )
    if not len(ids) == len(driving) == len(drivers) == free:
        raise ModelError(
            f"MotorSpace: the mechanism of {', '.join(cluster.joints)} has {free} degrees of freedom; {len(ids)} "
            f"joints and {len(driving)} motors on {len(drivers)} joints were named. Name as many of each."
        )
    if free > 3:
        raise ModelError(f"MotorSpace: the mechanism of {wanted[0]!r} has {free} degrees of freedom; 3 is the most.")
    ratios = np.zeros((free, free))
    for i, row in enumerate(rows):
        for iv, ratio in row:
            ratios[i, ivs.index(int(iv))] += ratio
    if not np.linalg.cond(ratios) < 1e12:
        raise ModelError(f"MotorSpace: the motors {', '.join(driving)} do not turn independently of each other.")
    loops = any(set(loop.joints) & set(ids) for loop in model._topology.analyses)
    by_joints, by_motors = model, model
    if loops:
        by_joints, by_motors = (with_independent(model, [tree.names[j] for j in x])[0] for x in (ids, drivers))
    with np.errstate(divide="ignore"):
        alone = np.where((ratios != 0.0).sum(axis=1) == 1, np.abs(ratios).sum(axis=1), np.nan)
    first = [ivs[int(np.argmax(np.abs(row)))] for row in ratios]
    limits = np.array([tree.effortLimit[first] / alone, tree.velocityLimit[first] * alone])
    effort, speed = np.where((limits > 0.0) & (limits < 1e6), limits, np.nan)
    return Mechanism(
        model, by_joints, by_motors, cluster, loops, ids, driving, drivers, ratios, effort, speed
    )  # fmt: skip


def _joint(model: ClusterModel, name: str, known: Iterable[str]) -> int:
    tree = model.own_tree
    if not tree.existJointName(name) or name == tree.names[0]:
        raise UnknownNameError(f"MotorSpace: model {model.name!r} has no {name!r}.{did_you_mean(name, known)}")
    j = int(tree.getJointId(name))
    if tree.nvs[j] != 1:
        raise UnsupportedJointError(
            f"MotorSpace: joint {name!r} has {tree.nvs[j]} degrees of freedom, and must have one. Name others."
        )
    return j
