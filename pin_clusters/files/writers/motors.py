"""Find motors that a robot's own file suggests, and write a template of a motor file."""

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
    lossy = [r.name for r in model.rotors if r.motor is not None and any(r.motor.loss_factors)]
    fast = [r.name for r in model.rotors if r.motor is not None and r.motor.torque_limits(1e9)[1] == 0.0]
    losses = [("gear losses", lossy), ("torque limits that depend on speed and voltage", fast)]
    if details := "; ".join(f"{loss} ({', '.join(names)})" for loss, names in losses if names):
        warnings.warn(
            f"{caller}: the file cannot contain these motor properties of model {model.name!r}: {details}. Write them "
            "to a .motors.yaml file, and read the robot with pc.open_robot(..., motors=FILE).",
            PinClustersWarning,
            stacklevel=3,
        )


class Suggested(NamedTuple):
    """A joint that may have a motor: it has one degree of freedom, is not dependent, and has no rotor."""

    joint: str
    armature: float  # [kg m^2] or [kg]; 0 without armature
    link: str  # name of a link that is probably the rotor, or ""
    inertia: float  # inertia of that link about its centre of mass and the joint axis, [kg m^2]
    limits: dict[str, float]  # keys of ``motor_keys.LIMITS``


def suggested(model: ClusterModel) -> list[Suggested]:
    """Find joints that may have a motor; link ``X_rotor`` on the parent of ``X`` or ``X_joint`` counts as its rotor."""
    tree, candidates = model.own_tree, list[Suggested]()
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
            # Pinocchio stores the inertia of the link in the frame of its fixed joint.
            inertia = float(axis @ tree.frames[frame.parentFrame].inertia.inertia @ axis)
        limit_arrays = ("effort", tree.effortLimit), ("velocity", tree.velocityLimit)
        limits = {key: float(x[i]) for key, x in limit_arrays if 0.0 < x[i] < UNLIMITED}
        link = str(frame.name) if frame and inertia else ""
        candidates.append(Suggested(name, float(tree.armature[i]), link, inertia, limits))
    return candidates


def told(model: ClusterModel) -> str:
    """Describe possible motors, and the commands that use them, in sentences that each start with a space."""
    candidates, sentences = suggested(model), ""
    if armature := [f"{s.joint}: {s.armature:g}" for s in candidates if s.armature]:
        sentences += (
            f" Joints with armature: {len(armature)} ({armature[0]}, ...); pin-clusters audit FILE --from-armature "
        )
        sentences += "RATIO converts armature to rotors of inertia armature / RATIO^2."
    if links := [s.link for s in candidates if s.link]:
        sentences += (
            f" Links on fixed joints that look like rotors: {len(links)} ({links[0]}, ...); pin-clusters motors FILE "
        )
        sentences += "writes a template for --motors; fill in the ratios there."
    return sentences


def from_armature(model: ClusterModel, ratio: float) -> dict[str, Any]:
    motors = [
        {"joint": s.joint, "ratio": ratio, "rotor_inertia": s.armature / ratio**2, "armature": "replace"}
        for s in suggested(model)
        if s.armature
    ]
    if not motors:
        raise ModelError(f"model {model.name!r} has no actuated joint with armature.{told(model)}")
    return {"motors_version": VERSION, "motors": motors}


def motors_template(model: ClusterModel, file: str | os.PathLike[str] | None = None) -> str:
    """Write a motor file with known values from the robot's file, and ``null`` for unknown values."""
    if not (candidates := suggested(model)):
        raise ModelError(
            f"model {model.name!r} has no joint that needs a motor: each independent joint with one degree of freedom "
            "has a rotor."
        )
    lines = [
        f"# Motors of {model.name}, for --motors FILE and pc.open_robot(..., motors=FILE). Replace every null, and",
        "# delete joints without a motor. SI units. Keys of a motor:",
        *(f"#   {k}: {x.about}" for k, x in MOTOR.items()),
        f"motors_version: {VERSION}",
        "motors:",
    ]
    for s in candidates:
        lines += [f"  - joint: {json.dumps(s.joint)}", "    ratio: null"]
        lines += [f"    rotor_inertia: {text(s.inertia) if s.link else 'null'}"]
        if s.armature:
            lines += [f"    armature: replace  # {s.armature:g} in the robot's file, equal to rotor_inertia * ratio^2"]
        if s.limits:
            lines += [f"    limits: {{at: joint, {', '.join(f'{k}: {text(x)}' for k, x in s.limits.items())}}}"]
        lines += [f"    source: {json.dumps(f'link {s.link} of the robot') if s.link else 'null'}"]
    return write("\n".join(lines) + "\n", file)
