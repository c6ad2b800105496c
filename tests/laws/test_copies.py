"""Pickles, copies and models with another gravity are the same mechanism."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from samples import pool

import pin_clusters as pc


@pool.each(jitless=False)
def test_copies_are_the_same_model(key: pool.Key, rng: np.random.Generator) -> None:
    _, model, data, q, v, a, _ = pool.state(key, rng)
    wanted = pc.rnea(model, data, q, v, a)
    # without a word: what there was to say about the geometry was said when the model was made
    again = pickle.loads(pickle.dumps(model))
    light = again.with_gravity(np.zeros(3)).with_gravity(model.gravity)
    assert again.independent_joints == model.independent_joints
    assert np.array_equal(again.q_reference, model.q_reference)
    assert np.array_equal(pc.rnea(again, again.createData(), q, v, a), wanted)
    assert copy.deepcopy(model) is model
    assert light.independent_joints == model.independent_joints
    assert np.array_equal(pc.rnea(light, light.createData(), q, v, a), wanted)
