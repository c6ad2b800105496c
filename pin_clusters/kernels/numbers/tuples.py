"""Tuples of numbers with vector operators, and functions that read them from flat arrays.

``Vec6`` is a spatial motion or force. ``Rigid`` is a rigid-body inertia: mass, first moment (3), and inertia about the
origin (xx xy xz yy yz zz). ``Sym6`` is a symmetric spatial matrix: linear-linear (6), linear-angular (9), and
angular-angular (6). Compiled code does not loop over the elements, so they stay in registers.
"""

import operator
from collections import namedtuple
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ...compiler.numba_jit.jit import INLINE
from ...compiler.switches import BOUNDSCHECK
from .memory import place_of

# Numba compares the signatures of an overload and its implementation; therefore neither has annotations.

Vec3 = namedtuple("Vec3", "x y z")
Vec6 = namedtuple("Vec6", "x y z wx wy wz")
Rigid = namedtuple("Rigid", "m hx hy hz xx xy xz yy yz zz")
Sym6 = namedtuple("Sym6", "l0 l1 l2 l3 l4 l5 m0 m1 m2 m3 m4 m5 m6 m7 m8 a0 a1 a2 a3 a4 a5")
KINDS: tuple[Any, ...] = (Vec3, Vec6, Rigid, Sym6)


def _kind(t):
    kind = getattr(t, "instance_class", None)
    return kind if kind in KINDS else None


def _declare(op, instruction):
    """Define an operator: ``*`` between a tuple and a number, or ``+``, ``-`` between tuples of the same type."""

    def method(self, other):
        return type(self)(*map(op, self, other if isinstance(other, tuple) else (other,) * len(self)))

    for kind in KINDS:
        setattr(kind, f"__{op.__name__}__", method)

    @intrinsic
    def compute(typing: Any, a: Any, b: Any) -> Any:
        kinds = list(zip(a.types, b.types if _kind(b) else [b] * len(a), strict=True))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            left = cgutils.unpack_tuple(builder, args[0])
            right = cgutils.unpack_tuple(builder, args[1]) if _kind(b) else [args[1]] * len(left)
            values = []
            for pair, of_pair in zip(zip(left, right, strict=True), kinds, strict=True):
                x, y = (context.cast(builder, n, k, types.float64) for n, k in zip(pair, of_pair, strict=True))
                values.append(getattr(builder, instruction)(x, y, flags=("contract",)))
            return context.make_tuple(builder, signature.return_type, values)

        return types.BaseTuple.from_types([types.float64] * len(a), _kind(a))(a, b), codegen

    @overload(op, **INLINE)
    def choose(self, other):
        fits = isinstance(other, types.Number) if op is operator.mul else _kind(other) is _kind(self)
        return (lambda self, other: compute(self, other)) if _kind(self) and fits else None


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _declare(_op, _name)

for _vector in KINDS:
    _vector.__neg__ = lambda self: self * -1.0
    _vector.__rmul__ = lambda self, other: self * other  # otherwise, n * tuple would repeat the tuple


@overload(operator.neg, **INLINE)
def _neg(self):
    return (lambda self: self * -1.0) if _kind(self) else None


def loads(n, kind=None):
    """Return a function that reads n numbers of a flat array, from element i on, into a tuple, or into a ``kind``."""

    def load(a, i):
        values = tuple(a[i + k] for k in range(n))
        return kind(*values) if kind else values

    @intrinsic
    def read(typing: Any, a: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array, start = args
            values = [builder.load(place_of(context, builder, a, array, start, k), align=8) for k in range(n)]
            return context.make_tuple(builder, signature.return_type, values)

        return types.BaseTuple.from_types([types.float64] * n, kind)(a, types.intp), codegen

    @overload(load, **INLINE)
    def choose(a, i):
        def checked(a, i):
            assert 0 <= i <= a.shape[0] - n, "kernel reads out of bounds"
            return read(a, i)

        return checked if BOUNDSCHECK else lambda a, i: read(a, i)

    return load


load3, load6, load10, load21 = loads(3, Vec3), loads(6, Vec6), loads(10, Rigid), loads(21, Sym6)
load2, load9, load15 = loads(2), loads(9), loads(15)
