"""What is fixed when a model with loops is built: reference pose, rows to keep, independent joints."""

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

FAR = 0.5
"""Farthest that projection may take a joint from the given reference, [rad] or part of the loop's length."""
REPORTED = 1e-9
"""Misses of dropped rows above this are told."""


@dataclass(frozen=True, eq=False)
class LoopAnalysis:
    """What was found about one cluster."""

    joints: tuple[int, ...]  # joint ids
    closures: tuple[Closure, ...]  # as given, with the lengths of rods filled in
    # the closures that are solved: redundant rows are gone; couplings on joints of the loops are at the end, as
    # LinearClosure. Closures that lost all rows are left out
    kept: tuple[Closure, ...]
    scales: np.ndarray  # what each kept row is divided by
    pivoted: bool  # whether there are more kept rows than the rank, because the range of K turns with the pose
    dependents: tuple[int, ...]  # idx_v in the tree, ascending
    independents: tuple[int, ...]  # idx_v in the tree, ascending; neither dependent nor of a follower
    followers: tuple[Row, ...]  # couplings that are solved by substitution once the loops are, in order
    rank: int  # of K at regular poses
    dropped: float  # largest miss of a row that is not solved for at the reference, [rad] or part of the loop's length
    worst_condition: float  # of K_d over the sampled poses, rows scaled


@dataclass(frozen=True, eq=False)
class Assembly:
    """A tree whose loops are closed."""

    q_reference: np.ndarray  # assembled configuration of the whole tree
    loops: tuple[LoopAnalysis, ...]  # one per cluster given, in order


def analyse(
    tree: pin.Model,
    clusters: Sequence[ClusterLoops],
    rows: Sequence[Row],
    q_reference: np.ndarray | None = None,
    independent: Sequence[int] | None = None,
    preferred: Sequence[int] = (),
) -> Assembly:
    """Assemble the loops of a tree and choose what is solved for what.

    Args:
        tree: Spanning tree.
        clusters: Those that have closures.
        rows: All couplings of the tree, masters before dependents.
        q_reference: Fixes the branch of each loop and the rods' lengths; shape (tree.nq,). None: near neutral.
        independent: Joint ids that the user wants independent; they replace the wishes of a cluster that holds one.
        preferred: Joint ids that shall rather be independent where that is chosen, best first.

    Returns:
        Reference pose and analysis of each cluster.

    Raises:
        ConfigurationError: The reference pose is not finite, or too far from an assembled one.
        ConstraintError: A loop cannot close or cannot move, a rod spins, or the independent joints do not fit.
        ShapeError: The reference pose has another size.
    """
    q = _given(tree, q_reference)
    loops: list[LoopAnalysis] = []
    substituted = list(rows)
    twins: dict[Any, tuple[int, ...]] = {}  # places of the independent joints in clusters of one shape
    for cluster in clusters:
        wished = tuple(j for j in independent or () if j in cluster.joints) or cluster.independent
        choice = Choice(wished, tuple(preferred), twins.get(shape(tree, cluster), ()))
        loop, here, part = _analyse(tree, cluster, choice, q, q_reference is not None)
        if not wished:
            twins.setdefault(shape(tree, cluster), places_of(tree, cluster.joints, loop.independents))
        q[part.iq] = here
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
    tree: pin.Model, cluster: ClusterLoops, choice: Choice, q: np.ndarray, given: bool
) -> tuple[LoopAnalysis, np.ndarray, Subtree]:
    closures = _with_lengths(tree, cluster.closures, q)
    couplings, followers = split_rows(tree, closures, cluster.rows)
    equations = (*closures, *couplings)
    assert touched(tree, equations) <= set(cluster.joints), "by the path rule"
    part = subtree(tree, cluster.joints, equations)
    branches = Branches(part, closures)
    start = _near(part, q[part.iq]) if given else _anywhere(part, branches)
    for source in branches.left(start.q):
        warnings.warn(
            f"{source.label}: the {'reference pose is not' if given else 'pose found is not'} on the branch that "
            f"branch={source.branch} means, and the pose counts. "
            + ("Write the other branch, or give a pose of this one." if given else "Give a q_reference on it."),
            PinClustersWarning,
            stacklevel=4,
        )
    samples = poses.sample(part, start)
    rank = max(p.rank for p in samples)
    if start.rank < rank and given:
        warnings.warn(
            f"{part.label}: the reference pose is singular: the rank of the loop equations is {start.rank} "
            f"there and {rank} nearby, so it does not say on which branch the mechanism is. Give a pose off it.",
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
    here, dropped = closed_on_kept(part, start, solved, pivoted)
    if not pivoted:
        check_motion(part, solved, here)
    if dropped > REPORTED:
        warnings.warn(
            f"{part.label}: {part.equations.size - rank} of {part.equations.size} loop equations repeat "
            f"others and are not solved; they miss by {dropped:.3g} (rad, or part of the loop's length), as happens "
            "where a file writes 1.5708 for pi/2. Write more digits to have them exact.",
            PinClustersWarning,
            stacklevel=4,
        )
    taken = {c for j in free for c in part.joint_columns(j)}
    return (
        LoopAnalysis(
            joints=part.joints,
            closures=closures,
            kept=kept,
            scales=scales[rows],
            pivoted=pivoted,
            dependents=tuple(int(part.iv[c]) for c in sorted(taken - set(columns))),
            independents=tuple(int(part.iv[c]) for c in columns),
            followers=followers,
            rank=rank,
            dropped=dropped,
            worst_condition=worst,
        ),
        here,
        part,
    )


def _with_lengths(tree: pin.Model, closures: Sequence[Closure], q: np.ndarray) -> tuple[Closure, ...]:
    """Fill in the lengths that rods take from the reference pose."""
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
                    f"{c.source.label}: its ends coincide at the reference pose, so its length would be 0. Give "
                    "length=, a reference pose in which the ends are apart, or use a spherical pc.Loop."
                )
            c = dataclasses.replace(c, length=length)
        filled.append(c)
    return tuple(filled)


def _near(part: Subtree, q: np.ndarray) -> Pose:
    """Assemble near the given pose."""
    cure = "Give a reference pose nearer to an assembled one, or leave it out, and one is looked for."
    try:
        pose = poses.closed_near(part, q)
    except AssemblyFailure as failure:
        raise ConfigurationError(
            f"{gap(part.equations, failure.q)} Nothing nearer to closed is found from the reference pose; cluster of "
            f"joints {part.names()}. {cure} If there is none, check the lengths and placements."
        ) from None
    moved = np.abs(pin.difference(part.model, q, pose.q)) / part.lengths
    if (farthest := np.argmax(moved)) >= 0 and moved[farthest] > FAR:
        j = next(j for j in part.joints if farthest in part.joint_columns(j))
        raise ConfigurationError(
            f"{gap(part.equations, q, 'at the reference pose')} The nearest assembled pose found moves joint "
            f"{part.names([j])} by {moved[farthest] * part.lengths[farthest]:.3g}, which is too far to be the same "
            f"pose. {cure}"
        )
    return pose


def _anywhere(part: Subtree, branches: Branches) -> Pose:
    """Assemble near neutral."""
    try:
        return poses.regular_pose(part, branches)
    except AssemblyFailure as failure:
        raise ConstraintError(
            f"{gap(part.equations, failure.q)} No start closes it; cluster of joints "
            f"{part.names()}. Check the lengths and placements, or give a q_reference that is nearly "
            "closed."
        ) from None
