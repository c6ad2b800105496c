"""Approximations as robots of their own: the same dynamics as the functions of the ladder, in the same coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from support.messages import raises
from support.scenes import load

import pin_clusters as pc
from pin_clusters import approximations

ROBOTS = ("mit_humanoid", "mini_cheetah", "tello", "cassie_leg", "ankle_2rsu")


@pytest.mark.parametrize("name", ROBOTS)
def test_they_move_as_the_ladder_says(name: str, rng: np.random.Generator) -> None:
    model = load(name)
    q = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    exact = pc.rnea(model, model.createData(), q, v, a)
    for level in set(approximations.names(model)) - {"unconstrained", "frozen"}:
        robot = approximations.robot(model, level)
        assert list(robot.names) == list(model.names)
        assert robot.independent_joints == model.independent_joints
        expected = approximations.of(model)[level].rnea(q, v, a)
        size = np.abs(expected).max()
        np.testing.assert_allclose(pc.rnea(robot, robot.createData(), q, v, a), expected, atol=1e-12 * size)
        if name != "ankle_2rsu":  # whose motors stand on the ground: armature is all that they are
            assert np.abs(expected - exact).max() > 1e-6 * size


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("mini_cheetah", "blocks", "'blocks' 'block'"),
        ("tello", "frozen", "'frozen'"),
        ("delta", "armature", "'delta' 'armature'"),
    ],
)
def test_refusals(name: str, level: str, words: str) -> None:
    with raises(pc.UnknownNameError, words):
        approximations.robot(load(name), level)


def test_armature_of_a_rotor_goes_with_its_spin(rng: np.random.Generator) -> None:
    leg = load("mit_humanoid_leg")
    tree = leg.tree.copy()
    tree.armature = rng.uniform(1e-5, 1e-4, size=tree.nv)
    model = pc.ClusterModel(tree, leg.constraints)
    q = pc.integrate(model, pc.neutral(model), rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    for level in approximations.LEVELS:
        robot = approximations.robot(model, level)
        expected = approximations.of(model)[level].rnea(q, v, a)
        np.testing.assert_allclose(pc.rnea(robot, robot.createData(), q, v, a), expected, atol=1e-11)
