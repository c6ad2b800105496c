"""N copies of a robot that step side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._support.arrays import ArrayLike, numbers, whole_number
from .._support.memory import check_free
from ..batch import project
from ..batch._sharing import share
from ..compiler.machine_code.function import Compiled
from ..errors import ArgumentTypeError, NotAvailableError, ShapeError, SimulationError
from ..model import ClusterModel
from ..model.configuration import check, neutral
from ..simulation import Ground, on_ground
from .drive import Drive
from .referee import Difference, differences
from .step import NEXT, step_of

_TYPES = {"float32": "float", "float64": "double"}
_IN_PLACE = NEXT | {"status_next": "status"}
"""Outputs of the program that replace an input."""
_NAMES = {"target": "targets", "tau_applied": "tau", "last": "contact_impulses", "loads": "gear_loads"}
"""Names of the program that differ from the attributes; the input tau is ``targets`` without a drive or ``torques``."""
_BLOCK = 64
"""Number of worlds per piece of work; the arrays of a piece stay in the processor's cache during all substeps."""
_MOST_OPERATIONS = 400_000


class Worlds:
    """N copies of a robot with ground contact, for reinforcement learning and sampling-based control.

    Each world is simulated with the method of ``pc.simulate(method="moreau")``, but a fixed number of solver sweeps.
    ``violation`` is the resulting error of the contact laws. The results do not depend on the number of threads.

    Arrays have one row per world. Write to ``targets``, to the arrays that ``vary`` names, or pass new targets to
    ``step``. Rows whose ``status`` is not 0 keep their state until ``reset``.

    Attributes:
        model: The robot.
        n: Number of worlds, N.
        nu: Number of driven joints, or nv without a drive.
        dt: Time step, [s].
        substeps: Number of time steps per call of ``step``.
        program: The traced time step, see ``pc.trace(model, "step")``.
        q: Configurations, shape (N, nq), [rad] or [m].
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        q0: Initial configuration, shape (nq,), [rad] or [m].
        targets: Target positions of the driven joints, shape (N, nu), [rad] or [m]; without a drive, torques.
        tau: Torques of the last time step, shape (N, nv), [N m] or [N].
        contact_impulses: World impulses of the last time step, shape (N, points, 3), [N s].
        gear_loads: Loads of the gears with losses in the last time step, shape (N, gears), [N m].
        gaps: Distances from the ground in the middle of the last time step, shape (N, points), [m].
        violation: Residual of the contact laws in the last time step, shape (N,), [m/s] or [rad/s].
        residual: Largest relative residual of the loops, shape (N,); zeros without loops.
        sensors: Dict from the name of each sensor to its values, shape (N, size).
        status: 0: valid; 1: a loop did not close; 2: singular mass matrix or loop; 3: the motion or an input is not
            finite. Shape (N,).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> worlds = pc.Worlds(model, 16, dt=1e-3, substeps=10, drive=pc.Drive(kp=50.0, kd=1.0))
        >>> worlds.step(np.full((16, 5), 0.1))
        >>> worlds.q.shape, bool((worlds.status == 0).all())
        ((16, 10), True)
    """

    def __init__(
        self,
        model: ClusterModel,
        n: int,
        *,
        ground: Ground | None = None,
        touching: Any = None,
        dt: float = 2e-3,
        substeps: int = 1,
        sweeps: int = 10,
        drive: Drive | None = None,
        limits: bool | str = False,
        passive: bool = True,
        vary: Iterable[str] = (),
        sensors: Mapping[str, Any] | None = None,
        q: ArrayLike | None = None,
        dtype: Any = "float64",
        threads: int = 1,
    ) -> None:
        """Trace and compile the time step, and put all worlds into the initial state.

        Args:
            model: The robot.
            n: Number of worlds.
            ground: The ground, or None.
            touching: Points of the robot that can touch the ground, as in ``pc.simulate``.
            dt: Time step, [s].
            substeps: Number of time steps per call of ``step``.
            sweeps: Number of sweeps of the contact solver; 5 to 20 are usual.
            drive: PD drives, or None: ``targets`` then contains torques, shape (N, nv).
            limits: As in ``pc.simulate``.
            passive: Whether springs, dampers, friction and gear losses act.
            vary: Quantities that can differ between worlds; each becomes an array attribute: ``"gains"`` (``kp``,
                ``kd``), ``"strength"`` (factor of gains and torque limits, per driven joint), ``"friction"``,
                ``"wrench"`` (external force and moment on the first joint's body, at its origin, in world axes, [N]
                and [N m]), ``"tau"`` (``torques``, added to the drive), ``"inertial"``, ``"gravity"``, ``"ratios"``
                (see ``pc.trace``), ``"delay"`` (time steps until new targets act).
            sensors: Dict from names to pairs (kind, name or id of the frame). Kinds: ``"gyro"``, ``"velocimeter"`` and
                ``"accelerometer"`` (acceleration minus gravity, mean over the last time step), in axes of the frame;
                ``"framepos"`` and ``"framequat"`` (x, y, z, w) in the world; ``"touch"`` (normal force on the body,
                [N]).
            q: Initial configuration, shape (nq,). By default the reference pose; a floating base is put on the ground.
            dtype: ``"float32"`` or ``"float64"``.
            threads: Number of threads.

        Raises:
            SimulationError: A number is out of its range.
            NotAvailableError: The robot or an option cannot be traced.
            ArgumentTypeError: A type is wrong.
        """
        self.n, self.substeps = whole_number("Worlds: n", n, 1), whole_number("Worlds: substeps", substeps, 1)
        self.threads = whole_number("Worlds: threads", threads, 1)
        names = [vary] if isinstance(vary, str) else list(dict.fromkeys(vary))
        self._delayed = "delay" in names
        step = step_of(
            model,
            ground=ground,
            touching=touching,
            dt=dt,
            sweeps=sweeps,
            drive=drive,
            limits=limits,
            passive=passive,
            parameters=[name for name in names if name != "delay"],
            sensors=sensors,
            status=True,
        )
        self._step, self.model, self.program, self.dt = step, model, step.program, step.settings.dt
        count = len(self.program.operations)
        if count > _MOST_OPERATIONS:
            raise NotAvailableError(
                f"Worlds: a step of model {model.name!r} with {sweeps} sweeps has {count} operations; at most "
                f"{_MOST_OPERATIONS} can be compiled. Use fewer sweeps or contact points."
            )
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in _TYPES:
            raise ArgumentTypeError(f"Worlds: dtype must be float32 or float64, got {self.dtype.name}.")
        self._code = Compiled(self.program, _TYPES[self.dtype.name])
        self.q0 = self._initial(q, ground, touching)
        self._points = len(step.constants.contacts.joints)
        self.nu = len(self.driven) or model.nv
        self._arrays = self._allocate()
        self.sensors = {name: self._arrays[f"sensor_{k}"] for k, name in enumerate(step.sensors)}
        self._run = self._code.on_rows([self._arrays[name] for name in self._order()])
        self._options = {
            "ground": ground,
            "touching": touching,
            "dt": dt,
            "substeps": substeps,
            "sweeps": sweeps,
            "drive": drive,
            "limits": limits,
            "passive": passive,
            "vary": tuple(names),
            "sensors": sensors,
            "q": q,
            "dtype": dtype,
            "threads": threads,
        }
        self.reset()

    def _initial(self, q: ArrayLike | None, ground: Ground | None, touching: Any) -> np.ndarray:
        if q is not None:
            given = np.array(numbers("Worlds: q", q), dtype=float)
            if given.shape != (self.model.nq,):
                raise ShapeError(f"Worlds: q has shape {given.shape}, expected ({self.model.nq},): nq.")
            check(self.model, given)
            return given
        reference = self.model.q_reference
        start = np.array(neutral(self.model) if reference is None else reference, dtype=float)
        if ground is None or self.model.own_tree.joints[1].nq != 7:
            return start
        return on_ground(self.model, start, ground, touching)

    def _attribute(self, name: str) -> str:
        """Return the attribute of an input or output of the program."""
        if name == "tau":
            return "torques" if len(self.driven) else "targets"
        name = _IN_PLACE.get(name, name)
        return _NAMES.get(name, name)

    def _order(self) -> list[str]:
        names = [self._attribute(name) for name, _ in self.program.inputs]
        names[names.index("targets")] = "_acting"
        return names + [self._attribute(name) for name, _ in self.program.outputs]

    def _allocate(self) -> dict[str, np.ndarray]:
        """Allocate all arrays in one block, of which they are views; NumPy cannot resize a view."""
        sizes = {self._attribute(name): size for name, size in self.program.inputs}
        for name, shape in self.program.outputs:
            sizes.setdefault(self._attribute(name), int(np.prod(shape)))
        sizes |= {"targets": self.nu, "_acting": self.nu, "residual": 1} | ({"delay": 1} if self._delayed else {})
        width = sum(sizes.values())
        check_free(
            self.dtype.itemsize * self.n * width,
            f"Worlds: {self.n} worlds of model {self.model.name!r} need "
            f"{self.dtype.itemsize * self.n * width / 1e9:.3g} GB",
            "Use fewer worlds.",
        )
        block, arrays, first = np.zeros(self.n * width, dtype=self.dtype), {}, 0
        for name, size in sizes.items():
            arrays[name] = block[first : first + self.n * size].reshape(self.n, size)
            first += self.n * size
        for name, value in self._step.defaults.items():
            if name not in ("last", "loads", "status"):
                arrays[self._attribute(name)][:] = value
        return arrays

    def __getattr__(self, name: str) -> np.ndarray:
        arrays = self.__dict__.get("_arrays", {})
        if name not in arrays:
            raise AttributeError(
                f"Worlds has no attribute {name!r}. Arrays: {', '.join(x for x in arrays if not x.startswith('_'))}."
            )
        return self._shaped(name, arrays[name])

    def _shaped(self, name: str, array: np.ndarray) -> np.ndarray:
        if name == "contact_impulses":
            return array[:, : 3 * self._points].reshape(self.n, self._points, 3)
        if name == "gaps":
            return array[:, : self._points]
        return array[:, 0] if name in ("friction", "status", "violation", "residual", "delay") else array

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_arrays", ()):
            raise AttributeError(
                f"Worlds.{name} is an array that compiled code uses. Write to it: worlds.{name}[:] = ..."
            )
        object.__setattr__(self, name, value)

    @property
    def driven(self) -> np.ndarray:
        """Index in q and index in v of each driven joint, shape (nu, 2); empty without a drive."""
        return self._step.constants.actuation.driven

    @property
    def varied(self) -> tuple[str, ...]:
        """The argument ``vary``."""
        return tuple(self._options["vary"])

    @property
    def rest(self) -> np.ndarray:
        """Positions of the driven joints in the initial configuration, shape (nu,); zeros without a drive."""
        driven = self.driven
        return self.q0[driven[:, 0]] if len(driven) else np.zeros(self.nu)

    @property
    def in_contact(self) -> np.ndarray:
        """Whether each point had an impulse in the last time step, shape (N, points); a new array."""
        normal = self._step.constants.contacts.axes[2].astype(self.dtype)
        return np.asarray(self.contact_impulses @ normal > 0.0)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays, [bytes]."""
        return sum(x.nbytes for x in self._arrays.values())

    def step(self, targets: ArrayLike | None = None, substeps: int | None = None) -> None:
        """Advance all worlds by ``substeps`` time steps.

        Args:
            targets: Target positions (or torques without a drive), shape (N, nu), [rad] or [m]; by default, those of
                the last call. NaN gives a world the status 3.
            substeps: Number of time steps of this call; by default, the attribute ``substeps``.

        Raises:
            ShapeError: ``targets`` has the wrong shape.
            SimulationError: A delay is negative or exceeds ``substeps``.
        """
        arrays = self._arrays
        count = self.substeps if substeps is None else whole_number("Worlds.step: substeps", substeps, 1)
        if targets is not None and targets is not arrays["targets"]:
            given = numbers("Worlds.step: targets", targets)
            if given.shape != (self.n, self.nu):
                raise ShapeError(
                    f"Worlds.step: targets has shape {given.shape}, expected ({self.n}, {self.nu}): (N, nu)."
                )
            arrays["targets"][:] = given
        if self._delayed:
            wrong = ~((arrays["delay"] >= 0.0) & (arrays["delay"] <= count))
            if wrong.any():
                raise SimulationError(
                    f"Worlds.step: delay must be between 0 and substeps = {count}, got {arrays['delay'][wrong][0]:g}."
                )
        share(self.n, self.threads, _BLOCK, lambda: partial(self._steps, count))
        if self._delayed:
            arrays["_acting"][:] = arrays["targets"]

    def _steps(self, count: int, first: int, last: int) -> None:
        """Run ``count`` time steps of the rows first to last - 1, a block of rows at a time."""
        acting, targets = self._arrays["_acting"], self._arrays["targets"]
        for start in range(first, last, _BLOCK):
            end = min(start + _BLOCK, last)
            for k in range(count):
                if self._delayed:
                    new = self._arrays["delay"][start:end] <= k
                    np.copyto(acting[start:end], targets[start:end], where=new)
                elif k == 0:
                    acting[start:end] = targets[start:end]
                self._run(start, end)

    def reset(self, mask: Any = None, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Put worlds into a state, and clear their status, impulses and gear loads; this method allocates memory.

        Args:
            mask: Worlds to reset, shape (N,), bool; by default, all worlds.
            q: Configuration, shape (nq,) or (N, nq), of which the rows of the mask are used; by default, the initial
                configuration. The independent joints are set, and loops are closed by projection.
            v: Velocity, shape (nv,) or (N, nv); by default, zero.

        Raises:
            ShapeError: A shape is wrong.
            ArgumentTypeError: ``mask`` is not an array of bool.
            SimulationError: An entry is not finite, or a loop cannot be closed.
        """
        rows = self._rows(mask)
        new_q = self.q0 if q is None else self._given("q", q, self.model.nq, rows)
        new_v = np.zeros(self.model.nv) if v is None else self._given("v", v, self.model.nv, rows)
        if q is not None and self.model.closures and len(rows):
            status = np.zeros(len(new_q) if new_q.ndim == 2 else 1, dtype=np.int8)
            new_q = project(self.model, np.atleast_2d(new_q), self.model.independent_joints, status=status)
            if status.any():
                i = int(np.flatnonzero(status)[0])
                raise SimulationError(
                    f"Worlds.reset: the loops of world {int(rows[i])} cannot be closed at the given independent "
                    "joints. Pass a configuration that pc.project accepts."
                )
        arrays = self._arrays
        arrays["q"][rows], arrays["v"][rows] = new_q, new_v
        for name in ("contact_impulses", "gear_loads", "status", "tau", "gaps", "violation", "residual"):
            if name in arrays:
                arrays[name][rows] = 0.0

    def _rows(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.arange(self.n)
        given = np.asarray(mask)
        if given.dtype != bool:
            raise ArgumentTypeError(f"Worlds.reset: mask must be an array of bool, got {given.dtype}.")
        if given.shape != (self.n,):
            raise ShapeError(f"Worlds.reset: mask has shape {given.shape}, expected ({self.n},): one entry per world.")
        return np.flatnonzero(given)

    def _given(self, name: str, x: ArrayLike, size: int, rows: np.ndarray) -> np.ndarray:
        given = np.asarray(numbers(f"Worlds.reset: {name}", x), dtype=float)
        if given.shape not in ((size,), (self.n, size)):
            raise ShapeError(f"Worlds.reset: {name} has shape {given.shape}, expected ({size},) or ({self.n}, {size}).")
        chosen = given if given.ndim == 1 else given[rows]
        if not np.isfinite(chosen).all():
            raise SimulationError(f"Worlds.reset: {name} contains a number that is not finite.")
        return chosen

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all arrays by name; ``restore`` accepts the result."""
        return {name: x.copy() for name, x in self._arrays.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Set all arrays, including targets and parameters, to a result of ``state`` of worlds with the same options.

        Raises:
            ShapeError: The arrays differ in name or shape.
        """
        shapes = {name: x.shape for name, x in self._arrays.items()}
        if {name: np.shape(x) for name, x in state.items()} != shapes:
            raise ShapeError("Worlds.restore: the state belongs to worlds with another model, number or options.")
        for name, x in self._arrays.items():
            x[:] = state[name]

    def exact(self, rows: ArrayLike) -> list[Difference]:
        """Compare the next call of ``step`` with ``pc.simulate`` for some worlds; the worlds do not change.

        Args:
            rows: Indices of worlds.

        Returns:
            For each row, the differences of q and v at the end of the control step.
        """
        chosen = [int(i) for i in np.asarray(rows).ravel()]
        for i in chosen:
            if not 0 <= i < self.n:
                raise SimulationError(f"Worlds.exact: there is no world {i}; N = {self.n}.")
        return differences(self, chosen)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.model, self.n, self._options, self.state())

    def __repr__(self) -> str:
        return f"Worlds({self.model.name!r}, {self.n}, dt={self.dt:g}, substeps={self.substeps}, {self.dtype.name})"


def _restored(model: ClusterModel, n: int, options: Mapping[str, Any], state: Mapping[str, np.ndarray]) -> Worlds:
    worlds = Worlds(model, n, **options)
    worlds.restore(state)
    return worlds
