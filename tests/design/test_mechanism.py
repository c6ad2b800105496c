"""What designers ask, against closed forms of linkages, virtual work, statics, and mechanisms of other lengths."""

from __future__ import annotations

import cmath
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises
from support.studies import ab_ankle

import pin_clusters as pc
from pin_clusters._cli import common
from pin_clusters._cli.commands import design
from pin_clusters.studies import study
from pin_clusters.studies.design import MechanismPart, MechanismResult
from pin_clusters.studies.design import result as asked
from pin_clusters.studies.design.coordinates import coordinates
from pin_clusters.studies.design.loads import tree_torques
from pin_clusters.studies.design.page import _answers, page
from pin_clusters.studies.design.region import region, together
from pin_clusters.studies.design.sweep import sweep
from pin_clusters.studies.design.words import ends, row

GROUND, CRANK, COUPLER, ROCKER = 0.45, 0.15, 0.40, 0.35
FREE = 20.0
"""No limit of these tests."""
SOME = ("four_bar", "watt_six_bar", "ankle_2rsu", "delta", "slider_crank_serial", "rssr_massive", 100, "planar-0")


@cache
def result(name: str) -> MechanismResult:
    return pc.mechanism(pc.load(name))


@cache
def part_of_tello(joint: str) -> tuple[pc.ClusterModel, MechanismPart]:
    model = pc.load("tello")
    return model, asked._part(model, next(c for c in model.clusters if joint in c.joints))


def rocker_at(phi: float, ground: float, crank: float, coupler: float, rocker: float) -> tuple[float, float, float]:
    """Angles of coupler and rocker in the plane where an axis along y counts as positive; and that of transmission."""
    b = crank * cmath.rect(1.0, phi)
    side = abs(b - ground)
    psi = cmath.phase(b - ground) - math.acos((rocker**2 + side**2 - coupler**2) / (2.0 * rocker * side))
    theta = cmath.phase(ground + rocker * cmath.rect(1.0, psi) - b)
    return theta, psi, theta - psi


def four_bar(
    ground: float = GROUND, crank: float = CRANK, coupler: float = COUPLER, rocker: float = ROCKER, *,
    start: float = 0.9, limits: dict[str, tuple[float, float]] | None = None, independent: str = "crank",
) -> pc.ClusterModel:  # fmt: skip
    """All links along x at 0, the axes along y; assembled by the cosine law with the crank at ``start``."""
    tree = pin.Model()
    for name, parent, x in (("crank", 0, 0.0), ("coupler", 1, crank), ("rocker", 0, ground)):
        j = tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
        middle = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), middle)
    bounds = np.array([(limits or {}).get(name, (-FREE, FREE)) for name in list(tree.names)[1:]])
    tree.lowerPositionLimit, tree.upperPositionLimit = bounds[:, 0].copy(), bounds[:, 1].copy()
    theta, psi, _ = rocker_at(start, ground, crank, coupler, rocker)
    ends = ("coupler", [coupler, 0.0, 0.0]), ("rocker", [rocker, 0.0, 0.0])
    loop = pc.Loop(*ends, "revolute", axis=(0, 1, 0), name="pin")
    return pc.ClusterModel(tree, [loop], np.array([start, theta - start, psi]), independent=[independent])


def angle_at_rocker(diagonal: float) -> float:
    """The rocker where the pin is that far from the crank's joint."""
    return math.pi - math.acos((GROUND**2 + ROCKER**2 - diagonal**2) / (2.0 * GROUND * ROCKER))


# --- range -----------------------------------------------------------------------------------------------------------


def test_a_crank_turns_and_its_rocker_swings_as_grashof_says() -> None:
    assert GROUND + CRANK < COUPLER + ROCKER  # shortest and longest
    found = pc.mechanism(four_bar())
    assert (found.range("crank").turns, found.range("crank").high_end.kind) == (True, "full turn")
    # where crank and coupler are in line the rocker turns back
    rocker = found.range("rocker")
    assert rocker.low == pytest.approx(angle_at_rocker(COUPLER + CRANK), abs=1e-9)
    assert rocker.high == pytest.approx(angle_at_rocker(COUPLER - CRANK), abs=1e-9)
    assert rocker.low_end.kind == rocker.high_end.kind == "turning point"


