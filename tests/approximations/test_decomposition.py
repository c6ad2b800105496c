"""The parts of an approximation's error: they add up, and each is what another route says."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.files import readers as loaders
from pin_clusters.studies import study
from pin_clusters.studies.study import decomposition
from pin_clusters.verification import baselines

# every part, exact and rung are sums of tree torques with errors of 1e-15 of their size; the sum of parts may be zero,
# so only the size of the torque, or 1 N m, can be the measure
EXACT = 1e-12
LOOPS = 1e-11
"""With loops: G comes from a null space here and from elimination in the kernels, with the condition of K_d between."""
OFTEN = ("cassie_leg", "mini_cheetah", "mit_humanoid", "teleop_arm", "tello")
"""Robots that every run has: rotors, couplings, closed loops, both."""
OFTEN_LOOPS = (
    "four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "geared_five_bar", "rssr_massive", "sarrus",
    "delta_pairs", "ankle_2rsu", 100, 101,
)  # fmt: skip
"""The same of mechanisms: both bases, rotors, rods with and without mass, planar and spatial."""
NOT_ONLY_ROTORS = (3, 18, 19, 26)
"""Seeds of random robots with a rotor that carries another one, which armature cannot stand for."""


@cache
def load(name: str, floating: bool = False) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return loaders.load(name, root_joint=pin.JointModelFreeFlyer() if floating else None)


def states(model: pc.ClusterModel, n: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    spread = 0.1 if model.closures else 1.0
    q = np.array(
        [pc.integrate(model, pc.neutral(model), spread * rng.uniform(-1.0, 1.0, size=model.nv)) for _ in range(n)]
    )
    v, a = 3.0 * rng.normal(size=(2, n, model.nv))
    return q, v, a


def adds_up(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, tolerance: float) -> None:
    for drop in (False, True):
        for level in approximations.names(model):
            found = study.decompose(model, q, v, a, level, drop)
            assert tuple(found.parts) == study.PARTS
            # not the property alone: exact and rung from their own functions
            data, other = model.createData(), approximations.of(model, drop)[level]
            for i in range(len(q)):
                exact = pc.rnea(model, data, q[i], v[i], a[i])
                error = exact - other.rnea(q[i], v[i], a[i])
                parts = sum(x[i] for x in found.parts.values())
                assert np.all(np.abs(parts - error) < tolerance * np.maximum(1.0, np.abs(exact))), (level, drop)
            assert found.residual < tolerance


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", pool.some(loaders.robots(), OFTEN, everyday=2))
def test_adds_up_on_all_robots(name: str, floating: bool) -> None:
    model = load(name, floating)
    adds_up(model, *states(model), EXACT if not model.closures else LOOPS)


@pytest.mark.parametrize(
    "name", pool.some(["mit_humanoid", "cassie_leg", "jvrc1_as_published", "four_bar"], 2, rest="ci")
)
def test_adds_up_along_the_sine(name: str) -> None:
    model = load(name)
    _, q, v, a = study.Sine(amplitude=0.2, duration=0.7, dt=0.02).states(model)
    for level in approximations.names(model):
        assert study.decompose(model, q, v, a, level).residual < LOOPS


@pytest.mark.parametrize("seed", pool.some([s for s in range(28) if s not in NOT_ONLY_ROTORS], 10))
def test_adds_up_on_random_trees(seed: int) -> None:
    """Joints of all kinds, rotors anywhere, unbalanced, sliding, massless, in chains, on continuous joints."""
    rng = np.random.default_rng(seed)
    model = trees.random_robot(
        rng, 1 + seed % 6, floating=bool(seed % 2), couplings=0, rotor_bodies=seed % 4, rotors=1 + seed % 3
    ).build()
    found = [trees.random_state(model, rng)[:3] for _ in range(3)]
    q, v, a = (np.array(x) for x in zip(*found, strict=True))
    adds_up(model, q, v, a, EXACT)


@pytest.mark.parametrize("key", pool.some(pool.EXACT, OFTEN_LOOPS))
def test_adds_up_on_loops(key: str | int) -> None:
    case = pool.case(key)
    v, a = np.random.default_rng(2).normal(size=(2, 1, case.model.nv))
    adds_up(case.model, case.q[None], v, a, LOOPS)


def test_unbalanced_rotor_on_a_loop() -> None:
    mechanism = pool.case("rotors_on_a_loop_on_free_flyer").mechanism
    tree = mechanism.tree.copy()
    tree.inertias[tree.getJointId("wheel")].lever = np.array([0.02, -0.01, 0.03])
    tree.armature = np.append(np.array(tree.armature)[:-1], 0.004)
    model = pc.ClusterModel(tree, mechanism.constraints, mechanism.q0, independent=mechanism.independent)
    q, v, a = states(model, 3)
    adds_up(model, q, v, a, LOOPS)
    for level in approximations.names(model):
        assert study.decompose(model, q, v, a, level).rms["asymmetric rotors"].max() > 1e-3


def test_unbalanced_rotor_on_a_coupler() -> None:
    """Its carrier moves otherwise where loops are left out or frozen, and so does what is locked into it."""
    bar, wheel = load("four_bar"), pin.Inertia(0.5, np.array([0.02, -0.03, 0.01]), np.diag([1e-3, 2e-3, 2.5e-3]))
    tree = bar.tree.copy()
    at = pin.SE3(pin.exp3(np.array([0.3, -0.5, 0.2])), np.array([0.1, 0.02, 0.0]))
    j = tree.addJoint(tree.getJointId("coupler"), pin.JointModelRX(), at, "wheel")
    tree.appendBodyToJoint(j, wheel, pin.SE3.Identity())
    q0 = pin.neutral(tree)
    q0[: bar.nq] = bar.q_reference
    gear = pc.LinearCoupling("wheel", {"rocker": 5.0, "crank": 1.0}, 0.3)
    q0[-1] = 5.0 * q0[tree.joints[tree.getJointId("rocker")].idx_q] + q0[0] + 0.3
    model = pc.ClusterModel(tree, [*bar.constraints, gear], q0, independent=bar.independent_joints)
    assert [r.reason[:11] for r in model.rotors] == ["its inertia"]
    q, v, a = states(model, 3)
    adds_up(model, q, v, a, LOOPS)


# --- each part by another route -----------------------------------------------------------------------------------


def rotor_motion(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Axis and carrier's angular velocity in the world, and speed, of each rotor; from Pinocchio's poses."""
    data = model.tree.createData()
    v_tree = pc.spanning_velocity(model, model.createData(), q, v)
    pin.forwardKinematics(model.tree, data, q, v_tree)
    found = []
    for r in model.rotors:
        R = data.oMi[r.carrier_id].rotation
        speed = sum(ratio * v_tree[i] for i, ratio in r.drivers)
        found.append((R @ r.axis, R @ data.v[r.carrier_id].angular if r.carrier_id else np.zeros(3), float(speed)))
    return found


