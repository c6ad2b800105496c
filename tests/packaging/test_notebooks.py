"""The notebooks of the documentation run without Jupyter, have small stored outputs, and link to existing pages."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LARGEST_PICTURE = 60_000  # [bytes]


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def code(cell: dict[str, Any]) -> str:
    """Return the code of a cell without magics."""
    lines = "".join(cell["source"]).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("%", "!")))


@pytest.mark.parametrize(
    "notebook",
    [pytest.param(n, marks=[pytest.mark.ci] * (n.stem != "first_steps")) for n in NOTEBOOKS],
    ids=lambda n: n.stem,
)
def test_cells_run_without_jupyter(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    before, namespace = mpl.get_backend(), dict[str, Any]()
    plt.switch_backend("Agg")
    try:
        for cell in cells(notebook, "code"):
            exec(compile(code(cell), f"{notebook.name}: {cell['id']}", "exec"), namespace)
        assert plt.get_fignums()
    finally:
        plt.close("all")
        plt.switch_backend(before)
    if notebook.stem == "first_steps":
        assert abs(namespace["exact"] - namespace["with_armature"]).max() == pytest.approx(9.0 * 0.005)
        assert abs(namespace["result"].energy - namespace["result"].energy[0]).max() < 1e-7
        assert namespace["result"].residual.max() < 1e-12
    else:
        assert namespace["result"].verdict.torque.worst[namespace["armature"]].joint == "ankle"
        assert namespace["page"].is_file()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_stored_outputs_are_small_and_do_not_change_from_run_to_run(notebook: Path) -> None:
    for cell in cells(notebook, "code"):
        assert cell["execution_count"] is None, "run docs/notebooks/make.py"
        for output in cell["outputs"]:
            assert output["output_type"] in ("stream", "display_data"), output
            assert output.get("name", "stdout") == "stdout", output
            picture = output.get("data", {}).get("image/png", "")
            assert len(base64.b64decode(picture)) < LARGEST_PICTURE, f"{notebook.stem}: {cell['id']}"
    assert any(cell["outputs"] for cell in cells(notebook, "code"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_links_of_notebooks_lead_somewhere(notebook: Path) -> None:
    links = [x for cell in cells(notebook, "markdown") for x in re.findall(r"\]\(([^)#]+)", "".join(cell["source"]))]
    assert links
    for link in links:
        assert (notebook.parent / link).is_file(), link


def test_every_notebook_is_a_tutorial() -> None:
    text = (DOCS / "tutorials.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 2
    for notebook in NOTEBOOKS:
        assert f"](notebooks/{notebook.name})" in text, notebook
        assert f"\nnotebooks/{notebook.stem}\n" in text, notebook
