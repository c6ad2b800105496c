"""The machine code between Python and a kernel of a data object, as LLVM's intermediate representation.

One function per entry, called as ``METH_FASTCALL | METH_KEYWORDS`` says. It does the usual call itself: arguments of
the right type and size, result made, kernel called. Everything else it hands, unchanged, to the Python function of the
same name, which converts, compiles or complains. No reference count is touched here but by Python's and NumPy's own
functions.
"""

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS, WRITEABLE
from ..owed import LOST, Owed, before
from .recollection import HYBRID_NAMES
from .records import DataDesk
from .writer import I32, I64, Bytes, Module, Numbers, Writer

_ARGUMENTS = ("q", "v", "f", "(f)", "m", "0")


class Function(Writer):
    """Writes one entry: what they have in common.

    Attributes:
        desk: Of the data.
        kernel: Its address.
        tables: The address of its tables.
        state: The vectors that are given, and zeros that stand for them.
    """

    def __init__(self, name: str, module: Module) -> None:
        super().__init__(module, name)
        self.state: list[list[ir.Value]] = []
        self._sizes: dict[str, list[ir.Value]] = {}
        self._read = 2
        _, self.args, self.nargs, self.names = self.f.args

    def open(self, least: int, most: int | None = None) -> None:
        """See that there are so many arguments behind model and data, and none by name; begin."""
        self.count(2 + least, None if most is None else 2 + most)
        self.same(self.names, I64(0))
        self.begin()

    def begin(self) -> None:
        """Model and data fit, and the kernel is compiled."""
        model, data = self.given(0), self.given(1)
        self.same(self.load(data, self.found("type")), self.found("data_class"))
        self.same(self.load(data, self.found("model")), model)
        self.desk = self.desk_of(self.load(data, self.found("desk")), DataDesk)
        self.kernel, self.tables = self.desk.all(self.f.name)
        self.need(self.there(self.kernel))
        self.desk.know("nq", "nv")
        self.nq, self.nv = self.desk.nq, self.desk.nv

    def vector(self, i: int, n: ir.Value) -> list[ir.Value]:
        """Where the n numbers of argument i are, and n."""
        return [self.array(self.given(i), n, 1, C_CONTIGUOUS | ALIGNED), n]

    def array_or_none(self, i: int, n: ir.Value, nd: int = 1) -> list[ir.Value]:
        """Where the numbers of an array are, and how many, n or n times n; of None: zeros, and 0."""
        b, x, zeros = self.b, self.given(i), self.desk.zeros
        start, there, go = b.block, self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", x, self.found("none")), go, there)
        b.position_at_end(there)
        data, size = self.array(x, n, nd, C_CONTIGUOUS | ALIGNED), self.product(*[n] * nd)
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        words = [b.phi(I64), b.phi(I64)]
        for phi, absent, present in zip(words, (zeros, I64(0)), (data, size), strict=True):
            phi.add_incoming(absent, start)
            phi.add_incoming(present, end)
        return words

    def words(self, names: str, plan: Numbers | None = None) -> list[list[ir.Value]]:
        """What a kernel is given, by names.

        Args:
            names: ``q``, ``v``: the next argument, of that size; ``f``: external forces (``(f)``: that the kernel finds
                by itself); ``m``: a mask; ``0``: zeros instead of a velocity. ``-``: nothing; ``--``: no rows of nv.
                ``+shape``: a new array; ``~shape``: the same, for a kernel that takes a vector; ``=shape``: the same,
                or the one given as ``out``. Else an array of the plan, or of the desk.
            plan: Another record.
        """
        listed = list(enumerate(names.split()))
        words = {i: self._argument(name) for i, name in listed if name in _ARGUMENTS}
        self.accepted()
        self._sizes = {}
        words |= {i: self._new(name, plan) for i, name in listed if name[0] in "+~="}
        words |= {i: self._at_hand(name, plan) for i, name in listed if i not in words}  # last: calls come before
        return [words[i] for i, _ in listed]

    def accepted(self) -> None:
        """Write what is done when all arguments are what they should be, before anything is made."""

    def _argument(self, name: str) -> list[ir.Value]:
        if name == "0":
            word = self.desk.array("zeros")
        else:
            i, self._read = self._read, self._read + 1
            if name not in ("q", "v"):
                return self._mask(i) if name == "m" else self._forces(i)
            word = self.vector(i, self.nq if name == "q" else self.nv)
        self.state.append(word)
        return word

    def _forces(self, i: int) -> list[ir.Value]:
        """External forces, where the kernels read them: behind nv numbers."""
        n, (room, size) = self.desk.njoints, self.desk.array("forces")
        self.common("copy", room, self.array(self.given(i), n, 2, C_CONTIGUOUS | ALIGNED, I64(6)), size)
        return [self.b.sub(room, self.b.mul(I64(8), self.nv)), self.b.add(self.nv, size)]

    def _mask(self, i: int) -> list[ir.Value]:
        """The bytes of a mask, or those of a list of names."""
        b, x, where = self.b, self.given(i), self.room(1)
        is_array = b.icmp_unsigned("==", self.load(x, self.found("type")), self.found("ndarray"))
        with b.if_else(is_array) as (array, names):
            with array:
                self.store(self.array(x, self.nv, 1, C_CONTIGUOUS, kind="bool"), where)
            with names:
                self.store(self.recalled(x, I64(HYBRID_NAMES), I64(0)), where)
        return Bytes([self.load(where), self.nv])

    def _at_hand(self, name: str, plan: Numbers | None) -> list[ir.Value]:
        if name in ("-", "--"):
            return [I64(0), I64(0), *[self.nv] * (len(name) - 1)]
        return (plan if plan is not None and plan.has(name) else self.desk).array(name)

    def _new(self, name: str, plan: Numbers | None) -> list[ir.Value]:
        shape = name[1:]
        record = plan if plan is not None and plan.has(shape) else self.desk
        where = self.fresh_or_given(*record.dims(shape)) if name[0] == "=" else self.fresh(*record.dims(shape))
        if name not in self._sizes:
            sizes = record.sizes(shape)
            self._sizes[name] = [self.product(*sizes)] if name[0] == "~" else sizes
        return [where, *self._sizes[name]]

    def couple(self, q: ir.Value, v: ir.Value, rate: ir.Value | None = None) -> None:
        """Bring G to a state, where it depends on one; and dG/dt, if ``rate`` says so."""
        kernel = self.desk.coupling
        with self.b.if_then(self.there(kernel)):
            tables = self.desk.coupling_tables
            if rate is not None:
                kernel = self.b.select(rate, self.desk.coupling_rate, kernel)
                tables = self.b.select(rate, self.desk.rate_tables, tables)
                self.need(self.there(kernel))
            self.need(self.run(kernel, tables, [[q, self.nq], [v, self.nv]]))

    def copies(self, to: ir.Value, arrays: Sequence[Sequence[ir.Value]]) -> ir.Value:
        """Copy arrays, one behind the other; where they end."""
        for where, n in arrays:
            self.common("copy", to, where, n)
            to = self.b.add(to, self.b.mul(I64(8), n))
        return to

    def changes(self, one: Owed) -> ir.Value:
        """Whether a function changes the words of ``owed``: not if it was the last one to write its members."""
        b, words, clears = self.b, self.desk.owed, I64(one.clears)
        differences = (
            b.xor(self.item(words, I64(1 + one.room)), I64(one.owes)),
            b.xor(b.and_(self.item(words, I64(LOST)), clears), I64(one.spoils)),
            b.xor(b.and_(self.item(words, I64(0)), clears), I64(one.owes | one.spoils)),
        )
        return self.there(reduce(b.or_, differences))

    def keep(
        self, room: int, clears: int, arrays: Sequence[Sequence[ir.Value]], changes: ir.Value | None = None
    ) -> None:
        """Keep a state for what will be owed; what was owed in its room at another state, and stays so, is lost."""
        b, words, word = self.b, self.desk.owed, I64(1 + room)
        at = self._room(room)
        before = self.item(words, word)
        wanted = self.there(before) if changes is None else b.and_(changes, self.there(before))
        with b.if_then(wanted, likely=False):
            stays = self.there(b.and_(before, I64(~clears)))
            different = self.room(1)
            self.store(I64(1), different)
            with b.if_then(stays):
                self.store(I64(0), different)
                to = at
                for where, n in arrays:
                    found = self.common("unlike", to, where, n)
                    self.store(b.or_(self.load(different), found), different)
                    to = b.add(to, b.mul(I64(8), n))
            with b.if_then(self.there(self.load(different))):
                self.common("lose", words, word)
        self.copies(at, arrays)

    def _room(self, room: int) -> ir.Value:
        """Where the state of a room is kept."""
        b, (q, v) = self.b, before(room)
        where = b.add(b.mul(I64(8 * q), self.nq), b.mul(I64(8 * v), self.nv))
        return b.add(self.desk.states, where)

    def owe(self, one: Owed, changes: ir.Value | None = None) -> None:
        """Note what a function owes, if that changes anything."""
        if changes is not None:
            with self.b.if_then(changes, likely=False):
                self.owe(one)
            return
        self.common("owe", self.desk.owed, *(I64(n) for n in (one.clears, 1 + one.room, one.owes, one.spoils)))

    def leave(self, rooms: str, arrays: Sequence[Sequence[ir.Value]]) -> None:
        """Copy arrays to rooms of the desk; more than one to the same stand one behind the other."""
        behind: dict[str, ir.Value] = {}
        for room, (where, *sizes) in zip(rooms.split(), arrays if rooms else (), strict=True):
            to = behind.get(room) or getattr(self.desk, room)
            behind[room] = self.copies(to, [[where, self.product(*sizes)]])

    def begin_again(self, counted: int) -> None:
        """Begin another way, for which so many arguments are known to be there."""
        self.owned, self.state, self._read, self.counted = [], [], 2, counted

    def optional(self, first: int, by_place: int, names: Sequence[str]) -> list[ir.Value]:
        """Arguments behind the first ones, by names that ``found`` knows, some also by place; 0 if not given."""
        b, rooms = self.b, self.room(len(names))
        self.put_items([I64(0)] * len(names), rooms)
        self.count(first, first + by_place)
        with self.loop(b.sub(self.nargs, I64(first))) as i:
            self.put_item(self.item(self.args, b.add(i, I64(first))), rooms, i)
        with b.if_then(self.there(self.names), likely=False):
            with self.loop(self.load(self.names, self.found("names"))) as i:
                name, place = self.item(b.add(self.names, self.found("in_tuple")), i), I64(len(names))
                for k, known in enumerate(names):
                    place = b.select(b.icmp_unsigned("==", name, self.found(known)), I64(k), place)
                self.need(b.icmp_unsigned("<", place, I64(len(names))))
                self.same(self.item(rooms, place), I64(0))  # not given twice
                self.put_item(self.item(self.args, b.add(self.nargs, i)), rooms, place)
        return self.items(rooms, len(names))

    def either(self, x: ir.Value, default: ir.Value) -> ir.Value:
        """What was given, or what stands for it."""
        return self.b.select(self.there(x), x, default)

    def recalled(self, x: ir.Value, first: ir.Value, second: ir.Value) -> ir.Value:
        """What was kept of a list or tuple of these very objects: see ``recollection``."""
        b, kind = self.b, self.load(x, self.found("type"))
        is_list = b.icmp_unsigned("==", kind, self.found("list"))
        self.need(b.or_(is_list, b.icmp_unsigned("==", kind, self.found("tuple"))))
        objects = b.select(is_list, self.load(x, self.found("items")), b.add(x, self.found("in_tuple")))
        n, table = self.load(x, self.found("names")), self.desk.known
        thing = self.common("recall", table, first, second, objects, n)
        self.need(self.there(thing))
        return thing

    def fresh(self, dims: ir.Value, nd: int) -> ir.Value:
        """Make an array of the shape that stands at an address, for ``give``; where its numbers are."""
        return self.load(self.own(self.new_array(dims, nd)), self.found("data"))

    def fresh_or_given(self, dims: ir.Value, nd: int) -> ir.Value:
        """The same, or where those of the array are that is given as ``out``, if the kernel reads nothing there."""
        b, use, go = self.b, self.block(), self.block()
        make = self.block()
        b.cbranch(self.there(self.names), use, make).set_weights([1, 1000])
        b.position_at_end(use)
        self.same(self.load(self.names, self.found("names")), I64(1))
        self.same(self.load(self.names, self.found("in_tuple")), self.found("out"))
        out = self.item(self.args, I64(self.counted))
        target = self.array(out, self.nv, nd, C_CONTIGUOUS | ALIGNED | WRITEABLE)
        end = b.add(target, b.mul(I64(8), self.product(*[self.nv] * nd)))
        for where, n in self.state:  # the kernel writes before it has read all
            behind = b.icmp_unsigned(">=", where, end)
            before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), target)
            self.need(b.or_(behind, before))
        self.call(self.found("increase"), ir.VoidType(), out)
        used = b.block
        b.branch(go)
        b.position_at_end(make)
        fresh = self.fresh(dims, nd)
        made = b.block
        b.branch(go)
        b.position_at_end(go)
        result, where = b.phi(I64), b.phi(I64)
        for phi, first, second in ((result, self.owned.pop(), out), (where, fresh, target)):
            phi.add_incoming(first, made)
            phi.add_incoming(second, used)
        self.owned.append(result)
        return where

    def do(self, words: Sequence[ir.Value | Sequence[ir.Value]]) -> None:
        """Run the kernel; if not all goes well, the Python function complains."""
        self.need(self.run(self.kernel, self.tables, words))

    def give(self) -> None:
        """Return what was made, several as a tuple."""
        result, *more = results = list(self.owned)
        if more:
            result = self.own(self.call(self.found("tuple_new"), I64, I64(len(results))))
            for i, x in enumerate(results):
                self.call(self.found("tuple_put"), I32, result, I64(i), x)  # which takes the reference
        self.b.ret(result)
