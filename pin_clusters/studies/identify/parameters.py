"""List the parameters that can be estimated, and build a robot with the estimated values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...algorithms.parameters.inertial_parameters import parameters, with_parameters
from ...constraints import Motor, Rotor, Spring
from ...errors import ArgumentTypeError, ModelError, UnknownNameError, did_you_mean, shown
from ...model import ClusterModel, RotorElement, alike, parameter_columns
from ..study.trajectories import moved_joints

KINDS = {
    "rotor_inertia": "kg m²",
    "mass": "kg",
    "inertial": "",
    "armature": "kg m²",
    "viscous": "N m s/rad",
    "coulomb": "N m",
    "efficiency": "",
    "back_efficiency": "",
    "joint_viscous": "N m s/rad",
    "joint_coulomb": "N m",
    "spring": "N m/rad",
}
"""Kinds of parameters and their units; for prismatic joints, read m for rad and N for N m."""
SPRINGS = {"joint_viscous": "damping", "joint_coulomb": "friction", "spring": "stiffness"}
"""Field of ``pc.Spring`` for each kind; the first two kinds are stored in springs named ``friction of JOINT``."""
# kinds that are fields of pc.Motor, with their physical bounds
_MOTORS = {
    "viscous": (0.0, np.inf),
    "coulomb": (0.0, np.inf),
    "efficiency": (0.02, 1.0),
    "back_efficiency": (-np.inf, 1.0),
}
_BODY = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter to estimate.

    ``of`` is the name of the body, rotor, motor or joint, ``prior`` is the value in the model, and ``bounds`` is the
    physical range. For an inertial parameter, ``direction`` is the derivative of ``pc.parameters(model)`` with
    respect to it. For other parameters, ``source`` is the motor or spring.
    """

    kind: str
    of: str
    prior: float
    bounds: tuple[float, float] = (0.0, np.inf)
    direction: np.ndarray | None = None
    source: Any = None
    item: str = ""

    @property
    def label(self) -> str:
        return f"{self.of}: {self.item or self.kind}"

    @property
    def unit(self) -> str:
        item_unit = "kg" if self.item == "mass" else "kg m" if self.item[:1] == "m" else "kg m²"
        return item_unit if self.item else KINDS[self.kind]


def sought(model: ClusterModel, what: str | Sequence[str]) -> list[Parameter]:
    selected: dict[str, Parameter] = {}
    entries = [what] if isinstance(what, str) else list(what) if isinstance(what, Iterable) else []
    if not entries or not all(isinstance(entry, str) for entry in entries):
        raise ArgumentTypeError(
            f"identify: what must be one or more kinds such as 'mass', or 'NAME: KIND', got {shown(what)}."
        )
    for entry in entries:
        pattern, _, kind = entry.rpartition(": ")
        if kind not in KINDS:
            raise UnknownNameError(f"identify: there is no kind {kind!r}.{did_you_mean(kind, KINDS, limit=len(KINDS))}")
        candidates = _of_kind(model, kind)
        matches = {p.label: p for p in candidates if fnmatchcase(p.of, pattern or "*")}
        if not matches:
            names = ", ".join(dict.fromkeys(p.of for p in candidates)) or "none. Add one with pc.Spring or pc.Rotor"
            raise ModelError(f"identify: {model.name!r} has no parameter {entry!r}. {kind} exists for: {names}.")
        selected |= matches
    return list(selected.values())


def scales(unknowns: Sequence[Parameter]) -> np.ndarray:
    """Return each prior's magnitude, at least 1e-3 of the largest prior in the same unit; 1 if they are all zero."""
    largest = [max(abs(o.prior) for o in unknowns if o.unit == p.unit) for p in unknowns]
    return np.array([max(abs(p.prior), 1e-3 * top) or 1.0 for p, top in zip(unknowns, largest, strict=True)])


