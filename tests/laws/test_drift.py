"""Drifts: what the velocities of frames and of the centre of mass change by at zero acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc

# the drift, times the fourth power of a step of 1e-3 of the motion's own time, and rounding over the step
BY_DIFFERENCES = 1e-7


@pool.each(sorted(pool.FEW, key=str), jitless=False)
@pytest.mark.parametrize("reference", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED], ids=str)
def test_drift_is_the_rate_of_the_velocity(
    key: pool.Key, reference: pin.ReferenceFrame, rng: np.random.Generator
) -> None:
    """That of a point changes by its classical acceleration, components of a twist by the spatial one."""
    case, model, data, q, v, *_ = pool.state(key, rng)
    h, rate = pool.step_of(model, q, v)
    if not case.exact:
        pytest.skip("its loops do not close along a motion") if case.mechanism is not None else None
    terms = pc.FrameTerms(model, [0, model.nframes - 1, model.nframes // 2], reference)
    none = np.zeros(model.nv)

    def velocities(t: float) -> np.ndarray:
        pc.computeAllTerms(model, data, case.along(q, v, none, t), v, out=terms)
        return np.concatenate([terms.velocity.ravel(), (terms.J @ v).ravel(), terms.vcom, terms.Jcom @ v])

    slope = pool.slope(velocities, h)
    drift: Any = (
        pc.computeAllTerms(model, data, q, v, out=terms),
        terms.classical_drift if reference == pin.LOCAL_WORLD_ALIGNED else terms.spatial_drift,
    )[1]
    expected = np.concatenate([drift.ravel(), drift.ravel(), terms.acom, terms.acom])
    assert pool.error(slope / rate**2, expected / rate**2) < BY_DIFFERENCES
