"""Solve weighted least-squares problems, with standard errors for correlated samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .equations import Equations
from .parameters import Parameter, scales

_RANK, _ROUNDS, _UNCORRELATED = 1e-7, 3, 0.1
"""Relative singular value that counts as zero; number of reweighting rounds; correlation that counts as zero."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A least-squares solution of the equations of the identification."""

    x: np.ndarray  # estimates relative to the priors, shape (parameters,)
    influence: np.ndarray  # contribution of each sample to the identifiable part of ``x``, shape (N, parameters)
    lags: int  # number of samples over which residuals are correlated
    variance_factor: np.ndarray  # factors that correct the estimated variances, shape (parameters,)
    R: np.ndarray  # triangular factor of the weighted equations; ``size`` contains its column norms
    size: np.ndarray
    hidden: np.ndarray  # orthonormal null-space directions of scaled parameters, shape (hidden, parameters)
    weights: np.ndarray  # whitening matrix, shape (rows, rows): residuals @ weights have unit covariance


def fit(system: Equations, unknowns: Sequence[Parameter], min_lags: int, start: Fit | None = None) -> Fit:
    """Solve the equations, assuming that residuals are correlated over at least ``min_lags`` samples."""
    x, W, rounds = (
        (np.zeros(len(unknowns)), np.eye(len(system.names)), _ROUNDS) if start is None else (start.x, start.weights, 1)
    )
    for _ in range(rounds):
        x = _solved(system.evaluate, x, W, unknowns, linear=system.losses is None)
        r, J = system.evaluate(x)
        if rounds > 1:  # Include rounding errors in the noise, because exact data would have infinite weights.
            rounding = 1e-9 * np.sqrt(np.mean(system.measured**2, axis=0)) + np.finfo(float).tiny
            W = np.diag(1.0 / np.sqrt(np.mean(r**2, axis=0) + rounding**2))
    A, b, n = W.T @ J, r @ W, len(r)
    R, size = _triangle(A, scales(unknowns))
    _, s, V = np.linalg.svd(R / size)
    rank = int(np.sum(s > _RANK * s.max(initial=0.0)))
    Q = A @ (V[:rank] / size).T / s[:rank]  # orthonormal columns
    directions = Q @ (V[:rank] / s[:rank, None])
    autocovariance = np.fft.irfft(np.abs(np.fft.rfft(b - b.mean(axis=0), 2 * n, axis=0)) ** 2, axis=0)[:n].sum(axis=1)
    correlated = int(np.argmax(np.append(autocovariance, 0.0) < _UNCORRELATED * autocovariance[0]))
    lags = min(max(min_lags, 3 * correlated, int(4.0 * (n / 100.0) ** (2.0 / 9.0))), n // 8)
    # Two corrections of the variance of correlated residuals: the fit absorbs part of the variance (Bell and McCaffrey
    # 2002), and the variance itself is estimated from few effective samples (Sun 2014).
    windowed, window = in_a_row(np.sum(directions**2, axis=1), lags), lags + 1.0
    leverage = [np.sum(in_a_row(np.einsum("nk,nkj->nj", x, Q), lags) ** 2) for x in np.moveaxis(directions, 2, 0)]
    variance, square_sum = (np.maximum(np.sum(y, axis=0), 1e-300) for y in (windowed / np.sqrt(window), windowed**2))
    variance_factor = 1.0 + 2.0 / np.maximum(1.5 * variance**2 / square_sum - 2.0, 1.0)
    variance_factor = variance_factor / np.maximum(1.0 - leverage / variance, 0.1)
    return Fit(x, np.einsum("nkp,nk->np", directions, b) / size, lags, variance_factor, R, size, V[rank:], W)


def in_a_row(x: np.ndarray, lags: int) -> np.ndarray:
    """Return scaled sums over windows of lags + 1 samples; Newey and West's (1987) estimator sums their squares."""
    sums = np.cumsum(np.pad(x, ((lags + 1, lags + 1), (0, 0))), axis=0)
    return (sums[lags + 1 :] - sums[: -lags - 1]) / np.sqrt(lags + 1.0)


def _triangle(A: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangular factor of ``A``, and its column norms, bounded below by a rounding error."""
    R: np.ndarray = np.linalg.qr(A.reshape(-1, A.shape[-1]), mode="r")  # type: ignore[assignment]
    size = np.linalg.norm(R, axis=0)[: len(scale)]
    return R, np.maximum(size, 1e-10 * np.max(size * scale) / scale + np.finfo(float).tiny)


def _solved(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    x: np.ndarray,
    W: np.ndarray,
    unknowns: Sequence[Parameter],
    *,
    linear: bool,
) -> np.ndarray:
    from scipy.optimize import least_squares

    if linear:
        r, J = evaluate(0.0 * x)
        R, size = _triangle(np.concatenate([W.T @ J, (r @ W)[..., None]], axis=2), scales(unknowns))
        return np.linalg.lstsq(R[:, :-1] / size, R[:, -1], rcond=_RANK)[0] / size
    is_efficiency = [p.kind.endswith("efficiency") for p in unknowns]
    low, high = (
        np.where(is_efficiency, [p.bounds[i] - p.prior for p in unknowns], b) for i, b in ((0, -np.inf), (1, np.inf))
    )

    def weighted(y: np.ndarray) -> np.ndarray:
        return (evaluate(y)[0] @ W).ravel()

    def derivatives(y: np.ndarray) -> np.ndarray:
        return -(W.T @ evaluate(y)[1]).reshape(-1, len(y))

    start = np.clip(x, low + 1e-9, high - 1e-9)
    return least_squares(weighted, start, derivatives, (low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12).x
