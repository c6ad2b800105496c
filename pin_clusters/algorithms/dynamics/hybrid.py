"""Hybrid dynamics: some joints have prescribed accelerations, and the other joints have known torques."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import Form, fast, is_fast
from ...compiler.operations import HYBRID
from ...errors import ArgumentTypeError, ModelError, ShapeError, UnknownNameError, did_you_mean, shown
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import force_columns as _columns

_BOOL = np.dtype(np.bool_)
_MOST_KNOWN = 16  # maximum number of ``prescribed`` arguments with joint names that the C extension stores


def _plans(data: ClusterData, function: Any) -> tuple[Any, ...]:
    forms = [_plan(data, function, forced) for forced in (False, True)]
    return tuple(form.plan() for form in forms if form is not None)


def _plan(data: ClusterData, function: Any, forced: bool, names: Any = None, mask: np.ndarray | None = None) -> Any:
    code = data._code(HYBRID.name, HYBRID.name)
    if not code:
        return None
    form = Form(data, function, "q v tau a prescribed" + " fext" * forced)
    if forced:
        form.forces()
    tables = data._pointers["forced" if forced else "ddq"]
    arrays = {} if mask is None else {"mask": mask}
    words = form.run(HYBRID, code, tables, f"q v tau a {'mask' if arrays else '.'} +nv +nv", arrays=arrays)
    if mask is None:
        word, position = words.leave("prescribed", data.model.nv), form.positions["prescribed"]
        form.checks.append(("mask", position, data.model.nv, word))
    elif not form.items("prescribed", names):
        return None
    return form


@fast(_plans)
@_check.documented()
def hybrid_dynamics(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a: ArrayLike,
    prescribed: Any,
    fext: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the torques of joints with prescribed accelerations, and the accelerations of all other joints.

    If all accelerations are prescribed, the result equals ``rnea``; if none is prescribed, the result equals ``aba``.
    A call takes about as long as ``aba``. Single joints of a cluster and velocities of a free flyer can be prescribed.

    Args:
        tau: Torque of the joints that are not prescribed, shape (nv,), [N m] or [N]; other entries are ignored.
        a: Acceleration of the prescribed joints, shape (nv,), [rad/s^2] or [m/s^2]; other entries are ignored.
        prescribed: Boolean mask, shape (nv,), or names of joints. A name selects all independent velocities of a joint.

    Returns:
        Torque, [N m] or [N], and acceleration, [rad/s^2] or [m/s^2], of all independent joints. Both are new arrays of
        shape (nv,). NaN and inf propagate.

    Raises:
        UnknownNameError: The model has no such joint.
        ModelError: A joint in ``prescribed`` has no independent velocity.
        SingularClusterError: A joint that is not prescribed moves no inertia, or the loops are singular at q.

    References:
        Featherstone, Rigid Body Dynamics Algorithms, section 9.1 (hybrid dynamics); docs/algorithms.md, (H1) to (H6).

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> tau, a = pc.hybrid_dynamics(model, data, q, v, 0 * v, 2 * v, ["elbow_joint"])
        >>> np.allclose(pc.rnea(model, data, q, v, a), tau), float(a[model.joint_idx_v("elbow_joint")])
        (True, 2.0)
    """
    q = _check.pose(model, data, q)
    v, tau, a = _check.velocity(model, "v", v), _check.velocity(model, "tau", tau), _check.velocity(model, "a", a)
    mask = _mask(model, data, prescribed)
    tables = _check.tables(model, data, "ddq", fext)  # this call does not change the fields of data
    tau_out, a_out = np.empty(model.nv), np.empty(model.nv)
    _check.run(model, data, "hybrid", tables, q, v, tau, a, mask, tau_out, a_out)
    if type(prescribed) in (list, tuple) and is_fast(hybrid_dynamics):
        form = _plan(data, hybrid_dynamics, fext is not None, prescribed, mask)
        if form is not None:
            form.remember(_MOST_KNOWN)
    return tau_out, a_out


