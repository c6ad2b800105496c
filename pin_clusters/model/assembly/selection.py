"""Chooses the equations to keep, and the independent joints."""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .project import rank_of

SLACK = 3.0  # A choice is accepted if its largest condition number is at most this multiple of the best.
PREFERRED = 10.0  # A choice with more preferred joints may exceed the best median condition number by this factor.
ENUMERATED = 5000  # Every choice is compared if there are at most this many.


class Chosen(NamedTuple):
    """The chosen independent velocities of a cluster."""

    columns: tuple[int, ...]  # indices of the independent columns, ascending
    worst: float  # largest condition number of the dependent columns K_d over the poses
    best: float  # largest condition number of K_d for the best-conditioned choice
    of_best: tuple[int, ...]  # columns of the best-conditioned choice


def condition_numbers(K: np.ndarray, dependents: Sequence[int]) -> tuple[float, float]:
    """Return cond(K) and cond(K_d) for K with scaled rows; infinity if the matrix is singular or not finite.

    K_d has the columns ``dependents`` of K; their number is the rank of K at regular poses. Rows may be redundant.
    """
    rank = len(dependents)
    if rank == 0:
        return 1.0, 1.0
    if not np.isfinite(K).all():
        return math.inf, math.inf
    return _condition(np.linalg.svd(K, compute_uv=False), rank), float(_worst([K], np.array([dependents]))[0])


def _condition(S: np.ndarray, rank: int) -> float:
    if len(S) < rank or not np.isfinite(S).all() or S[rank - 1] <= 0.0:
        return math.inf
    return float(S[0] / S[rank - 1])


