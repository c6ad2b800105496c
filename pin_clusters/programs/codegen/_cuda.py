"""``pc.codegen.cuda``: functions of one robot as CUDA C, a thread per state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..._engine.kernels.tables import layout
from ..._support.docstrings import stock
from ...model import ClusterModel
from ..tracing.expressions import COS, SIN, SQRT
from ._names import name_of
from ._notes import comment, coordinates, made_by
from ._sources import COMMON, Function, Wanted, check_real, functions_of
from ._statements import Dialect

THREADS = 128
"""Of a block, at most: two blocks on a multiprocessor leave a thread all registers that it can address."""
# of closed loops, as in the kernels; in float a configuration is rounded to 1e-7 of its size, and what is open follows
_OPEN = {"double": layout.OPEN, "float": 100.0 * layout.OPEN}
_CONDITION = {"double": 1e8, "float": 1e5}

# Cody and Waite 1980 with fused multiply-add, polynomials of the Cephes library (S. Moshier): to one unit in the last
# place below 1e5 (float: 1e4), slowly less accurate beyond. Those of CUDA have a path for huge angles, with a stack.
_SINES = {
    "float": """static __device__ __forceinline__ void sine_and_cosine(float x, float *s, float *c)
{
  const float n = rintf(x * 0.63661977f);
  const int quarter = (int)n;
  const float r = fmaf(-n, 5.39030253e-15f, fmaf(-n, 3.13916473e-07f, fmaf(-n, 1.57079601e+00f, x)));
  const float z = r * r;
  const float p = fmaf(z, fmaf(z, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f);
  const float y = fmaf(z, fmaf(z, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f);
  const float a = fmaf(r * z, p, r), b = fmaf(z * z, y, fmaf(z, -0.5f, 1.0f));
  *s = (quarter & 2 ? -1.0f : 1.0f) * (quarter & 1 ? b : a);
  *c = ((quarter + 1) & 2 ? -1.0f : 1.0f) * (quarter & 1 ? a : b);
}
""",
    "double": """static __device__ __forceinline__ void sine_and_cosine(double x, double *s, double *c)
{
  const double n = rint(x * 0.63661977236758134308);
  const int quarter = (int)n;
  const double r = fma(-n, 2.02226624879595063154e-21, fma(-n, 6.07710050630396597660e-11,
                       fma(-n, 1.57079632673412561417e00, x)));
  const double z = r * r;
  double p = fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
  p = fma(z, fma(z, fma(z, p, 2.75573137070700676789e-06), -1.98412698298579493134e-04), 8.33333333332248946124e-03);
  double y = fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
  y = fma(z, fma(z, fma(z, y, -2.75573143513506633035e-07), 2.48015872894767294178e-05), -1.38888888888741095749e-03);
  const double a = fma(r * z, fma(z, p, -1.66666666666666324348e-01), r);
  const double b = fma(z * z, fma(z, y, 4.16666666666666019037e-02), fma(z, -0.5, 1.0));
  *s = (quarter & 2 ? -1.0 : 1.0) * (quarter & 1 ? b : a);
  *c = ((quarter + 1) & 2 ? -1.0 : 1.0) * (quarter & 1 ? a : b);
}
""",
}


@stock(COMMON)
def cuda(
    model: ClusterModel,
    functions: Wanted = "aba",
    *,
    real: str = "float",
    status: bool = False,
    frames: Sequence[str] | None = None,
    name: str | None = None,
) -> str:
    """Return functions of a robot as CUDA C: a kernel over rows of states, and what it calls for one.

    Each function is there twice: ``ROBOT_aba_of_state`` is a ``__device__`` function for kernels of your own, with the
    arguments of ``pc.codegen.c``; ``ROBOT_aba`` is a ``__global__`` function over contiguous rows, a thread per row,
    with the number of rows as last argument. The text includes nothing: NVRTC takes it as it is. All arithmetic is of
    one type, and no thread needs memory of its own beyond what does not fit into registers.

    Args:
        status: Whether kernels take one more array, ``signed char *status`` before the number of rows: 0 the row is
            good, 1 a closed loop is open (by more than 1e-6 of its length, or rad; in float 1e-4), 2 a loop is singular
            or a joint moves no inertia, 3 the input is not finite. Rows that are not good are then NaN. It may be null.

    Returns:
        The text.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.codegen.cuda(pc.load("mit_humanoid_leg"), "aba")
        >>> 'extern "C" __global__ void __launch_bounds__(128, 2) mit_humanoid_leg_aba(const float' in text
        True
    """
    made, robot = functions_of(model, functions, frames, status), name_of(model.name, name)
    parts = [made_by(model) + coordinates(model), _SINES[check_real(real)]]
    for f in (replace(x, returned=False) for x in made):
        parts += [comment(f.about()) + _of_state(f, real, robot), _of_rows(f, real, robot)]
    return "\n".join(parts)


def dialect(real: str) -> Dialect:
    """Return how CUDA C writes numbers and functions."""
    end = "f" if real == "float" else ""
    one, zero = f"1.0{end}", f"0.0{end}"
    return Dialect(
        real, f"{real} {{s}}, {{c}}; sine_and_cosine({{x}}, &{{s}}, &{{c}});",
        {SIN: f"sin{end}", COS: f"cos{end}", SQRT: f"sqrt{end}"}, (f"({one} / {zero})", f"({zero} / {zero})"),
    )  # fmt: skip


def _arguments(f: Function, real: str) -> tuple[list[str], list[str]]:
    """Return inputs and outputs with their types; ``step`` takes one time for all rows."""
    given = [f"const {real} *__restrict__ {name}" if f.is_array(name) else f"{real} {name}" for name, _ in f.inputs]
    found = [f"{real} *__restrict__ {name}" for name, _ in f.outputs]
    return given, found + ["signed char *__restrict__ status"] * f.status


def _of_state(f: Function, real: str, robot: str) -> str:
    given, found = _arguments(f, real)
    lines = f.statements(dialect(real))
    if f.status:
        lines = [*_look(f, real), *lines, *_judge(f, real)]
    body = "".join(f"  {line}\n" for line in lines)
    head = f"static __device__ __forceinline__ void {robot}_{f.name}_of_state("
    return f"{head}{', '.join(given + found)})\n{{\n{body}}}\n"


def _look(f: Function, real: str) -> list[str]:
    """Return statements that say whether the input is finite: first of all, so that nothing is kept for it."""
    zero = dialect(real).number(0.0)
    lines = [f"{real} nothing = {zero};"]
    for name, size in f.inputs:
        lines.append(f"for (int i = 0; i < {size}; i++) nothing += {name}[i] * {zero};")
    return [*lines, "const bool finite = nothing == nothing;"]


def _judge(f: Function, real: str) -> list[str]:
    """Return statements that write the status, and make results NaN if it is not 0."""
    number, names = dialect(real).number, f.told
    singular = [f"!(the_pivot > {number(0.0)})"] * ("pivot" in names)
    singular += [f"!(the_condition < {number(_CONDITION[real])})"] * ("condition" in names)
    opened = [f"!(the_{name} <= {number(_OPEN[real])})" for name in ("open", "residual") if name in names]
    status = f"finite ? {' || '.join(opened) or '0'} ? 1 : {' || '.join(singular) or '0'} ? 2 : 0 : 3"
    bad = "".join(
        f" for (int i = 0; i < {math.prod(shape)}; i++) {name}[i] = {number(math.nan)};" for name, shape in f.outputs
    )
    return [f"const signed char what = {status};", "if (status) *status = what;", f"if (what) {{{bad} }}"]


def _of_rows(f: Function, real: str, robot: str) -> str:
    sizes = dict(f.inputs) | {name: math.prod(shape) for name, shape in f.outputs}
    given, found = _arguments(f, real)
    rows = [f"{name} + {sizes[name]} * row" if f.is_array(name) else name for name, _ in f.inputs]
    rows += [f"{name} + {sizes[name]} * row" for name, _ in f.outputs]
    rows += ["status ? status + row : status"] * f.status
    return (
        f'extern "C" __global__ void __launch_bounds__({THREADS}, 2) {robot}_{f.name}('
        f"{', '.join([*given, *found, 'long long rows'])})\n{{\n"
        "  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
        f"  if (row < rows) {robot}_{f.name}_of_state({', '.join(rows)});\n}}\n"
    )
