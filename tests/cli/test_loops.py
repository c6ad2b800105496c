"""The commands on robots with closed loops, shipped and from URDF+ files, at several widths."""

from __future__ import annotations

import functools
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from samples import pool
from support.commands import refused, run
from support.studies import LOOPS, WITH_ROTORS, load

import pin_clusters as pc
import pin_clusters.files.readers.library as library
from pin_clusters._cli import bench, info, tables
from pin_clusters._cli import study as study_command
from pin_clusters.algorithms.dynamics.condition import condition
from pin_clusters.verification import peers

NOT_PINOCCHIO = ("robotiq_2f85", "tello", "tello_with_arms")
"""Whose loops pin.constraintDynamics cannot express."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def file_of(name: str) -> str:
    return library.folders()[name].joinpath("model.urdf").read_text(encoding="utf-8")


def terminal(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True, highlight=False)


def lines(out: Console) -> list[str]:
    assert isinstance(out.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", out.file.getvalue()).splitlines()


def row(text: str, *start: str) -> list[str]:
    """The words of the only line that starts so."""
    (found,) = [line.split() for line in text.splitlines() if tuple(line.split()[: len(start)]) == start]
    return found


@pytest.mark.parametrize("name", pool.some(LOOPS, ["four_bar", "cassie_leg", "tello"], rest="ci"))
def test_info(name: str) -> None:
    result = run("info", name)
    assert result.exit_code == 0
    model = (
        pc.load(name) if name.startswith("tello") or name == "cassie" else load(name)
    )  # those with a base that floats
    text = result.stdout
    assert f"nv = {model.nv} independent of {model.tree.nv} in the spanning tree" in text
    pose = text.split("Reference pose")[1].split("Largest residual")[0]
    for joint in list(model.tree.names)[1:]:
        assert row(pose, joint)[1] == ("independent" if joint in model.independent_joints else "dependent")
    closed = text.split("Closed loops")[1].split("Equations:")[0]
    conditions = condition(model, model.createData(), model.q_reference)
    loops = [(i, loop) for i, loop in enumerate(model.tables.topology.loops, start=1) if loop is not None]
    assert len(loops) == len(conditions) >= 1
    for (i, loop), found in zip(loops, conditions, strict=True):
        words = next(line.split() for line in closed.splitlines() if line.split()[:1] == [str(i)])
        assert words[-2] == f"{found.K_d:.3g}"
        assert words[-3] == f"{loop.worst_condition:.3g}"
        assert words[-6:-3] == [str(loop.rank), "of", words[-4]]
        assert int(words[-4]) >= loop.rank
    assert ("Reflected inertia" in text) == bool(model.rotors)


def test_info_gives_what_the_readme_of_the_four_bar_says() -> None:
    text = run("info", "four_bar").stdout
    assert "1 cluster, with closed loops; 0 rotors" in text
    assert row(text, "1", "Loop('coupler_to_rocker')")[2:5] == ["2", "of", "5"]
    assert row(text, "rocker") == ["rocker", "dependent", "0"]


def test_info_counts_dropped_equations() -> None:
    """A real file writes 1.5708 for a right angle: the equations that repeat others miss by that."""
    text = file_of("four_bar").replace('xyz="0.37 0 0" rpy="0 0 0"', 'xyz="0.37 0 0" rpy="0.00003 0 0"')
    Path("sloppy.urdf").write_text(text, encoding="utf-8")
    result = run("info", "sloppy.urdf")
    assert result.exit_code == 0
    words = next(line.split() for line in result.stdout.splitlines() if "Loop('coupler_to_rocker')" in line)
    assert 5e-6 < float(words[-1]) < 1e-4
    assert "warning: " in result.stderr


def test_info_of_rods() -> None:
    text = run("info", "delta").stdout
    assert len([line for line in text.splitlines() if line.split()[:1] == ["Rod('rod_1a')"]]) == 1
    assert row(text, "Rod('rod_1a')")[1:] == ["arm_1", "platform_z", "0.65", "0.04"]
    assert "3 of 6" in text


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize(
    "name", pool.some([*LOOPS, "mit_humanoid", "jvrc1"], ["cassie_leg", "mit_humanoid"], rest="ci")
)
def test_info_fits_and_breaks_no_word(name: str, width: int) -> None:
    model, out = load(name), terminal(width)
    info.show(model, out)
    found = lines(out)
    assert max(map(len, found)) <= width
    words = {w.strip(",") for line in found for w in line.split()}
    assert set(list(model.tree.names)[1:]) <= words
    assert {f"{r.axial_inertia:.5g}" for r in model.rotors} <= words


@functools.cache
def short_study(name: str) -> pc.study.StudyResult:
    return pc.study.run(load(name), duration=0.1, dt=1e-2)


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("name", pool.some(["cassie_leg", "four_bar", "mit_humanoid", "tello"], 1, rest="ci"))
def test_study_fits_and_breaks_no_word(name: str, width: int) -> None:
    result, out = short_study(name), terminal(width)
    study_command.show(result, out)
    found = lines(out)
    assert max(map(len, found)) <= width
    words = {w.strip(":,") for line in found for w in line.split()}
    assert set(result.joints) <= words
    for label, *numbers in pc.study.report.table(result):
        assert set(label.replace(",", "").split()) <= {w.strip(",") for w in words}
        assert set(numbers) <= words


def test_tables_go_row_by_row_where_nothing_else_fits() -> None:
    table = tables.table_of("Title")
    for head in ("name", "a number", "text"):
        table.add_column(head)
    table.add_row("first", "1234567890", "one two three")
    table.add_row("second", "5", "four")
    shapes = {}
    for width in (80, 30, 20):
        out = terminal(width)
        tables.put(out, table)
        shapes[width] = found = lines(out)
        assert max(map(len, found)) <= width
        words = [w for line in found for w in line.split()]
        assert all(w in words for w in ("first", "1234567890", "one", "two", "three", "second", "5", "four"))
    assert any(line.split() == ["first", "1234567890", "one", "two", "three"] for line in shapes[80])
    assert any(line.split()[:2] == ["first", "1234567890"] for line in shapes[30])
    assert any(line.split() == ["name", "first"] for line in shapes[20])


@pytest.mark.parametrize("name", pool.some(LOOPS, ["four_bar", "cassie_leg"], everyday=1))
def test_study(name: str) -> None:
    result = run("study", name, "--duration", "0.1", "--dt", "0.005")
    assert result.exit_code == 0
    found = json.loads(Path(f"study_{name}/study.json").read_text(encoding="utf-8"))
    labels = ["unconstrained", "frozen loops"]
    labels += ["exact loops, no rotor", "exact loops, armature"] if name in WITH_ROTORS else []
    for label in labels:  # in the table, and defined below it
        assert len(re.findall(rf"^{label}: .+\.$", result.stdout, re.MULTILINE)) == 1
    assert "about the reference pose" in result.stdout
    assert ("The amplitude is reduced from 0.5 to" in result.stdout) == (found["trajectory"]["cut"] is not None)
    assert Path(f"study_{name}/study.png").stat().st_size > 10_000


def test_study_says_that_the_amplitude_is_cut() -> None:
    result = run("study", "six_bar", "--in-phase", "--amplitude", "3", "--duration", "0.1", "--dt", "0.01")
    sentence = json.loads(Path("study_six_bar/study.json").read_text(encoding="utf-8"))["trajectory"]["cut"]
    assert sentence in result.stdout
    assert re.match(r"The amplitude is reduced from 3 to 0\.9\d\d, 0\.9 times .*Loop\('left_to_right'\)", sentence)


def test_help_defines_the_approximations() -> None:
    text = run("study", "--help").stdout
    for word in (
        "unconstrained",
        "frozen loops",
        "no rotor",
        "armature",
        "tau = M_ii a + h_i",
        "tau = G0' rnea(q, G0 v",
    ):
        assert word in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", pool.some(LOOPS, ["four_bar"]))
def test_bench(name: str) -> None:
    result = run("bench", name, "--repeats", "3")
    assert result.exit_code == 0
    text = result.stdout
    for algorithm in ("rnea", "aba", "crba"):
        words = row(text, algorithm)
        assert float(words[5]) > 0.0  # ours (smallest) projection (smallest) ratio
        others = name not in NOT_PINOCCHIO and algorithm == "aba"
        assert (float(words[-1]) > 0.0) if others or name in NOT_PINOCCHIO else words[-2:] == ["-", "-"]
    assert ("pin.constraintDynamics is not timed: " in text) == (name in NOT_PINOCCHIO)
    assert ("Rotors are approximated by armature" in text) == (name in ("ankle_2rsu", "cassie_leg"))
    assert "A ratio below 1 means that pin_clusters is faster." in text


@pytest.mark.parametrize("width", pool.some([60, 80], 1))
def test_bench_fits(width: int) -> None:
    model, out = load("delta"), terminal(width)
    bench.show(model, peers.measure(model, repeats=3), out)
    assert max(map(len, lines(out))) <= width


@pytest.mark.parametrize("name", LOOPS)
def test_rivals_compute_the_same(name: str) -> None:
    model = load(name)
    calls, _ = peers._exact_peers(model, "")
    for algorithm in peers.ALGORITHMS:
        function, arguments = calls[algorithm, peers.OURS]
        expected = np.array(function(*arguments))
        function, arguments = calls[algorithm, "projection"]
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(np.asarray(function(*arguments)) - expected).max() < 1e-11 * scale
    if name in NOT_PINOCCHIO:
        assert ("aba", "pin.constraintDynamics") not in calls
    elif not model.rotors:
        function, arguments = calls["aba", "pin.constraintDynamics"]
        found = np.array(function(*arguments))
        function, arguments = calls["aba", peers.OURS]
        expected = function(*arguments)
        solver = pc.baselines.constrained.createData(model)
        error = np.abs(found[solver.independent] - expected).max()
        assert error < 1e-7 * max(1.0, np.abs(expected).max())


def test_file_with_loops() -> None:
    """URDF+ with two loops and a gear, all three commands."""
    gear = (
        '<link name="wheel_link"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="wheel" type="revolute" independent="false"><parent '
        'link="ground"/><child link="wheel_link"/><axis xyz="0 1 0"/><limit lower="-99" upper="99" effort="9" '
        'velocity="99"/></joint><coupling name="gear"><predecessor link="crank_link"/><successor link="wheel_link"/>'
        '<ratio value="-4"/></coupling>'
    )
    text = file_of("watt_six_bar")
    ground = re.findall(r'<link name="(\w+)"', text)[0]
    text = text.replace("</robot>", gear.replace('link="ground"', f'link="{ground}"') + "</robot>")
    Path("linkage.urdf").write_text(text, encoding="utf-8")
    shown = run("info", "linkage.urdf")
    assert shown.exit_code == 0, shown.stderr
    assert row(shown.stdout, "wheel", "universe")[2:4] == ["-4", "crank"]
    studied = run("study", "linkage.urdf", "--duration", "0.05")
    assert studied.exit_code == 0, studied.stderr
    assert "exact loops, armature" in studied.stdout
    timed = run("bench", "linkage.urdf", "--repeats", "3")
    assert timed.exit_code == 0, timed.stderr
    assert "pin.constraintDynamics is not timed" in timed.stdout


PIN = '<successor link="rocker_link"><origin xyz="-0.16 0 0.3" rpy="0 0 0"/></successor>'
# what is wrong: how the file of the four-bar is changed, what the message has to name
BAD = {
    "a pin 3 m away": (lambda text: text.replace(PIN, PIN.replace("-0.16 0 0.3", "3 0 0")), "coupler_to_rocker"),
    "a link that is not there": (lambda text: text.replace(PIN, PIN.replace("rocker", "roker")), "roker_link"),
    "a type that is no joint": (lambda text: re.sub(r'(<loop [^>]*type=)"\w+"', r'\1"sticky"', text), "sticky"),
    "nothing holds a dependent joint": (
        lambda _: re.sub(r"<mechanism.*?</mechanism>", "", file_of("tello"), flags=re.DOTALL),
        "left_hip_roll",
    ),
}


@pytest.mark.parametrize("command", ["info", "study", "bench"])
@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_one_clear_line(case: str, command: str) -> None:
    change, names = BAD[case]
    text = change(file_of("four_bar"))
    assert text != file_of("four_bar")
    Path("bad.urdf").write_text(text, encoding="utf-8")
    assert re.search(names, refused(command, "bad.urdf"))
