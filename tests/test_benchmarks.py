"""The harness runs on a tiny case; nothing here judges a time."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters import loaders
from pin_clusters._cli.bench import state
from pin_clusters._cli.timing import Timing, interleaved

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
MODULES = ("cases", "timing", "run", "report")


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        while str(FOLDER) in sys.path:
            sys.path.remove(str(FOLDER))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def leg() -> pc.ClusterModel:
    return loaders.load("mit_humanoid_leg", root_joint=None)


def test_interleaved_calls_everyone_the_same_number_of_times_per_block() -> None:
    calls: dict[str, int] = {"a": 0, "b": 0}

    def count(name: str) -> None:
        calls[name] += 1

    steps: list[int] = []
    found = interleaved(
        {"a": (count, ("a",)), "b": (count, ("b",))},
        repeats=4,
        block=1e-4,
        progress=lambda done, total: steps.append(done),
    )
    assert steps == [1, 2, 3, 4]
    for name in calls:
        assert found[name].samples.shape == (4,)
        assert calls[name] >= 4 * found[name].calls


def test_timing_statistics() -> None:
    x, y = Timing(np.array([1.0, 2.0, 3.0]), 1), Timing(np.array([2.0, 4.0, 3.0]), 1)
    assert (x.median, x.minimum) == (2.0, 1.0)
    assert x.ratio(y) == 0.5
    assert x.spread == 0.25


def test_both_robots_are_in_the_same_state(leg: pc.ClusterModel) -> None:
    one = state(leg)
    assert one.q_approximate.shape == (5,)
    # without rotors the cluster algorithms are Pinocchio's
    plain = one.cluster_calls(pc.ClusterModel(one.approximate))
    for name, (function, arguments) in one.pinocchio_calls().items():
        ours, its = plain[name]
        assert np.allclose(ours(*its), function(*arguments), rtol=1e-10, atol=1e-10)


def test_the_whole_run(scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scripts["cases"].QUICK.update(repeats=3, block=1e-4, states=9)
    output = tmp_path / "bench.json"
    assert scripts["run"].main(["--quick", "--robots", "mit_humanoid_leg", "--output", str(output)]) == 0
    assert "pin.abaInParallel" in capsys.readouterr().out
    results = json.loads(output.read_text(encoding="utf-8"))
    assert {"cpu", "lanes", "pinocchio", "numba", "date"} <= set(results["machine"])
    found = results["robots"]["mit_humanoid_leg"]
    assert set(found["ratio"]) == {"rnea", "aba", "crba"}
    assert found["batch"]["states"] == 9
    results["first_call_s"] = {"cold": {"rnea": 9.0}, "cached": {"rnea": 0.4}}
    results["robots"]["mit_humanoid_leg"]["gates"] = [{"what": "x", "value": 1.0, "limit": 2.0, "met": True}]
    for render in (scripts["report"].bench_short, scripts["report"].bench_long):
        text = render(results)
        assert "`mit_humanoid_leg`" in text
        assert "SIMD lanes" in text


def test_gates_are_judged_and_not_raised(scripts: dict[str, ModuleType]) -> None:
    case = scripts["cases"].Case("x", {"aba": 0.5}, overhead=1.1, projection=8.0, batch=8.0)
    found = {
        "ratio": {"aba": 0.6},
        "overhead": {"aba": 1.0},
        "projection": 9.0,
        "batch": {"lanes": 8, "speedup": {"aba": 7.0}},
    }
    gates = {g["what"]: g["met"] for g in scripts["run"].judge(case, found)}
    assert list(gates.values()) == [False, True, True, False]
    found["batch"]["lanes"] = 4  # the goal is one of 8 lanes
    assert len(scripts["run"].judge(case, found)) == 3


def test_every_case_is_a_robot(scripts: dict[str, ModuleType]) -> None:
    assert {case.robot for case in scripts["cases"].CASES} <= set(loaders.robots())


def test_numbers_go_between_the_markers(scripts: dict[str, ModuleType]) -> None:
    fill = scripts["report"].fill
    page = "a\n<!-- generated: bench -->\nold\n<!-- end -->\nb\n<!-- generated: study -->\nother\n<!-- end -->\n"
    assert fill(page, "bench", "new \\1") == page.replace("old", "new \\1")
    assert fill("nothing here", "bench", "new") == "nothing here"


def test_study_table_is_generated(scripts: dict[str, ModuleType]) -> None:
    text = scripts["report"].study_table()
    assert "| diagonal armature, rotors dropped | 0.206 | 0.178 | 0.365 | 1.045 | 0.826 |" in text


def test_unknown_robots_are_refused(scripts: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        scripts["run"].main(["--robots", "nobody"])
    assert "unknown robot 'nobody'" in capsys.readouterr().err
