"""The function ``pc.codegen.cuda``, which writes functions of one robot as CUDA C with one thread per state."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

from ..._support.docstrings import stock
from ...compiler.machine_code.sines import NUMBERS, TWO_OVER_PI
from ...compiler.tracing.expressions import COS, SIN, SQRT
from ...kernels.tables import layout
from ...model import ClusterModel
from ._exported_function import COMMON, ExportedFunction, Wanted, check_real, functions_of
from ._names import name_of
from ._notes import comment, coordinates, made_by
from ._statements import Dialect

THREADS = 128
"""Maximum threads per block; with two such blocks per multiprocessor, a thread can use all addressable registers."""
# The loop tolerance of the kernels is larger for float, because q is rounded to a relative accuracy of 1e-7.
_OPEN = {"double": layout.OPEN, "float": 100.0 * layout.OPEN}
_CONDITION = {"double": 1e8, "float": 1e5}

# Argument reduction of Cody and Waite (1980) with fused multiply-add. The error is one unit in the last place for
# angles below 1e5 (float: 1e4) and grows slowly for larger angles; from 2^31 (float: 2^22), the result is NaN. CUDA's
# own functions are not used, because they need a stack for huge angles.
_SINES = """static __device__ __forceinline__ void sine_and_cosine({real} x, {real} *s, {real} *c)
{{
  const {real} n = rint{f}(x * {two_over_pi});
  const int quarter = (int)n;
  const {real} r = fma{f}(-n, {parts[2]}, fma{f}(-n, {parts[1]}, fma{f}(-n, {parts[0]}, x))) + {zero} * ({huge} * x);
  const {real} z = r * r;
  const {real} p = {sine};
  const {real} y = {cosine};
  const {real} a = fma{f}(r * z, p, r), b = fma{f}(z * z, y, fma{f}(z, -0.5{f}, 1.0{f}));
  *s = (quarter & 2 ? -1.0{f} : 1.0{f}) * (quarter & 1 ? b : a);
  *c = ((quarter + 1) & 2 ? -1.0{f} : 1.0{f}) * (quarter & 1 ? a : b);
}}
"""
# parts of pi/2; fused products are not rounded, so each part may use all bits of its mantissa
_PARTS = {"double": NUMBERS["double"].parts, "float": (1.57079601e00, 3.13916473e-07, 5.39030253e-15)}
_HUGE = {"double": 2.0 ** (1024 - 31), "float": NUMBERS["float"].huge}  # larger angles overflow the int ``quarter``


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
    """Write functions of a robot as CUDA C: a kernel for an array of states, and a device function for one state.

    Each function exists in two forms. ``ROBOT_aba_of_state`` is a ``__device__`` function for your own kernels, with
    the same arguments as in ``pc.codegen.c``. ``ROBOT_aba`` is a ``__global__`` function for contiguous arrays with one
    state per row and one thread per row; its last argument is the number of rows. The code has no includes, so NVRTC
    accepts it directly. All arithmetic uses the type ``real``, and a thread uses local memory only for values that do
    not fit into registers.

    Args:
        status: Whether kernels have an additional parameter, ``signed char *status``, before the number of rows. The
            pointer may be null. The status of a row is 0 if the row is valid; 1 if a closed loop is open by more than
            1e-6 of its length or 1e-6 rad (float: 1e-4); 2 if a loop is singular or a joint moves no inertia; 3 if an
            input is not finite, or an angle is 2^31 rad or more (float: 2^22 rad). The results of invalid rows are NaN.

    Returns:
        The text of the CUDA C code.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.codegen.cuda(pc.load("mit_humanoid_leg"), "aba")
        >>> 'extern "C" __global__ void __launch_bounds__(128, 2) mit_humanoid_leg_aba(const float' in text
        True
    """
    exported, robot = functions_of(model, functions, frames, status), name_of(model.name, name)
    parts = [made_by(model) + coordinates(model), _sines(check_real(real))]
    for f in (replace(x, returned=False) for x in exported):
        parts += [comment(f.about()) + _of_state(f, real, robot), _of_rows(f, real, robot)]
    return "\n".join(parts)


def dialect(real: str) -> Dialect:
    end = "f" if real == "float" else ""
    unit, zero = f"1.0{end}", f"0.0{end}"
    return Dialect(
        real,
        f"{real} {{s}}, {{c}}; sine_and_cosine({{x}}, &{{s}}, &{{c}});",
        {SIN: f"sin{end}", COS: f"cos{end}", SQRT: f"sqrt{end}"},
        (f"({unit} / {zero})", f"({zero} / {zero})"),
    )


def _sines(real: str) -> str:
    number, f, numbers = dialect(real).number, "f" * (real == "float"), NUMBERS[real]
    sine, cosine = (
        functools.reduce(lambda y, c: f"fma{f}(z, {y}, {c})", map(number, coefficients))
        for coefficients in (numbers.sine, numbers.cosine)
    )
    parts = [number(x) for x in _PARTS[real]]
    return _SINES.format(
        real=real,
        f=f,
        two_over_pi=number(TWO_OVER_PI),
        parts=parts,
        sine=sine,
        cosine=cosine,
        zero=number(0.0),
        huge=number(_HUGE[real]),
    )


def _arguments(f: ExportedFunction, real: str) -> tuple[list[str], list[str]]:
    inputs = [f"const {real} *__restrict__ {name}" if f.is_array(name) else f"{real} {name}" for name, _ in f.inputs]
    outputs = [f"{real} *__restrict__ {name}" for name, _ in f.outputs]
    return inputs, outputs + ["signed char *__restrict__ status"] * f.status


def _of_state(f: ExportedFunction, real: str, robot: str) -> str:
    inputs, outputs = _arguments(f, real)
    lines = f.statements(dialect(real))
    if f.status:
        lines = [*_look(f, real), *lines, *_judge(f, real)]
    body = "".join(f"  {line}\n" for line in lines)
    head = f"static __device__ __forceinline__ void {robot}_{f.name}_of_state("
    return f"{head}{', '.join(inputs + outputs)})\n{{\n{body}}}\n"


def _look(f: ExportedFunction, real: str) -> list[str]:
    """Return the C statements that test whether inputs are finite and angles are small enough for the sine function."""
    zero, huge = (dialect(real).number(x) for x in (0.0, _HUGE[real]))
    lines = [f"{real} nothing = {zero};"]
    for name, size in f.inputs:
        number = f"{huge} * {name}[i]" if name == "q" else f"{name}[i]"
        lines.append(f"for (int i = 0; i < {size}; i++) nothing += {number} * {zero};")
    return [*lines, "const bool finite = nothing == nothing;"]


def _judge(f: ExportedFunction, real: str) -> list[str]:
    """Return the C statements that write the status, and set the results to NaN if the status is not 0."""
    number, names = dialect(real).number, f.status_outputs
    singular = [f"!(the_pivot > {number(0.0)})"] * ("pivot" in names)
    singular += [f"!(the_condition < {number(_CONDITION[real])})"] * ("condition" in names)
    opened = [f"!(the_{name} <= {number(_OPEN[real])})" for name in ("open", "residual") if name in names]
    status = f"finite ? {' || '.join(opened) or '0'} ? 1 : {' || '.join(singular) or '0'} ? 2 : 0 : 3"
    bad = "".join(
        f" for (int i = 0; i < {math.prod(shape)}; i++) {name}[i] = {number(math.nan)};" for name, shape in f.outputs
    )
    return [f"const signed char what = {status};", "if (status) *status = what;", f"if (what) {{{bad} }}"]


def _of_rows(f: ExportedFunction, real: str, robot: str) -> str:
    sizes = dict(f.inputs) | {name: math.prod(shape) for name, shape in f.outputs}
    inputs, outputs = _arguments(f, real)
    rows = [f"{name} + {sizes[name]} * row" if f.is_array(name) else name for name, _ in f.inputs]
    rows += [f"{name} + {sizes[name]} * row" for name, _ in f.outputs]
    rows += ["status ? status + row : status"] * f.status
    return (
        f'extern "C" __global__ void __launch_bounds__({THREADS}, 2) {robot}_{f.name}('
        f"{', '.join([*inputs, *outputs, 'long long rows'])})\n{{\n"
        "  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
        f"  if (row < rows) {robot}_{f.name}_of_state({', '.join(rows)});\n}}\n"
    )
