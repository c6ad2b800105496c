"""Forces of contacts that are redundant, damped, or iterated: dense equations."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...compiler import entry_points as kernels
from ...errors import ArgumentTypeError, RankError
from ...kernels.tables import contacts_layout as at


class Solution(NamedTuple):
    """Forces, and how well they do what is asked for."""

    forces: np.ndarray  # shape (rows,)
    found: np.ndarray  # rank, the largest entry that is missed, damping
    missed: np.ndarray  # by how much what is asked for is missed, shape (rows,), if rows are redundant
    asked: float = 0.0  # its largest entry, if rows are redundant

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return int(self.found[0])


def settings_for(how: Any) -> np.ndarray:
    """Return the settings of the kernel: without damping, damped by a number, or iterated as proximal settings say."""
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
    """Solve A x = b: of least norm, damped by a number, or iterated as proximal settings say."""
    n = len(b)
    gram = np.zeros((n + 1, n + 1))
    gram[:n, :n], gram[:n, n] = A, b
    return solved_system(gram, settings_for(how), np.zeros(n), np.zeros(3))


def solved_system(gram: np.ndarray, settings: np.ndarray, forces: np.ndarray, found: np.ndarray) -> Solution:
    """Solve what stands in the upper half of gram, with what is asked for behind it; write forces and ``found``.

    Raises:
        RankError: Rows are redundant, and are neither damped nor of least norm.
    """
    n = len(forces)
    given = gram, settings, settings.view(np.int64), np.zeros(2 * n * n + 2 * n), forces, found
    return _told(_run(kernels.contact_forces, *given), gram, forces, found)


def solved_rows(
    J: np.ndarray, response: np.ndarray, free: np.ndarray, drift: np.ndarray, scale: float, how: Any
) -> tuple[np.ndarray, Solution]:
    """Return free + response forces, and the forces, such that J times the result is -drift - scale J free.

    Raises:
        RankError: Rows are redundant, and are neither damped nor of least norm.
    """
    m, n = J.shape
    settings, forces, found, out = settings_for(how), np.zeros(m), np.zeros(3), np.empty(n)
    gram, room = np.zeros((m + 1, m + 1)), np.zeros(2 * m * m + 2 * m)
    given = settings, settings.view(np.int64), gram, room, forces, found, out
    code = _run(kernels.row_forces, J, response, free, drift, np.array([scale]), *given)
    solution = _told(code, gram, forces, found)
    return (out if not code else np.full(n, np.nan)), solution


def _told(code: int, gram: np.ndarray, forces: np.ndarray, found: np.ndarray) -> Solution:
    """Return what a kernel found; NaN if it was given what is not finite."""
    n = len(forces)
    if code == at.REDUNDANT:
        raise _redundant(n, gram[:n, :n])
    if code:  # there are no forces
        forces[:], found[:] = np.nan, (0.0, np.nan, 0.0)
    if found[0] == n:
        return Solution(forces, found, np.zeros(0))
    A, b = np.triu(gram[:n, :n]), gram[:n, n]
    return Solution(forces, found, (A + np.triu(A, 1).T) @ forces - b, float(np.abs(b).max(initial=0.0)))


def inverse_of(A: np.ndarray, mu: float, scale: float) -> np.ndarray:
    """Return the inverse of A + mu, times a scale.

    Raises:
        RankError: There is none.
    """
    n = len(A)
    out, given = np.zeros((n, n)), (np.array([mu]), np.array([scale]), np.zeros(n * n))
    if _run(kernels.contact_inverse, np.ascontiguousarray(A), *given, out):
        raise _redundant(n, A)
    return out


def response_of(M: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return M^-1 rows', shape (nv, rows)."""
    n, out = rows.shape[1], np.empty(rows.shape[::-1])
    if _run(kernels.mass_response, M, rows, np.zeros(n * n + n), out):
        return np.linalg.solve(M, rows.T)  # M is not that of a robot
    return out


def kkt_inverse_of(M: np.ndarray, J: np.ndarray, mu: float) -> np.ndarray:
    """Return the inverse of [[M, J'], [J, -mu]].

    Raises:
        RankError: There is none.
    """
    m, n = J.shape
    out, room = np.empty((n + m, n + m)), np.zeros(n * n + n + m * m + m)
    code = _run(kernels.kkt_inverse, M, J, np.array([float(mu)]), room, out)
    if code == at.REDUNDANT:
        raise _redundant(m, J @ response_of(M, J))
    if code:  # M is not that of a robot, or mu is negative
        return np.linalg.inv(np.block([[M, J.T], [J, -mu * np.eye(m)]]))
    return out


def _run(kernel: kernels.Kernel, *given: Any) -> int:
    """Run a kernel that takes no tables."""
    return int((kernel.function() if kernels.JIT else kernel.source.entry)(*given))


def _smallest(A: np.ndarray) -> float:
    """Return what is rounding, beside the largest eigenvalue."""
    return len(A) * 1e2 * float(np.finfo(float).eps)


def independent(A: np.ndarray) -> bool:
    """Whether the rows of contacts are, with A = J M^-1 J'."""
    smallest = _smallest(A)
    try:
        pivots, own = np.linalg.cholesky(A).diagonal() ** 2, A.diagonal()
    except np.linalg.LinAlgError:
        return False
    # a row that is nothing but rounding, whose square stands here, is small beside the others, not beside itself
    return bool((pivots / own).min() > 1e4 * smallest and own.min() > (1e4 * smallest) ** 2 * own.max())


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of A that are no rounding, and their vectors, side by side."""
    w, V = np.linalg.eigh(A)
    used = w > _smallest(A) * w[-1]
    return w[used], V[:, used]


def damping_of(mu: Any) -> float:
    """Return damping as a number; none is 0."""
    damping = 0.0 if mu is None else float(mu)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {mu!r}.")
    return damping


def lasting_damping_of(how: Any) -> float:
    """Return by what the diagonal of A is larger; iterated forces come to those without damping."""
    if isinstance(how, pin.ProximalSettings):
        return float(how.mu) if how.max_iter <= 1 else 0.0
    return damping_of(how)


def regular(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve A x = b where A must have an inverse."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise _redundant(len(A), A) from None


def _redundant(n: int, A: np.ndarray) -> RankError:
    """Return the error of the upper half of a singular matrix."""
    rank = int(np.linalg.matrix_rank(np.triu(A) + np.triu(A, 1).T, hermitian=True))
    return RankError(
        f"the {n} rows of the contacts are redundant: rank {rank}. Give mu > 0; without settings and damping "
        "constraintDynamics, impulseDynamics and forwardDynamics take the forces of least norm.",
        rank,
    )
