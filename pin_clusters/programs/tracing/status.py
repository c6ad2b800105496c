"""What kernels look at while they run, as outputs: nothing that decides is lost when a trace has no decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._engine.kernels.tables import layout
from ._sources import source
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
        # after it the equations at q stand in the workspace
        G = model._topology.G
        run.plain("variations.coupling", "coupling", run.room(G.size + len(G)), run["q"], run.rest)
        worst = condition = 0.0
        for one in model._tables.conditions:
            x = run.work[one.at]
            condition = select(condition, x, x, condition)
        views = source("tables.views")
        n = views.header(model._index)
        for c in range(n.cluster0, n.cluster1):
            C = views.cluster(model._index, c)
            if C.kind == layout.LOOP:
                x = source("loops.closure_values").largest_value(model._index, run.params, run.work, run["q"], C)
                worst = select(worst, x, x, worst)
        for name, square in (("condition", condition), ("open", worst)):
            found[name] = np.array([square_root(square)], dtype=object)
    return found
