"""The only validation of arguments; reached when the fast way did not fit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support import arrays as _arrays
from ..._support.arrays import array, is_vector, room
from ..._support.arrays import velocity as velocity
from ..._support.docstrings import COMMON, F, stock
from ...errors import ArgumentTypeError, DataMismatchError, ShapeError, shown
from ...model import ClusterData, ClusterModel, check_model, singular_error, weightless_error
from ...model import configuration as _configuration

_STATE = """
Raises:
    DataMismatchError: ``data`` belongs to another model.
    ConfigurationError (q): q is off the couplings (if ``data.check``).
"""
_LOOPS = """
Raises:
    SingularClusterError (q): Closed loops cannot be solved for their dependent joints.
"""


def documented(*own: str, solves: bool = True) -> Callable[[F], F]:
    """Return the decorator that completes the docstrings of algorithms: the state, and what the checks raise.

    Args:
        own: What the algorithms of one module have in common besides, as in ``docstrings.stock``.
        solves: Whether those that are given q solve its closed loops.
    """
    return stock(COMMON, _STATE, *((_LOOPS,) if solves else ()), *own)


def model_data(model: Any, data: Any) -> None:
    """Check that model and data are ours and belong together; and, if ``data.check``, that nobody changed the tree."""
    if type(data) is ClusterData and data._unchecked is model:
        return
    check_model(model, cure="The order of arguments is (model, data, q, ...).")
    if isinstance(data, pin.Data):
        raise DataMismatchError(
            f"data is a pinocchio.Data, but model {model.name!r} is a ClusterModel. Use data = model.createData(), "
            "which is a ClusterData; its pinocchio.Data of the tree is data.tree."
        )
    if not isinstance(data, ClusterData):
        cure = "Use data = model.createData() of the ClusterModel."
        raise ArgumentTypeError(f"data must be a ClusterData, got {type(data).__name__}. {cure}")
    if data._model is not model:
        given, own = repr(model), repr(data._model)
        what = f"than the one given ({given})" if given != own else "though its name and sizes are the same"
        raise DataMismatchError(
            f"data was made by another model ({own}) {what}. "
            "Use data = model.createData() of this model, or pass data.model."
        )
    if data.check and model.was_changed():
        raise DataMismatchError(
            f"model.tree of {model.name!r} was changed after the ClusterModel was made (or its inertia_tree); the "
            "algorithms do not see that. Change the pin.Model first and make a new ClusterModel."
        )


def pose(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Check model and data, and return q as ``configuration`` does."""
    # the usual call, told at once: see ClusterData.check
    if type(data) is ClusterData and data._unchecked is model and is_vector(q, model.nq):
        return q
    model_data(model, data)
    return configuration(model, data, q)


