"""Writing functions of whole numbers in LLVM's intermediate representation.

Pointers are whole numbers until something is read, written or called there. What belongs to the process (offsets,
addresses) is read from a table.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .desk import FOUND

I64, I32, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()


def array_words(b: ir.IRBuilder, where: ir.Value, shape: Sequence[ir.Value], item: int = 8) -> list[ir.Value]:
    """Return what stands for a contiguous array in a call of Numba's kind: numbers without an owner, sizes, strides."""
    size, stride = shape[-1], I64(item)
    strides = [stride]
    for n in reversed(shape[:-1]):
        strides.insert(0, b.mul(strides[0], shape[len(shape) - len(strides)]))
        size = b.mul(size, n)
    return [I64(0), I64(0), size, stride, where, *shape, *strides]


class Writer:
    """Writes a function of whole numbers."""

    def __init__(self, m: ir.Module, table: ir.GlobalVariable, name: str, arguments: int = 4) -> None:
        self.table = table
        self.f = ir.Function(m, ir.FunctionType(I64, [I64] * arguments), name)
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

    def call_kernel(self, kernel: ir.Value, words: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
        """Call a kernel as Numba's code calls it; return the status, 0 without an exception, and what it returns."""
        b = self.b
        with b.goto_entry_block():
            code, error = b.alloca(I64), b.alloca(I64)
        status = self.call(kernel, I32, b.ptrtoint(code, I64), b.ptrtoint(error, I64), *words)
        return status, b.load(code)
