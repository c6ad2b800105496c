"""What all machine code here is written with: whole numbers, the table of the process, reads, calls and loops.

The rule: **machine code touches memory only of objects that it has proven, in this call, to be the ones it knows, and
to own what it reads.** An argument is read after their number was compared (``count``, which ``given`` insists on), an
object by the layout of its class after its exact type, a slot after it was seen not to be empty, items after the
length.
Numbers are found by their address after the ``Desk`` that has them was known by type and size: a desk owns what its
numbers lead to, and nothing can be taken out of it. Memory of Pinocchio's objects is touched after the words that lead
there (``Watch``) are what they were, while an object that owns it is held. What cannot be proven so is the Python
function's.

Pointers are whole numbers until something is read, written or called there. What belongs to the process (offsets,
addresses) stands in one table, filled after loading: the code knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from .desk import TABLE
from .record import Field, Part, Record, Rows

I64, I32, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()


def array_words(b: ir.IRBuilder, where: ir.Value, shape: Sequence[ir.Value], item: int = 8) -> list[ir.Value]:
    """Return what stands for a contiguous array in a call of Numba's kind: numbers without an owner, sizes, strides."""
    size, strides = shape[-1], [I64(item)]
    for i in reversed(range(len(shape) - 1)):
        strides.insert(0, b.mul(strides[0], shape[i + 1]))
        size = b.mul(size, shape[i])
    return [I64(0), I64(0), size, I64(item), where, *shape, *strides]


class Library:
    """One module of machine code.

    Attributes:
        m: The module.
        table: ``TABLE``: a number for each of these names.
        common: Functions that only others call, by name.
    """

    def __init__(self) -> None:
        self.m = ir.Module("pin_clusters_calls")
        self.table = ir.GlobalVariable(self.m, ir.ArrayType(I64, len(TABLE)), "TABLE")
        self.table.initializer = ir.Constant(self.table.value_type, None)
        size = ir.GlobalVariable(self.m, I64, "TABLE_SIZE")
        size.initializer = I64(len(TABLE))
        self.common: dict[str, ir.Function] = {}


class Numbers:
    """A record at an address, while machine code is written: what reads ``desk.nq`` in Python does so here.

    Attributes:
        where: The address.
    """

    def __init__(self, writer: Writer, kind: type[Record], where: ir.Value) -> None:
        self._writer, self._kind, self.where = writer, kind, where

    def _field(self, name: str) -> Field[Any]:
        if name not in self._kind.fields:
            raise AttributeError(f"{self._kind.__name__} has no {name}")
        return self._kind.fields[name]

    def __getattr__(self, name: str) -> ir.Value:
        """Load a number, of several the first."""
        return self._load(name, 0)

    def _load(self, name: str, i: int) -> ir.Value:
        return self._writer.load(self.where, 8 * (self._field(name).place + i))

    def all(self, name: str) -> list[ir.Value]:
        """Load all numbers of a name: an array and its sizes, a kernel and its tables."""
        return [self._load(name, i) for i in range(self._field(name).width)]

    def part(self, name: str) -> Numbers:
        """Return the record that stands at an address."""
        field = self._field(name)
        assert isinstance(field, (Part, Rows)), name
        return Numbers(self._writer, field.kind, self._load(name, 0))

    def offset(self, name: str) -> ir.Value:
        """How far a number is from the first."""
        return I64(8 * self._field(name).place)

    def at(self, name: str, i: int = 0) -> ir.Value:
        """Where the first number of a name is, or one behind it."""
        return self._writer.b.add(self.where, I64(8 * (self._field(name).place + i)))

    def put(self, **numbers: ir.Value) -> None:
        """Store numbers."""
        for name, value in numbers.items():
            self._writer.store(value, self.where, 8 * self._field(name).place)


