"""Impulses at touch-down: tree with the callback, with armature, with rotors as bodies, and ``pc.simulate``."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import exact_mujoco as em
from support.landings import DURATION, POINTS, SPEED, TILTS, landing, pose

import pin_clusters as pc

pytest.importorskip("mujoco", minversion="3.11.0")


@pytest.mark.parametrize("kind", TILTS)
@pytest.mark.parametrize("dt", [1e-3, pytest.param(2.5e-5, marks=pytest.mark.ci)])
def test_impulses_equal_those_with_rotors_as_bodies(kind: str, dt: float) -> None:
    impulses = landing(em.exact("mit_humanoid"), kind, dt)
    assert impulses["callback"] == pytest.approx(impulses["bodies"], rel=3e-3)
    assert abs(impulses["diagonal"] / impulses["bodies"] - 1.0) > 0.05


@pytest.mark.ci
def test_impulses_equal_those_of_the_simulation_without_compliance() -> None:
    """With much damping, MuJoCo's contacts do not rebound, as those of ``pc.simulate``."""
    model, dt = em.exact("mit_humanoid"), 2.5e-5
    q, v = pose(model, TILTS["toes"]), np.zeros(model.nv)
    v[:3] = pin.Quaternion(*q[[6, 3, 4, 5]]).matrix().T @ [0.0, 0.0, -SPEED]
    touching = pc.contact_points(model, POINTS)
    motion = pc.simulate(model, q, v, duration=DURATION, dt=dt, ground=pc.Ground(friction=0.8), touching=touching)
    expected = float(motion.contact_impulses[..., 2].sum())
    impulses = landing(model, "toes", dt, damping=20.0)
    assert impulses["callback"] == pytest.approx(expected, rel=5e-3)
    assert abs(impulses["diagonal"] / expected - 1.0) > 0.3
