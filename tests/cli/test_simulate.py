"""``pin-clusters simulate``, and ``view --simulate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.commands import refused, run
from support.scenes import load

import pin_clusters as pc
from pin_clusters._cli import drop
from pin_clusters.studies import drops

FEET = ("--touching", "*_knee=0,0,-0.195")
CROUCH = ("--pose", "*_hip=-0.8,*_knee=1.6")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_drop_is_told_and_written() -> None:
    files = [x for name in ("a.csv", "a.npz", "a.html", "a.png") for x in ("--out", name)]
    result = run("simulate", "mini_cheetah", *FEET, *CROUCH, "--drop", "0.05", "--duration", "0.4", *files)
    assert result.exit_code == 0, result.stderr
    for words in ("Touch-downs", "FL_knee", "HR_knee", "Dropped from 0.05 m", "PD control", "contact errors", "a.npz"):
        assert words in result.stdout
    found = pc.SimulationResult.from_npz("a.npz")
    start = load("mini_cheetah")
    hip = start.joints[start.getJointId("FL_hip")].idx_q
    assert found.q[0, hip] == pytest.approx(-0.8)
    assert {t.body for t in found.touchdowns} == {f"{leg}_knee" for leg in ("FL", "FR", "HL", "HR")}
    # free fall until the first touch-down, on legs that the torques to carry it stretch a little
    landed = found.touchdowns[0].time
    assert landed == pytest.approx(np.sqrt(2.0 * 0.05 / 9.81), abs=0.01)
    table = np.loadtxt("a.csv", delimiter=",", skiprows=1)
    assert len(table) == len(found.time)
    page = Path("a.html").read_text(encoding="utf-8")
    assert "ground forces" in page
    assert 'id="player"' in page
    assert Path("a.png").stat().st_size > 10_000


def test_without_a_ground() -> None:
    result = run("simulate", "four_bar", "--kp", "0", "--kd", "0", "--duration", "0.2", "--out", "swing.npz")
    assert result.exit_code == 0, result.stderr
    found = pc.SimulationResult.from_npz("swing.npz")
    assert not found.tau.any()
    assert np.ptp(found.q, axis=0).max() > 0.1
    held = run("simulate", "four_bar", "--duration", "0.2", "--out", "held.npz")
    assert "A PD controller holds the pose" in held.stdout
    assert np.ptp(pc.SimulationResult.from_npz("held.npz").q, axis=0).max() < 1e-3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tello",), "The limbs end at: left_ankle, right_ankle"),
        (("mini_cheetah", "--touching", "FL_kne"), "--touching: no name matches 'FL_kne'. Did you mean 'FL_knee'"),
        (("mini_cheetah", *FEET, "--pose", "knee=1"), "--pose: no name matches 'knee'"),
        (("mini_cheetah", *FEET, "--kd", "-1"), "kd = -1 is negative"),
        (("four_bar", "--drop", "1"), "--touching and --drop need a ground"),
        (("mini_cheetah", *FEET, "--ghost", "blocks", "--out", "a.html"), "Did you mean 'block'"),
        (("four_bar", "--out", "no/a.csv"), "the folder no of a.csv does not exist. Create it or choose another"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drops, "simulated", lambda *_, **__: pytest.fail("the work began"))
    assert words in refused("simulate", *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("simulate", "mini_cheetah", "--touching", "FL_knee=0,0"), "must be NAME or NAME=X,Y,Z"),
        (("simulate", "four_bar", "--pose", "crank"), "must be JOINT=NUMBER"),
        (("simulate", "four_bar", "--out", "a.txt"), "one of .csv, .npz, .html, .png"),
        (("simulate", "mini_cheetah", "--ghost", "block"), "--ghost requires an HTML page"),
        (("view", "four_bar", "--kp", "3"), "--kp cannot be used without --simulate"),
        (("view", "four_bar", "--simulate", "--forces"), "--forces cannot be used with --simulate"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.ci
def test_view_shows_both_landings() -> None:
    ground = ("--ground", *FEET, *CROUCH, "--drop", "0.02", "--duration", "0.12", "--ghost", "diagonal")
    result = run("view", "mini_cheetah", *ground, "--static", "both.html")
    assert result.exit_code == 0, result.stderr
    assert "Impulse of the ground in the first 2 ms" in result.stdout
    page = Path("both.html").read_text(encoding="utf-8")
    for words in (
        "translucent: diagonal armature",
        "ground forces",
        "Dropped from 0.02 m",
        "held in the same way",
    ):
        assert words in page


URDF = """<robot name="box"><link name="box"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_a_file_floats_if_asked_to() -> None:
    Path("box.urdf").write_text(URDF, encoding="utf-8")
    model = drop.load("box.urdf", "floating")
    assert model.nv == 6
    assert drop.load("four_bar", "floating").nv == 7
    options = ("--base", "floating", "--touching", "root_joint=0,0,-0.1", "--friction", "0.3", "--height", "1")
    result = run("simulate", "box.urdf", *options, "--duration", "0.2", "--out", "box.npz")
    assert result.exit_code == 0, result.stderr
    found = pc.SimulationResult.from_npz("box.npz")
    assert found.q[0, 2] == pytest.approx(1.2)
    assert found.q[-1, 2] == pytest.approx(1.1, abs=1e-4)
