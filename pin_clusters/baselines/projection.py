"""Projection: Pinocchio on the tree with every rotor a body, reduced with G. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..model import ClusterModel
from ._workspace import Workspace, check

_NAME = "projection"


def createData(model: ClusterModel) -> Workspace:
    """Return a workspace for the functions of this module; one per thread."""
    return Workspace(model)


def rnea(model: ClusterModel, data: Workspace, q: Any, v: Any, a: Any, fext: Any = None) -> np.ndarray:
    """Compute the torques of a motion, tau = G' (M G a + h) with Pinocchio's rnea.

    Args:
        model: Cluster model.
        data: What ``createData`` of this module returned.
        q: Configuration, shape (nq,), float64.
        v: Independent velocity, shape (nv,), float64.
        a: Independent acceleration, shape (nv,), float64.
        fext: External forces in joint frames, [linear; angular]: ``pin.Force`` or rows, one per joint of the tree.

    Returns:
        Torque, shape (nv,).

    Raises:
        DataMismatchError: ``data`` belongs to another model or module.
    """
    if type(data) is not Workspace or data.model is not model:
        check(model, data, Workspace, _NAME)
    np.dot(data.G, v, out=data.v)
    np.dot(data.G, a, out=data.a)
    if fext is None:
        return data.GT.dot(pin.rnea(data.tree, data.data, data.configuration(q), data.v, data.a))
    forces = data.span.fext(fext)
    return data.GT.dot(pin.rnea(data.tree, data.data, data.configuration(q), data.v, data.a, forces))


def crba(model: ClusterModel, data: Workspace, q: Any) -> np.ndarray:
    """Compute the mass matrix: G' M G.

    Args:
        model: Cluster model.
        data: What ``createData`` of this module returned.
        q: Configuration, shape (nq,), float64.

    Returns:
        Symmetric, shape (nv, nv).

    Raises:
        DataMismatchError: ``data`` belongs to another model or module.
    """
    check(model, data, Workspace, _NAME)
    return data.GT @ (data.mass_matrix(data.configuration(q)) @ data.G)


def aba(model: ClusterModel, data: Workspace, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute the accelerations under torques: (G' M G) a = tau - G' h, by Cholesky.

    Args:
        model: Cluster model.
        data: What ``createData`` of this module returned.
        q: Configuration, shape (nq,), float64.
        v: Independent velocity, shape (nv,), float64.
        tau: Torque, shape (nv,), float64.
        fext: External forces in joint frames, [linear; angular]: ``pin.Force`` or rows, one per joint of the tree.

    Returns:
        Independent acceleration, shape (nv,).

    Raises:
        DataMismatchError: ``data`` belongs to another model or module.
    """
    if type(data) is not Workspace or data.model is not model:
        check(model, data, Workspace, _NAME)
    q = data.configuration(q)
    np.dot(data.G, v, out=data.v)
    np.dot(data.mass_matrix(q), data.G, out=data.MG)
    np.dot(data.GT, data.MG, out=data.M)
    data.llt.compute(data.M)
    return data.llt.solve(tau - data.GT.dot(data.bias(q, fext)))
