"""Status of rows. Failed rows become NaN, and a warning reports them."""

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
"""Status of rows with a violated loop constraint, a singular loop or mass matrix, or input that is not finite."""
_WHICH = "Pass status=np.zeros(N, dtype=np.int8) to see which rows failed"


class Report(NamedTuple):
    """Text of the warning about failed rows: a template for the counts per status, and a remedy."""

    counts: str
    cure: str


STATES = Report(
    "a loop of model {name!r} is open in {0} rows and singular in {1} rows", "pc.project(model, q) closes the loops"
)
MOVES = Report(
    "a loop of model {name!r} cannot close in {0} rows and is singular in {1} rows", "pc.integrate shows the reason"
)
PROJECTIONS = Report(
    "the constraints of model {name!r} have no solution in {0} rows, and a loop is singular in {1} rows",
    "pc.project shows the reason",
)
SIMULATIONS = Report(
    "in {0} rows the initial state violates the constraints of model {name!r} or a loop cannot close, in {1} rows a "
    "loop is singular, and in {2} rows the motion diverges",
    "pc.simulate shows the reason",
)


def mark_input(batch: Batch) -> int:
    bad = np.zeros(batch.rows, dtype=bool)
    with np.errstate(all="ignore"):
        for table in batch.tables:
            if not math.isfinite(table.sum()):  # the sum of finite numbers can overflow, so rows are tested too
                bad |= ~np.isfinite(table).all(axis=1)
    batch.status[bad] = NOT_FINITE
    return int(np.count_nonzero(bad))


def finish(batch: Batch, level: int, report: Report = STATES, *, check_results: bool = True) -> None:
    """Mark failed rows, set them to NaN, and warn about them unless the user passed a status array.

    ``level`` counts stack frames from the caller to user code. If ``check_results``, rows with NaN or inf also fail.
    """
    without_numbers, status = mark_input(batch), batch.status
    with np.errstate(all="ignore"):
        for out in batch.out if check_results else ():
            if not math.isfinite(out.sum()):
                bad = ~np.isfinite(out.reshape(batch.rows, -1)).all(axis=1)
                status[bad & (status == 0)] = SINGULAR
    settle(batch, level + 1, report, without_numbers)


def settle(batch: Batch, level: int, report: Report = STATES, without_numbers: int | None = None) -> None:
    """Set failed rows to NaN and warn. The warning ignores ``without_numbers`` of the rows of status 3 (None: all)."""
    status = batch.status
    if not status.any():
        return
    for out in batch.out:
        out[status != 0] = np.nan
    failed = [int(np.count_nonzero(status == code)) for code in (OPEN, SINGULAR, NOT_FINITE)]
    failed[-1] -= failed[-1] if without_numbers is None else without_numbers
    if not batch.asked and any(failed):
        counts = report.counts.format(*failed, name=batch.model.name)
        text = f"{sum(failed)} of {batch.rows} rows are NaN: {counts}. {_WHICH}; {report.cure}."
        warnings.warn(text, PinClustersWarning, stacklevel=level + 1)


def one_by_one(batch: Batch, function: Callable[[int], Any], rows: Iterable[int]) -> None:
    """Run a function for one state on each row with finite input; exceptions caused by a state set the row's status."""
    for n in rows:
        if batch.status[n] == NOT_FINITE:
            continue
        batch.status[n] = 0
        try:
            with np.errstate(all="ignore"):  # as in kernels, floating-point errors are ignored
                results = function(n)
        except (SingularClusterError, FunctionFailedError):
            batch.status[n] = SINGULAR
        except ConfigurationError:
            batch.status[n] = OPEN
        except SimulationError as error:
            kinds = {SingularClusterError: SINGULAR, BranchLost: OPEN}
            batch.status[n] = next((s for kind, s in kinds.items() if isinstance(error.__cause__, kind)), NOT_FINITE)
        else:
            for out, x in zip(batch.out, results if isinstance(results, tuple) else (results,), strict=True):
                out[n] = x


def all_one_by_one(batch: Batch, function: Callable[[int], Any], level: int, report: Report = STATES) -> None:
    """Call a function for each row in Python. If ``report`` is ``STATES``, rows with an open loop fail."""
    mark_input(batch)
    model = batch.model
    skipped = len(model.coupling_rows)
    looks = report is STATES and bool(model.closures)
    allowed = at.OPEN * np.array([row.scale for row in residual_rows(model)])[skipped:] if looks else None

    def of_row(n: int) -> Any:
        if looks and np.any(np.abs(residual(model, batch.tables[0][n])[skipped:]) > allowed):
            raise ConfigurationError("a loop is open")
        return function(n)

    one_by_one(batch, of_row, range(batch.rows))
    finish(batch, level + 1, report)
