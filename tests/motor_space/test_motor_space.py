"""Between joints and motors: against the equations of the mechanisms, differences, brute force, and C."""

import copy
import ctypes
import itertools
import pickle
import shutil
import subprocess

import numpy as np
import pinocchio as pin
import pytest
from samples import linkages
from samples.linkages import FOOT_ENDS, PINS, SHANK_ENDS
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support.trees import slides
from pin_clusters.compiler.machine_code.function import Compiled
from pin_clusters.export.motor_space import MotorSpace

MOTORS = ("motor_1", "motor_2")


def rsu(pitch_first=True, rotors=False, branch=(1, 1), q=None):
    builder = linkages.ankle(1, pitch_first, cranks=True)
    pins = [builder.at(name, p) for name, p in zip(MOTORS, PINS, strict=True)]
    ends = [builder.at(builder.tree.names[-1], p) for p in FOOT_ENDS]
    more = [pc.Rotor(m, r, axial_inertia=2e-5, name=f"rotor:{m}") for m, r in zip(MOTORS, (8.0, -6.0), strict=True)]
    ankle = pc.Differential.ankle_2rsu(*MOTORS, "pitch", "roll", pins=pins, foot=ends, branch=branch)
    model = pc.ClusterModel(builder.tree, [ankle, *more] if rotors else [ankle], q)
    return model, ("roll", "pitch"), tuple(f"rotor:{m}" for m in MOTORS) if rotors else MOTORS


def push_rods():
    builder = linkages.ankle(2)
    shank = [builder.at("shank", p) for p in SHANK_ENDS]
    ends = [builder.at("roll", p) for p in FOOT_ENDS]
    ankle = pc.Differential.push_rod_ankle(*MOTORS, "pitch", "roll", shank=shank, foot=ends)
    return pc.ClusterModel(builder.tree, [ankle]), ("pitch", "roll"), MOTORS


def five_bar():
    tree, closure = linkages.five_bar(0)
    joints = ("crank_1", "coupler_1", "crank_2", "coupler_2")
    return pc.ClusterModel(tree, [pc.Differential.five_bar(*joints, closure)]), joints[:2], ("crank_1", "crank_2")


def four_bar(continuous=True):
    tree, closure = linkages.four_bar(0, continuous=continuous)
    return pc.ClusterModel(tree, [pc.FourBar("crank", "coupler", "rocker", closure)]), ("rocker",), ("crank",)


def shipped(name, joints, motors):
    return pc.load(name), tuple(joints.split()), tuple(motors.split())


SPACES = {
    "2-RSU": rsu, "rotors": lambda: rsu(False, True), "push rods": push_rods, "five-bar": five_bar,
    "four-bar": four_bar, "belts": lambda: shipped("mit_humanoid_leg", "knee ankle", "knee_rotor ankle_rotor"),
    "rods": lambda: shipped("ankle_2rsu", "ankle_pitch ankle_roll", "rotor:crank_left rotor:crank_right"),
    "Tello, hip": lambda: shipped(
        "tello", "left_hip_roll left_hip_pitch", "left_hip_rotor_1 left_hip_rotor_2"
    ),
    "Tello, knee": lambda: shipped(
        "tello", "left_knee left_ankle", "left_knee_ankle_rotor_1 left_knee_ankle_rotor_2"
    ),
    "Digit": lambda: shipped("digit_leg", "toe_pitch toe_roll", "crank_1 crank_2"),
    "Cassie": lambda: shipped("cassie_leg", "foot", "rotor:foot"),
    "delta": lambda: shipped("delta", "platform_x platform_y platform_z", "arm_1 arm_2 arm_3"),
}  # fmt: skip
DAILY = ("2-RSU", "rotors", "belts")
LISTED = [pytest.param(x, marks=() if x in DAILY else pytest.mark.ci) for x in SPACES]
_made = {}


def space_of(label):
    if label not in _made:
        region = [(-0.08, 0.08)] * 3 if label == "delta" else None
        _made[label] = MotorSpace(*SPACES[label](), region=region)
    return _made[label]


def inner(space, rng, count=4):
    """Poses of the region, apart from its border."""
    middle = space.poses.mean(axis=0)
    return middle + 0.6 * (space.poses[rng.integers(len(space.poses), size=count)] - middle)


