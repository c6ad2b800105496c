"""``--base floating`` of ``audit`` and ``study``: robots whose joints share rotors, files of any format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.commands import refused, run

import pin_clusters as pc
from pin_clusters.studies import study
from pin_clusters.studies.study import report

SHORT = ("--duration", "0.3", "--dt", "0.01")
ROTOR = ("--rotor", "*knee=9,2e-4")
LEG = """<body name="thigh" pos="0 0 -0.1"><joint name="hip" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="2"
diaginertia="0.02 0.02 0.004"/><body name="shank" pos="0 0 -0.3"><joint name="knee" type="hinge" axis="0 1 0"/><inertial
pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.002"/></body></body>"""
MJCF = f"""<mujoco model="hopper"><worldbody><body name="trunk">{{joint}}<inertial pos="0 0 0" mass="5"
diaginertia="0.1 0.1 0.1"/>{LEG}</body></worldbody></mujoco>"""
BASES = {
    "free joint": '<freejoint name="root"/>',
    "fixed": "",
    "slides": '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>',
}
URDF = """<robot name="hopper"><link name="trunk"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"
ixy="0" ixz="0" iyz="0"/></inertial></link><link name="shank"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01"
izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="knee" type="revolute"><parent link="trunk"/><child
link="shank"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_phases_and_centres_are_those_of_joints() -> None:
    model = pc.load("mit_humanoid_leg", pin.JointModelFreeFlyer())
    result = study.run(model, duration=0.1, dt=1e-2, base="floating")
    assert result.phase is not None
    found = report.as_dict(result)["trajectory"]["phase"]
    assert found == dict(zip(study.run(model, duration=0.1, dt=1e-2).joints, result.phase.tolist(), strict=True))
    assert not any(name.startswith("base ") for name in found)


@pytest.mark.ci
@pytest.mark.parametrize("command", ["study", "audit"])
def test_robots_whose_joints_share_rotors(command: str) -> None:
    result = run(command, "mit_humanoid_leg", "--base", "floating", *SHORT, "--output", "out")
    assert result.exit_code == 0, result.stderr
    found = json.loads(Path("out", f"{command}.json").read_text(encoding="utf-8"))
    found = found if command == "study" else found["study"]
    assert found["base"] == "floating"
    assert found["joints"][0] == "base force x"
    assert "ankle" in found["trajectory"]["phase"]


@pytest.mark.parametrize("command", ["study", "audit"])
@pytest.mark.parametrize("base", ["free joint", "fixed"])
def test_mjcf(command: str, base: str) -> None:
    Path("hopper.xml").write_text(MJCF.format(joint=BASES[base]), encoding="utf-8")
    result = run(command, "hopper.xml", *ROTOR, "--base", "floating", *SHORT, "--output", "out")
    assert result.exit_code == 0, result.stderr
    found = json.loads(Path("out", f"{command}.json").read_text(encoding="utf-8"))
    found = found if command == "study" else found["study"]
    assert (found["base"], found["joints"][6:]) == ("floating", ["hip", "knee"])
    # the wrench on the base at rest carries the weight of 8 kg
    assert abs(found["max_exact"]["base force z"] - 8.0 * 9.81) < 8.0 * 9.81


@pytest.mark.ci
def test_other_files() -> None:
    Path("hopper.xml").write_text(MJCF.format(joint=BASES["slides"]), encoding="utf-8")
    assert "'x'" in refused("study", "hopper.xml", *ROTOR, "--base", "floating", *SHORT)
    Path("hopper.urdf").write_text(URDF, encoding="utf-8")
    assert run("study", "hopper.urdf", *ROTOR, "--base", "floating", *SHORT, "--output", "out").exit_code == 0
    assert "'nope'" in refused("study", "nope", "--base", "floating")
    assert "not a robot" not in refused("audit", ".", "--base", "floating")


def test_a_study_writes_its_picture_if_its_numbers_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("numbers")

    monkeypatch.setattr(report, "as_dict", fails)
    result = run("study", "mit_humanoid_leg", *SHORT, "--output", "out")
    assert result.exit_code == 1
    assert "RMS torque error" in result.stdout
    assert "cannot write to out: numbers" in result.stderr
    assert [p.name for p in Path("out").iterdir()] == ["study.png"]
    assert np.frombuffer(Path("out", "study.png").read_bytes()[1:4], "S3")[0] == b"PNG"
