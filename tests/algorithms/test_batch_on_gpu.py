"""Batches whose rows live on a GPU: what is checked, enqueued and returned. The GPU is none (support/fake_gpu.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samples import pool
from support.fake_gpu import Array, Driver, Foreign, gpu
from support.messages import raises

import pin_clusters as pc
from pin_clusters.export.cuda import driver

pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]
assert gpu  # a fixture


def states(model: pc.ClusterModel, rng: np.random.Generator, rows: int = 4) -> list[np.ndarray]:
    q = [pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(rows)]
    return [np.array(q), *rng.normal(size=(2, rows, model.nv))]


CALLS: dict[str, tuple[int, ...]] = {
    "rnea": (0, 1, 2), "aba": (0, 1, 2), "nonLinearEffects": (0, 1), "crba": (0,), "computeMinverse": (0,),
    "integrate": (0, 1), "computeRNEADerivatives": (0, 1, 2), "computeABADerivatives": (0, 1, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", pool.some(list(CALLS), ["crba", "integrate"]))
def test_results_are_those_of_the_cpu(name: str, gpu: Driver, rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    given = states(model, rng)
    given[1] *= 1e-2 if name == "integrate" else 1.0
    rows = [given[i] for i in CALLS[name]]
    right = getattr(pc.batch, name)(model, *rows)
    found = getattr(pc.batch, name)(model, *map(Array, rows))
    found, right = (x if isinstance(x, tuple) else (x,) for x in (found, right))
    assert len(found) == len(right)
    for x, y in zip(found, right, strict=True):
        assert isinstance(x, Array)
        assert x.x.dtype == np.float64
        assert pool.error(x.x, y) < (1e-9 if name == "integrate" else 1e-11)
    assert gpu.launched == [(0, 4711, 4)]
    assert gpu.finished == []  # nobody waits
    assert gpu.loaded == [f"robot_{name}"]


def test_types_streams_and_what_is_kept(gpu: Driver, rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    q, v, tau = states(model, rng)
    right = pc.batch.aba(model, q, v, tau)
    short = [x.astype(np.float32) for x in (q, v, tau)]
    found = pc.batch.aba(model, *map(Array, short))
    assert found.x.dtype == np.float32
    assert pool.error(found.x, right) < 1e-4
    out = Array(np.zeros_like(v), 3)
    assert pc.batch.aba(model, *(Array(x, 3) for x in (q, v, tau)), out=out) is out
    assert pool.error(out.x, right) < 1e-11
    assert pc.batch.aba(model, *(Array(x, 3) for x in (q, v, tau))).device == 3
    assert pool.error(pc.batch.aba(model, *map(Array, (q, v, tau))).x, right) < 1e-11
    # a kernel per type and device
    assert gpu.loaded == ["robot_aba"] * 3
    assert gpu.launched == [(0, 4711, 4), (3, 4711, 4), (3, 4711, 4), (0, 4711, 4)]
    assert pc.batch.aba(model, *(Array(x[:0]) for x in (q, v, tau))).x.shape == (0, 1)
    assert len(gpu.launched) == 4
    with raises(pc.ArgumentTypeError, "float64 0 (4, 1)"):
        pc.batch.aba(model, *(Foreign(x) for x in (q, v, tau)))
    out = Foreign(np.zeros_like(v))
    pc.batch.aba(model, *(Foreign(x) for x in (q, v, tau)), out=out)
    assert pool.error(out.x, right) < 1e-11
    # their own stream; and they would not know that there is something to wait for
    assert gpu.launched[-1] == (0, 7, 4)
    assert gpu.finished == [7]


def test_numbers_of_the_model(gpu: Driver, rng: np.random.Generator) -> None:
    """A model with others has a kernel of its own."""
    model = pc.load("four_bar")
    heavy = model.with_gravity([0.0, 0.0, -25.0])
    q, v, tau = states(model, rng)
    for one in (model, heavy):
        assert pool.error(pc.batch.aba(one, *map(Array, (q, v, tau))).x, pc.batch.aba(one, q, v, tau)) < 1e-11
    assert len(gpu.loaded) == 2


def test_status_and_forces(gpu: Driver, rng: np.random.Generator) -> None:
    model = pc.load("four_bar")
    q, v, tau = states(model, rng)
    fext = rng.normal(size=(4, model.njoints, 6))
    q[1, 2] += 0.1
    v[2] = np.inf
    status, said = np.zeros(4, np.int8), Array(np.full(4, 9, np.int8))
    right = pc.batch.aba(model, q, v, tau, fext, status=status)
    found = pc.batch.aba(model, *map(Array, (q, v, tau, fext)), status=said)
    assert said.x.tolist() == status.tolist() == [0, 1, 3, 0]
    assert np.isnan(found.x[:, 0]).tolist() == [False, True, True, False]
    assert pool.error(found.x[[0, 3]], right[[0, 3]]) < 1e-11


def refused(error: type[Exception], match: str, *given: Any, name: str = "aba", **more: Any) -> None:
    with raises(error, match):
        getattr(pc.batch, name)(pc.load("four_bar"), *given, **more)


def test_what_is_refused(gpu: Driver, rng: np.random.Generator) -> None:
    q, v, tau = states(pc.load("four_bar"), rng)
    Q, V, T = map(Array, (q, v, tau))
    wrong = pc.ArgumentTypeError
    refused(wrong, "v", Q, v, T)
    refused(wrong, "q", q, V, T)
    refused(wrong, "tau", Q, V, tau.tolist())
    refused(wrong, "q float64 v float32", Q, Array(v.astype(np.float32)), T)
    refused(wrong, "q float16 float32 float64", Array(q.astype(np.float16)), V, T)
    refused(wrong, "q 0 tau 1", Q, V, Array(tau, 1))
    refused(wrong, "q (4, 3) (8, 32) q.contiguous()", Array(np.asfortranarray(q)), V, T)
    refused(pc.ShapeError, "aba q (4, 2) 3", Array(q[:, :2].copy()), V, T)
    refused(pc.ShapeError, "v (3, 1) (4, 1)", Q, Array(v[:3]), T)
    refused(pc.ShapeError, "out (4, 2) (4, 1)", Q, V, T, out=Array(np.zeros((4, 2))))
    refused(wrong, "out", Q, V, T, out=np.zeros((4, 1)))
    refused(wrong, "q float64 float32", Q, V, T, out=Array(np.zeros((4, 1), np.float32)))
    refused(wrong, "status int8 int64", Q, V, T, status=Array(np.zeros(4, int)))
    refused(pc.ShapeError, "status (3,) (4)", Q, V, T, status=Array(np.zeros(3, np.int8)))
    refused(pc.NotAvailableError, "pc.batch.project", Q, name="project")
    refused(pc.NotAvailableError, "pc.batch.forwardKinematics", Q, name="forwardKinematics")
    many = np.lib.stride_tricks.as_strided(np.zeros(3), (2 * 10**9, 3), (24, 8))  # looked at, not read
    one = np.lib.stride_tricks.as_strided(np.zeros(1), (2 * 10**9, 1), (8, 8))
    refused(pc.TooLargeError, "(2000000000, 1) 14.9", *map(Array, (many, one, one)))
    assert gpu.launched == []


def test_tensors_that_need_their_gradient(gpu: Driver, rng: np.random.Generator) -> None:
    class Tensor(Array):
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad")

    q, v, tau = states(pc.load("four_bar"), rng)
    refused(
        pc.ArgumentTypeError,
        "v v.detach()",
        Array(q),
        Tensor(v),
        Array(tau),
    )


def test_without_cuda(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, and with it but without a driver."""
    given = list(map(Array, states(pc.load("four_bar"), rng)))
    monkeypatch.setattr(driver, "driver", driver.Cuda)
    driver.core.cache_clear()
    with monkeypatch.context() as m:
        m.setitem(__import__("sys").modules, "cuda.core", None)
        refused(pc.NotAvailableError, "'cuda-core[cu13]'", *given)

    class Device:
        def __init__(self, _: int) -> None:
            raise RuntimeError("no driver")

    monkeypatch.setattr(driver, "core", lambda: type("core", (), {"Device": Device}))
    refused(pc.NotAvailableError, "0 RuntimeError", *given)
