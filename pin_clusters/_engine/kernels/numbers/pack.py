"""The SIMD pack: a scalar type of several float64 lanes.

``Pack(n)`` is LLVM's ``<n x double>``; it adds, subtracts, multiplies, divides and negates like a float64. Leaving the
vectorisation of inner lane loops to LLVM gives no vector instruction at all: its alias analysis gives up on tables that
are read and written.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from ..compiling.inner import InnerCompiler

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.

INLINE: dict[str, Any] = {
    "jit_options": {
        "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler,
    }
}  # fmt: skip
_CONTRACT = ("contract",)


class Pack(types.Type):
    """Numba type of n float64 lanes."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(f"Pack({n})")


@register_model(Pack)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager: Any, pack: Pack) -> None:
        super().__init__(manager, pack, ir.VectorType(ir.DoubleType(), pack.n))


def as_scalar(context: Any, builder: Any, value: Any, kind: Any, scalar: Any) -> Any:
    """Cast a number to a float64, or broadcast it to all lanes of a pack; a pack stays."""
    if isinstance(kind, Pack):
        return value
    x = context.cast(builder, value, kind, types.float64)
    if not isinstance(scalar, Pack):
        return x
    vector = ir.VectorType(ir.DoubleType(), scalar.n)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), scalar.n), [0] * scalar.n)
    return builder.shuffle_vector(one, one, zeros)


def _pack_operator(op: Any, instruction: str) -> None:
    @intrinsic
    def compute(typing: Any, a: Any, b: Any) -> Any:
        pack = a if isinstance(a, Pack) else b

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, y = (as_scalar(context, builder, v, t, pack) for v, t in zip(args, signature.args, strict=True))
            return getattr(builder, instruction)(x, y, flags=_CONTRACT)

        return pack(a, b), codegen

    @overload(op, inline="never", **INLINE)
    def choose(a, b):
        first, second = isinstance(a, Pack), isinstance(b, Pack)
        if (first and (second or isinstance(b, types.Number))) or (second and isinstance(a, types.Number)):
            return lambda a, b: compute(a, b)
        return None


for _op, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
):
    _pack_operator(_op, _name)


@intrinsic
def _negate(typing: Any, a: Any) -> Any:
    return a(a), lambda context, builder, signature, args: builder.fneg(args[0])


@overload(operator.neg, **INLINE)
def _neg(a):
    return (lambda a: _negate(a)) if isinstance(a, Pack) else None


@intrinsic
def _pack_select(typing: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = as_scalar(context, builder, args[1], signature.args[1], a)
        return builder.select(builder.fcmp_ordered("<", args[0], limit), args[2], args[3])

    return x(a, b, x, y), codegen


def if_less(a, b, x, y):
    """Return x where a < b, else y."""
    return x if a < b else y


@overload(if_less, **INLINE)
def _if_less(a, b, x, y):
    if isinstance(a, Pack):
        return lambda a, b, x, y: _pack_select(a, b, x, y)
    return lambda a, b, x, y: x if a < b else y


def may_be_less(x, limit):
    """Return whether x < limit; not for NaN. For a pack it is True: the caller looks at the lanes later."""
    return bool(x < limit)


@overload(may_be_less, **INLINE)
def _may_be_less(x, limit):
    if isinstance(x, Pack):
        return lambda x, limit: True
    return lambda x, limit: x < limit


def too_small(x, limit):
    """Return whether x <= limit. A pack never is: batches find bad rows by their results."""
    return bool(x <= limit)


@overload(too_small, **INLINE)
def _too_small(x, limit):
    if isinstance(x, Pack):
        return lambda x, limit: False
    return lambda x, limit: x <= limit
