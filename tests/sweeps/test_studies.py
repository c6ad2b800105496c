"""What is swept: random robots, gear ratios, and the commands."""

from __future__ import annotations

import importlib
import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner, Result
from support.messages import raises

import pin_clusters as pc
from pin_clusters._cli import cli
from pin_clusters.approximations.armature import reflected_inertia
from pin_clusters.files import readers as loaders
from pin_clusters.studies import sweeps
from pin_clusters.studies.study import random_chains, random_robots
from pin_clusters.studies.sweeps import figures, ratio, robots
from pin_clusters.verification.baselines import projection

HERE = sweeps.InProcess()


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return loaders.load(name, root_joint=None)


# --- random robots ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> list[random_robots.RandomRobot]:
    rng = np.random.default_rng(8)
    return [random_robots.robot(rng) for _ in range(40)]


def test_random_robots_are_bodies_that_can_be(drawn: list[random_robots.RandomRobot]) -> None:
    for one in drawn:
        tree = one.model.tree
        assert one.model.nv == one.links + 6 * one.floating
        for j in range(1, tree.njoints):
            a, b, c = np.linalg.eigvalsh(np.asarray(tree.inertias[j].inertia))
            assert 0.0 < a <= b <= c < a + b
        for rotor in one.model.constraints:
            across, other, axial = np.diag(np.asarray(rotor.inertia.inertia))
            assert across == other
            assert 2e-6 <= axial <= 5e-4
            assert axial < 2.0 * across
            # a steel cylinder weighs what its inertia says
            assert 0.01 < rotor.inertia.mass < 2.0
            assert all(4.0 <= abs(r) <= 100.0 for r in rotor.ratios)
            assert axial * rotor.ratios[0] ** 2 <= 1.0 + 1e-12


def test_random_robots_vary(drawn: list[random_robots.RandomRobot]) -> None:
    assert {one.links for one in drawn} >= {2, 3, 5, 8, 10}
    assert {one.floating for one in drawn} == {True, False}
    assert min(one.belts for one in drawn) == 0 < max(one.belts for one in drawn)
    assert min(one.branches for one in drawn) == 0 < max(one.branches for one in drawn)
    kinds = {one.model.tree.joints[j].shortname() for one in drawn for j in range(1, one.model.tree.njoints)}
    assert {"JointModelRX", "JointModelRY", "JointModelRZ", "JointModelRevoluteUnaligned"} <= kinds


def test_belts_run_over_parallel_joints(drawn: list[random_robots.RandomRobot]) -> None:
    belts = 0
    for one in drawn:
        tree = one.model.tree
        q = pc.neutral(one.model)
        data = tree.createData()
        J = pin.computeJointJacobians(tree, data, q)
        for rotor in one.model.constraints:
            if len(rotor.joints) == 1:
                continue
            belts += 1
            first, second = (tree.joints[tree.getJointId(name)].idx_v for name in rotor.joints)
            assert np.allclose(J[3:, first], J[3:, second], rtol=0.0, atol=1e-12)
            assert tree.names[int(tree.parents[tree.getJointId(rotor.joints[0])])] == rotor.carrier
    assert belts == sum(one.belts for one in drawn) > 5


def test_random_robots_against_projection(drawn: list[random_robots.RandomRobot]) -> None:
    rng = np.random.default_rng(0)
    for one in drawn[:12]:
        model = one.model
        q, v, a = random_robots.states(one, 2, rng)
        data, space = model.createData(), projection.createData(model)
        for i in range(2):
            tau = projection.rnea(model, space, q[i], v[i], a[i])
            # explicit constraints; the reflected inertia of 1 kg m^2 beside links of 0.01 costs a digit of the 1e-12
            assert np.allclose(pc.rnea(model, data, q[i], v[i], a[i]), tau, rtol=0.0, atol=1e-11 * np.abs(tau).max())


@pytest.mark.ci
def test_experiment_and_sweep_are_the_same() -> None:
    told: list[tuple[int, int]] = []
    one = random_chains.experiment(9, 3, seed=2, progress=lambda *x: told.append(x))
    with ThreadPoolExecutor(2) as threads:
        two = random_chains.experiment(9, 3, seed=2, executor=threads)
    swept = robots.run(9, 3, seed=2, executor=HERE)
    three = robots.summary(swept, 3)
    for key in swept:
        for other in (two, three):
            assert np.array_equal(one.values[key], other.values[key], equal_nan=True)
    assert told[-1] == (9, 9)
    # the first robots are the same whatever their number
    few = random_chains.experiment(4, 3, seed=2)
    assert np.array_equal(few.values["inverse"], one.values["inverse"][:4])
    assert not np.array_equal(random_chains.experiment(4, 3, seed=3).values["inverse"], few.values["inverse"])


