"""The difference between the exact robot and MuJoCo's tree: rotors with constant ratios, and inertias.

The mass matrix M and the bias h are linear in the inertias. The difference Delta M = M_exact - M_tree, and the
corresponding Delta h, are therefore M and h of one robot with the exact constraints whose inertias are differences.
Rotors with constant ratios are lumped into their carriers; ``_rotors`` adds the effect of their spin.
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
        numbers: Packed parameters of the robot whose inertias are differences; None if all are zero.
        taken: A tree whose dynamics are subtracted separately, for bodies with almost equal mass but different centres
            of mass; None if there are no such bodies. An inertia cannot have a first moment without mass.
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
    for j, exact in enumerate(_lumped(model)):
        there = matched.inertias[j].toDynamicParameters() if j in free else np.zeros(10)
        added, taken = _subtracted(exact, there)
        plus.append(_of_parameters(added))
        minus.append(_of_parameters(taken))
        changed += [tree.names[j]] if j and (added.any() or taken.any()) else []
    # The bodies of rotors are lumped, so only the spin inertia remains.
    spinning = tuple(
        dataclasses.replace(r, inertia=None, axial_inertia=0.0 if r.name in turning or not r.spins else r.axial_inertia)
        for r in model.rotors
    )
    still = any(r.axial_inertia for r in spinning) or armature.any()
    numbers = None
    if changed or still or massive(model.closures):
        tree.armature = armature
        for j in range(1, tree.njoints):
            tree.inertias[j] = plus[j]
        numbers = packed_numbers(model, tree, tree, spinning)
    taken_tree = _tree_of(tree, minus, free) if any(x.mass for x in minus) else None
    return Difference(constant, own, numbers, taken_tree, tuple(changed))


def _rows(model: ClusterModel) -> list[np.ndarray | None]:
    """Return the constant ratios of each rotor, or None (body, varying ratios, or dependent carrier)."""
    if not model.closures:
        return [r.row if r.spins else None for r in model.rotors]
    G = Run(model, {"q": np.array(Graph().inputs(0, model.nq), dtype=object)}).G
    free, rows = {*model.independent_joints, "universe"}, list[np.ndarray | None]()
    for r in model.rotors:
        row = sum((c * G[i] for i, c in r.drivers), np.zeros(model.nv, dtype=object))
        varies = any(isinstance(x, Expression) for x in row) or r.carrier not in free
        rows.append(None if varies or not r.spins else row.astype(float))
    return rows


def _lumped(model: ClusterModel) -> list[np.ndarray]:
    """Return the dynamic parameters of each body, with its rotors and the masses at the ends of its rods.

    Pinocchio cannot add inertias if a mass is negative, so the parameters are added.
    """
    tree = model.own_tree
    bodies = [x.toDynamicParameters() for x in tree.inertias]
    for r in reversed(model.rotors):  # A rotor on a rotor is added first.
        if r.joint_id is not None and r.spins:
            rotor = _of_parameters(bodies[r.joint_id])
            bodies[r.carrier_id] += tree.jointPlacements[r.joint_id].act(rotor).toDynamicParameters()
            bodies[r.joint_id] = np.zeros(10)
        elif r.joint_id is None and r.inertia is not None:
            bodies[r.carrier_id] += r.placement.act(r.inertia).toDynamicParameters()
    for rod in massive(model.closures):
        for j, (x, y, z), m in rod.masses_of_ends:
            about = [y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
            bodies[j] += m * np.array([1.0, x, y, z, *about])
    return bodies


def _subtracted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (x - y, 0), or (x, y) if x - y has a first moment but almost no mass."""
    rest = x - y
    mass, moment = max(x[0], y[0]), max(np.abs(x[4:]).max(), np.abs(y[4:]).max())
    for part, scale in ((slice(0, 1), mass), (slice(1, 4), np.sqrt(mass * moment)), (slice(4, 10), moment)):
        if np.abs(rest[part]).max() <= _ROUNDING * scale:
            rest[part] = 0.0
    return (x, y) if rest[1:4].any() and abs(rest[0]) < 1e-3 * mass else (rest, np.zeros(10))


def _of_parameters(x: np.ndarray) -> pin.Inertia:
    """Return the inertia with ten dynamic parameters, which may be negative."""
    lever = x[1:4] / x[0] if x[0] else np.zeros(3)
    about_origin = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
    made = pin.Inertia.Zero()  # The constructor rejects inertias that are not positive.
    made.mass, made.lever = float(x[0]), lever
    made.inertia = about_origin + x[0] * pin.skew(lever) @ pin.skew(lever)
    return made


def _tree_of(tree: pin.Model, inertias: Sequence[pin.Inertia], free: set[int]) -> ClusterModel:
    """Return the tree of the independent joints with the given inertias."""
    for j in range(1, tree.njoints):
        tree.inertias[j] = inertias[j]
    tree.armature = np.zeros(tree.nv)
    return ClusterModel(depth_first(tree, [j for j in range(1, tree.njoints) if j not in free]))
