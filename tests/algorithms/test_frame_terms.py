"""``computeAllTerms`` with frames: arrays that are made once, calls in machine code, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.fast import needed, no_python_calls, python
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
FRAMES = ["FL_foot", "HR_foot", "trunk"]
ARRAYS = tuple(name for name in pc.FrameTerms.__slots__ if name[0] != "_" and name not in ("frames", "reference_frame"))


def given(name: str = "mini_cheetah") -> tuple[pc.ClusterModel, pc.ClusterData, np.ndarray, np.ndarray]:
    model = pc.load(name)
    q = pc.integrate(model, pc.neutral(model), 0.1 * np.cos(np.arange(model.nv)))
    return model, model.createData(), q, np.sin(1.0 + np.arange(model.nv))


def test_arrays_stay_and_all_of_them_are_written() -> None:
    model, data, q, v = given()
    fresh = pc.computeAllTerms(model, data, q, v, frames=FRAMES, reference_frame=pin.WORLD)
    assert fresh is not None
    assert fresh.frames == tuple(map(model.getFrameId, FRAMES))
    assert fresh.reference_frame == pin.WORLD
    terms = pc.FrameTerms(model, FRAMES, pin.WORLD)
    kept = {name: getattr(terms, name) for name in ARRAYS}
    for _ in range(2):
        terms._block[:] = np.nan
        assert pc.computeAllTerms(model, data, q, v, out=terms) is terms
        for name, array in kept.items():
            assert getattr(terms, name) is array
            assert np.shares_memory(array, terms._block)
            assert np.array_equal(array, getattr(fresh, name)), name
    assert terms.J.shape == (3, 6, model.nv)
    assert terms.oMf.shape == (3, 4, 4)
    assert pool.error(terms.J @ v, terms.velocity) < 1e-13


def test_the_default_is_the_local_frame() -> None:
    model, data, q, v = given()
    terms = pc.computeAllTerms(model, data, q, v, frames=FRAMES)
    assert terms is not None
    assert terms.reference_frame == pin.LOCAL
    assert pool.error(terms.J[0], pc.computeFrameJacobian(model, data, q, terms.frames[0], pin.LOCAL)) < 1e-14


@needed
@pytest.mark.parametrize("engine", pool.some(["traced", "tables"], ["tables"], rest="ci"))
@pytest.mark.parametrize("name", ["mini_cheetah", "tello"])
def test_the_usual_call_is_machine_code(name: str, engine: str) -> None:
    model, _, q, v = given(name)
    with pc.engine(engine):
        data, slow = model.createData(), model.createData()
    terms, other = (pc.FrameTerms(model, list(range(0, model.nframes, 5))) for _ in range(2))
    pc.computeAllTerms(model, data, q, v, out=terms)
    terms._block[:] = np.nan
    with no_python_calls():
        pc.computeAllTerms(model, data, q, v, out=terms)
    python("computeAllTerms")(model, slow, q, v, out=other)
    for array in ARRAYS:
        assert np.array_equal(getattr(terms, array), getattr(other, array)), array
    for field in ("M", "nle", "g", "J", "Jcom", "Ag", "kinetic_energy", "potential_energy", "mechanical_energy"):
        assert np.array_equal(getattr(data, field), getattr(slow, field)), field


def test_data_has_drifts_of_joints_and_of_the_momentum() -> None:
    model, data, q, v = given("tello")
    pc.computeAllTerms(model, data, q, v, frames=[1])
    other = model.createData()
    rate = pc.computeCentroidalMomentumTimeVariation(model, other, q, v, np.zeros(model.nv))
    assert pool.error(data.dhg.vector, rate.vector) < 1e-12
    pc.forwardKinematics(model, other, q, v, np.zeros(model.nv))
    assert pool.error([a.vector for a in data.a], [a.vector for a in other.a]) < 1e-12


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
def test_copies_have_arrays_of_their_own(again: Any) -> None:
    model, data, q, v = given("four_bar")
    terms = pc.computeAllTerms(model, data, q, v, frames=[1, 2], reference_frame=pin.WORLD)
    assert terms is not None
    other = again(terms)
    assert other.frames == terms.frames
    assert other.reference_frame == pin.WORLD
    assert np.array_equal(other._block, terms._block)
    assert not np.shares_memory(other._block, terms._block)
    pc.computeAllTerms(other._model, other._model.createData(), q, 2.0 * v, out=other)
    assert pool.error(other.J @ (2.0 * v), 2.0 * terms.velocity) < 1e-13


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"frames": ["FL_fot"]}, pc.UnknownNameError, "'FL_fot' 'FL_foot'"),
    ({"frames": [10**6]}, pc.UnknownNameError, "frame_id 1000000"),
    ({"frames": [-1]}, pc.UnknownNameError, "frame_id -1"),
    ({"frames": "FL_foot"}, pc.ArgumentTypeError, "frames"),
    ({"frames": []}, pc.ArgumentTypeError, "frames"),
    ({"frames": ["FL_foot", "FL_foot"]}, pc.ArgumentTypeError, "'FL_foot' FL_foot"),
    ({"frames": [1.5]}, pc.ArgumentTypeError, "frame_id 1.5"),
    ({"frames": [1], "reference_frame": 1}, pc.ArgumentTypeError, "reference_frame pin.LOCAL"),
    ({"reference_frame": pin.WORLD}, pc.ArgumentTypeError, "reference_frame"),
    ({"out": np.zeros((3, 6, 18))}, pc.ArgumentTypeError, "out pc.FrameTerms ndarray"),
]


@pytest.mark.parametrize(("options", "error", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_is_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    model, data, q, v = given()
    with raises(error, words):
        pc.computeAllTerms(model, data, q, v, **options)


def test_out_is_of_one_model_and_set_of_frames() -> None:
    model, data, q, v = given()
    terms, other = pc.FrameTerms(model, [1]), pc.load("mini_cheetah")
    for options in ({"frames": [1]}, {"reference_frame": pin.LOCAL}):
        with raises(pc.ArgumentTypeError, "reference_frame"):
            pc.computeAllTerms(model, data, q, v, out=terms, **options)
    with raises(pc.DataMismatchError, "pc.FrameTerms"):
        pc.computeAllTerms(other, other.createData(), q, v, out=terms)
    with raises(pc.DataMismatchError, "model.createData data.model"):
        pc.computeAllTerms(model, other.createData(), q, v, out=terms)
    with raises(pc.ArgumentTypeError, "pc.ClusterModel"):
        pc.FrameTerms(model.tree, [1])


def test_states_are_checked_and_apart_from_out() -> None:
    model, data, q, v = given()
    terms = pc.FrameTerms(model, [1])
    for _ in range(2):  # then in machine code
        for bad in ((q[:-1], v), (q, v[:-1])):
            with raises(pc.ShapeError, "'mini_cheetah'"):
                pc.computeAllTerms(model, data, *bad, out=terms)
        for array in (terms.nle, terms.M[1], terms.J[0, 2]):
            with raises(pc.ArgumentTypeError, "q v"):
                pc.computeAllTerms(model, data, q, array, out=terms)
        pc.computeAllTerms(model, data, q, v, out=terms)
    expected = terms.classical_drift.copy()
    data.nle[:] = v
    pc.computeAllTerms(model, data, q, data.nle, out=terms)
    assert np.array_equal(terms.classical_drift, expected)


@pytest.mark.parametrize("engine", ["traced", "tables"])
def test_nan_is_seen_where_it_goes(engine: str) -> None:
    model, _, q, v = given("four_bar" if engine == "tables" else "mini_cheetah")
    with pc.engine(engine):
        data = model.createData()
    terms = pc.FrameTerms(model, [model.nframes - 1])
    pc.computeAllTerms(model, data, q, v, out=terms)
    pc.computeAllTerms(model, data, np.full(model.nq, np.nan), v, out=terms)
    assert np.isnan(terms.M).any()
    assert np.isnan(terms.J).any()
    pc.computeAllTerms(model, data, q, np.full(model.nv, np.nan), out=terms)
    assert np.isfinite(terms.M).all()
    assert np.isnan(terms.classical_drift).any()


def test_a_singular_pose_is_named() -> None:
    model = pc.load("four_bar_change_point")
    with raises(pc.SingularClusterError, "'crank' 'coupler' 'rocker'"):
        pc.computeAllTerms(model, model.createData(), np.zeros(model.nq), np.ones(model.nv), frames=[1])