def test_a_linkage_that_grashof_does_not_allow_to_turn_ends_at_dead_centres() -> None:
    ground, crank, coupler, rocker = 0.5, 0.3, 0.35, 0.25
    assert rocker + ground > crank + coupler
    found = pc.mechanism(four_bar(ground, crank, coupler, rocker)).range("crank")
    # coupler and rocker in line
    end = math.acos((crank**2 + ground**2 - (coupler + rocker) ** 2) / (2.0 * crank * ground))
    assert (found.low, found.high) == (pytest.approx(-end, abs=1e-6), pytest.approx(end, abs=1e-6))
    assert [e.kind for e in (found.low_end, found.high_end)] == ["dead centre", "dead centre"]
    assert {found.low_end.joint, found.high_end.joint} <= {"coupler", "rocker"}
    assert not found.turns


def test_another_independent_joint_passes_the_dead_centre() -> None:
    found = pc.mechanism(four_bar(0.5, 0.3, 0.35, 0.25, independent="rocker"))
    end = math.acos((0.3**2 + 0.5**2 - 0.6**2) / (2.0 * 0.3 * 0.5))
    assert found.range("crank").high == pytest.approx(end, abs=1e-9)
    assert found.range("crank").high_end.kind == "turning point"


def test_the_limit_of_a_dependent_joint_ends_the_range() -> None:
    most = 0.5 * (angle_at_rocker(COUPLER + CRANK) + angle_at_rocker(COUPLER - CRANK))
    found = pc.mechanism(four_bar(limits={"rocker": (-FREE, most)})).range("crank")
    # the pin is known there, and two circles meet at the end of the crank
    c = GROUND + ROCKER * cmath.rect(1.0, most)
    off = math.acos((CRANK**2 + abs(c) ** 2 - COUPLER**2) / (2.0 * CRANK * abs(c)))
    expected = sorted((cmath.phase(c) + sign * off) % (2.0 * math.pi) for sign in (1.0, -1.0))
    assert sorted(x % (2.0 * math.pi) for x in (found.low, found.high)) == pytest.approx(expected, abs=1e-9)
    assert (
        (found.low_end.kind, found.low_end.joint) == (found.high_end.kind, found.high_end.joint) == ("limit", "rocker")
    )
    assert found.low < 0.9 < found.high


def test_limits_that_whole_turns_run_into_are_counted() -> None:
    # the coupler, on the crank, falls a turn behind with each of its turns
    model = four_bar(limits={"coupler": (-4.0 * math.pi, FREE)})
    found = pc.mechanism(model).range("crank")
    start = model.q_reference[1]
    assert found.high_end.turns == pytest.approx((start + 4.0 * math.pi) / (2.0 * math.pi))


def test_a_joint_that_starts_beyond_its_limit_is_named_and_not_stopped() -> None:
    with_limit = four_bar(limits={"rocker": (-FREE, 0.1)})
    assert with_limit.q_reference[2] > 0.1
    found = pc.mechanism(with_limit)
    assert "Joint rocker is at" in found.notes[0]
    assert found.range("crank").turns


def test_change_points_are_told_from_dead_centres() -> None:
    found = result("four_bar_change_point").range("crank")
    assert [e.kind for e in (found.low_end, found.high_end)] == ["change point", "change point"]
    assert (found.low, found.high) == (pytest.approx(0.0, abs=1e-6), pytest.approx(math.pi, abs=1e-6))


