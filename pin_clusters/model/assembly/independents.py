"""Mechanisms that cannot move or spin idly, and the joints that lead."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q
from ...constraints.closures import Closure, FrameClosure
from ...errors import ConstraintError, PinClustersWarning
from .project import RANK_TOLERANCE, rank_of
from .selection import SLACK, Chosen, choose_independents, condition_numbers
from .subtree import Subtree

REGULAR = 1.0 / RANK_TOLERANCE
"""K_d must be better conditioned than this at some pose."""
TOLD = 5.0
"""A choice that is worse than the best by this factor is told."""


def check_mobility(part: Subtree, free: Sequence[int], rank: int) -> None:
    """Check that a cluster can move."""
    count = sum(len(part.joint_columns(j)) for j in free)
    if count - rank == 0:
        taken = f"all {count} degrees of freedom of the joints" if count > 1 else "the one degree of freedom of joint"
        raise ConstraintError(
            f"{part.label}: the mechanism cannot move: the loops take {taken} {part.names()}. Lock "
            "these joints (fixed joints) and leave the loops out, or use loops that take less."
        )


def refuse_spinning_rods(part: Subtree, closures: Sequence[Closure], Ks: Sequence[np.ndarray]) -> None:
    """Refuse a rod body between two spherical connections: it can spin about itself, and nothing says how fast.

    The loop's end is spherical and ties the body only there; the other end is a spherical joint, or joints that make
    three rotations about one point, and the motion of the loop's point has rank two at all poses.
    """
    tree = part.tree
    for c in closures:
        if not isinstance(c, FrameClosure) or c.rotation != "none" or np.linalg.matrix_rank(c.rows[:, :3]) < 3:
            continue
        for body in c.bodies:
            if body not in part.joints or any(body in other.bodies for other in closures if other is not c):
                continue
            if any(tree.parents[j] == body for j in part.joints):
                continue
            chain = _spherical_chain(part, body)
            columns = [i for k in chain for i in part.joint_columns(k)]
            if chain and all(rank_of(np.linalg.svd(K[:, columns], compute_uv=False)) == 2 for K in Ks):
                raise ConstraintError(
                    f"{c.source.label}: the body of joint {tree.names[body]!r} hangs between two spherical "
                    f"connections ({part.names(chain)} and the loop), so it can spin about itself, and nothing "
                    "determines that motion. Leave the body out and use pc.Rod (inertia= has its inertia), or give "
                    "it a universal joint at one end."
                )


def _spherical_chain(part: Subtree, body: int) -> list[int]:
    """Return the joints that connect a body by three rotations about one point, first to last; empty if none do."""
    tree, chain = part.tree, list[int]()
    j = body
    while j in part.joints:
        chain.insert(0, j)
        columns = [i for k in chain for i in part.joint_columns(k)]
        if len(columns) > 3 or part.slides[columns].any():
            return []
        if len(columns) == 3:
            return chain
        if np.linalg.norm(tree.jointPlacements[j].translation) > 1e-9:
            return []
        j = tree.parents[j]
        if sum(tree.parents[k] == j for k in part.joints) > 1:
            return []  # something else hangs there, so it is no end of the rod
    return []


@dataclass(frozen=True)
class Choice:
    """What is said about the independent joints of a cluster, in joint ids."""

    wished: tuple[int, ...] = ()  # they shall be independent; empty: choose
    preferred: tuple[int, ...] = ()  # they shall rather be, best first
    twin: tuple[int, ...] = ()  # places in the cluster of those that a cluster of the same shape has


def independent_columns(
    part: Subtree, free: Sequence[int], choice: Choice, Ks: Sequence[np.ndarray], rank: int
) -> tuple[tuple[int, ...], float]:
    """Return the independent velocities, in the subtree, and the worst condition of the dependent ones.

    ``free`` are joints that do not follow others by substitution; ``Ks`` is K, of that rank, with scaled rows at
    regular poses.
    """
    groups, wished = [part.joint_columns(j) for j in free], choice.wished
    chosen = choose_independents(Ks, groups, rank, ranks=_ranks(part, choice))
    columns = {c for g in groups for c in g}
    count = len(columns) - rank
    label, names = part.label, part.names()
    if not wished:
        if chosen is None:
            raise ConstraintError(
                f"{label}: no choice of independent joints among {names} works: {count} of {len(columns)} velocities "
                "must be independent, and a joint of several degrees of freedom is independent or dependent as a "
                "whole. Split such a joint into joints of one degree of freedom."
            )
        return _said(part, _alike(part, free, choice.twin, Ks, rank, chosen))
    if wrong := [j for j in wished if j not in free]:
        raise ConstraintError(
            f"{label}: joint {part.names(wrong)} follows other joints by a coupling, so it cannot be independent. "
            f"Joints of the cluster: {names}."
        )
    taken = {c for j in wished for c in part.joint_columns(j)}
    # joints that no loop reaches are independent, whether named or not
    taken |= {c for g in groups if not any(np.any(np.abs(K[:, list(g)]) > 1e-12) for K in Ks) for c in g}
    advice = ""
    if chosen is not None:
        good = _joints(part, free, chosen[0])
        advice = f" A choice that works: {part.names(good)}."
    if len(taken) != count:
        raise ConstraintError(
            f"{label}: {len(taken)} independent velocities are given (joints {part.names(wished)}), but the "
            f"cluster needs {count}: its joints {names} have {len(columns)}, and the loops take {rank}.{advice}"
        )
    dependents = sorted(columns - taken)
    conditions = [condition_numbers(K, dependents)[1] for K in Ks]
    if not min(conditions) < REGULAR:
        raise ConstraintError(
            f"{label}: joints {part.names(wished)} cannot be the independent ones: the others are not determined "
            f"by them at any pose (condition {min(conditions):.2g}).{advice}"
        )
    return tuple(sorted(taken)), max(conditions)


def _joints(part: Subtree, free: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Return the joints whose velocities are all among some columns."""
    return [j for j in free if set(part.joint_columns(j)) <= set(columns)]