def angular_jacobian(model: pc.ClusterModel, q: np.ndarray, j: int) -> np.ndarray:
    data = model.tree.createData()
    J = pin.computeJointJacobian(model.tree, data, q, j)
    pin.forwardKinematics(model.tree, data, q)
    return data.oMi[j].rotation @ J[3:] @ pc.coupling_jacobian(model, model.createData(), q)


def along(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> tuple[np.ndarray, ...]:
    """A motion through the state with this velocity and acceleration."""
    return pc.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a


def rate(f: object, h: float = 1e-4) -> np.ndarray:
    """Derivative at 0, of fourth order."""
    assert callable(f)
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "mini_cheetah"])
def test_carrier_parts_are_the_rate_of_the_spin(name: str) -> None:
    """On the carrier, d/dt (J Omega s) in the world; on the joint, the axis' share of its angular acceleration.

    To 1e-7: the difference formula has an error of h^4, and rounding of 1e-16 / h.
    """
    model = load(name, True)
    q, v, a = states(model, 1)
    found = study.decompose(model, q, v, a, "block")
    v0, a0 = v[0], a[0]
    on_carrier, on_joint = np.zeros(model.nv), np.zeros(model.nv)
    for k, r in enumerate(model.rotors):

        def momentum(t: float, k: int = k, r: pc.RotorElement = r) -> np.ndarray:
            axis, _, speed = rotor_motion(model, *along(model, q[0], v0, a0, t))[k]
            return r.axial_inertia * speed * axis

        def turning(t: float, k: int = k) -> np.ndarray:
            return rotor_motion(model, *along(model, q[0], v0, a0, t))[k][1]

        on_carrier += angular_jacobian(model, q[0], r.carrier_id).T @ rate(momentum)
        axis = rotor_motion(model, q[0], v0)[k][0]
        on_joint += r.row * r.axial_inertia * (axis @ rate(turning))
    parts = {name: x[0] for name, x in found.parts.items()}
    assert np.abs(parts["spin on carrier"] + parts["gyroscopic"] - on_carrier).max() < 1e-7 * np.abs(on_carrier).max()
    assert np.abs(parts["carrier on joint"] - on_joint).max() < 1e-7 * np.abs(on_joint).max()
    assert np.abs(parts["gyroscopic"]).max() > 1e-3
    # at rest nothing turns, so what is left on the carrier is the spin's acceleration
    still = study.decompose(model, q, 0.0 * v, a, "block")
    assert np.array_equal(still.parts["spin on carrier"], found.parts["spin on carrier"])
    assert not np.any(still.parts["gyroscopic"])


