"""Models that differ in their inertial parameters share code, which reads the numbers where they stand."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.machine_code import loading

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced"),
]


def all_of(model: pc.ClusterModel, rng: np.random.Generator) -> list[Any]:
    data, q = model.createData(), model.q_reference
    v, a = rng.normal(size=(2, model.nv))
    forces = rng.normal(size=(model.njoints, 6))
    return [
        pc.rnea(model, data, q, v, a), pc.aba(model, data, q, v, a), pc.crba(model, data, q).copy(),
        pc.computeMinverse(model, data, q).copy(), pc.nonLinearEffects(model, data, q, v),
        pc.computeGeneralizedGravity(model, data, q), pc.computeMechanicalEnergy(model, data, q, v),
        pc.aba(model, data, q, v, a, forces), *pc.computeRNEADerivatives(model, data, q, v, a),
        *pc.computeABADerivatives(model, data, q, v, a), pc.computeCoriolisMatrix(model, data, q, v),
        pc.centerOfMass(model, data, q, v), pc.ccrba(model, data, q, v),
    ]  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", ["four_bar", "mit_humanoid_leg", "tello", pytest.param("cassie_leg", marks=pytest.mark.long)]
)
def test_they_are_the_kernels_and_compile_once(name: str) -> None:
    base = pc.load(name)
    values, _ = pc.parameters(base)
    made: set[str] = set()
    for i, scale in enumerate((1.3, 0.7, 1.9)):
        model = pc.with_parameters(base, scale * values)
        with pc.engine("tables"):
            expected = all_of(model, np.random.default_rng(i))
        before = set(loading._loaded)
        with pc.engine("traced"):
            found = all_of(model, np.random.default_rng(i))
        for x, y in zip(found, expected, strict=True):
            assert np.max(np.abs(np.subtract(x, y))) < 1e-11 * max(1.0, np.max(np.abs(y)))
        made = set(loading._loaded) - before
    # kinematics and momentum have numbers in their code; what moves loops does not know of masses
    assert len(made) <= 2, "centerOfMass and ccrba"


def test_pickles_give_the_same_bits() -> None:
    base = pc.load("mit_humanoid_leg")
    model = pc.with_parameters(base, 1.1 * pc.parameters(base)[0])
    with pc.engine("traced"):
        first, again = (all_of(one, np.random.default_rng(0)) for one in (model, pickle.loads(pickle.dumps(model))))
    assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))


def test_specialise_puts_numbers_into_the_code() -> None:
    base = pc.load("four_bar")
    model = pc.with_parameters(base, 1.1 * pc.parameters(base)[0])
    special = pc.specialise(model, ["aba"])
    sizes = {one.function: one.size for one in special.specialised}
    with pc.engine("traced"):
        data = model.createData()
        pc.aba(model, data, model.q_reference, np.ones(1), np.ones(1))
    assert sizes["aba"] != {one.function: one.size for one in model.specialised}["aba"]