def state(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check model and data, and return q as ``configuration`` does, and v, shape (nv,)."""
    return pose(model, data, q), velocity(model, "v", v)


def motion(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check model and data, and return q and v as ``state`` does, and a, shape (nv,)."""
    return *state(model, data, q, v), velocity(model, "a", a)


def last_motion(model: ClusterModel, data: ClusterData, level: int, function: str) -> list[np.ndarray]:
    """Check model and data, and return the last q and v (level 1) or q, v and a (level 2), where none is given.

    Raises:
        NotComputedError: There is none; ``function`` is the one that asks.
    """
    model_data(model, data)
    return data._last_motion(level, function, f"forwardKinematics(model, data, q, v{', a' * (level > 1)})")


def rates(model: ClusterModel, v: Any, a: Any = None) -> tuple[np.ndarray, ...]:
    """Return v, and a if it is given, shape (nv,)."""
    v = velocity(model, "v", v)
    return (v,) if a is None else (v, velocity(model, "a", a))


def configuration(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Return q, shape (nq,); on the couplings and of unit norm if ``data.check``."""
    a = _arrays.configuration(model, "q", q)
    if data.check:
        _configuration.check(model, a)
    data._supply(a)
    return a


def forces(model: ClusterModel, fext: Any) -> np.ndarray:
    """Return external forces as an array of shape (njoints, 6), [linear; angular] in joint frames."""
    n = model.njoints
    if isinstance(fext, np.ndarray):
        if fext.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"fext must hold real numbers, got {fext.dtype}.")
        if fext.shape != (n, 6):
            raise ShapeError(f"fext has shape {fext.shape}, but model {model.name!r} needs (njoints, 6) = ({n}, 6).")
        return np.ascontiguousarray(fext, dtype=np.float64)
    if isinstance(fext, (str, bytes, Mapping)) or (not isinstance(fext, Sequence) and not hasattr(fext, "__len__")):
        given_type = type(fext).__name__
        raise ArgumentTypeError(f"fext must be a list of pin.Force or an (njoints, 6) array, got {given_type}.")
    if len(fext) != n:
        raise ShapeError(
            f"fext has {len(fext)} forces, but model {model.name!r} needs njoints = {n} (the first is the universe's)."
        )
    # the iterator of a StdVec_Force takes five times as long
    listed = fext.tolist() if type(fext) is pin.StdVec_Force else list(fext)
    if set(map(type, listed)) == {pin.Force}:
        return np.array([f.vector for f in listed])
    rows = []
    for j, f in enumerate(listed):
        row = f.vector if isinstance(f, pin.Force) else f
        if isinstance(f, pin.Motion) or np.shape(row) != (6,):
            raise ArgumentTypeError(
                f"fext[{j}] (joint {model.names[j]!r}) must be a pin.Force or six numbers [linear; angular], "
                f"got {shown(f)}."
            )
        rows.append(array(f"fext[{j}]", row))
    return np.array(rows)


def convention(given: Any) -> None:
    """Check what is given as a convention, of which nothing depends here."""
    if given is not None and not isinstance(given, pin.Convention):
        raise ArgumentTypeError(
            f"convention must be a pin.Convention, got {shown(given)} ({type(given).__name__}). It says how Pinocchio "
            "computes, and makes no difference here: leave it out."
        )


def put_forces(model: ClusterModel, data: ClusterData, fext: Any) -> np.ndarray:
    """Write external forces where the kernels read them, and return that."""
    room: np.ndarray = data._pointers["forced"].arrays[-1]
    room[model.nv :] = forces(model, fext).ravel()
    return room


def tables(model: ClusterModel, data: ClusterData, usual: str, fext: Any) -> str:
    """Return the name of the tables that kernels of forces are given: the usual one, or that with external forces."""
    if fext is None:
        return usual
    put_forces(model, data, fext)
    return "forced"


def result(out: Any, shape: tuple[int, ...], *given: Any) -> np.ndarray:
    """Return where a kernel writes its result: ``out``, which must be apart from all that was given, or a new array."""
    if out is None:
        return np.empty(shape)
    found = room("out", out, shape, np.float64, ". Leave it out.")
    if any(np.may_share_memory(found, x) for x in given):
        raise ArgumentTypeError("out overlaps an argument, which is read while out is written. Leave it out.")
    return found


def run(
    model: ClusterModel, data: ClusterData, kernel: str, result: str, q: np.ndarray, *rest: np.ndarray, of: str = ""
) -> None:
    """Run a kernel of data, on its tables for a result, for a function of users; raise what it reports."""
    status(model, data._run(kernel, result, q, *rest, of=of), q)


def status(model: ClusterModel, code: int, q: np.ndarray) -> None:
    """Raise what a kernel reported; NaN and inf in q are no singularity, they propagate.

    Raises:
        SingularClusterError: A cluster's D is singular, or its loops cannot be solved for the dependent joints.
    """
    if code < 0 and np.all(np.isfinite(q)):
        raise singular_error(model, model.tables.joint_of_row[-code], q)
    if code > 0:
        raise weightless_error(model, model.tables.joint_of_row[code])
