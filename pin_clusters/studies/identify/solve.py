"""Weighted least squares, with errors that account for what samples have in common with those before them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .equations import Equations
from .parameters import Parameter, scales

_RANK, _ROUNDS, _AGAIN = 1e-7, 3, 0.1
"""Singular values that are none, by the largest; rounds of weights; correlation of residuals that is none."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution.

    Attributes:
        x: By how much the priors are off, shape (parameters,).
        influence: What each sample adds to it, in the directions that are seen, shape (N, parameters).
        lags: How many samples later one has something in common with it; ``few``: by what variances are too small.
        R: Triangle of the weighted equations, and ``size``, the lengths of its columns.
        hidden: Orthonormal directions, in units of 1 / size, that no torque tells of, shape (hidden, parameters).
        weights: Of rows, shape (rows, rows): residuals @ weights have unit covariance.
    """

    x: np.ndarray
    influence: np.ndarray
    lags: int
    few: np.ndarray
    R: np.ndarray
    size: np.ndarray
    hidden: np.ndarray
    weights: np.ndarray


def fit(e: Equations, found: Sequence[Parameter], least: int, start: Fit | None = None) -> Fit:
    """Solve the equations, of which at least so many samples in a row have something in common."""
    x, W, rounds = (
        (np.zeros(len(found)), np.eye(len(e.names)), _ROUNDS) if start is None else (start.x, start.weights, 1)
    )
    for _ in range(rounds):
        x = _solved(e.at, x, W, found, linear=e.losses is None)
        r, J = e.at(x)
        if rounds > 1:  # rounding counts as noise
            floor = 1e-9 * np.sqrt(np.mean(e.measured**2, axis=0)) + np.finfo(float).tiny
            W = np.diag(1.0 / np.sqrt(np.mean(r**2, axis=0) + floor**2))
    A, b, n = W.T @ J, r @ W, len(r)
    R, size = _triangle(A, scales(found))
    _, s, V = np.linalg.svd(R / size)
    rank = int(np.sum(s > _RANK * s.max(initial=0.0)))
    Q = A @ (V[:rank] / size).T / s[:rank]  # orthonormal
    a = Q @ (V[:rank] / s[:rank, None])
    c = np.fft.irfft(np.abs(np.fft.rfft(b - b.mean(axis=0), 2 * n, axis=0)) ** 2, axis=0)[:n].sum(axis=1)
    alike = int(np.argmax(np.append(c, 0.0) < _AGAIN * c[0]))
    lags = min(max(least, 3 * alike, int(4.0 * (n / 100.0) ** (2.0 / 9.0))), n // 8)
    # of residuals alike in time: what a fit hides (Bell and McCaffrey 2002), that few tell of their size (Sun 2014)
    seen, row = in_a_row(np.sum(a**2, axis=1), lags), lags + 1.0
    lost = [np.sum(in_a_row(np.einsum("nk,nkj->nj", x, Q), lags) ** 2) for x in np.moveaxis(a, 2, 0)]
    own, square = (np.maximum(np.sum(y, axis=0), 1e-300) for y in (seen / np.sqrt(row), seen**2))
    few = (1.0 + 2.0 / np.maximum(1.5 * own**2 / square - 2.0, 1.0)) / np.maximum(1.0 - lost / own, 0.1)
    return Fit(x, np.einsum("nkp,nk->np", a, b) / size, lags, few, R, size, V[rank:], W)


def in_a_row(x: np.ndarray, lags: int) -> np.ndarray:
    """Return sums of as many samples; squared they are as Newey and West (1987) have it."""
    sums = np.cumsum(np.pad(x, ((lags + 1, lags + 1), (0, 0))), axis=0)
    return (sums[lags + 1 :] - sums[: -lags - 1]) / np.sqrt(lags + 1.0)


def _triangle(A: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangle of equations and lengths of its columns, of those that are rounding much larger ones."""
    R: np.ndarray = np.linalg.qr(A.reshape(-1, A.shape[-1]), mode="r")  # type: ignore[assignment]
    size = np.linalg.norm(R, axis=0)[: len(scale)]
    return R, np.maximum(size, 1e-10 * np.max(size * scale) / scale + np.finfo(float).tiny)


def _solved(
    at: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    x: np.ndarray,
    W: np.ndarray,
    found: Sequence[Parameter],
    *,
    linear: bool,
) -> np.ndarray:
    from scipy.optimize import least_squares

    if linear:
        r, J = at(0.0 * x)
        R, size = _triangle(np.concatenate([W.T @ J, (r @ W)[..., None]], axis=2), scales(found))
        return np.linalg.lstsq(R[:, :-1] / size, R[:, -1], rcond=_RANK)[0] / size
    only = [p.kind.endswith("efficiency") for p in found]
    low, high = (np.where(only, [p.bounds[i] - p.prior for p in found], b) for i, b in ((0, -np.inf), (1, np.inf)))

    def weighted(y: np.ndarray) -> np.ndarray:
        return (at(y)[0] @ W).ravel()

    def derivatives(y: np.ndarray) -> np.ndarray:
        return -(W.T @ at(y)[1]).reshape(-1, len(y))

    start = np.clip(x, low + 1e-9, high - 1e-9)
    return least_squares(weighted, start, derivatives, (low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12).x
