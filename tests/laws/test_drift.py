"""Drifts: what the velocities of frames and of the centre of mass change by at zero acceleration."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc

# the drift, times the fourth power of a step of 1e-3 of the motion's own time, and rounding over the step
BY_DIFFERENCES = 1e-7


@pool.each(sorted(pool.JITLESS, key=str), jitless=False)
@pytest.mark.parametrize("reference", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED], ids=str)
def test_drift_is_the_rate_of_the_velocity(
    key: pool.Key, reference: pin.ReferenceFrame, rng: np.random.Generator
) -> None:
    """That of a point changes by its classical acceleration, components of a twist by the spatial one."""
    case, model, _, q, v, *_ = pool.state(key, rng)
    h, rate = pool.step_of(model, q, v)
    pin.seed(1)
    joints = [model.names[j] for j in {1, model.njoints // 2, model.njoints - 1}]
    model = model.with_frames({f"on {joint}": (joint, pin.SE3.Random()) for joint in joints})
    terms, data = (
        pc.FrameTerms(model, ["universe", *(f"on {joint}" for joint in joints)], reference),
        model.createData(),
    )
    none = np.zeros(model.nv)

    def velocities(t: float) -> np.ndarray:
        pc.computeAllTerms(model, data, case.along(q, v, none, t), v, out=terms)
        return np.concatenate([terms.velocity.ravel(), (terms.J @ v).ravel(), terms.vcom, terms.Jcom @ v])

    slope = pool.slope(velocities, h)
    pc.computeAllTerms(model, data, q, v, out=terms)
    drift = terms.classical_drift if reference == pin.LOCAL_WORLD_ALIGNED else terms.spatial_drift
    expected = np.concatenate([drift.ravel(), drift.ravel(), terms.acom, terms.acom])
    assert pool.error(slope / rate**2, expected / rate**2) < BY_DIFFERENCES