def test_a_slider_goes_from_dead_centre_to_dead_centre() -> None:
    tree = pin.Model()
    crank, rod = 0.1, 0.3
    j = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "crank")
    tree.addJoint(j, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([crank, 0.0, 0.0])), "rod")
    tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slider")
    for j in (1, 2, 3):
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), pin.SE3.Identity())
    ends = ("rod", [rod, 0.0, 0.0]), ("slider", [0.0, 0.0, 0.0])
    start = 1.0
    lean = math.asin(crank * math.sin(start) / rod)
    q = np.array([start, -lean - start, crank * math.cos(start) + rod * math.cos(lean)])
    found = pc.mechanism(pc.ClusterModel(tree, [pc.SliderCrank("crank", "rod", "slider", ends)], q))
    assert found.range("crank").turns
    assert found.range("slider").unit == "m"
    assert found.range("slider").low == pytest.approx(rod - crank, abs=1e-9)
    assert found.range("slider").high == pytest.approx(rod + crank, abs=1e-9)
    t = found.part("crank").transmissions[0]
    s, c = np.sin(t.values), np.cos(t.values)
    expected = -crank * s - crank**2 * s * c / np.sqrt(rod**2 - crank**2 * s**2)
    assert np.abs(t.ratio[:, [x.name for x in t.joints].index("slider")] - expected).max() < 1e-10


@pytest.mark.parametrize("key", pool.some(pool.LOOPS, SOME))
def test_every_pose_of_a_range_is_assembled_and_a_step_beyond_its_end_is_not_allowed(key: pool.Key) -> None:
    model = pool.case(key).model if key in pool.ALL else pc.load(str(key))
    for cluster in model.clusters:
        for c in coordinates(model, cluster.independent):
            s = sweep(model, cluster, c, 31)
            assert s.low.at <= s.values[s.reference] <= s.high.at
            for q in s.q:
                assert np.abs(pc.residual(model, q)).max(initial=0.0) < 1e-3  # of files that miss by their digits
            for end, k, sign in ((s.low, 0, -1.0), (s.high, -1, 1.0)):
                if end.kind in ("full turn", "none"):
                    continue
                v = np.zeros(model.nv)
                v[c.column] = sign * 1e-4
                try:
                    beyond = pc.integrate(model, s.q[k], v)
                except pc.BranchLost:
                    assert end.kind in ("dead centre", "change point", "open")
                    continue
                joint = next(x for x in s.joints if x.name == end.joint)
                assert end.kind == "limit"
                assert not joint.low <= joint.value(model, beyond) <= joint.high


@pytest.mark.ci
def test_the_region_of_an_ankle_ends_at_the_limits_that_it_names() -> None:
    found = result("ankle_2rsu").part("ankle_pitch").region
    assert found is not None
    assert {e.joint for e in found.edges} == {"ankle_pitch", "ankle_roll", "crank_left", "crank_right"}
    for e in found.edges:
        c = found.joints[found.index(e.joint)]
        at = e.positions[:, found.index(e.joint)]
        assert np.minimum(np.abs(at - c.low), np.abs(at - c.high)).max() < 1e-6
    model = result("ankle_2rsu").model
    for q in found.q[found.reached][::40]:
        assert np.abs(pc.residual(model, q)).max() < 1e-9
    # together they go farther than one at a time
    wide, alone = result("ankle_2rsu").range("crank_left").anywhere, result("ankle_2rsu").range("crank_left")
    assert wide is not None
    assert wide[0] < alone.low - 0.1


@pytest.mark.ci
def test_the_headline_is_what_both_cranks_do_together(capsys: pytest.CaptureFixture[str]) -> None:
    """One crank of a 2-RSU alone is soon stopped by the roll that it makes; both together pitch it to its limits."""
    found = pc.mechanism(pc.load("ankle_2rsu", independent=["crank_left", "crank_right"]))
    pitch = found.range("ankle_pitch")
    assert pitch.low == pytest.approx(np.radians(-21.2), abs=1e-3)  # one at a time
    assert pitch.span == pytest.approx((-0.9, 0.6), abs=1e-9)
    (text,) = _answers(found, list(found.linkages))
    assert text.startswith("With crank_left and crank_right free together, ankle_pitch goes from -51.57° to 34.38°, ")
    assert row(pitch, found.part("ankle_pitch").region) == [
        "-51.57°",
        "34.38°",
        "its own limit",
        "-21.22° to 21.37°",
    ]
    design._show(found, common.console())
    (line,) = [x for x in capsys.readouterr().out.splitlines() if x.strip().startswith("ankle_pitch")]
    assert line.split()[1:3] == ["-51.57°", "34.38°"]


