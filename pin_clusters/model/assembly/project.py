"""Closes a mechanism by minimum-norm Newton steps in the tangent space; far from the solution, steps are damped."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ...kernels.moves.limits import LIMIT
from .evaluate import Equations

RANK_TOLERANCE = 1e-4
"""Singular values of the scaled K below this fraction of the largest count as zero, because inputs are rounded."""
OPEN_TOLERANCE = 1e-4  # maximum residual of equations that cannot be satisfied, [rad] or fraction of the loop length
NEAR = 1e-3  # Full Newton steps are used below this scaled residual.


class AssemblyFailure(Exception):  # noqa: N818 - internal; callers turn it into an error with names
    """Raised if a projection does not close the mechanism; ``q`` and ``residual`` belong to the last iteration."""

    def __init__(self, q: np.ndarray, residual: np.ndarray, misfit: float) -> None:
        super().__init__(f"the mechanism stays open by {misfit:.3g} (rad, or fraction of its length)")
        self.q = q
        self.residual = residual
        self.misfit = misfit


def rank_of(singular_values: np.ndarray, tolerance: float = RANK_TOLERANCE) -> int:
    if singular_values.size == 0 or singular_values[0] <= 1e-12:
        return 0
    return int(np.count_nonzero(singular_values > tolerance * singular_values[0]))


def translations(tree: pin.Model) -> np.ndarray:
    data = pin.Data(tree)
    pin.computeJointJacobians(tree, data, pin.neutral(tree))
    J = data.J.reshape(6, -1)  # Pinocchio returns a single column as a vector.
    return np.asarray(np.linalg.norm(J[3:], axis=0) < 1e-9)


def step_lengths(equations: Equations) -> np.ndarray:
    """Return the unit step of each velocity, shape (nv,): 1 rad, or the loop length [m] for translations."""
    return np.where(translations(equations.tree), max(equations.lengths, default=0.0) or 1.0, 1.0)


def project(
    equations: Equations,
    tree: pin.Model,
    q: np.ndarray,
    hold_iv: Sequence[int] = (),
    tolerance: float = 1e-13,
    *,
    rank_tolerance: float = RANK_TOLERANCE,
    evaluations: int = 120,
    lengths: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the nearest configuration that satisfies the equations; raise ``AssemblyFailure`` if there is none.

    A residual that no joint motion reduces, such as the mismatch of redundant rows, may be up to ``OPEN_TOLERANCE``. At
    a nearly singular pose, this also applies to combinations of rows whose relative singular value is below
    ``rank_tolerance``. To satisfy all rows, pass rows without redundancy and a small ``rank_tolerance``. ``hold_iv``
    contains the indices of velocities that stay zero. The reducible part of the scaled residual is usually below
    ``tolerance`` times max(1, |q| / 100). ``lengths`` is the result of ``step_lengths``.
    """
    if equations.size == 0:
        return np.array(q)
    lengths = step_lengths(equations) if lengths is None else lengths
    held = list(hold_iv)
    q = np.array(q)
    residual, K = equations.evaluate(q)
    # A row of K that is zero at the start must not dominate the scaled residual.
    scales = np.maximum(equations.scales(q), np.abs(residual) / 3.0 if "" in equations.units else 0.0)
    damping, lost, best = 0.03, 0, np.inf
    while evaluations > 0:
        r, A = residual / scales, K / scales[:, None]
        if held:
            A[:, held] = 0.0
        if not (np.isfinite(r).all() and np.isfinite(A).all()):
            break
        U, S, Vt = np.linalg.svd(A, full_matrices=False)
        rank = rank_of(S, rank_tolerance)
        U, S, Vt = U[:, :rank], S[:rank], Vt[:rank]
        along = U.T @ r
        misfit = np.max(np.abs(along), initial=0.0)
        if misfit < tolerance * max(1.0, np.max(np.abs(q)) / 100.0):
            largest = np.max(np.abs(residual / equations.scales(q)))
            if largest < OPEN_TOLERANCE:
                return q
            break
        if misfit < NEAR:
            # The residual stops decreasing at a singular pose, or because of rounding errors in long sums.
            lost = lost + 1 if misfit > 0.5 * best else 0
            if lost > 6:
                if misfit < 100.0 * tolerance:
                    return q
                break
            best = min(best, misfit)
            q = pin.integrate(tree, q, _limited(-(along / S) @ Vt, lengths))
            residual, K = equations.evaluate(q)
            scales = equations.scales(q)
            evaluations -= 1
            continue
        merit, moved = r @ r, False
        while evaluations > 0 and damping < 1e4:
            new = pin.integrate(tree, q, _limited(-(along * S / (S * S + damping * damping)) @ Vt, lengths))
            residual_new, K_new = equations.evaluate(new)
            evaluations -= 1
            if np.sum((residual_new / scales) ** 2) < (1.0 - 1e-6) * merit:
                moved, damping = True, max(damping / 5.0, 1e-5)
                break
            damping = max(4.0 * damping, 1e-3)
        if not moved:
            break
        q, residual, K = new, residual_new, K_new
    residual = equations.residual(q)
    raise AssemblyFailure(q, residual, float(np.max(np.abs(residual / equations.scales(q)))))


def _limited(step: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    longest = np.max(np.abs(step) / lengths, initial=0.0)
    return step * (LIMIT / longest) if longest > LIMIT else step
