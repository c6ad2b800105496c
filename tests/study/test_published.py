"""The papers' tables and figures: every part on a tiny configuration; nothing here judges a time."""

from __future__ import annotations

import dataclasses
import importlib
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.commands import refused, run
from support.messages import raises
from support.studies import load

import pin_clusters as pc
from pin_clusters._cli import cli
from pin_clusters.approximations.armature import axial_inertia
from pin_clusters.compiler.entry_points import JIT
from pin_clusters.studies.study.paper import _effort, _machine, _models, _numbers, lengths, published
from pin_clusters.studies.study.paper._part import CONFIRMED, CORRECTED, NOT_HERE, Part
from pin_clusters.verification.baselines import armature_model, projection

TINY = _effort.EFFORTS["tiny"]
PARTS = {part.key: part for part in published.PARTS}


def compiled(test: Any) -> Any:
    """Mark a test of what all parts find: baselines are compiled for it."""
    return pytest.mark.ci(pytest.mark.skipif(not JIT, reason="plain Python takes minutes")(test))


@cache
def results() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        steps: list[tuple[int, int]] = []
        found = published.run(quick=TINY, progress=lambda done, total: steps.append((done, total)))
    assert steps
    assert all(0 <= done < total for done, total in steps)
    return found


def part(key: str) -> tuple[Part, dict[str, Any]]:
    """Return a part and what it found, as JSON gives it back; a copy."""
    return PARTS[key], json.loads(json.dumps(results()["parts"][key]))


# --- what is measured -------------------------------------------------------------------------------------------------


@compiled
def test_exact_methods_agree_in_every_part() -> None:
    for key, found in results()["parts"].items():
        if key == "tables":
            assert max(r["agreement"] for r in found["robots"]) < 1e-9
        elif key not in ("sinusoids", "passive"):
            assert found["agreement"] < 1e-9, key
    for one in results()["parts"]["passive"]["chains"].values():
        first, last = (max(map(abs, r["drift"])) / max(r["kinetic"]) for r in one["runs"].values())
        assert last < 1e-6
        assert first < 1e-6


@compiled
@pytest.mark.parametrize("key", PARTS)
def test_every_part_has_tables_figures_and_statements(key: str, tmp_path: Path) -> None:
    one, found = part(key)
    for title, rows in one.tables(found):
        assert title
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1, title
    for s in one.statements(found):
        assert s.verdict in (CONFIRMED, CORRECTED, NOT_HERE)
        assert s.text.endswith(".")
        assert s.measured.endswith(".")
        assert any(c.isdigit() for c in s.measured)
    assert all(text.endswith(".") for text in one.says(found))
    drawn = published.draw({"parts": {key: found}}, tmp_path, "paper_")
    assert [file.name for file in drawn] == [f"paper_{name}.png" for name in one.figures]
    assert all(file.stat().st_size > 10_000 for file in drawn)


@compiled
def test_the_report_comes_from_json_alone(tmp_path: Path) -> None:
    few = ("sinusoids", "inputs")  # test_every_part_has... draws all
    files = published.write({**results(), "parts": {key: results()["parts"][key] for key in few}}, tmp_path)
    assert {file.parent for file in files} == {tmp_path}
    back = json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))
    assert {"cpu", "cores", "lanes", "pinocchio", "numba", "numpy", "python", "commit", "date"} <= set(back["machine"])
    page = (tmp_path / "paper.md").read_text(encoding="utf-8")
    assert page == f"# The papers' tables and figures, measured here\n\n{published.page(back)}\n"
    for one in (PARTS[key] for key in few):
        assert one.title in page
        for name in one.figures:
            assert f"]({name}.png)" in page
            assert (tmp_path / f"{name}.png").is_file()
    assert PARTS["tables"].title not in page
    assert f"{len(published.statements(back))} statements" in page


@compiled
def test_what_cannot_be_expressed_is_named_and_left_blank() -> None:
    one, found = part("tables")
    tello = found["robots"][1]
    assert tello["robot"] == "tello_with_arms"
    assert "armature_model cannot express tello_with_arms" in " ".join(one.says(found))
    del tello["tables"]["operational inertia"]["per_cent"]["pinocchio"]
    tello["left_out"] = {"operational inertia: pinocchio": "Pinocchio 3 has no computeDelassusMatrix."}
    assert "left blank. Pinocchio 3 has no" in " ".join(one.says(found))
    assert "-" in one.tables(found)[2][1][-1]
    one, found = part("crossover")
    for row in found["rows"]:
        row["times"].pop("baraff", None)
        row["to_crba"].pop("baraff", None)
    found["left_out"]["baraff"] = "baselines.baraff cannot express it: a body has no mass."
    assert "Lagrange multipliers (Baraff): left blank. baselines.baraff cannot" in " ".join(one.says(found))
    assert not any("O(n)" in s.text for s in one.statements(found))


# --- verdicts ---------------------------------------------------------------------------------------------------------


