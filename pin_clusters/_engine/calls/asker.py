"""Machine code by which a compiled simulation asks a function of the user for torques.

A kernel calls it with the address of whole numbers, ``Question.numbers``. It returns 0 when the torques are there; if
not, what the function gave or raised is kept until Python takes it.
"""

from __future__ import annotations

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS
from .records import Asked
from .writer import DOUBLE, I64, Library, Numbers, Writer


class Ask(Writer):
    """Writes the function."""

    def __init__(self, name: str, library: Library) -> None:
        super().__init__(library, name, 1)

    def write(self) -> None:
        """Write the function."""
        b, asked = self.b, Numbers(self, Asked, self.f.args[0])
        values, nq, nv = asked.values, asked.nq, asked.nv
        q_at = b.add(values, I64(8))
        v_at = b.add(q_at, b.mul(I64(8), nq))
        tau_at = b.add(v_at, b.mul(I64(8), nv))
        t = self.call(self.found("new_float"), I64, self.load(values, 0, DOUBLE))
        self.need(self.there(t))
        q = self.new_array(asked.at("nq"), 1)
        no_q = self.block()
        self.need(self.there(q), no_q)
        v = self.new_array(asked.at("nv"), 1)
        no_v = self.block()
        self.need(self.there(v), no_v)
        self.common("copy", self.load(q, self.found("data")), q_at, nq)
        self.common("copy", self.load(v, self.found("data")), v_at, nv)
        given = self.call_python(asked.function, t, q, v)
        for x in (t, q, v):
            self.drop(x)
        self.need(self.there(given))
        data = self._data(given, nv)
        usual, other = self.block(), self.block()
        b.cbranch(self.there(data), usual, other).set_weights([1000, 1])
        b.position_at_end(usual)
        self._accept(given, data, tau_at, nv)
        b.position_at_end(other)  # a list, other numbers, a column
        converted = self.call_python(asked.convert, given)
        failed = self.block()
        self.need(self.there(converted), failed)
        data = self._data(converted, nv)
        useless = self.block()
        self.need(self.there(data), useless)
        self.drop(given)
        self._accept(converted, data, tau_at, nv)
        b.position_at_end(useless)
        self.drop(converted)
        asked.put(given=given)
        b.ret(I64(1))
        for block, things in ((no_v, (q, t)), (no_q, (t,)), (failed, (given,))):
            b.position_at_end(block)
            for x in things:
                self.drop(x)
            b.branch(self.slow)
        b.position_at_end(self.slow)
        self.call(self.found("fetch"), I64, *(asked.at("error", i) for i in range(3)))
        b.ret(I64(1))

    def _data(self, x: ir.Value, n: ir.Value) -> ir.Value:
        return self.common("data_of", x, n, I64(1), I64(C_CONTIGUOUS | ALIGNED), n, self.found("float64"))

    def _accept(self, given: ir.Value, data: ir.Value, tau_at: ir.Value, nv: ir.Value) -> None:
        self.common("copy", tau_at, data, nv)
        self.drop(given)
        self.b.ret(I64(0))
