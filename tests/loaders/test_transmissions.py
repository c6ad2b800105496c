"""<transmission>: which speeds ROS means, rotors where an inertia is known, and what is refused."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from support.messages import raises, warns
from support.urdf_text import joint, link, robot

import pin_clusters as pc
from pin_clusters.errors import ArgumentTypeError, LoadError, UnknownNameError

pytestmark = pytest.mark.jitless

ARM = (link("ground", ""), link("a"), link("b"), joint("ja", "ground", "a"), joint("jb", "a", "b"))
DRAKE = 'xmlns:drake="http://drake.mit.edu" '
I1, I2 = 2e-4, 3e-4


def ros1(kind: str, actuators: dict[str, tuple[float, str]], joints: dict[str, float], roles: bool = True) -> str:
    """Return a transmission of ROS 1; actuators have a reduction and further elements."""
    parts = "".join(
        f'<actuator name="{name}">' + (f"<role>actuator{i}</role>" if roles else "")
        + f"<mechanicalReduction>{n}</mechanicalReduction>{more}</actuator>"
        for i, (name, (n, more)) in enumerate(actuators.items(), 1)
    )  # fmt: skip
    parts += "".join(
        f'<joint name="{name}">' + (f"<role>joint{i}</role>" if roles else "")
        + f"<mechanicalReduction>{n}</mechanicalReduction></joint>"
        for i, (name, n) in enumerate(joints.items(), 1)
    )  # fmt: skip
    return f'<transmission name="t"><type>transmission_interface/{kind}Transmission</type>{parts}</transmission>'


def read(*parts: str, **kwargs) -> pc.ClusterModel:
    text = robot(*ARM, *parts).replace("<robot ", "<robot " + DRAKE, 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*for other programs", category=pc.PinClustersWarning)
        return pc.buildModelFromXML(text, **kwargs)


def speeds(model: pc.ClusterModel, joints: tuple[float, float]) -> dict[str, float]:
    """Return the speeds of the rotors."""
    v = np.zeros(model.nv)
    for name, x in zip(("ja", "jb"), joints, strict=True):
        v[model.joint_idx_v(name)] = x
    found = pc.rotor_velocity(model, model.createData(), pc.neutral(model), v)
    return dict(zip((r.name for r in model.rotors), np.asarray(found).tolist(), strict=True))


def test_simple():
    """A reduction with an inertia is the rotor that one would write."""
    text = ros1("Simple", {"m": (50.0, "")}, {"ja": 1.0})
    model = read(text, rotor_inertias={"m": I1})
    by_joint = read(text, rotor_inertias={"ja": I1})
    twin = pc.ClusterModel(model.tree, [pc.Rotor("ja", 50.0, axial_inertia=I1)])
    rng = np.random.default_rng(1)
    q, v, a = pc.randomConfiguration(model), rng.normal(size=2), rng.normal(size=2)
    expected = pc.rnea(twin, twin.createData(), q, v, a)
    for robot_ in (model, by_joint):
        assert np.allclose(pc.rnea(robot_, robot_.createData(), q, v, a), expected, rtol=1e-12)
    bare = read()
    assert not np.allclose(pc.rnea(bare, bare.createData(), q, v, a), expected, rtol=1e-3)


# The maps from actuators to joints, as ROS documents them: the inverse of what is computed here.
def _differential(n, m, a):
    return (a[0] / n[0] + a[1] / n[1]) / (2 * m[0]), (a[0] / n[0] - a[1] / n[1]) / (2 * m[1])


def _half(n, m, a):
    return a[0] / (n[0] * m[0]), (a[1] / n[1] - a[0] / n[0]) / m[1]


def _four_bar(n, m, a):
    return a[0] / (m[0] * n[0]), (a[1] / n[1] - a[0] / (m[0] * n[0])) / m[1]


@pytest.mark.parametrize(
    ("kind", "there"), [("Differential", _differential), ("HalfDifferential", _half), ("FourBarLinkage", _four_bar)]
)
@pytest.mark.parametrize("roles", [True, False])
def test_two_joints(kind, there, roles):
    n, m = (30.0, -20.0), (1.5, 2.5)
    text = ros1(kind, {"m1": (n[0], ""), "m2": (n[1], "")}, {"ja": m[0], "jb": m[1]}, roles)
    model = read(text, rotor_inertias={"m1": I1, "m2": I2})
    joints = (0.7, -0.4)
    rotors = speeds(model, joints)
    assert there(n, m, (rotors["rotor:m1"], rotors["rotor:m2"])) == pytest.approx(joints, rel=1e-12)
    assert {r.name: r.axial_inertia for r in model.rotors} == {"rotor:m1": I1, "rotor:m2": I2}


def test_roles_count_not_the_order():
    for order in itertools.permutations((1, 2)):
        text = '<transmission name="t"><type>transmission_interface/HalfDifferentialTransmission</type>'
        text += "".join(f'<actuator name="m{i}"><role>actuator{i}</role></actuator>' for i in order)
        text += "".join(f'<joint name="{"jajb"[2 * i - 2 : 2 * i]}"><role>joint{i}</role></joint>' for i in order)
        rotors = speeds(read(text + "</transmission>", rotor_inertias={"m1": I1, "m2": I2}), (1.0, 10.0))
        assert rotors == pytest.approx({"rotor:m1": 1.0, "rotor:m2": 11.0})


def test_ros2_control():
    text = (
        '<ros2_control name="r" type="system"><joint name="ja"/><transmission name="t">'
        "<plugin>transmission_interface/SimpleTransmission</plugin>"
        '<actuator name="m" role="actuator1"/><joint name="ja" role="joint1">'
        "<mechanical_reduction>-7</mechanical_reduction></joint></transmission></ros2_control>"
    )
    assert speeds(read(text, rotor_inertias={"m": I1}), (1.0, 0.0)) == {"rotor:m": -7.0}


def drakes(ratio: str = "80", reduction: float = 1.0, more: str = "") -> str:
    gear = f'<drake:gear_ratio value="{ratio}"/>' if ratio else ""
    return ros1("Simple", {"m": (reduction, f'<drake:rotor_inertia value="{I1}"/>{gear}{more}')}, {"ja": 1.0})


def test_drake():
    """With both of Drake's numbers the joint feels the reflected inertia, as in Drake, and what turns besides."""
    model, bare = read(drakes()), read()
    assert speeds(model, (1.0, 0.0)) == {"rotor:m": 80.0}
    q = pc.neutral(model)
    more = pc.crba(model, model.createData(), q)[0, 0] - pc.crba(bare, bare.createData(), q)[0, 0]
    assert more == pytest.approx(I1 * (80.0**2 + 2.0 * 80.0), rel=1e-6) or more == pytest.approx(I1 * 80.0**2, rel=1e-6)
    assert speeds(read(drakes("")), (1.0, 0.0)) == {"rotor:m": 1.0}  # Drake's default
    assert not read(drakes().replace(str(I1), "0")).rotors


