"""The contract between subpackages names all of them, and only `model` reads private attributes of a model."""

import re
import tomllib
from pathlib import Path

import pin_clusters as pc

PACKAGE = Path(pc.__file__).parent


def test_every_subpackage_has_a_layer() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    named = {name.strip().removeprefix("pin_clusters.") for layer in contract["layers"] for name in layer.split("|")}

    def modules(folder: Path) -> set[str]:
        found = {p.stem for p in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
        return found - {"__init__"}

    expected = modules(PACKAGE) - {"compiler"} | {f"compiler.{name}" for name in modules(PACKAGE / "compiler")}
    assert named == expected


def test_only_the_model_reads_its_private_tables() -> None:
    private = re.compile(r"model\._(index|params|tables|topology|tree_tables)\b")
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] != "model":
            assert not private.search(path.read_text(encoding="utf-8")), path
