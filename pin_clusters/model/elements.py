"""Defines the classes that describe the clusters and the rotors of a model to users."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import centred, in_v, joint_axis, spin_defect
from ..constraints import Belt, Gear, Motor
from ..constraints.closures import BodyClosure
from ..constraints.rows import Row
from .topology import Topology


@dataclass(frozen=True)
class Cluster:
    """A group of joints that are coupled by constraints; ``model.clusters`` contains all clusters of a model.

    Attributes:
        joints: Names of all joints of the cluster, in the order of the tree.
        independent: Names of the joints whose velocities are independent.
        dependent: Names of the dependent joints.
        output_body: Name of the joint whose body carries the cluster, or ``"universe"``.
        constraints: The constraints that couple the joints, as the user passed them.
        rotors: Names of the rotors that the joints drive (see ``model.rotors``).
        bodies: Names of the rotors that are kept as bodies, and the reason for each.

    Example:
        >>> import pin_clusters as pc
        >>> cluster = pc.load("four_bar").clusters[0]
        >>> cluster.independent, cluster.dependent
        (('crank',), ('coupler', 'rocker'))
    """

    joints: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    output_body: str
    constraints: tuple[Any, ...]
    rotors: tuple[str, ...]
    bodies: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        text = f"{' + '.join(self.independent) or '-'}"
        if self.dependent:
            text += f" -> {', '.join(self.dependent)}"
        text += f"   (on {self.output_body})"
        spinning = [r for r in self.rotors if r not in dict(self.bodies)]
        if spinning:
            text += f"   spin: {', '.join(spinning)}"
        for name, reason in self.bodies:
            text += f"   body: {name}, {reason}"
        return text


@dataclass(frozen=True, eq=False)
class RotorElement:
    """A rotor in ``model.rotors``: either a ``Rotor`` constraint or a driven leaf body of the tree.

    A leaf body that follows other joints is a rotor under two conditions. First, its axis passes near its centre of
    mass: m d^2, where d is their distance, is at most half of its inertia about the axis. Second, a ``Gear`` or
    ``Belt`` drives it, or it turns faster than the joints that drive it. Other leaf bodies are links, such as fingers.

    Attributes:
        name: Name of the ``Rotor``, or of the joint of the leaf body.
        carrier: Name of the joint whose body carries the rotor, or ``"universe"``.
        carrier_id: Joint id of the carrier.
        row: Row of G, shape (nv,). The spin speed relative to the carrier is ``row @ v``, [rad/s]. With closed loops,
            this row is valid only at the reference pose.
        drivers: Pairs ``(index in the tree's v, ratio)``. At any pose, the spin speed is the sum of the ratios times
            these entries of the tree's velocity.
        axial_inertia: Inertia about the spin axis, [kg m^2].
        axis: Unit spin axis in the carrier's joint frame, shape (3,).
        placement: Placement of the rotor frame in the carrier's joint frame, at rotor angle 0, [m].
        inertia: Inertia in the rotor frame, [kg], [m] and [kg m^2]; None if the carrier's link includes it.
        joint_id: Joint id of a rotor that is a body of the tree; None for a ``Rotor``.
        spins: Whether the rotor is lumped into its carrier (spin element). Otherwise it is kept as a body, which is
            exact but slower.
        reason: Why the rotor is kept as a body.
        source: The ``Rotor`` constraint; None for a body of the tree.
        driven: Whether this is the rotor of a motor, not a gear stage. For a ``Rotor``, this is its argument
            ``driven``. If several bodies of the tree always turn together, the fastest body is the motor's rotor,
            unless it only follows rotors that have a ``Motor``.
        motor: The ``Motor`` on this rotor, or None.

    Example:
        >>> import pin_clusters as pc
        >>> rotor = pc.load("mit_humanoid_leg").rotors[0]
        >>> rotor.name, rotor.carrier, rotor.spins
        ('ankle_rotor', 'hip_ry', True)
    """

    name: str
    carrier: str
    carrier_id: int
    row: np.ndarray
    drivers: tuple[tuple[int, float], ...]
    axial_inertia: float
    axis: np.ndarray
    placement: pin.SE3
    inertia: pin.Inertia | None
    joint_id: int | None
    spins: bool
    reason: str
    source: Any
    driven: bool
    motor: Motor | None = None

    def __str__(self) -> str:
        kind = "spin element" if self.spins else f"body ({self.reason})"
        ratios = " ".join(f"{g:+g} v[{i}]" for i, g in enumerate(self.row) if g)
        return f"{self.name}: on {self.carrier}, speed {ratios or '0'}, axial inertia {self.axial_inertia:g}, {kind}"


def find_rotors(tree: pin.Model, topology: Topology, links: bool = False) -> tuple[RotorElement, ...]:
    """Return driven leaf bodies in joint order, then ``Rotor`` constraints; include driven links only if ``links``."""
    G = topology.G
    followers = {row.dependent: row for row in topology.substituted}
    parents = {int(p) for p in list(tree.parents)[1:]}
    carriers = {r.carrier for r in topology.rotors}
    leaves = [j for j in sorted({*followers, *_beside_loops(topology)}) if j not in parents and j not in carriers]
    turning = {j for j in leaves if j in followers and _as_rotor(tree, followers[j])}
    slower, elements = _stages(followers, turning), []
    for j in leaves:
        joint = tree.joints[j]
        if joint.nv != 1 or not (links or j in turning or j not in followers):
            continue
        axis = joint_axis(joint)
        assert axis is not None
        inertia, placement, parent = tree.inertias[j], tree.jointPlacements[j], tree.parents[j]
        turns = any(s in joint.shortname() for s in ("JointModelR", "JointModelRevolute"))
        reason = spin_defect(inertia, axis) if turns else f"its joint is a {joint.shortname()}, not a revolute joint"
        if reason and j not in followers:
            continue  # a link of a differential, not a rotor
        drivers: tuple[tuple[int, float], ...] = ((joint.idx_v, 1.0),)
        if j in followers:
            row = followers[j]
            drivers = tuple((tree.joints[m].idx_v, c) for m, c in row.terms)
        elements.append(
            RotorElement(
                tree.names[j],
                tree.names[parent],
                parent,
                G[joint.idx_v].copy(),
                drivers,
                float(axis @ inertia.inertia @ axis),
                placement.rotation @ axis,
                placement,
                inertia,
                j,
                not reason,
                reason,
                None,
                j not in slower,
            )
        )
    for r in topology.rotors:
        drivers = tuple((tree.joints[j].idx_v, ratio) for j, ratio in zip(r.joints, r.ratios, strict=True))
        g = sum((ratio * G[iv] for iv, ratio in drivers), np.zeros(G.shape[1]))
        elements.append(
            RotorElement(
                r.name, tree.names[r.carrier], r.carrier, g, drivers, r.axial_inertia, r.axis, r.placement, r.inertia,
                None, True, "", r.source, r.source.driven,
            )
        )  # fmt: skip
    return tuple(elements)


def _as_rotor(tree: pin.Model, row: Row) -> bool:
    stated = isinstance(row.source, (Gear, Belt)) or sum(map(abs, row.coefficients)) > 1.0
    return stated and centred(tree, row.dependent)


def _stages(followers: dict[int, Row], turning: set[int]) -> set[int]:
    """Return the gear stages: rotors that turn at a constant fraction of a faster rotor's speed."""
    speeds, groups = dict[int, dict[int, float]](), dict[tuple[int, ...], list[tuple[int, np.ndarray]]]()
    for j, row in followers.items():  # independent joints come before the joints that follow them
        speed = speeds[j] = dict[int, float]()
        for m, c in row.terms:
            for k, x in speeds.get(m, {m: 1.0}).items():
                speed[k] = speed.get(k, 0.0) + c * x
        if j in turning:
            groups.setdefault(tuple(sorted(speed)), []).append((j, np.array([speed[k] for k in sorted(speed)])))
    pairs = ((j, x, y) for group in groups.values() for j, x in group for _, y in group)
    return {
        j
        for j, x, y in pairs
        if x @ x < (1.0 - 1e-9) * abs(x @ y) and (x @ y) ** 2 >= (1.0 - 1e-12) * (x @ x) * (y @ y)
    }


def _beside_loops(topology: Topology) -> set[int]:
    """In clusters with loops, return joints whose bodies have no ``BodyClosure``, such as motors of differentials."""
    joints: set[int] = set()
    for loop in topology.analyses:
        moved = {j for c in loop.closures if isinstance(c, BodyClosure) for j in c.bodies}
        joints |= set(loop.joints) - moved
    return joints


def describe(
    tree: pin.Model, topology: Topology, constraints: tuple[Any, ...], rotors: tuple[RotorElement, ...]
) -> tuple[Cluster, ...]:
    column = {int(iv): i for i, iv in enumerate(topology.independent)}
    followers = {j for j in range(1, tree.njoints) if tree.idx_vs[j] not in column}
    bodies: dict[int, RotorElement] = {r.joint_id: r for r in rotors if r.joint_id is not None}
    moved: dict[int, list[int]] = {}  # column of G -> indices of the rotors that it moves, except bodies of the tree
    for i, r in enumerate(rotors):
        for iv in np.flatnonzero(r.row).tolist() if r.joint_id is None else ():
            moved.setdefault(iv, []).append(i)
    clusters = []
    for joints, output, members in zip(topology.clusters, topology.outputs, topology.members, strict=True):
        columns = {column[iv] for j in joints for iv in in_v(tree, j) if iv in column}
        driven = [bodies[j] for j in sorted(joints) if j in bodies]
        driven += [rotors[i] for i in sorted({i for iv in columns for i in moved.get(iv, ())})]
        clusters.append(
            Cluster(
                tuple(tree.names[j] for j in joints),
                tuple(tree.names[j] for j in joints if j not in followers),
                tuple(tree.names[j] for j in joints if j in followers),
                tree.names[output],
                tuple(constraints[i] for i in members),
                tuple(r.name for r in driven),
                tuple((r.name, r.reason) for r in driven if not r.spins),
            )
        )
    return tuple(clusters)