@compiled
def test_verdicts_follow_the_numbers() -> None:
    one, found = part("tables")
    for robot in found["robots"]:
        for table in robot["tables"].values():
            table["per_cent"] |= {"projection": 30.0, "approximate": -40.0}
            table["per_cent"] |= {"lagrange": 90.0} if "lagrange" in table["per_cent"] else {}
    assert {s.verdict for s in one.statements(found)} == {CONFIRMED}
    found["robots"][0]["tables"]["forward dynamics"]["per_cent"]["lagrange"] = -1.0
    wrong = [s for s in one.statements(found) if s.verdict == CORRECTED]
    assert len(wrong) == 1
    assert "longer on 1 of 2 robots" in wrong[0].measured
    for robot in found["robots"]:
        robot["tables"]["inverse dynamics"]["per_cent"]["approximate"] = -5.0
    assert one.statements(found)[0].verdict == CORRECTED


@compiled
def test_orders_are_judged_by_slopes() -> None:
    one, found = part("lengths")
    slopes = found["slopes"]["forward dynamics"]
    slopes["cluster"]["long"], slopes["projection"]["long"] = 1.0, 2.9
    first, second = one.statements(found)[:2]
    assert (first.verdict, second.verdict) == (CONFIRMED, CONFIRMED)
    slopes["cluster"]["long"], slopes["projection"]["long"] = 1.5, 1.9
    first, second = one.statements(found)[:2]
    assert (first.verdict, second.verdict) == (CORRECTED, CORRECTED)


@compiled
def test_published_numbers_stand_beside_ours() -> None:
    one, found = part("tables")
    (_, inverse), (_, forward), _ = one.tables(found)
    assert inverse[1][0] == "`geared_chain`"
    assert any(cell.endswith("(-40.3 %)") for cell in inverse[1])
    assert any(cell.endswith("(+82.7 %)") for cell in forward[2])  # Lagrange multipliers on Tello
    one, found = part("inputs")
    found["rows"][-1]["n"] = 50
    assert any("(15.6)" in cell for cell in one.tables(found)[0][1][-2])
    assert any("(16.3)" in cell for cell in one.tables(found)[0][1][-1])


def test_all_published_tables_have_a_number_per_robot() -> None:
    assert len(_numbers.ROBOTS) == 6
    for methods in _numbers.TABLES.values():
        for numbers in methods.values():
            assert len(numbers) == 6
    assert set(_numbers.ROBOTS) <= set(pc.robots())


def test_crossings_and_slopes() -> None:
    sizes = [10.0, 20.0, 30.0]
    assert _effort.crossing(sizes, [2.0, 0.5, 0.4]) == 15.0
    assert _effort.crossing(sizes, [0.5, 2.0, 0.5]) == 25.0  # the last time
    assert _effort.crossing(sizes, [0.9, 0.8, 0.7]) == 0.0
    assert _effort.crossing(sizes, [0.9, 0.8, 1.1]) is None
    assert _effort.slope(sizes, [x**3 for x in sizes]) == pytest.approx(3.0, abs=1e-3)


# --- robots -----------------------------------------------------------------------------------------------------------


def test_without_differentials_the_serial_robot_is_the_one_with_armature() -> None:
    model = load("mini_cheetah", True)
    ours, known = _models.serial(model), armature_model(model, "diagonal")
    assert list(ours.names) == list(known.names)
    assert np.allclose(ours.armature, known.armature, rtol=1e-12, atol=0.0)
    assert np.allclose(ours.inertias[3].matrix(), known.inertias[3].matrix())


def test_the_serial_robot_of_differentials_reflects_what_their_rotors_store() -> None:
    """Kinetic energy of the spin alone: with the other links still, each link moved alone turns its rotors."""
    model = load("tello_with_arms")
    tree = _models.serial(model)
    assert tree.nv == model.nv
    space = projection.createData(model)
    space.couple(model.q_reference)
    G = space.G[space.span.from_tree_v]
    names = list(model.tree.names)

    def row(name: str) -> np.ndarray:
        return G[model.tree.joints[names.index(name)].idx_v]

    links = list(tree.names)[1:]
    for k, name in enumerate(links):
        v = np.linalg.solve(np.array([row(other) for other in links]), np.eye(len(links))[k])
        assert row(name) @ v == pytest.approx(1.0, abs=1e-12)
        stored = sum(axial_inertia(model, r) * (row(r.name) @ v) ** 2 for r in model.rotors)
        assert tree.armature[tree.joints[tree.getJointId(name)].idx_v] == pytest.approx(stored, rel=1e-9)


def test_robots_that_have_no_serial_robot_are_refused() -> None:
    with raises(pc.ModelError, "four_bar 3 1"):
        _models.serial(load("four_bar"))


