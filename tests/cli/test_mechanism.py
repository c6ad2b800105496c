"""``pin-clusters mechanism``, and ``--independent`` on every command that takes a robot."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from support.commands import refused, run

import pin_clusters as pc
import pin_clusters.files.readers.library as library
from pin_clusters._cli import cli


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.ci
def test_a_page_and_its_tables() -> None:
    result = run("mechanism", "ankle_2rsu")
    assert result.exit_code == 0
    folder = Path("mechanism_ankle_2rsu")
    assert sorted(p.name for p in folder.iterdir()) == [
        "lengths.csv", "loads.csv", "mechanism.html", "ranges.csv", "regions.csv", "torque_corners.csv", "torques.csv",
        "transmission.csv",
    ]  # fmt: skip
    assert "its own limit" in result.stdout
    assert "Largest force: " in result.stdout
    with (folder / "ranges.csv").open(encoding="utf-8") as file:
        rows = {row["joint"]: row for row in csv.DictReader(file)}
    found = pc.mechanism(pc.load("ankle_2rsu"))
    for r in found.ranges:
        row = rows[r.joint]
        assert (float(row["low"]), float(row["high"])) == pytest.approx((r.low, r.high), abs=1e-8)
        assert row["high_ends_by"] == r.high_end.kind
    page = (folder / "mechanism.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert page.count("<h1") == 1
    assert page.count("<table") == page.count("<caption") > 3
    assert "{{" not in page
    # the same input gives the same bytes
    found.write("again")
    for path in folder.iterdir():
        assert path.read_bytes() == Path("again", path.name).read_bytes()


def test_another_joint_of_a_file_along_a_recording_of_it() -> None:
    text = library.folders()["four_bar"].joinpath("model.urdf").read_text(encoding="utf-8")
    Path("linkage.urdf").write_text(text, encoding="utf-8")
    time = np.linspace(0.0, 1.0, 12)
    rows = "".join(f"{t},{0.05 * np.sin(3.0 * t)}\n" for t in time)
    Path("knee.csv").write_text("time,coupler\n" + rows, encoding="utf-8")
    result = run("mechanism", "linkage.urdf", "--independent", "coupler", "--motion", "knee.csv", "-o", "here")
    assert result.exit_code == 0
    assert "knee.csv (1 s)" in result.stdout
    assert Path("here", "mechanism.html").is_file()


ROBOT = {
    "info": (), "bench": (), "view": ("--static", "x.html"), "export": (), "study": (), "audit": (), "mechanism": (),
    "sweep ratio": (), "convert": ("x.urdf",), "simulate": (), "worlds": (), "mujoco": (), "identify": ("x.csv",),
}  # fmt: skip


@pytest.mark.parametrize("command", ROBOT)
def test_every_command_takes_independent_joints(command: str) -> None:
    arguments = (*command.split(), "four_bar", *ROBOT[command], "--independent")
    assert "no joint or body 'elbow' in model 'four_bar'" in refused(*arguments, "elbow")
    assert not [p for p in Path().iterdir() if p.name != "x.html"]


def test_the_chosen_joint_leads() -> None:
    table = run("info", "four_bar", "--independent", "coupler").stdout
    assert re.search(r"universe +coupler +crank, rocker", table)
    result = run("study", "four_bar", "--independent", "rocker", "--duration", "0.1", "--dt", "0.01", "-o", "s")
    assert result.exit_code == 0
    assert "crank" not in result.stdout
    line = refused("info", "mit_humanoid_leg", "--independent", "knee_rotor")
    assert "joint 'knee_rotor' is the dependent joint of Belt('knee', 'knee_rotor')" in line


def test_no_command_that_takes_a_robot_was_forgotten() -> None:
    with_robot = {name for name, command in cli.main.commands.items() if any(p.name == "robot" for p in command.params)}
    known = {name.split()[0] for name in ROBOT}
    assert with_robot <= known | {"motors"}  # which lists joints, and asks for none that are independent


def test_what_is_in_the_way() -> None:
    assert "No such robot or file: 'fuor_bar'" in refused("mechanism", "fuor_bar")
    Path("file").write_text("", encoding="utf-8")
    assert "file is a file, not a folder" in refused("mechanism", "four_bar", "-o", "file")
    assert "No such trajectory or file: 'trott'" in refused("mechanism", "four_bar", "--motion", "trott")
    # a motion of another robot: nothing is written
    assert "has no joint" in refused("mechanism", "four_bar", "--motion", "mini_cheetah_trot")
    assert not Path("mechanism_four_bar").exists()
