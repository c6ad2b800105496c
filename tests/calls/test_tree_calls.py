"""Fast calls of kinematics, Jacobians and momentum: their results, and the errors of the Python functions."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.fast import needed, no_python_calls, python
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
CALLS: dict[str, str] = {
    "forwardKinematics": "qva",
    "updateFramePlacements": "",
    "centerOfMass": "qva",
    "jacobianCenterOfMass": "q",
    "computeJointJacobians": "q",
    "computeJointJacobiansTimeVariation": "qv",
    "getJointJacobian": "jr",
    "getFrameJacobian": "fr",
    "getJointJacobianTimeVariation": "jr",
    "getFrameJacobianTimeVariation": "fr",
    "computeJointJacobian": "qj",
    "computeFrameJacobian": "qfr",
    "computeCentroidalMap": "q",
    "computeCentroidalMomentum": "qv",
    "ccrba": "qv",
    "computeCentroidalMomentumTimeVariation": "qva",
    "computeAllTerms": "qv",
}
ROBOTS = ("mini_cheetah", "tello", "four_bar")


class Usual:
    """A robot and the usual arguments."""

    def __init__(self, name: str) -> None:
        self.model = pc.load(name)
        self.data = self.model.createData()
        pin.seed(0)
        q, v, a = pc.randomConfiguration(self.model), np.ones(self.model.nv), np.arange(1.0, 1.0 + self.model.nv)
        joint, frame = self.model.njoints - 1, self.model.nframes - 1
        self.values = {"q": q, "v": v, "a": a, "j": joint, "f": frame, "r": pin.LOCAL_WORLD_ALIGNED}
        pc.computeJointJacobiansTimeVariation(self.model, self.data, q, v)
        for call in CALLS:
            self(call)

    def __call__(self, name: str, change: Callable[[Any], Any] = lambda x: x, function: Any = None) -> Any:
        given = [change(self.values[x]) for x in CALLS[name]]
        return (function or getattr(pc, name))(self.model, self.data, *given)


def numbers(x: Any) -> np.ndarray:
    return np.array(0.0 if x is None else getattr(x, "vector", x))


@needed
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_usual_call_is_fast_and_the_same(robot: str) -> None:
    usual = Usual(robot)
    with no_python_calls():
        fast = {name: numbers(usual(name)) for name in CALLS}
        listed = {name: numbers(usual(name, as_list)) for name in CALLS}
    exact = {name: numbers(usual(name, function=python(name))) for name in CALLS}
    for name, x in fast.items():
        assert np.array_equal(x, listed[name]), name
        assert np.array_equal(x, exact[name]), name


def as_list(x: Any) -> Any:
    return x.tolist() if isinstance(x, np.ndarray) else x


@needed
def test_results_are_fresh() -> None:
    usual = Usual("mini_cheetah")
    for name in CALLS:
        x, y = usual(name), usual(name)
        if isinstance(x, np.ndarray):
            assert x is not y
            assert not np.may_share_memory(x, y)
            assert x.flags.owndata
            assert x.flags.writeable


@needed
def test_frames_are_placed_in_the_tree_s_data_of_now() -> None:
    """Also where it was replaced, and beside data of another model."""
    usual, other = Usual("tello"), Usual("four_bar")
    model, data = usual.model, usual.data
    for _ in range(3):
        data.tree = model.own_tree.createData()
        q = pc.randomConfiguration(model)
        pc.forwardKinematics(model, data, q)
        gc.collect()
        pc.updateFramePlacements(model, data)  # makes the plans of the new tree
        with no_python_calls():
            pc.updateFramePlacements(model, data)
        there = model.tree.createData()
        pin.framesForwardKinematics(model.tree, there, q)
        for found, wanted in zip(data.tree.oMf, there.oMf, strict=True):
            assert np.abs(found.homogeneous - wanted.homogeneous).max() < 1e-14
    for wrong in ((other.model, data), (model, data.tree), (model,), (model, data, 1)):
        with pytest.raises((pc.PinClustersError, TypeError)):
            pc.updateFramePlacements(*wrong)


@pytest.mark.ci
@needed
def test_no_reference_is_lost_or_kept() -> None:
    usual = Usual("mini_cheetah")
    model, data, values = usual.model, usual.data, usual.values
    # True and None are immortal in some versions: their counts say nothing there, and are not hurt elsewhere
    things = (
        model,
        data,
        *(x for x in values.values() if type(x) is not int),
        pc.getFrameJacobian,
        True,
        None,
        pin.LOCAL,
    )
    gc.collect()
    before, blocks = [sys.getrefcount(x) for x in things], sys.getallocatedblocks()
    for _ in range(2000):
        for name in ("forwardKinematics", "computeJointJacobians", "getFrameJacobian", "updateFramePlacements"):
            usual(name)
    for _ in range(20):
        for wrong in (10**30, -1, model.nframes, True, 1.0, "x"):
            with pytest.raises(pc.PinClustersError):
                pc.getFrameJacobian(model, data, wrong, pin.LOCAL)
    after = [sys.getrefcount(x) for x in things]
    assert np.abs(np.array(after) - before).max() < 50, (before, after)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 2000  # of 6,000 results none stays


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((-1, pin.LOCAL), pc.UnknownNameError, "frame_id -1"),
        ((10**30, pin.LOCAL), pc.UnknownNameError, "frame_id"),
        ((True, pin.LOCAL), pc.ArgumentTypeError, "frame_id"),
        ((1.0, pin.LOCAL), pc.ArgumentTypeError, "frame_id"),
        ((1, 1), pc.ArgumentTypeError, "reference_frame"),
        ((1, None), pc.ArgumentTypeError, "reference_frame"),
    ],
)
def test_errors_are_python_s(given: tuple[Any, ...], error: type[Exception], words: str) -> None:
    usual = Usual("mini_cheetah")
    model, data, q = usual.model, usual.data, usual.values["q"]
    for function, arguments in ((pc.getFrameJacobian, given), (pc.computeFrameJacobian, (q, *given))):
        with raises(error, words):
            function(model, data, *arguments)
    with raises(pc.UnknownNameError, f"joint_id {model.njoints}"):
        # the next place is a frame's
        pc.getJointJacobian(model, data, model.njoints, pin.LOCAL)


def test_what_is_missing_is_an_error_not_a_result() -> None:
    usual = Usual("mini_cheetah")
    model, data, q, v = usual.model, usual.data, usual.values["q"], usual.values["v"]
    for call in (
        lambda: pc.computeFrameJacobian(model, data, None, 1),
        lambda: pc.computeJointJacobian(model, data, None, 1),
        lambda: pc.computeCentroidalMomentum(model, data, q, None),
        lambda: pc.ccrba(model, data, q, None),
        lambda: pc.computeCentroidalMomentumTimeVariation(model, data, q, v, None),
        lambda: pc.computeJointJacobiansTimeVariation(model, data, q, None),
        lambda: pc.computeAllTerms(model, data, q, None),
        lambda: pc.forwardKinematics(model, data, q, None, v),
        lambda: pc.centerOfMass(model, data, None, v),
    ):
        with pytest.raises(pc.PinClustersError):
            call()


@needed
@pytest.mark.long
def test_without_loops_their_kernel_is_not_compiled(tmp_path: Path) -> None:
    """It takes many seconds."""
    code = """
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.ClusterModel(pin.buildSampleModelManipulator())
data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
pc.computeFrameJacobian(model, data, q, 1), pc.computeJointJacobiansTimeVariation(model, data, q, v)
pc.getFrameJacobian(model, data, 1, pin.LOCAL), pc.forwardKinematics(model, data, q)
"""
    environment = os.environ | {"PIN_CLUSTERS_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-Pc", code], env=environment, capture_output=True, text=True, check=True)
    said = {line.partition(": compiling ")[2].partition(" for ")[0].partition(" ...")[0]
            for line in done.stderr.splitlines()}  # fmt: skip
    assert said - {""} == {"Jacobians of frames", "kinematics and momentum of the tree"}


@needed
def test_checks_are_python_s() -> None:
    usual = Usual("mini_cheetah")
    usual.data.check = True
    off = usual.values["q"].copy()
    off[7:] += 0.1 * np.arange(off.size - 7)
    for name in ("forwardKinematics", "computeJointJacobians", "ccrba", "computeFrameJacobian"):
        given = [off if x == "q" else usual.values[x] for x in CALLS[name]]
        with pytest.raises(pc.ConfigurationError):
            getattr(pc, name)(usual.model, usual.data, *given)
