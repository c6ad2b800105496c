"""Differentiable dynamics of a robot for PyTorch (``pip install torch``): ``pc.torch.aba(model, q, v, tau)``.

Every function that ``pc.trace`` supports is an attribute of this module; ``function`` makes functions with options.
Tensors are float32 or float64. The last axis contains the entries of q, v, ...; all other axes enumerate states and are
broadcast. Values and derivatives are compiled for the robot at first use and computed in the type of the tensors.

Derivatives of any order are available in backward and forward mode, also under ``torch.func`` (``grad``, ``jacrev``,
``jacfwd``, ``vmap``). Derivatives treat all entries of q as independent, including quaternion entries and all joints of
a loop. To obtain derivatives along the constraint manifold, as in ``pc.computeABADerivatives``, differentiate through
``pc.torch.integrate(model, q, v)`` with respect to v at v = 0.
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
    """Make a PyTorch function of a robot.

    Args:
        model: The model.
        function: A name in ``pc.tracing.FUNCTIONS``.
        options: Options of ``pc.trace``: external forces, frames, and parameters that differ between states. For a list
            of frames, the result has the shape (..., number of frames, shape of one result). For one frame name, the
            result has no axis for frames.

    Returns:
        A function of tensors in SI units, which returns one tensor or a tuple, shape (..., shape of one result). The
        arguments are in the order of the Python function, such as q (..., nq), v (..., nv) and tau (..., nv), followed
        by the inputs that options add. The function writes the status of each state to the optional argument
        ``status``, an int8 tensor of shape (...): 0 if the state is valid, 1 if a loop is open by more than 1e-2 of its
        size or 1e-2 rad, 2 if the robot is singular, 3 if an input is not finite or an angle is huge. Results and
        derivatives of invalid states are NaN. States with status 1 or 2 emit a warning, unless ``status`` is passed.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, the function does not accept an option, or tensors have
            different types or devices.
        ShapeError: A tensor has the wrong size.
        UnknownNameError: ``function`` is not a known name.
        NotAvailableError: PyTorch is missing, a compiled user function constrains joints of the robot, or tensors are
            not on the CPU.

    Example:
        >>> import torch, pin_clusters as pc  # doctest: +SKIP
        >>> model = pc.load("four_bar")  # doctest: +SKIP
        >>> rnea = pc.torch.function(model, "rnea")  # doctest: +SKIP
        >>> rnea(torch.as_tensor(model.q_reference), torch.ones(1).double(), torch.ones(1).double())  # doctest: +SKIP
    """
    extras.package("torch")
    return partial(_call, routine(model, function, **options), f"pc.torch.{function}")


def integrate(model: ClusterModel, q: Tensor, v: Tensor, *, status: Tensor | None = None) -> Tensor:
    """Move configurations with constant independent velocities for unit time, as ``pc.integrate`` does.

    Args:
        model: The model.
        q: Configurations of the spanning tree, shape (..., nq).
        v: Independent velocities times the time step, shape (..., nv), [rad] or [m].
        status: Tensor of int8 to which the status of each state is written. Status 1 means that a loop did not close
            within the fixed number of Newton steps, because v was too large.

    Returns:
        Configurations, shape (..., nq).

    Raises:
        ArgumentTypeError, ShapeError, NotAvailableError: As in ``function``.

    Example:
        >>> import torch, pin_clusters as pc  # doctest: +SKIP
        >>> model = pc.load("four_bar")  # doctest: +SKIP
        >>> pc.torch.integrate(model, torch.as_tensor(model.q_reference), torch.ones(1).double())  # doctest: +SKIP
    """
    return function(model, "integrate")(q, v, status=status)


__getattr__, __dir__ = attributes("torch", function, None)


def _call(own: Routine, name: str, *given: Any, status: Any = None) -> Any:
    torch = extras.package("torch")
    _check(torch, own, name, given)
    lead = torch.broadcast_shapes(*(x.shape[:-1] for x in given))
    if status is not None and not (
        isinstance(status, torch.Tensor) and status.dtype == torch.int8 and status.shape == lead
    ):
        actual = f"{status.dtype} of shape {tuple(status.shape)}" if isinstance(status, torch.Tensor) else repr(status)
        raise ArgumentTypeError(
            f"{name}: status must be an int8 tensor of shape {tuple(lead)}, got {actual}. Use "
            f"status = torch.zeros({list(lead)}, dtype=torch.int8)."
        )
    rows = [x.expand(*lead, size).reshape(-1, size) for x, (_, size) in zip(given, own.inputs, strict=True)]
    *outputs, marks = _evaluate().apply(own, status is None, None, *rows)
    if status is not None:
        status.copy_(marks.reshape(lead))
    results = [x.reshape(*lead, *shape) for x, (_, shape) in zip(outputs, own.outputs, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _check(torch: Any, own: Routine, name: str, given: Sequence[Any]) -> None:
    for x, (key, _) in zip(given, own.inputs, strict=False):
        if not isinstance(x, torch.Tensor):
            raise ArgumentTypeError(
                f"{name}: {key} must be a torch.Tensor, got {type(x).__name__}. Use torch.as_tensor."
            )
        if x.layout != torch.strided:
            raise ArgumentTypeError(f"{name}: {key} is {x.layout}, expected a dense tensor. Pass {key}.to_dense().")
    check_shapes(name, own.inputs, [tuple(x.shape) for x in given])
    check_types(name, own.inputs, [str(x.dtype).removeprefix("torch.") for x in given], "tensors")
    devices = {str(x.device) for x in given}
    if len(devices) > 1:
        shown = ", ".join(f"{key} on {x.device}" for x, (key, _) in zip(given, own.inputs, strict=True))
        raise ArgumentTypeError(f"{name}: all tensors must be on the same device, got {shown}.")
    if devices != {"cpu"}:
        raise NotAvailableError(
            f"{name} computes on the CPU, but the tensors are on {devices.pop()}. Pass x.cpu(). Functions of pc.batch "
            "accept tensors on a GPU, but do not differentiate."
        )


@cache
def _evaluate() -> Any:
    """Return the autograd operator; it is defined in a function because its base class requires PyTorch."""
    torch: Any = extras.package("torch")

    class Evaluate(torch.autograd.Function):
        """Computes the results and the status of a routine; derivatives are other routines, which reuse the status."""

        @staticmethod
        def forward(own: Routine, warns: bool, marks: Any, *rows: Any) -> Any:
            status = None if marks is None else marks.numpy()
            computed = own([x.detach().numpy() for x in rows], status, silent=not warns)
            return (*map(torch.from_numpy, computed.results), torch.from_numpy(computed.status))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.own, _, _, *rows = inputs
            ctx.mark_non_differentiable(output[-1])
            ctx.save_for_backward(*rows, output[-1])
            ctx.save_for_forward(*rows, output[-1])

        @staticmethod
        def backward(ctx: Any, *bars: Any) -> Any:
            *rows, status = ctx.saved_tensors
            needs_gradient = ctx.needs_input_grad[3:]
            row_bars = [bar.reshape(len(bar), size) for bar, size in zip(bars, ctx.own.sizes, strict=False)]
            *gradients, _ = Evaluate.apply(ctx.own.backward(needs_gradient), False, status, *rows, *row_bars)
            return (None, None, None, *(gradients.pop(0) if needed else None for needed in needs_gradient))

        @staticmethod
        def jvp(ctx: Any, _own: Any, _warns: Any, _marks: Any, *dots: Any) -> Any:
            *rows, status = ctx.saved_tensors
            row_dots = [torch.zeros_like(x) if dot is None else dot for x, dot in zip(rows, dots, strict=True)]
            *changes, _ = Evaluate.apply(ctx.own.forward, False, status, *rows, *row_dots)
            return (*changes, None)

        @staticmethod
        def vmap(info: Any, in_dims: Any, own: Routine, warns: bool, marks: Any, *rows: Any) -> Any:
            n = info.batch_size

            def moved(x: Any, dim: int | None) -> Any:
                return (x.expand(n, *x.shape) if dim is None else x.movedim(dim, 0)).flatten(0, 1)

            status = None if marks is None else moved(marks, in_dims[2])
            flat_rows = [moved(x, dim) for x, dim in zip(rows, in_dims[3:], strict=True)]
            outputs = Evaluate.apply(own, warns, status, *flat_rows)
            results = tuple(x.reshape(n, -1, *x.shape[1:]) for x in outputs)
            return results, (0,) * len(results)

    return Evaluate
