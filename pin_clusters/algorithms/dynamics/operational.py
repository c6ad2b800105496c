"""Operational-space inertia and responses to forces at frames, computed without the inverse mass matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, real, vector
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, RankError, shown
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import force_columns as _columns

_COMMON = """
Args:
    frames: Names or ids of frames, in the order of the rows. Frames may share a body or be on rotors.
    reference: Axes and reference points of forces and motions: ``pin.LOCAL``, ``pin.WORLD`` or
        ``pin.LOCAL_WORLD_ALIGNED``.
    rows: Selection from the 6 len(frames) rows, [linear; angular] per frame: None for all, ``"linear"`` for the first
        three of each frame, or row indices.

Raises:
    UnknownNameError: The model has no such frame.
    ArgumentTypeError: An argument has a wrong type; frames or rows are empty or contain duplicates.
"""
_documented = _check.documented(_check.SINGULAR, _COMMON)


@fast(lambda data, function: ())
@_documented
def inverse_operational_inertia(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
) -> np.ndarray:
    """Compute the inverse operational-space inertia J M^-1 J' of frames, including rotors and closed loops.

    The algorithm propagates unit forces from the frames to the base; the mass matrix is not computed.

    Returns:
        Symmetric matrix, shape (rows, rows), [1/kg], [1/(kg m)] or [1/(kg m^2)]; a new array.

    References:
        Chignoli et al., arXiv 2311.13732 (C-EFPA); docs/algorithms.md, (O1) to (O4).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, feet = model.createData(), ["left_ankle", "right_ankle"]
        >>> A = pc.inverse_operational_inertia(model, data, pc.neutral(model), feet, rows="linear")
        >>> A.shape, bool((A == A.T).all())
        ((6, 6), True)
    """
    if type(data) is not ClusterData or data._unchecked is not model:
        _check.model_data(model, data)
    plan = _columns.of_frames(model, data, frames, reference, rows)
    inverse = _columns.columns(model, data, q, plan)
    _remember(data, plan, frames, reference, rows)
    return inverse


def _remember(data: ClusterData, plan: _columns.Plan, frames: Any, reference: Any, rows: Any) -> None:
    if rows is not None and type(rows) not in (str, int):
        return
    names = "q frames" + " rows" * (rows is not None)
    form = _columns.form(data, inverse_operational_inertia, names, "reference")
    if form is None or not form.items("frames", frames):
        return
    form.checks.append(("member", form.positions["reference"], pin.ReferenceFrame, int(reference), int(pin.LOCAL)))
    if rows is not None:
        form.checks.append(("same", form.positions["rows"], rows))
    _columns.remember(form, plan)


@_documented
def operational_inertia(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
    *,
    damping: float = 0.0,
) -> np.ndarray:
    """Compute the operational-space inertia (J M^-1 J')^-1 of frames.

    Args:
        damping: Value added to the diagonal of J M^-1 J', in the units of J M^-1 J', for poses where J is singular.

    Returns:
        Symmetric matrix, shape (rows, rows), [kg], [kg m] or [kg m^2]; a new array.

    Raises:
        RankError: The rows are linearly dependent; ``error.rank`` is the number of independent rows.
        ArgumentTypeError: An argument has a wrong type or value, or frames or rows are empty or contain duplicates.

    References:
        O. Khatib, "A unified approach for motion and force control of robot manipulators", 1987.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.operational_inertia(model, model.createData(), pc.neutral(model), ["torso"], rows="linear").shape
        (3, 3)
    """
    if (added := real(damping)) is None or not 0.0 <= added < np.inf:
        raise ArgumentTypeError(f"damping must be a finite number >= 0, got {shown(damping)}.")
    A = inverse_operational_inertia(model, data, q, frames, reference, rows)
    if not np.all(np.isfinite(A)):
        return np.full_like(A, np.nan)
    n = len(A)
    A[np.diag_indices(n)] += added
    # Scaling makes the rows in m and in rad comparable; otherwise small robots would count as singular. Rows whose
    # diagonal entry is a squared rounding error become zero.
    diagonal, rounding = A.diagonal(), n * np.finfo(float).eps * 1e2
    scale = np.where(diagonal > rounding**2 * diagonal.max(), np.sqrt(np.maximum(diagonal, 0.0)), np.inf)
    w, V = np.linalg.eigh(A / np.outer(scale, scale))
    rank = int(np.count_nonzero(w > rounding * w[-1]))
    if rank < n:
        raise RankError(
            f"the {n} Jacobian rows of frames {list(frames)!r} of model {model.name!r} are linearly dependent (rank "
            f"{rank}). Use fewer rows (rows=), another pose, or damping=.",
            rank,
        )
    V /= scale[:, None]
    return (V / w) @ V.T


@_documented
def apply_test_force(
    model: ClusterModel, data: ClusterData, q: ArrayLike, frame: str | int, force: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the change of the independent accelerations due to an additional force at a frame.

    Args:
        frame: Name or id of a frame.
        force: Force in the axes of the frame, [linear; angular], shape (6,) or a ``pin.Force``, [N] and [N m].

    Returns:
        Change of the independent accelerations, shape (nv,), [rad/s^2] or [m/s^2], and the inverse operational-space
        inertia in the axes of the frame, shape (6, 6), [1/kg], [1/(kg m)] or [1/(kg m^2)]; new arrays.

    References:
        Chignoli et al., arXiv 2311.13732 (C-EFPA); docs/algorithms.md, (O1) to (O5).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q, push = model.createData(), pc.neutral(model), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        >>> da, inverse = pc.apply_test_force(model, data, q, "coupler", push)
        >>> da.shape, inverse.shape
        ((1,), (6, 6))
    """
    q = _check.pose(model, data, q)
    f = force.vector if isinstance(force, pin.Force) else force
    if isinstance(force, pin.Motion):
        raise ArgumentTypeError("force must be a pin.Force or six numbers [linear; angular], got a pin.Motion.")
    f = vector(model, "force", f, 6, "six numbers")
    inverse, response = _columns.of_force(model, data, frame).run(model, data, q)
    return response @ f, inverse
