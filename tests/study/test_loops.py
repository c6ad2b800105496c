"""The study of robots with closed loops: its approximations by other routes, its motion, what cuts it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.figure import Figure
from samples import mechanisms, pool
from support.messages import raises
from support.studies import LOOPS, WITH_ROTORS, ab_ankle, load

import pin_clusters as pc
from pin_clusters._support.trees import joint_subspace
from pin_clusters.constraints.closures import RodClosure
from pin_clusters.files import readers as loaders
from pin_clusters.studies import study
from pin_clusters.studies.study import approximate_dynamics, plots, report
from pin_clusters.studies.study.trajectories import Sine
from pin_clusters.verification import baselines

CONSTANT = ("four_bar_change_point", "planar_leg_linkage")
"""Parallelograms: G is the same at all poses."""
QUICK = ("cassie_leg", "delta", "four_bar")
"""Rods and rotors; rods with mass; one freedom."""
SHORT = {"duration": 0.7, "dt": 0.05}


@cache
def short(name: str, drop_rotors: bool = False) -> study.StudyResult:
    return study.run(load(name), amplitude=0.2, drop_rotors=drop_rotors, **SHORT)


def motion(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return short(name).sine.states(load(name))[1:]


def scaled(x: np.ndarray, y: np.ndarray) -> float:
    """Largest difference over max(1, largest entry)."""
    return float(np.abs(np.asarray(x) - y).max() / max(1.0, np.abs(y).max()))


def coupling(model: pc.ClusterModel, q: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """G by central differences of the assembled motion, of fourth order."""
    G = np.empty((model.tree.nv, model.nv))
    for i in range(model.nv):
        e = np.eye(model.nv)[i]
        far, near = (
            pin.difference(model.tree, pc.integrate(model, q, -s * e), pc.integrate(model, q, s * e))
            for s in (2.0 * h, h)
        )
        G[:, i] = (8.0 * near - far) / (12.0 * h)
    return G


def bias(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """The rate of G v along the motion: g of one-dof joints."""
    rate = [coupling(model, pc.integrate(model, q, s * v)) @ v for s in (-h, h)]
    return (rate[1] - rate[0]) / (2.0 * h)


def rods_torque(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """What moves the rods, on a tree of one-dof revolute and prismatic joints: Lagrange's equations by differences."""
    tree, data = model.tree, model.tree.createData()
    rods = [c for c in model.closures if isinstance(c, RodClosure) and c.mass > 0.0]

    def ends(q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        pin.forwardKinematics(tree, data, q)
        return [(data.oMi[c.joint_a].act(c.point_a), data.oMi[c.joint_b].act(c.point_b)) for c in rods]

    def mass(q: np.ndarray) -> np.ndarray:
        steps = h * np.eye(tree.nv)
        moved = [[np.array(ends(q + s * step)) for step in steps] for s in (-1.0, 1.0)]
        J = (np.array(moved[1]) - np.array(moved[0])) / (2.0 * h)  # joint, rod, end, axis
        M = np.zeros((tree.nv, tree.nv))
        for r, rod in enumerate(rods):
            A, B = J[:, r, 0], J[:, r, 1]
            M += rod.mass / 6.0 * (2.0 * A @ A.T + 2.0 * B @ B.T + A @ B.T + B @ A.T)
        return M

    def lagrangian(q: np.ndarray) -> float:
        height = sum(rod.mass * 0.5 * (x + y) @ tree.gravity.linear for rod, (x, y) in zip(rods, ends(q), strict=True))
        return float(0.5 * v @ mass(q) @ v + height)

    rate = (mass(q + h * v) - mass(q - h * v)) / (2.0 * h) @ v
    slope = [(lagrangian(q + h * e) - lagrangian(q - h * e)) / (2.0 * h) for e in np.eye(tree.nv)]
    return mass(q) @ a + rate - np.array(slope)


def without_last_joint(tree: pin.Model) -> pin.Model:
    """The same tree; the last joint is locked at zero."""
    found = pin.Model()
    found.gravity = pin.Motion(tree.gravity)
    for j in range(1, tree.njoints):
        place, body = tree.jointPlacements[j], tree.inertias[j]
        if j < tree.njoints - 1:
            found.addJoint(tree.parents[j], tree.joints[j], place, tree.names[j])
            found.addFrame(pin.Frame(f"{tree.names[j]}_link", j, 0, pin.SE3.Identity(), pin.FrameType.BODY))
            found.appendBodyToJoint(j, body, pin.SE3.Identity())
        else:
            found.appendBodyToJoint(tree.parents[j], body, place)
    return found


@pytest.mark.ci
def test_all_robots_with_loops_are_here() -> None:
    assert {name for name in loaders.robots() if load(name).closures} == set(LOOPS)


@pytest.mark.parametrize("name", LOOPS)
def test_motion_is_assembled_and_consistent(name: str) -> None:
    model = load(name)
    # the kangaroo's leg is nearly stretched, and the gripper's springs give way to no more
    sine = Sine(amplitude=0.1 if name in ("kangaroo_leg", "robotiq_2f85") else 0.2, duration=0.7, dt=1e-3)
    _, q, v, a = sine.states(model)
    assert max(np.abs(pc.residual(model, x)).max() for x in q[::50]) < 1e-12
    # at t = 0 each joint is where its phase has it, and a period later it is back
    period = round(1.0 / (sine.frequency * sine.dt))
    phases = sine.phases(model)
    columns = [model.tree.joints[model.tree.getJointId(joint)].idx_v for joint in phases]
    start = pin.difference(model.tree, model.q_reference, q[0])[columns]
    assert start == pytest.approx(sine.amplitude * np.sin([*phases.values()]), abs=1e-13)
    # the nearest sample is a third of a step off, and a rotor turns nine times as far as its elbow
    assert np.abs(pin.difference(model.tree, q[period], q[0])).max() < 6e-3
    for i in (1, 77, 350, 555):
        step = pin.difference(model.tree, q[i - 1], q[i + 1]) / (2.0 * sine.dt)
        G = pc.coupling_jacobian(model, model.createData(), q[i])
        assert np.abs(step - G @ v[i]).max() < 2e-4 * np.abs(G @ v[i]).max() + 1e-3
        assert np.abs((v[i + 1] - v[i - 1]) / (2.0 * sine.dt) - a[i]).max() < 1e-4 * np.abs(a).max()


@pytest.mark.parametrize("name", pool.some(LOOPS, QUICK))
def test_exact_is_projection(name: str) -> None:
    model = load(name)
    work = baselines.projection.createData(model)
    q, v, a = motion(name)
    columns = [model.joint_idx_v(n) for n in short(name).joints]
    for i, tau in enumerate(short(name).exact):
        assert scaled(tau, baselines.projection.rnea(model, work, q[i], v[i], a[i])[columns]) < 1e-10


@pytest.mark.parametrize("name", pool.some(LOOPS, QUICK))
def test_unconstrained_is_the_baseline(name: str) -> None:
    model = load(name)
    work = baselines.unconstrained.createData(model)
    q, v, a = motion(name)
    columns = [model.joint_idx_v(n) for n in short(name).joints]
    for i, tau in enumerate(short(name).approximate["unconstrained"]):
        assert scaled(tau, baselines.unconstrained.rnea(model, work, q[i], v[i], a[i])[columns]) < 1e-12


# trees without rotors that are not joints, so that Pinocchio's own functions say it all
WHOLE = tuple(n for n in LOOPS if n not in ("cassie_leg", "ankle_2rsu"))
# rods with mass, which are no bodies of these trees
RODS = ("delta", "digit_leg", "kangaroo_leg")


@pytest.mark.parametrize("name", pool.some(WHOLE, ["delta", "four_bar"], rest="ci"))
def test_unconstrained_is_the_trees_rows(name: str) -> None:
    """M_ii a + h_i with Pinocchio's dense M and h; G by differences; rods by Lagrange's equations."""
    model = load(name)
    data, rows = model.tree.createData(), model.idx_v_independent
    q, v, a = motion(name)
    for i in (0, 3, 8):
        full = coupling(model, q[i]) @ v[i]
        M = np.array(pin.crba(model.tree, data, q[i]))
        M = np.triu(M) + np.triu(M, 1).T
        expected = M[np.ix_(rows, rows)] @ a[i] + np.array(pin.nonLinearEffects(model.tree, data, q[i], full))[rows]
        if name in RODS:
            only = np.zeros(model.tree.nv)
            only[rows] = a[i]
            expected += rods_torque(model, q[i], full, only)[rows]
        assert scaled(short(name).approximate["unconstrained"][i], expected) < (1e-6 if name in RODS else 1e-9)


@pytest.mark.parametrize("name", pool.some(WHOLE, ["delta", "four_bar"], rest="ci"))
def test_frozen_is_gears(name: str) -> None:
    """G0' rnea(q, G0 v, G0 a) with Pinocchio's rnea; G0 by differences at the reference pose."""
    model = load(name)
    G, data = coupling(model, model.q_reference), model.tree.createData()
    q, v, a = motion(name)
    for i in (0, 3, 8):
        torque = np.array(pin.rnea(model.tree, data, q[i], G @ v[i], G @ a[i]))
        if name in RODS:
            torque += rods_torque(model, q[i], G @ v[i], G @ a[i])
        assert scaled(short(name).approximate["frozen"][i], G.T @ torque) < (1e-6 if name in RODS else 1e-9)


@pytest.mark.parametrize("name", CONSTANT)
def test_frozen_is_exact_where_the_coupling_is_constant(name: str) -> None:
    result = study.run(load(name), amplitude=0.4, **SHORT)
    assert scaled(result.approximate["frozen"], result.exact) < 1e-11
    assert "frozen loops: exact on this motion" in report.verdict(result)


@pytest.mark.parametrize("name", pool.some([n for n in LOOPS if n not in CONSTANT], QUICK[::-1], everyday=1))
def test_frozen_becomes_exact_with_the_amplitude(name: str) -> None:
    errors = [
        np.abs(study.run(load(name), amplitude=x, duration=0.7, dt=0.01).error("frozen")).max() for x in (2e-3, 1e-3)
    ]
    # of first order: gravity through G - G0; of second order where gravity does not see it (ankle_2rsu, six_bar)
    assert 1.9 < errors[0] / errors[1] < 4.2
    assert errors[1] < 0.2


@pytest.mark.parametrize("name", pool.some(LOOPS, QUICK))
def test_unconstrained_lacks_the_dependents_weight_at_rest(name: str) -> None:
    """With a tiny amplitude what is missing is G_d' h_d of the reference pose."""
    model = load(name)
    result = study.run(model, amplitude=1e-9, duration=0.7, dt=0.1)
    work = baselines.projection.createData(model)
    work.couple(model.q_reference, np.zeros(model.nv))
    still = np.zeros(work.tree.nv)
    h = work.torque(work.configuration(model.q_reference), still, still, None)
    G = work.G.copy()
    G[work.span.from_tree_v[model.idx_v_independent]] = 0.0
    assert scaled(result.error("unconstrained"), np.tile(-(G.T @ h), (len(result.time), 1))) < 1e-6


@pytest.mark.ci
@pytest.mark.parametrize("drop", pool.some([False, True], 1, rest="ci"))
def test_tello_without_rotors_is_the_robot_that_pinocchio_reduces(drop: bool) -> None:
    """``no rotor``: the tree with locked rotor joints; ``armature``: J ratio^2 on what drives them."""
    model, result = load("tello"), short("tello", drop)
    tree = model.tree.copy()
    rotors = [n for n in list(tree.names)[1:] if "rotor" in n]
    assert len(rotors) == len(model.rotors) == 10
    for n in rotors if drop else ():
        tree.inertias[tree.getJointId(n)] = pin.Inertia.Zero()
    reduced = pin.buildReducedModel(tree, [tree.getJointId(n) for n in rotors], pin.neutral(tree))
    data = reduced.createData()
    kept = list(reduced.names)[1:]
    rows = [tree.joints[tree.getJointId(n)].idx_v for n in kept]
    axial = {n: model.tree.inertias[tree.getJointId(n)].inertia[2, 2] for n in rotors}
    reflected = np.zeros((len(rows), len(rows)))
    for side in ("left", "right"):
        at = kept.index(f"{side}_hip_yaw")
        reflected[at, at] = 36.0 * axial[f"{side}_hip_yaw_rotor"]
    own = np.array([axial.get(n, 0.0) for n in result.joints])
    assert own.nonzero()[0].size == 8
    q, v, a = motion("tello")
    for i in (0, 4, 9):
        G, g = coupling(model, q[i])[rows], bias(model, q[i], v[i])[rows]
        a_tree = G @ a[i] + g
        tau = G.T @ np.array(pin.rnea(reduced, data, q[i][rows], G @ v[i], a_tree))
        assert scaled(result.approximate["no rotor"][i], tau) < 1e-7
        tau += G.T @ reflected @ a_tree + own * a[i]
        assert scaled(result.approximate["armature"][i], tau) < 1e-7


def test_armature_of_rotors_on_the_ground_is_exact() -> None:
    """Both cranks of the ankle and their rotors stand on the shin, which stands: n^2 J is all there is."""
    model, result = load("ankle_2rsu"), short("ankle_2rsu")
    assert scaled(result.approximate["armature"], result.exact) < 1e-12
    q, v, a = motion("ankle_2rsu")
    cranks = [model.tree.joints[model.tree.getJointId(f"crank_{s}")].idx_v for s in ("left", "right")]
    for i in (2, 7):
        G, g = coupling(model, q[i])[cranks], bias(model, q[i], v[i])[cranks]
        missing = G.T @ (2.5e-5 * 18.0**2 * (G @ a[i] + g))
        assert scaled(result.error("no rotor")[i], -missing) < 1e-7


@pytest.mark.parametrize(("base", "balanced"), [(False, True), (True, True), (False, False)])
def test_rotors_anywhere_on_a_loop_are_locked(base: bool, balanced: bool) -> None:
    """``no rotor`` and ``armature`` are exact robots: rotors in the links, armature on the tree, the same loop."""
    rng = np.random.default_rng(5)
    m = mechanisms.rotors_on_a_loop(rng, base=base)
    if not balanced:
        m.tree.inertias[m.tree.getJointId("wheel")].lever = np.array([0.02, -0.01, 0.03])
        m.tree.armature = np.append(np.array(m.tree.armature)[:-1], 0.004)
    model = m.build() if m.independent else pc.ClusterModel(m.tree, m.constraints, m.q0, independent=["crank"])
    tree, wheel = m.tree.copy(), m.tree.getJointId("wheel")
    assert len(model.rotors) == 4
    armature = np.array(tree.armature)
    rotors = [c for c in m.constraints if isinstance(c, pc.Rotor)]
    S = joint_subspace(m.tree.joints[wheel])
    own = S @ tree.inertias[wheel].matrix() @ S + armature[tree.joints[wheel].idx_v]
    for name, ratio in (("coupler", 7.0), ("rocker", -3.0)):
        armature[tree.joints[tree.getJointId(name)].idx_v] += own * ratio**2
    for r in rotors:
        carrier = tree.getJointId(r.carrier) if r.carrier != "universe" else 0
        tree.appendBodyToJoint(carrier, r.inertia, r.placement)
        unit = np.asarray(r.axis) / np.linalg.norm(r.axis)
        for name, ratio in zip(np.atleast_1d(r.joints), np.atleast_1d(r.ratios), strict=True):
            at = tree.joints[tree.getJointId(str(name))].idx_v
            armature[at] += unit @ r.inertia.inertia @ unit * ratio**2
    loops = [c for c in m.constraints if not isinstance(c, pc.Rotor | pc.LinearCoupling)]
    q = np.array([mechanisms.random_pose(model, m.q0, rng, 0.3) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, model.nv))
    found = approximate_dynamics.torques(model, q, v, a)
    for level, reflected in (("no rotor", tree.armature), ("armature", armature)):
        reduced = without_last_joint(tree)
        reduced.armature = np.array(reflected[: reduced.nv])
        same = pc.ClusterModel(reduced, loops, m.q0[: reduced.nq], independent=model.independent_joints)
        data = same.createData()
        for i in range(5):
            assert scaled(found[level][i], pc.rnea(same, data, q[i][: reduced.nq], v[i], a[i])) < 1e-11


@pytest.mark.ci
def test_dropped_rotors_leave_the_loops_alone() -> None:
    locked, dropped = short("tello"), short("tello", drop_rotors=True)
    for level in study.LOOP_LEVELS:
        assert np.array_equal(locked.approximate[level], dropped.approximate[level])
    assert np.abs(locked.approximate["armature"] - dropped.approximate["armature"]).max() > 1e-3
    assert "rotors dropped" in "".join(row[0] for row in report.table(dropped))
    assert "rotors dropped" not in "".join(row[0] for row in report.table(locked))


@pytest.mark.parametrize("name", pool.some(LOOPS, QUICK, rest="ci"))
def test_rungs(name: str) -> None:
    expected = study.LOOP_LEVELS + (study.ROTOR_LEVELS if name in WITH_ROTORS else ())
    assert tuple(short(name).approximate) == expected


@pytest.mark.ci
def test_both_cranks_of_an_ankle_oppose_each_other() -> None:
    """In phase the foot only pitches; the default motion rolls it, and the loops are no gears."""
    model = ab_ankle()
    assert model.independent_joints == ("left", "right")
    roll = model.tree.joints[model.tree.getJointId("roll")].idx_q
    share, rolled = {}, {}
    for in_phase in (True, False):
        sine = Sine(duration=0.7, dt=5e-3, in_phase=in_phase)
        result = study.run(model, sine)
        assert result.sine == sine
        share[in_phase] = float(result.share(result.rms_error)["frozen"].max())
        rolled[in_phase] = float(np.ptp(sine.states(model)[1][:, roll]))
    assert rolled[True] < 1e-9
    assert rolled[False] > 1.0
    assert share[True] < 1e-9  # the cranks pitch the foot by parallelograms, ratio 1 at all poses
    assert 20.0 < share[False] < 22.0


@pytest.mark.ci
def test_a_floating_base_is_held() -> None:
    fixed = short("tello")
    floating = study.run(load("tello", True), amplitude=0.2, **SHORT)
    assert fixed.joints == floating.joints
    assert scaled(floating.exact, fixed.exact) < 1e-11
    for level, tau in fixed.approximate.items():
        assert scaled(floating.approximate[level], tau) < 1e-11


def test_amplitude_ends_at_the_dead_point() -> None:
    """The rocker of a crank-rocker stops where crank and coupler are in line: the law of cosines."""
    model = pc.load("four_bar", independent=["rocker"])
    crank, coupler, rocker, ground = 0.10, 0.29, 0.34, 0.37
    # angle of the rocker at the ground, from the ground line; it starts at atan2(0.3, 0.16)
    inner, outer = (
        np.arccos((rocker**2 + ground**2 - reach**2) / (2.0 * rocker * ground))
        for reach in (coupler - crank, coupler + crank)
    )
    start = np.arctan2(0.3, 0.16)
    limit = min(outer - start, start - inner)
    found = Sine(amplitude=3.0).reachable(model)
    assert found.reason
    assert found.end == pytest.approx(limit, rel=1e-2)
    assert found.end < limit
    assert found.amplitude == pytest.approx(0.9 * found.end, rel=2e-3)
    assert Sine(amplitude=0.89 * limit).reachable(model).reason == ""
    result = study.run(model, amplitude=3.0, **SHORT)
    assert result.sine.amplitude == found.amplitude
    assert result.asked == 3.0
    assert np.isfinite(result.exact).all()


@pytest.mark.ci
def test_cut_is_said_in_json_and_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = study.run(load("six_bar"), amplitude=3.0, **SHORT)
    assert result.reach is not None
    report.write_json(result, tmp_path / "study.json")
    found = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))["trajectory"]
    assert found["amplitude_asked_for"] == 3.0
    assert found["amplitude"] == result.sine.amplitude < 3.0
    assert found["cut"].startswith("The amplitude is reduced from 3 to ")
    assert "Loop('left_to_right')" in found["cut"]
    assert found["centre"]["left_1"] == pytest.approx(1.2)
    written: list[str] = []
    original = Figure.text

    def text(self: Figure, x: float, y: float, s: str, **more: object) -> object:
        written.append(s)
        return original(self, x, y, s, **more)

    monkeypatch.setattr(Figure, "text", text)
    plots.save(result, tmp_path / "study.png")
    assert any(f"(reduced from 3: loops limit it to {result.reach.end:g})" in s for s in written)
    plots.save(short("six_bar"), tmp_path / "uncut.png")
    assert not any("cut" in s for s in written[-3:])


