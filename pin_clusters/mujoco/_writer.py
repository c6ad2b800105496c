"""Writes functions in LLVM's intermediate representation that read the table, an entry and ``mjData``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._library import CALLBACKS, FIELDS, FUNCTIONS

HEAD = ("slots", *CALLBACKS, *FUNCTIONS, *FIELDS)
"""Words of the table, before the slots."""
SLOT = 4
"""Number of words of a slot."""
ENTRY = (
    "nq", "nv", "rotors", "program", "entries", "places", "first", "torques", "dofs", "first_torque", "user", "nd",
    "loops", "loop_qpos", "loop_dofs", "reference", "newton", "place", "probe_a", "probe_b", "dof", "body", "limits",
    "limited", "limited_dofs", "limit_user",
)  # fmt: skip
"""Words of an entry."""


class Writer:
    """Writes the functions of ``module``; ``b`` is the builder of the current function."""

    def __init__(self, ir: Any) -> None:
        self.ir, self.module = ir, ir.Module()
        self.i64, self.f64, self.ptr, self.i1 = ir.IntType(64), ir.DoubleType(), ir.PointerType(), ir.IntType(1)
        self.table = ir.GlobalVariable(self.module, self.ptr, "table")
        self.table.initializer = ir.Constant(self.ptr, None)
        self.b: Any = None

    def begin(self, name: str, returned: Any, *types: Any) -> list[Any]:
        function = self.ir.Function(self.module, self.ir.FunctionType(returned, types), name)
        self.b = self.ir.IRBuilder(function.append_basic_block())
        return list(function.args)

    def int(self, n: int) -> Any:
        return self.ir.Constant(self.i64, n)

    def num(self, x: float) -> Any:
        return self.ir.Constant(self.f64, x)

    def at(self, pointer: Any, index: Any, kind: Any = None) -> Any:
        index = self.int(index) if isinstance(index, int) else index
        return self.b.gep(pointer, [index], source_etype=kind or self.f64)

    def get(self, pointer: Any, index: Any, kind: Any = None) -> Any:
        return self.b.load(self.at(pointer, index, kind), typ=kind or self.f64)

    def put(self, x: Any, pointer: Any, index: Any) -> None:
        self.b.store(x, self.at(pointer, index))

    def add(self, x: Any, pointer: Any, index: Any) -> None:
        place = self.at(pointer, index)
        self.b.store(self.b.fadd(self.b.load(place, typ=self.f64), x), place)

    def scratch(self, size: Any) -> Any:
        cell = self.b.alloca(self.f64, size=size)
        return self.b.bitcast(cell, self.ptr)

    def word(self, entry: Any, name: str) -> Any:
        return self.get(entry, ENTRY.index(name), self.i64)

    def array(self, entry: Any, name: str) -> Any:
        return self.b.inttoptr(self.word(entry, name), self.ptr)

    def of_table(self, name: str) -> Any:
        return self.get(self.b.load(self.table, typ=self.ptr), HEAD.index(name), self.i64)

    def field(self, d: Any, name: str) -> Any:
        place = self.b.gep(d, [self.of_table(name)], source_etype=self.ir.IntType(8))
        return self.b.load(place, typ=self.ptr)

    def known_limits(self, entry: Any, d: Any) -> Any:
        """Return the part of ``userdata`` with the effect of torque limits on ``qfrc_passive``."""
        return self.at(self.field(d, "userdata"), self.word(entry, "limit_user"))

    @contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """Write a loop over the index 0 to ``count`` - 1."""
        b, start = self.b, self.b.block
        head, body, done = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(self.i64)
        i.add_incoming(self.int(0), start)
        b.cbranch(b.icmp_signed("<", i, count), body, done)
        b.position_at_end(body)
        yield i
        i.add_incoming(b.add(i, self.int(1)), b.block)
        b.branch(head)
        b.position_at_end(done)

    def copy(self, source: Any, target: Any, count: Any) -> None:
        with self.loop(count) as i:
            self.put(self.get(source, i), target, i)

    def plus(self, total: Any, x: Any, y: Any) -> Any:
        """Return total + x y, rounded once or twice."""
        flags = ("contract",)
        return self.b.fadd(total, self.b.fmul(x, y, flags=flags), flags=flags)

    def dot(self, x: list[Any], y: list[Any]) -> Any:
        total = self.b.fmul(x[0], y[0])
        for p, q in zip(x[1:], y[1:], strict=True):
            total = self.plus(total, p, q)
        return total

    def absolute(self, x: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered("<", x, self.num(0.0)), self.b.fneg(x), x)

    def near(self, x: Any, y: Any, most: float) -> Any:
        """Return whether |x - y| < most; false for NaN."""
        return self.b.fcmp_ordered("<", self.absolute(self.b.fsub(x, y)), self.num(most))

    def call(self, address: Any, returned: Any, *arguments: Any) -> Any:
        kind = self.ir.FunctionType(returned, [x.type for x in arguments])
        return self.b.call(self.b.inttoptr(address, kind.as_pointer()), arguments)

    def every(self, count: Any, holds: Callable[[Any], Any], start: Any) -> Any:
        """Return whether ``start`` and ``holds(i)`` for all i."""
        b = self.b
        cell = b.alloca(self.i1)
        b.store(start, cell)
        with self.loop(count) as i:
            b.store(b.and_(b.load(cell), holds(i)), cell)
        return b.load(cell)
