"""Assembled poses of a cluster: on the branch that closed forms ask for, the one to start from, samples around it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinates_of, slides
from ...constraints._closed_form import ClosedForm
from ...constraints.closures import Closure
from .project import AssemblyFailure, project, rank_of
from .subtree import Subtree

SAMPLES = 12
"""Assembled poses besides the reference."""
STARTS = (0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6, 2.0, 2.5, 3.0, 3.0, 3.0)
"""How far off neutral the starts are, [rad] or parts of the loop's length, where neutral does not do."""
TRIED = 6
"""Assembled poses from perturbed starts that are compared with the one that neutral gives."""
GOOD = 1e2
"""Condition of the scaled K up to which the pose next to neutral is taken as it is."""
NEAR_BEST = 3.0
"""Factor in condition up to which the nearest pose is preferred; next to a change point it grows without bound."""
SAME = 1e-6
"""Assemblies that are nearer than this meet: a dead centre, which belongs to both branches."""


class Branches:
    """The closed forms of a cluster; closures of constraints that have none say nothing here."""

    def __init__(self, part: Subtree, closures: Sequence[Closure]) -> None:
        self.tree, self.part = part.tree, part
        sources: list[Any] = []
        for c in closures:
            if hasattr(c.source, "closed_form") and not any(c.source is s for s in sources):
                sources.append(c.source)
        found = [(s, s.closed_form(part.tree)) for s in sources]
        self.forms: list[tuple[Any, ClosedForm]] = [(s, form) for s, form in found if form is not None]

    def seed(self, q: np.ndarray) -> np.ndarray:
        """Return q of the cluster with each closed form solved on its branch, where it can be; a new array."""
        whole = self._whole(q)
        # twice: what one mechanism gives may be what another one is given
        for _, form in self.forms * 2:
            whole = next(iter(form.assemblies(self.tree, whole)), whole)
        return whole[self.part.iq]

    def left(self, q: np.ndarray) -> list[Any]:
        """Return the constraints that q of the cluster, assembled, shows on another branch than they ask for."""
        whole = self._whole(q)
        return [s for s, form in self.forms if hasattr(s, "branch") and self._is_left(form, whole)]

    def _is_left(self, form: ClosedForm, whole: np.ndarray) -> bool:
        assemblies = form.solutions(self.tree, whole)
        here = coordinates_of(self.tree, form.dependent, whole)
        apart = np.array([here - x for x in assemblies]).reshape(len(assemblies), len(here))
        turning = np.array([not slides(self.tree, j) for j in form.dependent], dtype=bool)
        apart[:, turning] = (apart[:, turning] + math.pi) % (2.0 * math.pi) - math.pi
        far = np.abs(apart).max(axis=1, initial=0.0)
        return len(far) > 1 and bool(far[0] > far.min() + SAME)

    def _whole(self, q: np.ndarray) -> np.ndarray:
        whole = pin.neutral(self.tree)
        whole[self.part.iq] = q
        return whole


@dataclass(frozen=True, eq=False)
class Pose:
    """An assembled pose of a subtree."""

    q: np.ndarray  # its configuration
    K: np.ndarray  # with scaled rows
    rank: int  # of K
    condition: float  # largest over smallest singular value that counts


def pose_at(part: Subtree, q: np.ndarray) -> Pose:
    """Return what K is at q."""
    K = part.equations.evaluate(q)[1] / part.scales[:, None]
    S = np.linalg.svd(K, compute_uv=False)
    rank = rank_of(S)
    return Pose(q, K, rank, float(S[0] / S[rank - 1]) if rank else 1.0)


def closed(part: Subtree, q: np.ndarray) -> Pose:
    """Return the assembled pose near q."""
    q = project(part.equations, part.model, q, lengths=part.lengths)
    residual, K = part.equations.evaluate(q)
    if not np.isfinite(K).all():  # a user's function that ends here
        raise AssemblyFailure(q, residual.copy(), math.inf)
    return pose_at(part, q)


def closed_near(part: Subtree, q: np.ndarray) -> Pose:
    """Return the assembled pose near q, also where q is singular and open.

    Raises:
        AssemblyFailure: Neither q nor starts a little off it lead to one; the one that comes nearest.
    """
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
    """Return the largest motion of a joint between two poses, [rad] or part of the loop's length."""
    return np.max(np.abs(pin.difference(part.model, q0, q1)) / part.lengths, initial=0.0)


def regular_pose(part: Subtree, branches: Branches) -> Pose:
    """Return an assembled pose near neutral at which K has the rank that it has elsewhere.

    Closed forms are solved on the branch that they ask for before anything else. The pose that neutral projects to,
    if it is regular; else the nearest to neutral of those that random starts of growing size (the same at each call)
    give, and whose condition is within NEAR_BEST of the best one.

    Raises:
        AssemblyFailure: No start closes the mechanism; the one that comes nearest.
    """
    rng = np.random.default_rng(0)
    neutral = pin.neutral(part.model)
    failures: list[AssemblyFailure] = []
    first: Pose | None = None
    try:
        first = _unwound(part, closed(part, branches.seed(neutral)))
    except AssemblyFailure as error:
        failures.append(error)
    others: list[Pose] = []
    for size in STARTS:
        step = size * part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)
        try:
            start = branches.seed(pin.integrate(part.model, neutral, step))
            others.append(_unwound(part, closed(part, start)))
        except AssemblyFailure as error:
            failures.append(error)
        # a pose next to neutral that is sound needs two witnesses of the rank only
        if (
            first is not None
            and len(others) >= 2
            and first.condition <= GOOD
            and first.rank >= max(p.rank for p in others)
        ):
            return first
        if len(others) >= TRIED:
            break
    if first is None and not others:
        raise min(failures, key=lambda failure: failure.misfit)
    found = [*([first] if first is not None else []), *others]
    # a start at which a closed form has no assembly may lead to any branch
    if wanted := [p for p in found if not branches.left(p.q)]:
        found = wanted
        first = first if any(p is first for p in wanted) else None
    rank = max(p.rank for p in found)
    found = [p for p in found if p.rank == rank]
    best = min(p.condition for p in found)
    if first is not None and first.rank == rank and first.condition <= max(GOOD, 10.0 * best):
        return first
    return min((p for p in found if p.condition <= NEAR_BEST * best), key=lambda p: distance(part, neutral, p.q))


def _unwound(part: Subtree, pose: Pose) -> Pose:
    """Take whole turns out of hinges, if the equations do not mind."""
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
    """Return the start and assembled poses around it, the same at each call.

    Each is reached by a random step along the mechanism's free motions from the start or from an earlier sample, and
    a projection. Joint limits are not looked at: the samples tell rank and conditioning, not where the robot may go.
    """
    rng = np.random.default_rng(0)
    poses = [start]
    for i in range(count):
        base = start if i % 2 == 0 else poses[-1]
        wish = part.lengths * rng.uniform(-1.0, 1.0, part.model.nv)
        size = rng.uniform(0.2, 0.9)
        _, S, Vt = np.linalg.svd(base.K)
        free = Vt[rank_of(S) :]
        step = free.T @ (free @ wish)
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
