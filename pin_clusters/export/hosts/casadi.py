"""Dynamics of a robot as CasADi functions (``pip install casadi``): ``pc.casadi.function(model, "aba")``.

The functions are SX graphs of the robot's traced operations (``pc.trace``), including closed loops and differentials.
CasADi can therefore differentiate the functions, generate code from them and pass them to its solvers. Derivatives
treat all entries of q as independent, including quaternion entries and all joints of a loop. Multiply such derivatives
by ``pc.casadi.tangent`` to obtain derivatives along ``pc.integrate``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ..._support import extras
from ...compiler.tracing import Program, trace
from ...compiler.tracing.expressions import COS, DONE, SELECT, SIN, SQRT
from ...errors import ArgumentTypeError, UnknownNameError

if TYPE_CHECKING:
    import casadi as ca

    from ...model import ClusterModel

__all__ = ["function", "integrate", "of_program", "tangent"]


def function(model: ClusterModel, function: str, *, name: str | None = None, **options: Any) -> ca.Function:
    """Make a CasADi function of a robot.

    Args:
        model: The model.
        function: A name in ``pc.tracing.FUNCTIONS``.
        name: Name of the CasADi function; the default is ``function``.
        options: Options of ``pc.trace``.

    Returns:
        A CasADi function of type SX, in SI units. The inputs are column vectors in the order of the Python function's
        arguments, such as q (nq), v (nv) and tau (nv). The outputs are dense column vectors and matrices. The names of
        inputs and outputs are the names in the ``Program`` and can be used as keywords:
        ``f(q=q, v=v, tau=tau)["ddq"]``. In output names, special characters become underscores. For a list of frames,
        the output ``frames`` contains one vector per row, or matrices stacked vertically. For a single frame name, the
        output has the shape of one result.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, or CasADi does not accept the name.
        UnknownNameError: ``function`` is not a known name.
        NotAvailableError: CasADi is missing, or a compiled user function constrains joints of the robot.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> aba = pc.casadi.function(model, "aba")
        >>> aba
        Function(aba:(q[3],v,tau)->(ddq) SXFunction)
        >>> q, v, tau = model.q_reference, [2.0], [0.1]
        >>> np.allclose(np.array(aba(q, v, tau)), pc.aba(model, model.createData(), q, v, tau))
        True
        >>> aba.jacobian()(q, v, tau, 0)[0].shape  # derivative with respect to the entries of q
        (1, 3)
    """
    return of_program(trace(model, function, stack=True, **options), name or function)


def integrate(model: ClusterModel) -> ca.Function:
    """Make a CasADi function that moves a configuration with a constant independent velocity for unit time.

    Args:
        model: The model.

    Returns:
        A function of q (nq) and v (nv, [rad] or [m]) with the output ``q_next`` (nq). For robots with loops, the second
        output ``residual`` is the loop error that remains after a fixed number of Newton steps. To integrate over a
        time step h, pass ``h * v``.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``.
        NotAvailableError: As in ``function``.

    Example:
        >>> import pin_clusters as pc
        >>> pc.casadi.integrate(pc.load("four_bar"))
        Function(integrate:(q[3],v)->(q_next[3],residual) SXFunction)
    """
    return of_program(trace(model, "integrate"), "integrate")


def tangent(model: ClusterModel) -> ca.Function:
    """Make a CasADi function for the derivative of ``pc.integrate(model, q, v)`` with respect to v at v = 0.

    Args:
        model: The model.

    Returns:
        A function of q (nq) with the output ``dq_dv``, shape (nq, nv). Multiply derivatives of other functions with
        respect to q by this matrix to obtain derivatives along ``pc.integrate``. ``pc.computeABADerivatives`` and
        related functions return such derivatives.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``.
        NotAvailableError: As in ``function``.

    Example:
        >>> import pin_clusters as pc
        >>> pc.casadi.tangent(pc.load("four_bar"))
        Function(tangent:(q[3])->(dq_dv[3]) SXFunction)
    """
    return of_program(trace(model, "tangent"), "tangent")


def of_program(program: Program, name: str | None = None) -> ca.Function:
    """Convert a program to a CasADi function.

    Args:
        program: A program from ``pc.trace``, or a program returned by its ``jacobian``, ``vjp`` or ``jvp``.
        name: Name of the CasADi function. The default is derived from the name of the program.

    Returns:
        A CasADi function of type SX with the inputs, outputs and units of the program.

    Raises:
        ArgumentTypeError: ``program`` is not a ``Program``, or CasADi does not accept the name.
        NotAvailableError: CasADi is missing.

    Example:
        >>> import pin_clusters as pc
        >>> program = pc.tracing.trace(pc.load("four_bar"), "rnea")
        >>> pc.casadi.of_program(program.jacobian("a"), "inertia").name_out()
        ['dtau_da']
    """
    ca = extras.package("casadi")
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"program must be a Program of pc.tracing.trace, got {type(program).__name__}. For a model, use "
            'pc.casadi.function(model, "aba").'
        )
    if name is None:
        name = re.sub(r"\W+|__+", "_", program.name).strip("_")
        name = name if ca.Function.check_name(name) else "program"
    if not ca.Function.check_name(name):
        raise ArgumentTypeError(f"CasADi rejects the name {name!r}. Use letters, digits and single underscores.")
    inputs = [ca.SX.sym(key, size) for key, size in program.inputs]
    entries_in = [x for column in inputs for x in (ca.vertsplit(column) if column.numel() else ())]
    of_its_own = {SQRT: (1, ca.sqrt), SIN: (1, ca.sin), COS: (1, ca.cos)}
    of_its_own[SELECT] = 4, lambda a, b, x, y: ca.if_else(a < b, x, y)
    entries = program.run([ca.SX(float(x)) for x in program.constants], entries_in, {**DONE, **of_its_own})
    outputs = []
    for _, shape, cells in program.by_output(entries):
        rows, columns = (math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (math.prod(shape), 1)
        outputs.append(ca.densify(ca.reshape(ca.vertcat(*cells), columns, rows).T) if cells else ca.SX(rows, columns))
    return ca.Function(name, inputs, outputs, [key for key, _ in program.inputs], _names(program))


def _names(program: Program) -> list[str]:
    input_names = {name for name, _ in program.inputs}
    names = [f"{name}_next" if name in input_names else re.sub(r"\W", "_", name) for name, _ in program.outputs]
    if len({*names, *input_names}) < len(names) + len(input_names):
        raise UnknownNameError(f"{program.name}: names must differ, got {', '.join([*input_names, *names])}.")
    return names