@pytest.mark.ci
def test_json_of_a_robot_with_loops() -> None:
    found = report.as_dict(short("tello"))
    assert found["trajectory"]["cut"] is None
    assert found["trajectory"]["amplitude_asked_for"] == 0.2
    assert set(found["approximations"]) == set(found["rms_error"]) == {*study.LOOP_LEVELS, *study.ROTOR_LEVELS}
    assert "G0' rnea(q, G0 v, G0 a)" in found["approximations"]["frozen"]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("name", pool.some(["tello", "cassie_leg", "four_bar", "delta"], ["four_bar"]))
def test_nothing_in_the_plot_overlaps_or_is_cut(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    original = Figure.savefig

    def keep(self: Figure, *arguments: object, **more: object) -> None:
        original(self, *arguments, **more)
        drawn.append(self)

    monkeypatch.setattr(Figure, "savefig", keep)
    plots.save(short(name), tmp_path / "study.png")
    (figure,) = drawn
    inside = figure.bbox
    (legend,) = figure.legends
    boxes = [t.get_window_extent() for t in figure.texts] + [legend.get_window_extent()]
    for panel in figure.axes:
        boxes += [panel.get_tightbbox()]
        title = panel._left_title.get_window_extent()
        assert title.x1 <= panel.get_window_extent().x1 + 1.0
    assert all(b.x0 >= 0.0 and b.y0 >= 0.0 and b.x1 <= inside.x1 and b.y1 <= inside.y1 for b in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_nearly_singular_reference_is_refused() -> None:
    """The rocker at its dead point, to 1e-7: the model can be made, but nothing swings about it."""
    base = pc.load("four_bar")
    q = pc.neutral(base)
    for _ in range(60):  # to the pose where the rocker stops: its velocity is zero
        rate = pc.coupling_jacobian(base, base.createData(), q)[2, 0]
        ahead = pc.coupling_jacobian(base, base.createData(), pc.integrate(base, q, np.array([1e-5])))[2, 0]
        slope = (ahead - rate) / 1e-5
        q = pc.integrate(base, q, np.array([np.clip(-rate / slope, -0.05, 0.05)]))
    q = pc.integrate(base, q, np.array([1e-6]))
    model = pc.load("four_bar", independent=["rocker"], q_reference=q)
    with raises(pc.ConfigurationError, "'four_bar' q_reference 0.0005"):
        study.run(model, **SHORT)


def test_progress_reaches_its_end() -> None:
    seen: list[tuple[int, int]] = []
    study.run(load("four_bar"), duration=0.6, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == 3 * 1200


@pytest.mark.parametrize("numbers", [{"amplitude": float("nan")}, {"amplitude": -1.0}, {"dt": 0.0}])
def test_bad_numbers(numbers: dict[str, float]) -> None:
    with raises(study.TrajectoryError, "0"):
        study.run(load("four_bar"), **numbers)
