"""``studies.motions``, ``drops`` and ``composition`` from Python, as the commands use them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.studies import composition, drops, motions

pytest.importorskip("meshcat")


def block() -> pc.ClusterModel:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(1, pin.Inertia.FromBox(2.0, 0.2, 0.2, 0.2), pin.SE3.Identity())
    return pc.ClusterModel(tree, name="block")


CORNERS = [[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]


@pytest.mark.ci
def test_a_drop_lands_after_free_fall_and_is_shown() -> None:
    model = block()
    feet = drops.touching_points(model, [("ba*", CORNERS)])
    drop = drops.Drop.of(model, ground=pc.Ground(), touching=feet, drop=0.05, duration=0.12)
    assert drop.q0[2] == pytest.approx(0.15)
    found, notes = drop.run()
    assert found.touchdowns[0].time == pytest.approx(np.sqrt(2.0 * 0.05 / 9.81), abs=2e-3)
    # all of the momentum of the fall is taken in the first step
    assert drops.landing_impulse(found) == pytest.approx(2.0 * 9.81 * found.touchdowns[0].time, rel=0.05)
    with drop.viewer() as viewer:
        viewer.initViewer(viewer=pc.visualize.offline(), loadModel=True)
        assert drop.animate(viewer, found, notes=notes).notes[0] == "Dropped from 0.05 m."


def test_a_drop_needs_a_ground() -> None:
    model = block()
    assert drops.floats(model)
    assert drops.limbs(model) == ["base"]
    with raises(pc.ModelError, "drop touching ground"):
        drops.Drop.of(model, drop=0.1)
    with raises(pc.UnknownNameError, "touching 'leg'"):
        drops.touching_points(model, [("leg", CORNERS)])


def test_a_pose_closes_the_loops() -> None:
    model = pc.load("four_bar")
    q = drops.posed(model, [("cr*", 0.5)])
    assert q[0] == pytest.approx(0.5)
    assert np.abs(pc.residual(model, q)).max() < 1e-9
    with raises(pc.UnknownNameError, "pose 'knee'"):
        drops.posed(model, [("knee", 1.0)])


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "kangaroo_leg"])
def test_rotors_turn_as_the_composition_says(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    q, v = model.q_reference, rng.normal(size=model.nv)
    data = model.createData()
    whole = pc.spanning_velocity(model, data, q, v) if model.closures else v
    at = {n: model.tree.joints[model.tree.getJointId(n)].idx_v for n in model.tree.names} if model.closures else {}
    speeds = composition.rotor_speeds(model)
    found = [sum(f * whole[at.get(j, -1) if at else model.joint_idx_v(j)] for j, f in speeds[r.name].items())
             for r in model.motors]  # fmt: skip
    np.testing.assert_allclose(found, pc.rotor_velocity(model, data, q, v), rtol=1e-12, atol=1e-12)


def test_loops_and_the_reference_pose() -> None:
    model = pc.load("four_bar")
    (loop,) = composition.closed_loops(model)
    assert (loop.cluster, loop.closed_by) == (0, tuple(str(c.label) for c in model.constraints))
    assert loop.stated >= loop.solved == model.tree.nv - model.nv
    assert loop.condition == pc.condition(model, model.createData(), model.q_reference)[0].K_d
    pose = composition.reference_pose(model)
    np.testing.assert_array_equal(np.concatenate(list(pose.values())), model.q_reference)


def test_armature_of_the_file_is_without_rotors() -> None:
    tree = pin.buildSampleModelManipulator()
    tree.armature[1] = 0.3
    assert {name: a.tolist() for name, a in composition.file_armature(pc.ClusterModel(tree)).items()} == {
        "shoulder2_joint": [0.3]
    }


def test_a_ghost_needs_torques_and_a_known_approximation() -> None:
    model = pc.load("four_bar")
    poses = motions.random_poses(model, 1.0)
    with raises(pc.ModelError):
        motions.ghost(model, poses, "frozen")
    with raises(pc.UnknownNameError, "'four_bar' 'nope' 'frozen'"):
        motions.ghost(model, poses, "nope")
