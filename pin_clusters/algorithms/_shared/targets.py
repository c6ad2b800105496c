"""Of which joint, frame or point something is asked: checked, and as the kernels take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError
from ...model import NOTHING, ClusterData, ClusterModel
from . import ids as _ids
from .quick import FRAME, JOINT


def place_of(
    model: ClusterModel, where: tuple[Any, ...], named: dict[str, Any], placement: str = "placement"
) -> tuple[int, np.ndarray, pin.ReferenceFrame]:
    """Return the place that a function was asked for, in one of two ways: number, placement, reference frame.

    Args:
        model: Cluster model.
        where: Positional arguments behind model and data.
        named: Arguments by name.
        placement: What the placement is called.
    """
    for names in (("frame_id", "reference_frame"), ("joint_id", placement, "reference_frame")):
        given = dict(zip(names, where, strict=False)) | named
        if set(given) == set(names) and len(where) + len(named) == len(names):
            reference = _ids.reference(given["reference_frame"])
            if "frame_id" in given:
                return model.njoints + _ids.frame(model, given["frame_id"]), NOTHING, reference
            return _ids.joint(model, given["joint_id"]), numbers_of(given[placement]), reference
    told = [*map(repr, where), *(f"{name}={x!r}" for name, x in named.items())]
    raise ArgumentTypeError(
        f"got ({', '.join(['model, data', *told])}), expected (model, data, frame_id, reference_frame) or "
        f"(model, data, joint_id, {placement}, reference_frame)."
    )


def quickly(function: Any, model: ClusterModel, data: ClusterData, where: tuple[Any, ...]) -> Any:
    """Return what a call in machine code knows of a frame; None: nothing."""
    if len(where) == 2:
        return function(model, data, where[0], None, where[1], FRAME)
    if len(where) == 3 and isinstance(where[1], pin.SE3):
        return function(model, data, where[0], where[1].homogeneous, where[2], JOINT)
    return None


def numbers_of(placement: Any) -> np.ndarray:
    """Return the homogeneous matrix of a placement, by rows."""
    if not isinstance(placement, pin.SE3):
        raise ArgumentTypeError(f"placement must be a pin.SE3, got {placement!r} ({type(placement).__name__}).")
    return np.array(placement.homogeneous).ravel()


def of_point(reference_frame: Any) -> pin.ReferenceFrame:
    """Return a reference frame in which points move."""
    if _ids.reference(reference_frame) == pin.WORLD:
        raise ArgumentTypeError(
            "reference_frame must be pin.LOCAL or pin.LOCAL_WORLD_ALIGNED for the motion of a point, got pin.WORLD."
        )
    return reference_frame
