"""What can be estimated of a robot, and the robot with the estimates."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...algorithms.parameters.inertial_parameters import parameters, with_parameters
from ...constraints.spring import Spring
from ...errors import ModelError, UnknownNameError, did_you_mean
from ...model import ClusterModel, RotorElement, alike
from ..study.trajectories._base import joint_of, moved_joints, slides

KINDS = {
    "rotor_inertia": "kg m2", "mass": "kg", "inertial": "", "armature": "kg m2", "viscous": "N m s/rad",
    "coulomb": "N m", "joint_viscous": "N m s/rad", "joint_coulomb": "N m", "spring": "N m/rad", "efficiency": "",
    "back_efficiency": "",
}  # fmt: skip
"""Kinds of parameters, and their units, of sliding joints those that follow."""
_MOMENTS = ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_BODY = ("mass", "mx", "my", "mz", *_MOMENTS)
_LEAST_EFFICIENCY = 0.05
FRICTION = "friction of "
"""Begins the names of springs that are friction of a rotor or a joint."""


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number that is sought.

    Attributes:
        kind: One of ``KINDS``.
        of: Rotor, joint, body or spring.
        label: For tables.
        unit: Of the number.
        prior: What the model has.
        bounds: Between which it is physical.
        direction: How the parameters of ``pc.parameters`` change with it; None of forces and losses.
        source: The spring; joint to ratio of friction; the motor's place among ``model.motors`` of a loss.
    """

    kind: str
    of: str
    label: str
    unit: str
    prior: float
    bounds: tuple[float, float] = (0.0, np.inf)
    direction: np.ndarray | None = None
    source: Any = None


def sought(model: ClusterModel, what: Sequence[str]) -> list[Parameter]:
    """Return the parameters of some kinds, or of some ``"NAME: KIND"`` with ``*`` for any text."""
    found: dict[str, Parameter] = {}
    for entry in (what,) if isinstance(what, str) else what:
        pattern, _, kind = entry.rpartition(": ")
        if kind not in KINDS:
            raise UnknownNameError(f"identify: there is no kind {kind!r}.{did_you_mean(kind, KINDS, limit=len(KINDS))}")
        of_kind = list(_of_kind(model, kind))
        some = [p for p in of_kind if fnmatchcase(p.of, pattern or "*")]
        if not some:
            names = ", ".join(dict.fromkeys(p.of for p in of_kind)) or "none: state what it has, such as pc.Spring"
            raise ModelError(f"identify: {model.name!r} has no {entry!r}. It has {kind} of: {names}.")
        found |= {p.label: p for p in some}
    return list(found.values())


def _of_kind(model: ClusterModel, kind: str) -> list[Parameter]:
    """Return all parameters of a kind."""
    values, labels = parameters(model)
    unit, at = KINDS[kind], {label: i for i, label in enumerate(labels)}
    rotors = {r.name for r in model.rotors}
    bodies = [n for n in list(model.own_tree.names)[1:] if n not in rotors]

    def inertial(
        of: str, shares: dict[str, float], prior: float, most: float = np.inf, *, least: float = 0.0, label: str = ""
    ) -> Parameter:
        direction = np.zeros(len(values))
        direction[[at[key] for key in shares]] = list(shares.values())
        return Parameter(kind, of, label or f"{of}: {kind}", unit, prior, (least, most), direction)

    if kind == "rotor_inertia":
        return [inertial(r.name, *_axial(model, r, at, values)) for r in model.rotors]
    if kind == "armature":
        return [inertial(x[: -len(kind) - 2], {x: 1.0}, values[i]) for x, i in at.items() if x.endswith(": armature")]
    if kind == "mass":  # the body keeps its centre and its shape
        masses = {n: {f"{n}: {x}": values[at[f"{n}: {x}"]] for x in _BODY} for n in bodies}
        return [
            inertial(n, {key: x / mass for key, x in shares.items()}, mass, least=1e-6 * mass)
            for n, shares in masses.items() if (mass := shares[f"{n}: mass"]) > 0.0
        ] + [
            inertial(x[:-6], {x: 1.0}, values[i]) for x, i in at.items() if x[:-6] not in (*bodies, *rotors) and x.endswith(": mass")
        ]  # fmt: skip
    if kind == "inertial":
        units = dict(zip(_BODY, ["kg", *["kg m"] * 3, *["kg m2"] * 6], strict=True))
        every = [inertial(n, {x: 1.0}, values[at[x]], label=x) for n in bodies for x in (f"{n}: {y}" for y in _BODY)]
        return [dataclasses.replace(p, unit=units[p.label.rpartition(" ")[2]], bounds=(-np.inf, np.inf)) for p in every]
    if kind == "spring":
        springs = [s for s in (model.passive.springs if model.passive else ()) if any(s.stiffness)]
        return [Parameter(kind, n, f"{n}: {kind}", unit, s.stiffness[0], source=s) for s in springs if (n := _name(s))]
    if kind.endswith("efficiency"):
        bounds = (_LEAST_EFFICIENCY if kind == "efficiency" else -np.inf, 1.0)
        return [Parameter(kind, r.name, f"{r.name}: {kind}", "", 1.0, bounds, source=k) for k, r in enumerate(model.motors)]
    lines = {n: {n: 1.0} for n in moved_joints(model)} if "joint" in kind else {r.name: _ratios(model, r) for r in model.motors}
    field = "damping" if kind.endswith("viscous") else "friction"
    found = []
    for n, line in lines.items():
        there = friction_of(model, n)
        prior = float(np.ravel(getattr(there, field))[0]) if there else 0.0
        slid = "joint" in kind and slides(model, n)
        found.append(Parameter(kind, n, f"{n}: {kind}", unit.replace(" m", "").replace("rad", "m") if slid else unit, prior, source=line))
    return found


