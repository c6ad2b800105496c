"""The machine code between Python and a kernel of a data object, as LLVM's intermediate representation.

One function per entry, called as ``METH_FASTCALL | METH_KEYWORDS`` says. It does the usual call itself: arguments of
the right type and size, result made, kernel called. Everything else it hands, unchanged, to the Python function of the
same name, which converts, compiles or complains. No reference count is touched here but by Python's and NumPy's own
functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS, WRITEABLE
from .desk import Entry
from .records import DataDesk
from .writer import DOUBLE, I32, I64, Library, Writer


class Function(Writer):
    """Writes one entry."""

    def __init__(self, entry: Entry, library: Library) -> None:
        super().__init__(library, entry.name)
        self.entry = entry
        self.made: list[ir.Value] = []
        _, self.args, self.nargs, self.names = self.f.args

    def write(self) -> None:
        """Write the function."""
        b, entry = self.b, self.entry
        given = [size for size in entry.arguments if size != "0"]
        self.count(2 + len(given))
        is_array = entry.returns in ("vector", "matrix")
        if not is_array:
            self.same(self.names, I64(0))
        out = self._keyword(8 * (2 + len(given))) if is_array else I64(0)
        kernel, tables = self.begin()
        pointers, at = [], 2
        forces = None
        for size in entry.arguments:
            if size == "0":
                pointers.append((self.desk.zeros, self.nv))
            elif size == "f":
                n = self.desk.njoints
                forces = self.array(self.given(at), n, 2, C_CONTIGUOUS | ALIGNED, I64(6)), b.mul(I64(6), n)
            else:
                n = self.nq if size == "q" else self.nv
                pointers.append(self.vector(at, n))
                at += 1
        if is_array:
            self._with_array(out, kernel, tables, pointers, forces)
        else:
            self._with_number(kernel, tables, pointers)
        self.hand_over()

    def begin(self) -> tuple[ir.Value, ir.Value]:
        """Model and data fit, and the kernel is compiled: its address, and that of its tables."""
        model, data = self.given(0), self.given(1)
        self.same(self.load(data, self.found("type")), self.found("data_class"))
        self.same(self.load(data, self.found("model")), model)
        self.desk = self.desk_of(self.load(data, self.found("desk")), DataDesk)
        kernel, tables = self.desk.all(self.entry.name)
        self.need(self.there(kernel))
        self.nq, self.nv = self.desk.nq, self.desk.nv
        return kernel, tables

    def vector(self, i: int, n: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Where the n numbers of argument i are, and n."""
        return self.array(self.given(i), n, 1, C_CONTIGUOUS | ALIGNED), n

    def optional(self, first: int, by_place: int, names: Sequence[str]) -> list[ir.Value]:
        """Arguments that may be given by name, the first ones also by place; 0 if not given.

        Args:
            first: How many there must be before.
            by_place: How many may follow without a name.
            names: Of all of them, as ``found`` knows them.
        """
        b, rooms = self.b, self.room(len(names))
        for i in range(len(names)):
            self.store(I64(0), rooms, 8 * i)
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
        return [self.load(rooms, 8 * i) for i in range(len(names))]

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
        x = self.new_array(dims, nd)
        self._own(x)
        return self.load(x, self.found("data"))

    def _own(self, x: ir.Value) -> None:
        """Take what was made; if there was no memory, which Python knows, drop all and end."""
        no_memory = self.block()
        self.need(self.there(x), no_memory)
        with self.b.goto_block(no_memory):
            self._drop_all()
            self.b.ret(I64(0))
        self.made.append(x)

    def _drop_all(self) -> None:
        for x in self.made:
            self.drop(x)

    def give(self, fine: ir.Value) -> None:
        """Return what was made, several as a tuple; if not all went well, drop it: the Python function complains."""
        b, good, bad = self.b, self.block(), self.block()
        b.cbranch(fine, good, bad).set_weights([1000, 1])
        b.position_at_end(bad)
        self._drop_all()
        b.branch(self.slow)
        b.position_at_end(good)
        results = list(self.made)
        if len(results) > 1:
            self._own(self.call(self.found("tuple_new"), I64, I64(len(results))))
            for i, x in enumerate(results):
                self.call(self.found("tuple_put"), I32, self.made[-1], I64(i), x)  # which takes the reference
        b.ret(self.made[-1])

    def _keyword(self, at: int) -> ir.Value:
        """The object given as ``out=``, or 0."""
        b, start = self.b, self.b.block
        named, go = self.block("named"), self.block("go")
        b.cbranch(b.icmp_unsigned("==", self.names, I64(0)), go, named).set_weights([1000, 1])
        b.position_at_end(named)
        self.same(self.load(self.names, self.found("names")), I64(1))
        self.same(self.load(self.names, self.found("in_tuple")), self.found("out"))
        given = self.load(self.args, at)
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        out = b.phi(I64)
        out.add_incoming(I64(0), start)
        out.add_incoming(given, end)
        return out

    def _with_array(
        self,
        out: ir.Value,
        kernel: ir.Value,
        tables: ir.Value,
        pointers: list[tuple[ir.Value, ir.Value]],
        forces: tuple[ir.Value, ir.Value] | None,
    ) -> None:
        b, nd = self.b, 1 if self.entry.returns == "vector" else 2
        make, use, run, good, bad, own, done, drop = (self.block() for _ in range(8))
        b.cbranch(b.icmp_unsigned("==", out, I64(0)), make, use).set_weights([1000, 1])
        b.position_at_end(use)
        target = self.array(out, self.nv, nd, C_CONTIGUOUS | ALIGNED | WRITEABLE)
        end = b.add(target, b.mul(I64(8), self.nv if nd == 1 else b.mul(self.nv, self.nv)))
        for where, n in pointers:  # the kernel writes before it has read all
            behind = b.icmp_unsigned(">=", where, end)
            before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), target)
            self.need(b.or_(behind, before))
        used = b.block
        b.branch(run)
        b.position_at_end(make)
        fresh_data, none = self.fresh(self.desk.at("nv"), nd), I64(0)  # twice the same number, for matrices
        (fresh,) = self.made
        made = b.block
        b.branch(run)
        b.position_at_end(run)
        result, where = b.phi(I64), b.phi(I64)
        for phi, first, second in ((result, fresh, out), (where, fresh_data, target)):
            phi.add_incoming(first, made)
            phi.add_incoming(second, used)
        if forces is not None:
            self.common("copy", self.desk.forces, *forces)
        if self.entry.kernel == "aba":  # its derivatives may be asked for without a state, which it may overwrite
            to = self.desk.after_aba
            for source, n in pointers:
                self.common("copy", to, source, n)
                to = b.add(to, b.mul(I64(8), n))
        fine = self.run(kernel, tables, [*pointers, (where, *[self.nv] * nd)])
        b.cbranch(fine, good, bad).set_weights([1000, 1])
        b.position_at_end(good)
        if self.entry.kernel == "crba":  # data.M is copied from the kernel's own when it is asked for
            self.desk.put(changed=I64(1))
        if forces is not None:  # the kernel's result has forces behind it, and is not the data's own
            self.common("copy", self.desk.tau, where, self.nv)
        b.cbranch(b.icmp_unsigned("==", out, none), done, own).set_weights([1000, 1])
        b.position_at_end(own)
        self.call(self.found("increase"), ir.VoidType(), out)
        b.branch(done)
        b.position_at_end(done)
        b.ret(result)
        b.position_at_end(bad)  # the Python function computes again, and complains
        b.cbranch(b.icmp_unsigned("==", out, none), drop, self.slow)
        b.position_at_end(drop)
        self.drop(result)
        b.branch(self.slow)

    def _with_number(self, kernel: ir.Value, tables: ir.Value, pointers: list[tuple[ir.Value, ir.Value]]) -> None:
        b, which = self.b, self.entry.returns
        self.need(self.run(kernel, tables, pointers))
        energies, kept = self.desk.energies, self.desk.kept
        kinetic, potential = (self.load(energies, 8 * i, DOUBLE) for i in (0, 1))
        total = b.fadd(kinetic, potential)
        for i, (name, value) in enumerate((("kinetic", kinetic), ("potential", potential), ("mechanical", total))):
            if which in (name, "mechanical"):
                self.store(value, kept, 8 * i)
            if which == name:
                result = value
        b.ret(self.call(self.found("new_float"), I64, result))
