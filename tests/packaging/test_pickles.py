"""Pickles that the version before wrote, with its engine in another place, still load and compute the same."""

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pin_clusters as pc

FOLDER = Path(__file__).parents[1] / "samples" / "pickles"


def _load(name: str) -> Any:
    return pickle.loads(gzip.decompress((FOLDER / f"{name}.pkl.gz").read_bytes()))


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "four_bar", "four_bar_traced"])
def test_models_and_data(name: str) -> None:
    model, data, q, v, a = _load(name)
    # another processor may contract or order sums in another way: some roundings of numbers of size 1e3
    np.testing.assert_allclose(pc.aba(model, data, q, v, v), a, rtol=1e-10)
    np.testing.assert_allclose(pc.rnea(model, data, q, v, a), v, atol=1e-9)
    fresh = pc.load(name.removesuffix("_traced"))
    np.testing.assert_allclose(pc.aba(fresh, fresh.createData(), q, v, v), a, rtol=1e-10)


def test_results() -> None:
    model = pc.load("four_bar")
    simulated = _load("simulate")
    again = pc.simulate(model, model.q_reference, np.zeros(model.nv), duration=0.02, dt=1e-3)
    np.testing.assert_allclose(simulated.q, again.q, rtol=0.0, atol=1e-9)
    studied = _load("study")
    leg = pc.load("mit_humanoid_leg")
    repeated = pc.study.run(leg, duration=0.02, dt=2e-3)
    assert studied.trajectory == repeated.trajectory
    np.testing.assert_allclose(studied.exact, repeated.exact, rtol=1e-10, atol=1e-9)
    identified = _load("identify")
    assert identified.parameters[0] == "ankle_rotor: rotor_inertia"
    # the inertia that was estimated is the inertia of the model that was pickled with it
    rotor = next(r for r in identified.model.motors if r.name == "ankle_rotor")
    assert rotor.axial_inertia == pytest.approx(identified.estimate[0])
