"""The folder for a trainer: MJCF, its configuration, and what is lost."""

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
from ...constraints import Spring
from ...errors import ArgumentTypeError, ExportError, ModelError, PinClustersWarning, did_you_mean
from ...files.writers import to_mjcf
from ...model import FRICTION_SPEED, ClusterModel, check_model
from .. import study
from ..audit.reflected import reflect
from ..study._samples import rms, spread
from ..study.accuracy import states
from .configurations import TRAINERS, Trainer, number
from .values import JointValues, values_of

_SAMPLES = 500
_RUNGS = {"best": "block", "diagonal": "diagonal"}


@dataclass(frozen=True, eq=False)
class Written:
    """What was written for a trainer.

    Attributes:
        files: Paths.
        values: What the trainer is told of each joint.
        lost: RMS error of torques along the motion, in per cent of each joint's largest torque, by joint.
        notes: What the trainer cannot take, a sentence each.
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
    """Write a robot for a trainer: ROBOT.xml, ROBOT_TRAINER.py (of MuJoCo none), and ROBOT_TRAINER.md, what is lost.

    Motors stand on the joints that turn their rotors; values are those at the joint. Limits of joints that share
    motors are those of the largest box that they can give in any combination, in fixed shares.

    Args:
        model: The robot, with its rotors and motors.
        trainer: ``"mujoco"``, ``"mjlab"``, ``"genesis"`` or ``"isaaclab"``.
        folder: Where to; it is made.
        gains: Natural frequency of gains of position, [Hz]: stiffness = armature w^2, damping ratio 2; None: torques.
        trajectory: Motion on which it is said what is lost; as in ``study.run``, by default a sine at every joint.
        name: Of files; by default the robot's.

    Raises:
        ArgumentTypeError: An argument is of no use.
        ModelError: The robot has no rotors, or what the trainer cannot take, such as closed loops in Isaac Lab.
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
        raise ArgumentTypeError(f"trainers: there is no trainer {trainer!r}.{did_you_mean(str(trainer), TRAINERS)}")
    to = TRAINERS[trainer]
    if not model.rotors:
        raise ModelError(f"trainers: {model.name!r} has no rotors. State its motors: --motors FILE, or pc.Rotor.")
    if model.closures and not to.loops:
        raise ModelError(
            f"trainers: {to.title} takes no closed loops in an articulation, and {model.name!r} has "
            f"{len(model.closures)} (joints {', '.join(model.dependent_joints[:6])}). Train in mjlab, MuJoCo or "
            "Genesis, or write a model without the loops."
        )
    found = study.run(model, trajectory, duration=2.0, dt=2e-3)
    _, q, v, a = states(model, found.trajectory, found.base)
    values = values_of(model, reflect(model, q), tendons=to.approximation == "best", gains=gains)
    rung = "armature" if model.closures else _RUNGS[to.approximation]
    error = dict(zip(found.joints, found.share(found.rms_error)[rung], strict=True))
    lost = {joint: float(x) for joint, x in error.items() if joint in model.independent_joints}
    some = spread(len(q), _SAMPLES)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", PinClustersWarning)
        mjcf = _mjcf(model, to, values)
    others = [str(w.message) for w in said if " of the motors of model " not in str(w.message)]  # these follow better
    notes = (*_notes(model, to, values, q[some], v[some], a[some]), *others)
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in (name or model.name)) or "robot"
    texts = {f"{base}.xml": mjcf}
    if to.text is not None:
        texts[f"{base}_{trainer}.py"] = to.text(base, values)
    texts[f"{base}_{trainer}.md"] = _report(model, to, found, rung, values, lost, notes)
    folder = Path(folder)
    make_folder(folder, ExportError)
    files = tuple(folder / x for x in texts)
    with refused(ExportError, folder), whole(*files) as parts:
        for part, text in zip(parts, texts.values(), strict=True):
            part.write_text(text, encoding="utf-8")
    return Written(files, values, lost, notes)


