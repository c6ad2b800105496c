"""States of a robot, and what the kernels compute of them: what exported code is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algorithms import aba, centroidal, crba, derivatives, energy, minverse, rnea
from ..configuration import integrate
from ..errors import BranchLost, SingularClusterError
from ..model import ClusterData, ClusterModel
from ._sources import Function

STATES = 4
_TRIES = 12
Results = list[np.ndarray]


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(model: ClusterModel, data: ClusterData, **state: np.ndarray) -> Any:
        return function(model, data, *state.values())

    return call


def _energies(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> Any:
    return energy.computeKineticEnergy(model, data, q, v), energy.computePotentialEnergy(model, data, q)


KERNELS: dict[str, Callable[..., Any]] = {
    "rnea": _plain(rnea.rnea),
    "aba": _plain(aba.aba),
    "crba": _plain(crba.crba),
    "computeMinverse": _plain(minverse.computeMinverse),
    "nonLinearEffects": _plain(rnea.nonLinearEffects),
    "computeGeneralizedGravity": _plain(rnea.computeGeneralizedGravity),
    "energies": _energies,
    "computeRNEADerivatives": _plain(derivatives.computeRNEADerivatives),
    "computeCoriolisMatrix": _plain(derivatives.computeCoriolisMatrix),
}
"""What computes the results of a function by the kernels."""


def states(model: ClusterModel, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Return states about the reference configuration, loops closed.

    Args:
        model: The robot.
        seed: Of the random numbers.

    Returns:
        For each q and v, a, tau of order 1.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(STATES):
        step, q = rng.normal(size=model.nv), model.q_reference
        for halvings in range(_TRIES):
            try:
                q = integrate(model, model.q_reference, 0.5 * 0.5**halvings * step)
                break
            except (BranchLost, SingularClusterError):  # a shorter way
                continue
        found.append({"q": np.array(q)} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")})
    return found


def expected(model: ClusterModel, f: Function, given: dict[str, np.ndarray]) -> Results:
    """Return the outputs of a function at a state.

    Args:
        model: The robot.
        f: The function.
        given: Its inputs, by name.

    Returns:
        An array per output: by the kernel where there is one; of programs by their evaluation in NumPy.
    """
    if f.returned:
        q_next = np.asarray(integrate(model, given["q"], given["v"] * given["dt"]))
        return [q_next, np.zeros(1)]
    kernel = KERNELS.get(f.name)
    if kernel is None:
        raw = f.program(*(given[name] for name, _ in f.program.inputs))
    else:
        raw = kernel(model, model.createData(), **given)
    return [np.array(x, dtype=float) for x in (raw if isinstance(raw, tuple) else (raw,))]
