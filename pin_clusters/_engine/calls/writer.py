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

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

from llvmlite import ir

from .desk import TABLE
from .record import Field, Record, Room

I64, I32, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()


def array_words(b: ir.IRBuilder, where: ir.Value, shape: Sequence[ir.Value], item: int = 8) -> list[ir.Value]:
    """Return what stands for a contiguous array in a call of Numba's kind: numbers without an owner, sizes, strides."""
    size, strides = shape[-1], [I64(item)]
    for i in reversed(range(len(shape) - 1)):
        strides.insert(0, b.mul(strides[0], shape[i + 1]))
        size = b.mul(size, shape[i])
    return [I64(0), I64(0), size, I64(item), where, *shape, *strides]


class Bytes(list[ir.Value]):
    """An array of bytes among arrays of numbers: where they are, and how many."""


class Module:
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
        self.common: dict[str, ir.Function] = {}


class Numbers:
    """A record at an address, while machine code is written: ``desk.nq`` loads what it is in Python."""

    def __init__(self, writer: "Writer", kind: type[Record], where: ir.Value) -> None:
        self._writer, self._kind, self.where = writer, kind, where
        self._known: dict[str, ir.Value] = {}

    def _field(self, name: str) -> Field:
        if name not in self._kind.fields:
            raise AttributeError(f"{self._kind.__name__} has no {name}")
        return self._kind.fields[name]

    def has(self, name: str) -> bool:
        """Whether the record has a name."""
        return name in self._kind.fields

    def __getattr__(self, name: str) -> ir.Value:
        """Load a number, of several the first."""
        return self._known[name] if name in self._known else self.all(name, 1)[0]

    def know(self, *names: str) -> None:
        """Load numbers that all that follows has at hand."""
        self._known = {name: getattr(self, name) for name in names}

    def all(self, name: str, n: int | None = None) -> list[ir.Value]:
        """Load all numbers of a name, or the first n: an array and its sizes, a kernel and its tables."""
        field = self._field(name)
        places = range(field.place, field.place + (n or field.width))
        return [self._writer.load(self.where, 8 * i) for i in places]

    def sizes(self, name: str) -> list[ir.Value]:
        """Return what is multiplied for the size of a room, or the sizes of a shape; of a count itself."""
        field = self._field(name)
        if field.shape or field.width == 1:
            return [I64(n) if isinstance(n, int) else getattr(self, n) for n in field.shape or (name,)]
        return self.all(name)

    def array(self, name: str) -> list[ir.Value]:
        """Return what stands for an array in a call: of a room where it is, and how many numbers it has."""
        if isinstance(self._field(name), Room):
            return [getattr(self, name), self._writer.product(*self.sizes(name))]
        return self.all(name)

    def dims(self, name: str) -> tuple[ir.Value, int]:
        """Return where a shape stands, and how many dimensions that is; a count is the shape of a vector."""
        return self.at(name), self._field(name).width

    def at(self, name: str, i: int = 0) -> ir.Value:
        """Return where number i of a name is."""
        return self._writer.b.add(self.where, I64(8 * (self._field(name).place + i)))

    def put(self, **numbers: ir.Value) -> None:
        """Store numbers."""
        for name, value in numbers.items():
            self._writer.store(value, self.where, 8 * self._field(name).place)


