"""The audit: its numbers are the study's, its verdict follows the threshold, its page stands alone."""

from __future__ import annotations

import itertools
import json
import re
import stat
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner, Result
from samples import pool
from samples.bipeds import biped
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters._cli import cli
from pin_clusters.files import readers as loaders
from pin_clusters.studies import audit, study
from pin_clusters.studies.audit.page import page
from pin_clusters.studies.audit.reflected import reflect
from pin_clusters.studies.audit.sections import simulation as simulation_section
from pin_clusters.studies.audit.simulated import ends
from pin_clusters.studies.audit.verdict import THRESHOLDS, Verdict, judge
from pin_clusters.studies.pages.template import Html, fill, joined

SHORT: dict[str, Any] = {"duration": 0.7, "dt": 5e-3}
PAGES: dict[int, str] = {}


def load(name: str, root: Any = "default") -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return loaders.load(name, root_joint=root)


@pytest.fixture(scope="module")
def leg() -> audit.AuditResult:
    return audit.run(load("mit_humanoid_leg"), **SHORT)


@pytest.fixture(scope="module")
def humanoid() -> audit.AuditResult:
    return audit.run(load("mit_humanoid"), **SHORT)


@pytest.fixture(scope="module")
def tello() -> audit.AuditResult:
    return audit.run(load("tello"), **SHORT, frames=())  # its simulation is slow


@pytest.fixture(scope="module")
def four_bar() -> audit.AuditResult:
    return audit.run(load("four_bar"), **SHORT)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_study(humanoid: audit.AuditResult) -> None:
    found = study.run(load("mit_humanoid"), **SHORT)
    numbers = humanoid.as_dict()
    assert numbers["study"]["rms_error"] == {
        level: dict(zip(found.joints, map(float, x), strict=True)) for level, x in found.rms_error.items()
    }
    for level, errors in found.rms_error.items():
        for joint, error, peak, largest in zip(
            found.joints, errors, found.peak_error[level], found.max_exact, strict=True
        ):
            assert numbers["percent_of_peak_torque"][level][joint] == pytest.approx(100.0 * error / largest, rel=1e-14)
            assert numbers["peak_error"][level][joint] == peak


def test_the_worst_joint_is_the_worst(leg: audit.AuditResult) -> None:
    percent = leg.percent["diagonal"]
    worst = leg.verdict.torque.worst["diagonal"]
    assert worst.percent == percent.max()
    assert worst.joint == leg.study.joints[int(np.argmax(percent))]
    assert np.all(np.diff(percent[leg.order]) <= 0.0)
    assert leg.verdict.torque.above == tuple(n for n, x in zip(leg.study.joints, percent, strict=True) if x > 5.0)


@pytest.mark.ci
def test_the_reasons_add_up(humanoid: audit.AuditResult, tello: audit.AuditResult, four_bar: audit.AuditResult) -> None:
    for result in (humanoid, tello, four_bar):
        assert result.why.residual < 1e-9
        assert result.why.level == result.verdict.asked


def test_simulations_start_with_the_exact_torques_and_a_free_base(humanoid: audit.AuditResult) -> None:
    flight = humanoid.simulated.flight
    assert flight is not None
    # nothing acts on the base, so momentum is kept but for rounding
    assert flight.momentum_rate["exact"]["angular"] < 1e-11
    assert flight.momentum_rate["block"]["angular"] > 0.1
    model = load("mit_humanoid_leg", None)
    held = audit.run(model, **SHORT)
    # the base is held, so the exact accelerations are those of the motion: a sine of 0.5 rad at 1.5 Hz
    rms = 0.5 * (2.0 * np.pi * 1.5) ** 2 / np.sqrt(2.0)
    assert held.simulated.flight is None
    assert held.simulated.forward.exact == pytest.approx(np.full(5, rms), rel=0.05)
    # with the exact wrench on a base that floats, too; without it, it gives way under the same torques
    assert humanoid.simulated.forward.exact[:6] == pytest.approx(np.zeros(6))
    assert humanoid.simulated.forward.exact[6:] == pytest.approx(np.full(18, rms), rel=0.05)
    assert humanoid.simulated.free is not None
    assert np.mean(np.abs(humanoid.simulated.free.exact / rms - 1.0) > 0.05) > 0.5
    # so does a simulation with the exact torques: at its end the frame is where the motion has it
    drift = held.simulated.frames[0].drift
    assert drift is not None
    time, q, *_ = study.Sine(**SHORT).states(model)
    (k,) = np.flatnonzero(np.abs(time - time[0] - drift.time[-1]) < 1e-9)
    data = model.tree.createData()
    pin.framesForwardKinematics(model.tree, data, q[k])
    there = data.oMf[model.tree.getFrameId(drift.frame)].translation
    # torques are linear between samples of 5 ms
    assert drift.path[-1] == pytest.approx(there, abs=1e-3 * drift.length)


