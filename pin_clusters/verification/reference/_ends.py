"""Compute motions of points and frames on bodies, with derivatives along many directions at once.

All quantities are complex numbers. The real part is the value, and the imaginary part is ``STEP`` times the derivative
along a direction. Ordinary formulas then yield exact derivatives (complex-step differentiation).
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

STEP = 1e-40
"""Complex step. Its square is negligible in floating-point arithmetic."""


@dataclass(frozen=True, eq=False)
class Along:
    """Changes of q (as tangent vectors), v and a of a tree along n directions, shape (tree.nv, n) each."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


@dataclass(frozen=True, eq=False)
class End:
    """A frame on a body. In each array, entry 0 is the original state, and entry k a complex step along direction k."""

    R: np.ndarray  # rotation to world axes, shape (n + 1, 3, 3)
    x: np.ndarray  # position of the origin in world axes, shape (n + 1, 3)
    xd: np.ndarray  # velocity of the origin
    xdd: np.ndarray  # acceleration of the origin
    w: np.ndarray  # angular velocity
    wd: np.ndarray  # angular acceleration


class Motion:
    """The motion of a tree, with Pinocchio's derivatives of the kinematics of each joint."""

    def __init__(self, tree: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        self.tree, self.data = tree, tree.createData()
        pin.computeForwardKinematicsDerivatives(tree, self.data, q, v, a)

    def end(self, j: int, placement: pin.SE3, along: Along) -> End:
        """Return the frame at ``placement`` relative to joint j; joint 0 is the universe."""
        n = along.q.shape[1] + 1
        moved, v, a = np.zeros((3, 6, n), dtype=complex)
        oMi = pin.SE3.Identity()
        if j:
            oMi = self.data.oMi[j]
            local = pin.getJointAccelerationDerivatives(self.tree, self.data, j, pin.LOCAL)
            v_q, a_q, a_v, J = (np.asarray(x).reshape(6, -1) for x in local)  # Pinocchio returns vectors for one column
            moved[:, 1:] = 1j * STEP * (J @ along.q)
            v[:, 1:] = 1j * STEP * (v_q @ along.q + J @ along.v)
            a[:, 1:] = 1j * STEP * (a_q @ along.q + a_v @ along.v + J @ along.a)
            v += self.data.v[j].vector[:, None]
            a += self.data.a[j].vector[:, None]
        R = oMi.rotation @ (np.eye(3) + _skew(moved[3:].T))
        arm = np.broadcast_to(placement.translation, (n, 3))
        w, wd = v[3:].T, a[3:].T
        speed = v[:3].T + np.cross(w, arm)
        acceleration = a[:3].T + np.cross(wd, arm) + np.cross(w, speed)
        x = oMi.translation + turned(R, arm) + turned(oMi.rotation, moved[:3].T)
        axes = R @ placement.rotation
        return End(axes, x, turned(R, speed), turned(R, acceleration), turned(R, w), turned(R, wd))


def turned(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Compute R x for each entry along the first axis."""
    return np.einsum("nij,nj->ni", np.broadcast_to(R, (len(x), 3, 3)), x)


def turned_back(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Compute R' x for each entry along the first axis."""
    return np.einsum("nji,nj->ni", R, x)


def split(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split complex values, shape (n + 1, size), into the value, (size,), and the derivatives, (size, n)."""
    return values[0].real.copy(), values[1:].imag.T / STEP


def _skew(x: np.ndarray) -> np.ndarray:
    out = np.zeros((len(x), 3, 3), dtype=x.dtype)
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = x.T
    return out - out.transpose(0, 2, 1)