@compiled
def test_kernels_alone_give_what_calls_give() -> None:
    model = _models.chain(5)
    rng = np.random.default_rng(0)
    q, v, x = rng.standard_normal((3, 5))
    for name in ("aba", "rnea"):
        function, given = _models.kernel(model, name, q, v, x)
        function(*given)
        assert np.allclose(given[-1], getattr(pc, name)(model, model.createData(), q, v, x), rtol=1e-12)
    function, given = _models.kernel_of_frame(model, q, model.nframes - 1)
    function(*given)
    one = pc.inverse_operational_inertia(model, model.createData(), q, [model.nframes - 1])
    assert np.allclose(given[-2], one, rtol=1e-12, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("size", [1, 2, 4])
def test_clusters_have_the_size_that_is_asked_for(size: int) -> None:
    model = _models.grouped(8, size)
    assert max(len(c.joints) for c in model.clusters) == size
    assert model.nv == (8 if size == 1 else 8 - 8 // size)


def test_trees_have_the_depth_and_the_ends_that_are_asked_for() -> None:
    tree = _models.branched(12, 4).tree
    leaves = [j for j in range(1, tree.njoints) if j not in list(tree.parents)]
    assert len(leaves) == 4
    assert {len(tree.supports[j]) for j in leaves} == {1 + 1 + 3}  # the universe and the first link
    assert _models.balls((0, 1, 1)).nv == 9


# --- bad input --------------------------------------------------------------------------------------------------------


def test_unknown_parts_and_lengths() -> None:
    with raises(pc.UnknownNameError, "'lengths'"):
        published.run(only=["length"])
    for longest in (1, 2.5, True):
        with raises(pc.ArgumentTypeError, "longest 2"):
            published.run(longest=longest)  # type: ignore[arg-type]


def test_what_takes_hours_is_said_and_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("it has begun")

    parts = [dataclasses.replace(one, measure=never) for one in published.PARTS]
    monkeypatch.setattr(published, "PARTS", parts)
    monkeypatch.setattr(published, "available", lambda: 1e12)
    # a chain of 100 links takes a second
    clock = iter(range(1000))
    monkeypatch.setattr(published.time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(published, "chain", lambda n: None)
    with raises(pc.ArgumentTypeError, "longest=10000 --patient"):
        published.run(only=["lengths"], longest=10_000)
    assert published.expected(only=["lengths"], longest=1000).seconds < 1000.0
    assert published.expected(only=["shapes"], longest=10_000).seconds < 1000.0  # it has no long chains
    monkeypatch.setattr(published, "available", lambda: 1e9)
    with raises(pc.ArgumentTypeError, "6.0 1.0"):
        published.run(only=["lengths"], longest=10_000, patient=True)


@compiled
def test_memory_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "available", lambda: 0.0)
    found = lengths.measure(TINY, lambda: None)
    assert "for 2 links, Pinocchio's tables would take" in found["skipped"][0]
    assert found["rows"]["operational inertia"][0]["times"].keys() == {"cluster"}
    assert found["rows"]["forward dynamics"][0]["times"].keys() == {"cluster", "rnea"}


def test_folders_that_cannot_be_written_are_said_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(**_: Any) -> None:
        raise AssertionError("it has begun")

    monkeypatch.setattr(published, "run", never)
    taken = tmp_path / "taken"
    taken.write_text("")
    assert "is a file, not a folder" in refused("paper", "--quick", "--output", str(taken))
    assert "cannot write to /proc" in refused("paper", "--quick", "--output", "/proc/nothing")


@compiled
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_effort.EFFORTS, "quick", TINY)
    done = run("paper", "--quick", "--only", "shapes", "--output", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "This takes about 0 min" in done.stdout
    assert "confirmed" in done.stdout
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"paper.json", "paper.md", *(f"{name}.png" for name in PARTS["shapes"].figures)}
    assert json.loads((tmp_path / "out" / "paper.json").read_text())["parts"].keys() == {"shapes"}
    assert "there is no part 'shape'" in refused("paper", "--only", "shape", "--output", str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_the_help_lists_all_parts() -> None:
    text = run("paper", "--help").stdout
    assert all(f"  {key}  " in text for key in PARTS)
    assert "pin-clusters paper --quick" in text.split("Examples:\n")[1]
    assert cli.main.get_command(None, "paper") is not None  # type: ignore[arg-type]


# --- documentation ----------------------------------------------------------------------------------------------------


def test_the_page_has_the_numbers_of_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    script = importlib.import_module("report_paper")
    assert script.main(["--check"]) == 0
    measured = json.loads(script.RESULTS.read_text(encoding="utf-8"))
    assert measured["effort"]["name"] == "full"
    assert set(measured["parts"]) == set(PARTS)
    assert sum(measured["seconds"].values()) < 720.0
    for one in PARTS.values():
        assert all((script.FIGURES / f"{script.PREFIX}{name}.png").is_file() for name in one.figures)
    # whether it can fail
    changed = tmp_path / "paper.json"
    measured["seconds"]["tables"] += 100.0
    changed.write_text(json.dumps(measured), encoding="utf-8")
    monkeypatch.setattr(script, "RESULTS", changed)
    assert script.main(["--check"]) == 1


def test_the_commit_is_that_of_the_source_tree() -> None:
    found = _machine.machine()
    assert found["pinocchio"] == pin.__version__
    assert found["commit"] == _machine.UNKNOWN or len(found["commit"].rstrip("+")) == 12
