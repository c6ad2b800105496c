"""What became of the rows: those that are not good are made NaN, and said."""

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..constraints.called import FunctionFailedError
from ..errors import BranchLost, ConfigurationError, PinClustersWarning, SimulationError, SingularClusterError
from ..kernels.tables import layout as at
from ..model.configuration import residual, residual_rows
from ._tables import Batch

OPEN, SINGULAR, NOT_FINITE = at.ROW_OPEN, at.ROW_SINGULAR, at.ROW_NOT_FINITE
"""Status of rows: a loop is open (or cannot follow), something is singular, the input is not finite."""
_WHICH = "Pass status=np.zeros(N, dtype=np.int8) to see which"


class Said(NamedTuple):
    """What is said of rows that failed: how many have which status, and what to do."""

    counts: str
    cure: str


STATES = Said("in {0} a loop of model {name!r} is open, in {1} it is singular", "pc.project(model, q) closes a row")
MOVES = Said("in {0} a loop of model {name!r} cannot follow, in {1} it is singular", "pc.integrate of a row says why")
PROJECTIONS = Said(
    "in {0} the couplings or loops of model {name!r} cannot be fulfilled, in {1} a loop is singular",
    "pc.project of a row says why",
)
SIMULATIONS = Said(
    "in {0} model {name!r} starts off its couplings or loops, or a loop cannot follow, in {1} it is singular, in {2} "
    "the motion diverges",
    "pc.simulate of a row says why",
)


def mark_input(batch: Batch) -> int:
    """Mark rows whose input is not finite, and return how many there are."""
    bad = np.zeros(batch.rows, dtype=bool)
    with np.errstate(all="ignore"):
        for table in batch.tables:
            if not math.isfinite(table.sum()):  # or finite numbers have a sum that is not
                bad |= ~np.isfinite(table).all(axis=1)
    batch.status[bad] = NOT_FINITE
    return int(np.count_nonzero(bad))


def finish(batch: Batch, level: int, said: Said = STATES, *, look: bool = True) -> None:
    """Mark rows, make those NaN that are not good, and warn of those that failed, if nobody asked for the status.

    Args:
        batch: With its results.
        level: Of the caller of this: how many calls the user is away.
        said: In the warning.
        look: Whether results that are not finite are still to be found.
    """
    without_numbers, status = mark_input(batch), batch.status
    with np.errstate(all="ignore"):
        for out in batch.out if look else ():
            if not math.isfinite(out.sum()):
                bad = ~np.isfinite(out.reshape(batch.rows, -1)).all(axis=1)
                status[bad & (status == 0)] = SINGULAR
    settle(batch, level + 1, said, without_numbers)


def settle(batch: Batch, level: int, said: Said = STATES, without_numbers: int | None = None) -> None:
    """Do so where all rows have been marked: kernels on packs do it.

    ``without_numbers``: how many rows are not finite because their input is not; all of them by default.
    """
    status = batch.status
    if not status.any():
        return
    for out in batch.out:
        out[status != 0] = np.nan
    failed = [int(np.count_nonzero(status == code)) for code in (OPEN, SINGULAR, NOT_FINITE)]
    failed[-1] -= failed[-1] if without_numbers is None else without_numbers
    if not batch.asked and any(failed):
        counts = said.counts.format(*failed, name=batch.model.name)
        text = f"{sum(failed)} of {batch.rows} rows are NaN: {counts}. {_WHICH}; {said.cure}."
        warnings.warn(text, PinClustersWarning, stacklevel=level + 1)


def one_by_one(batch: Batch, function: Callable[[int], Any], rows: Iterable[int]) -> None:
    """Run a function of one state for rows whose input is finite; errors of the state become their status."""
    for n in rows:
        if batch.status[n] == NOT_FINITE:
            continue
        batch.status[n] = 0
        try:
            with np.errstate(all="ignore"):  # as in kernels
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


def all_one_by_one(batch: Batch, function: Callable[[int], Any], level: int, said: Said = STATES) -> None:
    """Do so for all rows, where no kernel can: without the JIT, or for functions of the user in Python.

    Loops must be closed for what is about ``STATES``.
    """
    mark_input(batch)
    model = batch.model
    skipped = len(model.coupling_rows)
    looks = said is STATES and bool(model.closures)
    allowed = at.OPEN * np.array([row.scale for row in residual_rows(model)])[skipped:] if looks else None

    def of_row(n: int) -> Any:
        if looks and np.any(np.abs(residual(model, batch.tables[0][n])[skipped:]) > allowed):
            raise ConfigurationError("a loop is open")
        return function(n)

    one_by_one(batch, of_row, range(batch.rows))
    finish(batch, level + 1, said)
