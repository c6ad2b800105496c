"""Estimates that a real robot can have: nothing negative, and inertias of bodies that have mass where it is."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .parameters import Parameter

_PULL, _LEAST = 1e-6, 1e-6
"""Towards the start where torques say nothing, of a column; least eigenvalues of a start, of the largest."""


def consistent(found: Sequence[Parameter], x: np.ndarray, R: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return what fits best of what is physical; x is the best of all, ``R`` the triangle of the equations."""
    from scipy.optimize import least_squares

    prior, low, high = (np.array([f(p) for p in found]) for f in (
        lambda p: p.prior, lambda p: p.bounds[0], lambda p: p.bounds[1]
    ))  # fmt: skip
    bodies: dict[str, list[int]] = {}
    for k, p in enumerate(found):
        bodies.setdefault(p.of, []).append(k) if p.kind == "inertial" else None
    wanted = prior + x
    within = np.all((wanted >= low) & (wanted <= high))
    if within and all(_real(wanted[at]) for at in bodies.values()):
        return x
    start = np.clip(np.where(np.isfinite(wanted), wanted, prior), low, high)
    for at in bodies.values():
        start[at] = _logarithms(prior[at])
    A = np.vstack([R, _PULL * np.diag(size)])

    def values(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, J = y.copy(), np.eye(len(y))
        for at in bodies.values():
            body = pin.LogCholeskyParameters(y[at])
            found[at], J[np.ix_(at, at)] = body.toDynamicParameters(), body.calculateJacobian()
        return found, J

    solved = least_squares(
        lambda y: A @ (values(y)[0] - wanted), np.clip(start, low + 1e-12, high - 1e-12),
        lambda y: A @ values(y)[1], (low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=1000,
    )  # fmt: skip
    return values(solved.x)[0] - prior


def _pseudo(body: np.ndarray) -> np.ndarray:
    return pin.PseudoInertia.FromDynamicParameters(body).toMatrix()


def _real(body: np.ndarray) -> bool:
    return bool(np.linalg.eigvalsh(_pseudo(body))[0] >= 0.0)


def _logarithms(body: np.ndarray) -> np.ndarray:
    """Return Pinocchio's log-Cholesky parameters of a body, of the nearest one that is real."""
    s, V = np.linalg.eigh(_pseudo(body))
    P = (V * np.maximum(s, _LEAST * max(s[-1], 1e-6))) @ V.T
    U = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]  # upper: P = U U'
    d = np.log(np.diag(U))
    U = U / U[3, 3]
    return np.array([d[3], *(d[:3] - d[3]), U[0, 1], U[1, 2], U[0, 2], *U[:3, 3]])
