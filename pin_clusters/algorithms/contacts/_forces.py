"""Contact forces from dense equations: redundant, damped, or by proximal iterations."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...compiler import entry_points as kernels
from ...errors import ArgumentTypeError, RankError
from ...kernels.tables import contacts_layout as at


class Solution(NamedTuple):
    """Contact forces and their accuracy."""

    forces: np.ndarray  # shape (rows,), [N] and [N m], or impulses
    found: np.ndarray  # shape (3,): rank of the rows, largest residual, damping
    missed: np.ndarray  # residual of redundant rows, shape (rows,); otherwise empty
    asked: float = 0.0  # largest right-hand side of redundant rows

    @property
    def rank(self) -> int:
        """Rank of the constraint equations of the contacts."""
        return int(self.found[0])


def settings_for(how: Any) -> np.ndarray:
    """Fill the settings of the kernel: no damping (None), damping (number), or iterations (proximal settings)."""
    settings = np.zeros(at.SETTINGS)
    whole = settings.view(np.int64)
    if isinstance(how, pin.ProximalSettings):
        settings[: at.MOST_ITERATIONS] = how.absolute_accuracy, how.relative_accuracy, how.mu
        whole[at.MOST_ITERATIONS], whole[at.KIND] = max(how.max_iter, 0), at.ITERATED
    else:
        settings[at.MU] = damping_of(how)
    whole[at.TOLD] = 1
    return settings


def solved(A: np.ndarray, b: np.ndarray, how: Any) -> Solution:
    """Solve A x = b with minimum norm (None), damping (number), or iterations (proximal settings)."""
    n = len(b)
    gram = np.zeros((n + 1, n + 1))
    gram[:n, :n], gram[:n, n] = A, b
    return solved_system(gram, settings_for(how), np.zeros(n), np.zeros(3))


def solved_system(gram: np.ndarray, settings: np.ndarray, forces: np.ndarray, found: np.ndarray) -> Solution:
    """Solve the system in the upper triangle and last column of gram; write forces and ``found``.

    Raises:
        RankError: The rows are redundant, and the kind of solution is neither damped nor of minimum norm.
    """
    n = len(forces)
    given = gram, settings, settings.view(np.int64), np.zeros(2 * n * n + 2 * n), forces, found
    return _told(_run(kernels.contact_forces, *given), gram, forces, found)


def solved_rows(
    J: np.ndarray, response: np.ndarray, free: np.ndarray, drift: np.ndarray, scale: float, how: Any
) -> tuple[np.ndarray, Solution]:
    """Compute free + response forces and the forces so that J times the result equals -drift - scale J free.

    Raises:
        RankError: The rows are redundant, and the kind of solution is neither damped nor of minimum norm.
    """
    m, n = J.shape
    settings, forces, found, out = settings_for(how), np.zeros(m), np.zeros(3), np.empty(n)
    gram, room = np.zeros((m + 1, m + 1)), np.zeros(2 * m * m + 2 * m)
    given = settings, settings.view(np.int64), gram, room, forces, found, out
    code = _run(kernels.row_forces, J, response, free, drift, np.array([scale]), *given)
    solution = _told(code, gram, forces, found)
    return (out if not code else np.full(n, np.nan)), solution


def _told(code: int, gram: np.ndarray, forces: np.ndarray, found: np.ndarray) -> Solution:
    """Interpret the status of a kernel; results are NaN if the input was not finite."""
    n = len(forces)
    if code == at.REDUNDANT:
        raise _redundant(n, gram[:n, :n])
    if code:  # the system has no finite solution
        forces[:], found[:] = np.nan, (0.0, np.nan, 0.0)
    if found[0] == n:
        return Solution(forces, found, np.zeros(0))
    A, b = np.triu(gram[:n, :n]), gram[:n, n]
    return Solution(forces, found, (A + np.triu(A, 1).T) @ forces - b, float(np.abs(b).max(initial=0.0)))


def inverse_of(A: np.ndarray, mu: float, scale: float) -> np.ndarray:
    """Compute scale (A + mu)^-1.

    Raises:
        RankError: A + mu is singular.
    """
    n = len(A)
    out, given = np.zeros((n, n)), (np.array([mu]), np.array([scale]), np.zeros(n * n))
    if _run(kernels.contact_inverse, np.ascontiguousarray(A), *given, out):
        raise _redundant(n, A)
    return out


def response_of(M: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Compute M^-1 rows', shape (nv, rows)."""
    n, out = rows.shape[1], np.empty(rows.shape[::-1])
    if _run(kernels.mass_response, M, rows, np.zeros(n * n + n), out):
        return np.linalg.solve(M, rows.T)  # the kernel requires the sparsity of a robot's mass matrix
    return out


def kkt_inverse_of(M: np.ndarray, J: np.ndarray, mu: float) -> np.ndarray:
    """Compute the inverse of [[M, J'], [J, -mu]].

    Raises:
        RankError: The matrix is singular.
    """
    m, n = J.shape
    out, room = np.empty((n + m, n + m)), np.zeros(n * n + n + m * m + m)
    code = _run(kernels.kkt_inverse, M, J, np.array([float(mu)]), room, out)
    if code == at.REDUNDANT:
        raise _redundant(m, J @ response_of(M, J))
    if code:  # the kernel requires the sparsity of a robot's mass matrix and mu >= 0
        return np.linalg.inv(np.block([[M, J.T], [J, -mu * np.eye(m)]]))
    return out


def _run(kernel: kernels.Kernel, *given: Any) -> int:
    return int((kernel.function() if kernels.JIT else kernel.source.entry)(*given))


def _smallest(A: np.ndarray) -> float:
    """Return the rounding error of eigenvalues relative to the largest eigenvalue."""
    return len(A) * 1e2 * float(np.finfo(float).eps)


def independent(A: np.ndarray) -> bool:
    """Whether the rows of contacts are linearly independent, with A = J M^-1 J'."""
    smallest = _smallest(A)
    try:
        pivots, own = np.linalg.cholesky(A).diagonal() ** 2, A.diagonal()
    except np.linalg.LinAlgError:
        return False
    # A row of rounding errors (squared in A) is small relative to the other rows, but not relative to itself.
    return bool((pivots / own).min() > 1e4 * smallest and own.min() > (1e4 * smallest) ** 2 * own.max())


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the eigenvalues of A above rounding, and their eigenvectors as columns."""
    w, V = np.linalg.eigh(A)
    used = w > _smallest(A) * w[-1]
    return w[used], V[:, used]


def damping_of(mu: Any) -> float:
    """Convert damping to a number; None is 0."""
    damping = 0.0 if mu is None else float(mu)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {mu!r}.")
    return damping


def lasting_damping_of(how: Any) -> float:
    """Return the damping of the solution; converged iterations have none."""
    if isinstance(how, pin.ProximalSettings):
        return float(how.mu) if how.max_iter <= 1 else 0.0
    return damping_of(how)


def regular(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise _redundant(len(A), A) from None


def _redundant(n: int, A: np.ndarray) -> RankError:
    """Create the error for a singular matrix of which the upper triangle is given."""
    rank = int(np.linalg.matrix_rank(np.triu(A) + np.triu(A, 1).T, hermitian=True))
    return RankError(
        f"the {n} rows of the contacts are redundant: rank {rank}. Pass mu > 0. Without settings and damping, "
        "constraintDynamics, impulseDynamics and forwardDynamics return the minimum-norm forces.",
        rank,
    )
