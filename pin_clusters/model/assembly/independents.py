"""Chooses the independent joints of a cluster; rejects mechanisms that cannot move or that contain spinning rods."""

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

REGULAR = 1.0 / RANK_TOLERANCE  # The condition number of K_d must be below this value at one or more sampled poses.
WARN_FACTOR = 5.0  # A choice with a condition number above this multiple of the best causes a warning.


def check_mobility(part: Subtree, free: Sequence[int], rank: int) -> None:
    count = sum(len(part.joint_columns(j)) for j in free)
    if count - rank == 0:
        constrained = (
            f"all {count} degrees of freedom of the joints" if count > 1 else "the one degree of freedom of joint"
        )
        raise ConstraintError(
            f"{part.label}: the mechanism cannot move, because the loops constrain {constrained} {part.names()}. Lock "
            "these joints (fixed joints) and remove the loops, or use loops that constrain fewer degrees of freedom."
        )


def refuse_spinning_rods(part: Subtree, closures: Sequence[Closure], Ks: Sequence[np.ndarray]) -> None:
    """Raise ``ConstraintError`` if a body between two spherical connections can spin about the line between them.

    Such a body has a spherical loop closure at one end, and no other constraints. At the other end, it has a spherical
    joint or a chain of joints that rotates about one point. The three columns of these joints in K then have rank two.
    """
    tree = part.tree
    for c in closures:
        if not isinstance(c, FrameClosure) or c.rotation != "none" or np.linalg.matrix_rank(c.rows[:, :3]) < 3:
            continue
        for body in c.bodies:
            if body not in part.joints or any(body in closure.bodies for closure in closures if closure is not c):
                continue
            if any(tree.parents[j] == body for j in part.joints):
                continue
            chain = _spherical_chain(part, body)
            columns = [i for k in chain for i in part.joint_columns(k)]
            if chain and all(rank_of(np.linalg.svd(K[:, columns], compute_uv=False)) == 2 for K in Ks):
                raise ConstraintError(
                    f"{c.source.label}: the body of joint {tree.names[body]!r} has a spherical connection at each end "
                    f"({part.names(chain)} and the loop), so its spin about the line between these connections is "
                    "undetermined. Replace the body by pc.Rod with inertia=, or use a universal joint at one end."
                )


def _spherical_chain(part: Subtree, body: int) -> list[int]:
    """Return the joints, parent first, that let a body rotate freely about one point; [] if there are none."""
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
            return []  # Another body is attached between these joints.
    return []


@dataclass(frozen=True)
class Choice:
    """Requirements and preferences for the independent joints of a cluster."""

    required: tuple[int, ...] = ()  # joints that must be independent; if empty, the choice is automatic
    preferred: tuple[int, ...] = ()  # joints to prefer, in order of priority
    similar: tuple[int, ...] = ()  # indices, within a similar cluster, of that cluster's independent joints


