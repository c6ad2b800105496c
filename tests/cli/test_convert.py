"""``pin-clusters convert``: formats by their endings, nothing half-written, nothing replaced unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import refused, run

import pin_clusters as pc


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_robot_becomes_urdf_and_mjcf() -> None:
    assert run("convert", "cassie_leg", "leg.urdf").stdout.strip() == "Written: leg.urdf"
    assert pc.buildModelFromUrdf("leg.urdf").nv == pc.load("cassie_leg").nv
    result = run("convert", "leg.urdf", "leg.xml", "--approximation", "exact", "--timestep", "0.0005")
    assert result.exit_code == 0
    text = Path("leg.xml").read_text(encoding="utf-8")
    assert "approximation 'exact'" in text.split("-->")[0]
    assert 'timestep="0.0005"' in text
    assert Path("leg.xml").read_text(encoding="utf-8") == pc.to_mjcf(
        pc.buildModelFromUrdf("leg.urdf"), "exact", timestep=0.0005
    )


def test_the_independent_joints_are_in_the_file() -> None:
    assert run("convert", "four_bar", "bar.urdf", "--independent", "rocker").exit_code == 0
    assert pc.buildModelFromUrdf("bar.urdf").independent_joints == ("rocker",)


def test_what_exists_is_replaced_only_if_that_is_said() -> None:
    Path("bar.urdf").write_text("mine")
    assert "bar.urdf exists. Add --force" in refused("convert", "four_bar", "bar.urdf")
    assert Path("bar.urdf").read_text() == "mine"
    assert run("convert", "four_bar", "bar.urdf", "--force").exit_code == 0
    assert Path("bar.urdf").read_text(encoding="utf-8") == pc.to_urdf(pc.load("four_bar"))


@pytest.mark.parametrize("target", ["missing/bar.urdf", "file/bar.xml", "folder.urdf"])
def test_where_nothing_can_be_written_nothing_is(target: str) -> None:
    Path("file").write_text("no folder")
    Path("folder.urdf").mkdir()
    before = sorted(map(str, Path().rglob("*")))
    assert str(Path(target)) in refused("convert", "four_bar", target)
    assert sorted(map(str, Path().rglob("*"))) == before


def test_what_a_format_cannot_hold_leaves_no_file() -> None:
    assert "are not physical" in refused("convert", "jvrc1_as_published", "jvrc1.xml", "--approximation", "exact")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("four_bar", "bar.usd"), "extension '.usd'"),
        (("four_bar", "bar"), "expected one of .urdf, .xml, .mjcf"),
        (("four_bar", "bar.urdf", "--approximation", "best"), "--approximation does not apply to URDF"),
        (("four_bar", "bar.xml", "--approximation", "worst"), "'worst' is not one of"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    result = run("convert", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_files_for_mujoco_and_the_remaining_error_for_isaac_lab() -> None:
    result = run("convert", "mit_humanoid_leg", "--for", "mujoco")
    assert result.exit_code == 0, result.stderr
    assert "RMS torque error with constant armature: at most" in result.stdout
    assert "mit_humanoid_leg_exact.py removes this error in MuJoCo." in " ".join(result.stdout.split())
    script = Path("mit_humanoid_leg_mujoco/mit_humanoid_leg_exact.py")
    assert "pc.mujoco.Exact(model, mj_model).install()" in script.read_text(encoding="utf-8")
    script.write_text("mine")
    assert "mit_humanoid_leg_mujoco exists. Add --force" in refused("convert", "mit_humanoid_leg", "--for", "mujoco")
    assert script.read_text() == "mine"
    result = run("convert", "mit_humanoid_leg", "--for", "isaaclab")
    assert "at most 42 % of the joint's peak torque (ankle).\n" in result.stdout
    assert not list(Path("mit_humanoid_leg_isaaclab").glob("*_exact*"))


def test_a_robot_that_is_not_there() -> None:
    assert "No such robot or file" in refused("convert", "nobody", "bar.urdf")
    assert "has no meshes" in refused("convert", "four_bar", "bar.xml", "--meshes")


def test_mjcf_stays_what_it_is() -> None:
    """Sensors and sites stay, and a file that shares its name with a robot is not that robot."""
    text = pc.to_mjcf(pc.load("four_bar")).replace("</mujoco>", "<sensor><clock/></sensor></mujoco>")
    Path("four_bar.xml").write_text(text, encoding="utf-8")
    assert run("convert", "four_bar.xml", "out.xml").exit_code == 0
    assert Path("out.xml").read_text(encoding="utf-8") == text
    assert run("convert", "four_bar.xml", "out.urdf").exit_code == 0
    said = run("convert", "four_bar.xml", "new.xml", "--approximation", "exact").stderr
    assert "new.xml contains only the model, without the other contents of four_bar.xml (1 sensor" in said
    Path("four_bar").write_text(text, encoding="utf-8")
    assert run("convert", "four_bar", "named.xml").stderr == ""
    assert "<clock" not in Path("named.xml").read_text(encoding="utf-8")
    assert "the meshes cannot be read" in refused("convert", "four_bar.xml", "out.xml", "--meshes", "--force")
