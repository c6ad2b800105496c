"""Compute contacts and impacts by solving one dense system [M J'; J 0], with body twists about the world origin.

The compiled functions use J M^-1 J' instead. This module reads body velocities and accelerations from the stacked
vectors of the clusters, and uses them to compute the contact rows in world axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from ..._support.docstrings import STATE, stock
from ...model import ClusterModel
from ._clusters import Block, above, blocks, cross, expanded
from .inverse import nonLinearEffects
from .mass_matrix import crba
from .operational import body_jacobians, placement_of

_CONTACTS = """
Args:
    contacts: ``pin.RigidConstraintModel`` objects on ``model.tree``.
"""
_documented = stock(STATE, _CONTACTS)
REDUNDANT = 1e-11
"""Singular values of the scaled system belong to redundant rows if they are below this fraction of the largest."""


@dataclass
class _Side:
    """One of the two bodies of a contact. Its twist is about the world origin, in world axes."""

    pose: np.ndarray  # homogeneous pose of the contact frame, shape (4, 4)
    J: np.ndarray  # Jacobian of the twist, shape (6, nv)
    V: np.ndarray  # twist, shape (6,)
    A: np.ndarray  # rate of change of the twist at zero independent acceleration, shape (6,)

    def point(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the Jacobian, velocity and acceleration of the contact point of the body."""
        position, w = self.pose[:3, 3], self.V[3:]
        to_point = np.hstack([np.eye(3), -pin.skew(position)])
        velocity = to_point @ self.V
        return to_point @ self.J, velocity, to_point @ self.A + np.cross(w, velocity)


