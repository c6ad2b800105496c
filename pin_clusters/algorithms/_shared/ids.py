"""Checks of joint ids, frame ids, placements and reference frames; Pinocchio omits some of these checks.

Wrong types raise ``ArgumentTypeError``; unknown joints and frames raise ``UnknownNameError``.
"""

from collections.abc import Iterable, Mapping, Set
from numbers import Integral
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, UnknownNameError, did_you_mean, shown
from ...model import NOTHING, ClusterModel

JOINT, FRAME, RATE = 0, 1, 2
"""Flags: the Jacobian of a joint or of a frame; ``JOINT | RATE`` and ``FRAME | RATE``: its time derivative."""
AT_A_PLACE = """
Args:
    where: ``frame_id, reference_frame`` for a frame, or ``joint_id, placement, reference_frame`` for a placement
        relative to a joint.
    named: The same arguments as keyword arguments.
    reference_frame: Axes and reference point of the result. ``pin.LOCAL``: axes and origin of the frame.
        ``pin.WORLD``: axes and origin of the world. ``pin.LOCAL_WORLD_ALIGNED``: world axes, origin of the frame.
"""
"""Docstring section of functions that accept a frame, or a placement relative to a joint."""


def joint(model: ClusterModel, joint_id: Any) -> int:
    return _index(model, joint_id, "joint_id", "getJointId", model.own_tree.njoints)


def frame(model: ClusterModel, frame_id: Any) -> int:
    return _index(model, frame_id, "frame_id", "getFrameId", model.own_tree.nframes)


def reference(reference_frame: Any) -> pin.ReferenceFrame:
    if not isinstance(reference_frame, pin.ReferenceFrame):
        raise ArgumentTypeError(
            "reference_frame must be pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, "
            f"got {shown(reference_frame)} ({type(reference_frame).__name__})."
        )
    return reference_frame


def _index(model: ClusterModel, index: Any, argument: str, look_up: str, count: int) -> int:
    if type(index) is not int and (isinstance(index, bool) or not isinstance(index, Integral)):
        cure = f" Use model.{look_up}({index!r})." if isinstance(index, str) else ""
        raise ArgumentTypeError(f"{argument} must be an integer, got {shown(index)} ({type(index).__name__}).{cure}")
    i = int(index)
    if not 0 <= i < count:
        kind = "joints" if argument == "joint_id" else "frames"
        raise UnknownNameError(
            f"{argument} = {shown(i)}, but model {model.name!r} has the {kind} 0 to {count - 1}. "
            f"Use model.{look_up}(name)."
        )
    return i


def frames(model: ClusterModel, argument: str, entries: Any) -> list[int]:
    """Convert names or ids of frames to ids; duplicates are invalid, and an empty list is valid only for contacts."""
    # A set is rejected because the order of the frames determines the order of the rows.
    if isinstance(entries, (str, bytes, Mapping, Set)) or not hasattr(entries, "__len__") or _is_scalar(entries):
        cure = f" Use [{shown(entries)}]." if isinstance(entries, (str, Integral)) else ""
        raise ArgumentTypeError(f"{argument} must be a list of names or ids, got {shown(entries)}.{cure}")
    listed, names = list(entries), [f.name for f in model.own_tree.frames]
    if not listed and argument != "contacts":
        raise ArgumentTypeError(f"{argument} is empty. Pass at least one frame.")
    indices: list[int] = []
    for f in listed:
        i = _named(model, f, names) if isinstance(f, str) else frame(model, f)
        if i in indices:
            raise ArgumentTypeError(f"{argument}: frame {f!r} ({names[i]}) occurs twice.")
        indices.append(i)
    return indices


