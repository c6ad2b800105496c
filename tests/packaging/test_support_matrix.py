"""The support matrix of the documentation states what the package does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the documentation, where nothing is compiled."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(DOCS)!r})\n{code}"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


def test_the_page_is_made_by_its_script() -> None:
    spec = importlib.util.spec_from_file_location("support_matrix", DOCS / "support_matrix.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run python docs/support_matrix.py"


@pytest.mark.ci
def test_each_cell_states_what_the_package_does() -> None:
    pytest.importorskip("mujoco")
    done = run("import support_checks\nsys.exit(support_checks.main())")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.ci
def test_wrong_cells_are_found() -> None:
    pytest.importorskip("mujoco")
    done = run(
        "import pin_clusters as pc, support_checks as c\n"
        "cells = c.declared_cells() | {('Rod with mass', 'reference'): c.EXACT, ('Rod with mass', 'dynamics'): c.NO}\n"
        "with pc.engine('tables'):\n    print(*c.differences(cells, ('Rod with mass',)), sep='\\n')\n"
        "c.projection.rnea = lambda *given: pc.rnea(*given[:1], given[0].createData(), *given[2:]) + 1.0\n"
        "print(c.found_for('Loop', 'dynamics'))"
    )
    assert done.returncode == 0, done.stderr
    dynamics, reference, numbers = done.stdout.splitlines()
    assert dynamics == "dynamics, Rod with mass: the page says not supported, the check found exact"
    assert reference == "reference, Rod with mass: the page says exact, the check found not supported"
    assert "wrong numbers" in numbers
