"""Every bad argument of an algorithm: which exception, and what its message says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.calls import ALL, DYNAMICS, OTHERS, State, call, rows, state
from support.messages import raises

import pin_clusters as pc
from pin_clusters.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataMismatchError,
    NotAvailableError,
    PinClustersError,
    ShapeError,
)

NUMBERS: dict[str, tuple[Callable[[np.ndarray], Any], type[Exception], str]] = {
    "short": (lambda x: x[:-1], ShapeError, ""),
    "empty list": (lambda x: [], ShapeError, "0"),
    "table": (lambda x: np.zeros((3, 3)), ShapeError, "(3, 3)"),
    "number": (lambda x: 1.0, ShapeError, "()"),
    "text": (lambda x: ["a"] * len(x), ArgumentTypeError, "<U1"),
    "one text": (lambda x: "abc", ArgumentTypeError, "<U3 (str)"),
    "complex": (lambda x: x + 0j, ArgumentTypeError, "complex128"),
    "objects": (lambda x: x.astype(object), ArgumentTypeError, "object"),
    "nothing": (lambda x: None, ArgumentTypeError, "object (NoneType)"),
    "ragged": (lambda x: [[1.0, 2.0], [3.0]], ArgumentTypeError, ""),
    "generator": (lambda x: (y for y in x), ArgumentTypeError, "object (generator)"),
    "dictionary": (lambda x: dict(enumerate(x)), ArgumentTypeError, "object (dict)"),
    "times": (lambda x: x.astype("M8[s]"), ArgumentTypeError, "datetime64[s]"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", DYNAMICS)
def test_bad_vector(name: str, kind: str) -> None:
    make, error, message = NUMBERS[kind]
    s = state()
    for which in DYNAMICS[name][1]:
        shown = "tau" if (name, which) == ("aba", "a") else which
        if (name, kind) in (("computeMinverse", "nothing"), ("computePotentialEnergy", "nothing")):
            error, message = pc.NotComputedError, ""  # without q they take that of the call before
        with raises(error, f"{shown} {message}") as caught:
            call(name, s, **{which: make(getattr(s, which))})
        assert isinstance(caught.value, PinClustersError)


@pytest.mark.parametrize("kind", ["short", "text", "complex", "ragged"])
@pytest.mark.parametrize("name", OTHERS)
def test_bad_vector_of_other_functions(name: str, kind: str) -> None:
    make, error, _ = NUMBERS[kind]
    s = state()
    for which in OTHERS[name][1]:
        with raises(error, which):
            call(name, s, **{which: make(getattr(s, which))})


@pytest.mark.jitless
@pytest.mark.parametrize("name", [n for n in ALL if "v" in ALL[n][1]])
def test_velocity_of_the_spanning_tree(name: str) -> None:
    s = state()
    for which in ALL[name][1].replace("q", ""):
        with raises(ShapeError, "nv 10 14 model.idx_v_independent"):
            call(name, s, **{which: np.zeros(s.model.tree.nv)})


@pytest.mark.jitless
@pytest.mark.parametrize("name", ALL)
def test_wrong_model_or_data(name: str) -> None:
    s, other = state(), state()
    # of Pinocchio's functions, a pin.Model with its pin.Data is Pinocchio's own call
    shared = hasattr(pin, name)
    own: list[Any] = [
        (s.model.tree, s.data.tree, ArgumentTypeError, "ClusterModel Model"),
        (s.model.tree, s.data, ArgumentTypeError, "ClusterModel Model pc.ClusterModel"),
    ]
    mixed: list[Any] = [(s.model.tree, s.data, DataMismatchError, "pinocchio.Model ClusterData data.model")]
    for model, data, error, message in (
        *(mixed if shared else own),
        (s.data, s.model, ArgumentTypeError, "ClusterModel ClusterData"),
        (None, s.data, ArgumentTypeError, "ClusterModel NoneType"),
        (s.model, s.data.tree, DataMismatchError, "ClusterData pinocchio.Data model.createData()"),
        (s.model, None, ArgumentTypeError, "ClusterData NoneType"),
        (s.model, other.data, DataMismatchError, "model.createData()"),
    ):
        with raises(error, message):
            call(name, s._replace(model=model, data=data))


FORCES: dict[str, tuple[Callable[[np.ndarray], Any], type[Exception], str]] = {
    "short array": (lambda f: f[:-1], ShapeError, "(9, 6) 6 (10, 6)"),
    "wide array": (lambda f: np.hstack([f, f]), ShapeError, "(10, 12)"),
    "transposed": (lambda f: f.T, ShapeError, "(6, 10)"),
    "flat": (lambda f: f.ravel(), ShapeError, "(60,)"),
    "short list": (lambda f: [pin.Force(x) for x in f[:-1]], ShapeError, "9 10"),
    "short vector": (
        lambda f: pin.StdVec_Force([pin.Force(x) for x in f[1:]]), ShapeError, "9 10",
    ),
    "empty": (lambda f: [], ShapeError, "0"),
    "one force": (lambda f: pin.Force(f[0]), ArgumentTypeError, "fext pin.Force 6"),
    "number": (lambda f: 1.0, ArgumentTypeError, "pin.Force float"),
    "text": (lambda f: "abc", ArgumentTypeError, "str"),
    "dictionary": (lambda f: {"j0": f[0]}, ArgumentTypeError, "dict"),
    "complex": (lambda f: f + 0j, ArgumentTypeError, "complex128"),
    "objects": (lambda f: f.astype(object), ArgumentTypeError, "object"),
    "nothings": (lambda f: [None] * len(f), ArgumentTypeError, "fext[0] 'universe' None"),
    "a motion": (lambda f: [*f[:-1], pin.Motion(f[-1])], ArgumentTypeError, "fext[9] 'j3'"),
    "texts": (lambda f: [["a"] * 6] * len(f), ArgumentTypeError, "fext[0]"),
}  # fmt: skip


@pytest.mark.jitless
@pytest.mark.parametrize("kind", FORCES)
@pytest.mark.parametrize("name", ["rnea", "aba", "computeStaticTorque"])
def test_bad_forces(name: str, kind: str) -> None:
    make, error, message = FORCES[kind]
    s = state()
    before = () if name == "computeStaticTorque" else (s.v, s.a)
    with raises(error, message):
        getattr(pc, name)(s.model, s.data, s.q, *before, make(s.fext))


BATCH: dict[str, tuple[Callable[[State, np.ndarray, np.ndarray, np.ndarray], Any], type[Exception], str]] = {
    "one state": (lambda s, q, v, a: (s.q, v, a), ShapeError, "q (15,) 15"),
    "columns": (lambda s, q, v, a: (q[:, 1:], v, a), ShapeError, "q (3, 14)"),
    "rows": (lambda s, q, v, a: (q, v[:2], a), ShapeError, "v (2, 10) (3, 10)"),
    "spanning": (
        lambda s, q, v, a: (q, np.zeros((3, 14)), a),
        ShapeError,
        "v model.idx_v_independent",
    ),
    "text": (lambda s, q, v, a: (q, "v", a), ArgumentTypeError, "v str"),
    "complex": (lambda s, q, v, a: (q, v * 1j, a), ArgumentTypeError, "v complex128"),
    "nothing": (lambda s, q, v, a: (None, v, a), ArgumentTypeError, "q NoneType"),
    "ragged": (lambda s, q, v, a: ([[1.0], [1.0, 2.0]], v, a), ShapeError, "q[0] (1,)"),
    "data": (lambda s, q, v, a: (s.data, q, v, a), ArgumentTypeError, "data"),
    "forces of one": (lambda s, q, v, a: (q, v, a, s.fext), ShapeError, "fext 6 (3, 10, 6)"),
    "forces as text": (lambda s, q, v, a: (q, v, a, "f"), ArgumentTypeError, "fext"),
}
BATCH_OPTIONS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no threads": ({"threads": 0}, ArgumentTypeError, "threads 1 0"),
    "half a thread": ({"threads": 0.5}, ArgumentTypeError, "threads 0.5"),
    "threads text": ({"threads": "2"}, ArgumentTypeError, "threads '2'"),
    "out of other rows": ({"out": np.zeros((2, 10))}, ShapeError, "out (2, 10) (3, 10)"),
    "out a list": ({"out": []}, ArgumentTypeError, "out list"),
    "out of float32": ({"out": np.zeros((3, 10), np.float32)}, ArgumentTypeError, "out float64 float32"),
    "out transposed": ({"out": np.zeros((10, 3)).T}, ArgumentTypeError, "out"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("function", [pc.batch.rnea, pc.batch.aba])
def test_bad_batch(function: Callable[..., Any]) -> None:
    s = state()
    for make, error, message in BATCH.values():
        with raises(error, message):
            function(s.model, *make(s, *rows(s)))
    for options, error, message in BATCH_OPTIONS.values():
        with raises(error, message):
            function(s.model, *rows(s), **options)
    with raises(ArgumentTypeError, "Model pc.ClusterModel"):
        function(s.model.tree, *rows(s))


@pytest.mark.jitless
@pytest.mark.parametrize("name", ALL)
def test_data_check_finds_a_q_off_the_manifold(name: str) -> None:
    s = state()
    s.data.check = True
    call(name, s)
    i = s.model.idx_qs[s.model.getJointId("r1")]
    slipped, long, lost = s.q.copy(), s.q.copy(), s.q.copy()
    slipped[i] += 1e-3
    long[3:7] *= 1.0 + 1e-4
    lost[i] = np.nan
    for q, message in (
        (slipped, "'r1' Gear('j1', 'r1') pc.project"),
        (long, "'base' q[3:7] 1.0001 1 pc.project"),
        (lost, "q nan 'r1'"),
    ):
        with raises(ConfigurationError, message):
            call(name, s, q=q)
    nearly = s.q.copy()
    nearly[3:7] *= 1.0 + 1e-12
    call(name, s, q=nearly)


ROUTES = {
    "lcaba": "pc.aba",
    "tangentMap": "pinocchio.tangentMap model.tree",
}


@pytest.mark.jitless
@pytest.mark.parametrize("name", ROUTES)
def test_functions_without_a_cluster_version_name_the_route(name: str) -> None:
    if not hasattr(pin, name):
        pytest.skip(f"Pinocchio {pin.__version__} has no {name}")
    with raises(NotAvailableError, f"'{name}' {ROUTES[name]}"):
        getattr(pc, name)(state().model)


# --- numbers and lists that Python or NumPy cannot convert ------------------------------------------------------------

RAGGED = [np.zeros(2), np.zeros(3)]
NO_FLOAT, NO_TEXT = 10**400, 10**5000
"""Integers that are too large for a float, and for ``repr``."""
UNCONVERTIBLE: dict[str, tuple[Callable[[pc.ClusterModel], Any], type[Exception], str]] = {
    "trace of a list": (lambda m: pc.trace(m, ["aba"]), ArgumentTypeError, "function ['aba']"),
    "points of lists": (lambda m: pc.contact_points(m, [[]]), ArgumentTypeError, "contact_points []"),
    "radius": (
        lambda m: pc.contact_points(m, {"crank": np.zeros(3)}, radius=NO_FLOAT),
        pc.SimulationError,
        "contact_points radius inf",
    ),
    "interpolate": (lambda m: pc.interpolate(m, m.q_reference, m.q_reference, RAGGED), ArgumentTypeError, "alpha"),
    "prescribed": (
        lambda m: pc.hybrid_dynamics(m, m.createData(), m.q_reference, [0.0], [0.0], [0.0], RAGGED),
        ArgumentTypeError,
        "prescribed",
    ),
    "ground": (lambda m: pc.Ground(height=-NO_FLOAT), pc.SimulationError, "Ground height -inf"),
    "motor": (lambda m: pc.Motor(peak_torque=NO_FLOAT), pc.ConstraintError, "Motor peak_torque inf"),
    "step": (
        lambda m: pc.simulate(m, m.q_reference, [0.0], duration=NO_FLOAT, dt=0.1),
        pc.SimulationError,
        "simulate duration inf",
    ),
    "friction speed": (
        lambda m: pc.passive_torque(m, m.createData(), m.q_reference, [0.0], friction_speed=-NO_FLOAT),
        ArgumentTypeError,
        "passive_torque friction_speed",
    ),
    "tolerance": (
        lambda m: pc.inverse_kinematics(m, m.q_reference, {"crank": np.zeros(3)}, tolerance=None),
        ArgumentTypeError,
        "tolerance None 0.0",
    ),
    "speed of text": (lambda m: pc.Motor().torque_limits("5"), ArgumentTypeError, "speed <U1 (str)"),
    "speed of a dict": (lambda m: pc.Motor().torque_limits({}), ArgumentTypeError, "speed object (dict)"),
    "complex speed": (lambda m: pc.Motor().torque_limits(np.array([1 + 2j])), ArgumentTypeError, "speed complex128"),
    "functions": (lambda m: pc.specialise(m, np.array(1.0)), ArgumentTypeError, "specialise array(1.)"),
    "engine": (lambda m: pc.engine(NO_TEXT).__enter__(), ArgumentTypeError, "engine int"),
    "frames": (lambda m: pc.FrameTerms(m, NO_TEXT), ArgumentTypeError, "frames int"),
    "frame": (lambda m: pc.FrameTerms(m, [NO_TEXT]), pc.UnknownNameError, "frame_id int"),
    "seed": (lambda m: pc.identifiable_parameters(m, seed=RAGGED), ArgumentTypeError, "identifiable_parameters seed"),
    "belt": (lambda m: pc.Belt(NO_TEXT, "crank", 2.0), pc.ConstraintError, "Belt predecessor int"),
    "joints": (lambda m: pc.Coupling(NO_TEXT, abs, independent="a"), pc.ConstraintError, "joints int"),
    "independent": (lambda m: pc.Coupling(["a", "b"], abs, independent=3), pc.ConstraintError, "independent 3"),
    "masters": (lambda m: pc.LinearCoupling("a", NO_TEXT), pc.ConstraintError, "int"),
    "closure": (lambda m: pc.Loop(NO_TEXT, "crank", "revolute", [0, 0, 1]), pc.ConstraintError, "int"),
    "spring": (lambda m: pc.Spring(NO_TEXT, 1.0), pc.ConstraintError, "int"),
    "rotor": (lambda m: pc.Rotor(NO_TEXT, 6.0, axial_inertia=1e-3), pc.ConstraintError, "joints int"),
    "attempts": (
        lambda m: pc.inverse_kinematics(m, m.q_reference, {"crank": np.zeros(3)}, attempts=-NO_TEXT),
        ArgumentTypeError,
        "attempts int",
    ),
}


@pytest.mark.jitless
@pytest.mark.parametrize("name", UNCONVERTIBLE)
def test_what_python_and_numpy_cannot_convert(name: str) -> None:
    call, error, message = UNCONVERTIBLE[name]
    with raises(error, message) as caught:
        call(pc.load("four_bar"))
    assert isinstance(caught.value, PinClustersError)


@pytest.mark.jitless
def test_long_values_are_cut_in_messages() -> None:
    with raises(ArgumentTypeError, "engine") as caught, pc.engine(["auto"] * 1000):
        pass
    assert len(str(caught.value)) < 600
