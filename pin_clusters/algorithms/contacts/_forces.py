"""Solution of dense equations for contact forces, with minimum norm, damping or proximal iterations."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...compiler import entry_points as kernels
from ...errors import ArgumentTypeError, RankError
from ...kernels.tables import contacts_layout as at


class Solution(NamedTuple):
    forces: np.ndarray  # shape (rows,), [N] and [N m], or impulses
    status: np.ndarray  # shape (3,): rank of the equations, largest residual, damping
    residual: np.ndarray  # residual, shape (rows,), if the equations are redundant; otherwise empty
    largest: float = 0.0  # if the equations are redundant: largest absolute right-hand side

    @property
    def rank(self) -> int:
        return int(self.status[0])


def settings_for(method: Any) -> np.ndarray:
    """Create the kernel settings from ``method``: None (no damping), a number (damping), or proximal settings."""
    settings = np.zeros(at.SETTINGS)
    words = settings.view(np.int64)
    if isinstance(method, pin.ProximalSettings):
        settings[: at.MOST_ITERATIONS] = method.absolute_accuracy, method.relative_accuracy, method.mu
        words[at.MOST_ITERATIONS], words[at.KIND] = max(method.max_iter, 0), at.ITERATED
    else:
        settings[at.MU] = damping_of(method)
    words[at.TOLD] = 1
    return settings


def solved(A: np.ndarray, b: np.ndarray, method: Any) -> Solution:
    """Solve A x = b; ``method`` is None (minimum norm), a number (damping), or proximal settings (iterations)."""
    n = len(b)
    gram = np.zeros((n + 1, n + 1))
    gram[:n, :n], gram[:n, n] = A, b
    return solved_system(gram, settings_for(method), np.zeros(n), np.zeros(3))


def solved_system(gram: np.ndarray, settings: np.ndarray, forces: np.ndarray, status: np.ndarray) -> Solution:
    """Solve the symmetric system whose upper triangle and right-hand side (last column) are stored in ``gram``."""
    n = len(forces)
    arguments = gram, settings, settings.view(np.int64), np.zeros(2 * n * n + 2 * n), forces, status
    return _solution(_run(kernels.contact_forces, *arguments), gram, forces, status)


def solved_rows(
    J: np.ndarray, response: np.ndarray, free: np.ndarray, drift: np.ndarray, scale: float, method: Any
) -> tuple[np.ndarray, Solution]:
    """Find forces so that x = free + response @ forces satisfies J x = -drift - scale J free; return x and forces."""
    m, n = J.shape
    settings, forces, status, out = settings_for(method), np.zeros(m), np.zeros(3), np.empty(n)
    gram, work = np.zeros((m + 1, m + 1)), np.zeros(2 * m * m + 2 * m)
    arguments = settings, settings.view(np.int64), gram, work, forces, status, out
    code = _run(kernels.row_forces, J, response, free, drift, np.array([scale]), *arguments)
    solution = _solution(code, gram, forces, status)
    return (out if not code else np.full(n, np.nan)), solution


def _solution(code: int, gram: np.ndarray, forces: np.ndarray, status: np.ndarray) -> Solution:
    n = len(forces)
    if code == at.REDUNDANT:
        raise _redundant(n, gram[:n, :n])
    if code:  # the system has no finite solution
        forces[:], status[:] = np.nan, (0.0, np.nan, 0.0)
    if status[0] == n:
        return Solution(forces, status, np.zeros(0))
    A, b = np.triu(gram[:n, :n]), gram[:n, n]
    return Solution(forces, status, (A + np.triu(A, 1).T) @ forces - b, float(np.abs(b).max(initial=0.0)))


def inverse_of(A: np.ndarray, mu: float, scale: float) -> np.ndarray:
    """Compute scale (A + mu)^-1; raise ``RankError`` if A + mu is singular."""
    n = len(A)
    out, arguments = np.zeros((n, n)), (np.array([mu]), np.array([scale]), np.zeros(n * n))
    if _run(kernels.contact_inverse, np.ascontiguousarray(A), *arguments, out):
        raise _redundant(n, A)
    return out


def response_of(M: np.ndarray, rows: np.ndarray) -> np.ndarray:
    n, out = rows.shape[1], np.empty(rows.shape[::-1])
    if _run(kernels.mass_response, M, rows, np.zeros(n * n + n), out):
        return np.linalg.solve(M, rows.T)  # the kernel requires a positive definite M
    return out


def kkt_inverse_of(M: np.ndarray, J: np.ndarray, mu: float) -> np.ndarray:
    """Compute the inverse of [[M, J'], [J, -mu]]; raise ``RankError`` if the matrix is singular."""
    m, n = J.shape
    out, work = np.empty((n + m, n + m)), np.zeros(n * n + n + m * m + m)
    code = _run(kernels.kkt_inverse, M, J, np.array([float(mu)]), work, out)
    if code == at.REDUNDANT:
        raise _redundant(m, J @ response_of(M, J))
    if code:  # the kernel requires a positive definite M and mu >= 0
        return np.linalg.inv(np.block([[M, J.T], [J, -mu * np.eye(m)]]))
    return out


def _run(kernel: kernels.Kernel, *arguments: Any) -> int:
    return int((kernel.function() if kernels.JIT else kernel.source.entry)(*arguments))


def _smallest(A: np.ndarray) -> float:
    return len(A) * 1e2 * float(np.finfo(float).eps)


def independent(A: np.ndarray) -> bool:
    """Return whether contact equations with the Delassus matrix A = J M^-1 J' are linearly independent."""
    smallest = _smallest(A)
    try:
        pivots, diagonal = np.linalg.cholesky(A).diagonal() ** 2, A.diagonal()
    except np.linalg.LinAlgError:
        return False
    # If a row of J contains only rounding errors, its diagonal entry of A is tiny relative to the largest one.
    return bool((pivots / diagonal).min() > 1e4 * smallest and diagonal.min() > (1e4 * smallest) ** 2 * diagonal.max())


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the eigenvalues of A that exceed rounding errors, and their eigenvectors as columns."""
    w, V = np.linalg.eigh(A)
    used = w > _smallest(A) * w[-1]
    return w[used], V[:, used]


def damping_of(mu: Any) -> float:
    damping = 0.0 if mu is None else float(mu)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {mu!r}.")
    return damping


def lasting_damping_of(method: Any) -> float:
    """Return the damping that affects the final solution; converged proximal iterations have no such damping."""
    if isinstance(method, pin.ProximalSettings):
        return float(method.mu) if method.max_iter <= 1 else 0.0
    return damping_of(method)


def regular(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise _redundant(len(A), A) from None


def _redundant(n: int, A: np.ndarray) -> RankError:
    rank = int(np.linalg.matrix_rank(np.triu(A) + np.triu(A, 1).T, hermitian=True))
    return RankError(
        f"the {n} contact equations are redundant (rank {rank}). Pass mu > 0, or call "
        "constraintDynamics, impulseDynamics or forwardDynamics without damping, which return minimum-norm forces.",
        rank,
    )
