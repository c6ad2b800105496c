"""difference leads where it says, or raises BranchLost: loops that turn fully, and joints that follow by ratios."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc

TURN = 2.0 * math.pi
# coefficients of followers: some feel a whole turn of their master, some do not
RATIOS = (0.5, -0.5, 1.0, 2.0, -3.0, 1.0 / 3.0, 0.37, 1.5, 2.0 / 7.0)


def fully_turning(rng: np.random.Generator, follows: bool) -> pc.ClusterModel:
    """A crank-rocker of random lengths, and followers of its joints and of each other, hinges and slides."""
    lengths = np.array([0.15, 0.40, 0.35, 0.45]) * rng.uniform(0.95, 1.05, 4)
    tree = pin.Model()

    def add(name: str, parent: int, x: float, joint: pin.JointModel) -> int:
        j = tree.addJoint(parent, joint, pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
        tree.appendBodyToJoint(j, pin.Inertia(0.5, np.array([0.1, 0.0, 0.0]), 1e-3 * np.eye(3)), pin.SE3.Identity())
        return int(j)

    crank = add("crank", 0, 0.0, pin.JointModelRY())
    add("coupler", crank, lengths[0], pin.JointModelRY())
    add("rocker", 0, lengths[3], pin.JointModelRY())
    masters, couplings = ["coupler", "rocker"], []  # not the crank, whose turns the test takes off
    for i in range(int(rng.integers(1, 4)) if follows else 0):
        slides = rng.random() < 0.2
        add(f"follower{i}", 0, 0.9 + 0.1 * i, pin.JointModelPX() if slides else pin.JointModelRY())
        chosen = rng.choice(masters, size=int(rng.integers(1, 3)), replace=False)
        couplings.append(pc.LinearCoupling(f"follower{i}", {str(m): float(rng.choice(RATIOS)) for m in chosen}))
        if not slides:
            masters.append(f"follower{i}")
    ends = ("coupler", [lengths[1], 0.0, 0.0]), ("rocker", [lengths[2], 0.0, 0.0])
    return pc.ClusterModel(tree, [pc.Loop(*ends, "revolute", axis=(0, 1, 0)), *couplings], independent=["crank"])


def apart(model: pc.ClusterModel, q0: np.ndarray, q1: np.ndarray) -> float:
    """How far the robot's bodies are apart: their poses, which no count of turns is in."""
    poses = []
    for q in (q0, q1):
        data = model.tree.createData()
        pin.forwardKinematics(model.tree, data, q)
        poses.append([np.array(x.homogeneous) for x in data.oMi])
    return float(max(np.abs(a - b).max() for a, b in zip(*poses, strict=True)))


@pytest.mark.parametrize("follows", [True, False])
def test_difference_leads_where_it_says_or_raises(rng: np.random.Generator, follows: bool) -> None:
    found, lost = 0, 0
    for _ in range(20):
        model = fully_turning(rng, follows)
        q0 = pc.integrate(model, pc.neutral(model), rng.uniform(-3.0, 3.0, 1))
        for turns, back in itertools.product((0, 1, 2), (0, 1, 2)):
            q1 = pc.integrate(model, q0, [0.3])
            for _ in range(8 * turns):
                q1 = pc.integrate(model, q1, [math.pi / 4])
            q1[0] -= TURN * back
            # the crank's way leads elsewhere: refused
            if apart(model, pc.integrate(model, q0, q1[:1] - q0[:1]), q1) > 1e-6:
                with raises(pc.BranchLost, "'crank' 'coupler' 'rocker'"):
                    pc.difference(model, q0, q1)
                lost += 1
                continue
            v = pc.difference(model, q0, q1)
            found += 1
            reached = pc.integrate(model, q0, v)
            assert abs(reached[0] - q1[0]) < 1e-9
            assert apart(model, reached, q1) < 1e-9
    assert found
    assert bool(lost) == follows


def test_turns_are_counted_where_a_follower_feels_them() -> None:
    """Half a turn of the follower for a turn of the coupler: as many branches as the follower has places."""
    tree = pin.Model()
    for name, parent, at in (
        ("crank", 0, (0.0, 0.0)), ("coupler", 1, (0.15, 0.0)), ("rocker", 0, (0.45, 0.0)), ("follower", 0, (0.9, 0.2)),
    ):  # fmt: skip
        tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([*at, 0.0])), name)
    for j in range(1, 5):
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    ends = ("coupler", [0.40, 0.0, 0.0]), ("rocker", [0.35, 0.0, 0.0])
    loop = pc.FourBar("crank", "coupler", "rocker", ends)
    model = pc.ClusterModel(tree, [loop, pc.LinearCoupling("follower", {"coupler": 0.5})])
    start = q1 = pc.neutral(model)
    for _ in range(8):
        q1 = pc.integrate(model, q1, [math.pi / 4])
    assert pc.difference(model, start, q1) == pytest.approx(TURN)
    q2 = q1.copy()
    q2[0] -= TURN
    for _ in range(2):  # the second time from machine code
        for a, b in ((start, q2), (q2, start), (q1, q2)):
            with raises(pc.BranchLost):
                pc.difference(model, a, b)
    for _ in range(8):
        q1 = pc.integrate(model, q1, [math.pi / 4])
    q1[0] -= 2.0 * TURN  # the follower has turned fully
    assert pc.difference(model, start, q1) == pytest.approx(0.0, abs=1e-9)
