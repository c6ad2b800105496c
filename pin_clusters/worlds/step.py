"""The program of a time step: its inputs, their default values, and its outputs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._support.arrays import numbers, whole_number
from ..compiler.tracing._sources import watching
from ..compiler.tracing.contact_laws import ContactSet
from ..compiler.tracing.contact_step import ContactStep, contact_step, drive_model
from ..compiler.tracing.expressions import Graph, Number, select
from ..compiler.tracing.numbers import KINDS, checked, tables_for, values_of
from ..compiler.tracing.program import Program, objects
from ..compiler.tracing.run import Run
from ..compiler.tracing.step_forces import Actuation
from ..errors import ArgumentTypeError, NotAvailableError, SimulationError, UnknownNameError, did_you_mean
from ..model import ClusterModel, check_model, parameter_columns
from ..model.configuration import neutral
from ..simulation import Ground
from ..simulation._engine import FASTEST
from ..simulation._settings import Settings, settings
from ..simulation.ground.motors import Motors
from ..simulation.ground.near import Stops
from .drive import Drive
from .sensors import Sensor, readings, sensors_of

OPEN, SINGULAR, NOT_FINITE = 1, 2, 3
"""Status codes of a world, as in ``pc.batch``."""
_OPEN = 1e-4
"""Largest relative residual of a loop; Newton's method has failed if the residual is larger."""
_MOST_SWEEPS = 1000
NEXT = {"q_next": "q", "v_next": "v", "impulses": "last", "loads_next": "loads"}
"""Outputs that are inputs of the next step; a world keeps them if it fails."""
VARIABLE = ("tau", "gains", "strength", "friction", "wrench", *KINDS)
"""Quantities that can differ between worlds."""


@dataclass(frozen=True, eq=False)
class Step:
    """A traced time step.

    Attributes:
        model: The robot.
        settings: The checked arguments of the equivalent ``pc.simulate``.
        program: The program.
        defaults: Values of the inputs other than q, v and status, which are the same for all worlds at first.
        constants: The constants of the step.
        sensors: Names of the sensors; the output of sensor number k is ``sensor_k``.
    """

    model: ClusterModel
    settings: Settings
    program: Program
    defaults: dict[str, np.ndarray]
    constants: ContactStep
    sensors: tuple[str, ...] = ()


def trace_step(model: ClusterModel, **options: Any) -> Program:
    """Return the program of a time step; ``pc.trace(model, "step", ...)`` calls this function."""
    return step_of(model, **options).program


def step_of(
    model: ClusterModel,
    *,
    ground: Ground | None = None,
    touching: Any = None,
    dt: float = 1e-3,
    sweeps: int = 10,
    drive: Drive | None = None,
    limits: bool | str = False,
    passive: bool = True,
    parameters: Iterable[str] = (),
    sensors: Mapping[str, Any] | None = None,
    steps: int = 2,
    status: bool = False,
) -> Step:
    """Trace a time step; the arguments are described in ``pc.trace``."""
    check_model(model, "step")
    if drive is not None and not isinstance(drive, Drive):
        raise ArgumentTypeError(f"drive must be a pc.Drive or None, got {type(drive).__name__}.")
    names = _checked_names(model, parameters, drive)
    if np.shape(numbers("dt", dt)) != () or not 0.0 < dt < np.inf:
        raise SimulationError(f"dt must be a positive, finite time step [s], got {dt!r}.")
    count, newton = whole_number("sweeps", sweeps, 1), whole_number("steps", steps, 0)
    if count > _MOST_SWEEPS:
        raise SimulationError(f"sweeps = {count} exceeds {_MOST_SWEEPS}; 5 to 20 sweeps are usual.")
    of_simulation = settings(
        model,
        neutral(model),
        np.zeros(model.nv),
        None,
        dt,
        dt,
        None,
        1,
        None,
        True,
        None,
        (),
        passive,
        ground,
        touching,
        limits,
        begin=False,
    )
    actuation, kp, kd = Actuation(), np.zeros(0), np.zeros(0)
    if drive is not None:
        driven, kp, kd = drive.of(model)
        actuation = Actuation(driven, drive.bounds(len(driven)))
    if of_simulation.effort or (drive is not None and drive.limit is not None):
        joints, motors, of_motors = Motors(model).constant()
        actuation = replace(actuation, joint_limits=joints, motors=motors, motor_limits=of_motors)
    lines, gears = (None, None) if of_simulation.passive is None else of_simulation.passive.traced(model)
    contacts = _contacts(of_simulation, ground or Ground(), count)
    constants = ContactStep(of_simulation.dt, contacts, actuation, lines, gears, newton)
    values = {
        "tau": np.zeros(model.nv),
        "target": np.zeros(len(kp)),
        "kp": kp,
        "kd": kd,
        "strength": np.ones(len(kp)),
        "friction": np.array([0.8 if ground is None else ground.friction]),
        "wrench": np.zeros(6),
        **{name: values_of(model, name) for name in names if name in KINDS},
        "last": np.zeros(contacts.rows),
        "loads": np.zeros(0 if gears is None else len(gears.numbers)),
        "status": np.zeros(1),
    }
    varied = {"target", "last", "loads", *names} | ({"kp", "kd"} if "gains" in names else set())
    varied |= ({"tau"} if drive is None else set()) | ({"status"} if status else set())
    inputs = [("q", model.nq), ("v", model.nv)]
    inputs += [(name, len(x)) for name, x in values.items() if name in varied and len(x)]
    kinds, mounted = [name for name in names if name in KINDS], sensors_of(model, sensors or {})
    program = _program(model, constants, inputs, values, kinds, mounted)
    defaults = {name: values[name] for name, _ in inputs[2:]}
    return Step(model, of_simulation, program, defaults, constants, tuple(mounted))


