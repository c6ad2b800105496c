"""Code for the derivatives of forward dynamics, which are -M^-1 times the derivatives of inverse dynamics.

The factorisation of the mass matrix M is unrolled. The code then solves for all right-hand sides, which are the columns
of a matrix, in a loop. Each iteration solves for as many columns as fit into a vector register.
"""

from collections.abc import Sequence

import numpy as np

from ...kernels.tables import tree_layout as tl
from ...model import ClusterModel
from ..machine_code.emitter import Emitter
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.text import body_text, module_text
from ..native.words import DATA, WORDS_OF_KIND
from ..operations import ABA_DERIVATIVES
from ..tracing import Program
from ..tracing._sources import source
from ..tracing.expressions import INPUT, Expression, Graph, needed
from .entry import words_of

_ONE = Kind("double")


def module(model: ClusterModel, lanes: int) -> str:
    n = model.nv
    if n == 0:
        return ""
    while lanes > n:
        lanes //= 2
    eye = ", ".join(f"double {_ONE.constant(-x)}" for x in np.eye(n).ravel())
    return module_text(
        f"@eye = internal constant [{n * n} x double] [{eye}], align 64\n",
        _factors(model, _ONE),
        _columns(model, Kind("double", lanes)),
        _mirror(n, _ONE),
        _entry(),
    )


