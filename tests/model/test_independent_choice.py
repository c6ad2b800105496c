"""Which joints become independent where the model chooses: liked ones first, mirror images alike, bad choices told."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters.model.assembly import choose_independents

LIMIT = 1.5


def legs(
    limited: tuple[str, ...] = (), ground: float = 0.1, crank: float = 0.3, coupler: float = 0.25, rocker: float = 0.3
) -> tuple[pin.Model, list[pc.Loop]]:
    """Two four-bars side by side, ``left_a`` to ``left_c`` and ``right_a`` to ``right_c``; both levers turn fully."""
    tree, loops = pin.Model(), []
    for side, y in (("left", 0.1), ("right", -0.1)):
        for name, parent, x in (("a", "", 0.0), ("b", "a", crank), ("c", "", ground)):
            at = pin.SE3(np.eye(3), np.array([x, 0.0 if parent else y, 0.0]))
            j = tree.addJoint(
                tree.getJointId(f"{side}_{parent}") if parent else 0, pin.JointModelRY(), at, f"{side}_{name}"
            )
            tree.appendBodyToJoint(j, pin.Inertia(0.3, np.array([0.1, 0.0, 0.0]), 1e-3 * np.eye(3)), pin.SE3.Identity())
            if f"{side}_{name}" in limited:
                i = tree.idx_qs[j]
                tree.lowerPositionLimit[i : i + 1], tree.upperPositionLimit[i : i + 1] = -LIMIT, LIMIT
        ends = (f"{side}_b", [coupler, 0.0, 0.0]), (f"{side}_c", [rocker, 0.0, 0.0])
        loops.append(pc.Loop(*ends, "revolute", axis=(0.0, 1.0, 0.0)))
    return tree, loops


def test_preferred_joints_lead_and_survive_copies() -> None:
    tree, loops = legs()
    model = pc.ClusterModel(tree, loops, preferred=["left_c", "right_c"])
    assert model.independent_joints == ("left_c", "right_c")
    again = pickle.loads(pickle.dumps(model))
    assert again.preferred == ("left_c", "right_c")
    assert again.independent_joints == model.independent_joints == model.with_gravity([0, 0, -1.0]).independent_joints
    assert pc.with_independent(model, ["left_a"])[0].independent_joints == ("left_a", "right_c")


def test_joints_with_limits_come_before_others() -> None:
    tree, loops = legs(limited=("left_c", "right_c"))
    assert pc.ClusterModel(tree, loops).independent_joints == ("left_c", "right_c")
    assert pc.ClusterModel(tree, loops, preferred=["left_a"]).independent_joints[0] == "left_a"
    assert pc.ClusterModel(tree, loops, independent=["left_b", "right_b"]).independent_joints == ("left_b", "right_b")


def test_mirror_images_have_the_same_joints() -> None:
    tree, loops = legs(limited=("left_c",))  # nothing speaks for c on the right but the left
    assert pc.ClusterModel(tree, loops).independent_joints == ("left_c", "right_c")
    # another shape is none's mirror image
    both = [loops[0], pc.Rod(("right_b", [0.2, 0.0, 0.0]), ("right_c", [0.3, 0.0, 0.0]), length=0.05)]
    assert "right_c" not in pc.ClusterModel(tree, both).independent_joints[1:2]


def test_a_choice_that_is_much_worse_is_told() -> None:
    # condition 1 for the first two dependent columns, 7 for the last two, 100 for the outer ones
    K = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0 / 7.0]])
    groups = [(0,), (1,), (2,)]
    chosen = choose_independents([K], groups, ranks={0: 3, 1: 0, 2: 3})
    assert chosen is not None
    assert (chosen.columns, chosen.of_best) == ((1,), (2,))
    assert chosen.worst / chosen.best == pytest.approx(7.0)
    assert choose_independents([K], groups).columns == (2,)  # type: ignore[union-attr]
    worse = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0 / 50.0]])
    assert choose_independents([worse], groups, ranks={0: 3, 1: 0, 2: 3}).columns == (2,)  # type: ignore[union-attr]


def test_a_driven_rocker_leads_and_the_warning_names_better_joints() -> None:
    tree, loops = legs(ground=0.45, crank=0.15, coupler=0.4, rocker=0.35)
    with warns(pc.PinClustersWarning, "'left_c' independent"):
        model = pc.ClusterModel(tree, loops[:1], preferred=["left_c"])
    assert "left_c" in model.independent_joints
    tree, loops = legs(("left_c",), ground=0.45, crank=0.15, coupler=0.4, rocker=0.35)
    assert "left_c" not in pc.ClusterModel(tree, loops[:1]).independent_joints  # limits are not worth that much


@pytest.mark.parametrize("given", ["left_a", [1], 3])
def test_preferred_must_be_names(given: object) -> None:
    tree, loops = legs()
    with raises(pc.ArgumentTypeError, "preferred"):
        pc.ClusterModel(tree, loops, preferred=given)  # type: ignore[arg-type]


def test_preferred_must_exist() -> None:
    tree, loops = legs()
    with raises(pc.UnknownNameError, "'nobody'"):
        pc.ClusterModel(tree, loops, preferred=["nobody"])


def test_cassie_gets_knees_shins_and_heel_springs() -> None:
    """Motors and springs, alike on both sides; K_d is then as well conditioned as K, and small steps find their way."""
    model = pc.load("cassie")
    own = [name for name in model.independent_joints if name != model.independent_joints[0]]
    legs = {"hip_roll", "hip_yaw", "hip_pitch", "knee", "shin", "heel_spring", "foot"}
    assert {name.removeprefix("left_") for name in own if name.startswith("left")} == legs
    assert {name.removeprefix("right_") for name in own if name.startswith("right")} == legs
    data = model.createData()
    worst = max(c.K_d for c in pc.condition(model, data, model.q_reference) if "left_knee" in c.cluster)
    assert worst < 6.0
    rng = np.random.default_rng(0)
    for _ in range(40):
        v = rng.uniform(-0.1, 0.1, model.nv)
        assert pc.residual(model, pc.integrate(model, model.q_reference, v)) == pytest.approx(0.0, abs=1e-9)