@pytest.mark.ci
def test_the_map_grows_until_its_ends_are_on_it() -> None:
    """In phase a narrow ankle pitches six times as far as one crank alone takes it."""
    tree = ab_ankle().tree.copy()
    tree.lowerPositionLimit, tree.upperPositionLimit = np.array([-0.9, -0.4, -2, -2]), np.array([0.6, 0.4, 2, 2])
    found = pc.mechanism(pc.ClusterModel(tree, ab_ankle().constraints))
    region = found.part("left").region
    assert region is not None
    assert not region.open
    assert found.range("pitch").high < 0.2
    assert found.range("pitch").span == pytest.approx((-0.9, 0.6), abs=1e-9)


@pytest.mark.ci
def test_three_motors_go_together_as_far_as_a_walk_over_all_their_poses() -> None:
    """Limits end each way of a delta robot; poses of a grid that has the corners of the motors' box are within."""
    model, arms, grid = pc.load("delta"), ("arm_1", "arm_2", "arm_3"), np.linspace(-1.2, 1.6, 9)
    (cluster,) = (c for c in model.clusters if c.independent == arms)
    free = tuple(sweep(model, cluster, c, 31) for c in coordinates(model, arms))
    spans = together(model, cluster, free)
    start = np.array([s.values[s.reference] for s in free])
    poses = [(start, model.q_reference)]
    for axis in np.eye(3):
        reached = []
        for x, q in poses:
            for way in (grid[grid >= axis @ x], grid[grid < axis @ x][::-1]):
                at, there = x, q
                for value in way:
                    step = (value - axis @ at) * axis
                    at, there = at + step, pc.integrate(model, there, step)
                    reached.append((at, there))
        poses = reached
    assert len(poses) == 9**3
    for joint in ("platform_x", "platform_y", "platform_z"):
        values = np.array([q[model.tree.idx_qs[model.getJointId(joint)]] for _, q in poses])
        low, high = spans[joint]
        assert low - 1e-9 <= values.min() < low + 5e-3, joint
        assert high - 5e-3 < values.max() <= high + 1e-9, joint
        assert max(s.of(joint).max() for s in free) < high - 0.1  # of which one arm at a time says little


@pytest.mark.ci
def test_the_headline_is_what_three_motors_do_together() -> None:
    found = result("delta")
    (text,) = _answers(found, list(found.linkages))
    assert text.startswith("With arm_1 and arm_2 and arm_3 free together, arm_1 goes from -68.75° to 91.67°, ")
    assert "platform_x goes from -501.18 mm to 552.48 mm" in text.split(". One at a time: ")[0]
    z = found.range("platform_z")
    assert row(z, None) == ["-347.79 mm", "255.29 mm", f"one at a time: {ends(z)}", "-35.36 mm to 93.85 mm"]
    assert "without proof that no larger one exists" in page(found)


