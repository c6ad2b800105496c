"""Derivatives of accelerations with contacts, and after impacts, by dense equations; forces of least norm included.

With r = J a + drift less what is asked for, and A = J M^-1 J': M da - J' dforce = -d(torques) at given a and forces,
and J da + dr = 0, or -mu dforce if they are damped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...model import ClusterData, ClusterModel
from ..dynamics.derivatives import computeRNEADerivatives
from ..dynamics.minverse import computeMinverse
from . import _rows as _contact_rows
from ._dynamics import Contacts, accelerations, after_impact
from ._forces import Solution, damping_of, independent, regular, spectrum
from ._variations import Variations, external, variations

Matrices = tuple[np.ndarray, ...]


class Found(NamedTuple):
    """Derivatives by q, v, and tau if there is any: of motions, each (nv, nv), and of forces, each (rows, nv)."""

    motions: Matrices
    forces: Matrices


def damping(how: Any) -> float:
    """Return by what the diagonal of A is larger; iterated forces come to those without damping."""
    if isinstance(how, pin.ProximalSettings):
        return float(how.mu) if how.max_iter <= 1 else 0.0
    return damping_of(how)


def of_accelerations(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Contacts, how: Any
) -> Found:
    """Return the derivatives of accelerations and forces.

    Args:
        model: The model.
        data: Its workspace.
        q: Configuration.
        v: Velocity.
        tau: Torques.
        contacts: Plan, contacts and their data.
        how: As ``_contact_forces.solved`` takes it.
    """
    _, models, datas = contacts
    a, solution, _ = accelerations(model, data, q, v, tau, contacts, how)
    forces = solution.forces.copy()
    given = variations(model, data, (q, v, a), models, datas, forces)
    acting = external(model, models, datas, forces)
    dtau_dq, dtau_dv, _ = computeRNEADerivatives(model, data, q, v, a, acting)
    Minv = computeMinverse(model, data, q)
    free = -Minv @ (dtau_dq + given.turned), -Minv @ dtau_dv, Minv
    found = _with_forces(model, data, q, contacts, solution, given, free, damping(how))
    by_q, by_v, by_tau = found.motions
    return found._replace(motions=(by_q, by_v, 0.5 * (by_tau + by_tau.T)))


def of_impact(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, bounce: float, contacts: Contacts, how: Any
) -> Found:
    """Return the derivatives of velocities after an impact, and of impulses.

    Args:
        model: The model.
        data: Its workspace.
        q: Configuration.
        v: Velocity before.
        bounce: Restitution.
        contacts: Plan, contacts and their data.
        how: As ``_contact_forces.solved`` takes it.
    """
    _, models, datas = contacts
    after, solution = after_impact(model, data, q, v, contacts, bounce, how)
    forces, rest = solution.forces.copy(), np.zeros(model.nv)
    # J after = -bounce J v: at rest, accelerations are what velocities are
    given = variations(model, data, (q, rest, after + bounce * v), models, datas, forces, corrected=False)
    given = given._replace(by_v=bounce * given.J)
    acting = external(model, models, datas, forces)
    dtau_dq = _without_gravity(model, data, q, after - v, acting) + given.turned
    free = -computeMinverse(model, data, q) @ dtau_dq, np.eye(model.nv)
    return _with_forces(model, data, q, contacts, solution, given, free, damping(how))


def _without_gravity(
    model: ClusterModel, data: ClusterData, q: np.ndarray, a: np.ndarray, acting: np.ndarray
) -> np.ndarray:
    """Return dtau_dq at rest, of accelerations and external forces alone."""
    rest = np.zeros(model.nv)
    whole = computeRNEADerivatives(model, data, q, rest, a, acting)[0]
    return whole - computeRNEADerivatives(model, data, q, rest, rest)[0]


def _with_forces(
    model: ClusterModel, data: ClusterData, q: np.ndarray, contacts: Contacts, solution: Solution, given: Variations,
    free: Matrices, mu: float,
) -> Found:  # fmt: skip
    """Add what the forces do to what happens at given forces."""
    J = given.J
    A, response = _contact_rows.delassus(model, data, q, J)
    missing = [-(J @ x) for x in free]
    for x, by in zip(missing, (given.by_q, given.by_v), strict=False):
        x -= by
    if mu > 0.0 or not len(A):
        inverse = regular(A + mu * np.eye(len(A)), np.eye(len(A)))
    elif independent(A):
        inverse = np.linalg.inv(A)
    else:
        w, V = spectrum(A)
        inverse = (V / w) @ V.T
    forces = [inverse @ x for x in missing]
    if mu == 0.0 and len(A) and not independent(A):
        forces[0] += _of_least_norm(model, data, q, contacts, solution, A, response, inverse)
    return Found(tuple(x + response @ f for x, f in zip(free, forces, strict=True)), tuple(forces))


def _of_least_norm(
    model: ClusterModel, data: ClusterData, q: np.ndarray, contacts: Contacts, solution: Solution, A: np.ndarray,
    response: np.ndarray, inverse: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return how forces of least norm change, as the combinations of rows that do nothing turn.

    Of the derivative of the pseudo-inverse, (1 - P) dA A+ A+ + A+ A+ dA (1 - P), times what is asked for; P = A A+.
    """
    _, models, datas = contacts
    forces, rest = solution.forces.copy(), np.zeros(model.nv)
    idle = np.eye(len(A)) - A @ inverse
    z = response @ (inverse @ forces)
    turning = variations(model, data, (q, rest, z), models, datas, forces, corrected=False).by_q
    # what is asked for in vain, if contacts contradict each other, is no force, until rows turn
    vain = idle @ -solution.missed
    found = variations(model, data, (q, rest, rest), models, datas, vain, corrected=False)
    torques = _without_gravity(model, data, q, rest, external(model, models, datas, vain)) + found.turned
    return np.asarray(idle @ turning - inverse @ inverse @ response.T @ torques)
