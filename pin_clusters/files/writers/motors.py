"""What a robot's own file suggests about its motors, and a file of motors to fill in."""

import json
import os
import warnings
from typing import Any, NamedTuple

import pinocchio as pin

from ..._support.trees import joint_axis
from ...errors import ModelError, PinClustersWarning
from ...model import ClusterModel
from ..motor_keys import MOTOR, VERSION
from ._joints import UNLIMITED
from ._text import text, write


def warn_of_motors(caller: str, model: ClusterModel) -> None:
    """Warn of what files of robots cannot hold of motors."""
    lossy = [r.name for r in model.rotors if r.motor is not None and any(r.motor.loss_factors)]
    fast = [r.name for r in model.rotors if r.motor is not None and r.motor.torque_limits(1e9)[1] == 0.0]
    told = [("losses of gears", lossy), ("torques by speed and voltage", fast)]
    if said := "; ".join(f"{what} ({', '.join(names)})" for what, names in told if names):
        warnings.warn(
            f"{caller}: the file cannot hold all of the motors of model {model.name!r}: {said}. Keep them in a "
            ".motors.yaml file, for pc.open_robot(..., motors=FILE).",
            PinClustersWarning,
            stacklevel=3,
        )


class Suggested(NamedTuple):
    """What the robot's file says about a joint of one degree of freedom that leads, and that no rotor drives yet."""

    joint: str
    armature: float  # [kg m^2] or [kg]; 0 without any
    link: str  # that looks like its rotor; "" without one
    inertia: float  # of that link about its centre along the joint's axis, [kg m^2]
    limits: dict[str, float]  # as in ``motor_keys.LIMITS``


def suggested(model: ClusterModel) -> list[Suggested]:
    """Return the joints that may have a motor; link ``X_rotor``, fixed to what carries ``X[_joint]``, is its rotor."""
    tree, found = model.own_tree, list[Suggested]()
    links = {f.name: f for f in tree.frames if f.type == pin.FrameType.BODY and f.name.endswith("_rotor")}
    used = {iv for r in model.rotors for iv, _ in r.drivers}
    used |= {tree.idx_vs[row.dependent] for row in model.coupling_rows} - {*model.idx_v_independent}
    for j in range(1, tree.njoints):
        name, i, axis, inertia = str(tree.names[j]), tree.idx_vs[j], joint_axis(tree.joints[j]), 0.0
        if axis is None or i in used:
            continue
        frame = links.get(f"{name.removesuffix('_joint')}_rotor")
        if frame is not None and frame.parentJoint == tree.parents[j]:
            axis = frame.placement.rotation.T @ tree.jointPlacements[j].rotation @ axis
            inertia = float(axis @ tree.frames[frame.parentFrame].inertia.inertia @ axis)  # of the fixed joint
        both = ("effort", tree.effortLimit), ("velocity", tree.velocityLimit)
        limits = {key: float(x[i]) for key, x in both if 0.0 < x[i] < UNLIMITED}
        link = str(frame.name) if frame and inertia else ""
        found.append(Suggested(name, float(tree.armature[i]), link, inertia, limits))
    return found


def told(model: ClusterModel) -> str:
    """Return what was found and which command uses it, a sentence each with a space before it."""
    found, said = suggested(model), ""
    if armature := [f"{s.joint}: {s.armature:g}" for s in found if s.armature]:
        said += f" Joints with armature: {len(armature)} ({armature[0]}, ...); pin-clusters audit FILE --from-armature "
        said += "RATIO takes it for rotors of inertia armature / RATIO^2."
    if links := [s.link for s in found if s.link]:
        said += (
            f" Links on fixed joints that look like rotors: {len(links)} ({links[0]}, ...); pin-clusters motors FILE "
        )
        said += "writes them to a file, for --motors, in which you fill in the ratios."
    return said


def from_armature(model: ClusterModel, ratio: float) -> dict[str, Any]:
    """Return motors that stand for the armature of joints, all behind gears of one ratio; none is a ``ModelError``."""
    found = [
        {"joint": s.joint, "ratio": ratio, "rotor_inertia": s.armature / ratio**2, "armature": "replace"}
        for s in suggested(model)
        if s.armature
    ]
    if not found:
        raise ModelError(f"no joint of {model.name!r} that a motor may drive has armature.{told(model)}")
    return {"motors_version": VERSION, "motors": found}


def motors_template(model: ClusterModel, file: str | os.PathLike[str] | None = None) -> str:
    """Write a file of motors with what the robot's file says, and ``null`` for the rest; of none a ``ModelError``."""
    if not (found := suggested(model)):
        raise ModelError(
            f"model {model.name!r} has no joint of one degree of freedom without a rotor: nothing to state."
        )
    lines = [
        f"# Motors of {model.name}, for --motors FILE and pc.open_robot(..., motors=FILE). Fill in what is null, take",
        "# out joints without a motor. SI units. Keys of a motor:",
        *(f"#   {k}: {x.about}" for k, x in MOTOR.items()),
        f"motors_version: {VERSION}",
        "motors:",
    ]
    for s in found:
        lines += [f"  - joint: {json.dumps(s.joint)}", "    ratio: null"]
        lines += [f"    rotor_inertia: {text(s.inertia) if s.link else 'null'}"]
        if s.armature:
            lines += [f"    armature: replace  # of {s.armature:g}, which is rotor_inertia * ratio^2"]
        if s.limits:
            lines += [f"    limits: {{at: joint, {', '.join(f'{k}: {text(x)}' for k, x in s.limits.items())}}}"]
        lines += [f"    source: {json.dumps(f'link {s.link} of the robot') if s.link else 'null'}"]
    return write("\n".join(lines) + "\n", file)