@pytest.mark.ci
def test_climbs_end_where_the_map_of_two_does() -> None:
    """Limits that are lines and such that bend; a joint that goes on for ever; none where one turns fully."""
    model = pc.load("ankle_2rsu")
    (cluster,) = (c for c in model.clusters if len(c.independent) == 2)
    left, right = (sweep(model, cluster, c, 31) for c in coordinates(model, cluster.independent))
    known = region(model, cluster, (left, right), 31)
    assert known is not None
    for name, span in together(model, cluster, (left, right)).items():
        assert span == pytest.approx(known.extent(name), abs=1e-8), name
    six = pc.load("six_bar")
    (cluster,) = (c for c in six.clusters if len(c.independent) == 3)
    assert not together(six, cluster, tuple(sweep(six, cluster, c, 9) for c in coordinates(six, cluster.independent)))


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:.*Python:pin_clusters.PinClustersWarning")
def test_climbs_follow_limits_that_bend() -> None:
    """On slides a, b with d = a^2 + b^2 <= 1, which is no vertex of lines, e = a + 2 b goes to sqrt(5)."""
    tree = pin.Model()
    for name, low, high in (("a", -2.0, 2.0), ("b", -2.0, 2.0), ("d", -1.0, 1.0), ("e", -9.0, 9.0)):
        j = tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
        tree.lowerPositionLimit[j - 1], tree.upperPositionLimit[j - 1] = low, high
    tie = pc.Coupling(["a", "b", "d", "e"], _bowl, independent=["a", "b"])
    model = pc.ClusterModel(tree, [tie], np.array([0.1, 0.2, 0.05, 0.5]), independent=["a", "b"])
    (cluster,) = model.clusters
    a, b = (sweep(model, cluster, c, 9) for c in coordinates(model, ("a", "b")))
    found = together(model, cluster, (a, b))
    assert found["e"] == pytest.approx((-math.sqrt(5.0), math.sqrt(5.0)), abs=1e-5)
    assert found["d"] == pytest.approx((0.0, 1.0), abs=1e-9)


def _bowl(x: np.ndarray) -> np.ndarray:
    return np.array([x[2] - x[0] ** 2 - x[1] ** 2, x[3] - x[0] - 2.0 * x[1]])


@pytest.mark.ci
def test_a_joint_that_goes_on_for_ever_with_others_has_no_end() -> None:
    model, part = part_of_tello("left_knee")
    found = together(model, part.cluster, part.sweeps)
    assert found["left_knee"] == (-math.inf, math.inf)
    assert part.region is not None
    low, high = part.region.extent("left_ankle")
    assert found["left_ankle"][0] < low + 1e-5
    assert found["left_ankle"][1] > high - 1e-5


# --- transmission and torque -----------------------------------------------------------------------------------------


def test_ratios_are_those_of_the_transmission_angle_and_positions_those_of_freudenstein() -> None:
    part = pc.mechanism(four_bar()).part("crank")
    t, s = part.transmissions[0], part.sweeps[0]
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2.0 * CRANK * ROCKER)
    psi = s.of("rocker")
    # with angles as here the equation of Freudenstein is that of phi - psi
    assert np.abs(k1 * np.cos(psi) - k2 * np.cos(t.values) + k3 - np.cos(t.values - psi)).max() < 1e-9
    for i, phi in enumerate(t.values):
        theta, _, mu = rocker_at(phi, GROUND, CRANK, COUPLER, ROCKER)
        assert t.ratio[i, 1] == pytest.approx(CRANK * math.sin(theta - phi) / (ROCKER * math.sin(mu)), abs=1e-9)
    assert np.allclose(t.advantage * t.ratio, 1.0)


def test_inertia_is_what_kinetic_energy_says_and_the_rotors_have_their_part() -> None:
    found = result("ankle_2rsu")
    model, data = found.model, found.model.createData()
    part = found.part("ankle_pitch")
    for t, s in zip(part.transmissions, part.sweeps, strict=True):
        v = np.zeros(model.nv)
        v[t.moved.column] = 1.0
        for i in (0, 60, 180):
            q = s.q[i]
            assert t.inertia[i] == pytest.approx(2.0 * pc.computeKineticEnergy(model, data, q, v), rel=1e-10)
            spin = pc.rotor_velocity(model, data, q, v)
            assert t.motors[i] == pytest.approx(2.5e-5 * float(spin @ spin), rel=1e-10)


