"""A specialised function of rows: packs of states, and what became of each row."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable

import numpy as np

from ..._engine.kernels.tables import layout as at
from ..._engine.kernels.tables.layout import CONDITION_LIMIT
from ..._engine.operations import Function
from ...model import ClusterModel
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.loading import load
from ..machine_code.machine import lanes_of_host
from ..machine_code.text import body_text, loop_text, module_text
from ..tracing import Program
from .functions import traced, without_collector
from .limb_loops import LimbLoops
from .module import groups_of, in_lanes

Rows = Callable[..., None]
_ENOUGH, _REPEATS = 64, 7
"""How many rows are compared, and how often."""
# of what is looked at: when it is bad, and the status of such a row; the first that is bad counts
_LOOKED_AT = (
    ("opens", f"uge {at.OPEN**2!r}", at.ROW_OPEN),
    ("conditions", f"uge {CONDITION_LIMIT**2!r}", at.ROW_SINGULAR),
    ("pivots", "ole 0.0", at.ROW_SINGULAR),
)


class MadeRows:
    """The specialised code of rows.

    Attributes:
        name: Of the function of batches.
        run: ``f(*inputs, result, status, first, last)`` of addresses, without the interpreter lock; None: the kernel
            fails at every state.
        size: Bytes of its object code.
        made_in: How long it took, [s].
        time: Per row, [s]; None before it was compared.
        rival: Of the kernel that reads tables.
    """

    def __init__(self, model: ClusterModel, function: Function) -> None:
        start = time.perf_counter()
        self.name, self.size = f"batch.{function.name}", 0
        self.time: float | None = None
        self.rival: float | None = None
        self.run = self._made(model, function)
        self.made_in = time.perf_counter() - start

    @property
    def chosen(self) -> bool:
        """Whether it is taken."""
        return self.run is not None and (self.time is None or self.rival is None or self.time <= self.rival)

    def is_open(self, rows: int) -> bool:
        """Whether it has not been compared, and a batch of so many rows will do."""
        return self.run is not None and self.time is None and rows >= _ENOUGH

    def meet(self, own: Callable[[int, int], object], tables: Callable[[int, int], object]) -> None:
        """Compare with the kernel on the first rows of a batch.

        Args:
            own: Runs rows first..last-1.
            tables: The kernel does so.
        """
        best = {own: math.inf, tables: math.inf}
        for _ in range(_REPEATS):
            for run in (own, tables):
                start = time.perf_counter()
                run(0, _ENOUGH)
                best[run] = min(best[run], (time.perf_counter() - start) / _ENOUGH)
        self.time, self.rival = best[own], best[tables]

    @without_collector()
    def _made(self, model: ClusterModel, function: Function) -> Rows | None:
        """Return ``run``.

        Raises:
            NotAvailableError: A compiled function of the user ties joints of the robot.
        """
        groups, lanes = groups_of(model, function), lanes_of_host()
        rebuilt = in_lanes(model, function, groups, opens=True) if groups else None
        found = rebuilt[0] if rebuilt is not None else traced(model, function, opens=True)
        if found is None:
            return None
        outputs = {"result": found.result}
        outputs |= {name: np.array(getattr(found, name), dtype=object) for name, *_ in _LOOKED_AT}
        if rebuilt is not None:
            _, new, results = rebuilt
            core = LimbLoops(found.inputs, [len(g) for g in groups], new.packs, lanes).text(results, list(outputs))
        else:
            core = body_text(Program.of(model.name, found.inputs, outputs), "pack", Kind("double", lanes))
        text = _module(core, found.inputs, {name: len(x) for name, x in outputs.items()}, lanes)
        loaded = load(text, optimise=False)  # it would take out of loops what then has to wait in memory
        self.size = loaded.size
        pointers = [ctypes.c_void_p] * (len(found.inputs) + 2)
        kind = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64, ctypes.c_int64)
        run: Rows = kind(loaded.address("rows"))
        return run


def _module(core: str, arrays: list[tuple[str, int]], sizes: dict[str, int], lanes: int) -> str:
    kind = Kind("double", lanes)
    inputs = [(f"in.{name}", n) for name, n in arrays]
    result, *looked_at = [(f"out.{name}", n) for name, n in sizes.items()]
    status = _status(kind, inputs, sizes)
    rows = loop_text("rows", "pack", kind, inputs, [result], looked_at, ["status"], status)
    return module_text(core, rows, rows=("double", lanes))


def _status(kind: Kind, inputs: list[tuple[str, int]], sizes: dict[str, int]) -> list[str]:
    """Write what became of the rows of a pack."""
    w, t, small = Instructions(kind), kind.name, f"<{kind.lanes} x i8>"

    def finite(arrays: list[tuple[str, int]]) -> str:
        sums = [kind.constant(0.0)] * 4  # several, as each waits for the one before
        for i, (array, k) in enumerate((array, k) for array, n in arrays for k in range(n)):
            product = w.new(f"fmul contract {t} {w.load(array, k)}, {kind.constant(0.0)}")
            sums[i % 4] = w.new(f"fadd contract {t} {sums[i % 4]}, {product}")
        while len(sums) > 1:
            sums = [w.new(f"fadd {t} {a}, {b}") for a, b in zip(sums[::2], sums[1::2], strict=True)]
        return w.compare(kind, sums[0], "ord 0.0")

    def constant(code: int) -> str:
        return f"<{', '.join([f'i8 {code}'] * kind.lanes)}>"

    good = finite([("out.result", sizes["result"])])
    status = w.new(f"select {kind.truth} {good}, {small} zeroinitializer, {small} {constant(at.ROW_SINGULAR)}")
    for name, bad, code in reversed(_LOOKED_AT):
        for k in range(sizes[name]):
            hurt = w.compare(kind, w.load(f"out.{name}", k), bad)
            status = w.new(f"select {kind.truth} {hurt}, {small} {constant(code)}, {small} {status}")
    given = finite(inputs)
    status = w.new(f"select {kind.truth} {given}, {small} {status}, {small} {constant(at.ROW_NOT_FINITE)}")
    for lane in range(kind.lanes):
        one = w.new(f"extractelement {small} {status}, i32 {lane}")
        w.lines.append(f"  store i8 {one}, ptr {w.new(f'getelementptr i8, ptr %status, i64 %its_{lane}')}")
    return w.lines
