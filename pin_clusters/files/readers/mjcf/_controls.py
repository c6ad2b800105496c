"""Position actuators, sensors and names of keyframes, for ``pc.read_controls``."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....errors import LoadError, did_you_mean
from .._notes import Notes
from ._actuators import Actuator, add_armature, read_actuators, read_tendons
from ._bodies import Body, Joint
from ._document import Document
from ._elements import Element
from ._inertia import read_inertias
from ._meshes import Meshes
from ._model import read
from ._shortcuts import SERVOS, is_mixed
from ._tree import build_tree

ON_SITES = ("gyro", "accelerometer", "velocimeter", "touch")
OF_FRAMES = ("framepos", "framequat")
Sensors = dict[str, tuple[str, str, str]]
"""By name: kind, type of the frame (``"site"`` or ``"xbody"``), name of the frame."""


class Servo(NamedTuple):
    """A position actuator in coordinates of its joint: torque kp (target - q) - kd v."""

    owner: str  # label for messages
    joint: str
    kp: float  # [N m/rad] or [N/m]
    kd: float  # [N m s/rad] or [N s/m]
    range: tuple[float, float]  # smallest and largest target, [rad] or [m]; infinite without a limit


def read_controls(given: Any, folder: Path | None) -> tuple[Document, list[Servo], Sensors, list[str]]:
    """Read a document; ``notes`` of the result contains only messages about actuators and sensors."""
    document, bodies = read(given, folder)
    document.notes, ignored = Notes(), list[str]()
    servos, sensors = _servos(document, bodies, ignored), _sensors(document, bodies, ignored)
    document.notes.about(ignored, "these attributes have no effect: {}.")
    keys = [key.get("name") or str(k) for k, key in enumerate(document.sections["keyframe"]) if key.get("qpos")]
    return document, servos, sensors, keys


def _servos(document: Document, bodies: list[Body], ignored: list[str]) -> list[Servo]:
    joints, tendons = {j.name: j for b in bodies for j in b.joints}, read_tendons(document, bodies)
    actuators, servos, left_out = read_actuators(document, joints, tendons), list[Servo](), list[str]()
    inertias: dict[str, float] = {}
    for k, (element, actuator) in enumerate(zip(document.sections["actuator"], actuators, strict=True)):
        a, label, joint = document.elements.of(element, "actuator", actuator.name), element.get("name") or str(k), None
        gain, gear, tags = a.gainprm[0], actuator.gear, a.tags.split()
        constant, stiffness, damping = (*a.biasprm, 0.0, 0.0, 0.0)[:3]
        if tags[-1] in SERVOS and "actuation" not in document.disabled:
            if is_mixed(tags):
                raise LoadError(
                    f"{a.owner}: its default class also contains other types of actuators. Use a separate class."
                )
            if (
                a.gaintype == "fixed"
                and a.biastype == "affine"
                and constant == 0.0
                and stiffness == -gain <= 0.0 != gear
            ):
                joint = joints.get(actuator.joint or "")
        if joint is None or not joint.scalar:
            left_out.append(label)
            continue
        if a.dyntype != "none":
            raise LoadError(
                f"{a.owner}: a filter of the control ({a.dyntype}) is not supported. Remove timeconst or dyntype."
            )
        if any(s.joint == joint.name for s in servos):
            raise LoadError(f"{a.owner}: joint {joint.name!r} already has a position actuator. Remove one of them.")
        if damping > 0.0:  # a damping ratio
            if any(t.element.armature for t in tendons.values()) or any(m.tendon and m.armature for m in actuators):
                raise LoadError(f"{a.owner}: dampratio is not supported with the armature of tendons. Use kv instead.")
            inertias = inertias or _inertias(document, bodies, actuators)
            damping *= -2.0 * math.sqrt(gain * inertias[joint.name]) / abs(gear)
        low, high = sorted(x / gear for x in _range(document, a, joint))
        servos.append(Servo(a.owner, joint.name, gain * gear**2, -damping * gear**2, (low, high)))
        forces = a.limits("forcerange", "forcelimited", document.compiler.autolimits, needed=False)
        ignored += [f"smaller end of forcerange of {label}"] if forces and forces[0] != -forces[1] else []
        ignored += [f"delay of {label}"] if a.delay else []
    document.notes.about(
        left_out,
        "these actuators are not position actuators of hinges or slides, so the drive does not contain them: {}. To "
        'apply torques, pass vary=("tau",) to pc.Worlds.',
    )
    return servos


def _range(document: Document, a: Element, joint: Joint) -> tuple[float, float]:
    """Return the range to which the control is clamped, in units of the actuator's length."""
    limits = a.limits("ctrlrange", "ctrllimited", document.compiler.autolimits, needed=not a.inheritrange)
    if a.inheritrange > 0.0 and a.ctrllimited != "false":
        if joint.element.range is None:
            raise LoadError(f"{a.owner}: inheritrange needs a range of joint {joint.name!r}. Add it, or use ctrlrange.")
        low, high = np.array(joint.element.range) * (
            document.elements.units.angle(1.0) if joint.kind == "hinge" else 1.0
        )
        radius = 0.5 * a.inheritrange * (high - low)
        limits = 0.5 * (low + high) - radius, 0.5 * (low + high) + radius
    if limits is None or "clampctrl" in document.disabled:
        return -math.inf, math.inf
    if not limits[0] < limits[1]:
        raise LoadError(
            f"{a.owner}: the control range {limits[0]:g} to {limits[1]:g} is empty. Write the lower end first."
        )
    return limits


def _inertias(document: Document, bodies: list[Body], actuators: list[Actuator]) -> dict[str, float]:
    """Return the inertia that MuJoCo 4 uses for ``dampratio``, for each joint in the pose of the file."""
    notes, document.notes = document.notes, Notes()  # The reader of the model emits these warnings.
    layout = build_tree(document, bodies, read_inertias(document, bodies, Meshes(document)), None)
    document.notes = notes
    add_armature(actuators, layout)
    return {name: 1.0 / float(layout.inverse[layout.tree.idx_vs[j]]) for name, j in layout.ids.items()}


def _sensors(document: Document, bodies: list[Body], ignored: list[str]) -> Sensors:
    known = {"site": [name for b in bodies for name, _ in b.sites], "xbody": [b.name for b in bodies]}
    sensors, left_out = Sensors(), list[str]()
    for count, element in enumerate(document.sections["sensor"]):
        kind, name = element.tag, element.get("name") or f"{element.tag}{count}"
        s = Element("sensor", element.attrib, f"sensor {name!r}", document.elements.units)
        of, frame = ("site", s.site) if kind in ON_SITES else (s.objtype, s.objname)
        if kind not in (*ON_SITES, *OF_FRAMES) or of not in known or s.reftype or s.refname:
            left_out.append(name)
            continue
        if name in sensors:
            raise LoadError(f"Two sensors have the same name {name!r}. Rename one of them.")
        if frame not in known[of]:
            raise LoadError(f"{s.owner}: there is no {of} {frame!r}.{did_you_mean(frame, known[of])}")
        ignored += [f"{key} of {name}" for key in ("noise", "cutoff", "delay", "interval") if np.any(getattr(s, key))]
        sensors[name] = kind, of, frame
    document.notes.about(
        left_out,
        f"these sensors are not supported: {{}}. Supported are {', '.join(ON_SITES)}, and {' and '.join(OF_FRAMES)} of "
        "sites and xbodies without reftype.",
    )
    return sensors
