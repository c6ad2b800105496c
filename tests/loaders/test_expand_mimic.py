"""Pinocchio's mimic joints as couplings: the same motion, forces and frames."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises
from support.urdf_text import INERTIAL, coupling_matrix, joint, link, robot

from pin_clusters.constraints import LinearCoupling
from pin_clusters.errors import ArgumentTypeError, UnsupportedJointError
from pin_clusters.files.readers.mimic import expand_mimic

LIMITS = '<limit lower="-1" upper="2" effort="4" velocity="5"/>'


def mimicking(kind: str, axis: str = "0.6 0.8 0") -> pin.Model:
    text = robot(
        link("ground", ""), link("a"), link("b"), link("c"), link("d"), link("tip", INERTIAL),
        joint("ja", "ground", "a", kind, limit=LIMITS),
        joint("jb", "a", "b", kind, axis, LIMITS, '<mimic joint="ja" multiplier="-2" offset="0.3"/>'),
        joint("jc", "b", "c", kind, "0 1 0", LIMITS, '<mimic joint="ja" multiplier="3"/>'),
        joint("jd", "c", "d", "revolute"),
        joint("weld", "d", "tip", "fixed", None, ""),
    )  # fmt: skip
    return pin.buildModelFromXML(text, mimic=True)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize("axis", ["1 0 0", "0 0 -1", "0.6 0.8 0"])
def test_same_dynamics_and_frames(kind, axis):
    model = mimicking(kind, axis)
    tree, couplings = expand_mimic(model)
    assert couplings == (LinearCoupling("jb", {"ja": -2.0}, 0.3), LinearCoupling("jc", {"ja": 3.0}, 0.0))
    assert tree.nv == 4
    assert [tree.joints[j].nv for j in range(1, 5)] == [1, 1, 1, 1]
    G = coupling_matrix(tree, couplings)
    rng = np.random.default_rng(1)
    data, tree_data = model.createData(), tree.createData()
    for _ in range(5):
        x, y = rng.uniform(-1.0, 1.0, 2)
        angles = [x, -2.0 * x + 0.3, 3.0 * x]
        pair = [[math.cos(t), math.sin(t)] if kind == "continuous" else [t] for t in angles]
        q, full = np.array([*pair[0], y]), np.array([*pair[0], *pair[1], *pair[2], y])
        v, a = rng.normal(size=(2, 2))
        tau = pin.rnea(model, data, q, v, a)
        np.testing.assert_allclose(G.T @ pin.rnea(tree, tree_data, full, G @ v, G @ a), tau, rtol=1e-12, atol=1e-12)
        pin.framesForwardKinematics(model, data, q)
        pin.framesForwardKinematics(tree, tree_data, full)
        for mine, theirs in zip(tree_data.oMf, data.oMf, strict=True):
            np.testing.assert_allclose(mine.homogeneous, theirs.homogeneous, rtol=0.0, atol=1e-14)


def test_what_is_kept():
    model = mimicking("revolute")
    model.armature[:] = [0.5, 0.25]
    model.gravity.linear = np.array([1.0, 2.0, 3.0])
    model.referenceConfigurations["bent"] = np.array([0.5, -0.25])
    tree, _ = expand_mimic(model)
    assert tree.name == model.name
    assert list(tree.names) == list(model.names)
    assert list(tree.parents) == list(model.parents)
    assert list(tree.inertias) == list(model.inertias)
    assert list(tree.jointPlacements) == list(model.jointPlacements)
    assert list(tree.frames) == list(model.frames)
    assert tree.gravity == model.gravity
    np.testing.assert_array_equal(tree.armature, [0.5, 0.0, 0.0, 0.25])
    np.testing.assert_allclose(tree.lowerPositionLimit, [-1.0, -3.7, -3.0, -2.0])
    np.testing.assert_allclose(tree.upperPositionLimit, [2.0, 2.3, 6.0, 3.0])
    np.testing.assert_allclose(tree.velocityLimit, [5.0, 10.0, 15.0, 5.0])
    np.testing.assert_allclose(tree.referenceConfigurations["bent"], [0.5, -0.7, 1.5, -0.25])
    assert model.nv == 2  # untouched


def test_without_mimic_joints_nothing_changes():
    model = pin.buildSampleModelManipulator()
    tree, couplings = expand_mimic(model)
    assert couplings == ()
    assert tree == model


def test_unlimited_stays_unlimited():
    model = mimicking("revolute")
    big = np.finfo(float).max
    model.lowerPositionLimit[0], model.upperPositionLimit[0] = -big, big
    model.velocityLimit[0] = big
    tree, _ = expand_mimic(model)
    np.testing.assert_array_equal(tree.upperPositionLimit[:3], big)
    np.testing.assert_array_equal(tree.lowerPositionLimit[:3], -big)
    np.testing.assert_array_equal(tree.velocityLimit[:3], big)


def test_bad_arguments():
    with raises(ArgumentTypeError, "pinocchio.Model"):
        expand_mimic("robot")
    text = robot(
        link("ground", ""), link("a"), link("b"), joint("ja", "ground", "a"),
        joint("jb", "a", "b", inside='<mimic joint="ja" multiplier="0"/>'),
    )  # fmt: skip
    with raises(UnsupportedJointError, "'jb' 0"):
        expand_mimic(pin.buildModelFromXML(text, mimic=True))
