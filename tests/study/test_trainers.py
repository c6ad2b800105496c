"""Robots for trainers: files that MuJoCo loads, configurations that their readers would take, limits that hold."""

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.messages import raises
from support.mjcf import Mujoco

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters._cli import cli
from pin_clusters.studies import trainers
from pin_clusters.studies.audit.reflected import reflect

MOTOR = pc.Motor(
    peak_torque=3.0, voltage=24.0, torque_constant=0.1, resistance=0.2307, coulomb=0.03, viscous=3e-4, efficiency=0.9
)
# keywords of mjlab 1.6 (actuator/*.py) and Isaac Lab 3 (actuators/actuator_base_cfg.py, actuator_pd_cfg.py)
COMMON = {"target_names_expr", "armature", "frictionloss", "viscous_damping"}
MJLAB = {
    "BuiltinMotorActuatorCfg": COMMON | {"effort_limit"},
    "BuiltinPositionActuatorCfg": COMMON | {"effort_limit", "stiffness", "damping"},
    "DcMotorActuatorCfg": COMMON | {"effort_limit", "stiffness", "damping", "saturation_effort", "velocity_limit"},
}
BASE = {
    "joint_names_expr", "actuator_effort_limit", "actuator_velocity_limit", "joint_effort_limit", "stiffness",
    "damping", "armature", "friction", "dynamic_friction", "viscous_friction",
}  # fmt: skip
ISAACLAB = {"ImplicitActuatorCfg": BASE, "DCMotorCfg": BASE | {"saturation_effort"}}


@pytest.fixture(scope="module")
def leg() -> pc.ClusterModel:
    given = pc.load("mit_humanoid_leg")
    return pc.ClusterModel(
        given.own_tree, [*given.constraints, *(MOTOR.on(r.name) for r in given.motors)], name=given.name
    )


def recorder(kinds: dict[str, set[str]]) -> types.ModuleType:
    module = types.ModuleType("stub")
    for name, known in kinds.items():

        def make(*, _name: str = name, _known: set[str] = known, **given: Any) -> tuple[str, dict[str, Any]]:
            assert set(given) <= _known, set(given) - _known
            return _name, given

        setattr(module, name, make)
    return module


def run(text: str, path: Path, monkeypatch: pytest.MonkeyPatch, modules: dict[str, Any]) -> dict[str, Any]:
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    space: dict[str, Any] = {"__file__": str(path)}
    exec(compile(text, str(path), "exec"), space)
    return space


@pytest.mark.parametrize("gains", [None, 10.0])
def test_mjlab_is_told_what_mujoco_loads(
    leg: pc.ClusterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gains: float | None
) -> None:
    mujoco = pytest.importorskip("mujoco")
    done = trainers.write(leg, "mjlab", tmp_path, gains=gains)
    _, config, report, *_ = done.files
    entity = types.SimpleNamespace(EntityArticulationInfoCfg=dict, EntityCfg=dict)
    space = run(
        config.read_text(), config, monkeypatch,
        {"mjlab": types.ModuleType("mjlab"), "mjlab.actuator": recorder(MJLAB), "mjlab.entity": entity},
    )  # fmt: skip
    compiled = space["get_spec"]().compile()
    assert compiled.nu == 0
    told = {name: given for _, given in space["ACTUATORS"] for name in given["target_names_expr"]}
    assert sorted(told) == sorted(leg.independent_joints)
    for name, given in told.items():
        assert compiled.joint(name).armature[0] == pytest.approx(given["armature"], rel=1e-8, abs=1e-12)
        assert ("stiffness" in given) is (gains is not None)
    # hip_rz has its motor for itself, of ratio 6
    assert told["hip_rz"]["frictionloss"] == pytest.approx(6 * 0.03)
    assert told["hip_rz"]["viscous_damping"] == pytest.approx(36 * 3e-4)
    assert told["hip_rz"]["effort_limit"] == pytest.approx(6 * 3.0)
    q, block = pc.randomConfiguration(leg), approximations.robot(leg, "block")
    # MuJoCo's numbers are text of 12 digits and more
    M = pc.crba(block, block.createData(), q)
    np.testing.assert_allclose(Mujoco(mujoco, leg, compiled).mass_matrix(q), M, atol=1e-9)
    assert "ignores load-dependent gear losses" in report.read_text()


