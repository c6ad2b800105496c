"""What the functions of the library give, beside their traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc
from pin_clusters.compiler import tracing

# The same operations, but for fused ones and the order of sums; in loops times cond(K_d).
ROUNDING = {"tree": 1e-12, "loop": 1e-11}
# of the samples, in CI: one of each kind of kernel and closure, bodies with rotors, rods with mass; three in every run
QUICK = (
    "tree-0", "rotors_on_a_loop_on_free_flyer", "geared_five_bar", "rssr_massive", "spatial_ball_in_tree",
    "plate_that_follows",
)  # fmt: skip
OTHERS = [key for key in pool.ALL if key not in QUICK]
each = pytest.mark.parametrize("key", [*pool.some(QUICK, 3, QUICK, rest="ci"), *pool.some(OTHERS, 0)])
INVERSE = ("aba", "computeMinverse", "computeABADerivatives", "inverse_operational_inertia")
"""Functions that amplify rounding by the condition of M."""


def frames_of(model: pc.ClusterModel, rng: np.random.Generator) -> list[str]:
    """Two frames, the last one among them: they are moved by most joints."""
    names = [f.name for f in model.own_tree.frames]
    once = [name for name in names if names.count(name) == 1]
    return list(dict.fromkeys([once[-1], once[int(rng.integers(len(once)))]]))


REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


class Library:
    """What the functions of the library give, in the order of the program's outputs."""

    def __init__(self, model: pc.ClusterModel, frames: list[str], reference: Any) -> None:
        self.model, self.data, self.reference = model, model.createData(), reference
        self.ids = [model.getFrameId(name) for name in frames]

    def of(self, name: str, state: dict[str, np.ndarray]) -> list[Any]:
        own = getattr(self, name, None)
        given = [state[key] for key in tracing.FUNCTIONS[name].inputs]
        found = own(*given) if own else getattr(pc, name)(self.model, self.data, *given)
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def energies(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        kinetic = pc.computeKineticEnergy(self.model, self.data, q, v)
        return [np.array([kinetic]), np.array([pc.computePotentialEnergy(self.model, self.data, q)])]

    def framesForwardKinematics(self, q: np.ndarray) -> list[np.ndarray]:
        pc.framesForwardKinematics(self.model, self.data, q)
        return [self.data.oMf[i].homogeneous for i in self.ids]

    def computeFrameJacobian(self, q: np.ndarray) -> list[np.ndarray]:
        return [pc.computeFrameJacobian(self.model, self.data, q, i, self.reference) for i in self.ids]

    def getFrameVelocity(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        pc.forwardKinematics(self.model, self.data, q, v)
        return [pc.getFrameVelocity(self.model, self.data, i, self.reference).vector for i in self.ids]

    def getFrameAcceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        pc.forwardKinematics(self.model, self.data, q, v, a)
        return [pc.getFrameAcceleration(self.model, self.data, i, self.reference).vector for i in self.ids]

    def getFrameVelocityDerivatives(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        pc.computeForwardKinematicsDerivatives(self.model, self.data, q, v, 0 * v)
        both = [pc.getFrameVelocityDerivatives(self.model, self.data, i, self.reference) for i in self.ids]
        return [x for pair in both for x in pair]

    def getFrameAccelerationDerivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        pc.computeForwardKinematicsDerivatives(self.model, self.data, q, v, a)
        four = [pc.getFrameAccelerationDerivatives(self.model, self.data, i, self.reference) for i in self.ids]
        return [x for _, *three in four for x in three]

    def inverse_operational_inertia(self, q: np.ndarray) -> np.ndarray:
        return pc.inverse_operational_inertia(self.model, self.data, q, self.ids, self.reference)

    def computeStaticTorque(self, q: np.ndarray, fext: np.ndarray) -> np.ndarray:
        return pc.computeStaticTorque(self.model, self.data, q, fext.reshape(-1, 6))

    def computeStaticTorqueDerivatives(self, q: np.ndarray, fext: np.ndarray) -> np.ndarray:
        return pc.computeStaticTorqueDerivatives(self.model, self.data, q, fext.reshape(-1, 6))

    def computeCentroidalMomentumTimeVariation(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return pc.computeCentroidalMomentumTimeVariation(self.model, self.data, q, v, a).vector

    def getCenterOfMassVelocityDerivatives(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pc.centerOfMass(self.model, self.data, q, v)
        return pc.getCenterOfMassVelocityDerivatives(self.model, self.data)

    def computeCentroidalMomentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pc.computeCentroidalMomentum(self.model, self.data, q, v).vector

    def computeCentroidalDynamicsDerivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        return list(pc.computeCentroidalDynamicsDerivatives(self.model, self.data, q, v, a))

    def integrate(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        moved = pc.integrate(self.model, q, v)
        return [moved, np.zeros(1)] if self.model.closures else [moved]

    def tangent(self, q: np.ndarray) -> np.ndarray:
        """By differences of fourth order of ``pc.integrate``."""
        steps = 1e-4 * np.eye(self.model.nv)
        return np.stack([
            (8.0 * (pc.integrate(self.model, q, e) - pc.integrate(self.model, q, -e))
             - pc.integrate(self.model, q, 2 * e) + pc.integrate(self.model, q, -2 * e)) / 12e-4
            for e in steps
        ], axis=-1)  # fmt: skip


def state_of(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What functions are given, by name."""
    rates = {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")}
    return {"q": q, "fext": rng.normal(size=6 * model.njoints)} | rates