def test_frames_by_default_and_by_name() -> None:
    def of(name: str) -> tuple[str, ...]:
        model = load(name)
        return ends(model, study.Sine(duration=0.5, dt=0.1).states(model)[1])

    assert of("mit_humanoid") == ("left_ankle_link", "left_elbow_link")
    assert len(of("mini_cheetah")) == 1
    assert of("four_bar") == ("coupler_link",)  # the rocker's own origin stays where it is
    found = audit.run(load("mit_humanoid_leg"), frames=["knee_link"], **SHORT).simulated.frames
    assert [f.frame for f in found] == ["knee_link"]
    assert found[0].drift is not None
    with raises(pc.UnknownNameError, "'kneee_link'"):
        audit.run(load("mit_humanoid_leg"), frames=["kneee_link"])


# --- verdict ----------------------------------------------------------------------------------------------------------


def judged(result: audit.AuditResult, torque: float, acceleration: float = 100.0) -> Verdict:
    """The verdict with other thresholds; accelerations are far off at an ankle, so 100 % is the most that there is."""
    accelerations = {
        r: np.minimum(x, 0.99 * result.simulated.forward.exact) for r, x in result.simulated.forward.rms.items()
    }
    simulated = replace(result.simulated, forward=replace(result.simulated.forward, rms=accelerations), flight=None)
    limits = {"torque control": torque, "simulation": acceleration, "a policy": acceleration}
    return judge(result.study, simulated, limits)


def test_the_verdict_flips_at_the_threshold(leg: audit.AuditResult) -> None:
    worst = leg.verdict.torque.worst["diagonal"]
    above, below = judged(leg, worst.percent * (1.0 + 1e-9)), judged(leg, worst.percent * (1.0 - 1e-9))
    assert above.enough
    assert above.best == "diagonal"
    assert above.answer == "Yes, on this motion"
    assert above.sentence.startswith(
        "For mit_humanoid_leg, armature is enough for torque control, simulation and a policy: "
    )
    assert not below.enough
    assert below.torque.above == (worst.joint,)
    assert below.answer == "For simulation and a policy only"
    assert below.sentence.startswith(
        "For mit_humanoid_leg, armature is enough for simulation and a policy, not for torque control: "
    )
    for verdict in (above, below):
        assert f"{verdict.torque.threshold:g} %" in verdict.sentence
        assert worst.joint in verdict.sentence
        assert verdict.sentence.count(". ") == 0  # one sentence
        assert verdict.sentence.endswith(".")


def test_the_headline_follows_from_the_worst_line(leg: audit.AuditResult) -> None:
    """Torques that are right do not help a simulation: the accelerations under them are off by as much as there is."""
    verdict = judge(leg.study, leg.simulated, {"torque control": 50.0})
    share = 100.0 * leg.simulated.forward.relative["diagonal"]
    line = verdict.lines["simulation"]
    assert [x.enough for x in verdict.lines.values()] == [True, False, False]
    assert line.worst["diagonal"].percent == pytest.approx(share.max())
    assert line.above == tuple(n for n, x in zip(leg.simulated.forward.names, share, strict=True) if x > 10.0)
    assert not verdict.enough
    assert verdict.answer == "For torque control only"
    assert f"{share.max():.3g} % (RMS)" in verdict.sentence
    assert "above the threshold of 10 % for simulation" in verdict.sentence
    assert verdict.best is None


