"""Write the folder for a trainer: MJCF file, configuration, exact robot, and a report of the torque errors."""

import os
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..._support.trees import joint_in_v
from ..._support.whole_files import make_folder, refused, whole
from ...algorithms.dynamics.losses import Losses
from ...algorithms.dynamics.passive import springs
from ...algorithms.dynamics.rnea import rnea
from ...approximations.armature import independent_q, independent_v
from ...approximations.serial import serial_tree
from ...constraints import Spring
from ...errors import ArgumentTypeError, ExportError, ModelError, PinClustersWarning, did_you_mean
from ...files.writers import to_mjcf
from ...model import FRICTION_SPEED, ClusterModel, check_model
from .. import study
from ..audit.reflected import reflect
from ..study._samples import rms, spread
from ..study.accuracy import states
from .configurations import TRAINERS, Trainer, number
from .exact import exact_files
from .values import JointValues, on_serial_tree, values_of

_SAMPLES = 500
_LEVELS = {"best": "block", "diagonal": "diagonal"}


@dataclass(frozen=True, eq=False)
class Written:
    """Files and values that ``write`` has written for a trainer.

    Attributes:
        files: Paths of the files.
        values: Values of each joint.
        lost: RMS torque error of each joint along the motion with constant armature, [%] of the joint's peak torque.
        notes: Features that the trainer does not support, one sentence each.
    """

    files: tuple[Path, ...]
    values: Mapping[str, JointValues]
    lost: Mapping[str, float]
    notes: tuple[str, ...]


def write(
    model: ClusterModel,
    trainer: str,
    folder: str | os.PathLike[str],
    *,
    gains: float | None = None,
    trajectory: study.Trajectory | None = None,
    name: str | None = None,
) -> Written:
    """Write a robot for a trainer: ROBOT.xml, ROBOT_TRAINER.py (except for MuJoCo), and the report ROBOT_TRAINER.md.

    ROBOT.xml has constant armature. For MuJoCo and mjlab, ROBOT_exact.py installs ``pc.mujoco.Exact``, which reads the
    exact robot from ROBOT_exact.urdf. mjlab trains in MuJoCo Warp, which needs ``pc.mujoco.warp`` instead of this
    script. Robots with closed loops become serial trees of their independent joints, unless dependent joints carry
    independent joints. Genesis and, in this case, MuJoCo and mjlab receive loops as soft equality constraints.

    Actuators act on the joints to which the rotors are geared, and all values refer to the joint side. If joints
    share motors, the motors can deliver every combination of torques within the limits.

    Args:
        model: The robot, with its rotors and motors.
        trainer: ``"mujoco"``, ``"mjlab"``, ``"genesis"`` or ``"isaaclab"``.
        folder: Output folder, which is created if it does not exist.
        gains: Natural frequency w / (2 pi) of the position control, [Hz]; the stiffness is armature * w^2, and the
            damping ratio is 2. None selects torque control.
        trajectory: Motion for which errors are computed, as in ``study.run``; by default a sine motion of every joint.
        name: Prefix of the file names; by default the robot's name.

    Raises:
        ArgumentTypeError: An argument is invalid.
        ModelError: The robot has no rotors, or the trainer does not support it (closed loops in Isaac Lab).
        ExportError: A file cannot be written.

    Example:
        >>> import pin_clusters as pc, tempfile
        >>> from pin_clusters.studies import trainers
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = trainers.write(pc.load("mit_humanoid_leg"), "isaaclab", folder, gains=10.0)
        >>> [f.name for f in done.files], max(done.lost, key=done.lost.get)
        (['mit_humanoid_leg.xml', 'mit_humanoid_leg_isaaclab.py', 'mit_humanoid_leg_isaaclab.md'], 'ankle')
    """
    check_model(model, "trainers.write")
    if trainer not in TRAINERS:
        raise ArgumentTypeError(f"trainers: unknown trainer {trainer!r}.{did_you_mean(str(trainer), TRAINERS)}")
    to = TRAINERS[trainer]
    if not model.rotors:
        raise ModelError(f"trainers: {model.name!r} has no rotors. Add motors with --motors FILE, or with pc.Rotor.")
    tree, reason = None, ""
    if model.closures and (to.exact or not to.loops):
        try:
            tree = serial_tree(model)
        except ModelError as why:
            reason = str(why)
    if model.closures and not to.loops and tree is None:
        raise ModelError(
            f"trainers: {to.title} does not support closed loops in an articulation, but {model.name!r} has "
            f"{len(model.closures)} (joints {', '.join(model.dependent_joints[:6])}). {reason}"
        )
    result = study.run(model, trajectory, duration=2.0, dt=2e-3)
    _, q, v, a = states(model, result.trajectory, result.base)
    reflected = reflect(model, q)
    if tree is not None:
        reflected = on_serial_tree(model, reflected)
        tree = serial_tree(model, {name: x - reflected.own.get(name, 0.0) for name, x in reflected.armature.items()})
    tendons = to.approximation == "best" and tree is None
    values = values_of(model, reflected, tendons=tendons, gains=gains)
    level = "armature" if model.closures else _LEVELS[to.approximation]
    errors = result.rms_error if tree is None else {level: _error(model, tree, result, q, v, a)}
    error = dict(zip(result.joints, result.share(errors)[level], strict=True))
    lost = {joint: float(x) for joint, x in error.items() if joint in model.independent_joints}
    samples = spread(len(q), _SAMPLES)
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in (name or model.name)) or "robot"
    with warnings.catch_warnings(record=True) as emitted:
        warnings.simplefilter("always", PinClustersWarning)
        mjcf = _mjcf(model if tree is None else tree, to, values, 2 * model.nq + 2 if tree is not None else 0)
        exact, untried = exact_files(model, base, mjcf) if to.exact else ({}, "")
    # Omit this warning of to_mjcf, because the notes describe motor limits in more detail.
    warned = [str(w.message) for w in emitted if " of the motors of model " not in str(w.message)]
    notes = [*_notes(model, to, values, q[samples], v[samples], a[samples]), *warned, *([untried] if untried else [])]
    if tree is not None:
        notes.append("closed loops are omitted; friction and limits of their motors are those of the reference pose.")
    if exact and to.text is not None:
        notes.append(f"{to.title} trains in MuJoCo Warp: call pc.mujoco.warp.install. {base}_exact.py is for MuJoCo.")
    texts = {f"{base}.xml": mjcf}
    if to.text is not None:
        texts[f"{base}_{trainer}.py"] = to.text(base, values)
    texts[f"{base}_{trainer}.md"] = _report(model, to, result, level, values, lost, notes, bool(exact))
    texts |= exact
    folder = Path(folder)
    make_folder(folder, ExportError)
    files = tuple(folder / x for x in texts)
    with refused(ExportError, folder), whole(*files) as parts:
        for part, text in zip(parts, texts.values(), strict=True):
            part.write_text(text, encoding="utf-8")
    return Written(files, values, lost, tuple(notes))


