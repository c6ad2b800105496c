"""Contacts at random, what they may be asked for, and dynamics with them as functions of a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from samples import trees
from support import differences

import pin_clusters as pc

POINT, FRAME = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
AXES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)
KINDS = ([POINT], [FRAME], [POINT, FRAME])
# eigenvalues of J M^-1 J': rows repeat others, or are well apart from them
DEPENDENT, INDEPENDENT = 1e-12, 1e-4
SINGULAR = 1e13
WORST = 1e6
"""Of both conditions together: differences tell nothing of what is amplified more."""
Results = list[np.ndarray]


def pinocchio_s(models: list[Any]) -> tuple[Any, Any]:
    """Return Pinocchio's lists of contacts and of new data of them."""
    lists = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for c in models:
        lists[0].append(c)
        lists[1].append(c.createData())
    return lists


def contacts(model: pc.ClusterModel, rng: np.random.Generator, kinds: list[Any], axes: Any) -> list[Any]:
    """With the world and with another body; on rotors' bodies, where there are some, in half of the cases."""
    rotors = [r.joint_id for r in model.rotors if r.joint_id is not None]
    found = []
    for kind in kinds:
        one = int(rng.choice(rotors)) if rotors and rng.random() < 0.5 else int(rng.integers(1, model.njoints))
        two = int(rng.choice([j for j in range(model.njoints) if j != one])) if rng.random() < 0.5 else 0
        found.append(pc.RigidConstraintModel(kind, model, one, trees.placement(rng), two, trees.placement(rng), axes))
    return found


def correct(models: list[Any], rng: np.random.Generator) -> None:
    """Gains, and a motion that is asked for."""
    for c in models:
        gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
        if hasattr(pin, "lcaba"):  # one gain for all rows in Pinocchio 4
            gains.Kp, gains.Kd = 30.0, 7.0
        else:
            gains.Kp[:], gains.Kd[:] = 30.0, 7.0
        c.desired_contact_placement = trees.placement(rng)
        c.desired_contact_velocity = pin.Motion(rng.normal(size=6))
        c.desired_contact_acceleration = pin.Motion(rng.normal(size=6))


class Touching:
    """A robot at a state, and contacts whose rows are well apart or repeat each other; ``condition`` amplifies."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, models: list[Any]) -> None:
        self.model, self.q, self.models, self.data = model, q, models, model.createData()
        self.v, self.tau = rng.normal(size=(2, model.nv))
        self.datas = [c.createData() for c in models]
        A = pc.computeDelassusMatrix(model, self.data, q, models, self.datas)
        w = np.maximum(np.linalg.eigvalsh(A), 0.0)
        used = w[w > DEPENDENT * w[-1]]
        self.rows, self.independent = len(A), len(used) == len(A)
        apart = w[-1] > 1e-9 and used[0] > INDEPENDENT * w[-1]
        mass = float(np.linalg.cond(pc.crba(model, self.data, q)))
        self.condition = mass * float(w[-1] / used[0]) if apart else np.inf

    def dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, *settings: Any) -> np.ndarray:
        a = pc.constraintDynamics(self.model, self.data, q, v, tau, self.models, self.datas, *settings)
        return np.concatenate([a, self.data.lambda_c])

    def impact(self, q: np.ndarray, v: np.ndarray, bounce: float, mu: float = 0.0) -> np.ndarray:
        after = pc.impulseDynamics(self.model, self.data, q, v, self.models, self.datas, bounce, mu)
        return np.concatenate([after, self.data.impulse_c])

    def split(self, *both: np.ndarray) -> Results:
        n = self.model.nv
        return [x[:n] for x in both] + [x[n:] for x in both]

    def differenced(self, *settings: Any) -> Results:
        by_q = differences.along(lambda x: self.dynamics(x, self.v, self.tau, *settings), self.model, self.q)
        by_v = differences.quadratic(lambda x: self.dynamics(self.q, x, self.tau, *settings), self.v)
        by_tau = differences.linear(lambda x: self.dynamics(self.q, self.v, x, *settings), self.tau)
        return self.split(by_q, by_v, by_tau)

    def found(self, *settings: Any) -> Results:
        self.dynamics(self.q, self.v, self.tau, *settings)
        return list(pc.computeConstraintDynamicsDerivatives(self.model, self.data, self.models, self.datas))

    def impact_differenced(self, *how: float) -> Results:
        by_q = differences.along(lambda x: self.impact(x, self.v, *how), self.model, self.q)
        return self.split(by_q, differences.linear(lambda x: self.impact(self.q, x, *how), self.v))

    def impact_found(self, *how: float) -> Results:
        self.impact(self.q, self.v, *how)
        return list(pc.computeImpulseDynamicsDerivatives(self.model, self.data, self.models, self.datas, how[0]))


def draw(
    model: pc.ClusterModel, q: Callable[[], np.ndarray], rng: np.random.Generator, kinds: list[Any], axes: Any
) -> Touching | None:
    """Contacts that can be judged, if there are some; none of planar linkages of slender bars that float."""
    if np.linalg.cond(pc.crba(model, model.createData(), q())) > SINGULAR:
        return None
    for _ in range(4):
        models = contacts(model, rng, kinds, axes)
        correct(models, rng)
        found = Touching(model, q(), rng, models)
        if found.condition < WORST:
            return found
    return None