def _ranks(part: Subtree, choice: Choice) -> dict[int, int]:
    """Return how much each column is liked: preferred joints in their order, then those with limits, then others."""
    order = {j: i for i, j in reversed([*enumerate(choice.preferred)])}
    last = len(choice.preferred)
    ranks = {j: order.get(j, last if _is_limited(part.tree, j) else last + 1) for j in part.joints}
    return {c: rank for j, rank in ranks.items() for c in part.joint_columns(j)}


def _is_limited(tree: pin.Model, j: int) -> bool:
    """Whether a joint has one coordinate, which cannot take all values: of a hinge, less than a turn."""
    if tree.nqs[j] != 1:
        return False
    i = in_q(tree, j)[0]
    half = 0.5 * tree.upperPositionLimit[i] - 0.5 * tree.lowerPositionLimit[i]  # of the largest floats: no overflow
    return bool(half < (1e6 if "P" in tree.joints[j].shortname()[10:] else math.pi - 1e-3))


def _alike(
    part: Subtree, free: Sequence[int], twin: Sequence[int], Ks: Sequence[np.ndarray], rank: int, chosen: Chosen
) -> Chosen:
    """Return the choice of a cluster of the same shape, if it is as good: mirror images have the same joints."""
    wanted = [part.joints[i] for i in twin if part.joints[i] in free]
    columns = sorted(c for j in wanted for c in part.joint_columns(j))
    others = sorted({c for j in free for c in part.joint_columns(j)} - set(columns))
    if not twin or columns == list(chosen.columns) or len(others) != rank:
        return chosen
    worst = max(condition_numbers(K, others)[1] for K in Ks)
    return (
        chosen._replace(columns=tuple(columns), worst=worst)
        if worst <= max(SLACK * chosen.best, chosen.worst)
        else chosen
    )


def _said(part: Subtree, chosen: Chosen) -> tuple[tuple[int, ...], float]:
    """Return the columns and their worst condition; warn if it is several times worse than the best one."""
    columns, worst, best, of_best = chosen
    if worst > TOLD * best:
        names = [part.names(_joints(part, part.joints, c)) for c in (columns, of_best)]
        warnings.warn(
            f"{part.label}: joints {names[0]} are independent, as they are preferred; the loops are solved "
            f"{worst / best:.0f} times better (condition of K_d {best:.2g}, not {worst:.2g}) with "
            f"{names[1]} (independent=...).",
            PinClustersWarning,
            stacklevel=5,
        )
    return columns, worst
