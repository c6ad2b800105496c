"""``pc.MotorSpace``: a parallel mechanism, such as an ankle, from the side of its joints and of its motors."""

import itertools
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._support.arrays import ArrayLike, is_vector, numbers, plain, vector
from ..._support.trees import set_coordinate
from ...compiler.machine_code.function import Compiled
from ...compiler.tracing.program import Program
from ...errors import ArgumentTypeError, BranchLost, ConfigurationError, ModelError, ShapeError, SingularClusterError
from ...model import ClusterModel
from ...model.configuration import branches
from .maps import EXPORTED, Maps
from .mechanism import Mechanism
from .motion import static_map_error
from .ways import Way, closed_form, constant_ratios, explore, newton, region_of

OPEN = 1e-9  # loops that stay open by more are not closed, [m] or [rad]
NEAR, BESIDE = 1e-6, 0.1  # margins below which maps are refused, and below which loops are open for a dead centre
Limits = Any  # numbers, or a function of speeds


class Gains(NamedTuple):
    """Gains of motors that act at the joints as was asked for, (n, n), and what controllers of one motor each can do.

    Diagonal ones, shape (n,), not negative, come nearest without coupling; what is lost is how far they are off at the
    joints, in parts of what was asked for (Frobenius).
    """

    stiffness: np.ndarray
    damping: np.ndarray
    diagonal_stiffness: np.ndarray
    diagonal_damping: np.ndarray
    lost_stiffness: float
    lost_damping: float

    @classmethod
    def of(cls, J: np.ndarray, K: np.ndarray, D: np.ndarray, bent: np.ndarray) -> "Gains":
        """Return those of stiffness and damping at the joints; ``bent`` is sum_k tau_motor_k d2theta_k/dx2."""
        from scipy.optimize import nnls  # whose import takes time

        back, images = np.linalg.inv(J), np.stack([np.outer(row, row).ravel() for row in J], axis=1)
        (k, off_k), (d, off_d) = (nnls(images, wanted.ravel()) for wanted in (K + bent, D))
        lost = (float(off / (np.linalg.norm(M) or 1.0)) for off, M in ((off_k, K), (off_d, D)))
        return cls(back.T @ (K + bent) @ back, back.T @ D @ back, k, d, *lost)


