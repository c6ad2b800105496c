"""The machine code of contacts: what reads Pinocchio's objects at their addresses."""

from __future__ import annotations

from llvmlite import ir

from .._native.process import ALIGNED, C_CONTIGUOUS
from . import desk as at
from .code import Function
from .writer import I64


class ContactDynamics(Function):
    """``constraintDynamics``: with the contacts of the last call, if they are still those; else Python finds them."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.same(self.nargs, I64(7))
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        plan = self.load(self.desk, 8 * at.CONTACTS)
        self.need(self.there(plan))

        def field(i: int) -> ir.Value:
            return self.load(plan, 8 * i)

        for i in range(2):
            self.same(self.load(self.args, 8 * (5 + i)), field(at.CONTACTS_GIVEN + i))
        sizes = self.nq, self.nv, self.nv
        given = [
            (self.array(self.load(self.args, 8 * (2 + i)), n, 1, C_CONTIGUOUS | ALIGNED), n)
            for i, n in enumerate(sizes)
        ]
        checks = field(at.CONTACTS_CHECKS)
        with self.loop(field(at.CONTACTS_CHECKS + 1)) as i:
            row = b.add(checks, b.mul(i, I64(24)))
            there = b.add(self.load(self.load(row)), self.load(row, 8))
            self.same(self.load(there), self.load(row, 16))
        result = self.new_array(b.add(self.desk, I64(8 * at.NV)), 1)
        no_memory = self.block()
        self.need(self.there(result), no_memory)
        with b.goto_block(no_memory):
            b.ret(I64(0))  # MemoryError is set
        arrays = (
            (at.CONTACTS_ASKED, 2), (at.CONTACTS_NUMBERS, 1), (at.CONTACTS_PANEL, 2), (at.CONTACTS_GRAM, 2),
            (at.CONTACTS_FORCES, 1),
        )  # fmt: skip
        rest = [[field(first + i) for i in range(1 + nd)] for first, nd in arrays]
        words: list[list[ir.Value] | tuple[ir.Value, ...]] = [
            *given,
            *rest,
            (self.load(result, self.found("data")), self.nv),
        ]
        good, bad = self.block(), self.block()
        b.cbranch(self.run(kernel, tables, words), good, bad).set_weights([1000, 1])
        b.position_at_end(good)
        # where derivatives find the state; the zero says that forces were neither damped nor iterated
        to = self.load(self.desk, 8 * at.CONTACT_STATE)
        for where, n in given:
            self.common("copy", to, where, n)
            to = b.add(to, b.mul(I64(8), n))
        self.store(I64(0), to)
        b.ret(result)
        b.position_at_end(bad)
        self.drop(result)
        b.branch(self.slow)
        self.hand_over(self.place)
