"""Compute how far the joints of a robot with closed loops can move from the reference pose."""

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...algorithms.dynamics.condition import condition
from ...errors import BranchLost, ConfigurationError
from ...model import ClusterData, ClusterModel
from ...model.configuration import integrate

CONDITION = 1e3  # Condition number of the dependent-joint Jacobian at which these joints count as ill-determined
MARGIN = 0.9  # Used fraction of the largest amplitude; torques grow without bound near the limit
SMALLEST = 1e-3  # Smallest usable fraction of the requested amplitude
_STEPS, _HALVINGS = 200, 40


@dataclass(frozen=True)
class Reach:
    """Largest amplitude that all joints can reach at the same time.

    Attributes:
        amplitude: Requested amplitude or, if smaller, 0.9 times ``end``, rounded down to three digits.
        end: Largest possible amplitude within the searched range, rounded down to three digits.
        reason: Reason why the motion cannot continue beyond ``end``; empty if the requested amplitude is possible.
    """

    amplitude: float
    end: float
    reason: str = ""


def reach(model: ClusterModel, directions: np.ndarray, amplitude: float) -> Reach:
    """Find the largest amplitude that a robot can reach from its reference pose in all given directions.

    Continuation follows each direction up to ``amplitude / 0.9``, in 200 steps. It stops if a loop cannot follow
    (``BranchLost``) or if the dependent-joint Jacobian K_d has a condition number of 1e3. Bisection then locates the
    limit. The requested amplitude is returned if it is at most 0.9 times this limit. Joint limits are ignored.

    ``directions``, shape (directions, nv), contains the displacement along each independent velocity coordinate per
    unit of amplitude, [rad] or [m]. A (nearly) singular reference pose raises ``ConfigurationError``.
    """
    data = model.createData()
    sought = amplitude / MARGIN
    end, reason = 0.0, _badly_determined(model, data, model.q_reference)
    if not reason:
        end = sought
        for direction in directions:
            end, limit_reason = _walk(model, data, direction, end, sought / _STEPS)
            reason = limit_reason or reason
    if reason and not end > SMALLEST * amplitude:
        raise ConfigurationError(
            f"model {model.name!r} cannot swing about its reference pose: less than {SMALLEST * amplitude:.3g} rad (m) "
            f"away, {reason}. Load it with another q_reference=, farther from singular poses, or with other "
            "independent joints."
        )
    return Reach(_rounded_down(MARGIN * end), _rounded_down(end), reason) if reason else Reach(amplitude, sought)


def _step(model: ClusterModel, q: np.ndarray, direction: np.ndarray, offset: float) -> np.ndarray:
    """Move from q to reference pose + ``offset * direction``; a step relative to q would accumulate rounding errors."""
    tree = model.tree
    v_tree = np.zeros(tree.nv)
    v_tree[model.idx_v_independent] = offset * direction
    target = pin.integrate(tree, model.q_reference, v_tree)
    return integrate(model, q, np.ascontiguousarray(pin.difference(tree, q, target)[model.idx_v_independent]))


def _walk(
    model: ClusterModel, data: ClusterData, direction: np.ndarray, bound: float, step: float
) -> tuple[float, str]:
    """Find how far the robot can move along a direction, at most to ``bound``, and the reason for stopping."""
    reached, q, reason = 0.0, model.q_reference, ""
    while reached < bound and not reason:
        unreachable = min(reached + step, bound)
        q_next, reason = _try(model, data, q, direction, unreachable)
        if not reason:
            reached, q = unreachable, q_next
    if not reason:
        return bound, ""
    for _ in range(_HALVINGS):
        middle = 0.5 * (reached + unreachable)
        q_next, failure = _try(model, data, q, direction, middle)
        if failure:
            unreachable, reason = middle, failure
        else:
            reached, q = middle, q_next
    return reached, reason


def _try(
    model: ClusterModel, data: ClusterData, q: np.ndarray, direction: np.ndarray, offset: float
) -> tuple[np.ndarray, str]:
    try:
        q = _step(model, q, direction, offset)
    except BranchLost as lost:
        return q, f"{labels(model, lost.cluster)} cannot follow"
    return q, _badly_determined(model, data, q)


def _badly_determined(model: ClusterModel, data: ClusterData, q: np.ndarray) -> str:
    for state in condition(model, data, q):
        if not state.K_d < CONDITION:
            return (
                f"{labels(model, state.cluster)} is nearly singular (dependent joints: condition number {CONDITION:g})"
            )
    return ""


def labels(model: ClusterModel, joints: tuple[str, ...]) -> str:
    sources = {id(c.source) for c in model.closures}
    names = [
        str(c.label)
        for cluster in model.clusters
        if set(joints) & set(cluster.joints)
        for c in cluster.constraints
        if id(c) in sources
    ]
    return (names[0] if len(names) == 1 else f"one of {', '.join(names)}") if names else "a loop"


def _rounded_down(x: float) -> float:
    digits = 2 - math.floor(math.log10(x))
    return math.floor(x * 10.0**digits) / 10.0**digits
