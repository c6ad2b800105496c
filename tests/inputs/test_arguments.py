"""Every bad argument of an algorithm: which exception, and what its message says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.calls import ALL, DYNAMICS, OTHERS, State, call, rows, state

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
    "short": (lambda x: x[:-1], ShapeError, r"has size \d+, but model '' needs n[qv]\b.* = \d+"),
    "empty list": (lambda x: [], ShapeError, "has size 0"),
    "table": (lambda x: np.zeros((3, 3)), ShapeError, r"shape \(3, 3\); expected one dimension or a column"),
    "number": (lambda x: 1.0, ShapeError, r"shape \(\)"),
    "text": (lambda x: ["a"] * len(x), ArgumentTypeError, "must hold real numbers, got <U1"),
    "one text": (lambda x: "abc", ArgumentTypeError, r"real numbers, got <U3 \(str\)"),
    "complex": (lambda x: x + 0j, ArgumentTypeError, "real numbers, got complex128"),
    "objects": (lambda x: x.astype(object), ArgumentTypeError, "real numbers, got object"),
    "nothing": (lambda x: None, ArgumentTypeError, r"real numbers, got object \(NoneType\)"),
    "ragged": (lambda x: [[1.0, 2.0], [3.0]], ArgumentTypeError, "not an array of numbers"),
    "generator": (lambda x: (y for y in x), ArgumentTypeError, r"real numbers, got object \(generator\)"),
    "dictionary": (lambda x: dict(enumerate(x)), ArgumentTypeError, r"got object \(dict\)"),
    "times": (lambda x: x.astype("M8[s]"), ArgumentTypeError, r"real numbers, got datetime64"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", DYNAMICS)
def test_bad_vector(name: str, kind: str) -> None:
    make, error, message = NUMBERS[kind]
    s = state()
    for which in DYNAMICS[name][1]:
        shown = "tau" if (name, which) == ("aba", "a") else which
        with pytest.raises(error, match=re.compile(rf"^{shown}\b.*{message}", re.DOTALL)) as caught:
            call(name, s, **{which: make(getattr(s, which))})
        assert isinstance(caught.value, PinClustersError)


@pytest.mark.parametrize("kind", ["short", "text", "complex", "ragged"])
@pytest.mark.parametrize("name", OTHERS)
def test_bad_vector_of_other_functions(name: str, kind: str) -> None:
    make, error, _ = NUMBERS[kind]
    s = state()
    for which in OTHERS[name][1]:
        with pytest.raises(error, match=rf"^{which}\b"):
            call(name, s, **{which: make(getattr(s, which))})


@pytest.mark.jitless
@pytest.mark.parametrize("name", [n for n in ALL if "v" in ALL[n][1]])
def test_velocity_of_the_spanning_tree(name: str) -> None:
    s = state()
    for which in ALL[name][1].replace("q", ""):
        with pytest.raises(
            ShapeError, match=r"needs nv = 10 .*14 is the size of the spanning tree.*\[model.idx_v_independent\]"
        ):
            call(name, s, **{which: np.zeros(s.model.tree.nv)})


@pytest.mark.jitless
@pytest.mark.parametrize("name", ALL)
def test_wrong_model_or_data(name: str) -> None:
    s, other = state(), state()
    for model, data, error, message in (
        (s.model.tree, s.data, ArgumentTypeError, "ClusterModel, got Model.*Wrap it: model = pc.ClusterModel"),
        (s.model.tree, s.data.tree, ArgumentTypeError, "ClusterModel, got Model"),
        (s.data, s.model, ArgumentTypeError, "ClusterModel, got ClusterData"),
        (None, s.data, ArgumentTypeError, "ClusterModel, got NoneType"),
        (s.model, s.data.tree, ArgumentTypeError, r"ClusterData, got Data. Use data = model.createData\(\)"),
        (s.model, None, ArgumentTypeError, "ClusterData, got NoneType"),
        (s.model, other.data, DataMismatchError, r"another model.*Use data = model.createData\(\) of this model"),
    ):
        with pytest.raises(error, match=message):
            call(name, s._replace(model=model, data=data))


FORCES: dict[str, tuple[Callable[[np.ndarray], Any], type[Exception], str]] = {
    "short array": (lambda f: f[:-1], ShapeError, r"shape \(9, 6\).*needs \(njoints, 6\) = \(10, 6\)"),
    "wide array": (lambda f: np.hstack([f, f]), ShapeError, r"shape \(10, 12\)"),
    "transposed": (lambda f: f.T, ShapeError, r"shape \(6, 10\)"),
    "flat": (lambda f: f.ravel(), ShapeError, r"shape \(60,\)"),
    "short list": (lambda f: [pin.Force(x) for x in f[:-1]], ShapeError, "9 forces.*njoints = 10.*universe"),
    "short vector": (
        lambda f: pin.StdVec_Force([pin.Force(x) for x in f[1:]]), ShapeError, "9 forces.*njoints = 10.*universe",
    ),
    "empty": (lambda f: [], ShapeError, "0 forces"),
    "one force": (lambda f: pin.Force(f[0]), ArgumentTypeError, "must be a list"),
    "number": (lambda f: 1.0, ArgumentTypeError, "must be a list of pin.Force .*got float"),
    "text": (lambda f: "abc", ArgumentTypeError, "must be a list.*got str"),
    "dictionary": (lambda f: {"j0": f[0]}, ArgumentTypeError, "must be a list.*got dict"),
    "complex": (lambda f: f + 0j, ArgumentTypeError, "real numbers, got complex"),
    "objects": (lambda f: f.astype(object), ArgumentTypeError, "real numbers, got object"),
    "nothings": (lambda f: [None] * len(f), ArgumentTypeError, r"fext\[0\] \(joint 'universe'\).*six numbers.*None"),
    "a motion": (lambda f: [*f[:-1], pin.Motion(f[-1])], ArgumentTypeError, r"fext\[9\] \(joint 'j3'\) must"),
    "texts": (lambda f: [["a"] * 6] * len(f), ArgumentTypeError, r"fext\[0\] must hold real numbers"),
}  # fmt: skip


@pytest.mark.jitless
@pytest.mark.parametrize("kind", FORCES)
@pytest.mark.parametrize("name", ["rnea", "aba", "computeStaticTorque"])
def test_bad_forces(name: str, kind: str) -> None:
    make, error, message = FORCES[kind]
    s = state()
    before = () if name == "computeStaticTorque" else (s.v, s.a)
    with pytest.raises(error, match=message):
        getattr(pc, name)(s.model, s.data, s.q, *before, make(s.fext))


BATCH: dict[str, tuple[Callable[[State, np.ndarray, np.ndarray, np.ndarray], Any], type[Exception], str]] = {
    "one state": (lambda s, q, v, a: (s.q, v, a), ShapeError, r"q has shape \(15,\).*needs \(N, 15\)"),
    "columns": (lambda s, q, v, a: (q[:, 1:], v, a), ShapeError, r"q has shape \(3, 14\).*nq \(the whole tree\)"),
    "rows": (lambda s, q, v, a: (q, v[:2], a), ShapeError, r"v has shape \(2, 10\).*needs \(3, 10\)"),
    "spanning": (
        lambda s, q, v, a: (q, np.zeros((3, 14)), a),
        ShapeError,
        r"spanning tree: take v\[:, model.idx_v_ind",
    ),
    "text": (lambda s, q, v, a: (q, "v", a), ArgumentTypeError, r"v must hold real numbers, got <U1 \(str\)"),
    "complex": (lambda s, q, v, a: (q, v * 1j, a), ArgumentTypeError, "v must hold real numbers, got complex"),
    "nothing": (lambda s, q, v, a: (None, v, a), ArgumentTypeError, r"q must hold real numbers.*NoneType"),
    "ragged": (lambda s, q, v, a: ([[1.0], [1.0, 2.0]], v, a), ShapeError, r"q\[0\] has shape \(1,\).*in every row"),
    "data": (lambda s, q, v, a: (s.data, q, v, a), ArgumentTypeError, "got a data. Batches take none"),
    "forces of one": (lambda s, q, v, a: (q, v, a, s.fext), ShapeError, r"fext.*\(N, njoints, 6\) = \(3, 10, 6\)"),
    "forces as text": (lambda s, q, v, a: (q, v, a, "f"), ArgumentTypeError, "fext must hold real numbers"),
}
BATCH_OPTIONS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no threads": ({"threads": 0}, ArgumentTypeError, "threads must be a whole number, at least 1, got 0"),
    "half a thread": ({"threads": 0.5}, ArgumentTypeError, "threads.*got 0.5"),
    "threads text": ({"threads": "2"}, ArgumentTypeError, "threads.*got '2'"),
    "out of other rows": ({"out": np.zeros((2, 10))}, ShapeError, r"out has shape \(2, 10\), expected \(3, 10\)"),
    "out a list": ({"out": []}, ArgumentTypeError, "out must be.*got a list"),
    "out of float32": ({"out": np.zeros((3, 10), np.float32)}, ArgumentTypeError, "out must be.*float64.*float32"),
    "out transposed": ({"out": np.zeros((10, 3)).T}, ArgumentTypeError, "out must be a writable, contiguous"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("function", [pc.batch.rnea, pc.batch.aba])
def test_bad_batch(function: Callable[..., Any]) -> None:
    s = state()
    for make, error, message in BATCH.values():
        with pytest.raises(error, match=message):
            function(s.model, *make(s, *rows(s)))
    for options, error, message in BATCH_OPTIONS.values():
        with pytest.raises(error, match=message):
            function(s.model, *rows(s), **options)
    with pytest.raises(ArgumentTypeError, match=r"got Model. Wrap it: model = pc.ClusterModel"):
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
        (slipped, r"couplings.*'r1' \(Gear\('j1', 'r1'\)\).*pc.project"),
        (long, r"quaternion of joint 'base', q\[3:7\], has norm 1.0001 instead of 1.*pc.project"),
        (lost, r"q\[\d+\] = nan \(joint 'r1'\) is not finite"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            call(name, s, q=q)
    nearly = s.q.copy()
    nearly[3:7] *= 1.0 + 1e-12
    call(name, s, q=nearly)


ROUTES = {
    "getKKTContactDynamicMatrixInverse": "pc.computeConstraintDynamicsDerivatives",
    "normalize": "pc.project",
    "computeTotalMass": "pinocchio.computeTotalMass",
    "contactInverseDynamics": "pc.getConstraintsJacobian",
    "SE3": "pinocchio.SE3",
    "buildReducedModel": r"pc.ClusterModel\(pinocchio.buildReducedModel",
    "Data": r"model.createData\(\)",
}


@pytest.mark.jitless
@pytest.mark.parametrize("name", ROUTES)
def test_functions_without_a_cluster_version_name_the_route(name: str) -> None:
    with pytest.raises(NotAvailableError, match=f"no '{name}'.*{ROUTES[name]}"):
        getattr(pc, name)
    assert not hasattr(pc, name)
