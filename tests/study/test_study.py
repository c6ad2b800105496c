from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises
from support.studies import DROPPED, LARGEST, LEG, LOCKED, load, pendulum

import pin_clusters as pc
from pin_clusters.model.configuration import residual
from pin_clusters.studies import study
from pin_clusters.studies.study import plots, report
from pin_clusters.studies.study.trajectories import Sine, TrajectoryError


@pytest.fixture(scope="module")
def leg() -> pc.ClusterModel:
    return load("mit_humanoid_leg")


@pytest.mark.parametrize(("drop", "expected"), [(False, LOCKED), (True, DROPPED)])
def test_the_published_leg_to_three_decimals(leg: pc.ClusterModel, drop: bool, expected: dict) -> None:
    result = study.run(leg, Sine(in_phase=True), drop_rotors=drop)
    assert result.joints == LEG
    for level, numbers in expected.items():
        assert [f"{x:.3f}" for x in result.rms_error[level]] == [f"{x:.3f}" for x in numbers]
    assert [f"{x:.2f}" for x in result.max_exact] == [f"{x:.2f}" for x in LARGEST]


def test_one_joint_on_the_ground_has_a_closed_form() -> None:
    # the carrier stands, so armature is exact, and without it J n^2 A w^2 sin(w t) is missing
    result = study.run(pendulum(pin.JointModelRY()), amplitude=0.3, frequency=2.0, duration=1.0, dt=1e-3)
    missing = 1e-3 * 6.0**2 * 0.3 * (2.0 * np.pi * 2.0) ** 2 / np.sqrt(2.0)
    assert result.rms_error["none"][0] == pytest.approx(missing, rel=1e-12)
    assert result.rms_error["diagonal"][0] < 1e-14 * missing / 1e-3
    assert np.array_equal(result.approximate["block"], result.approximate["diagonal"])
    assert "exact" in report.verdict(result)


def test_continuous_and_revolute_joints_move_alike() -> None:
    revolute = study.run(pendulum(pin.JointModelRY()), duration=0.2)
    continuous = study.run(pendulum(pin.JointModelRUBY()), duration=0.2)
    assert np.allclose(revolute.exact, continuous.exact, rtol=0.0, atol=1e-13)
    assert np.allclose(revolute.approximate["none"], continuous.approximate["none"], rtol=0.0, atol=1e-13)


def test_a_sliding_joint_has_newtons() -> None:
    result = study.run(pendulum(pin.JointModelPZ(), ()), duration=0.2)
    assert result.units == ("N",)
    assert report.as_dict(result)["unit"] == "N"
    assert np.all(result.rms_error["none"] < 1e-12)


def test_a_floating_base_is_held() -> None:
    fixed = study.run(load("mini_cheetah"), duration=0.2)
    floating = study.run(load("mini_cheetah", floating=True), duration=0.2)
    assert fixed.joints == floating.joints
    assert len(fixed.joints) == 12
    assert np.allclose(fixed.exact, floating.exact, rtol=0.0, atol=1e-12)
    for level in study.LEVELS:
        assert np.allclose(fixed.approximate[level], floating.approximate[level], rtol=0.0, atol=1e-12)


def test_the_motion_keeps_the_couplings(leg: pc.ClusterModel) -> None:
    sine = Sine(duration=0.5, dt=0.01)
    _, q, v, a = sine.states(leg)
    assert max(np.abs(residual(leg, row)).max() for row in q) < 1e-14
    # v and a are the derivatives of q
    knee, at = leg.joint_idx_v("knee"), leg.joints[leg.getJointId("knee")].idx_q
    w = 2.0 * np.pi * sine.frequency
    assert np.allclose(q[:, at], sine.amplitude * np.sin(w * sine.time))
    assert np.allclose(v[:, knee], sine.amplitude * w * np.cos(w * sine.time))
    assert np.allclose(a[:, knee], -(w**2) * q[:, at])


def test_couplings_with_offsets_and_chains_move_too() -> None:
    tree = pin.Model()
    link = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "link")
    tree.appendBodyToJoint(link, pin.Inertia.Random(), pin.SE3.Identity())
    for name in ("first", "second"):
        rotor = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(rotor, pin.Inertia(0.1, np.zeros(3), 1e-3 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Gear("first", "second", -2.0), pc.Gear("link", "first", 3.0, offset=0.5)])
    _, q, _, _ = Sine(duration=0.1, dt=0.01).states(model)
    assert np.allclose(q[:, 1], 3.0 * q[:, 0] + 0.5)
    assert np.allclose(q[:, 2], -2.0 * q[:, 1])


