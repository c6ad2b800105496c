"""The algorithms by name, with what they take: for tests that must hold for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from samples import trees

import pin_clusters as pc
from pin_clusters.compiler.operations import STATE_FUNCTIONS


class State(NamedTuple):
    model: pc.ClusterModel
    data: pc.ClusterData
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    fext: np.ndarray


def state(model: pc.ClusterModel | None = None, seed: int = 0) -> State:
    model = trees.geared_arm(floating=True).build() if model is None else model
    q, v, a, fext = trees.random_state(model, np.random.default_rng(seed))
    return State(model, model.createData(), q, v, a, fext)


# every algorithm, and which of q, v, a it takes; the third vector of aba is tau
def _declared(group: str) -> dict[str, tuple[Callable[..., Any], str]]:
    """Functions of a group that take a state and no forces."""
    return {
        one.name: (getattr(pc, one.name), "".join(one.inputs).replace("tau", "a"))
        for one in STATE_FUNCTIONS
        if one.called and one.operation.group == group and "fext" not in one.inputs
    }


DYNAMICS = _declared("data")
OTHERS: dict[str, tuple[Callable[..., Any], str]] = {
    "computeAllTerms": (pc.computeAllTerms, "qv"),
    "forwardKinematics": (pc.forwardKinematics, "qva"),
    "framesForwardKinematics": (pc.framesForwardKinematics, "q"),
    "computeJointJacobians": (pc.computeJointJacobians, "q"),
    "computeJointJacobiansTimeVariation": (pc.computeJointJacobiansTimeVariation, "qv"),
    "centerOfMass": (pc.centerOfMass, "qva"),
    "jacobianCenterOfMass": (pc.jacobianCenterOfMass, "q"),
    "computeCentroidalMap": (pc.computeCentroidalMap, "q"),
    "computeCentroidalMomentum": (pc.computeCentroidalMomentum, "qv"),
    "ccrba": (pc.ccrba, "qv"),
    **_declared("regressor"),
    "rotor_velocity": (pc.rotor_velocity, "qv"),
    "actuation_matrix": (pc.actuation_matrix, "q"),
    "coupling_jacobian": (pc.coupling_jacobian, "q"),
    "spanning_velocity": (pc.spanning_velocity, "qv"),
    "spanning_acceleration": (pc.spanning_acceleration, "qva"),
    "inverse_operational_inertia": (
        lambda model, data, q: pc.inverse_operational_inertia(model, data, q, [3, 1]),
        "q",
    ),
    "operational_inertia": (
        lambda model, data, q: pc.operational_inertia(model, data, q, [3], damping=1.0),
        "q",
    ),
    "apply_test_force": (
        lambda model, data, q: pc.apply_test_force(model, data, q, 3, np.ones(6))[0],
        "q",
    ),
    "inverse_input_matrix": (
        lambda model, data, q: pc.inverse_input_matrix(model, data, q, contacts=[3]),
        "q",
    ),
    "point_response": (
        lambda model, data, q, v: (
            pc.point_response(model, data, q, v, [getattr(model, "njoints", 3) - 1, 1], np.eye(3)[:2]).velocities
        ),
        "qv",
    ),
}
ALL = {**DYNAMICS, **OTHERS}


def call(name: str, s: State, **changes: Any) -> Any:
    function, takes = ALL[name]
    return function(s.model, s.data, *(changes.get(x, getattr(s, x)) for x in takes))


def rows(s: State, n: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.tile(s.q, (n, 1)), np.tile(s.v, (n, 1)), np.tile(s.a, (n, 1))