def _conditions(Ks: Sequence[np.ndarray], choices: np.ndarray) -> np.ndarray:
    """Return the condition number of each choice of dependent columns at each pose, shape (poses, choices)."""
    numbers, rank = np.ones((len(Ks), len(choices))), choices.shape[1]
    if rank == 0:
        return numbers
    for conditions, K in zip(numbers, Ks, strict=True):
        if K.shape[0] < rank or not np.isfinite(K).all():
            conditions[:] = math.inf
            continue
        S = np.linalg.svd(np.moveaxis(K[:, choices], 1, 0), compute_uv=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            cond = S[:, 0] / S[:, rank - 1]
        conditions[:] = np.where(np.isfinite(cond), cond, math.inf)
    return numbers


def _worst(Ks: Sequence[np.ndarray], choices: np.ndarray) -> np.ndarray:
    worst: np.ndarray = np.max(_conditions(Ks, choices), axis=0, initial=1.0)
    return worst


def choose_independents(
    Ks: Sequence[np.ndarray],
    groups: Sequence[Sequence[int]],
    rank: int | None = None,
    slack: float = SLACK,
    ranks: Mapping[int, int] | None = None,
) -> Chosen | None:
    """Choose the independent velocities; return None if every choice is singular.

    ``Ks`` contains one K with scaled rows per pose, shape (m, n); rows may be redundant. ``rank`` is the rank of K.
    ``groups`` contains each joint's columns, which are all dependent or all independent; other columns are ignored.
    Candidates are choices whose largest condition number is at most ``slack`` times the best. ``ranks`` contains each
    column's preference rank (low is better). The best candidate has the fewest independent columns of the highest rank,
    then of the second-highest; ties go to lower ranks, then lower indices. Large sets use a greedy search.
    """
    if rank is None:
        rank = max((rank_of(np.linalg.svd(K, compute_uv=False)) for K in Ks), default=0)
    ordered = sorted((tuple(g) for g in groups), key=lambda g: g[0])
    reached = [any(np.any(np.abs(K[:, list(g)]) > 1e-12) for K in Ks) for g in ordered]
    always = [c for g, r in zip(ordered, reached, strict=True) if not r for c in g]
    open_groups = [g for g, r in zip(ordered, reached, strict=True) if r]
    columns = [c for g in open_groups for c in g]
    count = len(columns) - rank
    if count < 0:
        return None
    liked = ranks or dict.fromkeys(columns, 0)
    if _number_of_choices(open_groups, count) <= ENUMERATED:
        choices = sorted(_choices(open_groups, count), key=lambda choice: _dislike(choice, liked))
        best = _best_choice(Ks, choices, columns, slack, liked)
    else:
        best = _greedy_choice(Ks, open_groups, columns, rank, liked)
    if best is None:
        return None
    return best._replace(
        columns=tuple(sorted((*best.columns, *always))), of_best=tuple(sorted((*best.of_best, *always)))
    )


def _dislike(choice: Sequence[int], ranks: Mapping[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sort key of a choice: how many columns have each of the two highest ranks, all ranks, the columns."""
    ranked, last = sorted(ranks[c] for c in choice), max(ranks.values())
    return (*(ranked.count(last - k) for k in (0, 1)), *ranked), tuple(choice)


def _number_of_choices(groups: Sequence[tuple[int, ...]], count: int) -> int:
    ways = [1] + [0] * count
    for g in groups:
        for n in range(count, len(g) - 1, -1):
            ways[n] += ways[n - len(g)]
    return ways[count]


def _choices(groups: Sequence[tuple[int, ...]], count: int) -> Iterator[tuple[int, ...]]:
    singles = [g[0] for g in groups if len(g) == 1]
    large = [g for g in groups if len(g) > 1]
    for used in itertools.product((True, False), repeat=len(large)):
        in_large = [c for g, u in zip(large, used, strict=True) if u for c in g]
        if 0 <= count - len(in_large) <= len(singles):
            for in_singles in itertools.combinations(singles, count - len(in_large)):
                yield tuple(sorted((*in_large, *in_singles)))


def _best_choice(
    Ks: Sequence[np.ndarray],
    choices: Sequence[tuple[int, ...]],
    columns: Sequence[int],
    slack: float,
    ranks: Mapping[int, int],
) -> Chosen | None:
    """Return the first choice whose condition number is within a factor ``slack`` of the best.

    A choice with more preferred joints (not merely joints with limits) is also accepted if it is singular at fewer than
    half of the poses. For example, a driven rocker has singular poses (dead centres).
    """
    if not choices:
        return None
    dependents = np.array([[c for c in columns if c not in choice] for choice in choices], dtype=np.int64)
    worst = _worst(Ks[:2], dependents)  # The first two poses give a lower bound; look() adds the other poses.
    evaluated = np.zeros(len(choices), dtype=bool)

    def look(i: int) -> float:
        if not evaluated[i]:
            worst[i], evaluated[i] = max(worst[i], _worst(Ks[2:], dependents[i : i + 1])[0]), True
        return float(worst[i])

    top, best = math.inf, 0
    for i in np.argsort(worst, kind="stable"):
        if worst[i] >= top:
            break
        if look(i) < top:
            top, best = float(worst[i]), int(i)
    if not top < 1e12:
        return None
    # With the factor 1 + 1e-6, rounding errors do not affect the choice.
    limit = slack * top * (1.0 + 1e-6)
    selected = next(i for i in range(len(choices)) if worst[i] <= limit and look(i) <= limit)
    kind = _dislike(choices[selected], ranks)[0]
    usual = functools.cache(lambda i: float(np.median(_conditions(Ks, dependents[i : i + 1]))))
    for i in range(selected):
        if sum((liked := _dislike(choices[i], ranks)[0])[:2]) >= sum(kind[:2]):
            continue
        if usual(i) <= PREFERRED * usual(best):
            alike = itertools.takewhile(lambda n: _dislike(choices[n], ranks)[0] == liked, range(i, selected))
            least = min(usual(n) for n in alike)
            selected = next(n for n in range(i, selected) if usual(n) <= SLACK * least)
            break
    return Chosen(choices[selected], look(selected), top, choices[best])


def _greedy_choice(
    Ks: Sequence[np.ndarray],
    groups: Sequence[tuple[int, ...]],
    columns: Sequence[int],
    rank: int,
    ranks: Mapping[int, int],
) -> Chosen | None:
    """Make joints dependent one by one, least preferred first, then exchange joints to improve the condition number."""
    dependent: list[int] = []  # indices of the dependent groups
    remainders = [np.array(K) for K in Ks]
    while sum(len(groups[i]) for i in dependent) < rank:
        missing = rank - sum(len(groups[i]) for i in dependent)
        quality = [
            min(float(np.linalg.svd(R[:, list(g)], compute_uv=False)[-1]) for R in remainders)
            if i not in dependent and len(g) <= missing
            else 0.0
            for i, g in enumerate(groups)
        ]
        if max(quality) <= 1e-9:
            return None
        i = max((ranks[groups[k][0]], k) for k, x in enumerate(quality) if x >= 0.3 * max(quality))[1]
        dependent.append(i)
        for R in remainders:
            Q = np.linalg.qr(R[:, list(groups[i])])[0]
            R -= Q @ (Q.T @ R)

    def worst(group_ids: Sequence[int]) -> float:
        return float(_worst(Ks, np.array([sorted(c for i in group_ids for c in groups[i])]))[0])

    now = worst(dependent)
    for _ in range(20):
        swaps = [
            [*(d for d in dependent if d != out), into]
            for out in dependent
            for into in range(len(groups))
            if into not in dependent and len(groups[into]) == len(groups[out])
        ]
        if not swaps:
            break
        sets = np.array([sorted(c for i in s for c in groups[i]) for s in swaps])
        conditions = _worst(Ks, sets)
        i = int(np.argmin(conditions))
        if conditions[i] > 0.5 * now:
            break
        dependent, now = swaps[i], float(conditions[i])
    dependent_columns = {c for i in dependent for c in groups[i]}
    independent = tuple(c for c in columns if c not in dependent_columns)
    return Chosen(independent, now, now, independent)


def choose_rows(union: np.ndarray, first: Sequence[int] = ()) -> tuple[list[int], int]:
    """Choose linearly independent rows of ``union``, preferring ``first``; return the rows and the rank.

    ``union`` contains K with scaled rows at all poses, side by side, shape (m, n). The chosen rows span its row space.
    """
    U, S, _ = np.linalg.svd(union, full_matrices=False)
    rank = rank_of(S)
    remainder = U[:, :rank].copy()
    selected: list[int] = []
    while len(selected) < rank:
        norms = np.linalg.norm(remainder, axis=1)
        early = [i for i in first if norms[i] > 0.1]
        # Choose the first row with at least half of the largest norm, so that rounding errors do not affect the choice.
        i = early[0] if early else int(np.flatnonzero(norms >= 0.5 * norms.max())[0])
        selected.append(i)
        direction = remainder[i] / norms[i]
        remainder -= np.outer(remainder @ direction, direction)
    return sorted(selected), rank