def test_a_base_counts_in_a_simulation_if_the_motion_moves_it(humanoid: audit.AuditResult) -> None:
    assert humanoid.simulated.flight is not None
    held = judge(humanoid.study, humanoid.simulated, {"simulation": 0.01}).lines["simulation"]
    assert "base (turning)" not in held.above
    turning = {level: {"linear": 0.0, "angular": 0.5} for level in humanoid.percent}
    moved = replace(humanoid.simulated, forward=replace(humanoid.simulated.forward, base=turning))
    verdict = judge(humanoid.study, moved, {"simulation": 49.0})
    assert "base (turning)" in verdict.lines["simulation"].above
    assert "base (translation)" not in verdict.lines["simulation"].above
    assert "base (turning)" not in verdict.torque.above


def test_the_best_is_the_coarsest_that_is_enough(leg: audit.AuditResult) -> None:
    worst = {level: w.percent for level, w in leg.verdict.torque.worst.items()}
    assert worst["block"] < worst["diagonal"] < worst["none"]
    for level, best in (("block", "block"), ("diagonal", "diagonal"), ("none", "none")):
        assert judged(leg, 1.01 * worst[level]).best == best
    assert judged(leg, 1.01 * worst["none"], 1e-3).best is None
    exact = judged(leg, 0.99 * worst["block"])
    assert exact.best is None
    assert "only exact rotors" in exact.advice
    assert "Block armature" in judged(leg, 1.01 * worst["block"]).advice


@pytest.mark.ci
def test_joints_that_the_motion_leaves_still_are_named(humanoid: audit.AuditResult) -> None:
    """In phase both cranks only pitch the foot, so nothing is known about its roll."""
    model = pc.load("ankle_2rsu", independent=["crank_left", "crank_right"])
    alike = audit.run(model, study.Sine(in_phase=True, **SHORT), frames=())
    assert alike.exercised.still == ("ankle_roll",)
    assert alike.exercised.travel["ankle_pitch"] == pytest.approx(1.0, abs=1e-2)
    assert "which does not exercise ankle_roll" in alike.verdict.sentence
    assert alike.verdict.answer == "Yes, for the joints that this motion exercises"
    assert alike.exercised.sentence in " ".join(" ".join(read(page(alike)).text).split())
    apart = audit.run(model, **SHORT, frames=())
    assert apart.exercised.still == ()
    assert apart.verdict.torque.worst["frozen"].percent > 1.0 > 1e-6 > alike.verdict.torque.worst["frozen"].percent
    assert humanoid.exercised.still == ()
    assert not any("rotor" in name for name in humanoid.exercised.travel)
    little = audit.run(load("mit_humanoid_leg"), amplitude=0.04, **SHORT, frames=())
    assert len(little.exercised.still) == 5
    assert "hip_rz, hip_rx, hip_ry and 2 more" in little.verdict.sentence


def test_armature_that_is_exact_is_enough() -> None:
    # the carrier stands still
    tree = pin.Model()
    tree.name = "pendulum"
    j = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "joint")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.0, 0.0, -0.3]), 0.01 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Rotor("joint", 6.0, axial_inertia=1e-3)])
    result = audit.run(model, **SHORT, threshold=1e-3, simulation=1e-3, policy=1e-3)
    assert result.verdict.enough
    assert "exact at every joint" in result.verdict.sentence
    assert "Parts of the error" not in page(result)
    assert result.reflected.armature == {"joint": pytest.approx(0.036)}


