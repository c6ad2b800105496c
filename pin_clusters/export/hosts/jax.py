"""Dynamics of a robot as functions of JAX that differentiate: ``pc.jax.aba(model, q, v, tau)``.

Any function that ``pc.trace`` knows is here under its name; ``function`` makes those that take options. Arrays are
float32 or float64 and have the entries of q, v, ... on their last axis; the axes before it are states, and are
broadcast against each other. Values and derivatives are compiled for the robot when they are first asked for, and
computed on the CPU in the type of the arrays, called back by ``jax.pure_callback``: also from within ``jax.jit``, under
``jax.vmap``, ``jax.grad`` and ``jax.jacrev``, of any order. ``jax.jvp`` and ``jax.jacfwd`` are refused by JAX.

Derivatives are by the raw entries of q: by those of quaternions, and by all joints of a loop. What depends on v through
``pc.jax.integrate(model, q, v)`` gets the derivatives along the manifold: those by v at v = 0 are what
``pc.computeABADerivatives`` and its kin compute.

JAX makes float32 of float64 unless ``jax.config.update("jax_enable_x64", True)`` was called; arrays of NumPy for which
it would do so are refused.

Needs ``pip install jax``.
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
    """Return a function of a robot for JAX.

    Args:
        model: The model.
        function: One of ``pc.tracing.FUNCTIONS``.
        options: As of ``pc.trace``: external forces, frames, parameters that differ from row to row. A list of
            frames gives one array, (..., frames, that of one frame); the name of one gives that of this frame.

    Returns:
        A function of arrays, in the order of the call, such as q (..., nq), v (..., nv) and tau (..., nv), and what
        options add. It returns an array, or a tuple of them, of shape (..., that of one state). With ``status=True``
        it returns beside that an array of int8 of shape (...): 0 good, 1 a loop is open (by 1e-2 of its size, or rad),
        2 the robot is singular, 3 the input is not finite. Rows that are not good are NaN, and so are their
        derivatives; nothing warns.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``, an option does not fit, arrays are not of one type, or JAX would
            make float32 of float64.
        ShapeError: An array has the wrong size.
        UnknownNameError: There is no such function.
        NotAvailableError: JAX is missing, or a function of the user ties joints of the robot.
    """
    extras.package("jax")
    return partial(_call, routine(model, function, **options), f"pc.jax.{function}")


def integrate(model: "ClusterModel", q: ArrayLike, v: ArrayLike, *, status: bool = False) -> Any:
    """Move configurations along independent velocities for unit time, as ``pc.integrate`` does.

    Args:
        model: The model.
        q: Configurations of the whole tree, shape (..., nq).
        v: Independent velocities times the time step, shape (..., nv), [rad] or [m].
        status: Whether to return what became of the rows as well; 1 says that a loop did not close within the fixed
            number of Newton steps: v was too long.

    Returns:
        Configurations, shape (..., nq).

    Raises:
        ArgumentTypeError, ShapeError, NotAvailableError: As of ``function``.
    """
    return function(model, "integrate")(q, v, status=status)


__getattr__, __dir__ = attributes("jax", function, False)


def _call(own: Routine, name: str, *given: Any, status: bool = False) -> Any:
    """Check arrays, compute, and put results into their shapes."""
    _check(own, name, given)
    jnp = extras.package("jax").numpy
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    *found, marks = _operator(own)(*(jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in given))
    results = found[0] if len(found) == 1 else tuple(found)
    return (results, marks) if status else results


def _check(own: Routine, name: str, given: Sequence[Any]) -> None:
    jax = extras.package("jax")
    for x, (key, _) in zip(given, own.inputs, strict=False):
        if not isinstance(x, (jax.Array, np.ndarray)):
            raise ArgumentTypeError(
                f"{name}: {key} must be an array of JAX or NumPy, got {type(x).__name__}. jax.numpy.asarray makes one."
            )
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and not jax.config.jax_enable_x64:
            raise ArgumentTypeError(
                f"{name}: {key} is float64, of which JAX would silently make float32. Call "
                f'jax.config.update("jax_enable_x64", True) first, or pass {key}.astype(np.float32).'
            )
    check_shapes(name, own.inputs, [tuple(x.shape) for x in given])
    check_types(name, own.inputs, [str(x.dtype) for x in given], "arrays")


def _operator(own: Routine) -> Callable[..., tuple[Any, ...]]:
    """Return what JAX knows of a routine; its derivative is another one."""
    kept = own.wrapped.get("jax")
    if kept is None:
        kept = own.wrapped["jax"] = _make(own)
    return kept


def _make(own: Routine) -> Callable[..., tuple[Any, ...]]:
    jax: Any = extras.package("jax")

    @jax.custom_vjp
    def evaluate(*rows: Any) -> tuple[Any, ...]:
        lead, dtype = rows[0].shape[:-1], rows[0].dtype
        shapes = [jax.ShapeDtypeStruct((*lead, *shape), dtype) for _, shape in own.outputs]
        shapes.append(jax.ShapeDtypeStruct(lead, np.int8))
        found: tuple[Any, ...] = jax.pure_callback(
            partial(_on_the_host, own), tuple(shapes), *rows, vmap_method="broadcast_all"
        )
        return found

    def forward(*rows: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        found = evaluate(*rows)
        return found, (rows, found[-1])

    def backward(kept: tuple[Any, Any], bars: tuple[Any, ...]) -> tuple[Any, ...]:
        rows, status = kept
        given = [bar.reshape(*status.shape, size) for bar, size in zip(bars, own.sizes, strict=False)]
        *found, _ = _operator(own.backward())(*rows, *given)
        return tuple(jax.numpy.where((status != 0)[..., None], math.nan, x) for x in found)

    evaluate.defvjp(forward, backward)
    return evaluate


def _on_the_host(own: Routine, *rows: Any) -> tuple[np.ndarray, ...]:
    """Compute rows, whatever axes stand before the last one."""
    given = [np.asarray(x) for x in rows]
    lead = given[0].shape[:-1]
    found = own([x.reshape(-1, x.shape[-1]) for x in given])
    results = (x.reshape(*lead, *shape) for x, (_, shape) in zip(found.results, own.outputs, strict=True))
    return (*results, found.status.reshape(lead))