def _of_kind(model: ClusterModel, kind: str) -> list[Parameter]:
    values, labels = parameters(model)
    units, columns, names = np.eye(len(values)), parameter_columns(model), list(model.own_tree.names)[1:]
    bodies = {n: slice(10 * i, 10 * i + 10) for i, n in enumerate(names) if n not in {r.name for r in model.rotors}}
    springs = {
        s.name or (s.along if isinstance(s.along, str) else s.label): s for s in getattr(model.passive, "springs", ())
    }
    if kind == "rotor_inertia":
        return [_spin(model, r, np.array(labels) == f"{r.name}: axial inertia", values) for r in model.rotors]
    if kind == "inertial":
        entries = [(n, i, x) for n, s in bodies.items() for i, x in zip(range(s.start, s.stop), _BODY, strict=True)]
        return [Parameter(kind, n, values[i], (-np.inf, np.inf), units[i], item=x) for n, i, x in entries]
    # A mass scales the whole inertia of a body, because its centre of mass and shape stay the same.
    if kind in ("mass", "armature"):
        indices = range(
            *((columns.rods_from, columns.width) if kind == "mass" else (columns.armatures_from, columns.rods_from))
        )
        lumped = [Parameter(kind, labels[i].rpartition(": ")[0], values[i], direction=units[i]) for i in indices]
        masses = [
            (n, values[s][0], values[s] @ units[s]) for n, s in bodies.items() if kind == "mass" and values[s][0] > 0.0
        ]
        return lumped + [Parameter(kind, n, m, (1e-6 * m, np.inf), x / m) for n, m, x in masses]
    if kind in _MOTORS:
        motors = [(r.name, r.motor or Motor(r.name)) for r in model.motors]
        motor_efficiency = [(n, m, m.efficiency or 1.0) for n, m in motors]
        motor_values = [(n, m, getattr(m, kind), x) for n, m, x in motor_efficiency]
        return [Parameter(kind, n, x if p is None else p, _MOTORS[kind], source=m) for n, m, p, x in motor_values]
    if kind == "spring":
        return [Parameter(kind, n, s.stiffness[0], source=s) for n, s in springs.items() if any(s.stiffness)]
    rubbing = {n: springs.get(f"friction of {n}") or Spring(n, name=f"friction of {n}") for n in moved_joints(model)}
    return [Parameter(kind, n, float(np.ravel(getattr(s, SPRINGS[kind]))[0]), source=s) for n, s in rubbing.items()]


def _spin(model: ClusterModel, r: RotorElement, is_axial: np.ndarray, values: np.ndarray) -> Parameter:
    """Return the axial inertia of a rotor as a parameter.

    If the rotor is a body with axis n, a change dJ adds dJ n n' to its inertia; J <= sum of the transverse inertias.
    """
    upper, direction = np.inf, 1.0 * is_axial
    if r.joint_id is not None:
        x, y, z = model.own_tree.jointPlacements[r.joint_id].rotation.T @ r.axis
        moments = slice(10 * r.joint_id - 6, 10 * r.joint_id)
        direction[moments] = np.round((x * x, x * y, y * y, x * z, y * z, z * z), 12)
        upper = values[moments][[0, 2, 5]].sum() - r.axial_inertia
    return Parameter("rotor_inertia", r.name, r.axial_inertia, (0.0, upper), direction)


def applied(model: ClusterModel, unknowns: Sequence[Parameter], estimates: np.ndarray) -> ClusterModel:
    inertias = [(p.direction, x - p.prior) for p, x in zip(unknowns, estimates, strict=True) if p.direction is not None]
    if inertias:
        model = with_parameters(model, parameters(model)[0] + sum(d * x for d, x in inertias))
    changed: dict[tuple[type, str], Any] = {}
    for p, x in zip(unknowns, estimates.tolist(), strict=True):
        if p.source is not None:
            source = changed.get((type(p.source), p.of), p.source)
            value = (x, *source.stiffness[1:]) if p.kind == "spring" else x
            changed[type(p.source), p.of] = replace(source, **{SPRINGS.get(p.kind, p.kind): value})
    replaced = [p.source for p in unknowns if p.source is not None]
    constraints = [
        replace(c, motor=None) if isinstance(c, Rotor) and c.motor in replaced else c
        for c in model.constraints
        if c not in replaced
    ]
    return alike(model, constraints=(*constraints, *changed.values()))