@pytest.mark.ci
def test_loops_with_rotors_ask_about_armature(tello: audit.AuditResult) -> None:
    assert tello.verdict.asked == "armature"
    assert list(tello.percent) == ["unconstrained", "frozen", "no rotor", "armature"]
    # as the links see it: D^-T J D^-1 by another route, differences of the poses of motors and links
    side = next(s for s in tello.reflected.links if "left_knee" in s.joints)
    model = load("tello")
    data = model.createData()
    G = pc.coupling_jacobian(model, data, model.q_reference)
    at = [model.tree.joints[model.tree.getJointId(n)].idx_v for n in side.joints]
    v = np.linalg.lstsq(G[at], np.array([1.0, 0.0]), rcond=None)[0]
    spin = [r.row @ v for r in model.rotors if r.name in side.motors]
    inertia = {r.name: r.axial_inertia for r in model.rotors}
    energy = sum(inertia[n] * x**2 for n, x in zip(side.motors, spin, strict=True))
    assert side.reference[0, 0] == pytest.approx(energy, rel=1e-10)
    assert "changes with the configuration" in cached(tello)


def test_loops_without_rotors_ask_about_the_loops(four_bar: audit.AuditResult) -> None:
    assert four_bar.verdict.asked == "frozen"
    assert four_bar.scripts == {}
    text = cached(four_bar)
    assert "Is a constant coupling enough for four_bar?" in text
    assert "In your simulator" not in text


@pytest.mark.ci
def test_the_range_of_reflected_inertia_of_a_linkage() -> None:
    result = audit.run(load("ankle_2rsu"), **SHORT, frames=())
    r = result.reflected
    assert r.low is not None
    assert r.high is not None
    # both cranks turn 18 times; at the reference both joints move both
    model = load("ankle_2rsu")
    row = np.array([rotor.row for rotor in model.rotors])
    J = np.diag([rotor.axial_inertia for rotor in model.rotors])
    assert r.matrix == pytest.approx(row.T @ J @ row)
    assert r.high[0, 0] > 1.2 * r.low[0, 0]
    assert set(r.armature) == {"crank_left", "crank_right"}


def test_armature_of_the_rotors_own_joints_is_reflected() -> None:
    given = load("tello")
    bodies = [r.joint_id for r in given.rotors if r.joint_id is not None]
    assert bodies
    tree = given.tree.copy()
    armature = np.array(tree.armature)
    armature[[tree.joints[j].idx_v for j in bodies]] = 1e-5
    tree.armature = armature
    model = pc.ClusterModel(tree, given.constraints, given.q_reference, independent=given.independent_joints)
    found = reflect(model, np.array([model.q_reference]))
    levels = approximations.of(model)
    expected = levels["armature"].crba(model.q_reference) - levels["no rotor"].crba(model.q_reference)
    at = [model.joint_idx_v(name) for name in found.joints]
    # a difference of mass matrices
    assert found.matrix == pytest.approx(expected[np.ix_(at, at)], rel=1e-9, abs=1e-12)
    before = reflect(given, np.array([given.q_reference])).matrix
    assert np.all(np.diag(found.matrix) > 1.01 * np.diag(before))


def test_without_belts_block_armature_does_not_help() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = load("mini_cheetah")
    result = audit.run(model, **SHORT, frames=())
    found = judge(result.study, result.simulated, dict.fromkeys(THRESHOLDS, 0.01))
    assert found.best is None
    assert found.advice.startswith("Off-diagonal terms (block armature) do not help")


@pytest.mark.ci
def test_a_floating_base_that_moves(tmp_path: Path) -> None:
    result = audit.run(load("mini_cheetah"), study.motion("mini_cheetah_trot", dt=1e-2), frames=())
    assert result.study.base == "floating"
    assert not any(
        name.startswith("base ") for name in (*result.verdict.torque.above, result.verdict.torque.worst["block"].joint)
    )
    assert all(not name.startswith("base ") for name in (result.study.joints[k] for k in result.order))
    assert np.isfinite([x for error in result.simulated.forward.base.values() for x in error.values()]).all()
    assert "Acceleration of the base, RMS error" in page(result)
    html, _ = audit.write(result, tmp_path)
    assert "base force" not in html.read_text(encoding="utf-8")


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, -1.0, 100.1, float("nan"), float("inf")])
def test_thresholds_out_of_range(threshold: float) -> None:
    with raises(audit.ThresholdError, "0 100"):
        audit.run(load("mit_humanoid_leg"), threshold=threshold)


