"""README, docs and examples: what they show runs."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters.studies import study
from pin_clusters.studies.study import report

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def can_run(example: Path) -> None:
    """Skip, where what the example needs is not among what the tests install."""
    if "import crocoddyl" in example.read_text(encoding="utf-8"):
        pytest.importorskip("crocoddyl", reason="needs Crocoddyl: pip install '.[control]'")
    if "from ppo import" in example.read_text(encoding="utf-8"):
        pytest.importorskip("jax", reason="needs JAX: pip install '.[jax]'")
    if "import casadi" in example.read_text(encoding="utf-8"):
        pytest.importorskip("casadi", reason="needs CasADi: pip install '.[casadi]'")


def python_blocks(page: str) -> list[str]:
    """Return the Python code of a page, block by block."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def test_readme_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = python_blocks("README.md")
    assert len([line for line in code.splitlines() if line]) <= 12
    names: dict[str, Any] = {}
    exec(code, names)
    np.testing.assert_allclose(names["a"], 0.0, atol=1e-9)  # the torques are those of no acceleration
    assert names["swing"].q.shape == (2001, 3)
    assert names["swing"].residual.max() < 1e-9


def test_readme_number_is_printed_by_its_first_command() -> None:
    """The command prints the verdict of the study with its default motion."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    model = pc.load("mit_humanoid_leg", root_joint=None)
    verdict = report.verdict(study.run(model, study.Sine()))
    percent = re.search(r"diagonal armature: (\d+) % at ankle", verdict)
    assert percent is not None, verdict
    assert f"**{percent[1]} % of the peak torque at the ankle**" in readme
    assert len(readme.splitlines()) <= 120


def test_tables_that_appear_twice_agree() -> None:
    """Each row of the README's speed table is a row of the page on performance, from the same run."""
    readme, page = (
        (ROOT / name).read_text(encoding="utf-8").split("<!-- generated: bench -->")[1].split("<!-- end -->")[0]
        for name in ("README.md", "docs/performance.md")
    )
    rows = re.findall(r"^\| `.+$", readme, re.MULTILINE)
    assert len(rows) >= 3
    assert set(rows) <= set(page.splitlines())
    (measured,) = re.findall(r"^Measured on .+$", readme, re.MULTILINE)
    assert measured in page


def test_getting_started_code_runs() -> None:
    names: dict[str, object] = {}
    for code in python_blocks("docs/getting-started.md"):
        if "robot.urdf" not in code:  # the reader's own file
            exec(code, names)
    assert "model" in names


@pytest.mark.ci
def test_tutorial_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "".join(python_blocks("docs/tutorial.md")).replace('"examples/', f'"{ROOT}/examples/')
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*dont_collapse", pc.PinClustersWarning)
        exec(code, {})
    assert {"audit_go2", "go2.motors.yaml", "trot.html"} <= {p.name for p in tmp_path.iterdir()}


def test_readme_commands_are_those_of_the_ci() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && pin-clusters study mit_humanoid_leg" in readme
    assert "pip install '.[test]' && pytest" in readme
    for section in ("validation", "bench"):
        assert re.search(rf"<!-- generated: {section} -->.+?<!-- end -->", readme, re.DOTALL)


def test_relative_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "examples").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize(
    "example", [pytest.param(e, id=e.stem, marks=[pytest.mark.ci] * (i > 1)) for i, e in enumerate(EXAMPLES)]
)
def test_example_runs(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: a new one would import everything again."""
    can_run(example)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    monkeypatch.syspath_prepend(example.parent)  # as for a script
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.ci
@pytest.mark.parametrize(
    "example", [pytest.param(e, id=e.stem, marks=[pytest.mark.long] * (e != EXAMPLES[0])) for e in EXAMPLES]
)
def test_example_runs_as_a_process(example: Path, tmp_path: Path) -> None:
    can_run(example)
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", str(example)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("example", "package", "extra"),
    [
        ("15_optimal_control", "Crocoddyl", "control"),
        ("16_casadi_swing_up", "CasADi", "casadi"),
        ("17_casadi_stance", "CasADi", "casadi"),
        ("23_train_walk", "JAX", "jax"),
        ("24_train_loops", "JAX", "jax"),
    ],
)
def test_example_says_how_to_get_what_it_needs(
    example: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package.lower(), None)
    monkeypatch.delitem(sys.modules, "ppo", raising=False)
    monkeypatch.syspath_prepend(ROOT / "examples")
    with pytest.raises(SystemExit, match=rf"needs {package}: pip install '\.\[{extra}\]'"):
        runpy.run_path(str(ROOT / "examples" / f"{example}.py"), run_name="__main__")
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_examples_are_listed_and_have_pictures() -> None:
    for example in EXAMPLES:
        listed_with_a_picture(example)


def listed_with_a_picture(example: Path) -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    number, name = example.stem.split("_", 1)
    listed = re.search(rf"^\| \[`{example.name}`\]\(#({number}-[a-z0-9-]+)\) \| \w", text, re.MULTILINE)
    assert listed is not None, example.name
    section = text.split(f"\n## {number} ")[1].split("\n## ")[0]
    title = f"{number} {section.splitlines()[0]}".lower()
    assert listed[1] == re.sub(r"[^a-z0-9 -]", "", title).replace(" ", "-")
    assert re.search(rf"^!\[.{{20,}}\]\(pictures/{number}\.png\)$", section, re.MULTILINE)
    picture = (ROOT / "examples" / "pictures" / f"{number}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 100_000
    assert f"{{literalinclude}} ../examples/{example.name}\n" in (ROOT / "docs" / "examples.md").read_text(
        encoding="utf-8"
    )
    assert f"def draw_{number}(" in (ROOT / "examples" / "pictures" / "make.py").read_text(encoding="utf-8")
    # three robots; two mechanisms; two
    longest = {"optimal_control": 125, "casadi_swing_up": 120, "ankle_firmware": 140}.get(name, 95)
    assert len(example.read_text(encoding="utf-8").splitlines()) <= longest, f"{name} is too long for an example"


def test_numbers_of_examples_have_no_gap() -> None:
    assert [e.stem[:2] for e in EXAMPLES] == [f"{k:02d}" for k in range(1, len(EXAMPLES) + 1)]
    assert {p.stem for p in (ROOT / "examples" / "pictures").glob("*.png")} == {e.stem[:2] for e in EXAMPLES}


def test_only_the_prefix_changes_in_the_drop_in() -> None:
    text = (ROOT / "examples" / "01_drop_in.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 90
    # the body of a function, after its signature and its docstring of one line each
    before, after = (
        text.split(f"\ndef {name}(")[1].split("\n\n\n")[0].split("\n", 2)[2] for name in ("before", "after")
    )
    assert "pin." in before
    assert after == before.replace("pin.", "pc.")


def test_the_script_with_contacts_is_written_once() -> None:
    text = (ROOT / "examples" / "12_contacts.py").read_text(encoding="utf-8")
    script, main = text.split("\ndef script(")[1].split("\n\n\ndef main(")
    objects = {"pin.ContactType.CONTACT_3D", "pin.LOCAL_WORLD_ALIGNED"}  # the same for both
    assert set(re.findall(r"\bp(?:in|c)\.[\w.]+", script)) == objects
    assert {"constraintDynamics", "impulseDynamics", "initConstraintDynamics"} <= set(re.findall(r"lib\.(\w+)", script))
    assert set(re.findall(r"\bscript\((\w+), ", main)) == {"pin", "pc"}
