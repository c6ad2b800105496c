"""What users of Pinocchio do first and what does not fit: each has a message that says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import stumbles
from support import messages
from support.calls import state
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters._support import memory

pytestmark = pytest.mark.jitless


@pytest.mark.parametrize("name", stumbles.CASES)
def test_what_is_told(name: str) -> None:
    case = stumbles.CASES[name]
    error, warned = stumbles.judge(case)
    if case.error is None:
        assert error is None, error
        assert len(warned) == bool(case.message), warned
    else:
        assert isinstance(error, case.error), error
        assert isinstance(error, pc.PinClustersError) or case.cure or name == "pink"
    text = "".join(warned) if error is None else str(error)
    assert not messages.missing(case.message, text), text
    if error is not None:
        messages.check(error)
    if not case.cure:
        assert not text or text.endswith((".", "?")), text


def test_what_other_code_may_set_and_must_not() -> None:
    s = state()
    for name, cure in (("gravity", "with_gravity"), ("armature", "ClusterModel"), ("constraints", "ClusterModel")):
        with raises(AttributeError, cure):
            setattr(s.model, name, 1.0)
    assert pin.RobotWrapper(s.model.tree).nq == s.model.nq


# --- arguments of Pinocchio's -----------------------------------------------------------------------------------------


def test_conventions_are_taken() -> None:
    s = state()
    model, data, q, v = s.model, s.data, s.q, s.v
    forces = [pin.Force(x) for x in s.fext]
    for convention in (pin.Convention.LOCAL, pin.Convention.WORLD):
        a = pc.aba(model, data, q, v, s.a)
        assert np.array_equal(pc.aba(model, data, q, v, s.a, convention), a)
        assert np.array_equal(pc.aba(model, data, q, v, s.a, convention=convention), a)
        forced = pc.aba(model, data, q, v, s.a, forces)
        assert np.array_equal(pc.aba(model, data, q, v, s.a, forces, convention), forced)
        assert not np.array_equal(forced, a)
        assert np.array_equal(pc.crba(model, data, q, convention), pc.crba(model, data, q))
    for wrong in (0, "WORLD", pin.LOCAL):
        with raises(pc.ArgumentTypeError, "convention pin.Convention"):
            pc.crba(model, data, q, convention=wrong)
        with raises(pc.ArgumentTypeError, "convention pin.Convention"):
            pc.aba(model, data, q, v, s.a, forces, wrong)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of kernels as plain Python
@pytest.mark.parametrize("name", ["ankle_2rsu", "mit_humanoid_leg"])
def test_motor_torque_of_what_is_not_finite(name: str) -> None:
    model = pc.load(name, root_joint=None) if name == "mit_humanoid_leg" else pc.load(name)
    data, q, tau = model.createData(), pc.neutral(model), np.ones(model.nv)
    assert np.isfinite(pc.motor_torque(model, data, q, tau)).all()
    for bad in (np.nan, np.inf):
        there = q.copy()
        there[-1] = bad
        found = pc.motor_torque(model, data, there, tau)
        assert found.shape == (model.nv,)
        assert np.isnan(found).all() == bool(model.closures)  # without loops nothing depends on q
        assert not np.isfinite(pc.motor_torque(model, data, q, np.full(model.nv, bad))).any()


# --- limits -----------------------------------------------------------------------------------------------------------


def test_lower_limits_above_the_upper_ones() -> None:
    tree = pin.buildSampleModelManipulator()
    names = list(tree.names)
    pc.ClusterModel(tree)
    lower = np.array(tree.lowerPositionLimit)
    lower[2] = tree.upperPositionLimit[2] + 1.0
    tree.lowerPositionLimit = lower
    told = f"'{names[3]}' {lower[2]:g}"
    with warns(pc.PinClustersWarning, told) as found:
        model = pc.ClusterModel(tree)
    assert found[0].filename == __file__
    model.with_gravity([0.0, 0.0, 0.0])  # says nothing again
    lower[3] = np.nan
    tree.lowerPositionLimit = lower
    with warns(pc.PinClustersWarning, f"'{names[4]}'"):
        pc.ClusterModel(tree)


def test_limits_of_a_file_in_the_wrong_order() -> None:
    text = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>'
    )
    with warns(pc.PinClustersWarning, "'j' 1"):
        pc.buildModelFromXML(text)


# --- memory -----------------------------------------------------------------------------------------------------------


def chain(n: int) -> pin.Model:
    tree, j = pin.Model(), 0
    tree.name = "chain"
    for i in range(n):
        j = tree.addJoint(j, pin.JointModelRX(), pin.SE3.Identity(), f"j{i}")
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return tree


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


TAKEN = """
import pinocchio as pin
from inputs.test_stumbles import chain, resident
from pin_clusters._support import memory

tree = chain(150)
pin.Model.createData = None  # which would make two, to copy one
before = resident()
data = memory.data_of(tree)
print(resident() - before, memory._TENSORS * 150**3)
"""


def test_what_a_data_of_pinocchio_takes() -> None:
    # in a process of its own: here memory that others gave back would be taken first
    here = Path(__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", TAKEN], capture_output=True, text=True, check=True, cwd=here,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    taken, said = map(float, found.stdout.split())
    assert 0.9 * said < taken < 1.3 * said


def test_a_large_data_is_said_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.ClusterModel(chain(20))
    monkeypatch.setattr(memory, "_MUCH", 32 * 20**3)
    with warns(pc.PinClustersWarning, "pc.batch") as w:
        model.createData()
    assert len(w) == 1
    assert w[0].filename == __file__
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with raises(pc.TooLargeError, "nv 20 0.0 model.createData"):
        model.createData()
    linkage = pc.load("four_bar")
    monkeypatch.setattr(memory, "_MUCH", 0)
    monkeypatch.setattr(memory, "available", lambda: 100)
    with raises(pc.TooLargeError, "nv 0.0 model.createData"):
        pc.ClusterModel(linkage.tree, linkage.constraints)
    monkeypatch.setattr(memory, "_MUCH", 32 * 20**3 + 1)
    model.createData()
