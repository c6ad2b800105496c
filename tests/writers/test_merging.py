"""``pc.into_mjcf`` and ``convert --into``: what changes in a file of MuJoCo, what stays, what MuJoCo makes of it."""

from __future__ import annotations

import dataclasses
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import refused, run
from support.messages import raises

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco", minversion="3.3.4")

THEIRS = """<?xml version="1.0"?>
<!-- kept -->
<mujoco model="leg">
  <compiler angle="degree"/>
  <default><joint damping="0.1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="base" pos="0 0 1"><freejoint name="root"/>
      <geom name="trunk" type="box" size=".1 .1 .1" mass="3"/>
      <!-- kept, too -->
      <body name="thigh" pos="0 0.1 0"><joint name="hip" axis="0 1 0" range="-90 90" armature="0.01"/>
        <geom name="g_thigh" type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1"/>
        <body name="shank" pos="0 0 -.3"><joint name="knee" axis="0 1 0" stiffness="3" springref="20"/>
          <geom name="g_shank" type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".5"/>
          <site name="foot" pos="0 0 -.3"/>
        </body></body></body>
  </worldbody>
  <contact><exclude body1="base" body2="shank"/><pair geom1="floor" geom2="g_shank"/></contact>
  <sensor><touch site="foot"/><jointpos joint="knee"/><accelerometer site="foot"/></sensor>
  <actuator><position name="servo" joint="hip" kp="10"/></actuator>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 .1 .2" ctrl="0.5"/></keyframe>
</mujoco>
"""
COUNTS = ("nq", "nv", "nbody", "ngeom", "nsite", "nsensor", "nexclude", "npair", "nkey")


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("theirs.xml").write_text(THEIRS, encoding="utf-8")
    return Path("theirs.xml")


def with_rotors(*more: pc.Rotor) -> pc.ClusterModel:
    model = pc.buildModelFromMJCF(THEIRS)
    hip = pc.Rotor("hip", 8.0, axial_inertia=1e-4, armature="replace")
    belt = pc.Rotor(["hip", "knee"], [9.0, 9.0], axial_inertia=2e-4, armature="replace", name="belt")
    return pc.ClusterModel(model.tree, [*model.constraints, hip, belt, *more], model.q_reference)


def test_a_file_that_lacks_nothing_comes_back_byte_for_byte(theirs: Path) -> None:
    assert pc.into_mjcf(pc.buildModelFromMJCF(THEIRS), theirs) == THEIRS


def test_only_armature_tendons_and_motors_change(theirs: Path) -> None:
    model = with_rotors()
    text = pc.into_mjcf(model, theirs, file="out.xml")
    assert Path("out.xml").read_text(encoding="utf-8") == text
    assert text.startswith('<?xml version="1.0"?>\n<!-- kept -->\n')
    assert "<!-- kept, too -->" in text
    before, after = (mujoco.MjModel.from_xml_string(x) for x in (THEIRS, text))
    for count in COUNTS:
        assert getattr(before, count) == getattr(after, count), count
    # the hip has its servo; the belt turns the knee too, which nothing moved
    assert [after.actuator(i).name for i in range(after.nu)] == ["servo", "belt"]
    assert after.dof_armature[-2:] == pytest.approx([8.0**2 * 1e-4, 0.0])
    assert after.tendon_armature == pytest.approx([2e-4])
    assert after.dof_damping[-2:] == pytest.approx([0.1, 0.1])
    assert after.key_ctrl[0] == pytest.approx([0.5, 0.0])
    # element by element: what is not there comes after what was
    old, new = ET.fromstring(THEIRS), ET.fromstring(text)
    assert [e.tag for e in new] == [*(e.tag for e in old), "tendon"]
    for a, b in zip(old.iter(), (e for e in new.iter() if e.get("name") != "belt"), strict=False):
        changed = {"hip": {"armature"}, "home": {"ctrl"}}.get(str(a.get("name")), set())
        assert {k: x for k, x in a.items() if k not in changed} == {k: x for k, x in b.items() if k not in changed}
    # putting it in again changes nothing
    Path("again.xml").write_text(text, encoding="utf-8")
    assert pc.into_mjcf(model, "again.xml") == text


