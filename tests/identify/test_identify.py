"""``pc.identify``: without noise the truth, with noise the truth within the errors, and what is wrong with logs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import logs
from support.commands import run
from support.messages import raises

import pin_clusters as pc
from pin_clusters.studies.identify.equations import Equations
from pin_clusters.studies.identify.parameters import Parameter, applied, sought
from pin_clusters.studies.identify.solve import fit, in_a_row
from pin_clusters.studies.study import trajectories


@pytest.fixture(scope="module")
def leg() -> tuple[logs.Case, dict[str, np.ndarray]]:
    """A leg, and a log of it without noise."""
    rng = np.random.default_rng(3)
    case = logs.case("mit_humanoid_leg", rng)
    return case, logs.simulated(case.true, rng, seconds=3.0)


@pytest.mark.parametrize("name", [
    "mit_humanoid_leg", *(pytest.param(name, marks=pytest.mark.ci) for name in ("ankle_2rsu", "mini_cheetah")),
])  # fmt: skip
@pytest.mark.parametrize("at_motors", [True, False])
def test_without_noise_the_truth_is_found(name: str, at_motors: bool, rng: np.random.Generator) -> None:
    case = logs.case(name, rng)
    found = pc.identify(case.believed, logs.simulated(case.true, rng, at_motors=at_motors, seconds=2.0), case.what)
    np.testing.assert_allclose(found.estimate, case.values, rtol=1e-8)
    assert found.unidentifiable == ()
    assert np.all(found.r2[1] > 1.0 - 1e-12)
    values = [p.prior for p in sought(found.model, case.what)]
    np.testing.assert_allclose(values, found.estimate, rtol=1e-9)  # the model has them


@pytest.mark.ci
@pytest.mark.parametrize("name", [pytest.param("mit_humanoid_leg", marks=pytest.mark.long), "ankle_2rsu"])
def test_losses_of_gears_are_found(name: str, rng: np.random.Generator) -> None:
    """The log is of ``pc.motor_torque``, whose losses are other code."""
    model, what = logs.robot(name), ("rotor_inertia", "coulomb", "efficiency", "back_efficiency")
    found, numbers = sought(model, what), {"coulomb": 0.02, "efficiency": 0.85, "back_efficiency": 0.75}
    values = np.array([numbers.get(p.kind, p.prior) for p in found])
    log = logs.simulated(applied(model, found, values), rng, seconds=3.0)
    result = pc.identify(model, log, what)
    np.testing.assert_allclose(result.estimate, values, rtol=1e-8)
    assert result.model.motors[0].motor.efficiency == pytest.approx(0.85)
    again = pc.identify(
        result.model, log, ("rotor_inertia", "coulomb")
    )  # what is known of losses is taken into account
    np.testing.assert_allclose(again.estimate, values[: len(again.estimate)], rtol=1e-8)
    if name == "ankle_2rsu":  # a torque that is larger by a factor may be either
        with raises(pc.ModelError, "'ankle_2rsu'"):
            pc.identify(model, log, (*what, "mass", "spring"))
        springs = pc.identify(model, log, (*what, "spring"))
        assert springs.estimate[-1] == pytest.approx(20.0)


def test_the_held_out_part_in_numbers(leg: tuple[logs.Case, dict[str, np.ndarray]], rng: np.random.Generator) -> None:
    """Recomputed from the torques of the last part: ``test`` of each row, by the prior and by the parameters."""
    case, log = leg
    found = pc.identify(case.believed, logs.noisy(log, rng), case.what, test=0.25, noises=0)
    assert list(found.test) == [r.name for r in case.true.motors]
    for k, numbers in enumerate(found.test.values()):
        assert list(numbers) == ["rms_of_prior", "rms", "r2_of_prior", "r2"]
        for prior, ending in enumerate(("", "_of_prior")):
            left = found.measured[:, k] - found.predicted[1 - prior, :, k]
            assert numbers["rms" + ending] == pytest.approx(np.sqrt(np.mean(left**2)))
            assert numbers["r2" + ending] == pytest.approx(1.0 - np.mean(left**2) / np.var(found.measured[:, k]))
    assert found.time[0] == pytest.approx(0.75 * 3.0, abs=0.2)
    assert all(numbers["r2"] > max(0.9, numbers["r2_of_prior"]) for numbers in found.test.values())


def test_what_is_correlated_counts_as_newey_and_west_have_it(rng: np.random.Generator) -> None:
    u, lags = rng.normal(size=(90, 3)), 7
    later = [(1.0 - k / (lags + 1.0)) * u[k:].T @ u[: len(u) - k] for k in range(lags + 1)]
    sums = in_a_row(u, lags)
    np.testing.assert_allclose(sums.T @ sums, sum(x + x.T for x in later) - u.T @ u, rtol=1e-12)


@pytest.mark.ci
def test_two_errors_are_as_much_where_few_samples_tell_of_them(rng: np.random.Generator) -> None:
    """A variance of 96 samples, of which 12 in a row count as one, is itself known to a quarter only."""
    found, within = [Parameter("coulomb", "motor", 1.0)], []
    for _ in range(2000):
        X, left = rng.normal(size=(96, 1, 1)), rng.normal(size=(96, 1))
        best = fit(Equations(("motor",), left, left, X, np.ones(1), None, lambda x: x), found, 12)
        error = np.sqrt(best.variance_factor) * np.linalg.norm(in_a_row(best.influence, best.lags))
        within.append(abs(best.x) < 2.0 * error)
    assert 0.938 < np.mean(within) < 0.965  # without that: 0.92


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*noise of the motion biases")
def test_errors_are_those_of_estimates_without_what_noise_of_the_motion_does(
    leg: tuple[logs.Case, dict[str, np.ndarray]], rng: np.random.Generator
) -> None:
    """With torques without noise, where those of plain least squares are too large."""
    case, log = leg
    torques, off, errors = {key: x for key, x in log.items() if key.endswith(".tau")}, [], []
    for _ in range(10):
        found = [pc.identify(case.believed, logs.noisy(log, rng) | torques, case.what, noises=k) for k in (0, 8)]
        off.append(found[1].estimate - case.values)
        errors.append([f.error for f in found])
    plain, ours = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(off, axis=0)
    assert np.abs(np.log(ours)).mean() < 0.7 * np.abs(np.log(plain)).mean()


def _coverage(name: str, runs: int) -> tuple[float, float]:
    z = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        case = logs.case(name, rng)
        found = pc.identify(case.believed, logs.noisy(logs.simulated(case.true, rng), rng), case.what)
        z.append((found.estimate - case.values) / found.error)
    return float(np.mean(np.abs(z) < 2.0)), float(np.sqrt(np.mean(np.square(z))))


@pytest.mark.long
@pytest.mark.parametrize("name", ["mit_humanoid_leg", "ankle_2rsu"])
def test_the_truth_is_within_two_errors_as_often_as_is_said(name: str) -> None:
    share, size = _coverage(name, 8)
    assert share >= 0.86
    assert 0.75 < size < 1.3  # neither too small nor too large


@pytest.mark.parametrize("seed", pool.some(range(30), 8))
def test_the_interval_of_a_friction_at_zero_is_on_one_side(seed: int, tmp_path: Path) -> None:
    """By the estimate that nothing bounds: that of the same torques with a known friction added to them."""
    tree, rng, t = pin.Model(), np.random.default_rng(seed), np.arange(400) * 0.005
    j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "arm")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Rotor("arm", 1.0, axial_inertia=1e-3, name="motor")])
    w, torque = 1.2 * np.cos(4.0 * t), -0.101 * 4.8 * np.sin(4.0 * t) + 1e-2 * rng.normal(size=400)
    log = {"time": t, "arm": 0.3 * np.sin(4.0 * t), "arm.v": w, "arm.a": -4.8 * np.sin(4.0 * t)}
    free, bound = (pc.identify(model, log | {"motor.tau": torque + x * w}, "viscous", noises=0) for x in (1.0, 0.0))
    estimate, error = float(free.estimate[0]) - 1.0, float(free.error[0])
    low, high = bound.interval[:, 0]
    assert bound.error[0] == pytest.approx(error, rel=1e-6)
    assert low == pytest.approx(max(estimate - 2.0 * error, 0.0), abs=1e-9)
    assert high == pytest.approx(max(estimate + 2.0 * error, 0.0), abs=1e-9)
    assert bound.estimate[0] == pytest.approx(max(estimate, 0.0), abs=1e-9)
    assert (bound.moved == ("motor: viscous",)) is (estimate < -0.1 * error)
    text = bound.page(tmp_path / "page.html").read_text()
    assert ("interval of two standard errors: 0 to" in text) is bool(bound.moved)


@pytest.mark.long
def test_bodies_are_physical_and_what_hides_is_named(rng: np.random.Generator) -> None:
    what, model = ("rotor_inertia", "inertial"), logs.robot("mit_humanoid_leg")
    found = sought(model, what)
    values = np.array([p.prior for p in found])
    believed, log = applied(model, found, 0.8 * values), logs.simulated(model, rng)
    result = pc.identify(believed, log, what)
    alone = np.array([label not in result.unidentifiable for label in result.parameters])
    assert np.abs(result.estimate - values)[alone].max() < 1e-8
    assert {"hip_rz: mass", "hip_rz: Ixx", "ankle: mass"} <= set(result.unidentifiable)
    assert "hip_rx_rotor: rotor_inertia" not in result.unidentifiable
    assert np.all(np.isinf(result.error[~alone]))
    for label, value, error in result.combinations:
        terms = label.replace(" - ", " + -1 ").split(" + ")
        assert len(terms) > 1
        assert error < 1e-6
        truth = values[result.parameters.index(terms[0])]
        for term in terms[1:]:
            size, _, name = term.removeprefix("-1 ").partition(" ")
            truth += (-1.0 if term.startswith("-1 ") else 1.0) * float(size) * values[result.parameters.index(name)]
        assert value == pytest.approx(truth, rel=1e-2, abs=2e-3)  # four digits of each factor are in the label
    noisy = pc.identify(believed, logs.noisy(log, rng), what)  # refuses by InertiaError what no body has
    z = ((noisy.estimate - values) / noisy.error)[alone]
    assert np.abs(z).max() < 4.0


def test_what_the_log_does_not_see_is_named(rng: np.random.Generator) -> None:
    case = logs.case("mit_humanoid_leg", rng)
    log = logs.simulated(case.true, rng, seconds=2.0)
    still = {f"ankle{e}": np.zeros_like(log["time"]) for e in (".v", ".a")} | {"ankle": np.full_like(log["time"], 0.2)}
    still |= {f"knee{e}": x for e, x in still.items() for e in [e.removeprefix("ankle")]}
    found = pc.identify(case.believed, log | still, ("ankle_rotor: viscous", "*_rotor: coulomb"), allow_saturated=True)
    assert {"ankle_rotor: viscous", "ankle_rotor: coulomb", "knee_rotor: coulomb"} == set(found.unidentifiable)
    assert np.isinf(found.error[0])
    assert found.estimate[0] == pytest.approx(found.prior[0], abs=1e-9)


@pytest.mark.parametrize(("change", "words"), [
    (lambda x: {"knee": np.where(np.arange(len(x["time"])) == 7, np.nan, x["knee"])}, "'knee' nan 7"),
    (lambda x: {"time": np.where(x["time"] > 1.0, x["time"] + 0.5, x["time"])}, "(0, 1)"),
    (lambda x: {"time": x["time"] ** 2 + x["time"]}, "0.024 624"),
    (lambda x: {"knee_rotor.tau": x["knee_rotor.tau"].clip(-0.1, 0.1)}, "'knee_rotor.tau' 0.1"),
    (lambda x: {"knee.v": np.repeat(x["knee.v"][::5], 5)}, "'knee.v' 5"),
    (lambda x: {"knie.tau": x["knee"]}, "'knie.tau' 'knee'"),
    (lambda x: {"knee.v": x["knee.v"][:-1]}, "(749,) (750,)"),
    (lambda x: {"knee.tau": x["knee"]}, "JOINT.tau"),
    (lambda x: {"knee_rotor.current": x["knee"]}, "'knee_rotor.current'"),
    (lambda x: {key: y[:30] for key, y in x.items()}, "30"),
])  # fmt: skip
def test_wrong_logs(leg: tuple[logs.Case, dict[str, np.ndarray]], change, words: str) -> None:
    case, log = leg
    with raises(trajectories.TrajectoryError, words):
        pc.identify(case.believed, log | change(log), case.what)


def test_wrong_wishes(leg: tuple[logs.Case, dict[str, np.ndarray]]) -> None:
    case, log = leg
    with raises(pc.UnknownNameError, "'frition'"):
        pc.identify(case.believed, log, "frition")
    with raises(pc.ModelError, "pc.Spring"):
        pc.identify(case.believed, log, "spring")
    with raises(pc.ModelError, "coulomb ankle_rotor knee_rotor"):
        pc.identify(case.believed, log, "elbow: coulomb")
    with raises(pc.ArgumentTypeError, "test"):
        pc.identify(case.believed, log, test=1.0)
    with raises(pc.ArgumentTypeError, "torque_constant 'elbow'"):
        pc.identify(case.believed, log, torque_constant={"elbow": 0.1})
    lacking = {key: x for key, x in log.items() if key != "hip_rz_rotor.tau"}
    with raises(trajectories.TrajectoryError, "MOTOR.tau MOTOR.current"):
        pc.identify(case.believed, lacking)
    short = logs.noisy({key: x[:60] for key, x in log.items()}, np.random.default_rng(0))
    with raises(trajectories.TrajectoryError, "20"):
        pc.identify(case.believed, short, case.what, cutoff=10.0)


@pytest.mark.parametrize(("option", "words"), [
    ({"friction_speed": -1}, "friction_speed -1"),
    ({"friction_speed": np.nan}, "friction_speed nan"),
    ({"friction_speed": "x"}, "friction_speed 'x'"),
    *(({"cutoff": x}, f"cutoff {x!r}") for x in (0, -1, np.nan, "x", True, [3.0])),
    *(({"test": x}, f"test {x!r}") for x in (0, 1.0, np.nan, "x", None)),
    *(({"span": x}, f"span {x!r}") for x in (5, "ab", (1.0,), (2.0, 1.0), (np.nan, 1.0), ("a", "b"), (0, 1, 2))),
    *(({"torque_constant": x}, f"torque_constant {x!r}") for x in (5, [], {3: 0.1})),
    *(({"torque_constant": {"knee_rotor": x}}, f"torque_constant 'knee_rotor' {x!r}") for x in (0, np.nan, "x", None)),
    *(({"noises": x}, f"noises {x!r}") for x in (-1, 1.5, "x", None)),
    *(({"seed": x}, f"seed {x!r}") for x in (-1, "x", None)),
    *(({"what": x}, f"what {x!r}") for x in ([], 5, None, [3], ())),
    *(({"log": x}, f"log {type(x).__name__}") for x in (3, None, np.zeros(3))),
    ({"log": {3: np.zeros(60)}}, "log 3"),
    ({"degrees": "no"}, "degrees 'no'"),
    ({"allow_saturated": 2}, "allow_saturated 2"),
    ({"test": 1e-9}, "test 749 750 1"),
    ({"test": 0.9999}, "test 0 750"),
])  # fmt: skip
def test_wrong_options(leg: tuple[logs.Case, dict[str, np.ndarray]], option: dict[str, Any], words: str) -> None:
    case, log = leg
    with raises(pc.ArgumentTypeError, f"identify {words}"):
        pc.identify(case.believed, **({"log": log, "what": case.what} | option))


@pytest.mark.parametrize("cutoff", [1e300, 125.0, 1e-300, 0.3])
def test_cutoffs_that_the_log_does_not_allow(leg: tuple[logs.Case, dict[str, np.ndarray]], cutoff: float) -> None:
    case, log = leg  # 750 samples at 250 Hz
    with raises(trajectories.TrajectoryError, f"log cutoff {cutoff:g} 0.334 125"):
        pc.identify(case.believed, log, case.what, cutoff=cutoff)


def test_options_that_are_right(leg: tuple[logs.Case, dict[str, np.ndarray]]) -> None:
    """The log has all accelerations, so it is not filtered by default; ``span`` may be open at its end."""
    case, log = leg
    default = pc.identify(case.believed, log, case.what)
    for option in ({"cutoff": np.inf}, {"cutoff": 10**400}, {"span": (0, np.inf)}, {"seed": 2, "noises": np.int64(3)}):
        np.testing.assert_array_equal(pc.identify(case.believed, log, case.what, **option).estimate, default.estimate)


@pytest.mark.ci
def test_currents_and_files_of_bags(leg: tuple[logs.Case, dict[str, np.ndarray]], tmp_path: Path) -> None:
    case, log = leg
    truth = pc.identify(case.believed, log, case.what, noises=0).estimate
    currents = {key.replace(".tau", ".current"): x / 0.05 if key.endswith(".tau") else x for key, x in log.items()}
    constants = {r.name: 0.05 for r in case.true.motors}
    found = pc.identify(case.believed, currents, case.what, torque_constant=constants)
    np.testing.assert_allclose(found.estimate, truth, rtol=1e-9)
    rng, names = np.random.default_rng(0), case.true.independent_joints
    log = logs.simulated(case.true, rng, at_motors=False, seconds=2.0)
    kinds = (("position", ""), ("velocity", ".v"), ("effort", ".tau"))
    plain = {key: x for key, x in log.items() if not key.endswith(".a")}
    truth = pc.identify(case.believed, plain, noises=0, cutoff=20.0).estimate
    numbered = ["%time", *(f"field.{x}{i}" for x in ("name", *(k for k, _ in kinds)) for i in range(len(names)))]
    named = ["__time", *(f"/joint_states/{n}/{k}" for k, _ in kinds for n in names)]
    cells = np.array([log[n + e] for _, e in kinds for n in names]).T
    for head, first in ((numbered, list(names)), (named, [])):
        lines = [",".join(head)]
        for t, row in zip(log["time"], cells, strict=True):
            stamp = str(1_700_000_000_000_000_000 + round(t * 1e9)) if first else repr(float(t))
            lines.append(",".join([stamp, *first, *(repr(float(x)) for x in row)]))
        (tmp_path / "bag.csv").write_text("\n".join(lines), encoding="utf-8")
        found = pc.identify(case.believed, tmp_path / "bag.csv", noises=0, cutoff=20.0)
        np.testing.assert_allclose(found.estimate, truth, rtol=1e-6)
    (tmp_path / "bag.csv").write_text("\n".join([*lines[:9], lines[9] + ",1"]), encoding="utf-8")
    with raises(trajectories.TrajectoryError, "10"):
        pc.identify(case.believed, tmp_path / "bag.csv")


@pytest.mark.ci
def test_the_command_writes_page_and_numbers(
    leg: tuple[logs.Case, dict[str, np.ndarray]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, log = leg
    monkeypatch.chdir(tmp_path)
    np.savez("leg.npz", **log)
    result = run("identify", "mit_humanoid_leg", "leg.npz", "--what", "coulomb", "--what", "viscous")
    assert result.exit_code == 0, result.output
    numbers = json.loads(Path("identify_mit_humanoid_leg/identify.json").read_text(encoding="utf-8"))
    truth = [x for label, x in zip(sought(case.true, case.what), case.values, strict=True) if label.kind == "coulomb"]
    np.testing.assert_allclose(numbers["estimate"][:5], truth, rtol=1e-8)
    page = Path("identify_mit_humanoid_leg/identify.html").read_text(encoding="utf-8")
    assert "knee_rotor: coulomb" in page
    assert page.count("<svg") == 5
    refused = run("identify", "mit_humanoid_leg", "leg.npz", "--torque-constant", "knee")
    assert refused.exit_code == 2


def test_numbers_are_written_if_the_page_fails(
    leg: tuple[logs.Case, dict[str, np.ndarray]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, log = leg
    found = pc.identify(case.believed, log, "coulomb")
    (tmp_path / "taken" / "identify.html").mkdir(parents=True)
    with pytest.raises(OSError, match="identify"):
        found.write(tmp_path / "taken")

    def fails(*_: object) -> str:
        raise RuntimeError("no plot")

    monkeypatch.setattr("pin_clusters.studies.identify.page._plot", fails)
    with pytest.raises(RuntimeError, match="no plot"):
        found.write(tmp_path / "broken")
    for folder in ("taken", "broken"):
        numbers = json.loads((tmp_path / folder / "identify.json").read_text(encoding="utf-8"))
        np.testing.assert_array_equal(numbers["estimate"], found.estimate)