def test_reductions_without_inertia_are_named():
    with warns(pc.PinClustersWarning, "'m' (ratio 50) rotor_inertias"):
        model = read(ros1("Simple", {"m": (50.0, "")}, {"ja": 1.0}))
    assert not model.rotors
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*for other programs", category=pc.PinClustersWarning)
        read(ros1("Simple", {"m": (1.0, "")}, {"ja": 1.0}))
        read(ros1("Mystery", {"m": (9.0, "")}, {"jx": 1.0}))


CASES = {
    "drake contradicts": (drakes("80", 50.0), {}, LoadError, "ratio 80 mechanicalReduction 50"),
    "drake without a ratio": (drakes("", 50.0), {}, LoadError, "ratio 1"),
    "drake zero": (drakes("0"), {}, LoadError, "ratio 0"),
    "drake twice": (drakes(more='<drake:gear_ratio value="3"/>'), {}, LoadError, "'t' 'm' <gear_ratio>"),
    "drake negative": (drakes().replace(str(I1), "-1"), {}, LoadError, "'t' -1"),
    "drake text": (drakes("fast"), {}, LoadError, "gear_ratio 'fast'"),
    "drake unknown joint": (drakes().replace('"ja"', '"jx"'), {}, LoadError, "'jx'"),
    "drake on a differential": (
        ros1("Differential", {"m1": (2.0, '<drake:gear_ratio value="2"/>'), "m2": (2.0, "")}, {"ja": 1.0, "jb": 1.0}),
        {},
        LoadError,
        "'t' gear_ratio",
    ),
    "unknown kind": (
        drakes().replace("Simple", "Harmonic"),
        {},
        LoadError,
        "'transmission_interface/HarmonicTransmission'",
    ),
    "too few joints": (
        ros1("Differential", {"m1": (2.0, ""), "m2": (2.0, "")}, {"ja": 1.0}),
        {"m1": I1},
        LoadError,
        "2",
    ),
    "reduction zero": (ros1("Simple", {"m": (0.0, "")}, {"ja": 1.0}), {}, LoadError, "mechanicalReduction 0"),
    "given twice": (drakes(), {"m": 2 * I1}, LoadError, "'t'"),
    "given for both": (
        ros1("Simple", {"m": (5.0, "")}, {"ja": 1.0}),
        {"m": I1, "ja": I2},
        LoadError,
        "'t'",
    ),
    "unknown name": (
        ros1("Simple", {"m": (5.0, "")}, {"ja": 1.0}),
        {"n": I1},
        UnknownNameError,
        "'n' ja",
    ),
    "no transmissions": ("", {"ja": I1}, UnknownNameError, "'ja' rotor_inertias pc.Rotor"),
    "a joint of a differential": (
        ros1("Differential", {"m1": (2.0, ""), "m2": (2.0, "")}, {"ja": 1.0, "jb": 1.0}),
        {"ja": I1},
        UnknownNameError,
        "'ja'",
    ),
    "no mapping": ("", [I1], ArgumentTypeError, "rotor_inertias"),
    "no number": ("", {"ja": "x"}, ArgumentTypeError, "'ja'"),
    "negative": ("", {"ja": -1.0}, ArgumentTypeError, "'ja'"),
    "armature": (drakes(more='<drake:armature value="1"/>'), {}, LoadError, "<drake:armature>"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    text, given, error, words = CASES[name]
    with raises(error, words):
        read(text, rotor_inertias=given)