def differences(function, x, h=1e-6):
    return np.stack([(function(x + h * e) - function(x - h * e)) / (2.0 * h) for e in np.eye(len(x))], axis=-1)


def positions(space, q):
    m = space.mechanism
    return m.values(m.joints, q), m.ratios @ m.values(m.drivers, q)


@pytest.mark.parametrize("label", LISTED)
def test_maps_close_the_mechanism_both_ways(label):
    space = space_of(label)
    x = space.poses
    theta, q = space.inverse(x), space.configuration(x)
    assert np.abs(space.forward(theta) - x).max() < 1e-11
    for row in range(0, len(x), 17):
        assert np.abs(pc.residual(space.mechanism.model, q[row])).max(initial=0.0) < 1e-12
        joints, motors = positions(space, q[row])
        assert np.abs(joints - x[row]).max() < 1e-12
        assert np.abs(motors - theta[row]).max() < 1e-12
        assert np.abs(space.inverse(x[row]) - theta[row]).max() < 1e-13


@pytest.mark.parametrize("label", LISTED)
def test_derivatives_against_differences(label, rng):
    space = space_of(label)
    n = len(space.joints)
    for x in inner(space, rng):
        J, H = space.jacobian(x), space.hessian(x)
        assert np.allclose(J, differences(space.inverse, x), rtol=1e-6, atol=1e-6 * np.abs(J).max())
        assert np.allclose(H, differences(space.jacobian, x), rtol=1e-5, atol=1e-5 * max(1.0, np.abs(J).max()))
        v, a, tau = rng.normal(size=(3, n))
        assert np.allclose(space.joint_velocity(x, space.motor_velocity(x, v)), v, atol=1e-11)
        rate = (space.jacobian(x + 1e-6 * v) - space.jacobian(x - 1e-6 * v)) @ v / 2e-6
        scale = 1e-5 * max(1.0, np.abs(J).max())
        assert np.allclose(space.motor_acceleration(x, v, a), J @ a + rate, rtol=1e-5, atol=scale)
        motor = space.motor_torque(x, tau)
        assert np.allclose(space.joint_torque(x, motor), tau, atol=1e-11)
        assert np.isclose(motor @ space.motor_velocity(x, v), tau @ v)  # power


@pytest.mark.parametrize("label", LISTED)
def test_gains_against_differences_of_the_law_of_torque(label, rng):
    space = space_of(label)
    n = len(space.joints)
    x, tau, K = inner(space, rng, 1)[0], rng.normal(size=n), rng.uniform(20.0, 60.0, n)
    gains = space.joint_to_motor_gains(x, K, 2.0, tau)
    theta, motor, J = space.inverse(x), space.motor_torque(x, tau), space.jacobian(x)

    def at_joints(y):  # of a controller at the motors
        return space.joint_torque(y, motor - gains.stiffness @ (space.inverse(y) - theta))

    assert np.allclose(differences(at_joints, x, 1e-5), -np.diag(K), atol=1e-4 * K.max())
    assert np.allclose(J.T @ gains.damping @ J, 2.0 * np.eye(n))
    back = space.motor_to_joint_gains(x, gains.stiffness, gains.damping, tau)
    assert np.allclose(back[0], np.diag(K))
    assert np.allclose(back[1], 2.0 * np.eye(n))
    bent = np.tensordot(motor, space.hessian(x), 1)

    def off(k):
        return np.linalg.norm(J.T @ np.diag(k) @ J - bent - np.diag(K)) / np.linalg.norm(K)

    assert np.isclose(off(gains.diagonal_stiffness), gains.lost_stiffness, atol=1e-9)
    for k in gains.diagonal_stiffness * rng.uniform(0.9, 1.1, (20, n)):  # none nearby is better
        assert off(k) >= gains.lost_stiffness - 1e-12


