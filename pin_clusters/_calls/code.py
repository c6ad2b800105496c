"""The machine code between Python and a kernel, as LLVM's intermediate representation.

One function per entry, called as ``METH_FASTCALL | METH_KEYWORDS`` says. It does the usual call itself: arguments of
the right type and size, result made, kernel called. Everything else it hands, unchanged, to the Python function of the
same name, which converts, compiles or complains. What belongs to the process (offsets, addresses) stands in one table,
filled after loading: the code knows nothing of it.

Pointers are whole numbers until something is read, written or called there. No reference count is touched here but by
Python's and NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .._native.process import ALIGNED, C_CONTIGUOUS, SAME, WRITEABLE
from .desk import CHANGED, ENERGIES, FOUND, KEPT, NQ, NV, PLACES, ZEROS, Entry
from .wrappers import Signature, write_wrapper
from .writer import DOUBLE, I32, I64, Writer, array_words


def module(entries: Sequence[Entry], kernels: Sequence[Signature] = ()) -> str:
    """Return the code of all entries; ``TABLE`` is to be filled with what ``FOUND`` lists and the Python functions.

    Args:
        entries: Functions whose usual call it does.
        kernels: Kernels that are to be called from Python, for a library.
    """
    m = ir.Module("pin_clusters_calls")
    table = ir.GlobalVariable(m, ir.ArrayType(I64, len(FOUND) + len(entries)), "TABLE")
    table.initializer = ir.Constant(table.value_type, None)
    size = ir.GlobalVariable(m, I64, "TABLE_SIZE")
    size.initializer = I64(table.value_type.count)
    data_of = _write_data(m, table)
    for place, entry in enumerate(entries):
        _Function(m, table, entry, place, data_of).write()
    for kernel in kernels:
        write_wrapper(m, table, kernel)
    return str(m)


def _write_data(m: ir.Module, table: ir.GlobalVariable) -> ir.Function:
    """Write what tells where the numbers of x are: an array of n (nd = 1) or n times n (2) numbers; 0 if it is not."""
    w = Writer(m, table, "data_of")
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


class _Function(Writer):
    """Writes one entry."""

    def __init__(self, m: ir.Module, table: ir.GlobalVariable, entry: Entry, place: int, data_of: ir.Function) -> None:
        super().__init__(m, table, entry.name)
        self.entry, self.place, self.data_of = entry, place, data_of
        _, self.args, self.nargs, self.names = self.f.args

    def write(self) -> None:
        """Write the function."""
        b, entry = self.b, self.entry
        given = [size for size in entry.arguments if size != "0"]
        self.same(self.nargs, I64(2 + len(given)))
        is_array = entry.returns in ("vector", "matrix")
        if not is_array:
            self.same(self.names, I64(0))
        out = self._keyword(8 * (2 + len(given))) if is_array else I64(0)
        model, data = self.load(self.args), self.load(self.args, 8)
        self.same(self.load(data, self.found("type")), self.found("data_class"))
        self.same(self.load(data, self.found("model")), model)
        self.desk = self.load(self.load(data, self.found("desk")), self.found("data"))
        kernel, tables = (self.load(self.desk, 8 * (PLACES + 2 * self.place + i)) for i in (0, 1))
        self.need(b.icmp_unsigned("!=", kernel, I64(0)))
        self.nq, self.nv = self.load(self.desk, 8 * NQ), self.load(self.desk, 8 * NV)
        pointers, at = [], 16
        for size in entry.arguments:
            if size == "0":
                pointers.append((self.load(self.desk, 8 * ZEROS), self.nv))
            else:
                n = self.nq if size == "q" else self.nv
                pointers.append((self._array(self.load(self.args, at), n, 1, C_CONTIGUOUS | ALIGNED), n))
                at += 8
        if is_array:
            self._with_array(out, kernel, tables, pointers)
        else:
            self._with_number(kernel, tables, pointers)
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

    def _array(self, x: ir.Value, n: ir.Value, nd: int, flags: int) -> ir.Value:
        """Where the numbers of an array are, if it is one that the kernel takes as it is."""
        data = self.b.call(self.data_of, [x, n, I64(nd), I64(flags)])
        self.need(self.b.icmp_unsigned("!=", data, I64(0)))
        return data

    def _run(self, kernel: ir.Value, tables: ir.Value, arrays: Sequence[Sequence[ir.Value]]) -> ir.Value:
        """Call a kernel with arrays (where, shape...); whether nothing is to be said."""
        b = self.b
        words = [word for where, *shape in arrays for word in array_words(b, where, shape)]
        status, code = self.call_kernel(kernel, [tables, *words])
        return b.and_(b.icmp_unsigned("==", status, I32(0)), b.icmp_unsigned("==", code, I64(0)))

    def _with_array(
        self, out: ir.Value, kernel: ir.Value, tables: ir.Value, pointers: list[tuple[ir.Value, ir.Value]]
    ) -> None:
        b, nd = self.b, 1 if self.entry.returns == "vector" else 2
        make, use, run, good, bad, own, done, drop = (self.block() for _ in range(8))
        b.cbranch(b.icmp_unsigned("==", out, I64(0)), make, use).set_weights([1000, 1])
        b.position_at_end(use)
        target = self._array(out, self.nv, nd, C_CONTIGUOUS | ALIGNED | WRITEABLE)
        end = b.add(target, b.mul(I64(8), self.nv if nd == 1 else b.mul(self.nv, self.nv)))
        for where, n in pointers:  # the kernel writes before it has read all
            behind = b.icmp_unsigned(">=", where, end)
            before = b.icmp_unsigned("<=", b.add(where, b.mul(n, I64(8))), target)
            self.need(b.or_(behind, before))
        used = b.block
        b.branch(run)
        b.position_at_end(make)
        number = b.trunc(self.found("float64_number"), I32)
        dims = b.add(self.desk, I64(8 * NV))  # twice the same number, for matrices
        none, nothing = I64(0), I32(0)
        fresh = self.call(
            self.found("array_new"), I64,
            self.found("ndarray"), I32(nd), dims, number, none, none, nothing, nothing, none,
        )  # fmt: skip
        failed = self.block()
        self.need(b.icmp_unsigned("!=", fresh, none), failed)
        fresh_data = self.load(fresh, self.found("data"))
        made = b.block
        b.branch(run)
        b.position_at_end(failed)
        b.ret(none)  # MemoryError is set
        b.position_at_end(run)
        result, where = b.phi(I64), b.phi(I64)
        for phi, first, second in ((result, fresh, out), (where, fresh_data, target)):
            phi.add_incoming(first, made)
            phi.add_incoming(second, used)
        fine = self._run(kernel, tables, [*pointers, (where, *[self.nv] * nd)])
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
        self.need(self._run(kernel, tables, pointers))
        energies, kept = self.load(self.desk, 8 * ENERGIES), self.load(self.desk, 8 * KEPT)
        kinetic, potential = (self.load(energies, 8 * i, DOUBLE) for i in (0, 1))
        total = b.fadd(kinetic, potential)
        for i, (name, value) in enumerate((("kinetic", kinetic), ("potential", potential), ("mechanical", total))):
            if which in (name, "mechanical"):
                self.store(value, kept, 8 * i)
            if which == name:
                result = value
        b.ret(self.call(self.found("new_float"), I64, result))
