"""The ``branch`` of closed forms says where a model starts; functions of the user may end somewhere."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc

JOINTS = ["crank", "coupler", "rocker"]
PIN = (("coupler", [0.21, 0, 0.2]), ("rocker", [-0.16, 0, 0.3]))


def side_of_pin(tree: pin.Model, q: np.ndarray) -> float:
    """Whether the coupler's end is left (+1) or right of the line from the coupler's joint to the rocker's."""
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    crank, coupler, rocker = (data.oMi[tree.getJointId(name)] for name in JOINTS)
    axis = crank.rotation @ np.array([0.0, 1.0, 0.0])
    end = coupler.act(np.array(PIN[0][1])) - coupler.translation
    return float(np.sign(axis @ np.cross(rocker.translation - coupler.translation, end)))


@pytest.mark.parametrize("branch", [1, -1])
def test_four_bar_starts_on_its_branch(branch: int) -> None:
    tree = pc.load("four_bar").tree
    model = pc.ClusterModel(tree, [pc.FourBar(*JOINTS, PIN, branch=branch)])
    assert side_of_pin(tree, pc.neutral(model)) == branch
    assert np.abs(pc.residual(model, pc.neutral(model))).max() < 1e-13


def test_a_reference_on_the_other_branch_counts_and_is_told() -> None:
    tree = pc.load("four_bar").tree
    here = pc.neutral(pc.ClusterModel(tree, [pc.FourBar(*JOINTS, PIN, branch=1)]))
    with warns(pc.PinClustersWarning, "branch branch=-1"):
        model = pc.ClusterModel(tree, [pc.FourBar(*JOINTS, PIN, branch=-1)], here)
    assert np.allclose(pc.neutral(model), here, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.ClusterModel(tree, [pc.FourBar(*JOINTS, PIN, branch=1)], here)


@functools.cache
def shipped() -> tuple[pin.Model, pin.Data]:
    tree = pc.load("four_bar").tree
    return tree, tree.createData()


def pin_gap(x: np.ndarray) -> np.ndarray:
    """What the pin of the shipped four-bar leaves open in its plane, by Pinocchio's kinematics."""
    tree, data = shipped()
    pin.forwardKinematics(tree, data, x)
    ends = [data.oMi[tree.getJointId(name)].act(np.array(point, dtype=float)) for name, point in PIN]
    return np.array((ends[0] - ends[1])[[0, 2]])


def nan_beyond(x: np.ndarray) -> np.ndarray:
    return pin_gap(x) * (np.nan if x[0] > 0.5 else 1.0)


def error_beyond(x: np.ndarray) -> np.ndarray:
    if x[0] > 0.5:
        raise ValueError("the table ends")
    return pin_gap(x)


@pytest.mark.filterwarnings("ignore:.*slow:pin_clusters.PinClustersWarning")
@pytest.mark.parametrize("phi", [nan_beyond, error_beyond])
def test_functions_that_end_are_used_where_they_are_defined(phi: Any) -> None:
    exact = pc.load("four_bar")
    start = pc.neutral(pc.ClusterModel(exact.tree, [pc.FourBar(*JOINTS, PIN)]))
    exact = pc.ClusterModel(exact.tree, [pc.Loop(*PIN, "revolute", axis=(0, 1, 0))], start, independent=["crank"])
    model = pc.ClusterModel(exact.tree, [pc.Coupling(JOINTS, phi, independent=["crank"])], start)
    v = np.array([0.7])
    q = pc.integrate(exact, start, np.array([0.2]))
    assert np.allclose(pc.integrate(model, start, np.array([0.2])), q, rtol=0.0, atol=1e-12)
    expected = pc.rnea(exact, exact.createData(), q, v, v)
    # phi has no derivatives but differences of differences: 1e-12 of its second ones
    assert np.allclose(pc.rnea(model, model.createData(), q, v, v), expected, rtol=0.0, atol=1e-10)

    beyond = pc.integrate(exact, start, np.array([0.7]))
    with raises(pc.PinClustersError, "'crank'"):
        pc.rnea(model, model.createData(), beyond, v, v)
    with raises(pc.ConfigurationError, "q"):
        pc.project(model, beyond)
    with pytest.raises(pc.BranchLost):
        pc.integrate(model, start, np.array([0.7]))


@pytest.mark.filterwarnings("ignore:.*slow:pin_clusters.PinClustersWarning")
def test_a_function_that_is_nowhere_defined_names_itself() -> None:
    tree = pc.load("four_bar").tree
    nowhere = pc.Coupling(JOINTS, lambda x: np.full(2, math.nan))
    with raises(pc.ConstraintError, "Coupling('crank', 'coupler', 'rocker') phi"):
        pc.ClusterModel(tree, [nowhere])