def _error(
    model: ClusterModel, tree: ClusterModel, result: study.StudyResult, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    """Compute the RMS torque error of a serial tree, by column of the study; zero for the wrench on the base."""
    at_q, at_v, difference = independent_q(model, tree.tree), independent_v(model, tree.tree), np.zeros_like(v)
    exact, approximate = model.createData(), tree.createData()
    rates = np.zeros((2, tree.nv))
    for k in range(len(q)):
        rates[:, at_v] = v[k], a[k]
        difference[k] = rnea(tree, approximate, q[k, at_q], *rates)[at_v] - rnea(model, exact, q[k], v[k], a[k])
    error = np.zeros(len(result.joints))
    error[result.actuated] = rms(difference[:, [model.joint_idx_v(result.joints[k]) for k in result.actuated]])
    return error


def _mjcf(model: ClusterModel, to: Trainer, values: Mapping[str, JointValues], nuserdata: int) -> str:
    """Return the MJCF text. It has actuators only for MuJoCo: motors or, with gains, position actuators.

    ``nuserdata`` is positive for a serial tree, which has no rotors: joints have the friction and motors of ``values``.
    """
    text = to_mjcf(model, to.approximation)
    gains = any(x.stiffness is not None for x in values.values())
    if to.text is None and not gains and not nuserdata:
        return text
    root = ET.fromstring(text, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    if nuserdata:  # pc.mujoco.Exact stores the dependent joints of loops in userdata.
        root.insert(list(root).index(root.find("option")), ET.Element("size", nuserdata=str(nuserdata)))  # type: ignore[arg-type]
        for joint in root.iterfind(".//body/joint"):
            x = values.get(joint.get("name", ""), JointValues(""))
            joint.attrib |= {"frictionloss": number(x.friction)} if x.friction else {}
            joint.attrib |= {"damping": number(x.damping)} if x.damping else {}
    motors = root.find("actuator")
    if motors is not None:
        root.remove(motors)
    if to.text is None:
        section = ET.SubElement(root, "actuator")
        for name, x in values.items():
            attributes = {"name": name, "joint": name}
            if gains:
                attributes |= {"kp": number(x.stiffness or 0.0), "kv": number(x.gain or 0.0)}
            if x.effort is not None:
                attributes["forcerange"] = f"{number(-x.effort)} {number(x.effort)}"
            ET.SubElement(section, "position" if gains else "motor", attributes)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _notes(
    model: ClusterModel, to: Trainer, values: Mapping[str, JointValues], q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> list[str]:
    notes = []
    lossy = [r.name for r in model.motors if r.motor and any(r.motor.loss_factors)]
    if lossy:
        notes.append(
            f"{to.title} ignores load-dependent gear losses, which reach {_losses(model, q, v, a):.1f} % (RMS) of "
            f"a motor's torque in this motion: {', '.join(lossy)}."
        )
    lines = [x.joint for x in values.values() if x.stall is not None]
    gains = any(x.stiffness is not None for x in values.values())
    if lines and not (to.torque_speed and (gains or to.title != "mjlab")):
        notes.append(f"only the peak torque is written, although the torque decreases with speed: {', '.join(lines)}.")
    for key, quantity in (("effort", "largest torque"), ("velocity", "largest speed")):
        if unknown := [x.joint for x in values.values() if getattr(x, key) is None]:
            notes.append(f"the {quantity} is unknown and not limited: {', '.join(unknown)}.")
    tree = model.own_tree
    turned = [
        [tree.names[joint_in_v(tree, i)] for i, _ in r.drivers] for r in model.motors if r.motor and r.motor.loses
    ]
    if shared := sorted({", ".join(names) for names in turned if len(names) > 1}):
        notes.append(f"friction of motors driven by several joints acts on each joint separately: {'; '.join(shared)}.")
    if several := [c.label for c in model.constraints if isinstance(c, Spring) and not isinstance(c.along, str)]:
        notes.append(f"only the MJCF can contain springs along several joints: {', '.join(several)}.")
    return notes


def _losses(model: ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """Compute the largest RMS gear loss of a motor, [%] of its RMS torque."""
    data, needed, lost = model.createData(), [], []
    for x in zip(q, v, a, strict=True):
        losses = Losses(model, data, x[0], x[1], FRICTION_SPEED)
        u = losses.motor_torque(rnea(model, data, *x) - springs(model, data, x[0], x[1], FRICTION_SPEED))
        needed.append(losses.needed(u, model, x[2]))
        lost.append(needed[-1] - u)
    return float((100.0 * rms(np.array(lost)) / rms(np.array(needed)).clip(1e-300)).max())


def _report(
    model: ClusterModel,
    to: Trainer,
    result: study.StudyResult,
    level: str,
    values: Mapping[str, JointValues],
    lost: Mapping[str, float],
    notes: list[str],
    exact: bool,
) -> str:
    worst = max(lost, key=lambda joint: lost[joint])
    lines = [
        f"# {model.name} in {to.title}",
        "",
        f"Motion: {result.trajectory.label}. The RMS torque error is at most {lost[worst]:.2g} % of the joint's peak "
        f"torque ({worst}). It is the error of the approximation `{level}`, which {to.title} computes."
        f"{' `pc.mujoco.Exact` removes it in MuJoCo.' if exact else ''}",
        "",
        "| joint | torque error, % | armature | reason |",
        "|---|---|---|---|",
    ]
    names = [*values, *(joint for joint in lost if joint not in values)]
    for joint in names:
        x = values.get(joint)
        err = f"{lost[joint]:.2g}" if joint in lost else ""
        lines.append(
            f"| {joint} | {err} | {number(x.armature) if x else ''} | {x.reasons['armature'] if x else 'no motor'} |"
        )
    lines += ["", "Not supported:" if notes else "All other features are supported.", "", *(f"- {x}" for x in notes)]
    return "\n".join(lines).rstrip() + "\n"
