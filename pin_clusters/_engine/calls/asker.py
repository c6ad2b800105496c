"""Machine code by which a compiled simulation asks a function of the user for torques.

A kernel calls it with the address of whole numbers, ``Question.numbers``. It returns 0 when the torques are there; if
not, what the function gave or raised is kept until Python takes it.
"""

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS
from .question import Question
from .writer import DOUBLE, I64, Module, Numbers, Writer


class Ask(Writer):
    """Writes the function."""

    def __init__(self, name: str, module: Module) -> None:
        super().__init__(module, name, 1)

    def write(self) -> None:
        """Write the function; its end of what is not usual keeps what was raised."""
        b, question = self.b, Numbers(self, Question, self.f.args[0])
        asked, nq, nv = question.asked, question.nq, question.nv
        q_at = b.add(asked, I64(8))
        v_at = b.add(q_at, b.mul(I64(8), nq))
        tau_at = b.add(v_at, b.mul(I64(8), nv))
        t = self.own(self.call(self.found("new_float"), I64, self.load(asked, 0, DOUBLE)), self.slow)
        q, v = (self.own(self.new_array(question.at(n), 1), self.slow) for n in ("nq", "nv"))
        self.common("copy", self.load(q, self.found("data")), q_at, nq)
        self.common("copy", self.load(v, self.found("data")), v_at, nv)
        given = self.call_python(question.function, t, q, v)
        self.release(t, q, v)
        self.own(given, self.slow)
        usual, other, fine, useless = (self.block() for _ in range(4))
        data = self._data(given, nv)
        b.cbranch(self.there(data), usual, other).set_weights([1000, 1])
        b.position_at_end(usual)
        self._accept(given, data, tau_at, nv)
        b.position_at_end(other)  # a list, other numbers, a column
        converted = self.own(self.call_python(question.convert, given), self.slow)
        data = self._data(converted, nv)
        b.cbranch(self.there(data), fine, useless)
        b.position_at_end(fine)
        self.drop(given)
        self._accept(converted, data, tau_at, nv)
        b.position_at_end(useless)
        self.drop(converted)
        question.put(given=given)
        b.ret(I64(1))
        b.position_at_end(self.slow)
        self.call(self.found("fetch"), I64, *(question.at("error", i) for i in range(3)))
        b.ret(I64(1))

    def _data(self, x: ir.Value, n: ir.Value) -> ir.Value:
        return self.common("data_of", x, n, I64(1), I64(C_CONTIGUOUS | ALIGNED), n, self.found("float64"))

    def _accept(self, given: ir.Value, data: ir.Value, tau_at: ir.Value, nv: ir.Value) -> None:
        self.common("copy", tau_at, data, nv)
        self.drop(given)
        self.b.ret(I64(0))
