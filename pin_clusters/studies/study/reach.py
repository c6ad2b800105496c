"""How far the joints of a robot with closed loops can swing about the reference pose, and where the others go."""

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...algorithms.dynamics.condition import condition
from ...errors import BranchLost, ConfigurationError
from ...model import ClusterData, ClusterModel
from ...model.configuration import integrate

CONDITION = 1e3
"""The dependent joints are well determined where the condition of K_d is below this."""
MARGIN = 0.9
"""Part of the way to the end that is taken: towards it the torques grow without bound."""
SMALLEST = 1e-3
"""Least part of the amplitude that is worth a motion."""
_STEPS, _HALVINGS = 200, 40


@dataclass(frozen=True)
class Reach:
    """How far all joints can swing together.

    Attributes:
        amplitude: What was asked for, or 0.9 of the largest possible amplitude, three digits, rounded down.
        end: Largest possible amplitude as far as it was looked for; the same three digits.
        reason: What ends the motion there; empty if the amplitude is what was asked for.
    """

    amplitude: float
    end: float
    reason: str = ""


def reach(model: ClusterModel, directions: np.ndarray, amplitude: float) -> Reach:
    """Return the largest amplitude with which a robot can go from its reference pose in all of some directions.

    Each way is followed by continuation, a two-hundredth at a time, until a loop cannot follow (``BranchLost``) or
    the condition of K_d reaches 1e3; the end is then found by bisection. The amplitude is what was asked for, if it is
    within 0.9 of that end. Limits of joints are not looked at. The same model gives the same result. A direction says
    how far each independent velocity goes per unit of amplitude, [rad] or [m], shape (directions, nv). A reference pose
    that is (nearly) singular, so that there is no swing about it, is a ``ConfigurationError``.
    """
    data = model.createData()
    sought = amplitude / MARGIN
    end, reason = 0.0, _badly_determined(model, data, model.q_reference)
    if not reason:
        end = sought
        for direction in directions:
            end, found = _walk(model, data, direction, end, sought / _STEPS)
            reason = found or reason
    if reason and not end > SMALLEST * amplitude:
        raise ConfigurationError(
            f"model {model.name!r} cannot swing about its reference pose: less than {SMALLEST * amplitude:.3g} rad (m) "
            f"away, {reason}. Load it with another q_reference=, farther from singular poses, or with other joints "
            "independent."
        )
    return Reach(_rounded_down(MARGIN * end), _rounded_down(end), reason) if reason else Reach(amplitude, sought)


def _step(model: ClusterModel, q: np.ndarray, direction: np.ndarray, offset: float) -> np.ndarray:
    """Go from q to an offset from the reference pose; many small steps do not add up their rounding."""
    tree = model.tree
    v_tree = np.zeros(tree.nv)
    v_tree[model.idx_v_independent] = offset * direction
    target = pin.integrate(tree, model.q_reference, v_tree)
    return integrate(model, q, np.ascontiguousarray(pin.difference(tree, q, target)[model.idx_v_independent]))


def _walk(
    model: ClusterModel, data: ClusterData, direction: np.ndarray, bound: float, step: float
) -> tuple[float, str]:
    """Return how far one can go along a direction, not beyond the bound, and what is in the way."""
    done, q, reason = 0.0, model.q_reference, ""
    while done < bound and not reason:
        bad = min(done + step, bound)
        new, reason = _try(model, data, q, direction, bad)
        if not reason:
            done, q = bad, new
    if not reason:
        return bound, ""
    for _ in range(_HALVINGS):
        middle = 0.5 * (done + bad)
        new, found = _try(model, data, q, direction, middle)
        if found:
            bad, reason = middle, found
        else:
            done, q = middle, new
    return done, reason


def _try(
    model: ClusterModel, data: ClusterData, q: np.ndarray, direction: np.ndarray, offset: float
) -> tuple[np.ndarray, str]:
    """Return the configuration at an offset, and why it will not do."""
    try:
        q = _step(model, q, direction, offset)
    except BranchLost as lost:
        return q, f"{labels(model, lost.cluster)} cannot follow"
    return q, _badly_determined(model, data, q)


def _badly_determined(model: ClusterModel, data: ClusterData, q: np.ndarray) -> str:
    for found in condition(model, data, q):
        if not found.K_d < CONDITION:
            return (
                f"{labels(model, found.cluster)} is nearly singular (condition {CONDITION:g} of its dependent joints)"
            )
    return ""


def labels(model: ClusterModel, joints: tuple[str, ...]) -> str:
    """Return what closes the loops of a cluster, in words."""
    sources = {id(c.source) for c in model.closures}
    found = [
        str(c.label)
        for cluster in model.clusters
        if set(joints) & set(cluster.joints)
        for c in cluster.constraints
        if id(c) in sources
    ]
    return (found[0] if len(found) == 1 else f"one of {', '.join(found)}") if found else "a loop"


def _rounded_down(x: float) -> float:
    digits = 2 - math.floor(math.log10(x))
    return math.floor(x * 10.0**digits) / 10.0**digits
