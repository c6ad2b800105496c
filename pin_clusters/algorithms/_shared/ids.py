"""Of which joint, frame or point something is asked; checked, which Pinocchio does not always do.

``ArgumentTypeError``: it is no such thing; ``UnknownNameError``: there is no joint or frame of that id.
"""

from collections.abc import Iterable, Mapping, Set
from numbers import Integral
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, UnknownNameError, did_you_mean, shown
from ...model import NOTHING, ClusterModel

JOINT, FRAME, RATE = 0, 1, 2
"""Of what a Jacobian is asked: of a joint or a frame; added: its time derivative."""
AT_A_PLACE = """
Args:
    where: ``frame_id, reference_frame`` of a frame of the model, or ``joint_id, placement, reference_frame``.
    named: The same by name.
"""
"""What the docstrings of functions say that take a place in one of two ways."""


def joint(model: ClusterModel, joint_id: Any) -> int:
    """Return a joint id."""
    return _index(model, joint_id, "joint_id", "getJointId", model.own_tree.njoints)


def frame(model: ClusterModel, frame_id: Any) -> int:
    """Return a frame id."""
    return _index(model, frame_id, "frame_id", "getFrameId", model.own_tree.nframes)


def reference(reference_frame: Any) -> pin.ReferenceFrame:
    """Return a reference frame."""
    if not isinstance(reference_frame, pin.ReferenceFrame):
        raise ArgumentTypeError(
            "reference_frame must be pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, "
            f"got {shown(reference_frame)} ({type(reference_frame).__name__})."
        )
    return reference_frame


def _index(model: ClusterModel, given: Any, what: str, look_up: str, count: int) -> int:
    if type(given) is not int and (isinstance(given, bool) or not isinstance(given, Integral)):
        cure = f" Use model.{look_up}({given!r})." if isinstance(given, str) else ""
        raise ArgumentTypeError(f"{what} must be a whole number, got {shown(given)} ({type(given).__name__}).{cure}")
    i = int(given)
    if not 0 <= i < count:
        kind = "joints" if what == "joint_id" else "frames"
        raise UnknownNameError(
            f"{what} = {shown(i)}, but model {model.name!r} has the {kind} 0 to {count - 1}. Use model.{look_up}(name)."
        )
    return i


def frames(model: ClusterModel, what: str, given: Any) -> list[int]:
    """Return the ids of frames given by names or ids, none twice; contacts may be none at all."""
    # a set has no order, which the rows need
    if isinstance(given, (str, bytes, Mapping, Set)) or not hasattr(given, "__len__") or _is_scalar(given):
        cure = f" Write [{shown(given)}]." if isinstance(given, (str, Integral)) else ""
        raise ArgumentTypeError(f"{what} must be a list of names or ids, got {shown(given)}.{cure}")
    listed, known = list(given), [f.name for f in model.own_tree.frames]
    if not listed and what != "contacts":
        raise ArgumentTypeError(f"{what} is empty: name at least one frame.")
    found: list[int] = []
    for f in listed:
        i = _named(model, f, known) if isinstance(f, str) else frame(model, f)
        if i in found:
            raise ArgumentTypeError(f"{what}: frame {f!r} ({known[i]}) is given twice.")
        found.append(i)
    return found


def _named(model: ClusterModel, name: str, known: list[str]) -> int:
    """Return the id of the only frame of a name."""
    if name not in known:
        raise UnknownNameError(f"model {model.name!r} has no frame {name!r}.{did_you_mean(name, known)}")
    if known.count(name) > 1:
        several = ", ".join(f"{i} ({f.type})" for i, f in enumerate(model.own_tree.frames) if f.name == name)
        raise ArgumentTypeError(
            f"model {model.name!r} has several frames {name!r}: {several}. Give the id, as of "
            f"model.getFrameId({name!r}, pin.FrameType.BODY)."
        )
    return known.index(name)


def rows(given: Any, frames: int) -> list[int]:
    """Return the wanted rows of 6 per frame."""
    if given is None:
        return list(range(6 * frames))
    if isinstance(given, str):
        if given != "linear":
            raise ArgumentTypeError(f"rows must be None, 'linear' or indices, got {shown(given)}.")
        return [6 * i + r for i in range(frames) for r in range(3)]
    several = isinstance(given, Iterable) and not isinstance(given, (bytes, Mapping, Set))
    several = several and not _is_scalar(given)
    found: list[int] = []
    for r in given if several else [given]:
        if isinstance(r, bool) or not isinstance(r, Integral) or not 0 <= int(r) < 6 * frames or int(r) in found:
            raise ArgumentTypeError(
                f"rows must be different whole numbers from 0 to {6 * frames - 1} (six per frame), got {shown(r)} in "
                f"{given!r}."
            )
        found.append(int(r))
    if not found:
        raise ArgumentTypeError("rows is empty: name at least one row.")
    return found


def _is_scalar(x: Any) -> bool:
    """Whether x is an array of no dimension, which looks like a list."""
    return isinstance(x, np.ndarray) and x.ndim == 0


def place_of(
    model: ClusterModel, where: tuple[Any, ...], named: dict[str, Any], placement: str = "placement"
) -> tuple[int, np.ndarray, pin.ReferenceFrame]:
    """Return the place that a function was asked for, by position or by name: number, placement, reference frame."""
    index, there, axes = frame_or_joint(model, where, named, placement)
    return (model.njoints + index, NOTHING, axes) if there is None else (index, numbers_of(there), axes)


def frame_or_joint(
    model: ClusterModel,
    where: tuple[Any, ...],
    named: dict[str, Any],
    placement: str = "placement",
    default: pin.ReferenceFrame | None = None,
) -> tuple[int, pin.SE3 | None, pin.ReferenceFrame]:
    """Return what a function was asked for, by position or by name: a frame, or a joint with a placement; and axes.

    ``default`` is the reference frame where none is given.
    """
    for names in (("frame_id", "reference_frame"), ("joint_id", placement, "reference_frame")):
        by_position = dict(zip(names, where, strict=False))
        given = ({} if default is None else {"reference_frame": default}) | by_position | named
        fits = set(given) == set(names) and len(where) <= len(names) and not by_position.keys() & named.keys()
        if not fits or ("frame_id" in given and isinstance(given["reference_frame"], pin.SE3)):
            continue
        axes = reference(given["reference_frame"])
        if "frame_id" in given:
            return frame(model, given["frame_id"]), None, axes
        return joint(model, given["joint_id"]), se3(given[placement]), axes
    told = [*map(repr, where), *(f"{name}={x!r}" for name, x in named.items())]
    raise ArgumentTypeError(
        f"got ({', '.join(['model, data', *told])}), expected (model, data, frame_id, reference_frame) or "
        f"(model, data, joint_id, {placement}, reference_frame)."
    )


def numbers_of(placement: Any) -> np.ndarray:
    """Return the homogeneous matrix of a placement, by rows."""
    return np.array(se3(placement).homogeneous).ravel()


def se3(placement: Any) -> pin.SE3:
    """Return a placement."""
    if not isinstance(placement, pin.SE3):
        raise ArgumentTypeError(f"placement must be a pin.SE3, got {shown(placement)} ({type(placement).__name__}).")
    return placement


def of_point(reference_frame: Any) -> pin.ReferenceFrame:
    """Return a reference frame in which points move."""
    if reference(reference_frame) == pin.WORLD:
        raise ArgumentTypeError(
            "reference_frame must be pin.LOCAL or pin.LOCAL_WORLD_ALIGNED for the motion of a point, got pin.WORLD."
        )
    return reference_frame
