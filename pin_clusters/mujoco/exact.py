"""``pc.mujoco.Exact``: exact transmissions in a serial tree of MuJoCo."""

import ctypes
from typing import Any

import numpy as np

from ..compiler.machine_code.function import Compiled
from ..errors import ArgumentTypeError, ModelError, NotAvailableError
from ..model import ClusterModel, check_model
from . import _registry as registry
from ._armature import covered_armature, keep_softness, stays
from ._difference import difference
from ._library import library
from ._loop_code import COUNT, USER
from ._matching import match
from ._native import module
from ._program import trace_difference
from ._rotor_table import rotor_table
from ._writer import ENTRY
from .report import Report

_UNCHANGED = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "dof_armature", "tendon_armature", "actuator_armature")


class Exact:
    """Rotors, belts, differentials and closed loops, added to a serial tree of MuJoCo at every step.

    MuJoCo's tree has a constant armature at best. The object computes the difference Delta M(q) between the exact mass
    matrix and the mass matrix of the tree, and the difference Delta h(q, v) of the bias forces. As long as the object
    is installed, a native callback adds both differences in every evaluation of the dynamics, so ``mj_step``,
    ``mj_forward``, all solvers, RK4, ``mujoco.rollout`` and the viewer are exact, including contacts.

    MuJoCo calls the callback for all models. Models that are not installed are ignored, also copies of an installed
    model. A callback that was set before the installation is called as well. If you set ``mjcb_passive`` afterwards,
    call ``install`` again. An installed object and its ``MjModel`` stay in memory until ``remove``.

    The constructor sets the armature of the joints with rotors to 0, because Delta M contains it. Before, it computes
    the softness of contacts (``invweight0``) with this armature, or, if the file has none, with the diagonal of
    Delta M at ``qpos0``. Do not change armature, joints, body poses or gravity of ``mj_model`` later.

    The dependent joints of closed loops are stored at the end of ``mjData.userdata``. If the linkage cannot reach a
    pose, the nearest pose on the straight path from the reference pose counts as a gear with constant ratios.

    Args:
        model: The exact robot. Its independent joints must be the joints of the tree; see ``pc.with_independent``.
        mj_model: A ``mujoco.MjModel``. Joints have the same names, types, axes and anchors. Bodies may include or omit
            the rotors and rods that they carry. Other bodies, such as objects, are allowed.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ModelError: The models are not the same robot; the message contains a table of the differences. Another reason
            is armature of joints without rotors, dependent joints that carry independent joints, couplings between
            branches of the tree, too small ``nuserdata``, the integrator ``discrete``, or disabled passive forces.
        NotAvailableError: MuJoCo is not installed or has an untried version, or a loop cannot be traced.

    Example:
        >>> import mujoco, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> tree = mujoco.MjModel.from_xml_string(pc.to_mjcf(model))
        >>> data = mujoco.MjData(tree)
        >>> with pc.mujoco.Exact(model, tree):
        ...     mujoco.mj_step(tree, data)
    """

    def __init__(self, model: ClusterModel, mj_model: Any) -> None:
        self._set_up(model, mj_model, keep=True)

    def _set_up(self, model: ClusterModel, mj_model: Any, keep: bool) -> None:
        check_model(model, "Exact")
        if not isinstance(mj_model, library().MjModel):
            raise ArgumentTypeError(f"Exact: mj_model must be a mujoco.MjModel, got {type(mj_model).__name__}.")
        self.model, self.mj_model = model, mj_model
        self._check_options()
        self._match = match(model, mj_model)
        parts = difference(self._match)
        rows, sizes = mj_model.M_rowadr, mj_model.M_rownnz
        addresses = {(i, int(mj_model.M_colind[k])): k for i in range(mj_model.nv) for k in _range(rows[i], sizes[i])}
        self._rows, self._columns = np.zeros((2, mj_model.nC), dtype=np.int64)
        for (i, j), k in addresses.items():
            self._rows[k], self._columns[k] = i, j
        self._table = rotor_table(self._match, parts, addresses)
        self._traced = trace_difference(self._match, parts)
        pairs = self._table.pairs | set(self._traced.pairs if self._traced else ())
        self._check_pairs([pair for pair in pairs if pair not in addresses])
        self._make_entry(addresses)
        covered = covered_armature(self._match, self._table, self._traced)
        if reasons := stays(mj_model, covered):
            raise ModelError(
                f"Exact: {', '.join(reasons)} of the MjModel has armature, but {model.name!r} has no rotor or armature "
                "there. Add a pc.Rotor to the model, or set this armature to 0."
            )
        registry.prepare()
        data = self._at_reference()
        M = np.zeros((mj_model.nv, mj_model.nv))
        dM, _ = self.delta(data)
        if keep:
            keep_softness(mj_model, covered, np.diag(dM))
        library().mj_fullM(mj_model, self._at_reference(), M)
        dof = int(np.argmax(np.abs(np.diag(dM)) / np.diag(M)))
        self._words["place"] = addresses[dof, dof]
        self._words["dof"], self._words["body"] = dof, int(mj_model.dof_bodyid[dof])
        self._entry[:] = [self._words[name] for name in ENTRY]
        self._before = self._numbers()

    def _check_options(self) -> None:
        mujoco, option = library(), self.mj_model.opt
        if option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE:
            raise ModelError(
                "Exact: the integrator 'discrete' builds its matrix before MuJoCo calls the callback. Use Euler, "
                "implicit, implicitfast or RK4."
            )
        both = int(mujoco.mjtDisableBit.mjDSBL_SPRING) | int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
        if option.disableflags & both == both:
            raise ModelError("Exact: MuJoCo ignores callbacks if springs and dampers are disabled. Enable one of them.")

    def _check_pairs(self, lost: list[tuple[int, int]]) -> None:
        if lost:
            names = sorted({tuple(self._joint_of(i) for i in sorted(pair)) for pair in lost})
            raise ModelError(
                f"Exact: {self.model.name!r} couples joints on different branches of the tree: "
                f"{', '.join(f'{a!r} with {b!r}' for a, b in names[:5])}. MuJoCo's mass matrix has no entries for such "
                "couplings. Simulate pc.to_mjcf(model, 'exact')."
            )

    def _joint_of(self, dof: int) -> str:
        return str(self.mj_model.joint(int(self.mj_model.dof_jntid[dof])).name)

    def _make_entry(self, addresses: dict[tuple[int, int], int]) -> None:
        mj_model, table, traced = self.mj_model, self._table, self._traced
        arrays: dict[str, Any] = {
            "constant": table.block[self._rows, self._columns],
            "integers": table.integers,
            "floats": table.floats,
            "parents": table.parents,
        }
        self._words = dict.fromkeys(ENTRY, 0)
        self._words |= {"nv": mj_model.nv, "nC": mj_model.nC, "nq": mj_model.nq}
        self._words |= {"groups": table.groups, "sweeps": mj_model.nv if table.groups else 0}
        self._size = 0
        if traced is not None:
            self._compiled = Compiled(traced.program)
            nd, loops = len(traced.dependent), len(traced.loop_qpos)
            arrays["entry_places"] = [addresses[pair] for pair in traced.pairs]
            arrays |= {"loop_qpos": traced.loop_qpos, "loop_dofs": traced.loop_dofs}
            arrays["reference"] = np.concatenate([traced.reference, traced.dependent])
            self._size = USER + loops + nd if nd else 0
            if mj_model.nuserdata < self._size:
                raise ModelError(
                    f"Exact: the loops of {self.model.name!r} need {self._size} numbers in mjData.userdata, but "
                    f'nuserdata is {mj_model.nuserdata}. Add <size nuserdata="{self._size}"/> to the file.'
                )
            address = ctypes.cast(self._compiled.one, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
            self._words |= {"program": address, "entries": len(traced.pairs), "nd": nd, "loops": loops}
            self._words["newton"] = int(traced.newton)
        self._words["user"] = mj_model.nuserdata - self._size
        self._arrays = {name: np.array(x, dtype=getattr(x, "dtype", np.int64)) for name, x in arrays.items()}
        self._words |= {name: x.ctypes.data for name, x in self._arrays.items()}
        self._entry = np.array([self._words[name] for name in ENTRY], dtype=np.int64)

    def _at_reference(self) -> Any:
        mujoco, data = library(), library().MjData(self.mj_model)
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_comVel):
            function(self.mj_model, data)
        return data

    def _numbers(self) -> dict[str, np.ndarray]:
        numbers = {name: getattr(self.mj_model, name).copy() for name in _UNCHANGED}
        return numbers | ({"opt.gravity": self.mj_model.opt.gravity.copy()} if self._traced else {})

    def check(self) -> None:
        """Raise ``ModelError`` if ``mj_model`` has been changed in a way that makes the results wrong."""
        self._check_options()
        for name, now in self._numbers().items():
            if not np.array_equal(now, self._before[name]):
                raise ModelError(f"Exact: {name} of the MjModel has been changed. Create another Exact object.")

    @property
    def installed(self) -> bool:
        """Whether MuJoCo calls the callback for ``mj_model``; False if ``mjcb_passive`` has been set afterwards."""
        return registry.is_installed(self.mj_model._address, self)

    def install(self) -> "Exact":
        """Make MuJoCo's functions exact for ``mj_model``, in all threads. Return the object.

        Raises:
            ModelError: ``mj_model`` has been changed, or another object is installed for it.
        """
        self.check()
        registry.install(self.mj_model._address, self._entry.ctypes.data, self)
        return self

    def remove(self) -> None:
        """Make MuJoCo's functions compute the tree again, without armature at the joints that have rotors."""
        registry.remove(self.mj_model._address)

    def __enter__(self) -> "Exact":
        return self.install()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.model, self.mj_model)

    def reset(self, data: Any) -> None:
        """Compute the dependent joints of loops for ``data.qpos`` from the reference pose, as after ``mj_resetData``.

        Call this function if the assembly mode (branch) of the loops may be wrong, for example after ``mj_setState``.
        """
        if self._size:
            data.userdata[self._words["user"] :] = 0.0
            self._delta(data, 1)

    def delta(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute Delta M and Delta h at ``data.qpos`` and ``data.qvel``.

        Args:
            data: A ``mujoco.MjData``. The function updates its body poses and velocities.

        Returns:
            Delta M, shape (nv, nv), [kg m^2] and similar units, and Delta h, shape (nv,), [N m] or [N].
        """
        return self._delta(data, 0)

    def _delta(self, data: Any, save: int) -> tuple[np.ndarray, np.ndarray]:
        mujoco, mj_model = library(), self.mj_model
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            function(mj_model, data)
        entries, dh, dM = np.zeros(mj_model.nC), np.zeros(mj_model.nv), np.zeros((mj_model.nv, mj_model.nv))
        self._native(data, entries, dh, save)
        dM[self._rows, self._columns] = dM[self._columns, self._rows] = entries
        return dM, dh

    def _native(self, data: Any, entries: np.ndarray, dh: np.ndarray, save: int) -> None:
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(module().address("delta"))
        function(self._entry.ctypes.data, data._address, entries.ctypes.data, dh.ctypes.data, save)

    def step(self, data: Any) -> None:
        """Advance the simulation by one time step, like ``mj_step``, but without a callback.

        The function calls the stages of ``mj_step`` from Python. It does not call ``mjcb_control``.

        Raises:
            ModelError: ``mj_model`` has been changed.
            NotAvailableError: The integrator is RK4, which evaluates the dynamics four times. Use ``install``.
        """
        mujoco, mj_model, kinds = library(), self.mj_model, library().mjtIntegrator
        self.check()
        if self.installed:
            mujoco.mj_step(mj_model, data)
            return
        if mj_model.opt.integrator == kinds.mjINT_RK4:
            raise NotAvailableError("Exact.step: the integrator is RK4. Use exact.install() and mujoco.mj_step.")
        for function in (mujoco.mj_checkPos, mujoco.mj_checkVel, mujoco.mj_fwdPosition, mujoco.mj_sensorPos):
            function(mj_model, data)
        mujoco.mj_comVel(mj_model, data)
        entries, dh = np.zeros(mj_model.nC), np.zeros(mj_model.nv)
        self._native(data, entries, dh, 1)
        data.M[:] += entries
        mujoco.mj_factorM(mj_model, data)
        if mujoco.mj_isDual(mj_model):
            mujoco.mj_projectConstraint(mj_model, data)
        mujoco.mj_fwdVelocity(mj_model, data)
        data.qfrc_bias[:] += dh
        implicit = mj_model.opt.integrator in (kinds.mjINT_IMPLICIT, kinds.mjINT_IMPLICITFAST)
        stages = mujoco.mj_sensorVel, mujoco.mj_fwdActuation, mujoco.mj_fwdAcceleration, mujoco.mj_fwdConstraint
        last = mujoco.mj_sensorAcc, mujoco.mj_checkAcc, mujoco.mj_implicit if implicit else mujoco.mj_Euler
        for function in (*stages, *last):
            function(mj_model, data)

    def inverse(self, data: Any) -> np.ndarray:
        """Compute the inverse dynamics of ``data.qacc``; if the object is installed, ``mj_inverse`` is also exact.

        Returns:
            ``data.qfrc_inverse``, which contains the correction, shape (nv,), [N m] or [N].

        Raises:
            ModelError: ``mj_model`` has been changed, or the flag ``invdiscrete`` requires ``install``.
        """
        mujoco = library()
        self.check()
        discrete = self.mj_model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
        if discrete and not self.installed:
            raise ModelError("Exact.inverse: with the flag invdiscrete, call exact.install() first.")
        dM, dh = self.delta(data)
        mujoco.mj_inverse(self.mj_model, data)
        if not self.installed:
            data.qfrc_inverse[:] += dM @ data.qacc + dh
        return data.qfrc_inverse.copy()

    def beyond_reach(self, data: Any) -> int:
        """Return how many evaluations of the dynamics had a pose that the linkages could not reach."""
        return int(data.userdata[self._words["user"] + COUNT]) if self._size else 0

    def report(self) -> Report:
        """Return a summary: sizes, the joints that differ, the effect of the rotors, and remaining differences."""
        dM, _ = self.delta(self._at_reference())
        return Report.of(self._match, self._table, self._traced, dM)


def _again(model: ClusterModel, mj_model: Any) -> Exact:
    """Return an object for a copy of a model that an ``Exact`` object has already prepared."""
    exact = Exact.__new__(Exact)
    exact._set_up(model, mj_model, keep=False)
    return exact


def _range(first: int, size: int) -> range:
    return range(int(first), int(first) + int(size))