@pytest.mark.parametrize("name", ["mini_cheetah", "teleop_arm"])
def test_lagranges_equations_of_the_spin_energy(name: str) -> None:
    """The parts of a block are d/dt dT/dv - dT/dq of T = J Omega s.w, those of no armature have J Omega^2 / 2 too."""
    model = load(name)  # fixed base: v is the rate of q
    q, v, a = (x[0] for x in states(model, 1))

    def energy(q: np.ndarray, v: np.ndarray, square: float) -> float:
        terms = zip(model.rotors, rotor_motion(model, q, v), strict=True)
        return sum(r.axial_inertia * (speed * (axis @ w) + square * 0.5 * speed**2) for r, (axis, w, speed) in terms)

    for level, square in (("block", 0.0), ("none", 1.0)):

        def slope_v(t: float, square: float = square) -> np.ndarray:
            at, speed = along(model, q, v, a, t)
            steps = np.eye(model.nv)
            # the energy is quadratic in v, so that the difference is exact
            return np.array([(energy(at, speed + e, square) - energy(at, speed - e, square)) / 2.0 for e in steps])

        def slope_q(i: int, square: float = square) -> float:
            e = np.eye(model.nv)[i]
            return float(rate(lambda t: energy(pc.integrate(model, q, t * e), v, square)))

        expected = rate(slope_v) - np.array([slope_q(i) for i in range(model.nv)])
        found = study.decompose(model, q, v, a, level)
        total = sum(x[0] for name, x in found.parts.items() if name != "asymmetric rotors")
        assert np.abs(total - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())  # differences: h^4


def gimbal(tilt: float, n: float = 9.0, J: float = 2e-3) -> pc.ClusterModel:
    """Yaw, roll, and a geared pitch joint whose rotor sits on the roll body, its axis tilted."""
    tree = pin.Model()
    parent = 0
    for name, joint in (("yaw", pin.JointModelRZ()), ("roll", pin.JointModelRX()), ("pitch", pin.JointModelRY())):
        parent = tree.addJoint(parent, joint, pin.SE3.Identity(), name)
        tree.appendBodyToJoint(parent, pin.Inertia(1.0, np.zeros(3), np.diag([0.1, 0.2, 0.3])), pin.SE3.Identity())
    axis = (0.0, np.cos(tilt), np.sin(tilt))
    return pc.ClusterModel(tree, [pc.Rotor("pitch", n, axial_inertia=J, axis=axis)])


def test_a_gimbal_by_hand() -> None:
    """At q = 0, with J = 0.002, n = 9 and the rates y, r, p: w = (r, 0, y), s = (0, c, s)."""
    J, n, tilt = 2e-3, 9.0, 0.6
    c, s = np.cos(tilt), np.sin(tilt)
    model = gimbal(tilt)
    v, a = np.array([1.5, -0.7, 2.0]), np.array([3.0, 1.0, -4.0])
    parts = study.decompose(model, pc.neutral(model), v, a, "none").parts
    # alpha of the carrier: (r', y r, y'); its yaw axis stands, its roll axis turns with yaw
    alpha = np.array([a[1], v[0] * v[1], a[0]])
    cross = np.cross([v[1], 0.0, v[0]], J * n * v[2] * np.array([0.0, c, s]))
    expected = {
        "reflected, diagonal": [0.0, 0.0, J * n * n * a[2]],
        "carrier on joint": [0.0, 0.0, J * n * (c * alpha[1] + s * alpha[2])],
        "spin on carrier": [J * n * a[2] * s, 0.0, 0.0],
        "gyroscopic": [cross[2], cross[0], 0.0],
    }
    for name, x in parts.items():
        assert x[0] == pytest.approx(np.array(expected.get(name, [0.0] * 3)), abs=1e-15), name


