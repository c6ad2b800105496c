"""Functions for PyTorch: values of the kernels, derivatives of any kind, rows that are not good, and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from samples import pool
from support.entries import OFTEN, ROBOTS, drawn, near, tangent
from support.messages import raises, warns

import pin_clusters as pc

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[torch]'")
pytestmark = [
    pytest.mark.filterwarnings("ignore:robot .* no real body:pin_clusters.PinClustersWarning"),
    pytest.mark.filterwarnings("ignore:.torch.jit.script:FutureWarning"),  # forward differentiation itself
]

FOUR = ["mini_cheetah", "tello", "four_bar", "cassie_leg"]
SHORT = 2e-3
"""Of float32, over the largest entry: accelerations amplify rounding by the condition of M."""


def tensors(*arrays: np.ndarray, **how: Any) -> list[Any]:
    return [torch.tensor(x, **how) for x in arrays]


@pytest.mark.parametrize("robot", pool.some(FOUR, ["tello", "four_bar"]))
def test_values_are_those_of_the_kernels(robot: str, rng: np.random.Generator) -> None:
    model, q, v, x = near(robot, rng, 5)
    data = model.createData()
    for name in ("rnea", "aba", "crba", "computeMinverse", "nonLinearEffects"):
        given = {"crba": [q], "computeMinverse": [q], "nonLinearEffects": [q, v]}.get(name, [q, v, x])
        wanted = np.array([getattr(pc, name)(model, data, *row) for row in zip(*given, strict=True)])
        found = getattr(pc.torch, name)(model, *tensors(*given))
        assert pool.error(found, wanted) < 1e-11
        short = getattr(pc.torch, name)(model, *tensors(*given, dtype=torch.float32))
        assert short.dtype == torch.float32
        assert np.abs(short.numpy() - wanted).max() < SHORT * np.abs(wanted).max()


def test_axes_before_the_last_one_are_states(rng: np.random.Generator) -> None:
    model, q, v, tau = near("four_bar", rng, 6)
    rows = pc.torch.aba(model, *tensors(q, v, tau))
    one = pc.torch.aba(model, *tensors(q[2], v[2], tau[2]))
    assert one.shape == (1,)
    assert torch.equal(one, rows[2])
    shaped = pc.torch.aba(model, *(x.reshape(2, 3, -1) for x in tensors(q, v, tau)))
    assert torch.equal(shaped, rows.reshape(2, 3, 1))
    spread = pc.torch.aba(model, *tensors(q[:, None], v[0], tau))
    assert spread.shape == (6, 6, 1)
    assert torch.equal(spread[4, 1], pc.torch.aba(model, *tensors(q[4], v[0], tau[1])))
    turned = torch.tensor(np.ascontiguousarray(q.T)).T  # strided
    assert torch.equal(pc.torch.aba(model, turned, *tensors(v, tau)), rows)
    assert pc.torch.aba(model, *tensors(q[:0], v[:0], tau[:0])).shape == (0, 1)
    kinetic, potential = pc.torch.energies(model, *tensors(q, v))
    assert kinetic.shape == potential.shape == (6, 1)


def test_options_of_traces(rng: np.random.Generator) -> None:
    model, q, v, tau = near("mini_cheetah", rng, 2)
    forces = rng.normal(size=(2, 6 * model.njoints))
    forces[:, :6] = 0.0
    found = pc.torch.function(model, "aba", fext=True)(*tensors(q, v, tau, forces))
    wanted = pc.batch.aba(model, q, v, tau, forces.reshape(2, -1, 6))
    assert pool.error(found, wanted) < 1e-11
    place = pc.torch.function(model, "framesForwardKinematics", frames=["FL_hip_link", "HL_hip_link"])(*tensors(q))
    assert place.shape == (2, 2, 4, 4)


@pytest.mark.parametrize("robot", FOUR)
def test_gradcheck(robot: str, rng: np.random.Generator) -> None:
    model, *arrays = near(robot, rng, 2)
    given = tensors(*arrays, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: pc.torch.aba(model, *x), given)


def test_derivatives_by_some_inputs_only(rng: np.random.Generator) -> None:
    model, *arrays = near("four_bar", rng, 2)
    whole = tensors(*arrays, requires_grad=True)
    pc.torch.aba(model, *whole).sum().backward()
    for k in range(3):
        given = tensors(*arrays)
        given[k].requires_grad_()
        pc.torch.aba(model, *given).sum().backward()
        assert pool.error(given[k].grad, whole[k].grad) < 1e-12


@pytest.mark.parametrize("robot", pool.some(FOUR, ["mini_cheetah", "four_bar"]))
def test_gradcheck_of_a_step(robot: str, rng: np.random.Generator) -> None:
    model, q, v, _ = near(robot, rng, 2)
    slow = 0.02 * v / max(1.0, float(np.abs(tangent(model, q[0])).max()))
    given = tensors(q, slow, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: pc.torch.integrate(model, *x), given)


def test_derivatives_of_derivatives(rng: np.random.Generator) -> None:
    model, *arrays = near("four_bar", rng, 2)
    given = tensors(*arrays, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda *x: pc.torch.aba(model, *x), given)
    assert torch.autograd.gradcheck(lambda *x: pc.torch.aba(model, *x), given, check_forward_ad=True)


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN, everyday=0))
def test_derivatives_are_those_along_integrate(which: tuple[str, str], rng: np.random.Generator) -> None:
    model, state = drawn(*which, rng)
    data = model.createData()
    if (condition := float(np.linalg.cond(pc.crba(model, data, state["q"])))) > 1e12:
        return
    wanted = pc.computeABADerivatives(model, data, state["q"], state["v"], state["tau"])
    q, v, tau = tensors(state["q"], state["v"], state["tau"])

    def after(step: Any, v: Any, tau: Any) -> Any:
        return pc.torch.aba(model, pc.torch.integrate(model, q, step), v, tau)

    found = torch.func.jacrev(after, argnums=(0, 1, 2))(torch.zeros_like(v), v, tau)
    for x, y in zip(found, wanted, strict=True):
        assert pool.error(x, y) < 1e-9 * max(1.0, 1e-6 * condition)


@pytest.mark.parametrize("robot", pool.some(FOUR, ["four_bar"]))
def test_torch_func(robot: str, rng: np.random.Generator) -> None:
    model, *arrays = near(robot, rng, 3)
    q, v, tau = tensors(*arrays)

    def aba(*given: Any) -> Any:
        return pc.torch.aba(model, *given)

    backward = torch.func.vmap(torch.func.jacrev(aba, argnums=(0, 1, 2)))(q, v, tau)
    forward = torch.func.vmap(torch.func.jacfwd(aba, argnums=(0, 1, 2)))(q, v, tau)
    by_program = pc.tracing.trace(model, "aba").jacobian()(*arrays)
    for x, y, z in zip(backward, forward, by_program, strict=True):
        assert pool.error(x, z) < 1e-11
        assert pool.error(y, z) < 1e-11
    shared = torch.func.vmap(aba, in_dims=(None, 0, 1))(q[0], v, tau.T)
    assert torch.equal(shared, pc.torch.aba(model, q[0], v, tau))
    slope = torch.func.grad(lambda x: aba(q, v, x).sum())(tau)
    assert pool.error(slope, by_program[2].sum(axis=1)) < 1e-11


def test_float32_differentiates_in_float32(rng: np.random.Generator) -> None:
    model, *arrays = near("mit_humanoid_leg", rng, 4)
    long = tensors(*arrays, requires_grad=True)
    short = tensors(*arrays, requires_grad=True, dtype=torch.float32)
    for given in (long, short):
        pc.torch.aba(model, *given).square().sum().backward()
    for x, y in zip(short, long, strict=True):
        assert x.grad.dtype == torch.float32
        assert float((x.grad - y.grad).abs().max()) < SHORT * float(y.grad.abs().max())


def test_rows_that_are_not_good(rng: np.random.Generator) -> None:
    model, q, v, tau = near("four_bar", rng, 4)
    q[1, 1] += 0.1  # open
    v[2] = np.nan
    status = torch.zeros(4, dtype=torch.int8)
    given = tensors(q, v, tau, requires_grad=True)
    found = pc.torch.aba(model, *given, status=status)
    judged = np.zeros(4, dtype=np.int8)
    wanted = pc.batch.aba(model, q, v, tau, status=judged)
    assert status.tolist() == judged.tolist() == [0, 1, 3, 0]
    np.testing.assert_allclose(found.detach(), wanted, rtol=1e-11)
    found.sum().backward()
    for x in given:
        assert x.grad.isnan().all(dim=1).tolist() == [False, True, True, False]
    with warns(pc.PinClustersWarning, "four_bar aba 1 4 0"):
        pc.torch.aba(model, *given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.torch.aba(model, *(x[2:] for x in given))  # as of NumPy: NaN gives NaN
    far = torch.tensor([[2.5]], dtype=torch.float64)  # beyond what the fixed number of Newton steps can close
    with warns(pc.PinClustersWarning, "1"):
        assert pc.torch.integrate(model, given[0][:1], far).isnan().all()


def test_singular_rows() -> None:
    """Near a change point, where results are finite still."""
    model = pc.load("four_bar_change_point")
    turns = [1e-3, 1e-7, 1e-8, 1e-12] - model.q_reference[0]
    q = np.array([pc.integrate(model, model.q_reference, [x]) for x in turns])
    v, judged, status = np.ones((4, 1)), np.zeros(4, dtype=np.int8), torch.zeros(4, dtype=torch.int8)
    pc.batch.aba(model, q, v, v, status=judged)
    pc.torch.aba(model, *tensors(q, v, v), status=status)
    assert status.tolist() == judged.tolist() == [0, 0, 2, 2]


def test_parameters_of_rows(rng: np.random.Generator) -> None:
    model, q, v, tau = near("mit_humanoid_leg", rng, 3)
    own = pc.tracing.values_of(model, "inertial")
    shares = np.array([1.0, 1.3, -1.0])  # of the inertia of all bodies
    status = torch.zeros(3, dtype=torch.int8)
    aba = pc.torch.function(model, "aba", parameters=["inertial"])
    given = tensors(q, v, tau, shares[:, None] * own, requires_grad=True)
    found = aba(*given, status=status)
    assert status.tolist() == [0, 0, 2]
    for k in range(2):
        other = pc.with_parameters(model, shares[k] * own)
        assert pool.error(found[k].detach(), pc.aba(other, other.createData(), q[k], v[k], tau[k])) < 1e-9
    found[:2].sum().backward()
    assert given[3].grad.isnan().all(dim=1).tolist() == [False, False, True]
    gains = [float(given[3].grad[1] @ torch.tensor(own))]
    step = 1e-6
    ends = [aba(*tensors(q[1], v[1], tau[1], (1.3 + s) * own)).sum() for s in (step, -step)]
    gains.append(float(ends[0] - ends[1]) / (2.0 * step))
    assert gains[0] == pytest.approx(gains[1], rel=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda q, v, tau: (q, v.float(), tau), pc.ArgumentTypeError, "float32 float64 q v"),
        (lambda q, v, tau: (q.half(), v.half(), tau.half()), pc.ArgumentTypeError, "q v float16"),
        (lambda q, v, tau: (q.long(), v.long(), tau.long()), pc.ArgumentTypeError, "q int64"),
        (lambda q, v, tau: (q.numpy(), v, tau), pc.ArgumentTypeError, "q torch.Tensor ndarray"),
        (lambda q, v, tau: (q, v.to("meta"), tau), pc.ArgumentTypeError, "q cpu v meta"),
        (
            lambda q, v, tau: (q.to("meta"), v.to("meta"), tau.to("meta")),
            pc.NotAvailableError,
            "meta",
        ),
        (lambda q, v, tau: (q.to_sparse(), v, tau), pc.ArgumentTypeError, "q torch.sparse_coo q.to_dense()"),
        (lambda q, v, tau: (q[:, 1:], v, tau), pc.ShapeError, "q (2, 2) (3,) (..., 3)"),
        (lambda q, v, tau: (q, v[:1, :0], tau), pc.ShapeError, "v (1, 0) (1,) (..., 1)"),
        (lambda q, v, tau: (q, v.tile(2, 1)[:3], tau), pc.ShapeError, ""),
        (lambda q, v, tau: (q, v), pc.ShapeError, "pc.torch.aba 3 q (3) v (1) tau (1) 2"),
    ],
)  # fmt: skip
def test_what_is_refused(change: Any, error: Any, words: str, rng: np.random.Generator) -> None:
    model, *arrays = near("four_bar", rng, 2)
    with raises(error, words):
        pc.torch.aba(model, *change(*tensors(*arrays)))


def test_other_refusals(rng: np.random.Generator) -> None:
    model, *arrays = near("four_bar", rng, 2)
    given = tensors(*arrays)
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pc.torch.aba(model.tree, *given)
    with raises(AttributeError, "'abba' aba"):
        pc.torch.abba(model, *given)
    with raises(pc.UnknownNameError, "'abba'"):
        pc.torch.function(model, "abba")
    with raises(pc.ArgumentTypeError, "status int8 (2,)"):
        pc.torch.aba(model, *given, status=torch.zeros(2))