def _named(model: ClusterModel, name: str, known: list[str]) -> int:
    if name not in known:
        raise UnknownNameError(f"model {model.name!r} has no frame {name!r}.{did_you_mean(name, known)}")
    if known.count(name) > 1:
        several = ", ".join(f"{i} ({f.type})" for i, f in enumerate(model.own_tree.frames) if f.name == name)
        raise ArgumentTypeError(
            f"model {model.name!r} has several frames {name!r}: {several}. Pass an id, such as "
            f"model.getFrameId({name!r}, pin.FrameType.BODY)."
        )
    return known.index(name)


def rows(selection: Any, frames: int) -> list[int]:
    if selection is None:
        return list(range(6 * frames))
    if isinstance(selection, str):
        if selection != "linear":
            raise ArgumentTypeError(f"rows must be None, 'linear' or indices, got {shown(selection)}.")
        return [6 * i + r for i in range(frames) for r in range(3)]
    several = isinstance(selection, Iterable) and not isinstance(selection, (bytes, Mapping, Set))
    several = several and not _is_scalar(selection)
    indices: list[int] = []
    for r in selection if several else [selection]:
        if isinstance(r, bool) or not isinstance(r, Integral) or not 0 <= int(r) < 6 * frames or int(r) in indices:
            raise ArgumentTypeError(
                f"rows must be different integers from 0 to {6 * frames - 1} (six per frame), got {shown(r)} in "
                f"{selection!r}."
            )
        indices.append(int(r))
    if not indices:
        raise ArgumentTypeError("rows is empty. Pass at least one row.")
    return indices


def _is_scalar(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 0


def place_of(
    model: ClusterModel, where: tuple[Any, ...], named: dict[str, Any], placement: str = "placement"
) -> tuple[int, np.ndarray, pin.ReferenceFrame]:
    """Return an index (joint id or njoints + frame id), the placement and the reference frame from ``where``."""
    index, offset, axes = frame_or_joint(model, where, named, placement)
    return (model.njoints + index, NOTHING, axes) if offset is None else (index, numbers_of(offset), axes)


def frame_or_joint(
    model: ClusterModel,
    where: tuple[Any, ...],
    named: dict[str, Any],
    placement: str = "placement",
    default: pin.ReferenceFrame | None = None,
) -> tuple[int, pin.SE3 | None, pin.ReferenceFrame]:
    """Parse a frame, or a joint with a placement, and the reference frame, which is ``default`` if missing."""
    for names in (("frame_id", "reference_frame"), ("joint_id", placement, "reference_frame")):
        by_position = dict(zip(names, where, strict=False))
        arguments = ({} if default is None else {"reference_frame": default}) | by_position | named
        fits = set(arguments) == set(names) and len(where) <= len(names) and not by_position.keys() & named.keys()
        if not fits or ("frame_id" in arguments and isinstance(arguments["reference_frame"], pin.SE3)):
            continue
        axes = reference(arguments["reference_frame"])
        if "frame_id" in arguments:
            return frame(model, arguments["frame_id"]), None, axes
        return joint(model, arguments["joint_id"]), se3(arguments[placement]), axes
    passed = [*map(repr, where), *(f"{name}={x!r}" for name, x in named.items())]
    raise ArgumentTypeError(
        f"got ({', '.join(['model, data', *passed])}), expected (model, data, frame_id, reference_frame) or "
        f"(model, data, joint_id, {placement}, reference_frame)."
    )


def numbers_of(placement: Any) -> np.ndarray:
    """Return the homogeneous matrix of a placement in row-major order, shape (16,)."""
    return np.array(se3(placement).homogeneous).ravel()


def se3(placement: Any) -> pin.SE3:
    if not isinstance(placement, pin.SE3):
        raise ArgumentTypeError(f"placement must be a pin.SE3, got {shown(placement)} ({type(placement).__name__}).")
    return placement


def of_point(reference_frame: Any) -> pin.ReferenceFrame:
    if reference(reference_frame) == pin.WORLD:
        raise ArgumentTypeError(
            "reference_frame must be pin.LOCAL or pin.LOCAL_WORLD_ALIGNED for the motion of a point, got pin.WORLD."
        )
    return reference_frame
