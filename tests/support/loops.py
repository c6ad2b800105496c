"""States of mechanisms with closed loops, the errors of all algorithms there, and differences along their motion."""

from __future__ import annotations

import numpy as np
from samples import mechanisms
from samples.pool import error

import pin_clusters as pc
from pin_clusters.verification.baselines import projection

# relative to max(1, largest entry), where K_d is conditioned better than 1e3
LIMIT = 1e-10
# rows that are dropped miss by the misalignment of the geometry, which the results feel some times over
SLOPPY = 30.0


def errors(
    model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, fext: np.ndarray
) -> dict[str, float]:
    """Error of every algorithm at one state."""
    data, exact = model.createData(), projection.createData(model)
    zero = np.zeros(model.nv)
    M = projection.crba(model, exact, q)
    torque = projection.rnea(model, exact, q, v, a)
    T, U = projection.computeKineticEnergy(model, exact, q, v), projection.computePotentialEnergy(model, exact, q)
    exact.couple(q, v)
    found = {
        "coupling_jacobian": error(pc.coupling_jacobian(model, data, q), exact.loops.G),
        "coupling_bias": error(pc.coupling_bias(model, data, q, v), exact.loops.g),
        "spanning_velocity": error(pc.spanning_velocity(model, data, q, v), exact.loops.G @ v),
        "rnea": error(pc.rnea(model, data, q, v, a), torque),
        "rnea with fext": error(pc.rnea(model, data, q, v, a, fext), projection.rnea(model, exact, q, v, a, fext)),
        "nonLinearEffects": error(pc.nonLinearEffects(model, data, q, v), projection.rnea(model, exact, q, v, zero)),
        "computeGeneralizedGravity": error(
            pc.computeGeneralizedGravity(model, data, q), projection.rnea(model, exact, q, zero, zero)
        ),
        "crba": error(pc.crba(model, data, q), M),
        "aba": error(pc.aba(model, data, q, v, tau), projection.aba(model, exact, q, v, tau)),
        "aba with fext": error(pc.aba(model, data, q, v, tau, fext), projection.aba(model, exact, q, v, tau, fext)),
        "aba of rnea": error(pc.aba(model, data, q, v, pc.rnea(model, data, q, v, a, fext), fext), a),
        "computeMinverse": error(pc.computeMinverse(model, data, q), np.linalg.inv(M)),
        "computeKineticEnergy": error(pc.computeKineticEnergy(model, data, q, v), T),
        "computePotentialEnergy": error(pc.computePotentialEnergy(model, data, q), U),
        "computeMechanicalEnergy": error(pc.computeMechanicalEnergy(model, data, q, v), T + U),
    }
    return found


def state(model: pc.ClusterModel, m: mechanisms.Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """An assembled pose that is conditioned well, v, a, tau, fext."""
    q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
    assert mechanisms.condition(model, q) < 1e3
    v, a, tau = rng.normal(size=(3, model.nv))
    return q, v, a, 5.0 * tau, 5.0 * rng.normal(size=(model.njoints, 6))


def motion(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    return mechanisms.move(model, q, t * v)


def step(rates: np.ndarray) -> float:
    """Time over which a motion at these rates is smooth."""
    return 2e-4 / max(1.0, float(np.abs(rates).max()))
