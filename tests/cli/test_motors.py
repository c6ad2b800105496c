"""``--motors``, ``--rotor``, ``--from-armature`` and ``pin-clusters motors``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples.motors import MOTORS, URDF
from support.commands import refused, run

import pin_clusters as pc


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leg.urdf").write_text(URDF, encoding="utf-8")


def test_from_a_template_to_rotors() -> None:
    assert run("motors", "leg.urdf").stdout.strip() == "Written: leg.motors.yaml"
    assert "leg.motors.yaml exists. Add --force" in refused("motors", "leg.urdf")
    message = refused("info", "leg.urdf", "--motors", "leg.motors.yaml")
    assert "'leg.motors.yaml', line" in message
    assert "ratio of joint 'hip_joint' is not filled in" in message
    text = Path("leg.motors.yaml").read_text(encoding="utf-8")
    Path("leg.motors.yaml").write_text(text.replace("ratio: null", "ratio: 6"), encoding="utf-8")
    assert "2 rotors, 2 of them" in run("info", "leg.urdf", "--motors", "leg.motors.yaml").stdout
    beside = run("info", "leg.urdf")
    assert "No rotors" in beside.stdout
    assert "note: leg.motors.yaml is not read automatically. Add --motors leg.motors.yaml." in beside.stderr
    assert run("motors", "four_bar", "-o", "bar.yaml").exit_code == 0
    assert "no joint that needs a motor" in refused("motors", "mini_cheetah")


def test_info_counts_motors() -> None:
    Path("m.yaml").write_text(MOTORS, encoding="utf-8")
    found = run("info", "leg.urdf", "--motors", "m.yaml").stdout
    assert "2 motors with 4 rotors, 4 of them spin elements" in found
    assert found.count("gear stage") == 2
    assert run("convert", "leg.urdf", "leg.xml", "--motors", "m.yaml").exit_code == 0
    assert Path("leg.xml").read_text(encoding="utf-8").count("<motor") == 2


def test_a_rotor_in_one_word() -> None:
    assert (
        run("convert", "leg.urdf", "a.urdf", "--rotor", "hip=6.33,1.1e-4", "--rotor", "kn*e=9,1e-5,replace").exit_code
        == 0
    )
    found = pc.buildModelFromUrdf("a.urdf").rotors
    assert [(r.name, r.source.ratios, r.axial_inertia) for r in found] == [
        ("rotor:hip_joint", (6.33,), 1.1e-4), ("rotor:knee_joint", (9.0,), 1e-5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("elbow=9,1e-5", "no joint with one degree of freedom matches '*elbow'"),
        ("hip=9,-1e-5", "rotor_inertia of joint '*hip' must be above 0"),
        ("hip=x,1e-5", "ratio of joint '*hip' must be a finite number, got 'x'"),
        ("knee=9,1e-5", "has armature 0.02 in the tree"),
    ],
)
def test_a_bad_rotor_is_named(given: str, words: str) -> None:
    message = refused("info", "leg.urdf", "--rotor", given)
    assert f"--rotor {given!r}: " in message
    assert words in message


def test_two_of_one_joint_are_named_as_they_were_said() -> None:
    message = refused("info", "leg.urdf", "--rotor", "hip=9,1e-5", "--rotor", "*ip=8,1e-5")
    assert "--rotor '*ip=8,1e-5': joint 'hip_joint' already has a motor (--rotor 'hip=9,1e-5'). Keep one." in message
    Path("m.yaml").write_text(MOTORS, encoding="utf-8")
    message = refused("info", "leg.urdf", "--motors", "m.yaml", "--rotor", "hip=9,1e-5")
    assert "--rotor 'hip=9,1e-5': joint 'hip_joint' already has a motor ('m.yaml', line 3). Keep one." in message


@pytest.mark.parametrize("given", ["hip", "hip=9", "hip=1,2,3,4", "=9,1e-5"])
def test_a_rotor_of_another_form_is_wrong_usage(given: str) -> None:
    result = run("info", "leg.urdf", "--rotor", given)
    assert result.exit_code == 2
    assert "must be JOINT=RATIO,INERTIA" in result.stderr


def test_info_lists_armature_as_reflected_and_audit_says_what_it_found() -> None:
    found = run("info", "leg.urdf").stdout
    assert "Armature of the file" in found
    assert "only the armature above is reflected" in found
    assert "--from-armature RATIO" in found
    message = refused("audit", "leg.urdf")
    for words in ("nothing to audit", "--from-armature RATIO", "look like rotors: 2 (hip_rotor"):
        assert words in message
    assert "model 'four_bar' has no actuated joint with armature" in refused(
        "audit", "four_bar", "--from-armature", "9"
    )


def test_every_command_of_a_robot_takes_motors() -> None:
    commands = ["info", "bench", "view", "simulate", "export", "convert", "study", "audit", "mechanism", "sweep ratio"]
    for command in commands:
        text = run(*command.split(), "--help").stdout
        assert all(option in text for option in ("--motors", "--rotor", "--independent")), command


@pytest.mark.ci
def test_audit_runs_on_armature() -> None:
    result = run("audit", "leg.urdf", "--from-armature", "9", "-o", "out", "--duration", "0.5")
    assert result.exit_code == 0
    drives = json.loads(Path("out/audit.json").read_text(encoding="utf-8"))
    assert "rotor:knee_joint" in json.dumps(drives)
