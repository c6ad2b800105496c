"""Possible contacts at a pose: their positions, gaps and Jacobian rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...algorithms._shared import bridge as _bridge
from ...errors import SimulationError
from ...model import ClusterModel
from .._coordinates import Coordinates
from .plane import Ground
from .points import ContactPoints
from .shapes import Shapes

_NONE = 1e300
"""Bounds above this value, such as Pinocchio's largest number, count as unlimited."""
FAR = 1e3
"""A length [m] that exceeds every distance."""
SLOP = 1e-9
"""Penetration [m] or [rad] above which a step is corrected."""
PUTS = 4
"""Maximum number of corrections in a step."""
SPEED = 50.0
"""Contacts that cannot close within a step at this closing speed [m/s] are ignored."""
SLACK = 1.0
"""Contacts that open faster than this speed [m/s] are left out of the system of equations and checked afterwards."""
LATE = 1e-7
"""A contact that was left out is added to the system if it closes faster than this speed [m/s]."""
_BELOW = 1e-4
"""Initial penetration [m] or [rad] above which an error is raised; smaller penetrations are corrected."""


class Stops:
    """The stops (position limits) of joints with one degree of freedom.

    Attributes:
        columns: Index of each joint in the tree velocity, shape (n,).
        sides: 1 for a lower limit, -1 for an upper limit.
        names: Names of the stops, such as ``"knee > -1.2"``.
        table: For each stop: the index in q, the side, and the index of the independent velocity that moves the joint
            (-1 if several velocities move the joint).
        bounds: Offsets of the stops, [rad] or [m]. The distance from a stop is ``side * q - bound``.
        rates: Derivative of the rate of each distance with respect to the independent velocity in ``table``.
    """

    def __init__(self, model: ClusterModel, *, any_end: bool = True) -> None:
        tree, rows, self.names = model.own_tree, [], list[str]()
        for j in range(1, tree.njoints if any_end else 0):
            joint = tree.joints[j]
            if joint.nq == joint.nv == 1:
                i = joint.idx_q
                for side, bound in ((1.0, tree.lowerPositionLimit[i]), (-1.0, tree.upperPositionLimit[i])):
                    if abs(bound) < _NONE:
                        rows.append((joint.idx_v, i, side, bound))
                        self.names.append(f"{tree.names[j]} {'>' if side > 0.0 else '<'} {bound:g}")
        table = np.array(rows).reshape(-1, 4)
        self.columns, self._at = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        self.sides, self._bounds = table[:, 2], table[:, 3]
        index_in_v = {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
        velocity_index, self.rates = np.full(len(table), -1), self.sides.copy()
        for k, column in enumerate(self.columns.tolist()):
            row = np.zeros(0) if model.closures else model.coupling_matrix[column]
            if column in index_in_v:
                velocity_index[k] = index_in_v[column]
            elif np.count_nonzero(row) == 1:
                velocity_index[k] = np.argmax(row != 0.0)
                self.rates[k] *= row[velocity_index[k]]
        self.table = np.stack([self._at, self.sides, velocity_index], axis=1).astype(np.int64)
        self.bounds = self.sides * self._bounds

    def __len__(self) -> int:
        return len(self.columns)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Compute the distance of each joint from each stop, shape (n,), [rad] or [m]."""
        return np.asarray(self.sides * (q[self._at] - self._bounds))


@dataclass(frozen=True)
class Pairs:
    """Possible contacts at a pose; ``gaps`` also contains the distances from the stops."""

    # Joint ids of the two sides of each contact, shape (n, 2); 0 is the universe, which includes the ground.
    joints: np.ndarray
    places: np.ndarray  # world positions, shape (n, 3), [m]
    axes: np.ndarray  # rows: two tangents, then the normal from side 2 to side 1, shape (n, 3, 3)
    friction: np.ndarray  # coefficients, shape (n,)
    gaps: np.ndarray  # gaps of the contacts, then distances from the stops, shape (n + stops,), [m] or [rad]
    keys: Sequence[Hashable]  # identify the same contact in the next step

    @property
    def contacts(self) -> int:
        return len(self.friction)

    @property
    def normals(self) -> np.ndarray:
        """Indices of the normal rows in ``World.rows``: contact normals, then stops."""
        n = self.contacts
        return np.concatenate([np.arange(2, 3 * n, 3), np.arange(3 * n, 2 * n + len(self.gaps))])

    @property
    def are_points(self) -> np.ndarray:
        """Mask of the contacts between points and the ground; these contacts come first and have integer keys."""
        count = sum(isinstance(key, int) for key in self.keys)
        return np.arange(len(self.gaps)) < count

    def within(self, reach: float) -> Pairs:
        """Return a copy without the contacts whose gaps exceed ``reach`` [m]."""
        n = self.contacts
        if not (self.gaps[:n] > reach).any():
            return self
        indices = np.flatnonzero(self.gaps[:n] <= reach)
        return Pairs(
            self.joints[indices],
            self.places[indices],
            self.axes[indices],
            self.friction[indices],
            np.concatenate([self.gaps[indices], self.gaps[n:]]),
            [self.keys[i] for i in indices.tolist()],
        )


class World:
    """Possible contacts of a robot with its surroundings, and the stops of its joints."""

    def __init__(
        self, model: ClusterModel, ground: Ground | None, points: ContactPoints, shapes: Shapes | None, stops: Stops
    ) -> None:
        self.ground, self.points, self.shapes, self.stops = ground, points, shapes, stops
        self.axes = None if ground is None else ground.axes
        self._joints = np.unique(points.joints).tolist()
        self._pairs = np.stack([points.joints, np.zeros_like(points.joints)], axis=1)
        n = len(points)
        self._all = range(n)
        self._friction = np.full(n, 0.0 if ground is None else ground.friction)
        self._tree, self._data = model.own_tree, model.own_tree.createData()
        bodies = {*points.joints.tolist(), *(() if shapes is None else shapes.joints)} - {0}
        self.bodies = sorted(bodies)
        self.names = tuple(model.names[j] for j in self.bodies)

    def begin(self, model: ClusterModel, q: np.ndarray) -> None:
        """Raise ``SimulationError`` if q is below the ground, inside another shape, or beyond a stop."""
        pairs = self.look(q)
        n = pairs.contacts
        low = pairs.gaps < -_BELOW
        if low[:n].any():
            i = int(np.argmin(pairs.gaps[:n]))
            on = "the ground" if not pairs.joints[i, 1] and isinstance(pairs.keys[i], int) else "another shape"
            raise SimulationError(
                f"simulate: at q0, the body of joint {model.names[int(pairs.joints[i, 0])]!r} is "
                f"{-pairs.gaps[i]:.3g} m inside {on}. Use q0 = pc.on_ground(model, q0, ground, touching)."
            )
        if low[n:].any():
            i = int(np.argmin(pairs.gaps[n:]))
            raise SimulationError(
                f"simulate: q0 violates the limit {self.stops.names[i]} by {-pairs.gaps[n + i]:.3g} rad or m. "
                "Start within the limits, or pass limits=False or limits='effort'."
            )

    def lowest(self, model: ClusterModel, q: np.ndarray) -> float:
        pairs = self.look(q, FAR)
        return float(pairs.gaps[: pairs.contacts].min(initial=np.inf))

    def look(self, q: np.ndarray, reach: float = 0.01) -> Pairs:
        """Find all contacts at a pose whose gap is at most ``reach`` [m]."""
        data, n = self._data, len(self.points)
        pin.forwardKinematics(self._tree, data, q)
        stops = self.stops.gaps(q)
        places, gaps, axes = np.zeros((n, 3)), np.zeros(n), np.zeros((n, 3, 3))
        if self.ground is not None and self.axes is not None and n:
            for j in self._joints:
                on_joint, M = self.points.joints == j, data.oMi[j]
                places[on_joint] = self.points.places[on_joint] @ M.rotation.T + M.translation
            gaps = places @ self.axes[2] - self.ground.height - self.points.radii
            places -= self.points.radii[:, None] * self.axes[2]
            axes[:] = self.axes
        pairs = Pairs(self._pairs, places, axes, self._friction, np.concatenate([gaps, stops]), self._all).within(reach)
        if self.shapes is None:
            return pairs
        shape_contacts = self.shapes.look(data, reach)
        gaps = pairs.gaps[: pairs.contacts]
        return Pairs(
            np.concatenate([pairs.joints, shape_contacts.joints]),
            np.concatenate([pairs.places, shape_contacts.places]),
            np.concatenate([pairs.axes, shape_contacts.axes]),
            np.concatenate([pairs.friction, shape_contacts.friction]),
            np.concatenate([gaps, shape_contacts.gaps, stops]),
            [*pairs.keys, *shape_contacts.keys],
        )

    def rows(self, on: Coordinates, q: np.ndarray, pairs: Pairs) -> np.ndarray:
        """Compute the Jacobian of contacts (side 1 relative to side 2) and stops, shape (3 contacts + stops, nv)."""
        nv, n, tree, data = on.model.nv, pairs.contacts, self._tree, self._data
        J = np.zeros((3 * n + len(self.stops), nv))
        on.data._supply(q)
        G = _bridge.matrix(on.model, on.data, q)
        if n:
            pin.computeJointJacobians(tree, data, q)
            for side, sign in ((0, 1.0), (1, -1.0)):
                for j in np.unique(pairs.joints[:, side]).tolist():
                    if j:
                        on_joint = np.flatnonzero(pairs.joints[:, side] == j)
                        jacobian = pin.getJointJacobian(tree, data, j, pin.LOCAL_WORLD_ALIGNED)
                        jacobian = jacobian.reshape(6, tree.nv) @ G  # Pinocchio returns a vector if tree.nv = 1
                        arms = pairs.places[on_joint] - data.oMi[j].translation
                        point_rows = jacobian[:3] - np.cross(arms[:, :, None], jacobian[None, 3:], axis=1)
                        J[: 3 * n].reshape(n, 3, nv)[on_joint] += sign * (pairs.axes[on_joint] @ point_rows)
        if len(self.stops):
            J[3 * n :] = self.stops.sides[:, None] * G[self.stops.columns]
        return J
