"""Dynamics of a robot as functions of PyTorch that differentiate: ``pc.torch.aba(model, q, v, tau)``.

Any function that ``pc.trace`` knows is here under its name; ``function`` makes those that take options. Tensors are
float32 or float64 and have the entries of q, v, ... on their last axis; the axes before it are states, and are
broadcast against each other. Values and derivatives are compiled for the robot when they are first asked for, and
computed in the type of the tensors.

Derivatives exist of any order, backward and forward, and under ``torch.func`` (``grad``, ``jacrev``, ``jacfwd``,
``vmap``). They are by the raw entries of q: by those of quaternions, and by all joints of a loop. What depends on v
through ``pc.torch.integrate(model, q, v)`` gets the derivatives along the manifold: those by v at v = 0 are what
``pc.computeABADerivatives`` and its kin compute.

Needs ``pip install torch``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..._support import extras
from ...errors import ArgumentTypeError, NotAvailableError
from .routines import Routine, attributes, check_shapes, check_types, routine

if TYPE_CHECKING:
    from torch import Tensor

    from ...model import ClusterModel

__all__ = ["function", "integrate"]


def function(model: ClusterModel, function: str, **options: Any) -> Callable[..., Any]:
    """Return a function of a robot for PyTorch.

    Args:
        model: The model.
        function: One of ``pc.tracing.FUNCTIONS``.
        options: As of ``pc.trace``: external forces, frames, parameters that differ from row to row. A list of
            frames gives one tensor, (..., frames, that of one frame); the name of one gives that of this frame.

    Returns:
        A function of tensors, in the order of the call, such as q (..., nq), v (..., nv) and tau (..., nv), and what
        options add. It returns a tensor, or a tuple of them, of shape (..., that of one state). Its argument
        ``status``, a tensor of int8 of shape (...), is told what became of each row: 0 good, 1 a loop is open (by 1e-2
        of its size, or rad), 2 the robot is singular, 3 the input is not finite. Rows that are not good are NaN, and so
        are their derivatives; of those with status 1 or 2 a warning tells, unless the status is asked for.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``, an option does not fit, or tensors are not of one type and device.
        ShapeError: A tensor has the wrong size.
        UnknownNameError: There is no such function.
        NotAvailableError: PyTorch is missing, a function of the user ties joints of the robot, or tensors are on
            another device than the CPU.
    """
    extras.package("torch")
    return partial(_call, routine(model, function, **options), f"pc.torch.{function}")


def integrate(model: ClusterModel, q: Tensor, v: Tensor, *, status: Tensor | None = None) -> Tensor:
    """Move configurations along independent velocities for unit time, as ``pc.integrate`` does.

    Args:
        model: The model.
        q: Configurations of the whole tree, shape (..., nq).
        v: Independent velocities times the time step, shape (..., nv), [rad] or [m].
        status: Where to write what became of the rows, of int8; 1 says that a loop did not close within the fixed
            number of Newton steps: v was too long.

    Returns:
        Configurations, shape (..., nq).

    Raises:
        ArgumentTypeError, ShapeError, NotAvailableError: As of ``function``.
    """
    return function(model, "integrate")(q, v, status=status)


__getattr__, __dir__ = attributes("torch", function, None)


def _call(own: Routine, name: str, *given: Any, status: Any = None) -> Any:
    """Check tensors, compute, and put results into their shapes."""
    torch = extras.package("torch")
    _check(torch, own, name, given)
    lead = torch.broadcast_shapes(*(x.shape[:-1] for x in given))
    if status is not None and not (
        isinstance(status, torch.Tensor) and status.dtype == torch.int8 and status.shape == lead
    ):
        what = f"{status.dtype} of shape {tuple(status.shape)}" if isinstance(status, torch.Tensor) else repr(status)
        raise ArgumentTypeError(
            f"{name}: status must be a tensor of int8 of shape {tuple(lead)}, got {what}: "
            f"status = torch.zeros({list(lead)}, dtype=torch.int8)."
        )
    rows = [x.expand(*lead, size).reshape(-1, size) for x, (_, size) in zip(given, own.inputs, strict=True)]
    *found, marks = _evaluate().apply(own, status is None, None, *rows)
    if status is not None:
        status.copy_(marks.reshape(lead))
    results = [x.reshape(*lead, *shape) for x, (_, shape) in zip(found, own.outputs, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _check(torch: Any, own: Routine, name: str, given: Sequence[Any]) -> None:
    for x, (key, _) in zip(given, own.inputs, strict=False):
        if not isinstance(x, torch.Tensor):
            raise ArgumentTypeError(
                f"{name}: {key} must be a torch.Tensor, got {type(x).__name__}. torch.as_tensor makes one."
            )
        if x.layout != torch.strided:
            raise ArgumentTypeError(f"{name}: {key} is {x.layout}. Pass {key}.to_dense().")
    check_shapes(name, own.inputs, [tuple(x.shape) for x in given])
    check_types(name, own.inputs, [str(x.dtype).removeprefix("torch.") for x in given], "tensors")
    devices = {str(x.device) for x in given}
    if len(devices) > 1:
        shown = ", ".join(f"{key} on {x.device}" for x, (key, _) in zip(given, own.inputs, strict=True))
        raise ArgumentTypeError(f"{name} takes tensors on one device, got {shown}.")
    if devices != {"cpu"}:
        raise NotAvailableError(
            f"{name} computes on the CPU, got tensors on {devices.pop()}. Pass x.cpu(); functions of pc.batch take "
            "tensors on a GPU, without derivatives."
        )


@cache
def _evaluate() -> Any:
    """Return the operator, whose base class is there when PyTorch is."""
    torch: Any = extras.package("torch")

    class Evaluate(torch.autograd.Function):
        """Rows of a routine, and their status, which its derivatives are given: they are routines as well."""

        @staticmethod
        def forward(own: Routine, warns: bool, marks: Any, *rows: Any) -> Any:
            status = None if marks is None else marks.numpy()
            found = own([x.detach().numpy() for x in rows], status, silent=not warns)
            return (*map(torch.from_numpy, found.results), torch.from_numpy(found.status))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.own, _, _, *rows = inputs
            ctx.mark_non_differentiable(output[-1])
            ctx.save_for_backward(*rows, output[-1])
            ctx.save_for_forward(*rows, output[-1])

        @staticmethod
        def backward(ctx: Any, *bars: Any) -> Any:
            *rows, status = ctx.saved_tensors
            wanted = ctx.needs_input_grad[3:]
            given = [bar.reshape(len(bar), size) for bar, size in zip(bars, ctx.own.sizes, strict=False)]
            *found, _ = Evaluate.apply(ctx.own.backward(wanted), False, status, *rows, *given)
            return (None, None, None, *(found.pop(0) if needed else None for needed in wanted))

        @staticmethod
        def jvp(ctx: Any, _own: Any, _warns: Any, _marks: Any, *dots: Any) -> Any:
            *rows, status = ctx.saved_tensors
            given = [torch.zeros_like(x) if dot is None else dot for x, dot in zip(rows, dots, strict=True)]
            *found, _ = Evaluate.apply(ctx.own.forward, False, status, *rows, *given)
            return (*found, None)

        @staticmethod
        def vmap(info: Any, in_dims: Any, own: Routine, warns: bool, marks: Any, *rows: Any) -> Any:
            n = info.batch_size

            def moved(x: Any, dim: int | None) -> Any:
                return (x.expand(n, *x.shape) if dim is None else x.movedim(dim, 0)).flatten(0, 1)

            status = None if marks is None else moved(marks, in_dims[2])
            given = [moved(x, dim) for x, dim in zip(rows, in_dims[3:], strict=True)]
            found = Evaluate.apply(own, warns, status, *given)
            results = tuple(x.reshape(n, -1, *x.shape[1:]) for x in found)
            return results, (0,) * len(results)

    return Evaluate
