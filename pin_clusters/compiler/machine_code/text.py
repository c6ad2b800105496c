"""Programs as LLVM's intermediate representation: functions of one state, and of rows, in packs."""

import math
from collections.abc import Sequence

from ...errors import UnknownNameError
from ..tracing.expressions import Expression
from ..tracing.program import Program
from . import transposition
from .emitter import Arrays, Emitter, Result
from .kinds import Kind

SINES = ("inline", "libm")
"""Where sines come from: written out, or the functions of C's library."""


def _arrays(program: Program) -> tuple[Arrays, Arrays]:
    """Return the inputs, and the outputs, by names that nothing else has."""
    inputs = [(f"in.{name}", n) for name, n in program.inputs]
    return inputs, [(f"out.{name}", math.prod(shape)) for name, shape in program.outputs]


def _schedule(program: Program) -> list[Expression | Result]:
    """Return the operations of a program, and each result as soon as it is there."""
    values, waiting = program.values(), dict[int, list[Result]]()
    entries = ((name, i) for name, shape in program.outputs for i in range(math.prod(shape)))
    for place, (name, i) in zip(program.results.tolist(), entries, strict=True):
        waiting.setdefault(place, []).append(Result(name, (i,), values[place]))
    steps: list[Expression | Result] = []
    for place in range(program.first, len(values)):
        steps += [values[place], *waiting.pop(place, ())]
    return steps + [result for results in waiting.values() for result in results]  # constants and inputs


def body_text(program: Program, name: str, kind: Kind, sines: str = "inline", linkage: str = "internal ") -> str:
    """Return a function of one state, or of a pack of states: a pointer per input, then one per output.

    ``kind`` is what the pointers lead to; ``linkage`` stands before ``void``.
    """
    if sines not in SINES:
        raise UnknownNameError(f"sines is {sines!r}; it can be {' or '.join(map(repr, SINES))}.")
    emitter, outputs = Emitter(kind, program.inputs, sines=sines), [name for name, _ in program.outputs]
    return emitter.function(name, _schedule(program.ordered()), outputs, linkage=linkage)


def function_text(program: Program, name: str, real: str = "double", sines: str = "inline") -> str:
    """Return the function ``void name(const real *input, ..., real *output, ...)`` of one state.

    ``sines`` are ``inline`` or ``libm``, which calls the functions of C's library.

    Raises:
        UnknownNameError: Another ``real`` or ``sines``.
    """
    return body_text(program, name, Kind(real), sines, "")


def rows_text(program: Program, name: str, real: str = "double", lanes: int = 8) -> str:
    """Return the function ``void name(const real *input, ..., real *output, ..., int64 first, int64 last)``.

    It computes rows first..last-1 of contiguous arrays, ``lanes`` of them (a power of two) at a time; the last ones
    more than once.
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
    """Return the function of rows that lets another one compute packs of them.

    Args:
        name: Of the function.
        pack: Name of the other one, which takes inputs, outputs and what is kept.
        kind: Of the packs.
        inputs: What is read.
        outputs: What is written.
        kept: What the other one writes, of which rows have nothing.
        pointers: What is given behind the outputs.
        then: What is written for each pack at last; ``%its_LANE`` is the row of a lane.
    """
    lanes, rooms, newline = kind.lanes, [*inputs, *outputs, *kept], "\n"
    given = [f"ptr nocapture readonly %{x}_rows" for x, _ in inputs]
    given += [f"ptr nocapture writeonly %{x}" for x in (*(f"{x}_rows" for x, _ in outputs), *pointers)]
    allocated = [f"  %{x} = alloca [{max(1, n) * lanes} x {kind.real}], align {kind.align}" for x, n in rooms]
    moved = [transposition.call("gather", x, n, kind) for x, n in inputs if n]
    back = [transposition.call("scatter", x, n, kind) for x, n in outputs if n]
    return f"""define void @{name}({", ".join(given)}, i64 %first, i64 %last) {kind.attributes} {{
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
  call void @{pack}({", ".join(f"ptr %{x}" for x, _ in rooms)})
{newline.join([*back, *then])}
  %next = add i64 %i, {lanes}
  br label %head
done:
  ret void
}}
"""


def module_text(*functions: str, rows: tuple[str, int] | None = None) -> str:
    """Return a module of functions; with real and lanes of ``rows_text``, if some are of rows."""
    text = "".join(functions)
    declared = sorted({line for line in text.splitlines() if line.startswith("declare ")})
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("declare "))
    shared = transposition.functions(Kind(*rows)) if rows else ""
    return "\n".join([rest, shared, *declared, ""])
