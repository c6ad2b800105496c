"""What kernels look at while they run, as outputs: nothing that decides is lost when a trace has no decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .expressions import select, square_root
from .run import Run


def status_of(run: Run, watched: Sequence[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    """Return ``pivot``, and with loops ``condition`` and ``open``; each of shape (1,).

    Args:
        run: What has just run.
        watched: Numbers, and what they must exceed.
    """
    pivot = np.inf
    for x, limit in watched:
        margin = x - limit
        pivot = select(margin, pivot, margin, pivot)
    found = {"pivot": np.array([pivot], dtype=object)}
    model = run.model
    if model.closures:
        G = model._topology.G
        run.plain("variations.coupling", "coupling", run.room(G.size + len(G)), run["q"], run.rest)
        conditions = [run.work[one.at] for one in model._tables.conditions]
        for name, squares in (("condition", conditions), ("open", run.opens(still=True))):
            largest = 0.0
            for x in squares:
                largest = select(largest, x, x, largest)
            found[name] = np.array([square_root(largest)], dtype=object)
    return found
