"""Rows of frames for the baselines: Jacobians of Pinocchio on a tree, and what inputs do."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...model import ClusterModel
from ..reference.operational import FRAMES, picked
from ._workspace import DATA, LOOPS, Workspace

INPUTS = """
Args:
    B: Torques per input, shape (nv, inputs); by default those of unit torques of the motors, without rotors those of
        the independent joints but for free flyers.
"""

documented_with_loops = stock(STATE, DATA, LOOPS, FRAMES, INPUTS)


def frames_of(model: ClusterModel, given: Iterable[str | int]) -> list[pin.Frame]:
    """Return frames of the user's tree."""
    return [model.tree.frames[model.getFrameId(f) if isinstance(f, str) else int(f)] for f in given]


def jacobian(
    tree: pin.Model, data: pin.Data, places: list[tuple[int, pin.SE3]], reference: pin.ReferenceFrame
) -> np.ndarray:
    """Return the Jacobians of frames, after ``pin.computeJointJacobians``, shape (6 len(places), tree.nv).

    Args:
        tree: Pinocchio's model.
        data: Its data.
        places: Joint and placement in its frame, of each frame.
        reference: Axes and points of the rows.
    """
    # one column comes as a vector
    found = [pin.getFrameJacobian(tree, data, *place, reference).reshape(6, -1) for place in places]
    return np.concatenate([np.zeros((0, tree.nv)), *found])


def rows_of_frames(
    model: ClusterModel, data: Workspace, q: np.ndarray, frames: Any, reference: pin.ReferenceFrame, rows: Any
) -> np.ndarray:
    """Return rows of the Jacobians of frames in the expanded tree, at its q, shape (rows, tree.nv)."""
    places = [(int(data.span.from_tree_id[f.parentJoint]), f.placement) for f in frames_of(model, frames)]
    pin.computeJointJacobians(data.tree, data.data, q)
    return jacobian(data.tree, data.data, places, reference)[picked(rows, len(places))]
