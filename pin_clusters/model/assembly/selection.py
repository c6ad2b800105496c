"""Which rows are kept, and which joints are independent."""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .project import rank_of

SLACK = 3.0
"""A choice is as good as the best one if its worst condition is within this factor."""
PREFERRED = 10.0
"""A choice with more preferred joints is good enough if its usual condition is within this factor."""
ENUMERATED = 5000
"""More choices than this are not tried one by one."""


class Chosen(NamedTuple):
    """Independent velocities."""

    columns: tuple[int, ...]  # ascending
    worst: float  # condition of the dependent ones, over the poses
    best: float  # that of the best choice
    of_best: tuple[int, ...]  # its columns


def condition_numbers(K: np.ndarray, dependents: Sequence[int]) -> tuple[float, float]:
    """Return the condition numbers of K and of its dependent columns.

    Args:
        K: Rows scaled, shape (m, n); may hold redundant rows.
        dependents: As many columns as K has rank where the mechanism is regular.

    Returns:
        cond(K), cond(K_d); infinite where they are singular or K is not finite.
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
    """Return the condition of each choice of dependent columns at each pose, shape (poses, choices)."""
    found, rank = np.ones((len(Ks), len(choices))), choices.shape[1]
    if rank == 0:
        return found
    for conditions, K in zip(found, Ks, strict=True):
        if K.shape[0] < rank or not np.isfinite(K).all():
            conditions[:] = math.inf
            continue
        S = np.linalg.svd(np.moveaxis(K[:, choices], 1, 0), compute_uv=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            cond = S[:, 0] / S[:, rank - 1]
        conditions[:] = np.where(np.isfinite(cond), cond, math.inf)
    return found


def _worst(Ks: Sequence[np.ndarray], choices: np.ndarray) -> np.ndarray:
    """Return the worst condition over poses of each choice of dependent columns, shape (choices,)."""
    worst: np.ndarray = np.max(_conditions(Ks, choices), axis=0, initial=1.0)
    return worst


def choose_independents(
    Ks: Sequence[np.ndarray],
    groups: Sequence[Sequence[int]],
    rank: int | None = None,
    slack: float = SLACK,
    ranks: Mapping[int, int] | None = None,
) -> Chosen | None:
    """Choose independent velocities.

    Of the admissible choices whose worst condition over the poses is within ``slack`` of the best, those that are
    liked most; of these, the one with the lowest columns. Where there are too many to try, a greedy one.

    Args:
        Ks: K with scaled rows at some poses, each (m, n); rows may be redundant.
        groups: Columns of each joint; a joint is wholly dependent or wholly independent. What is in no group is
            neither.
        rank: Of K; found if None.
        slack: A choice is as good as the best one if its worst condition is within this factor.
        ranks: How much each column is liked, the lowest number most; those with the two highest are liked by number
            only.

    Returns:
        The choice; None if none is regular.
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
    """Return what orders choices: fewest of the two highest ranks, then the most liked, then the lowest columns."""
    found, last = sorted(ranks[c] for c in choice), max(ranks.values())
    return (*(found.count(last - k) for k in (0, 1)), *found), tuple(choice)


def _number_of_choices(groups: Sequence[tuple[int, ...]], count: int) -> int:
    """Return how many sets of whole groups have ``count`` columns."""
    ways = [1] + [0] * count
    for g in groups:
        for n in range(count, len(g) - 1, -1):
            ways[n] += ways[n - len(g)]
    return ways[count]


def _choices(groups: Sequence[tuple[int, ...]], count: int) -> Iterator[tuple[int, ...]]:
    singles = [g[0] for g in groups if len(g) == 1]
    large = [g for g in groups if len(g) > 1]
    for used in itertools.product((True, False), repeat=len(large)):
        taken = [c for g, u in zip(large, used, strict=True) if u for c in g]
        if 0 <= count - len(taken) <= len(singles):
            for rest in itertools.combinations(singles, count - len(taken)):
                yield tuple(sorted((*taken, *rest)))


