"""Drops loop equations that are redundant at all sampled poses; checks that the other equations imply them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...constraints.closures import BodyClosure, Closure, FrameClosure, HarmonicClosure
from ...errors import ConstraintError
from .evaluate import Equations, gap
from .linear import LinearClosure
from .poses import Pose
from .project import OPEN_TOLERANCE, AssemblyFailure, project, rank_of
from .selection import choose_rows
from .subtree import Subtree

FULL_RANK = 1e-9  # rank tolerance for equations that are not redundant
_BY_ROW: dict[type[Closure], tuple[str, ...]] = {
    FrameClosure: ("rows",),
    HarmonicClosure: ("terms",),
    LinearClosure: ("coefficients", "offsets", "periods"),
}
"""For each class of closures from which single rows can be dropped: the fields that have one entry per row."""


def scales_of(equations: Equations, poses: Sequence[Pose]) -> np.ndarray:
    return np.sqrt(np.mean([equations.scales(p.q) ** 2 for p in poses], axis=0))


def reduce_rows(equations: Equations, Ks: Sequence[np.ndarray], rank: int) -> tuple[list[int], bool]:
    """Choose the rows of K to solve; return their indices, ascending, and whether they outnumber the rank of K.

    ``Ks`` contains one K with scaled rows per regular pose. Side by side, they form one wide matrix. Only a maximal set
    of linearly independent rows of the wide matrix is kept, because each other row is a combination of the kept rows
    with constant coefficients. If the number of kept rows equals the rank, they suffice at all regular poses (planar
    loops in three dimensions, Sarrus' linkage). If it is larger, the column space of K changes with the pose (Bennett's
    linkage), and the rows to solve must be chosen at each pose.
    """
    if rank == 0:
        return [], False
    inseparable: list[int] = []  # rows that are always kept, because their closures cannot drop single rows
    for c, block in zip(equations.closures, equations.rows, strict=True):
        if not isinstance(c, BodyClosure | HarmonicClosure | LinearClosure):
            inseparable += range(block.start, block.stop)
    rows, spanned = choose_rows(np.hstack(Ks), inseparable)
    rows = sorted({*rows, *inseparable})
    return rows, len(rows) > rank or spanned > rank


def subset(closures: Sequence[Closure], rows: Sequence[int]) -> tuple[Closure, ...]:
    reduced: list[Closure] = []
    start = 0
    for c in closures:
        remaining = [i - start for i in rows if start <= i < start + c.size]
        start += c.size
        if len(remaining) == c.size:
            reduced.append(c)
        elif remaining:
            reduced.append(_with_rows(c, remaining))
    return tuple(reduced)


def _with_rows(c: Closure, rows: list[int]) -> Closure:
    fields: dict[str, Any] = {}
    for name in ("labels", "units", *_BY_ROW[type(c)]):
        x = getattr(c, name)
        fields[name] = x[rows] if isinstance(x, np.ndarray) else tuple(x[i] for i in rows)
    return dataclasses.replace(c, **fields)


def closed_on_kept(part: Subtree, start: Pose, solved: Equations, pivoted: bool) -> tuple[np.ndarray, float]:
    """Solve the kept rows to machine precision; return q and the largest scaled residual of all rows."""
    q = start.q
    if not pivoted:
        try:
            q = project(solved, part.model, q, rank_tolerance=FULL_RANK, lengths=part.lengths)
        except AssemblyFailure:
            pass  # At a singular start, q satisfies the equations only within the coarser tolerance of ``project``.
    misses = np.abs(part.equations.evaluate(q)[0]) / part.scales
    return q, float(np.max(misses, initial=0.0))


def check_motion(part: Subtree, solved: Equations, q: np.ndarray) -> None:
    """Raise ``ConstraintError`` if the loops cannot move, because poses that satisfy kept rows violate dropped rows."""
    rng = np.random.default_rng(1)
    _, S, Vt = np.linalg.svd(solved.jacobian(q) / solved.scales(q)[:, None])
    free = Vt[rank_of(S) :]
    farthest: tuple[float, np.ndarray] | None = None
    for _ in range(3):
        step = free.T @ (free @ (part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)))
        longest = np.max(np.abs(step) / part.lengths, initial=0.0)
        if longest < 1e-9:
            return
        start = pin.integrate(part.model, q, step * (0.2 / longest))
        try:
            q_moved = project(solved, part.model, start, rank_tolerance=FULL_RANK, lengths=part.lengths)
        except AssemblyFailure:
            continue
        miss = np.max(np.abs(part.equations.evaluate(q_moved)[0]) / part.scales, initial=0.0)
        if miss < OPEN_TOLERANCE:
            return
        farthest = (miss, q_moved) if farthest is None or miss > farthest[0] else farthest
    if farthest is not None:
        raise ConstraintError(
            f"{gap(part.equations, farthest[1], 'after a small motion')} The loop closes at a single pose only, so the "
            f"mechanism cannot move. Joints of the cluster: {part.names()}. Check the lengths and placements, or lock "
            "these joints (fixed joints) and remove the loop."
        )