@pytest.mark.parametrize("label", LISTED)
def test_polygons_against_support_functions(label, rng):
    space = space_of(label)
    n = len(space.joints)
    limits = np.stack([-rng.uniform(1.0, 2.0, n), rng.uniform(1.0, 2.0, n)], axis=1)
    for x in inner(space, rng):
        J = space.jacobian(x)
        for corners, M in ((space.torque_polygon(x, limits), J.T), (space.speed_polygon(x, limits), np.linalg.inv(J))):
            assert corners.shape == (2**n, n)
            for way in rng.normal(size=(20, n)):
                along = way @ M
                best = sum(max(a * low, a * high) for a, (low, high) in zip(along, limits, strict=True))
                assert np.isclose((corners @ way).max(), best)
            if n == 2:  # in turn, counter-clockwise
                edges = np.diff(np.vstack([corners, corners[:2]]), axis=0)
                assert all(a[0] * b[1] - a[1] * b[0] > 0.0 for a, b in itertools.pairwise(edges))
    assert np.allclose(space.torque_polygon(x[None], limits)[0], space.torque_polygon(x, limits))


@pytest.mark.parametrize("label", LISTED)
def test_boxes_of_limits_hold_and_cannot_grow(label, rng):
    space = space_of(label)
    n = len(space.joints)
    limit, x = rng.uniform(1.0, 2.0, n), inner(space, rng, 6)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=n)))
    box = space.safe_limits(x, limit)
    used = np.abs([space.motor_torque(x, np.tile(s * box, (len(x), 1))) / limit for s in signs])
    assert np.isclose(used.max(), 1.0)
    for sides in box * rng.uniform(0.8, 1.25, (50, n)):  # none of a larger volume holds
        if sides.prod() > 1.001 * box.prod():
            assert max(np.abs(space.motor_torque(x, s * sides) / limit).max() for s in signs) > 1.0
    one = space.limits(x[0], limit)
    assert np.isclose(max(np.abs(space.motor_torque(x[0], s * one) / limit).max() for s in signs), 1.0)
    speeds = space.safe_limits(x, limit, speed=True)
    assert np.isclose(max(np.abs(space.motor_velocity(x, s * speeds) / limit).max() for s in signs), 1.0)


