"""Extracts a cluster with loops as a small tree, on which the loop equations are evaluated."""

import dataclasses
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, in_v
from ...constraints.closures import Closure, FrameClosure, JointClosure, RodClosure
from ...constraints.rows import Row
from .evaluate import Equations, loops_of, names_of
from .project import step_lengths, translations


@dataclasses.dataclass(frozen=True, eq=False)
class ClusterLoops:
    """The loop closures and the couplings of one cluster."""

    joints: tuple[int, ...]  # joint ids
    closures: tuple[Closure, ...]  # implicit equations
    rows: tuple[Row, ...]  # couplings, in evaluation order
    independent: tuple[int, ...] = ()  # joint ids that must be independent; if empty, the choice is automatic


def shape(tree: pin.Model, cluster: ClusterLoops) -> Hashable:
    """Return a key that is equal for similar clusters, such as legs; it describes their joints and constraints."""
    position = {j: i for i, j in enumerate(sorted(cluster.joints))}

    def at(j: int) -> int:
        return position.get(int(j), -1)

    joints = tuple((tree.nqs[j], tree.nvs[j], at(tree.parents[j])) for j in position)
    ends = tuple(
        (type(c).__name__, c.size, tuple(map(at, c.joints if isinstance(c, JointClosure) else c.bodies)))
        for c in cluster.closures
    )
    return joints, ends, tuple((at(row.dependent), tuple(map(at, row.masters))) for row in cluster.rows)


def places_of(tree: pin.Model, joints: Sequence[int], velocities: Sequence[int]) -> tuple[int, ...]:
    """Return the indices, within the sorted ``joints``, of the joints that have any of these ``velocities``."""
    return tuple(i for i, j in enumerate(sorted(joints)) if set(in_v(tree, j)) & set(velocities))


@dataclasses.dataclass(frozen=True, eq=False)
class Subtree:
    """The joints of a cluster as a separate tree, in which the universe replaces the body that carries the cluster."""

    tree: pin.Model  # the whole tree
    model: pin.Model  # tree of the cluster's joints
    joints: tuple[int, ...]  # joint ids in the whole tree; joint i + 1 of ``model`` is ``joints[i]``
    equations: Equations  # equations of the closures, in the order of the whole tree
    slides: np.ndarray  # mask of the velocities that are translations, shape (nv,)
    lengths: np.ndarray  # unit step of each velocity, shape (nv,): 1 rad, or the loop length [m] for translations
    scales: np.ndarray  # scale of each row at all poses; for rows without a unit, a typical norm of the row of K
    iq: np.ndarray  # indices in q of the whole tree
    iv: np.ndarray  # indices in v of the whole tree

    @property
    def label(self) -> str:
        return loops_of(self.equations.closures)

    def names(self, joints: Iterable[int] | None = None) -> str:
        return names_of(self.tree, self.joints if joints is None else joints)

    def joint_columns(self, j: int) -> tuple[int, ...]:
        i = self.joints.index(j) + 1
        return tuple(in_v(self.model, i))


def subtree(tree: pin.Model, joints: Sequence[int], closures: Sequence[Closure]) -> Subtree:
    model = pin.Model()
    ordered = tuple(sorted(joints))
    ids = {j: i + 1 for i, j in enumerate(ordered)}
    for j in ordered:
        parent = tree.parents[j]
        model.addJoint(ids.get(parent, 0), tree.joints[j], tree.jointPlacements[j], tree.names[j])
    iq = np.array([i for j in ordered for i in in_q(tree, j)])
    iv = np.array([i for j in ordered for i in in_v(tree, j)])
    equations = Equations(model, with_joints(closures, ids))
    lengths = step_lengths(equations)
    scales = _typical_scales(equations, lengths)
    return Subtree(tree, model, ordered, equations, translations(model), lengths, scales, iq, iv)


def _typical_scales(equations: Equations, lengths: np.ndarray) -> np.ndarray:
    """Return nonzero scales of the rows: root mean squares over random poses, at which the loops may be open."""
    neutral = pin.neutral(equations.tree)
    if all(equations.units):
        return equations.scales(neutral)
    rng = np.random.default_rng(0)
    steps = rng.uniform(-1.0, 1.0, (6, equations.tree.nv)) * lengths
    samples = np.array([equations.scales(pin.integrate(equations.tree, neutral, s)) for s in steps])
    counted = np.isfinite(samples)  # A user's function may be undefined at these poses.
    squares = np.sum(np.where(counted, samples, 0.0) ** 2, axis=0)
    return np.where(counted.any(axis=0), np.sqrt(squares / np.maximum(counted.sum(axis=0), 1)), 1.0)


def with_joints(closures: Sequence[Closure], ids: dict[int, int]) -> list[Closure]:
    """Return the closures with new joint ids; bodies that are not in ``ids`` become the universe."""
    moved: list[Closure] = []
    for c in closures:
        if isinstance(c, JointClosure):
            moved.append(dataclasses.replace(c, joints=tuple(ids[j] for j in c.joints)))
        elif isinstance(c, FrameClosure | RodClosure):
            moved.append(dataclasses.replace(c, joint_a=ids.get(c.joint_a, 0), joint_b=ids.get(c.joint_b, 0)))
        else:
            raise TypeError(f"unknown closure {type(c).__name__}")
    return moved