def test_errors_are_norms_of_differences() -> None:
    rng = sweeps._tasks.generator(0, 5)
    one = random_robots.robot(rng)
    model = one.model
    q, v, a = random_robots.states(one, 4, rng)
    found = random_chains.case(5, rng=sweeps._tasks.generator(0, 5), states=4)
    levels, data, base = pc.approximations.of(model), model.createData(), 6 * one.floating
    exact = np.array([pc.rnea(model, data, *x) for x in zip(q, v, a, strict=True)])
    for k, level in enumerate(levels.values()):
        errors = [level.rnea(*x) - y for x, y in zip(zip(q, v, a, strict=True), exact, strict=True)]
        norms = np.sqrt(np.sum(np.square(errors)[:, base:], axis=1))
        assert found["inverse"][k] == pytest.approx(norms.mean(), rel=1e-13)
    assert found["inverse_share"] == pytest.approx(
        found["inverse"] / np.sqrt(np.sum(exact[:, base:] ** 2, axis=1)).mean(), rel=1e-13
    )
    assert np.isnan(found["base"]).all() != one.floating


def test_forward_errors_are_those_of_a_free_base() -> None:
    number = next(i for i in range(20) if random_robots.robot(sweeps._tasks.generator(0, i)).floating)
    rng = sweeps._tasks.generator(0, number)
    one = random_robots.robot(rng)
    model = one.model
    q, v, a = random_robots.states(one, 3, rng)
    found = random_chains.case(number, rng=sweeps._tasks.generator(0, number), states=3)
    work, tau = projection.createData(model), np.empty_like(v)
    for i in range(3):
        tau[i] = projection.rnea(model, work, q[i], v[i], a[i])
    tau[:, :6] = 0.0
    exact = np.array([projection.aba(model, work, *x) for x in zip(q, v, tau, strict=True)])
    for k, level in enumerate(pc.approximations.of(model).values()):
        errors = np.array([level.aba(*x) for x in zip(q, v, tau, strict=True)]) - exact
        # rounding of a projection whose mass matrix has a condition of some 1e5
        assert found["forward"][k] == pytest.approx(np.linalg.norm(errors[:, 6:], axis=1).mean(), rel=1e-8, abs=1e-8)
        assert found["base"][k] == pytest.approx(np.linalg.norm(errors[:, 3:6], axis=1).mean(), rel=1e-8, abs=1e-8)


def test_the_ladder_over_robots() -> None:
    found = random_chains.experiment(40, 5)
    summary = found.as_dict()
    for metric in ("inverse", "forward", "inverse_share", "forward_share", "base_share"):
        mean = summary["mean"][metric]
        # every step of the ladder is an improvement of the average robot, by far
        assert mean["none"] > 2.0 * mean["diagonal"] > 4.0 * mean["block"] > 0.0
    # without belts block armature is diagonal armature
    plain = found.values["belts"] == 0
    assert plain.any()
    assert np.allclose(found.values["inverse"][plain, 1], found.values["inverse"][plain, 2], rtol=1e-9, atol=1e-12)
    assert summary["robots"] == 40
    assert summary["quantiles"]["inverse"]["0.5"]["none"] == np.quantile(found.values["inverse"][:, 0], 0.5)
    json.dumps(summary)


@pytest.mark.parametrize("change", [{"robots": 0}, {"states": 2.5}, {"seed": -1}, {"robots": True}])
def test_experiment_refuses(change: dict[str, object]) -> None:
    with raises(pc.ArgumentTypeError, next(iter(change))):
        random_chains.experiment(**({"robots": 2, "states": 1} | change))


# --- gear ratios ------------------------------------------------------------------------------------------------------

# RMS of diagonal and block armature at knee and ankle of the published leg, N m, by an independent script; its first
# row said 1.62 and 0.89 at the knee, but block falls exactly as 1 / f, and 3 x 0.301 is 0.90
TABLE = {
    1.0 / 3.0: ((1.63, 0.96), (0.90, 0.21)),
    1.0: ((1.04, 0.83), (0.30, 0.07)),
    3.0: ((0.85, 0.78), (0.10, 0.02)),
    10.0: ((0.79, 0.77), (0.03, 0.007)),
    20.0: ((0.78, 0.76), (0.015, 0.0035)),
}


