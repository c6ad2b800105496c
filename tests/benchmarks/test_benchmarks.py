"""The harness runs on a tiny case; nothing here judges a time."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.draws import draw
from support.messages import raises
from support.scripts import BENCHMARKS, benchmarks

import pin_clusters as pc
from pin_clusters.compiler.entry_points import JIT
from pin_clusters.files import readers as loaders
from pin_clusters.verification.peers import state
from pin_clusters.verification.timing import Timing, interleaved

pytestmark = pytest.mark.ci

MODULES = (
    "cases", "timing", "run", "report_loops", "report_calls", "report", "kernel_loop", "loop_cases", "tello_by_hand",
    "loop_timing", "run_loops", "everyday", "prices", "mujoco_tree", "loop_mechanisms", "accuracy_loops", "drift",
    "moves", "operational", "report_operational", "operational_cases", "operational_contacts", "operational_accuracy",
    "report_simulation", "standing", "batches", "report_batches", "dead_centres", "derivatives",
    "wbc", "derivatives_more", "derivatives_accuracy", "report_derivatives", "specialised", "report_specialised",
    "traces", "report_traces", "control_loop", "gpu", "gpu_bundle", "gpu_driver",
    "gpu_host", "gpu_run", "learning", "report_learning", "ground",
)  # fmt: skip
ORACLES = {"projection", "KKT", "MuJoCo", "itself", "differences"}

MACHINE = dict.fromkeys(("cpu", "system", "lanes", "python", "pinocchio", "numba", "numpy", "date"), "?")
"""For tables of results that were not written by ``timing.machine``."""


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    with benchmarks(*MODULES) as found:
        yield found


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
    for render in (scripts["report"].readme_speed, scripts["report"].bench_long):
        text = render(results)
        assert "`mit_humanoid_leg`" in text
        assert "SIMD lanes" in text


@pytest.mark.long
def test_two_states_of_the_package_in_one_process(tmp_path: Path) -> None:
    """In a process of its own, as it imports the package twice more; without machine code, which nobody times here."""
    here = Path(pc.__file__).parents[1]
    shutil.copytree(here / "pin_clusters", tmp_path / "pin_clusters", ignore=shutil.ignore_patterns("__pycache__"))
    if (here / "robot_models").is_dir():
        (tmp_path / "robot_models").symlink_to(here / "robot_models")

    def run(old: Path) -> subprocess.CompletedProcess[str]:
        effort = ["--robots", "four_bar", "--rounds", "1", "--repeats", "1", "--block", "1e-6", "--above", "0"]
        command = [sys.executable, str(BENCHMARKS / "against.py"), str(old), str(here), *effort]
        return subprocess.run(
            command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False
        )

    refused = run(here)
    assert refused.returncode == 2
    assert "OLD and NEW are one folder" in refused.stderr
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    folders = re.findall(r"^pin_clusters_(old|new): (.*)$", done.stdout, flags=re.MULTILINE)
    assert folders == [("old", str(tmp_path / "pin_clusters")), ("new", str(here / "pin_clusters"))]
    assert re.search(r"^four_bar: \d\d functions, ratio new / old: median ", done.stdout, flags=re.MULTILINE)
    assert {"aba", "batch.aba", "integrate", "createData"} <= set(done.stdout.split())
    assert "Error" not in done.stdout  # each function could be called


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


# --- closed loops ----------------------------------------------------------------------------------------------------


def no_cpp(scripts: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile nothing: it takes minutes."""
    monkeypatch.setattr(scripts["kernel_loop"], "library", lambda: None)


