"""Accelerations and impacts with contacts, by the kernel if possible; their derivatives by dense equations.

Minimum-norm forces are supported. With the residual r = J a + drift - gamma and A = J M^-1 J', the derivatives solve
M da - J' dlambda = -dtau (at given a and lambda) and J da + dr = -mu dlambda: docs/algorithms.md, (D2) and (D3).
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ...kernels.tables.contacts_layout import IMPACT
from ...kernels.tables.tree_layout import COLUMNS, MOTION
from ...model import ClusterData, ClusterModel
from .._shared import tree as _tree
from ..dynamics.aba import aba
from ..dynamics.derivatives import computeRNEADerivatives
from ..dynamics.minverse import computeMinverse
from ._forces import Solution, damping_of, independent, lasting_damping_of, regular, solved, spectrum
from ._objects import delassus, hand_out, jacobian, missing
from ._plans import Contacts, Found
from ._rows import with_rows
from ._variations import Variations, external, variations

Matrices = tuple[np.ndarray, ...]
Slopes = tuple[Matrices, Matrices]
"""Derivatives with respect to q, v and, if present, tau: of motions (nv, nv) each, and of forces (rows, nv) each."""


def accelerations(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Found, how: Any
) -> tuple[np.ndarray, Solution]:
    """Compute accelerations and forces; ``how``: see ``_forces.solved``."""
    plan, models, datas = contacts
    if plan is not None:
        found = plan.run(model, data, q, v, tau) if how is None else None
        if found is not None:
            return found, plan.whole()
        return plan.solve(model, data, q, v, tau, how)
    free = aba(model, data, q, v, tau)
    _tree.compute(model, data, MOTION | COLUMNS, q, v, free)
    J = jacobian(model, data, models, datas)
    lacking = [missing(data.tree, c, d) for c, d in zip(models, datas, strict=True)]
    rest = np.concatenate(lacking) if lacking else np.zeros(0)
    A, response = delassus(model, data, q, J)
    solution = solved(A, rest, how)
    hand_out(models, datas, solution.forces)
    data._ddq[:] = free + response @ solution.forces
    return data._ddq.copy(), solution


def after_impact(
    model: ClusterModel,
    data: ClusterData,
    q: np.ndarray,
    v: np.ndarray,
    contacts: Found,
    bounce: float,
    how: Any,
    J: np.ndarray | None = None,
) -> tuple[np.ndarray, Solution]:
    """Compute velocity after an impact and impulses; ``bounce``: restitution; J: rows instead of contacts."""
    plan, models, datas = contacts
    if plan is not None:
        rest = data._zeros
        if not isinstance(how, pin.ProximalSettings):
            damping = damping_of(how)
            after = plan.run(model, data, q, v, rest, IMPACT, bounce, damping)
            if after is not None:
                return after, plan.whole(damping)
        return plan.solve(model, data, q, v, rest, how, IMPACT, bounce)
    if J is not None:
        return with_rows(model, data, q, J, v, np.zeros(len(J)), bounce, how)
    _tree.compute(model, data, COLUMNS, q)
    J = jacobian(model, data, models, datas)
    A, response = delassus(model, data, q, J)
    solution = solved(A, -(1.0 + bounce) * (J @ v), how)
    hand_out(models, datas, solution.forces)
    return v + response @ solution.forces, solution


def of_accelerations(at: Contacts, tau: np.ndarray) -> Slopes:
    a, solution = accelerations(at.model, at.data, at.q, at.v, tau, at.found, at.how)
    forces = solution.forces.copy()
    given = variations(at, at.v, a, forces)
    dtau_dq, dtau_dv, _ = computeRNEADerivatives(at.model, at.data, at.q, at.v, a, external(at, forces))
    Minv = computeMinverse(at.model, at.data, at.q)
    free = -Minv @ (dtau_dq + given.turned), -Minv @ dtau_dv, Minv
    (by_q, by_v, by_tau), by_forces = _with_forces(at, solution, given, free)
    return (by_q, by_v, 0.5 * (by_tau + by_tau.T)), by_forces


def of_impact(at: Contacts, bounce: float) -> Slopes:
    after, solution = after_impact(at.model, at.data, at.q, at.v, at.found, bounce, at.how)
    forces, rest = solution.forces.copy(), np.zeros(at.model.nv)
    # The impact condition J after = -bounce J v has the form of an acceleration condition at rest.
    given = variations(at, rest, after + bounce * at.v, forces, corrected=False)
    given = given._replace(by_v=bounce * given.J)
    dtau_dq = _without_gravity(at, after - at.v, external(at, forces)) + given.turned
    free = -computeMinverse(at.model, at.data, at.q) @ dtau_dq, np.eye(at.model.nv)
    return _with_forces(at, solution, given, free)


def _without_gravity(at: Contacts, a: np.ndarray, acting: np.ndarray) -> np.ndarray:
    """Compute dtau_dq at rest, due to accelerations and external forces alone."""
    rest = np.zeros(at.model.nv)
    whole = computeRNEADerivatives(at.model, at.data, at.q, rest, a, acting)[0]
    return whole - computeRNEADerivatives(at.model, at.data, at.q, rest, rest)[0]


def _with_forces(at: Contacts, solution: Solution, given: Variations, free: Matrices) -> Slopes:
    """Add the effect of the changing forces to the derivatives at given forces."""
    J, mu = given.J, lasting_damping_of(at.how)
    A, response = delassus(at.model, at.data, at.q, J)
    lacking = [-(J @ x) for x in free]
    for x, by in zip(lacking, (given.by_q, given.by_v), strict=False):
        x -= by
    redundant = mu == 0.0 and len(A) > 0 and not independent(A)
    if redundant:
        w, V = spectrum(A)
        inverse = (V / w) @ V.T
    else:
        inverse = regular(A + mu * np.eye(len(A)), np.eye(len(A)))
    forces = [inverse @ x for x in lacking]
    if redundant:
        forces[0] += _of_least_norm(at, solution, A, response, inverse)
    return tuple(x + response @ f for x, f in zip(free, forces, strict=True)), tuple(forces)


def _of_least_norm(
    at: Contacts, solution: Solution, A: np.ndarray, response: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Compute the additional derivative of minimum-norm forces, due to the rotation of the null space of A.

    With P = A A+, the derivative of the pseudoinverse contributes (1 - P) dA A+ A+ + A+ A+ dA (1 - P), times the
    right-hand side.
    """
    forces, rest = solution.forces.copy(), np.zeros(at.model.nv)
    idle = np.eye(len(A)) - A @ inverse
    z = response @ (inverse @ forces)
    turning = variations(at, rest, z, forces, corrected=False).by_q
    # The unreachable part of the right-hand side of contradictory contacts causes forces only when rows rotate.
    vain = idle @ -solution.missed
    found = variations(at, rest, rest, vain, corrected=False)
    torques = _without_gravity(at, rest, external(at, vain)) + found.turned
    return np.asarray(idle @ turning - inverse @ inverse @ response.T @ torques)
