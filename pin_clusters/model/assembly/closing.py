"""The rows that are kept, put to the test: they close the reference pose, and the others with it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...errors import ConstraintError
from .evaluate import Equations
from .messages import gap, names_of
from .poses import Pose
from .project import OPEN_TOLERANCE, AssemblyFailure, project, rank_of
from .subtree import Subtree

FULL_RANK = 1e-9
"""Rank tolerance where no row is redundant."""


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


def check_motion(tree: pin.Model, part: Subtree, solved: Equations, q: np.ndarray) -> None:
    """Check that rows which were left out stay closed when the others are solved at some distance.

    They do not where a loop closes at a single pose only, as two links that are just long enough when stretched: there
    K has a null space, but nothing can move.

    Raises:
        ConstraintError: They open.
    """
    rng = np.random.default_rng(1)
    _, S, Vt = np.linalg.svd(solved.jacobian(q) / solved.scales(q)[:, None])
    free = Vt[rank_of(S) :]
    farthest: tuple[float, np.ndarray] | None = None
    for _ in range(3):
        step = free.T @ (free @ (part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)))
        longest = float(np.max(np.abs(step) / part.lengths, initial=0.0))
        if longest < 1e-9:
            return
        start = pin.integrate(part.model, q, step * (0.2 / longest))
        try:
            there = project(solved, part.model, start, rank_tolerance=FULL_RANK, lengths=part.lengths)
        except AssemblyFailure:
            continue
        miss = float(np.max(np.abs(part.equations.evaluate(there)[0]) / part.scales, initial=0.0))
        if miss < OPEN_TOLERANCE:
            return
        farthest = (miss, there) if farthest is None or miss > farthest[0] else farthest
    if farthest is not None:
        raise ConstraintError(
            f"{gap(part.equations, farthest[1], 'a small motion away')} It closes at a single pose only, so the "
            f"mechanism cannot move; cluster of joints {names_of(tree, part.joints)}. Check the lengths and "
            "placements, or lock these joints (fixed joints) and leave the loop out."
        )
