"""``pc.mujoco.Exact``: exact transmissions in a serial tree of MuJoCo."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ModelError, NotAvailableError
from ..export.motor_space import MotorSpace
from ..model import ClusterModel, check_model
from . import _registry as registry
from ._armature import covered_armature, keep_softness, stays
from ._difference import difference
from ._entry import Entry
from ._library import CALLBACKS, gravity_of, is_discrete, library
from ._matching import match
from .report import Report

_UNCHANGED = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "dof_armature", "tendon_armature", "actuator_armature")


class Exact:
    """Rotors, belts, differentials and closed loops, added to a serial tree of MuJoCo at every step.

    MuJoCo's tree has a constant armature at best. The object computes the difference Delta M(q) between the exact mass
    matrix and the mass matrix of the tree, and the difference Delta h(q, v) of the bias forces. While the object is
    installed, a native callback adds both. ``mj_step``, ``mj_forward``, ``mj_inverse``, all solvers, RK4 and
    ``mujoco.rollout`` are then exact, including contacts.

    MuJoCo calls the callback for all models. Models that are not installed are ignored, also copies of an installed
    model. A callback that was set before the installation is called as well. If you set ``mjcb_passive`` afterwards, or
    ``mjcb_control`` with ``motors``, call ``install`` again. An installed object and its ``MjModel`` stay in memory
    until ``remove``.

    The constructor sets the armature of joints, tendons and actuators to 0, because Delta M replaces it. Before, it
    computes the softness of contacts (``invweight0``) with this armature, or, if the file has none, with the diagonal
    of Delta M at ``qpos0``. Do not change armature, joints, body poses or gravity of ``mj_model`` later.

    The dependent joints of closed loops are stored at the end of ``mjData.userdata``. If any linkage cannot reach the
    pose, all loops have constant ratios, those of the last pose that can be reached from the reference pose.

    Args:
        model: The exact robot. Its independent joints must be the joints of the tree; see ``pc.with_independent``.
        mj_model: A ``mujoco.MjModel``. Joints have the same names, types, axes and anchors. Bodies may include or omit
            the rotors and rods that they carry. Other bodies, such as objects, are allowed.
        motors: One ``pc.MotorSpace`` for each mechanism whose motors have torque limits. The limits act on the sum of
            all actuators of the joints, in ``mjcb_control``, after a callback of the user. ``qfrc_actuator`` still
            contains the commanded torques; see ``applied_torque``. At a pose that the linkage cannot reach, the limits
            are computed with the ratios of the reference pose. With ``mj_step1`` and ``mj_step2``, set ``ctrl`` before
            ``mj_step1``. Otherwise, the limits of the previous control act.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ModelError: The models are not the same robot; the message contains a table of the differences. The error is
            also raised for armature without a rotor, dependent joints that carry independent joints, couplings between
            branches of the tree, too small ``nuserdata``, unsuitable ``motors``, and unsupported options.
        NotAvailableError: MuJoCo is not installed or has an untested version, or no code can be generated for a loop.

    Example:
        >>> import mujoco, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> tree = mujoco.MjModel.from_xml_string(pc.to_mjcf(model))
        >>> data = mujoco.MjData(tree)
        >>> with pc.mujoco.Exact(model, tree):
        ...     mujoco.mj_step(tree, data)
    """

    def __init__(self, model: ClusterModel, mj_model: Any, motors: Sequence[MotorSpace] = ()) -> None:
        self._set_up(model, mj_model, motors, keep=True)

    def _set_up(self, model: ClusterModel, mj_model: Any, motors: Sequence[MotorSpace], keep: bool) -> None:
        check_model(model, "Exact")
        if not isinstance(mj_model, library().MjModel):
            raise ArgumentTypeError(f"Exact: mj_model must be a mujoco.MjModel, got {type(mj_model).__name__}.")
        if isinstance(motors, MotorSpace) or not isinstance(motors, Sequence):
            raise ArgumentTypeError(
                f"Exact: motors must be a list of pc.MotorSpace objects, got {type(motors).__name__}. Write "
                "motors=[space]."
            )
        self.model, self.mj_model, self.motors = model, mj_model, tuple(motors)
        self._check_options()
        matched = match(model, mj_model)
        self._matched, self._parts = matched, difference(matched)
        self._entry = Entry(matched, self._parts, self.motors)
        self._callbacks = CALLBACKS[: 2 if self.motors else 1]
        covered = covered_armature(matched, self._entry.rotors, self._entry.traced)
        if reasons := stays(mj_model, covered):
            raise ModelError(
                f"Exact: armature of the MjModel acts on {', '.join(reasons)}, but {model.name!r} has no rotor or "
                "armature there. Add a pc.Rotor to the model, or set this armature to 0."
            )
        registry.prepare()
        dM, _ = self._entry.delta(self._entry.at_reference())
        if keep:
            keep_softness(mj_model, covered, np.diag(dM))
        self._entry.select_probe(dM)
        self._before = self._numbers()

    def _check_options(self) -> None:
        mujoco, option = library(), self.mj_model.opt
        if is_discrete(option.integrator):
            raise ModelError(
                "Exact: the integrator 'discrete' builds its matrix before MuJoCo calls the callback. Use Euler, "
                "implicit, implicitfast or RK4."
            )
        both = int(mujoco.mjtDisableBit.mjDSBL_SPRING) | int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
        if option.disableflags & both == both:
            raise ModelError("Exact: MuJoCo ignores callbacks if springs and dampers are disabled. Enable one of them.")

    def _numbers(self) -> dict[str, np.ndarray]:
        numbers = {name: getattr(self.mj_model, name).copy() for name in _UNCHANGED}
        return numbers | ({"opt.gravity": gravity_of(self.mj_model)} if self._entry.traced else {})

    def check(self) -> None:
        """Raise ``ModelError`` if ``mj_model`` has been changed in a way that makes the results wrong."""
        self._check_options()
        for name, now in self._numbers().items():
            if not np.array_equal(now, self._before[name]):
                raise ModelError(f"Exact: {name} of the MjModel has been changed. Create another Exact object.")

    @property
    def installed(self) -> bool:
        """Whether MuJoCo calls the callbacks for ``mj_model``; False if one of them has been set afterwards."""
        return registry.is_installed(self.mj_model._address, self, self._callbacks)

    def _corrects(self) -> bool:
        """Return whether MuJoCo adds Delta M; raise ``ModelError`` if ``mjcb_control`` has been replaced."""
        corrects = registry.is_installed(self.mj_model._address, self, CALLBACKS[:1])
        if corrects and not self.installed:
            raise ModelError("Exact: mjcb_control has been set after exact.install(). Call exact.install() again.")
        return corrects

    def install(self) -> "Exact":
        """Make MuJoCo's functions exact for ``mj_model``, in all threads. Return the object.

        Raises:
            ModelError: ``mj_model`` has been changed, or another object is installed for it.
        """
        self.check()
        registry.install(self.mj_model._address, self._entry.address, self, self._callbacks)
        return self

    def remove(self) -> None:
        """Make MuJoCo's functions compute the tree again, without armature."""
        if registry.owner_of(self.mj_model._address) is self:
            registry.remove(self.mj_model._address)

    def __enter__(self) -> "Exact":
        return self.install()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.model, self.mj_model, self.motors)

    def reset(self, data: Any) -> None:
        """Compute the dependent joints of loops for ``data.qpos`` from the reference pose, as after ``mj_resetData``.

        Call this function if the assembly mode (branch) of the loops may be wrong, for example after ``mj_setState``.
        """
        if self._entry.size:
            data.userdata[self._entry.user : self._entry.user + self._entry.size] = 0.0
            self._entry.delta(data, save=True)

    def delta(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute Delta M and Delta h at ``data.qpos`` and ``data.qvel``.

        Args:
            data: A ``mujoco.MjData``. The function updates its body poses and velocities.

        Returns:
            Delta M, shape (nv, nv), [kg m^2] and similar units, and Delta h, shape (nv,), [N m] or [N].
        """
        return self._entry.delta(data)

    def step(self, data: Any) -> None:
        """Advance the simulation by one time step.

        If the object is not installed, the function calls the stages of ``mj_step`` from Python, without
        ``mjcb_control``.

        Raises:
            ModelError: ``mj_model`` has been changed, or ``mjcb_control`` has been replaced.
            NotAvailableError: The integrator is RK4, which evaluates the dynamics four times. Use ``install``.
        """
        mujoco, mj_model, kinds = library(), self.mj_model, library().mjtIntegrator
        self.check()
        if self._corrects():
            mujoco.mj_step(mj_model, data)
            return
        if mj_model.opt.integrator == kinds.mjINT_RK4:
            raise NotAvailableError("Exact.step: the integrator is RK4. Use exact.install() and mujoco.mj_step.")
        first = mujoco.mj_checkPos, mujoco.mj_checkVel, mujoco.mj_fwdPosition, mujoco.mj_sensorPos, mujoco.mj_comVel
        for function in first:
            function(mj_model, data)
        dM, dh = self._entry.native(data, save=True)
        data.M[[*self._entry.addresses.values()]] += dM[self._entry.rows, self._entry.columns]
        mujoco.mj_factorM(mj_model, data)
        if mujoco.mj_isDual(mj_model):
            mujoco.mj_projectConstraint(mj_model, data)
        mujoco.mj_fwdVelocity(mj_model, data)
        data.qfrc_bias[:] += dh
        if self.motors:
            self._entry.limit(data)
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
            ModelError: ``mj_model`` has been changed, ``mjcb_control`` has been replaced, or the flag ``invdiscrete``
                requires ``install``.
        """
        self.check()
        discrete = self.mj_model.opt.enableflags & int(library().mjtEnableBit.mjENBL_INVDISCRETE)
        corrected = self._corrects()
        if discrete and not corrected:
            raise ModelError("Exact.inverse: with the flag invdiscrete, call exact.install() first.")
        dM, dh = self.delta(data)
        library().mj_inverse(self.mj_model, data)
        if not corrected:
            data.qfrc_inverse[:] += dM @ data.qacc + dh
        return data.qfrc_inverse.copy()

    def applied_torque(self, data: Any) -> np.ndarray:
        """Return the joint torques of all actuators after limiting, shape (nv,), [N m] or [N].

        They belong to the last ``mj_step`` or ``mj_forward``.
        """
        return self._entry.applied(data)

    def beyond_reach(self, data: Any) -> int:
        """Return the number of evaluations since the last reset with an unreachable or singular pose."""
        return self._entry.count(data)

    def report(self) -> Report:
        """Return a summary: sizes, joints in loops, inertia that is added, and parts that MuJoCo does not simulate."""
        return Report.of(self.model, self._entry)


def _again(model: ClusterModel, mj_model: Any, motors: tuple[MotorSpace, ...]) -> Exact:
    """Return an object for a copy of a model that an ``Exact`` object has already prepared."""
    exact = Exact.__new__(Exact)
    exact._set_up(model, mj_model, motors, keep=False)
    return exact
