"""Generate configuration files for trainers (reinforcement-learning frameworks), as Python source text."""

import re
from collections.abc import Callable, Mapping
from json import dumps as quoted
from typing import Literal, NamedTuple

from .values import JointValues


class Trainer(NamedTuple):
    """Features that a trainer (reinforcement-learning framework) supports."""

    title: str
    approximation: Literal["best", "diagonal"]  # argument ``approximation`` of ``pc.to_mjcf``
    loops: bool  # whether the trainer supports closed loops
    exact: bool  # whether the trainer uses MuJoCo's mass matrix, so that ``pc.mujoco.Exact`` applies
    torque_speed: bool  # whether the torque limit of motors may decrease with speed
    # function that returns the text of the configuration file; None if the MJCF contains all values
    text: Callable[[str, Mapping[str, JointValues]], str] | None


def number(x: float) -> str:
    return f"{x:.9g}"


def _groups(values: Mapping[str, JointValues]) -> list[tuple[list[str], JointValues]]:
    """Group joints with equal values."""
    groups: dict[str, tuple[list[str], JointValues]] = {}
    for name, x in values.items():
        key = repr([(k, v) for k, v in vars(x).items() if k not in ("joint", "reasons")])
        groups.setdefault(key, ([], x))[0].append(name)
    return list(groups.values())


def _line(key: str, x: JointValues, value: str, indent: int = 8) -> str:
    number_or_none = getattr(x, value)
    return (
        f"{' ' * indent}{key}={number(number_or_none)},  # {x.reasons[value]}\n" if number_or_none is not None else ""
    )


_MJLAB = '''\
"""{robot} for mjlab 1.6, written by pin_clusters. {robot}.xml is the MJCF. Motor values: joint side, SI units."""

from pathlib import Path

import mujoco
from mjlab.actuator import {imports}
from mjlab.entity import EntityArticulationInfoCfg, EntityCfg


def get_spec() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_file(str(Path(__file__).parent / "{robot}.xml"))


ACTUATORS = (
{actuators})


def get_robot_cfg() -> EntityCfg:
    return EntityCfg(spec_fn=get_spec, articulation=EntityArticulationInfoCfg(actuators=ACTUATORS))
'''


def mjlab(robot: str, values: Mapping[str, JointValues]) -> str:
    """Return the configuration for mjlab, with position actuators if gains are given, else torque actuators."""
    text, used = "", set[str]()
    unknown = "        effort_limit=1e6,  # unknown\n"
    for names, x in _groups(values):
        line = x.stiffness is not None and None not in (x.stall, x.velocity, x.effort)
        kind = "DcMotor" if line else "BuiltinMotor" if x.stiffness is None else "BuiltinPosition"
        used.add(f"{kind}ActuatorCfg")
        listed = " ".join(f"{quoted(re.escape(n))}," for n in names)
        text += f"    {kind}ActuatorCfg(\n        target_names_expr=({listed}),\n"
        text += _line("stiffness", x, "stiffness") + _line("damping", x, "gain")
        text += _line("effort_limit", x, "effort") or (unknown if x.stiffness is None else "")
        if line:
            text += _line("saturation_effort", x, "stall") + _line("velocity_limit", x, "velocity")
        text += _line("armature", x, "armature") + _line("frictionloss", x, "friction")
        text += _line("viscous_damping", x, "damping") + "    ),\n"
    return _MJLAB.format(robot=robot, imports=", ".join(sorted(used)) or "ActuatorCfg", actuators=text)


_ISAACLAB = '''\
"""{robot} for Isaac Lab 3, written by pin_clusters. {robot}.xml is the MJCF. Motor values: joint side, SI units."""

from pathlib import Path

import isaaclab.sim as sim_utils
from isaaclab.actuators import {imports}
from isaaclab.assets import ArticulationCfg

ROBOT_CFG = ArticulationCfg(
    spawn=sim_utils.MjcfFileCfg(asset_path=str(Path(__file__).parent / "{robot}.xml")),
    actuators={{
{actuators}    }},
)
'''


def isaaclab(robot: str, values: Mapping[str, JointValues]) -> str:
    """Return the configuration for Isaac Lab; without gains, the stiffness is zero and commands are torques."""
    text, used = "", set[str]()
    for names, x in _groups(values):
        line = None not in (x.stall, x.velocity, x.effort)
        kind = "DCMotorCfg" if line else "ImplicitActuatorCfg"
        used.add(kind)
        text += f"        {quoted(names[0])}: {kind}(\n            joint_names_expr=["
        text += f"{', '.join(quoted(re.escape(n)) for n in names)}],\n"
        rows = [("stiffness", "stiffness"), ("damping", "gain"), ("armature", "armature"), ("friction", "friction")]
        rows += [("dynamic_friction", "friction"), ("viscous_friction", "damping")]
        rows += [("actuator_effort_limit" if line else "joint_effort_limit", "effort")]
        rows += [("actuator_velocity_limit", "velocity")] + [("saturation_effort", "stall")] * line
        for key, value in rows:
            gains = value in ("stiffness", "gain") and x.stiffness is None
            text += f"            {key}=0.0,  # torque control\n" if gains else _line(key, x, value, 12)
        text += "        ),\n"
    return _ISAACLAB.format(robot=robot, imports=", ".join(sorted(used)), actuators=text)


_GENESIS = '''\
"""{robot} for Genesis 1.4, written by pin_clusters. {robot}.xml is the MJCF. Motor values: joint side, SI units."""

from pathlib import Path

import genesis as gs

# joint: armature, dry friction, damping, torque limit, stiffness, velocity gain; None if unknown
JOINTS = {{
{joints}}}


def add_robot(scene: gs.Scene):
    """Add the robot and return it; call ``set_motors(robot)`` after ``scene.build()``."""
    return scene.add_entity(gs.morphs.MJCF(file=str(Path(__file__).parent / "{robot}.xml")))


def set_motors(robot) -> None:
    for name, (armature, friction, damping, effort, stiffness, gain) in JOINTS.items():
        dof = robot.get_joint(name).dofs_idx_local
        robot.set_dofs_armature([armature], dof)
        robot.set_dofs_frictionloss([friction], dof)
        robot.set_dofs_damping([damping], dof)
        if effort is not None:
            robot.set_dofs_force_range([-effort], [effort], dof)
        if stiffness is not None:
            robot.set_dofs_kp([stiffness], dof)
            robot.set_dofs_kv([gain], dof)
'''


def genesis(robot: str, values: Mapping[str, JointValues]) -> str:
    """Return a Python module for Genesis that sets all values ignored by the MJCF reader of Genesis."""
    text, keys = "", ("armature", "friction", "damping", "effort", "stiffness", "gain")
    for name, x in values.items():
        numbers = [number(y) if (y := getattr(x, key)) is not None else "None" for key in keys]
        why = "; ".join(f"{key}: {x.reasons[key]}" for key in keys if key in x.reasons)
        text += f"    {quoted(name)}: ({', '.join(numbers)}),  # {why}\n"
    return _GENESIS.format(robot=robot, joints=text)


TRAINERS = {
    "mujoco": Trainer("MuJoCo", "best", True, True, False, None),
    "mjlab": Trainer("mjlab", "best", True, True, True, mjlab),
    "genesis": Trainer("Genesis", "diagonal", True, False, False, genesis),
    "isaaclab": Trainer("Isaac Lab", "diagonal", False, False, True, isaaclab),
}
"""Supported trainers by name."""
