"""The machine code of what asks for columns of the inverse mass matrix, or products with them."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS
from .code import Function
from .recollection import GIVEN_INPUTS, OWN_INPUTS
from .records import Plan
from .writer import I32, I64, Numbers


class Columns(Function):
    """``quick_columns(model, data, q, desk)``: what the plan of a desk wants, if all was usual."""

    def write(self) -> None:
        """Write the function."""
        self.count(4)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        plan = self.desk_of(self.given(3), Plan)
        self.same(plan.model, self.desk.model)
        self.answer(kernel, tables, plan)

    def answer(
        self, kernel: ir.Value, tables: ir.Value, plan: Numbers, torques: Sequence[ir.Value] | None = None
    ) -> None:
        """Give what a plan wants; the torques are its own, or others of that shape."""
        b = self.b
        q = self.vector(2, self.nq)
        accelerations = self.there(plan.accelerations)
        rows = b.select(accelerations, plan.offset("response"), plan.offset("gram"))
        numbers = self.fresh(b.add(plan.where, rows), 2)
        # the other one has no entries

        given = [
            q, plan.all("asked"), plan.all("placements"), plan.all("panel"),
            plan.all("torques") if torques is None else torques,
            [numbers, *plan.all("gram")], [numbers, *plan.all("response")],
        ]  # fmt: skip
        self.give(self.run(kernel, tables, given))
        self.hand_over()


class OperationalInertia(Columns):
    """``inverse_operational_inertia(model, data, q, frames, reference, rows)``, of frames that are known."""

    def write(self) -> None:
        """Write the function."""
        reference, rows = self.optional(4, 2, ("reference", "rows"))
        kernel, tables = self.begin()
        reference, rows = self.either(reference, self.found("local")), self.either(rows, self.found("none"))
        self.answer(kernel, tables, Numbers(self, Plan, self.recalled(self.given(3), rows, reference)))


class InputMatrix(Columns):
    """``inverse_input_matrix(model, data, q, B, contacts, reference=)``, of contacts that are known."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        B, contacts, reference = self.optional(3, 2, ("B", "contacts", "reference"))
        kernel, tables = self.begin()
        contacts, reference = self.either(contacts, self.found("nothing")), self.either(reference, self.found("local"))
        B, torques, question = self.either(B, self.found("none")), self.room(3), self.room(1)
        own = b.icmp_unsigned("==", B, self.found("none"))
        self.store(I64(OWN_INPUTS), question)
        with b.if_then(b.not_(own)):
            self.same(self.load(B, self.found("type")), self.found("ndarray"))
            self.same(b.zext(self.load(B, self.found("nd"), I32), I64), I64(2))
            inputs = self.load(self.load(B, self.found("dims")), 8)
            self.need(b.icmp_unsigned("<", inputs, I64(1 << 32)))  # no address, of which questions are made as well
            where = self.array(B, self.nv, 2, C_CONTIGUOUS | ALIGNED, inputs)
            for i, number in enumerate((where, self.nv, inputs)):
                self.store(number, torques, 8 * i)
            self.store(b.add(inputs, I64(GIVEN_INPUTS)), question)
        plan = Numbers(self, Plan, self.recalled(contacts, self.load(question), reference))
        with b.if_then(own):
            for i, number in enumerate(plan.all("torques")):
                self.store(number, torques, 8 * i)
        self.answer(kernel, tables, plan, [self.load(torques, 8 * i) for i in range(3)])
