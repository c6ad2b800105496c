from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from samples import pool
from support.commands import refused, run

import pin_clusters as pc
from pin_clusters._cli import common
from pin_clusters._cli.cli import main
from pin_clusters.files import readers as loaders


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


URDF = """<robot name="arm"><link name="ground"/>
<link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/>
<inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="rotor_link"><inertial><mass value="0.3"/>
<inertia ixx="1e-4" iyy="2e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="ground"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="rotor" type="revolute" independent="false"><parent link="ground"/><child link="rotor_link"/>
<axis xyz="0 1 0"/><limit lower="-20" upper="20" effort="9" velocity="90"/></joint>
<coupling name="gear"><predecessor link="upper"/><successor link="rotor_link"/><ratio value="9"/></coupling></robot>"""


def test_help_has_examples_and_commands() -> None:
    text = run("--help").stdout
    for word in ("info", "bench", "study", "pin-clusters study mit_humanoid_leg", "Exit codes"):
        assert word in text
    for command in ("info", "bench", "study"):
        text = run(command, "--help").stdout
        examples = text.split("Examples:\n")[1].split("\n\n")[0].splitlines()
        assert all(line.startswith(f"    pin-clusters {command} ") for line in examples)


def test_help_names_all_formats() -> None:
    commands = [*main.commands.values(), *main.commands["sweep"].commands.values()]  # type: ignore[attr-defined]
    taking = [c for c in commands if any(p.name == "robot" for p in c.params)]
    assert len(taking) >= 11
    for command in taking:
        assert "URDF, URDF+, MJCF, SDF or YAML (extended URDF) file" in (command.help or ""), command.name
        assert "\n\n\b\nExamples:\n" in (command.help or ""), command.name


def test_study_help_lists_options_and_defaults() -> None:
    text = run("study", "--help").stdout
    for word in ("--output", "--amplitude", "0.5", "--frequency", "1.5", "--duration", "5.0", "--dt", "0.0005"):
        assert word in text
    assert "--drop-rotors" in text
    assert "./study_ROBOT" in text


def test_version() -> None:
    assert run("--version").stdout.strip() == f"pin-clusters, version {pc.__version__}"


def test_study_prints_and_writes() -> None:
    result = run("study", "mit_humanoid_leg", "--in-phase")
    assert result.exit_code == 0
    # what is said about compiling depends on the cache
    assert not any(line.startswith(("warning", "error")) for line in result.stderr.splitlines())
    for text in ("diagonal armature", "1.045", "14.75", "diagonal armature: 30 %", "study_mit_humanoid_leg/study.json"):
        assert text in result.stdout
    found = json.loads(Path("study_mit_humanoid_leg/study.json").read_text(encoding="utf-8"))
    assert round(found["rms_error"]["block"]["knee"], 3) == 0.301
    assert Path("study_mit_humanoid_leg/study.png").stat().st_size > 10_000


def test_study_options() -> None:
    result = run(
        "study", "mit_humanoid_leg", "--output", "a/b", "--amplitude", "0.1", "--frequency", "2", "--duration", "0.5",
        "--dt", "0.001", "--drop-rotors",
    )  # fmt: skip
    assert result.exit_code == 0
    assert "rotors dropped" in result.stdout
    trajectory = json.loads(Path("a/b/study.json").read_text(encoding="utf-8"))["trajectory"]
    assert trajectory["amplitude"] == 0.1
    assert trajectory["frequency"] == 2.0
    assert trajectory["samples"] == 500
    assert trajectory["rotors_of_approximations"] == "dropped"


def test_study_of_a_file() -> None:
    Path("my arm.urdf").write_text(URDF, encoding="utf-8")
    result = run("study", "my arm.urdf", "--duration", "0.1")
    assert result.exit_code == 0
    assert "shoulder" in result.stdout
    assert json.loads(Path("study_my arm/study.json").read_text(encoding="utf-8"))["joints"] == ["shoulder"]


@pytest.mark.ci
def test_many_joints_go_down_the_page() -> None:
    result = run("study", "mini_cheetah", "--duration", "0.05")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: robot 'mini_cheetah'")
    lines = [line for line in result.stdout.splitlines() if line.strip().startswith("FL_knee")]
    # RMS with the largest exact torque, largest error, per cent
    assert [len(line.split()) for line in lines] == [5, 4, 4]
    assert re.fullmatch(r"[\d.]+/[\d.]+", lines[2].split()[1])


def test_info() -> None:
    result = run("info", "mit_humanoid_leg")
    assert result.exit_code == 0
    for text in (
        "knee, ankle",
        "+12 knee +12 ankle",
        "spin element",
        "0.10414",
        "ankle: 0.024251",
        "Clusters",
        "Rotors",
    ):
        assert text in result.stdout


def test_info_of_rotors_that_stay_bodies_gives_the_reason() -> None:
    result = run("info", "teleop_arm")
    assert result.exit_code == 0
    assert "body: " in result.stdout


def test_info_of_a_file_without_rotors() -> None:
    plain = URDF.replace(' independent="false"', "").split("<coupling")[0] + "</robot>"
    Path("plain.urdf").write_text(plain, encoding="utf-8")
    result = run("info", "plain.urdf")
    assert result.exit_code == 0
    assert "No rotors" in result.stdout


def test_warnings_are_short_lines() -> None:
    Path("arm.urdf").write_text(URDF.replace("</robot>", "<gazebo/></robot>"), encoding="utf-8")
    result = run("info", "arm.urdf")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
    assert ".py" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_bench_prints_ratios() -> None:
    result = run("bench", "mit_humanoid_leg", "--repeats", "3")
    assert result.exit_code == 0
    for name in ("rnea", "aba", "crba"):
        (line,) = [line for line in result.stdout.splitlines() if line.strip().startswith(name)]
        assert float(line.split()[-1]) > 0.0