def test_other_bad_arguments() -> None:
    with raises(pc.ArgumentTypeError, "'5'"):
        audit.run(load("mit_humanoid_leg"), threshold="5")  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        audit.run(pin.buildSampleModelManipulator())  # type: ignore[arg-type]
    with raises(pc.ModelError, "'shoulder1_joint=RATIO,INERTIA' --rotor --motors"):
        audit.run(pc.ClusterModel(pin.buildSampleModelManipulator(), []))
    with raises(pc.ModelError, "'gripper' 'wrist=RATIO,INERTIA' --rotor"):
        audit.run(gripper())
    with raises(study.TrajectoryError, "amplitude"):
        audit.run(load("mit_humanoid_leg"), amplitude=-1.0)


def gripper(*constraints: Any) -> pc.ClusterModel:
    """A wrist and two fingers that slide, one after the other's example."""
    tree = pin.Model()
    tree.name = "gripper"
    body = pin.Inertia(0.1, np.array([0.0, 0.01, 0.05]), np.diag([1e-4, 2e-4, 2e-4]))
    for parent, joint, name in ((0, pin.JointModelRY(), "wrist"), (1, pin.JointModelPX(), "right")):
        tree.appendBodyToJoint(tree.addJoint(parent, joint, pin.SE3.Identity(), name), body, pin.SE3.Identity())
    tree.appendBodyToJoint(tree.addJoint(1, pin.JointModelPX(), pin.SE3.Identity(), "left"), body, pin.SE3.Identity())
    return pc.ClusterModel(tree, [pc.LinearCoupling("left", {"right": -1.0}), *constraints])


def test_fingers_are_no_rotors() -> None:
    with warns(pc.PinClustersWarning, "'gripper'"):
        audit.run(gripper(pc.Rotor("wrist", 50.0, axial_inertia=1e-5)), duration=0.7, dt=5e-3)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_values_are_text_whatever_is_in_them() -> None:
    """Names come from files: no tag, and no place of the template, in them is one."""
    robot = '<b>{{x}} & "y"'
    shown = "&lt;b&gt;{{x}} &amp; &quot;y&quot;"
    assert fill("{{robot}}", {"robot": robot}) == shown
    assert fill("{{#robots}}[{{.}}]{{/robots}}", {"robots": [robot, Html("<i>")]}) == f"[{shown}][<i>]"
    block = "{{#of}}{{name}} in {{place}}{{/of}}{{^of}}nowhere{{/of}}"
    assert fill(block, {"of": {"name": "a"}, "place": "b"}) == "a in b"
    assert fill(block, {"of": None}) == "nowhere"
    with raises(KeyError, "'place'"):
        fill(block, {"of": {"name": "a"}})


def test_numbers_stay_with_their_unit() -> None:
    kept = '<p title="5 kg">5\u00a0kg of 3\u00a0%, 2 kgf</p><pre>5 kg</pre><style>5 s</style>'
    assert joined(kept.replace("\u00a0", " ")) == kept


VOID = {"meta", "br", "img", "hr", "link", "input", "col"}


