"""``step``: a configuration after a time at a constant velocity, with a fixed number of Newton steps in the loops."""

from __future__ import annotations

import numpy as np

from ...model import ClusterModel
from ..tracing import Program, trace
from ..tracing.expressions import MUL

STEP = "step"


def step(model: ClusterModel) -> Program:
    """Return the program of a step.

    Args:
        model: The robot.

    Returns:
        A program with the inputs q, v and dt [s] and the outputs q_next and residual, of size 1: the largest entry of
        the loops' equations, [m] or [rad]; 0 without loops.

    Raises:
        NotAvailableError: Integration of this robot cannot be traced.
    """
    return scaled(trace(model, "integrate"))


def scaled(traced: Program) -> Program:
    """Return that program of q, v and dt, of one of q and of v during a unit of time."""
    (q, nq), (v, nv) = traced.inputs
    constants, old = [*traced.constants.tolist(), 0.0], traced.operations
    zero, first_v = len(constants) - 1, len(constants) + nq
    dt, first = first_v + nv, first_v + nv + 1
    # where each number of the traced program is now: its velocities are products with the time
    moved = np.concatenate([
        np.arange(zero), len(constants) + np.arange(nq), first + np.arange(nv), first + nv + np.arange(len(old)),
    ])  # fmt: skip
    rows = [[MUL, first_v + i, dt, 0, 0] for i in range(nv)]
    rows += np.column_stack([old[:, :1], moved[old[:, 1:]]]).tolist()
    results = [*moved[traced.results].tolist(), zero][: nq + 1]
    return Program(
        traced.name.replace("integrate", STEP), ((q, nq), (v, nv), ("dt", 1)), (("q_next", (nq,)), ("residual", (1,))),
        np.array(constants), np.array(rows, dtype=np.int32).reshape(-1, 5), np.array(results, dtype=np.int32),
    )  # fmt: skip
