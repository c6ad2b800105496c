"""``pc.MotorSpace`` converts between joint and motor quantities of a parallel mechanism, such as an ankle."""

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
from .pose_solvers import PoseSolver, closed_form, constant_ratios, explore, newton, region_of

OPEN = 1e-9  # largest residual of closed loops, [m] or [rad]
NEAR, BESIDE = 1e-6, 0.1  # smallest accepted margin; margin below which open loops are attributed to a dead centre
Limits = Any  # array, or a function of the motor speeds


class Gains(NamedTuple):
    """Motor gains that produce the requested joint gains, shape (n, n), and the nearest diagonal motor gains.

    The diagonal gains, shape (n,), are the nonnegative gains of independently controlled motors that approximate the
    requested gains best. ``lost_stiffness`` and ``lost_damping`` are the relative errors of the resulting joint gains
    (Frobenius norm).

    Attributes:
        stiffness: Stiffness of the motors, [N m/rad] or [N/m].
        damping: Damping of the motors, [N m s/rad] or [N s/m].
    """

    stiffness: np.ndarray
    damping: np.ndarray
    diagonal_stiffness: np.ndarray
    diagonal_damping: np.ndarray
    lost_stiffness: float
    lost_damping: float

    @classmethod
    def of(cls, J: np.ndarray, K: np.ndarray, D: np.ndarray, bent: np.ndarray) -> "Gains":
        """Compute the gains for joint stiffness K and joint damping D; ``bent`` is sum_k tau_motor_k d2theta_k/dx2."""
        from scipy.optimize import nnls  # this import is slow

        back, images = np.linalg.inv(J), np.stack([np.outer(row, row).ravel() for row in J], axis=1)
        (k, off_k), (d, off_d) = (nnls(images, target.ravel()) for target in (K + bent, D))
        lost = (float(residual / (np.linalg.norm(M) or 1.0)) for residual, M in ((off_k, K), (off_d, D)))
        return cls(back.T @ (K + bent) @ back, back.T @ D @ back, k, d, *lost)


