"""The function ``pc.codegen.c``, which writes functions of one robot as C99 code."""

from collections.abc import Sequence
from typing import NamedTuple

from ..._support.docstrings import stock
from ...model import ClusterModel
from ._exported_function import COMMON, DEFAULT, ExportedFunction, Wanted, check_real, functions_of
from ._names import name_of
from ._notes import comment, coordinates, made_by
from ._statements import c99


class Source(NamedTuple):
    """A C source and its header.

    Attributes:
        source: Text of ``ROBOT.c``.
        header: Text of ``ROBOT.h``.

    Example:
        >>> import pin_clusters as pc
        >>> pc.codegen.c(pc.load("mit_humanoid_leg"), "aba").header.startswith("/* Exact dynamics")
        True
    """

    source: str
    header: str


@stock(COMMON)
def c(
    model: ClusterModel,
    functions: Wanted = DEFAULT,
    *,
    real: str = "double",
    frames: Sequence[str] | None = None,
    name: str | None = None,
) -> Source:
    """Write functions of a robot as C99 code that runs without this package, with one source file and one header.

    An example is ``void ROBOT_aba(const double *q, const double *v, const double *tau, double *ddq)``. The arguments of
    the Python function come first, in the same order, followed by the results. Matrices are stored by rows, and all
    units are SI units. The generated functions call only sin, cos and sqrt of the C library, and allocate no memory.
    The functions keep no state between calls, so they are thread-safe. The code contains no loops and no if statements.
    All inputs are read before a result is written, so a result may be the same array as an input. The functions do not
    check q, which must be normalised and satisfy the loop-closure constraints.

    Returns:
        The texts of the source and the header; the source includes ``ROBOT.h``.

    Example:
        >>> import pin_clusters as pc
        >>> source, header = pc.codegen.c(pc.load("mit_humanoid_leg"))
        >>> [line for line in header.splitlines() if "_aba(" in line]
        ['void mit_humanoid_leg_aba(const double *q, const double *v, const double *tau, double *ddq);']
    """
    return texts(model, functions_of(model, functions, frames), check_real(real), name)


def texts(model: ClusterModel, functions: Sequence[ExportedFunction], real: str, name: str | None) -> Source:
    robot = name_of(model.name, name)
    return Source(_source(model, functions, real, robot), _header(model, functions, real, robot))


def _source(model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str) -> str:
    parts = [made_by(model), f'#include "{robot}.h"\n\n#include <math.h>\n', _neutral(model, real, robot)]
    for f in functions:
        parts.append(comment(f.about()) + f.text(robot, c99(real)))
    return "\n".join(parts)


def _neutral(model: ClusterModel, real: str, robot: str) -> str:
    number = c99(real).number
    lines = "".join(f"  q[{i}] = {number(x)};\n" for i, x in enumerate(model.q_reference.tolist()))
    return f"void {robot}_neutral({real} *q)\n{{\n{lines}}}\n"


def _header(model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str) -> str:
    guard = f"{robot.upper()}_H"
    parts = [
        made_by(model) + coordinates(model),
        f"#ifndef {guard}\n#define {guard}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        f"enum {{ {robot}_nq = {model.nq}, {robot}_nv = {model.nv} }};\n",
        comment("The reference configuration: loops closed, quaternions normalised.")
        + f"void {robot}_neutral({real} *q);\n",
        *(comment(f.about()) + f.prototype(robot, real) + ";\n" for f in functions),
        "#ifdef __cplusplus\n}\n#endif\n#endif\n",
    ]
    return "\n".join(parts)
