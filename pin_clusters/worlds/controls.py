"""Arguments of ``pc.Worlds`` from an MJCF file: ``pc.read_controls``."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ArgumentTypeError, LoadError, UnknownNameError, did_you_mean
from ..files.readers.mjcf import Servo
from ..files.readers.mjcf import read_controls as read
from ..model import ClusterModel, check_model
from ..model.configuration import project
from .drive import Drive

_NONE = 1e300
"""Torque limits above this value count as unlimited."""


def read_controls(
    mjcf_filename: str | os.PathLike[str],
    model: ClusterModel,
    keyframe: str | None = None,
    *,
    root_folder: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Read the position actuators, the sensors and a keyframe of an MJCF file as arguments of ``pc.Worlds``.

    The drive contains each ``<position>`` actuator, and each ``<general>`` actuator with the same equation, that drives
    a hinge or slide, in the order of the file. Its targets are joint positions: MuJoCo's ``ctrl`` divided by ``gear``.
    They are clamped to ``ctrlrange`` or ``inheritrange``; ``dampratio`` is that of MuJoCo 4.
    If a driven joint of ``model`` has a torque limit, such as ``forcerange``, the drive applies the torque limits of
    the model. A warning names all other actuators.

    Sensors are ``gyro``, ``accelerometer``, ``velocimeter`` and ``touch`` on sites, and ``framepos`` and ``framequat``
    of sites and bodies (``objtype="xbody"``). A sensor without a name gets its type and number, such as ``gyro0``.
    Unlike in MuJoCo, ``framequat`` is ordered x, y, z, w, and ``touch`` is the normal force on the whole body instead
    of the volume of the site. Warnings name unsupported sensors and ignored attributes, such as ``noise``.

    Args:
        mjcf_filename: Path of the file, or its XML as text.
        model: The model that ``pc.buildModelFromMJCF`` built from the same file.
        keyframe: Name of the keyframe; an unnamed keyframe has its number as name. By default the first keyframe.
        root_folder: Folder that must contain all included files; by default the folder of the file.

    Returns:
        Dict with ``drive`` (``pc.Drive``, or None without position actuators), ``sensors`` and, if the file has a
        keyframe with ``qpos``, ``q``: its configuration with closed loops, shape (nq,), [rad] or [m].

    Raises:
        LoadError: The file is invalid, or a position actuator has a filter or cannot be expressed as a drive.
        UnknownNameError: ``model`` lacks a joint, frame or keyframe of the file.
        ConfigurationError: The loops of the keyframe cannot be closed.

    Example:
        >>> import pin_clusters as pc
        >>> text = '''<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/><site name="tip"/>
        ... <geom type="capsule" size="0.05" fromto="0 0 0 1 0 0"/></body></worldbody>
        ... <sensor><gyro name="w" site="tip"/></sensor>
        ... <actuator><position joint="hinge" kp="50" kv="2"/></actuator></mujoco>'''
        >>> model = pc.buildModelFromMJCF(text)
        >>> worlds = pc.Worlds(model, 4, **pc.read_controls(text, model))
        >>> worlds.step([[0.1]] * 4)
        >>> worlds.sensors["w"].shape
        (4, 3)
    """
    check_model(model, "read_controls")
    if keyframe is not None and not isinstance(keyframe, str):
        raise ArgumentTypeError(f"read_controls: keyframe must be a name or None, got {keyframe!r}.")
    document, servos, sensors, keys = read(mjcf_filename, None if root_folder is None else Path(root_folder))
    other = f"model {model.name!r}. Pass the model that pc.buildModelFromMJCF built from this file"
    result: dict[str, Any] = {"drive": _drive(servos, model, other)}
    result["sensors"] = {name: (kind, _frame(model, other, *of)) for name, (kind, *of) in sensors.items()}
    if keyframe is not None and keyframe not in keys:
        raise UnknownNameError(
            f"{document.source} has no keyframe {keyframe!r} with qpos.{did_you_mean(keyframe, keys)}"
        )
    if keys:
        name, poses = keyframe or keys[0], model.own_tree.referenceConfigurations
        if name not in [item.key() for item in poses] or len(poses[name]) != model.nq:
            raise UnknownNameError(f"keyframe {name!r} of {document.source} is not stored in {other}.")
        result["q"] = project(model, np.array(poses[name]))
    document.notes.warn(document.name, stacklevel=2)
    return result


def _drive(servos: list[Servo], model: ClusterModel, other: str) -> Drive | None:
    tree, limit = model.own_tree, None
    for s in servos:
        if s.joint not in tree.names:
            known = did_you_mean(s.joint, list(tree.names))
            raise UnknownNameError(f"{s.owner}: joint {s.joint!r} does not exist, or is fixed, in {other}.{known}")
        if s.joint not in model.independent_joints:
            raise LoadError(
                f"{s.owner}: joint {s.joint!r} of model {model.name!r} depends on other joints. Build the model with "
                f"independent=[{s.joint!r}, ...], or remove the actuator."
            )
        limit = "motor" if tree.effortLimit[tree.joints[tree.getJointId(s.joint)].idx_v] < _NONE else limit
    if not servos:
        return None
    _, joints, kp, kd, bounds = zip(*servos, strict=True)
    return Drive(np.array(kp), np.array(kd), limit, joints, np.array(bounds) if np.isfinite(bounds).any() else None)


def _frame(model: ClusterModel, other: str, of: str, name: str) -> str | int:
    """Return the name of the frame of a site or body, or its id if another frame has the same name."""
    name = "universe" if of == "xbody" and name == "world" else name
    its_type = pin.FrameType.OP_FRAME if of == "site" else pin.FrameType.BODY
    same = {i: f.type for i, f in enumerate(model.own_tree.frames) if f.name == name}
    ids = [i for i, t in same.items() if t == its_type or name == "universe"]
    if len(ids) != 1:
        raise UnknownNameError(f"{of} {name!r} is not a frame of {other}.")
    return name if len(same) == 1 else ids[0]
