"""Independent joints of a simulation: the user's choice or, near a singularity of this choice, other joints.

Let w be the velocity of other independent joints, and G w the velocity of all tree joints. T contains the rows of G for
the user's independent joints. Then the user's velocity is v = T w, and the user's torques tau correspond to torques T'
tau of the other joints. In singular configurations of the user's joints, w still determines the motion.
"""

import math
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..algorithms._shared import bridge as _bridge
from ..algorithms.dynamics.aba import aba
from ..algorithms.dynamics.energy import computeMechanicalEnergy
from ..algorithms.dynamics.with_independent import with_independent
from ..errors import ConstraintError, PinClustersWarning, SingularClusterError
from ..model import ClusterData, ClusterModel, cluster_at, loops_of, names_of_cluster, regular_independents
from ..model.configuration import integrate
from ._forces import Forces
from ._groups import Part, groups_of
from ._held_contacts import Contacts

LIMIT = 10.0
"""Limit of the bound on a cluster's condition number, per dependent joint; above it, other coordinates are tried."""
GAIN = 4.0
"""Factor by which other coordinates must reduce the condition number."""
_MOST_INCREMENTS = 4


class Sample(NamedTuple):
    """A state in the coordinates of the user's model."""

    v: np.ndarray  # shape (nv,)
    a: np.ndarray  # shape (nv,)
    v_tree: np.ndarray  # shape (tree.nv,)
    energy: float  # [J]
    kinetic: float  # [J]
    residual: float  # largest violation of a loop-closure constraint (relative to its scale) or of a held contact
    contact_forces: np.ndarray  # shape (rows,), [N] or [N m]


class Coordinates:
    """A set of independent joints, with a workspace.

    Attributes:
        model: The robot with these independent joints.
        given: The user's model.
        contacts: Held contacts, or None.
        own: Whether these are the user's independent joints.
        columns: Indices of the user's independent joints in the tree velocity.
        joints: Joints of each cluster with loops, in the order of the kernel tables.
        at: For each of these clusters, the index in ``data._work`` of the squared bound on its condition number.
        limits: For each cluster, the bound above which the simulation searches for other coordinates.
    """

    def __init__(self, model: ClusterModel, given: ClusterModel, contacts: Contacts | None = None) -> None:
        self.model, self.given, self.own, self.contacts = model, given, model is given, contacts
        self.columns = given.idx_v_independent
        conditions = model.tables.conditions
        self.joints = [c.joints for c in conditions]
        self.at = np.array([c.at for c in conditions], dtype=np.int64)
        self.limits = np.array([LIMIT * max(1, c.dependents) for c in conditions])

    @cached_property
    def data(self) -> ClusterData:
        return self.model.createData()

    @cached_property
    def groups(self) -> tuple[Part, ...]:
        return groups_of(self.model)

    def independents(self, joints: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(n for n in names_of_cluster(self.model, joints) if n in self.model.independent_joints)

    def accelerate(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, passive: Forces | None = None) -> np.ndarray:
        """Compute the acceleration in these coordinates from the user's torques and the passive forces."""
        torque = tau if self.own else tau @ self._rows(q)
        return self._accelerate(q, v, torque if passive is None else self.acting(q, v, torque, passive))

    def _accelerate(self, q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> np.ndarray:
        if self.contacts:
            return self.contacts.accelerate(self.model, self.data, q, v, torque)
        return aba(self.model, self.data, q, v, torque)

    def acting(self, q: np.ndarray, v: np.ndarray, torque: np.ndarray, forces: Forces) -> np.ndarray:
        """Return the torque plus the passive torques minus the gear losses, in these coordinates."""
        self.data._supply(q)
        G = _bridge.matrix(self.model, self.data, q)
        total = torque + forces.torque(q, G @ v) @ G
        if len(forces.gears):
            total -= forces.lost(self.model, self.data, q, v, torque, lambda x: self._accelerate(q, v, total + x))
        return np.asarray(total)

    def settle(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after the drift of the held contacts has been removed."""
        if not self.contacts:
            return q, v
        for _ in range(_MOST_INCREMENTS):  # Newton's method; one iteration usually removes the drift of a step
            x = self.contacts.increment(self.model, self.data, q)
            if x is None:
                break
            q = self.move(q, x)
        return q, self.contacts.velocity(self.model, self.data, q, v)

    def velocity(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Convert a velocity to the user's coordinates."""
        return v if self.own else self._rows(q) @ v

    def _rows(self, q: np.ndarray) -> np.ndarray:
        self.data._supply(q)
        return _bridge.matrix(self.model, self.data, q)[self.columns]

    def sample(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Sample:
        """Convert a state to the user's coordinates, with its energies and residuals."""
        G, g = self._coupling(q, v)
        v_tree = G @ v
        kinetic, energy = self._energies(q, v)
        if not self.own:
            v, a = v_tree[self.columns], (G @ a + g)[self.columns]
        forces = self.data.lambda_c.copy() if self.contacts else np.zeros(0)
        return Sample(v, a, v_tree, energy, kinetic, self._residual(q), forces)

    def _coupling(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.data._supply(q)
        return _bridge.matrix_and_bias(self.model, self.data, q, v)

    def _energies(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        energy = computeMechanicalEnergy(self.model, self.data, q, v)
        return self.data.kinetic_energy, energy

    def _residual(self, q: np.ndarray) -> float:
        worst = self.contacts.residual(self.model, self.data, q) if self.contacts else 0.0
        if not self.model.closures:
            return worst
        loops = loops_of(self.model)
        return float((np.abs(loops.solved.residual(q)) / loops.scales).max(initial=worst))

    def move(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return integrate(self.model, q, x)

    def near_singular(self) -> int | None:
        """Return the index of a cluster whose bound, computed by ``accelerate``, exceeds its limit, or None."""
        over = np.flatnonzero(~(self.bounds() < self.limits))
        return int(over[0]) if len(over) else None

    def bounds(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.data._work[self.at])


class Choices:
    """All sets of independent joints that a simulation has used so far."""

    def __init__(
        self, given: ClusterModel, start: Callable[..., Coordinates], contacts: Contacts | None = None
    ) -> None:
        self._make, self._contacts = start, contacts
        self.first = start(given, given, contacts)
        self._known = {frozenset(given.independent_joints): self.first}

    def better(self, now: Coordinates, which: int, q: np.ndarray, gain: float) -> Coordinates | None:
        """Return coordinates that reduce a cluster's condition number at q by the factor ``gain``, or None."""
        cluster = cluster_at(now.model, now.joints[which])
        best = regular_independents(now.model, cluster, q, slack=1.0)
        names = now.independents(now.joints[which])
        if best is None or set(best[0]) == set(names):
            return None
        condition = float(loops_of(now.model).conditions(q)[cluster][1])
        if not best[1] * gain < (condition if math.isfinite(condition) else math.inf):
            return None
        unchanged = [n for n in now.model.independent_joints if n not in names]
        key = frozenset([*unchanged, *best[0]])
        if key not in self._known:
            try:
                with warnings.catch_warnings():
                    # The user's model has already emitted the same warnings.
                    warnings.simplefilter("ignore", PinClustersWarning)
                    model, _ = with_independent(now.model, best[0])
            except (ConstraintError, SingularClusterError):
                return None
            self._known[key] = self._make(model, now.given, self._contacts)
        return self._known[key]
