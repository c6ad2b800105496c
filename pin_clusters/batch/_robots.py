"""Rows that are other robots each: numbers of the robot that are given per row."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._engine.kernels.tables.layout import CONDITION_LIMIT
from .._engine.kernels.tables.layout import OPEN as FAR
from ..errors import ArgumentTypeError
from ..model import ClusterModel
from ..programs.tracing import trace, values_of
from ..programs.tracing.numbers import checked
from ._marks import NOT_FINITE, OPEN, SINGULAR, finish
from ._tables import Batch, Given

_WHAT = {"gravity": "acceleration of gravity", "inertial": "pc.parameters(model)", "ratios": "ratios of the robot"}


def given_of(model: ClusterModel, function: str, parameters: Any, rows: int | None) -> list[Given]:
    """Return numbers of robots, by name, as arguments with a row per state, in the order of traces.

    ``rows`` is None if they are elsewhere: then one row for all is not repeated.

    Raises:
        ArgumentTypeError: They are no mapping.
        UnknownNameError: There are no such numbers.
        NotAvailableError: They cannot be given together.
    """
    if not isinstance(parameters, Mapping):
        raise ArgumentTypeError(
            f"parameters must be a dict of arrays, such as {{'ratios': rows}}, got {type(parameters).__name__}."
        )
    found = []
    for name in checked(model, function, tuple(parameters)):
        value, size = parameters[name], len(values_of(model, name))
        if rows is not None and np.ndim(value) == 1 and np.shape(value) == (size,):
            value = np.tile(np.asarray(value, dtype=float), (rows, 1))
        found.append(Given(name, value, (size,), _WHAT[name]))
    return found


def run_program(batch: Batch, function: str, names: tuple[str, ...], *, forced: bool) -> None:
    """Compute all rows with NumPy, column by column: where no machine code can be made; ``names`` of the numbers."""
    program = trace(batch.model, function, fext=forced, parameters=names, status=True)
    found = program(*batch.tables)
    result, (pivot, *loops) = found[0], found[1:]
    batch.out[0][...] = result.reshape(batch.out[0].shape)
    with np.errstate(all="ignore"):
        bad = ~(pivot[:, 0] > 0.0)
        if loops:
            bad |= ~(loops[0][:, 0] < CONDITION_LIMIT)
        batch.status[bad] = SINGULAR
        if loops:
            batch.status[~(loops[1][:, 0] < FAR)] = OPEN
    batch.status[~np.isfinite(np.concatenate(batch.tables, axis=1)).all(axis=1)] = NOT_FINITE
    finish(batch, 4)
