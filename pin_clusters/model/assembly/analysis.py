"""Determines the reference pose, the equations to solve and the independent joints of a model with closed loops."""

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import check_finite
from ...constraints.closures import Closure, RodClosure, touched
from ...constraints.rows import Row
from ...errors import ConfigurationError, ConstraintError, PinClustersWarning, ShapeError
from . import poses
from .evaluate import Equations, gap
from .independents import Choice, check_mobility, independent_columns, refuse_spinning_rods
from .linear import follow, split_rows
from .poses import Branches, Pose
from .project import AssemblyFailure
from .reduction import check_motion, closed_on_kept, reduce_rows, scales_of, subset
from .subtree import ClusterLoops, Subtree, places_of, shape, subtree

FAR = 0.5  # maximum change of a joint when q_reference is projected, [rad] or fraction of the loop length
REPORTED = 1e-9  # A dropped equation whose residual exceeds this value causes a warning.


@dataclass(frozen=True, eq=False)
class LoopAnalysis:
    """Result of the analysis of a cluster with closed loops."""

    joints: tuple[int, ...]  # joint ids
    closures: tuple[Closure, ...]  # all closures, with the computed lengths of rods
    kept: tuple[Closure, ...]  # solved equations: closures without redundant rows, then couplings as LinearClosure
    scales: np.ndarray  # scale of each row of ``kept``, by which the row's residual is divided
    pivoted: bool  # True if ``kept`` has more rows than the rank of K, because K's column space changes with the pose
    dependents: tuple[int, ...]  # indices in the tree's v, ascending
    independents: tuple[int, ...]  # indices in the tree's v, ascending; dependent joints of ``followers`` are excluded
    followers: tuple[Row, ...]  # couplings that are evaluated, in this order, after the loops are solved
    rank: int  # rank of K at regular poses
    dropped: float  # largest residual of a dropped row at the reference pose, [rad] or fraction of the loop length
    worst_condition: float  # largest condition number of the scaled K_d over the sampled poses


@dataclass(frozen=True, eq=False)
class Assembly:
    """Result of the analysis of a whole tree with closed loops."""

    q_reference: np.ndarray  # assembled configuration of the whole tree, shape (nq,)
    loops: tuple[LoopAnalysis, ...]  # one result per cluster, in the order of the argument ``clusters``


def analyse(
    tree: pin.Model,
    clusters: Sequence[ClusterLoops],
    rows: Sequence[Row],
    q_reference: np.ndarray | None = None,
    independent: Sequence[int] | None = None,
    preferred: Sequence[int] = (),
) -> Assembly:
    """Close the loops of a tree, and choose the equations to solve and the independent joints.

    ``rows`` contains all couplings of the tree in evaluation order. ``q_reference`` determines the branch of each loop
    and the lengths of rods; if it is None, the search starts at the neutral configuration. ``independent`` contains the
    ids of joints that must be independent; they override the argument ``independent`` of constraints in the same
    cluster. ``preferred`` contains the ids of joints to prefer in the automatic choice, in order of priority.

    Raises:
        ConfigurationError: The reference pose is not finite, or is too far from a pose in which the loops are closed.
        ConstraintError: A loop cannot close or move, a rod can spin freely, or ``independent`` is not a valid choice.
        ShapeError: The size of the reference pose is not nq.
    """
    q = _given(tree, q_reference)
    loops: list[LoopAnalysis] = []
    substituted = list(rows)
    positions_by_shape: dict[Any, tuple[int, ...]] = {}  # result of ``shape`` -> indices of independent joints
    for cluster in clusters:
        required = tuple(j for j in independent or () if j in cluster.joints) or cluster.independent
        choice = Choice(required, tuple(preferred), positions_by_shape.get(shape(tree, cluster), ()))
        loop, q_part, part = _analyse(tree, cluster, choice, q, q_reference is not None)
        if not required:
            positions_by_shape.setdefault(shape(tree, cluster), places_of(tree, cluster.joints, loop.independents))
        q[part.iq] = q_part
        loops.append(loop)
        implicit = [row for row in cluster.rows if not any(row is f for f in loop.followers)]
        substituted = [row for row in substituted if not any(row is i for i in implicit)]
    follow(tree, substituted, q)
    return Assembly(q, tuple(loops))


def _given(tree: pin.Model, q_reference: np.ndarray | None) -> np.ndarray:
    if q_reference is None:
        return pin.neutral(tree)
    q = np.array(q_reference, dtype=np.float64).ravel()
    if q.size != tree.nq:
        raise ShapeError(f"q_reference has size {q.size}; expected nq = {tree.nq} (the whole tree).")
    check_finite(tree, "q_reference", q)
    return pin.normalize(tree, q)