def _mask(model: ClusterModel, data: ClusterData, prescribed: Any) -> np.ndarray:
    """Convert ``prescribed`` to a mask with one byte per velocity; cache masks of joint names in data."""
    if type(prescribed) not in (list, tuple) or not all(type(name) is str for name in prescribed):
        return _bytes(_resolved(model, prescribed))
    key = "hybrid", *prescribed
    mask: np.ndarray | None = data._plans.get(key)
    if mask is None:
        mask = _columns.store(data, key, _bytes(_resolved(model, prescribed)))
    return mask


def _bytes(mask: np.ndarray) -> np.ndarray:
    return np.require(mask, _BOOL, ["C_CONTIGUOUS", "WRITEABLE", "ENSUREARRAY"]).view(np.int8)


def _resolved(model: ClusterModel, prescribed: Any) -> np.ndarray:
    if isinstance(prescribed, (str, bytes)):
        raise ArgumentTypeError(
            f"prescribed must be a boolean mask or a list of joint names, got {prescribed!r}. Use [{prescribed!r}]."
        )
    if isinstance(prescribed, Mapping) or not isinstance(prescribed, Iterable):
        raise ArgumentTypeError(
            f"prescribed must be a boolean mask of shape (nv,) = ({model.nv},) or a list of joint names, got "
            f"{shown(prescribed)} ({type(prescribed).__name__})."
        )
    entries = prescribed if isinstance(prescribed, np.ndarray) else list(prescribed)
    if not isinstance(entries, np.ndarray) and (not entries or any(isinstance(x, str) for x in entries)):
        return _of_names(model, entries)
    try:
        mask = np.asarray(entries)
    except ValueError as error:  # nested lists of different lengths
        raise ArgumentTypeError(f"prescribed must be a boolean mask or a list of joint names: {error}.") from None
    if mask.ndim == 2 and 1 in mask.shape:
        mask = mask.ravel()
    if mask.dtype.kind == "U":
        return _of_names(model, mask.tolist())
    if mask.dtype != _BOOL:
        raise ArgumentTypeError(
            f"prescribed must be a boolean mask or joint names, got {mask.dtype} of shape {mask.shape}. To select "
            f"indices in v, use mask = np.zeros({model.nv}, dtype=bool); mask[indices] = True."
        )
    if mask.shape != (model.nv,):
        raise ShapeError(
            f"prescribed has shape {mask.shape}, but model {model.name!r} needs (nv,) = ({model.nv},): one entry per "
            "independent velocity."
        )
    return mask


def _of_names(model: ClusterModel, names: list[Any]) -> np.ndarray:
    mask, tree, joints = np.zeros(model.nv, dtype=bool), model.own_tree, list(model.names)[1:]
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"prescribed must contain only joint names, got {shown(name)} ({type(name).__name__}) in {names!r}."
            )
        if name not in joints:
            raise UnknownNameError(
                f"prescribed: model {model.name!r} has no joint {name!r}.{did_you_mean(name, model.independent_joints)}"
            )
        if name in names[:i]:
            raise ArgumentTypeError(f"prescribed contains joint {name!r} twice.")
        j = tree.getJointId(name)
        velocities = np.isin(model.idx_v_independent, np.arange(tree.idx_vs[j], tree.idx_vs[j] + tree.nvs[j]))
        if not velocities.any():
            raise ModelError(_why_not(model, name))
        mask |= velocities
    return mask


def _why_not(model: ClusterModel, name: str) -> str:
    leaders: tuple[str, ...] = next((c.independent for c in model.clusters if name in c.dependent), ())
    if not leaders:
        return f"prescribed: joint {name!r} has no velocity. Omit this joint."
    return (
        f"prescribed: joint {name!r} is dependent on {', '.join(map(repr, leaders))}. Prescribe the latter, "
        f"or make {name!r} independent (for loops with pc.with_independent, otherwise in the coupling constraint)."
    )
