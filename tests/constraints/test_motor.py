"""Motors as they are stated: checks, limits, places, the catalogue that ships."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml
from support.messages import raises

import pin_clusters as pc
from pin_clusters.constraints.motor_catalogue import motors as catalogue

ROOT = Path(__file__).parents[2]
LOSSY = pc.Motor(name="kind", ratio=7.0, rotor_inertia=1e-5, viscous=1e-4, efficiency=0.8)


def tree() -> pin.Model:
    model = pin.Model()
    model.name = "arm"
    for name in ("shoulder", "elbow"):
        j = model.addJoint(model.njoints - 1, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3])), name)
        model.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.0, 0.0, 0.1]), 0.1 * np.eye(3)), pin.SE3.Identity())
    return model


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"viscous": -1e-3}, "viscous"),
        ({"coulomb": -1e-3}, "coulomb"),
        ({"viscous": np.nan}, "viscous"),
        ({"efficiency": 1.2}, "1 1.2 0.85"),
        ({"efficiency": 0.0}, "efficiency 0"),
        ({"efficiency": -0.1}, "efficiency"),
        ({"efficiency": 0.8, "back_efficiency": 1.1}, "back_efficiency 1.1"),
        ({"back_efficiency": 0.5}, "efficiency"),
        ({"peak_torque": 0.0}, "peak_torque 0"),
        ({"voltage": "48"}, "voltage"),
        ({"rated_torque": 3.0, "peak_torque": 2.0}, "rated_torque 3 peak_torque 2"),
        ({"rotor_inertia": -1e-5}, "rotor_inertia"),
        ({"ratio": 0.0}, "ratio 0"),
        ({"name": 3}, "name"),
    ],
)
def test_what_no_motor_is(given: dict[str, Any], words: str) -> None:
    with raises(pc.ConstraintError, words):
        pc.Motor(**given)


def test_it_is_a_value() -> None:
    same = pc.Motor(name="kind", ratio=7, rotor_inertia=1e-5, viscous=1e-4, efficiency=0.8)
    assert LOSSY == same
    assert hash(LOSSY) == hash(same)
    assert eval(repr(LOSSY), {"Motor": pc.Motor}) == LOSSY
    for other in (pickle.loads(pickle.dumps(LOSSY)), copy.deepcopy(LOSSY)):
        assert other == LOSSY
    placed = LOSSY.on("rotor:elbow")
    assert (placed.rotor, LOSSY.rotor) == ("rotor:elbow", None)
    with pytest.raises(AttributeError):
        LOSSY.viscous = 1.0  # type: ignore[misc]
    assert pc.Motor(efficiency=0.8, back_efficiency=-0.2).loss_factors == pytest.approx((0.25, 1.2))
    assert [pc.Motor(**x).loses for x in ({}, {"efficiency": 1.0}, {"coulomb": 0.1})] == [False, False, True]


def test_limits_follow_the_line_of_torque_and_speed() -> None:
    motor = pc.Motor(peak_torque=3.0, voltage=24.0, torque_constant=0.1, resistance=0.5)
    speeds = np.array([[-300.0, -200.0, 0.0], [150.0, 200.0, 300.0]])
    low, high = motor.torque_limits(speeds)
    assert np.allclose(high, [[3.0, 3.0, 3.0], [1.8, 0.8, 0.0]])
    assert np.allclose(low, [[0.0, -0.8, -3.0], [-3.0, -3.0, -3.0]])
    low, high = pc.Motor(peak_torque=2.0, no_load_speed=100.0).torque_limits([-100.0, 99.0, 100.0])
    assert np.allclose(high, [2.0, 2.0, 0.0])
    assert np.allclose(low, [0.0, -2.0, -2.0])
    assert pc.Motor().torque_limits(5.0) == (-np.inf, np.inf)
    # braking is limited by voltage, too, where no peak is known
    assert pc.Motor(voltage=24.0, torque_constant=0.1, resistance=0.5).torque_limits(-100.0)[1] == pytest.approx(6.8)


def test_a_rotor_takes_it_from_its_motor() -> None:
    rotor = pc.Rotor("elbow", motor=LOSSY)
    assert (rotor.ratios, rotor.axial_inertia) == ((7.0,), 1e-5)
    model = pc.ClusterModel(tree(), [rotor, pc.Rotor("shoulder", 3.0, axial_inertia=2e-5)])
    assert [r.motor for r in model.rotors] == [LOSSY.on("rotor:elbow"), None]
    assert model.passive is not None
    assert [r.name for r in model.passive.motors] == ["rotor:elbow"]
    other = pc.Rotor("elbow", 9.0, axial_inertia=3e-5, motor="mini_cheetah_hip")
    assert (other.ratios, other.axial_inertia) == ((9.0,), 3e-5)
    assert other.motor == pc.motors()["mini_cheetah_hip"].on("rotor:elbow")
    stated = pc.ClusterModel(tree(), [pc.Rotor("elbow", 7.0, axial_inertia=1e-5), LOSSY.on("rotor:elbow")])
    assert stated.rotors[0].motor == model.rotors[0].motor
    for again in (pickle.loads(pickle.dumps(model)), model.with_gravity([0.0, 0.0, 0.0])):
        assert again.rotors[0].motor == model.rotors[0].motor
        assert len(again.passive.motors) == 1
    lossless = pc.ClusterModel(tree(), [pc.Rotor("elbow", motor=pc.Motor(ratio=7.0, rotor_inertia=1e-5))])
    assert lossless.passive is None


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"motor": "mini_cheeta_hip"}, pc.UnknownNameError, "'mini_cheetah_hip'"),
        ({"motor": 3}, pc.ConstraintError, "pc.Motor"),
        ({"motor": pc.Motor(rotor_inertia=1e-5)}, pc.ConstraintError, "ratios"),
        ({"motor": pc.Motor(ratio=2.0)}, pc.ConstraintError, "axial_inertia"),
        ({"motor": LOSSY, "driven": False}, pc.ConstraintError, "driven"),
        ({"motor": LOSSY.on("rotor:shoulder")}, pc.ConstraintError, "'rotor:shoulder'"),
    ],
)
def test_motors_that_no_rotor_takes(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with raises(error, words):
        pc.Rotor("elbow", **given)


@pytest.mark.parametrize(
    ("motor", "error", "words"),
    [
        (LOSSY, pc.ConstraintError, "motor.on pc.Rotor"),
        (LOSSY.on("rotor:elbo"), pc.UnknownNameError, "'rotor:elbow'"),
        (LOSSY.on("rotor:shoulder"), pc.ConstraintError, ""),
        (LOSSY.on("stage"), pc.ConstraintError, ""),
    ],
)
def test_motors_that_no_model_takes(motor: pc.Motor, error: type[Exception], words: str) -> None:
    rotors = [
        pc.Rotor("elbow", 7.0, axial_inertia=1e-5), pc.Rotor("shoulder", motor=LOSSY),
        pc.Rotor("elbow", 2.0, axial_inertia=1e-5, driven=False, name="stage"),
    ]  # fmt: skip
    with raises(error, words):
        pc.ClusterModel(tree(), [*rotors, motor])


# --- the catalogue ----------------------------------------------------------------------------------------------------

# what a motor of a robot of 1 to 200 kg may have, at its rotor
PLAUSIBLE = {
    "ratio": (1.0, 400.0), "rotor_inertia": (1e-8, 1e-2), "rated_torque": (1e-3, 60.0), "peak_torque": (1e-2, 150.0),
    "voltage": (3.0, 400.0), "torque_constant": (1e-3, 3.0), "resistance": (1e-3, 30.0), "no_load_speed": (5.0, 4000.0),
    "viscous": (1e-9, 1e-1), "coulomb": (1e-5, 2.0), "efficiency": (0.3, 1.0), "back_efficiency": (-1.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", pc.motors())
def test_each_motor_of_the_catalogue(name: str) -> None:
    entry = yaml.safe_load((ROOT / "robot_models" / "motors.yaml").read_text())[name]
    about, sources = entry.pop("about"), entry.pop("source")
    assert name.replace("_", "a").isalnum()
    assert name == name.lower()
    assert isinstance(about, str)
    assert set(sources) == set(entry)
    for key, value in entry.items():
        low, high = PLAUSIBLE[key]
        assert isinstance(value, float)
        assert low <= value <= high, (key, value)
        assert isinstance(sources[key], str)
        assert len(sources[key]) > 10
    motor = pc.motors()[name]
    assert {key: getattr(motor, key) for key in entry} == entry
    assert motor.name == name
    assert motor.rotor is None
    assert all(text in str(motor.source) for text in sources.values())


def test_the_catalogue_is_read_only() -> None:
    assert pc.motors() is catalogue()
    with pytest.raises(TypeError):
        pc.motors()["mine"] = LOSSY  # type: ignore[index]


def test_the_page_has_the_catalogue() -> None:
    page = (ROOT / "docs" / "measured" / "motors.md").read_text(encoding="utf-8")
    assert all(f"\n| `{name}` | " in page for name in pc.motors()), "run benchmarks/report_motors.py"
