"""The bridge between the independent coordinates and those of the spanning tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import vector
from ..data import ClusterData
from ..errors import ConfigurationError
from ..model import ClusterModel
from . import _check

_NV = "nv of the spanning tree"


def coupling_jacobian(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Return G: tree velocity = G v.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,); G of gears and belts does not depend on it.

    Returns:
        Shape (tree.nv, nv); rows of independent joints are rows of the identity. A fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    return np.array(model.coupling_matrix)


def coupling_bias(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Return g = (dG/dt) v: tree acceleration = G a + g.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].

    Returns:
        Shape (tree.nv,), [rad/s^2] or [m/s^2]; zero for gears and belts, whose G is constant. A fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    _check.velocity(model, "v", v)
    return np.zeros(len(model.coupling_matrix))


def spanning_velocity(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Return the velocity of the spanning tree, G v.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].

    Returns:
        Shape (tree.nv,), in the order of Pinocchio's v; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Gear(tree.names[1], tree.names[2], -3.0)])
        >>> pc.spanning_velocity(model, model.createData(), pc.neutral(model), np.ones(model.nv))[:3].tolist()
        [1.0, -3.0, 1.0]
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    return np.array(model.coupling_matrix @ _check.velocity(model, "v", v))


def spanning_acceleration(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> np.ndarray:
    """Return the acceleration of the spanning tree, G a + g.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].

    Returns:
        Shape (tree.nv,), in the order of Pinocchio's a; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    _check.velocity(model, "v", v)
    return np.array(model.coupling_matrix @ _check.velocity(model, "a", a))


def independent_velocity(
    model: ClusterModel, data: ClusterData, q: Any, v_tree: Any, tolerance: float = 1e-6
) -> np.ndarray:
    """Return the independent part of a velocity of the spanning tree, after the check that it fulfils the couplings.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        v_tree: Velocity of the spanning tree, shape (tree.nv,), [rad/s] or [m/s].
        tolerance: Allowed error of a dependent entry, as a part of the largest entry of ``v_tree`` or of G v (at least
            of 1 rad/s or 1 m/s).

    Returns:
        Shape (nv,); a fresh array.

    Raises:
        ConfigurationError: A dependent joint does not move as its coupling says (it is named), or q is off the
            couplings (if ``data.check``).
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    given = vector(model, "v_tree", v_tree, len(model.coupling_matrix), _NV)
    v = given[model.idx_v_independent]
    expected = model.coupling_matrix @ v
    error = np.abs(given - expected)
    scale = max(1.0, float(np.abs(given).max(initial=0.0)), float(np.abs(expected).max(initial=0.0)))
    if np.any(error > tolerance * scale):
        i = int(np.argmax(error))
        tree = model._pristine
        row = next(row for row in model.coupling_rows if tree.idx_vs[row.dependent] == i)
        raise ConfigurationError(
            f"v_tree is not a velocity of model {model.name!r}: joint {tree.names[row.dependent]!r} moves at "
            f"{given[i]:.9g}, but {row.source.label} makes it move at {expected[i]:.9g}. To drop the dependent "
            "entries without a check, take v_tree[model.idx_v_independent]."
        )
    return v


def independent_torque(model: ClusterModel, data: ClusterData, q: Any, tau_tree: Any) -> np.ndarray:
    """Return the torque of the independent joints that does the same work as torques on the spanning tree, G' tau_tree.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        tau_tree: Torque of every joint of the tree, shape (tree.nv,), [N m] or [N].

    Returns:
        Shape (nv,), [N m] or [N]; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
    _check.model_data(model, data)
    _check.configuration(model, data, q)
    return np.array(vector(model, "tau_tree", tau_tree, len(model.coupling_matrix), _NV) @ model.coupling_matrix)
