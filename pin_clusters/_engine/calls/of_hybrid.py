"""The machine code of hybrid dynamics: a mask is read where it is, names are known again."""

from __future__ import annotations

from llvmlite import ir

from ..native.process import C_CONTIGUOUS
from .code import Function
from .recollection import HYBRID_NAMES
from .writer import I64, array_words


class Hybrid(Function):
    """``hybrid_dynamics(model, data, q, v, tau, a, prescribed)``."""

    def write(self) -> None:
        """Write the function."""
        self.count(7)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        vectors = [self.vector(2, self.nq), *(self.vector(i, self.nv) for i in (3, 4, 5))]
        mask = array_words(self.b, self._mask(self.given(6)), [self.nv], 1)
        dims = self.desk.at("nv")
        results = [(self.fresh(dims, 1), self.nv) for _ in range(2)]
        self.give(self.run(kernel, tables, [*vectors, *mask, *results]))
        self.hand_over()

    def _mask(self, x: ir.Value) -> ir.Value:
        """Where the bytes of a mask are, or those of a list of names."""
        b, where = self.b, self.room(1)
        is_array = b.icmp_unsigned("==", self.load(x, self.found("type")), self.found("ndarray"))
        with b.if_else(is_array) as (array, names):
            with array:
                self.store(self.array(x, self.nv, 1, C_CONTIGUOUS, kind="bool"), where)
            with names:
                self.store(self.recalled(x, I64(HYBRID_NAMES), I64(0)), where)
        return self.load(where)
