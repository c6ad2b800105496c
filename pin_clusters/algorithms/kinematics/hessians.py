"""Derivatives of Jacobians with respect to the independent coordinates, along ``pc.integrate``."""

from typing import Any, overload

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import AT_A_PLACE, fast, of_hessian
from ...compiler.calls.tree import THERE, begin, couple, run_tree
from ...compiler.operations import TREE
from ...errors import NotComputedError
from ...kernels.tables.tree_layout import COLUMNS
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree

_COMMON = """
References:
    Pinocchio's ``{name}`` for the Jacobians of the independent velocities; docs/algorithms.md, (L8).
"""
_GETS = """
Args:
    placement: Placement of the frame in the frame of the joint.

Returns:
    Array, shape (6, nv, nv), [linear; angular], in units of J per [rad] or [m]. Entry [:, k, m] is dJ[:, k] / dq_m.

Raises:
    NotComputedError: ``computeJointKinematicHessians`` was not called before.

Example:
    >>> import pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data = model.createData()
    >>> pc.computeJointKinematicHessians(model, data, pc.neutral(model))
    >>> pc.{name}(model, data, 3, pin.LOCAL).shape
    (6, 1, 1)
"""
_documented = _check.documented(_COMMON)
_gets = _check.documented(_COMMON, _ids.AT_A_PLACE, _GETS, solves=False)


def _plans(data: ClusterData, function: Any) -> tuple[Any, ...]:
    plans = []
    for names in ("q", ""):
        begun = begin(data, function, TREE, names)
        if begun is None or (names and not couple(begun[0])):
            return ()
        form, code = begun
        if names:
            run_tree(form, code, COLUMNS, names)
        else:
            form.checks.append(("equal", data._posed[-1:].view("i8"), THERE))
        form.work += [("copy", data._posed.size, data._bent, data._posed), ("set", data._bent[-1:].view("i8"), THERE)]
        plans.append(form.plan())
    return tuple(plans)


@fast(_plans)
@also_pinocchios
@_documented
def computeJointKinematicHessians(model: ClusterModel, data: ClusterData, q: ArrayLike | None = None) -> None:
    """Compute the terms that ``getJointKinematicHessian`` and ``getFrameKinematicHessian`` require.

    Args:
        data: Workspace. If q is passed, the function fills ``data.J`` and ``data.oMi``.
        q: Configuration of the spanning tree, shape (nq,). The default is the q of the last ``computeJointJacobians``.

    Raises:
        NotComputedError: q was omitted, and no earlier call computed Jacobians.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeJointKinematicHessians(model, model.createData(), pc.neutral(model))
    """
    _check.model_data(model, data)
    if q is not None:
        _tree.compute(model, data, COLUMNS, _check.configuration(model, data, q))
    elif not data._posed[-1]:
        raise NotComputedError(
            "data contains no Jacobians to differentiate. Pass q: pc.computeJointKinematicHessians(model, data, q)."
        )
    elif data._posed[-1] != 1.0:
        _bridge.bring(model, data, data._posed[:-1], data._zeros)
    data._bent[:-1], data._bent[-1] = data._posed[:-1], 1.0


@fast(of_hessian())
@also_pinocchios
@_gets
def getJointKinematicHessian(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the derivative of a joint's Jacobian with respect to q."""
    _check.model_data(model, data)
    return _hessian(model, data, _ids.joint(model, joint_id), NOTHING, _ids.reference(reference_frame))


@overload
def getFrameKinematicHessian(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@overload
def getFrameKinematicHessian(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@fast(of_hessian(), AT_A_PLACE)
@also_pinocchios
@_gets
def getFrameKinematicHessian(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the derivative of a frame's Jacobian with respect to q."""
    _check.model_data(model, data)
    return _hessian(model, data, *_ids.place_of(model, where, named, "frame_placement"))


def _hessian(
    model: ClusterModel, data: ClusterData, place: int, M: np.ndarray, reference: pin.ReferenceFrame
) -> np.ndarray:
    if not data._bent[-1]:
        raise NotComputedError(
            "data contains no derivatives of Jacobians. Call pc.computeJointKinematicHessians(model, data, q) first."
        )
    if model.closures and data._bent[-1] == 1.0:
        _bridge.derivatives(model, data, data._bent[:-1], NOTHING, NOTHING, data._bends)
        data._bent[-1] = 2.0
    result = np.empty(6 * model.nv * model.nv)
    data._run_in_tree("place_hessian", data._tree_tables, place, int(reference), M, result)
    return result.reshape(6, model.nv, model.nv)
