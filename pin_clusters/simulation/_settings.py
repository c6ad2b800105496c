"""Arguments of a simulation, checked before anything runs."""

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
"""Names of the methods of integration."""
_MOST_STEPS, _MOST_NUMBERS = 10**9, 2**28  # the latter are 2 GiB
_WHOLE = 1e-9  # rounding of a duration, relative


@dataclass(frozen=True)
class Settings:
    """What is to be run."""

    model: ClusterModel  # the robot
    q0: np.ndarray  # start, shape (nq,)
    v0: np.ndarray  # start, shape (nv,)
    torque: Any  # None, a function, or an array of shape (1, nv) or (steps, nv)
    dt: float  # [s]
    steps: int  # how many; the last one may be shorter
    duration: float  # [s]
    method: str  # one of ``METHODS``
    record: int  # every n-th step is kept
    dynamics: Callable[..., Any] | None  # None, or what gives the acceleration
    switch: bool  # whether independent joints may be changed
    progress: Callable[[int, int], Any] | None  # called with (done, total)
    contacts: Contacts | None  # what is kept closed
    passive: Forces | None  # springs and the like that act
    world: World | None = None  # ground and stops
    effort: bool = False  # whether motors give no more than they can
    rtol: float = 1e-8  # of "events": errors of a step, beside the fastest joint
    atol: float = 1e-10  # [rad/s], [m/s]

    @property
    def samples(self) -> int:
        """How many samples are kept: the start, every n-th step, and the end."""
        return 1 + math.ceil(self.steps / self.record)

    def time(self, k: int) -> float:
        """Return the time at the start of step k; after the last one, the end."""
        return self.duration if k >= self.steps else k * self.dt

    def step(self, k: int) -> float:
        """Return the length of step k, [s]."""
        rest = self.duration - (self.steps - 1) * self.dt
        whole = k < self.steps - 1 or abs(rest - self.dt) <= _WHOLE * self.dt * self.steps
        return self.dt if whole else rest


def settings(
    model: Any, q0: Any, v0: Any, tau: Any, duration: Any, dt: Any, method: Any, record: Any, dynamics: Any,
    switch: Any, progress: Any, contacts: Any = (), passive: Any = True, ground: Any = None, touching: Any = None,
    limits: Any = False, self_collisions: Any = False, *, begin: bool = True, **tolerances: Any,
) -> Settings:  # fmt: skip
    """Check all arguments of ``pc.simulate``, whose docstring names the errors; with ``begin`` where it begins, too."""
    check_types("simulate", model)
    duration, dt = (_positive(name, x, " of seconds", " s") for name, x in (("duration", duration), ("dt", dt)))
    if dt > duration * (1.0 + 1e-9):
        raise SimulationError(
            f"simulate: dt = {dt:g} s is longer than duration = {duration:g} s. Give both in seconds, dt the smaller."
        )
    check_model(model, "simulate")
    world, effort = world_of(model, ground, touching, limits, self_collisions)
    names = METHODS if world is None else ON_GROUND
    method = names[0] if method is None else method
    if not isinstance(method, str) or method not in names:
        known = f" Known names: {', '.join(names)}."
        if world is not None and method in METHODS:
            known = " with ground or limits: impacts have no derivatives."
        elif world is None and method in ON_GROUND:
            known = f" without ground or limits.{known}"
        else:
            known = f".{did_you_mean(method, names) if isinstance(method, str) else known}"
        raise SimulationError(f"simulate: method {method!r} is not known{known}")
    tolerances = {name: _positive(name, x) for name, x in tolerances.items() if x is not None}
    lossy = bool(passive) and model.passive is not None and bool(model.passive.lossy)
    if lossy and method == "events":
        raise SimulationError("simulate: gears with losses are not known to method='events'. Take 'moreau'.")
    of_gears = {"rtol"} if lossy and world is None else set()
    if set(tolerances) - of_gears and method != "events":
        raise SimulationError(f"simulate: rtol and atol are of method='events', {method!r} has steps of dt alone.")
    if world is not None and method == "events" and world.shapes is not None:
        raise SimulationError(
            "simulate: method 'events' knows points, balls, and shapes that touch a plane at such (boxes, capsules, "
            "hulls), on pc.Ground alone: cylinders, cones, ellipsoids, fixed shapes and self_collisions need 'moreau'."
        )
    record = whole_number("simulate: record", record, 1, SimulationError, " of steps")
    check_types("simulate", model, dynamics=dynamics, progress=progress)
    for name, given in (("switch", switch), ("passive", passive)):
        if not isinstance(given, (bool, np.bool_)):
            raise ArgumentTypeError(f"simulate: {name} must be True or False, got {given!r}.")
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
            "simulate: contacts are kept closed by pc.constraintDynamics, so dynamics cannot be given with them. "
            "Compute the contacts inside your function instead."
        )
    if world is not None and (held is not None or dynamics is not None):
        raise SimulationError(
            "simulate: what is held (contacts) and other dynamics cannot be given with ground or limits. An "
            "approximation is a model of its own: pc.ClusterModel(pc.baselines.armature_model(model))."
        )
    if world is not None and begin:
        world.begin(model, q)
    if held is not None:
        held.begin(model, model.createData(), q, v)
    acting = None
    if passive and model.passive is not None:
        stages = 0 if world is not None else 1 if method == "semi_implicit" else 4
        acting = Forces(model, model.passive, dt, tolerances.get("rtol", 1e-3), stages)
    found = Settings(
        model, q, v, torques(model, tau, steps), dt, steps, duration, method, record, dynamics, bool(switch),
        progress, held, acting, world, effort,
        **tolerances,
    )  # fmt: skip
    numbers = found.samples * (model.nq + 3 * model.nv + model.tree.nv + 4 + (held.rows if held else 0))
    if numbers > _MOST_NUMBERS:
        raise SimulationError(
            f"simulate: {found.samples} samples of {model.name!r} need {8e-9 * numbers:.1f} GB. Keep every n-th step "
            f"only, record={math.ceil(record * numbers / _MOST_NUMBERS)} or more, or simulate piece by piece."
        )
    return found