class Reader(HTMLParser):
    """Checks that every tag is closed in order, and collects what tests look at."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def cached(result: audit.AuditResult) -> str:
    """The page of a result that lives as long as the module."""
    if id(result) not in PAGES:
        PAGES[id(result)] = page(result)
    return PAGES[id(result)]


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


@pytest.mark.parametrize("name", pool.some(["leg", "humanoid", "tello", "four_bar"], 1, rest="ci"))
def test_the_page_is_valid_and_stands_alone(name: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(name)
    text = cached(result)
    reader = read(text)
    assert reader.open == []
    assert text.startswith("<!DOCTYPE html>")
    # no network, no script, no file beside it
    assert not re.search(r"(?:https?:|ftp:)?//[a-z0-9]", re.sub(r"<pre.*?</pre>", "", text, flags=re.S))
    assert not re.search(r"<(?:script|link|iframe|img|object|embed)\b|@import|url\((?!#)", text)
    names = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(names) == len(set(names)), "an id is there twice"
    for target in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text):
        assert (target[0] or target[1]) in names
    # headings in order, one <h1>; tables have captions and scroll inside themselves; pictures have words
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    count = [tag for tag, _ in reader.tags].count
    assert count("table") == count("caption") == text.count('class="scroll"')
    for tag, attributes in reader.tags:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert len(attributes["aria-label"] or "") > 30
    assert any(a.get("name") == "viewport" for _, a in reader.tags)
    assert not re.search(r"\bnan\b|\binf\b", " ".join(reader.text))


def test_the_page_shows_the_numbers(leg: audit.AuditResult) -> None:
    text = " ".join(" ".join(read(cached(leg)).text).replace("\xa0", " ").split())
    for line in leg.verdict.lines.values():
        assert line.sentence in text
    assert leg.verdict.answer in text
    assert leg.verdict.sentence in text
    assert leg.verdict.advice in text
    rms, peak = leg.study.rms_error, leg.study.peak_error
    for k, joint in enumerate(leg.study.joints):
        assert joint in text
        for value in (rms["diagonal"][k], peak["none"][k], leg.study.max_exact[k]):
            assert f"{value:.3g}" in text
    for script in leg.scripts.values():
        assert " ".join(script.split()) in text


def test_the_largest_drift_is_told_not_the_last() -> None:
    """At the end the paths may happen to cross."""
    assert simulation_section._most(np.array([0.0, 3.25, 1.0, np.nan])) == "3.25"
    assert simulation_section._most(np.array([np.nan])) == "-"


def test_names_are_escaped() -> None:
    tree = pin.Model()
    tree.name = 'a<b> & "c"'
    for i, name in enumerate(("<i>hip", "knee & 'foot'")):
        j = tree.addJoint(i, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.1, 0.0, -0.3])), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.0, -0.2]), 0.01 * np.eye(3)), pin.SE3.Identity())
    rotor = pc.Rotor(["<i>hip", "knee & 'foot'"], [5.0, 5.0], axial_inertia=1e-3, axis=[0, 1, 0], name="$a_b$ <r>")
    result = audit.run(pc.ClusterModel(tree, [rotor]), **SHORT)
    reader = read(page(result))
    assert reader.open == []
    assert not any(tag in ("b", "i", "r") and not attributes for tag, attributes in reader.tags if tag != "b")
    text = " ".join(reader.text)
    for name in ('a<b> & "c"', "<i>hip", "knee & 'foot'"):
        assert name in text


@pytest.mark.ci
def test_the_same_audit_gives_the_same_bytes(leg: audit.AuditResult, tmp_path: Path) -> None:
    again = audit.run(load("mit_humanoid_leg"), **SHORT)
    first, second = audit.write(leg, tmp_path / "a"), audit.write(again, tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


# --- files ------------------------------------------------------------------------------------------------------------


def test_files(leg: audit.AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pin_clusters.studies.audit.page.page", cached)
    html, numbers = audit.write(leg, tmp_path / "new" / "folder")
    assert sorted(p.name for p in html.parent.iterdir()) == ["audit.html", "audit.json"]
    assert json.loads(numbers.read_text(encoding="utf-8")) == leg.as_dict()
    assert html.stat().st_size < 400_000
    assert stat.S_IMODE(html.stat().st_mode) & 0o600 == 0o600
    assert [p.read_bytes() for p in leg.write(tmp_path)] == [html.read_bytes(), numbers.read_bytes()]
    leg.verdict.write_json(tmp_path / "verdict.json")
    assert json.loads((tmp_path / "verdict.json").read_text(encoding="utf-8")) == leg.as_dict()["verdict"]


def test_nothing_is_left_half_written(leg: audit.AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pin_clusters.studies.audit.page.page", cached)
    audit.write(leg, tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        audit.write(leg, tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_progress_goes_to_the_end() -> None:
    said: list[tuple[int, int]] = []
    audit.run(load("mit_humanoid_leg"), **SHORT, progress=lambda done, total: said.append((done, total)))
    parts = [done / total for done, total in said]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert len(parts) > 5


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, ["audit", *arguments], prog_name="pin-clusters")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1
    return lines[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_prints_the_verdict_and_writes(here: Path) -> None:
    result = run("mit_humanoid_leg", "--duration", "0.7", "--dt", "0.002", "--threshold", "45")
    assert result.exit_code == 0
    assert "armature is enough for torque control, not for simulation or a policy" in result.stdout
    assert "- Torque control: enough, with" in result.stdout
    assert "The motion exercises all 5 joints" in result.stdout
    assert "audit_mit_humanoid_leg/audit.html" in result.stdout
    found = json.loads((here / "audit_mit_humanoid_leg" / "audit.json").read_text(encoding="utf-8"))
    assert found["verdict"]["lines"]["torque control"]["threshold_percent"] == 45.0
    assert found["study"]["trajectory"]["duration"] == 0.7


@pytest.mark.ci
def test_the_command_takes_files(here: Path) -> None:
    (here / "leg.urdf").write_text(loaders.library.folders()["mit_humanoid_leg"].joinpath("model.urdf").read_text())
    result = run("leg.urdf", "--output", "x", "--duration", "0.7", "--dt", "0.01", "--frame", "knee_link")
    assert result.exit_code == 0
    found = json.loads((here / "x" / "audit.json").read_text(encoding="utf-8"))
    assert [frame["frame"] for frame in found["frames"]] == ["knee_link"]


PLAIN = """<robot name="plain"><link name="ground"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="ground"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""


