"""The test program of an export, which compares every exported function with reference values."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...compiler.tracing import values_of
from ...compiler.tracing.numbers import KINDS
from ...errors import PinClustersError
from ...model import ClusterModel
from ._exported_function import ExportedFunction
from ._notes import made_by
from ._numbers import expected, states

# Tolerances are relative to the largest entry of an output. The margin is necessary because compilers may reorder sums.
_LEAST, _MOST = {"double": 1e-11, "float": 1e-5}, {"double": 1e-3, "float": 1e-1}
_MARGIN = 20.0
_DT = 1e-3


class TraceError(PinClustersError, ArithmeticError):
    """An exported function does not match the reference values."""


class Case(NamedTuple):
    """The inputs of a function at one state, and the reference outputs."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def cases(model: ClusterModel, f: ExportedFunction, frames: Sequence[str]) -> list[Case]:
    result: list[Case] = []
    for state in states(model):
        rng = np.random.default_rng(len(result))
        state["dt"] = np.array([_DT])
        if f.name == "integrate":  # The time step of ``integrate`` is 1 s, so v must be small.
            state["v"] = _DT * state["v"]
        inputs = {
            name: values_of(model, name) if name in KINDS else state.get(name, rng.normal(size=size))
            for name, size in f.program.inputs
        }
        inputs |= {name: rows[len(result) % len(rows)] for name, rows in f.program.samples.items() if name in inputs}
        result.append(Case(list(inputs.values()), expected(model, f, inputs, frames)))
    return result


def tolerances(f: ExportedFunction, seen: Sequence[Case], real: str) -> list[float]:
    """Return each output's tolerance, relative to its largest entry, as determined by the errors in the cases."""
    allowed = []
    for k, (name, _) in enumerate(f.program.outputs):
        worst = 0.0
        for inputs, outputs in seen:
            raw = f.program(*(np.asarray(x, dtype=np.float64 if real == "double" else np.float32) for x in inputs))
            computed = raw[k] if isinstance(raw, tuple) else raw
            deviation = np.abs(np.asarray(computed, dtype=float) - outputs[k]).max(initial=0.0)
            worst = max(worst, float(deviation / max(1.0, np.abs(outputs[k]).max(initial=0.0))))
        if not worst <= _MOST[real] / _MARGIN:
            raise TraceError(
                f"{f.program.name}: {name} in {real} deviates from the reference by {worst:.1e} of its largest entry, "
                f"more than {_MOST[real] / _MARGIN:.1e}. "
                + ("Export it in double." if real == "float" else "This is a bug in pin_clusters: please report it.")
            )
        allowed.append(max(_LEAST[real], _MARGIN * worst))
    return allowed


def text_of_test(
    model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str, frames: Sequence[str]
) -> str:
    """Return a C99 program that prints the error of each function, and exits with status 1 if an error is too large."""
    zero = _ZERO if any(f.returned for f in functions) else ""
    calls = "".join(f"  failed += test_{f.name}();\n" for f in functions)
    parts = [
        made_by(model),
        f'#include <stdio.h>\n\n#include "../{robot}.h"\n',
        _COMPARE.format(real=real, zero=zero),
        *(_function(f, cases(model, f, frames), real, robot) for f in functions),
        f"int main(void)\n{{\n  int failed = 0;\n{calls}  return failed ? 1 : 0;\n}}\n",
    ]
    return "\n".join(parts)


def _function(f: ExportedFunction, seen: Sequence[Case], real: str, robot: str) -> str:
    allowed = tolerances(f, seen, real)
    inputs, outputs = f.inputs, [(name, math.prod(shape)) for name, shape in f.outputs]
    tables = [
        _table(f"{f.name}_{name}", [case[part][k] for case in seen], size)
        for part, listed in enumerate((inputs, outputs))
        for k, (name, size) in enumerate(listed)
    ]
    sized = [f"{real} {name}[{size}];" for name, size in (*inputs, *outputs)]
    body = [f"take({size}, {f.name}_{name}[i], {name});" for name, size in inputs]
    arguments = [name if f.is_array(name) else f"{name}[0]" for name, _ in inputs]
    call = f"{robot}_{f.name}({', '.join([*arguments, *(name for name, _ in outputs)])});"
    body.append(f"residual = {call}" if f.returned else call)
    right = [f"{f.name}_{name}[i]" for name, _ in outputs]
    if f.returned:
        sized.append(f"{real} residual;")
        outputs, right = [*outputs, ("residual", 1)], [*right, "zero"]
    for (name, size), table, limit in zip(outputs, right, allowed, strict=True):
        computed = "&residual" if f.returned and name == "residual" else name
        body.append(f'failed += off("{f.name}", "{name}", {size}, {table}, {computed}, {limit:.2e});')
    return (
        f"{''.join(tables)}\nstatic int test_{f.name}(void)\n{{\n"
        + "".join(f"  {line}\n" for line in [*sized, "int i, failed = 0;"])
        + f"  for (i = 0; i < {len(seen)}; i++) {{\n"
        + "".join(f"    {line}\n" for line in body)
        + "  }\n  return failed;\n}\n"
    )


def _table(name: str, rows: Sequence[np.ndarray], size: int) -> str:
    text = ",\n".join("  {" + ", ".join(repr(float(x)) for x in np.ravel(row)) + "}" for row in rows)
    return f"static const double {name}[{len(rows)}][{size}] = {{\n{text}\n}};\n"


_ZERO = "static const double zero[1] = {0.0};\n\n"
_COMPARE = """{zero}static void take(int n, const double *from, {real} *to)
{{
  int i;
  for (i = 0; i < n; i++) to[i] = ({real})from[i];
}}

/* Print the error relative to the largest entry; return 1 if the error is too large or is not a number. */
static int off(const char *function, const char *name, int n, const double *right, const {real} *found, double limit)
{{
  double worst = 0.0, largest = 1.0;
  int i, failed;
  for (i = 0; i < n; i++) {{
    const double size = right[i] < 0.0 ? -right[i] : right[i];
    const double gap = right[i] - found[i], distance = gap < 0.0 ? -gap : gap;
    largest = size > largest ? size : largest;
    worst = distance > worst || distance != distance ? distance : worst;
  }}
  failed = !(worst <= limit * largest);
  printf("%s %-24s %-20s %.1e of %.1e\\n", failed ? "FAILED" : "ok    ", function, name, worst / largest, limit);
  return failed;
}}
"""
