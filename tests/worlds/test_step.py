"""A traced step against ``pc.simulate``, whose contacts Pinocchio or the compiled kernel solves to rounding.

The tolerance of a comparison is the convergence of the sweeps: with 200 sweeps, the violation of the contact laws is
below 1e-9 m/s in these states, and joint speeds are at most 1e3 times a contact speed over the length of a leg.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from worlds.robots import GAINS, Robot, robot, states

import pin_clusters as pc

H = 1e-3


def step_of(program: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    outputs = program(*(inputs[name] for name, _ in program.inputs))
    return dict(zip([name for name, _ in program.outputs], outputs, strict=True))


def compare(of: Robot, ground: pc.Ground, tolerance: float, sweeps: int = 100, **options: Any) -> int:
    """Compare one step from every state of a landing with the next state; return how many points push.

    ``pc.simulate`` moves a point out of the ground in the middle of the next step, a traced step at the end of the same
    step. After an impact of several points, a point is up to 0.1 mm below the ground, so the next step differs by that
    length over the length of a leg, times the joint speeds: below 1e-2. All other steps agree to the convergence of the
    sweeps.
    """
    options = {"passive": False} | options
    program = pc.trace(of.model, "step", ground=ground, touching=of.feet, dt=H, sweeps=sweeps, **options)
    q, v = states(of, 1, ground)
    tau = 0.2 * np.random.default_rng(3).standard_normal(of.model.nv)
    exact = pc.simulate(of.model, q[0], v[0], tau, 30 * H, H, ground=ground, touching=of.feet, **options)
    n = len(exact.q) - 1
    inputs = {"q": exact.q[:-1], "v": exact.v[:-1], "tau": np.tile(tau, (n, 1))}
    result = step_of(program, inputs | {"last": np.zeros((n, dict(program.inputs)["last"]))})
    impulses = result["impulses"].reshape(n, -1, 3)
    errors = [
        np.abs(result["v_next"] - exact.v[1:]).max(axis=1),
        np.abs(result["q_next"] - exact.q[1:]).max(axis=1),
        np.abs(impulses.sum(axis=1) - exact.contact_impulses[:n].sum(axis=1)).max(axis=1) / 10.0,
    ]
    worst = np.max(errors, axis=0)
    assert np.quantile(worst, 0.8) < tolerance, worst
    assert worst.max() < 1e-2, worst
    return int((impulses @ np.array(ground.normal) > 0.0).sum())


@pytest.mark.parametrize("name", ["mini_cheetah", pytest.param("tello", marks=pytest.mark.ci)])
def test_a_step_is_the_step_of_simulate(name: str) -> None:
    assert compare(robot(name), pc.Ground(friction=0.6), 1e-5) >= 10


@pytest.mark.ci
def test_a_sloped_ground_and_balls() -> None:
    of, ground = robot("mini_cheetah"), pc.Ground(friction=0.5, normal=(0.1, -0.05, 1.0), height=0.01)
    feet = pc.contact_points(of.model, ["FL_foot", "FR_foot", "HL_foot", "HR_foot"], radius=0.02)
    assert compare(Robot(of.model, feet, of.q), ground, 1e-6) >= 10


@pytest.mark.ci
def test_springs_and_friction() -> None:
    of, ground = robot("cassie"), pc.Ground(friction=0.6)
    assert compare(of, ground, 1e-6, passive=True) >= 3


@pytest.mark.parametrize(
    ("name", "joint", "side"),
    [
        ("mini_cheetah", "FL_knee", 1.0),
        pytest.param("mini_cheetah", "FL_knee", -1.0, marks=pytest.mark.long),
        pytest.param("mit_humanoid", "left_ankle_rotor", 1.0, marks=pytest.mark.ci),  # two joints move this rotor
        pytest.param("cassie", "left_tarsus", -1.0, marks=pytest.mark.ci),  # a joint inside a closed loop
    ],
)
def test_stops_push_back(name: str, joint: str, side: float) -> None:
    """A joint that moves into its upper (1) or lower (-1) position limit stops there, as in ``pc.simulate``.

    The limit is 2 mrad away, and without it the joint would move by 3 mrad. The tolerance is the convergence of the
    sweeps.
    """
    of = robot(name)
    tree, q = of.model.tree.copy(), np.array(of.q)
    iq, column = (getattr(tree.joints[of.model.getJointId(joint)], x) for x in ("idx_q", "idx_v"))
    limits = np.array(tree.lowerPositionLimit), np.array(tree.upperPositionLimit)
    for limit, sign in zip(limits, (-1.0, 1.0), strict=True):
        limit[:] = sign * 1e3
        limit[iq] = q[iq] + sign * (2e-3 if sign == side else 1.0)
    tree.lowerPositionLimit, tree.upperPositionLimit = limits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        limited = pc.ClusterModel(tree, of.model.constraints)
    program = pc.trace(limited, "step", dt=H, sweeps=100, limits="position", passive=False)
    row = pc.coupling_jacobian(limited, limited.createData(), q)[column]
    v = side * 3.0 * row / (row @ row)
    inputs = {"q": q, "v": v, "tau": np.zeros(limited.nv), "last": np.zeros(dict(program.inputs)["last"])}
    result = step_of(program, inputs)
    exact = pc.simulate(limited, q, v, None, H, H, limits="position", passive=False)
    assert abs(row @ exact.v[-1]) < 2.5
    np.testing.assert_allclose(result["v_next"], exact.v[-1], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(result["q_next"], exact.q[-1], rtol=0.0, atol=1e-8)


@pytest.mark.ci
def test_more_sweeps_violate_the_laws_less() -> None:
    of, ground = robot("mini_cheetah"), pc.Ground(friction=0.8)
    q, v = states(of, 32, above=0.0)
    worst = []
    for sweeps in (2, 5, 10, 20):
        program = pc.trace(of.model, "step", ground=ground, touching=of.feet, dt=2e-3, sweeps=sweeps)
        zeros = np.zeros((32, of.model.nv))
        worst.append(step_of(program, {"q": q, "v": v, "tau": zeros, "last": np.zeros((32, 12))})["violation"].max())
    assert worst == sorted(worst, reverse=True)
    assert worst[-1] < 1e-3 < worst[0]


@pytest.mark.ci
def test_sliding_feet_with_redundant_points_converge() -> None:
    """Soles with four points slide; at most 8 % of the states may keep a violation after 40 sweeps.

    The share is 5 %. It is 11 % if sliding points change only their normal impulse first, because such points then
    oscillate, and 14 % without extrapolation.
    """
    of, n = robot("mit_humanoid"), 64
    program = pc.trace(of.model, "step", ground=pc.Ground(0.8), touching=of.feet, dt=2e-3, sweeps=40)
    q, v = states(of, n, above=0.0)
    v[:, 0] = 1.0
    inputs = {"q": q, "v": v, "tau": np.zeros((n, of.model.nv)), "last": np.zeros((n, 24))}
    assert (step_of(program, inputs)["violation"] > 1e-9).mean() < 0.08


def test_impulses_obey_the_laws() -> None:
    """Friction cone, no pull, no sinking, and dissipation, evaluated from the outputs with Pinocchio's Jacobians."""
    import pinocchio as pin

    of, mu, h = robot("mini_cheetah"), 0.4, 2e-3
    program = pc.trace(of.model, "step", ground=pc.Ground(mu), touching=of.feet, dt=h, sweeps=300)
    q, v = states(of, 8, above=0.0)
    v[:, :2] = 1.0  # the feet slide
    zeros = np.zeros((8, of.model.nv))
    result = step_of(program, {"q": q, "v": v, "tau": zeros, "last": np.zeros((8, 12))})
    slides = 0
    for i in range(8):
        impulses = result["impulses"][i].reshape(-1, 3)
        middle = pc.integrate(of.model, q[i], 0.5 * h * v[i])
        tree, data = of.model.own_tree, of.model.own_tree.createData()
        pin.computeJointJacobians(tree, data, middle)
        G = pc.coupling_jacobian(of.model, of.model.createData(), middle)
        assert (impulses[:, 2] >= 0.0).all()
        assert (np.hypot(impulses[:, 0], impulses[:, 1]) <= mu * impulses[:, 2] + 1e-9).all()
        for p, (joint, place) in enumerate(zip(of.feet.joints.tolist(), of.feet.places, strict=True)):
            J = pin.getJointJacobian(tree, data, joint, pin.LOCAL_WORLD_ALIGNED)
            arm = data.oMi[joint].rotation @ place
            u = (J[:3] - np.cross(arm, J[3:].T).T) @ G @ result["v_next"][i]
            gap = (data.oMi[joint].translation + arm)[2]
            assert abs(gap - result["gaps"][i, p]) < 1e-12
            assert u[2] + max(gap, 0.0) / h > -1e-6
            if impulses[p, 2] > 1e-6 and np.hypot(*u[:2]) > 1e-4:  # sliding: on the cone, against the motion
                slides += 1
                assert abs(np.hypot(*impulses[p, :2]) - mu * impulses[p, 2]) < 1e-6
                assert impulses[p, :2] @ u[:2] < 0.0
    assert slides > 3


