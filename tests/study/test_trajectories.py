"""Motions of the study: their derivatives, what they hold, poses, bases, the numbers of the paper."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.figure import Figure
from samples import pool
from support.messages import raises, warns
from support.studies import check_derivatives, load, pendulum

import pin_clusters as pc
from pin_clusters.studies import study
from pin_clusters.studies.study import plots, report, trajectories
from pin_clusters.studies.study.trajectories import Chirp, MinimumJerk, Sine, Swing, TrajectoryError

WAVES = (Sine(0.3, 1.0, 1.0, 1e-3), Chirp(0.2, 0.5, 2.0, 1.0, 1e-3), Swing(0.3, 1.0, 1e-3))
POSES = MinimumJerk(["neutral", {"knee": 1.2, "hip_ry": -0.6}, {"ankle": 0.3}, "neutral"], 2.0, dt=1e-3)


@pytest.fixture(scope="module")
def leg() -> pc.ClusterModel:
    return load("mit_humanoid_leg")


@pytest.mark.parametrize("wave", WAVES, ids=lambda w: type(w).__name__)
def test_waves_are_smooth_and_joints_of_a_cluster_apart(leg: pc.ClusterModel, wave: trajectories.Wave) -> None:
    check_derivatives(leg, wave, slice(None, None, 7))
    time, q, _, _ = wave.states(leg)
    assert np.array_equal(time, np.arange(1000) * 1e-3)
    columns = [leg.tree.joints[leg.tree.getJointId(n)].idx_q for n in leg.independent_joints]
    assert np.array_equal(q[:, columns[:4]], np.tile(q[:, columns[:1]], (1, 4)))
    assert np.abs(q[:, columns[0]]).max() == pytest.approx(wave.amplitude, rel=1e-2)
    # knee and ankle share a rotor, so that the ankle is a quarter of a period ahead
    apart = wave.wave(0.0 if isinstance(wave, Swing) else 0.5 * np.pi)[0]
    assert np.array_equal(q[:, columns[4]], apart)


@pytest.mark.parametrize("wave", [Sine(0.2, dt=0.01), Chirp(0.2, 1.5, 1.5, dt=0.01)], ids=["sine", "chirp"])
def test_any_two_joints_of_a_cluster_go_together_and_oppose_each_other(wave: trajectories.Wave) -> None:
    model = pc.load("delta")
    q = [wave.wave(phase)[0] for phase in wave.phases(model).values()]
    assert len(q) == 3
    for i, k in ((0, 1), (1, 2), (0, 2)):
        assert np.ptp(q[i] - q[k]) > 0.9 * wave.amplitude
        assert np.ptp(q[i] + q[k]) > 0.9 * wave.amplitude
    alike = replace(wave, in_phase=True)
    assert set(alike.phases(model).values()) == {0.0}
    assert set(wave.phases(load("four_bar")).values()) == {0.0}


def test_chirp_goes_from_one_frequency_to_the_other() -> None:
    chirp = Chirp(1.0, 0.5, 4.0, 2.0, 1e-4)
    offset, rate, _ = chirp.wave()
    # of sin(p(t)) the rate where the offset is zero is p'
    crossings = np.flatnonzero(np.diff(np.sign(offset)) != 0)
    found = np.abs(rate[crossings]) / (2.0 * np.pi)
    assert found == pytest.approx(0.5 + 3.5 * chirp.time[crossings] / 2.0, abs=2e-3)
    assert rate[0] == pytest.approx(2.0 * np.pi * 0.5)


def test_swing_rests_at_its_ends() -> None:
    offset, rate, acceleration = Swing(0.4, 2.0, 1e-3).wave()
    for t, value in ((0, 0.0), (500, 0.4), (1500, -0.4)):
        assert offset[t] == pytest.approx(value, abs=1e-12)
        assert abs(rate[t]) < 1e-12
        assert abs(acceleration[t]) < 1e-9


def test_minimum_jerk_of_two_poses_is_the_known_polynomial(leg: pc.ClusterModel) -> None:
    motion = MinimumJerk(["neutral", {"knee": 1.5}], 2.0, dt=0.01)
    time, q, _, _ = motion.states(leg)
    s = time / 2.0
    knee = leg.tree.joints[leg.tree.getJointId("knee")].idx_q
    assert q[:, knee] == pytest.approx(1.5 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5), abs=1e-13)


def test_minimum_jerk_passes_its_poses(leg: pc.ClusterModel) -> None:
    check_derivatives(leg, POSES, slice(None, None, 13))
    curve = trajectories.minimum_jerk.spline([0.0, 1.0, 3.0, 4.0], [[0.0], [1.0], [-1.0], [0.0]], rest=False)
    assert curve([0.0, 1.0, 3.0, 4.0]).ravel() == pytest.approx([0.0, 1.0, -1.0, 0.0], abs=1e-13)
    for order in (1, 2):
        assert np.abs(curve([0.0, 4.0], order)).max() < 1e-10
    for order in (1, 2, 3, 4):  # continuous through the points between
        below, above = curve([1.0 - 1e-9, 1.0 + 1e-9], order).ravel()
        assert below == pytest.approx(above, abs=1e-5)
    # any other curve through the points, at rest at the ends, has more jerk
    t = np.linspace(0.0, 4.0, 4001)
    bumped = t**3 * (t - 1.0) ** 3 * (t - 3.0) ** 3 * (t - 4.0) ** 3
    third = np.gradient(np.gradient(np.gradient(bumped, t), t), t)
    jerk = curve(t, 3).ravel()
    for scale in (1e-4, -1e-4):
        assert np.sum((jerk + scale * third) ** 2) > np.sum(jerk**2)


def test_poses_by_name_keep_what_they_do_not_say(leg: pc.ClusterModel) -> None:
    time, q, v, _ = MinimumJerk([{"knee": 0.5}, {"hip_ry": -0.4}, "reference"], 1.0, rest=True, dt=0.05).states(leg)
    knee, hip = (leg.tree.joints[leg.tree.getJointId(n)].idx_q for n in ("knee", "hip_ry"))
    assert q[0, [knee, hip]] == pytest.approx([0.5, 0.0])
    assert q[10, [knee, hip]] == pytest.approx([0.5, -0.4])
    assert np.abs(v[10]).max() < 1e-12
    assert time[-1] == pytest.approx(0.95)


def test_poses_of_an_srdf_file_are_known() -> None:
    model = pendulum(pin.JointModelRY())
    tree = model.tree.copy()
    tree.referenceConfigurations["up"] = np.array([3.0])
    named = pc.ClusterModel(tree, [pc.Rotor("joint", 6.0, axial_inertia=1e-3)])
    _, q, _, _ = MinimumJerk(["up", "neutral"], 1.0, dt=0.1).states(named)
    assert q[0, 0] == 3.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MinimumJerk(["neutral"]), "'neutral'"),
        (lambda: MinimumJerk("neutral"), "'neutral'"),
        (lambda: MinimumJerk(["neutral", "neutral"], 1.0, times=[0.0, 0.5]), "0 duration"),
        (lambda: MinimumJerk(["neutral", "neutral"], 1.0, times=[0.0, 0.5, 1.0]), "duration 2 0"),
        (lambda: MinimumJerk(["neutral", "neutral"], -1.0), "duration 0"),
        (lambda: MinimumJerk(["neutral", "standing"]).states(load("mit_humanoid_leg")), "'standing'"),
        (lambda: MinimumJerk([{}, {"kne": 1.0}]).states(load("mit_humanoid_leg")), "'knee'"),
        (lambda: MinimumJerk([{}, {"knee": np.nan}]).states(load("mit_humanoid_leg")), "'knee' nan"),
        (lambda: Chirp(start=0.0), "start 0"),
        (lambda: Swing(amplitude=-1.0), "amplitude"),
    ],
)
def test_bad_motions(make: object, message: str) -> None:
    with raises(TrajectoryError, message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("name", pool.some(["four_bar", "six_bar", "tello"], 2))
def test_waves_of_closed_loops_are_cut_like_the_sine(name: str) -> None:
    model = load(name)
    for wave in (Chirp(2.0, 0.5, 2.0, 0.5, 0.02), Swing(2.0, 0.5, 0.02)):
        sine = study.run(model, Sine(2.0, duration=0.5, dt=0.02, in_phase=wave.in_phase))
        result = study.run(model, wave)
        assert isinstance(result.trajectory, trajectories.Wave)
        assert result.trajectory.amplitude == sine.sine.amplitude
        assert report.cut(result) == report.cut(sine)


def test_loops_follow_poses() -> None:
    model = load("four_bar")
    joint = model.independent_joints[0]
    start = trajectories.centre(model)[0]
    check_derivatives(model, MinimumJerk(["reference", {joint: start + 1.0}, "reference"], 1.0, dt=2e-3))


def test_loops_that_cannot_follow_say_when() -> None:
    model = pc.load("four_bar", independent=["rocker"])
    motion = MinimumJerk(["reference", {"rocker": 3.0}], 1.0, dt=0.01)
    with raises(TrajectoryError, "'coupler_to_rocker' t"):
        study.run(model, motion)
    with raises(TrajectoryError, "'four_bar' rocker"):
        study.run(model, MinimumJerk([{"rocker": 3.0}, "reference"], 1.0, dt=0.01))


def test_a_trajectory_of_the_user(leg: pc.ClusterModel) -> None:
    class Still:
        label = "standing still"

        def states(self, model: pc.ClusterModel) -> trajectories.Motion:
            rest = np.zeros((3, model.nv))
            return np.arange(3.0), np.tile(pc.neutral(model), (3, 1)), rest, rest

    result = study.run(leg, Still())
    assert np.allclose(result.exact, pc.computeGeneralizedGravity(leg, leg.createData(), pc.neutral(leg)))
    assert max(x.max() for x in result.rms_error.values()) < 1e-12
    assert "along standing still" in report.motion(result)
    with raises(AttributeError, "sine"):
        _ = result.sine
    with raises(pc.ArgumentTypeError, "states(model) int"):
        study.run(leg, 3)  # type: ignore[arg-type]


def test_a_still_floating_base_carries_the_same(leg: pc.ClusterModel) -> None:
    """The joints' torques are those of a fixed base; the wrench on the base is what holds it."""
    floating = load("mini_cheetah", floating=True)
    sine = Sine(0.3, 2.0, 0.2, 2e-3)
    fixed, held = study.run(load("mini_cheetah"), sine), study.run(floating, sine, base="floating")
    assert held.joints[6:] == fixed.joints
    assert held.joints[:2] == ("base force x", "base force y")
    assert held.units[:6] == ("N",) * 3 + ("N m",) * 3
    assert np.allclose(held.exact[:, 6:], fixed.exact, rtol=0.0, atol=1e-12)
    # forces of rotors that only spin are internal: their momentum is not
    for level in study.LEVELS:
        assert np.abs(held.error(level)[:, :3]).max() < 1e-10
    # what holds the base is the rate of the momentum, with gravity
    data, (_, q, v, a) = floating.createData(), sine.states(floating)
    weight = pin.computeTotalMass(floating.tree) * 9.81
    for i in (0, 40, 77):
        rate = np.array(pc.computeCentroidalMomentumTimeVariation(floating, data, q[i], v[i], a[i]))
        assert held.exact[i, :3] == pytest.approx([rate[0], rate[1], rate[2] + weight], abs=1e-9)
    assert report.verdict(held) == report.verdict(fixed)
    with raises(TrajectoryError, "root_joint"):
        study.run(leg, sine, base="floating")
    with raises(TrajectoryError, "base 'fixed' 'floating' 'free'"):
        study.run(leg, sine, base="free")  # type: ignore[arg-type]


