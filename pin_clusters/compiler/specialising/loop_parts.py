"""Traces of the kernel functions that contain no branches on values, for one closed loop of one robot.

In the kernels, such a function can store values in the workspace for another function. In the generated code, an array
called *frame* contains those values that depend on the state. All other values are constants in the traces.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...kernels.tables import layout as at
from ...model import ClusterModel
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.text import body_text
from ..tracing import Program
from ..tracing._sources import source, watching
from ..tracing.expressions import Expression, Graph, select
from ..tracing.run import Run

_LEFT = {"evaluate": ("K", "value"), "predict": ("G", "saved")}
"""For each function that stores numbers in the frame: their workspace fields. These functions are traced first."""
_TABLES = ("index", "params", "work", "C")


def rows_of_loops(model: ClusterModel) -> list[int]:
    views, index = source("tables.views"), model.tables.index
    n = views.header(index)
    return [c for c in range(n.cluster0, n.cluster1) if views.cluster(index, c).kind == at.LOOP]


class Part(NamedTuple):
    """A traced function, and the data that is needed to write calls of it."""

    name: str
    text: str  # LLVM function with one pointer argument per input and output; "" if numbers are only copied
    parameters: Sequence[str]  # names of the arguments that are not constant
    reads: bool  # whether the function reads the frame
    frame_start: int | None  # first index in the frame at which the function stores numbers; None if it stores none
    changed: str  # name of the argument that the function modifies
    computed: Sequence[int]  # indices of the computed numbers in the modified argument
    copied: Sequence[tuple[int, str, int]]  # copied numbers: index, name of the source argument, index in the source
    results: int  # number of returned values
    is_truth: bool  # whether the result is a truth value; a positive number then means true

    def call(self, w: Instructions, given: Sequence[str]) -> list[str]:
        arrays = dict(zip(self.parameters, given, strict=True))
        for i, array, k in self.copied:
            w.store(w.load(arrays[array], k), arrays[self.changed], i)
        if not self.text:
            return []
        frame = arrays.pop("work", "")
        pointers = [f"%{x}" for x in (*arrays.values(), *[frame] * self.reads, *["next"] * bool(self.computed))]
        if self.frame_start is not None:
            pointers.append(w.new(f"getelementptr double, ptr %{frame}, i64 {self.frame_start}"))
        pointers += ["%told"] * bool(self.results)
        w.lines.append(f"  call void @{self.name}({', '.join(f'ptr {x}' for x in pointers)})")
        for k, i in enumerate(self.computed):
            w.store(w.load("next", k), arrays[self.changed], i)
        results = [w.load("told", k) for k in range(self.results)]
        return [w.compare(w.kind, results[0], "ogt 0.0")] if self.is_truth else results


class LoopParts:
    """The traced functions of one cluster, given by its row in the tables; each has at most ``most`` operations."""

    def __init__(self, model: ClusterModel, row: int, most: float) -> None:
        self._model, self._row, self._most = model, row, most
        views, index = source("tables.views"), model.tables.index
        self._C = C = views.cluster(index, row)
        H = views.head(index, C.head)
        L = views.block(H, C.nk)
        velocities = [views.velocity_row(index, n) for n in range(H.velocity0, H.velocity1)]
        self._places = {
            "K": [*range(L.K, L.K + L.nr * L.width)],
            "value": [*range(L.value, L.value + L.nr)],
            "G": [V.at_G + k for V in velocities for k in range(C.nk)],
            "saved": [*range(L.saved, L.saved + L.nd * L.nr)],
        }
        self._sizes = {"v": model.nv, "held": model.own_tree.nv, "step": 1}  # all other arguments are configurations
        self._frame: list[int] = []  # workspace index of each number in the frame
        self._constants: dict[int, float] = {}  # numbers that do not depend on the state, by workspace index
        self.by_name: dict[str, Part] = {}

    def buffers(self) -> list[str]:
        size = max(1, *(len(part.computed) for part in self.by_name.values()))
        return [f"  %next = alloca [{size} x double]", "  %told = alloca [3 x double]"]

    def frame(self) -> str:
        """Return the LLVM instruction that allocates the frame; the outermost function must contain it."""
        return f"  %work{self._row} = alloca [{max(1, len(self._frame))} x double]"

    def trace(self, module: str, name: str) -> None:
        function, fields_left = getattr(source(module), name), _LEFT.get(name, ())
        parameters = [*inspect.signature(function).parameters]
        reads = "work" in parameters and not fields_left
        sizes = {x: self._sizes.get(x, self._model.nq) for x in parameters if x not in _TABLES}
        before = self._inputs(sizes | {"frame": len(self._frame) * reads})
        run, after = Run(self._model), {x: y.copy() for x, y in before.items()}
        source("bodies.placements").start(run.params, run.work)
        source("loops.coupling_of_loops").stand_still(run.work, self._C)
        if reads:
            run.work[[*self._constants]] = [*self._constants.values()]
            run.work[self._frame] = before["frame"]
        arguments = {"index": self._model.tables.index, "params": run.params, "work": run.work, "C": self._C}
        arguments |= {x: y[0] if x == "step" else y for x, y in after.items()}
        with watching() as watched, np.errstate(all="ignore"):
            returned = function(*(arguments[x] for x in parameters))
        changed = [(x, i) for x in sizes for i, y in enumerate(after[x]) if y is not before[x][i]]
        origin = {id(y): (x, i) for x in sizes for i, y in enumerate(before[x])}
        copied = [(i, *origin[id(after[x][i])]) for x, i in changed if id(after[x][i]) in origin]
        computed = {i: after[x][i] for x, i in changed if id(after[x][i]) not in origin}
        results, frame_start = _as_numbers(returned, watched), len(self._frame)
        outputs = {"next": [*computed.values()], "left": self._keep(run.work, fields_left), "told": results}
        written = {x: np.array(y, dtype=object) for x, y in outputs.items() if y}
        program = Program.of(name, [(x, len(y)) for x, y in before.items() if len(y)], written)
        self.by_name[name] = Part(
            f"{name}{self._row}",
            body_text(program, f"{name}{self._row}", Kind("double")) if written else "",
            [x for x in parameters if x in sizes or x == "work"],
            len(before["frame"]) > 0,
            frame_start if outputs["left"] else None,
            changed[0][0] if changed else "",
            [*computed],
            copied,
            len(results),
            isinstance(returned, bool),
        )

    def _inputs(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        graph, first, inputs = Graph(self._most), 0, dict[str, np.ndarray]()
        for x, size in sizes.items():
            inputs[x] = np.array(graph.inputs(first, size), dtype=object)
            first += size
        return inputs

    def _keep(self, work: np.ndarray, names: Sequence[str]) -> list[Expression]:
        """Reserve memory in the frame for workspace values that depend on the state; return these values."""
        places = [i for name in names for i in self._places[name]]
        self._frame += [i for i in places if isinstance(work[i], Expression)]
        self._constants |= {i: work[i] for i in places if not isinstance(work[i], Expression)}
        return [work[i] for i in places if isinstance(work[i], Expression)]


def _as_numbers(found: Any, watched: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return the results as numbers. A truth value becomes 1 or -1, or the least ``pivot - limit`` if that is less."""
    if not isinstance(found, bool):
        return [] if found is None else [*found] if isinstance(found, tuple) else [found]
    least: Any = 1.0 if found else -1.0
    for x, limit in watched:
        least = select(x - limit, least, x - limit, least)
    return [least]
