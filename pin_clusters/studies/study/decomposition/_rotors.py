"""Compute each effect of spinning rotors as torques of the expanded tree, which has a joint for each rotor.

A rotor with axial inertia J and axis s turns at Omega = g v relative to its carrier c. The carrier has the
angular velocity w_c and the angular acceleration alpha_c. Compared with a locked rotor, the spin adds

- the torques ``J (g a + gdot v)`` and ``J s . alpha_c`` on the rotor's joint
- the moments ``J s (g a + gdot v)`` and ``w_c x J s Omega`` on the carrier

Any unbalanced or asymmetric part of the inertia adds its own Newton-Euler force.
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
"""Names of the terms that ``spin_terms`` returns; the reflected inertia is computed separately."""


@dataclass(frozen=True, eq=False)
class SpinningBody:
    joint: int  # joint id in the expanded tree
    row: int  # index of the joint's velocity in the tree velocity
    carrier: int  # joint id of the carrier in the expanded tree
    axial: float  # axial inertia J of the symmetric part; 0 for a prismatic dependent joint
    reflected: float  # inertia about the joint axis: ``S' I S`` plus the joint's armature
    deviation: np.ndarray | None  # inertia minus its symmetric part, in the joint's frame, (6, 6); None if symmetric
    own: float  # ``S' deviation S``, which ``reflected`` already contains
    placement: pin.SE3  # placement of the joint frame in the carrier's frame at angle 0
    locked: np.ndarray | None  # inertia in the carrier's frame at angle 0, (6, 6); None if the carrier includes it


@dataclass(frozen=True, eq=False)
class Spin:
    G: np.ndarray  # coupling Jacobian: maps independent to tree velocities, (tree.nv, nv) or (N, tree.nv, nv)
    motion: Motion  # kinematics at the tree velocity
    driven: np.ndarray  # tree acceleration due to the independent accelerations, shape (N, tree.nv)
    bias: np.ndarray  # velocity-dependent tree acceleration, shape (N, tree.nv)


def spinning_bodies(model: ClusterModel, span: SpanningTree) -> list[SpinningBody]:
    return [_body(model, span, r, j) for r, j in zip(locked(model), rotor_ids(locked(model), span), strict=True)]


def _body(model: ClusterModel, span: SpanningTree, r: RotorElement, joint: int) -> SpinningBody:
    carrier, row = int(span.from_tree_id[r.carrier_id]), int(span.tree.joints[joint].idx_v)
    locked = None if r.inertia is None or not carrier else r.placement.act(r.inertia).matrix()
    axial = reflected = r.axial_inertia
    deviation, own_deviation = None, 0.0
    if r.joint_id is not None and r.inertia is not None:
        S = joint_subspace(model.tree.joints[r.joint_id])
        assert S is not None  # a rotor's joint has one degree of freedom
        inertia = np.asarray(r.inertia.matrix())
        axial = float(S @ inertia @ S)
        reflected = axial + float(model.inertia_tree.armature[model.tree.joints[r.joint_id].idx_v])
        if not r.spins and np.any(S[:3]):  # a prismatic joint has no spin axis
            axial, deviation, own_deviation = 0.0, inertia, axial
        elif not r.spins:
            deviation = inertia - _symmetric(r.inertia, S[3:])
    return SpinningBody(joint, row, carrier, axial, reflected, deviation, own_deviation, r.placement, locked)


def _symmetric(inertia: pin.Inertia, axis: np.ndarray) -> np.ndarray:
    """Return the balanced, axisymmetric part of an inertia about an axis through the origin, shape (6, 6)."""
    full = np.asarray(inertia.matrix())
    about = full[3:, 3:]  # rotational inertia about the origin of the joint
    axial = float(axis @ about @ axis)
    across = 0.5 * (float(np.trace(about)) - axial)  # arbitrary value that cancels between spinning and locked rotors
    first_moment = pin.skew(inertia.mass * float(axis @ inertia.lever) * axis)
    symmetric = np.zeros((6, 6))
    symmetric[:3, :3] = inertia.mass * np.eye(3)
    symmetric[:3, 3:], symmetric[3:, :3] = -first_moment, first_moment
    symmetric[3:, 3:] = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
    return symmetric


def placements_needed(bodies: list[SpinningBody], drop_rotors: bool) -> set[int]:
    joint_ids = {j for b in bodies if b.deviation is not None for j in (b.joint, b.carrier) if j}
    return joint_ids | ({b.carrier for b in bodies if b.locked is not None} if drop_rotors else set())


def reflected_matrix(bodies: list[SpinningBody], G: np.ndarray) -> np.ndarray:
    """Compute the reflected inertia ``sum_r J_r g_r' g_r``, shape (nv, nv) or (N, nv, nv)."""
    rows = G[..., [b.row for b in bodies], :]
    return np.asarray(transposed(rows) @ (np.array([b.reflected for b in bodies])[:, None] * rows))


def spin_terms(bodies: list[SpinningBody], spin: Spin) -> dict[str, np.ndarray]:
    """Compute the terms of ``TERMS`` as torques of the expanded tree, each of shape (N, tree.nv)."""
    motion = spin.motion
    torques = {name: np.zeros_like(motion.v) for name in TERMS}
    a = spin.driven + spin.bias
    for b in bodies:
        driven, bias = spin.driven[:, b.row], spin.bias[:, b.row]
        torques["coupling rate"][:, b.row] += b.reflected * bias
        if b.deviation is not None:
            torques["asymmetric rotors"] += motion.wrench(b.joint, b.deviation, a)
            torques["asymmetric rotors"][:, b.row] -= b.own * a[:, b.row]
            if b.carrier:
                locked_deviation = b.placement.toDualActionMatrix() @ b.deviation @ b.placement.toActionMatrixInverse()
                torques["asymmetric rotors"] -= motion.wrench(b.carrier, locked_deviation, a)
        if not b.axial or not b.carrier:
            continue
        axis = motion.J[:, 3:, b.row]
        w, alpha = motion.turning(b.carrier, a)
        momentum = b.axial * axis
        torques["carrier on joint"][:, b.row] += b.axial * np.einsum("ni,ni->n", axis, alpha)
        torques["spin on carrier"] += motion.moment(b.carrier, momentum * driven[:, None])
        torques["gyroscopic"] += motion.moment(b.carrier, np.cross(w, momentum * motion.v[:, b.row, None]))
        torques["coupling rate"] += motion.moment(b.carrier, momentum * bias[:, None])
    return torques


def rotor_mass(bodies: list[SpinningBody], spin: Spin) -> np.ndarray:
    """Compute the tree torques, (N, tree.nv), that accelerate the masses of rotors locked at angle 0."""
    total: defaultdict[int, np.ndarray] = defaultdict(lambda: np.zeros((6, 6)))
    for b in bodies:
        if b.locked is not None:
            total[b.carrier] += b.locked
    tau, a = np.zeros_like(spin.motion.v), spin.driven + spin.bias
    for carrier, inertia in total.items():
        tau += spin.motion.wrench(carrier, inertia, a)
    return tau
