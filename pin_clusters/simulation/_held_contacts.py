"""Held contacts of a simulation: rigid contacts that stay closed (the argument ``contacts`` of ``pc.simulate``)."""

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
"""Largest allowed initial contact velocity, [m/s] or [rad/s], divided by max(1, largest joint velocity)."""
_CLOSED = 1e-13
"""Gap below which a held contact is not corrected, [m] or [rad]."""


class Contacts:
    """Held contacts of a simulation.

    If a contact has neither gains nor a desired motion, its drift is corrected after each step, so it keeps its initial
    placement. For all other contacts, only the acceleration is prescribed, as in ``pc.constraintDynamics``.

    Attributes:
        rows: Number of constraint equations of all contacts.
        passive: Whether all contacts keep their initial placement, so that none of them adds energy.
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
        """Store the initial placements; raise ``SimulationError`` if the initial velocity moves a held contact."""
        forwardKinematics(model, data, q)
        self._start = [_between(data.tree, c) for c in self._models]
        rates = self._jacobian(model, data, q) @ v
        worst = self._worst(rates)
        if worst[1] > _AT_REST * max(1.0, float(np.abs(v).max(initial=0.0))):
            i, c = worst[0], self._models[worst[0]]
            raise SimulationError(
                f"simulate: contacts[{i}] (on {_joints(model, c)}) must not move, but v0 moves it at {worst[1]:.3g} "
                "m/s or rad/s. Start with the velocity after the impact: v0 = pc.impulseDynamics(model, data, q0, v0, "
                "contacts, [c.createData() for c in contacts])."
            )

    def accelerate(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Compute the acceleration; the contact forces are in ``data.lambda_c``."""
        return constraintDynamics(model, data, q, v, tau, self._models, self._datas)

    def increment(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray | None:
        """Return the increment of minimum kinetic norm that closes the held contacts, or None if they are closed."""
        open_by = self.gap(model, data, q)
        if not self._worst(open_by)[1] > _CLOSED:
            return None
        return -self._least(model, data, q, self._jacobian(model, data, q), open_by)

    def velocity(self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Project the velocity in the metric of the mass matrix, so that the held contacts do not move."""
        J = self._jacobian(model, data, q)
        return v - self._least(model, data, q, J, J @ v)

    def _least(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, J: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Compute the change of minimum kinetic norm that moves the held contacts by ``rows``; overwrite J and rows."""
        for row_slice, held in zip(self._places, self._held, strict=True):
            if not held:
                J[row_slice] = rows[row_slice] = 0.0
        A, response = delassus(model, data, q, J)
        return np.asarray(response @ solved(A, rows, None).forces)

    def gap(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
        """Compute the drift of each constraint equation since the start, shape (rows,), [m] or [rad]."""
        forwardKinematics(model, data, q)
        gaps = [np.zeros(0)]
        for c, start in zip(self._models, self._start, strict=True):
            now, R = _between(data.tree, c), (data.tree.oMi[c.joint1_id] * c.joint1_placement).rotation
            if c.type == pin.ContactType.CONTACT_3D:
                moved = start.translation - now.translation  # in world axes
                gaps.append(moved if c.reference_frame == pin.LOCAL_WORLD_ALIGNED else R.T @ moved)
            else:
                moved = -pin.log6(now * start.inverse()).vector
                if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
                    moved = turn(R, moved)
                gaps.append(moved)
        return np.concatenate(gaps)

    def residual(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> float:
        return self._worst(self.gap(model, data, q))[1]

    def _worst(self, rows: np.ndarray) -> tuple[int, float]:
        """Return the index of the held contact with the largest deviation, and this deviation."""
        contacts = zip(self._places, self._held, strict=True)
        largest = [float(np.abs(rows[row_slice]).max()) if held else 0.0 for row_slice, held in contacts]
        i = int(np.argmax(largest))
        return i, largest[i]

    def _jacobian(self, model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
        computeJointJacobians(model, data, q)
        return getConstraintsJacobian(model, data, self._models, self._datas)


def _between(tree: pin.Data, c: Any) -> pin.SE3:
    """Return the placement of side 2 relative to side 1; for point contacts, only the displacement in world axes."""
    side_1, side_2 = tree.oMi[c.joint1_id] * c.joint1_placement, tree.oMi[c.joint2_id] * c.joint2_placement
    if c.type == pin.ContactType.CONTACT_3D:
        return pin.SE3(np.eye(3), side_2.translation - side_1.translation)
    return side_1.actInv(side_2)


def _moves_by_itself(c: Any) -> bool:
    """Return whether a contact has gains or a desired motion."""
    gains = gains_of(c)
    desired = c.desired_contact_velocity.vector, c.desired_contact_acceleration.vector
    return bool(np.any(gains.Kp) or np.any(gains.Kd) or any(np.any(x) for x in desired))


def _joints(model: ClusterModel, c: Any) -> str:
    names = [model.names[j] for j in (c.joint1_id, c.joint2_id) if j]
    return " and ".join(map(repr, names)) or "the universe"
