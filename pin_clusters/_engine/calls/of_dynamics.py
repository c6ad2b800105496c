"""The machine code of ``aba``, ``rnea``, ``crba`` and their like: one result, or the array given as ``out``."""

from __future__ import annotations

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS, WRITEABLE
from .code import Function
from .desk import ENTRIES
from .writer import DOUBLE, I64, Library


class Dynamics(Function):
    """Writes what ``desk.ENTRIES`` lists."""

    def __init__(self, name: str, library: Library) -> None:
        super().__init__(name, library)
        (self.entry,) = (entry for entry in ENTRIES if entry.name == name)

    def write(self) -> None:
        """Write the function."""
        entry, given = self.entry, sum(size != "0" for size in self.entry.arguments)
        self.count(2 + given)
        if entry.returns in ("vector", "matrix"):
            out = self._keyword(2 + given)
            self.begin()
            self._with_array(out, self.words(" ".join(entry.arguments)))
        else:
            self.same(self.names, I64(0))
            self.begin()
            self._with_number(self.words(" ".join(entry.arguments)))
        self.hand_over()

    def _keyword(self, i: int) -> ir.Value:
        """The object given as ``out=``, or 0."""
        b, start = self.b, self.b.block
        named, go = self.block("named"), self.block("go")
        b.cbranch(b.icmp_unsigned("==", self.names, I64(0)), go, named).set_weights([1000, 1])
        b.position_at_end(named)
        self.same(self.load(self.names, self.found("names")), I64(1))
        self.same(self.load(self.names, self.found("in_tuple")), self.found("out"))
        given = self.item(self.args, I64(i))
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        out = b.phi(I64)
        out.add_incoming(I64(0), start)
        out.add_incoming(given, end)
        return out

    def _with_array(self, out: ir.Value, given: list[list[ir.Value]]) -> None:
        b, shape = self.b, "nv" if self.entry.returns == "vector" else "matrix"
        dims, nd = self.desk.dims(shape)
        sizes = [self.nv] * nd
        make, use, run, good, bad, own, done, drop = (self.block() for _ in range(8))
        b.cbranch(b.icmp_unsigned("==", out, I64(0)), make, use).set_weights([1000, 1])
        b.position_at_end(use)
        target = self.array(out, self.nv, nd, C_CONTIGUOUS | ALIGNED | WRITEABLE)
        end = b.add(target, b.mul(I64(8), self.product(*sizes)))
        for where, n in self.state:  # the kernel writes before it has read all
            behind = b.icmp_unsigned(">=", where, end)
            before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), target)
            self.need(b.or_(behind, before))
        used = b.block
        b.branch(run)
        b.position_at_end(make)
        fresh_data, none = self.fresh(dims, nd), I64(0)
        (fresh,) = self.owned
        made = b.block
        b.branch(run)
        b.position_at_end(run)
        result, where = b.phi(I64), b.phi(I64)
        for phi, first, second in ((result, fresh, out), (where, fresh_data, target)):
            phi.add_incoming(first, made)
            phi.add_incoming(second, used)
        if self.entry.kernel == "aba":  # its derivatives may be asked for without a state, which it may overwrite
            self.copies(self.desk.after_aba, self.state)
        fine = self.run(self.kernel, self.tables, [*self.state, [where, *sizes]])
        b.cbranch(fine, good, bad).set_weights([1000, 1])
        b.position_at_end(good)
        if self.entry.kernel == "crba":  # data.M is copied from the kernel's own when it is asked for
            self.desk.put(changed=I64(1))
        if len(given) > len(self.state):  # the kernel's result has forces behind it, and is not the data's own
            self.common("copy", self.desk.tau, where, self.nv)
        b.cbranch(b.icmp_unsigned("==", out, none), done, own).set_weights([1000, 1])
        b.position_at_end(own)
        self.call(self.found("increase"), ir.VoidType(), out)
        b.branch(done)
        b.position_at_end(done)
        b.ret(result)
        b.position_at_end(bad)  # the Python function computes again, and complains
        b.cbranch(b.icmp_unsigned("==", out, none), drop, self.slow)
        b.position_at_end(drop)
        self.drop(result)
        b.branch(self.slow)

    def _with_number(self, given: list[list[ir.Value]]) -> None:
        b, which = self.b, self.entry.returns
        self.need(self.run(self.kernel, self.tables, given))
        energies, kept = self.desk.energies, self.desk.kept
        kinetic, potential = (self.item(energies, I64(i), DOUBLE) for i in (0, 1))
        total = b.fadd(kinetic, potential)
        for i, (name, value) in enumerate((("kinetic", kinetic), ("potential", potential), ("mechanical", total))):
            if which in (name, "mechanical"):
                self.put_item(value, kept, I64(i))
            if which == name:
                result = value
        b.ret(self.call(self.found("new_float"), I64, result))