def test_parts_scale_with_the_ratio() -> None:
    """At the same reflected inertia J n^2 the reflected part stays, and what the carrier does falls as 1 / n."""
    slow, fast = gimbal(0.3), gimbal(0.3, n=90.0, J=2e-5)
    q, v, a = states(slow)
    low, high = (study.decompose(model, q, v, a, "none").parts for model in (slow, fast))
    assert high["reflected, diagonal"] == pytest.approx(low["reflected, diagonal"], rel=1e-12)
    for name in ("carrier on joint", "spin on carrier", "gyroscopic"):
        assert 10.0 * high[name] == pytest.approx(low[name], rel=1e-12)
        assert np.any(low[name])


def test_a_belt_by_hand() -> None:
    """At a fixed thigh only reflected inertia is left: J g_i g_k between knee and ankle."""
    model = load("mit_humanoid_leg")
    v, a = np.zeros(5), np.array([0.0, 0.0, 0.0, 2.0, -3.0])
    q = pc.neutral(model)
    rotors = {r.name: r for r in model.rotors}
    knee, ankle = rotors["knee_rotor"], rotors["ankle_rotor"]
    shared = ankle.axial_inertia * ankle.row[3] * ankle.row[4]
    own = [knee.axial_inertia * knee.row[3] ** 2 + ankle.axial_inertia * ankle.row[3] ** 2,
           ankle.axial_inertia * ankle.row[4] ** 2]  # fmt: skip
    none, diagonal, block = (study.decompose(model, q, v, a, level).parts for level in approximations.LEVELS)
    assert none["reflected, diagonal"][0, 3:] == pytest.approx([own[0] * 2.0, own[1] * -3.0], rel=1e-12)
    assert none["reflected, off-diagonal"][0, 3:] == pytest.approx([shared * -3.0, shared * 2.0], rel=1e-12)
    assert np.array_equal(diagonal["reflected, off-diagonal"], none["reflected, off-diagonal"])
    assert not np.any(diagonal["reflected, diagonal"])
    assert not np.any(block["reflected, diagonal"])
    assert not np.any(block["reflected, off-diagonal"])
    for name in ("spin on carrier", "carrier on joint", "gyroscopic"):
        assert np.array_equal(none[name], block[name])


def test_coupling_rate_is_the_rate_of_the_rotors_row() -> None:
    """J times d/dt (row of G) v, on the joint and on the carrier; G by differences along the motion."""
    case = pool.case("rotors_on_a_loop_on_free_flyer")
    model, q = case.model, case.q
    v, a = np.random.default_rng(3).normal(size=(2, model.nv))
    expected = np.zeros(model.nv)

    def row(r: pc.RotorElement, q: np.ndarray) -> np.ndarray:
        G = pc.coupling_jacobian(model, model.createData(), q)
        return np.asarray(sum(ratio * G[i] for i, ratio in r.drivers))

    for k, r in enumerate(model.rotors):
        change = rate(lambda t, r=r: row(r, pc.integrate(model, q, t * v))) @ v
        axis = rotor_motion(model, q, v)[k][0]
        expected += r.axial_inertia * row(r, q) * change
        if r.carrier_id:
            expected += angular_jacobian(model, q, r.carrier_id).T @ (r.axial_inertia * axis * change)
    found = study.decompose(model, q, v, a, "no rotor").parts["coupling rate"][0]
    assert np.abs(expected).max() > 1e-3
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()  # differences of an implicit G


def test_asymmetric_rotors_against_another_robot() -> None:
    """Inverse dynamics is linear in the inertias: a second robot has the symmetric part of each rotor only."""
    model = load("jvrc1_as_published", True)
    q, v, a = states(model, 2)
    asymmetric = [r for r in model.rotors if not r.spins]
    assert len(asymmetric) == 22
    tree = model.tree.copy()
    for r in asymmetric:
        body = tree.inertias[r.joint_id]
        s = r.placement.rotation.T @ r.axis
        axial = s @ body.inertia @ s
        across = 0.5 * (np.trace(body.inertia) - axial)
        even = across * np.eye(3) + (axial - across) * np.outer(s, s)
        tree.inertias[r.joint_id] = pin.Inertia(body.mass, body.lever, even)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        even_model = pc.ClusterModel(tree, model.constraints)
    assert all(r.spins for r in even_model.rotors)
    locked, even_locked = (approximations.of(m)["none"] for m in (model, even_model))
    data, even_data = model.createData(), even_model.createData()
    part = study.decompose(model, q, v, a).parts["asymmetric rotors"]
    for i in range(len(q)):
        x = q[i], v[i], a[i]
        expected = pc.rnea(model, data, *x) - pc.rnea(even_model, even_data, *x)
        expected -= locked.rnea(*x) - even_locked.rnea(*x)
        assert np.abs(part[i] - expected).max() < 1e-12 * max(1.0, np.abs(pc.rnea(model, data, *x)).max())
    assert np.abs(part).max() > 1e-4


