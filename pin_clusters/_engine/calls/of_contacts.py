"""The machine code of contacts: what reads Pinocchio's objects at their addresses."""

from __future__ import annotations

from llvmlite import ir

from . import desk as at
from .code import Function
from .writer import I64


class OfContacts(Function):
    """What is asked with the contacts of the last call."""

    def _field(self, i: int) -> ir.Value:
        return self.load(self.plan, 8 * i)

    def _find(self, first: int) -> None:
        """Find the plan of the contacts, which are argument ``first`` and the next: if they are still those."""
        self.plan = self.desk_of(self.load(self.given(1), self.found("contact_desk")), at.CONTACTS_SIZE)
        self.same(self._field(at.CONTACTS_MODEL), self.load(self.desk, 8 * at.MODEL))
        for i in range(2):
            self.same(self.given(first + i), self._field(at.CONTACTS_GIVEN + i))

    def _arrays(self, *places: tuple[int, int]) -> list[list[ir.Value]]:
        """Arrays of the plan: where they stand, and how many dimensions they have."""
        return [[self._field(first + i) for i in range(1 + nd)] for first, nd in places]

    def _tables(self) -> list[list[ir.Value]]:
        return self._arrays(
            (at.CONTACTS_ASKED, 2), (at.CONTACTS_NUMBERS, 1), (at.CONTACTS_PANEL, 2), (at.CONTACTS_GRAM, 2),
            (at.CONTACTS_FORCES, 1),
        )  # fmt: skip


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
        written = self.load(self.load(self.desk, 8 * at.DERIVATIVES), 8 * at.ACCELERATION_OF)
        for where, _ in given:  # they are kept when it has been written
            self.need(b.icmp_unsigned("!=", where, written))
        self.need(self.there(self.common("unchanged", self._field(at.CONTACTS_WORDS))))
        result = self.new_array(b.add(self.desk, I64(8 * at.NV)), 1)
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


class ContactDerivatives(OfContacts):
    """``computeConstraintDynamicsDerivatives`` after the usual ``constraintDynamics``, at the state that it kept."""

    def write(self) -> None:
        """Write the function."""
        b, none = self.b, (I64(0), I64(0))
        self.count(4)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        self._find(2)
        names = [entry.name for entry in at.ALL]
        forward, inverse = (
            8 * (at.PLACES + 2 * names.index(name)) for name in ("constraintDynamics", "computeRNEADerivatives")
        )
        for place in (forward, inverse):
            self.need(self.there(self.load(self.desk, place)))
        self.need(self.there(self._field(at.ACTING)))
        mine, nq, nv = self.load(self.desk, 8 * at.DERIVATIVES), self.nq, self.nv
        rows, kept = self._field(at.ROWS), self.load(mine, 8 * at.FORCES_RATES)
        self.need(b.icmp_unsigned("<=", rows, self.load(mine, 8 * at.FORCES_ROOM)))
        state = self.load(self.desk, 8 * at.CONTACT_STATE)
        self.need(self.there(self.common("finite", state, b.add(nq, b.add(nv, nv)))))
        given = []
        for n in (nq, nv, nv):
            given.append((state, n))
            state = b.add(state, b.mul(I64(8), n))
        self.same(self.load(state), I64(0))
        self.need(self.there(self.common("unchanged", self._field(at.CONTACTS_WORDS))))
        square, size = b.mul(nv, nv), b.mul(rows, nv)
        motions = [(self.fresh(b.add(self.desk, I64(8 * at.NV)), 2), square) for _ in range(3)]
        forces = [(self.fresh(b.add(self.plan, I64(8 * at.ROWS)), 2), size) for _ in range(3)]

        def of(field: int, n: ir.Value) -> tuple[ir.Value, ir.Value]:
            return self.load(mine, 8 * field), n

        own = [of(field, square) for field in (at.OF_POSITION, at.OF_RATE, at.MASS)]
        fine = self.run(
            kernel, tables,
            [
                self.load(self.desk, forward), self.load(self.desk, forward + 8), self.load(self.desk, inverse),
                *given, of(at.ACCELERATION_OF, nv), *self._tables(), *self._arrays((at.ACTING, 1)),
                of(at.TORQUES_OF, nv), *own, none, of(at.TREE, self.load(mine, 8 * at.TREE_SIZE)),
                *self._arrays((at.ORDER, 1), (at.RIGHT_SIDES, 2)),
                of(at.FACTORS, self.load(mine, 8 * at.FACTORS_SIZE)),
                *self._arrays((at.JACOBIAN, 1), (at.RESPONSE, 1), (at.TURNED, 1), (at.COLUMN_ROOM, 1)),
                *motions, *forces,
            ],
        )  # fmt: skip
        self.store(I64(1), self.desk, 8 * at.CHANGED)
        # left in the data as well, those by q and v one behind the other
        first = self.load(mine, 8 * at.OF_FORWARD)
        places = first, b.add(first, b.mul(I64(8), square)), self.load(mine, 8 * at.OF_TORQUES)
        for to, (where, _) in zip(places, motions, strict=True):
            self.common("copy", to, where, square)
        for where, _ in forces:
            self.common("copy", kept, where, size)
            kept = b.add(kept, b.mul(I64(8), size))
        self.store(rows, mine, 8 * at.FORCES_ROWS)
        self.give(fine)
        self.hand_over(self.place)