@pytest.mark.ci
def test_the_published_leg() -> None:
    found = ratio.run(load("mit_humanoid_leg"), list(TABLE), executor=HERE)
    assert found.joints[3:] == ("knee", "ankle")
    assert found.ratios.tolist() == [6.0, 6.0, 6.0, 12.0, 12.0]
    assert found.levels == ("none", "diagonal", "block")
    for factor, rms in zip(found.factors, found.rms, strict=True):
        for level, numbers in zip(rms[1:], TABLE[factor], strict=True):
            for x, expected in zip(level[3:], numbers, strict=True):
                # half a unit of the last digit that is given
                digits = len(f"{expected:g}".partition(".")[2])
                assert x == pytest.approx(expected, abs=0.51 * 10.0**-digits)
    # what carriers do to spinning rotors is proportional to J n, so to 1 / f
    assert np.allclose(found.rms[:, 2] * found.factors[:, None], found.rms[1, 2], rtol=1e-9)
    assert np.allclose(found.peak[3] / found.peak[2], 1.0, atol=0.2)


@pytest.mark.parametrize("name", ["mit_humanoid", "jvrc1", "teleop_arm", "belt_chain", "cassie_leg", "ankle_2rsu"])
def test_scaling_keeps_the_reflected_inertia(name: str) -> None:
    model = load(name)
    fast = ratio.scaled(model, 3.0)
    expected = reflected_inertia(model)
    assert np.allclose(reflected_inertia(fast), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert [r.name for r in fast.rotors] == [r.name for r in model.rotors]
    for before, after in zip(model.rotors, fast.rotors, strict=True):
        assert np.allclose(after.row, 3.0 * before.row, rtol=1e-12)
        assert after.axial_inertia == pytest.approx(before.axial_inertia / 9.0, rel=1e-12)
    assert fast.independent_joints == model.independent_joints
    masses = [sum(i.mass for i in m.tree.inertias) for m in (model, fast)]
    assert masses[0] == pytest.approx(masses[1], rel=1e-14)


def test_rotors_that_lead_rotors() -> None:
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    rotor = pin.Inertia(0.1, np.zeros(3), np.diag([1e-4, 1e-4, 2e-4]))
    for name, inertia in (("a", rotor), ("b", rotor), ("link", body)):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    model = pc.ClusterModel(
        tree,
        [
            pc.Gear("link", "a", 4.0),
            pc.Gear("a", "b", 3.0),
            pc.Rotor("a", 2.0, axial_inertia=1e-5, carrier="link", axis=(1.0, 0.0, 0.0)),
        ],
    )
    fast = ratio.scaled(model, 5.0)
    assert [r.row.tolist() for r in model.rotors] == [[4.0], [12.0], [8.0]]
    assert [r.row.tolist() for r in fast.rotors] == [[20.0], [60.0], [40.0]]


def test_a_rotors_armature_is_scaled_and_what_follows_it_keeps_its_speed() -> None:
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    rotor = pin.Inertia(0.1, np.zeros(3), np.diag([1e-4, 1e-4, 2e-4]))
    for name, parent, inertia in (("rotor", 0, rotor), ("arm", 0, body), ("finger", 0, body), ("tip", 3, body)):
        j = tree.addJoint(parent, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    armature = np.zeros(tree.nv)
    armature[0] = 3e-4
    tree.armature = armature
    model = pc.ClusterModel(tree, [pc.Gear("arm", "rotor", 4.0), pc.LinearCoupling("finger", {"rotor": 0.125})])
    fast = ratio.scaled(model, 5.0)
    assert fast.tree.armature[0] == pytest.approx(3e-4 / 25.0, rel=1e-14)
    assert fast.rotors[0].row.tolist() == [20.0, 0.0]
    at = model.joint_idx_v("arm")
    for m in (model, fast):  # the finger turns half as fast as the arm
        assert m.coupling_matrix[2, at] == pytest.approx(0.5, rel=1e-14)


@pytest.mark.ci
def test_loops_whose_rotors_are_geared() -> None:
    found = ratio.run(load("cassie_leg"), (0.5, 1.0, 4.0), executor=HERE, duration=0.1, dt=0.005)
    assert found.levels == ("unconstrained", "frozen", "no rotor", "armature")
    armature = found.rms[:, 3]
    # exact loops: only what carriers do to rotors is missing
    assert np.allclose(armature * found.factors[:, None], armature[1], rtol=1e-6, atol=1e-9)
    assert np.isnan(found.ratios[found.joints.index("shin")])
    text = json.loads(json.dumps(found.as_dict()))
    assert text["ratio_at_factor_1"][found.joints.index("shin")] is None
    assert text["rms_error"]["armature"]["knee"] == armature[:, found.joints.index("knee")].tolist()


def test_motors_of_loops_stay() -> None:
    model = load("tello")
    found = ratio.run(model, (1.0,), executor=HERE, duration=0.02, dt=0.005)
    assert len(found.kept) == 8
    assert all("rotor" in name for name in found.kept)


def test_ratio_refuses() -> None:
    with raises(pc.ModelError, "'four_bar' ratio"):
        ratio.run(load("four_bar"), executor=HERE)
    with raises(pc.ArgumentTypeError, "0"):
        ratio.run(load("mit_humanoid_leg"), [1.0, -2.0], executor=HERE)
    with raises(pc.ArgumentTypeError, "ClusterModel str"):
        ratio.scaled("tello", 2.0)
    tree = pin.Model()
    for name in ("right", "left"):
        j = tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(0.1, np.array([0.0, 0.01, 0.0]), 1e-4 * np.eye(3)), pin.SE3.Identity())
    fingers = [pc.LinearCoupling("left", {"right": -1.0})]
    with raises(pc.ModelError, "ratio"):
        ratio.scaled(pc.ClusterModel(tree, fingers), 2.0)
    hand = ratio.scaled(pc.ClusterModel(tree, [*fingers, pc.Rotor("right", 100.0, axial_inertia=1e-6)]), 2.0)
    assert [r.row.tolist() for r in hand.rotors] == [[200.0]]
    assert hand.coupling_matrix.tolist() == [[1.0], [-1.0]]  # a finger follows as before
    tree = pin.Model()
    for name, lever in (("rotor", 0.01), ("link", 0.1)):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([lever, 0.0, 0.0]), 0.01 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Gear("link", "rotor", 4.0)])
    with raises(pc.InertiaError, "'rotor' 0.01"):
        ratio.scaled(model, 2.0)


