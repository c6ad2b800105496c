"""Robot-specific functions for rows of states. They process several states at once, and write a status for each row."""

import ctypes
import time
from collections.abc import Callable, Sequence

import numpy as np

from ...kernels.tables import layout as at
from ...kernels.tables.layout import CONDITION_LIMIT
from ...model import ClusterModel
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.machine import lanes_of_host
from ..machine_code.sines import NUMBERS
from ..machine_code.text import body_text, loop_text, module_text
from ..operations import ABA_DERIVATIVES, RNEA_DERIVATIVES, Function
from ..tracing import Program
from . import solving
from .limb_loops import pack_function
from .module import code_of, groups_of, in_lanes
from .traced_kernels import BY_OWN_NAME, SPECIALISED, traced

Rows = Callable[..., None]
# Checked values, comparison that is true if the check fails, and the row's status if this check is the first to fail.
_LOOKED_AT = (
    ("opens", f"uge {at.OPEN**2!r}", at.ROW_OPEN),
    ("conditions", f"uge {CONDITION_LIMIT**2!r}", at.ROW_SINGULAR),
    ("pivots", "ole 0.0", at.ROW_SINGULAR),
)


class MadeRows:
    """Robot-specific code for rows of states.

    Attributes:
        name: Name of the function in ``pc.batch``.
        run: Function ``f(*inputs, result, status, first, last)``, which takes addresses and releases the interpreter
            lock; None if the kernel fails at every state.
        size: Size of the object code [bytes].
        made_in: Time to trace and compile the function, or to load its code [s].
    """

    def __init__(self, model: ClusterModel, function: Function, parameters: Sequence[str], most: float) -> None:
        start = time.perf_counter()
        self.name, self.size, self.most = " ".join([f"batch.{function.name}", *parameters]), 0, most
        self.run: Rows | None = None
        kind = " ".join(["rows", *parameters])
        loaded = code_of(model, kind, function, most, lambda: _text(model, function, parameters, most))
        if loaded is not None:
            self.size = loaded.size
            forced = function.name in BY_OWN_NAME and function.name not in SPECIALISED
            results = 3 if function.operation in (RNEA_DERIVATIVES, ABA_DERIVATIVES) else 1
            pointers = [ctypes.c_void_p] * (len(function.inputs) + forced + len(parameters) + results + 1)
            self.run = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64, ctypes.c_int64)(loaded.address("rows"))
        self.made_in = time.perf_counter() - start

    @property
    def chosen(self) -> bool:
        return self.run is not None


def _text(model: ClusterModel, function: Function, parameters: Sequence[str], most: float) -> str:
    if function.operation in (RNEA_DERIVATIVES, ABA_DERIVATIVES):
        return _of_derivatives(model, function, most)
    groups, lanes = [] if parameters else groups_of(model, function), lanes_of_host()
    rebuilt = in_lanes(model, function, groups, opens=True, most=most) if groups else None
    trace = rebuilt[0] if rebuilt else traced(model, function, opens=True, most=most, parameters=parameters)
    if trace is None:
        return ""
    outputs = dict(trace.outputs)
    outputs |= {name: np.array(getattr(trace, name), dtype=object) for name, *_ in _LOOKED_AT}
    if rebuilt is not None:
        _, new, results = rebuilt
        core = pack_function(trace.inputs, results, list(outputs), [len(g) for g in groups], new.packs, lanes)
    else:
        core = body_text(Program.of(model.name, trace.inputs, outputs), "pack", Kind("double", lanes))
    return _module(core, trace.inputs, {name: len(x) for name, x in outputs.items()}, lanes)


def _of_derivatives(model: ClusterModel, function: Function, most: float) -> str:
    """Return the module that computes derivatives. For forward dynamics, accelerations replace the torques as input."""
    forward, lanes = function.operation is ABA_DERIVATIVES, lanes_of_host()
    inverse = BY_OWN_NAME[function.name.replace("computeABADerivatives", "computeRNEADerivatives")]
    trace = traced(model, inverse, opens=True, most=most)
    if trace is None or model.nv == 0:
        return ""
    kind, outputs = Kind("double", lanes), {name: trace.outputs[name] for name in ("dq", "dv", "M", "tau")}
    outputs |= {name: np.array(getattr(trace, name), dtype=object) for name, *_ in _LOOKED_AT}
    core = body_text(Program.of(model.name, trace.inputs, outputs), "inverse" if forward else "pack", kind)
    sizes = {name: len(x) for name, x in outputs.items()}
    if forward:
        other_sizes = dict(list(sizes.items())[3:])
        core += solving.of_rows(model, [name for name, _ in trace.inputs], other_sizes, kind)
        sizes = dict.fromkeys(("first", "second", "third"), model.nv**2) | other_sizes
    return _module(core, trace.inputs, sizes, lanes, results=3)


def _module(core: str, arrays: list[tuple[str, int]], sizes: dict[str, int], lanes: int, results: int = 1) -> str:
    kind = Kind("double", lanes)
    inputs = [(f"in.{name}", n) for name, n in arrays]
    outputs = [(f"out.{name}", n) for name, n in sizes.items()]
    status = _status(kind, inputs, sizes)
    rows = loop_text("rows", "pack", kind, inputs, outputs[:results], outputs[results:], ["status"], status)
    return module_text(core, rows, rows=("double", lanes))


def _status(kind: Kind, inputs: list[tuple[str, int]], sizes: dict[str, int]) -> list[str]:
    w, t, small = Instructions(kind), kind.name, f"<{kind.lanes} x i8>"

    def finite(arrays: list[tuple[str, int]]) -> str:
        sums = [kind.constant(0.0)] * 4  # Four separate sums are computed in parallel.
        for i, (array, k) in enumerate((array, k) for array, n in arrays for k in range(n)):
            number = w.load(array, k)
            if array == "in.q":  # The product is infinite if the angle is too large for the sine.
                number = w.new(f"fmul {t} {number}, {kind.constant(NUMBERS['double'].huge)}")
            product = w.new(f"fmul contract {t} {number}, {kind.constant(0.0)}")
            sums[i % 4] = w.new(f"fadd contract {t} {sums[i % 4]}, {product}")
        while len(sums) > 1:
            sums = [w.new(f"fadd {t} {a}, {b}") for a, b in zip(sums[::2], sums[1::2], strict=True)]
        return w.compare(kind, sums[0], "ord 0.0")

    def constant(code: int) -> str:
        return f"<{', '.join([f'i8 {code}'] * kind.lanes)}>"

    good = finite([next((f"out.{name}", n) for name, n in sizes.items())])
    status = w.new(f"select {kind.truth} {good}, {small} zeroinitializer, {small} {constant(at.ROW_SINGULAR)}")
    for name, bad, code in reversed(_LOOKED_AT):
        for k in range(sizes[name]):
            hurt = w.compare(kind, w.load(f"out.{name}", k), bad)
            status = w.new(f"select {kind.truth} {hurt}, {small} {constant(code)}, {small} {status}")
    inputs_finite = finite(inputs)
    status = w.new(f"select {kind.truth} {inputs_finite}, {small} {status}, {small} {constant(at.ROW_NOT_FINITE)}")
    for lane in range(kind.lanes):
        status_of_lane = w.new(f"extractelement {small} {status}, i32 {lane}")
        w.lines.append(f"  store i8 {status_of_lane}, ptr {w.new(f'getelementptr i8, ptr %status, i64 %its_{lane}')}")
    return w.lines