def test_a_spring_rests_where_it_does_whatever_the_files_unit_is(theirs: Path) -> None:
    model = pc.buildModelFromMJCF(THEIRS)
    (knee,) = (c for c in model.constraints if isinstance(c, pc.Spring) and c.along == "knee")
    sprung = pc.ClusterModel(model.tree, [pc.Spring("hip", 5.0, rest=0.3, damping=0.2), knee], model.q_reference)
    there = mujoco.MjModel.from_xml_string(pc.into_mjcf(sprung, theirs))
    assert there.qpos_spring[-2:] == pytest.approx([0.3, np.radians(20.0)])
    assert there.jnt_stiffness[-2:] == pytest.approx([5.0, 3.0])
    assert there.dof_damping[-2:] == pytest.approx([0.2, 0.1])


@pytest.mark.parametrize("approximation", ["best", "diagonal"])
def test_mass_matrix_and_inverse_dynamics_are_those_of_the_approximation(theirs: Path, approximation: str) -> None:
    model = with_rotors()
    level = pc.approximations.of(model)["block" if approximation == "best" else "diagonal"]
    there = mujoco.MjModel.from_xml_string(pc.into_mjcf(model, theirs, approximation))  # type: ignore[arg-type]
    there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SPRING | mujoco.mjtDisableBit.mjDSBL_DAMPER
    data, rng = mujoco.MjData(there), np.random.default_rng(3)
    x, v, a = rng.normal(size=(3, model.nv))
    q = pc.neutral(model)
    q[:3], q[7:] = x[:3], x[6:]
    # MuJoCo's base is moved along the axes of the world; at its neutral attitude they are those of the base
    data.qpos[:] = [*q[:3], 1.0, 0.0, 0.0, 0.0, *q[7:]]
    v[3:6] = 0.0  # else both mean other accelerations
    data.qvel[:], data.qacc[:] = v, a
    mujoco.mj_inverse(there, data)
    M = np.zeros((there.nv, there.nv))
    mujoco.mj_fullM(there, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(there, data, M)
    assert pytest.approx(level.crba(q), abs=1e-9) == M
    assert data.qfrc_inverse == pytest.approx(level.rnea(q, v, a), abs=1e-8)


def test_the_command_changes_the_file_that_there_is(theirs: Path) -> None:
    pc.to_urdf(with_rotors(), "leg.urdf")
    assert run("convert", "leg.urdf", "--into", "theirs.xml").exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        again = pc.buildModelFromMJCF("theirs.xml")
    assert again.tree.armature[-2:] == pytest.approx([0.0064, 0.0])
    assert "<pair " in theirs.read_text(encoding="utf-8")
    assert run("convert", "leg.urdf", "other.xml", "--into", "theirs.xml").exit_code == 0
    assert "other.xml exists" in refused("convert", "leg.urdf", "other.xml", "--into", "theirs.xml")
    for wrong in (("x.urdf", "--into", "theirs.xml"), ("--into", "theirs.xml", "--meshes"), ()):
        assert run("convert", "leg.urdf", *wrong).exit_code == 2


def test_from_mjcf_to_mjcf_everything_stays(theirs: Path) -> None:
    """Without --into: rotors are put in, and nothing that the file has goes, or the warning counts what does."""
    result = run("convert", "theirs.xml", "same.xml")
    assert (result.exit_code, result.stdout) == (0, "Written: same.xml\n")
    assert "same.xml" not in result.stderr
    assert Path("same.xml").read_text(encoding="utf-8") == THEIRS
    rotor = ("--rotor", "hip=8,1e-4,replace")
    assert run("convert", "theirs.xml", "new.xml", *rotor, "--approximation", "diagonal").exit_code == 0
    before, after = (mujoco.MjModel.from_xml_path(x) for x in ("theirs.xml", "new.xml"))
    assert {c: getattr(after, c) for c in COUNTS} == {c: getattr(before, c) for c in COUNTS}
    assert after.dof_armature[-2:] == pytest.approx([8.0**2 * 1e-4, 0.0])
    assert theirs.read_text(encoding="utf-8") == THEIRS


TENDONS = """<tendon><fixed name="idle"><joint joint="hip" coef="2"/></fixed>
  <fixed name="belt" armature="1e-3"><joint joint="hip" coef="2"/><joint joint="knee" coef="1"/></fixed>
  <fixed stiffness="3"><joint joint="hip" coef="2"/><joint joint="knee" coef="1"/></fixed>
  <fixed name="tie"><joint joint="hip" coef="2"/><joint joint="knee" coef="1"/></fixed></tendon>
  <equality><tendon tendon1="tie"/></equality>"""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--approximation", "exact"), "1 tendon); reason: --approximation exact."),
        (("--approximation", "diagonal"), "1 tendon); reason: --approximation diagonal."),
        (("--timestep", "0.002"), "1 tendon); reason: --timestep."),
    ],
)
def test_what_of_a_file_is_not_written_is_counted(theirs: Path, options: tuple[str, ...], why: str) -> None:
    theirs.write_text(
        THEIRS.replace("<contact>", TENDONS + "<contact>").replace('<site name="foot"', '<site/><site name="foot"'),
        encoding="utf-8",
    )
    result = run("convert", "theirs.xml", "out.xml", *options)
    assert result.exit_code == 0, result.stderr
    (said,) = (line for line in result.stderr.splitlines() if "out.xml" in line)
    # the foot is a frame of the model, and so a site of both; the site without a name is none.
    # the belt, the spring and the tie are of the model, too
    assert "theirs.xml (3 sensors, 1 contact pair, 1 contact exclude, 1 site, " in said
    assert said.endswith(why)
    assert "<touch" not in Path("out.xml").read_text(encoding="utf-8")
    # over itself, which is read before it is replaced
    again = run("convert", "theirs.xml", "theirs.xml", "--force", *options)
    assert said.replace("out.xml", "theirs.xml") in again.stderr.splitlines()
    assert theirs.read_text(encoding="utf-8") == Path("out.xml").read_text(encoding="utf-8")