@pytest.mark.parametrize("command", ["info", "study", "bench"])
def test_unknown_robots_name_the_nearest(command: str) -> None:
    assert "Did you mean 'mini_cheetah'" in refused(command, "mini_cheeta")
    line = refused(command, "xyzzy")
    assert all(name in line for name in loaders.robots())


def test_missing_and_unreadable_files() -> None:
    assert "No such file: nowhere/robot.urdf" in refused("info", "nowhere/robot.urdf")
    Path("folder.urdf").mkdir()
    assert "folder.urdf is a folder" in refused("info", "folder.urdf")
    Path("broken.urdf").write_text("<robot name='x'><link", encoding="utf-8")
    assert "broken.urdf" in refused("info", "broken.urdf")
    Path("empty.urdf").touch()
    refused("study", "empty.urdf")
    Path("binary.urdf").write_bytes(bytes(range(256)))
    refused("study", "binary.urdf")


def test_a_folder_with_the_name_of_a_robot_does_no_harm() -> None:
    Path("mit_humanoid_leg").mkdir()
    assert run("info", "mit_humanoid_leg").exit_code == 0


def test_output_that_cannot_be_written_is_found_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the study ran")

    monkeypatch.setattr("pin_clusters.studies.study.run", never)
    Path("taken").touch()
    assert "taken is a file, not a folder" in refused("study", "mit_humanoid_leg", "--output", "taken")
    assert "cannot write to taken/below" in refused("study", "mit_humanoid_leg", "--output", "taken/below")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission() -> None:
    Path("locked").mkdir(mode=0o500)
    assert "cannot write to locked" in refused("study", "mit_humanoid_leg", "--output", "locked")


@pytest.mark.ci
# [bytes]: no file fits, some do, the picture does not
@pytest.mark.parametrize("room", pool.some([500, 20_000, 60_000], [20_000], rest="ci"))
def test_a_full_disk_leaves_what_was_there(room: int) -> None:
    """All that commands write: pages, tables, pictures; a limit on the size of files is what a full disk is."""
    resource = pytest.importorskip("resource", reason="needs limits of the system")
    Path("out").mkdir()
    commands = (
        ("view", "four_bar", "--static", "out/page.html"),
        ("study", "four_bar", "--duration", "0.2", "--output", "out"),
        ("mechanism", "four_bar", "--output", "out"),
    )
    for arguments in commands:
        assert run(*arguments).exit_code == 0
    before = {p.name: p.read_bytes() for p in Path("out").iterdir()}
    limits, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        for arguments in commands:
            result = run(*arguments)
            assert (result.exit_code, "cannot write" in result.stderr) == (1, True), result.output
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert {p.name: p.read_bytes() for p in Path("out").iterdir()} == before


def test_a_failed_study_leaves_no_empty_folder() -> None:
    Path("arm.urdf").write_text(URDF, encoding="utf-8")
    refused("study", "arm.urdf", "--dt", "1e-12", "--output", "new/folder")
    assert not Path("new").exists()
    with pytest.raises(RuntimeError), common.output_folder(Path("new/folder")):  # noqa: PT012
        assert Path("new/folder").is_dir()
        raise RuntimeError
    assert not Path("new").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("study",),
        ("study", "mit_humanoid_leg", "--dt", "0"),
        ("study", "mit_humanoid_leg", "--frequency", "fast"),
        ("study", "mit_humanoid_leg", "--colour", "red"),
        ("bench", "mit_humanoid_leg", "--repeats", "0"),
        ("dance",),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: pin-clusters" in result.stderr


def test_numbers_that_are_not_finite_are_mistakes_too() -> None:
    assert "frequency must be finite" in refused("study", "mit_humanoid_leg", "--frequency", "nan")
    assert "amplitude must be finite" in refused("study", "mit_humanoid_leg", "--amplitude", "inf")


def test_progress_bar_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with common.ProgressBar("work") as bar:
        bar._start -= 10.0
        bar(1, 2)
    assert bar._bar is None  # pytest's stderr is no terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with common.ProgressBar("work") as bar:
        bar(1, 2)
        assert bar._bar is None  # too early
        bar._start -= 10.0
        bar(2, 2)
        assert bar._bar is not None


def test_as_a_real_process() -> None:
    command = [sys.executable, "-m", "pin_clusters._cli.cli"]
    good = subprocess.run([*command, "info", "geared_chain"], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    assert "joint_12" in good.stdout
    bad = subprocess.run([*command, "study", "mit_humanoid_lag"], capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert bad.stdout == ""
    assert bad.stderr.splitlines() == [bad.stderr.strip()]
    assert "Did you mean 'mit_humanoid_leg'" in bad.stderr
    assert "\x1b" not in bad.stderr  # no colours into a pipe


@pytest.mark.parametrize(
    "module",
    pool.some(["pinocchio", "pin_clusters", "rich.console", "pin_clusters._cli.study", "numpy"], 2, rest="ci"),
)
def test_ctrl_c_in_the_first_seconds(module: str) -> None:
    """While that module is imported: before the package, in it, and by the command."""
    code = f"""if True:
    import signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    class Finder:
        def find_spec(self, name, *_):
            if name == {module!r}:
                signal.raise_signal(signal.SIGINT)
    sys.meta_path.insert(0, Finder())
    sys.argv = ["pin-clusters", "study", "four_bar", "--output", "new"]
    from pin_clusters_command import main
    main()"""
    result = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "error: interrupted.\n")
    assert not Path("new").exists()
