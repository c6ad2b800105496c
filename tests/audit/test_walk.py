"""Touch-downs in the audit: laws of impact on paper, what is refused, and what the page and the command say."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner
from samples.bipeds import FOOT as FOOT_CORNERS
from samples.bipeds import biped
from support.messages import raises

import pin_clusters as pc
from pin_clusters._cli import cli
from pin_clusters.studies import audit, study
from pin_clusters.studies.audit.sections import walk as section
from pin_clusters.studies.audit.walk import IMPACT, Control, Landing, Walked, walked

DT = 5e-4
FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}
M, FOOT, REFLECTED, DROP = 3.0, 0.2, 0.5, 0.1


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


@pytest.fixture(scope="module")
def quadruped() -> pc.ClusterModel:
    return load("mini_cheetah")


@pytest.fixture(scope="module")
def trot(quadruped: pc.ClusterModel) -> Walked:
    motion = piece(0.7)
    return walked(quadruped, motion, None, None, FEET, dt=DT)


def piece(until: float, **more: Any) -> study.Recorded:
    whole = study.motion("mini_cheetah_trot")
    n = int(np.searchsorted(whole.time, until))
    columns = {k: x[:n] for k, x in whole.positions.items()}
    assert whole.base is not None
    given = {"base": whole.base[:n], "forces": {k: x[:n] for k, x in whole.forces.items()}, "name": "trot"} | more
    return study.Recorded(whole.time[:n], columns, **given)


def hopper(rotor: bool = True) -> pc.ClusterModel:
    """Return a mass on a leg that slides, whose motor, of inertia 5e-5 kg m^2 at ratio 100, sits in the mass."""
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(base, pin.Inertia.FromBox(M, 0.2, 0.2, 0.2), pin.SE3.Identity())
    leg = tree.addJoint(base, pin.JointModelPZ(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.3])), "leg")
    tree.appendBodyToJoint(leg, pin.Inertia.FromSphere(FOOT, 0.02), pin.SE3.Identity())
    motor = [pc.Rotor("leg", 100.0, axial_inertia=1e-4 * REFLECTED)]
    return pc.ClusterModel(tree, motor if rotor else [], name="hopper")


def test_a_landing_is_that_of_the_law_of_impact() -> None:
    model = hopper()
    found = walked(model, study.Sine(), DROP, None, {"leg": [0.0, 0.0, 0.0]}, dt=1e-4)
    (landing,) = found.landings
    # base z and leg s: the foot, at z + s, stops at once; energy and rows on paper
    mass = np.array([[M + FOOT, FOOT], [FOOT, FOOT + REFLECTED]])
    speed = np.sqrt(2.0 * 9.81 * DROP)
    blow = speed / float(np.ones(2) @ np.linalg.solve(mass, np.ones(2)))
    for level in ("exact", "diagonal", "block"):
        # what comes in 5 ms besides: weight, and the leg's PD, which is stiff on this light foot
        run = landing.impulse[level]
        assert landing.time[level] == pytest.approx(speed / 9.81, abs=2e-4)
        assert blow < run < blow + 2.0 * (M + FOOT) * 9.81 * IMPACT + 0.3 * blow
    # the exact rotor turns the base against it, about the leg: (J ratio)^2 / I less, of 0.5 kg
    assert found.off("diagonal") == pytest.approx(0.0, abs=0.3)
    assert found.off("block") == pytest.approx(found.off("diagonal"), abs=1e-6)
    assert found.harness == 0.0
    assert found.weight == pytest.approx((M + FOOT) * 9.81)


@pytest.mark.ci
def test_belts_make_the_difference_that_the_impact_has() -> None:
    model = load("mit_humanoid")
    toes = {f"{side}_ankle": [0.1, 0.0, -0.041] for side in ("left", "right")}
    bent = {f"{s}_{j}": x for s in ("left", "right") for j, x in (("hip_ry", -0.4), ("knee", 0.8), ("ankle", -0.4))}
    motion = study.MinimumJerk(poses=[bent, "neutral"])
    found = walked(model, motion, 0.1, None, toes, dt=1e-4)
    assert {x.body for x in found.landings} == {"left_ankle", "right_ankle"}
    given = {name: x.sum(axis=1) for name, x in found.pushed.items()}
    blows = {name: x[np.flatnonzero(x > 0.0)[0] + 2] for name, x in given.items()}  # of three steps, both feet
    # by Pinocchio's impulseDynamics on the exact robot and on Pinocchio's own model with armature
    exact, armature = _blows(model, motion.states(model)[1][0])
    assert blows["exact"] == pytest.approx(exact, rel=0.1)
    assert blows["diagonal"] / blows["exact"] == pytest.approx(armature / exact, rel=0.03)
    assert abs(found.off("block")[0]) < 5.0 < 15.0 < found.off("diagonal")[0]


def _blows(model: pc.ClusterModel, q: np.ndarray) -> list[float]:
    found = []
    place, axes = pin.SE3(np.eye(3), np.array([0.1, 0.0, -0.041])), pin.LOCAL_WORLD_ALIGNED
    for lib, robot in ((pc, model), (pin, pc.baselines.armature_model(model))):
        data, kind = robot.createData(), pin.ContactType.CONTACT_3D
        feet = [robot.getJointId(f"{side}_ankle") for side in ("left", "right")]
        models = [lib.RigidConstraintModel(kind, robot, j, place, axes) for j in feet]
        datas = [x.createData() for x in models]
        lib.initConstraintDynamics(robot, data, models, datas)
        here = q if lib is pc else _of(robot, model, q)
        v = np.zeros(robot.nv)
        v[2] = -1.4
        lib.impulseDynamics(robot, data, here, v, models, datas)
        found.append(sum(d.contact_force.linear[2] for d in datas))
    return found


def _of(robot: pin.Model, model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    here = pin.neutral(robot)
    for name in list(robot.names)[1:]:
        mine, its = robot.joints[robot.getJointId(name)], model.tree.joints[model.tree.getJointId(name)]
        here[mine.idx_q : mine.idx_q + mine.nq] = q[its.idx_q : its.idx_q + its.nq]
    return here


@pytest.mark.ci
def test_a_walk_has_landings_of_each_robot(trot: Walked) -> None:
    assert trot.levels == ("diagonal", "block")
    assert len(trot.landings) >= 4
    assert 0.0 < trot.harness < 0.2 * trot.weight
    for landing in trot.landings:
        # gears only: each motor turns one joint
        assert landing.impulse["diagonal"] == pytest.approx(landing.impulse["block"], rel=1e-3, nan_ok=True)
        assert 0.0 < landing.time["exact"] < 0.7
    # what the page adds up is what landings have: the first one by its own samples
    first = trot.landings[0]
    b, k = trot.bodies.index(first.body), int(np.searchsorted(trot.time, first.time["exact"] - 1e-9))
    y = trot.pushed["exact"][:, b]
    assert y[k + round(IMPACT / DT) - 1] - y[k - 1] == pytest.approx(first.impulse["exact"])


def test_without_recorded_forces_statics_are_shared(quadruped: pc.ClusterModel) -> None:
    given, own = (Control(quadruped, piece(0.3, forces=f), None, None, FEET, 5e-3) for f in (piece(0.3).forces, {}))
    # in the middle of a stance of two feet the forces are the same, but for what does not move the robot
    off = np.abs(given.tau - own.tau).max(axis=1) / np.abs(given.tau).max()
    assert np.median(off) < 0.2
    assert np.abs(own.tau).max() > 1.0


def test_a_gentle_touch_down_counts_for_little() -> None:
    def landing(exact: float, diagonal: float) -> Landing:
        both = {"exact": exact, "diagonal": diagonal}
        return Landing("foot", dict.fromkeys(both, 0.1), both, "knee", both, "knee", both)

    landings = landing(2.0, 1.9), landing(1e-3, 2.1e-2), landing(1.0, float("nan"))
    pushed = dict.fromkeys(("exact", "diagonal"), np.ones((3, 1)))
    found = Walked(
        "walk", landings, ("diagonal",), DT, 0.0, 0.0, 9.0, 0.8, np.array([0.05, 0.1, 0.15]), ("foot",), pushed
    )
    assert "3 touch-downs of 0.001 to 2 N s in the first 5 ms; errors in per cent of the largest: " in found.sentence
    assert " -5 to +1 % (-0.1 to +0.02 N s), up to 0 ms earlier or later, 1 missing." in found.sentence
    assert found.worst is landings[0]
    shown = section.values(found)["walk"]["impulses"]
    assert "error / largest" in shown
    assert [x in shown for x in ("-5 %", "+1 %", "+2e+03 %")] == [True, True, False]


FEET_OF_BIPED = {f"{side}_ankle_roll": FOOT_CORNERS for side in ("left", "right")}


def bent(angle: float) -> study.MinimumJerk:
    pose = {"hip_pitch": -0.5 * angle, "knee": angle, "ankle_pitch": -0.5 * angle}
    return study.MinimumJerk(poses=[{f"{s}_{j}": x for s in ("left", "right") for j, x in pose.items()}, "neutral"])


@pytest.mark.parametrize(("angle", "straight"), [(0.0, True), (0.1, True), (0.4, False), (1.0, False)])
def test_a_drop_on_straight_legs_is_said(angle: float, straight: bool) -> None:
    """A leg of two links of length l, bent by a, becomes shorter by l sin(a / 2) per rad of the knee: 0.05 l at 0.1."""
    motion = bent(angle) if angle else study.Sine(in_phase=True)
    found = Control(biped(parallel=False), motion, DROP, None, FEET_OF_BIPED, DT).straight
    assert found == (("left_ankle_roll", "right_ankle_roll") if straight else ())


def test_a_telescopic_leg_is_not_straight() -> None:
    assert Control(hopper(), study.Sine(), DROP, None, {"leg": [0.0, 0.0, 0.0]}, DT).straight == ()


def test_numbers_that_read_alike_are_said_once() -> None:
    time, impulse = {"exact": 0.1, "block": 0.101}, {"exact": 16.01, "block": 16.0}
    landing = Landing("foot", time, impulse, "knee", time, "knee", time)
    twice = (landing, replace(landing, impulse={"exact": 16.02, "block": 16.01}))
    numbers = ("drop", twice, ("block",), DT, 0.0, 0.0, 9.81, 0.8, np.zeros(1), ("foot",), {})
    text = Walked(*numbers).sentence
    assert text.startswith("2 touch-downs of 16 N s in the first 5 ms; ")
    assert "block armature -0.062 % (-0.01 N s)" in text
    assert "straight" not in text
    straight = Walked(*numbers, ("foot",))
    assert "The robot lands on straight legs (foot)" in straight.sentence
    assert "--trajectory minimum-jerk --pose" in straight.sentence
    assert straight.as_dict()["straight"] == ["foot"]
    assert Walked("drop", twice[:1], *numbers[2:]).sentence.startswith("1 touch-down of 16 N s in")


@pytest.mark.parametrize("drop", [0.0, -1.0, True, float("nan"), 11.0])
def test_heights_that_are_refused(quadruped: pc.ClusterModel, drop: Any) -> None:
    with raises(pc.ArgumentTypeError, "drop 0 10"):
        walked(quadruped, study.Sine(), drop, None, FEET)


def test_what_is_refused(quadruped: pc.ClusterModel) -> None:
    with raises(study.TrajectoryError, "--drop 0.1"):
        walked(quadruped, study.Sine(), None, None, FEET)
    with raises(pc.ModelError, "'mit_humanoid_leg'"):
        walked(load("mit_humanoid_leg"), study.Sine(), 0.1, None, {"ankle": [0.0, 0.0, 0.0]})
    with raises(pc.ModelError, "armature"):
        walked(hopper(rotor=False), study.Sine(), 0.1, None, {"leg": [0.0, 0.0, 0.0]})
    # one foot carries what four carried: the harness does the rest
    with raises(study.TrajectoryError, "20"):
        walked(quadruped, piece(0.3), None, None, {"FL_knee": FEET["FL_knee"]}, dt=2e-3)


@pytest.mark.ci
def test_page_and_numbers(trot: Walked) -> None:
    assert section.values(None) == {"walk": None}
    shown = section.values(trot)["walk"]
    assert trot.sentence == shown["sentence"]
    assert f"{len(trot.landings)} touch-downs" in trot.sentence
    assert shown["impulses"].count("<tr>") >= len(trot.landings)
    assert "trot" in shown["motion"]
    json.dumps(trot.as_dict())
    assert "walk" not in audit.run(load("mit_humanoid_leg"), duration=0.2, dt=0.01, frames=()).as_dict()


@pytest.mark.ci
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    feet = ["--touching", "*_knee=0,0,-0.195"]
    trot_too = ["--trajectory", "mini_cheetah_trot", "--output", "out"]
    done = CliRunner().invoke(cli.main, ["audit", "mini_cheetah", "--drop", "0.02", *trot_too, *feet])
    assert done.exit_code == 0, done.output
    assert "drop from 0.02 m: 4 touch-downs" in " ".join(done.output.split())
    text = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    assert "At touch-down" in text
    assert "Only the ground supports the robot" in text
    assert json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))["walk"]["harness"] == 0.0
    for given, message in (
        (["tello", "--walk"], "contains no walking motion of tello"),
        (["mini_cheetah", "--walk", "--touching", "FL_knee=1,2"], "must be NAME or NAME=X,Y,Z"),
    ):
        refused = CliRunner().invoke(cli.main, ["audit", *given])
        assert refused.exit_code == 2
        assert message in " ".join(refused.output.split())
