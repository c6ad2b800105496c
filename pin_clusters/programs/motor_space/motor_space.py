"""``pc.MotorSpace``: a parallel mechanism, such as an ankle, from the side of its joints and of its motors."""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..._support.arrays import is_vector, numbers, plain, vector
from ...errors import ArgumentTypeError, BranchLost, ConfigurationError, ModelError, ShapeError, SingularClusterError
from ...model import ClusterModel
from ...model.configuration import branches
from ..machine_code.function import Compiled
from ..tracing.program import Program
from .gains import Gains, square, to_motors
from .maps import EXPORTED, Maps
from .mechanism import mechanism_of
from .motion import StaticMapError, static_map_error
from .ways import Way, closed_form, constant_ratios, explore, newton, region_of

OPEN = 1e-9
"""Loops that stay open by more are not closed, [m] or [rad]."""
NEAR = 1e-6
"""The margin to a dead centre, in parts of that of the reference pose, below which maps are refused."""
_SINGULAR = 1e10
Limited = Any
"""One number per motor, (low, high) of each, or a function of the motors' speeds that returns such."""


class MotorSpace:
    """Between some joints of a mechanism (pitch and roll of an ankle) and its motors (cranks, rotors on them).

    Everything follows from the mechanism's own equations, on the branch of the reference pose, in fixed time: by the
    closed form where the mechanism has one (``Ankle2Rsu``, ``PushRodAnkle``, ``TelloHip`` from joints to motors), else
    by a fixed number of steps of Newton's method from a polynomial, which is made for a region of poses. With theta the
    positions of the motors and J = d theta / d x: ``w = J v``, ``tau = J' tau_motor``.

    Positions, velocities and torques are of shape (n,), or (N, n) for many poses at once, in the order of ``joints``
    and ``motors``; units are rad and N m, m and N of prismatic joints. Any thread may call.

    Args:
        model: The robot.
        joints: Names of the joints that are commanded, as many as the mechanism has degrees of freedom, at most 3.
        motors: Names of what drives it: as many joints (cranks, rods) or rotors, which count at their own shaft.
        region: (low, high) of each joint, for which Newton's method is made; by default the joint's limits, or 0.5 rad
            (20 mm) about the reference pose where it has none.

    Attributes:
        joints: Their names.
        motors: Their names.
        region: Shape (n, 2).
        mechanism: Model, cluster and ratios.

    Raises:
        UnknownNameError: No joint or motor has a name.
        UnsupportedJointError: A joint has more than one degree of freedom.
        ModelError: Names are not of one mechanism, or not as many as it has degrees of freedom.
        ConfigurationError: Of the region almost nothing can be reached.
        NotAvailableError: A function that the user compiled ties the joints.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> space = pc.MotorSpace(pc.load("ankle_2rsu"), ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
        >>> x = np.array([0.1, -0.05])
        >>> bool(np.abs(space.forward(space.inverse(x)) - x).max() < 1e-12)
        True
    """

    def __init__(self, model: ClusterModel, joints: Any, motors: Any, *, region: Any = None) -> None:
        self.mechanism = m = mechanism_of(model, joints, motors)
        self.joints, self.motors = tuple(model.own_tree.names[j] for j in m.joints), m.motors
        self.region = region_of(m, region)
        self._given = (model, self.joints, self.motors, region)
        if m.loops:
            x, q = explore(m, self.region)
            form = closed_form(m)
            back = newton(m, m.by_joints, m.joints, x, q) if form is None else Way(m, m.by_joints, m.joints, form)
            driven = np.array([m.values(m.drivers, row) for row in q])
            ahead = newton(m, m.by_motors, m.drivers, driven, q)
            self._known = x
        else:
            back, ahead = (Way(m, model, ids, constant_ratios(m, ids)) for ids in (m.joints, m.drivers))
            self._known = np.array(list(itertools.product(*self.region)))
        self._maps = Maps(m, back, ahead)
        self._compiled: dict[str, Compiled] = {}
        self._rooms = threading.local()
        self._programs: dict[str, Program] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of."""
        return _made, self._given

    def __repr__(self) -> str:
        """Name model, joints and motors."""
        return f"MotorSpace({self.mechanism.model.name!r}: {', '.join(self.joints)} <- {', '.join(self.motors)})"

    # --- positions
    def inverse(self, x: Any, near: Any = None) -> np.ndarray:
        """Return the positions of the motors.

        Args:
            x: Of the joints.
            near: Of all assemblies the one whose motors are nearest to these, shape (n,); by default that on the branch
                of the reference pose.

        Raises:
            SingularClusterError: A motor is at a dead centre; it is named.
            BranchLost: The joints cannot be there.
        """
        if near is None:
            return self._find("inverse", x)
        found = self.branches(x)
        if not len(found):
            self._refuse("inverse", np.asarray(x, dtype=float), np.array([np.inf, 0.0]))
        return found[int(np.argmin(np.abs(found - self._sized("near", near)).sum(axis=1)))]

    def branches(self, x: Any) -> np.ndarray:
        """Return the positions of the motors in all assemblies with the joints at x, shape (k, n), (n,) each.

        That of the reference pose's branch is the first one, if it is there. See ``pc.branches`` on what is found.
        """
        m, x = self.mechanism, self._sized("x", x)
        if not m.loops:
            return self.inverse(x)[None]
        try:
            own = [self.inverse(x)]
            q = self.configuration(x)
        except (BranchLost, SingularClusterError):
            own, q = [], m.at(x)
        turned = [m.ratios @ m.values(m.drivers, one) for one in branches(m.by_joints, q, self.joints[0])]
        others = [theta for theta in turned if not own or np.abs(theta - own[0]).max() > 1e-6]
        return np.array([*own, *others]).reshape(-1, len(self.joints))

    def forward(self, motors: Any) -> np.ndarray:
        """Return the positions of the joints for those of the motors.

        Raises:
            SingularClusterError: The motors do not determine the joints: a dead centre; a joint is named.
            BranchLost: The motors cannot be there, or it is outside of the region.
        """
        return self._find("forward", motors)

    def configuration(self, x: Any) -> np.ndarray:
        """Return configurations with the joints at x, the others at the reference pose, shape (nq,), or (N, nq)."""
        return self._find("configuration", x)

    # --- rates and torques
    def jacobian(self, x: Any) -> np.ndarray:
        """Return J = d theta / d x, shape (n, n), or (N, n, n)."""
        return self._find("jacobian", x)

    def hessian(self, x: Any) -> np.ndarray:
        """Return the derivatives of J: entry [k, i, j] is d2 theta_k / dx_i dx_j, shape (n, n, n), or (N, n, n, n)."""
        return self._find("hessian", x)

    def motor_velocity(self, x: Any, v: Any) -> np.ndarray:
        """Return the speeds of the motors, J v."""
        return np.asarray((self.jacobian(x) @ np.asarray(v, dtype=float)[..., None])[..., 0])

    def joint_velocity(self, x: Any, w: Any) -> np.ndarray:
        """Return the velocities of the joints for the speeds of the motors."""
        return np.asarray(np.linalg.solve(self._regular(x), np.asarray(w, dtype=float)[..., None])[..., 0])

    def motor_acceleration(self, x: Any, v: Any, a: Any) -> np.ndarray:
        """Return the accelerations of the motors, J a + (dJ/dt) v."""
        v = np.asarray(v, dtype=float)
        bias = np.einsum("...kij,...i,...j->...k", self.hessian(x), v, v)
        return self.motor_velocity(x, a) + bias

    def motor_torque(self, x: Any, tau: Any) -> np.ndarray:
        """Return the torques of the motors that act at the joints as ``tau``, J^-T tau, as if nothing between had a mass.

        Raises:
            SingularClusterError: The motors cannot move the joints independently there.
        """
        return self._find("torque", x, tau)

    def joint_torque(self, x: Any, tau: Any) -> np.ndarray:
        """Return the torques at the joints of torques of the motors, J' tau."""
        return self._find("joint_torque", x, tau)

    # --- gains
    def joint_to_motor_gains(self, x: Any, stiffness: Any, damping: Any = 0.0, tau: Any = None) -> Gains:
        """Return gains of the motors that act at the joints as stiffness and damping there, in one pose.

        With K = -d tau / d x at the joints, the motors' is J^-T (K + sum_k tau_motor_k d2theta_k/dx2) J^-1: the second
        term is what the torque of the motors changes at the joints as the mechanism turns.

        Args:
            x: Of the joints, shape (n,).
            stiffness: At the joints: a number, one each, or a matrix.
            damping: Likewise.
            tau: Torque of the joints there, shape (n,); none by default.
        """
        n, J = len(self.joints), self._regular(self._sized("x", x))
        K, D = square("stiffness", stiffness, n), square("damping", damping, n)
        return to_motors(J, K, D, self._bent(x, tau))

    def motor_to_joint_gains(
        self, x: Any, stiffness: Any, damping: Any = 0.0, tau: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return stiffness and damping at the joints of gains of the motors: J' K J less the geometric term; J' D J.

        Args:
            x: Of the joints, shape (n,).
            stiffness: Of the motors: a number, one each, or a matrix.
            damping: Likewise.
            tau: Torque of the joints there, shape (n,); none by default.
        """
        n, J = len(self.joints), self.jacobian(self._sized("x", x))
        K, D = square("stiffness", stiffness, n), square("damping", damping, n)
        return J.T @ K @ J - self._bent(x, tau), J.T @ D @ J

    def _bent(self, x: Any, tau: Any) -> np.ndarray:
        n = len(self.joints)
        if tau is None:
            return np.zeros((n, n))
        return np.tensordot(self.motor_torque(x, self._sized("tau", tau)), self.hessian(x), 1)

    # --- limits
    def torque_polygon(self, x: Any, limits: Limited = None, speed: Any = None) -> np.ndarray:
        """Return the corners of what the motors can make at the joints.

        Args:
            x: Of the joints.
            limits: Torques of the motors, (n,), or (n, 2) with the lower ones first, or a function that returns such
                for their speeds; by default the efforts of the file.
            speed: Of the motors, for such a function; zero by default.

        Returns:
            Shape (2^n, n), or (N, 2^n, n): of two joints counter-clockwise.
        """
        low, high = self._limits("torque", limits, speed)
        return _corners(np.swapaxes(self.jacobian(x), -1, -2), low, high)

    def speed_polygon(self, x: Any, limits: Limited = None) -> np.ndarray:
        """Return the corners of the velocities of the joints that speeds of the motors allow; as ``torque_polygon``."""
        return _corners(np.linalg.inv(self._regular(x)), *self._limits("speed", limits))

    def limits(self, x: Any, limits: Limited = None) -> np.ndarray:
        """Return torques of the joints that can be had whatever the signs, all at once, at a pose.

        Of all boxes the largest whose sides are in proportion to what each joint can have alone: in fixed time, as C
        has it. ``safe_limits`` is for many poses, and has the largest of all.

        Returns:
            The half sides, shape (n,), or (N, n).
        """
        low, high = self._limits("torque", limits)
        return self._find("limits", x, np.minimum(high, -low))

    def safe_limits(self, x: Any = None, limits: Limited = None, *, of: str = "torque") -> np.ndarray:
        """Return the largest box of torques (or speeds) of the joints that motors can make at all of some poses.

        Args:
            x: The poses, shape (N, n); by default a grid over what is reached of the region.
            limits: As in ``torque_polygon``.
            of: ``"torque"`` or ``"speed"``.

        Returns:
            The half sides of the box of the largest volume, shape (n,).
        """
        from scipy.optimize import minimize  # whose import takes time

        J = np.atleast_3d(self._regular(self._known if x is None else np.atleast_2d(np.asarray(x, dtype=float))))
        low, high = self._limits(of, limits)
        maps = J if of == "speed" else np.swapaxes(np.linalg.inv(J), 1, 2)
        rows = np.abs(maps / np.minimum(high, -low)[:, None]).reshape(-1, len(self.joints))
        # rows M b <= 1; in logarithms it is convex, and every box that is not the largest can be seen to grow
        start = 1.0 / (rows.max(axis=0) * len(self.joints))
        found = minimize(
            lambda s: -s.sum(), np.log(start), jac=lambda s: -np.ones_like(s), method="SLSQP",
            constraints={
                "type": "ineq", "fun": lambda s: 1.0 - rows @ np.exp(s), "jac": lambda s: -rows * np.exp(s),
            },
            options={"ftol": 1e-12, "maxiter": 200},
        )  # fmt: skip
        half = np.exp(found.x)
        return np.asarray(half / (rows @ half).max())

    def _limits(self, what: str, given: Limited, speed: Any = None) -> tuple[np.ndarray, np.ndarray]:
        m, n = self.mechanism, len(self.joints)
        if what not in ("torque", "speed"):
            raise ArgumentTypeError(f"of must be 'torque' or 'speed', got {what!r}.")
        if given is None:
            given = m.effort if what == "torque" else m.speed
            if np.isnan(given).any():
                name = self.motors[int(np.flatnonzero(np.isnan(given))[0])]
                raise ModelError(f"{what} of motor {name!r} has no limit in the file: give limits=, one per motor.")
        if callable(given):
            given = given(np.zeros(n) if speed is None else self._sized("speed", speed))
        found = numbers("limits", given).astype(float)
        pair = (-found, found) if found.shape == (n,) else tuple(found.T) if found.shape == (n, 2) else None
        if pair is None:
            raise ShapeError(
                f"limits have shape {found.shape}; expected ({n},), or ({n}, 2) with the lower ones first."
            )
        if not (np.isfinite(found).all() and (pair[0] < 0.0).all() and (pair[1] > 0.0).all()):
            raise ArgumentTypeError(f"limits must be finite, and have zero between them; got {found.tolist()}.")
        return pair

    # --- motion
    def static_map_error(
        self, t: Any, x: Any = None, *, q: Any = None, v: Any = None, a: Any = None, tau: Any = None
    ) -> StaticMapError:
        """Return what the static map J^-T tau lacks along a motion, against exact inverse dynamics.

        The static map has the torques of the joints that move links alone (no cranks, rods and rotors), as a serial
        model computes them. The motion is ``x``, of the joints in a robot that rests otherwise (velocities and
        accelerations by a spline of fifth degree), or ``q``, ``v`` and ``a`` of the robot.

        Args:
            t: Times, shape (N,), [s].
            x: Of the joints, shape (N, n).
            q: Configurations, shape (N, nq).
            v: Velocities, shape (N, nv).
            a: Accelerations, shape (N, nv).
            tau: Torques at the joints that both have besides, as of forces of the ground, shape (N, n).

        Returns:
            Both torques, their difference, its worst and its root mean square in per cent.
        """
        return static_map_error(self, t, x, q=q, v=v, a=a, tau=tau)

    # --- code
    def program(self, name: str) -> Program:
        """Return one of the functions as a program."""
        if name not in self._programs:
            self._programs[name] = self._maps.program(name)
        return self._programs[name]

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """What ``pc.codegen.export(model, folder, space.programs)`` takes: forward, inverse, jacobian, torque and more.

        ``status`` tells of each result: by how much loops stay open, and margins that are 1 at the reference pose and
        fall to 0 at dead centres; a result is sound while the first is below 1e-9 and the others are positive.
        """
        x = self._known[:: max(1, len(self._known) // 12)]
        n, rng = len(self.joints), np.random.default_rng(0)
        known = {"joints": x, "motors": self.inverse(x)}
        for name in ("joint_torque", "motor_torque"):
            known[name] = rng.normal(size=x.shape)
        known["motor_limit"] = rng.uniform(1.0, 2.0, x.shape)
        for name in ("stiffness", "damping"):
            known[name] = rng.uniform(0.0, 1.0, (len(x), n * n))
        return tuple(replace(self.program(name), samples=known) for name in EXPORTED)

    # --- calls
    def _prepare(self, name: str) -> tuple[Any, ...]:
        """Return a function's address, and rooms of this thread for what goes in and comes out."""
        if name not in self._compiled:
            self._compiled[name] = Compiled(self.program(name))
        made = self._compiled[name]
        given = [np.empty(size) for _, size in made.program.inputs]
        found, status = (np.empty(shape) for _, shape in made.program.outputs)
        addresses = [x.ctypes.data for x in (*given, found, status)]
        entry = made.one, given, addresses, found, memoryview(status)  # of which numbers are read faster
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
        if status[0] <= OPEN and status[1] > NEAR and status[-1] > NEAR:
            return found.copy()
        self._refuse(name, rooms[0], status)

    def _of_any(self, name: str, given: Sequence[Any]) -> np.ndarray:
        """Call it with arguments of any kind, on many poses too; or complain of them."""
        made = self._compiled[name]
        inputs = [(label, size, numbers(label, x)) for (label, size), x in zip(made.program.inputs, given, strict=True)]
        count = {len(x) for _, _, x in inputs if x.ndim == 2}
        for label, size, x in inputs:
            if x.shape[-1:] != (size,) or x.ndim > 2 or len(count) > 1:
                raise ShapeError(f"{label} has shape {x.shape}; expected ({size},), or (N, {size}) for N poses in all.")
        if not count:
            return self._find(name, *(plain(x) for _, _, x in inputs))
        rows = [np.array(np.broadcast_to(x, (*count, size)), dtype=float) for _, size, x in inputs]
        found, status = made(*rows)
        bad = ~((status[:, 0] <= OPEN) & (status[:, 1:] > NEAR).all(axis=1))
        if bad.any():
            i = int(np.argmax(bad))
            self._refuse(name, rows[0][i], status[i], f" in row {i}")
        return np.asarray(found)

    def _refuse(self, name: str, known: Any, status: Any, where: str = "") -> NoReturn:
        """Raise the error that says what is wrong with a pose."""
        m, values = self.mechanism, np.array(known, dtype=float)
        given = self.motors if name == "forward" else self.joints
        at = ", ".join(f"{n} = {x:.6g}" for n, x in zip(given, values, strict=True))
        if not np.isfinite(values).all():
            raise ConfigurationError(f"MotorSpace.{name}: {at}{where} is not finite.")
        region = ", ".join(f"{n} {a:.4g} to {b:.4g}" for n, (a, b) in zip(self.joints, self.region, strict=True))
        if not status[0] <= OPEN:
            raise BranchLost(
                f"MotorSpace.{name}: with {at}{where} the loops of {', '.join(m.cluster.joints)} stay open by "
                f"{status[0]:.3g}: that pose cannot be reached on this branch, or is far from the region {region}, "
                "which can be given as region=.",
                m.cluster.joints,
            )
        lost, condition = self._lost(name, values)
        raise SingularClusterError(
            f"MotorSpace.{name}: with {at}{where} {lost!r} is at a dead centre, or beyond it: the condition of "
            f"d theta / d x is {condition:.3g}, and the margin {min(status[1:]):.3g} (1 in the reference pose, {NEAR:g} "
            "is the least). Keep the joints away from there.",
            m.cluster.joints,
        )

    def _lost(self, name: str, values: np.ndarray) -> tuple[str, float]:
        """Return what turns without bound for what is given, and the condition of the Jacobian."""
        raw = self.program("forward")(values)[0] if name == "forward" else values
        J = self.program("jacobian")(raw)[0]
        if not np.isfinite(J).all():
            return (self.joints if name == "forward" else self.motors)[0], np.inf
        back = name in ("forward", "torque", "limits", "gains", "joint_velocity")
        rates = np.linalg.pinv(J, rcond=0.0) if back and np.linalg.det(J) else J
        names = self.joints if back else self.motors
        return names[int(np.argmax(np.abs(rates).max(axis=1)))], float(np.linalg.cond(J))

    def _regular(self, x: Any) -> np.ndarray:
        """Return J where it can be inverted."""
        J = self.jacobian(x)
        conditions = np.atleast_1d(np.linalg.cond(J))
        if not (conditions < _SINGULAR).all():
            i = int(np.argmax(~(conditions < _SINGULAR)))
            at = np.atleast_2d(np.asarray(x, dtype=float))[i]
            self._refuse("joint_velocity", at, np.array([0.0, 1.0, 0.0]))
        return J

    def _sized(self, name: str, x: Any) -> np.ndarray:
        return vector(self.mechanism.model, name, x, len(self.joints), "one number per joint, or motor")


def _made(model: ClusterModel, joints: Any, motors: Any, region: Any) -> MotorSpace:
    return MotorSpace(model, joints, motors, region=region)


def _corners(M: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the images of the corners of a box; of two dimensions counter-clockwise."""
    box = np.array(list(itertools.product(*zip(low, high, strict=True))))
    if len(low) == 2:
        box = box[[0, 2, 3, 1]]
    found = np.einsum("...ij,cj->...ci", M, box)
    if len(low) == 2:
        turned = np.linalg.det(M) < 0.0
        found = np.where(turned[..., None, None], found[..., ::-1, :], found)
    return np.asarray(found)
