"""Project Pinocchio's dynamics of the tree in which every rotor is a body, with v_tree = G v; the results are exact.

For a model with loops, G and g are computed from a singular value decomposition of the constraint Jacobian.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...model import ClusterModel
from ..reference.operational import motors_of
from ._frames import documented_with_loops, rows_of_frames
from ._workspace import ACCELERATION, DATA, FLOAT64, LOOPS, Workspace, check

_documented = stock(STATE, DATA, LOOPS, FLOAT64)


def createData(model: ClusterModel) -> Workspace:
    """Create a workspace for the functions of this module; use one per thread."""
    return Workspace(model)


@_documented
def rnea(
    model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the torques of a motion, tau = G' (M (G a + g) + h), with ``pin.rnea``, shape (nv,)."""
    if type(data) is not Workspace or data.model is not model:
        check(model, data, Workspace, __name__)
    if data.loops is not None:
        data.couple(q, v)
        np.dot(data.G, v, out=data.v)
        return data.GT @ data.torque(data.configuration(q), data.v, data.G @ a + data.g, fext)
    np.dot(data.G, v, out=data.v)
    np.dot(data.G, a, out=data.a)
    if fext is None:
        return data.GT.dot(pin.rnea(data.tree, data.data, data.configuration(q), data.v, data.a))
    forces = data.span.fext(fext)
    return data.GT.dot(pin.rnea(data.tree, data.data, data.configuration(q), data.v, data.a, forces))


@_documented
def crba(model: ClusterModel, data: Workspace, q: np.ndarray) -> np.ndarray:
    """Compute the symmetric mass matrix G' M G, shape (nv, nv)."""
    check(model, data, Workspace, __name__)
    data.couple(q)
    return data.GT @ (data.mass_matrix(data.configuration(q)) @ data.G)


@stock(STATE, DATA, LOOPS, FLOAT64, ACCELERATION)
def aba(
    model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Solve (G' M G) a = tau - G' (M g + h) for the accelerations a, by Cholesky factorisation."""
    if type(data) is not Workspace or data.model is not model:
        check(model, data, Workspace, __name__)
    data.couple(q, v)
    q = data.configuration(q)
    np.dot(data.G, v, out=data.v)
    np.dot(data.mass_matrix(q), data.G, out=data.MG)
    np.dot(data.GT, data.MG, out=data.M)
    data.llt.compute(data.M)
    a = data.llt.solve(tau - data.GT.dot(data.bias(q, fext)))
    return a if model.nv != 1 else a.reshape(1)  # eigenpy returns a matrix if there is only one equation


@_documented
def computeKineticEnergy(model: ClusterModel, data: Workspace, q: np.ndarray, v: np.ndarray) -> float:
    """Compute the kinetic energy v' G' M G v / 2, [J]."""
    return float(0.5 * v @ crba(model, data, q) @ v)


@stock(STATE, DATA, FLOAT64)
def computePotentialEnergy(model: ClusterModel, data: Workspace, q: np.ndarray) -> float:
    """Compute the potential energy of all bodies and rods relative to the world origin, [J]."""
    check(model, data, Workspace, __name__)
    q = data.configuration(q)
    energy = float(pin.computePotentialEnergy(data.tree, data.data, q))
    return energy if data.rods is None else energy + data.rods.potential_energy(q)


@documented_with_loops
def inverse_operational_inertia(
    model: ClusterModel,
    data: Workspace,
    q: np.ndarray,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
) -> np.ndarray:
    """Compute (J G) (G' M G)^-1 (J G)', shape (rows, rows), by Cholesky; J is Pinocchio's Jacobian of the tree."""
    check(model, data, Workspace, __name__)
    M = crba(model, data, q)
    J = rows_of_frames(model, data, data.configuration(q), frames, reference, rows) @ data.G
    return J @ _solve(data, M, J.T)


@documented_with_loops
def inverse_input_matrix(
    model: ClusterModel,
    data: Workspace,
    q: np.ndarray,
    B: np.ndarray | None = None,
    contacts: Sequence[str | int] = (),
    reference: pin.ReferenceFrame = pin.LOCAL,
) -> np.ndarray:
    """Compute (G' M G)^-1 [B, (J_c G)'], shape (nv, inputs + 3 len(contacts)); Pinocchio computes J_c."""
    check(model, data, Workspace, __name__)
    M = crba(model, data, q)
    J = rows_of_frames(model, data, data.configuration(q), contacts, reference, "linear") @ data.G
    B = motors_of(model, data.span, data.G) if B is None else np.asarray(B, dtype=float)
    return _solve(data, M, np.hstack([B, J.T]))


def _solve(data: Workspace, M: np.ndarray, right: np.ndarray) -> np.ndarray:
    if not right.size:
        return np.zeros(right.shape)
    data.llt.compute(M)
    return np.asarray(data.llt.solve(np.asfortranarray(right))).reshape(right.shape)