def _best_choice(
    Ks: Sequence[np.ndarray],
    choices: Sequence[tuple[int, ...]],
    columns: Sequence[int],
    slack: float,
    ranks: Mapping[int, int],
) -> Chosen | None:
    """Take the first choice that is as good as the best.

    What has more of the joints that are preferred (and not only limited) may be bad at some poses, as a driven rocker
    has dead centres, but not at half of them.
    """
    if not choices:
        return None
    dependents = np.array([[c for c in columns if c not in choice] for choice in choices], dtype=np.int64)
    worst = _worst(Ks[:2], dependents)  # of two poses: a lower bound; the others are looked at where it matters
    known = np.zeros(len(choices), dtype=bool)

    def look(i: int) -> float:
        if not known[i]:
            worst[i], known[i] = max(worst[i], _worst(Ks[2:], dependents[i : i + 1])[0]), True
        return float(worst[i])

    top, at = math.inf, 0
    for i in np.argsort(worst, kind="stable"):
        if worst[i] >= top:
            break
        if look(i) < top:
            top, at = float(worst[i]), int(i)
    if not top < 1e12:
        return None
    # 1 + 1e-6: rounding must not decide
    limit = slack * top * (1.0 + 1e-6)
    taken = next(i for i in range(len(choices)) if worst[i] <= limit and look(i) <= limit)
    kind = _dislike(choices[taken], ranks)[0]
    usual = functools.cache(lambda i: float(np.median(_conditions(Ks, dependents[i : i + 1]))))
    for i in range(taken):
        if sum((liked := _dislike(choices[i], ranks)[0])[:2]) >= sum(kind[:2]):
            continue
        if usual(i) <= PREFERRED * usual(at):
            alike = itertools.takewhile(lambda n: _dislike(choices[n], ranks)[0] == liked, range(i, taken))
            least = min(usual(n) for n in alike)
            taken = next(n for n in range(i, taken) if usual(n) <= SLACK * least)
            break
    return Chosen(choices[taken], look(taken), top, choices[at])


def _greedy_choice(
    Ks: Sequence[np.ndarray],
    groups: Sequence[tuple[int, ...]],
    columns: Sequence[int],
    rank: int,
    ranks: Mapping[int, int],
) -> Chosen | None:
    """Take dependents one joint after the other: the least liked, last joints first where they are about as good.

    Then exchange. What is best is not known here: the choice counts as such.
    """
    dependent: list[int] = []  # indices of groups
    rest = [np.array(K) for K in Ks]
    while sum(len(groups[i]) for i in dependent) < rank:
        left = rank - sum(len(groups[i]) for i in dependent)
        quality = [
            min(float(np.linalg.svd(R[:, list(g)], compute_uv=False)[-1]) for R in rest)
            if i not in dependent and len(g) <= left
            else 0.0
            for i, g in enumerate(groups)
        ]
        if max(quality) <= 1e-9:
            return None
        i = max((ranks[groups[k][0]], k) for k, x in enumerate(quality) if x >= 0.3 * max(quality))[1]
        dependent.append(i)
        for R in rest:
            Q = np.linalg.qr(R[:, list(groups[i])])[0]
            R -= Q @ (Q.T @ R)

    def worst(chosen: Sequence[int]) -> float:
        return float(_worst(Ks, np.array([sorted(c for i in chosen for c in groups[i])]))[0])

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
    chosen = {c for i in dependent for c in groups[i]}
    found = tuple(c for c in columns if c not in chosen)
    return Chosen(found, now, now, found)


def choose_rows(union: np.ndarray, first: Sequence[int] = ()) -> tuple[list[int], int]:
    """Choose rows of which all others are fixed combinations, the ``first`` before others; return them, and the rank.

    ``union`` is K with scaled rows at all poses, side by side, shape (m, many).
    """
    U, S, _ = np.linalg.svd(union, full_matrices=False)
    rank = rank_of(S)
    rest = U[:, :rank].copy()
    chosen: list[int] = []
    while len(chosen) < rank:
        norms = np.linalg.norm(rest, axis=1)
        early = [i for i in first if norms[i] > 0.1]
        # the lowest of those that are about as good as the best: rounding does not decide
        i = early[0] if early else int(np.flatnonzero(norms >= 0.5 * norms.max())[0])
        chosen.append(i)
        direction = rest[i] / norms[i]
        rest -= np.outer(rest @ direction, direction)
    return sorted(chosen), rank
