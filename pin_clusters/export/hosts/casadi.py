"""Dynamics of a robot as CasADi functions, for optimisation: ``pc.casadi.function(model, "aba")``.

They are made of the operations of the robot (``pc.trace``), closed loops and differentials included, as SX,
so that CasADi differentiates them, generates code of them and passes them to its solvers. Derivatives are by the raw
entries of q: by those of quaternions, and by all joints of a loop. Multiplied by ``pc.casadi.tangent`` they are
derivatives along ``pc.integrate``.

Needs ``pip install casadi``.
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
    """Return a function of a robot for CasADi.

    Args:
        model: The model.
        function: One of ``pc.tracing.FUNCTIONS``.
        name: Of the result; that of the function by default.
        options: As of ``pc.tracing.trace``.

    Returns:
        A function of SX. Its inputs are columns in the order of the call, such as q (nq), v (nv) and tau (nv); its
        outputs are dense columns and matrices. All have the names that the ``Program`` gives them (signs in names of
        frames become underscores), also for calls such as ``f(q=q, v=v, tau=tau)["ddq"]``. A list of frames gives one
        output, ``frames``: rows of vectors, matrices one below the other; one name gives that frame's alone.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``, or the name is none that CasADi takes.
        UnknownNameError: There is no such function.
        NotAvailableError: CasADi is missing, or a function of the user ties joints of the robot.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> aba = pc.casadi.function(model, "aba")
        >>> aba
        Function(aba:(q[3],v,tau)->(ddq) SXFunction)
        >>> q, v, tau = model.q_reference, [2.0], [0.1]
        >>> np.allclose(np.array(aba(q, v, tau)), pc.aba(model, model.createData(), q, v, tau))
        True
        >>> aba.jacobian()(q, v, tau, 0)[0].shape  # by the raw entries of q
        (1, 3)
    """
    return of_program(trace(model, function, stack=True, **options), name or function)


def integrate(model: ClusterModel) -> ca.Function:
    """Return the step of a configuration along an independent velocity for unit time, for CasADi.

    Args:
        model: The model.

    Returns:
        A function of q (nq) and v (nv) that gives ``q_next`` (nq), and for robots with loops also ``residual``: loops
        are closed by a fixed number of Newton steps, and what they leave open is to be seen there. A velocity times a
        step of time is what v stands for: ``integrate(q, h * v)``.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``.
        NotAvailableError: As of ``function``.
    """
    return of_program(trace(model, "integrate"), "integrate")


def tangent(model: ClusterModel) -> ca.Function:
    """Return the derivative of ``pc.integrate(model, q, v)`` by v, at v = 0, for CasADi.

    Args:
        model: The model.

    Returns:
        A function of q (nq) that gives ``dq``, shape (nq, nv): the derivatives by q of another function, times it, are
        those along ``pc.integrate``, which ``pc.computeABADerivatives`` and its kin compute.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``.
        NotAvailableError: As of ``function``.
    """
    return of_program(trace(model, "tangent"), "tangent")


def of_program(program: Program, name: str | None = None) -> ca.Function:
    """Return a program as a function of CasADi.

    Args:
        program: Of ``pc.tracing.trace``, or made of such a one by ``jacobian``, ``vjp`` or ``jvp``.
        name: Of the result; made of that of the program by default.

    Raises:
        ArgumentTypeError: It is no ``Program``, or the name is none that CasADi takes.
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
            f"program must be a Program of pc.tracing.trace, got {type(program).__name__}. For a model: "
            'pc.casadi.function(model, "aba").'
        )
    if name is None:
        name = re.sub(r"\W+|__+", "_", program.name).strip("_")
        name = name if ca.Function.check_name(name) else "program"
    if not ca.Function.check_name(name):
        raise ArgumentTypeError(f"{name!r} is no name for CasADi: letters, digits and single underscores are.")
    inputs = [ca.SX.sym(key, size) for key, size in program.inputs]
    given = [x for column in inputs for x in (ca.vertsplit(column) if column.numel() else ())]
    of_its_own = {SQRT: (1, ca.sqrt), SIN: (1, ca.sin), COS: (1, ca.cos)}
    of_its_own[SELECT] = 4, lambda a, b, x, y: ca.if_else(a < b, x, y)
    entries = program.run([ca.SX(float(x)) for x in program.constants], given, {**DONE, **of_its_own})
    outputs = []
    for _, shape, own in program.by_output(entries):
        rows, columns = (math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (math.prod(shape), 1)
        outputs.append(ca.densify(ca.reshape(ca.vertcat(*own), columns, rows).T) if own else ca.SX(rows, columns))
    return ca.Function(name, inputs, outputs, [key for key, _ in program.inputs], _names(program))


def _names(program: Program) -> list[str]:
    """Return names of the outputs: CasADi takes letters, digits and underscores, and not those of the inputs."""
    taken = {name for name, _ in program.inputs}
    names = [f"{name}_next" if name in taken else re.sub(r"\W", "_", name) for name, _ in program.outputs]
    if len({*names, *taken}) < len(names) + len(taken):
        raise UnknownNameError(f"{program.name}: two of the names {', '.join([*taken, *names])} are the same.")
    return names
