"""The experiments of arXiv 2311.13732 by name."""

from __future__ import annotations

import importlib
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.commands import refused, run
from support.messages import raises
from support.studies import DROPPED, LARGEST, LEG, load, pendulum

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.studies import study
from pin_clusters.studies.study import paper

SHORT = {
    "torque-sinusoids": {"duration": 0.2, "dt": 5e-3},
    "torque-magnitude": {"samples": 60},
    "end-effector-tracking": {"duration": 0.2, "dt": 5e-3},
    "random-chains": {"robots": 6, "states": 3},
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@cache
def leg() -> pc.ClusterModel:
    return load("mit_humanoid_leg")


@pytest.mark.parametrize("name", pool.some(paper.EXPERIMENTS, 1, rest="ci"))
def test_every_experiment_has_json_tables_and_a_figure(name: str, tmp_path: Path) -> None:
    result = paper.run(name, **SHORT[name])  # type: ignore[arg-type]
    result.write_json(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["experiment"] == name
    result.save_plot(tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 10_000
    assert result.title.endswith(".")
    assert result.summary.endswith(".")
    for title, rows in result.tables():
        assert title
        assert len({len(row) for row in rows}) == 1


@pytest.mark.ci
def test_torque_sinusoids_are_the_study_at_four_frequencies() -> None:
    result = paper.run("torque-sinusoids", drop_rotors=True)
    assert isinstance(result, paper.TorqueSinusoids)
    assert result.frequencies == (0.25, 0.5, 0.75, 1.5)
    assert {(r.sine.amplitude, r.sine.duration, r.sine.dt) for r in result.results} == {(0.5, 5.0, 5e-4)}
    assert result.joint == "knee"
    last = result.results[-1]
    assert last.joints == LEG
    # published at 1.5 Hz, without the rotors in the approximations
    for level, numbers in DROPPED.items():
        assert [f"{x:.3f}" for x in last.rms_error[level]] == [f"{x:.3f}" for x in numbers]
    assert [f"{x:.2f}" for x in last.max_exact] == [f"{x:.2f}" for x in LARGEST]
    share = last.share(last.rms_error)
    assert [f"{share[level][LEG.index('knee')]:.1f}" for level in ("none", "diagonal")] == ["38.4", "9.3"]
    assert "38.4 % with no armature, 9.3 % with diagonal armature" in result.summary
    for found in result.results:
        sine = study.Sine(frequency=found.sine.frequency, in_phase=True)
        expected = study.run(leg(), sine, drop_rotors=True)
        assert np.array_equal(found.exact, expected.exact)


def test_inertial_errors_grow_with_the_square_of_the_frequency() -> None:
    """All errors of armature are products of velocities and accelerations of the same sine; gravity has none."""
    result = paper.run("torque-sinusoids", frequencies=(0.5, 1.0), duration=2.0, dt=1e-3)
    assert isinstance(result, paper.TorqueSinusoids)
    slow, fast = result.results
    # the same phases: sample i of the fast one is sample 2 i of the slow one, one period and two
    for level in study.LEVELS:
        assert np.allclose(fast.error(level)[:1000], 4.0 * slow.error(level)[::2], rtol=0.0, atol=1e-9)


def test_magnitude_of_one_joint_has_a_closed_form() -> None:
    """A pendulum on the ground: armature is exact; without it the acceleration is (I + n^2 J) / I times as large."""
    model = pendulum(pin.JointModelRY())
    result = paper.run("torque-magnitude", model, samples=200, max_torque=3.0)
    assert isinstance(result, paper.TorqueMagnitude)
    assert result.alpha[[0, -1]].tolist() == [0.0, 1.0]
    # n^2 J over the link's inertia about the joint; the locked rotor sits on the ground
    expected = 6.0**2 * 1e-3 / (0.01 + 1.0 * 0.3**2)
    ratio = result.errors["none"] / result.exact
    assert ratio == pytest.approx(expected, rel=1e-10)
    for level in ("diagonal", "block"):
        assert np.abs(result.errors[level]).max() < 1e-10
    middle, norm, errors, share = result.binned()
    assert share["none"] == pytest.approx(expected, rel=1e-10)
    assert len(middle) == len(norm) == len(errors["none"]) == paper.magnitude.BINS


def test_magnitude_is_forward_dynamics_at_these_states() -> None:
    result = paper.run("torque-magnitude", leg(), samples=40, seed=3)
    again = paper.run("torque-magnitude", leg(), samples=40, seed=3)
    other = paper.run("torque-magnitude", leg(), samples=40, seed=4)
    assert isinstance(result, paper.TorqueMagnitude)
    assert isinstance(again, paper.TorqueMagnitude)
    assert isinstance(other, paper.TorqueMagnitude)
    assert np.array_equal(result.exact, again.exact)
    assert not np.array_equal(result.exact, other.exact)
    assert result.max_torque.tolist() == [34.0, 34.0, 72.0, 144.0, 68.0]  # the limits of its URDF
    # errors grow with the torque
    _, _, errors, _ = result.binned(2)
    assert all(x[1] > x[0] for x in errors.values())
    assert list(result.errors) == list(approximations.names(leg()))


@pytest.mark.ci
def test_tracking_without_an_approximation_stays_on_the_motion() -> None:
    result = paper.run("end-effector-tracking", duration=1.0, dt=2e-3)
    assert isinstance(result, paper.EndEffectorTracking)
    assert result.frame == "ankle"
    # RK4: 1e-9 m at 1 ms, 16 times that here, with what an open loop makes of it
    assert result.drift["exact"].max() < 1e-7
    assert all(result.drift[level].max() > 1e-3 for level in study.LEVELS)
    assert not result.ended
    data = leg().createData()
    sine = study.Sine(0.5, 0.5, 1.0, 0.1, in_phase=True)
    time, q, _, _ = sine.states(leg())
    for t, row in zip(time, q, strict=True):
        pc.framesForwardKinematics(leg(), data, row)
        place = data.tree.oMf[leg().tree.getFrameId("ankle")].translation
        assert result.path[round(t / 2e-3)] == pytest.approx(place, abs=1e-12)


def test_tracking_begins_as_the_error_of_the_acceleration() -> None:
    """After a short time t the drift is |J da| t^2 / 2, da the error of forward dynamics at the start."""
    result = paper.run("end-effector-tracking", duration=4e-3, dt=1e-4, frequency=1.0)
    assert isinstance(result, paper.EndEffectorTracking)
    model, data = leg(), leg().createData()
    _, q, v, a = study.Sine(0.5, 1.0, 1.0, 1.0, in_phase=True).states(model)
    J = np.array(pc.computeFrameJacobian(model, data, q[0], model.tree.getFrameId("ankle"), pin.LOCAL_WORLD_ALIGNED))
    tau = np.array(pc.rnea(model, data, q[0], v[0], a[0]))
    for name, level in approximations.of(model).items():
        error = np.linalg.norm(J[:3] @ (level.aba(q[0], v[0], tau) - a[0]))
        # the next term is of third order: 4 ms times a rate of some 10 / s
        assert result.drift[name][-1] == pytest.approx(0.5 * error * (4e-3) ** 2, rel=0.2)


def test_what_diverges_keeps_what_it_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An approximation that has gone wild ends; the others do not."""
    original = approximations.Approximation.aba

    def wild(self: approximations.Approximation, q: object, v: object, tau: object) -> np.ndarray:
        found = np.array(original(self, q, v, tau))
        return found * (np.inf if self.name == "none" and np.abs(np.asarray(v)).max() > 1.6 else 1.0)

    monkeypatch.setattr(approximations.Approximation, "aba", wild)
    result = paper.run("end-effector-tracking", duration=0.5, dt=5e-3)
    assert isinstance(result, paper.EndEffectorTracking)
    assert set(result.ended) == {"none"}
    assert np.isnan(result.drift["none"][-1])
    assert np.isfinite(result.drift["none"][0])
    assert np.isfinite(result.drift["diagonal"]).all()
    assert json.dumps(result.as_dict(), allow_nan=False)
    assert any("-" in row for _, rows in result.tables() for row in rows)
    result.save_plot(tmp_path / "found.png")


@pytest.mark.parametrize("name", ["torque-sinusoids", "torque-magnitude", "end-effector-tracking"])
@pytest.mark.parametrize("robot", pool.some(["four_bar", "tello"], ["four_bar"]))
def test_closed_loops_too(robot: str, name: str) -> None:
    options = SHORT[name] | ({"max_torque": 1.0} if name == "torque-magnitude" else {"amplitude": 0.1})
    result = paper.run(name, load(robot), **options)  # type: ignore[arg-type]
    levels = set(approximations.names(load(robot)))
    rows = result.tables()[-1][1]
    labels = {approximations.LABELS[level] for level in levels}
    assert labels <= {row[0] for row in rows} | set(rows[0])


def test_the_page_has_the_numbers_of_the_results() -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        script = importlib.import_module("report_studies")
    finally:
        sys.path.remove(str(folder))
    assert script.main(["--check"]) == 0
    page = script.PAGE.read_text(encoding="utf-8")
    assert all(f"<!-- generated: {name} -->\n" in page for name in (*paper.EXPERIMENTS, "motions"))


def test_bad_experiments() -> None:
    with raises(pc.UnknownNameError, "'torque-sinusoids'"):
        paper.run("torque-sinusoid")
    with raises(pc.UnknownNameError, "'kne' 'knee'"):
        paper.run("torque-sinusoids", joint="kne", duration=0.1, dt=0.01)
    with raises(pc.UnknownNameError, "'foot'"):
        paper.run("end-effector-tracking", frame="foot")
    with raises(pc.ArgumentTypeError, "samples 20 3"):
        paper.run("torque-magnitude", samples=3)
    with raises(pc.ModelError, "'joint' 'pendulum'"):
        paper.run("torque-magnitude", pendulum(pin.JointModelRY()))
    with raises(pc.ArgumentTypeError, "'random-chains'"):
        paper.run("random-chains", leg())
    with raises(pc.ArgumentTypeError, "drop_rotors"):
        paper.run("random-chains", drop_rotors=True)


@pytest.mark.ci
def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {name: (lambda *a, f=f, name=name, **k: f(*a, **k | SHORT[name])) for name, f in paper._RUN.items()}
    monkeypatch.setattr(paper, "_RUN", quick)
    for name in paper.EXPERIMENTS:
        result = run("study", "--experiment", name)
        assert result.exit_code == 0, result.stderr
        assert f"Written: study_{name}/{name}.json, study_{name}/{name}.png" in result.stdout
        assert json.loads(Path(f"study_{name}/{name}.json").read_text(encoding="utf-8"))["experiment"] == name
        assert Path(f"study_{name}/{name}.png").stat().st_size > 10_000
    assert run("study", "--experiment", "torque-sinusoids", "geared_chain", "-o", "x").exit_code == 0
    assert json.loads(Path("x/torque-sinusoids.json").read_text(encoding="utf-8"))["robot"] == "geared_chain"
    assert "draws its own robots" in refused("study", "mit_humanoid_leg", "--experiment", "random-chains", "-o", "y")
    assert not Path("y").exists()
    assert "torque-magnitude" in refused("study", "--experiment", "torque-magnitud")
    assert "missing argument" in run("study").stderr.lower()
