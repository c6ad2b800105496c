"""What can be estimated of a robot, and the robot with the estimates."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...algorithms.parameters.inertial_parameters import parameters, with_parameters
from ...constraints import Motor, Rotor, Spring
from ...errors import ModelError, UnknownNameError, did_you_mean
from ...model import ClusterModel, RotorElement, alike, parameter_columns
from ..study.trajectories._base import moved_joints, slides

KINDS = {
    "rotor_inertia": "kg m2", "mass": "kg", "inertial": "", "armature": "kg m2", "viscous": "N m s/rad",
    "coulomb": "N m", "efficiency": "", "back_efficiency": "", "joint_viscous": "N m s/rad", "joint_coulomb": "N m",
    "spring": "N m/rad",
}  # fmt: skip
"""What may be sought, and the unit, of what slides with m in place of rad."""
OF_MOTORS = ("viscous", "coulomb", "efficiency", "back_efficiency")
_MOMENTS = ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_BODY = ("mass", "mx", "my", "mz", *_MOMENTS)
_FIELDS = {"joint_viscous": "damping", "joint_coulomb": "friction", "spring": "stiffness"}
FRICTION = "friction of "
"""Begins the names of springs that stand for friction of a joint."""
_UNREAL, _LEAST = 1e-6, 0.02
"""Least share of a mass, and least efficiency."""


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number that is sought: its kind, what it is of, what the model has, and between what it is physical.

    ``direction`` is how ``pc.parameters`` change with it, of inertias; ``source`` a rotor's or a spring's own.
    """

    kind: str
    of: str
    prior: float
    bounds: tuple[float, float] = (0.0, np.inf)
    direction: np.ndarray | None = None
    source: Any = None
    unit: str = ""
    label: str = ""


def sought(model: ClusterModel, what: str | Sequence[str]) -> list[Parameter]:
    """Return the parameters of some kinds, or of some ``"NAME: KIND"`` with ``*`` for any text."""
    found: dict[str, Parameter] = {}
    for entry in (what,) if isinstance(what, str) else what:
        pattern, _, kind = entry.rpartition(": ")
        if kind not in KINDS:
            raise UnknownNameError(f"identify: there is no kind {kind!r}.{did_you_mean(kind, KINDS, limit=len(KINDS))}")
        there = _of_kind(model, kind)
        if not (some := [p for p in there if fnmatchcase(p.of, pattern or "*")]):
            names = ", ".join(dict.fromkeys(p.of for p in there)) or "nothing: state it first, as pc.Spring or pc.Rotor"
            raise ModelError(f"identify: {model.name!r} has no {entry!r}; it has {kind} of {names}.")
        named = (dataclasses.replace(p, unit=p.unit or KINDS[kind], label=p.label or f"{p.of}: {kind}") for p in some)
        found |= {p.label: p for p in named}
    return list(found.values())


def _of_kind(model: ClusterModel, kind: str) -> list[Parameter]:
    """Return all parameters of a kind."""
    values, labels = parameters(model)
    unit, columns, names = np.eye(len(values)), parameter_columns(model), list(model.own_tree.names)[1:]
    bodies = {n: slice(10 * i, 10 * i + 10) for i, n in enumerate(names) if n not in {r.name for r in model.rotors}}
    if kind == "rotor_inertia":
        return [_spin(model, r, labels, values) for r in model.rotors]
    if kind == "inertial":
        every = [(n, dict(zip(_BODY, range(s.start, s.stop), strict=True))) for n, s in bodies.items()]
        return [
            Parameter(kind, n, values[i], (-np.inf, np.inf), unit[i], unit="kg m2" if x[0] == "I" else "kg" if x == "mass" else "kg m", label=labels[i])
            for n, ten in every for x, i in ten.items()
        ]  # fmt: skip
    if kind in ("mass", "armature"):
        rest = range(columns.rods_from, columns.width)
        rest = rest if kind == "mass" else range(columns.armatures_from, columns.rods_from)
        found = [Parameter(kind, labels[i].rpartition(": ")[0], values[i], direction=unit[i]) for i in rest]
        whole = [(n, values[s][0], values[s] @ unit[s]) for n, s in bodies.items() if values[s][0] > 0.0]
        # bodies keep their centres and shapes
        return found + [Parameter(kind, n, m, (_UNREAL * m, np.inf), x / m) for n, m, x in whole if kind == "mass"]
    if kind in OF_MOTORS:
        bounds = {"efficiency": (_LEAST, 1.0), "back_efficiency": (-np.inf, 1.0)}.get(kind, (0.0, np.inf))
        return [Parameter(kind, r.name, float(getattr(motor_on(r), kind) or 0.0), bounds, source=r) for r in model.motors]
    springs = list(model.passive.springs) if model.passive else []
    if kind != "spring":
        there = {s.name: s for s in springs}
        of = [there.get(FRICTION + n) or Spring(n, name=FRICTION + n) for n in moved_joints(model)]
    else:
        of = [s for s in springs if any(s.stiffness)]
    priors = [float(np.ravel(getattr(s, _FIELDS[kind]))[0]) for s in of]
    slid = KINDS[kind].replace(" m", "").replace("rad", "m")
    return [
        Parameter(kind, name := _name(s), x, source=s, unit=slid if name in names and slides(model, name) else "")
        for s, x in zip(of, priors, strict=True)
    ]  # fmt: skip


