"""Compute the sensitivity of dependent joints to lengths of links and rods and to positions of constraint points.

K_d is the Jacobian of the loop-closure constraints phi(q, p) = 0 with respect to the dependent joints q_d, and p
is a length. If the independent joints are fixed, ``dq_d / dp = -K_d^+ dphi/dp``.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...constraints import Loop, Rod
from ...constraints.closures import Closure, FrameClosure, JointClosure, RodClosure
from ...constraints.contract import LoopConstraint
from ...errors import PinClustersError
from ...model import ClusterModel, Equations, LoopAnalysis, loops_of
from .coordinates import Coordinate, coordinates
from .sweep import Sweep
from .words import part

_STEP = 1e-5  # Step of the finite differences with respect to a length, [m]
_BINDS = 1e-3  # A length binds if the dependent joints leave more than this fraction of its constraint error
_NOTHING = 1e-9
_POSES = 12
_NO_LENGTH = ("gear", "ratio", "branch", "teeth", "phase", "pi", "sign", "mass")
_AXES = "xyz"

Parts = tuple[pin.Model, tuple[Closure, ...]]


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Sensitivity of the dependent joints in one cluster to lengths.

    Attributes:
        joints: The dependent joints; their unit is [rad] or [m].
        lengths: Description of each length.
        at_reference: Derivatives at the reference pose, shape (lengths, joints), [rad/m] or [m/m].
        largest: Largest magnitude over the independent joints' ranges, shape (lengths, joints), [rad/m] or [m/m].
        binds: Whether a change of the length prevents the loops from closing, shape (lengths,). For example, a pin of a
            planar linkage must not move out of the plane.
    """

    joints: tuple[Coordinate, ...]
    lengths: tuple[str, ...]
    at_reference: np.ndarray
    largest: np.ndarray
    binds: np.ndarray


