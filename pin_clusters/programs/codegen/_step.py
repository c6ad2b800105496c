"""``step``: a configuration after a time at a constant velocity, with a fixed number of Newton steps in the loops."""

from __future__ import annotations

from ...model import ClusterModel
from ..tracing import Program, trace
from ..tracing.expressions import Graph
from ..tracing.program import objects

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
    *given, dt = Graph().inputs(0, nq + nv + 1)
    found = traced.run(traced.constants.tolist(), [*given[:nq], *(x * dt for x in given[nq:])])
    name, residual = traced.name.replace("integrate", STEP), (found[nq:] or [0.0])
    outputs = {"q_next": objects(found[:nq]), "residual": objects(residual)}
    return Program.of(name, ((q, nq), (v, nv), ("dt", 1)), outputs)
