"""The rungs of the ladder: what simulators use in place of exact transmissions.

- ``none``: the rotors do not spin; reflected inertia is left out.
- ``diagonal``: each joint gets its own reflected inertia, ``sum_r J_r g_ri^2``: Pinocchio's ``armature``.
- ``block``: the whole ``sum_r J_r g_r' g_r``, with the coupling of joints that share a belt.

All three lack what the acceleration and the rotation of the carrier do to a spinning rotor. Their links carry the
rotors' inertia, locked, unless it is dropped. For robots with closed loops see ``loop_rungs``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ..algorithms.rnea import rnea
from ..baselines import armature_model
from ..baselines.armature import independent_q, independent_v, reflected_inertia
from ..model import ClusterModel
from . import loop_rungs

RUNGS = ("none", "diagonal", "block")
_CHUNK = 500

Progress = Callable[[int, int], None]


def torques(
    model: ClusterModel,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """Compute inverse dynamics exactly and on each rung.

    Args:
        model: The robot.
        q: Configurations of the tree, shape (N, nq).
        v: Independent velocities, shape (N, nv).
        a: Independent accelerations, shape (N, nv).
        drop_rotors: Leave the rotors out of the approximate robots instead of locking them into their carriers.
        progress: Called with (done, total) now and then.

    Returns:
        ``exact`` and each rung (``RUNGS``, or those of ``loop_rungs`` if there are closed loops): torques, shape
        (N, nv), [N m] or [N].

    Raises:
        PinClustersError: The robot has no such approximation (a dependent joint that is not a rotor).
    """
    data = model.createData()
    calls: dict[str, Callable[[int], np.ndarray]] = {"exact": lambda i: rnea(model, data, q[i], v[i], a[i])}
    if model.closures:
        calls |= loop_rungs.calls(model, q, v, a, drop_rotors)
    else:
        for rung in ("none", "diagonal"):
            calls[rung] = _pinocchio(model, armature_model(model, rung, drop_rotors=drop_rotors), q, v, a)
    total = len(q) * len(calls)
    done = 0
    found = {}
    for rung, call in calls.items():
        tau = np.empty_like(v)
        for start in range(0, len(q), _CHUNK):
            stop = min(start + _CHUNK, len(q))
            for i in range(start, stop):
                tau[i] = call(i)
            done += stop - start
            if progress is not None:
                progress(done, total)
        found[rung] = tau
    if model.closures:
        return found
    reflected = reflected_inertia(model)
    found["block"] = found["diagonal"] + a @ (reflected - np.diag(np.diag(reflected)))
    return found


def _pinocchio(
    model: ClusterModel, tree: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> Callable[[int], np.ndarray]:
    """Return a function of the sample: Pinocchio's torques in the public order."""
    data = tree.createData()
    at_v = independent_v(model, tree)
    q_own = q[:, independent_q(model, tree)]
    v_own, a_own = np.empty_like(v), np.empty_like(a)
    v_own[:, at_v], a_own[:, at_v] = v, a
    return lambda i: pin.rnea(tree, data, q_own[i], v_own[i], a_own[i])[at_v]