class MotorSpace:
    """Between some joints of a mechanism (pitch and roll of an ankle) and its motors (cranks, rotors on them).

    Everything follows from the mechanism's own equations, on the branch of the reference pose, in fixed time: by the
    closed form from joints to motors where there is one (``ankle_2rsu``, ``push_rod_ankle``, ``tello_hip``), else by a
    fixed number of steps of Newton's method from a polynomial, made for a region of poses. With theta the positions of
    the motors and J = d theta / d x: ``w = J v``, ``tau = J' tau_motor``. Values are of shape (n,), or (N, n) for many
    poses at once, in rad and N m (m and N of prismatic joints). At a dead centre, or out of reach, all functions raise:
    ``SingularClusterError`` names joint and condition, ``BranchLost`` the gap. Attributes are ``joints``, ``motors``,
    ``region`` and ``poses``, shape (N, n): what is reached of a grid over the region.

    Args:
        model: The robot.
        joints: Names of the joints that are commanded, as many as the mechanism has degrees of freedom, at most 3.
        motors: Names of what drives it: as many joints (cranks, rods) or rotors, which count at their own shaft.
        region: (low, high) of each joint, for Newton's method; by default its limits, or 0.5 rad (20 mm) either way.

    Raises:
        UnknownNameError: No joint or motor has a name; ModelError: names do not fit; ConfigurationError: nothing of the
            region is reached; NotAvailableError: a function that the user compiled ties the joints.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> ankle = pc.MotorSpace(pc.load("ankle_2rsu"), ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
        >>> x = np.array([0.1, -0.05])
        >>> bool(np.abs(ankle.forward(ankle.inverse(x)) - x).max() < 1e-12)
        True
    """

    def __init__(self, model: ClusterModel, joints: Any, motors: Any, *, region: Any = None) -> None:
        self.mechanism = m = Mechanism(model, joints, motors)
        self.joints, self.motors, self.region = tuple(joints), tuple(motors), region_of(m, region)
        if m.loops:
            self.poses, q = explore(m, self.region)
            form, driven = closed_form(m), np.array([m.values(m.drivers, row) for row in q])
            back = Way(m, m.by_joints, m.joints, form) if form else newton(m, m.by_joints, m.joints, self.poses, q)
            ahead = newton(m, m.by_motors, m.drivers, driven, q)
        else:
            back, ahead = (Way(m, model, ids, constant_ratios(m, ids)) for ids in (m.joints, m.drivers))
            self.poses = np.array(list(itertools.product(*self.region)))
        self._maps, self._rooms = Maps(m, back, ahead), threading.local()
        self._made: dict[str, Compiled] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again from what it was made of: programs and rooms of threads are not copied."""
        return partial(type(self), region=self.region), (self.mechanism.model, self.joints, self.motors)

    # --- positions
    def inverse(self, x: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """Return the positions of the motors; with ``near``, shape (n,), of all assemblies those nearest to it."""
        if near is None:
            return self._find("inverse", x)
        found, near = self.branches(x), self._sized("near", near)
        return found[np.abs(found - near).sum(axis=1).argmin()] if len(found) else self._find("inverse", x)

    def branches(self, x: ArrayLike) -> np.ndarray:
        """Return the positions of the motors in all assemblies (``pc.branches``), shape (k, n); the default first."""
        m, x, own = self.mechanism, self._sized("x", x), list[np.ndarray]()
        q = np.array(m.model.q_reference)
        for j, value in zip(m.joints, x, strict=True):
            set_coordinate(m.model.own_tree, j, q, float(value))
        with suppress(BranchLost, SingularClusterError):
            own, q = [self.inverse(x)], self.configuration(x)
        found = branches(m.by_joints, q, self.joints[0]) if m.loops else []
        turned = [m.ratios @ m.values(m.drivers, one) for one in found]
        others = [theta for theta in turned if not own or np.abs(theta - own[0]).max() > 1e-6]
        return np.array([*own, *others]).reshape(-1, len(self.joints))

    def forward(self, motors: Any) -> np.ndarray:
        """Return the positions of the joints for those of the motors."""
        return self._find("forward", motors)

    def configuration(self, x: ArrayLike) -> np.ndarray:
        """Return configurations with the joints at x, the others at the reference pose, shape (nq,), or (N, nq)."""
        return self._find("configuration", x)

    # --- rates and torques
    def jacobian(self, x: ArrayLike) -> np.ndarray:
        """Return J = d theta / d x, shape (n, n), or (N, n, n)."""
        return self._find("jacobian", x)

    def hessian(self, x: ArrayLike) -> np.ndarray:
        """Return the derivatives of J: [k, i, j] is d2 theta_k / dx_i dx_j, shape (n, n, n), or (N, n, n, n)."""
        return self._find("hessian", x)

    def motor_velocity(self, x: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the speeds of the motors, J v."""
        return np.asarray(np.einsum("...ij,...j->...i", self.jacobian(x), np.asarray(v)))

    def joint_velocity(self, x: ArrayLike, w: ArrayLike) -> np.ndarray:
        """Return the velocities of the joints for speeds of the motors."""
        return np.asarray(np.einsum("...ij,...j->...i", np.linalg.inv(self._regular(x)), np.asarray(w)))

    def motor_acceleration(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return the accelerations of the motors, J a + (dJ/dt) v."""
        v = np.asarray(v)
        return self.motor_velocity(x, a) + np.einsum("...kij,...i,...j->...k", self.hessian(x), v, v)

    def motor_torque(self, x: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the torques of the motors that act at the joints as ``tau``, J^-T tau: nothing between has a mass."""
        return self._find("torque", x, tau)

    def joint_torque(self, x: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the torques at the joints of torques of the motors, J' tau."""
        return self._find("joint_torque", x, tau)

    # --- gains
    def joint_to_motor_gains(
        self, x: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, tau: ArrayLike | None = None
    ) -> Gains:
        """Return gains of the motors that act at the joints as stiffness and damping there, in one pose.

        With K = -d tau / d x there, the motors' is J^-T (K + sum_k tau_motor_k d2theta_k/dx2) J^-1; the second term is
        what a constant torque of the motors changes as the mechanism turns. Gains are a number, one per joint or a
        matrix; ``tau``, shape (n,), is the torque of the joints there, none by default.
        """
        J, n = self._regular(self._sized("x", x)), len(self.joints)
        return Gains.of(J, _square("stiffness", stiffness, n), _square("damping", damping, n), self._bent(x, tau))

    def motor_to_joint_gains(
        self, x: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, tau: ArrayLike | None = None
    ) -> tuple[Any, Any]:
        """Return stiffness and damping at the joints, (n, n) each, of gains of the motors; as the other way."""
        J, n = self.jacobian(self._sized("x", x)), len(self.joints)
        bent = self._bent(x, tau)
        return J.T @ _square("stiffness", stiffness, n) @ J - bent, J.T @ _square("damping", damping, n) @ J

    def _bent(self, x: Any, tau: Any) -> np.ndarray:
        motor = 0.0 * self.jacobian(x)[0] if tau is None else self.motor_torque(x, self._sized("tau", tau))
        return np.tensordot(motor, self.hessian(x), 1)

    # --- limits
    def torque_polygon(self, x: ArrayLike, limits: Limits = None, speed: ArrayLike | None = None) -> np.ndarray:
        """Return the corners of torques that motors make at joints, (2^n, n) or (N, 2^n, n); two: counter-clockwise.

        Limits are torques of the motors, (n,), or (n, 2), lower ones first, or a function that returns such for their
        ``speed``, zero by default; else those of each rotor's ``Motor``, or efforts of the file.
        """
        return _corners(np.swapaxes(self.jacobian(x), -1, -2), self._limits("torque", limits, speed))

    def speed_polygon(self, x: ArrayLike, limits: Limits = None) -> np.ndarray:
        """Return the corners of the velocities of the joints that speeds of the motors allow; as ``torque_polygon``."""
        return _corners(np.linalg.inv(self._regular(x)), self._limits("speed", limits))

    def limits(self, x: ArrayLike, limits: Limits = None) -> np.ndarray:
        """Return half sides, like x, of the largest box of torques of joints in proportion to what each has alone."""
        return self._find("limits", x, np.abs(self._limits("torque", limits)).min(axis=0))

    def safe_limits(self, x: ArrayLike | None = None, limits: Limits = None, *, speed: bool = False) -> np.ndarray:
        """Return half sides of the largest box of torques, or speeds, of joints at all poses x (N, n), or ``poses``."""
        from scipy.optimize import minimize  # whose import takes time

        J = self._regular(self.poses if x is None else np.atleast_2d(x))
        maps = J if speed else np.swapaxes(np.linalg.inv(J), 1, 2)
        most = np.abs(self._limits("speed" if speed else "torque", limits)).min(axis=0)
        M = np.abs(maps / most[:, None]).reshape(-1, len(most))
        # the most of sum(s) with M exp(s) <= 1, which is convex
        bounds: Any = {"type": "ineq", "fun": lambda s: 1.0 - M @ np.exp(s), "jac": lambda s: -M * np.exp(s)}
        start = -np.log(M.max(axis=0) * len(self.joints))
        find: Any = minimize
        found = find(lambda s: -s.sum(), start, method="SLSQP", constraints=bounds, tol=1e-12)
        return np.asarray(np.exp(found.x) / (M @ np.exp(found.x)).max())

    def _limits(self, of: str, given: Limits, speed: Any = None) -> np.ndarray:
        """Return the lower and the upper limits of the motors, shape (2, n)."""
        n, stated = len(self.joints), [motor for motor in self.mechanism.stated if motor is not None]
        if given is None and speed is not None and len(stated) == n:
            each = zip(stated, self._sized("speed", speed), strict=True)
            given = np.array([motor.torque_limits(w) for motor, w in each])
        given = self.mechanism.given[of] if given is None else given
        if not callable(given) and np.isnan(numbers("limits", given)).any():
            raise ModelError(f"motors {', '.join(self.motors)} have no limit of {of} in the file each: give limits=.")
        if callable(given):
            given = given(np.zeros(n) if speed is None else self._sized("speed", speed))
        found = numbers("limits", given).astype(float)
        pair = np.array([-found, found]) if found.shape == (n,) else found.T
        if pair.shape != (2, n) or not (np.isfinite(pair).all() and (pair[0] < 0.0).all() and (pair[1] > 0.0).all()):
            text = f"limits must be ({n},), or ({n}, 2) with the lower ones first, finite, with zero between them"
            raise ArgumentTypeError(f"{text}; got {found.tolist()}.")
        return pair

    # --- motion
    static_map_error = static_map_error

    # --- code
    @property
    def programs(self) -> tuple[Program, ...]:
        """What ``pc.codegen.export(model, folder, space.programs)`` takes.

        ``status``: what loops are open by, below 1e-9 if sound, and three margins, above 0 if sound: two to dead
        centres, 1 in the reference pose, and one to the largest distance that Newton's method may go.
        """
        n, x = len(self.joints), self.poses[:: max(1, len(self.poses) // 12)]
        numbers = np.random.default_rng(0).uniform(0.5, 1.0, (6, len(x), n * n))
        known = dict(zip(("joint_torque", "motor_torque", "motor_limit"), numbers[:, :, :n], strict=False))
        known |= {"joints": x, "motors": self.inverse(x), "stiffness": numbers[4], "damping": numbers[5]}
        return tuple(replace(self._compiled(name).program, samples=known) for name in EXPORTED)

    # --- calls
    def _compiled(self, name: str) -> Compiled:
        if name not in self._made:
            self._made[name] = Compiled(self._maps.program(name))
        return self._made[name]

    def _prepare(self, name: str) -> tuple[Any, ...]:
        """Return a function, and rooms of this thread for what goes in and comes out."""
        made = self._compiled(name)
        given, (found, status) = ([np.empty(x) for _, x in y] for y in (made.program.inputs, made.program.outputs))
        addresses = [x.ctypes.data for x in (*given, found, status)]
        entry = made.one, given, addresses, found, memoryview(status.data)  # of which numbers are read faster
        self._rooms.__dict__[name] = entry
        return entry

    def _find(self, name: str, *given: Any) -> np.ndarray:
        """Call a function on a pose, or on many."""
        function, rooms, addresses, found, status = self._rooms.__dict__.get(name) or self._prepare(name)
        for room, x in zip(rooms, given, strict=True):
            if not is_vector(x, len(room)):
                return self._of_any(name, given)
            room[:] = x
        function(*addresses)
        if status[0] <= OPEN and status[1] > NEAR and status[2] > NEAR and status[3] > NEAR:
            return np.array(found)
        self._refuse(name, rooms[0], status)

    def _of_any(self, name: str, given: Sequence[Any]) -> np.ndarray:
        """Call it with arguments of any kind, on many poses too; or complain of them."""
        made = self._made[name]
        inputs = [(label, size, numbers(label, x)) for (label, size), x in zip(made.program.inputs, given, strict=True)]
        count = {len(x) for _, _, x in inputs if x.ndim == 2}
        for label, size, x in inputs:
            if x.shape[-1:] != (size,) or x.ndim > 2 or len(count) > 1:
                raise ShapeError(f"{label} has shape {x.shape}; expected ({size},), or (N, {size}) for N poses in all.")
        if not count:
            return self._find(name, *(plain(x) for _, _, x in inputs))
        rows = [np.array(np.broadcast_to(x, (*count, size)), float, order="C") for _, size, x in inputs]
        found, status = made(*rows)
        bad = ~((status[:, 0] <= OPEN) & (status[:, 1:] > NEAR).all(axis=1))
        if bad.any():
            self._refuse(name, rows[0][i := int(bad.argmax())], status[i], f" (row {i})")
        return np.asarray(found)

    def _regular(self, x: Any) -> np.ndarray:
        """Return J where it can be inverted."""
        J = self.jacobian(x)
        lost = ~(np.linalg.cond(J) < 1.0 / NEAR)
        if lost.any():
            self._refuse("joint_velocity", np.atleast_2d(x)[np.atleast_1d(lost).argmax()], (0.0, 1.0, 0.0, 1.0))
        return J

    def _refuse(self, name: str, known: np.ndarray, status: Sequence[float], where: str = "") -> NoReturn:
        """Raise the error that says what is wrong with a pose."""
        cluster, forward, (gap, *margins, room) = self.mechanism.cluster.joints, name == "forward", status
        names, least = self.motors if forward else self.joints, min(margins) if gap <= OPEN else margins[0]
        text = f"MotorSpace, {name}: {', '.join(f'{a} {x:.6g}' for a, x in zip(names, known, strict=True))}{where}: "
        if not np.isfinite(known).all():
            raise ConfigurationError(f"{text}that is not finite.")
        if not (gap <= OPEN and room > NEAR) and not abs(least) < BESIDE:
            told = f"loops stay open by {gap:.3g}"
            if gap <= OPEN:
                told = "loops close only far from where Newton's method began, which may be another branch"
            raise BranchLost(
                f"{text}{told}. That cannot be reached on this branch, or is far from the region "
                f"{self.region.tolist()} of {', '.join(self.joints)}: then give region=.",
                cluster,
            )
        x = self._compiled(name).program(known)[0] if forward else known
        J, back = self._compiled("jacobian").program(np.array(x))[0], forward is bool(least == margins[0])
        J = np.where(np.isfinite(J), J, 1e150)
        rates = np.linalg.pinv(J, rcond=0.0) if back else J
        lost = (self.joints if back else self.motors)[int(np.abs(rates).max(axis=1).argmax())]
        raise SingularClusterError(
            f"{text}{lost!r} is at a dead centre, or beyond: d theta / d x has the condition {np.linalg.cond(J):.3g}, "
            f"the margin is {least:.3g} (1 in the reference pose, {NEAR:g} is the least), and loops stay open by "
            f"{gap:.3g}. Keep away from it: limit the joints.",
            cluster,
        )

    def _sized(self, name: str, x: Any) -> np.ndarray:
        return vector(self.mechanism.model, name, x, len(self.joints), "one per joint, or motor")


def _square(name: str, x: Any, n: int) -> np.ndarray:
    """Return a matrix: itself, of its diagonal, or of one number."""
    found = numbers(name, x)
    if found.shape not in ((), (n,), (n, n)):
        raise ShapeError(f"{name} has shape {found.shape}; expected a number, ({n},) or ({n}, {n}).")
    return found.astype(float) if found.ndim == 2 else np.diag(np.broadcast_to(found, n).astype(float))


def _corners(M: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the images of the corners of a box; of two dimensions counter-clockwise."""
    found = np.einsum("...ij,cj->...ci", M, np.array(list(itertools.product(*limits.T))))
    if len(limits.T) == 2:
        found = found[..., [0, 2, 3, 1], :]
        found = np.where((np.linalg.det(M) < 0.0)[..., None, None], found[..., ::-1, :], found)
    return np.asarray(found)
