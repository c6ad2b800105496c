"""What can be estimated of a robot, and the robot with the estimates."""

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
"""What may be sought, and its unit; for what slides, read m for rad and N for N m."""
SPRINGS = {"joint_viscous": "damping", "joint_coulomb": "friction", "spring": "stiffness"}
"""Kinds that are fields of springs, of those named ``friction of JOINT`` the first two."""
_MOTORS = {
    "viscous": (0.0, np.inf),
    "coulomb": (0.0, np.inf),
    "efficiency": (0.02, 1.0),
    "back_efficiency": (-np.inf, 1.0),
}
_BODY = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number that is sought: its kind, what it is of, what the model has, and between what it is physical.

    ``direction`` is how ``pc.parameters`` change with it, of inertias; else ``source`` is the motor or the spring.
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
        """Such as ``"knee: mass"``."""
        return f"{self.of}: {self.item or self.kind}"

    @property
    def unit(self) -> str:
        """Unit of the number."""
        own = "kg" if self.item == "mass" else "kg m" if self.item[:1] == "m" else "kg m²"
        return own if self.item else KINDS[self.kind]


def sought(model: ClusterModel, what: str | Sequence[str]) -> list[Parameter]:
    """Return the parameters of some kinds, or of some ``"NAME: KIND"`` with ``*`` for any text."""
    found: dict[str, Parameter] = {}
    entries = [what] if isinstance(what, str) else list(what) if isinstance(what, Iterable) else []
    if not entries or not all(isinstance(entry, str) for entry in entries):
        raise ArgumentTypeError(
            f"identify: what must be kinds such as 'mass', or 'NAME: KIND', at least one of them, got {shown(what)}."
        )
    for entry in entries:
        pattern, _, kind = entry.rpartition(": ")
        if kind not in KINDS:
            raise UnknownNameError(f"identify: there is no kind {kind!r}.{did_you_mean(kind, KINDS, limit=len(KINDS))}")
        there = _of_kind(model, kind)
        some = {p.label: p for p in there if fnmatchcase(p.of, pattern or "*")}
        if not some:
            names = ", ".join(dict.fromkeys(p.of for p in there)) or "nothing: state it first, as pc.Spring or pc.Rotor"
            raise ModelError(f"identify: {model.name!r} has no {entry!r}; it has {kind} of {names}.")
        found |= some
    return list(found.values())


def scales(found: Sequence[Parameter]) -> np.ndarray:
    """Return what is a large change of each: its own size, at least a thousandth of the largest of its unit, or 1."""
    largest = [max(abs(o.prior) for o in found if o.unit == p.unit) for p in found]
    return np.array([max(abs(p.prior), 1e-3 * most) or 1.0 for p, most in zip(found, largest, strict=True)])


def _of_kind(model: ClusterModel, kind: str) -> list[Parameter]:
    """Return all parameters of a kind."""
    values, labels = parameters(model)
    unit, columns, names = np.eye(len(values)), parameter_columns(model), list(model.own_tree.names)[1:]
    bodies = {n: slice(10 * i, 10 * i + 10) for i, n in enumerate(names) if n not in {r.name for r in model.rotors}}
    springs = {
        s.name or (s.along if isinstance(s.along, str) else s.label): s for s in getattr(model.passive, "springs", ())
    }
    if kind == "rotor_inertia":
        return [_spin(model, r, np.array(labels) == f"{r.name}: axial inertia", values) for r in model.rotors]
    if kind == "inertial":
        ten = [(n, i, x) for n, s in bodies.items() for i, x in zip(range(s.start, s.stop), _BODY, strict=True)]
        return [Parameter(kind, n, values[i], (-np.inf, np.inf), unit[i], item=x) for n, i, x in ten]
    if kind in ("mass", "armature"):  # bodies keep their centres and shapes; rods have nothing else
        rest = range(
            *((columns.rods_from, columns.width) if kind == "mass" else (columns.armatures_from, columns.rods_from))
        )
        found = [Parameter(kind, labels[i].rpartition(": ")[0], values[i], direction=unit[i]) for i in rest]
        whole = [
            (n, values[s][0], values[s] @ unit[s]) for n, s in bodies.items() if kind == "mass" and values[s][0] > 0.0
        ]
        return found + [Parameter(kind, n, m, (1e-6 * m, np.inf), x / m) for n, m, x in whole]
    if kind in _MOTORS:
        motors = [(r.name, r.motor or Motor(r.name)) for r in model.motors]
        e = [(n, m, m.efficiency or 1.0) for n, m in motors]
        own = [(n, m, getattr(m, kind), x) for n, m, x in e]
        return [Parameter(kind, n, x if p is None else p, _MOTORS[kind], source=m) for n, m, p, x in own]
    if kind == "spring":
        return [Parameter(kind, n, s.stiffness[0], source=s) for n, s in springs.items() if any(s.stiffness)]
    rubbed = {n: springs.get(f"friction of {n}") or Spring(n, name=f"friction of {n}") for n in moved_joints(model)}
    return [Parameter(kind, n, float(np.ravel(getattr(s, SPRINGS[kind]))[0]), source=s) for n, s in rubbed.items()]


def _spin(model: ClusterModel, r: RotorElement, own: np.ndarray, values: np.ndarray) -> Parameter:
    """Return the axial inertia of a rotor; that of a body is made of its moments, and below the sum of the others."""
    most, direction = np.inf, 1.0 * own
    if r.joint_id is not None:
        x, y, z = model.own_tree.jointPlacements[r.joint_id].rotation.T @ r.axis
        here = slice(10 * r.joint_id - 6, 10 * r.joint_id)
        direction[here] = np.round((x * x, x * y, y * y, x * z, y * z, z * z), 12)
        most = values[here][[0, 2, 5]].sum() - r.axial_inertia
    return Parameter("rotor_inertia", r.name, r.axial_inertia, (0.0, most), direction)


def applied(model: ClusterModel, found: Sequence[Parameter], estimates: np.ndarray) -> ClusterModel:
    """Return the robot with estimates in place of its numbers."""
    inertias = [(p.direction, x - p.prior) for p, x in zip(found, estimates, strict=True) if p.direction is not None]
    if inertias:
        model = with_parameters(model, parameters(model)[0] + sum(d * x for d, x in inertias))
    changed: dict[tuple[type, str], Any] = {}
    for p, x in zip(found, estimates.tolist(), strict=True):
        if p.source is not None:
            there = changed.get((type(p.source), p.of), p.source)
            value = (x, *there.stiffness[1:]) if p.kind == "spring" else x
            changed[type(p.source), p.of] = replace(there, **{SPRINGS.get(p.kind, p.kind): value})
    old = [p.source for p in found if p.source is not None]
    kept = [
        replace(c, motor=None) if isinstance(c, Rotor) and c.motor in old else c
        for c in model.constraints
        if c not in old
    ]
    return alike(model, constraints=(*kept, *changed.values()))
