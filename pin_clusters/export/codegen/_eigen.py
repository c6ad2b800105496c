"""The header ``ROBOT.hpp``: the functions of a robot with vectors and matrices of Eigen as arguments."""

import math
from collections.abc import Sequence

from ...model import ClusterModel
from ._exported_function import ExportedFunction
from ._notes import made_by


def header(model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str) -> str:
    """Return the header, whose namespace ``robot`` contains functions that write to arguments or return results."""
    guard = f"{robot.upper()}_HPP"
    return f"""{made_by(model)}
#ifndef {guard}
#define {guard}

#include <Eigen/Core>
#include <tuple>

#include "{robot}.h"

/* Arguments are objects that an Eigen::Ref accepts without a copy: vectors, maps and blocks of contiguous numbers. The
   functions allocate no memory. A result may be the same object as an argument. Matrices are stored by rows. */
namespace {robot} {{

using Scalar = {real};
constexpr int nq = {model.nq}, nv = {model.nv};
template <int rows, int columns = 1>
using Matrix = Eigen::Matrix<Scalar, rows, columns, columns == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <int rows, int columns = 1>
using In = const Eigen::Ref<const Matrix<rows, columns>> &;
template <int rows, int columns = 1>
using Out = Eigen::Ref<Matrix<rows, columns>>;
using Configuration = Matrix<nq>;
using Velocity = Matrix<nv>;

inline Configuration neutral()
{{
  Configuration q;
  {robot}_neutral(q.data());
  return q;
}}
{"".join(_function(f, real, robot) for f in functions)}
}}  // namespace {robot}

#endif
"""


def _function(f: ExportedFunction, real: str, robot: str) -> str:
    inputs = [f"In<{size}> {name}" if f.is_array(name) else f"{real} {name}" for name, size in f.inputs]
    types = [f"Matrix<{_size(shape)}>" for _, shape in f.outputs]
    names = [name for name, _ in f.outputs]
    into = [f"Out<{_size(shape)}> {name}" for name, shape in f.outputs]
    call = f"{robot}_{f.name}(" + ", ".join(
        f"{name}.data()" if f.is_array(name) else name for name in [*(n for n, _ in f.inputs), *names]
    )
    kind = real if f.returned else "void"
    lines = [
        "",
        f"/* {f.about()} */",
        f"inline {kind} {f.name}({', '.join(inputs + into)})",
        "{",
        f"  {'return ' if f.returned else ''}{call});",
        "}",
    ]
    if not f.returned:
        result = types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"
        back = names[0] if len(names) == 1 else f"{result}({', '.join(names)})"
        lines += ["", f"inline {result} {f.name}({', '.join(inputs)})", "{"]
        lines += [f"  {kind} {name};" for kind, name in zip(types, names, strict=True)]
        lines += [f"  {call});", f"  return {back};", "}"]
    return "\n".join(lines) + "\n"


def _size(shape: tuple[int, ...]) -> str:
    if len(shape) <= 1:
        return str(math.prod(shape))
    return f"{shape[0]}, {math.prod(shape[1:])}"
