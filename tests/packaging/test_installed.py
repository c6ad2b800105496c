"""The package as it is installed: robots from a wheel and from the source tree, metadata, types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points, version
from importlib.resources import files
from pathlib import Path

import pytest

import pin_clusters as pc

ROOT = Path(__file__).parents[2]

REPORT = """
import sys, warnings
warnings.simplefilter("ignore")  # published inertias are summarised in a warning
import pin_clusters as pc
print(pc.__file__)
for name in pc.robots():
    assert pc.load(name).nv > 0, name
for name in pc.study.motions():
    assert pc.study.motion(name).moves_base, name
print(*pc.study.motions())
print(*pc.robots())
"""


MOTIONS = {f"{file.parents[1].name}_{file.stem}" for file in (ROOT / "robot_models").glob("*/motions/*.csv")}


def report(path: Path, cwd: Path) -> tuple[Path, list[str]]:
    """Load all robots and motions in a process whose package comes from ``path``; return its place and the robots."""
    environment = os.environ | {"PYTHONPATH": str(path)}
    command = [sys.executable, "-Pc", REPORT]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    place, motions, names = done.stdout.splitlines()[-3:]
    assert set(motions.split()) == MOTIONS
    return Path(place), names.split()


@pytest.mark.ci
@pytest.mark.slow
def test_wheel_has_the_robots(tmp_path: Path) -> None:
    def run(*arguments: str) -> None:
        done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run("build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("*.whl")
    target = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(target)  # all that pip would do with it
    extensions = [p.name for p in (target / "pin_clusters").glob("_native*") if p.suffix != ".pyi"]
    assert len(extensions) == (not wheel.name.endswith("-py3-none-any.whl"))  # pure if nothing compiles here
    (metadata,) = target.glob("*.dist-info/METADATA")
    assert (metadata.parent / "licenses" / "LICENSE").is_file()
    lost = re.findall(r"\]\((?!https?:)[^)]*\)", metadata.read_text(encoding="utf-8"))
    assert not lost, f"links to the repository, which lead nowhere on the page of an index: {lost}"
    place, names = report(target, tmp_path)
    assert target in place.parents
    shipped = {p.name for p in (target / "pin_clusters" / "robot_models").iterdir() if p.is_dir()}
    assert shipped == {p.name for p in (ROOT / "robot_models").iterdir() if p.is_dir()}
    assert shipped - {"atlas"} <= set(names)  # which has sheets of robots that do not ship
    sheets = target / "pin_clusters" / "robot_models" / "atlas"
    assert {p.name for p in sheets.iterdir()} == {p.name for p in (ROOT / "robot_models" / "atlas").iterdir()}
    for name in shipped:
        assert (target / "pin_clusters" / "robot_models" / name / "README.md").is_file(), f"{name} has no README"


@pytest.mark.ci
@pytest.mark.slow
def test_source_tree_has_the_robots(tmp_path: Path) -> None:
    place, names = report(ROOT, tmp_path)
    assert place == ROOT / "pin_clusters" / "__init__.py"
    assert {p.name for p in (ROOT / "robot_models").iterdir() if p.is_dir()} - {"atlas"} <= set(names)


def test_types_are_shipped() -> None:
    assert files("pin_clusters").joinpath("py.typed").is_file()


def test_one_version() -> None:
    assert pc.__version__ == version("pin-clusters")
    assert f"version: {pc.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{pc.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_command_is_installed() -> None:
    (script,) = [e for e in entry_points(group="console_scripts") if e.name == "pin-clusters"]
    assert callable(script.load())


@pytest.mark.parametrize(("name", "script"), [("pin", "run"), ("numba", "pythons")])
def test_oldest_versions_are_stated_once(name: str, script: str) -> None:
    oldest = re.search(rf"OLDEST_{name.upper()}=(\S+)", (ROOT / ".ci" / script).read_text(encoding="utf-8"))
    declared = re.search(rf'"{name}>=([\d.]+)[,"]', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert oldest is not None
    assert declared is not None
    assert oldest[1].startswith(declared[1])
    if name == "pin":
        assert f"`pin` {oldest[1]}" in (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")


def test_pages_at_the_top_are_in_the_source_distribution() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert {f"/{page.name}" for page in ROOT.glob("*.md")} <= set(listed["sdist"]["include"])
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_on_a_package_index_has_no_broken_pictures_or_links() -> None:
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for step in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(step["pattern"], step["replacement"], text)
    assert "![" not in text
    assert "Translucent" not in text  # the caption of a picture that is not there
    assert not re.search(r"\]\((?!https?:)", text)
    assert sum(picture.stat().st_size for picture in (ROOT / "docs/screenshots").glob("leg.gif")) < 1_500_000
