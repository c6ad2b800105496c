"""Key frames: close enough for rotations, with scales and colours."""

import itertools

import numpy as np
import pinocchio as pin
import pytest
from support.scenes import load, swinging

import pin_clusters as pc
from pin_clusters import visualize
from pin_clusters.visualize import keyframes

# angles come back from single precision quaternions
SINGLE = 1e-3


def tracks(viz):
    """Return the tracks that the browser gets: (path, property) to times [s] and values."""
    command = viz.viewer.window.commands[-1]
    assert command["type"] == "set_animation"
    found = {}
    for animation in command["animations"]:
        for track in animation["clip"]["tracks"]:
            keys = track["keys"]
            found[animation["path"].removeprefix("/meshcat/"), track["name"]] = (
                np.array([k["time"] for k in keys]) / animation["clip"]["fps"],
                np.array([k["value"] for k in keys]),
            )
    return found


def rotation_angles(quaternions):
    products = np.abs(np.sum(quaternions[:-1] * quaternions[1:], axis=1))
    return 2.0 * np.arccos(np.clip(products, 0.0, 1.0))


@pytest.mark.parametrize(
    ("name", "speed"),
    [
        ("mit_humanoid_leg", 1.0),
        ("mit_humanoid_leg", 12.0),
        pytest.param("tello", 12.0, marks=pytest.mark.long),
        ("mini_cheetah", 4.0),
    ],
)
def test_nothing_turns_by_a_right_angle_between_key_frames(name, speed):
    model = load(name, root_joint=None)
    time, q = swinging(model, n=201)
    viz = visualize.animate(model, time / speed, q)
    found = tracks(viz)
    spins = [key for key in found if key[0].endswith("/spin")]
    assert len(spins) == len(model.rotors)
    for key, (times, values) in found.items():
        assert (np.diff(times) > 0.0).all(), key
        assert times[0] == pytest.approx(0.0)
        assert times[-1] == pytest.approx(time[-1] / speed, abs=1e-6)
        if key[1] == ".quaternion":
            assert rotation_angles(values).max() < np.pi / 2, key
    assert bool(viz.legend().notes) == any(p < 1.0 for p in viz.animate(time / speed, q).parts.values())


def test_rotors_turn_at_their_ratio_between_key_frames():
    model = pc.load("mit_humanoid_leg")
    time, q = swinging(model, n=201)
    viz = visualize.animate(model, time, q)
    found = tracks(viz)
    for r in model.rotors:
        times, values = found[f"pinocchio/rotors/{r.name}/spin", ".quaternion"]
        turned = np.concatenate([[0.0], np.cumsum([
            pin.log3(pin.Quaternion(*a[[3, 0, 1, 2]]).matrix().T @ pin.Quaternion(*b[[3, 0, 1, 2]]).matrix())
            @ (model.tree.jointPlacements[r.joint_id].rotation.T @ r.axis)
            for a, b in itertools.pairwise(values)
        ])])  # fmt: skip
        # by the ratios, from coordinates of the joints; not from the rotor's own coordinate
        own = sum(ratio * q[:, iv] for iv, ratio in r.drivers)
        expected = np.interp(times, time, own - own[0])
        # between samples the key frames follow straight lines
        assert np.abs(turned - expected).max() < 0.02 * max(1.0, np.abs(expected).max())
        assert np.abs(turned).max() > 1.0


def test_a_rotor_that_is_too_fast_is_slowed_down_and_it_is_said():
    time = np.linspace(0.0, 1.0, 1001)
    angle = 500.0 * time  # 80 turns a second
    times, angles, part = keyframes.spin(time, angle)
    assert part == pytest.approx(keyframes.MOST * keyframes.TURN / 500.0)
    assert np.diff(angles).max() < np.pi / 2
    # samples that are farther apart get key frames in between
    assert np.diff(keyframes.spin(time[::100], 60.0 * time[::100])[1]).max() < np.pi / 2
    assert len(times) <= 1.5 * keyframes.MOST
    assert angles[-1] == pytest.approx(part * 500.0)
    model = pc.load("four_bar_change_point")
    arm = pc.ClusterModel(model.tree, [pc.Rotor("crank", 400.0, axial_inertia=1e-5, name="fast")])
    time, q = swinging(arm, amplitude=1.0)
    viz = visualize.animate(arm, time, q)
    assert viz.legend().notes[-1].startswith("fast is drawn at 0.")
    assert "fast is drawn at 0." in viz.static_html()


