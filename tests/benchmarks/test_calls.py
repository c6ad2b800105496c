"""The benchmark of all calls: no function is forgotten, a small case runs, and its tables are generated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pinocchio as pin
import pytest
from support.scripts import BENCHMARKS, benchmarks

import pin_clusters as pc

MODULES = ("timing", "call_forms", "calls", "report_loops", "report_every_call")

pytestmark = pytest.mark.skipif(not pin.__version__.startswith("4.1"), reason="reads docstrings of Pinocchio 4.1")


@pytest.fixture
def scripts() -> Iterator[dict[str, ModuleType]]:
    with benchmarks(*MODULES) as found:
        yield found


def test_every_function_is_measured_or_left_out(scripts: dict[str, ModuleType]) -> None:
    forms = scripts["call_forms"]
    calls = forms.calls()
    assert not forms.missing()
    assert not set(forms.LEFT_OUT) - set(forms.functions())
    assert len({call.key for call in calls}) == len(calls) > 700


def test_limits(scripts: dict[str, ModuleType]) -> None:
    limit = scripts["call_forms"].limit
    assert [limit(name, True) for name in ("rnea", "createData", "integrate", "randomConfiguration")] == [1.5, 5, 5, 50]
    assert [limit(name, False) for name in ("createData", "integrate", "randomConfiguration")] == [5, 1.5, 1.5]


@pytest.mark.ci
def test_it_measures_and_reports(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    output = tmp_path / "calls.json"
    chosen = ["--only", "rnea", "getFrameVelocity", "--json", str(output)]
    assert scripts["calls"].main(["--robots", "four_bar", *chosen]) == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    assert all(row["cells"]["four_bar"]["pc"] > 0.0 and row["cells"]["four_bar"]["pin"] > 0.0 for row in found["rows"])
    text = scripts["report_every_call"].whole(found)
    assert "\n| `rnea(q, v, a)` | lists | " in text
    assert "| `lcaba` | raises NotAvailableError for a ClusterModel |" in text


# JAX warns of forks if another test has imported it; the child of this test does not use JAX.
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_process_that_ends_loses_one_cell(scripts: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    calls = scripts["calls"]

    def cell(ours: object, theirs: object, call: object, loops: bool) -> Iterator[dict[str, float]]:
        if call.style == "lists":  # type: ignore[attr-defined]
            os._exit(1)
        yield {"pc": 1.0, "pin": 2.0}

    monkeypatch.setattr(calls, "cell", cell)
    monkeypatch.setattr(calls, "sides", lambda model: (None, None))
    rows = [row for row in scripts["call_forms"].calls() if row.function == "rnea"]
    found = calls.measure(pc.load("four_bar"), rows, 1, False)
    assert {key for key, x in found.items() if "error" in x} == {"rnea(q, v, a), lists"}
    assert len(found) == len(rows)


def test_the_page_is_the_table_of_the_results(scripts: dict[str, ModuleType]) -> None:
    results = BENCHMARKS / "results" / "calls.json"
    if not results.is_file():
        pytest.skip("not measured yet")
    text = scripts["report_every_call"].whole(json.loads(results.read_text(encoding="utf-8")))
    page = BENCHMARKS.parent / "docs" / "calls.md"
    assert f"<!-- generated: calls -->\n{text}\n<!-- end -->" in page.read_text(encoding="utf-8")


def test_tables(scripts: dict[str, ModuleType]) -> None:
    machine = dict.fromkeys(("cpu", "system", "lanes", "python", "pinocchio", "numba", "numpy", "date"), "x")
    row = {"function": "createData", "call": "createData()", "style": "positional"}
    cells = {"four_bar": {"pc": 20.0, "pin": 2.0, "warm": 3}, "tello": {"error": "ValueError: a | b"}}
    results = {
        "machine": machine,
        "loops": {"four_bar": True, "tello": True},
        "left_out": {},
        "rows": [row | {"cells": cells}],
    }
    text = scripts["report_every_call"].whole(results)
    assert "1 ratios, of which 1 are above their limit; 1 calls fail." in text
    assert "\n| `createData()` | positional | `four_bar` | 10.00 | 5 |" in text
    assert "\n| `createData()` | positional | `four_bar` | 3 |" in text
    assert "\n| `createData()` | positional | `tello` | ValueError: a \\| b |" in text
    assert "\n| `createData()` | positional | 10.00 | error |" in text