def test_number_of_samples() -> None:
    assert Sine().samples == 10000
    assert Sine(duration=0.3, dt=0.1).samples == 3
    assert Sine(duration=1.0, dt=1.0).samples == 1


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"amplitude": 0.0}, "amplitude 0"),
        ({"frequency": float("nan")}, "frequency"),
        ({"duration": float("inf")}, "duration"),
        ({"dt": -1e-3}, "dt 0"),
        ({"dt": "fast"}, "dt 'fast'"),
        ({"dt": 1.0, "duration": 0.5}, "duration"),
        ({"dt": 1e-9}, "400000"),
    ],
)
def test_bad_trajectories_are_refused(leg: pc.ClusterModel, numbers: dict, message: str) -> None:
    with raises(TrajectoryError, message):
        study.run(leg, **numbers)


def test_bad_models_are_refused() -> None:
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        study.run(pin.buildSampleModelManipulator())  # type: ignore[arg-type]
    with raises(pc.ModelError, "'pendulum'"):
        study.run(pendulum(pin.JointModelSpherical(), ()))


def test_dependents_that_are_no_rotors_are_named() -> None:
    tree = pin.buildSampleModelManipulator()
    model = pc.ClusterModel(tree, [pc.LinearCoupling("elbow_joint", {"shoulder2_joint": 1.0})])
    with raises(pc.ModelError, "'elbow_joint'"):
        study.run(model, duration=0.1)


def test_progress_reaches_its_end(leg: pc.ClusterModel) -> None:
    seen: list[tuple[int, int]] = []
    study.run(leg, duration=0.6, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == 3 * 1200
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_json_has_the_documented_keys(leg: pc.ClusterModel, tmp_path: Path) -> None:
    result = study.run(leg, duration=0.1)
    report.write_json(result, tmp_path / "study.json")
    found = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
    assert list(found) == [
        "robot", "trajectory", "joints", "unit", "rms_error", "max_exact", "peak_error", "per_cent_of_largest", "base",
        "ground_forces",
    ]  # fmt: skip
    assert found["robot"] == "mit_humanoid_leg"
    assert found["unit"] == "N m"
    assert tuple(found["joints"]) == LEG
    assert list(found["rms_error"]) == ["none", "diagonal", "block"]
    assert all(tuple(row) == LEG for row in (*found["rms_error"].values(), found["max_exact"]))
    assert found["rms_error"]["block"]["knee"] == result.rms_error["block"][3]
    assert found["trajectory"]["amplitude"] == 0.5
    share = 100.0 * found["rms_error"]["none"]["ankle"] / found["max_exact"]["ankle"]
    assert found["per_cent_of_largest"]["rms"]["none"]["ankle"] == pytest.approx(share, rel=1e-12)


def test_verdict_on_a_robot_without_rotors_is_no_praise_of_armature() -> None:
    bare = report.verdict(study.run(pendulum(pin.JointModelRX(), ()), duration=0.1, dt=0.01))
    assert "add them: pc.Rotor(" in bare
    geared = report.verdict(study.run(pendulum(pin.JointModelRX()), duration=0.1, dt=0.01))
    assert "diagonal armature: exact on this motion" in geared


def test_verdict_names_the_worst_joint(leg: pc.ClusterModel) -> None:
    sentence = report.verdict(study.run(leg, Sine(in_phase=True)))
    assert "diagonal armature: 30 % at ankle (0.826 N m); block armature: 2.7 % at hip_rz" in sentence
    assert "enough" not in sentence  # an audit says that


@pytest.mark.parametrize(
    "robot", pool.some(["mit_humanoid_leg", "mit_humanoid", "pendulum"], ["mit_humanoid_leg", "pendulum"])
)
def test_plot(robot: str, tmp_path: Path) -> None:
    model = pendulum(pin.JointModelRY()) if robot == "pendulum" else load(robot)
    path = tmp_path / "study.png"
    plots.save(study.run(model, duration=0.1, dt=1e-3), path)
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:])
    assert 600 < width < 4000
    assert 300 < height < 4000


FOLDER_SCRIPT = """
import sys
from pathlib import Path
import pinocchio as pin

import pin_clusters as pc
from pin_clusters import study
from pin_clusters.studies.study import plots
tree = pin.Model()
body = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "joint")
tree.appendBodyToJoint(body, pin.Inertia.Random(), pin.SE3.Identity())
model = pc.ClusterModel(tree, [pc.Rotor("joint", 6.0, axial_inertia=1e-3)])
plots.save(study.run(model, duration=0.1, dt=1e-2), Path(sys.argv[1]))
"""


@pytest.mark.ci
@pytest.mark.parametrize("chosen", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_home_that_cannot_be_written_is_not_mentioned(chosen: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    # a folder below a file cannot be made: Matplotlib takes a temporary one, and may say so only if the user chose it
    left_out = ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    environment["HOME"] = environment["USERPROFILE"] = str(tmp_path / "file" / "home")
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "numba")
    if chosen:
        environment["MPLCONFIGDIR"] = str(tmp_path / "file" / "matplotlib")
    path = tmp_path / "study.png"
    command = [sys.executable, "-Pc", FOLDER_SCRIPT, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert path.exists()
    assert ("MPLCONFIGDIR" in done.stderr) is chosen
    assert ("mkdir" in done.stderr) is chosen
