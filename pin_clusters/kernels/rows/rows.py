"""Calls entry points for the rows of a batch by address, so that the entry points need not be compiled again.

Arguments are passed as 64-bit words, as Numba's functions expect: one word per integer, seven or nine per array.
``native/words.py`` creates the words. Words that point to a row of an array are incremented from row to row.
"""

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...compiler.native.words import SIZES
from ..directions import Out

ADDRESS: Final = 0  # column of calls: address of the entry point
STATUS: Final = 1  # column of calls: status of a row in which the call fails
PLACE: Final = 0  # column of ``moving``: index of the word among all words
START: Final = 1  # column of moving: value in row 0
STEP: Final = 2  # column of moving: increment per row


@intrinsic
def _call(typing: Any, function: Any, words: Any, row: Any) -> Any:
    """Call an entry point with the arguments in a row of ``words`` (extra words are ignored); return its code."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        view = context.make_array(signature.args[1])(context, builder, args[1])
        width = cgutils.unpack_tuple(builder, view.shape)[1]
        data = builder.gep(view.data, [builder.mul(args[2], width)])
        code, error = cgutils.alloca_once(builder, word), cgutils.alloca_once(builder, word)
        builder.store(word(-1), code)
        end = builder.append_basic_block("called")
        sizes = builder.switch(width, end)
        for size in SIZES:
            block = builder.append_basic_block(f"call_{size}")
            sizes.add_case(word(size), block)
            builder.position_at_end(block)
            arguments = [builder.load(builder.gep(data, [word(k)])) for k in range(size)]
            kind = ir.FunctionType(ir.IntType(32), [word.as_pointer(), word.as_pointer(), *[word] * size])
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), [code, error, *arguments])
            builder.branch(end)
        builder.position_at_end(end)
        return builder.load(code)

    return types.int64(types.int64, words, types.intp), codegen


def rows_at(calls, words: Out, moving, status: Out, first, last):
    """Call the entry points, one after the other, for each of the rows first..last-1.

    ``calls`` contains the address of each entry point, and the status that is written if the call fails; the last
    failure determines the status. A row of ``words`` contains the arguments of a call; the number of columns is one of
    ``SIZES``. ``moving`` contains the index of each word that changes from row to row, its value in row 0, and its
    increment. ``status`` has one entry per row, which is written only if a call fails.
    """
    width = words.shape[1]
    for n in range(first, last):
        for m in range(moving.shape[0]):
            position = moving[m, PLACE]
            words[position // width, position % width] = moving[m, START] + n * moving[m, STEP]
        for k in range(calls.shape[0]):
            if _call(calls[k, ADDRESS], words, k) != 0:
                status[n] = calls[k, STATUS]
    return 0
