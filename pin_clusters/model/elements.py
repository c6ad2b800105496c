"""What a model is made of: clusters and rotors, as users see them."""

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
    """Joints that move together.

    Attributes:
        joints: Names of all its joints, in the tree's order.
        independent: Names of the joints whose velocities are independent.
        dependent: Names of the joints that follow.
        output_body: Name of the joint that moves the body from which the cluster hangs, or ``"universe"``.
        constraints: The user's constraints that tie it.
        rotors: Names of the rotors it drives (see ``model.rotors``).
        bodies: Names of rotors that stay bodies, with the reason.
    """

    joints: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    output_body: str
    constraints: tuple[Any, ...]
    rotors: tuple[str, ...]
    bodies: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """One line: what leads, what follows, on which body."""
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
    """A driven rotor: a ``Rotor`` constraint, or a driven leaf body of the tree that is no finger or other link.

    A leaf that follows other joints is a rotor if it turns about an axis near its centre of mass (m d^2 is at most half
    of its inertia about the axis), and faster than what drives it or as a ``Gear`` or ``Belt`` states it.

    Attributes:
        name: Name of the rotor, or of its joint.
        carrier: Name of the joint that moves its carrier, or ``"universe"``.
        carrier_id: Joint id of the carrier.
        row: Row of G, shape (nv,): spin speed relative to the carrier = ``row @ v``; with closed loops at the
            reference pose.
        drivers: ``(index in the tree's v, ratio)``: the same speed from velocities of the tree, at any pose.
        axial_inertia: About the spin axis, [kg m^2].
        axis: Unit spin axis in the carrier's joint frame, shape (3,).
        placement: Rotor frame in the carrier's joint frame, at rotor angle 0.
        inertia: In the rotor frame; None if it is in the carrier's link already.
        joint_id: Joint id of a rotor that is a body of the tree, None for a ``Rotor``.
        spins: Whether it is compiled to a spin element; otherwise it stays a body (exact, slower).
        reason: Why it does not spin.
        source: The ``Rotor`` constraint, None for a body of the tree.
        driven: Whether it is the rotor of a motor, and no further stage of its gear: as the ``Rotor`` says, and of
            bodies of the tree that always turn together the fastest. A body that only follows rotors with a ``Motor``
            is none.
        motor: The motor that is stated on it, or None.
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
        """One line: carrier, speed, inertia."""
        kind = "spin element" if self.spins else f"body ({self.reason})"
        ratios = " ".join(f"{g:+g} v[{i}]" for i, g in enumerate(self.row) if g)
        return f"{self.name}: on {self.carrier}, speed {ratios or '0'}, axial inertia {self.axial_inertia:g}, {kind}"


def find_rotors(tree: pin.Model, topology: Topology, links: bool = False) -> tuple[RotorElement, ...]:
    """List the rotors of a model: driven leaf bodies of the tree in joint order, then ``Rotor`` constraints.

    With ``links`` the leaves that follow as links do are among them.
    """
    G = topology.G
    followers = {row.dependent: row for row in topology.substituted}
    parents = {int(p) for p in list(tree.parents)[1:]}
    carriers = {r.carrier for r in topology.rotors}
    leaves = [j for j in sorted({*followers, *_beside_loops(topology)}) if j not in parents and j not in carriers]
    turning = {j for j in leaves if j in followers and _as_rotor(tree, followers[j])}
    slower, found = _stages(followers, turning), []
    for j in leaves:
        joint = tree.joints[j]
        if joint.nv != 1 or not (links or j in turning or j not in followers):
            continue
        axis = joint_axis(joint)
        assert axis is not None
        inertia, placement, parent = tree.inertias[j], tree.jointPlacements[j], tree.parents[j]
        turns = any(s in joint.shortname() for s in ("JointModelR", "JointModelRevolute"))
        reason = spin_defect(inertia, axis) if turns else f"its joint is a {joint.shortname()}, not a revolute one"
        if reason and j not in followers:
            continue  # a link of a differential, not a rotor
        drivers: tuple[tuple[int, float], ...] = ((joint.idx_v, 1.0),)
        if j in followers:
            row = followers[j]
            drivers = tuple((tree.joints[m].idx_v, c) for m, c in row.terms)
        found.append(
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
        found.append(
            RotorElement(
                r.name, tree.names[r.carrier], r.carrier, g, drivers, r.axial_inertia, r.axis, r.placement, r.inertia,
                None, True, "", r.source, r.source.driven,
            )
        )  # fmt: skip
    return tuple(found)


def _as_rotor(tree: pin.Model, row: Row) -> bool:
    """Whether what follows turns as a rotor does, not as a link."""
    stated = isinstance(row.source, (Gear, Belt)) or sum(map(abs, row.coefficients)) > 1.0
    return stated and centred(tree, row.dependent)


def _stages(followers: dict[int, Row], turning: set[int]) -> set[int]:
    """Return the rotors of which a faster one is a constant multiple: further stages of its gear."""
    speeds, groups = dict[int, dict[int, float]](), dict[tuple[int, ...], list[tuple[int, np.ndarray]]]()
    for j, row in followers.items():  # masters come before dependents
        own = speeds[j] = dict[int, float]()
        for m, c in row.terms:
            for k, x in speeds.get(m, {m: 1.0}).items():
                own[k] = own.get(k, 0.0) + c * x
        if j in turning:
            groups.setdefault(tuple(sorted(own)), []).append((j, np.array([own[k] for k in sorted(own)])))
    pairs = ((j, x, y) for group in groups.values() for j, x in group for _, y in group)
    return {
        j
        for j, x, y in pairs
        if x @ x < (1.0 - 1e-9) * abs(x @ y) and (x @ y) ** 2 >= (1.0 - 1e-12) * (x @ x) * (y @ y)
    }


def _beside_loops(topology: Topology) -> set[int]:
    """Joints of clusters with closures that no closure of bodies moves: motors of differentials, for example."""
    found: set[int] = set()
    for loop in topology.analyses:
        tied = {j for c in loop.closures if isinstance(c, BodyClosure) for j in c.bodies}
        found |= set(loop.joints) - tied
    return found


def describe(
    tree: pin.Model, topology: Topology, constraints: tuple[Any, ...], rotors: tuple[RotorElement, ...]
) -> tuple[Cluster, ...]:
    """Turn the clusters' joint ids into names."""
    column = {int(at): i for i, at in enumerate(topology.independent)}
    followers = {j for j in range(1, tree.njoints) if tree.idx_vs[j] not in column}
    bodies: dict[int, RotorElement] = {r.joint_id: r for r in rotors if r.joint_id is not None}
    moved: dict[int, list[int]] = {}  # rotors that are no bodies, by the column that moves them
    for i, r in enumerate(rotors):
        for at in np.flatnonzero(r.row).tolist() if r.joint_id is None else ():
            moved.setdefault(at, []).append(i)
    found = []
    for joints, output, members in zip(topology.clusters, topology.outputs, topology.members, strict=True):
        columns = {column[at] for j in joints for at in in_v(tree, j) if at in column}
        own = [bodies[j] for j in sorted(joints) if j in bodies]
        own += [rotors[i] for i in sorted({i for at in columns for i in moved.get(at, ())})]
        found.append(
            Cluster(
                tuple(tree.names[j] for j in joints),
                tuple(tree.names[j] for j in joints if j not in followers),
                tuple(tree.names[j] for j in joints if j in followers),
                tree.names[output],
                tuple(constraints[i] for i in members),
                tuple(r.name for r in own),
                tuple((r.name, r.reason) for r in own if not r.spins),
            )
        )
    return tuple(found)
