"""What is traced of moves of closed loops, loop by loop: all between two decisions.

How far loops are open, the step that Newton's method takes, the rates that G predicts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...kernels.tables import layout as at
from ...model import ClusterModel
from ..machine_code.kinds import Kind
from ..machine_code.text import body_text
from ..tracing import Program
from ..tracing._sources import source, watching
from ..tracing.expressions import Expression, Graph, select
from ..tracing.run import Run


class LoopParts:
    """The parts of one cluster, of a row of the tables; ``columns``: indices in v of its independent velocities."""

    def __init__(self, model: ClusterModel, row: int, most: float) -> None:
        self._model, self.row, self._most = model, row, most
        views, index = source("tables.views"), model.tables.index
        self._C = C = views.cluster(index, row)
        self._H = H = views.head(index, C.head)
        self._L = source("tables.views").block(H, C.nk)
        self._velocities = [views.velocity_row(index, n) for n in range(H.velocity0, H.velocity1)]
        self.columns = [views.listed(index, C.column, k) for k in range(C.nk)]
        self._K: list[int] = []  # which numbers of K depend on q; the others are known from the first trace on
        self._fixed: dict[int, float] = {}

    def traced(
        self, name: str, given: Mapping[str, int], write: Callable[[Run], Mapping[str, Any]]
    ) -> str:  # fmt: skip
        """Return the function that computes what is traced: a pointer per input, then one per output."""
        graph, first = Graph(self._most), 0
        run = Run(self._model)
        for key, size in given.items():
            run.inputs[key] = np.array(graph.inputs(first, size), dtype=object)
            first += size
        source("bodies.placements").start(run.params, run.work)
        source("loops.coupling_of_loops").stand_still(run.work, self._C)
        with np.errstate(all="ignore"):
            outputs = {key: np.array(x, dtype=object) for key, x in write(run).items()}
        return body_text(Program.of(name, list(given.items()), outputs), f"{name}{self.row}", Kind("double"))

    def evaluated(self, run: Run) -> dict[str, Any]:
        """K, the values, and of these: the largest, what it may be, a sum that is no number if one of them is none."""
        tables, L, q = (run.model.tables.index, run.params, run.work), self._L, run["q"]
        source("loops.coupling_of_loops").place_bodies(*tables, q, self._C)
        source("loops.closure_rows").equations(*tables, q, self._C)
        source("loops.closure_values").values(*tables, q, self._C)
        K = [run.work[L.K + i] for i in range(L.nr * L.width)]
        self._K = [i for i, x in enumerate(K) if isinstance(x, Expression)]
        self._fixed = {i: x for i, x in enumerate(K) if not isinstance(x, Expression)}
        values = [run.work[L.value + i] for i in range(L.nr)]
        far = _largest([q[V.iq + k] for V in self._velocities for k in range(V.nq)])
        far = select(far, 100.0, 1.0, 0.01 * far)
        told = [_largest(values), at.TOLERANCE * far, _sum(values)]
        return {"K": [K[i] for i in self._K], "values": values, "told": told}

    def _know(self, run: Run) -> None:
        """Put K and the values where ``evaluated`` had them."""
        L = self._L
        for i, x in self._fixed.items():
            run.work[L.K + i] = x
        for i, x in zip(self._K, run["K"], strict=True):
            run.work[L.K + i] = x
        if "values" in run.inputs:
            run.work[L.value : L.value + L.nr] = run["values"]

    def stepped(self, run: Run) -> dict[str, Any]:
        """The coordinates after the step of the dependent joints, and its length."""
        self._know(run)
        source("moves.following").step_dependents(run.model.tables.index, run.work, self._C)
        rates = self._rates(run)[: self._L.nd]
        return {"next": self._moved(run, 1.0), "told": [_largest(rates), _sum(rates)]}

    def stepped_all(self, run: Run) -> dict[str, Any]:
        """Rates of the step of all joints, its length, and the least pivot."""
        self._know(run)
        with watching() as watched:
            source("moves.closing").step_all(run.model.tables.index, run.work, run["held"], self._C)
        pivot: Any = np.inf
        for x, limit in watched:
            pivot = select(x - limit, pivot, x - limit, pivot)
        rates = self._rates(run)
        return {"rates": rates, "told": [_largest(rates), _sum(rates), pivot]}

    def predicted(self, run: Run) -> dict[str, Any]:
        """Rates along v, and P; the length of the dependent ones, the condition."""
        tables, L = (run.model.tables.index, run.params, run.work), self._L
        loops = source("loops.coupling_of_loops")
        loops.prepare(*tables, run["q"], self._C)
        loops.rates_of(run.model.tables.index, run.work, run["v"], self._C)
        rates = self._rates(run)
        told = [_largest(rates[: L.nd]), _sum(rates), run.work[L.condition]]
        return {"rates": rates, "P": run.work[L.P : L.P + L.nd * L.nr], "told": told}

    def sided(self, run: Run) -> dict[str, Any]:
        """The sign of det(P K_d)."""
        L = self._L
        self._know(run)
        run.work[L.saved : L.saved + L.nd * L.nr] = run["P"]
        return {"told": [source("moves.following").side(run.work, L)]}

    def advanced(self, run: Run) -> dict[str, Any]:
        """The coordinates after a part of the way."""
        for V, x in zip(self._velocities, run["rates"], strict=True):
            run.work[V.at_rate] = x
        return {"next": self._moved(run, run["part"][0])}

    def _rates(self, run: Run) -> list[Any]:
        return [run.work[V.at_rate] for V in self._velocities]

    def _moved(self, run: Run, part: Any) -> list[Any]:
        q = run["q"].copy()
        source("moves.following").advance(run.model.tables.index, run.work, q, self._C, part)
        self._changed = [i for i, x in enumerate(q) if x is not run["q"][i]]
        return [q[i] for i in self._changed]


def _largest(numbers: Sequence[Any]) -> Any:
    """Return the largest of absolute values."""
    worst: Any = 0.0
    for x in numbers:
        size = select(x, 0.0, -x, x)
        worst = select(worst, size, size, worst)
    return worst


def _sum(numbers: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x in numbers:
        total = total + x
    return total
