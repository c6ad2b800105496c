"""Contacts and impacts by one dense system of equations, [M J'; J 0], with twists of bodies about the world's origin.

The compiled route goes through J M^-1 J'; here velocities and accelerations of the bodies come from the stacked vectors
of clusters, and what a contact sees is derived from them in world axes.
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
"""Singular values of the system, scaled, relative to the largest: those of rows that repeat others are below."""


@dataclass
class _Side:
    """A body at one side of a contact, about the origin and in the axes of the world."""

    pose: np.ndarray  # of the contact frame on it, homogeneous, shape (4, 4)
    J: np.ndarray  # its twist is J v, shape (6, nv)
    V: np.ndarray  # twist, shape (6,)
    A: np.ndarray  # rate of change of the twist at zero independent acceleration, shape (6,)

    def point(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Jacobian, velocity and acceleration of the contact point, a point of the body."""
        at, w = self.pose[:3, 3], self.V[3:]
        to = np.hstack([np.eye(3), -pin.skew(at)])
        velocity = to @ self.V
        return to @ self.J, velocity, to @ self.A + np.cross(w, velocity)


@_documented
def contact_rows(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of contacts, and what they ask: J a = rest.

    A point (3D) asks that the second derivatives of both points agree; a frame (6D) in its own axes that the components
    of the relative twist do not change, in axes of the world that the difference of both spatial accelerations is none.
    Correctors and desired motions are added.

    Returns:
        J, shape (rows, nv), and rest, shape (rows,).
    """
    motion = _motions(model, blocks(model, q, v))
    rows, rest = [np.zeros((0, model.nv))], [np.zeros(0)]
    for c in contacts:
        one = _side(model, motion, c.joint1_id, c.joint1_placement)
        two = _side(model, motion, c.joint2_id, c.joint2_placement)
        J, has, wanted = (_point if c.type == pin.ContactType.CONTACT_3D else _frame)(c, one, two)
        if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
            wanted = np.kron(np.eye(len(J) // 3), one.pose[:3, :3]) @ wanted
        rows.append(J)
        rest.append(wanted + c.desired_contact_acceleration.vector[: len(J)] - has)
    return np.vstack(rows), np.concatenate(rest)


@_documented
def constraintDynamics(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the accelerations while contacts hold, M a + nle = tau + J' force and J a = rest.

    Returns:
        Independent accelerations, shape (nv,), and forces, shape (rows,); of redundant rows, some forces.
    """
    J, rest = contact_rows(model, q, v, contacts)
    return _solve(crba(model, q), J, np.asarray(tau) - nonLinearEffects(model, q, v), rest)


@_documented
def impulseDynamics(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any], r_coeff: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the velocities after an impact, M (v_after - v) = J' impulse and J v_after = -r_coeff J v.

    Args:
        r_coeff: Restitution.

    Returns:
        Independent velocities, shape (nv,), and impulses, shape (rows,).
    """
    J, _ = contact_rows(model, q, v, contacts)
    M = crba(model, q)
    return _solve(M, J, M @ v, -r_coeff * (J @ v))


def _solve(M: np.ndarray, J: np.ndarray, right: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve M x = right + J' y, J x = rest."""
    n, m = len(M), len(J)
    size = np.ones(n + m)
    size[:n] = 1.0 / np.sqrt(M.diagonal())
    size[n:] /= max(float(np.linalg.norm(J * size[:n], 2)), 1e-12) if m else 1.0
    K = np.block([[M, J.T], [J, np.zeros((m, m))]]) * np.outer(size, size)
    x = size * np.linalg.lstsq(K, size * np.concatenate([right, rest]), rcond=REDUNDANT)[0]
    return x[:n], -x[n:]


def _motions(model: ClusterModel, clusters: list[Block]) -> dict[int, _Side]:
    """Return the bodies of the expanded tree, each with its own frame for that of a contact."""
    J, transforms = body_jacobians(model, clusters)
    A: list[np.ndarray] = []
    found = {0: _Side(np.eye(4), J[0], np.zeros(6), np.zeros(6))}
    for block in clusters:
        A.append(block.X @ above(A, block, np.zeros(6)) + block.c)
        for i, j in enumerate(block.bodies):
            X, own, pose = np.linalg.inv(transforms[j]), slice(6 * i, 6 * i + 6), np.eye(4)
            pose[:3, :3], pose[:3, 3] = placement_of(transforms[j])
            found[j] = _Side(pose, X @ J[j], X @ block.V[own], X @ A[-1][own])
    return found


def _side(model: ClusterModel, motion: dict[int, _Side], joint: int, placement: pin.SE3) -> _Side:
    body = motion[int(expanded(model).from_tree_id[joint])]
    return replace(body, pose=body.pose @ placement.homogeneous)


def _point(c: Any, one: _Side, two: _Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, acceleration at a = 0 and what the corrector wants, of two points."""
    R = one.pose[:3, :3]
    (J1, v1, a1), (J2, v2, a2) = one.point(), two.point()
    axes = R.T if c.reference_frame == pin.LOCAL else np.eye(3)
    Kp, Kd = _gains(c, 3)
    apart = c.desired_contact_placement.translation - R.T @ (two.pose[:3, 3] - one.pose[:3, 3])
    return axes @ (J1 - J2), axes @ (a1 - a2), -Kp * apart - Kd * (R.T @ (v1 - v2) - c.desired_contact_velocity.linear)


def _frame(c: Any, one: _Side, two: _Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same of two frames."""
    R, at = one.pose[:3, :3], one.pose[:3, 3]
    turn = np.kron(np.eye(2), R.T)
    to_point = np.eye(6)  # twists about the contact point
    to_point[:3, 3:] = -pin.skew(at)
    to = turn @ to_point
    rate, change = one.V - two.V, one.A - two.A
    if c.reference_frame == pin.LOCAL:
        axes, has = to, to @ (change - cross(one.V, rate))  # the axes move with the first body
    else:
        axes = to_point
        has = to_point @ change
    Kp, Kd = _gains(c, 6)
    wanted = -Kd * (to @ rate - c.desired_contact_velocity.vector)
    if np.any(Kp):
        wanted += Kp * _twist_to(np.linalg.solve(one.pose @ c.desired_contact_placement.homogeneous, two.pose))
    return axes @ (one.J - two.J), has, wanted


def _twist_to(pose: np.ndarray) -> np.ndarray:
    """Return the constant twist that leads from the identity to a pose, shape (4, 4), in unit time."""
    turn = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
    both = np.zeros((6, 6))
    both[:3, :3], both[:3, 3:] = (
        pin.skew(turn),
        np.eye(3),
    )  # the mean of the rotation stands beside it in the exponential
    return np.concatenate([np.linalg.solve(expm(both)[:3, 3:], pose[:3, 3]), turn])


def _gains(c: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gains of a corrector; Pinocchio 3 has one per row, and another name for it."""
    gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
    return np.ravel(gains.Kp)[:n], np.ravel(gains.Kd)[:n]
