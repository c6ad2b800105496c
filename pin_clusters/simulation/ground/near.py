"""What may touch at a pose: where, how far it is open, and how the robot moves it."""

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
"""Pinocchio's largest number stands for no bound."""
FAR = 1e3
"""[m]: nothing is further off."""
SLOP = 1e-9
"""[m] or [rad]: what may lack, before it is put back."""
PUTS = 4
"""How often it is put back in a step."""
SPEED = 50.0
"""[m/s]: what is so far off that it would have to come faster is not looked at."""
SLACK = 1.0
"""[m/s]: contacts that stay open by more than this are left out, and looked at afterwards."""
LATE = 1e-7
"""[m/s]: what closes faster then is pushed."""
_BELOW = 1e-4
"""[m] or [rad]: what is inside by less at the start is put back; more is a mistake."""


class Stops:
    """The ends of the ranges of joints with one degree of freedom.

    Attributes:
        columns: Index in the tree's v of each joint, shape (n,).
        sides: 1 for a lower end, -1 for an upper one.
        names: ``"knee > -1.2"``, of each.
        table: Index in q, side, and the one independent velocity that moves it (-1: there is no such) of each, as
            kernels take it; bounds: room is side q - bound; rates: of the room by that velocity.
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
        place = {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
        own, self.rates = np.full(len(table), -1), self.sides.copy()
        for k, column in enumerate(self.columns.tolist()):
            row = np.zeros(0) if model.closures else model.coupling_matrix[column]
            if column in place:
                own[k] = place[column]
            elif np.count_nonzero(row) == 1:
                own[k] = np.argmax(row != 0.0)
                self.rates[k] *= row[own[k]]
        self.table = np.stack([self._at, self.sides, own], axis=1).astype(np.int64)
        self.bounds = self.sides * self._bounds

    def __len__(self) -> int:
        return len(self.columns)

    def room(self, q: np.ndarray) -> np.ndarray:
        """Return how far each joint is from each end, shape (n,), [rad] or [m]."""
        return np.asarray(self.sides * (q[self._at] - self._bounds))


@dataclass(frozen=True)
class Near:
    """Contacts at a pose, one entry each, and stops behind them."""

    joints: np.ndarray  # ids of the joints that carry its two sides; 0 is the world, of the second one the ground
    places: np.ndarray  # where they are in the world, shape (n, 3), [m]
    # two tangents and the normal, which points from the second side to the first, as rows, shape (n, 3, 3)
    axes: np.ndarray
    friction: np.ndarray  # coefficients, shape (n,)
    room: np.ndarray  # how far each is open, contacts then stops, shape (n + stops,), [m] or [rad]
    keys: Sequence[Hashable]  # what knows a contact again in the next step

    @property
    def contacts(self) -> int:
        """How many of the entries are contacts."""
        return len(self.friction)

    @property
    def normals(self) -> np.ndarray:
        """Where the row of each entry is that must not close, in the rows of ``World.rows``."""
        n = self.contacts
        return np.concatenate([np.arange(2, 3 * n, 3), np.arange(3 * n, 2 * n + len(self.room))])

    @property
    def are_points(self) -> np.ndarray:
        """Which entries are points of the robot and the ground: they come first, and are known by numbers."""
        count = sum(isinstance(key, int) for key in self.keys)
        return np.arange(len(self.room)) < count

    def within(self, reach: float) -> Near:
        """Return the same without contacts that are further open than that."""
        n = self.contacts
        if not (self.room[:n] > reach).any():
            return self
        at = np.flatnonzero(self.room[:n] <= reach)
        return Near(
            self.joints[at],
            self.places[at],
            self.axes[at],
            self.friction[at],
            np.concatenate([self.room[at], self.room[n:]]),
            [self.keys[i] for i in at.tolist()],
        )


class World:
    """All that a robot may touch, and the ends of its joints' ranges."""

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
        every = {*points.joints.tolist(), *(() if shapes is None else shapes.joints)} - {0}
        self.bodies = sorted(every)
        self.names = tuple(model.names[j] for j in self.bodies)

    def begin(self, model: ClusterModel, q: np.ndarray) -> None:
        """Refuse a start below the ground, inside of something else, or beyond a stop.

        Raises:
            SimulationError: It is.
        """
        near = self.look(q)
        n = near.contacts
        low = near.room < -_BELOW
        if low[:n].any():
            i = int(np.argmin(near.room[:n]))
            on = "the ground" if not near.joints[i, 1] and isinstance(near.keys[i], int) else "what it touches"
            raise SimulationError(
                f"simulate: q0 begins {-near.room[i]:.3g} m inside {on}, with the body of joint "
                f"{model.names[int(near.joints[i, 0])]!r}. Lift it: q0 = pc.on_ground(model, q0, ground, touching)."
            )
        if low[n:].any():
            i = int(np.argmin(near.room[n:]))
            raise SimulationError(
                f"simulate: q0 begins {-near.room[n + i]:.3g} rad or m beyond a stop: {self.stops.names[i]} does not "
                "hold. Begin inside, or pass limits=False or limits='effort'."
            )

    def lowest(self, model: ClusterModel, q: np.ndarray) -> float:
        """Return the least distance from the ground, [m]."""
        near = self.look(q, FAR)
        return float(near.room[: near.contacts].min(initial=np.inf))

    def look(self, q: np.ndarray, reach: float = 0.01) -> Near:
        """Return what may touch at a pose: what is nearer than that, [m]."""
        data, n = self._data, len(self.points)
        pin.forwardKinematics(self._tree, data, q)
        stops = self.stops.room(q)
        places, gaps, axes = np.zeros((n, 3)), np.zeros(n), np.zeros((n, 3, 3))
        if self.ground is not None and self.axes is not None and n:
            for j in self._joints:
                at, M = self.points.joints == j, data.oMi[j]
                places[at] = self.points.places[at] @ M.rotation.T + M.translation
            gaps = places @ self.axes[2] - self.ground.height - self.points.radii
            places -= self.points.radii[:, None] * self.axes[2]
            axes[:] = self.axes
        near = Near(self._pairs, places, axes, self._friction, np.concatenate([gaps, stops]), self._all).within(reach)
        if self.shapes is None:
            return near
        found = self.shapes.look(data, reach)
        gaps = near.room[: near.contacts]
        return Near(
            np.concatenate([near.joints, found.joints]),
            np.concatenate([near.places, found.places]),
            np.concatenate([near.axes, found.axes]),
            np.concatenate([near.friction, found.friction]),
            np.concatenate([gaps, found.gaps, stops]),
            [*near.keys, *found.keys],
        )

    def rows(self, on: Coordinates, q: np.ndarray, near: Near) -> np.ndarray:
        """Return the rows of all, shape (3 contacts + stops, nv): velocities of the first side beside the second."""
        nv, n, tree, data = on.model.nv, near.contacts, self._tree, self._data
        J = np.zeros((3 * n + len(self.stops), nv))
        on.data._supply(q)
        G = _bridge.matrix(on.model, on.data, q)
        if n:
            pin.computeJointJacobians(tree, data, q)
            for side, sign in ((0, 1.0), (1, -1.0)):
                for j in np.unique(near.joints[:, side]).tolist():
                    if j:
                        at = np.flatnonzero(near.joints[:, side] == j)
                        own = pin.getJointJacobian(tree, data, j, pin.LOCAL_WORLD_ALIGNED)
                        own = own.reshape(6, tree.nv) @ G  # of one freedom it is a vector
                        arms = near.places[at] - data.oMi[j].translation
                        there = own[:3] - np.cross(arms[:, :, None], own[None, 3:], axis=1)
                        J[: 3 * n].reshape(n, 3, nv)[at] += sign * (near.axes[at] @ there)
        if len(self.stops):
            J[3 * n :] = self.stops.sides[:, None] * G[self.stops.columns]
        return J
