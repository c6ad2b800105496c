"""What spinning rotors do, term by term, as torques of the expanded tree.

A rotor of axial inertia J on carrier c, axis s, turns at Omega = g v relative to it. With w_c and alpha_c the carrier's
angular velocity and acceleration, its spin adds to the locked rotor

- on its own joint    ``J (g a + gdot v)`` and ``J s . alpha_c``
- on the carrier      the moments ``J s (g a + gdot v)`` and ``w_c x J s Omega``

What of its inertia is not balanced and symmetric about the axis adds its own Newton-Euler force.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...._support.trees import joint_subspace
from ....approximations.armature import locked
from ....model import ClusterModel, RotorElement, SpanningTree, rotor_ids
from ._motion import Motion, transposed

TERMS = ("carrier on joint", "spin on carrier", "gyroscopic", "coupling rate", "asymmetric rotors")
"""What ``spin_terms`` returns, besides reflected inertia."""


@dataclass(frozen=True, eq=False)
class SpinningBody:
    """A rotor in the expanded tree."""

    joint: int  # joint id in the expanded tree
    row: int  # index of its speed in the tree's velocity
    carrier: int  # joint id of the carrier in the expanded tree
    axial: float  # J of the part that is symmetric about the axis; 0 for a dependent that slides
    reflected: float  # what its speed sees: ``S' I S`` and the armature of its joint
    # inertia less the symmetric part, in its joint's frame, (6, 6); None if it is symmetric
    deviation: np.ndarray | None
    own: float  # ``S' deviation S``, which ``reflected`` holds already
    placement: pin.SE3  # its joint frame in the carrier at angle 0
    # its inertia in the carrier's frame at angle 0, (6, 6); None if it belongs to the carrier's link
    locked: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Spin:
    """How the expanded tree moves, exactly or in an approximation."""

    # from independent to tree velocities, whose transpose collects torques: (tree.nv, nv) or (N, tree.nv, nv)
    G: np.ndarray
    motion: Motion  # kinematics at its tree velocity
    driven: np.ndarray  # tree acceleration from the independent accelerations, shape (N, tree.nv)
    bias: np.ndarray  # tree acceleration besides that, shape (N, tree.nv)


def spinning_bodies(model: ClusterModel, span: SpanningTree) -> list[SpinningBody]:
    """Return what approximations lock, in their order."""
    return [_body(model, span, r, j) for r, j in zip(locked(model), rotor_ids(locked(model), span), strict=True)]


def _body(model: ClusterModel, span: SpanningTree, r: RotorElement, joint: int) -> SpinningBody:
    carrier, row = int(span.from_tree_id[r.carrier_id]), int(span.tree.joints[joint].idx_v)
    locked = None if r.inertia is None or not carrier else r.placement.act(r.inertia).matrix()
    axial = reflected = r.axial_inertia
    deviation, own = None, 0.0
    if r.joint_id is not None and r.inertia is not None:
        S = joint_subspace(model.tree.joints[r.joint_id])
        assert S is not None  # a rotor's joint has one degree of freedom
        inertia = np.asarray(r.inertia.matrix())
        axial = float(S @ inertia @ S)
        reflected = axial + float(model.inertia_tree.armature[model.tree.joints[r.joint_id].idx_v])
        if not r.spins and np.any(S[:3]):  # it slides: nothing of it is symmetric about an axis
            axial, deviation, own = 0.0, inertia, axial
        elif not r.spins:
            deviation = inertia - _symmetric(r.inertia, S[3:])
    return SpinningBody(joint, row, carrier, axial, reflected, deviation, own, r.placement, locked)


def _symmetric(inertia: pin.Inertia, axis: np.ndarray) -> np.ndarray:
    """Return the balanced, axisymmetric part of an inertia about an axis through the origin, shape (6, 6).

    Same mass, same inertia about the axis, the mean of the transverse inertias, centre of mass moved to the axis. Of
    these only the inertia about the axis decides: the rest does the same spinning as locked.
    """
    full = np.asarray(inertia.matrix())
    about = full[3:, 3:]  # about the origin of the joint
    axial = float(axis @ about @ axis)
    across = 0.5 * (float(np.trace(about)) - axial)
    first = pin.skew(inertia.mass * float(axis @ inertia.lever) * axis)
    found = np.zeros((6, 6))
    found[:3, :3] = inertia.mass * np.eye(3)
    found[:3, 3:], found[3:, :3] = -first, first
    found[3:, 3:] = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
    return found


def placements_needed(bodies: list[SpinningBody], drop_rotors: bool) -> set[int]:
    """Return the joint ids whose placements the terms need."""
    found = {j for b in bodies if b.deviation is not None for j in (b.joint, b.carrier) if j}
    return found | ({b.carrier for b in bodies if b.locked is not None} if drop_rotors else set())


def reflected_matrix(bodies: list[SpinningBody], G: np.ndarray) -> np.ndarray:
    """Return ``sum_r J_r g_r' g_r``, shape (nv, nv) or (N, nv, nv)."""
    rows = G[..., [b.row for b in bodies], :]
    return np.asarray(transposed(rows) @ (np.array([b.reflected for b in bodies])[:, None] * rows))


def spin_terms(bodies: list[SpinningBody], spin: Spin) -> dict[str, np.ndarray]:
    """Return the terms of ``TERMS`` as torques of the expanded tree, each of shape (N, tree.nv)."""
    motion = spin.motion
    found = {name: np.zeros_like(motion.v) for name in TERMS}
    a = spin.driven + spin.bias
    for b in bodies:
        driven, bias = spin.driven[:, b.row], spin.bias[:, b.row]
        found["coupling rate"][:, b.row] += b.reflected * bias
        if b.deviation is not None:
            found["asymmetric rotors"] += motion.wrench(b.joint, b.deviation, a)
            found["asymmetric rotors"][:, b.row] -= b.own * a[:, b.row]
            if b.carrier:
                still = b.placement.toDualActionMatrix() @ b.deviation @ b.placement.toActionMatrixInverse()
                found["asymmetric rotors"] -= motion.wrench(b.carrier, still, a)
        if not b.axial or not b.carrier:
            continue
        axis = motion.J[:, 3:, b.row]
        w, alpha = motion.turning(b.carrier, a)
        momentum = b.axial * axis
        found["carrier on joint"][:, b.row] += b.axial * np.einsum("ni,ni->n", axis, alpha)
        found["spin on carrier"] += motion.moment(b.carrier, momentum * driven[:, None])
        found["gyroscopic"] += motion.moment(b.carrier, np.cross(w, momentum * motion.v[:, b.row, None]))
        found["coupling rate"] += motion.moment(b.carrier, momentum * bias[:, None])
    return found


def rotor_mass(bodies: list[SpinningBody], spin: Spin) -> np.ndarray:
    """Return the torques of the expanded tree that move the rotors, locked at angle 0; shape (N, tree.nv)."""
    total: defaultdict[int, np.ndarray] = defaultdict(lambda: np.zeros((6, 6)))
    for b in bodies:
        if b.locked is not None:
            total[b.carrier] += b.locked
    tau, a = np.zeros_like(spin.motion.v), spin.driven + spin.bias
    for carrier, inertia in total.items():
        tau += spin.motion.wrench(carrier, inertia, a)
    return tau