def test_torques_of_an_ankle_are_those_of_virtual_work() -> None:
    found = result("ankle_2rsu")
    model, part = found.model, found.part("ankle_pitch")
    torques = part.torques
    assert torques is not None
    assert [c.name for c in torques.joints] == ["ankle_pitch", "ankle_roll"]
    assert [m.limit for m in torques.motors] == [60.0 / 18.0] * 2
    cranks = [model.tree.joints[model.getJointId(f"crank_{side}")].idx_q for side in ("left", "right")]
    for s in torques.sets[1:]:
        if "pitch" in s.pose:  # at the limits of the file, from where one step leads out
            continue
        h = 1e-6
        rates = np.array(
            [
                (pc.integrate(model, s.q, h * e) - pc.integrate(model, s.q, -h * e))[cranks] / (2.0 * h)
                for e in np.eye(model.nv)
            ]
        )
        effort = 60.0 * rates  # of each crank: what it does at each joint
        assert s.largest == pytest.approx(np.abs(effort).sum(axis=1), rel=1e-7)
        # the polygon reaches as far in each direction as the box does
        for way in np.linspace(0.0, math.pi, 7):
            n = np.array([math.cos(way), math.sin(way)])
            assert (s.corners @ n).max() == pytest.approx(np.abs(n @ effort).sum(), rel=1e-7)
        # alone: the other joint feels nothing; by hand, the motors' torques in the kernel of its row
        for i in (0, 1):
            kernel = np.array([effort[1 - i, 1], -effort[1 - i, 0]])
            assert s.alone[i] == pytest.approx(abs(effort[i] @ kernel) / np.abs(kernel).max(), rel=1e-6)


@pytest.mark.ci
def test_motors_of_a_differential_act_on_its_links() -> None:
    model, part = part_of_tello("left_knee")
    torques = part.torques
    assert torques is not None
    assert [c.name for c in torques.joints] == ["left_knee", "left_ankle"]
    # the links made independent: their torques are what the motors do directly
    other, change = pc.with_independent(model, ["left_knee", "left_ankle"])
    del change
    s = torques.sets[0]
    B = pc.actuation_matrix(other, other.createData(), s.q)
    rows = [other.joint_idx_v(c.name) for c in torques.joints]
    columns = [[r.name for r in other.rotors].index(m.name) for m in torques.motors]
    assert s.matrix == pytest.approx(B[np.ix_(rows, columns)], rel=1e-9)


def test_without_an_effort_the_torque_is_one_and_the_page_says_so() -> None:
    model = four_bar()
    part = pc.mechanism(model).part("crank")
    assert [(m.name, m.limit, m.given) for m in part.motors] == [("crank", 1.0, False)]
    from pin_clusters.studies.design.linkage import linkage

    assert "No limit is given for crank, so the numbers are for 1 N m" in linkage(part, "x", [])["motors"]


# --- loads -----------------------------------------------------------------------------------------------------------


@pytest.mark.ci
def test_torques_of_the_tree_do_the_work_of_those_of_the_joints(rng: np.random.Generator) -> None:
    for name in ("ankle_2rsu", "cassie_leg"):
        found = result(name)
        model, data = found.model, found.model.createData()
        drives = [next((p.motors for p in found.parts if p.cluster is c), ()) for c in model.clusters]
        tau, left = rng.normal(size=model.nv), set[str]()
        G = pc.coupling_jacobian(model, data, model.q_reference)
        made = tree_torques(model, G, tau, drives, left)
        assert np.abs(made @ G - tau).max() < 1e-12 * max(1.0, np.abs(tau).max())
        assert left == ({"shin", "heel_spring"} if name == "cassie_leg" else set())