class MotorSpace:
    """Maps between the joints of a mechanism (pitch and roll of an ankle) and its motors (cranks, or rotors on them).

    All maps use the exact equations of the mechanism, in the assembly mode (branch) of the reference pose, and take
    constant time. The inverse map uses a closed-form solution if one is available (``ankle_2rsu``, ``push_rod_ankle``,
    ``tello_hip``). Otherwise, it uses a fixed number of Newton steps, which start from a polynomial fitted in a region
    of poses. The joint positions are x, the motor positions are theta, and J = d theta / d x. For joint velocities v,
    motor speeds w and joint torques tau, ``w = J v`` and ``tau = J' tau_motor``. Arrays have shape (n,), or (N, n) for
    N poses. Units are rad and N m, or m and N for prismatic joints. At a singularity (dead centre), methods raise
    ``SingularClusterError`` with the joint and the condition number. If a pose cannot be reached, methods raise
    ``BranchLost`` with the gap of the loop.

    Attributes:
        joints: Names of the joints.
        motors: Names of the motors.
        region: Lower and upper limit of each joint in the region, shape (n, 2), [rad] or [m].
        poses: Joint positions of all reachable poses of a grid in the region, shape (N, n).

    Args:
        model: The robot.
        joints: Names of the commanded joints, one per degree of freedom of the mechanism, at most 3.
        motors: Names of the driving joints (cranks, rods) or rotors. The position of a rotor is its shaft angle.
        region: Range (low, high) of each joint in which Newton's method must work. By default, the joint limits, or
            +-0.5 rad (+-20 mm) from the reference pose if there are none.

    Raises:
        UnknownNameError: A joint or motor does not exist.
        ModelError: The joints and motors do not belong to one mechanism, or their numbers do not match.
        ConfigurationError: No pose in the region can be reached.
        NotAvailableError: A compiled user function constrains the joints.

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
            special = m.by_joints
            back = PoseSolver(m, special, m.joints, form) if form else newton(m, special, m.joints, self.poses, q)
            ahead = newton(m, m.by_motors, m.drivers, driven, q)
        else:
            back, ahead = (PoseSolver(m, model, ids, constant_ratios(m, ids)) for ids in (m.joints, m.drivers))
            self.poses = np.array(list(itertools.product(*self.region)))
        self._maps, self._buffers = Maps(m, back, ahead), threading.local()
        self._made: dict[str, Compiled] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), region=self.region), (self.mechanism.model, self.joints, self.motors)

    def inverse(self, x: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """Return the motor positions for x, in the assembly mode nearest to the motor positions ``near``, if given."""
        if near is None:
            return self._find("inverse", x)
        modes, near = self.branches(x), self._sized("near", near)
        return modes[np.abs(modes - near).sum(axis=1).argmin()] if len(modes) else self._find("inverse", x)

    def branches(self, x: ArrayLike) -> np.ndarray:
        """Return the motor positions in all k assembly modes, shape (k, n); the default mode comes first."""
        m, x, default_mode = self.mechanism, self._sized("x", x), list[np.ndarray]()
        q = np.array(m.model.q_reference)
        for j, value in zip(m.joints, x, strict=True):
            set_coordinate(m.model.own_tree, j, q, float(value))
        with suppress(BranchLost, SingularClusterError):
            default_mode, q = [self.inverse(x)], self.configuration(x)
        configurations = branches(m.by_joints, q, self.joints[0]) if m.loops else []
        turned = [m.ratios @ m.values(m.drivers, row) for row in configurations]
        other_modes = [theta for theta in turned if not default_mode or np.abs(theta - default_mode[0]).max() > 1e-6]
        return np.array([*default_mode, *other_modes]).reshape(-1, len(self.joints))

    def forward(self, motors: Any) -> np.ndarray:
        """Return the joint positions for motor positions."""
        return self._find("forward", motors)

    def configuration(self, x: ArrayLike) -> np.ndarray:
        """Return configurations with joint positions x and other joints as in the reference, shape (nq,) or (N, nq)."""
        return self._find("configuration", x)

    def jacobian(self, x: ArrayLike) -> np.ndarray:
        """Return J = d theta / d x, shape (n, n) or (N, n, n)."""
        return self._find("jacobian", x)

    def hessian(self, x: ArrayLike) -> np.ndarray:
        """Return the derivatives of J: entry [k, i, j] is d2 theta_k / dx_i dx_j, shape (n, n, n) or (N, n, n, n)."""
        return self._find("hessian", x)

    def motor_velocity(self, x: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the motor speeds J v for joint velocities v."""
        return np.asarray(np.einsum("...ij,...j->...i", self.jacobian(x), np.asarray(v)))

    def joint_velocity(self, x: ArrayLike, w: ArrayLike) -> np.ndarray:
        """Return the joint velocities for motor speeds w."""
        return np.asarray(np.einsum("...ij,...j->...i", np.linalg.inv(self._regular(x)), np.asarray(w)))

    def motor_acceleration(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return the motor accelerations J a + (dJ/dt) v for joint velocities v and accelerations a."""
        v = np.asarray(v)
        return self.motor_velocity(x, a) + np.einsum("...kij,...i,...j->...k", self.hessian(x), v, v)

    def motor_torque(self, x: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the motor torques J^-T tau that are statically equivalent to the joint torques tau."""
        return self._find("torque", x, tau)

    def joint_torque(self, x: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the joint torques J' tau for motor torques tau."""
        return self._find("joint_torque", x, tau)

    def joint_to_motor_gains(
        self, x: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, tau: ArrayLike | None = None
    ) -> Gains:
        """Return the motor gains that are equivalent to joint stiffness and joint damping in one pose.

        With K = -d tau / d x at the joints, the motor stiffness is J^-T (K + sum_k tau_motor_k d2theta_k/dx2) J^-1. The
        second term arises because constant motor torques cause joint torques that change with the pose. Each gain is a
        number, one number per joint, or a matrix. ``tau``, shape (n,), is the joint torque (default: zero).
        """
        J, n = self._regular(self._sized("x", x)), len(self.joints)
        return Gains.of(J, _square("stiffness", stiffness, n), _square("damping", damping, n), self._bent(x, tau))

    def motor_to_joint_gains(
        self, x: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, tau: ArrayLike | None = None
    ) -> tuple[Any, Any]:
        """Return the joint stiffness and the joint damping, shape (n, n) each, for motor gains."""
        J, n = self.jacobian(self._sized("x", x)), len(self.joints)
        bent = self._bent(x, tau)
        return J.T @ _square("stiffness", stiffness, n) @ J - bent, J.T @ _square("damping", damping, n) @ J

    def _bent(self, x: Any, tau: Any) -> np.ndarray:
        motor = 0.0 * self.jacobian(x)[0] if tau is None else self.motor_torque(x, self._sized("tau", tau))
        return np.tensordot(motor, self.hessian(x), 1)

    def torque_polygon(self, x: ArrayLike, limits: Limits = None, speed: ArrayLike | None = None) -> np.ndarray:
        """Return the corners of the deliverable joint torques, (2^n, n) or (N, 2^n, n), counter-clockwise if n = 2.

        ``limits`` contains motor torques, shape (n,), or (n, 2) with the lower limits first. It can also be a function
        that returns such an array for the motor speeds ``speed`` (zero by default). By default, the limits are taken
        from the ``Motor`` of each rotor, or from the effort limits in the robot file.
        """
        return _corners(np.swapaxes(self.jacobian(x), -1, -2), self._limits("torque", limits, speed))

    def speed_polygon(self, x: ArrayLike, limits: Limits = None) -> np.ndarray:
        """Return the corners of the set of joint velocities within the motor speed limits; see ``torque_polygon``."""
        return _corners(np.linalg.inv(self._regular(x)), self._limits("speed", limits))

    def limits(self, x: ArrayLike, limits: Limits = None) -> np.ndarray:
        """Return the half sides of the largest feasible box of joint torques, proportional to single-joint limits."""
        return self._find("limits", x, np.abs(self._limits("torque", limits)).min(axis=0))

    def safe_limits(self, x: ArrayLike | None = None, limits: Limits = None, *, speed: bool = False) -> np.ndarray:
        """Return the half sides of the largest box of joint torques (or speeds) that is feasible at all poses x.

        ``x`` has shape (N, n); the default is ``poses``.
        """
        from scipy.optimize import minimize  # this import is slow

        J = self._regular(self.poses if x is None else np.atleast_2d(x))
        maps = J if speed else np.swapaxes(np.linalg.inv(J), 1, 2)
        motor_limits = np.abs(self._limits("speed" if speed else "torque", limits)).min(axis=0)
        M = np.abs(maps / motor_limits[:, None]).reshape(-1, len(motor_limits))
        # The problem is convex: maximise sum(s) subject to M exp(s) <= 1.
        bounds: Any = {"type": "ineq", "fun": lambda s: 1.0 - M @ np.exp(s), "jac": lambda s: -M * np.exp(s)}
        start = -np.log(M.max(axis=0) * len(self.joints))
        find: Any = minimize
        solution = find(lambda s: -s.sum(), start, method="SLSQP", constraints=bounds, tol=1e-12)
        return np.asarray(np.exp(solution.x) / (M @ np.exp(solution.x)).max())

    def _limits(self, of: str, limits: Limits, speed: Any = None) -> np.ndarray:
        n, stated = len(self.joints), [motor for motor in self.mechanism.stated if motor is not None]
        if limits is None and speed is not None and len(stated) == n:
            motors_and_speeds = zip(stated, self._sized("speed", speed), strict=True)
            limits = np.array([motor.torque_limits(w) for motor, w in motors_and_speeds])
        limits = self.mechanism.given[of] if limits is None else limits
        if not callable(limits) and np.isnan(numbers("limits", limits)).any():
            raise ModelError(
                f"the file does not contain a {of} limit for each of {', '.join(self.motors)}. Pass limits=."
            )
        if callable(limits):
            limits = limits(np.zeros(n) if speed is None else self._sized("speed", speed))
        values = numbers("limits", limits).astype(float)
        pair = np.array([-values, values]) if values.shape == (n,) else values.T
        if pair.shape != (2, n) or not (np.isfinite(pair).all() and (pair[0] < 0.0).all() and (pair[1] > 0.0).all()):
            text = f"limits must have shape ({n},), or ({n}, 2) with the lower limits first, be finite and enclose zero"
            raise ArgumentTypeError(f"{text}; got {values.tolist()}.")
        return pair

    static_map_error = static_map_error

    @property
    def programs(self) -> tuple[Program, ...]:
        """Programs of the maps, for ``pc.codegen.export(model, folder, space.programs)``.

        The output ``status`` contains the loop residual (valid below 1e-9) and three margins (valid above 0). The first
        two are 1 in the reference pose and 0 at singularities. The third is 1 at the initial guess of Newton's method
        and 0 at the largest allowed distance from the guess.
        """
        n, x = len(self.joints), self.poses[:: max(1, len(self.poses) // 12)]
        numbers = np.random.default_rng(0).uniform(0.5, 1.0, (6, len(x), n * n))
        samples = dict(zip(("joint_torque", "motor_torque", "motor_limit"), numbers[:, :, :n], strict=False))
        samples |= {"joints": x, "motors": self.inverse(x), "stiffness": numbers[4], "damping": numbers[5]}
        return tuple(replace(self._compiled(name).program, samples=samples) for name in EXPORTED)

    def _compiled(self, name: str) -> Compiled:
        if name not in self._made:
            self._made[name] = Compiled(self._maps.program(name))
        return self._made[name]

    def _prepare(self, name: str) -> tuple[Any, ...]:
        code = self._compiled(name)
        inputs, (output, status) = ([np.empty(x) for _, x in y] for y in (code.program.inputs, code.program.outputs))
        addresses = [x.ctypes.data for x in (*inputs, output, status)]
        # A memoryview reads single numbers faster than an array.
        entry = code.one, inputs, addresses, output, memoryview(status.data)
        self._buffers.__dict__[name] = entry
        return entry

    def _find(self, name: str, *given: Any) -> np.ndarray:
        function, inputs, addresses, output, status = self._buffers.__dict__.get(name) or self._prepare(name)
        for buffer, x in zip(inputs, given, strict=True):
            if not is_vector(x, len(buffer)):
                return self._of_any(name, given)
            buffer[:] = x
        function(*addresses)
        if status[0] <= OPEN and status[1] > NEAR and status[2] > NEAR and status[3] > NEAR:
            return np.array(output)
        self._refuse(name, inputs[0], status)

    def _of_any(self, name: str, given: Sequence[Any]) -> np.ndarray:
        code = self._made[name]
        inputs = [(label, size, numbers(label, x)) for (label, size), x in zip(code.program.inputs, given, strict=True)]
        count = {len(x) for _, _, x in inputs if x.ndim == 2}
        for label, size, x in inputs:
            if x.shape[-1:] != (size,) or x.ndim > 2 or len(count) > 1:
                raise ShapeError(
                    f"{label} has shape {x.shape}, expected ({size},) for one pose or (N, {size}) for N poses."
                )
        if not count:
            return self._find(name, *(plain(x) for _, _, x in inputs))
        rows = [np.array(np.broadcast_to(x, (*count, size)), float, order="C") for _, size, x in inputs]
        output, status = code(*rows)
        bad = ~((status[:, 0] <= OPEN) & (status[:, 1:] > NEAR).all(axis=1))
        if bad.any():
            self._refuse(name, rows[0][i := int(bad.argmax())], status[i], f" (row {i})")
        return np.asarray(output)

    def _regular(self, x: Any) -> np.ndarray:
        J = self.jacobian(x)
        lost = ~(np.linalg.cond(J) < 1.0 / NEAR)
        if lost.any():
            self._refuse("joint_velocity", np.atleast_2d(x)[np.atleast_1d(lost).argmax()], (0.0, 1.0, 0.0, 1.0))
        return J

    def _refuse(self, name: str, positions: np.ndarray, status: Sequence[float], where: str = "") -> NoReturn:
        cluster, forward, (gap, *margins, reach) = self.mechanism.cluster.joints, name == "forward", status
        labels, least = self.motors if forward else self.joints, min(margins) if gap <= OPEN else margins[0]
        text = (
            f"MotorSpace, {name}: {', '.join(f'{a} {x:.6g}' for a, x in zip(labels, positions, strict=True))}{where}: "
        )
        if not np.isfinite(positions).all():
            raise ConfigurationError(f"{text}the positions are not finite.")
        if not (gap <= OPEN and reach > NEAR) and not abs(least) < BESIDE:
            reason = f"the loop gap is {gap:.3g}"
            if gap <= OPEN:
                reason = "the loops close only far from the start of Newton's method, possibly in another branch"
            raise BranchLost(
                f"{text}{reason}. The pose cannot be reached on this branch, or it is far from the region "
                f"{self.region.tolist()} of {', '.join(self.joints)}. In the latter case, pass a region= around it.",
                cluster,
            )
        x = self._compiled(name).program(positions)[0] if forward else positions
        J, back = self._compiled("jacobian").program(np.array(x))[0], forward is bool(least == margins[0])
        J = np.where(np.isfinite(J), J, 1e150)
        rates = np.linalg.pinv(J, rcond=0.0) if back else J
        lost = (self.joints if back else self.motors)[int(np.abs(rates).max(axis=1).argmax())]
        raise SingularClusterError(
            f"{text}{lost!r} is at or beyond a dead centre: d theta / d x has condition number "
            f"{np.linalg.cond(J):.3g}, the margin is {least:.3g} (1 in the reference pose, at least {NEAR:g} required)"
            f", and the loop gap is {gap:.3g}. Limit the joints to avoid the dead centre.",
            cluster,
        )

    def _sized(self, name: str, x: Any) -> np.ndarray:
        return vector(self.mechanism.model, name, x, len(self.joints), "one per joint, or motor")


def _square(name: str, x: Any, n: int) -> np.ndarray:
    array = numbers(name, x)
    if array.shape not in ((), (n,), (n, n)):
        raise ShapeError(f"{name} has shape {array.shape}; expected a number, ({n},) or ({n}, {n}).")
    return array.astype(float) if array.ndim == 2 else np.diag(np.broadcast_to(array, n).astype(float))


def _corners(M: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return M times the corners of the box ``limits``; the order is counter-clockwise in two dimensions."""
    images = np.einsum("...ij,cj->...ci", M, np.array(list(itertools.product(*limits.T))))
    if len(limits.T) == 2:
        images = images[..., [0, 2, 3, 1], :]
        images = np.where((np.linalg.det(M) < 0.0)[..., None, None], images[..., ::-1, :], images)
    return np.asarray(images)