class Writer:
    """Writes a function of whole numbers.

    Attributes:
        slow: Where it leaves what is not usual.
        owned: New references that it has; they are dropped wherever it leaves.
        counted: Of so many arguments it knows that they are there.
    """

    def __init__(self, module: Module, name: str, arguments: int = 4) -> None:
        self.module = module
        self.f = ir.Function(module.m, ir.FunctionType(I64, [I64] * arguments), name)
        self.b = ir.IRBuilder(self.f.append_basic_block("entry"))
        self.slow = self.f.append_basic_block("slow")
        self.owned: list[ir.Value] = []
        self.counted = 0
        self._failed: ir.Block | None = None

    def found(self, name: str) -> ir.Value:
        """Load a number of the table."""
        return self.b.load(self.b.gep(self.module.table, [I32(0), I32(TABLE.index(name))]))

    def load(self, at: ir.Value, offset: int | ir.Value = 0, kind: ir.Type = I64) -> ir.Value:
        return self.b.load(self._pointer(at, offset, kind))

    def store(self, value: ir.Value, at: ir.Value, offset: int | ir.Value = 0) -> None:
        self.b.store(value, self._pointer(at, offset, value.type))

    def _pointer(self, at: ir.Value, offset: int | ir.Value, kind: ir.Type) -> ir.Value:
        return self.b.inttoptr(self.b.add(at, I64(offset) if isinstance(offset, int) else offset), kind.as_pointer())

    def item(self, at: ir.Value, i: ir.Value, kind: ir.Type = I64) -> ir.Value:
        """Load item i of eight bytes."""
        return self.load(at, self._offset(i), kind)

    def items(self, at: ir.Value, n: int) -> list[ir.Value]:
        """Load so many items."""
        return [self.item(at, I64(i)) for i in range(n)]

    def put_items(self, values: Sequence[ir.Value], at: ir.Value) -> None:
        """Store items."""
        for i, value in enumerate(values):
            self.put_item(value, at, I64(i))

    def put_item(self, value: ir.Value, at: ir.Value, i: ir.Value) -> None:
        """Store item i of eight bytes."""
        self.store(value, at, self._offset(i))

    def _offset(self, i: ir.Value) -> ir.Value:
        return I64(8 * i.constant) if isinstance(i, ir.Constant) else self.b.mul(I64(8), i)

    def product(self, *sizes: ir.Value) -> ir.Value:
        """Multiply sizes."""
        return reduce(self.b.mul, sizes)

    def block(self, name: str = "") -> ir.Block:
        return self.f.append_basic_block(name)

    def need(self, condition: ir.Value, otherwise: ir.Block | None = None) -> None:
        """Go on if a condition holds, else to the Python function, or elsewhere; what was made is dropped first."""
        go, leave = self.block(), otherwise or self.slow
        if self.owned:
            leave = self.block()
            with self.b.goto_block(leave):
                for x in self.owned:
                    self.drop(x)
                self.b.branch(otherwise or self.slow)
        self.b.cbranch(condition, go, leave).set_weights([1000, 1])
        self.b.position_at_end(go)

    def own(self, x: ir.Value, otherwise: ir.Block | None = None) -> ir.Value:
        """Take a new reference; without one end, as Python knows what happened, or go elsewhere."""
        if otherwise is None and self._failed is None:
            self._failed = self.block()
            with self.b.goto_block(self._failed):
                self.b.ret(I64(0))
        self.need(self.there(x), otherwise or self._failed)
        self.owned.append(x)
        return x

    def release(self, *objects: ir.Value) -> None:
        """Drop what was made, and is not needed any more."""
        for x in objects:
            self.owned.remove(x)
            self.drop(x)

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
        return self.item(self.f.args[1], I64(i))

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
        self.put_items(arguments, room)
        return self.call(self.found("call_any"), I64, function, room, I64(len(arguments)), I64(0))

    def common(self, name: str, *args: ir.Value) -> ir.Value:
        """Call one of the module's own functions."""
        return self.b.call(self.module.common[name], args)

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

    def run(self, kernel: ir.Value, tables: ir.Value, given: Sequence[ir.Value | Sequence[ir.Value]]) -> ir.Value:
        """Call a kernel as Numba's code calls it, with arrays (where, shape...) and whole numbers.

        Returns:
            Whether nothing is to be said: no exception, and 0.
        """
        words: list[ir.Value] = []
        for x in given:
            item = 1 if isinstance(x, Bytes) else 8
            words += [x] if isinstance(x, ir.Value) else array_words(self.b, x[0], x[1:], item)
        code, error = self.room(1), self.room(1)
        status = self.call(kernel, I32, code, error, tables, *words)
        return self.b.and_(
            self.b.icmp_unsigned("==", status, I32(0)), self.b.icmp_unsigned("==", self.load(code), I64(0))
        )

    def hand_over(self) -> None:
        """Write the end of what is not usual: the Python function gets all arguments as they are."""
        b, (_, args, nargs, names) = self.b, self.f.args
        b.position_at_end(self.slow)
        b.ret(self.call(self.found("vectorcall"), I64, self.found(self.f.name), args, nargs, names))
