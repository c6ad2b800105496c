"""Checks of the arguments of a simulation."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.arrays import array, real, vector, velocity, whole_number
from ..errors import ArgumentTypeError, ShapeError, SimulationError, did_you_mean, shown
from ..model import ClusterModel, check_model
from ..model.configuration import check
from ._forces import Forces
from ._held_contacts import Contacts
from .ground.near import World
from .ground.world import ON_GROUND, world_of

METHODS = ("rk4", "semi_implicit", "rkmk4")
_MOST_STEPS, _MOST_NUMBERS = 10**9, 2**28  # 2**28 float64 numbers take 2 GiB
_WHOLE = 1e-9  # relative tolerance for treating the duration as a whole number of steps


@dataclass(frozen=True)
class Settings:
    """Checked arguments of a simulation."""

    model: ClusterModel  # the robot
    q0: np.ndarray  # initial configuration, shape (nq,)
    v0: np.ndarray  # initial velocity, shape (nv,)
    torque: Any  # None, a function, or an array of shape (1, nv) or (steps, nv)
    dt: float  # [s]
    steps: int  # number of steps; the last one may be shorter
    duration: float  # [s]
    method: str  # one of ``METHODS`` or ``ON_GROUND``
    record: int  # n: every n-th step is recorded
    dynamics: Callable[..., Any] | None  # function (q, v, tau) -> acceleration; None for the exact dynamics
    switch: bool  # whether the simulation may change its independent joints
    progress: Callable[[int, int], Any] | None  # called with the numbers of completed steps and of all steps
    contacts: Contacts | None  # held contacts
    passive: Forces | None  # springs, dampers, friction and losses
    world: World | None = None  # ground, shapes and stops
    effort: bool = False  # whether torques are limited to the motors' torque limits
    rtol: float = 1e-8  # for "events": allowed error of a step relative to the fastest joint
    atol: float = 1e-10  # for "events": allowed absolute error of a step, [rad/s] or [m/s]

    @property
    def samples(self) -> int:
        """Number of samples, which are the initial state, every n-th step, and the final state."""
        return 1 + math.ceil(self.steps / self.record)

    def time(self, k: int) -> float:
        """Return the time [s] at the start of step k, or the end time after the last step."""
        return self.duration if k >= self.steps else k * self.dt

    def step(self, k: int) -> float:
        remainder = self.duration - (self.steps - 1) * self.dt
        full_length = k < self.steps - 1 or abs(remainder - self.dt) <= _WHOLE * self.dt * self.steps
        return self.dt if full_length else remainder


def settings(
    model: Any, q0: Any, v0: Any, tau: Any, duration: Any, dt: Any, method: Any, record: Any, dynamics: Any,
    switch: Any, progress: Any, contacts: Any = (), passive: Any = True, ground: Any = None, touching: Any = None,
    limits: Any = False, self_collisions: Any = False, *, begin: bool = True, **tolerances: Any,
) -> Settings:  # fmt: skip
    """Check all arguments of ``pc.simulate`` (errors: see there); if ``begin``, also check the gaps at q0."""
    check_types("simulate", model)
    duration, dt = (_positive(name, x, " of seconds", " s") for name, x in (("duration", duration), ("dt", dt)))
    if dt > duration * (1.0 + 1e-9):
        raise SimulationError(
            f"simulate: dt = {dt:g} s is longer than duration = {duration:g} s. Specify both in seconds."
        )
    check_model(model, "simulate")
    world, effort = world_of(model, ground, touching, limits, self_collisions)
    names = METHODS if world is None else ON_GROUND
    method = names[0] if method is None else method
    if not isinstance(method, str) or method not in names:
        hint = f" Available methods: {', '.join(names)}."
        if world is not None and method in METHODS:
            hint = " with ground or limits, because impacts have no derivatives."
        elif world is None and method in ON_GROUND:
            hint = f" without ground or limits.{hint}"
        else:
            hint = f".{did_you_mean(method, names) if isinstance(method, str) else hint}"
        raise SimulationError(f"simulate: method {method!r} is not available{hint}")
    tolerances = {name: _positive(name, x) for name, x in tolerances.items() if x is not None}
    lossy = bool(passive) and model.passive is not None and bool(model.passive.lossy)
    if lossy and method == "events":
        raise SimulationError("simulate: method='events' does not support gear losses. Use method='moreau'.")
    of_gears = {"rtol"} if lossy and world is None else set()
    if set(tolerances) - of_gears and method != "events":
        raise SimulationError(f"simulate: only method='events' uses rtol and atol; {method!r} uses the fixed step dt.")
    if world is not None and method == "events" and world.shapes is not None:
        raise SimulationError(
            "simulate: method 'events' supports points, balls, boxes, capsules and convex hulls on pc.Ground only. "
            "Use method='moreau' for cylinders, cones, ellipsoids, fixed shapes and self_collisions."
        )
    record = whole_number("simulate: record", record, 1, SimulationError, " of steps")
    check_types("simulate", model, dynamics=dynamics, progress=progress)
    for name, flag in (("switch", switch), ("passive", passive)):
        if not isinstance(flag, (bool, np.bool_)):
            raise ArgumentTypeError(f"simulate: {name} must be True or False, got {flag!r}.")
    steps = _steps(duration, dt)
    q = vector(model, "q0", q0, model.nq, "nq (the whole tree)").copy()
    check(model, q)
    v = velocity(model, "v0", v0).copy()
    bad = np.flatnonzero(~np.isfinite(v))
    if bad.size:
        raise SimulationError(f"simulate: v0[{bad[0]}] = {v[bad[0]]} is not finite.")
    none = isinstance(contacts, (tuple, list)) and not contacts
    held = None if none else Contacts(model, contacts)
    if held is not None and not held.rows:
        held = None
    if held is not None and dynamics is not None:
        raise SimulationError(
            "simulate: contacts and dynamics cannot be combined, because pc.constraintDynamics computes the contacts. "
            "Compute the contacts inside your dynamics function instead."
        )
    if world is not None and (held is not None or dynamics is not None):
        raise SimulationError(
            "simulate: ground and limits cannot be combined with contacts or dynamics. To simulate an approximation, "
            "pass its model: pc.ClusterModel(pc.baselines.armature_model(model))."
        )
    if world is not None and begin:
        world.begin(model, q)
    if held is not None:
        held.begin(model, model.createData(), q, v)
    acting = None
    if passive and model.passive is not None:
        stages = 0 if world is not None else 1 if method == "semi_implicit" else 4
        acting = Forces(model, model.passive, dt, tolerances.get("rtol", 1e-3), stages)
    checked = Settings(
        model, q, v, torques(model, tau, steps), dt, steps, duration, method, record, dynamics, bool(switch),
        progress, held, acting, world, effort,
        **tolerances,
    )  # fmt: skip
    numbers = checked.samples * (model.nq + 3 * model.nv + model.tree.nv + 4 + (held.rows if held else 0))
    if numbers > _MOST_NUMBERS:
        raise SimulationError(
            f"simulate: {checked.samples} samples of {model.name!r} need {8e-9 * numbers:.1f} GB. Record fewer steps "
            f"(record={math.ceil(record * numbers / _MOST_NUMBERS)} or more), or simulate in several parts."
        )
    return checked


def check_types(caller: str, model: Any, **functions: Any) -> None:
    """Raise ``ArgumentTypeError`` unless model is a ``ClusterModel`` and all other values are functions or None."""
    check_model(model, caller)
    for name, f in functions.items():
        if f is not None and not callable(f):
            raise ArgumentTypeError(f"{caller}: {name} must be a function or None, got {type(f).__name__}.")


def _positive(name: str, x: Any, of: str = "", unit: str = "") -> float:
    number = real(x)
    if number is None:
        raise ArgumentTypeError(f"simulate: {name} must be a number{of}, got {shown(x)}.")
    if not 0.0 < number < math.inf:
        raise SimulationError(f"simulate: {name} = {number:g}{unit}, but it must be positive and finite.")
    return number


def _steps(duration: float, dt: float) -> int:
    if duration / dt > _MOST_STEPS:
        raise SimulationError(
            f"simulate: {duration:g} s in steps of dt = {dt:g} s are {duration / dt:.3g} steps, more than "
            f"{_MOST_STEPS}. duration and dt are in seconds. Use a larger dt, or simulate in several parts."
        )
    rounded = round(duration / dt)
    return rounded if abs(rounded * dt - duration) <= _WHOLE * dt * rounded else math.ceil(duration / dt)


def torques(model: ClusterModel, tau: Any, steps: int) -> Any:
    """Return None, a function, or checked torques of shape (1, nv) or (steps, nv)."""
    if tau is None or callable(tau):
        return tau
    try:
        raw = np.asarray(tau)
    except ValueError as error:  # the rows of tau have different lengths
        raise ArgumentTypeError(f"simulate: tau is not an array of numbers: {error}.") from None
    if raw.ndim == 0 and model.nv == 1:
        raw = raw.reshape(1)
    if raw.ndim == 2:
        if raw.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"simulate: tau must contain real numbers, got {raw.dtype}.")
        if raw.shape != (steps, model.nv):
            raise ShapeError(
                f"simulate: tau has shape {raw.shape}, but model {model.name!r} needs (nv,) = ({model.nv},) for a "
                f"constant torque, or (steps, nv) = ({steps}, {model.nv}) for one torque in each step. "
                + _shape_hint(raw.shape, steps, model)
            )
        table = np.ascontiguousarray(raw, dtype=np.float64)
    else:
        if raw.ndim == 1 and model.nv == 1 and raw.size == steps > 1:
            raise ShapeError(
                f"simulate: tau has shape ({steps},), but a constant torque has nv = 1 entry. For one torque per step, "
                f"pass shape ({steps}, 1): tau[:, None]."
            )
        table = velocity(model, "tau", array("tau", tau if raw.ndim else raw)).reshape(1, model.nv)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        k, i = bad[0]
        where = f"tau[{i}]" if len(table) == 1 else f"tau[{k}, {i}]"
        raise SimulationError(f"simulate: {where} = {table[k, i]} is not finite.")
    return table.copy()


def _shape_hint(shape: tuple[int, ...], steps: int, model: ClusterModel) -> str:
    if shape == (model.nv, steps):
        return "Pass tau.T."
    if shape == (1, model.nv):
        return "If the torque is constant, pass tau[0]."
    if shape[1] == model.nv and shape[0] == steps + 1:
        return "tau has one row too many: pass tau[:-1]."
    if shape[1] == model.tree.nv != model.nv:
        return "Use the independent columns: tau[:, model.idx_v_independent]."
    return "Resample tau, or pass a function tau(t, q, v)."
