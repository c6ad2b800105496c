"""Any entry points, over rows: called at their addresses, row after row, and nothing of them is compiled again.

Arguments are passed as the words of which Numba's calls are made: a whole number is one of them, an array seven or
nine. ``native/words.py`` makes them; those that lead to a row move on from row to row.
"""

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...compiler.native.words import SIZES

ADDRESS: Final = 0  # of a call: of the entry point
STATUS: Final = 1  # of rows for which it reports something
PLACE: Final = 0  # of what moves: which word of all
START: Final = 1  # its value in row 0
STEP: Final = 2  # from row to row


@intrinsic
def _call(typing: Any, function: Any, words: Any, row: Any) -> Any:
    """Call an entry point with all words of a row, of which it may take less; returns its code."""

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
            given = [builder.load(builder.gep(data, [word(k)])) for k in range(size)]
            kind = ir.FunctionType(ir.IntType(32), [word.as_pointer(), word.as_pointer(), *[word] * size])
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), [code, error, *given])
            builder.branch(end)
        builder.position_at_end(end)
        return builder.load(code)

    return types.int64(types.int64, words, types.intp), codegen


def rows_at(calls, words, moving, status, first, last):
    """Call entry points, one after the other, for each of the rows first..last-1.

    Args:
        calls: Of each its address, and the status of a row of which it reports something; the last one counts.
        words: Arguments of each, as many as one of ``SIZES``.
        moving: Of each word that moves its place, its value in row 0, and its step.
        status: Of the rows; those that are good are not written.
    """
    width = words.shape[1]
    for n in range(first, last):
        for m in range(moving.shape[0]):
            place = moving[m, PLACE]
            words[place // width, place % width] = moving[m, START] + n * moving[m, STEP]
        for k in range(calls.shape[0]):
            if _call(calls[k, ADDRESS], words, k) != 0:
                status[n] = calls[k, STATUS]
    return 0