def _factored(model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the factor L of the mass matrix M as expressions, twice: by rows, and as a full transposed matrix."""
    n, plan = model.nv, model.tables.velocities
    rows, transposed = np.full(plan.size, 0.0, dtype=object), np.full(n * n, 0.0, dtype=object)
    M = np.array(Graph().inputs(0, n * n), dtype=object)
    source("tree.solve").factor(plan, M, n, rows, transposed)
    return rows, transposed


def _factors(model: ClusterModel, kind: Kind) -> str:
    L = np.array([x for x in _factored(model)[0] if isinstance(x, Expression)], dtype=object)
    return body_text(Program.of(model.name, [("M", model.nv**2)], {"L": L}), "factors", kind)


def _columns(model: ClusterModel, kind: Kind, *, of_rows: bool = False) -> str:
    """Return the text of ``void columns(L, from, to)``, which multiplies each column of a matrix by -M^-1.

    Each iteration computes several columns or, if ``of_rows``, one column for several states.
    """
    n, plan = model.nv, model.tables.velocities
    rows, transposed = _factored(model)
    graph = Graph()
    X = np.array(graph.inputs(0, n), dtype=object)
    entries: dict[int, Expression] = {}  # The first inputs of the graph are the entries of X; the entries of L follow.
    for x in rows:
        if isinstance(x, Expression):
            entries[x.id] = graph.make(INPUT, n + len(entries))
    L, upper = (
        np.array([entries[x.id] if isinstance(x, Expression) else 0.0 for x in numbers], dtype=object)
        for numbers in (rows, transposed)
    )
    source("tree.solve").solve(plan, n, L, upper, X, 1)
    order = [int(plan[tl.WIDTH * i + tl.IV]) for i in range(n)]
    w, t = Emitter(kind, []), kind.name
    number, align, width = (t, kind.align, 1) if of_rows else ("double", 8, kind.lanes)
    with w.loop(n, width) as j:

        def at(array: str, row: int) -> str:
            index = w.new(f"add i64 {j}, {row * n}")
            return w.new(f"getelementptr {number}, ptr %{array}, i64 {index}")

        for i in range(n):
            w.names[graph.make(INPUT, i).id] = w.new(f"load {t}, ptr {at('from', order[i])}, align {align}")
        for y in needed(list(X)):
            if y.op == INPUT and y.id not in w.names:
                where = w.new(f"getelementptr {number}, ptr %L, i64 {y.args[0] - n}")
                x = w.new(f"load {number}, ptr {where}, align {align}")
                w.names[y.id] = x if of_rows else w.in_all_lanes(kind, x)
        for i in range(n):
            for y in needed([X[i]]):
                w.write(y)
            w.lines.append(f"  store {t} {w.new(f'fneg {t} {w.name(X[i])}')}, ptr {at('to', order[i])}, align {align}")
    return w.internal("columns", ["ptr noalias readonly %L", "ptr readonly %from", "ptr %to"])


def _mirror(n: int, kind: Kind) -> str:
    """Return the text of ``void mirror(A)``, which copies the upper triangle of A to the lower triangle."""
    w = Instructions(kind)

    def place(row: str, column: str) -> str:
        return w.new(f"add i64 {w.new(f'mul i64 {row}, {n}')}, {column}")

    if n > 1:
        with w.loop(n - 1) as above:
            i = w.new(f"add i64 {above}, 1")
            with w.loop(i) as j:
                w.store(w.load("A", place(j, i)), "A", place(i, j))
    return w.internal("mirror", ["ptr %A"])


def of_rows(model: ClusterModel, inputs: Sequence[str], kept: dict[str, int], kind: Kind) -> str:
    """Return the text of ``void pack(inputs, results, kept)``: derivatives of forward dynamics for several states.

    ``pack`` calls ``inverse``, which computes the derivatives of inverse dynamics from q, v, accelerations and forces.
    ``kept`` contains the names and sizes of the outputs of ``inverse`` other than dq, dv and M.
    """
    n, w = model.nv, Instructions(kind)
    L = sum(isinstance(x, Expression) for x in _factored(model)[0])
    input_pointers = [f"ptr %in.{name}" for name in inputs]
    kept_pointers = [f"ptr %out.{name}" for name in kept]
    results = [f"ptr %out.{name}" for name in ("first", "second", "third")]
    buffers = {"dq": n * n, "dv": n * n, "M": n * n, "L": max(1, L)}
    w.lines += [f"  %{x} = alloca [{size} x {kind.name}], align {kind.align}" for x, size in buffers.items()]
    w.lines += [f"  call void @inverse({', '.join([*input_pointers, 'ptr %dq', 'ptr %dv', 'ptr %M', *kept_pointers])})"]
    w.lines += ["  call void @factors(ptr %M, ptr %L)", "  call void @columns(ptr %L, ptr %dq, ptr %out.first)"]
    w.lines += ["  call void @columns(ptr %L, ptr %dv, ptr %out.second)"]
    with w.loop(n * n) as i:  # For M^-1, the right-hand sides are the columns of minus the identity.
        on_diagonal = w.new(f"icmp eq i64 {w.new(f'urem i64 {i}, {n + 1}')}, 0")
        numbers = ", ".join(f"{kind.name} {kind.constant(x)}" for x in (-1.0, -0.0))
        w.store(w.new(f"select i1 {on_diagonal}, {numbers}"), "M", i)
    w.lines += ["  call void @columns(ptr %L, ptr %M, ptr %out.third)", "  call void @mirror(ptr %out.third)"]
    parts = _factors(model, kind), _columns(model, kind, of_rows=True), _mirror(n, kind)
    return "".join([*parts, w.internal("pack", [*input_pointers, *results, *kept_pointers])])


def _entry() -> str:
    first, words = words_of(ABA_DERIVATIVES)

    def given(*arrays: str) -> str:
        return "".join(f", i64 %w{first[x] + k}" for x in arrays for k in range(WORDS_OF_KIND["f1"]))

    def call(kernel: str, tables: str, done: str, *arrays: str) -> list[str]:
        return [
            f"  %{kernel}.none = icmp eq i64 %w{first[kernel]}, 0",
            f"  br i1 %{kernel}.none, label %{done}, label %run.{kernel}",
            f"run.{kernel}:",
            f"  %{kernel} = inttoptr i64 %w{first[kernel]} to ptr",
            f"  %{kernel}.end = call i32 %{kernel}(i64 %w0, i64 %w1, i64 %w{first[tables]}{given(*arrays)})",
            f"  %{kernel}.code = load i64, ptr %code",
            f"  %{kernel}.good = icmp eq i64 %{kernel}.code, 0",
            f"  br i1 %{kernel}.good, label %{done}, label %end",
            f"{done}:",
        ]

    used = ("L", "dq", "dv", "M", "ddq_dq", "ddq_dv", "Minv")
    inverse = ("q", "v", "ddq", "forces", "torques", "dq", "dv", "M", "nothing")
    return "\n".join(
        [
            f"define i32 @entry({', '.join(f'i64 %w{i}' for i in range(words))}) {Kind('double', 8).attributes} {{",
            "  %code = inttoptr i64 %w0 to ptr",
            "  store i64 0, ptr %code",
            *call("aba", "aba_tables", "differentiate", "q", "v", "tau", "ddq"),
            *call("derivatives", "address", "solve", *inverse),
            *(f"  %{x} = inttoptr i64 %w{first[x] + DATA} to ptr" for x in used),
            "  call void @factors(ptr %M, ptr %L)",
            "  call void @columns(ptr %L, ptr %dq, ptr %ddq_dq)",
            "  call void @columns(ptr %L, ptr %dv, ptr %ddq_dv)",
            "  call void @columns(ptr %L, ptr @eye, ptr %Minv)",
            "  call void @mirror(ptr %Minv)",
            "  br label %end",
            "end:",
            "  ret i32 0",
            "}",
            "",
        ]
    )
