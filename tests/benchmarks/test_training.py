"""The learner of examples 23 and 24, and the tables of policies that were trained on armature."""

from __future__ import annotations

import importlib
import json
from typing import Any

import numpy as np
import pytest
from support.scripts import BENCHMARKS, ROOT, benchmarks

pytestmark = pytest.mark.ci

RUN: dict[str, Any] = {
    "trained": "exact",
    "seed": 0,
    "seconds": 120.0,
    "worlds": {"exact": {"fall": 0.25, "reward": 1.5, "speed": 0.5, "transport": 0.75}},
    "simulate": {"upright": 10.0, "distance": 4.5, "transport": 0.8, "landings": 31},
}


def test_tables_contain_every_run() -> None:
    good = RUN["worlds"]["exact"]
    fallen = RUN | {"trained": "armature", "worlds": {"armature": good, "exact": {"fall": 1.0}}}
    faster = RUN | {"trained": "armature", "worlds": {"armature": good, "exact": good | {"speed": 0.55}}}
    robots = {"biped": {"control_steps": 2e6, "runs": [RUN, fallen, faster]}}
    with benchmarks("report_training") as scripts:
        fields = ("cpu", "system", "lanes", "python", "pinocchio", "numba", "numpy", "date")
        table = scripts["report_training"].tables({"machine": dict.fromkeys(fields, "?"), "robots": robots})
        short = scripts["report_training"].short({"robots": robots})
    assert "| exact, seed 0 | exact | 25.0 % | 1.500 | 0.500 | 0.750 | 4.50 m in 10.0 s | 31 | 0.800 |" in table
    assert table.count("100.0 %") == 1
    assert "| `biped` | exact | 25.0 to 25.0 % | 1.500 to 1.500 |" in short
    assert "| `biped` | armature | 25.0 to 100.0 % | 1.500 to 1.500 | 0.550 to 0.550 |" in short
    assert "| `biped` | +0.0 to +0.0 % | +10.0 to +10.0 % | +0.0 to +0.0 % |" in short


def test_the_pages_are_the_tables_of_the_results() -> None:
    results = BENCHMARKS / "results" / "training.json"
    if not results.is_file():
        pytest.skip("no results")
    with benchmarks("report_training") as scripts:
        found = json.loads(results.read_text(encoding="utf-8"))
        whole, short = scripts["report_training"].tables(found), scripts["report_training"].short(found)
    assert whole in (ROOT / "docs" / "measured" / "training.md").read_text(encoding="utf-8")
    assert short in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_touchdowns_need_a_lift(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax", reason="needs JAX: pip install '.[jax]'")
    monkeypatch.syspath_prepend(ROOT / "examples")
    ppo = importlib.import_module("ppo")
    assert ppo.touchdowns(np.array([0.0, 0.005, 0.0, 0.02, 0.005, 0.0, 0.0])) == 1
    assert ppo.touchdowns(np.array([0.02, 0.0, 0.03, 0.0005, 0.0, 0.011])) == 2
