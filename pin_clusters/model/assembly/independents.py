"""Mechanisms that cannot move or spin idly, and the joints that lead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ...constraints.closures import Closure, FrameClosure
from ...errors import ConstraintError
from .evaluate import loops_of, names_of
from .project import RANK_TOLERANCE, rank_of
from .selection import choose_independents, condition_numbers
from .subtree import Subtree

REGULAR = 1.0 / RANK_TOLERANCE
"""K_d must be better conditioned than this at some pose."""


def check_mobility(
    tree: pin.Model, part: Subtree, equations: Sequence[Closure], free: Sequence[int], rank: int
) -> None:
    """Check that a cluster can move."""
    count = sum(len(part.joint_columns(j)) for j in free)
    if count - rank == 0:
        raise ConstraintError(
            f"{loops_of(equations)}: the mechanism cannot move: the loops take all {count} degrees of freedom of the "
            f"joints {names_of(tree, part.joints)}. Lock these joints (fixed joints) and leave the loops out, or use "
            "loops that take less."
        )


def refuse_spinning_rods(tree: pin.Model, part: Subtree, closures: Sequence[Closure], Ks: Sequence[np.ndarray]) -> None:
    """Refuse a rod body between two spherical connections: it can spin about itself, and nothing says how fast.

    The loop's end is spherical and ties the body only there; the other end is a spherical joint, or joints that make
    three rotations about one point, and the motion of the loop's point has rank two at all poses.
    """
    for c in closures:
        if not isinstance(c, FrameClosure) or c.rotation != "none" or np.linalg.matrix_rank(c.rows[:, :3]) < 3:
            continue
        for body in c.bodies:
            if body not in part.joints or any(body in other.bodies for other in closures if other is not c):
                continue
            if any(tree.parents[j] == body for j in part.joints):
                continue
            chain = _spherical_chain(tree, part, body)
            columns = [i for k in chain for i in part.joint_columns(k)]
            if chain and all(rank_of(np.linalg.svd(K[:, columns], compute_uv=False)) == 2 for K in Ks):
                raise ConstraintError(
                    f"{c.source.label}: the body of joint {tree.names[body]!r} hangs between two spherical "
                    f"connections ({names_of(tree, chain)} and the loop), so it can spin about itself, and nothing "
                    "determines that motion. Leave the body out and use pc.Rod (mass= for a slender rod), or give "
                    "it a universal joint at one end."
                )


def _spherical_chain(tree: pin.Model, part: Subtree, body: int) -> list[int]:
    """Return the joints that connect a body by three rotations about one point, first to last; empty if none do."""
    chain: list[int] = []
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


def independent_columns(
    tree: pin.Model,
    part: Subtree,
    equations: Sequence[Closure],
    free: Sequence[int],
    wished: Sequence[int],
    Ks: Sequence[np.ndarray],
    rank: int,
) -> tuple[tuple[int, ...], float]:
    """Return the independent velocities, in the subtree, and the worst condition of the dependent ones.

    Args:
        tree: Spanning tree.
        part: The cluster.
        equations: Its loops, for messages.
        free: Its joints that do not follow others by substitution.
        wished: Joints that shall be independent; empty: choose.
        Ks: K with scaled rows at regular poses.
        rank: Of K.
    """
    groups = [part.joint_columns(j) for j in free]
    chosen = choose_independents(Ks, groups, rank)
    columns = {c for g in groups for c in g}
    count = len(columns) - rank
    label, names = loops_of(equations), names_of(tree, part.joints)
    if not wished:
        if chosen is None:
            raise ConstraintError(
                f"{label}: no choice of independent joints among {names} works: {count} of {len(columns)} velocities "
                "must be independent, and a joint of several degrees of freedom is independent or dependent as a "
                "whole. Split such a joint into joints of one degree of freedom."
            )
        return chosen
    if wrong := [j for j in wished if j not in free]:
        raise ConstraintError(
            f"{label}: joint {names_of(tree, wrong)} follows other joints by a coupling, so it cannot be independent. "
            f"Joints of the cluster: {names}."
        )
    taken = {c for j in wished for c in part.joint_columns(j)}
    # joints that no loop reaches are independent, whether named or not
    taken |= {c for g in groups if not any(np.any(np.abs(K[:, list(g)]) > 1e-12) for K in Ks) for c in g}
    advice = ""
    if chosen is not None:
        good = [j for j in free if set(part.joint_columns(j)) <= set(chosen[0])]
        advice = f" A choice that works: {names_of(tree, good)}."
    if len(taken) != count:
        raise ConstraintError(
            f"{label}: {len(taken)} independent velocities are given (joints {names_of(tree, wished)}), but the "
            f"cluster needs {count}: its joints {names} have {len(columns)}, and the loops take {rank}.{advice}"
        )
    dependents = sorted(columns - taken)
    conditions = [condition_numbers(K, dependents)[1] for K in Ks]
    if not min(conditions) < REGULAR:
        raise ConstraintError(
            f"{label}: joints {names_of(tree, wished)} cannot be the independent ones: the others are not determined "
            f"by them at any pose (condition {min(conditions):.2g}).{advice}"
        )
    return tuple(sorted(taken)), max(conditions)