def _checked_names(model: ClusterModel, parameters: Iterable[str], drive: Drive | None) -> list[str]:
    names = [parameters] if isinstance(parameters, str) else list(dict.fromkeys(parameters))
    for name in names:
        if name not in VARIABLE:
            raise UnknownNameError(f"{name!r} cannot vary.{did_you_mean(str(name), VARIABLE)}")
        if name in ("gains", "strength") and drive is None:
            raise ArgumentTypeError(f"{name!r} belongs to a drive. Pass drive=pc.Drive(kp=..., kd=...).")
    kinds = checked(model, "step", [name for name in names if name in KINDS])
    return [*(name for name in names if name not in KINDS), *kinds]


def _contacts(of: Settings, ground: Ground, sweeps: int) -> ContactSet:
    # A horizontal ground uses the world's axes as tangents, so that impulses need no rotation.
    axes = np.eye(3) if ground.normal == (0.0, 0.0, 1.0) else ground.axes
    if of.world is None:
        return ContactSet(sweeps, axes, ground.height)
    if of.world.shapes is not None:
        raise NotAvailableError(
            "a traced step supports points, balls, and shapes that touch a plane at corners or balls (boxes, spheres, "
            "capsules, convex hulls), but not shapes that touch each other, cylinders, cones and ellipsoids. Pass "
            "points: touching=pc.contact_points(model, {...})."
        )
    points, stops = of.world.points, _stops(of.world.stops)
    return ContactSet(sweeps, axes, ground.height, tuple(points.joints.tolist()), points.places, points.radii, stops)


def _stops(stops: Stops) -> np.ndarray:
    """Return the index in q, the index in the tree velocity, and both limits of each joint with stops."""
    limits: dict[tuple[int, int], list[float]] = {}
    for iq, column, side, bound in zip(stops.table[:, 0], stops.columns, stops.sides, stops.bounds, strict=True):
        pair = limits.setdefault((int(iq), int(column)), [-np.inf, np.inf])
        pair[0 if side > 0.0 else 1] = float(side * bound)
    return np.array([[*joint, *pair] for joint, pair in limits.items()]).reshape(-1, 4)


def _program(
    model: ClusterModel,
    constants: ContactStep,
    inputs: list[tuple[str, int]],
    values: dict[str, np.ndarray],
    kinds: list[str],
    sensors: dict[str, Sensor],
) -> Program:
    graph, entries, first = Graph(), {name: x.astype(object) for name, x in values.items()}, 0
    for name, size in inputs:
        entries[name] = np.array(graph.inputs(first, size), dtype=object)
        first += size
    driven_model = drive_model(model, constants.actuation.driven)
    names, given = [name for name, _ in inputs], dict(entries)
    if "inertial" in kinds:
        given["inertial"] = _with_armatures(model, driven_model, entries["inertial"])
    if "wrench" not in names:
        del given["wrench"]
    run = Run(driven_model, given, steps=constants.newton)
    if kinds:
        run.params, run.work = tables_for(driven_model, kinds, given)
    with watching() as watched:
        outputs = contact_step(run, constants)
        end = Run(model, {"q": outputs["q_next"], "v": outputs["v_next"]})
        end.inputs["a"] = (outputs["v_next"] - entries["v"]) * (1.0 / constants.dt)
        gravity = entries.get("gravity", np.array(model.gravity.linear))
        values_of_sensors = readings(end, sensors, constants, outputs["impulses"], gravity)
        outputs |= {f"sensor_{k}": x for k, x in enumerate(values_of_sensors.values())}
    if "status" in names:
        outputs = _frozen(entries, outputs, watched, names)
    return Program.of(f"{model.name}, step", inputs, outputs)


def _with_armatures(model: ClusterModel, driven_model: ClusterModel, given: np.ndarray) -> np.ndarray:
    """Return the inertial parameters of the model whose driven joints have an added armature of 1."""
    own, other = parameter_columns(model), parameter_columns(driven_model)
    armatures = dict(zip(own.armatures, given[own.armatures_from : own.rods_from], strict=True))
    added = np.array(driven_model.own_tree.armature) - np.array(model.own_tree.armature)
    widened = [armatures.get(iv, 0.0) + float(added[iv]) for iv in other.armatures]
    return objects([*given[: own.armatures_from], *widened, *given[own.rods_from :]])


def _frozen(
    entries: dict[str, np.ndarray], outputs: dict[str, np.ndarray], watched: list[tuple[Any, Any]], names: list[str]
) -> dict[str, np.ndarray]:
    """Add the output ``status``; a world with a status other than 0 keeps its state."""
    numbers = [x for name in names if name not in (*KINDS, "status") for x in entries[name]]
    total: Number = 0.0
    for x in [*numbers, *outputs["q_next"], *outputs["v_next"]]:
        total = total + x * x
    margin: Number = 1.0
    for x, limit in watched:
        margin = select(x - limit, margin, x - limit, margin)
    code = select(0.0, margin, 0.0, float(SINGULAR))
    if "residual" in outputs:
        code = select(outputs["residual"][0], _OPEN, code, float(OPEN))
    code = select(total, FASTEST**2, code, float(NOT_FINITE))  # a comparison with NaN is false
    code = select(0.5, entries["status"][0], entries["status"][0], code)
    frozen = dict(outputs)
    for name, before in NEXT.items():
        if before not in names:
            continue
        pairs = zip(entries[before], outputs[name], strict=True)
        frozen[name] = objects([select(0.5, code, old, new) for old, new in pairs])
    return frozen | {"status_next": objects([code])}
