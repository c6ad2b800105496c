"""Checks of joint ids, frame ids and reference frames, which Pinocchio does not always make.

``ArgumentTypeError``: it is no such thing; ``UnknownNameError``: there is no joint or frame of that id.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import pinocchio as pin

from ..errors import ArgumentTypeError, UnknownNameError
from ..model import ClusterModel


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
            f"got {reference_frame!r} ({type(reference_frame).__name__})."
        )
    return reference_frame


def _index(model: ClusterModel, given: Any, what: str, look_up: str, count: int) -> int:
    if isinstance(given, bool) or not isinstance(given, Integral):
        cure = f" Use model.{look_up}({given!r})." if isinstance(given, str) else ""
        raise ArgumentTypeError(f"{what} must be a whole number, got {given!r} ({type(given).__name__}).{cure}")
    i = int(given)
    if not 0 <= i < count:
        kind = "joints" if what == "joint_id" else "frames"
        raise UnknownNameError(
            f"{what} = {i}, but model {model.name!r} has the {kind} 0 to {count - 1}. Use model.{look_up}(name)."
        )
    return i
