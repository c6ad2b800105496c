"""Centre of mass and momentum, with the mass and the spin of the rotors that are no bodies, and rods with mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ArgumentTypeError
from ..model import ClusterData, ClusterModel
from . import _bridge, _check
from ._rods import Whole, acceleration, add_to_centers, lumps, velocity
from .motor import rotor_rows

_documented = _check.documented(
    """
    References:
        Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """
)


@_documented
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
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; needs v.
        compute_subtree_coms: Also for the subtree of every joint, in its frame.

    Returns:
        Position in the world, shape (3,), [m]; a fresh array.

    Raises:
        ArgumentTypeError: A type is wrong, v comes without q, or a without v.

    References:
        Pinocchio's ``centerOfMass``, with the mass of all rotors.
    """
    _check.model_data(model, data)
    if (v is not None and q is None) or (a is not None and v is None):
        raise ArgumentTypeError("centerOfMass: v needs q, and a needs v: (model, data[, q[, v[, a]]]).")
    state = []
    if q is not None:
        q = _check.configuration(model, data, q)
        state = [q, *_bridge.tree_rates(model, data, q, v, a)]
    subtrees = bool(compute_subtree_coms)
    pin.centerOfMass(model.inertia_tree, data.tree, *state, subtrees)
    # without q Pinocchio takes all that forwardKinematics left
    add_to_centers(model, data, len(state) or 3, subtrees, local=True)
    return np.array(data.tree.com[0])


@_documented
def jacobianCenterOfMass(
    model: ClusterModel, data: ClusterData, q: Any = None, compute_subtree_coms: bool = True
) -> np.ndarray:
    """Compute the Jacobian of the centre of mass: its velocity is J v.

    Args:
        data: Its workspace; ``data.Jcom`` keeps the result, ``data.com`` and ``data.mass`` are filled.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        compute_subtree_coms: Also fill ``data.com`` of the subtree of every joint, in the world.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    References:
        Pinocchio's ``jacobianCenterOfMass`` with the mass of all rotors, times G.
    """
    _check.model_data(model, data)
    state = []
    if q is None:
        G, _ = _bridge.kept(model, data)
    else:
        state = [_check.configuration(model, data, q)]
        G = _bridge.kept_matrix(model, data, state[0])
    J = np.array(pin.jacobianCenterOfMass(model.inertia_tree, data.tree, *state, bool(compute_subtree_coms)))
    if extra := lumps(model):
        J *= data.tree.mass[0]
        pin.computeJointJacobians(model.own_tree, data.tree)
        J += sum(p.mass * p.jacobian(model.own_tree, data.tree) for p in extra)
        add_to_centers(model, data, 1, bool(compute_subtree_coms), local=False)
        J /= data.tree.mass[0]
    data.Jcom[:] = J @ G
    return data.Jcom.copy()


@_documented
def computeCentroidalMomentum(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> pin.Force:
    """Compute the momentum about the centre of mass, the spin of all rotors included.

    Args:
        data: Its workspace; ``data.hg`` keeps the result, ``data.com[0]`` and the kinematics are filled.

    Returns:
        [linear; angular], in axes of the world, [kg m/s] and [kg m^2/s].
    """
    q, v = _check.state(model, data, q, v)
    G = _bridge.kept_matrix(model, data, q)
    h = pin.computeCentroidalMomentum(model.inertia_tree, data.tree, q, G @ v).vector
    whole = Whole(model, data)
    h = whole.add(h, [p.mass * p.mean(velocity, data.tree) for p in whole.points])
    h[3:] += _spin(model, data, G) @ v
    return _keep(data, pin.Force(h))


@_documented
def computeCentroidalMap(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix: momentum about the centre of mass = A v.

    Args:
        data: Its workspace; ``data.Ag`` keeps the result.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    q = _check.pose(model, data, q)
    G = _bridge.kept_matrix(model, data, q)
    pin.computeCentroidalMap(model.inertia_tree, data.tree, q)
    return _map(model, data, G, Whole(model, data))


@_documented
def ccrba(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix and the momentum.

    Args:
        data: Its workspace; ``data.Ag`` keeps the matrix, ``data.hg`` the momentum.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    G = _bridge.kept_matrix(model, data, q)
    pin.ccrba(model.inertia_tree, data.tree, q, G @ v)
    A = _map(model, data, G, Whole(model, data, inertia=True))
    _keep(data, pin.Force(A @ v))
    return A


@_documented
def computeCentroidalMomentumTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> pin.Force:
    """Compute the time derivative of the momentum about the centre of mass, the spin of all rotors included.

    Args:
        data: Its workspace; ``data.hg`` keeps the momentum, ``data.tree.dhg`` its derivative.

    Returns:
        [linear; angular], in axes of the world, [N] and [N m].
    """
    q, v = _check.state(model, data, q, v)
    a = _check.velocity(model, "a", a)
    v_tree, a_tree = _bridge.tree_rates(model, data, q, v, a)
    pin.computeCentroidalMomentumTimeVariation(model.inertia_tree, data.tree, q, v_tree, a_tree)
    whole = Whole(model, data)
    h = whole.add(data.tree.hg.vector, [p.mass * p.mean(velocity, data.tree) for p in whole.points])
    # the velocities of points and centres drop out of the sum, which is about the common centre of mass
    rate = whole.add(data.tree.dhg.vector, [p.mass * p.mean(acceleration, data.tree) for p in whole.points])
    for r in (r for r in model.rotors if r.source is not None):
        R, omega = data.tree.oMi[r.carrier_id].rotation, data.tree.v[r.carrier_id].angular
        speed, change = (sum(ratio * x[i] for i, ratio in r.drivers) for x in (v_tree, a_tree))
        h[3:] += R @ r.axis * (r.axial_inertia * speed)
        # the axis turns with its carrier
        rate[3:] += R @ (r.axis * change + np.cross(omega, r.axis) * speed) * r.axial_inertia
    _keep(data, pin.Force(h))
    data.tree.dhg = pin.Force(rate)
    return pin.Force(rate)


def _map(model: ClusterModel, data: ClusterData, G: np.ndarray, whole: Whole) -> np.ndarray:
    """Turn Pinocchio's momentum matrix of the tree to that of the robot, in ``data.Ag``; return a copy."""
    if whole.points:
        pin.computeJointJacobians(model.own_tree, data.tree)
    A = whole.add(data.tree.Ag, [p.mass * p.jacobian(model.own_tree, data.tree) for p in whole.points])
    data.Ag[:] = A @ G
    data.Ag[3:] += _spin(model, data, G)
    return data.Ag.copy()


def _spin(model: ClusterModel, data: ClusterData, G: np.ndarray) -> np.ndarray:
    """Return the angular momentum of the ``Rotor`` spins per unit of v, in axes of the world, shape (3, nv).

    Rotors that are bodies of the tree move in Pinocchio already.
    """
    S = np.zeros((3, model.nv))
    for r, row in zip(model.rotors, rotor_rows(model, G), strict=True):
        if r.source is not None:
            S += np.outer(data.tree.oMi[r.carrier_id].rotation @ r.axis, r.axial_inertia * row)
    return S


def _keep(data: ClusterData, h: pin.Force) -> pin.Force:
    """Leave the momentum in both data."""
    data.hg = h
    data.tree.hg = h
    return pin.Force(h)
