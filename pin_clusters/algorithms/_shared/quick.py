"""The usual call of a kernel of the tree, in machine code; what is not usual, or not compiled, is left to who asked."""

from typing import Any

import numpy as np

from ..._engine.calls import Desk, fast
from ...model import ClusterData, ClusterModel

JOINT, FRAME, RATE, POINT = 0, 1, 2, 2
"""Of what a Jacobian is asked: of a joint or a frame; added: its time derivative. Or: of a point."""


@fast
def quick_tree(model: ClusterModel, data: ClusterData, what: int, q: Any, v: Any, a: Any) -> bool:
    """Compute what is wished for; returns whether that was done. What is not given is None."""
    return False


@fast
def quick_terms(model: ClusterModel, data: ClusterData, q: Any, v: Any, plan: Desk) -> bool:
    """Compute all terms, with those of the frames of a plan; returns whether that was done."""
    return False


@fast
def quick_motion(model: ClusterModel, data: ClusterData, what: int, q: Any, v: Any, a: Any) -> bool:
    """Do the same where motions are differentiated."""
    return False


@fast
def quick_velocities(
    model: ClusterModel, data: ClusterData, index: Any, matrix: Any, reference_frame: Any, kind: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the derivatives of the velocity of a joint, frame or point (by the homogeneous matrix); None: not done."""
    return None


@fast
def quick_accelerations(
    model: ClusterModel, data: ClusterData, index: Any, matrix: Any, reference_frame: Any, kind: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the derivatives of the acceleration, and of the velocity by q before them; None: not done."""
    return None


@fast
def quick_hessian(
    model: ClusterModel, data: ClusterData, index: Any, matrix: Any, reference_frame: Any, kind: int
) -> np.ndarray | None:
    """Return the derivative of the Jacobian of a joint or frame; None: not done."""
    return None


@fast
def quick_columns(model: ClusterModel, data: ClusterData, q: Any, plan: Desk) -> np.ndarray | None:
    """Return what the plan of a desk wants of the inverse mass matrix at q; None: not done."""
    return None


@fast
def quick_jacobian(
    model: ClusterModel, data: ClusterData, q: Any, index: Any, reference_frame: Any, kind: int
) -> np.ndarray | None:
    """Return the Jacobian of a joint or frame at q, or without q from what is in the tree's data; None: not done."""
    return None
