"""Project estimates onto physically consistent values, such as nonnegative friction coefficients."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .parameters import Parameter, scales

_SMALL = 1e-6  # Lower bound of the eigenvalues of a starting pseudo-inertia, relative to the largest eigenvalue


def consistent(unknowns: Sequence[Parameter], x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return the best fit with physically consistent parameters; ``x`` is the unconstrained fit, ``R`` is ``Fit.R``."""
    from scipy.optimize import least_squares, lsq_linear

    prior = np.array([p.prior for p in unknowns])
    unconstrained, (low, high) = prior + x, np.array([p.bounds for p in unknowns]).T
    bodies = [
        [k for k, p in enumerate(unknowns) if (p.kind, p.of) == ("inertial", owner)]
        for owner in {p.of for p in unknowns}
    ]
    bodies = [rows for rows in bodies if rows]
    if np.all((unconstrained >= low) & (unconstrained <= high)) and all(
        np.linalg.eigvalsh(_pseudo(unconstrained[rows]))[0] >= 0 for rows in bodies
    ):
        return x
    start = np.clip(unconstrained, low + 1e-12, high - 1e-12)
    # Bodies use Pinocchio's log-Cholesky parameters, starting from the nearest consistent pseudo-inertia.
    for rows in bodies:
        eigenvalues, eigenvectors = np.linalg.eigh(_pseudo(prior[rows]))
        P = (eigenvectors * np.maximum(eigenvalues, _SMALL * max(eigenvalues[-1], _SMALL))) @ eigenvectors.T
        U = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]  # P = U U'
        d, U = np.log(np.diag(U)), U / U[3, 3]
        start[rows] = [d[3], *(d[:3] - d[3]), U[0, 1], U[1, 2], U[0, 2], *U[:3, 3]]

    def values(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, J = y.copy(), np.eye(len(y))
        for rows in bodies:
            body = pin.LogCholeskyParameters(y[rows])
            y[rows], J[np.ix_(rows, rows)] = body.toDynamicParameters(), body.calculateJacobian()
        return y, J

    # The weight of the equations is increased in steps, because the optimizer may not converge at the full weight.
    for weight in (1e-6, 1e-3, 1.0):
        # The prior, with standard deviation ``scale``, determines parameters that do not affect the torques.
        A = np.vstack([weight * R, np.diag(1.0 / scales(unknowns))])
        b = A @ prior + np.append(weight * R @ x, 0.0 * x)
        if not bodies:
            start = lsq_linear(A, b, (low, high), method="bvls").x
            continue

        def error(y: np.ndarray, A: np.ndarray = A, b: np.ndarray = b) -> np.ndarray:
            return A @ values(y)[0] - b

        def derivatives(y: np.ndarray, A: np.ndarray = A) -> np.ndarray:
            return A @ values(y)[1]

        start = least_squares(
            error, start, derivatives, (low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=1000
        ).x
    return values(start)[0] - prior


def _pseudo(body: np.ndarray) -> np.ndarray:
    return pin.PseudoInertia.FromDynamicParameters(body).toMatrix()
