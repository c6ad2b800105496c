"""Defines the input and the output of the functions that write tables: the robot, and the unfinished tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import in_order
from ..._support.groups import grouped
from ..._support.tables import Table
from ...kernels.tables import layout as at
from ..elements import RotorElement
from ..primitives import Primitive, primitives_of
from ..topology import Topology

# The identity and the two cyclic permutations of the axes, in the order of layout.Body.shuffle.
SHUFFLES = tuple(np.roll(np.eye(3), i, axis=0) for i in range(3))


@dataclass
class Body:
    """A body as the kernels represent it, before it is written to the tables."""

    joint: int
    primitive: Primitive
    parent: int
    last: bool
    inertia: pin.Inertia = field(default_factory=pin.Inertia.Zero)
    row: int = 0


class Robot:
    """The robot for which tables are written.

    ``spinning`` maps joint ids to the lumped rotors (spin elements) that are bodies of the tree. ``origin`` is the
    origin of the kernels' world frame; it is near the robot, because large coordinates cause rounding errors. ``align``
    contains for each joint the rotation from the kernels' frame of its body to the tree's frame.
    """

    def __init__(
        self, tree: pin.Model, inertia_tree: pin.Model, topology: Topology, rotors: Sequence[RotorElement]
    ) -> None:
        joints = range(1, tree.njoints)
        self.tree, self.inertia_tree, self.topology, self.rotors = tree, inertia_tree, topology, rotors
        self.spinning = {r.joint_id: r for r in rotors if r.spins and r.joint_id is not None}
        self.chains = {j: primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in joints}
        roots = [j for j in joints if tree.parents[j] == 0 and "FreeFlyer" not in tree.joints[j].shortname()]
        self.origin = np.array(tree.jointPlacements[roots[0]].translation) if roots else np.zeros(3)
        self.bodies: list[Body] = []
        self.body_of_joint = {0: 0}  # The last primitive of a joint moves its body.
        self.align = {0: np.eye(3)}
        self._elements = [r for r in rotors if r.spins]
        self._of_column = grouped((k, i) for i, r in enumerate(self._elements) for k in np.flatnonzero(r.row).tolist())
        self._parents = [int(p) for p in tree.parents]
        self._mass = [float(inertia.mass) for inertia in inertia_tree.inertias]
        self._reach = [0.0] * tree.njoints  # distance of each joint from the universe along its path, [m]
        for j in joints:
            self._reach[j] = self._reach[self._parents[j]] + float(np.linalg.norm(tree.jointPlacements[j].translation))
        for j in reversed(joints):  # mass of the subtree of each joint, [kg]
            self._mass[self._parents[j]] += self._mass[j]

    def add(self, joint: int, primitive: Primitive, parent: int, *, last: bool) -> Body:
        self.bodies.append(Body(joint, primitive, parent, last, row=1 + len(self.bodies)))
        return self.bodies[-1]

    def moved_by(self, columns: Iterable[int]) -> list[RotorElement]:
        return [self._elements[i] for i in sorted({i for k in columns for i in self._of_column.get(k, ())})]

    def smallest_d(self, t: int) -> float:
        """Estimate the rounding error of a cluster's joint inertia D; smaller joint inertias count as zero."""
        joints, output = self.topology.clusters[t], self.topology.outputs[t]
        mass = in_order(self._mass[j] for j in joints if self._parents[j] == output)
        reach = max(self._reach[j] for j in joints)
        return float(8.0 * np.finfo(float).eps * mass * reach * reach)


class Row:
    """An unfinished row of ``index``, with the fields of a named tuple of ``layout``; all fields are initially zero."""

    def __init__(self, kind: Any) -> None:
        vars(self).update(dict.fromkeys(kind._fields, 0))

    def __setattr__(self, name: str, value: int) -> None:
        if name not in vars(self):
            raise AttributeError(name)
        vars(self)[name] = int(value)

    def __iter__(self) -> Iterator[int]:
        return iter(vars(self).values())

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Writer(Table):
    """The unfinished tables for bodies and clusters."""

    def __init__(self, bodies: int, clusters: int) -> None:
        kinds = [at.Header] + [at.Body] * bodies + [at.Cluster] * clusters
        super().__init__(map(Row, kinds), [0.0] * ((bodies + 1) * at.BODY_PARAMS), (bodies + 1) * at.BODY_WORK)
        self.initial: dict[int, float] = {}  # offset in the workspace -> initial value; all other values are zero

    def store(self, values: np.ndarray) -> int:
        """Reserve memory in the workspace for ``values``, the initial content; return the offset."""
        flat = np.asarray(values).ravel().tolist()
        offset = self.reserve(len(flat))
        self.initial.update({offset + i: x for i, x in enumerate(flat) if x})
        return offset


def put_body(
    out: Table,
    b: int,
    p: Primitive,
    A_parent: np.ndarray,
    inertia: pin.Inertia,
    align: np.ndarray,
    origin: np.ndarray | float = 0.0,
) -> int:
    """Write the parameters of the body that p moves; return its rotation's number in ``SHUFFLES``, or 0.

    ``A_parent`` is the rotation from the parent's frame in the kernels to its frame in the tree. ``inertia`` is given
    in the body's frame in the tree. ``origin`` is the origin of the parent's frame in the kernels, [m].
    """
    rotation = A_parent.T @ p.placement.rotation @ p.align
    rotational = p.align.T @ inertia.inertia @ p.align
    for offset, values in (
        (at.ROTATION, rotation),
        (at.POSITION, A_parent.T @ (np.array(p.placement.translation) - origin)),
        (at.MASS, inertia.mass),
        (at.LEVER, p.align.T @ inertia.lever),
        (at.INERTIA, rotational[np.triu_indices(3)]),
        (at.PITCH, p.pitch),
        (at.ALIGN, align),
    ):
        out.put(b * at.BODY_PARAMS + offset, values)
    return shuffle(rotation)


def shuffle(rotation: np.ndarray) -> int:
    return next((i for i, P in enumerate(SHUFFLES, 1) if np.array_equal(rotation, P)), 0)
