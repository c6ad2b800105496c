"""Inverse input matrices: columns of M^-1 [B, J_c'], against dense ones and forward dynamics."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.frames import gap, some, with_frames
from support.messages import raises

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import projection, unit_forces

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
# as in test_operational.py; differences of forward dynamics lose what gravity adds
LIMIT, LOST = 1e-13, 1e-12
SLOPPY = 30.0


@pool.each()
def test_dense_routes_and_forward_dynamics(
    key: pool.Key, rng: np.random.Generator, pytestconfig: pytest.Config
) -> None:
    """Forces one by one for all axes and inputs in a long run, else for one choice of them."""
    case = pool.case(key)
    model, q = with_frames(case.model, rng), case.pose(rng)
    data, exact = model.createData(), projection.createData(model)
    condition = float(np.linalg.cond(projection.crba(model, exact, q)))
    contacts, B = some(model, rng, 4), rng.normal(size=(model.nv, 4))
    more = SLOPPY * case.exact

    def forward(tau: np.ndarray, fext: np.ndarray) -> np.ndarray:
        return pc.aba(model, data, q, np.zeros(model.nv), tau, fext)

    choice = int(rng.integers(6))
    for i, axes in enumerate(REFERENCES):
        for k, inputs in enumerate((None, B)):
            found = pc.inverse_input_matrix(model, data, q, inputs, contacts, reference=axes)
            dense = projection.inverse_input_matrix(model, exact, q, inputs, contacts, axes)
            assert found.shape[0] == model.nv
            assert gap(found, dense, condition) < LIMIT + more
            if exact.rods is None:
                assert gap(found, reference.inverse_input_matrix(model, q, inputs, contacts, axes), condition) < (
                    LIMIT + more
                )
            chosen = 2 * i + k == choice or pytestconfig.getoption("--long")
            for run in (None, forward) if chosen else ():
                runs = unit_forces.inverse_input_matrix(model, exact, q, inputs, contacts, axes, forward=run)
                free = float(np.abs(forward(np.zeros(model.nv), np.zeros((model.njoints, 6)))).max(initial=1.0))
                assert np.abs(runs - found).max(initial=0.0) < (LOST + more) * condition * max(
                    free, float(np.abs(found).max(initial=1.0))
                )
    # alone or side by side
    both = pc.inverse_input_matrix(model, data, q, B, contacts)
    assert gap(both[:, :4], pc.inverse_input_matrix(model, data, q, B), condition) < LIMIT
    assert gap(both[:, 4:], pc.inverse_input_matrix(model, data, q, np.zeros((model.nv, 0)), contacts), condition) < (
        LIMIT
    )
    assert gap(pc.inverse_input_matrix(model, data, q, np.eye(model.nv)), pc.computeMinverse(model, data, q)) < 1e-11


@pytest.mark.parametrize("robot", pool.some(sorted(pc.robots()), ("mini_cheetah", "tello", "delta", "four_bar")))
def test_shipped_robots(robot: str, rng: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = with_frames(pc.load(robot), rng)
    q, data, exact = pc.neutral(model), model.createData(), projection.createData(model)
    contacts = some(model, rng)
    found = pc.inverse_input_matrix(model, data, q, contacts=contacts, reference=pin.LOCAL_WORLD_ALIGNED)
    dense = projection.inverse_input_matrix(model, exact, q, None, contacts, pin.LOCAL_WORLD_ALIGNED)
    condition = float(np.linalg.cond(projection.crba(model, exact, q)))
    inputs = len(model.rotors) if model.rotors else found.shape[1] - 3 * len(contacts)
    assert found.shape == (model.nv, inputs + 3 * len(contacts))
    assert gap(found, dense, condition) < LIMIT


@pytest.mark.jitless
def test_default_inputs(rng: np.random.Generator) -> None:
    """Rotors where there are some; else the joints, but for what floats."""
    arm = trees.geared_arm(floating=True).build("shuffled", rng)
    q, data = trees.random_state(arm, rng)[0], arm.createData()
    B = pc.actuation_matrix(arm, data, q)
    assert np.array_equal(pc.inverse_input_matrix(arm, data, q), pc.inverse_input_matrix(arm, data, q, B))
    for floating in (False, True):
        model = trees.random_tree(rng, 5, floating=floating).build()
        q, data = trees.random_state(model, rng)[0], model.createData()
        found = pc.inverse_input_matrix(model, data, q)
        skipped = 6 * sum(j.shortname() == "JointModelFreeFlyer" for j in list(model.tree.joints)[1:])
        assert found.shape == (model.nv, model.nv - skipped)
        loose = [j.idx_v for j in list(model.tree.joints)[1:] if "FreeFlyer" in j.shortname()]
        kept = [k for k in range(model.nv) if not any(i <= k < i + 6 for i in loose)]
        Minv = pc.computeMinverse(model, data, q)
        assert gap(found, Minv[:, kept], float(np.linalg.cond(Minv))) < LIMIT


@pytest.mark.jitless
def test_default_inputs_of_loops_follow_the_pose(rng: np.random.Generator) -> None:
    """G of rotors on loops depends on q: what is kept of one pose must not be used at another."""
    case = pool.case("rotors_on_a_loop_on_free_flyer")
    model, data = case.model, case.model.createData()
    exact = projection.createData(model)
    assert model.rotors
    poses = [case.q, pc.integrate(model, case.q, 0.05 * np.ones(model.nv)), case.q]
    found = [pc.inverse_input_matrix(model, data, q) for q in poses]
    for q, A in zip(poses, found, strict=True):
        assert gap(A, projection.inverse_input_matrix(model, exact, q), 1e2) < LIMIT
    assert np.array_equal(found[0], found[2])
    assert np.abs(found[0] - found[1]).max() > 1e-6


@pytest.mark.jitless
@pytest.mark.parametrize("contacts", [(), ("j3_link",)])
def test_no_inputs(contacts: tuple[str, ...], rng: np.random.Generator) -> None:
    model = trees.geared_arm(floating=True).build()
    data, q = model.createData(), trees.random_state(model, rng)[0]
    for _ in range(3):  # the second time in machine code
        found = pc.inverse_input_matrix(model, data, q, np.zeros((model.nv, 0)), contacts)
        assert found.shape == (model.nv, 3 * len(contacts))


@pytest.mark.jitless
def test_forms_of_b(rng: np.random.Generator) -> None:
    model = trees.geared_arm(floating=True).build()
    data, q = model.createData(), trees.random_state(model, rng)[0]
    B = np.round(4.0 * rng.normal(size=(model.nv, 5)))
    expected = pc.computeMinverse(model, data, q) @ B
    fixed = B.copy()
    fixed.setflags(write=False)
    wide = np.zeros((model.nv, 10))
    wide[:, ::2] = B
    for given in (
        B, B.tolist(), np.asfortranarray(B), B.astype(int), B.astype(np.float32), fixed, wide[:, ::2],
        B.astype(">f8"), B[:, :],
    ):  # fmt: skip
        for _ in range(2):
            assert gap(pc.inverse_input_matrix(model, data, q, given), expected) < 1e-11
    assert gap(pc.inverse_input_matrix(model, data, q, B[:, :1]), expected[:, :1]) < 1e-11
    # what is written into B later counts, and what was given before is left alone
    first = pc.inverse_input_matrix(model, data, q, B)
    B[:] = 0.0
    assert not np.any(pc.inverse_input_matrix(model, data, q, B))
    assert gap(first, expected) < 1e-11
    assert gap(pc.inverse_input_matrix(model, data, q, fixed), expected) < 1e-11
    # B may be gone when the next one of its size comes
    for k in range(20):
        other = np.full((model.nv, 5), float(k))
        found = pc.inverse_input_matrix(model, data, q, other)
        del other
        assert gap(found, pc.computeMinverse(model, data, q) @ np.full((model.nv, 5), float(k))) < 1e-11


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "more rows": (
        lambda n: np.zeros((n + 1, 2)),
        pc.ShapeError,
        "B (5, 2) nv",
    ),
    "turned": (lambda n: np.zeros((2, n)), pc.ShapeError, "B (2, 4)"),
    "a vector": (lambda n: np.zeros(n), pc.ShapeError, "B (4,)"),
    "a number": (lambda n: 1.0, pc.ShapeError, "B"),
    "three dimensions": (lambda n: np.zeros((n, 1, 1)), pc.ShapeError, "B"),
    "empty": (lambda n: [], pc.ShapeError, "B (0,)"),
    "text": (lambda n: "B", pc.ArgumentTypeError, "B"),
    "texts": (lambda n: [["a"]] * n, pc.ArgumentTypeError, "B"),
    "complex": (lambda n: np.eye(n) + 0j, pc.ArgumentTypeError, "complex128"),
    "objects": (lambda n: np.eye(n).astype(object), pc.ArgumentTypeError, "object"),
    "ragged": (lambda n: [[1.0], [1.0, 2.0]], pc.ArgumentTypeError, "B"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", BAD)
def test_bad_b(kind: str) -> None:
    make, error, message = BAD[kind]
    model = trees.geared_arm().build()
    with raises(error, message):
        pc.inverse_input_matrix(model, model.createData(), pc.neutral(model), make(model.nv))


BAD_CONTACTS: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown": (["j1_lin"], pc.UnknownNameError, "'j1_lin' 'j1_link'"),
    "twice": (["j1_link", "j1_link"], pc.ArgumentTypeError, "'j1_link'"),
    "no list": ("j1_link", pc.ArgumentTypeError, "contacts 'j1_link'"),
    "empty text": ("", pc.ArgumentTypeError, "contacts"),
    "nothing": (None, pc.ArgumentTypeError, "contacts None"),
    "a number": (3, pc.ArgumentTypeError, "contacts"),
    "lists": ([[1]], pc.ArgumentTypeError, "1"),
    "a generator": ((x for x in [1]), pc.ArgumentTypeError, "contacts"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", BAD_CONTACTS)
def test_bad_contacts(kind: str) -> None:
    contacts, error, message = BAD_CONTACTS[kind]
    model = trees.geared_arm().build()
    with raises(error, message):
        pc.inverse_input_matrix(model, model.createData(), pc.neutral(model), None, contacts)
    with raises(pc.ArgumentTypeError, "pin.LOCAL"):
        pc.inverse_input_matrix(model, model.createData(), pc.neutral(model), contacts=[1], reference="world")