@_documented
def contact_rows(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return J, shape (rows, nv), and target, shape (rows,); the constraint equations of contacts are J a = target.

    In a 3D contact, both points must have the same acceleration. In a 6D contact with local axes, the components of the
    relative twist must be constant; with world axes, both spatial accelerations must be equal. Corrector terms and
    desired motions are added to the target.
    """
    motion = _motions(model, blocks(model, q, v))
    rows, target = [np.zeros((0, model.nv))], [np.zeros(0)]
    for c in contacts:
        side_1 = _side(model, motion, c.joint1_id, c.joint1_placement)
        side_2 = _side(model, motion, c.joint2_id, c.joint2_placement)
        J, drift, correction = (_point if c.type == pin.ContactType.CONTACT_3D else _frame)(c, side_1, side_2)
        if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
            correction = np.kron(np.eye(len(J) // 3), side_1.pose[:3, :3]) @ correction
        rows.append(J)
        target.append(correction + c.desired_contact_acceleration.vector[: len(J)] - drift)
    return np.vstack(rows), np.concatenate(target)


@_documented
def constraintDynamics(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the accelerations with closed contacts: M a + nle = tau + J' force and J a = target.

    Returns:
        Independent accelerations, shape (nv,), and forces, shape (rows,). If rows are redundant, forces are not unique.
    """
    J, target = contact_rows(model, q, v, contacts)
    return _solve(crba(model, q), J, np.asarray(tau) - nonLinearEffects(model, q, v), target)


@_documented
def impulseDynamics(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any], r_coeff: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Solve the equations of an impact: M (v_after - v) = J' impulse and J v_after = -r_coeff J v.

    Args:
        r_coeff: Coefficient of restitution.

    Returns:
        Independent velocities, shape (nv,), and impulses, shape (rows,).
    """
    J, _ = contact_rows(model, q, v, contacts)
    M = crba(model, q)
    return _solve(M, J, M @ v, -r_coeff * (J @ v))


def _solve(M: np.ndarray, J: np.ndarray, right: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, m = len(M), len(J)
    scale = np.ones(n + m)
    scale[:n] = 1.0 / np.sqrt(M.diagonal())
    scale[n:] /= max(float(np.linalg.norm(J * scale[:n], 2)), 1e-12) if m else 1.0
    K = np.block([[M, J.T], [J, np.zeros((m, m))]]) * np.outer(scale, scale)
    x = scale * np.linalg.lstsq(K, scale * np.concatenate([right, target]), rcond=REDUNDANT)[0]
    return x[:n], -x[n:]


def _motions(model: ClusterModel, clusters: list[Block]) -> dict[int, _Side]:
    """Return a ``_Side`` for each body of the expanded tree, with the body frame instead of a contact frame."""
    J, transforms = body_jacobians(model, clusters)
    A: list[np.ndarray] = []
    sides = {0: _Side(np.eye(4), J[0], np.zeros(6), np.zeros(6))}
    for block in clusters:
        A.append(block.X @ above(A, block, np.zeros(6)) + block.c)
        for i, j in enumerate(block.bodies):
            X, rows, pose = np.linalg.inv(transforms[j]), slice(6 * i, 6 * i + 6), np.eye(4)
            pose[:3, :3], pose[:3, 3] = placement_of(transforms[j])
            sides[j] = _Side(pose, X @ J[j], X @ block.V[rows], X @ A[-1][rows])
    return sides


def _side(model: ClusterModel, motion: dict[int, _Side], joint: int, placement: pin.SE3) -> _Side:
    body = motion[int(expanded(model).from_tree_id[joint])]
    return replace(body, pose=body.pose @ placement.homogeneous)


def _point(c: Any, side_1: _Side, side_2: _Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the rows, the acceleration at a = 0 and the corrector acceleration of a 3D contact."""
    R = side_1.pose[:3, :3]
    (J1, v1, a1), (J2, v2, a2) = side_1.point(), side_2.point()
    axes = R.T if c.reference_frame == pin.LOCAL else np.eye(3)
    Kp, Kd = _gains(c, 3)
    error = c.desired_contact_placement.translation - R.T @ (side_2.pose[:3, 3] - side_1.pose[:3, 3])
    return axes @ (J1 - J2), axes @ (a1 - a2), -Kp * error - Kd * (R.T @ (v1 - v2) - c.desired_contact_velocity.linear)


def _frame(c: Any, side_1: _Side, side_2: _Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the rows, the acceleration at a = 0 and the corrector acceleration of a 6D contact."""
    R, position = side_1.pose[:3, :3], side_1.pose[:3, 3]
    turn = np.kron(np.eye(2), R.T)
    to_point = np.eye(6)  # transform from twists about the world origin to twists about the contact point
    to_point[:3, 3:] = -pin.skew(position)
    to_local = turn @ to_point
    rate, change = side_1.V - side_2.V, side_1.A - side_2.A
    if c.reference_frame == pin.LOCAL:
        axes, drift = to_local, to_local @ (change - cross(side_1.V, rate))  # the axes move with body 1
    else:
        axes = to_point
        drift = to_point @ change
    Kp, Kd = _gains(c, 6)
    target = -Kd * (to_local @ rate - c.desired_contact_velocity.vector)
    if np.any(Kp):
        target += Kp * _twist_to(np.linalg.solve(side_1.pose @ c.desired_contact_placement.homogeneous, side_2.pose))
    return axes @ (side_1.J - side_2.J), drift, target


def _twist_to(pose: np.ndarray) -> np.ndarray:
    """Return the constant twist that moves a frame from the identity to a pose, shape (4, 4), in unit time."""
    rotation = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
    blocks_4 = np.zeros((6, 6))
    # The upper right block of the exponential is the mean rotation matrix during the motion.
    blocks_4[:3, :3], blocks_4[:3, 3:] = pin.skew(rotation), np.eye(3)
    return np.concatenate([np.linalg.solve(expm(blocks_4)[:3, 3:], pose[:3, 3]), rotation])


def _gains(c: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gains Kp and Kd of a contact; the name of their attribute depends on the version of Pinocchio."""
    gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
    return np.ravel(gains.Kp)[:n], np.ravel(gains.Kd)[:n]
