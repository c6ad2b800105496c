"""Reference values of exported functions at random states, computed by the functions of this package."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...algorithms.dynamics import aba, coupling, crba, derivatives, energy, minverse, rnea
from ...algorithms.dynamics import operational as of_frames
from ...algorithms.kinematics import centroidal, jacobians, kinematics
from ...algorithms.kinematics import derivatives as rates
from ...errors import BranchLost, SingularClusterError
from ...model import ClusterModel
from ...model.configuration import integrate
from ._exported_function import ExportedFunction

STATES = 4
_TRIES = 12
_FAR = 1e-4  # step of fourth-order finite differences


class Kernels:
    """Computes reference results with this package's functions. A method ``_NAME`` adapts the call of NAME."""

    def __init__(self, model: ClusterModel, frames: Sequence[str] = ()) -> None:
        self.model, self.data = model, model.createData()
        self.ids = [model.getFrameId(name) for name in frames]

    def __call__(self, name: str, given: dict[str, np.ndarray]) -> list[np.ndarray]:
        arrays = [x.reshape(-1, 6) if key == "fext" else x for key, x in given.items()]
        method = getattr(self, f"_{name}", None)
        result = method(*arrays) if method else _LIBRARY[name](self.model, self.data, *arrays)
        listed = result if isinstance(result, (tuple, list)) else (result,)
        return [np.array(getattr(x, "vector", x), dtype=float) for x in listed]

    def knows(self, name: str) -> bool:
        return name in _LIBRARY or hasattr(self, f"_{name}")

    def _energies(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        kinetic = energy.computeKineticEnergy(self.model, self.data, q, v)
        return [kinetic, energy.computePotentialEnergy(self.model, self.data, q)]

    def _framesForwardKinematics(self, q: np.ndarray) -> list[Any]:
        kinematics.framesForwardKinematics(self.model, self.data, q)
        return [self.data.oMf[i].homogeneous for i in self.ids]

    def _computeFrameJacobian(self, q: np.ndarray) -> list[Any]:
        return [jacobians.computeFrameJacobian(self.model, self.data, q, i, pin.LOCAL) for i in self.ids]

    def _getFrameVelocity(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        kinematics.forwardKinematics(self.model, self.data, q, v)
        return [kinematics.getFrameVelocity(self.model, self.data, i, pin.LOCAL) for i in self.ids]

    def _getFrameAcceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[Any]:
        kinematics.forwardKinematics(self.model, self.data, q, v, a)
        return [kinematics.getFrameAcceleration(self.model, self.data, i, pin.LOCAL) for i in self.ids]

    def _getFrameVelocityDerivatives(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        rates.computeForwardKinematicsDerivatives(self.model, self.data, q, v, 0.0 * v)
        pairs = (rates.getFrameVelocityDerivatives(self.model, self.data, i, pin.LOCAL) for i in self.ids)
        return [x for pair in pairs for x in pair]

    def _getFrameAccelerationDerivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[Any]:
        rates.computeForwardKinematicsDerivatives(self.model, self.data, q, v, a)
        fours = (rates.getFrameAccelerationDerivatives(self.model, self.data, i, pin.LOCAL) for i in self.ids)
        return [x for _, *three in fours for x in three]

    def _inverse_operational_inertia(self, q: np.ndarray) -> Any:
        return of_frames.inverse_operational_inertia(self.model, self.data, q, self.ids, pin.LOCAL)

    def _getCenterOfMassVelocityDerivatives(self, q: np.ndarray, v: np.ndarray) -> Any:
        centroidal.centerOfMass(self.model, self.data, q, v)
        return centroidal.getCenterOfMassVelocityDerivatives(self.model, self.data)

    def _integrate(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        moved = integrate(self.model, q, v)
        return [moved, np.zeros(1)] if self.model.closures else [moved]

    def _tangent(self, q: np.ndarray) -> Any:
        def moved(x: np.ndarray) -> np.ndarray:
            return np.asarray(integrate(self.model, q, _FAR * x))

        columns = [8.0 * (moved(e) - moved(-e)) - moved(2 * e) + moved(-2 * e) for e in np.eye(self.model.nv)]
        return np.stack(columns, axis=-1) / (12.0 * _FAR)


_LIBRARY: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        rnea.rnea, aba.aba, crba.crba, minverse.computeMinverse, rnea.nonLinearEffects, rnea.computeGeneralizedGravity,
        rnea.computeStaticTorque, derivatives.computeCoriolisMatrix, derivatives.computeRNEADerivatives,
        derivatives.computeABADerivatives, derivatives.computeGeneralizedGravityDerivatives,
        derivatives.computeStaticTorqueDerivatives, coupling.coupling_jacobian, coupling.coupling_bias,
        centroidal.centerOfMass, centroidal.jacobianCenterOfMass, centroidal.computeCentroidalMap,
        centroidal.computeCentroidalMomentum, centroidal.computeCentroidalMomentumTimeVariation,
        centroidal.computeCentroidalMapTimeVariation, derivatives.computeCentroidalDynamicsDerivatives,
    )
}  # fmt: skip


def states(model: ClusterModel, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Return random states near the reference configuration, with all loops closed; v, a and tau are of order 1."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(STATES):
        step, q = rng.normal(size=model.nv), model.q_reference
        for halvings in range(_TRIES):
            try:
                q = integrate(model, model.q_reference, 0.5 * 0.5**halvings * step)
                break
            except (BranchLost, SingularClusterError):  # retry with a shorter step
                continue
        result.append({"q": np.array(q)} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")})
    return result


def expected(
    model: ClusterModel, f: ExportedFunction, given: dict[str, np.ndarray], frames: Sequence[str] = ()
) -> list[np.ndarray]:
    if f.returned:
        return [np.array(integrate(model, given["q"], given["v"] * given["dt"])), np.zeros(1)]
    kernels = Kernels(model, frames)
    if f.is_builtin and kernels.knows(f.name):
        return kernels(f.name, given)
    raw = f.program(*given.values())
    return [np.array(x, dtype=float) for x in (raw if isinstance(raw, tuple) else (raw,))]