class Writer:
    """Writes a function of whole numbers."""

    def __init__(self, library: Library, name: str, arguments: int = 4) -> None:
        self.library = library
        self.f = ir.Function(library.m, ir.FunctionType(I64, [I64] * arguments), name)
        self.b = ir.IRBuilder(self.f.append_basic_block("entry"))
        self.slow = self.f.append_basic_block("slow")
        self.counted = 0

    def found(self, name: str) -> ir.Value:
        """Load a number of the table."""
        return self.b.load(self.b.gep(self.library.table, [I32(0), I32(TABLE.index(name))]))

    def load(self, at: ir.Value, offset: int | ir.Value = 0, kind: ir.Type = I64) -> ir.Value:
        return self.b.load(self._pointer(at, offset, kind))

    def store(self, value: ir.Value, at: ir.Value, offset: int | ir.Value = 0) -> None:
        self.b.store(value, self._pointer(at, offset, value.type))

    def _pointer(self, at: ir.Value, offset: int | ir.Value, kind: ir.Type) -> ir.Value:
        return self.b.inttoptr(self.b.add(at, I64(offset) if isinstance(offset, int) else offset), kind.as_pointer())

    def item(self, at: ir.Value, i: ir.Value, kind: ir.Type = I64) -> ir.Value:
        """Load item i of eight bytes."""
        return self.load(at, self.b.mul(I64(8), i), kind)

    def put_item(self, value: ir.Value, at: ir.Value, i: ir.Value) -> None:
        """Store item i of eight bytes."""
        self.store(value, at, self.b.mul(I64(8), i))

    def block(self, name: str = "") -> ir.Block:
        return self.f.append_basic_block(name)

    def need(self, condition: ir.Value, otherwise: ir.Block | None = None) -> None:
        """Go on if a condition holds, else to the Python function."""
        go = self.block()
        self.b.cbranch(condition, go, otherwise or self.slow).set_weights([1000, 1])
        self.b.position_at_end(go)

    def same(self, x: ir.Value, y: ir.Value) -> None:
        self.need(self.b.icmp_unsigned("==", x, y))

    def count(self, least: int, most: int | None = None) -> None:
        """See that there are so many arguments by their place; from here on the first ones may be read."""
        _, _, n, _ = self.f.args
        if most is None:
            self.same(n, I64(least))
        else:
            self.need(self.b.icmp_unsigned("<=", self.b.sub(n, I64(least)), I64(most - least)))  # fewer is a large one
        self.counted = least

    def given(self, i: int) -> ir.Value:
        """Argument i."""
        assert i < self.counted, f"{self.f.name} reads argument {i} of which it does not know that it is there"
        return self.load(self.f.args[1], 8 * i)

    def desk_of(self, x: ir.Value, kind: type[Record]) -> Numbers:
        """The record of a desk, if x, which may be 0, is one of this kind."""
        numbers = self.common("numbers_of", x, I64(kind.size))
        self.need(self.there(numbers))
        return Numbers(self, kind, numbers)

    def there(self, x: ir.Value) -> ir.Value:
        """Whether something is not zero."""
        return self.b.icmp_unsigned("!=", x, I64(0))

    @contextmanager
    def loop(self, n: ir.Value) -> Iterator[ir.Value]:
        """Do the body for i = 0..n-1."""
        b, start, head, body, end = self.b, self.b.block, self.block(), self.block(), self.block()
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(I64)
        i.add_incoming(I64(0), start)
        b.cbranch(b.icmp_signed("<", i, n), body, end)
        b.position_at_end(body)
        yield i
        i.add_incoming(b.add(i, I64(1)), b.block)
        b.branch(head)
        b.position_at_end(end)

    @contextmanager
    def rows(self, table: ir.Value, kind: type[Record]) -> Iterator[Numbers]:
        """Do the body for each row of a table."""
        with self.loop(self.load(table)) as i:
            row = self.b.add(table, self.b.add(I64(8), self.b.mul(I64(8 * kind.size), i)))
            yield Numbers(self, kind, row)

    def call(self, target: ir.Value, result: ir.Type, *args: ir.Value) -> ir.Value:
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.b.call(self.b.inttoptr(target, kind.as_pointer()), args)

    def call_python(self, function: ir.Value, *arguments: ir.Value) -> ir.Value:
        """Call an object of Python; a new reference, or 0 and an error."""
        room = self.room(len(arguments))
        for i, x in enumerate(arguments):
            self.store(x, room, 8 * i)
        return self.call(self.found("call_any"), I64, function, room, I64(len(arguments)), I64(0))

    def common(self, name: str, *args: ir.Value) -> ir.Value:
        """Call one of the library's own functions."""
        return self.b.call(self.library.common[name], args)

    def array(
        self, x: ir.Value, n: ir.Value, nd: int, flags: int, last: ir.Value | None = None, kind: str = "float64"
    ) -> ir.Value:
        """Where the numbers of an array are, if it is one that the kernel takes as it is: n, or n times ``last``."""
        data = self.common("data_of", x, n, I64(nd), I64(flags), n if last is None else last, self.found(kind))
        self.need(self.there(data))
        return data

    def new_array(self, dims: ir.Value, nd: int) -> ir.Value:
        """Make an array of the shape that stands at an address; 0 if there is no memory, which Python then knows."""
        number, none, nothing = self.b.trunc(self.found("float64_number"), I32), I64(0), I32(0)
        return self.call(
            self.found("array_new"), I64,
            self.found("ndarray"), I32(nd), dims, number, none, none, nothing, nothing, none,
        )  # fmt: skip

    def drop(self, x: ir.Value) -> None:
        """Give a reference back."""
        self.call(self.found("decrease"), ir.VoidType(), x)

    def room(self, n: int) -> ir.Value:
        """Where n whole numbers may be kept until the function returns."""
        with self.b.goto_entry_block():
            room = self.b.alloca(I64, n)
        return self.b.ptrtoint(room, I64)

    def call_kernel(self, kernel: ir.Value, words: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
        """Call a kernel as Numba's code calls it; return the status, 0 without an exception, and what it returns."""
        code, error = self.room(1), self.room(1)
        return self.call(kernel, I32, code, error, *words), self.load(code)

    def run(self, kernel: ir.Value, tables: ir.Value, given: Sequence[ir.Value | Sequence[ir.Value]]) -> ir.Value:
        """Call a kernel with arrays (where, shape...) and whole numbers; whether nothing is to be said."""
        words: list[ir.Value] = []
        for x in given:
            words += [x] if isinstance(x, ir.Value) else array_words(self.b, x[0], x[1:])
        status, code = self.call_kernel(kernel, [tables, *words])
        return self.b.and_(self.b.icmp_unsigned("==", status, I32(0)), self.b.icmp_unsigned("==", code, I64(0)))

    def hand_over(self) -> None:
        """Write the end of what is not usual: the Python function gets all arguments as they are."""
        b, (_, args, nargs, names) = self.b, self.f.args
        b.position_at_end(self.slow)
        b.ret(self.call(self.found("vectorcall"), I64, self.found(self.f.name), args, nargs, names))