def sensitivity(model: ClusterModel, joints: tuple[str, ...], sweeps: tuple[Sweep, ...]) -> Sensitivity | None:
    """Return the sensitivities for the cluster that contains ``joints``; None if it has no loops or lengths."""
    loop = next((x for x in loops_of(model).clusters if {model.names[j] for j in x.joints} & set(joints)), None)
    if loop is None:
        return None
    named = coordinates(model, tuple(model.names[j] for j in loop.joints))
    led = tuple(c for c in named if c.iv in loop.dependents)
    poses = [model.q_reference]
    for s in sweeps:
        inside = s.q if s.low.kind == "limit" else s.q[1:]
        inside = inside if s.high.kind == "limit" else inside[:-1]
        poses += list(inside[:: max(1, len(inside) // _POSES)])
    couplings = [c for c in loop.kept if not any(c.source is x.source for x in loop.closures)]
    closures = (*(x for c in loop.closures for x in _as_bodies(model, c)), *couplings)
    equations = Equations(model.own_tree, closures)
    names, derivatives, misfit = [], [], []
    for name, changed in _lengths(model, loop, closures):
        try:
            up, down = (Equations(*changed(h)) for h in (_STEP, -_STEP))
        except PinClustersError:  # the mechanism cannot be built with this length
            continue
        rates = [_rates(loop, equations, up, down, q) for q in poses]
        moves, misfit_here = np.array([x for x, _ in rates]), max(x for _, x in rates)
        if np.abs(moves).max() < _NOTHING and misfit_here < _NOTHING:
            continue
        names.append(name)
        derivatives.append(moves)
        misfit.append(misfit_here)
    if not names:
        return None
    columns = [loop.dependents.index(c.iv) for c in led]
    all_moves = np.array(derivatives)[:, :, columns]
    return Sensitivity(led, tuple(names), all_moves[:, 0], np.abs(all_moves).max(axis=1), np.array(misfit) > _BINDS)


def _rates(
    loop: LoopAnalysis, equations: Equations, up: Equations, down: Equations, q: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return d(dependents) / d(length), ordered as ``loop.dependents``, and the constraints' relative residual."""
    scales = equations.scales(q)
    slope = (up.residual(q) - down.residual(q)) / (2.0 * _STEP) / scales
    K = equations.jacobian(q)[:, list(loop.dependents)] / scales[:, None]
    rates = -np.linalg.lstsq(K, slope, rcond=None)[0]
    misfit, size = (float(np.abs(x).max(initial=0.0)) for x in (K @ rates + slope, slope))
    return rates, misfit / size if misfit > _NOTHING else 0.0


def _lengths(
    model: ClusterModel, loop: LoopAnalysis, closures: tuple[Closure, ...]
) -> Iterator[tuple[str, Callable[[float], Parts]]]:
    """Yield the description of each length in a cluster, and a function that changes this length by a step."""
    tree = model.own_tree
    for j, axis in itertools.product(loop.joints, range(3)):
        yield f"{tree.names[j]}: place, {_AXES[axis]}", partial(_placed, tree, closures, j, axis)
    for position, c in enumerate(closures):
        for name, changed in _of_closure(tree, c):
            yield name, partial(_replaced, tree, closures, position, changed)


def _placed(tree: pin.Model, closures: tuple[Closure, ...], j: int, axis: int, h: float) -> Parts:
    moved = tree.copy()
    moved.jointPlacements[j] = _shifted(moved.jointPlacements[j], axis, h)
    return moved, closures


def _replaced(
    tree: pin.Model, closures: tuple[Closure, ...], at: int, changed: Callable[[float], Closure], h: float
) -> Parts:
    return tree, (*closures[:at], changed(h), *closures[at + 1 :])


def _as_bodies(model: ClusterModel, c: Closure) -> tuple[Closure, ...]:
    """Return loops and rods equivalent to the mechanism of ``c``; if there is no such equivalent, return ``c``."""
    generic = getattr(c.source, "generic", None)
    if not isinstance(c, JointClosure) or generic is None:
        return (c,)
    tree = model.own_tree
    sources = generic(tree)
    if not all(isinstance(source, (Loop, Rod)) for source in sources):
        return (c,)
    parts = [x for source in sources for x in source.closures(tree)]
    data = tree.createData()
    pin.forwardKinematics(tree, data, model.q_reference)
    return tuple(_with_length(x, data) for x in parts)


def _with_length(c: Closure, data: pin.Data) -> Closure:
    if not isinstance(c, RodClosure) or c.length is not None:
        return c
    a, b = data.oMi[c.joint_a].act(c.point_a), data.oMi[c.joint_b].act(c.point_b)
    return dataclasses.replace(c, length=float(np.linalg.norm(b - a)))


def _of_closure(tree: pin.Model, c: Closure) -> Iterator[tuple[str, Callable[[float], Closure]]]:
    """Yield the name of each length or point coordinate of a closure, and a function that changes it by a step."""
    label = part(str(c.source.label))
    if isinstance(c, RodClosure):
        yield f"{label}: length", lambda h: dataclasses.replace(c, length=(c.length or 0.0) + h)
    if isinstance(c, (RodClosure, FrameClosure)):
        kind = "point" if isinstance(c, RodClosure) else "placement"
        for end, axis in itertools.product("ab", range(3)):
            yield f"{label}: point {end}, {_AXES[axis]}", partial(_with, c, f"{kind}_{end}", axis)
    elif dataclasses.is_dataclass(c.source) and isinstance(c.source, LoopConstraint):
        for f in dataclasses.fields(c.source):
            value = getattr(c.source, f.name)
            if isinstance(value, float) and not f.name.startswith(_NO_LENGTH):
                yield f"{label}: {f.name}", partial(_of_other, tree, c.source, f.name, value)


def _with(c: Closure, name: str, axis: int, h: float) -> Closure:
    changes: dict[str, Any] = {name: _shifted(getattr(c, name), axis, h)}
    return dataclasses.replace(c, **changes)


def _of_other(tree: pin.Model, source: Any, name: str, value: float, h: float) -> Closure:
    closure: Closure = dataclasses.replace(source, **{name: value + h}).closures(tree)[0]
    return closure


def _shifted(place: Any, axis: int, by: float) -> Any:
    if not isinstance(place, np.ndarray):
        return pin.SE3(place.rotation, _shifted(np.array(place.translation), axis, by))
    moved = place.copy()
    moved[axis] += by
    return moved