def _analyse(
    tree: pin.Model, cluster: ClusterLoops, choice: Choice, q: np.ndarray, by_user: bool
) -> tuple[LoopAnalysis, np.ndarray, Subtree]:
    closures = _with_lengths(tree, cluster.closures, q)
    couplings, followers = split_rows(tree, closures, cluster.rows)
    equations = (*closures, *couplings)
    assert touched(tree, equations) <= set(cluster.joints), "by the path rule"
    part = subtree(tree, cluster.joints, equations)
    branches = Branches(part, closures)
    start = _near(part, q[part.iq]) if by_user else _anywhere(part, branches)
    for source in branches.left(start.q):
        warnings.warn(
            f"{source.label}: the {'reference' if by_user else 'assembled'} pose is not on the branch that "
            f"branch={source.branch} selects, and the pose takes precedence. "
            + ("Change branch=, or pass a pose on that branch." if by_user else "Pass a q_reference on that branch."),
            PinClustersWarning,
            stacklevel=4,
        )
    samples = poses.sample(part, start)
    rank = max(p.rank for p in samples)
    if start.rank < rank and by_user:
        warnings.warn(
            f"{part.label}: the reference pose is singular: the rank of the loop equations is {start.rank} "
            f"there and {rank} nearby, so this pose does not determine the branch. Pass a reference pose "
            "that is not singular.",
            PinClustersWarning,
            stacklevel=4,
        )
    regular = [p for p in samples if p.rank == rank]
    scales = scales_of(part.equations, regular)
    for_rows = [p.K * (part.scales / scales)[:, None] for p in regular]
    rows, pivoted = reduce_rows(part.equations, for_rows, rank)
    kept = subset(equations, rows)
    refuse_spinning_rods(part, closures, for_rows)
    free = [j for j in part.joints if not any(row.dependent == j for row in followers)]
    check_mobility(part, free, rank)
    columns, worst = independent_columns(part, free, choice, [K[rows] for K in for_rows], rank)
    solved = Equations(part.model, subset(part.equations.closures, rows))
    q_part, dropped = closed_on_kept(part, start, solved, pivoted)
    if not pivoted:
        check_motion(part, solved, q_part)
    if dropped > REPORTED:
        warnings.warn(
            f"{part.label}: {part.equations.size - rank} of {part.equations.size} loop equations are redundant and "
            f"are not solved. Their residual is {dropped:.3g} (rad, or fraction of the loop length). Such residuals "
            "arise, for example, if a file contains 1.5708 instead of pi/2. Write more digits so that the loops close "
            "exactly.",
            PinClustersWarning,
            stacklevel=4,
        )
    free_columns = {c for j in free for c in part.joint_columns(j)}
    return (
        LoopAnalysis(
            joints=part.joints,
            closures=closures,
            kept=kept,
            scales=scales[rows],
            pivoted=pivoted,
            dependents=tuple(int(part.iv[c]) for c in sorted(free_columns - set(columns))),
            independents=tuple(int(part.iv[c]) for c in columns),
            followers=followers,
            rank=rank,
            dropped=dropped,
            worst_condition=worst,
        ),
        q_part,
        part,
    )


def _with_lengths(tree: pin.Model, closures: Sequence[Closure], q: np.ndarray) -> tuple[Closure, ...]:
    if not any(isinstance(c, RodClosure) and c.length is None for c in closures):
        return tuple(closures)
    data = pin.Data(tree)
    pin.forwardKinematics(tree, data, q)
    filled: list[Closure] = []
    for c in closures:
        if isinstance(c, RodClosure) and c.length is None:
            a, b = (data.oMi[j].act(p) for j, p in c.ends)
            length = float(np.linalg.norm(b - a))
            if length < 1e-9:
                raise ConstraintError(
                    f"{c.source.label}: its ends coincide at the reference pose, so its length would be 0. "
                    "Specify length=, pass a reference pose with separate ends, or use a spherical pc.Loop."
                )
            c = dataclasses.replace(c, length=length)
        filled.append(c)
    return tuple(filled)


def _near(part: Subtree, q: np.ndarray) -> Pose:
    cure = "Pass a reference pose that is closer to an assembled pose, or omit q_reference to compute one."
    try:
        pose = poses.closed_near(part, q)
    except AssemblyFailure as failure:
        raise ConfigurationError(
            f"{gap(part.equations, failure.q)} The solver could not close the loop from the reference pose. Joints of "
            f"the cluster: {part.names()}. {cure} If no such pose exists, check the lengths and placements."
        ) from None
    moved = np.abs(pin.difference(part.model, q, pose.q)) / part.lengths
    if (farthest := np.argmax(moved)) >= 0 and moved[farthest] > FAR:
        j = next(j for j in part.joints if farthest in part.joint_columns(j))
        raise ConfigurationError(
            f"{gap(part.equations, q, 'at the reference pose')} The nearest assembled pose moves joint "
            f"{part.names([j])} by {moved[farthest] * part.lengths[farthest]:.3g} (rad or m), which is too far. {cure}"
        )
    return pose


def _anywhere(part: Subtree, branches: Branches) -> Pose:
    try:
        return poses.regular_pose(part, branches)
    except AssemblyFailure as failure:
        raise ConstraintError(
            f"{gap(part.equations, failure.q)} The solver could not close the loop from {1 + len(poses.STARTS)} "
            f"starting poses. Joints of the cluster: {part.names()}. Check the lengths and placements, or pass a "
            "q_reference at which the loops nearly close."
        ) from None
