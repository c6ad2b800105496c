"""The independent joints with which a simulation computes: those of the user, or others near a dead centre.

In other coordinates w of the same mechanism the user's velocity is v = T w, with T the rows of G at the user's
independent joints, and the user's torque acts as T' tau. Both are regular where the user's own coordinates are not.
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
"""Others are looked for where a bound of the condition of the dependent joints exceeds this, per dependent joint."""
GAIN = 4.0
"""They must be better by this factor."""
_MOST_INCREMENTS = 4


class Sample(NamedTuple):
    """A state in the coordinates of the model that was given."""

    v: np.ndarray  # shape (nv,)
    a: np.ndarray  # shape (nv,)
    v_tree: np.ndarray  # shape (tree.nv,)
    energy: float  # [J]
    kinetic: float  # [J]
    residual: float  # worst row of the loops over its scale, or of contacts
    contact_forces: np.ndarray  # shape (rows,)


class Coordinates:
    """One choice of independent joints, with a workspace.

    Attributes:
        model: The robot with this choice.
        given: The user's model.
        contacts: What is kept closed, or None.
        own: Whether this is the user's choice.
        columns: Indices in the tree's v of the user's independent joints.
        joints: Joints of each cluster with loops, in the order of the tables.
        at: Where in ``data``'s work the squared bound of the condition of each of these clusters is.
        limits: Beyond which bound others are looked for, per cluster.
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
        """The workspace of algorithms that Python calls."""
        return self.model.createData()

    @cached_property
    def groups(self) -> tuple[Part, ...]:
        """Independent joints whose velocities do not commute."""
        return groups_of(self.model)

    def independents(self, joints: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of the independent joints of a cluster."""
        return tuple(n for n in names_of_cluster(self.model, joints) if n in self.model.independent_joints)

    def accelerate(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, passive: Forces | None = None) -> np.ndarray:
        """Return the acceleration under the user's torques and what acts by itself, in these coordinates."""
        torque = tau if self.own else tau @ self._rows(q)
        return self._accelerate(q, v, torque if passive is None else self.acting(q, v, torque, passive))

    def _accelerate(self, q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> np.ndarray:
        if self.contacts:
            return self.contacts.accelerate(self.model, self.data, q, v, torque)
        return aba(self.model, self.data, q, v, torque)

    def acting(self, q: np.ndarray, v: np.ndarray, torque: np.ndarray, forces: Forces) -> np.ndarray:
        """Return torques with those of springs and the like, and what gears lose, in these coordinates."""
        self.data._supply(q)
        G = _bridge.matrix(self.model, self.data, q)
        whole = torque + forces.torque(q, G @ v) @ G
        if len(forces.gears):
            whole -= forces.lost(self.model, self.data, q, v, torque, lambda x: self._accelerate(q, v, whole + x))
        return np.asarray(whole)

    def settle(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state with its contacts closed again."""
        if not self.contacts:
            return q, v
        for _ in range(_MOST_INCREMENTS):  # Newton's: from the drift of a step one is mostly enough
            x = self.contacts.increment(self.model, self.data, q)
            if x is None:
                break
            q = self.move(q, x)
        return q, self.contacts.velocity(self.model, self.data, q, v)

    def velocity(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the user's velocity."""
        return v if self.own else self._rows(q) @ v

    def _rows(self, q: np.ndarray) -> np.ndarray:
        """Return the rows of G at the user's independent joints."""
        self.data._supply(q)
        return _bridge.matrix(self.model, self.data, q)[self.columns]

    def sample(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Sample:
        """Return a state as the user knows it."""
        G, g = self._coupling(q, v)
        v_tree = G @ v
        kinetic, energy = self._energies(q, v)
        if not self.own:
            v, a = v_tree[self.columns], (G @ a + g)[self.columns]
        forces = self.data.lambda_c.copy() if self.contacts else np.zeros(0)
        return Sample(v, a, v_tree, energy, kinetic, self._residual(q), forces)

    def _coupling(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return G and its bias."""
        self.data._supply(q)
        return _bridge.matrix_and_bias(self.model, self.data, q, v)

    def _energies(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        """Return kinetic and mechanical energy."""
        energy = computeMechanicalEnergy(self.model, self.data, q, v)
        return self.data.kinetic_energy, energy

    def _residual(self, q: np.ndarray) -> float:
        """Return the worst row of the loops over its scale, or of the contacts."""
        worst = self.contacts.residual(self.model, self.data, q) if self.contacts else 0.0
        if not self.model.closures:
            return worst
        loops = loops_of(self.model)
        return float((np.abs(loops.solved.residual(q)) / loops.scales).max(initial=worst))

    def move(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the configuration after an increment."""
        return integrate(self.model, q, x)

    def near_singular(self) -> int | None:
        """Return a cluster whose condition is beyond its limit at the pose of the last ``accelerate``."""
        over = np.flatnonzero(~(self.bounds() < self.limits))
        return int(over[0]) if len(over) else None

    def bounds(self) -> np.ndarray:
        """Return the bound of the condition of each cluster, at the pose of the last ``accelerate``."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.data._work[self.at])


class Choices:
    """All coordinates that a simulation has used."""

    def __init__(
        self, given: ClusterModel, start: Callable[..., Coordinates], contacts: Contacts | None = None
    ) -> None:
        self._make, self._contacts = start, contacts
        self.first = start(given, given, contacts)
        self._known = {frozenset(given.independent_joints): self.first}

    def better(self, now: Coordinates, which: int, q: np.ndarray, gain: float) -> Coordinates | None:
        """Return coordinates whose condition at q is better by a factor, for one of ``now.joints``; None: no such."""
        at = cluster_at(now.model, now.joints[which])
        found = regular_independents(now.model, at, q, slack=1.0)
        names = now.independents(now.joints[which])
        if found is None or set(found[0]) == set(names):
            return None
        condition = float(loops_of(now.model).conditions(q)[at][1])
        if not found[1] * gain < (condition if math.isfinite(condition) else math.inf):
            return None
        others = [n for n in now.model.independent_joints if n not in names]
        key = frozenset([*others, *found[0]])
        if key not in self._known:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PinClustersWarning)  # the first model gave them
                    model, _ = with_independent(now.model, found[0])
            except (ConstraintError, SingularClusterError):
                return None
            self._known[key] = self._make(model, now.given, self._contacts)
        return self._known[key]
