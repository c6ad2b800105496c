"""Checks of arguments in Python; the C extension checks the arguments of the calls that it executes itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support import arrays as _arrays
from ..._support.arrays import array, is_vector, output_array
from ..._support.arrays import velocity as velocity
from ..._support.docstrings import COMMON, F, stock
from ...errors import ArgumentTypeError, DataMismatchError, ShapeError, shown
from ...model import ClusterData, ClusterModel, check_model, singular_error, weightless_error
from ...model import configuration as _configuration

_STATE = """
Args:
    q: Configuration of the spanning tree, shape (nq,); it must satisfy the constraints (checked if ``data.check``).

Raises:
    DataMismatchError: ``data`` belongs to another model.
    ConfigurationError (q): q violates the constraints (checked only if ``data.check`` is true).
"""
_LOOPS = """
Raises:
    SingularClusterError (q): At q, the loops do not determine the velocities of the dependent joints.
"""
SINGULAR = """
Raises:
    SingularClusterError: A motion of the independent joints moves no inertia, or the loops are singular at q.
"""


def documented(*own: str, solves: bool = True) -> Callable[[F], F]:
    """Create a decorator that adds common sections to docstrings, including ``SingularClusterError`` if ``solves``."""
    return stock(COMMON, _STATE, *((_LOOPS,) if solves else ()), *own)


def model_data(model: Any, data: Any) -> None:
    """Check that data belongs to the model and, if ``data.check``, that the tree is unchanged."""
    if type(data) is ClusterData and data._unchecked is model:
        return
    check_model(model, cure="The order of arguments is (model, data, q, ...).")
    if isinstance(data, pin.Data):
        raise DataMismatchError(
            f"data is a pinocchio.Data, but model {model.name!r} is a ClusterModel. Use data = model.createData(), "
            "which returns a ClusterData; data.tree is its pinocchio.Data."
        )
    if not isinstance(data, ClusterData):
        cure = "Use data = model.createData() of the ClusterModel."
        raise ArgumentTypeError(f"data must be a ClusterData, got {type(data).__name__}. {cure}")
    if data._model is not model:
        passed, owner = repr(model), repr(data._model)
        difference = f"than the given model ({passed})" if passed != owner else "that has the same name and sizes"
        raise DataMismatchError(
            f"data was created by another model ({owner}) {difference}. "
            "Use data = model.createData() of this model, or pass data.model as the model."
        )
    if data.check and model.was_changed():
        raise DataMismatchError(
            f"model.tree or inertia_tree of {model.name!r} was changed after the ClusterModel was created, which has "
            "no effect on the algorithms. Change the pin.Model first, and create a new ClusterModel from it."
        )


def pose(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    # This fast path skips the checks that ClusterData.check = False disables.
    if type(data) is ClusterData and data._unchecked is model and is_vector(q, model.nq):
        return q
    model_data(model, data)
    return configuration(model, data, q)


def state(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    return pose(model, data, q), velocity(model, "v", v)


def motion(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return *state(model, data, q, v), velocity(model, "a", a)


def last_motion(model: ClusterModel, data: ClusterData, level: int, function: str) -> list[np.ndarray]:
    """Return the last [q, v], or the last [q, v, a] if ``level`` is 2; raise ``NotComputedError`` if there is none."""
    model_data(model, data)
    return data._last_motion(level, function, f"forwardKinematics(model, data, q, v{', a' * (level > 1)})")


def rates(model: ClusterModel, v: Any, a: Any = None) -> tuple[np.ndarray, ...]:
    v = velocity(model, "v", v)
    return (v,) if a is None else (v, velocity(model, "a", a))


def configuration(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Check the type and shape of q; if ``data.check``, also check the constraints and the quaternion norms."""
    a = _arrays.configuration(model, "q", q)
    if data.check:
        _configuration.check(model, a)
    data._supply(a)
    return a


def forces(model: ClusterModel, fext: Any) -> np.ndarray:
    """Convert external forces to an array of shape (njoints, 6), [linear; angular] in joint frames."""
    n = model.njoints
    if isinstance(fext, np.ndarray):
        if fext.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"fext must contain real numbers, got {fext.dtype}.")
        if fext.shape != (n, 6):
            raise ShapeError(f"fext has shape {fext.shape}, but model {model.name!r} needs (njoints, 6) = ({n}, 6).")
        return np.ascontiguousarray(fext, dtype=np.float64)
    if isinstance(fext, (str, bytes, Mapping)) or (not isinstance(fext, Sequence) and not hasattr(fext, "__len__")):
        given_type = type(fext).__name__
        raise ArgumentTypeError(f"fext must be a list of pin.Force or an (njoints, 6) array, got {given_type}.")
    if len(fext) != n:
        raise ShapeError(
            f"fext has {len(fext)} forces, but model {model.name!r} needs njoints = {n}, including the universe."
        )
    # Iterating over a StdVec_Force takes five times as long as tolist.
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


def convention(argument: Any) -> None:
    if argument is not None and not isinstance(argument, pin.Convention):
        raise ArgumentTypeError(
            f"convention must be a pin.Convention, got {shown(argument)} ({type(argument).__name__}). Omit "
            "convention; it has no effect."
        )


def put_forces(model: ClusterModel, data: ClusterData, fext: Any) -> np.ndarray:
    table: np.ndarray = data._pointers["forced"].arrays[-1]
    table[model.nv :] = forces(model, fext).ravel()
    return table


def tables(model: ClusterModel, data: ClusterData, usual: str, fext: Any) -> str:
    if fext is None:
        return usual
    put_forces(model, data, fext)
    return "forced"


def result(out: Any, shape: tuple[int, ...], *arguments: Any) -> np.ndarray:
    """Check that ``out`` has this shape and does not overlap the arguments; if ``out`` is None, create a new array."""
    if out is None:
        return np.empty(shape)
    array_out = output_array("out", out, shape, np.float64, ". Pass such an array or omit out.")
    if any(np.may_share_memory(array_out, x) for x in arguments):
        raise ArgumentTypeError("out shares memory with an argument, which this call would overwrite. Omit out.")
    return array_out


def run(
    model: ClusterModel, data: ClusterData, kernel: str, result: str, q: np.ndarray, *rest: np.ndarray, of: str = ""
) -> None:
    """Run a kernel with ``data._pointers[result]`` for the function ``of``; raise an error if the kernel fails."""
    status(model, data._run(kernel, result, q, *rest, of=of), q)


def status(model: ClusterModel, code: int, q: np.ndarray) -> None:
    """Raise ``SingularClusterError`` if a kernel failed, except for singular loops at a q that contains NaN or inf."""
    if code < 0 and np.all(np.isfinite(q)):
        raise singular_error(model, model.tables.joint_of_row[-code], q)
    if code > 0:
        raise weightless_error(model, model.tables.joint_of_row[code])