def _axial(model: ClusterModel, r: RotorElement, at: dict[str, int], values: np.ndarray) -> tuple[dict[str, float], float, float]:
    """Return the parameters that the axial inertia of a rotor is made of, its value, and the largest that is physical."""
    if r.source is not None:
        return {f"{r.name}: axial inertia": 1.0}, r.axial_inertia, np.inf
    x, y, z = model.own_tree.jointPlacements[r.joint_id].rotation.T @ r.axis
    shares = dict(zip((f"{r.name}: {i}" for i in _MOMENTS), (x * x, x * y, y * y, x * z, y * z, z * z), strict=True))
    I = [values[at[f"{r.name}: {i}"]] for i in ("Ixx", "Iyy", "Izz")]
    return {key: c for key, c in shares.items() if abs(c) > 1e-12}, r.axial_inertia, sum(I) - r.axial_inertia


def _ratios(model: ClusterModel, r: RotorElement) -> dict[str, float]:
    names = {int(joint.idx_v): name for name, joint in zip(model.tree.names, model.tree.joints, strict=True)}
    return {names[i]: ratio for i, ratio in r.drivers}


def _name(spring: Spring) -> str:
    return spring.name or str(spring.along if isinstance(spring.along, str) else spring.label)


def friction_of(model: ClusterModel, of: str) -> Spring | None:
    """Return the friction of a rotor or joint that was identified before."""
    springs = model.passive.springs if model.passive else ()
    return next((s for s in springs if s.name == FRICTION + of), None)


def applied(model: ClusterModel, found: Sequence[Parameter], estimates: np.ndarray) -> ClusterModel:
    """Return the robot with estimates in place of its numbers."""
    total, changed = parameters(model)[0], dict[int, Any]()
    added: dict[str, Spring] = {}
    for p, x in zip(found, estimates.tolist(), strict=True):
        if p.direction is not None:
            total = total + p.direction * (x - p.prior)
        elif p.kind == "spring":
            changed[id(p.source)] = dataclasses.replace(p.source, stiffness=(x, *p.source.stiffness[1:]))
        elif not p.kind.endswith("efficiency"):
            there = friction_of(model, p.of)
            spring = added.get(p.of) or there or Spring(p.source, name=FRICTION + p.of)
            added[p.of] = dataclasses.replace(spring, **{"damping" if p.kind.endswith("viscous") else "friction": x})
            changed |= {id(there): None} if there else {}
    if any(p.direction is not None for p in found):
        model = with_parameters(model, total)
    kept = [changed.get(id(c), c) for c in model.constraints]
    return alike(model, constraints=(*(c for c in kept if c is not None), *added.values()))
