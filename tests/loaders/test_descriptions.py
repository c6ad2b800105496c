"""Robots of robot_descriptions by name: with a package that looks like it, without it, and what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from samples.motors import URDF
from support.commands import refused, run
from support.messages import raises

import pin_clusters as pc
from pin_clusters.files.readers import descriptions

MJCF = '<mujoco><worldbody><body name="b"><joint name="j"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'  # noqa: E501
MODULES = {
    "leg_description": "URDF_PATH = {folder!r} + '/leg.urdf'",
    "leg_mj_description": "MJCF_PATH = {folder!r} + '/leg.xml'",
    "drawn_description": "XACRO_PATH = {folder!r} + '/leg.xacro'",
    "away_description": "raise OSError('no network\\n  at all')",
    "_cache": "",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "robot_descriptions").mkdir()
    (tmp_path / "robot_descriptions" / "__init__.py").write_text("", encoding="utf-8")
    for name, text in MODULES.items():
        file = tmp_path / "robot_descriptions" / f"{name}.py"
        file.write_text(text.format(folder=str(tmp_path)), encoding="utf-8")
    (tmp_path / "leg.urdf").write_text(URDF, encoding="utf-8")
    (tmp_path / "leg.xml").write_text(MJCF, encoding="utf-8")
    for name in [n for n in sys.modules if n.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [n for n in sys.modules if n.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


def test_by_name(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(package)
    assert pc.open_robot("leg_description").nv == 2
    assert pc.open_robot("leg_mj_description").nv == 1
    assert "knee_joint" in run("info", "leg_description").stdout
    assert "nq = 1, nv = 1" in run("info", "leg_mj_description").stdout
    assert descriptions.names() == ("away_description", "drawn_description", "leg_description", "leg_mj_description")
    Path("leg_description").write_text(MJCF.replace("mujoco>", "robot>"), encoding="utf-8")  # a file goes first
    with pytest.raises(pc.LoadError):
        pc.open_robot("leg_description")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("leg_mi_description", "'leg_mi_description' 'leg_mj_description'"),
        ("drawn_description", "'drawn_description' robot_descriptions URDF MJCF"),
        ("away_description", "'away_description'"),
    ],
)
def test_what_is_wrong(package: Path, name: str, words: str) -> None:
    with raises(pc.LoadError, words):
        pc.open_robot(name)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(descriptions, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert descriptions.names() == ()
    with raises(pc.LoadError, "robot_descriptions"):
        pc.open_robot("g1_mj_description")
    assert "pip install robot_descriptions" in refused("audit", "g1_mj_description")
    assert "pip install robot_descriptions" in refused("study", "g1_mj_description")
