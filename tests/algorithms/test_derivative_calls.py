"""How derivatives of dynamics are called: batches, machine code beside Python, the state of the call before, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fast import needed, python
from support.messages import raises

import pin_clusters as pc

# rows of a batch are computed by the same formulas in another order of fused operations
SAME = 1e-12
ROBOTS = ("mit_humanoid", "four_bar")


def state(
    name: str, rows: int, seed: int = 0
) -> tuple[pc.ClusterModel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    model, rng = pc.load(name), np.random.default_rng(seed)
    start = pc.neutral(model)
    q = np.array([pc.integrate(model, start, 0.1 * rng.standard_normal(model.nv)) for _ in range(rows)])
    v, a = rng.standard_normal((2, rows, model.nv))
    return model, q, v, a, rng.standard_normal((rows, model.njoints, 6))


def close(found: Any, exact: Any) -> None:
    for x, y in zip(found, exact, strict=True):
        assert np.allclose(x, y, rtol=SAME, atol=SAME * max(1.0, np.abs(y).max()))


@pytest.mark.ci
@pytest.mark.parametrize("name", ["computeRNEADerivatives", "computeABADerivatives"])
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("forced", [False, True])
def test_rows_are_those_of_one_state(name: str, robot: str, forced: bool) -> None:
    model, q, v, a, f = state(robot, 2 * pc.batch.lanes + 1)
    data, more = model.createData(), [f] if forced else []
    status = np.zeros(len(q), dtype=np.int8)
    found = getattr(pc.batch, name)(model, q, v, a, *more, threads=2, status=status)
    rows = [getattr(pc, name)(model, data, q[i], v[i], a[i], *(x[i] for x in more)) for i in range(len(q))]
    assert not status.any()
    close(found, [np.array(x) for x in zip(*rows, strict=True)])


@pytest.mark.ci
def test_rows_that_are_not_finite_are_marked() -> None:
    model, q, v, a, _ = state("mit_humanoid", 3)
    v[1, 0] = np.nan
    status = np.zeros(3, dtype=np.int8)
    first, _, _ = pc.batch.computeRNEADerivatives(model, q, v, a, status=status)
    assert status.tolist() == [0, 3, 0]
    assert np.isnan(first[1]).all()
    assert np.isfinite(first[[0, 2]]).all()


@pytest.mark.ci
@needed
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("forced", [False, True])
def test_machine_code_gives_what_python_gives(robot: str, forced: bool) -> None:
    model, q, v, a, f = state(robot, 1)
    data, other, more = model.createData(), model.createData(), [f[0]] if forced else []
    calls: dict[str, tuple[Any, ...]] = {
        "computeRNEADerivatives": (q[0], v[0], a[0], *more),
        "computeABADerivatives": (q[0], v[0], a[0], *more),
        "computeGeneralizedGravityDerivatives": (q[0],),
        "computeStaticTorqueDerivatives": (q[0], f[0]),
        "computeCoriolisMatrix": (q[0], v[0]),
        "computeCentroidalDynamicsDerivatives": (q[0], v[0], a[0]),
    }
    for name, given in calls.items():
        for _ in range(2):  # the second call finds the kernels compiled
            found = getattr(pc, name)(model, data, *given)
        exact = python(name)(model, other, *given)
        close(found if isinstance(found, tuple) else [found], exact if isinstance(exact, tuple) else [exact])
    for name in ("dtau_dq", "dtau_dv", "ddq_dq", "ddq_dv", "Minv", "M", "ddq", "C"):
        close([getattr(data, name)], [getattr(other, name)])


@pytest.mark.jitless
def test_the_state_of_the_call_before() -> None:
    model, q, v, a, f = state("mit_humanoid", 1)
    data = model.createData()
    for compute in (pc.computeABADerivatives, pc.getCoriolisMatrix, pc.getCentroidalDynamicsDerivatives):
        with raises(pc.NotComputedError):
            compute(model, data)
    pc.aba(model, data, q[0], 0.0 * v[0], a[0])
    # lists are no usual call: what was kept of the one before must not remain
    pc.aba(model, data, q[0].tolist(), v[0].tolist(), a[0].tolist())
    close(pc.computeABADerivatives(model, data), pc.computeABADerivatives(model, data, q[0], v[0], a[0]))
    for more in ([], [f[0]]):
        pc.aba(model, data, q[0], v[0], a[0], *more)
        close(
            pc.computeABADerivatives(model, data, *more), pc.computeABADerivatives(model, data, q[0], v[0], a[0], *more)
        )
    pc.computeRNEADerivatives(model, data, q[0], v[0], a[0])
    close([pc.getCoriolisMatrix(model, data)], [pc.computeCoriolisMatrix(model, data, q[0], v[0])])
    exact = pc.computeCentroidalDynamicsDerivatives(model, data, q[0], v[0], a[0])
    close(pc.getCentroidalDynamicsDerivatives(model, data), exact)


@pytest.mark.jitless
def test_the_coriolis_matrix_of_the_call_before_does_not_depend_on_its_acceleration() -> None:
    model, q, v, a, _ = state("mit_humanoid", 1)
    data, nan = model.createData(), np.full(model.nv, np.nan)
    exact = pc.computeCoriolisMatrix(model, model.createData(), q[0], v[0])
    pc.computeRNEADerivatives(model, data, q[0], v[0], nan)
    for get in (pc.getCoriolisMatrix, python("getCoriolisMatrix")) * 2:  # the C extension and Python agree
        close([get(model, data)], [exact])
        with raises(pc.NotComputedError, "getCentroidalDynamicsDerivatives NaN"):  # which reads the acceleration
            pc.getCentroidalDynamicsDerivatives(model, data)
    pc.computeRNEADerivatives(model, data, q[0], nan, a[0])
    for get in (pc.getCoriolisMatrix, python("getCoriolisMatrix")):
        with raises(pc.NotComputedError, "getCoriolisMatrix NaN"):
            get(model, data)


@pytest.mark.jitless
def test_what_is_missing_or_of_another_size_is_said() -> None:
    model, q, v, a, _ = state("mit_humanoid", 1)
    data = model.createData()
    with raises(pc.errors.ArgumentTypeError, "q v"):
        pc.computeABADerivatives(model, data, q[0], v[0])
    with raises(pc.errors.ShapeError, "v"):
        pc.computeRNEADerivatives(model, data, q[0], v[0][:-1], a[0])
    with pytest.raises(pc.errors.DataMismatchError):
        pc.computeCoriolisMatrix(model, pc.load("mit_humanoid").createData(), q[0], v[0])


@pytest.mark.jitless
def test_christoffel_symbols_make_the_coriolis_matrix() -> None:
    model, q, v, _, _ = state("mit_humanoid", 1)
    data = model.createData()
    symbols = pc.christoffel_symbols(model, data, q[0])
    close([np.einsum("kij,i->kj", symbols, v[0])], [pc.computeCoriolisMatrix(model, data, q[0], v[0])])
    free = symbols[:, 6:, 6:]  # of joints of one degree of freedom
    close([free], [free.transpose(0, 2, 1)])
