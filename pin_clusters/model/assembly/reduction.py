"""Rows that repeat others: found over many poses, left out where they do so at all of them.

The rows that are kept are then put to the test: they close the reference pose, and the others with it.
"""

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

FULL_RANK = 1e-9
"""Rank tolerance where no row is redundant."""
_BY_ROW: dict[type[Closure], tuple[str, ...]] = {
    FrameClosure: ("rows",),
    HarmonicClosure: ("terms",),
    LinearClosure: ("coefficients", "offsets", "periods"),
}
"""What has an entry per row, in closures that can lose single ones."""


def scales_of(equations: Equations, poses: Sequence[Pose]) -> np.ndarray:
    """Return one scale per row for all poses: where it is the norm of the row of K, the root mean square of that."""
    return np.sqrt(np.mean([equations.scales(p.q) ** 2 for p in poses], axis=0))


def reduce_rows(equations: Equations, Ks: Sequence[np.ndarray], rank: int) -> tuple[list[int], bool]:
    """Choose the rows to solve; return them, ascending, and whether they are more than the rank.

    Over all poses the columns of K span the range of the equations. A row outside of a maximal independent set of rows
    on that range is a fixed combination of the others, whatever the pose, and can go. If the rows that are left are as
    many as the rank, they do at all regular poses (planar loops written in three dimensions, Sarrus' linkage). If they
    are more, the range turns with the pose (Bennett's linkage) and the choice must be made there.

    ``Ks`` has scaled rows, at poses where K has its full rank.
    """
    if rank == 0:
        return [], False
    whole: list[int] = []  # rows that can only stay or go together
    for c, own in zip(equations.closures, equations.rows, strict=True):
        if not isinstance(c, BodyClosure | HarmonicClosure | LinearClosure):
            whole += range(own.start, own.stop)
    rows, spanned = choose_rows(np.hstack(Ks), whole)
    rows = sorted({*rows, *whole})
    return rows, len(rows) > rank or spanned > rank


def subset(closures: Sequence[Closure], rows: Sequence[int]) -> tuple[Closure, ...]:
    """Return closures with the chosen rows only; those that have none left are dropped."""
    kept: list[Closure] = []
    start = 0
    for c in closures:
        mine = [i - start for i in rows if start <= i < start + c.size]
        start += c.size
        if len(mine) == c.size:
            kept.append(c)
        elif mine:
            kept.append(_with_rows(c, mine))
    return tuple(kept)


def _with_rows(c: Closure, rows: list[int]) -> Closure:
    kept: dict[str, Any] = {}
    for name in ("labels", "units", *_BY_ROW[type(c)]):
        x = getattr(c, name)
        kept[name] = x[rows] if isinstance(x, np.ndarray) else tuple(x[i] for i in rows)
    return dataclasses.replace(c, **kept)


def closed_on_kept(part: Subtree, start: Pose, solved: Equations, pivoted: bool) -> tuple[np.ndarray, float]:
    """Close the kept rows to the last digit; return the pose and the largest scaled residual of all rows there."""
    q = start.q
    if not pivoted:
        try:
            q = project(solved, part.model, q, rank_tolerance=FULL_RANK, lengths=part.lengths)
        except AssemblyFailure:
            pass  # a singular start that the rank tolerance let pass: it is closed up to that
    misses = np.abs(part.equations.evaluate(q)[0]) / part.scales
    return q, float(np.max(misses, initial=0.0))


def check_motion(part: Subtree, solved: Equations, q: np.ndarray) -> None:
    """Check that rows which were left out stay closed when the others are solved at some distance.

    They do not where a loop closes at a single pose only, as two links that are just long enough when stretched: there
    K has a null space, but nothing can move.
    """
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
            there = project(solved, part.model, start, rank_tolerance=FULL_RANK, lengths=part.lengths)
        except AssemblyFailure:
            continue
        miss = np.max(np.abs(part.equations.evaluate(there)[0]) / part.scales, initial=0.0)
        if miss < OPEN_TOLERANCE:
            return
        farthest = (miss, there) if farthest is None or miss > farthest[0] else farthest
    if farthest is not None:
        raise ConstraintError(
            f"{gap(part.equations, farthest[1], 'a small motion away')} It closes at a single pose only, so the "
            f"mechanism cannot move; cluster of joints {part.names()}. Check the lengths and "
            "placements, or lock these joints (fixed joints) and leave the loop out."
        )
