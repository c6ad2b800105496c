"""Differentiable dynamics of a robot for JAX (``pip install jax``): ``pc.jax.aba(model, q, v, tau)``.

Every function that ``pc.trace`` supports is an attribute of this module; ``function`` makes functions with options.
Arrays are float32 or float64. The last axis contains the entries of q, v, ...; all other axes enumerate states and are
broadcast. Values and derivatives are compiled for the robot at first use. The CPU computes them in the type of the
arrays, through ``jax.pure_callback``. ``jax.jit`` and ``jax.vmap`` are supported, as are ``jax.grad`` and
``jax.jacrev`` of any order. JAX does not support ``jax.jvp`` and ``jax.jacfwd`` for functions with callbacks.

Derivatives treat all entries of q as independent, including quaternion entries and all joints of a loop. To obtain
derivatives along the constraint manifold, as in ``pc.computeABADerivatives``, differentiate through
``pc.jax.integrate(model, q, v)`` with respect to v at v = 0.

JAX converts float64 to float32 unless ``jax.config.update("jax_enable_x64", True)`` was called. If JAX would convert a
NumPy array, the functions of this module raise ``ArgumentTypeError``.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._support import extras
from ...errors import ArgumentTypeError
from .routines import Routine, attributes, check_shapes, check_types, routine

if TYPE_CHECKING:
    from ...model import ClusterModel

__all__ = ["function", "integrate"]


def function(model: "ClusterModel", function: str, **options: Any) -> Callable[..., Any]:
    """Make a JAX function of a robot.

    Args:
        model: The model.
        function: A name in ``pc.tracing.FUNCTIONS``.
        options: Options of ``pc.trace``: external forces, frames, and parameters that differ between states. For a list
            of frames, the result has the shape (..., number of frames, shape of one result). For one frame name, the
            result has no axis for frames.

    Returns:
        A function of arrays in SI units, which returns an array or a tuple of arrays, shape (..., shape of one result).
        The arguments are in the order of the Python function, such as q (..., nq), v (..., nv) and tau (..., nv),
        followed by the inputs that options add. If ``status=True`` is passed, the function also returns the status of
        each state, an int8 array of shape (...): 0 if the state is valid, 1 if a loop is open by more than 1e-2 of its
        size or 1e-2 rad, 2 if the robot is singular, 3 if an input is not finite or an angle is huge. Results and
        derivatives of invalid states are NaN, without a warning.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, the function does not accept an option, arrays have
            different types, or JAX would convert float64 to float32.
        ShapeError: An array has the wrong size.
        UnknownNameError: ``function`` is not a known name.
        NotAvailableError: JAX is missing, or a compiled user function constrains joints of the robot.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> rnea = pc.jax.function(model, "rnea")
        >>> q = np.tile(model.q_reference, (5, 1)).astype(np.float32)
        >>> rnea(q, np.ones((5, 1), np.float32), np.ones(1, np.float32)).shape
        (5, 1)
    """
    extras.package("jax")
    return partial(_call, routine(model, function, **options), f"pc.jax.{function}")


def integrate(model: "ClusterModel", q: ArrayLike, v: ArrayLike, *, status: bool = False) -> Any:
    """Move configurations with constant independent velocities for unit time, as ``pc.integrate`` does.

    Args:
        model: The model.
        q: Configurations of the spanning tree, shape (..., nq).
        v: Independent velocities times the time step, shape (..., nv), [rad] or [m].
        status: Whether to also return the status of each state. Status 1 means that a loop did not close within the
            fixed number of Newton steps, because v was too large.

    Returns:
        Configurations, shape (..., nq).

    Raises:
        ArgumentTypeError, ShapeError, NotAvailableError: As in ``function``.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q = model.q_reference.astype(np.float32)
        >>> bool(np.abs(pc.jax.integrate(model, q, np.zeros(1, np.float32)) - q).max() < 1e-6)
        True
    """
    return function(model, "integrate")(q, v, status=status)


__getattr__, __dir__ = attributes("jax", function, False)


def _call(own: Routine, name: str, *given: Any, status: bool = False) -> Any:
    _check(own, name, given)
    jnp = extras.package("jax").numpy
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    *arrays, marks = _operator(own)(*(jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in given))
    results = arrays[0] if len(arrays) == 1 else tuple(arrays)
    return (results, marks) if status else results


def _check(own: Routine, name: str, given: Sequence[Any]) -> None:
    jax = extras.package("jax")
    for x, (key, _) in zip(given, own.inputs, strict=False):
        if not isinstance(x, (jax.Array, np.ndarray)):
            raise ArgumentTypeError(
                f"{name}: {key} must be a JAX or NumPy array, got {type(x).__name__}. Use jax.numpy.asarray."
            )
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and not jax.config.jax_enable_x64:
            raise ArgumentTypeError(
                f"{name}: {key} is float64, which JAX would silently convert to float32. Call "
                f'jax.config.update("jax_enable_x64", True) first, or pass {key}.astype(np.float32).'
            )
    check_shapes(name, own.inputs, [tuple(x.shape) for x in given])
    check_types(name, own.inputs, [str(x.dtype) for x in given], "arrays")


def _operator(own: Routine) -> Callable[..., tuple[Any, ...]]:
    operator = own.wrapped.get("jax")
    if operator is None:
        operator = own.wrapped["jax"] = _make(own)
    return operator


def _make(own: Routine) -> Callable[..., tuple[Any, ...]]:
    jax: Any = extras.package("jax")

    @jax.custom_vjp
    def evaluate(*rows: Any) -> tuple[Any, ...]:
        lead, dtype = rows[0].shape[:-1], rows[0].dtype
        shapes = [jax.ShapeDtypeStruct((*lead, *shape), dtype) for _, shape in own.outputs]
        shapes.append(jax.ShapeDtypeStruct(lead, np.int8))
        outputs: tuple[Any, ...] = jax.pure_callback(
            partial(_on_the_host, own), tuple(shapes), *rows, vmap_method="broadcast_all"
        )
        return outputs

    def forward(*rows: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        outputs = evaluate(*rows)
        return outputs, (rows, outputs[-1])

    def backward(kept: tuple[Any, Any], bars: tuple[Any, ...]) -> tuple[Any, ...]:
        rows, status = kept
        row_bars = [bar.reshape(*status.shape, size) for bar, size in zip(bars, own.sizes, strict=False)]
        *gradients, _ = _operator(own.backward())(*rows, *row_bars)
        return tuple(jax.numpy.where((status != 0)[..., None], math.nan, x) for x in gradients)

    evaluate.defvjp(forward, backward)
    return evaluate


def _on_the_host(own: Routine, *rows: Any) -> tuple[np.ndarray, ...]:
    arrays = [np.asarray(x) for x in rows]
    lead = arrays[0].shape[:-1]
    computed = own([x.reshape(-1, x.shape[-1]) for x in arrays])
    results = (x.reshape(*lead, *shape) for x, (_, shape) in zip(computed.results, own.outputs, strict=True))
    return (*results, computed.status.reshape(lead))