def check_types(caller: str, model: Any, **functions: Any) -> None:
    """Refuse what is no cluster model, and what is neither a function nor None."""
    check_model(model, caller)
    for name, f in functions.items():
        if f is not None and not callable(f):
            raise ArgumentTypeError(f"{caller}: {name} must be a function or None, got {type(f).__name__}.")


def _positive(name: str, x: Any, of: str = "", unit: str = "") -> float:
    found = real(x)
    if found is None:
        raise ArgumentTypeError(f"simulate: {name} must be a number{of}, got {shown(x)}.")
    if not 0.0 < found < math.inf:
        raise SimulationError(f"simulate: {name} = {found:g}{unit}, but it must be positive and finite.")
    return found


def _steps(duration: float, dt: float) -> int:
    if duration / dt > _MOST_STEPS:
        raise SimulationError(
            f"simulate: {duration:g} s in steps of dt = {dt:g} s are {duration / dt:.3g} steps, more than "
            f"{_MOST_STEPS}. Both are in seconds; take a larger dt, or simulate piece by piece from the last q and v."
        )
    whole = round(duration / dt)
    return whole if abs(whole * dt - duration) <= _WHOLE * dt * whole else math.ceil(duration / dt)


def torques(model: ClusterModel, tau: Any, steps: int) -> Any:
    """Return None, a function, or torques of shape (1, nv) or (steps, nv)."""
    if tau is None or callable(tau):
        return tau
    try:
        given = np.asarray(tau)
    except ValueError as error:  # rows of different lengths
        raise ArgumentTypeError(f"simulate: tau is not an array of numbers: {error}.") from None
    if given.ndim == 0 and model.nv == 1:
        given = given.reshape(1)
    if given.ndim == 2:
        if given.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"simulate: tau must hold real numbers, got {given.dtype}.")
        if given.shape != (steps, model.nv):
            raise ShapeError(
                f"simulate: tau has shape {given.shape}, but model {model.name!r} needs (nv,) = ({model.nv},) for a "
                f"constant torque, or (steps, nv) = ({steps}, {model.nv}): a row per step of dt, held during it. "
                + _shape_hint(given.shape, steps, model)
            )
        table = np.ascontiguousarray(given, dtype=np.float64)
    else:
        if given.ndim == 1 and model.nv == 1 and given.size == steps > 1:
            raise ShapeError(
                f"simulate: tau has shape ({steps},): a constant torque has nv = 1 entry, one per step has shape "
                f"({steps}, 1): tau[:, None]."
            )
        table = velocity(model, "tau", array("tau", tau if given.ndim else given)).reshape(1, model.nv)
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
        return "If it is constant, pass tau[0]."
    if shape[1] == model.nv and shape[0] == steps + 1:
        return "The last row belongs to no step: pass tau[:-1]."
    if shape[1] == model.tree.nv != model.nv:
        return "Take the independent columns: tau[:, model.idx_v_independent]."
    return "Resample it, or pass a function tau(t, q, v)."