def test_rotor_mass_is_what_dropping_takes() -> None:
    model = load("mini_cheetah", True)
    q, v, a = states(model, 2)
    part = study.decompose(model, q, v, a, "block", drop_rotors=True).parts["rotor mass"]
    kept, dropped = (approximations.of(model, drop)["none"] for drop in (False, True))
    for i in range(len(q)):
        expected = kept.rnea(q[i], v[i], a[i]) - dropped.rnea(q[i], v[i], a[i])
        assert np.abs(part[i] - expected).max() < 1e-12 * np.abs(expected).max()
    assert not np.any(study.decompose(model, q, v, a, "block").parts["rotor mass"])


def test_loop_terms_with_dense_matrices() -> None:
    """A linkage without rotors: Pinocchio's mass matrix and bias torques of the tree."""
    model = load("watt_six_bar")
    q, v, a = states(model, 2, seed=4)
    data, tree_data = model.createData(), model.tree.createData()
    free = model.idx_v_independent
    S = np.eye(model.tree.nv)[:, free]
    G0 = pc.coupling_jacobian(model, data, model.q_reference).copy()
    for level, H in (("unconstrained", S), ("frozen", G0)):
        parts = study.decompose(model, q, v, a, level).parts
        for i in range(len(q)):
            G = pc.coupling_jacobian(model, data, q[i]).copy()
            g = pc.coupling_bias(model, data, q[i], v[i]).copy()
            M = np.triu(pin.crba(model.tree, tree_data, q[i]))
            M = M + np.triu(M, 1).T
            gravity = np.array(pin.computeGeneralizedGravity(model.tree, tree_data, q[i]))

            def turning(H: np.ndarray, i: int = i, gravity: np.ndarray = gravity) -> np.ndarray:
                return np.array(pin.nonLinearEffects(model.tree, tree_data, q[i], H @ v[i])) - gravity

            moved = G if level == "unconstrained" else G0
            expected = {
                "dependents' torque": (G - H).T @ (M @ (G @ a[i] + g) + turning(G) + gravity),
                "dependents' acceleration": H.T @ M @ ((G - H) @ a[i]),
                "coupling bias": H.T @ M @ g,
                "dependents' velocity": H.T @ (turning(G) - turning(moved)),
            }
            for name, x in expected.items():
                assert np.abs(parts[name][i] - x).max() < 1e-10 * max(1.0, np.abs(x).max()), (level, name)
        assert all(not np.any(parts[name]) for name in study.PARTS if name not in expected)


# --- the result ---------------------------------------------------------------------------------------------------


@pytest.mark.ci
def test_the_published_leg() -> None:
    """The errors of the accuracy study, and why: the belt for diagonal armature, the carriers for block armature."""
    model = load("mit_humanoid_leg")
    _, q, v, a = study.Sine(in_phase=True).states(model)
    diagonal = study.decompose(model, q, v, a)
    assert diagonal.level == "diagonal"
    knee, ankle = diagonal.names.index("knee"), diagonal.names.index("ankle")
    assert [f"{x:.3f}" for x in diagonal.rms["total"]] == ["0.196", "0.169", "0.341", "1.045", "0.826"]
    for joint in (knee, ankle):
        shares = {name: x[joint] for name, x in diagonal.share.items()}
        assert max(shares, key=lambda name: shares[name]) == "reflected, off-diagonal"
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-10)
    block = study.decompose(model, q, v, a, "block")
    assert [f"{x:.3f}" for x in block.rms["total"][[knee, ankle]]] == ["0.301", "0.070"]
    assert block.share["carrier on joint"][knee] > 0.9
    assert sum(block.overall.values()) == pytest.approx(1.0, abs=1e-10)


def test_shares_are_projections() -> None:
    total = np.array([[1.0, 0.0], [2.0, 0.0]])
    parts = {"one": np.array([[3.0, 1e-17], [0.0, 0.0]]), "two": np.array([[-2.0, 0.0], [2.0, 0.0]])}
    found = decomposition.Decomposition("r", "block", False, ("x", "y"), 5.0 * np.ones((2, 2)), total, parts)
    assert found.share["one"].tolist() == [0.6, 0.0]  # 3 of 5; nothing to share where the error is rounding
    assert found.share["two"].tolist() == [0.4, 0.0]
    assert found.overall == {"one": 0.6, "two": 0.4}
    assert found.rms["two"] == pytest.approx([2.0, 0.0])
    assert found.rms["total"] == pytest.approx([np.sqrt(2.5), 0.0])
    assert found.residual == pytest.approx(1e-17 / 5.0)


