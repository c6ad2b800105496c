"""The machine code between Python and a kernel, as LLVM's intermediate representation.

One function per entry, called as ``METH_FASTCALL | METH_KEYWORDS`` says. It does the usual call itself: arguments of
the right type and size, result made, kernel called. Everything else it hands, unchanged, to the Python function of the
same name, which converts, compiles or complains. What belongs to the process (offsets, addresses) stands in one table,
filled after loading: the code knows nothing of it.

Pointers are whole numbers until something is read, written or called there. No reference count is touched here but by
Python's and NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llvmlite import ir

from .process import ALIGNED, C_CONTIGUOUS, SAME, WRITEABLE

I64, I32, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()

# numbers of the desk: what a data object has at hand for calls
NQ, SIX, NV, NV_AGAIN, ZEROS, ENERGIES, KEPT, CHANGED, ALSO, COUPLING, COUPLING_TABLES, NJOINTS, NFRAMES = range(13)
PLACES = 13  # from here on per entry: address of its kernel (0: not compiled), address of the kernel's tables
# numbers of the table of the process; behind them the Python function of each entry
FOUND = (
    "type", "data", "nd", "dims", "descr", "flags", "kind", "float64", "float64_number", "ndarray", "names", "out",
    "array_new", "new_float", "increase", "decrease", "vectorcall", "data_class", "model", "desk",
    "none", "true", "int", "number_of", "forget", "reference_frame",
)  # fmt: skip


class Entry(NamedTuple):
    """What a function gives to its kernel.

    Attributes:
        name: Of the function.
        kernel: Of the data's kernels: rnea, aba, crba, minverse, energy.
        result: Name of the data's result that the kernel's tables lead to.
        arguments: For each array of the kernel: ``q`` or ``v`` if given, of that size; ``0``: zeros of size nv.
        returns: ``vector``, ``matrix``, or which of the energies: ``kinetic``, ``potential``, ``mechanical``.
    """

    name: str
    kernel: str
    result: str
    arguments: str
    returns: str


def module(entries: Sequence[Entry], makers: Mapping[str, type[Function]]) -> str:
    """Return the code of all entries; ``TABLE`` is to be filled with what ``FOUND`` lists and the Python functions.

    Args:
        entries: In the order of their places on the desk.
        makers: What writes those that are not written by ``Function``, by name.
    """
    m = ir.Module("pin_clusters_calls")
    table = ir.GlobalVariable(m, ir.ArrayType(I64, len(FOUND) + len(entries)), "TABLE")
    table.initializer = ir.Constant(table.value_type, None)
    data_of = _write_data(m, table)
    for place, entry in enumerate(entries):
        makers.get(entry.name, Function)(m, table, entry, place, data_of).write()
    return str(m)


class _Writer:
    """Writes a function of whole numbers."""

    def __init__(self, m: ir.Module, table: ir.GlobalVariable, name: str) -> None:
        self.table = table
        self.f = ir.Function(m, ir.FunctionType(I64, [I64] * 4), name)
        self.b = ir.IRBuilder(self.f.append_basic_block("entry"))
        self.slow = self.f.append_basic_block("slow")

    def found(self, name: str) -> ir.Value:
        return self.of_table(FOUND.index(name))

    def of_table(self, i: int) -> ir.Value:
        return self.b.load(self.b.gep(self.table, [ir.Constant(I32, 0), ir.Constant(I32, i)]))

    def load(self, at: ir.Value, offset: int | ir.Value = 0, kind: ir.Type = I64) -> ir.Value:
        return self.b.load(self._pointer(at, offset, kind))

    def store(self, value: ir.Value, at: ir.Value, offset: int = 0) -> None:
        self.b.store(value, self._pointer(at, offset, value.type))

    def _pointer(self, at: ir.Value, offset: int | ir.Value, kind: ir.Type) -> ir.Value:
        return self.b.inttoptr(self.b.add(at, I64(offset) if isinstance(offset, int) else offset), kind.as_pointer())

    def block(self, name: str = "") -> ir.Block:
        return self.f.append_basic_block(name)

    def need(self, condition: ir.Value, otherwise: ir.Block | None = None) -> None:
        """Go on if a condition holds, else to the Python function."""
        go = self.block()
        self.b.cbranch(condition, go, otherwise or self.slow).set_weights([1000, 1])
        self.b.position_at_end(go)

    def same(self, x: ir.Value, y: ir.Value) -> None:
        self.need(self.b.icmp_unsigned("==", x, y))

    def call(self, target: ir.Value, result: ir.Type, *args: ir.Value) -> ir.Value:
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.b.call(self.b.inttoptr(target, kind.as_pointer()), args)


def _write_data(m: ir.Module, table: ir.GlobalVariable) -> ir.Function:
    """Write what tells where the numbers of x are: an array of n (nd = 1) or n times n (2) numbers; 0 if it is not."""
    w = _Writer(m, table, "data_of")
    w.f.linkage = "internal"
    x, n, nd, flags = w.f.args
    w.same(w.load(x, w.found("type")), w.found("ndarray"))
    # unpickled arrays have a dtype object of their own: compare what it says
    kind = w.load(w.load(x, w.found("descr")), w.found("kind"))
    w.same(w.b.and_(kind, I64(SAME)), w.found("float64"))
    w.same(w.load(x, w.found("nd"), I32), w.b.trunc(nd, I32))
    w.same(w.b.and_(w.b.zext(w.load(x, w.found("flags"), I32), I64), flags), flags)
    dims = w.load(x, w.found("dims"))
    w.same(w.load(dims), n)
    w.same(w.load(dims, w.b.mul(I64(8), w.b.sub(nd, I64(1)))), n)
    w.b.ret(w.load(x, w.found("data")))
    w.b.position_at_end(w.slow)
    w.b.ret(I64(0))
    return w.f


class Function(_Writer):
    """Writes one entry."""

    def __init__(self, m: ir.Module, table: ir.GlobalVariable, entry: Entry, place: int, data_of: ir.Function) -> None:
        super().__init__(m, table, entry.name)
        self.entry, self.place, self.data_of = entry, place, data_of
        _, self.args, self.nargs, self.names = self.f.args

    def write(self) -> None:
        """Write the function."""
        entry = self.entry
        given = [size for size in entry.arguments if size != "0"]
        self.same(self.nargs, I64(2 + len(given)))
        is_array = entry.returns in ("vector", "matrix")
        if not is_array:
            self.same(self.names, I64(0))
        out = self._keyword(8 * (2 + len(given))) if is_array else I64(0)
        kernel, tables = self.begin()
        pointers, at = [], 16
        for size in entry.arguments:
            if size == "0":
                pointers.append((self.load(self.desk, 8 * ZEROS), self.nv))
            else:
                n = self.nq if size == "q" else self.nv
                pointers.append((self.array(self.load(self.args, at), n, 1, C_CONTIGUOUS | ALIGNED), n))
                at += 8
        if is_array:
            self._with_array(out, kernel, tables, pointers)
        else:
            self._with_number(kernel, tables, pointers)
        self.end()

    def begin(self) -> tuple[ir.Value, ir.Value]:
        """Model and data fit, and the kernel is compiled: its address, and that of its tables."""
        model, data = self.load(self.args), self.load(self.args, 8)
        self.same(self.load(data, self.found("type")), self.found("data_class"))
        self.same(self.load(data, self.found("model")), model)
        self.desk = self.load(self.load(data, self.found("desk")), self.found("data"))
        kernel, tables = (self.load(self.desk, 8 * (PLACES + 2 * self.place + i)) for i in (0, 1))
        self.need(self.b.icmp_unsigned("!=", kernel, I64(0)))
        self.nq, self.nv = self.load(self.desk, 8 * NQ), self.load(self.desk, 8 * NV)
        return kernel, tables

    def end(self) -> None:
        """Where the Python function takes over."""
        b = self.b
        b.position_at_end(self.slow)
        function = self.of_table(len(FOUND) + self.place)
        b.ret(self.call(self.found("vectorcall"), I64, function, self.args, self.nargs, self.names))

    def _keyword(self, at: int) -> ir.Value:
        """The object given as ``out=``, or 0."""
        b, start = self.b, self.b.block
        named, go = self.block("named"), self.block("go")
        b.cbranch(b.icmp_unsigned("==", self.names, I64(0)), go, named).set_weights([1000, 1])
        b.position_at_end(named)
        self.same(self.load(self.names, self.found("names")), I64(1))
        self.same(self.load(self.names, b.add(self.found("names"), I64(8))), self.found("out"))
        given = self.load(self.args, at)
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        out = b.phi(I64)
        out.add_incoming(I64(0), start)
        out.add_incoming(given, end)
        return out

    def array(self, x: ir.Value, n: ir.Value, nd: int, flags: int) -> ir.Value:
        """Where the numbers of an array are, if it is one that the kernel takes as it is."""
        data = self.b.call(self.data_of, [x, n, I64(nd), I64(flags)])
        self.need(self.b.icmp_unsigned("!=", data, I64(0)))
        return data

    def run(self, kernel: ir.Value, tables: ir.Value, given: Sequence[ir.Value | Sequence[ir.Value]]) -> ir.Value:
        """Call a kernel as Numba's code calls it, with arrays (where, shape...) and whole numbers; whether it is OK."""
        b = self.b
        with b.goto_entry_block():
            code, error = b.alloca(I64), b.alloca(I64)
        words: list[ir.Value] = []
        for x in given:
            if isinstance(x, ir.Value):
                words.append(x)
                continue
            where, *shape = x
            size = shape[0] if len(shape) == 1 else b.mul(*shape)
            strides = [I64(8)] if len(shape) == 1 else [b.mul(shape[1], I64(8)), I64(8)]
            words += [I64(0), I64(0), size, I64(8), where, *shape, *strides]
        status = self.call(kernel, I32, b.ptrtoint(code, I64), b.ptrtoint(error, I64), tables, *words)
        return b.and_(b.icmp_unsigned("==", status, I32(0)), b.icmp_unsigned("==", b.load(code), I64(0)))

    def new_array(self, nd: int, dims: int) -> tuple[ir.Value, ir.Value]:
        """Make an array of the numbers that stand on the desk: the object, and where its numbers are."""
        number, none, nothing = self.b.trunc(self.found("float64_number"), I32), I64(0), I32(0)
        fresh = self.call(
            self.found("array_new"), I64,
            self.found("ndarray"), I32(nd), self.b.add(self.desk, I64(8 * dims)), number, none, none, nothing, nothing,
            none,
        )  # fmt: skip
        failed = self.block()
        self.need(self.b.icmp_unsigned("!=", fresh, none), failed)
        go = self.b.block
        self.b.position_at_end(failed)
        self.b.ret(none)  # MemoryError is set
        self.b.position_at_end(go)
        return fresh, self.load(fresh, self.found("data"))

    def _with_array(
        self, out: ir.Value, kernel: ir.Value, tables: ir.Value, pointers: list[tuple[ir.Value, ir.Value]]
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
        fresh, fresh_data = self.new_array(nd, NV)  # twice the same number stands there, for matrices
        made, none = b.block, I64(0)
        b.branch(run)
        b.position_at_end(run)
        result, where = b.phi(I64), b.phi(I64)
        for phi, first, second in ((result, fresh, out), (where, fresh_data, target)):
            phi.add_incoming(first, made)
            phi.add_incoming(second, used)
        fine = self.run(kernel, tables, [*pointers, (where, *[self.nv] * nd)])
        b.cbranch(fine, good, bad).set_weights([1000, 1])
        b.position_at_end(good)
        if self.entry.kernel == "crba":  # data.M is copied from the kernel's own when it is asked for
            self.store(I64(1), self.desk, 8 * CHANGED)
        b.cbranch(b.icmp_unsigned("==", out, none), done, own).set_weights([1000, 1])
        b.position_at_end(own)
        self.call(self.found("increase"), ir.VoidType(), out)
        b.branch(done)
        b.position_at_end(done)
        b.ret(result)
        b.position_at_end(bad)  # the Python function computes again, and complains
        b.cbranch(b.icmp_unsigned("==", out, none), drop, self.slow)
        b.position_at_end(drop)
        self.call(self.found("decrease"), ir.VoidType(), result)
        b.branch(self.slow)

    def _with_number(self, kernel: ir.Value, tables: ir.Value, pointers: list[tuple[ir.Value, ir.Value]]) -> None:
        b, which = self.b, self.entry.returns
        self.need(self.run(kernel, tables, pointers))
        energies, kept = self.load(self.desk, 8 * ENERGIES), self.load(self.desk, 8 * KEPT)
        kinetic, potential = (self.load(energies, 8 * i, DOUBLE) for i in (0, 1))
        total = b.fadd(kinetic, potential)
        for i, (name, value) in enumerate((("kinetic", kinetic), ("potential", potential), ("mechanical", total))):
            if which in (name, "mechanical"):
                self.store(value, kept, 8 * i)
            if which == name:
                result = value
        b.ret(self.call(self.found("new_float"), I64, result))
