"""``pc.mujoco.warp``: exact transmissions in MuJoCo Warp; requires the extra ``mjwarp``."""

import importlib
import inspect
import sys
from types import FrameType
from typing import Any

import numpy as np

from .._support import extras
from ..errors import ArgumentTypeError, ModelError, NotAvailableError
from ..model import ClusterModel
from ._library import check_version, is_discrete, library
from ._loop_code import COUNT
from .exact import Exact

_SOFTNESS = ("dof_invweight0", "body_invweight0", "tendon_invweight0", "actuator_acc0")
_SAME = ("jnt_type", "jnt_dofadr", "dof_bodyid", "M_colind")


class Installed:
    """Exact transmissions in one MuJoCo Warp model; ``install`` returns this object.

    Attributes:
        rotors: Names of the rotors with constant ratios.
        rotor_inertias: A ``warp.array`` of axial rotor inertias, shape (nworld, rotors), [kg m^2]. Write to this array
            to give each world different inertias. Rotors with varying ratios keep the values of the model.
    """

    def __init__(self, exact: Exact, m: Any, d: Any) -> None:
        import warp as wp

        from . import _warp_loops, _warp_rotors

        entry, device = exact._entry, d.qpos.device
        matched, parts, traced = exact._matched, exact._parts, entry.traced
        self.rotors = tuple(r.name for r, _ in parts.constant)
        inertias = np.tile([r.axial_inertia for r, _ in parts.constant], (d.nworld, 1))
        self.rotor_inertias = wp.array(inertias, dtype=wp.float32, device=device)
        self._m, self._nworld, self._device, self._launch = m, d.nworld, device, wp.launch
        self._count = entry.user + COUNT if entry.size else None
        self._traced: tuple[Any, list[Any]] | None = None
        self._rotors = _warp_rotors.add_rotors, _warp_rotors.rotor_arrays(matched, parts, entry, device)
        if traced:
            self._traced = _warp_loops.kernel(traced, entry), _warp_loops.arrays(traced, entry, d)
        armature = np.zeros(m.nv)
        armature[matched.dofs] = parts.armature
        values: dict[str, Any] = {"dof_armature": armature, "tendon_armature": 0.0, "actuator_armature": 0.0}
        for name, value in (values | {name: getattr(exact.mj_model, name) for name in _SOFTNESS}).items():
            array = getattr(m, name, None)  # Older versions have no armature of actuators.
            if array is not None:
                array.assign(np.broadcast_to(value, array.numpy().shape))
        module = sys.modules["mujoco_warp._src.forward"]
        # Older versions have no _forward.
        self._forward = inspect.unwrap(getattr(module, "_forward", module.forward)).__code__
        self._next, m.callback.passive = m.callback.passive, self

    def __call__(self, m: Any, d: Any) -> None:
        """Add Delta M to ``d.M`` and subtract Delta h from ``d.qfrc_passive``; MuJoCo Warp calls this function."""
        if self._next is not None:
            self._next(m, d)
        if self._m is None:
            return
        _check_options(m)
        if d.nworld != self._nworld:
            raise ModelError(f"warp: d has nworld = {d.nworld}, expected {self._nworld} as in the call of install.")
        state, results = [d.qvel, d.xmat, d.cvel, d.cdof, d.cdof_dot], [d.M, d.qfrc_passive]
        if self.rotors:
            kernel, arrays = self._rotors
            inputs, dim = [*arrays, self.rotor_inertias, *state], (d.nworld, len(self.rotors))
            self._launch(kernel, dim, inputs, results, device=self._device)
        if self._traced:
            kernel, arrays = self._traced
            self._launch(kernel, d.nworld, [d.qpos, d.qvel, d.userdata, *arrays], results, device=self._device)
        # ``forward`` factorises the mass matrix after the callback; ``step1`` does so before.
        frame: FrameType | None = sys._getframe(1)
        while frame and frame.f_code is not self._forward:
            frame = frame.f_back
        if not frame:
            package().factor_m(m, d)

    def remove(self) -> None:
        """Make MuJoCo Warp compute the tree again, without armature at the joints that have rotors."""
        if self._m is not None and self._m.callback.passive is self:
            self._m.callback.passive = self._next
        self._m = None

    def beyond_reach(self, d: Any) -> np.ndarray:
        """Return how many evaluations of each world had a pose that the linkages could not reach, shape (nworld,)."""
        return np.zeros(d.nworld) if self._count is None else d.userdata.numpy()[:, self._count].copy()