def test_exact_rungs_have_nothing_to_share() -> None:
    model = load("four_bar_change_point")  # a parallelogram: its coupling is the same everywhere
    q, v, a = states(model)
    found = study.decompose(model, q, v, a)
    assert found.level == "frozen"
    assert np.abs(found.total).max() < 1e-11
    assert all(not np.any(x) for x in found.share.values())
    assert set(found.overall.values()) == {0.0}


def test_one_state_and_names_of_a_base() -> None:
    model = load("tello", True)
    q, v, a = states(model, 1)
    found = study.decompose(model, q[0], v[0], a[0])
    assert found.level == "armature"
    assert found.total.shape == (1, model.nv)
    assert found.names[:7] == (*(f"root_joint[{i}]" for i in range(6)), model.independent_joints[1])
    report = found.as_dict()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert tuple(report["share"]) == study.PARTS == tuple(study.PART_LABELS)
    assert tuple(report["rms"]) == (*study.PARTS, "total")
    assert report["rotors"] == "locked into their carriers"
    assert study.decompose(model, q, v, a, drop_rotors=True).as_dict()["rotors"] == "dropped"


def test_chunks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load("mit_humanoid_leg")
    q, v, a = states(model, 7)
    whole = study.decompose(model, q, v, a, drop_rotors=True)
    monkeypatch.setattr(decomposition, "_CHUNK", 3)
    pieces = study.decompose(model, q, v, a, drop_rotors=True)
    for name in study.PARTS:
        assert np.allclose(whole.parts[name], pieces.parts[name], rtol=0.0, atol=1e-14)


def test_bad_arguments() -> None:
    model = load("mit_humanoid_leg")
    q, v, a = states(model)
    with raises(pc.ArgumentTypeError, "study.decompose model ClusterModel Model"):
        study.decompose(model.tree, q, v, a)  # type: ignore[arg-type]
    with raises(pc.UnknownNameError, "'frozen' 'none' 'diagonal' 'block'"):
        study.decompose(model, q, v, a, "frozen")
    with raises(pc.ShapeError, "v (4, 4) (4, nv) (4, 5)"):
        study.decompose(model, q, v[:, :4], a)
    with raises(pc.ShapeError, "a (3, 5) (4, nv)"):
        study.decompose(model, q, v, a[:3])
    with raises(pc.ShapeError, "q"):
        study.decompose(model, q[:0], v[:0], a[:0])
    with raises(pc.ArgumentTypeError, "q"):
        study.decompose(model, q.astype(str), v, a)
    elbow = pc.LinearCoupling("elbow_joint", {"shoulder2_joint": 1.0})
    arm = pc.ClusterModel(pin.buildSampleModelManipulator(), [elbow])
    zero = np.zeros(arm.nv)
    with raises(pc.ModelError, "'elbow_joint'"):
        study.decompose(arm, pc.neutral(arm), zero, zero)


@pytest.mark.ci
def test_the_page_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    script = importlib.import_module("report_decomposition")
    for name in ("report_decomposition", "report", "report_loops"):
        sys.modules.pop(name, None)  # other tests import their own
    monkeypatch.setattr(script, "STATES", 5)
    page = (root / "docs" / "measured" / "decomposition.md").read_text(encoding="utf-8")
    table, _, _ = script.example()
    # three digits of a sum over 10 000 samples are the same everywhere; the bound on the residual may not be
    assert table.split("\n\n")[1] in page
    assert "turns as a rigid body at 0.13 rad/s" in script.measures()
    assert "turns as a rigid body at 0.13 rad/s" in page


def test_against_projection_too() -> None:
    """``total`` is exact minus rung with the oracle's inverse dynamics as well."""
    model = load("tello", True)
    q, v, a = states(model, 2)
    space = baselines.projection.createData(model)
    level = approximations.of(model)["armature"]
    found = study.decompose(model, q, v, a, "armature")
    for i in range(len(q)):
        exact = baselines.projection.rnea(model, space, q[i], v[i], a[i])
        expected = exact - level.rnea(q[i], v[i], a[i])
        assert np.abs(sum(x[i] for x in found.parts.values()) - expected).max() < LOOPS * np.abs(exact).max()
