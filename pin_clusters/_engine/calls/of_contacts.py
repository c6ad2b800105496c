"""The machine code of contacts: what reads Pinocchio's objects at their addresses."""

from __future__ import annotations

from llvmlite import ir

from .code import Function
from .records import ContactPlan
from .writer import I64


class OfContacts(Function):
    """What is asked with the contacts of the last call."""

    def _find(self, first: int) -> None:
        """Find the plan of the contacts, which are argument ``first`` and the next: if they are still those."""
        self.plan = self.desk_of(self.load(self.given(1), self.found("contact_desk")), ContactPlan)
        self.same(self.plan.model, self.desk.model)
        self.same(self.given(first), self.plan.models)
        self.same(self.given(first + 1), self.plan.datas)

    def _tables(self) -> list[list[ir.Value]]:
        return [self.plan.all(name) for name in ("asked", "placements", "panel", "gram", "forces")]


class ContactDynamics(OfContacts):
    """``constraintDynamics``: with the contacts of the last call, if they are still those; else Python finds them."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.count(7)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        self._find(5)
        sizes = self.nq, self.nv, self.nv
        given = [self.vector(2 + i, n) for i, n in enumerate(sizes)]
        written = self.desk.part("derivatives").acceleration
        for where, _ in given:  # they are kept when it has been written
            self.need(b.icmp_unsigned("!=", where, written))
        self.need(self.there(self.common("unchanged", self.plan.words)))
        result = self.new_array(self.desk.at("nv"), 1)
        no_memory = self.block()
        self.need(self.there(result), no_memory)
        with b.goto_block(no_memory):
            b.ret(I64(0))  # MemoryError is set
        words: list[list[ir.Value] | tuple[ir.Value, ...]] = [
            *given,
            *self._tables(),
            (self.load(result, self.found("data")), self.nv),
        ]
        good, bad = self.block(), self.block()
        b.cbranch(self.run(kernel, tables, words), good, bad).set_weights([1000, 1])
        b.position_at_end(good)
        # where derivatives find the state; the zero says that forces were neither damped nor iterated
        to = self.desk.after_contacts
        for where, n in given:
            self.common("copy", to, where, n)
            to = b.add(to, b.mul(I64(8), n))
        self.store(I64(0), to)
        b.ret(result)
        b.position_at_end(bad)
        self.drop(result)
        b.branch(self.slow)
        self.hand_over()


class ContactDerivatives(OfContacts):
    """``computeConstraintDynamicsDerivatives`` after the usual ``constraintDynamics``, at the state that it kept."""

    def write(self) -> None:
        """Write the function."""
        b, none = self.b, (I64(0), I64(0))
        self.count(4)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        self._find(2)
        for name in ("constraintDynamics", "computeRNEADerivatives"):
            self.need(self.there(getattr(self.desk, name)))
        self.need(self.there(self.plan.acting))
        mine, nq, nv = self.desk.part("derivatives"), self.nq, self.nv
        rows, kept = self.plan.motions, mine.forces_rates
        self.need(b.icmp_unsigned("<=", rows, mine.forces_room))
        state = self.desk.after_contacts
        self.need(self.there(self.common("finite", state, b.add(nq, b.add(nv, nv)))))
        given = []
        for n in (nq, nv, nv):
            given.append((state, n))
            state = b.add(state, b.mul(I64(8), n))
        self.same(self.load(state), I64(0))
        self.need(self.there(self.common("unchanged", self.plan.words)))
        square, size = b.mul(nv, nv), b.mul(rows, nv)
        motions = [(self.fresh(self.desk.at("nv"), 2), square) for _ in range(3)]
        forces = [(self.fresh(self.plan.at("motions"), 2), size) for _ in range(3)]

        own = [(x, square) for x in (mine.of_position, mine.of_rate, mine.mass)]
        fine = self.run(
            kernel, tables,
            [
                *self.desk.all("constraintDynamics"), self.desk.computeRNEADerivatives,
                *given, (mine.acceleration, nv), *self._tables(), self.plan.all("acting"),
                (mine.torques, nv), *own, none, mine.all("tree"), self.plan.all("order"), self.plan.all("sides"),
                (mine.factors, mine.factors_size),
                *(self.plan.all(name) for name in ("jacobian", "response", "turned", "columns")),
                *motions, *forces,
            ],
        )  # fmt: skip
        self.desk.put(changed=I64(1))
        # left in the data as well, those by q and v one behind the other
        first = mine.of_forward
        places = first, b.add(first, b.mul(I64(8), square)), mine.of_torques
        for to, (where, _) in zip(places, motions, strict=True):
            self.common("copy", to, where, square)
        for where, _ in forces:
            self.common("copy", kept, where, size)
            kept = b.add(kept, b.mul(I64(8), size))
        mine.put(forces_rows=rows)
        self.give(fine)
        self.hand_over()
