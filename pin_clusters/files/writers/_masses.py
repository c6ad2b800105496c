"""Moves inertia between bodies, without changing any motion, so that MuJoCo accepts each body.

A mass distribution is represented by its moments, ``P = sum m (x, 1) (x, 1)'``, shape (4, 4), [kg, kg m, kg m^2].
Moments are additive. The moments in another frame are ``T P T'``; T is the homogeneous matrix of the placement.

Mass on the axis of a hinge can belong to the body on either side of the hinge; rotational inertia without mass can
belong to either body of a slide. MuJoCo rejects some bodies, such as rotors without mass. Such mass or inertia is moved
from the parent to a rejected body, which changes neither the sum of both bodies' moments nor any motion.
"""

import numpy as np
import pinocchio as pin

LEAST_MASS = 1e-6
"""Smallest mass [kg] of a body after mass is moved."""
LEAST_MOMENT = 1e-14
"""Smallest principal moment [kg m^2] in the file, because MuJoCo rejects moments below 1e-15."""
ROUNDING = 1e-11
"""Largest violation of MuJoCo's condition A + B >= C, relative to C, that is corrected as a rounding error."""
_MARGIN = 1e-3
"""Safety margin of the moved inertia, relative to the largest second moment of the body."""


def moments(inertia: pin.Inertia) -> np.ndarray:
    m, c = float(inertia.mass), np.array(inertia.lever)
    I = np.array(inertia.inertia)
    P = np.zeros((4, 4))
    P[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I + m * np.outer(c, c)
    P[:3, 3] = P[3, :3] = m * c
    P[3, 3] = m
    return P


def spin(inertia: float, axis: np.ndarray) -> np.ndarray:
    """Compute the moments of a body that has only an axial inertia [kg m^2], about an axis through the origin."""
    P = np.zeros((4, 4))
    P[:3, :3] = inertia * (0.5 * np.eye(3) - np.outer(axis, axis))  # The inertia about perpendicular axes is 0.
    return P


def axial(P: np.ndarray, axis: np.ndarray) -> float:
    second = about_centre(P)[2]
    return float(np.trace(second) - axis @ second @ axis)


def placed(placement: pin.SE3, P: np.ndarray) -> np.ndarray:
    """Transform moments to the frame in which ``placement`` is expressed."""
    T = np.array(placement.homogeneous)
    return np.asarray(T @ P @ T.T)


def about_centre(P: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute the mass, the centre of mass, and the second moments about the centre of mass, shape (3, 3)."""
    m = float(P[3, 3])
    c = P[:3, 3] / m if m > 0.0 else np.zeros(3)
    return m, c, np.array(P[:3, :3] - m * np.outer(c, c))


def principal(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the principal moments of inertia about the centre of mass, ascending, and the rotation to their axes."""
    S = about_centre(P)[2]
    I = np.trace(S) * np.eye(3) - S
    values, axes = np.linalg.eigh(0.5 * (I + I.T))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return values, axes


def admissible(P: np.ndarray) -> bool:
    if not P[3, 3] > 0.1 * LEAST_MOMENT:
        return False
    (a, b, c), _ = principal(P)
    return bool(a >= -ROUNDING * c and a + b >= c * (1.0 - ROUNDING))


def accepted(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute principal moments and principal axes of a physically possible body; rounding errors are corrected."""
    principal_moments, axes = principal(P)
    a, b, c = np.maximum(principal_moments, LEAST_MOMENT).tolist()
    return np.array([a, b, min(c, float(np.nextafter(a + b, 0.0)))]), axes


def borrowed_by_hinge(P: np.ndarray, axis: np.ndarray, point: np.ndarray) -> np.ndarray | None:
    """Compute the least mass moments on a hinge axis that make P physical when added to P; None if impossible."""
    added = np.zeros((4, 4))
    s = np.append(axis, 0.0)
    if P[3, 3] < LEAST_MASS:
        x = np.append(point, 1.0)
        added += (LEAST_MASS - P[3, 3]) * np.outer(x, x)
    S = about_centre(P + added)[2]
    across = np.linalg.svd(axis.reshape(1, 3))[2][1:].T  # two directions perpendicular to the axis, shape (3, 2)
    scale = max(float(np.abs(S).max()), LEAST_MOMENT)
    flat = across.T @ S @ across
    values, vectors = np.linalg.eigh(flat)
    if values[0] < -ROUNDING * scale:
        return None
    mixed = vectors.T @ across.T @ S @ axis
    if np.any(np.abs(mixed[values <= ROUNDING * scale]) > 1e-8 * scale):
        return None
    held = sum(float(m * m / v) for m, v in zip(mixed, values, strict=True) if v > ROUNDING * scale)
    need = held - float(axis @ S @ axis)
    if need > -ROUNDING * scale:
        added += (max(need, 0.0) + _MARGIN * scale) * np.outer(s, s)
    return added


def borrowed_by_slide(P: np.ndarray) -> np.ndarray | None:
    """Compute massless moments that, added to P, give a physical body; return None if the body has no mass."""
    if not P[3, 3] > 0.1 * LEAST_MOMENT:
        return None
    S = about_centre(P)[2]
    added = np.zeros((4, 4))
    added[:3, :3] = max(-float(np.linalg.eigvalsh(S)[0]), 0.0) * (1.0 + _MARGIN) * np.eye(3)
    return added