@pytest.mark.parametrize("kp", [0.0, 50.0, 1e6])
def test_a_drive_is_implicit(kp: float) -> None:
    """The drive satisfies tau = kp (target - q - h v_next) - kd v_next, and M is the mass matrix without the drive."""
    of, kd = robot("mini_cheetah"), 2.0
    program = pc.trace(of.model, "step", dt=H, drive=pc.Drive(kp, kd))
    q, v = states(of, 3)
    target = np.tile(of.q[[7, 8, 9, 13, 14, 15, 19, 20, 21, 25, 26, 27]], (3, 1)) + 0.1
    result = step_of(program, {"q": q, "v": v, "target": target})
    iq = [of.model.own_tree.joints[of.model.getJointId(x)].idx_q for x in of.model.independent_joints[1:]]
    tau, after = result["tau_applied"][:, 6:], result["v_next"][:, 6:]
    expected = kp * (target - q[:, iq] - H * v[:, 6:]) - kd * v[:, 6:] - (kd + H * kp) * (after - v[:, 6:])
    np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9 * max(1.0, kp))
    assert np.isfinite(result["v_next"]).all()


def test_torque_limits_of_motors() -> None:
    of = robot("mini_cheetah")
    program = pc.trace(of.model, "step", dt=H, drive=pc.Drive(1e4, 1.0, limit="motor"), parameters="strength")
    q, v = states(of, 3)
    target, strength = np.full((3, 12), 3.0), np.ones((3, 12))
    strength[1] = 0.5
    result = step_of(program, {"q": q, "v": 0.0 * v, "target": target, "strength": strength})
    limits = np.array(of.model.own_tree.effortLimit)[of.model.idx_v_independent][6:]
    assert (np.abs(result["tau_applied"][:, 6:]) <= strength * limits * (1.0 + 1e-12)).all()
    for i in range(3):
        tau = np.clip(1e4 * (target[i] - 0.0), -strength[i] * limits, strength[i] * limits)
        exact = pc.simulate(of.model, q[i], 0.0 * v[i], np.r_[np.zeros(6), tau], H, H, limits="effort")
        np.testing.assert_allclose(result["v_next"][i], exact.v[-1], rtol=0.0, atol=1e-9)


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", ["inertial", *(pytest.param(x, marks=pytest.mark.long) for x in ("gravity", "friction", "gains"))]
)
def test_parameters_as_inputs(name: str) -> None:
    """With the model's own values, an input changes nothing; with other values, it gives the other model's step."""
    of, drive = robot("mini_cheetah"), pc.Drive(*GAINS["mini_cheetah"])
    options = {"touching": of.feet, "dt": H, "sweeps": 50}
    plain = pc.trace(of.model, "step", ground=pc.Ground(0.8), drive=drive, **options)
    program = pc.trace(of.model, "step", ground=pc.Ground(0.8), drive=drive, parameters=name, **options)
    q, v = states(of, 3)
    inputs = {"q": q, "v": v, "target": np.zeros((3, 12)), "last": np.zeros((3, 12))}
    own: dict[str, np.ndarray] = {"friction": np.array([0.8]), "kp": np.full(12, 40.0), "kd": np.full(12, 1.0)}
    if name in ("gravity", "inertial"):
        own[name] = pc.tracing.values_of(of.model, name)
    same = step_of(program, inputs | {key: np.tile(x, (3, 1)) for key, x in own.items()})
    np.testing.assert_allclose(same["v_next"], step_of(plain, inputs)["v_next"], rtol=0.0, atol=1e-9)
    others = {
        "gravity": ({"gravity": np.array([0.5, 0.0, -3.0])}, {"model": of.model.with_gravity([0.5, 0.0, -3.0])}),
        "inertial": (
            {"inertial": 1.3 * pc.parameters(of.model)[0]},
            {"model": pc.with_parameters(of.model, 1.3 * pc.parameters(of.model)[0])},
        ),
        "friction": ({"friction": np.array([0.1])}, {"ground": pc.Ground(0.1)}),
        "gains": ({"kp": np.full(12, 5.0), "kd": np.full(12, 3.0)}, {"drive": pc.Drive(5.0, 3.0)}),
    }
    values, changed = others[name]
    arguments = {"model": of.model, "ground": pc.Ground(0.8), "drive": drive} | changed
    other = pc.trace(arguments.pop("model"), "step", **arguments, **options)
    varied = step_of(program, inputs | {key: np.tile(x, (3, 1)) for key, x in (own | values).items()})
    expected = step_of(other, inputs)
    np.testing.assert_allclose(varied["v_next"], expected["v_next"], rtol=0.0, atol=1e-9)
    assert np.abs(varied["v_next"] - same["v_next"]).max() > 1e-3