def test_slow_rotors_have_few_key_frames_and_keep_their_speed():
    time = np.linspace(0.0, 2.0, 2001)
    angle = 3.0 * np.sin(time)
    times, angles, part = keyframes.spin(time, angle)
    assert part == 1.0
    assert len(times) <= 2.0 * keyframes.FRAMES + 2
    np.testing.assert_allclose(angles, 3.0 * np.sin(times), atol=SINGLE)


def test_lengths_and_colours_have_tracks_of_their_own():
    model = pc.load("four_bar")
    time, q = swinging(model, n=61)
    q[:, 1] += 0.05 * np.sin(3.0 * time)  # the loop opens
    viz = visualize.animate(model, time, q)
    found = tracks(viz)
    gap = f"pinocchio/closures/0_{model.closures[0].source.label}/gap"
    times, scales = found[gap, ".scale"]
    data = model.tree.createData()
    c = model.closures[0]
    for t, scale in list(zip(times, scales, strict=True))[:: len(times) // 7]:
        k = int(np.argmin(np.abs(time - t)))
        pin.forwardKinematics(model.tree, data, q[k])
        a = data.oMi[c.joint_a].act(c.placement_a.translation)
        b = data.oMi[c.joint_b].act(c.placement_b.translation)
        assert scale[2] == pytest.approx(max(np.linalg.norm(b - a), 1e-6), rel=1e-5, abs=1e-9)
        assert (scale[:2] == 1.0).all()
    assert (f"{gap}/<object>", ".material.color") in found
    assert ("pinocchio/links/crank", ".scale") not in found  # bodies keep their size
    assert ("pinocchio/links/universe", ".position") not in found  # what stands still has no track


def test_forces_along_a_motion():
    model = pc.load("four_bar")
    time, q = swinging(model, n=61)
    v = np.gradient(q[:, [model.tree.idx_qs[1]]], time, axis=0)
    viz = visualize.animate(model, time, q, v=v, notes=["A note."])
    arrow = f"pinocchio/forces/0_{model.closures[0].source.label}"
    scales = tracks(viz)[arrow, ".scale"][1]
    # the largest is a third as long as the robot
    assert scales[:, 2].max() == pytest.approx(viz.figure.skeleton.size / 3.0, rel=1e-6)
    legend = viz.legend()
    assert "constraint forces" in [text for _, text in legend.entries]
    assert legend.notes == ("A note.",)


def test_a_ghost_that_ends_early_stays():
    model = pc.load("four_bar")
    time, q = swinging(model, n=61)
    viz = visualize.animate(model, time, q, ghost=(time[:31], q[30::-1]), ghost_label="backwards")
    found = tracks(viz)
    times, values = found["pinocchio_ghost/links/crank", ".quaternion"]
    assert times[-1] == pytest.approx(time[-1], abs=1e-6)
    np.testing.assert_array_equal(values[-1], values[-2])
    assert viz.legend().entries[-1][1] == "translucent: backwards"
    # without samples in between the key frames are the samples
    sparse = visualize.animate(model, time[::20], q[::20])
    assert len(tracks(sparse)["pinocchio/links/crank", ".quaternion"][0]) == 4


def test_bodies_that_turn_fast_get_more_key_frames():
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hub")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.01 * np.eye(3)), pin.SE3.Identity())
    time = np.linspace(0.0, 1.0, 1001)
    viz = visualize.animate(pc.ClusterModel(tree), time, 20.0 * np.pi * time[:, None])
    times, values = tracks(viz)["pinocchio/links/hub", ".quaternion"]
    assert rotation_angles(values).max() < np.pi / 2
    # 10 turns of 80 degrees at most: 45 of them; the rate is doubled until it is enough
    assert 45 < len(times) < 70
