"""Functions that the machine code calls itself: is this such an array; copies and sums of numbers."""

from collections.abc import Callable

from llvmlite import ir

from ..native.process import SAME
from ..owed import LOST, ROOMS
from .recollection import Remembered
from .records import Affine
from .watch import Word
from .writer import DOUBLE, I32, I64, Module, Numbers, Writer

_EXPONENT = 0x7FF0000000000000


def write_parts(module: Module) -> None:
    """Write all of them."""
    parts: tuple[tuple[Callable[[Writer], None], int], ...] = (
        (data_of, 6), (copy, 3), (put_each, 4), (take_each, 4), (zeros, 2), (affine, 3),
        (finite, 2), (recall, 5), (numbers_of, 2), (unchanged, 1), (unlike, 3), (lose, 2), (owe, 5),
    )  # fmt: skip
    for part, arguments in parts:
        w = Writer(module, part.__name__, arguments)
        w.f.linkage = "internal"
        part(w)
        if not w.slow.is_terminated:
            w.b.position_at_end(w.slow)
            w.b.ret(I64(0))
        module.common[part.__name__] = w.f


def data_of(w: Writer) -> None:
    """Where the numbers of x, of a kind, are: an array of n (nd = 1) or n times ``last`` (2); 0 if it is not."""
    x, n, nd, flags, last, wanted = w.f.args
    b = w.b
    w.same(w.load(x, w.found("type")), w.found("ndarray"))
    # unpickled arrays have a dtype object of their own: compare what it says
    told = w.load(w.load(x, w.found("descr")), w.found("kind"))
    w.same(b.and_(told, I64(SAME)), wanted)
    w.same(b.zext(w.load(x, w.found("nd"), I32), I64), nd)
    w.same(b.and_(b.zext(w.load(x, w.found("flags"), I32), I64), flags), flags)
    dims = w.load(x, w.found("dims"))
    w.same(w.load(dims), n)
    w.same(w.item(dims, b.sub(nd, I64(1))), last)
    b.ret(w.load(x, w.found("data")))


def numbers_of(w: Writer) -> None:
    """Where the numbers of a desk are: x, which may be 0, how many there must be; 0 if it is no such desk."""
    x, size = w.f.args
    w.need(w.there(x))
    w.same(w.load(x, w.found("type")), w.found("desk_class"))
    numbers = w.load(x, w.found("in_tuple"))
    w.same(w.load(w.load(numbers, w.found("dims"))), size)
    w.b.ret(w.load(numbers, w.found("data")))


def unchanged(w: Writer) -> None:
    """Whether words are what they were: the table of a ``Watch``."""
    (table,) = w.f.args
    with w.rows(table, Word) as row:
        w.same(w.load(w.b.add(w.load(w.load(row.where)), row.beyond)), row.expected)
    w.b.ret(I64(1))


def copy(w: Writer) -> None:
    """Copy n numbers: to, from, n."""
    to, source, n = w.f.args
    byte = ir.IntType(8).as_pointer()
    move = w.module.m.declare_intrinsic("llvm.memcpy", [byte, byte, I64])
    w.b.call(
        move, [w.b.inttoptr(to, byte), w.b.inttoptr(source, byte), w.b.mul(I64(8), n), ir.Constant(ir.IntType(1), 0)]
    )
    w.b.ret(I64(1))


def put_each(w: Writer) -> None:
    """Write n numbers to places: to, places, from, n."""
    to, places, source, n = w.f.args
    with w.loop(n) as i:
        w.put_item(w.item(source, i), to, w.item(places, i))
    w.b.ret(I64(1))


def take_each(w: Writer) -> None:
    """Read n numbers at places: to, from, places, n."""
    to, source, places, n = w.f.args
    with w.loop(n) as i:
        w.put_item(w.item(source, w.item(places, i)), to, i)
    w.b.ret(I64(1))


def zeros(w: Writer) -> None:
    """Write n zeros: to, n."""
    to, n = w.f.args
    with w.loop(n) as i:
        w.put_item(I64(0), to, i)
    w.b.ret(I64(1))


def affine(w: Writer) -> None:
    """Apply an affine map: map, x, y. Terms are added in order, so that sums round as NumPy's ``add.at`` does."""
    numbers, x, y = w.f.args
    a = Numbers(w, Affine, numbers)
    places, constants, to, of, coefficients = a.places, a.constants, a.to, a.of, a.coefficients
    with w.loop(a.rows) as i:
        w.put_item(w.item(constants, i), y, w.item(places, i))
    with w.loop(a.terms) as i:
        row = w.item(to, i)
        term = w.b.fmul(w.item(coefficients, i, DOUBLE), w.item(x, w.item(of, i), DOUBLE))
        w.put_item(w.b.fadd(w.item(y, row, DOUBLE), term), y, row)
    w.b.ret(I64(1))


def finite(w: Writer) -> None:
    """Whether n numbers are finite: x, n."""
    x, n = w.f.args
    with w.loop(n) as i:
        exponent = w.b.and_(w.item(x, i), I64(_EXPONENT))
        w.need(w.b.icmp_unsigned("!=", exponent, I64(_EXPONENT)))
    w.b.ret(I64(1))


def unlike(w: Writer) -> None:
    """Whether n numbers differ in any bit: x, y, n; 0 if they do not."""
    x, y, n = w.f.args
    with w.loop(n) as i:
        w.same(w.item(x, i), w.item(y, i))
    w.b.ret(I64(0))
    w.b.position_at_end(w.slow)
    w.b.ret(I64(1))


def lose(w: Writer) -> None:
    """Give up what is owed in a room, whose state goes: the words of ``owed``, number of the room's word."""
    words, room = w.f.args
    w.put_item(w.b.or_(w.item(words, I64(LOST)), w.item(words, room)), words, I64(LOST))
    w.put_item(I64(0), words, room)
    w.b.ret(I64(1))


def owe(w: Writer) -> None:
    """Note what is owed: the words of ``owed``, what is not owed any more, the room's word, what is, what is spoilt."""
    words, clears, room, owes, spoils = w.f.args
    b, stay = w.b, w.b.not_(clears)
    for i in range(1, 1 + len(ROOMS)):
        w.put_item(b.and_(w.item(words, I64(i)), stay), words, I64(i))
    w.put_item(b.or_(b.and_(w.item(words, I64(LOST)), stay), spoils), words, I64(LOST))
    w.put_item(b.or_(w.item(words, room), owes), words, room)
    found = w.item(words, I64(LOST))
    for i in range(1, 1 + len(ROOMS)):
        found = b.or_(found, w.item(words, I64(i)))
    w.put_item(found, words, I64(0))
    w.b.ret(I64(1))


def recall(w: Writer) -> None:
    """What was kept under two numbers and these n objects, 0 if nothing was: table, number, number, objects, n."""
    table, first, second, objects, n = w.f.args
    b, differs = w.b, w.room(1)
    with w.rows(table, Remembered) as row:
        other = I64(0)
        for kept, x in ((row.first, first), (row.second, second), (row.count, n)):
            other = b.or_(other, b.xor(kept, x))
        w.store(other, differs)
        with b.if_then(b.icmp_unsigned("==", other, I64(0))):
            with w.loop(n) as k:
                unlike = b.xor(w.item(objects, k), w.item(row.at("objects"), k))
                w.store(b.or_(w.load(differs), unlike), differs)
            with b.if_then(b.icmp_unsigned("==", w.load(differs), I64(0))):
                b.ret(row.thing)
    b.ret(I64(0))
