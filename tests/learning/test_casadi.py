"""Functions for CasADi: values of the kernels, derivatives along ``integrate`` by CasADi's own differentiation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from samples import coupled, pool
from support.entries import OFTEN, ROBOTS, drawn, tangent
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import tracing

ca = pytest.importorskip("casadi", reason="needs CasADi: pip install '.[casadi]'")
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")

SIMPLE = ("rnea", "aba", "crba", "computeMinverse", "nonLinearEffects", "computeGeneralizedGravity")
INVERTS = ("aba", "computeMinverse")


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
def test_values_are_those_of_the_kernels(which: tuple[str, str], rng: np.random.Generator) -> None:
    model, state = drawn(*which, rng)
    data = model.createData()
    condition = float(np.linalg.cond(pc.crba(model, data, state["q"])))
    for name in SIMPLE:
        if condition > 1e12 and name in INVERTS:
            continue
        f = pc.casadi.function(model, name)
        given = [state[key] for key in f.name_in()]
        found, wanted = np.array(f(*given)), np.asarray(getattr(pc, name)(model, data, *given))
        loss = max(1.0, 1e-3 * condition) if name in INVERTS else 1.0
        assert pool.error(found, wanted.reshape(model.nv, -1)) < 1e-11 * loss, name


@pytest.mark.ci
@pytest.mark.parametrize("robot", pool.some(["four_bar", "mit_humanoid_leg", "mini_cheetah", "tello"], 1))
def test_every_function_is_there_with_its_names(robot: str, rng: np.random.Generator) -> None:
    """Evaluated in NumPy, which is compared with the kernels elsewhere."""
    model, state = drawn(robot, "default", rng)
    for name, what in tracing.FUNCTIONS.items():
        options: dict[str, Any] = {"frames": [model.nframes - 1]} if what.framed else {}
        options |= {"contacts": []} if what.touching else {}
        program, f = tracing.trace(model, name, stack=True, **options), pc.casadi.function(model, name, **options)
        assert f.name() == name
        assert f.name_in() == [key for key, _ in program.inputs]
        given = [state.get(key, rng.normal(size=size)) for key, size in program.inputs]
        wanted = program(*given)
        found = f(**dict(zip(f.name_in(), given, strict=True)))
        for i, x in enumerate(wanted if isinstance(wanted, tuple) else (wanted,)):
            key, shape = program.outputs[i]
            assert f.name_out(i) == (f"{key}_next" if key in f.name_in() else re.sub(r"\W", "_", key))
            assert f.sparsity_out(i).is_dense()
            y = np.array(found[f.name_out(i)])
            assert y.shape == ((int(np.prod(shape[:-1])), shape[-1]) if len(shape) > 1 else (*shape, 1))
            assert pool.error(y.reshape(np.shape(x)), x) < 1e-12, (name, key)


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN, everyday=0))
def test_its_derivatives_are_those_along_integrate(which: tuple[str, str], rng: np.random.Generator) -> None:
    model, state = drawn(*which, rng)
    q, v, tau = state["q"], state["v"], state["tau"]
    data = model.createData()
    if (condition := float(np.linalg.cond(pc.crba(model, data, q)))) > 1e12:
        return
    ddq_dq, ddq_dv, ddq_dtau = (np.array(x) for x in pc.casadi.function(model, "aba").jacobian()(q, v, tau, 0))
    wanted = pc.computeABADerivatives(model, data, q, v, tau)
    limit = 1e-9 * max(1.0, 1e-6 * condition)
    for found, exact in zip((ddq_dq @ tangent(model, q), ddq_dv, ddq_dtau), wanted, strict=True):
        assert pool.error(found, exact) < limit


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
def test_integrate_moves_and_differentiates(which: tuple[str, str], rng: np.random.Generator) -> None:
    model, state = drawn(*which, rng)
    q, v = state["q"], 0.02 * state["v"] / max(1.0, float(np.abs(tangent(model, state["q"])).max()))
    step = pc.casadi.integrate(model)
    found = step(q=q, v=v)
    assert pool.error(np.array(found["q_next"]).ravel(), pc.integrate(model, q, v)) < 1e-10
    if model.closures:
        assert float(found["residual"]) < 1e-10
    of_v = np.array(step.factory("d", ["q", "v"], ["jac:q_next:v"])(q, 0))
    assert pool.error(of_v, tangent(model, q)) < 1e-9
    assert pool.error(np.array(pc.casadi.tangent(model)(q)), tangent(model, q)) < 1e-11


@pytest.mark.parametrize("robot", pool.some(["tello", "ankle_2rsu", "mini_cheetah", "mit_humanoid", "cassie_leg"], 2))
def test_derivatives_are_numbers_at_the_reference_pose(robot: str) -> None:
    """Where angles, rates and torques are 0 nothing divides by them."""
    model = pc.load(robot)
    f = pc.casadi.function(model, "aba")
    for block in f.jacobian()(model.q_reference, 0, 0, 0):
        assert np.isfinite(np.array(block)).all()


def test_a_program_of_derivatives(rng: np.random.Generator) -> None:
    """With three axes, its matrices stand one below the other."""
    model, state = drawn("four_bar_change_point", "default", rng)
    program = tracing.trace(model, "crba").jacobian()
    f = pc.casadi.of_program(program)
    assert f.name() == "four_bar_change_point_crba_derivatives"
    assert pool.error(np.array(f(state["q"])).reshape(1, 1, 3), program(state["q"])) < 1e-12


def test_what_is_refused(rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    with raises(pc.UnknownNameError, "'abba'"):
        pc.casadi.function(model, "abba")
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pc.casadi.function(model.tree, "aba")
    with raises(pc.ArgumentTypeError, "'four bar'"):
        pc.casadi.function(model, "aba", name="four bar")
    with raises(pc.ArgumentTypeError, "pc.tracing.trace ClusterModel"):
        pc.casadi.of_program(model)
    tied = coupled.mechanism(rng, "compiled").build()
    with raises(pc.NotAvailableError):
        pc.casadi.function(tied, "aba")
