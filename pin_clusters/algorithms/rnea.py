"""Inverse dynamics, and what is inverse dynamics with something set to zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import ClusterData, ClusterModel
from . import _check

_documented = _check.documented(
    """
    Returns:
        Torque, shape (nv,), [N m] or [N]; a fresh array.
    """
)

_empty = np.empty


@_documented
def rnea(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any, fext: Any = None) -> np.ndarray:
    """Compute the joint torques of a motion with the cluster recursive Newton-Euler algorithm.

    Args:
        data: Its workspace; ``data.tau`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``; off them
            the bodies are placed where q says, and move as G says).

    Returns:
        Torque of the independent joints, shape (nv,), [N m] or [N]; a fresh array. NaN and inf propagate.

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


@_documented
def nonLinearEffects(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques: ``rnea`` at a = 0.

    Args:
        data: Its workspace; ``data.nle`` keeps the result.
    """
    _check.model_data(model, data)
    return _run(model, data, q, _check.velocity(model, "v", v), np.zeros(model.nv), None, "nle")


@_documented
def computeGeneralizedGravity(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the gravity torques: ``rnea`` at rest.

    Args:
        data: Its workspace; ``data.g`` keeps the result.
    """
    _check.model_data(model, data)
    rest = np.zeros(model.nv)
    return _run(model, data, q, rest, rest, None, "g")


@_documented
def computeStaticTorque(model: ClusterModel, data: ClusterData, q: Any, fext: Any) -> np.ndarray:
    """Compute the torques that hold the robot at rest under gravity and external forces.

    Args:
        data: Its workspace; ``data.tau`` keeps the result.
    """
    _check.model_data(model, data)
    rest = np.zeros(model.nv)
    return _run(model, data, q, rest, rest, fext, "tau")