def test_isaac_lab_is_told_the_diagonal(leg: pc.ClusterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, config, _ = trainers.write(leg, "isaaclab", tmp_path).files
    sim = types.SimpleNamespace(MjcfFileCfg=dict)
    isaac = types.ModuleType("isaaclab")
    isaac.sim = sim  # type: ignore[attr-defined]
    space = run(
        config.read_text(), config, monkeypatch,
        {
            "isaaclab": isaac, "isaaclab.sim": sim, "isaaclab.actuators": recorder(ISAACLAB),
            "isaaclab.assets": types.SimpleNamespace(ArticulationCfg=dict),
        },
    )  # fmt: skip
    told = {
        name: (kind, given)
        for kind, given in space["ROBOT_CFG"]["actuators"].values()
        for name in given["joint_names_expr"]
    }
    diagonal = approximations.robot(leg, "diagonal")
    for name, (kind, given) in told.items():
        at = diagonal.tree.idx_vs[diagonal.tree.getJointId(name)]
        assert given["armature"] == pytest.approx(diagonal.tree.armature[at], rel=1e-8)
        assert given["stiffness"] == 0.0
        assert kind == ("ImplicitActuatorCfg" if name in ("knee", "ankle") else "DCMotorCfg")


def test_genesis_and_mujoco(leg: pc.ClusterModel, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    done = trainers.write(leg, "genesis", tmp_path / "genesis", gains=10.0)
    space: dict[str, Any] = {"__file__": "x"}
    exec(done.files[1].read_text().replace("import genesis as gs", "").replace(": gs.Scene", ""), space)
    assert space["JOINTS"]["knee"][4] == pytest.approx(space["JOINTS"]["knee"][0] * (20 * np.pi) ** 2)
    done = trainers.write(leg, "mujoco", tmp_path / "mujoco", gains=10.0)
    compiled = mujoco.MjModel.from_xml_path(str(done.files[0]))
    assert compiled.nu == leg.nv
    assert compiled.actuator("ankle").gainprm[0] == pytest.approx(done.values["ankle"].stiffness, rel=1e-8)
    assert any("decreases with speed" in note for note in done.notes)


def test_mujoco_computes_the_approximation(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = pc.load("mit_humanoid_leg")  # without friction, which is a constraint there
    done = trainers.write(model, "mujoco", tmp_path)
    there = Mujoco(mujoco, model, mujoco.MjModel.from_xml_path(str(done.files[0])))
    block, rng = approximations.robot(model, "block"), np.random.default_rng(3)
    q, v, a = pc.randomConfiguration(model), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    expected = pc.rnea(block, block.createData(), q, v, a)
    np.testing.assert_allclose(there.torque(q, v, a), expected, atol=1e-8)  # text of 12 digits and more
    np.testing.assert_allclose(there.mass_matrix(q), pc.crba(block, block.createData(), q), atol=1e-9)


def test_motors_give_all_of_the_box_of_shared_joints(leg: pc.ClusterModel) -> None:
    unlimited = leg.own_tree.copy()
    unlimited.effortLimit = np.full(unlimited.nv, np.inf)
    unlimited.velocityLimit = np.full(unlimited.nv, np.inf)
    model = pc.ClusterModel(unlimited, leg.constraints)
    values = trainers.values_of(model, reflect(model, pc.neutral(model)[None]))
    B = pc.actuation_matrix(model, model.createData(), pc.neutral(model))
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * model.nv)).reshape(model.nv, -1).T
    for key, matrix, most in (("effort", np.linalg.inv(B), 3.0), ("velocity", B.T, 240.0)):
        half = np.array([getattr(values[name], key) for name in model.independent_joints])
        used = np.abs(signs * half @ matrix.T).max()
        assert used == pytest.approx(most, rel=1e-12), key  # all of it, and no more


@pytest.mark.parametrize(
    ("robot", "trainer", "how", "said"),
    [
        ("tello", "isaaclab", {}, "'tello' left_knee left_ankle --independent"),
        ("four_bar", "mjlab", {}, "'four_bar' --motors"),
        ("mit_humanoid_leg", "isaacgym", {}, "'isaacgym'"),
        ("mit_humanoid_leg", "mjlab", {"gains": -1.0}, "0"),
    ],
)
def test_refusals(tmp_path: Path, robot: str, trainer: str, how: dict[str, Any], said: str) -> None:
    with raises(pc.PinClustersError, said):
        trainers.write(pc.load(robot), trainer, tmp_path / "x", **how)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("trainer", ["mujoco", "mjlab"])
def test_a_script_makes_the_tree_of_a_linkage_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainer: str
) -> None:
    mujoco = pytest.importorskip("mujoco", minversion="3.11.0")
    ankle = pc.load("ankle_2rsu")
    done = trainers.write(ankle, trainer, tmp_path, gains=10.0 if trainer == "mujoco" else None)
    assert max(done.lost.values()) > 5.0
    script = tmp_path / "ankle_2rsu_exact.py"
    space = run(script.read_text(), script, monkeypatch, {})
    tree, exact = space["mj_model"], space["exact"]
    try:
        assert [tree.joint(i).name for i in range(tree.njnt)] == ["ankle_pitch", "ankle_roll"]
        assert tree.nu == (2 if trainer == "mujoco" else 0)
        d, rng = mujoco.MjData(tree), np.random.default_rng(5)
        q = pc.integrate(ankle, pc.neutral(ankle), [0.2, 0.1])
        v, tau = rng.normal(size=2), rng.normal(size=2)
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q[:2], v, tau
        d.ctrl[:] = d.qpos[:] + 0.4 * d.qvel if d.ctrl.size else 0.0  # the gains are kp and kv = 4 / w kp
        mujoco.mj_forward(tree, d)
        expected = pc.aba(ankle, ankle.createData(), q, v, tau + d.qfrc_actuator)
        np.testing.assert_allclose(d.qacc, expected, rtol=1e-9, atol=1e-8)
    finally:
        exact.remove()


