"""Compute exact contact forces and impacts from the projected mass matrix M = G' M_tree G and the contact Jacobian J.

Pinocchio computes contact rows and bias accelerations on the expanded tree, at velocity G v and acceleration g.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...errors import NotAvailableError
from ...model import ClusterModel
from . import projection
from ._frames import jacobian
from ._workspace import DATA, LOOPS, Workspace, check

_REDUNDANT = 1e-12
"""Eigenvalues of J M^-1 J' below this fraction of the largest value belong to redundant rows."""
_CONTACTS = """
Args:
    contacts: ``pin.RigidConstraintModel`` objects on ``model.tree``.

Raises:
    NotAvailableError: A contact has Baumgarte gains.
"""
_documented = stock(STATE, DATA, LOOPS, _CONTACTS)


def createData(model: ClusterModel) -> Workspace:
    """Create a workspace for the functions of this module; use one per thread."""
    return Workspace(model)


@_documented
def constraintDynamics(
    model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the accelerations with closed contacts, without Baumgarte gains.

    Returns:
        Independent accelerations, shape (nv,), and minimum-norm forces, shape (rows,).
    """
    J, target = contact_rows(model, data, q, v, contacts)
    M, h = projection.crba(model, data, q), projection.rnea(model, data, q, v, np.zeros(model.nv))
    return _solve(M, J, np.asarray(tau) - h, target)


@_documented
def impulseDynamics(
    model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any], r_coeff: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the velocities immediately after an impact.

    Args:
        r_coeff: Coefficient of restitution.

    Returns:
        Independent velocities, shape (nv,), and impulses, shape (rows,).
    """
    J, _ = contact_rows(model, data, q, v, contacts)
    M, v = projection.crba(model, data, q), np.asarray(v, dtype=float)
    return _solve(M, J, M @ v, -r_coeff * (J @ v))


@_documented
def contact_rows(
    model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray, contacts: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return J, shape (rows, nv), and target, shape (rows,); the constraint equations of contacts are J a = target."""
    check(model, data, Workspace, __name__)
    data.couple(q, v)
    tree, pin_data = data.tree, data.data
    pin.forwardKinematics(tree, pin_data, data.configuration(q), data.G @ v, data.g)
    pin.computeJointJacobians(tree, pin_data, data.configuration(q))
    rows, target = [np.zeros((0, model.nv))], [np.zeros(0)]
    for c in contacts:
        gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
        if np.any(gains.Kp) or np.any(gains.Kd):
            raise NotAvailableError(
                "A contact has Baumgarte gains. Set them to 0, or use pin_clusters.verification.reference."
            )
        ids = data.span.from_tree_id[[c.joint1_id, c.joint2_id]]
        places = list(zip(map(int, ids), (c.joint1_placement, c.joint2_placement), strict=True))
        flat = c.type == pin.ContactType.CONTACT_3D
        R = (pin_data.oMi[places[0][0]] * places[0][1]).rotation
        if flat:
            J = jacobian(tree, pin_data, places, pin.LOCAL_WORLD_ALIGNED)
            row = J[:3] - J[6:9]
            drift = np.subtract(
                *(pin.getFrameClassicalAcceleration(tree, pin_data, *p, pin.LOCAL_WORLD_ALIGNED).linear for p in places)
            )
            turn = R.T if c.reference_frame == pin.LOCAL else np.eye(3)
        else:
            J = jacobian(tree, pin_data, places, pin.LOCAL)
            V1, V2 = (pin.getFrameVelocity(tree, pin_data, *p, pin.LOCAL) for p in places)
            A1, A2 = (pin.getFrameAcceleration(tree, pin_data, *p, pin.LOCAL) for p in places)
            between = (pin_data.oMi[places[0][0]] * places[0][1]).actInv(pin_data.oMi[places[1][0]] * places[1][1])
            row, change = J[:6] - between.toActionMatrix() @ J[6:], A1 - between.act(A2)
            local = c.reference_frame == pin.LOCAL
            # The components of the twist of frame 2 also change because the axes of frame 1 rotate.
            drift = (change + V1.cross(between.act(V2))).vector if local else change.vector
            turn = np.eye(6) if local else np.kron(np.eye(2), R)
        rows.append(turn @ row @ data.G)
        target.append(c.desired_contact_acceleration.vector[: len(row)] - turn @ drift)
    return np.vstack(rows), np.concatenate(target)


def _solve(M: np.ndarray, J: np.ndarray, right: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    Minv = np.linalg.inv(M)
    y = np.linalg.lstsq(J @ Minv @ J.T, target - J @ (Minv @ right), rcond=_REDUNDANT)[0]
    return Minv @ (right + J.T @ y), y