def test_a_study_that_fails_says_at_which_factor() -> None:
    with raises(sweeps.SweepError, "'mit_humanoid_leg' 1"):
        ratio.run(load("mit_humanoid_leg"), [1.0, 2.0], executor=_Failing())


class _Failing(sweeps.InProcess):
    """Runs something else than the study."""

    def submit(self, fn, /, work):  # type: ignore[no-untyped-def, override]
        object.__setattr__(work, "function", _fail)
        return super().submit(fn, work)


def _fail(case: object) -> dict[str, float]:
    raise ValueError("no")


# --- commands ---------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, ["sweep", *arguments], prog_name="pin-clusters")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def error(*arguments: str) -> str:
    result = command(*arguments)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


def is_png(path: Path) -> bool:
    from matplotlib.image import imread

    image = imread(path)
    return image.shape[0] > 300 and image.shape[1] > 600 and float(image[..., :3].std()) > 0.02


def test_sweep_robots(tmp_path: Path) -> None:
    folder = tmp_path / "robots"
    options = ("robots", "--robots", "12", "--states", "2", "--seed", "3", "--workers", "1", "--output", str(folder))
    result = command(*options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for text in (
        "12 random robots x 2 states, seed 3",
        "diagonal armature",
        "base in flight",
        "12 robots were computed",
    ):
        assert text in result.stdout
    found = json.loads((folder / "robots.json").read_text(encoding="utf-8"))
    expected = robots.run(12, 2, seed=3, executor=HERE)
    assert found["digest"] == expected.digest == sweeps.load(folder).digest
    assert found["mean"]["inverse"]["none"] == pytest.approx(expected["inverse"][:, 0].mean())
    assert is_png(folder / "robots.png")
    assert "already contains results of a sweep" in error(*options)
    assert "seed: 3 in the folder, 4 now" in error(*options, "--resume", "--seed", "4")
    (folder / "chunk_00004.npz").write_bytes(b"")
    again = command(*options, "--resume")
    assert again.exit_code == 0
    assert "warning: " in again.stderr
    assert "chunk_00004.npz.broken" in again.stderr
    assert "11 robots were read from earlier runs; 1 robots were computed" in again.stdout
    assert json.loads((folder / "robots.json").read_text(encoding="utf-8"))["digest"] == expected.digest


def test_sweep_robots_says_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = random_robots.robot

    def fragile(rng: np.random.Generator) -> random_robots.RandomRobot:
        one = whole(rng)
        if one.links > 8:
            raise RuntimeError("too long")
        return one

    monkeypatch.setattr(random_robots, "robot", fragile)
    monkeypatch.setattr(figures, "robots", lambda *_: None)
    result = command("robots", "--robots", "12", "--states", "1", "--workers", "1", "--output", str(tmp_path / "x"))
    assert result.exit_code == 0
    found = json.loads((tmp_path / "x" / "robots.json").read_text(encoding="utf-8"))
    failed = len(found["failures"])
    assert 0 < failed < 12
    assert found["robots"] == 12 - failed
    assert f"warning: {failed} of 12 robots failed" in result.stderr
    assert "RuntimeError: too long" in result.stderr


def test_ctrl_c_while_computing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, drawn = random_robots.robot, 0

    def stopped(rng: np.random.Generator) -> random_robots.RandomRobot:
        nonlocal drawn
        drawn += 1
        if drawn == 6:
            raise KeyboardInterrupt
        return whole(rng)

    options = ("robots", "--robots", "7", "--states", "1", "--workers", "1", "--chunk", "2")
    options += ("--output", str(tmp_path / "x"))
    monkeypatch.setattr(random_robots, "robot", stopped)
    monkeypatch.setattr(figures, "robots", lambda *_: None)
    result = command(*options)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.startswith("error: the sweep was interrupted after 4 of 7 cases. ")
    assert "contains their results" in result.stderr
    assert not (tmp_path / "x" / "robots.json").exists()
    again = command(*options, "--resume")
    assert "4 robots were read from earlier runs; 3 robots were computed" in again.stdout
    assert sweeps.load(tmp_path / "x").digest == robots.run(7, 1, executor=HERE).digest


@pytest.mark.ci
def test_sweep_ratio(tmp_path: Path) -> None:
    options = ("ratio", "--duration", "0.5", "--dt", "0.005", "--workers", "1", "--output", str(tmp_path / "r"))
    result = command(*options, "--factors", "1/2, 1,2")
    assert result.exit_code == 0, result.stderr
    for text in (
        "mit_humanoid_leg: all ratios multiplied by f",
        "knee (12 f)",
        "block armature",
        "4 times less than at f = 0.5",
    ):
        assert text in result.stdout
    found = json.loads((tmp_path / "r" / "ratio.json").read_text(encoding="utf-8"))
    assert found["factors"] == [0.5, 1.0, 2.0]
    assert is_png(tmp_path / "r" / "ratio.png")
    many = command(*options[:-1], str(tmp_path / "many"), "mini_cheetah", "--factors", "1,3")
    assert many.exit_code == 0
    assert "% of its peak torque" in many.stdout
    assert is_png(tmp_path / "many" / "ratio.png")


def test_commands_refuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file, not a folder" in error("robots", "--workers", "1", "--output", str(tmp_path / "file"))
    assert "is a file, not a folder" in error("ratio", "--workers", "1", "--output", str(tmp_path / "file"))
    assert "'0' must be a number above 0" in error("ratio", "--factors", "1,0")
    assert "four_bar" in error("ratio", "four_bar", "--workers", "1", "--output", str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    pytest.importorskip("distributed")
    assert "no Dask scheduler answers at nowhere" in error(
        "robots", "--dask", "nowhere", "--output", str(tmp_path / "a")
    )


def test_help_has_examples() -> None:
    assert command("--help").stdout.count("pin-clusters sweep ") >= 2
    for name in ("ratio", "robots"):
        text = command(name, "--help").stdout
        assert f"pin-clusters sweep {name}" in text.split("Examples:\n")[1]
    for word in ("--resume", "--dask", "--workers", "--seed", "--states", "exit code 130"):
        assert word.lower() in command("robots", "--help").stdout.lower()


# --- documentation ----------------------------------------------------------------------------------------------------


def test_the_page_has_the_measured_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    script = importlib.import_module("report_sweeps")
    assert script.main(["--check"]) == 0
    measured = json.loads((folder / "results" / "sweep.json").read_text(encoding="utf-8"))
    assert (measured["robots"], measured["states"]) == (10_000, 25)
    assert measured["identical"]
    assert measured["was_interrupted"]
    assert measured["interrupted"]["exit_code"] == 130
    assert 0 < measured["interrupted"]["chunks"] < measured["resumed"]["chunks"]
    assert measured["processors"]["robots"] == 200
    for apart in measured["processors"]["quantities"].values():  # promised: the same to rounding of what is compared
        assert 0.0 < apart["of_exact"] < 1e-12
    # the ratio of the documentation is that of today's code
    leg = ratio.run(load("mit_humanoid_leg"), [1.0], executor=HERE)
    at = measured["ratio"]["factors"].index(1.0)
    for r, level in enumerate(leg.levels):
        for j, joint in enumerate(leg.joints):
            assert measured["ratio"]["rms_error"][level][joint][at] == pytest.approx(leg.rms[0, r, j], rel=1e-6)
