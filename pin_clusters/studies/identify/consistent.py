"""Estimates that a real robot can have: nothing negative, and inertias of bodies that have mass where it is."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .parameters import Parameter, scales

_SMALL = 1e-6
"""Least eigenvalue of a start, by the largest."""


def consistent(found: Sequence[Parameter], x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return what fits best of what is physical; x is the best of all, ``R`` the triangle of the equations."""
    from scipy.optimize import least_squares, lsq_linear

    prior = np.array([p.prior for p in found])
    wanted, (low, high) = prior + x, np.array([p.bounds for p in found]).T
    bodies = [[k for k, p in enumerate(found) if (p.kind, p.of) == ("inertial", of)] for of in {p.of for p in found}]
    bodies = [at for at in bodies if at]
    if np.all((wanted >= low) & (wanted <= high)) and all(
        np.linalg.eigvalsh(_pseudo(wanted[at]))[0] >= 0 for at in bodies
    ):
        return x
    start = np.clip(wanted, low + 1e-12, high - 1e-12)
    for at in bodies:  # in Pinocchio's log-Cholesky parameters, of the nearest that is real
        s, V = np.linalg.eigh(_pseudo(prior[at]))
        P = (V * np.maximum(s, _SMALL * max(s[-1], _SMALL))) @ V.T
        U = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]  # P = U U'
        d, U = np.log(np.diag(U)), U / U[3, 3]
        start[at] = [d[3], *(d[:3] - d[3]), U[0, 1], U[1, 2], U[0, 2], *U[:3, 3]]

    def values(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, J = y.copy(), np.eye(len(y))
        for at in bodies:
            body = pin.LogCholeskyParameters(y[at])
            y[at], J[np.ix_(at, at)] = body.toDynamicParameters(), body.calculateJacobian()
        return y, J

    for weight in (1e-6, 1e-3, 1.0):  # the valley of the last is narrow
        # where torques say little the model does: its scale counts as a deviation
        A = np.vstack([weight * R, np.diag(1.0 / scales(found))])
        b = A @ prior + np.append(weight * R @ x, 0.0 * x)
        if not bodies:
            start = lsq_linear(A, b, (low, high), method="bvls").x
            continue

        def left(y: np.ndarray, A: np.ndarray = A, b: np.ndarray = b) -> np.ndarray:
            return A @ values(y)[0] - b

        def derivatives(y: np.ndarray, A: np.ndarray = A) -> np.ndarray:
            return A @ values(y)[1]

        start = least_squares(
            left, start, derivatives, (low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=1000
        ).x
    return values(start)[0] - prior


def _pseudo(body: np.ndarray) -> np.ndarray:
    return pin.PseudoInertia.FromDynamicParameters(body).toMatrix()
