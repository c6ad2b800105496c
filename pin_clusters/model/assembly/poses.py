"""Computes poses of a cluster with closed loops: a first pose on the requested branch, and samples around this pose."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinates_of, slides
from ...constraints._closed_form import ClosedForm
from ...constraints.closures import Closure
from ...constraints.contract import SolvedConstraint
from .project import AssemblyFailure, project, rank_of
from .subtree import Subtree

SAMPLES = 12  # number of assembled poses to sample around the reference pose
STARTS = (0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6, 2.0, 2.5, 3.0, 3.0, 3.0)
"""Sizes of random steps from neutral to poses that are then projected, [rad] or fractions of the loop length."""
TRIED = 6  # number of poses from random starts that are compared with the projected neutral pose
GOOD = 1e2  # maximum condition number of the scaled K at which the projected neutral pose is accepted
NEAR_BEST = 3.0
"""Poses count as well conditioned if their condition number is at most this multiple of the best."""
SAME = 1e-6  # Branches meet at a singularity (dead centre), so poses closer than this count as the same branch.


class Branches:
    """Closed-form solutions of the mechanisms in a cluster; closures without a closed form are ignored."""

    def __init__(self, part: Subtree, closures: Sequence[Closure]) -> None:
        self.tree, self.part = part.tree, part
        sources: list[Any] = []
        for c in closures:
            if isinstance(c.source, SolvedConstraint) and not any(c.source is s for s in sources):
                sources.append(c.source)
        forms = [(s, s.closed_form(part.tree)) for s in sources]
        self.forms: list[tuple[Any, ClosedForm]] = [(s, form) for s, form in forms if form is not None]

    def seed(self, q: np.ndarray) -> np.ndarray:
        q_tree = self._whole(q)
        for _, form in self.forms * 2:  # Two passes are needed, because one mechanism may drive another.
            q_tree = next(iter(form.assemblies(self.tree, q_tree)), q_tree)
        return q_tree[self.part.iq]

    def left(self, q: np.ndarray) -> list[Any]:
        """Return the constraints whose requested branch differs from their branch at the assembled pose q."""
        q_tree = self._whole(q)
        return [s for s, form in self.forms if hasattr(s, "branch") and self._is_left(form, q_tree)]

    def _is_left(self, form: ClosedForm, q_tree: np.ndarray) -> bool:
        assemblies = form.solutions(self.tree, q_tree)
        values = coordinates_of(self.tree, form.dependent, q_tree)
        gaps = np.array([values - x for x in assemblies]).reshape(len(assemblies), len(values))
        turning = np.array([not slides(self.tree, j) for j in form.dependent], dtype=bool)
        gaps[:, turning] = (gaps[:, turning] + math.pi) % (2.0 * math.pi) - math.pi
        far = np.abs(gaps).max(axis=1, initial=0.0)
        return len(far) > 1 and bool(far[0] > far.min() + SAME)

    def _whole(self, q: np.ndarray) -> np.ndarray:
        q_tree = pin.neutral(self.tree)
        q_tree[self.part.iq] = q
        return q_tree


@dataclass(frozen=True, eq=False)
class Pose:
    """An assembled pose of a subtree."""

    q: np.ndarray  # configuration, shape (nq,)
    K: np.ndarray  # Jacobian with scaled rows, shape (m, nv)
    rank: int  # rank of K
    condition: float  # largest over smallest nonzero singular value


def pose_at(part: Subtree, q: np.ndarray) -> Pose:
    K = part.equations.evaluate(q)[1] / part.scales[:, None]
    S = np.linalg.svd(K, compute_uv=False)
    rank = rank_of(S)
    return Pose(q, K, rank, float(S[0] / S[rank - 1]) if rank else 1.0)


def closed(part: Subtree, q: np.ndarray) -> Pose:
    q = project(part.equations, part.model, q, lengths=part.lengths)
    residual, K = part.equations.evaluate(q)
    if not np.isfinite(K).all():  # The user's function is undefined at q.
        raise AssemblyFailure(q, residual.copy(), math.inf)
    return pose_at(part, q)


def closed_near(part: Subtree, q: np.ndarray) -> Pose:
    """Project q to a nearby assembled pose, even if q is singular; on failure, raise the error of the best attempt."""
    rng = np.random.default_rng(0)
    failures: list[AssemblyFailure] = []
    for size in (0.0, 0.02, 0.05, 0.1, 0.2):
        step = size * part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)
        try:
            return closed(part, pin.integrate(part.model, q, step))
        except AssemblyFailure as error:
            failures.append(error)
    raise min(failures, key=lambda failure: failure.misfit)


def distance(part: Subtree, q0: np.ndarray, q1: np.ndarray) -> float:
    """Return the largest joint motion between two poses, [rad] or fraction of the loop length."""
    return np.max(np.abs(pin.difference(part.model, q0, q1)) / part.lengths, initial=0.0)


def regular_pose(part: Subtree, branches: Branches) -> Pose:
    """Compute an assembled pose near neutral where K has maximal rank; on failure, raise the error of the best attempt.

    Mechanisms with closed-form solutions are first moved to their requested branch. The neutral pose and a few random
    poses (the same in every call) are projected. If the projected neutral pose is badly conditioned, the result is the
    projected pose nearest to neutral whose condition number is at most ``NEAR_BEST`` times the best.
    """
    rng = np.random.default_rng(0)
    neutral = pin.neutral(part.model)
    failures: list[AssemblyFailure] = []
    first: Pose | None = None
    try:
        first = _unwound(part, closed(part, branches.seed(neutral)))
    except AssemblyFailure as error:
        failures.append(error)
    random_poses: list[Pose] = []
    for size in STARTS:
        step = size * part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)
        try:
            start = branches.seed(pin.integrate(part.model, neutral, step))
            random_poses.append(_unwound(part, closed(part, start)))
        except AssemblyFailure as error:
            failures.append(error)
        # If the projected neutral pose is well conditioned, two more poses suffice to confirm the rank.
        if (
            first is not None
            and len(random_poses) >= 2
            and first.condition <= GOOD
            and first.rank >= max(p.rank for p in random_poses)
        ):
            return first
        if len(random_poses) >= TRIED:
            break
    if first is None and not random_poses:
        raise min(failures, key=lambda failure: failure.misfit)
    candidates = [*([first] if first is not None else []), *random_poses]
    # If a closed-form solution does not exist at the start, the solver may end on any branch.
    if on_branch := [p for p in candidates if not branches.left(p.q)]:
        candidates = on_branch
        first = first if any(p is first for p in on_branch) else None
    rank = max(p.rank for p in candidates)
    candidates = [p for p in candidates if p.rank == rank]
    best = min(p.condition for p in candidates)
    if first is not None and first.rank == rank and first.condition <= max(GOOD, 10.0 * best):
        return first
    return min((p for p in candidates if p.condition <= NEAR_BEST * best), key=lambda p: distance(part, neutral, p.q))


def _unwound(part: Subtree, pose: Pose) -> Pose:
    """Remove full turns of hinges if this does not change the residual."""
    hinges = [part.model.idx_qs[j] for j in range(1, part.model.njoints) if _is_hinge(part, j)]
    q = pose.q.copy()
    q[hinges] -= 2.0 * np.pi * np.round(q[hinges] / (2.0 * np.pi))
    if np.max(np.abs(q - pose.q)) < 1.0:
        return pose
    before, after = part.equations.residual(pose.q), part.equations.residual(q)
    return pose_at(part, q) if np.max(np.abs(after - before)) < 1e-12 * max(part.scales) else pose


def _is_hinge(part: Subtree, j: int) -> bool:
    model = part.model
    return model.nqs[j] == 1 and not part.slides[model.idx_vs[j]] and "Helical" not in model.joints[j].shortname()


def sample(part: Subtree, start: Pose, count: int = SAMPLES) -> list[Pose]:
    """Return the pose ``start`` and assembled poses around it; every call returns the same poses.

    Each sample is the projection of a random step in the null space of K from ``start`` or from the last sample. Joint
    limits are ignored, because the samples measure rank and conditioning, not reachability.
    """
    rng = np.random.default_rng(0)
    poses = [start]
    for i in range(count):
        base = start if i % 2 == 0 else poses[-1]
        direction = part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)
        size = rng.uniform(0.2, 0.9)
        _, S, Vt = np.linalg.svd(base.K)
        free = Vt[rank_of(S) :]
        step = free.T @ (free @ direction)
        longest = np.max(np.abs(step) / part.lengths, initial=0.0)
        if longest < 1e-9:
            continue
        for shrink in (1.0, 0.3, 0.1):
            try:
                pose = closed(part, pin.integrate(part.model, base.q, step * (shrink * size / longest)))
            except AssemblyFailure:
                continue
            if distance(part, base.q, pose.q) < 2.0 * size:
                poses.append(pose)
                break
    return poses