def independent_columns(
    part: Subtree, free: Sequence[int], choice: Choice, Ks: Sequence[np.ndarray], rank: int
) -> tuple[tuple[int, ...], float]:
    """Return the independent velocities of a subtree, and the largest condition number of K_d (dependent columns of K).

    ``free`` contains the joints that no coupling determines. ``Ks`` contains one K with scaled rows per regular pose.
    """
    groups, required = [part.joint_columns(j) for j in free], choice.required
    selection = choose_independents(Ks, groups, rank, ranks=_ranks(part, choice))
    columns = {c for g in groups for c in g}
    count = len(columns) - rank
    label, names = part.label, part.names()
    if not required:
        if selection is None:
            raise ConstraintError(
                f"{label}: no choice of independent joints among {names} works. {count} of {len(columns)} velocities "
                "must be independent, but a joint of several degrees of freedom is independent or dependent as a "
                "whole. Split such a joint into joints of one degree of freedom."
            )
        return _with_warning(part, _alike(part, free, choice.similar, Ks, rank, selection))
    if wrong := [j for j in required if j not in free]:
        raise ConstraintError(
            f"{label}: joint {part.names(wrong)} follows other joints by a coupling, so it cannot be independent. "
            f"Joints of the cluster: {names}."
        )
    independent = {c for j in required for c in part.joint_columns(j)}
    # Joints that no loop constrains are always independent.
    independent |= {c for g in groups if not any(np.any(np.abs(K[:, list(g)]) > 1e-12) for K in Ks) for c in g}
    advice = ""
    if selection is not None:
        good = _joints(part, free, selection[0])
        advice = f" A choice that works: {part.names(good)}."
    if len(independent) != count:
        raise ConstraintError(
            f"{label}: {len(independent)} independent velocities are given (joints {part.names(required)}), but the "
            f"cluster has {count}, because its joints {names} have {len(columns)} velocities and the loops constrain "
            f"{rank} of them.{advice}"
        )
    dependents = sorted(columns - independent)
    conditions = [condition_numbers(K, dependents)[1] for K in Ks]
    if not min(conditions) < REGULAR:
        raise ConstraintError(
            f"{label}: joints {part.names(required)} cannot be independent, because they do not determine the other "
            f"joints at any sampled pose (condition number of K_d {min(conditions):.2g}).{advice}"
        )
    return tuple(sorted(independent)), max(conditions)


def _joints(part: Subtree, free: Sequence[int], columns: Sequence[int]) -> list[int]:
    return [j for j in free if set(part.joint_columns(j)) <= set(columns)]


def _ranks(part: Subtree, choice: Choice) -> dict[int, int]:
    """Return the preference rank of each column: lowest for preferred joints, then joints with limits, then others."""
    order = {j: i for i, j in reversed([*enumerate(choice.preferred)])}
    unranked = len(choice.preferred)
    ranks = {j: order.get(j, unranked if _is_limited(part.tree, j) else unranked + 1) for j in part.joints}
    return {c: rank for j, rank in ranks.items() for c in part.joint_columns(j)}


def _is_limited(tree: pin.Model, j: int) -> bool:
    """Return whether a joint has one coordinate and finite limits, which for hinges are less than a full turn apart."""
    if tree.nqs[j] != 1:
        return False
    i = in_q(tree, j)[0]
    half = 0.5 * tree.upperPositionLimit[i] - 0.5 * tree.lowerPositionLimit[i]  # halved to avoid overflow
    return bool(half < (1e6 if "P" in tree.joints[j].shortname()[10:] else math.pi - 1e-3))


def _alike(
    part: Subtree, free: Sequence[int], similar: Sequence[int], Ks: Sequence[np.ndarray], rank: int, chosen: Chosen
) -> Chosen:
    """Choose the same joints as in a similar cluster, such as another leg, unless ``chosen`` is much better."""
    joints = [part.joints[i] for i in similar if part.joints[i] in free]
    columns = sorted(c for j in joints for c in part.joint_columns(j))
    dependents = sorted({c for j in free for c in part.joint_columns(j)} - set(columns))
    if not similar or columns == list(chosen.columns) or len(dependents) != rank:
        return chosen
    worst = max(condition_numbers(K, dependents)[1] for K in Ks)
    return (
        chosen._replace(columns=tuple(columns), worst=worst)
        if worst <= max(SLACK * chosen.best, chosen.worst)
        else chosen
    )


def _with_warning(part: Subtree, chosen: Chosen) -> tuple[tuple[int, ...], float]:
    columns, worst, best, of_best = chosen
    if worst > WARN_FACTOR * best:
        names = [part.names(_joints(part, part.joints, c)) for c in (columns, of_best)]
        warnings.warn(
            f"{part.label}: joints {names[0]} are independent because they are preferred. With {names[1]} "
            f"(independent=...), the loop equations would be {worst / best:.0f} times better conditioned (condition "
            f"number of K_d {best:.2g} instead of {worst:.2g}).",
            PinClustersWarning,
            stacklevel=5,
        )
    return columns, worst
