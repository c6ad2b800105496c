"""The machine code of what the functions of the tree call: kinematics and momentum, Jacobians of frames.

These are no functions of users: they tell whether they have done the usual call, and leave all else to who asked.
"""

from llvmlite import ir

from ..kernels.tables import tree_layout as tl
from ..kernels.tables.tree_layout import RATES
from ..owed import OWED, PARTS, READ_BY_JACOBIANS, READ_BY_RATES, WHAT, bits
from .code import Function
from .records import TermsPlan
from .writer import DOUBLE, I64

# which of the members that others owe are written with each wish: always, with v, with a
_WRITTEN = (
    (tl.MOTION, "", "v", "a"), (tl.COLUMNS, "J", "", ""), (tl.RATES, "dJ", "", ""),
    (tl.CENTERS, "com mass", "vcom", ""),
    (tl.WORLD, "com mass", "", ""), (tl.MOMENTUM, "", "hg", "dhg"), (tl.MAP, "Ag", "", ""), (tl.JCOM, "Jcom", "", ""),
    (tl.WHOLE, "Ig", "", ""), (tl.MAP_RATE, "dAg", "", ""),
)  # fmt: skip
_ALWAYS = "liMi oMi"
_WRITABLE = bits(" ".join([_ALWAYS, *(members for _, *by_level in _WRITTEN for members in by_level)]))


def written(what: int, level: int) -> int:
    """Return the bits of members of data that the kernel of the tree writes, of those that other functions owe."""
    if what & tl.QUIET:
        return 0
    wishes = [members for wish, *by_level in _WRITTEN if what & wish for members in by_level[: level + 1]]
    return bits(" ".join([_ALWAYS, *wishes]))


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
        asked = self.whole(2, "int")
        what = b.or_(b.and_(asked, I64(WHAT)), self.desk.also)
        q, v, a = self.vector(3, self.nq), self.array_or_none(4, self.nv), self.array_or_none(5, self.nv)
        self.need(b.icmp_unsigned(">=", v[1], a[1]))  # no acceleration without velocity
        self.prepare(q[0], v[0], a[0], b.icmp_unsigned("!=", b.and_(what, I64(RATES)), I64(0)))
        room, owes, spoils = (self.part(asked, *at) for at in PARTS)
        with b.if_then(self.there(owes), likely=False):
            self.keep_state(room, [q, [v[0], self.nv], [a[0], self.nv]])
        self.do([what, q, v, a])
        touched = b.and_(self.load(self.desk.owed), I64(_WRITABLE))
        with b.if_then(self.there(b.or_(b.or_(owes, spoils), touched))):
            clears = b.or_(self.written(what, self.there(v[1]), self.there(a[1])), b.or_(owes, spoils))
            self.common("owe", self.desk.owed, clears, b.add(I64(1), room), owes, spoils)
        done = self.found("true")
        self.call(self.found("increase"), ir.VoidType(), done)
        b.ret(done)
        self.hand_over()

    def prepare(self, q: ir.Value, v: ir.Value, a: ir.Value, rate: ir.Value) -> None:
        """Bring the couplings to the state; a is zeros where none is given."""
        self.couple(q, v, rate)

    def part(self, asked: ir.Value, at: int, size: int) -> ir.Value:
        """Some bits of what is asked."""
        return self.b.and_(self.b.lshr(asked, I64(at)), I64((1 << size) - 1))

    def keep_state(self, room: ir.Value, state: list[list[ir.Value]]) -> None:
        """Keep the state in one of the rooms; what was owed there is lost."""
        for i in range(3):  # q; q and v; q, v and a
            with self.b.if_then(self.b.icmp_unsigned("==", room, I64(i))):
                self.keep(i, 0, state[: i + 1])

    def written(self, what: ir.Value, with_v: ir.Value, with_a: ir.Value) -> ir.Value:
        """The bits of members that are written."""
        b, found = self.b, I64(bits(_ALWAYS))
        for wish, *by_level in _WRITTEN:
            for members, given in zip(by_level, (None, with_v, with_a), strict=True):
                if members:
                    asked = b.icmp_unsigned("!=", b.and_(what, I64(wish)), I64(0))
                    asked = asked if given is None else b.and_(asked, given)
                    found = b.or_(found, b.select(asked, I64(bits(members)), I64(0)))
        return found


