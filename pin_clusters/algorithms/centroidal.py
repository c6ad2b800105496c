"""Centre of mass and momentum, with the mass and the spin of the rotors that are no bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..data import ClusterData
from ..errors import ArgumentTypeError
from ..model import ClusterModel
from . import _check


def centerOfMass(
    model: ClusterModel,
    data: ClusterData,
    q: Any = None,
    v: Any = None,
    a: Any = None,
    compute_subtree_coms: bool = True,
) -> np.ndarray:
    """Compute the centre of mass (with v, its velocity; with a, its acceleration).

    Fills ``data.com``, ``data.vcom``, ``data.acom`` and ``data.mass``, index 0 for the whole robot.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; needs v.
        compute_subtree_coms: Also for the subtree of every joint, in its frame.

    Returns:
        Position in the world, shape (3,), [m]; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong, v comes without q, or a without v.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Pinocchio's ``centerOfMass``, with the mass of all rotors.
    """
    _check.model_data(model, data)
    if (v is not None and q is None) or (a is not None and v is None):
        raise ArgumentTypeError("centerOfMass: v needs q, and a needs v: (model, data[, q[, v[, a]]]).")
    state = [] if q is None else [_check.configuration(model, data, q)]
    state += [model.coupling_matrix @ _check.velocity(model, n, x) for n, x in (("v", v), ("a", a)) if x is not None]
    return np.array(pin.centerOfMass(model.inertia_tree, data.tree, *state, bool(compute_subtree_coms)))


def jacobianCenterOfMass(
    model: ClusterModel, data: ClusterData, q: Any = None, compute_subtree_coms: bool = True
) -> np.ndarray:
    """Compute the Jacobian of the centre of mass: its velocity is J v.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.Jcom`` keeps the result, ``data.com`` and ``data.mass`` are filled.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        compute_subtree_coms: Also fill ``data.com`` of the subtree of every joint, in the world.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Pinocchio's ``jacobianCenterOfMass`` with the mass of all rotors, times G.
    """
    _check.model_data(model, data)
    state = [] if q is None else [_check.configuration(model, data, q)]
    J = pin.jacobianCenterOfMass(model.inertia_tree, data.tree, *state, bool(compute_subtree_coms))
    data.Jcom[:] = J @ model.coupling_matrix
    return data.Jcom.copy()


def computeCentroidalMomentum(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> pin.Force:
    """Compute the momentum about the centre of mass, the spin of all rotors included.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.hg`` keeps the result, ``data.com[0]`` and the kinematics are filled.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].

    Returns:
        [linear; angular], in axes of the world, [kg m/s] and [kg m^2/s].

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """
    _check.model_data(model, data)
    q, v = _check.configuration(model, data, q), _check.velocity(model, "v", v)
    h = pin.computeCentroidalMomentum(model.inertia_tree, data.tree, q, model.coupling_matrix @ v)
    return _keep(data, pin.Force(h.linear, h.angular + _spin(model, data) @ v))


def computeCentroidalMap(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix: momentum about the centre of mass = A v.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.Ag`` keeps the result.
        q: Configuration of the whole tree, shape (nq,).

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """
    _check.model_data(model, data)
    q = _check.configuration(model, data, q)
    data.Ag[:] = pin.computeCentroidalMap(model.inertia_tree, data.tree, q) @ model.coupling_matrix
    data.Ag[3:] += _spin(model, data)
    return data.Ag.copy()


def ccrba(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix and the momentum.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.Ag`` keeps the matrix, ``data.hg`` the momentum.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """
    _check.model_data(model, data)
    q, v = _check.configuration(model, data, q), _check.velocity(model, "v", v)
    A = pin.ccrba(model.inertia_tree, data.tree, q, model.coupling_matrix @ v)
    data.Ag[:] = A @ model.coupling_matrix
    data.Ag[3:] += _spin(model, data)
    _keep(data, pin.Force(data.Ag @ v))
    return data.Ag.copy()


def computeCentroidalMomentumTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> pin.Force:
    """Compute the time derivative of the momentum about the centre of mass, the spin of all rotors included.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.hg`` keeps the momentum, ``data.tree.dhg`` its derivative.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].

    Returns:
        [linear; angular], in axes of the world, [N] and [N m].

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """
    _check.model_data(model, data)
    q = _check.configuration(model, data, q)
    v, a = _check.velocity(model, "v", v), _check.velocity(model, "a", a)
    G = model.coupling_matrix
    rate = pin.computeCentroidalMomentumTimeVariation(model.inertia_tree, data.tree, q, G @ v, G @ a)
    angular = rate.angular + _spin(model, data) @ a
    for r in model.rotors:
        if r.source is not None:
            R = data.tree.oMi[r.carrier_id].rotation
            # the axis turns with its carrier
            omega = data.tree.v[r.carrier_id].angular
            angular += R @ np.cross(omega, r.axis) * (r.axial_inertia * (r.row @ v))
    _keep(data, pin.Force(data.tree.hg.linear, data.tree.hg.angular + _spin(model, data) @ v))
    data.tree.dhg = pin.Force(rate.linear, angular)
    return pin.Force(rate.linear, angular)


def _spin(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return the angular momentum of the ``Rotor`` spins per unit of v, in axes of the world, shape (3, nv).

    Rotors that are bodies of the tree move in Pinocchio already.
    """
    S = np.zeros((3, model.nv))
    for r in model.rotors:
        if r.source is not None:
            S += np.outer(data.tree.oMi[r.carrier_id].rotation @ r.axis, r.axial_inertia * r.row)
    return S


def _keep(data: ClusterData, h: pin.Force) -> pin.Force:
    """Leave the momentum in both data."""
    data.hg = h
    data.tree.hg = h
    return pin.Force(h)
