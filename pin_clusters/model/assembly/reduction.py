"""Rows that repeat others: found over many poses, left out where they do so at all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ...constraints.closures import Closure, FrameClosure, HarmonicClosure, RodClosure
from .evaluate import Equations
from .linear import LinearClosure
from .poses import Pose
from .selection import choose_rows


def scales_of(equations: Equations, poses: Sequence[Pose]) -> np.ndarray:
    """Return one scale per row for all poses: where it is the norm of the row of K, the root mean square of that."""
    return np.sqrt(np.mean([equations.scales(p.q) ** 2 for p in poses], axis=0))


def reduce_rows(equations: Equations, Ks: Sequence[np.ndarray], rank: int) -> tuple[list[int], bool]:
    """Choose the rows to solve.

    Over all poses the columns of K span the range of the equations. A row outside of a maximal independent set of rows
    on that range is a fixed combination of the others, whatever the pose, and can go. If the rows that are left are as
    many as the rank, they do at all regular poses (planar loops written in three dimensions, Sarrus' linkage). If they
    are more, the range turns with the pose (Bennett's linkage) and the choice must be made there.

    Args:
        equations: Of one cluster.
        Ks: With scaled rows, at poses where K has its full rank.
        rank: That rank.

    Returns:
        The rows, ascending, and whether they are more than the rank.
    """
    if rank == 0:
        return [], False
    whole: list[int] = []  # rows that can only stay or go together
    bounds = np.cumsum([0, *equations.sizes])
    for i, c in enumerate(equations.closures):
        if not isinstance(c, FrameClosure | RodClosure | HarmonicClosure | LinearClosure):
            whole += range(bounds[i], bounds[i + 1])
    rows, spanned = choose_rows(np.hstack(Ks), whole)
    rows = sorted({*rows, *whole})
    return rows, len(rows) > rank or spanned > rank


def subset(closures: Sequence[Closure], sizes: Sequence[int], rows: Sequence[int]) -> tuple[Closure, ...]:
    """Return closures with the chosen rows only; those that have none left are dropped."""
    kept: list[Closure] = []
    start = 0
    for c, size in zip(closures, sizes, strict=True):
        mine = [i - start for i in rows if start <= i < start + size]
        start += size
        if len(mine) == size:
            kept.append(c)
        elif mine:
            kept.append(_with_rows(c, mine))
    return tuple(kept)


def _with_rows(c: Closure, rows: list[int]) -> Closure:
    labels, units = tuple(c.labels[i] for i in rows), tuple(c.units[i] for i in rows)
    if isinstance(c, FrameClosure):
        return dataclasses.replace(c, labels=labels, units=units, rows=c.rows[rows])
    if isinstance(c, HarmonicClosure):
        return dataclasses.replace(c, labels=labels, units=units, terms=tuple(c.terms[i] for i in rows))
    if isinstance(c, LinearClosure):
        return dataclasses.replace(
            c, labels=labels, units=units, coefficients=c.coefficients[rows], offsets=c.offsets[rows],
            periods=c.periods[rows],
        )  # fmt: skip
    raise AssertionError(f"{type(c).__name__} cannot lose single rows")
