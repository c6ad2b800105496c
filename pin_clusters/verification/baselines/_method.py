"""Python interface of the compiled baselines: tables, compilation at the first use, and errors."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import configuration, is_vector, numbers, plain, velocity
from ...compiler import entry_points
from ...errors import ShapeError, SingularClusterError
from ...model import ClusterModel
from ._compiled import fields
from ._tables import Tables
from ._workspace import check, documented_with_loops, of_accelerations

_NOTHING = np.zeros((0, 6))


class Method:
    """The tables of a model, and a compiled function that uses them.

    Attributes:
        model: The cluster model.
        tables: Tables, and work space of all intermediate results.
        kernel: Function, compiled at its first use. Its arguments are ``tables.index``, ``tables.work``, q, v, tau,
            external forces of shape (njoints, 6), output accelerations, and output joint forces of shape (njoints, 6)
            or, if they are not needed, (0, 6).
    """

    def __init__(
        self,
        model: ClusterModel,
        pattern: Callable[[Tables], None],
        function: tuple[str, str, str],
        *,
        divide: bool = False,
        maximal: bool = True,
    ) -> None:
        self.model = model
        self.tables = Tables(model, maximal=maximal, divide=divide)
        pattern(self.tables)
        self.tables.finish()
        self._function = function
        self._no_force = np.zeros((model.njoints, 6))

    @functools.cached_property
    def kernel(self) -> Callable[..., int]:
        return _compiled(*self._function)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any) -> np.ndarray:
        return self._run(q, v, tau, fext, _NOTHING)

    def joint_forces(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any) -> np.ndarray:
        """Compute the forces that the joints of the user's tree transmit, shape (njoints, 6)."""
        forces = np.zeros((self.model.njoints, 6))
        self._run(q, v, tau, fext, forces)
        return forces

    def _run(self, q: Any, v: Any, tau: Any, fext: Any, forces: np.ndarray) -> np.ndarray:
        model, tables = self.model, self.tables
        if not is_vector(q, model.nq):
            q = configuration(model, "q", q)
        if not is_vector(v, model.nv):
            v = velocity(model, "v", v)
        if not is_vector(tau, model.nv):
            tau = velocity(model, "tau", tau)
        outer = self._no_force if fext is None else _forces(model, fext)
        if tables.called:
            tables.evaluate(q)
        a = np.empty(model.nv)
        wrong = self.kernel(tables.index, tables.work, q, v, tau, outer, a, forces)
        if wrong:
            if all(np.isfinite(x).all() for x in (q, v, tau, outer)):
                raise self._error(wrong)
            a[:], forces[:] = np.nan, np.nan
        return a

    def _error(self, failure: int) -> SingularClusterError:
        tables, k = self.tables, int(self.tables.index[fields.WRONG])
        if failure == fields.LOOPS:
            dofs = sorted({*tables.parts[k].dependent, *tables.free_of(tables.parts[k])})
            tied = tuple(dict.fromkeys(tables.bodies[tables.owner[d]].name for d in dofs))
            return SingularClusterError(
                f"The cluster of joints {', '.join(map(repr, tied))} is singular at this q: the loops do not "
                "determine the dependent joints.",
                tied,
            )
        joints: tuple[str, ...] = ()
        if failure == fields.BODY and k > 0:
            joints = (tables.bodies[k].name,)
        elif failure == fields.SYSTEM:
            joints = tuple(tables.bodies[b].name for b in dict.fromkeys(tables.rows[k].bodies) if b)
        elif failure == fields.MASSES and k >= 0:
            d = self.model.idx_v_independent[k]
            joints = (tables.bodies[tables.owner[int(tables.span.from_tree_v[d])]].name,)
        location = f" at joint(s) {', '.join(map(repr, joints))}" if joints else ""
        return SingularClusterError(
            f"A motion{location} moves no inertia, so no finite acceleration balances the torques. Add mass and "
            "inertia to the bodies, or armature or a rotor to the joints.",
            joints,
        )


Function = Callable[..., np.ndarray]


def functions_of(kind: type[Method], module: str) -> tuple[Function, Function]:
    """Create ``aba`` and ``joint_forces`` for a module whose ``createData`` returns objects of class ``kind``."""

    @of_accelerations
    def aba(
        model: ClusterModel, data: Method, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
    ) -> np.ndarray:
        """Compute the accelerations that the joint torques cause."""
        if type(data) is not kind or data.model is not model:
            check(model, data, kind, module)
        return data.accelerations(q, v, tau, fext)

    @documented_with_loops
    def joint_forces(
        model: ClusterModel, data: Method, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
    ) -> np.ndarray:
        """Compute the forces that all joints transmit while the robot moves under the given torques.

        For redundant constraints, the multipliers have minimum norm, after each row is divided by the size of its loop.

        Returns:
            Wrench of the parent's body on the child's body through each joint of the user's tree, shape (njoints, 6),
            [linear; angular] in the joint frame. Like ``joints`` of ``pc.constraint_forces``, it includes the
            torques of motors and couplings.
        """
        check(model, data, kind, module)
        return data.joint_forces(q, v, tau, fext)

    for function in (aba, joint_forces):
        function.__module__, function.__qualname__ = module, function.__name__
    return aba, joint_forces


def _forces(model: ClusterModel, fext: Any) -> np.ndarray:
    wrenches: Any = fext
    if not isinstance(fext, np.ndarray):
        wrenches = [f.vector if isinstance(f, pin.Force) else f for f in fext]
    rows = plain(numbers("fext", wrenches))
    if rows.shape != (model.njoints, 6):
        raise ShapeError(
            f"fext has shape {rows.shape}, but model {model.name!r} needs ({model.njoints}, 6): one row [linear; "
            "angular] per joint, beginning with the universe."
        )
    return rows


@functools.cache
def _compiled(module: str, name: str, title: str) -> Callable[..., Any]:
    """Compile a function of the folder ``_compiled``; it takes I, W, q, v, tau, fext, accelerations and forces."""
    function = getattr(importlib.import_module(f".{module}", f"{__package__}._compiled"), name)
    if not entry_points.JIT:
        return function
    from numba import njit, types

    from ...compiler.numba_jit import cache as _cache
    from ...compiler.numba_jit.jit import OPTIONS

    vector, matrix = types.float64[::1], types.float64[:, ::1]
    signature = types.int64(types.int64[::1], *[vector] * 4, matrix, vector, matrix)
    dispatcher = njit(**OPTIONS)(function)
    _cache.compile_or_load(dispatcher, signature, name, title)
    return dispatcher
