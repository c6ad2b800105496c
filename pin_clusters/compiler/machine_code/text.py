"""Programs in LLVM's intermediate representation: functions for one state, and functions for rows of states."""

import math
from collections.abc import Sequence

from ...errors import UnknownNameError
from ..tracing.expressions import Expression
from ..tracing.program import Program
from . import transposition
from .emitter import Arrays, Emitter, Result
from .kinds import Kind

SINES = ("inline", "libm")
"""Implementations of sine and cosine: inline polynomials (``inline``), or functions of the C library (``libm``)."""


def _arrays(program: Program) -> tuple[Arrays, Arrays]:
    inputs = [(f"in.{name}", n) for name, n in program.inputs]
    return inputs, [(f"out.{name}", math.prod(shape)) for name, shape in program.outputs]


def _schedule(program: Program) -> list[Expression | Result]:
    values, waiting = program.values(), dict[int, list[Result]]()
    entries = ((name, i) for name, shape in program.outputs for i in range(math.prod(shape)))
    for position, (name, i) in zip(program.results.tolist(), entries, strict=True):
        waiting.setdefault(position, []).append(Result(name, (i,), values[position]))
    steps: list[Expression | Result] = []
    for position in range(program.first, len(values)):
        steps += [values[position], *waiting.pop(position, ())]
    # Results that are constants or inputs do not follow an operation, so they are stored at the end.
    return steps + [result for results in waiting.values() for result in results]


def body_text(program: Program, name: str, kind: Kind, sines: str = "inline", linkage: str = "internal ") -> str:
    """Return the text of a function for one state or one pack of states; its parameters point to inputs and outputs.

    ``kind`` is the type of the array entries; ``linkage`` is written before ``void``.
    """
    if sines not in SINES:
        raise UnknownNameError(f"sines must be {' or '.join(map(repr, SINES))}, got {sines!r}.")
    emitter, outputs = Emitter(kind, program.inputs, sines=sines), [name for name, _ in program.outputs]
    return emitter.function(name, _schedule(program.ordered()), outputs, linkage=linkage)


def function_text(program: Program, name: str, real: str = "double", sines: str = "inline") -> str:
    """Return the text of ``void name(const real *input, ..., real *output, ...)``; ``sines`` is one of ``SINES``."""
    return body_text(program, name, Kind(real), sines, "")


def rows_text(program: Program, name: str, real: str = "double", lanes: int = 8) -> str:
    """Return the text of ``void name(const real *input, ..., real *output, ..., int64 first, int64 last)``.

    The function computes the rows first to last - 1 of contiguous arrays. It computes ``lanes`` rows at a time, where
    ``lanes`` is a power of two; some of the last rows can be computed twice.
    """
    kind = Kind(real, lanes)
    return body_text(program, f"{name}_pack", kind) + "\n" + loop_text(name, f"{name}_pack", kind, *_arrays(program))


def loop_text(
    name: str,
    pack: str,
    kind: Kind,
    inputs: Arrays,
    outputs: Arrays,
    kept: Arrays = (),
    pointers: Sequence[str] = (),
    then: Sequence[str] = (),
) -> str:
    """Return the text of a function for rows of states, which calls a function for packs of states.

    Args:
        name: Name of the function.
        pack: Name of the function for packs; its arguments are the inputs, the outputs and ``kept``.
        kind: Type of the packs.
        inputs: Name and size of each input.
        outputs: Name and size of each output.
        kept: Further outputs of the function for packs; they are not copied to rows.
        pointers: Names of further pointer parameters, which follow the outputs.
        then: Instructions that follow each call; ``%its_LANE`` is the row number of the lane LANE.
    """
    lanes, arrays, newline = kind.lanes, [*inputs, *outputs, *kept], "\n"
    parameters = [f"ptr nocapture readonly %{x}_rows" for x, _ in inputs]
    parameters += [f"ptr nocapture writeonly %{x}" for x in (*(f"{x}_rows" for x, _ in outputs), *pointers)]
    allocated = [f"  %{x} = alloca [{max(1, n) * lanes} x {kind.real}], align {kind.align}" for x, n in arrays]
    moved = [transposition.call("gather", x, n, kind) for x, n in inputs if n]
    back = [transposition.call("scatter", x, n, kind) for x, n in outputs if n]
    return f"""define void @{name}({", ".join(parameters)}, i64 %first, i64 %last) {kind.attributes} {{
start:
{newline.join(allocated)}
  %chosen = alloca [{lanes} x i64], align 64
  %end = sub i64 %last, 1
  br label %head
head:
  %i = phi i64 [ %first, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %body, label %done
body:
{transposition.choose(lanes)}
{newline.join(moved)}
  call void @{pack}({", ".join(f"ptr %{x}" for x, _ in arrays)})
{newline.join([*back, *then])}
  %next = add i64 %i, {lanes}
  br label %head
done:
  ret void
}}
"""


def module_text(*functions: str, rows: tuple[str, int] | None = None) -> str:
    """Return a module with these functions; ``rows`` is (real, lanes) of the functions for rows, if there are any."""
    text = "".join(functions)
    declared = sorted({line for line in text.splitlines() if line.startswith("declare ")})
    definitions = "\n".join(line for line in text.splitlines() if not line.startswith("declare "))
    shared = transposition.functions(Kind(*rows)) if rows else ""
    return "\n".join([definitions, shared, *declared, ""])
