"""What ``derivatives_accuracy.py`` measures besides dynamics: motions, contacts and regressors, at a random state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from samples import pool
from support import differences, moving, touching

import pin_clusters as pc

ERRORS = Iterator[tuple[str, str, float]]
"""Quantity, oracle, error."""
DIFFERENCES, LAWS = "differences", "laws"


def of_motions(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, rng: np.random.Generator) -> ERRORS:
    """Yield errors of derivatives of motions of frames and points, of the centre of mass, of Jacobians."""
    data, other, frames = model.createData(), model.createData(), moving.places(model, rng)
    pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
    by_q, by_v, by_a = moving.derived(model, data, frames)
    at = moving.motions(model, frames)
    yield "motions by q", DIFFERENCES, pool.error(by_q, differences.along(lambda x: at(x, v, a), model, q))
    yield "motions by v", DIFFERENCES, pool.error(by_v, differences.quadratic(lambda x: at(q, x, a), v))
    yield "motions by a", DIFFERENCES, pool.error(by_a, differences.linear(lambda x: at(q, v, x), a))

    def centre(x: np.ndarray) -> np.ndarray:
        pc.centerOfMass(model, other, x, v)
        return np.array(other.vcom[0])

    pc.centerOfMass(model, data, q, v)
    found = pc.getCenterOfMassVelocityDerivatives(model, data)
    yield "dvcom_dq", DIFFERENCES, pool.error(found, differences.along(centre, model, q))
    along = differences.along(lambda x: pc.computeCentroidalMap(model, other, x), model, q) @ v
    yield "dAg", DIFFERENCES, pool.error(pc.dccrba(model, data, q, v), along)
    pc.computeJointKinematicHessians(model, data, q)
    for reference_frame in moving.FRAMES:
        where = frames[-1], reference_frame
        by_q = differences.along(lambda x, where=where: pc.computeFrameJacobian(model, other, x, *where), model, q)
        yield "dJ_dq", DIFFERENCES, pool.error(pc.getFrameKinematicHessian(model, data, *where), by_q)


def of_contacts(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> ERRORS:
    """Yield errors of derivatives with contacts, over what amplifies them: cond(M) cond(J M^-1 J')."""
    names = ("ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau")
    after = ("after_dq", "after_dv", "impulse_dq", "impulse_dv")
    for i, kinds in enumerate(touching.KINDS[:2]):
        x = touching.draw(model, lambda: q, rng, kinds, touching.AXES[i])
        if x is None:
            continue
        for prefix, keys, found, exact in (
            ("contacts", names, x.found(), x.differenced()),
            ("impact", after, x.impact_found(0.3), x.impact_differenced(0.3)),
        ):
            for name, one, two in zip(keys, found, exact, strict=True):
                yield f"{prefix}: {name}", DIFFERENCES, pool.error(one, two) / x.condition


def of_regressors(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> ERRORS:
    """Yield by how much regressors, times the parameters, miss what they are regressors of."""
    data, (values, _) = model.createData(), pc.parameters(model)
    bodies = 10 * (model.njoints - 1)
    moments = np.concatenate([values[:bodies].reshape(-1, 10)[:, :4].ravel(), values[bodies:]])
    energies = [
        pc.computeKineticEnergyRegressor(model, data, q, v) @ values,
        pc.computePotentialEnergyRegressor(model, data, q) @ values,
    ]
    known = [pc.computeKineticEnergy(model, data, q, v), pc.computePotentialEnergy(model, data, q)]
    torque = pc.computeJointTorqueRegressor(model, data, q, v, a) @ values
    yield "regressor of torques", LAWS, pool.error(torque, pc.rnea(model, data, q, v, a))
    yield "regressors of energies", LAWS, pool.error(np.array(energies), np.array(known))
    static = pc.computeStaticRegressor(model, data, q) @ moments
    yield "regressor of the centre", LAWS, pool.error(static, pc.centerOfMass(model, data, q))


def errors(state: Any, seed: int) -> ERRORS:
    """Yield all errors at a state of ``derivatives_accuracy``."""
    rng, given = np.random.default_rng(seed), (state.model, state.q)
    yield from of_motions(*given, state.v, state.a, rng)
    yield from of_contacts(*given, rng)
    yield from of_regressors(*given, state.v, state.a)
