"""Weighted least squares, with errors that account for what samples have in common with those before them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .equations import Equations
from .parameters import Parameter

Filter: TypeAlias = Callable[[np.ndarray], np.ndarray]
System: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
_RANK = 1e-7
"""Singular values below are none, in units of the largest, of columns of length 1."""
_ROUNDS = 3
_AGAIN = 0.1
"""Correlation of residuals that is taken for none."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution.

    Attributes:
        x: By how much the priors are off, shape (parameters,).
        covariance: Of it, in the directions that are seen.
        R: Triangle of the weighted equations, shape (parameters, parameters).
        hidden: Orthonormal directions in units of columns that no torque tells of, shape (hidden, parameters).
        size: Lengths of the columns.
        weights: Of rows, shape (rows, rows).
        residual: Shape (N, rows).
    """

    x: np.ndarray
    covariance: np.ndarray
    R: np.ndarray
    hidden: np.ndarray
    size: np.ndarray
    weights: np.ndarray
    residual: np.ndarray


def system(e: Equations, found: Sequence[Parameter], filtered: Filter) -> System:
    """Return what gives, at x, what is left of the torques, (N, rows), and derivatives of the rest, (N, rows, p)."""
    left, X, priors = filtered(e.left), filtered(e.X), np.array([p.prior for p in found])

    def at(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if e.losses is None:
            return left - X @ x, X
        torque, J = e.losses.torque(x, x + priors)
        return left - X @ x - filtered(torque), X + filtered(J)

    return at


def fit(e: Equations, found: Sequence[Parameter], filtered: Filter, weights: np.ndarray | None = None, lags: int = 0) -> Fit:
    """Solve the equations; ``filtered`` takes samples, shape (N, ...), to those of the parallel filter."""
    at, given = system(e, found, filtered), weights is not None
    n, rows, p = at(np.zeros(len(found)))[1].shape
    x, W = np.zeros(p), np.eye(rows) if weights is None else weights
    for _ in range(1 if given else _ROUNDS):
        x = _solved(at, x, W, found, linear=e.losses is None)
        r, J = at(x)
        if not given:
            W = _weights(r, filtered(e.measured))
    r, J = at(x)
    A, b = W.T @ J, r @ W
    R = np.linalg.qr(A.reshape(-1, p), mode="r")
    size = np.maximum(np.linalg.norm(R, axis=0), np.finfo(float).tiny)
    _, s, Vt = np.linalg.svd(R / size)
    rank = int(np.sum(s > _RANK * s.max(initial=0.0)))
    inverse = (Vt[:rank].T / s[:rank] ** 2) @ Vt[:rank]
    g = np.einsum("nkp,nk->np", A / size, b)
    lags, alike = _lags(b, lags)
    few = n / (n - lags) / max(1.0 - rank * alike / (n * rows), 0.1)
    cov = few * inverse @ _long_run(g, lags) @ inverse / np.outer(size, size)
    return Fit(x, cov, R, Vt[rank:], size, W, r)


def _solved(at: System, x: np.ndarray, W: np.ndarray, found: Sequence[Parameter], *, linear: bool) -> np.ndarray:
    from scipy.optimize import least_squares

    if not linear:
        low, high = (np.array([p.bounds[i] - p.prior for p in found]) for i in (0, 1))
        free = [not p.kind.endswith("efficiency") for p in found]
        low[free], high[free] = -np.inf, np.inf
        return least_squares(
            lambda y: (at(y)[0] @ W).ravel(),
            np.clip(x, low + 1e-9, high - 1e-9),
            lambda y: -(W.T @ at(y)[1]).reshape(-1, len(y)),
            (low, high), x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14,
        ).x  # fmt: skip
    r, J = at(np.zeros_like(x))
    A = (W.T @ J).reshape(-1, len(x))
    size = np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    R = np.linalg.qr(np.column_stack([A / size, (r @ W).ravel()]), mode="r")
    return np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=_RANK)[0] / size


def _weights(r: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Return W: residuals @ W have unit covariance; rounding counts as noise."""
    least = 1e-9 * np.sqrt(np.mean(measured**2, axis=0)) + np.finfo(float).tiny
    return np.linalg.inv(np.linalg.cholesky(r.T @ r / len(r) + np.diag(least**2))).T


def _lags(b: np.ndarray, least: int) -> tuple[int, float]:
    """Return over how many samples residuals, shape (N, rows), are correlated, several times; and how many are one."""
    n = len(b)
    power = np.abs(np.fft.rfft(b - b.mean(axis=0), 2 * n, axis=0)) ** 2
    c = np.fft.irfft(power, axis=0)[:n].sum(axis=1)
    c = c[: int(np.argmax(np.append(c, 0.0) < _AGAIN * c[0]))] / c[0]
    return min(max(least, 3 * len(c), int(4.0 * (n / 100.0) ** (2.0 / 9.0))), n // 8), float(2.0 * c.sum() - 1.0)


def _long_run(g: np.ndarray, lags: int) -> np.ndarray:
    """Return the covariance of the sum of what is correlated over some lags (Newey and West 1987)."""
    S = g.T @ g
    for lag in range(1, lags + 1):
        C = g[lag:].T @ g[:-lag]
        S += (1.0 - lag / (lags + 1.0)) * (C + C.T)
    return S
