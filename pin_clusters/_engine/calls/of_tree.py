"""The machine code of what the functions of the tree call: kinematics and momentum, Jacobians of frames.

These are no functions of users: they tell whether they have done the usual call, and leave all else to who asked.
"""

from llvmlite import ir

from ..kernels.tables.tree_layout import RATES
from .code import Function
from .records import TermsPlan
from .writer import DOUBLE, I64


class OfTree(Function):
    """What they have in common."""

    def open_in_tree(self, least: int, most: int | None = None) -> None:
        """Begin; the memory of the tree's data, where kernels read and write, is where it was."""
        self.open(least, most)
        self.need(self.there(self.common("unchanged", self.desk.tree_words)))

    def whole(self, i: int, kind: str) -> ir.Value:
        """The value of an argument that is a whole number of a type; never -1."""
        x = self.given(i)
        self.same(self.load(x, self.found("type")), self.found(kind))
        value = self.call(self.found("to_number"), I64, x)
        odd = self.block()
        self.need(self.b.icmp_signed("!=", value, I64(-1)), odd)
        with self.b.goto_block(odd):  # too large a number has set an error
            self.call(self.found("forget"), ir.VoidType())
            self.b.branch(self.slow)
        return value

    def with_loops(self) -> ir.Value:
        """Whether G depends on the state."""
        return self.there(self.desk.motion_rates)

    def differentiate(self, names: str, *given: list[ir.Value]) -> None:
        """Bring G and its derivatives to a state: what is given, then by names what follows of q, v, a, and a room."""
        self.need(self.run(self.desk.motion_rates, self.desk.motion_rates_tables, [*given, *self.words(names)]))

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
        self.open_in_tree(4)
        what = b.or_(self.whole(2, "int"), self.desk.also)
        q, v, a = self.vector(3, self.nq), self.array_or_none(4, self.nv), self.array_or_none(5, self.nv)
        self.need(b.icmp_unsigned(">=", v[1], a[1]))  # no acceleration without velocity
        self.prepare(q[0], v[0], a[0], b.icmp_unsigned("!=", b.and_(what, I64(RATES)), I64(0)))
        self.do([what, q, v, a])
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
        with self.b.if_then(self.with_loops()):
            self.differentiate("coupled", [q, self.nq], [v, self.nv], [a, self.nv])
            self.couple(q, v, rate)


class Terms(OfTree):
    """``quick_terms(model, data, q, v, desk)``: all terms, with those of the frames of a desk; True, if it was done."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.open_in_tree(3)
        desk, plan = self.desk, self.desk_of(self.given(4), TermsPlan)
        self.same(plan.model, desk.model)
        q, v = self.vector(2, self.nq), self.vector(3, self.nv)
        for where, n in (q, v):  # is read while results are written
            before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), plan.frames)
            self.need(b.or_(before, b.icmp_unsigned(">=", where, plan.end)))
        rest = [desk.zeros, self.nv]
        what = b.or_(plan.what, desk.also)
        wanted = {
            "crba": [q, [plan.M, self.nv, self.nv]],
            "computeMechanicalEnergy": [q, v],
            "quick_tree": [what, q, v, rest],
            "quick_terms": [plan.all("places"), plan.reference, plan.all("frames")],
            "nonLinearEffects": [q, v, rest, [plan.nle, self.nv]],  # late: v may be what it leaves in data
            "computeGeneralizedGravity": [q, rest, rest, [plan.g, self.nv]],
        }
        for name in wanted:
            self.need(self.there(desk.all(name)[0]))
        self.couple(q[0], v[0])
        desk.put(changed=I64(1))
        for name, words in wanted.items():
            kernel, tables = desk.all(name)
            self.need(self.run(kernel, tables, words))
        kinetic, potential = (self.item(desk.energies, I64(i), DOUBLE) for i in range(2))
        for i, x in enumerate((kinetic, potential, b.fadd(kinetic, potential))):
            self.put_item(x, desk.kept, I64(i))
        done = self.found("true")
        self.call(self.found("increase"), ir.VoidType(), done)
        b.ret(done)
        self.hand_over()


class FrameJacobian(OfTree):
    """``quick_jacobian(model, data, q, index, reference_frame, kind)``: the Jacobian, if all was usual."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.open_in_tree(4)
        index, reference, kind = self.whole(3, "int"), self.whole(4, "reference_frame"), self.whole(5, "int")
        place, q = self.numbered(index, kind), self.array_or_none(2, self.nq)
        with b.if_then(self.there(q[1])):
            self.couple(q[0], self.desk.zeros)
        (numbers,) = self.words("+motion")
        self.do([q, place, reference, b.and_(kind, I64(2)), numbers])
        self.give()
        self.hand_over()


class FramePlacements(OfTree):
    """``updateFramePlacements(model, data)``, by Pinocchio."""

    def write(self) -> None:
        """Write the function."""
        self.open(0)
        self.b.ret(self.call_python(self.found("pin_updateFramePlacements"), self.desk.own_tree, self.desk.tree_data))
        self.hand_over()