@pytest.mark.ci
def test_the_run_on_closed_loops(
    scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_cpp(scripts, monkeypatch)
    monkeypatch.setattr(scripts["loop_cases"], "QUICK", {"repeats": 3, "block": 1e-4, "states": 9})
    output = tmp_path / "loops.json"
    assert scripts["run_loops"].main(["--quick", "--robots", "four_bar", "tello", "--output", str(output)]) == 0
    results = json.loads(output.read_text(encoding="utf-8"))
    found = results["rivalry"]["four_bar"]
    assert found["error"] < 1e-10
    for solver in ("constraintDynamics", "lcaba"):
        rival = found["rivals"][solver]
        if not hasattr(pin, solver):  # before Pinocchio 4
            assert f"no {solver}" in rival["left_out"]
            continue
        assert rival["error"] < 1e-8
        assert rival["settings"]["accuracy"] == 1e-8
        assert rival["used"] < rival["settings"]["iterations"]  # its own test ended it
    assert found["kernels"]["how"] == "called from Python"
    assert [g["limit"] for g in found["gates"]] == [2.0, 3.0]
    assert results["project"]["four_bar"]["residual"] < 1e-13
    assert (results["project"]["four_bar"]["loops"], results["project"]["tello"]["loops"]) == (1, 8)
    assert results["batch"]["four_bar"]["error"] < 1e-11
    assert max(results["tello"]["errors"].values()) < 1e-10  # by hand as well
    assert "pin.constraintDynamics" in capsys.readouterr().out
    for render in (scripts["report_loops"].loops_short, scripts["report_loops"].loops_long):
        text = render(results)
        assert "| `four_bar` | 1 (3) | 1 | 0 |" in text
        assert "`tello` (nv = 16 of 26" in text


@pytest.mark.ci
def test_loops_of_a_kernel_are_calls_of_it(scripts: dict[str, ModuleType]) -> None:
    case, timing = scripts["loop_cases"], scripts["loop_timing"]
    model = case.make("four_bar")
    data, state = model.createData(), timing.states(model, 1)[0]
    wanted = pc.rnea(model, data, *state)
    # the kernel of test_moves_are_measured: a loop takes seconds to be compiled
    kernel = data._kernels["rnea"].function(), (data._pointers["tau"].address, *state, np.zeros(model.nv))
    function, arguments = scripts["kernel_loop"].of_kernel(kernel)
    function(*arguments)
    assert np.array_equal(arguments[-1], wanted)


def test_a_missing_compiler_is_said(
    scripts: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = scripts["kernel_loop"]
    monkeypatch.setattr(loop.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(loop.shutil, "which", lambda name: None)
    loop.library.cache_clear()
    assert loop.library() is None
    assert "it needs g++" in capsys.readouterr().err
    loop.library.cache_clear()


def test_robots_without_rotors_have_their_reflected_inertia(scripts: dict[str, ModuleType]) -> None:
    """What Pinocchio is given for rotors: the diagonal that they add where nothing carries them."""
    cases, timing = scripts["loop_cases"], scripts["loop_timing"]
    model = cases.make("ankle_2rsu")
    plain = cases.without_rotors(model)
    assert not plain.rotors
    q, v, tau = timing.states(plain, 1)[0]
    # the shank is fixed, so the rotors on it do nothing but add inertia
    assert np.allclose(pc.aba(model, model.createData(), q, v, tau), pc.aba(plain, plain.createData(), q, v, tau))


@pytest.mark.ci
def test_accuracy_on_closed_loops(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["Loop planar: seven joints", "Differential.bevel", "Coupling, compiled", "random spatial mechanisms"]
    output, script = tmp_path / "accuracy.json", scripts["accuracy_loops"]
    assert script.main(["--states", "2", "--mechanisms", *names, "--output", str(output)]) == 0
    assert "missed by more than 1e-10: nowhere" in capsys.readouterr().out
    results = json.loads(output.read_text(encoding="utf-8"))
    assert list(results["mechanisms"]) == names
    for name, found in results["mechanisms"].items():
        worst = found["worst"]
        assert found["states"] == 2
        assert set(worst) >= ORACLES
        assert set(worst["projection"]) >= set(scripts["report_loops"].ALGORITHMS) - {"g"}, name
        for oracle in ("projection", "KKT", "MuJoCo"):
            assert max(worst[oracle].values()) < 1e-10, (name, oracle)
        assert max(worst["differences"].values()) < 1e-7, name
    assert max(results["mechanisms"]["Differential.bevel"]["worst"]["twin"].values()) < 1e-11
    text = scripts["report_loops"].accuracy(results)
    assert text.count("| Loop planar: seven joints |") == 2
    results["mechanisms"][names[0]]["worst"]["projection"]["g"] = 1e-9
    assert script.missed(results["mechanisms"]) == [names[0]]


def test_errors_are_kept_by_the_largest_and_nan_is_one(scripts: dict[str, ModuleType]) -> None:
    found: dict[str, dict[str, float]] = {}
    for error in (1e-16, 1e-12, 1e-14):
        scripts["accuracy_loops"].keep(found, "x", "aba", error)
    assert found == {"x": {"aba": 1e-12}}
    scripts["accuracy_loops"].keep(found, "x", "aba", float("nan"))
    assert np.isnan(found["x"]["aba"])


@pytest.mark.ci
def test_every_constraint_is_measured(scripts: dict[str, ModuleType]) -> None:
    titles = set(scripts["loop_mechanisms"].MECHANISMS)
    kinds = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
    library = [name for name, x in vars(pc.Differential).items() if isinstance(x, type)]
    assert len(library) == 8
    assert titles >= {f"Loop {kind}: seven joints" for kind in kinds} | {f"Differential.{name}" for name in library}
    with_loops = {name for name in pc.robots() if scripts["loop_cases"].shipped(name)().closures}
    assert titles >= {f"robot {name}" for name in with_loops}


@pytest.mark.parametrize("floating", [False, True])
def test_mujoco_has_the_same_trees(floating: bool, scripts: dict[str, ModuleType]) -> None:
    # poses whose mass matrix has no entries of rounding alone
    rng = draw(f"test_benchmarks.py::test_mujoco_has_the_same_trees[{floating}]")
    kinds = ("revolute", "PY", "continuous", "RUBZ", "spherical", "universal", "translation")
    tree = trees.random_tree(rng, 8, floating=floating, kinds=kinds, chain=0.7).tree()
    other, data = scripts["mujoco_tree"].MujocoTree(tree), tree.createData()
    q = pin.integrate(tree, pin.neutral(tree), rng.normal(size=tree.nv))
    v, a = rng.normal(size=(2, tree.nv))
    M = pin.crba(tree, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    assert np.allclose(other.mass_matrix(q), M, rtol=1e-11, atol=1e-11)
    assert np.allclose(other.torque(q, v, a), pin.rnea(tree, data, q, v, a), rtol=1e-10, atol=1e-10)
    kinetic, potential = other.energies(q, v)
    assert kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-11)
    assert potential == pytest.approx(pin.computePotentialEnergy(tree, data, q), rel=1e-11)


def test_mujoco_has_no_helical_joints(scripts: dict[str, ModuleType], rng: np.random.Generator) -> None:
    tree = trees.random_tree(rng, 3, kinds=("helical",)).tree()
    with raises(pc.NotAvailableError, "JointModelHelicalUnaligned"):
        scripts["mujoco_tree"].MujocoTree(tree)


@pytest.mark.ci
def test_drift(scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = scripts["drift"]
    shorter = {
        name: dataclasses.replace(swing, short=0.1 if name in ("four_bar", "watt_six_bar") else 0.2)
        for name, swing in script.SWINGS.items()
    }
    monkeypatch.setattr(script, "SWINGS", shorter)
    swings = script.measure(0.1, 0, 1)
    assert list(swings) == ["four_bar", "watt_six_bar", "tello_leg", "delta"]
    for name, found in swings.items():
        assert all(g["met"] for g in found["gates"]), (name, found["gates"])
        assert found["drift"]["kinetic_J"] > 1e-3  # it moves
    script.plot(swings, tmp_path / "drift.png")
    assert (tmp_path / "drift.png").stat().st_size > 10_000
    text = scripts["report_loops"].drift({"machine": MACHINE, "swings": swings})
    assert "| `delta` | arm_1 = 1.1, arm_2 = 1.25, arm_3 = 1.25 |" in text


@pytest.mark.ci
def test_files_in_mujoco(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    pytest.importorskip("mujoco", minversion="3.3.4")
    script = importlib.import_module("mujoco_files")
    found = {name: script.measure(name, True) for name in ("ankle_2rsu", "mini_cheetah")}
    exact, best = (found["mini_cheetah"][0]["files"][name] for name in ("exact", "best"))
    assert exact[-1]["largest"] < 1e-6 < 1e-4 < best[-1]["largest"]
    assert found["ankle_2rsu"][0]["files"]["exact"][-1]["largest"] < 1e-5
    results = {"machine": MACHINE, "mujoco": "4", "robots": {n: f for n, (f, _) in found.items()}}
    assert "| `ankle_2rsu` | exact |" in importlib.import_module("report_mujoco").files(results)
    script.draw({name: found["mini_cheetah"][1] for name in "abcde"}, tmp_path / "errors.png")
    assert (tmp_path / "errors.png").stat().st_size > 10_000


def test_open_loops_are_seen(scripts: dict[str, ModuleType]) -> None:
    script = scripts["drift"]
    swing = script.SWINGS["four_bar"]
    model = swing.make()
    scales = np.array([row.scale for row in pc.residual_rows(model)])
    q = script.start(model, swing)
    assert script.openness(model, q, scales) < script.RESIDUAL
    assert script.openness(model, q + np.array([0.0, 1e-12, 0.0]), scales) > script.RESIDUAL


def test_tables_of_loops_come_from_the_files_that_are_there(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "drift.json").write_text('{"swings": {}}', encoding="utf-8")
    scripts["report"].LOOPS["drift"] = ("drift.json", lambda results: f"{len(results['swings'])} swings")
    assert scripts["report"].loop_sections(tmp_path) == {"drift": ("0 swings", "0 swings")}
    assert "loops.json" in capsys.readouterr().err


@pytest.mark.long  # a loop of Numba per kernel
def test_tables_of_calls(scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "prices.json"
    assert scripts["prices"].main(["--quick", "--robots", "four_bar", "--output", str(output)]) == 0
    assert "computeStaticTorque" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))
    assert all(x["call"]["median_us"] > x["kernel"]["median_us"] > 0.0 for x in found["robots"]["four_bar"].values())
    table = scripts["report_calls"].prices(found)
    assert "| `aba` |" in table
    assert "`four_bar`" in table


@pytest.mark.ci
def test_moves_are_measured(scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "moves.json"
    assert scripts["moves"].main(["--quick", "--robots", "four_bar", "--output", str(output)]) == 0
    assert "step, rk4" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))["robots"]["four_bar"]
    assert set(found["moves"]["ratio"]) == {"integrate", "difference", "computeStaticTorque"}
    assert set(found["steps"]) == {"semi_implicit", "rk4"}
    with pytest.raises(SystemExit):
        scripts["moves"].main(["--robots", "nobody"])


@pytest.mark.parametrize("robot", ["mit_humanoid_leg", pytest.param("four_bar", marks=pytest.mark.long)])
def test_everyday_functions_are_those_of_both(
    scripts: dict[str, ModuleType], robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everyday = scripts["everyday"]
    assert len(everyday.FUNCTIONS) == 18
    target = tmp_path / "everyday.json"
    assert everyday.main(["--quick", "--robots", robot, "--output", str(target)]) == 0
    found = json.loads(target.read_text())["robots"][robot]
    assert set(found["ratio"]) == set(everyday.FUNCTIONS)
    assert found["rival"] == ("armature" if robot == "mit_humanoid_leg" else "spanning tree")
    assert all(x > 0.0 for x in found["ratio"].values())
    assert "all of them once" in capsys.readouterr().out


@pytest.mark.ci
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
@pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio")
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_terms_of_a_controller_are_those_of_both(scripts: dict[str, ModuleType]) -> None:
    """Frames move as in Pinocchio, where the velocities are the same; with cranks as they do on the serial robot."""
    wbc = scripts["wbc"]
    for name in ("mini_cheetah", *(("G1", "G1, ankles on cranks") if scripts["everyday"].SHARE.exists() else ())):
        one = wbc.case(name)
        (_, _, J_com, J, drift), terms = wbc.pinocchio_terms(one, True)(), wbc.terms_here(one)()
        velocity = [x @ one.v_tree for x in J]
        assert np.allclose(terms.velocity, velocity, atol=1e-10)
        assert np.allclose(terms.classical_drift[2:], [a.vector for a in drift[2:]], atol=1e-10)
        if "cranks" not in name:
            assert np.allclose(terms.J, J, atol=1e-12)
            assert np.allclose(terms.Jcom, J_com, atol=1e-12)
            assert np.allclose(terms.classical_drift, [a.vector for a in drift], atol=1e-10)


def test_steps_on_a_ground_are_measured(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    output = tmp_path / "ground.json"
    assert scripts["ground"].main(["--quick", "--robots", "mini_cheetah", "--output", str(output)]) == 0
    found = json.loads(output.read_text())["robots"]["mini_cheetah"]
    assert 0 < found["touching"] <= found["steps"] == 200
    assert set(found["median share, touching"]) == {"kernels", "solver", "Python"}


@pytest.mark.ci
def test_operational_space_is_measured(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "operational.json"
    assert scripts["operational"].main(["--quick", "--robots", "mini_cheetah", "--output", str(output)]) == 0
    assert "chains:" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))
    assert set(found["robots"]["mini_cheetah"]["ratio"]) == set(scripts["operational"].RATIOS)
    found["published"]["5"] = {"one / aba": 1.84}
    text = scripts["report_operational"].speed(found)
    assert "| `mini_cheetah` |" in text
    assert re.search(r"\| chain, n = 5 \| [0-9.]+ \(1\.84\) \|", text)
    assert "| `mini_cheetah`, 36 inputs | - |" in text


@pytest.mark.ci
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
def test_derivatives_are_measured(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, report, output = scripts["derivatives"], scripts["report_derivatives"], tmp_path / "derivatives.json"
    monkeypatch.setattr(script, "QUICK", {"repeats": 2, "block": 1e-5, "rows": 8})
    assert script.main(["--quick", "--robots", "mini_cheetah", "tello", "--output", str(output)]) == 0
    assert "differences of aba" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))
    with_contacts = {"computeConstraintDynamicsDerivatives", "computeImpulseDynamicsDerivatives"}
    assert set(found["robots"]["mini_cheetah"]["ratio"]) == set(script.FUNCTIONS) | with_contacts
    assert set(found["robots"]["tello"]["ratio"]) == set(script.FUNCTIONS)
    found["robots"]["tello"]["ratio"].update(computeRNEADerivatives=0.6, computeABADerivatives=0.5)
    found["robots"]["mini_cheetah"]["differences"] = 30.0
    text = report.speed(found)
    assert re.search(r"\| `computeConstraintDynamicsDerivatives` \| [0-9.]+ \| - \|", text)
    rows = {row[0]: row[1:] for row in report.goals(found)}
    assert rows["`computeRNEADerivatives`, `tello`"] == ["0.60", "0.5", "not met"]
    assert rows["`computeABADerivatives`, `tello`"] == ["0.50", "0.5", "met"]
    assert rows["finite differences of `pc.aba` / `computeABADerivatives`, `mini_cheetah`"] == ["30.00", "20", "met"]
    assert "`computeCoriolisMatrix`, `mini_cheetah`" in rows


@pytest.mark.long
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
def test_batches_are_measured(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, report, output = scripts["batches"], scripts["report_batches"], tmp_path / "batches.json"
    monkeypatch.setattr(script, "QUICK", {"repeats": 2, "block": 1e-5, "rows": 32})
    monkeypatch.setattr(script, "LENGTHS", (2, 5))
    monkeypatch.setattr(script, "MANY", 64)
    assert script.main(["--quick", "--robots", "mini_cheetah", "four_bar", "--output", str(output)]) == 0
    assert "per link:" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))
    assert set(found["robots"]["four_bar"]) == set(script.FUNCTIONS) == set(pc.batch.__all__) - {"Motions", "lanes"}
    text = report.tables(found)
    assert re.search(r"\| `simulate` \| [0-9.]+ \(\*\*[0-9.]+\*\*\) \|", text)
    assert "| `aba`, 2 threads |" in text
    found["lanes"] = 8
    for robot, aba in (("mini_cheetah", 15.0), ("four_bar", 7.0)):
        found["robots"][robot]["aba"]["ratio"].update({"single": aba, "Pinocchio, 1": aba})
    rows = {row[0]: row[1:] for row in report.goals(found)}
    assert rows["Pinocchio / `pc.batch.aba`, at least"] == ["7.00", "15", "not met"]
    assert rows["one state / one row, `aba`, closed loops, at least"] == ["7.00", "6", "met"]


@pytest.mark.ci
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
def test_standing_is_measured(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    output = tmp_path / "standing.json"
    assert scripts["standing"].main(["--quick", "--output", str(output)]) == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    for one in found["cases"].values():
        assert one["1 ms"]["drift"] < 1e-10
        assert one["1 ms"]["drift"] < 1e-3 * one["1 ms, not brought back"]["drift"]
        assert one["0.5 ms"]["energy"] < 0.2 * one["1 ms"]["energy"]  # third order and more
    assert "| `tello`, two soles |" in scripts["report_simulation"].standing(found)


def test_forces_one_by_one_are_the_input_matrix(scripts: dict[str, ModuleType]) -> None:
    model = scripts["operational"].chain(6)
    data, q, points = model.createData(), np.linspace(0.1, 0.6, 6), [2, 5]
    B = np.eye(6)[:, 1:4]
    found = scripts["operational"].one_by_one(model, data, q, B, points)
    assert np.allclose(found, pc.inverse_input_matrix(model, data, q, B, points), rtol=0.0, atol=1e-11)


@pytest.mark.long
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
def test_accuracy_of_operational_space(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, output = scripts["operational_accuracy"], tmp_path / "accuracy.json"
    assert script.main(["--quick", "--output", str(output)]) == 0
    assert "limits are missed by: nothing" in capsys.readouterr().out
    groups = json.loads(output.read_text(encoding="utf-8"))["groups"]
    assert [one["mechanisms"] for one in groups.values()] == [len(names) for names in script.QUICK.values()]
    functions = {
        "inverse_operational_inertia", "apply_test_force", "operational_inertia", "inverse_input_matrix",
        "task_input_matrix", "task_input_matrix: free acceleration", "hybrid_dynamics", "computeDelassusMatrix",
        "constraintDynamics", "constraintDynamics: forces", "impulseDynamics", "forwardDynamics",
    }  # fmt: skip
    worst = groups["trees"]["worst"]
    assert set(worst) == functions
    assert all(set(by) == {"dense", "projection"} for by in worst.values())
    text = scripts["report_operational"].accuracy({"groups": groups, "states": 1, "pinocchio": "x"})
    assert "| `constraintDynamics`, forces |" in text
    assert "| `teleop_arm` |" in text
    worst["hybrid_dynamics"]["dense"] = float("nan")
    assert script.missed(groups) == ["hybrid_dynamics on trees nan"]


@pytest.mark.long
@pytest.mark.skipif(not JIT, reason="plain Python takes minutes")
def test_accuracy_of_derivatives(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, output = scripts["derivatives_accuracy"], tmp_path / "accuracy.json"
    assert script.main(["--quick", "--output", str(output)]) == 0
    assert "limits are missed by: nothing" in capsys.readouterr().out
    results = json.loads(output.read_text(encoding="utf-8"))
    groups, near = results["groups"], results["dead centres"]["four-bar"]
    assert [one["mechanisms"] for one in groups.values()] == [2, 2, 9, 2]
    for quantity in ("dtau_dq", "dtau_dv", "M", "ddq_dq", "ddq_dv", "Minv", "gravity", "dh_dq", "dhdot_dq"):
        assert "differences" in groups["loops"]["worst"][quantity]
    for quantity in ("motions by q", "dvcom_dq", "dAg", "dJ_dq", "contacts: dlambda_dq", "impact: after_dq"):
        assert groups["loops"]["worst"][quantity]["differences"] > 0.0
    assert groups["trees"]["worst"]["regressor of torques"]["laws"] < 1e-12
    assert near[-1]["condition"] > 1e5
    assert all(row["error, M"] <= 1e-14 * row["condition"] for row in near)
    text = scripts["report_derivatives"].accuracy(results)
    assert "| `dtau_dq` |" in text
    assert "| four-bar |" in text
    groups["trees"]["worst"]["M"]["laws"] = float("nan")
    assert script.missed(groups) == ["M on trees by laws nan"]


@pytest.mark.ci
@pytest.mark.skipif(not JIT, reason="nothing is specialised")
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_specialised_models_are_measured(scripts: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    module, effort = scripts["specialised"], {"repeats": 2, "block": 1e-4, "states": 16}
    monkeypatch.setattr(module, "TREES", {"mit_humanoid_leg": {"aba": 1e9}})
    found = {
        "machine": scripts["timing"].machine(),
        "trees": {"mit_humanoid_leg": module.tree("mit_humanoid_leg", effort)},
        "tello": module.tree("mit_humanoid_leg", effort) | {"ratio": 0.1},
        "loops": {"four_bar": module.loop("four_bar", effort)},
        "batches": {"mit_humanoid_leg": module.batch("mit_humanoid_leg", effort)},
    }
    text = scripts["report_specialised"].tables(found)
    assert "`four_bar`" in text
    assert "goals, among them" in text
    assert text.count("\n| `mit_humanoid_leg`") == 3


@pytest.mark.long
def test_functions_for_learning_are_measured(
    scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, report, output = scripts["learning"], scripts["report_learning"], tmp_path / "learning.json"
    monkeypatch.setattr(script, "steps", lambda quick: None)  # needs PyTorch, and compiles for seconds
    assert script.main(["--quick", "--output", str(output)]) == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    for robot in ("four_bar", "mit_humanoid_leg"):
        for error in found["float32"][robot].values():
            assert 1e-9 < error["median"] <= error["worst"] < 1e-3
    assert "\n| `four_bar` | " in report.float32(found)
    assert "Not measured" in report.step(found)
    times = {
        f"{kind}, {way}": {"min_us": 4096.0} for kind in ("float32", "float64") for way in ("forward", "and backward")
    }
    kept = {"float32": 4096 * 1024, "float64": 8192 * 1024}
    found["step"] = {"rows": 4096, "inputs": 317, "kept_bytes": kept, "times": times, "torch": "2"}
    assert "| float32 | 4.1 | 4.1 | 1000 | 1000 | 4.0 | 1024 |" in report.step(found)


def test_gpu(scripts: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    gpu = scripts["gpu"]
    missing = gpu.why_not()
    if missing:
        gpu.main([])
        assert capsys.readouterr().out == f"nothing is measured: {missing}\n"
    speed = {"1000": 1e8, "1000000": 6e8}
    about = {"errors": {"aba": 1e-13, "aba, worst row": 1.0}, "states per second": speed, "step of 4096, us": 60.0}
    wrong = about | {"errors": {"aba": np.nan}}
    found = {"robots": {"mini_cheetah": {"streams and graphs": {"graph": False}, "float64": about, "float32": wrong}}}
    assert gpu.said(found) == [
        "mini_cheetah: graph fails", "mini_cheetah, float64: a step takes 60 us",
        "mini_cheetah, float32: aba is off by nan",
        "mini_cheetah, float32: 6.00e+08 states per second, of 1e+09", "mini_cheetah, float32: a step takes 60 us",
    ]  # fmt: skip


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_accuracy_of_traces(scripts: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    module = scripts["traces"]
    monkeypatch.setattr(module, "GROUPS", {"dynamics": ("rnea", "computeMinverse"), "steps": ("integrate",)})
    found = {"machine": MACHINE, "states": 1, "robots": module.robots(["four_bar"], 1), "fuzz": module.fuzz(1)}
    assert found["robots"]["four_bar"]["rnea"][0] < 1e-12
    assert found["fuzz"]["missed"] == found["fuzz"]["refused"] == []
    text = scripts["report_traces"].accuracy(found)
    assert "Random mechanisms: 1 (1 trees, 0 of the library)" in text
    assert text.count("`four_bar`") >= 3