@pytest.mark.ci
def test_isaac_lab_receives_the_tree_of_a_linkage(tmp_path: Path) -> None:
    done = trainers.write(pc.load("ankle_2rsu"), "isaaclab", tmp_path)
    assert [f.name for f in done.files] == ["ankle_2rsu.xml", "ankle_2rsu_isaaclab.py", "ankle_2rsu_isaaclab.md"]
    assert set(done.values) == {"ankle_pitch", "ankle_roll"}
    tree = pc.buildModelFromMJCF(done.files[0].read_text())
    assert tree.nv == 2
    assert done.values["ankle_pitch"].armature == pytest.approx(float(tree.own_tree.armature[0]), rel=1e-8)
    assert 5.0 < max(done.lost.values()) < 50.0


@pytest.mark.ci
def test_why_there_is_no_script(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", minversion="3.11.0")
    done = trainers.write(pc.load("tello"), "mjlab", tmp_path)
    assert not (tmp_path / "tello_exact.py").exists()
    assert any("no script" in note and "left_hip_roll" in note for note in done.notes)
    assert "<equality>" in done.files[0].read_text()  # loops are soft constraints, as before


def test_the_command_knows_all_trainers() -> None:
    (option,) = [p for p in cli.main.commands["convert"].params if p.name == "trainer"]
    assert list(option.type.choices) == list(trainers.TRAINERS)