def _mjcf(model: ClusterModel, to: Trainer, values: Mapping[str, JointValues]) -> str:
    """Return MJCF: with its own motors for MuJoCo, with positions if there are gains, else without any."""
    text = to_mjcf(model, to.approximation)
    gains = any(x.stiffness is not None for x in values.values())
    if to.text is None and not gains:
        return text
    root = ET.fromstring(text, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    motors = root.find("actuator")
    if motors is not None:
        root.remove(motors)
    if to.text is None:
        section = ET.SubElement(root, "actuator")
        for name, x in values.items():
            given = {"name": name, "joint": name, "kp": number(x.stiffness or 0.0), "kv": number(x.gain or 0.0)}
            if x.effort is not None:
                given["forcerange"] = f"{number(-x.effort)} {number(x.effort)}"
            ET.SubElement(section, "position", given)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _notes(
    model: ClusterModel, to: Trainer, values: Mapping[str, JointValues], q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> list[str]:
    notes = []
    lossy = [r.name for r in model.motors if r.motor and any(r.motor.loss_factors)]
    if lossy:
        notes.append(
            f"{to.title} has no loss of gears by load, on this motion up to {_losses(model, q, v, a):.1f} % (RMS) of "
            f"what a motor gives: {', '.join(lossy)}."
        )
    lines = [x.joint for x in values.values() if x.stall is not None]
    gains = any(x.stiffness is not None for x in values.values())
    if lines and not (to.torque_speed and (gains or to.title != "mjlab")):
        notes.append(f"torque that falls with speed is not in the file, but its largest value: {', '.join(lines)}.")
    for key, what in (("effort", "largest torque"), ("velocity", "largest speed")):
        if unknown := [x.joint for x in values.values() if getattr(x, key) is None]:
            notes.append(f"{what} is not known, and not limited: {', '.join(unknown)}.")
    tree = model.own_tree
    turned = [
        [tree.names[joint_in_v(tree, i)] for i, _ in r.drivers] for r in model.motors if r.motor and r.motor.loses
    ]
    if shared := sorted({", ".join(names) for names in turned if len(names) > 1}):
        notes.append(f"friction of motors that several joints turn is on each joint by itself: {'; '.join(shared)}.")
    if several := [c.label for c in model.constraints if isinstance(c, Spring) and not isinstance(c.along, str)]:
        notes.append(f"springs along more than one joint are in the MJCF alone, if at all: {', '.join(several)}.")
    return notes


def _losses(model: ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """Return what motors give for losses of gears, in per cent of what they give, of the motor with most of it."""
    data, given, lost = model.createData(), [], []
    for x in zip(q, v, a, strict=True):
        at = Losses(model, data, x[0], x[1], FRICTION_SPEED)
        u = at.motor_torque(rnea(model, data, *x) - springs(model, data, x[0], x[1], FRICTION_SPEED))
        given.append(at.needed(u, model, x[2]))
        lost.append(given[-1] - u)
    return float((100.0 * rms(np.array(lost)) / rms(np.array(given)).clip(1e-300)).max())


def _report(
    model: ClusterModel,
    to: Trainer,
    found: study.StudyResult,
    rung: str,
    values: Mapping[str, JointValues],
    lost: Mapping[str, float],
    notes: tuple[str, ...],
) -> str:
    worst = max(lost, key=lambda joint: lost[joint])
    lines = [
        f"# {model.name} in {to.title}",
        "",
        f"Motion: {found.trajectory.label}. Torques err by {lost[worst]:.2g} % at most ({worst}): RMS of the error of "
        f"`{rung}`, which is what {to.title} computes, by the joint's largest torque.",
        "",
        "| joint | torque err, % | armature | why |",
        "|---|---|---|---|",
    ]
    names = [*values, *(joint for joint in lost if joint not in values)]
    for joint in names:
        x = values.get(joint)
        err = f"{lost[joint]:.2g}" if joint in lost else ""
        lines.append(
            f"| {joint} | {err} | {number(x.armature) if x else ''} | {x.reasons['armature'] if x else 'no motor'} |"
        )
    lines += ["", "What cannot be said there:" if notes else "All else is said there.", "", *(f"- {x}" for x in notes)]
    return "\n".join(lines).rstrip() + "\n"