def test_limits_come_from_the_file_or_a_function_of_speed():
    model = pc.load("digit_leg")
    space = MotorSpace(model, ["toe_pitch", "toe_roll"], ["crank_1", "crank_2"])
    x = space.poses[len(space.poses) // 2]
    given = space.torque_polygon(x, lambda w: 5.0 - np.abs(w), np.array([1.0, 2.0]))
    assert np.allclose(given, space.torque_polygon(x, [4.0, 3.0]))
    effort = model.own_tree.effortLimit[[model.own_tree.idx_vs[model.getJointId(f"crank_{i}")] for i in (1, 2)]]
    if np.all((effort > 0.0) & (effort < 1e6)):
        assert np.allclose(space.torque_polygon(x), space.torque_polygon(x, effort))
    with raises(pc.ArgumentTypeError, "1.0 2.0"):
        space.torque_polygon(x, [[1.0, 2.0], [-1.0, 1.0]])
    with raises(pc.ArgumentTypeError, "limits (2,)"):
        space.torque_polygon(x, [1.0, 2.0, 3.0])


def test_a_rotor_counts_at_its_shaft():
    bare, geared = space_of("2-RSU"), MotorSpace(*rsu(True, True))
    x = np.array([0.05, -0.1])
    assert np.allclose(geared.inverse(x), np.array([8.0, -6.0]) * bare.inverse(x))
    assert np.allclose(geared.motor_torque(x, [1.0, 2.0]), bare.motor_torque(x, [1.0, 2.0]) / [8.0, -6.0])


def test_all_branches_and_the_nearest_one():
    space = space_of("2-RSU")
    x = np.array([0.05, -0.1])
    found = space.branches(x)
    assert len(found) == 4
    assert np.allclose(found[0], space.inverse(x))
    for theta in found:
        assert np.allclose(space.inverse(x, near=theta + 0.01), theta)


def test_the_first_branch_is_that_of_the_reference_pose():
    model, joints, motors = rsu()
    other = MotorSpace(model, joints, motors).branches(np.zeros(2))[1]
    q = np.array(model.q_reference)
    for name, x in zip((*joints, *motors), (0.0, 0.0, *other), strict=True):
        q[model.own_tree.idx_qs[model.getJointId(name)]] = x
    turned = MotorSpace(*rsu(branch=(1, -1), q=q))
    assert np.allclose(turned.inverse(np.zeros(2)), other)
    assert np.abs(turned.forward(turned.inverse(turned.poses)) - turned.poses).max() < 1e-11


@pytest.mark.parametrize("label", ["2-RSU", "four-bar"])
def test_beyond_a_dead_centre_there_is_no_number(label):
    space = space_of(label)
    m, refused = space.mechanism, []
    start = m.values(m.joints, m.model.q_reference)
    for far in np.linspace(0.0, 3.0, 301):
        try:
            theta, q = space.inverse(start + far), space.configuration(start + far)
        except (pc.BranchLost, pc.SingularClusterError) as error:
            refused.append(error)
        else:  # where there is one, it is closed and on the branch
            assert np.abs(pc.residual(m.model, q)).max() < 1e-8
            assert np.allclose(positions(space, q)[1], theta)
    words = [str(x) for x in refused if isinstance(x, pc.SingularClusterError)]
    assert words
    assert all(
        f"{space.joints[0]} " in text and "at or beyond a dead centre" in text and "condition" in text for text in words
    )


def answer(call):
    """Return the numbers of a call, or None where it is refused."""
    try:
        return call()
    except (pc.BranchLost, pc.SingularClusterError):
        return None


def far_poses(space, rng, count):
    """Poses around the reference pose, most of them beyond dead centres or out of reach."""
    m = space.mechanism
    wide = [0.3 if slides(m.model.own_tree, j) else 3.2 for j in m.joints]
    return m.values(m.joints, m.model.q_reference) + rng.uniform(-1.0, 1.0, (count, len(wide))) * wide


@pytest.mark.parametrize("label", [pytest.param(x, marks=() if x == "four-bar" else pytest.mark.ci) for x in SPACES])
def test_all_maps_refuse_the_same_poses_beyond_dead_centres(label, rng):
    """Where they answer, the motors lead back to the same pose, and det J has not changed its sign."""
    space = space_of(label)
    n, answered = len(space.joints), 0
    first = np.linalg.det(
        space.jacobian(space.mechanism.values(space.mechanism.joints, space.mechanism.model.q_reference))
    )
    x = np.concatenate([far_poses(space, rng, 150), space.poses[:: max(1, len(space.poses) // 30)]])
    given = np.ones(n)
    for one in x:
        theta = answer(lambda one=one: space.inverse(one))
        calls = (
            space.configuration, space.jacobian, space.hessian,
            lambda x: space.motor_velocity(x, given), lambda x: space.joint_velocity(x, given),
            lambda x: space.motor_torque(x, given), lambda x: space.joint_torque(x, given),
            lambda x: space.torque_polygon(x, given), lambda x: space.speed_polygon(x, given),
            lambda x: space.limits(x, given), lambda x: space.joint_to_motor_gains(x, 1.0, 1.0, given),
        )  # fmt: skip
        assert {(answer(lambda call=call, one=one: call(one)) is None) for call in calls} == {theta is None}
        if theta is not None:
            answered += 1
            back = answer(lambda theta=theta: space.forward(theta))
            assert back is None or np.abs(back - one).max() < 1e-5
            J = differences(lambda x: space._compiled("inverse").program(x)[0], one)
            assert np.linalg.det(J) * first > 0.0
    assert answered >= 20


def test_newtons_method_does_not_answer_far_from_its_guess():
    """Its steps may end, by accident, where loops close after many turns."""
    space = MotorSpace(pc.load("ankle_2rsu"), ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
    for x in ([0.496, 2.57], [1.848, -3.11], [1.4910239608562583, -1.390185861501868]):
        assert answer(lambda x=x: space.inverse(x)) is None
    bar = MotorSpace(pc.load("four_bar"), ["rocker"], ["crank"])
    theta = [answer(lambda x=x: bar.inverse([x])) for x in np.linspace(-3.2, 3.2, 4001)]
    assert max(abs(x[0]) for x in theta if x is not None) < np.pi
    with raises(pc.BranchLost, "ankle_pitch 2.03 region= Newton's"):
        space.inverse([2.03, 0.06])


@pytest.mark.parametrize("label", ["2-RSU", pytest.param("rods", marks=pytest.mark.ci)])
def test_a_copy_is_made_of_what_the_space_was_made_of(label):
    space = space_of(label)
    x = space.poses[len(space.poses) // 3]
    for other in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space), copy.copy(space)):
        assert (other.joints, other.motors, other.region.tolist()) == (
            space.joints, space.motors, space.region.tolist()
        )  # fmt: skip
        assert np.abs(other.inverse(x) - space.inverse(x)).max() < 1e-12
        assert np.abs(other.forward(space.inverse(x)) - x).max() < 1e-11


def test_a_motor_at_its_dead_centre_is_named():
    space = space_of("four-bar")
    with raises(pc.SingularClusterError, "'crank'"):
        [space.inverse([x]) for x in np.linspace(0.0, 0.5, 200)]


REFUSED = [
    (dict(joints=["roll"]), pc.ModelError, "2"),
    (dict(joints=["roll", "roll"]), pc.ModelError, "'roll' MotorSpace"),
    (dict(joints=["roll", "shank"]), pc.ModelError, "'shank'"),
    (dict(joints=["roll", "pich"]), pc.UnknownNameError, "'pitch'"),
    (dict(joints="roll"), pc.ArgumentTypeError, "'roll'"),
    (dict(motors=["motor_1", "rotor:motor_1"]), pc.ModelError, "1"),
    (dict(region=[(0.0, 1.0)]), pc.ConfigurationError, "region"),
    (dict(region="x"), pc.ArgumentTypeError, "region"),
    (dict(region=[(0.0, 1.0), (0.0,)]), pc.ArgumentTypeError, "region"),
    (dict(region=[(0.0, 1.0), (0.0, np.inf)]), pc.ConfigurationError, "region inf"),
    (dict(region=[(8.0, 9.0), (8.0, 9.0)]), pc.ConfigurationError, "'motor_1' 'motor_2' 'pitch'"),
]


@pytest.mark.parametrize(("change", "error", "words"), REFUSED)
def test_what_does_not_fit_is_refused(change, error, words):
    model, joints, _ = rsu(True, True)
    given = dict(joints=joints, motors=MOTORS) | change
    with raises(error, words):
        MotorSpace(model, given.pop("joints"), given.pop("motors"), **given)


def test_bad_poses_are_refused():
    space = space_of("2-RSU")
    for x, error in (([0.1], pc.ShapeError), ([[0.1]], pc.ShapeError), ("ab", pc.ArgumentTypeError),
                     ([np.nan, 0.0], pc.ConfigurationError), (np.zeros((2, 2, 2)), pc.ShapeError)):  # fmt: skip
        with pytest.raises(error):
            space.inverse(x)
    with raises(pc.SingularClusterError, "1"):
        space.inverse([[0.0, 0.0], [2.5, 0.0]])
    with raises(pc.ShapeError, "stiffness"):
        space.joint_to_motor_gains([0.0, 0.0], np.ones(3))


def test_the_static_map_lacks_rotors_and_cranks():
    model, joints, motors = rsu(True, True)
    space = MotorSpace(model, joints, motors)
    t = np.linspace(0.0, 1.0, 200)
    slow = 0.2 * np.stack([np.sin(0.01 * t), np.cos(0.013 * t)], axis=1)
    fast = 0.2 * np.stack([np.sin(20.0 * t), np.cos(13.0 * t)], axis=1)
    assert space.static_map_error(t, fast).rms > 5.0
    # cranks without mass, rotors without inertia: then nothing is missing
    light = model.own_tree.copy()
    for name in MOTORS:
        light.inertias[light.getJointId(name)] = pin.Inertia.Zero()
    bare = MotorSpace(
        pc.ClusterModel(light, [c for c in model.constraints if not isinstance(c, pc.Rotor)]), joints, MOTORS
    )
    assert bare.static_map_error(t, fast).worst < 1e-6
    assert bare.static_map_error(t, slow, tau=np.ones((200, 2))).worst < 1e-6
    # by motors as independent joints, as pc.with_independent has it
    other, change = pc.with_independent(model, MOTORS)
    rng, q = np.random.default_rng(0), space.configuration(fast)
    v, a = rng.normal(size=(2, len(t), model.nv))
    found = space.static_map_error(t, q=q, v=v, a=a)
    for i in (0, 99):
        speeds = change.velocity_to_new(q[i], v[i]), change.acceleration_to_new(q[i], v[i], a[i])
        tau = pc.rnea(other, other.createData(), q[i], *speeds)
        driven = [other.joint_idx_v(name) for name in MOTORS]
        assert np.allclose(found.exact[i], tau[driven] / [8.0, -6.0])
    with raises(pc.ArgumentTypeError, "q v"):
        space.static_map_error(t, fast, q=q)
    with raises(pc.ShapeError):
        space.static_map_error(t[::-1], fast)


def test_programs_of_many_zeros_do_not_end_the_process():
    model = pc.load("tello")
    G = Compiled(pc.trace(model, "coupling_jacobian"))(np.tile(model.q_reference, (20, 1)))
    assert np.allclose(G[0], pc.coupling_jacobian(model, model.createData(), model.q_reference))


@pytest.mark.ci
@pytest.mark.parametrize(
    "label", ["2-RSU", "Digit", "belts", *(pytest.param(x, marks=pytest.mark.long) for x in ("five-bar", "delta"))]
)
def test_c_has_the_same_numbers(label, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no compiler")
    space = space_of(label)
    n, model = len(space.joints), space.mechanism.model
    exported = pc.codegen.export(model, tmp_path, space.programs, name=f"n{len(label)}")
    files = [f"{exported.name}.c", f"test/{exported.name}_test.c"]
    subprocess.run(["cc", "-O2", "-std=c99", *files, "-o", "tested", "-lm"], cwd=tmp_path, check=True)
    subprocess.run(["./tested"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", files[0], "-o", "lib.so", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "lib.so"))
    rng, x = np.random.default_rng(0), np.ascontiguousarray(space.poses[len(space.poses) // 3])
    tau, limit, K, D = rng.normal(size=n), rng.uniform(1.0, 2.0, n), np.diag(rng.uniform(1.0, 2.0, n)), np.eye(n)
    gains = space.joint_to_motor_gains(x, K, D, tau)
    for name, given, wanted in (
        ("inverse", (x,), (space.inverse(x),)), ("forward", (space.inverse(x),), (x,)),
        ("jacobian", (x,), (space.jacobian(x),)), ("torque", (x, tau), (space.motor_torque(x, tau),)),
        ("joint_torque", (x, tau), (space.joint_torque(x, tau),)), ("limits", (x, limit), (space.limits(x, limit),)),
        ("gains", (x, K, D, tau), (gains.stiffness, gains.damping)),
    ):  # fmt: skip
        out, status = [np.empty(w.shape) for w in wanted], np.empty(4)
        arrays = [*given, *out, status]
        getattr(library, f"{exported.name}_{name}")(*(ctypes.c_void_p(y.ctypes.data) for y in arrays))
        assert status[0] < 1e-9
        assert (status[1:] > 0.0).all()
        for got, right in zip(out, wanted, strict=True):
            assert np.abs(got - right).max() <= 1e-12 * max(1.0, np.abs(right).max()), name
    status, theta, inverse = np.empty(4), np.empty(n), getattr(library, f"{exported.name}_inverse")
    for one in far_poses(space, rng, 500):
        inverse(*(ctypes.c_void_p(y.ctypes.data) for y in (one, theta, status)))
        sound = bool(status[0] < 1e-9 and (status[1:] > 1e-6).all())
        assert sound == (answer(lambda one=one: space.inverse(one)) is not None)


def test_motors_that_are_stated_limit_the_joints() -> None:
    given = pc.load("ankle_2rsu")
    motor = pc.Motor(peak_torque=1.5, voltage=24.0, torque_constant=0.05, resistance=0.4)
    model = pc.ClusterModel(
        given.own_tree, [*given.constraints, *(motor.on(r.name) for r in given.motors)], given.q_reference
    )
    names = [r.name for r in model.motors]
    ankle = pc.MotorSpace(model, ["ankle_pitch", "ankle_roll"], names)
    x = np.array([0.1, -0.05])
    np.testing.assert_array_equal(ankle.torque_polygon(x), ankle.torque_polygon(x, np.full(2, 1.5)))
    # k (V - k w) / R where it drives, at 400 rad/s 0.5 N m; against it as much as its peak
    falling = np.array([[-1.5, 0.5], [-1.5, 1.5]])
    np.testing.assert_allclose(
        ankle.torque_polygon(x, speed=np.array([400.0, 0.0])), ankle.torque_polygon(x, falling), rtol=1e-12
    )
    np.testing.assert_array_equal(ankle.speed_polygon(x), ankle.speed_polygon(x, np.full(2, 480.0)))
