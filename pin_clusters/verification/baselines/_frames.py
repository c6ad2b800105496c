"""Compute Jacobian rows of frames for the baselines, with Pinocchio."""

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
    B: Torques per unit of each input, shape (nv, inputs). By default, the inputs are the motor torques or, without
        rotors, the torques of independent joints except free-flyers.
"""

documented_with_loops = stock(STATE, DATA, LOOPS, FRAMES, INPUTS)


def frames_of(model: ClusterModel, given: Iterable[str | int]) -> list[pin.Frame]:
    return [model.tree.frames[model.getFrameId(f) if isinstance(f, str) else int(f)] for f in given]


def jacobian(
    tree: pin.Model, data: pin.Data, places: list[tuple[int, pin.SE3]], reference: pin.ReferenceFrame
) -> np.ndarray:
    """Stack the Jacobians of frames (joint, placement); call ``pin.computeJointJacobians`` first."""
    # For a Jacobian with one column, Pinocchio returns a vector.
    jacobians = [pin.getFrameJacobian(tree, data, *place, reference).reshape(6, -1) for place in places]
    return np.concatenate([np.zeros((0, tree.nv)), *jacobians])


def rows_of_frames(
    model: ClusterModel, data: Workspace, q: np.ndarray, frames: Any, reference: pin.ReferenceFrame, rows: Any
) -> np.ndarray:
    """Compute the selected Jacobian rows of frames at configuration q of the expanded tree, shape (rows, tree.nv)."""
    places = [(int(data.span.from_tree_id[f.parentJoint]), f.placement) for f in frames_of(model, frames)]
    pin.computeJointJacobians(data.tree, data.data, q)
    return jacobian(data.tree, data.data, places, reference)[picked(rows, len(places))]
