"""What became of the rows: those that are not good are made NaN, and said."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._kernels.layout import OPEN as _OPEN
from ..configuration import residual, residual_rows
from ..constraints.closures import FunctionFailedError
from ..errors import BranchLost, ConfigurationError, PinClustersWarning, SimulationError, SingularClusterError
from ._tables import Batch

OPEN, SINGULAR, NOT_FINITE = 1, 2, 3
"""Status of rows: a loop is open (or cannot follow), something is singular, the input is not finite."""
_LOOPS = "in {0} a loop of model {name!r} is open, in {1} it is singular"
_CURE = "Pass status=np.zeros(N, dtype=np.int8) to see which; pc.project(model, q) closes a row."


def mark_input(batch: Batch) -> None:
    """Mark rows whose input is not finite."""
    with np.errstate(all="ignore"):
        for table in batch.tables:
            if not math.isfinite(table.sum()):  # or finite numbers have a sum that is not
                batch.status[~np.isfinite(table).all(axis=1)] = NOT_FINITE


def finish(batch: Batch, level: int, said: str = _LOOPS, cure: str = _CURE, *, look: bool = True) -> None:
    """Mark rows, make those NaN that are not good, and warn of those that failed, if nobody asked for the status.

    Args:
        batch: With its results.
        level: Of the caller of this: how many calls the user is away.
        said: Of how many rows are open and singular.
        cure: What to do about it.
        look: Whether results that are not finite are still to be found.
    """
    mark_input(batch)
    status = batch.status
    with np.errstate(all="ignore"):
        for out in batch.out if look else ():
            if not math.isfinite(out.sum()):
                bad = ~np.isfinite(out.reshape(batch.rows, -1)).all(axis=1)
                status[bad & (status == 0)] = SINGULAR
    if not status.any():
        return
    for out in batch.out:
        out[status != 0] = np.nan
    failed = [int(np.count_nonzero(status == code)) for code in (OPEN, SINGULAR)]
    if not batch.asked and any(failed):
        counts = said.format(*failed, name=batch.model.name)
        text = f"{sum(failed)} of {batch.rows} rows are NaN: {counts}. {cure}"
        warnings.warn(text, PinClustersWarning, stacklevel=level + 1)


def one_by_one(batch: Batch, function: Callable[[int], Any], rows: Iterable[int]) -> None:
    """Run a function of one state for rows whose input is finite; errors of the state become their status."""
    for n in rows:
        if batch.status[n] == NOT_FINITE:
            continue
        batch.status[n] = 0
        try:
            found = function(n)
        except (SingularClusterError, FunctionFailedError):
            batch.status[n] = SINGULAR
        except ConfigurationError:
            batch.status[n] = OPEN
        except SimulationError as error:
            kinds = {SingularClusterError: SINGULAR, BranchLost: OPEN}
            batch.status[n] = next((s for kind, s in kinds.items() if isinstance(error.__cause__, kind)), NOT_FINITE)
        else:
            for out, x in zip(batch.out, found if isinstance(found, tuple) else (found,), strict=True):
                out[n] = x


def all_one_by_one(batch: Batch, function: Callable[[int], Any], level: int, *, closed: bool = True) -> None:
    """Do so for all rows, where no kernel can: without the JIT, or for functions of the user in Python.

    Args:
        batch: Without results.
        function: Of the number of a row.
        level: As of ``finish``.
        closed: Whether loops must be closed.
    """
    mark_input(batch)
    model = batch.model
    skipped = len(model.coupling_rows)
    looks = closed and bool(model.closures)
    allowed = _OPEN * np.array([row.scale for row in residual_rows(model)])[skipped:] if looks else None

    def of_row(n: int) -> Any:
        if looks and np.any(np.abs(residual(model, batch.tables[0][n])[skipped:]) > allowed):
            raise ConfigurationError("a loop is open")
        return function(n)

    one_by_one(batch, of_row, range(batch.rows))
    finish(batch, level + 1)
