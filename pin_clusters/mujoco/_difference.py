"""The difference between the exact robot and MuJoCo's tree: rotors with constant ratios, and inertias.

The mass matrix M and the bias h are linear in the inertias. The difference Delta M = M_exact - M_tree, and the
corresponding Delta h, are therefore M and h of one robot with the exact constraints whose inertias are differences.
Rotors with constant ratios are lumped into their carriers; ``_rotor_table`` adds the effect of their spin.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..compiler.tracing.expressions import Expression, Graph
from ..compiler.tracing.run import Run
from ..constraints.closures import massive
from ..model import ClusterModel, RotorElement, depth_first, packed_numbers
from ._library import gravity_of
from ._matching import Match

_ROUNDING = 1e-9
"""Relative difference of inertias that is neglected, because it is a rounding error of the file or of MuJoCo."""


@dataclass(frozen=True, eq=False)
class Difference:
    """The exact robot minus MuJoCo's tree.

    Attributes:
        constant: The rotors with constant ratios, and the row ``ratios``, shape (nv,), of each rotor.
        armature: Armature of the independent velocities in the exact model, shape (nv,), [kg m^2].
        numbers: Numbers of the tables of the robot whose inertias are differences; None if all are zero.
        taken: A tree whose dynamics are subtracted as well, for bodies whose masses are equal, but whose centres of
            mass differ; None if there are no such bodies. No inertia represents a moment without mass.
        changed: Names of the joints whose inertias differ.
    """

    constant: tuple[tuple[RotorElement, np.ndarray], ...]
    armature: np.ndarray
    numbers: np.ndarray | None
    taken: ClusterModel | None
    changed: tuple[str, ...]


def difference(matched: Match) -> Difference:
    model, free = matched.model, {j for j, _ in matched.joints.values()}
    tree, rows = model.own_tree.copy(), _rows(model)
    tree.gravity = pin.Motion(gravity_of(matched.mj_model), np.zeros(3))
    constant = tuple((r, row) for r, row in zip(model.rotors, rows, strict=True) if row is not None)
    turning = {r.name for r, _ in constant}
    armature = np.array(model.inertia_tree.armature)
    own = armature[model.idx_v_independent].copy()
    armature[model.idx_v_independent] = 0.0
    plus, minus, changed = list[pin.Inertia](), list[pin.Inertia](), list[str]()
    ends = {j for rod in massive(model.closures) for j in rod.bodies}
    for j, exact in enumerate(_lumped(model)):
        added, taken = _subtracted(exact, matched.inertias[j]) if j in free else (exact, pin.Inertia.Zero())
        if j in ends and added.mass < 0.0:  # Pinocchio cannot add the masses of rods to a negative mass.
            added, taken = exact, matched.inertias[j]
        plus.append(added)
        minus.append(taken)
        changed += [tree.names[j]] if j and (_weighs(added) or _weighs(taken)) else []
    # The bodies of rotors are lumped, so only the spin inertia remains.
    spinning = tuple(
        dataclasses.replace(r, inertia=None, axial_inertia=0.0 if r.name in turning or not r.spins else r.axial_inertia)
        for r in model.rotors
    )
    still = any(r.axial_inertia for r in spinning) or armature.any()
    heavy = any(getattr(c, "mass", 0.0) for c in model.closures)
    numbers = None
    if changed or still or heavy:
        tree.armature = armature
        for j in range(1, tree.njoints):
            tree.inertias[j] = plus[j]
        numbers = packed_numbers(model, tree, spinning)
    taken = _tree_of(tree, minus, free) if any(map(_weighs, minus)) else None
    return Difference(constant, own, numbers, taken, tuple(changed))


def _rows(model: ClusterModel) -> list[np.ndarray | None]:
    """For each rotor, return its constant ratios, shape (nv,); None if it is a body or if its ratios vary."""
    if not model.closures:
        return [r.row if r.spins else None for r in model.rotors]
    G = Run(model, {"q": np.array(Graph().inputs(0, model.nq), dtype=object)}).G
    free, rows = {*model.independent_joints, "universe"}, list[np.ndarray | None]()
    for r in model.rotors:
        row = sum((c * G[i] for i, c in r.drivers), np.zeros(model.nv, dtype=object))
        varies = any(isinstance(x, Expression) for x in row) or r.carrier not in free
        rows.append(None if varies or not r.spins else row.astype(float))
    return rows


def _lumped(model: ClusterModel) -> list[pin.Inertia]:
    """Return the inertia of each body, including the rotors on it; rotors that are lumped have no inertia left."""
    tree = model.own_tree
    inertias = [pin.Inertia(x) for x in tree.inertias]
    for r in reversed(model.rotors):  # A rotor on a rotor is added first.
        if r.joint_id is not None and r.spins:
            inertias[r.carrier_id] = inertias[r.carrier_id] + tree.jointPlacements[r.joint_id].act(inertias[r.joint_id])
            inertias[r.joint_id] = pin.Inertia.Zero()
        elif r.joint_id is None and r.inertia is not None:
            inertias[r.carrier_id] = inertias[r.carrier_id] + r.placement.act(r.inertia)
    return inertias


def _subtracted(a: pin.Inertia, b: pin.Inertia) -> tuple[pin.Inertia, pin.Inertia]:
    """Return inertias x and y with x - y = a - b; y is zero unless a - b has a moment, but almost no mass."""
    x, y = a.toDynamicParameters(), b.toDynamicParameters()
    rest = x - y
    mass, moment = max(x[0], y[0]), max(np.abs(x[4:]).max(), np.abs(y[4:]).max())
    for part, scale in ((slice(0, 1), mass), (slice(1, 4), np.sqrt(mass * moment)), (slice(4, 10), moment)):
        if np.abs(rest[part]).max() <= _ROUNDING * scale:
            rest[part] = 0.0
    if rest[1:4].any() and abs(rest[0]) < 1e-3 * mass:
        return a, b
    return _of_parameters(rest), pin.Inertia.Zero()


def _of_parameters(x: np.ndarray) -> pin.Inertia:
    """Return the inertia with ten dynamic parameters, which may be negative."""
    lever = x[1:4] / x[0] if x[0] else np.zeros(3)
    about_origin = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
    made = pin.Inertia.Zero()  # The constructor rejects inertias that are not positive.
    made.mass, made.lever = float(x[0]), lever
    made.inertia = about_origin + x[0] * pin.skew(lever) @ pin.skew(lever)
    return made


def _weighs(x: pin.Inertia) -> bool:
    return bool(x.mass or x.inertia.any())


def _tree_of(tree: pin.Model, inertias: Sequence[pin.Inertia], free: set[int]) -> ClusterModel:
    """Return the tree of the independent joints with the given inertias."""
    for j in range(1, tree.njoints):
        tree.inertias[j] = inertias[j]
    tree.armature = np.zeros(tree.nv)
    return ClusterModel(depth_first(tree, [j for j in range(1, tree.njoints) if j not in free]))