class Motion(Tree):
    """``quick_motion``, the same on tables of its own: what couplings do to derivatives comes with it."""

    def prepare(self, q: ir.Value, v: ir.Value, a: ir.Value, rate: ir.Value) -> None:
        """Bring the couplings and their derivatives to the state."""
        with self.b.if_then(self.with_loops()):
            self.differentiate("coupled", [q, self.nq], [v, self.nv], [a, self.nv])
            self.couple(q, v, rate)


# with frames accelerations at rest are there
_WITH_FRAMES = OWED["computeAllTerms with frames"]._replace(
    writes=bits("liMi oMi v a J com mass vcom hg dhg Ag Ig Jcom M nle g")
)


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
        results, (where, n) = desk.tau, q  # tau, ddq, nle and g, which are written while q is read
        before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), results)
        self.need(b.or_(before, b.icmp_unsigned(">=", where, b.add(results, b.mul(I64(32), self.nv)))))
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
        self.keep(_WITH_FRAMES.room, 0, [q, v, rest])
        for name, words in wanted.items():
            kernel, tables = desk.all(name)
            self.need(self.run(kernel, tables, words))
        kinetic, potential = (self.item(desk.energies, I64(i), DOUBLE) for i in range(2))
        for i, x in enumerate((kinetic, potential, b.fadd(kinetic, potential))):
            self.put_item(x, desk.kept, I64(i))
        self.copies(desk.M_live, [desk.array("M")])
        self.owe(_WITH_FRAMES)
        done = self.found("true")
        self.call(self.found("increase"), ir.VoidType(), done)
        b.ret(done)
        self.hand_over()


class FrameJacobian(OfTree):
    """``quick_jacobian(model, data, q, index, reference_frame, kind)``: the Jacobian, if all was usual."""

    def write(self) -> None:
        """Write the function."""
        self.open_in_tree(4)
        index, reference, kind = self.whole(3, "int"), self.whole(4, "reference_frame"), self.whole(5, "int")
        self.answer(index, reference, kind, self.array_or_none(2, self.nq))

    def answer(self, index: ir.Value, reference: ir.Value, kind: ir.Value, q: list[ir.Value]) -> None:
        """Write the rest."""
        b, place = self.b, self.numbered(index, kind)
        # without q, what is in the tree's data must be what others would have left there
        rate = b.and_(kind, I64(2))
        read = b.select(self.there(rate), I64(READ_BY_RATES), I64(READ_BY_JACOBIANS))
        owed = b.and_(self.load(self.desk.owed), read)
        self.need(b.or_(self.there(q[1]), b.icmp_unsigned("==", owed, I64(0))))
        with b.if_then(self.there(q[1])):
            self.couple(q[0], self.desk.zeros)
        (numbers,) = self.words("+motion")
        self.do([q, place, reference, rate, numbers])
        self.give()
        self.hand_over()


GETTERS = {
    "getJointJacobian": 0, "getFrameJacobian": 1, "getJointJacobianTimeVariation": 2, "getFrameJacobianTimeVariation": 3
}  # fmt: skip
"""Kinds of Jacobians by function."""


class JacobianGetter(FrameJacobian):
    """``getFrameJacobian(model, data, frame_id, reference_frame)`` and its like: without q."""

    def write(self) -> None:
        """Write the function."""
        self.open_in_tree(2)
        index, reference = self.whole(2, "int"), self.whole(3, "reference_frame")
        self.answer(index, reference, I64(GETTERS[self.f.name]), [self.desk.zeros, I64(0)])


class FramePlacements(OfTree):
    """``updateFramePlacements(model, data)``, by Pinocchio."""

    def write(self) -> None:
        """Write the function."""
        self.open(0)
        owed = self.b.and_(self.load(self.desk.owed), I64(bits("oMi")))
        self.need(self.b.icmp_unsigned("==", owed, I64(0)))
        self.b.ret(self.call_python(self.found("pin_updateFramePlacements"), self.desk.own_tree, self.desk.tree_data))
        self.hand_over()
