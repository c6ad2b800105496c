"""Batches of models with closed loops: the single state's numbers, row by row, and what becomes of bad rows."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pinocchio as pin
import pytest
from samples import linkages, mechanisms, pool
from samples.pool import error
from support.messages import raises, warns

import pin_clusters as pc

KEYS = pool.LOOPS
ROUNDING = 1e-11
OK, OPEN, SINGULAR, NAN = 0, 1, 2, 3


@pytest.fixture(autouse=True)
def _slow_functions_are_known() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*called from Python at each state.*")
        yield


def rows(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, n: int, spread: float = 0.02) -> Any:
    """n different assembled poses near q, velocities, accelerations, forces."""
    # dependent joints that are fast are near a dead centre
    spread /= max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), q)).max()))
    q = np.array([pc.integrate(model, q, spread * rng.normal(size=model.nv)) for _ in range(n)])
    v, a = rng.normal(size=(2, n, model.nv))
    return q, v, a, rng.normal(size=(n, model.njoints, 6))


def one_by_one(model: pc.ClusterModel, f: Any, q: Any, v: Any, x: Any, fext: Any = None) -> np.ndarray:
    data = model.createData()
    forces = [()] * len(q) if fext is None else [(y,) for y in fext]
    return np.array([f(model, data, *z, *y).copy() for *z, y in zip(q, v, x, forces, strict=True)])


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 17, 64])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sizes_and_threads(n: int, threads: int, rng: np.random.Generator) -> None:
    c = pool.case("delta")
    q, v, a, fext = (x[:n] for x in rows(c.model, np.array(c.q), rng, max(n, 1)))
    wanted = pc.batch.rnea(c.model, q, v, a, fext)
    out, status = np.full((n, c.model.nv), 7.0), np.full(n, 9, dtype=np.int8)
    same = pc.batch.rnea(c.model, q, v, a, fext, threads=threads, out=out, status=status)
    assert same is out
    assert np.array_equal(same, wanted)
    assert not status.any()
    assert np.array_equal(pc.batch.aba(c.model, q, v, a, threads=threads), pc.batch.aba(c.model, q, v, a))


def test_out_may_be_an_input(rng: np.random.Generator) -> None:
    c = pool.case("watt_six_bar")
    q, v, a, _ = rows(c.model, np.array(c.q), rng, 9)
    wanted = pc.batch.rnea(c.model, q, v, a)
    for i in range(2):
        given = [v.copy(), a.copy()]
        assert np.array_equal(pc.batch.rnea(c.model, q, *given, out=given[i]), wanted)


def change_point() -> pc.ClusterModel:
    """A parallelogram that folds: at 0 all links are in line, and no choice of the independent joint is regular."""
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.02 * np.eye(3))
    for name, parent, x in (("left", 0, 0.0), ("right", 0, 1.0), ("bar", 1, 0.5)):
        at = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        tree.appendBodyToJoint(tree.addJoint(parent, pin.JointModelRY(), at, name), body, pin.SE3.Identity())
    loop = pc.Loop(("bar", [1.0, 0.0, 0.0]), ("right", [0.5, 0.0, 0.0]), "revolute", (0, 1, 0), name="close")
    return pc.ClusterModel(tree, [loop], np.array([-1.0, -1.0, 1.0]), independent=["left"])


BAD_ROWS = {
    "open": ([-1.0, -1.0, 1.001], OPEN),
    "wide open": ([1.0, 2.0, 3.0], OPEN),
    "singular": ([0.0, 0.0, 0.0], SINGULAR),
    "nan": ([np.nan, -1.0, 1.0], NAN),
    "inf": ([-1.0, np.inf, 1.0], NAN),
    "-inf": ([-1.0, -1.0, -np.inf], NAN),
}


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("n", [3, 8, 13])
@pytest.mark.parametrize("which", ["rnea", "aba"])
def test_bad_rows_have_a_status_and_hurt_no_others(name: str, n: int, which: str, rng: np.random.Generator) -> None:
    model = change_point()
    q, v, x, _ = rows(model, pc.neutral(model), rng, n)
    f = getattr(pc.batch, which)
    wanted = f(model, q, v, x)
    bad, code = BAD_ROWS[name]
    for at in (0, n // 2, n - 1):
        broken, status = q.copy(), np.zeros(n, dtype=np.int8)
        broken[at] = bad
        found = f(model, broken, v, x, status=status)
        assert status[at] == code
        assert np.isnan(found[at]).all()
        others = np.arange(n) != at
        assert not status[others].any()
        assert np.array_equal(found[others], wanted[others])
        if code == NAN:  # NaN in, NaN out: no warning, as without loops
            assert np.array_equal(f(model, broken, v, x), found, equal_nan=True)
        else:
            with warns(pc.PinClustersWarning, f"1 {n} status pc.project"):
                assert np.array_equal(f(model, broken, v, x), found, equal_nan=True)


def test_nan_in_other_inputs(rng: np.random.Generator) -> None:
    model = change_point()
    q, v, a, fext = rows(model, pc.neutral(model), rng, 10)
    wanted = pc.batch.rnea(model, q, v, a, fext)
    for which, value in itertools.product(range(3), (np.nan, np.inf)):
        given = [v.copy(), a.copy(), fext.copy()]
        given[which].reshape(10, -1)[6, 0] = value
        status = np.zeros(10, dtype=np.int8)
        found = pc.batch.rnea(model, q, *given, status=status)
        assert status.tolist() == [0] * 6 + [NAN] + [0] * 3
        assert np.isnan(found[6]).all()
        assert np.array_equal(np.delete(found, 6, 0), np.delete(wanted, 6, 0))


def test_counts_in_the_warning(rng: np.random.Generator) -> None:
    model = change_point()
    q, v, a, _ = rows(model, pc.neutral(model), rng, 20)
    q[[2, 5, 11]] = BAD_ROWS["open"][0]
    q[[3, 19]] = BAD_ROWS["singular"][0]
    q[7] = np.nan
    status = np.zeros(20, dtype=np.int8)
    pc.batch.aba(model, q, v, a, status=status, threads=2)
    assert np.bincount(status, minlength=4).tolist() == [14, 3, 2, 1]
    with warns(pc.PinClustersWarning, "5 20 3 2"):
        pc.batch.aba(model, q, v, a)


def test_status_on_models_without_loops(rng: np.random.Generator) -> None:
    model = pc.ClusterModel(pin.buildSampleModelManipulator())
    q, v, a = rng.normal(size=(3, 5, model.nv))
    q[3, 0] = np.nan
    status = np.full(5, 4, dtype=np.int8)
    pc.batch.rnea(model, q, v, a, status=status)
    assert status.tolist() == [0, 0, 0, NAN, 0]


STATUS = {
    "int64": (np.zeros(3, dtype=np.int64), pc.ArgumentTypeError, "int8 int64"),
    "list": ([0, 0, 0], pc.ArgumentTypeError, "list"),
    "short": (np.zeros(2, dtype=np.int8), pc.ShapeError, "(2,) (3,)"),
    "strided": (np.zeros(6, dtype=np.int8)[::2], pc.ArgumentTypeError, "status int8 np.zeros"),
    "table": (np.zeros((3, 1), dtype=np.int8), pc.ShapeError, "(3, 1)"),
}


@pytest.mark.parametrize("name", STATUS)
def test_bad_status(name: str, rng: np.random.Generator) -> None:
    model = change_point()
    given, kind, message = STATUS[name]
    q, v, a, _ = rows(model, pc.neutral(model), rng, 3)
    with raises(kind, message):
        pc.batch.rnea(model, q, v, a, status=given)


# --- functions of the user --------------------------------------------------------------------------------------------

# the four-bar of mechanism_models: A, B, C, D in the plane of the drawing
A, B, C, D = (np.array(p) for p in ((0.0, 0.0), (0.1, 0.2), (0.5, 0.3), (0.4, 0.0)))


def turned(p: np.ndarray, angle: Any) -> np.ndarray:
    return np.array([np.cos(angle) * p[0] - np.sin(angle) * p[1], np.sin(angle) * p[0] + np.cos(angle) * p[1]])


def pin_of_four_bar(x: np.ndarray) -> np.ndarray:
    """crank, coupler, rocker (which turns the other way)"""
    return A + turned(B - A, x[0]) + turned(C - B, x[0] + x[1]) - D - turned(C - D, -x[2])


def jacobian_of_four_bar(x: np.ndarray) -> np.ndarray:
    quarter = lambda p, angle: turned(p, angle + np.pi / 2.0)  # noqa: E731
    crank, coupler = quarter(B - A, x[0]), quarter(C - B, x[0] + x[1])
    return np.stack([crank + coupler, coupler, quarter(C - D, -x[2])], axis=1)


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_four_bar(q: Any, out: Any) -> None:
    for i in range(2):
        shift = -np.pi / 2.0 * i  # cos for x, sin for y
        out[i] = (
            0.1 * np.cos(q[0] + shift) - 0.2 * np.sin(q[0] + shift)
            + 0.4 * np.cos(q[0] + q[1] + shift) - 0.1 * np.sin(q[0] + q[1] + shift)
            - 0.1 * np.cos(-q[2] + shift) + 0.3 * np.sin(-q[2] + shift)
            - 0.4 * (1 - i)
        )  # fmt: skip


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_jacobian(q: Any, out: Any) -> None:
    for i in range(2):
        crank = -0.1 * np.sin(q[0] - np.pi / 2.0 * i) - 0.2 * np.cos(q[0] - np.pi / 2.0 * i)
        both = q[0] + q[1] - np.pi / 2.0 * i
        coupler = -0.4 * np.sin(both) - 0.1 * np.cos(both)
        rocker = -q[2] - np.pi / 2.0 * i
        out[3 * i] = crank + coupler
        out[3 * i + 1] = coupler
        out[3 * i + 2] = -0.1 * np.sin(rocker) - 0.3 * np.cos(rocker)


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_hessian(q: Any, out: Any) -> None:
    for i in range(18):
        out[i] = 0.0
    for i in range(2):
        crank, both, rocker = q[0] - np.pi / 2.0 * i, q[0] + q[1] - np.pi / 2.0 * i, -q[2] - np.pi / 2.0 * i
        coupler = -0.4 * np.cos(both) + 0.1 * np.sin(both)
        out[9 * i] = -0.1 * np.cos(crank) + 0.2 * np.sin(crank) + coupler
        out[9 * i + 1] = out[9 * i + 3] = out[9 * i + 4] = coupler
        out[9 * i + 8] = 0.1 * np.cos(rocker) - 0.3 * np.sin(rocker)


JOINTS = ("crank", "coupler", "rocker")
FUNCTIONS: dict[str, dict[str, Any]] = {
    "python": {"phi": pin_of_four_bar},
    "python with jacobian": {"phi": pin_of_four_bar, "jacobian": jacobian_of_four_bar},
    "compiled": {"phi": compiled_four_bar, "size": 2},
    "compiled with jacobian": {"phi": compiled_four_bar, "jacobian": compiled_jacobian, "size": 2},
    "compiled with hessian": {
        "phi": compiled_four_bar,
        "jacobian": compiled_jacobian,
        "hessian": compiled_hessian,
        "size": 2,
    },
}


@pytest.mark.ci
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_user_against_the_closed_form(name: str, rng: np.random.Generator) -> None:
    """The same pin: as FourBar, and as a Coupling; single states and rows."""
    tree, closure = linkages.four_bar(3)
    linkage = pc.FourBar(*JOINTS, closure)
    one = pc.ClusterModel(tree, [linkage], np.zeros(tree.nq))
    two = pc.ClusterModel(tree, [pc.Coupling(JOINTS, independent=["crank"], **FUNCTIONS[name])], np.zeros(tree.nq))
    assert one.independent_joints == two.independent_joints
    q, v, a, fext = rows(one, pc.neutral(one), rng, 10, 0.1)
    moved = pc.integrate(two, pc.neutral(two), [0.1, 0.1])
    assert error(moved, pc.integrate(one, pc.neutral(one), [0.1, 0.1])) < 1e-11
    # the rule of closed loops, for functions in Python too; their scale, a norm of K, is that of the mean pose
    allowed = 1e-13 * np.array([row.scale for row in pc.residual_rows(two)])
    for step in np.linspace(-0.2, 0.2, 41):
        assert np.all(np.abs(pc.residual(two, pc.integrate(two, moved, [0.0, step]))) <= allowed)
    for f, g in ((pc.rnea, pc.batch.rnea), (pc.aba, pc.batch.aba)):
        wanted = one_by_one(one, f, q, v, a, fext)
        assert error(one_by_one(two, f, q, v, a, fext), wanted) < 1e-9
        status = np.zeros(10, dtype=np.int8)
        found = g(two, q, v, a, fext, status=status)
        assert not status.any()
        assert error(found, wanted) < 1e-9
        off, bent = q.copy(), np.zeros(10, dtype=np.int8)
        off[4, -1] += 0.01
        off[5] = np.nan
        found = g(two, off, v, a, fext, status=bent)
        assert bent.tolist() == [0, 0, 0, 0, OPEN, NAN, 0, 0, 0, 0]
        assert np.isnan(found[4:6]).all()
        assert error(np.delete(found, (4, 5), 0), np.delete(wanted, (4, 5), 0)) < 1e-9
    data, other = one.createData(), two.createData()
    for x, y in zip(q, v, strict=True):
        assert error(pc.coupling_jacobian(two, other, x), pc.coupling_jacobian(one, data, x)) < 1e-11
        assert error(pc.coupling_bias(two, other, x, y), pc.coupling_bias(one, data, x, y)) < 1e-9
        assert error(pc.crba(two, other, x), pc.crba(one, data, x)) < 1e-10
        assert error(pc.computeMinverse(two, other, x), pc.computeMinverse(one, data, x)) < 1e-9
    if name.startswith("python"):
        again = pickle.loads(pickle.dumps(two))
        assert np.array_equal(pc.crba(again, again.createData(), q[0]), pc.crba(two, other, q[0]))


def test_python_functions_are_said_to_be_slow_once() -> None:
    """At most once per process; and batches of them run row after row."""
    tree, _ = linkages.four_bar(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            pc.ClusterModel(tree, [pc.Coupling(JOINTS, pin_of_four_bar, independent=["crank"])], np.zeros(tree.nq))
    assert sum("called from Python" in str(w.message) for w in caught) <= 1


def failing(x: np.ndarray) -> np.ndarray:
    if x[0] > 0.5:
        raise ValueError("beyond the table")
    return pin_of_four_bar(x)


def holed(x: np.ndarray) -> np.ndarray:
    return pin_of_four_bar(x) * (np.nan if x[0] > 0.5 else 1.0)


@pytest.mark.parametrize("phi", [failing, holed])
def test_functions_that_end_on_the_way(phi: Any) -> None:
    """Defined on a part of the range only, by NaN or by an exception: errors that say which, never silent numbers."""
    tree, closure = linkages.four_bar(3)
    model = pc.ClusterModel(tree, [pc.Coupling(JOINTS, phi, independent=["crank"], name="cam")], np.zeros(tree.nq))
    good = pc.ClusterModel(tree, [pc.FourBar(*JOINTS, closure)], np.zeros(tree.nq))
    data, other, v = model.createData(), good.createData(), np.ones(2)
    inside = pc.integrate(model, pc.neutral(model), [0.0, 0.3])
    assert error(inside, pc.integrate(good, pc.neutral(good), [0.0, 0.3])) < 1e-11
    assert error(pc.rnea(model, data, inside, v, v), pc.rnea(good, other, inside, v, v)) < 1e-9
    q = pc.integrate(good, pc.neutral(good), [0.0, 0.7])
    kind, message = (
        (pc.SingularClusterError, "'cam' 'crank' 'coupler' 'rocker'")
        if phi is holed
        else (pc.ConstraintError, "'cam' ValueError 0.7")
    )
    for f in (lambda: pc.rnea(model, data, q, v, v), lambda: pc.coupling_jacobian(model, data, q)):
        with raises(kind, message):
            f()
    with raises(pc.BranchLost, "'cam'"):
        pc.integrate(model, pc.neutral(model), [0.0, 0.7])
    with raises(pc.ConfigurationError, "'cam' model.q_reference"):
        pc.project(model, q + 0.01)
    status = np.zeros(2, dtype=np.int8)
    found = pc.batch.rnea(model, np.array([q, inside]), np.array([v, v]), np.array([v, v]), status=status)
    assert status.tolist() == [SINGULAR, OK]
    assert np.isnan(found[0]).all()
    assert error(found[1], pc.rnea(model, data, inside, v, v)) < ROUNDING


@pytest.mark.ci
def test_loop_models_reach_every_form() -> None:
    """The pool holds frames, rods, harmonic closures, couplings, rotors, pivoted rows and floating bases."""
    kinds = {type(c).__name__ for key in KEYS for c in pool.case(key).model.closures}
    assert {"FrameClosure", "RodClosure"} <= kinds
    assert any(x is not None and x.pivoted for key in KEYS for x in pool.case(key).model.tables.topology.loops)
    assert mechanisms.LIBRARY


@pytest.mark.ci
@pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio")
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_rows_on_a_ground_are_single_simulations_and_processes_share_them() -> None:
    model, feet = pc.load("mini_cheetah"), {f"{leg}_knee": (0.0, 0.0, -0.195) for leg in ("FL", "FR", "HL", "HR")}
    start = pc.on_ground(model, pc.neutral(model), touching=feet, above=0.002)
    q, v, how = np.tile(start, (3, 1)), np.zeros((3, model.nv)), {"ground": pc.Ground(0.5), "touching": feet}
    v[:, 1], q[2, 2] = (0.0, 0.3, 0.0), q[2, 2] - 1.0  # the last one begins below the ground
    status = np.zeros(3, dtype=np.int8)
    both = [pc.batch.simulate(model, q, v, None, 0.03, 1e-3, status=status, processes=n, **how) for n in (1, 2)]
    assert status.tolist() == [0, 0, 3]
    for n in range(2):
        alone = pc.simulate(model, q[n], v[n], None, 0.03, 1e-3, **how)
        assert alone.contact_impulses.any()
        assert all(np.array_equal(found.q[n], alone.q[-1]) for found in both)
    assert all(np.isnan(found.q[2]).all() for found in both)