def test_the_command_refuses(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "plain.urdf").write_text(PLAIN)
    (here / "file").write_text("")
    message = refused("plain.urdf")
    assert "nothing to audit" in message
    assert "Add rotors" in message
    assert "pc.Rotor('shoulder', ratio, axial_inertia=J)" in message
    assert "No such robot or file: 'mit_humanoit'" in refused("mit_humanoit")
    assert "no frame 'nose'" in refused("mit_humanoid_leg", "--frame", "nose")
    assert "No such trajectory or file: 'walz'" in refused("mit_humanoid_leg", "--trajectory", "walz")
    for threshold in ("0", "-3", "101", "x"):
        assert run("mit_humanoid_leg", "--threshold", threshold).exit_code == 2
    assert sorted(p.name for p in here.iterdir()) == ["file", "plain.urdf"]

    # said before the work
    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("it began to work")

    monkeypatch.setattr(audit, "run", work)
    assert "file is a file, not a folder" in refused("mit_humanoid_leg", "--output", "file")
    assert "cannot write to /proc/audit" in refused("mit_humanoid_leg", "--output", "/proc/audit")


# --- a base that floats -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def serial() -> audit.AuditResult:
    return audit.run(biped(parallel=False), **SHORT, frames=())


def test_the_verdict_for_a_free_base_is_that_of_the_motion(serial: audit.AuditResult) -> None:
    """Both numbers by Pinocchio's own robot with armature, and by the motion, which the exact robot makes on paper."""
    model = biped(parallel=False)
    _, q, v, a = study.Sine(**SHORT).states(model)
    some = np.unique(np.linspace(0, len(q) - 1, 200).astype(int))
    simple = pc.baselines.armature_model(model)
    data, other, base = model.createData(), simple.createData(), slice(0, 6)
    tau = np.array([pc.rnea(model, data, q[i], v[i], a[i]) for i in some])
    # the base is held, so the exact wrench on it makes the exact robot move as the sine says
    error = np.array([pin.aba(simple, other, q[i], v[i], t) for i, t in zip(some, tau, strict=True)]) - a[some]
    along = 100.0 * np.sqrt(np.mean(error**2, axis=0) / np.mean(a[some] ** 2 + 1e-300, axis=0))[6:]
    tau[:, base] = 0.0
    exact = np.array([pc.aba(model, data, q[i], v[i], t) for i, t in zip(some, tau, strict=True)])
    error = np.array([pin.aba(simple, other, q[i], v[i], t) for i, t in zip(some, tau, strict=True)]) - exact
    free = 100.0 * np.sqrt(np.mean(error**2, axis=0) / np.mean(exact**2, axis=0))[6:]
    line, asked = serial.verdict.lines["simulation"], "diagonal"
    assert line.worst[asked].percent == pytest.approx(along.max(), rel=1e-6)
    assert serial.verdict.free[asked].percent == pytest.approx(free.max(), rel=1e-6)
    assert (line.worst[asked].joint[-11:], serial.verdict.free[asked].joint[-4:]) == ("ankle_pitch", "knee")
    # armature is enough for a simulation of the motion, not for the same torques in free flight
    assert along.max() < 10.0 < free.max()
    assert line.enough
    for text in (serial.verdict.flight, cached(serial)):
        assert f"{free.max():.3g} % (RMS)" in " ".join(text.replace("\u00a0", " ").split())
    found = serial.as_dict()
    assert found["verdict"]["free_flight"][asked]["percent"] == serial.verdict.free[asked].percent
    assert found["free_flight"]["rms"][asked]["left_knee"] > found["forward_dynamics"]["rms"][asked]["left_knee"] > 0.0


