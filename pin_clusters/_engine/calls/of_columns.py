"""The machine code of what asks for columns of the inverse mass matrix, or products with them."""

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
        self.open(2)
        plan = self.desk_of(self.given(3), Plan)
        self.same(plan.model, self.desk.model)
        self.answer(plan)

    def answer(self, plan: Numbers, torques: Sequence[ir.Value] | None = None) -> None:
        """Give what a plan wants, of its torques or others."""
        b = self.b
        (q,) = self.words("q")
        numbers = self.fresh(b.select(self.there(plan.accelerations), plan.at("response"), plan.at("gram")), 2)
        given = [q, *self.words("asked placements panel", plan)]
        # the other one has no entries
        results = [[numbers, *plan.all("gram")], [numbers, *plan.all("response")]]
        torques = plan.all("torques") if torques is None else torques
        self.do([*given, torques, *results])
        self.give()
        self.hand_over()

    def known(self, frames: ir.Value, first: ir.Value, reference: ir.Value) -> Numbers:
        """The plan of frames that were asked for before."""
        return Numbers(self, Plan, self.recalled(frames, first, self.either(reference, self.found("local"))))


class OperationalInertia(Columns):
    """``inverse_operational_inertia(model, data, q, frames, reference, rows)``, of frames that are known."""

    def write(self) -> None:
        """Write the function."""
        reference, rows = self.optional(4, 2, ("reference", "rows"))
        self.begin()
        plan = self.known(self.given(3), self.either(rows, self.found("none")), reference)
        self.answer(plan)


class InputMatrix(Columns):
    """``inverse_input_matrix(model, data, q, B, contacts, reference=)``, of contacts that are known."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        B, contacts, reference = self.optional(3, 2, ("B", "contacts", "reference"))
        self.begin()
        contacts = self.either(contacts, self.found("nothing"))
        B, torques, question = self.either(B, self.found("none")), self.room(3), self.room(1)
        own = b.icmp_unsigned("==", B, self.found("none"))
        self.store(I64(OWN_INPUTS), question)
        with b.if_then(b.not_(own)):
            self.same(self.load(B, self.found("type")), self.found("ndarray"))
            self.same(b.zext(self.load(B, self.found("nd"), I32), I64), I64(2))
            inputs = self.item(self.load(B, self.found("dims")), I64(1))
            self.need(b.icmp_unsigned("<", inputs, I64(1 << 32)))  # no address, of which questions are made as well
            where = self.array(B, self.nv, 2, C_CONTIGUOUS | ALIGNED, inputs)
            self.put_items([where, self.nv, inputs], torques)
            self.store(b.add(inputs, I64(GIVEN_INPUTS)), question)
        plan = self.known(contacts, self.load(question), reference)
        with b.if_then(own):
            self.put_items(plan.all("torques"), torques)
        self.answer(plan, self.items(torques, 3))
