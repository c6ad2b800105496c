"""What makes a kernel of a library a function of Python: it looks at the types, and at nothing else."""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS, WRITEABLE
from .writer import I32, I64, Library, Writer, array_words

_SIZES = {"float64": 8, "int64": 8, "int8": 1}


class Signature(NamedTuple):
    """What a kernel takes.

    Attributes:
        name: Of the kernel.
        arguments: Of each: ``""``: a whole number; else the dtype and number of dimensions of an array.
        nogil: Whether it releases the interpreter lock.
    """

    name: str
    arguments: tuple[tuple[str, int], ...]
    nogil: bool


def write_wrapper(library: Library, kernel: Signature) -> None:
    """Write ``py_NAME``, a ``METH_FASTCALL`` function that calls ``nb_NAME``; and whether that is without the lock."""
    m = library.m
    unlocked = ir.GlobalVariable(m, I64, "nogil_" + kernel.name)
    unlocked.initializer = I64(int(kernel.nogil))
    w = Writer(library, "py_" + kernel.name, 3)
    b = w.b
    _, given, count = w.f.args
    w.same(count, I64(len(kernel.arguments)))
    words: list[ir.Value] = []
    for i, (dtype, nd) in enumerate(kernel.arguments):
        x = w.item(given, I64(i))
        words += _array(w, x, dtype, nd) if dtype else [_number(w, x)]
    native = ir.Function(m, ir.FunctionType(I32, [I64] * (2 + len(words))), "nb_" + kernel.name)
    if kernel.nogil:
        state = w.call(w.found("save_thread"), I64)
    status, code = w.call_kernel(b.ptrtoint(native, I64), words)
    if kernel.nogil:
        w.call(w.found("restore_thread"), ir.VoidType(), state)
    w.same(status, I32(0))
    b.ret(w.call(w.found("new_number"), I64, code))
    b.position_at_end(w.slow)
    text = bytearray(f"{kernel.name} was given something else than its tables and contiguous arrays".encode() + b"\0")
    message = ir.GlobalVariable(m, ir.ArrayType(ir.IntType(8), len(text)), "refusal_" + kernel.name)
    message.linkage, message.global_constant = "internal", True
    message.initializer = ir.Constant(message.value_type, text)
    w.call(w.found("complain"), ir.VoidType(), w.found("type_error"), b.ptrtoint(message, I64))
    b.ret(I64(0))


def _number(w: Writer, x: ir.Value) -> ir.Value:
    """A whole number of Python's."""
    value = w.call(w.found("to_number"), I64, x)
    fine, doubtful = w.block(), w.block()
    w.b.cbranch(w.b.icmp_unsigned("==", value, I64(-1)), doubtful, fine)
    w.b.position_at_end(doubtful)
    failed = w.block()
    w.b.cbranch(w.b.icmp_unsigned("==", w.call(w.found("has_error"), I64), I64(0)), fine, failed)
    w.b.position_at_end(failed)
    w.b.ret(I64(0))
    w.b.position_at_end(fine)
    return value


def _array(w: Writer, x: ir.Value, dtype: str, nd: int) -> list[ir.Value]:
    """The words of an array of the right type."""
    w.see_array(x, w.found(dtype), I64(nd), I64(C_CONTIGUOUS | ALIGNED | WRITEABLE))
    shape = w.items(w.load(x, w.found("dims")), nd)
    return array_words(w.b, w.load(x, w.found("data")), shape, _SIZES[dtype])