def test_a_wrench_on_the_base() -> None:
    """A force on the base acts as in ``aba`` with external forces, which are given in joint frames."""
    import pinocchio as pin

    of = robot("mini_cheetah")
    program = pc.trace(of.model, "step", dt=1e-6, parameters="wrench")
    q, v = states(of, 1)
    wrench = np.array([30.0, -20.0, 10.0, 1.0, 2.0, -3.0])
    result = step_of(program, {"q": q[0], "v": v[0], "tau": np.zeros(of.model.nv), "wrench": wrench})
    R = pin.Quaternion(*q[0][[6, 3, 4, 5]]).toRotationMatrix()
    fext = [pin.Force.Zero() for _ in range(of.model.njoints)]
    fext[1] = pin.Force(R.T @ wrench[:3], R.T @ wrench[3:])
    a = pc.aba(of.model, of.model.createData(), q[0], v[0], np.zeros(of.model.nv), fext)
    # the step of 1e-6 s is shorter than the time in which the acceleration changes by 1e-4
    np.testing.assert_allclose((result["v_next"] - v[0]) / 1e-6, a, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sweeps": 0}, pc.ArgumentTypeError),
        ({"sweeps": 10**6}, pc.SimulationError),
        ({"dt": -1.0}, pc.SimulationError),
        ({"dt": float("nan")}, pc.SimulationError),
        ({"drive": 3}, pc.ArgumentTypeError),
        ({"parameters": "nope"}, pc.UnknownNameError),
        ({"parameters": "gains"}, pc.ArgumentTypeError),
        ({"ground": pc.Ground(), "touching": ["nope"]}, pc.UnknownNameError),
        ({"frames": ["FL_foot"]}, pc.ArgumentTypeError),
        ({"drive": pc.Drive(1.0, joints=["nope"])}, pc.UnknownNameError),
        ({"drive": pc.Drive([1.0, 2.0])}, pc.ShapeError),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        pc.trace(robot("mini_cheetah").model, "step", **options)


@pytest.mark.parametrize("arguments", [{"kp": -1.0}, {"kd": float("nan")}, {"limit": "nope"}])
def test_bad_drives(arguments: dict[str, Any]) -> None:
    with pytest.raises(pc.SimulationError):
        pc.Drive(**arguments)
