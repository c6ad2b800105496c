"""Accelerations and impacts with contacts, computed by the kernel if possible, and derivatives from dense equations.

Minimum-norm forces are supported. The contact equations are r = -mu lambda, where r = J a + drift - gamma and mu is
the damping. The derivatives solve M da - J' dlambda = -dtau and J da + dr = -mu dlambda, where dtau and dr are the
changes of the torques and of r at constant a and lambda. See docs/algorithms.md, (D2) and (D3).
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
from ._objects import delassus, jacobian, missing, write_forces
from ._plans import Contacts, ContactSet
from ._rows import with_rows
from ._variations import Variations, external, variations

Matrices = tuple[np.ndarray, ...]
Slopes = tuple[Matrices, Matrices]
"""Derivatives with respect to q, v, tau: of accelerations or velocities, (nv, nv) each; of forces, (rows, nv) each."""


def accelerations(
    model: ClusterModel,
    data: ClusterData,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    contacts: ContactSet,
    method: Any,
) -> tuple[np.ndarray, Solution]:
    plan, models, datas = contacts
    if plan is not None:
        ddq = plan.run(model, data, q, v, tau) if method is None else None
        if ddq is not None:
            return ddq, plan.whole()
        return plan.solve(model, data, q, v, tau, method)
    free = aba(model, data, q, v, tau)
    _tree.compute(model, data, MOTION | COLUMNS, q, v, free)
    J = jacobian(model, data, models, datas)
    lacking = [missing(data.tree, c, d) for c, d in zip(models, datas, strict=True)]
    required = np.concatenate(lacking) if lacking else np.zeros(0)
    A, response = delassus(model, data, q, J)
    solution = solved(A, required, method)
    write_forces(models, datas, solution.forces)
    data._ddq[:] = free + response @ solution.forces
    return data._ddq.copy(), solution


def after_impact(
    model: ClusterModel,
    data: ClusterData,
    q: np.ndarray,
    v: np.ndarray,
    contacts: ContactSet,
    restitution: float,
    method: Any,
    J: np.ndarray | None = None,
) -> tuple[np.ndarray, Solution]:
    plan, models, datas = contacts
    if plan is not None:
        zeros = data._zeros
        if not isinstance(method, pin.ProximalSettings):
            damping = damping_of(method)
            after = plan.run(model, data, q, v, zeros, IMPACT, restitution, damping)
            if after is not None:
                return after, plan.whole(damping)
        return plan.solve(model, data, q, v, zeros, method, IMPACT, restitution)
    if J is not None:
        return with_rows(model, data, q, J, v, np.zeros(len(J)), restitution, method)
    _tree.compute(model, data, COLUMNS, q)
    J = jacobian(model, data, models, datas)
    A, response = delassus(model, data, q, J)
    solution = solved(A, -(1.0 + restitution) * (J @ v), method)
    write_forces(models, datas, solution.forces)
    return v + response @ solution.forces, solution


def of_accelerations(state: Contacts, tau: np.ndarray) -> Slopes:
    a, solution = accelerations(state.model, state.data, state.q, state.v, tau, state.contacts, state.method)
    forces = solution.forces.copy()
    at_forces = variations(state, state.v, a, forces)
    dtau_dq, dtau_dv, _ = computeRNEADerivatives(state.model, state.data, state.q, state.v, a, external(state, forces))
    Minv = computeMinverse(state.model, state.data, state.q)
    free = -Minv @ (dtau_dq + at_forces.turned), -Minv @ dtau_dv, Minv
    (by_q, by_v, by_tau), by_forces = _with_forces(state, solution, at_forces, free)
    return (by_q, by_v, 0.5 * (by_tau + by_tau.T)), by_forces


def of_impact(state: Contacts, restitution: float) -> Slopes:
    after, solution = after_impact(state.model, state.data, state.q, state.v, state.contacts, restitution, state.method)
    forces, zeros = solution.forces.copy(), np.zeros(state.model.nv)
    # The impact condition, J after = -restitution J v, has the form of an acceleration condition for v = 0.
    at_forces = variations(state, zeros, after + restitution * state.v, forces, corrected=False)
    at_forces = at_forces._replace(by_v=restitution * at_forces.J)
    dtau_dq = _without_gravity(state, after - state.v, external(state, forces)) + at_forces.turned
    free = -computeMinverse(state.model, state.data, state.q) @ dtau_dq, np.eye(state.model.nv)
    return _with_forces(state, solution, at_forces, free)


def _without_gravity(state: Contacts, a: np.ndarray, acting: np.ndarray) -> np.ndarray:
    """Compute dtau_dq for v = 0 without gravity, due to the accelerations a and the external forces ``acting``."""
    zeros = np.zeros(state.model.nv)
    with_gravity = computeRNEADerivatives(state.model, state.data, state.q, zeros, a, acting)[0]
    return with_gravity - computeRNEADerivatives(state.model, state.data, state.q, zeros, zeros)[0]


def _with_forces(state: Contacts, solution: Solution, at_forces: Variations, free: Matrices) -> Slopes:
    J, mu = at_forces.J, lasting_damping_of(state.method)
    A, response = delassus(state.model, state.data, state.q, J)
    lacking = [-(J @ x) for x in free]
    for x, by in zip(lacking, (at_forces.by_q, at_forces.by_v), strict=False):
        x -= by
    redundant = mu == 0.0 and len(A) > 0 and not independent(A)
    if redundant:
        w, V = spectrum(A)
        inverse = (V / w) @ V.T
    else:
        inverse = regular(A + mu * np.eye(len(A)), np.eye(len(A)))
    forces = [inverse @ x for x in lacking]
    if redundant:
        forces[0] += _of_least_norm(state, solution, A, response, inverse)
    return tuple(x + response @ f for x, f in zip(free, forces, strict=True)), tuple(forces)


def _of_least_norm(
    state: Contacts, solution: Solution, A: np.ndarray, response: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Compute the term of the derivative of minimum-norm forces that is due to the change of the null space of A.

    For A x = b, it is ((1 - P) dA A+ A+ + A+ A+ dA (1 - P)) b, with A = J M^-1 J', its pseudoinverse A+, and P = A A+.
    """
    forces, zeros = solution.forces.copy(), np.zeros(state.model.nv)
    idle = np.eye(len(A)) - A @ inverse
    z = response @ (inverse @ forces)
    turning = variations(state, zeros, z, forces, corrected=False).by_q
    # If contacts contradict each other, a part of the right-hand side is outside the range of A. This part does not
    # change the forces, but their derivatives, because the range of A changes with q.
    unreachable = idle @ -solution.residual
    of_unreachable = variations(state, zeros, zeros, unreachable, corrected=False)
    torques = _without_gravity(state, zeros, external(state, unreachable)) + of_unreachable.turned
    return np.asarray(idle @ turning - inverse @ inverse @ response.T @ torques)
