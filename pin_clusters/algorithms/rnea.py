"""Inverse dynamics, and what is inverse dynamics with something set to zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import ClusterData, ClusterModel
from . import _check

_empty = np.empty


def rnea(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any, fext: Any = None) -> np.ndarray:
    """Compute the joint torques of a motion with the cluster recursive Newton-Euler algorithm.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.tau`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``; off them
            the bodies are placed where q says, and move as G says).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].
        fext: External forces in joint frames, [linear; angular], [N] and [N m]: a list of ``pin.Force`` or an array of
            shape (njoints, 6), one per joint of the tree, the universe first.

    Returns:
        Torque of the independent joints, shape (nv,), [N m] or [N]; a fresh array. NaN and inf propagate.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA); spin elements: the notation page of the documentation.
    """
    if fext is None:
        try:
            if data._unchecked is model:
                out = _empty(model.nv)
                if data._fast_rnea(data._at_tau, q, v, a, out) == 0:
                    return out
        except _check.NOT_FAST:
            pass  # something to convert, to compile or to complain about
    _check.model_data(model, data)
    return _run(model, data, q, _check.velocity(model, "v", v), _check.velocity(model, "a", a), fext, "tau")


def _run(
    model: ClusterModel, data: ClusterData, q: Any, v: np.ndarray, a: np.ndarray, fext: Any, result: str
) -> np.ndarray:
    """Check q and fext, and call the kernel; the field ``result`` of data receives the result as well."""
    q = _check.configuration(model, data, q)
    out = np.empty(model.nv)
    if fext is None:
        _check.status(model, data._rnea.call(data._pointers[result], q, v, a, out), q)
        return out
    _check.put_forces(model, data, fext)
    _check.status(model, data._rnea.call(data._pointers["forced"], q, v, a, out), q)
    getattr(data, result)[:] = out
    return out


def nonLinearEffects(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques: ``rnea`` at a = 0.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.nle`` keeps the result.
        q: Configuration, shape (nq,).
        v: Independent velocity, shape (nv,).

    Returns:
        Torque, shape (nv,), [N m] or [N]; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).
    """
    _check.model_data(model, data)
    return _run(model, data, q, _check.velocity(model, "v", v), np.zeros(model.nv), None, "nle")


def computeGeneralizedGravity(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the gravity torques: ``rnea`` at rest.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.g`` keeps the result.
        q: Configuration, shape (nq,).

    Returns:
        Torque, shape (nv,), [N m] or [N]; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).
    """
    _check.model_data(model, data)
    rest = np.zeros(model.nv)
    return _run(model, data, q, rest, rest, None, "g")


def computeStaticTorque(model: ClusterModel, data: ClusterData, q: Any, fext: Any) -> np.ndarray:
    """Compute the torques that hold the robot at rest under gravity and external forces.

    Args:
        model: Cluster model.
        data: Its workspace; ``data.tau`` keeps the result.
        q: Configuration, shape (nq,).
        fext: External forces in joint frames, as in :func:`rnea`.

    Returns:
        Torque, shape (nv,), [N m] or [N]; a fresh array.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).
    """
    _check.model_data(model, data)
    rest = np.zeros(model.nv)
    return _run(model, data, q, rest, rest, fext, "tau")
