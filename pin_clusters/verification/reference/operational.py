"""Compute operational-space inertias and inverse input matrices from body Jacobians and the inverse mass matrix.

The compiled functions propagate matrices from the tips to the base. This module computes J, M and J M^-1 J' explicitly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ..._support.trees import in_v
from ...model import ClusterModel, SpanningTree, rotor_ids
from ._clusters import Block, blocks, expanded, loops
from .mass_matrix import crba

FRAMES = """
Args:
    frames: Names or ids of frames.
    reference: Axes and reference points of the rows.
    rows: Selected rows of the 6 len(frames) rows, [linear; angular] for each frame: None for all, ``"linear"`` for the
        first three rows of each frame, or indices.
    frame: Name or id of a frame.
    force: Force in the frame, [linear; angular], shape (6,).
    B: Torques per unit of each input, shape (nv, inputs); by default from ``motors``.
    contacts: Names or ids of frames, each with three force components as inputs.
"""
"""Docstring entries for the arguments of operational-space functions, in addition to ``STATE``."""
_documented = stock(STATE, FRAMES)


@_documented
def frame_jacobian(
    model: ClusterModel, q: np.ndarray, frames: Sequence[str | int], reference: pin.ReferenceFrame = pin.LOCAL
) -> np.ndarray:
    """Compute the stacked Jacobians J of frames, shape (6 len(frames), nv); J v contains the frame velocities.

    For cluster k, J_k = X_k J_parent + S_k E_k, where E_k v contains the independent velocities of the cluster.

    References:
        Chignoli et al., arXiv 2311.13732, equation (33).
    """
    span = expanded(model)
    jacobian, pose = body_jacobians(model, blocks(model, q))
    jacobians = []
    for name_or_id in frames:
        frame = model.tree.frames[model.tree.getFrameId(name_or_id) if isinstance(name_or_id, str) else name_or_id]
        j, to_frame = int(span.from_tree_id[frame.parentJoint]), frame.placement.toActionMatrixInverse()
        jacobians.append(_turn(to_frame @ pose[j], reference) @ to_frame @ jacobian[j])
    return np.concatenate(jacobians) if jacobians else np.zeros((0, model.nv))


def body_jacobians(model: ClusterModel, clusters: list[Block]) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Compute, for each body, the Jacobian (6, nv) in body axes and the transform (6, 6) from the universe."""
    jacobian: dict[int, np.ndarray] = {0: np.zeros((6, model.nv))}
    pose: dict[int, np.ndarray] = {0: np.eye(6)}
    stacks: list[tuple[np.ndarray, np.ndarray]] = []
    for block in clusters:
        J, X = stacks[block.parent] if block.parent >= 0 else (jacobian[0], pose[0])
        J, X = block.X @ J, block.X @ X
        J[:, block.columns] += block.S
        stacks.append((J, X))
        for i, j in enumerate(block.bodies):
            jacobian[j], pose[j] = J[6 * i : 6 * i + 6], X[6 * i : 6 * i + 6]
    return jacobian, pose


def placement_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation R and position p of a body; X = [R', -R' [p]x; 0, R'] is its transform from the universe."""
    R = X[:3, :3].T
    skew = -R @ X[:3, 3:]
    return R, np.array([skew[2, 1], skew[0, 2], skew[1, 0]])


def _turn(X: np.ndarray, reference: pin.ReferenceFrame) -> np.ndarray:
    """Return the motion transform from a frame to ``reference``; X is the transform from the universe to the frame."""
    if reference == pin.LOCAL:
        return np.eye(6)
    if reference == pin.WORLD:
        return np.linalg.inv(X)
    turned = np.zeros((6, 6))
    turned[:3, :3] = turned[3:, 3:] = X[:3, :3].T
    return turned


@_documented
def inverse_operational_inertia(
    model: ClusterModel,
    q: np.ndarray,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
) -> np.ndarray:
    """Compute J M^-1 J' for the selected Jacobian rows of frames, shape (rows, rows)."""
    J = frame_jacobian(model, q, frames, reference)[picked(rows, len(frames))]
    return J @ np.linalg.solve(crba(model, q), J.T)


@_documented
def apply_test_force(
    model: ClusterModel, q: np.ndarray, frame: str | int, force: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute M^-1 J' f and J M^-1 J' of a frame, in local axes.

    Returns:
        Change of the independent accelerations, shape (nv,), and J M^-1 J', shape (6, 6).
    """
    J = frame_jacobian(model, q, [frame])
    response = np.linalg.solve(crba(model, q), J.T)
    return response @ force, J @ response


@_documented
def inverse_input_matrix(
    model: ClusterModel,
    q: np.ndarray,
    B: np.ndarray | None = None,
    contacts: Sequence[str | int] = (),
    reference: pin.ReferenceFrame = pin.LOCAL,
) -> np.ndarray:
    """Compute M^-1 [B, J_c'], shape (nv, inputs + 3 len(contacts)); J_c contains the linear rows of the contacts."""
    J = frame_jacobian(model, q, contacts, reference)[picked("linear", len(contacts))]
    B = motors(model, q) if B is None else B
    return np.linalg.solve(crba(model, q), np.hstack([B, J.T]))


@_documented
def motors(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Return joint torques per motor torque, (nv, inputs); without rotors, all joints except free-flyers are inputs."""
    span, space = expanded(model), loops(model)
    if space is None:
        return motors_of(model, span, span.G)
    space.at(np.asarray(q, dtype=float))
    return motors_of(model, span, span.from_tree @ space.G)


def motors_of(model: ClusterModel, span: SpanningTree, G: np.ndarray) -> np.ndarray:
    if model.rotors:
        ids = [j for j, r in zip(rotor_ids(model.rotors, span), model.rotors, strict=True) if r.driven]
        return np.array(G[[span.tree.joints[j].idx_v for j in ids]].T)
    tree = model.tree
    base = {i for j in range(1, tree.njoints) if "FreeFlyer" in tree.joints[j].shortname() for i in in_v(tree, j)}
    return np.eye(model.nv)[:, [int(i) not in base for i in model.idx_v_independent]]


def picked(rows: Any, count: int) -> np.ndarray:
    """Return the indices of the selected rows, given six rows per frame."""
    if isinstance(rows, str):
        return np.array([i for i in range(6 * count) if i % 6 < 3], dtype=np.int64)
    return np.arange(6 * count) if rows is None else np.asarray(rows, dtype=np.int64)