def test_a_rod_at_rest_carries_what_holds_the_foot() -> None:
    model = pc.load("ankle_2rsu")
    q0 = pc.integrate(model, model.q_reference, [0.25, 0.1])
    names = ("ankle_pitch", "ankle_roll")
    still = study.Recorded(0.1 * np.arange(8), {n: np.full(8, q0[model.getJointId(n) - 1]) for n in names})
    found = pc.mechanism(model, still).loads
    rods = {x.part: x for x in found.parts if x.kind == "rod"}
    # a crank turns about its axis under its weight, its motor and its rod: by hand from the tree
    tree, data = model.tree, model.tree.createData()
    weight = pin.computeGeneralizedGravity(tree, data, q0)
    motor = pc.motor_torque(model, model.createData(), q0, pc.computeGeneralizedGravity(model, model.createData(), q0))
    for i, (side, rod) in enumerate(zip(("left", "right"), model.closures, strict=True)):
        j = model.getJointId(f"crank_{side}")
        lengths, heights = [], []
        for h in (1e-6, -1e-6):
            q = q0.copy()
            q[tree.joints[j].idx_q] += h
            pin.forwardKinematics(tree, data, q)
            ends = data.oMi[rod.joint_a].act(rod.point_a), data.oMi[rod.joint_b].act(rod.point_b)
            lengths.append(float(np.linalg.norm(ends[1] - ends[0])))
            heights.append(0.5 * float(ends[0][2] + ends[1][2]))  # of the rod's own middle
        longer, higher = (lengths[0] - lengths[1]) / 2e-6, (heights[0] - heights[1]) / 2e-6
        left = 18.0 * motor[i] - weight[tree.joints[j].idx_v] - 9.81 * rod.mass * higher
        pull = left / longer
        x = rods[f"Rod('rod_{side}')"]
        assert (x.pull, x.push) == pytest.approx((max(0.0, pull), max(0.0, -pull)), rel=1e-5, abs=1e-6)


def test_the_ground_in_a_recording_is_carried() -> None:
    """A leg that stands on a force as large as its weight carries nothing at the joint it hangs from."""
    model = pc.load("mit_humanoid_leg")
    time = np.linspace(0.0, 1.0, 8)
    held = {name: np.full(8, 0.0) for name in model.independent_joints}
    mass = sum(I.mass for I in model.tree.inertias)
    forces = {model.tree.names[1]: np.tile([0.0, 0.0, 9.81 * mass, 0.0, 0.0, 0.0], (8, 1))}
    free, lifted = (pc.mechanism(model, study.Recorded(time, held, forces=f)).loads.parts[0] for f in ({}, forces))
    assert free.force == pytest.approx(9.81 * mass, rel=1e-9)
    assert lifted.force < 1e-9 * free.force


@pytest.mark.ci
def test_the_motion_without_one_stays_within_the_ranges_and_fits_together() -> None:
    from pin_clusters.studies.design import ThroughRange

    found = result("cassie_leg")
    time, q, v, a = ThroughRange([s for p in found.parts for s in p.sweeps]).states(found.model)
    for r in found.ranges:
        j = found.model.tree.joints[found.model.getJointId(r.joint)]
        assert r.limits[0] - 1e-9 <= q[:, j.idx_q].min() <= q[:, j.idx_q].max() <= r.limits[1] + 1e-9
    dt = time[1]
    middle = slice(1, -1)
    rate = (q[2:] - q[:-2])[:, found.model.idx_v_independent] / (2.0 * dt)
    assert np.abs(rate - v[middle]).max() < 2e-2 * np.abs(v).max()
    assert np.abs((v[2:] - v[:-2]) / (2.0 * dt) - a[middle]).max() < 5e-2 * np.abs(a).max()
    assert np.abs(q[-1] - q[0]).max() < 1e-9


# --- lengths ---------------------------------------------------------------------------------------------------------


def test_lengths_of_a_four_bar_matter_as_its_closed_form_says() -> None:
    found = pc.mechanism(four_bar()).part("crank").lengths
    assert found is not None
    links = {"rocker: place, x": 0, "coupler: place, x": 1, "pin: point a, x": 2, "pin: point b, x": 3}
    h = 1e-6
    for name, k in links.items():
        ends = []
        for step in (h, -h):
            lengths = [GROUND, CRANK, COUPLER, ROCKER]
            lengths[k] += step
            theta, psi, _ = rocker_at(0.9, *lengths)
            ends.append((theta, psi))
        expected = (np.array(ends[0]) - ends[1]) / (2.0 * h)
        row = found.at_reference[found.lengths.index(name)]
        assert [c.name for c in found.joints] == ["coupler", "rocker"]
        assert row == pytest.approx(expected, rel=1e-6)
        assert np.all(found.largest[found.lengths.index(name)] >= np.abs(row) - 1e-9)
    # across its plane it binds: a revolute loop holds it there
    across = found.lengths.index("pin: point a, y")
    assert found.binds[across]
    assert np.abs(found.at_reference[across]).max() < 1e-9