def test_peaks_and_shares(leg: pc.ClusterModel) -> None:
    result = study.run(leg, duration=0.7, dt=1e-3)
    for level in study.LEVELS:
        error = np.abs(result.approximate[level] - result.exact)
        assert np.array_equal(result.peak_error[level], error.max(axis=0))
        share = 100.0 * error.max(axis=0) / np.abs(result.exact).max(axis=0)
        assert np.allclose(result.share(result.peak_error)[level], share, rtol=1e-14)
    rows = report.share_table(result)
    assert [row[0] for row in rows] == [row[0] for row in report.peak_table(result)]
    assert all("/" in cell for row in rows for cell in row[1:])


@pytest.mark.parametrize("motion", [WAVES[1], POSES], ids=lambda m: type(m).__name__)
def test_json_and_plot(leg: pc.ClusterModel, motion: trajectories.Wave, tmp_path: Path) -> None:
    result = study.run(leg, motion)
    found = json.loads(json.dumps(report.as_dict(result), allow_nan=False))["trajectory"]
    assert found["samples"] == len(result.time)
    assert found["duration"] == motion.duration
    written: list[str] = []
    original = Figure.text

    def text(self: Figure, x: float, y: float, s: str, **more: object) -> object:
        written.append(s)
        return original(self, x, y, s, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "text", text)
        plots.save(result, tmp_path / "study.png")
    assert (tmp_path / "study.png").stat().st_size > 10_000
    assert any(motion.label.replace("2 pi", "2$\\pi$") in line for line in written)


@pytest.mark.parametrize(
    "trajectory",
    [
        trajectories.Sine(amplitude=30.0, duration=0.1, dt=0.01),
        trajectories.MinimumJerk(["neutral", {"knee": 70.0}], duration=0.1, dt=0.01),
    ],
)
def test_degrees_are_suspected(trajectory: trajectories.Trajectory) -> None:
    leg = pc.load("mit_humanoid_leg", root_joint=None)
    with warns(pc.PinClustersWarning, "'mit_humanoid_leg'"):
        trajectory.states(leg)
