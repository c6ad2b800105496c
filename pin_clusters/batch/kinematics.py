"""Placements of joints and frames for many configurations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import ArrayLike, on_a_page
from ..algorithms._shared import ids as _ids
from ..algorithms.kinematics.kinematics import forwardKinematics as single_forwardKinematics
from ..compiler import entry_points as kernels
from ..compiler.entry_points import Pointer
from ..kernels.tables.tree_layout import Field
from ..model import NOTHING, ClusterModel
from ._marks import MOVES, NOT_FINITE
from ._program import Each, Program, programmed, run_each
from ._tables import Batch, documented, on_device, on_gpu_rows, states

_ADDRESS = Field._fields.index("address")


@documented
def forwardKinematics(
    model: ClusterModel,
    q: ArrayLike,
    frames: Sequence[str | int] | None = None,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the placements of joints or frames in the world for N configurations.

    Rows with open loops are also valid. Therefore, the status is 0 (valid) or 3 (q is not finite).

    Args:
        frames: Names or ids of frames. None selects all joints, starting with the universe.

    Returns:
        Translation [m] and quaternion (x, y, z, w), shape (N, njoints, 7) or (N, len(frames), 7), in ``out`` or a new
        array. ``pin.XYZQUATToSE3`` converts one placement.

    Raises:
        UnknownNameError: The model has no such frame.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> q = np.tile(pc.neutral(model), (5, 1))
        >>> pc.batch.forwardKinematics(model, q).shape[1:] == (model.njoints, 7)
        True
    """
    arguments = states(model, q)
    if on_gpu_rows(arguments):
        return on_device("forwardKinematics", model, arguments, out, status)
    tree, tables = model.own_tree, model.tables.tree
    ids = None if frames is None else _ids.frames(model, "frames", frames)
    count = model.njoints if ids is None else len(ids)
    batch = Batch(
        "forwardKinematics", model, arguments, threads, status, ("out", out, (count, 7)), work=tables.work + tables.out
    )
    result, (q,) = batch.out[0], batch.tables
    places = np.full((count, 2), -1, dtype=np.int64)
    joints = range(count) if ids is None else [int(tree.frames[i].parentJoint) for i in ids]
    places[:, 0] = tables.sections.oMi + 12 * np.array(joints)
    fixed = np.zeros(0)
    if ids is not None:
        within = [tree.frames[i].placement for i in ids]
        fixed = np.concatenate([[*x.rotation.ravel(), *x.translation] for x in within])
        places[:, 1] = 12 * np.arange(count)

    def write(program: Program) -> None:
        arrays = on_a_page(tables.index, tables.params, np.zeros(tables.work), np.zeros(tables.out))
        arrays[0][[row for row, _ in tables.fields], _ADDRESS] = 0  # the kernel must not write to a pin.Data
        arrays[-1][tables.sections.oMi : tables.sections.oMi + 9] = np.eye(3).ravel()  # the kernel skips the universe
        pointer = Pointer(*arrays)
        program.call(kernels.tree, NOT_FINITE, pointer, 0, Each(q, (model.nq,)), NOTHING, NOTHING)
        program.call(kernels.placements, NOT_FINITE, pointer, places, fixed, Each(result, (7 * count,)))

    data: Any = None if kernels.JIT else model.createData()

    def of_row(n: int) -> Any:
        single_forwardKinematics(model, data, q[n])
        if ids is None:
            return [pin.SE3ToXYZQUAT(x) for x in data.oMi]
        pin.updateFramePlacements(tree, data.tree)
        return [pin.SE3ToXYZQUAT(data.oMf[i]) for i in ids]

    run_each(batch, programmed(batch, write) if kernels.JIT else None, of_row, MOVES, check_results=False)
    return result
