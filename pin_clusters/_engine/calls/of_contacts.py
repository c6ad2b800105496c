"""The machine code of contacts: what reads Pinocchio's objects at their addresses."""

from ..owed import OWED
from .code import Function
from .records import ContactPlan
from .writer import I64

_TABLES = "asked placements panel gram forces"


class OfContacts(Function):
    """What is asked with the contacts of the last call."""

    def find(self, first: int) -> None:
        """Find the plan of the contacts, which are argument ``first`` and the next: if they are still those."""
        self.plan = self.desk_of(self.load(self.given(1), self.found("contact_desk")), ContactPlan)
        self.same(self.plan.model, self.desk.model)
        self.same(self.given(first), self.plan.models)
        self.same(self.given(first + 1), self.plan.datas)

    def accepted(self) -> None:
        """Look at the words last: they tell whether what the plan leads to is there."""
        self.need(self.there(self.common("unchanged", self.plan.words)))


class ContactDynamics(OfContacts):
    """``constraintDynamics``: with the contacts of the last call, if they are still those; else Python finds them."""

    def write(self) -> None:
        """Write the function."""
        self.open(5)
        self.find(5)
        given, owed = self.words(f"q v v {_TABLES} +nv", self.plan), OWED["constraintDynamics"]
        changes = self.changes(owed)
        self.keep(owed.room, owed.clears, self.state[:2], changes)
        self.do(given)
        self.owe(owed, changes)
        # where derivatives find the state; the zero says that forces were neither damped nor iterated
        self.store(I64(0), self.copies(self.desk.after_contacts, self.state))
        self.give()
        self.hand_over()

    def accepted(self) -> None:
        """Also: the state is kept when accelerations have been written."""
        written = self.desk.ddq
        for where, _ in self.state:
            self.need(self.b.icmp_unsigned("!=", where, written))
        super().accepted()


class ContactDerivatives(OfContacts):
    """``computeConstraintDynamicsDerivatives`` after the usual ``constraintDynamics``, at the state that it kept."""

    def write(self) -> None:
        """Write the function."""
        self.open(2)
        self.find(2)
        b, desk, plan, nq, nv = self.b, self.desk, self.plan, self.nq, self.nv
        for x in (desk.constraintDynamics, desk.contact_rates, plan.acting):
            self.need(self.there(x))
        self.need(b.icmp_unsigned("<=", plan.of_forces, desk.dlambda_room))
        where = desk.after_contacts
        self.need(self.there(self.common("finite", where, b.add(nq, b.add(nv, nv)))))
        for n in (nq, nv, nv):
            self.state.append([where, n])
            where = b.add(where, b.mul(I64(8), n))
        self.same(self.load(where), I64(0))
        given = self.words(
            f"ddq {_TABLES} acting unasked dtau_dq dtau_dv M - velocities order sides factors jacobian response turned "
            "columns ~matrix ~matrix ~matrix ~of_forces ~of_forces ~of_forces",
            plan,
        )
        kernels = *desk.all("constraintDynamics"), desk.contact_rates, desk.inverse_kernel
        fine = self.run(self.kernel, self.tables, [*kernels, *self.state, *given])
        self.need(fine)
        self.copies(desk.M_live, [desk.array("M")])
        self.leave("ddq_dq_dv ddq_dq_dv ddq_dtau dlambda dlambda dlambda", given[-6:])
        desk.put(dlambda_rows=plan.of_forces)
        self.give()
        self.hand_over()
