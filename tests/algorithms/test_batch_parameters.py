"""Rows that are other robots each, against single models with those numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
ENGINES = ("traced", "tables")
CLOSE = 1e-11
"""Sums in another order, times the conditions of mass matrices and loops."""


def error(x: Any, y: Any) -> float:
    return float(np.max(np.abs(np.subtract(x, y))) / max(1e-3, np.max(np.abs(y))))


def states(model: pc.ClusterModel, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    q = np.array([pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(n)])
    return q, *rng.normal(size=(2, n, model.nv))


@pytest.mark.ci
@pytest.mark.parametrize("engine", pool.some(ENGINES, ["tables"]))
def test_a_thousand_robots_with_other_rotors(engine: str, rng: np.random.Generator) -> None:
    """In one call; every sixteenth is compared."""
    model, n = pc.load("tello"), 1024
    values, labels = pc.parameters(model)
    rotors = np.array(["rotor" in label for label in labels])
    rows = np.tile(values, (n, 1))
    rows[:, rotors] *= rng.uniform(0.3, 3.0, size=(n, 1))
    q, v, tau = states(model, n, rng)
    with pc.engine(engine):
        a = pc.batch.aba(model, q, v, tau, parameters={"inertial": rows})
        torques = pc.batch.rnea(model, q, v, tau, parameters={"inertial": rows}, threads=2)
    assert rotors.sum() > 10
    for i in range(0, n, 16):
        other = pc.with_parameters(model, rows[i])
        data = other.createData()
        assert error(a[i], pc.aba(other, data, q[i], v[i], tau[i])) < CLOSE
        assert error(torques[i], pc.rnea(other, data, q[i], v[i], tau[i])) < CLOSE
    assert error(a, pc.batch.aba(model, q, v, tau)) > 1e-3, "the rotors count"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", pool.some(["four_bar", "mit_humanoid_leg", "mini_cheetah"], 2, everyday=1))
def test_gravity_forces_and_matrices(name: str, engine: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    q, v, a = states(model, 9, rng)
    g, forces = rng.normal(size=(9, 3)), rng.normal(size=(9, model.njoints, 6))
    scale = rng.uniform(0.5, 2.0, size=(9, 1))
    with pc.engine(engine):
        found = pc.batch.rnea(model, q, v, a, forces, parameters={"gravity": g})
        effects = pc.batch.nonLinearEffects(model, q, v, parameters={"gravity": g[0]})
        M = pc.batch.crba(model, q, parameters={"inertial": scale * pc.parameters(model)[0]})
        Minv = pc.batch.computeMinverse(model, q, parameters={"inertial": scale * pc.parameters(model)[0]})
    for i in range(9):
        other = model.with_gravity(g[i])
        assert error(found[i], pc.rnea(other, other.createData(), q[i], v[i], a[i], forces[i])) < CLOSE
        other = model.with_gravity(g[0])
        assert error(effects[i], pc.nonLinearEffects(other, other.createData(), q[i], v[i])) < CLOSE
        data = model.createData()
        assert error(M[i], scale[i] * pc.crba(model, data, q[i])) < CLOSE
        assert error(Minv[i], pc.computeMinverse(model, data, q[i]) / scale[i]) < CLOSE


@pytest.mark.parametrize("engine", ENGINES)
def test_ratios(engine: str, rng: np.random.Generator) -> None:
    tree = pin.buildSampleModelManipulator()
    names = list(tree.names)[1:4]

    def robot(ratios: np.ndarray) -> pc.ClusterModel:
        return pc.ClusterModel(tree, [pc.Rotor(x, r, axial_inertia=1e-3) for x, r in zip(names, ratios, strict=True)])

    model, ratios = robot(np.full(3, 5.0)), rng.uniform(2.0, 9.0, size=(17, 3))
    q, v, tau = states(model, 17, rng)
    with pc.engine(engine):
        a = pc.batch.aba(model, q, v, tau, parameters={"ratios": ratios})
    for i in range(17):
        other = robot(ratios[i])
        assert error(a[i], pc.aba(other, other.createData(), q[i], v[i], tau[i])) < CLOSE


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_are_not_good(engine: str, rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    q, v, tau = states(model, 5, rng)
    g = np.tile(model.gravity.linear, (5, 1))
    q[1, 1] += 0.1
    g[2, 0] = np.nan
    v[3] = np.inf
    status = np.zeros(5, dtype=np.int8)
    with pc.engine(engine):
        a = pc.batch.aba(model, q, v, tau, parameters={"gravity": g}, status=status)
    assert status.tolist() == [0, 1, 3, 3, 0]
    assert np.isnan(a[1:4]).all()
    assert np.isfinite(a[[0, 4]]).all()


def test_bad_input(rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    q, v, tau = states(model, 3, rng)
    with raises(pc.ArgumentTypeError, "'ratios'"):
        pc.batch.aba(model, q, v, tau, parameters=["gravity"])
    with raises(pc.UnknownNameError, "'mass' gravity ratios"):
        pc.batch.aba(model, q, v, tau, parameters={"mass": q})
    with raises(pc.ShapeError, "gravity"):
        pc.batch.aba(model, q, v, tau, parameters={"gravity": np.zeros((3, 2))})
    with raises(pc.ShapeError, "gravity"):
        pc.batch.aba(model, q, v, tau, parameters={"gravity": np.zeros((2, 3))})
    with raises(pc.NotAvailableError, "ratios pc.with_parameters"):
        pc.batch.aba(model, q, v, tau, parameters={"inertial": np.zeros(3), "ratios": np.zeros(1)})
    assert np.array_equal(pc.batch.aba(model, q, v, tau, parameters={}), pc.batch.aba(model, q, v, tau))
