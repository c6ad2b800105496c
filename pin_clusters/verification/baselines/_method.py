"""What the compiled baselines share in Python: tables with a function, compiled at its first use; calls; errors."""

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
    """Tables of a model, and the compiled function that reads them.

    Attributes:
        model: The cluster model.
        tables: Tables, and room for all intermediate results.
        kernel: Takes ``tables.index``, ``tables.work``, q, v, tau, external forces of shape (njoints, 6), where to
            write accelerations, and where to write forces of joints, shape (njoints, 6), or (0, 6) if not wanted; it
            compiles itself at its first use.
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
        """The compiled function."""
        return _compiled(*self._function)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any) -> np.ndarray:
        """Return the independent accelerations, shape (nv,)."""
        return self._run(q, v, tau, fext, _NOTHING)

    def joint_forces(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any) -> np.ndarray:
        """Return what the joints of the user's tree transmit, shape (njoints, 6)."""
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

    def _error(self, wrong: int) -> SingularClusterError:
        """Say in words what the compiled function could not solve."""
        tables, k = self.tables, int(self.tables.index[fields.WRONG])
        if wrong == fields.LOOPS:
            at = sorted({*tables.parts[k].dependent, *tables.free_of(tables.parts[k])})
            tied = tuple(dict.fromkeys(tables.bodies[tables.owner[d]].name for d in at))
            return SingularClusterError(
                f"The cluster of joints {', '.join(map(repr, tied))} is singular at this q: its loops do not "
                "determine the dependent joints.",
                tied,
            )
        joints: tuple[str, ...] = ()
        if wrong == fields.BODY and k > 0:
            joints = (tables.bodies[k].name,)
        elif wrong == fields.SYSTEM:
            joints = tuple(tables.bodies[b].name for b in dict.fromkeys(tables.rows[k].bodies) if b)
        elif wrong == fields.MASSES and k >= 0:
            d = self.model.idx_v_independent[k]
            joints = (tables.bodies[tables.owner[int(tables.span.from_tree_v[d])]].name,)
        what = f"beside joint(s) {', '.join(map(repr, joints))} " if joints else ""
        return SingularClusterError(
            f"Something {what}moves no inertia, so that no finite acceleration balances the torques. Give the bodies a "
            "mass and an inertia, or the joints an armature or a rotor.",
            joints,
        )


Function = Callable[..., np.ndarray]


def functions_of(kind: type[Method], module: str) -> tuple[Function, Function]:
    """Return ``aba`` and ``joint_forces`` of the module whose ``createData`` makes workspaces of a kind."""

    @of_accelerations
    def aba(
        model: ClusterModel, data: Method, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
    ) -> np.ndarray:
        """Compute the accelerations under torques."""
        if type(data) is not kind or data.model is not model:
            check(model, data, kind, module)
        return data.accelerations(q, v, tau, fext)

    @documented_with_loops
    def joint_forces(
        model: ClusterModel, data: Method, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
    ) -> np.ndarray:
        """Compute what all joints transmit while the robot moves freely under torques.

        Where constraints are redundant, forces of least norm, in rows that are measured by the size of their loop.

        Returns:
            Wrench of the parent's body on the child's through each joint of the user's tree, torques of motors and
            couplings included, shape (njoints, 6), [linear; angular] in the joint frame, as ``joints`` of
            ``pc.constraint_forces``.
        """
        check(model, data, kind, module)
        return data.joint_forces(q, v, tau, fext)

    for function in (aba, joint_forces):
        function.__module__, function.__qualname__ = module, function.__name__
    return aba, joint_forces


def _forces(model: ClusterModel, fext: Any) -> np.ndarray:
    """Return external forces as rows."""
    given: Any = fext
    if not isinstance(fext, np.ndarray):
        given = [f.vector if isinstance(f, pin.Force) else f for f in fext]
    rows = plain(numbers("fext", given))
    if rows.shape != (model.njoints, 6):
        raise ShapeError(
            f"fext has shape {rows.shape}, but model {model.name!r} needs one [linear; angular] per joint, the "
            f"universe first: ({model.njoints}, 6)."
        )
    return rows


@functools.cache
def _compiled(module: str, name: str, title: str) -> Callable[..., Any]:
    """Return a function of ``_compiled``: it takes I, W, q, v, tau, fext, accelerations and forces."""
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