def install(model: ClusterModel, mj_model: Any, m: Any, d: Any) -> Installed:
    """Make MuJoCo Warp exact: add rotors, belts, differentials and closed loops to a serial tree at every step.

    The callback ``m.callback.passive`` adds Delta M to the mass matrix and subtracts Delta h from the forces in all
    worlds, as ``Exact`` does in MuJoCo. A callback that was set before is called as well. ``step``, ``forward``, and
    the integrators Euler, RK4, implicit and implicitfast are exact, including contacts. ``step1`` factorises the mass
    matrix before the callback, so the callback factorises it again.

    The function sets the armature of ``m`` and of ``mj_model`` as ``Exact`` does. Do not randomise armature later;
    write to ``rotor_inertias`` instead. If steps are recorded in a CUDA graph, install before the recording, or record
    again. In mjlab, call ``install(model, sim.mj_model, sim.wp_model, sim.wp_data)``, then ``sim.create_graph()``.
    ``mujoco_warp.set_const`` computes the softness of contacts without the rotors.

    The torque limits of motors, ``motors`` of ``Exact``, are not available in MuJoCo Warp.

    The dependent joints of closed loops are at the end of ``d.userdata``, as in ``Exact``. The first call compiles a
    kernel for these loops, which takes some seconds. States with NaN affect only their own world.

    Args:
        model: The exact robot, as in ``Exact``.
        mj_model: The ``mujoco.MjModel`` from which ``m`` was made.
        m: A ``mujoco_warp.Model``.
        d: A ``mujoco_warp.Data``. Other data with the same number of worlds can be used as well.

    Returns:
        An object with the inertias of the rotors in each world, and with a function ``remove``.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ModelError: ``m`` was not made from ``mj_model``, is already exact, has the integrator ``discrete`` or the flag
            ``sleep``, or ignores passive forces; or ``Exact`` rejects the models.
        NotAvailableError: MuJoCo Warp is not installed or has an untested version, or no code can be generated for a
            loop.

    Example:
        >>> import mujoco, mujoco_warp, pin_clusters as pc  # doctest: +SKIP
        >>> model = pc.load("mit_humanoid_leg")  # doctest: +SKIP
        >>> tree = mujoco.MjModel.from_xml_string(pc.to_mjcf(model, integrator="Euler"))  # doctest: +SKIP
        >>> m, d = mujoco_warp.put_model(tree), mujoco_warp.make_data(tree, nworld=64)  # doctest: +SKIP
        >>> exact = pc.mujoco.warp.install(model, tree, m, d)  # doctest: +SKIP
        >>> exact.rotor_inertias.assign(exact.rotor_inertias.numpy() * 1.1)  # doctest: +SKIP
        >>> mujoco_warp.step(m, d)  # doctest: +SKIP
    """
    mjw, mujoco = package(), library()
    for name, x, kind in (("mj_model", mj_model, mujoco.MjModel), ("m", m, mjw.Model), ("d", d, mjw.Data)):
        if not isinstance(x, kind):
            raise ArgumentTypeError(f"warp: {name} must be a {kind.__name__}, got {type(x).__name__}.")
    _check_options(m)
    if isinstance(m.callback.passive, Installed):
        raise ModelError("warp: m is already exact. Call remove() of the object that install has returned.")
    for name in _SAME:
        if not np.array_equal(getattr(m, name).numpy(), getattr(mj_model, name)):
            raise ModelError(
                f"warp: m was not made from mj_model: {name} differs. Call mujoco_warp.put_model(mj_model)."
            )
    return Installed(Exact(model, mj_model), m, d)


def package() -> Any:
    """Import MuJoCo Warp; raise ``NotAvailableError`` if it is missing or has an untested version."""
    try:
        mjw = importlib.import_module("mujoco_warp")
    except ImportError as error:
        cure = extras.cure("mujoco_warp")
        raise NotAvailableError(
            f"pc.mujoco.warp needs MuJoCo Warp, which cannot be imported ({error}). {cure}"
        ) from None
    check_version("MuJoCo Warp", "mujoco-warp", mjw.__version__)
    return mjw


def _check_options(m: Any) -> None:
    mujoco = library()
    if is_discrete(m.opt.integrator):
        raise ModelError("warp: the integrator 'discrete' is not supported. Use Euler, implicit, implicitfast or RK4.")
    if m.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP):
        raise ModelError("warp: sleeping bodies are not supported. Clear the flag 'sleep'.")
    both = int(mujoco.mjtDisableBit.mjDSBL_SPRING) | int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
    if m.opt.disableflags & both == both:
        raise ModelError("warp: MuJoCo Warp ignores callbacks if springs and dampers are disabled. Enable one of them.")