def _spin(model: ClusterModel, r: RotorElement, labels: tuple[str, ...], values: np.ndarray) -> Parameter:
    """Return the axial inertia of a rotor; of a body's moments what makes it, and below the sum of the others."""
    if r.joint_id is None:
        return Parameter("rotor_inertia", r.name, r.axial_inertia, direction=1.0 * (np.array(labels) == f"{r.name}: axial inertia"))
    x, y, z = model.own_tree.jointPlacements[r.joint_id].rotation.T @ r.axis
    here, direction = slice(10 * r.joint_id - 6, 10 * r.joint_id), np.zeros(len(values))
    direction[here] = np.round((x * x, x * y, y * y, x * z, y * z, z * z), 12)
    most = values[here][[0, 2, 5]].sum() - r.axial_inertia
    return Parameter("rotor_inertia", r.name, r.axial_inertia, (0.0, most), direction)


def motor_on(r: RotorElement) -> Motor:
    """Return the motor of a rotor; one without losses if none is stated."""
    motor = r.motor or Motor(r.name)
    e = 1.0 if motor.efficiency is None else motor.efficiency
    back = e if motor.back_efficiency is None else motor.back_efficiency
    return dataclasses.replace(motor, efficiency=e, back_efficiency=back)


def _name(spring: Spring) -> str:
    plain = spring.along if isinstance(spring.along, str) else spring.label
    return (spring.name or str(plain)).removeprefix(FRICTION)


def applied(model: ClusterModel, found: Sequence[Parameter], estimates: np.ndarray) -> ClusterModel:
    """Return the robot with estimates in place of its numbers."""
    total, motors, springs = parameters(model)[0], dict[str, dict[str, float]](), dict[str, Spring]()
    changed: dict[int, Any] = {}
    for p, x in zip(found, estimates.tolist(), strict=True):
        if p.direction is not None:
            total = total + p.direction * (x - p.prior)
        elif p.kind in OF_MOTORS:
            motors.setdefault(p.of, {})[p.kind] = x
        else:
            there = springs.get(p.of + p.kind[:1], p.source)
            value = (x, *there.stiffness[1:]) if p.kind == "spring" else x
            springs[p.of + p.kind[:1]] = changed[id(p.source)] = dataclasses.replace(there, **{_FIELDS[p.kind]: value})
    if any(p.direction is not None for p in found):
        model = with_parameters(model, total)
    constraints = [changed.get(id(c), c) for c in model.constraints]
    constraints += [s for s in springs.values() if s not in constraints]
    for r in (r for r in model.motors if r.name in motors):
        numbers = dict(motors[r.name])
        if "efficiency" in numbers and "back_efficiency" not in numbers and (r.motor is None or r.motor.back_efficiency is None):
            numbers["back_efficiency"] = None
        stated = r.motor or Motor(r.name)
        if stated.rotor_inertia is not None: numbers["rotor_inertia"] = r.axial_inertia
        motor = dataclasses.replace(stated, **numbers)
        constraints = [dataclasses.replace(c, motor=None) if isinstance(c, Rotor) and c.name == r.name else c for c in constraints if not (isinstance(c, Motor) and c.rotor == r.name)]
        constraints.append(motor)
    return alike(model, constraints=tuple(constraints))