@pytest.mark.ci
def test_a_free_base_with_parallel_ankles() -> None:
    result = audit.run(biped(), **SHORT, frames=())
    assert result.verdict.asked == "armature"
    rms = 0.5 * (2.0 * np.pi * 1.5) ** 2 / np.sqrt(2.0)
    moved = [k for k, name in enumerate(result.simulated.forward.names) if not name.startswith("base")]
    # the exact robot makes the motion, of which the cranks swing less than was asked for
    assert np.all(result.simulated.forward.exact[moved] < 1.05 * rms)
    assert result.simulated.forward.base == {}
    assert result.verdict.lines["simulation"].worst["armature"].percent < 10.0 < result.verdict.free["armature"].percent
    text = " ".join(read(cached(result)).text)
    assert "In free flight" in text
    assert "The verdict does not depend on free flight." in " ".join(text.split())


def test_a_base_that_is_fixed_has_no_flight(four_bar: audit.AuditResult) -> None:
    assert four_bar.simulated.free is None
    assert (four_bar.verdict.free, four_bar.verdict.flight) == ({}, "")
    assert "free flight" not in cached(four_bar)


@pytest.mark.ci
def test_losses_of_motors_are_left_out_and_named(leg: audit.AuditResult) -> None:
    given = load("mit_humanoid_leg")
    losses = pc.Motor(viscous=1e-4, coulomb=1e-2, efficiency=0.85)
    lossy = pc.ClusterModel(given.tree, [*given.constraints, losses.on(given.rotors[0].name)], name=given.name)
    assert lossy.passive is not None
    result = audit.run(lossy, **SHORT)
    assert result.losses == (given.rotors[0].name,)
    numbers, without = result.as_dict(), leg.as_dict()
    assert numbers.pop("losses_left_out") == [given.rotors[0].name]
    assert without.pop("losses_left_out") == []
    assert numbers == without
    for found in (result, leg):
        text = " ".join(" ".join(read(page(found)).text).split())
        assert "Losses of motors and their gears are left out" in text
        assert (f"including those in the file: {given.rotors[0].name}" in text) == bool(found.losses)


# --- nothing is lost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["audit.html", "audit.json"])
def test_what_can_be_written_is_written(
    leg: audit.AuditResult, lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> str:
        raise ZeroDivisionError("a page cannot be made")

    cached(leg)
    if lost == "audit.html":
        monkeypatch.setattr("pin_clusters.studies.audit.page.page", fails)
    else:
        monkeypatch.setattr("pin_clusters.studies.audit.page.page", cached)
        monkeypatch.setattr("pin_clusters.studies.pages.results.as_json", fails)
    with pytest.raises(ZeroDivisionError):
        audit.write(leg, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name for name in ("audit.html", "audit.json") if name != lost]


def test_the_command_prints_before_it_writes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pin_clusters.studies.audit.page.page", fails)
    result = run("mit_humanoid_leg", "--duration", "0.3", "--dt", "0.01")
    assert result.exit_code == 1
    assert "- Torque control:" in result.stdout
    assert "No space left" in result.stderr
    assert sorted(p.name for p in (here / "audit_mit_humanoid_leg").iterdir()) == ["audit.json"]
