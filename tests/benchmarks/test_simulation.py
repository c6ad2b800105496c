"""The measurements of simulation run on a small case, and their tables are generated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.scripts import benchmarks

pytestmark = pytest.mark.ci

MODULES = ("timing", "report_loops", "simulation", "report_simulation")


@pytest.fixture
def scripts() -> Iterator[dict[str, ModuleType]]:
    with benchmarks(*MODULES) as found:
        yield found


@pytest.mark.ci
def test_it_measures_and_reports(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, figure = tmp_path / "simulation.json", tmp_path / "convergence.png"
    assert scripts["simulation"].main(["--quick", "--output", str(output), "--figure", str(figure)]) == 0
    assert "four_bar" in capsys.readouterr().out
    assert figure.stat().st_size > 10_000
    found = json.loads(output.read_text(encoding="utf-8"))
    for name in ("mit_humanoid_leg", "four_bar"):
        slopes = {m: x["slope"] for m, x in found["motions"][name]["order"]["methods"].items()}
        # between the two largest steps only
        assert slopes == pytest.approx({"rk4": 4.0, "rkmk4": 4.0, "semi_implicit": 1.0}, abs=0.2)
    text = scripts["report_simulation"].tables(found)
    assert "| `four_bar` | fixed, closed loop | 2 | 0.32 | 0 |" in text
    assert "SIMD lanes" in text


def test_a_simulation_that_stops_is_reported(scripts: dict[str, ModuleType]) -> None:
    drift = scripts["report_simulation"]._drift
    assert (drift({"failed": "it diverges"}), drift({"energy": 1.6e-9})) == ("stops", "2e-09")
