"""Contacts that a simulation keeps closed."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from ..algorithms.contacts._forces import solved
from ..algorithms.contacts._objects import delassus, models_of, size, turn
from ..algorithms.contacts.contacts import constraintDynamics, getConstraintsJacobian
from ..algorithms.kinematics.jacobians import computeJointJacobians
from ..algorithms.kinematics.kinematics import forwardKinematics
from ..errors import ArgumentTypeError, SimulationError
from ..model import ClusterData, ClusterModel
from ..model.contact_memory import gains_of

_AT_REST = 1e-6
"""[m/s] or [rad/s], beside the largest joint velocity: what moves faster at the start is no contact, but an impact."""
_CLOSED = 1e-13
"""[m] or [rad]."""


class Contacts:
    """Some contacts, as a simulation uses them.

    A contact without gains and desired motion is held where it is at the start: its sides are brought back there after
    each step, so that nothing drifts. Of others only the acceleration is prescribed, as by ``pc.constraintDynamics``.

    Attributes:
        rows: How many rows they have together.
        passive: Whether all are held, so that no energy comes from them.
    """

    def __init__(self, model: ClusterModel, given: Any) -> None:
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise ArgumentTypeError(
                f"simulate: contacts must be a list of pin.RigidConstraintModel, got {type(given).__name__}."
            )
        self._models = models_of(model, given)
        self._datas = [c.createData() for c in self._models]
        ends = np.cumsum([0, *(size(c) for c in self._models)]).tolist()
        self.rows, self._places = ends[-1], [slice(*pair) for pair in pairwise(ends)]
        self._held = [not _moves_by_itself(c) for c in self._models]
        self.passive = all(self._held)
        self._start: list[pin.SE3] = []

    def begin(self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> None:
        """Note where the contacts are at the start.

        Raises:
            SimulationError: The velocity opens one that is to be held.
        """
        forwardKinematics(model, data, q)
        self._start = [_between(data.tree, c) for c in self._models]
        rates = self._jacobian(model, data, q) @ v
        worst = self._worst(rates)
        if worst[1] > _AT_REST * max(1.0, float(np.abs(v).max(initial=0.0))):
            i, c = worst[0], self._models[worst[0]]
            raise SimulationError(
                f"simulate: contacts[{i}] (on {_joints(model, c)}) is to be held, but v0 moves it at {worst[1]:.3g} "
                "m/s or rad/s. Begin with the velocity after the impact: v0 = pc.impulseDynamics(model, data, q0, v0, "
                "contacts, [c.createData() for c in contacts])."
            )

    def accelerate(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Return the acceleration; forces are in ``data.lambda_c``."""
        return constraintDynamics(model, data, q, v, tau, self._models, self._datas)

    def increment(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray | None:
        """Return the increment that brings the held contacts back; None if they are where they are to be.

        With the least change, in the metric of the mass matrix; so has the velocity below.
        """
        open_by = self.gap(model, data, q)
        if not self._worst(open_by)[1] > _CLOSED:
            return None
        return -self._least(model, data, q, self._jacobian(model, data, q), open_by)

    def velocity(self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the velocity that leaves the held contacts where they are."""
        J = self._jacobian(model, data, q)
        return v - self._least(model, data, q, J, J @ v)

    def _least(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, J: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the least change that moves the rows of held contacts by that much; changes J and rows."""
        for place, held in zip(self._places, self._held, strict=True):
            if not held:
                J[place] = rows[place] = 0.0
        A, response = delassus(model, data, q, J)
        return np.asarray(response @ solved(A, rows, None).forces)

    def gap(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
        """Return by how much each row has moved since the start, [m] or [rad]; shape (rows,)."""
        forwardKinematics(model, data, q)
        found = [np.zeros(0)]
        for c, start in zip(self._models, self._start, strict=True):
            now, R = _between(data.tree, c), (data.tree.oMi[c.joint1_id] * c.joint1_placement).rotation
            if c.type == pin.ContactType.CONTACT_3D:
                moved = start.translation - now.translation  # in axes of the world
                found.append(moved if c.reference_frame == pin.LOCAL_WORLD_ALIGNED else R.T @ moved)
            else:
                moved = -pin.log6(now * start.inverse()).vector
                if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
                    moved = turn(R, moved)
                found.append(moved)
        return np.concatenate(found)

    def residual(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> float:
        """Return the largest gap of what is held."""
        return self._worst(self.gap(model, data, q))[1]

    def _worst(self, rows: np.ndarray) -> tuple[int, float]:
        """Return which of the held contacts has the largest entry, and that."""
        own = zip(self._places, self._held, strict=True)
        largest = [float(np.abs(rows[place]).max()) if held else 0.0 for place, held in own]
        i = int(np.argmax(largest))
        return i, largest[i]

    def _jacobian(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
        computeJointJacobians(model, data, q)
        return getConstraintsJacobian(model, data, self._models, self._datas)


def _between(tree: pin.Data, c: Any) -> pin.SE3:
    """Return the second side seen from the first one; of points the way from one to the other, in axes of the world."""
    one, two = tree.oMi[c.joint1_id] * c.joint1_placement, tree.oMi[c.joint2_id] * c.joint2_placement
    if c.type == pin.ContactType.CONTACT_3D:
        return pin.SE3(np.eye(3), two.translation - one.translation)
    return one.actInv(two)


def _moves_by_itself(c: Any) -> bool:
    """Whether a contact has gains or a desired motion."""
    gains = gains_of(c)
    wanted = c.desired_contact_velocity.vector, c.desired_contact_acceleration.vector
    return bool(np.any(gains.Kp) or np.any(gains.Kd) or any(np.any(x) for x in wanted))


def _joints(model: ClusterModel, c: Any) -> str:
    names = [model.names[j] for j in (c.joint1_id, c.joint2_id) if j]
    return " and ".join(map(repr, names)) or "the universe"