@pytest.mark.ci
def test_a_longer_rod_matters_as_in_a_mechanism_made_anew() -> None:
    model = pc.load("cassie_leg")
    found = result("cassie_leg").part("knee").lengths
    assert found is not None
    rod = next(c for c in model.constraints if isinstance(c, pc.Rod))
    closure = next(c for c in model.closures if c.source is rod)
    ends = []
    h = 1e-5
    for step in (h, -h):
        other = [
            pc.Rod(c.a, c.b, length=closure.length + step, mass=c.mass, name=c.name) if c is rod else c
            for c in model.constraints
        ]
        made = pc.ClusterModel(model.tree, other, model.q_reference, independent=model.independent_joints)
        ends.append(pc.project(made, model.q_reference, hold=list(model.independent_joints)))
    tarsus = model.tree.joints[model.getJointId("tarsus")].idx_q
    expected = (ends[0] - ends[1])[tarsus] / (2.0 * h)
    assert found.at_reference[found.lengths.index("achilles_rod: length"), 0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.ci
def test_numbers_of_tellos_hip_matter_as_in_a_hip_made_anew() -> None:
    import dataclasses

    model, part = part_of_tello("left_hip_roll")
    found = part.lengths
    assert found is not None
    hip = next(c for c in model.constraints if "left_hip_roll" in getattr(c, "label", "") and hasattr(c, "post"))
    ends = []
    h = 1e-7
    for step in (h, -h):
        other = [dataclasses.replace(c, post=c.post + step) if c is hip else c for c in model.constraints]
        made = pc.ClusterModel(model.tree, other, model.q_reference, independent=model.independent_joints)
        ends.append(pc.project(made, model.q_reference, hold=["left_hip_rotor_1", "left_hip_rotor_2"]))
    at = [model.tree.joints[model.getJointId(c.name)].idx_q for c in found.joints]
    name = next(x for x in found.lengths if x.endswith(": post"))
    expected = (ends[0] - ends[1])[at] / (2.0 * h)
    assert found.at_reference[found.lengths.index(name)] == pytest.approx(expected, rel=1e-4, abs=1e-3)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_asked() -> None:
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        pc.mechanism(pin.Model())  # type: ignore[arg-type]
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    with raises(pc.ModelError):
        pc.mechanism(pc.ClusterModel(tree))
    with raises(pc.UnknownNameError, "'rocker'"):
        result("four_bar_change_point").range("roker")


def test_a_floating_base_stays() -> None:
    model = pool.case("four_bar_serial_on_free_flyer").model
    found = pc.mechanism(model)
    base = model.names[1]
    assert f"Joints that do not move in this analysis: {base}." in found.notes
    assert base not in {r.joint for r in found.ranges}
    assert base not in {x.part for x in found.loads.parts}


@pytest.mark.ci
def test_results_do_not_know_their_page(tmp_path: Path) -> None:
    """The page knows the result; that is written all the same."""
    folder = Path(asked.__file__).parent
    for path in (*folder.glob("*.py"), folder.parent / "audit" / "result.py"):
        above = re.search(r"^\s*from \.(page|linkage|figures|output) import", path.read_text("utf-8"), re.MULTILINE)
        assert above is None or path.stem in ("page", "linkage"), path
    assert [p.name for p in result("four_bar").write(tmp_path)][:2] == ["mechanism.html", "ranges.csv"]


def test_results_as_plain_numbers() -> None:
    found = result("four_bar").range("crank").high_end
    assert found.as_dict() == {"at": found.at, "kind": found.kind, "joint": found.joint, "turns": found.turns}
