"""The machine code of what the functions of the tree call: kinematics and momentum, Jacobians of frames.

These are no functions of users: they tell whether they have done the usual call, and leave all else to who asked.
"""

from __future__ import annotations

from llvmlite import ir

from ..kernels.tables.tree_layout import RATES
from ..native.process import ALIGNED, C_CONTIGUOUS
from .code import Function
from .writer import I64


class OfTree(Function):
    """What they have in common."""

    def begin_in_tree(self) -> tuple[ir.Value, ir.Value]:
        """Begin; the memory of the tree's data, where kernels read and write, is where it was."""
        kernel, tables = self.begin()
        self.need(self.there(self.common("unchanged", self.desk.tree_words)))
        return kernel, tables

    def whole(self, i: int, kind: str) -> ir.Value:
        """The value of an argument that is a whole number of a type; never -1."""
        x = self.given(i)
        self.same(self.load(x, self.found("type")), self.found(kind))
        value = self.call(self.found("to_number"), I64, x)
        odd = self.block()
        self.need(self.b.icmp_signed("!=", value, I64(-1)), odd)
        go = self.b.block
        self.b.position_at_end(odd)  # too large a number has set an error
        self.call(self.found("forget"), ir.VoidType())
        self.b.branch(self.slow)
        self.b.position_at_end(go)
        return value

    def vector_or_none(self, i: int, n: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Where the numbers of an array are, and its size; of None: zeros, and 0."""
        b, x = self.b, self.given(i)
        zeros = self.desk.zeros
        start, there, go = b.block, self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", x, self.found("none")), go, there)
        b.position_at_end(there)
        data = self.array(x, n, 1, C_CONTIGUOUS | ALIGNED)
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        where, size = b.phi(I64), b.phi(I64)
        for phi, absent, present in ((where, zeros, data), (size, I64(0), n)):
            phi.add_incoming(absent, start)
            phi.add_incoming(present, end)
        return where, size

    def couple(self, q: ir.Value, v: ir.Value, rate: ir.Value | None = None) -> None:
        """Bring G to a state, where it depends on one; and dG/dt, if ``rate`` says so."""
        b, kernel = self.b, self.desk.coupling
        loops, go = self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", kernel, I64(0)), go, loops)
        b.position_at_end(loops)
        tables = self.desk.coupling_tables
        if rate is not None:
            tables = b.select(rate, self.desk.rate_tables, tables)
            self.need(self.there(tables))
        fine = self.run(kernel, tables, [(q, self.nq), (v, self.nv)])
        b.cbranch(fine, go, self.slow)
        b.position_at_end(go)

    def numbered(self, index: ir.Value, kind: ir.Value) -> ir.Value:
        """The place of a joint, or of a frame if that is the kind."""
        b, of_frame = self.b, self.b.icmp_unsigned("!=", self.b.and_(kind, I64(1)), I64(0))
        njoints = self.desk.njoints
        self.need(b.icmp_unsigned("<", index, b.select(of_frame, self.desk.nframes, njoints)))
        return b.add(index, b.select(of_frame, njoints, I64(0)))


class Tree(OfTree):
    """``quick_tree(model, data, what, q, v, a)``: True, if it was done."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.count(6)
        self.same(self.names, I64(0))
        kernel, tables = self.begin_in_tree()
        what = b.or_(self.whole(2, "int"), self.desk.also)
        q = self.array(self.given(3), self.nq, 1, C_CONTIGUOUS | ALIGNED)
        v, a = self.vector_or_none(4, self.nv), self.vector_or_none(5, self.nv)
        self.need(b.icmp_unsigned(">=", v[1], a[1]))  # no acceleration without velocity
        self.prepare(q, v[0], a[0], b.icmp_unsigned("!=", b.and_(what, I64(RATES)), I64(0)))
        self.need(self.run(kernel, tables, [what, (q, self.nq), v, a]))
        done = self.found("true")
        self.call(self.found("increase"), ir.VoidType(), done)
        b.ret(done)
        self.hand_over()

    def prepare(self, q: ir.Value, v: ir.Value, a: ir.Value, rate: ir.Value) -> None:
        """Bring the couplings to the state; a is zeros where none is given."""
        self.couple(q, v, rate)


class Motion(Tree):
    """``quick_motion``, the same on tables of its own: what couplings do to derivatives comes with it."""

    def prepare(self, q: ir.Value, v: ir.Value, a: ir.Value, rate: ir.Value) -> None:
        """Bring the couplings and their derivatives to the state."""
        b, kernel = self.b, self.desk.motion_rates
        loops, go = self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", kernel, I64(0)), go, loops)
        b.position_at_end(loops)
        at, size = self.desk.coupled, self.desk.coupled_size
        results = [(b.add(at, b.mul(size, I64(8 * i))), size) for i in (1, 2, 3)]
        given = [(q, self.nq), (v, self.nv), (a, self.nv), *results]
        self.need(self.run(kernel, self.desk.motion_rates_tables, given))
        self.couple(q, v, rate)
        self.common("copy", at, self.desk.coupling_G, size)
        b.branch(go)
        b.position_at_end(go)


class FrameJacobian(OfTree):
    """``quick_jacobian(model, data, q, index, reference_frame, kind)``: the Jacobian, if all was usual."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.count(6)
        self.same(self.names, I64(0))
        kernel, tables = self.begin_in_tree()
        index, reference = self.whole(3, "int"), self.whole(4, "reference_frame")
        kind = self.whole(5, "int")
        place = self.numbered(index, kind)
        q = self.vector_or_none(2, self.nq)
        couple, go = self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", q[1], I64(0)), go, couple)
        b.position_at_end(couple)
        self.couple(q[0], self.desk.zeros)
        b.branch(go)
        b.position_at_end(go)
        numbers = self.fresh(self.desk.at("six"), 2)
        rows = self.desk.six
        given = [q, place, reference, b.and_(kind, I64(2)), (numbers, rows, self.desk.nv)]
        self.give(self.run(kernel, tables, given))
        self.hand_over()