def test_armature_of_tendons_does_not_stay_where_joints_have_it(theirs: Path) -> None:
    theirs.write_text(THEIRS.replace("<contact>", TENDONS + "<contact>"), encoding="utf-8")
    for approximation, belt, hip in (("best", [0.0, 1e-3, 0.0, 0.0], 0.01), ("diagonal", [0.0, 0.0], 0.01 + 4e-3)):
        out = f"{approximation}.xml"
        assert run("convert", "theirs.xml", out, "--approximation", approximation).exit_code == 0
        made = mujoco.MjModel.from_xml_path(out)  # which the motor of a tendon that is not there would refuse
        assert made.tendon_armature == pytest.approx(belt), out
        assert made.dof_armature[6] == pytest.approx(hip), out
    assert Path("best.xml").read_text(encoding="utf-8") == theirs.read_text(encoding="utf-8")


def mass_matrix(text: str) -> np.ndarray:
    """Of joints and tendons: MuJoCo keeps what tendons add between joints, too."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_GRAVITY
    data, columns = mujoco.MjData(model), []
    for x in np.eye(model.nv):
        data.qpos[:], data.qvel[:], data.qacc[:] = model.qpos_spring, 0.0, x
        mujoco.mj_inverse(model, data)
        columns.append(data.qfrc_inverse.copy())
    return np.array(columns).T


@pytest.mark.parametrize("approximation", ["best", "diagonal"])
@pytest.mark.parametrize("changed", ["read", "other inertia", "other name", "other ratios", "alone"])
def test_no_inertia_counts_twice(theirs: Path, approximation: Any, changed: str) -> None:
    """A belt of the file that the model has too, and a tendon of one joint, in whatever form they are there."""
    more = (
        '<tendon><fixed name="belt" armature="1e-3"><joint joint="hip" coef="2"/><joint joint="knee" coef="1"/></fixed>'
    )
    more += '<fixed name="idle" armature="2e-3"><joint joint="hip" coef="2"/></fixed></tendon>'
    theirs.write_text(THEIRS.replace("<contact>", more + "<contact>"), encoding="utf-8")
    read = pc.buildModelFromMJCF(theirs)
    (belt,) = (c for c in read.constraints if isinstance(c, pc.Rotor))
    rest = [c for c in read.constraints if c is not belt]
    own = {
        "read": belt, "other inertia": dataclasses.replace(belt, axial_inertia=5e-3),
        "other name": dataclasses.replace(belt, name="mine", ratios=[-4.0, -2.0], axial_inertia=5e-4),
        "other ratios": dataclasses.replace(belt, name="belt", ratios=[1.0, 4.0]),
        "alone": pc.Rotor("hip", 8.0, axial_inertia=1e-4, armature="keep", name="alone"),
    }[changed]  # fmt: skip
    model = pc.ClusterModel(read.tree, [*rest, *([belt] * (changed == "alone")), own], read.q_reference)
    text = pc.into_mjcf(model, theirs, approximation)
    wanted = mass_matrix(pc.to_mjcf(model, approximation))
    assert mass_matrix(text) == pytest.approx(wanted, abs=1e-9)
    assert (text == theirs.read_text(encoding="utf-8")) == (approximation == "best" and changed == "read")
    Path("again.xml").write_text(text, encoding="utf-8")
    assert pc.into_mjcf(model, "again.xml", approximation) == text
    with raises(pc.ModelError, "'exact' theirs.xml"):
        pc.into_mjcf(model, theirs, "exact")


def test_what_the_model_does_not_state_stays(theirs: Path) -> None:
    """Armature of a tendon that is no rotor of the model."""
    bare = pc.buildModelFromMJCF(theirs)
    theirs.write_text(THEIRS.replace("<contact>", TENDONS + "<contact>"), encoding="utf-8")
    there = mujoco.MjModel.from_xml_string(pc.into_mjcf(bare, theirs, "diagonal"))
    assert there.tendon_armature == pytest.approx([0.0, 1e-3, 0.0, 0.0])


def test_beside_other_files_only_as_theirs_are_found_from_there(theirs: Path) -> None:
    Path("to").mkdir()
    assert run("convert", "theirs.xml", "to/out.xml").exit_code == 0
    assert Path("to/out.xml").read_text(encoding="utf-8") == THEIRS
    Path("part.xml").write_text('<mujocoinclude><sensor><gyro site="foot"/></sensor></mujocoinclude>')
    theirs.write_text(THEIRS.replace("<contact>", '<include file="part.xml"/><contact>'), encoding="utf-8")
    said = run("convert", "theirs.xml", "to/out.xml", "--force").stderr
    assert "(4 sensors, 1 contact pair, 1 contact exclude); reason: theirs.xml refers to files relative to" in said
    assert mujoco.MjModel.from_xml_path("to/out.xml").nsensor == 0
    theirs.write_text(THEIRS.replace('"1.0"', '"1.0" encoding="utf-16"'), encoding="utf-16")
    assert (
        "(3 sensors, 1 contact pair, 1 contact exclude); reason: 'utf-8'"
        in run("convert", "theirs.xml", "16.xml").stderr
    )


def test_what_does_not_match_is_refused_and_the_file_stays(theirs: Path) -> None:
    before = theirs.read_bytes()
    said = refused("convert", "mini_cheetah", "--into", "theirs.xml")
    assert "do not match: joint 'root_joint' is in only one of them; joint 'FL_abad'" in said
    other = THEIRS.replace('name="knee" axis="0 1 0"', 'name="knee" axis="1 0 0"')
    with raises(pc.ModelError, "'knee'"):
        pc.into_mjcf(pc.buildModelFromMJCF(other), theirs)
    with raises(pc.ModelError, "'knee'"):
        pc.into_mjcf(pc.buildModelFromMJCF(THEIRS.replace('mass=".5"', 'mass=".6"')), theirs)
    with raises(pc.ModelError, "'exact' 'rotor:hip' 'belt'"):
        pc.into_mjcf(with_rotors(), theirs, "exact")
    rod = pc.Rod(("root", [0.2, 0.1, 0.0]), ("knee", [0.0, 0.0, -0.1]))
    tied = pc.ClusterModel(pc.buildModelFromMJCF(THEIRS).tree, [rod])
    with raises(pc.ModelError, "b"):
        pc.into_mjcf(tied, theirs)
    assert theirs.read_bytes() == before
