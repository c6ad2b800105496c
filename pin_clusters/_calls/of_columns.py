"""The machine code of what asks for columns of the inverse mass matrix, or products with them."""

from __future__ import annotations

from llvmlite import ir

from .._native.process import ALIGNED, C_CONTIGUOUS
from . import desk as at
from .code import Function
from .writer import I64


class Columns(Function):
    """``quick_columns(model, data, q, plan)``: what a plan wants, if all was usual; its numbers are only ours."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        self.same(self.nargs, I64(4))
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        q = self.array(self.load(self.args, 16), self.nq, 1, C_CONTIGUOUS | ALIGNED)
        plan = self.load(self.load(self.args, 24), self.found("data"))
        accelerations = self.there(self.load(plan, 8 * at.ACCELERATIONS))
        rows = b.select(accelerations, I64(8 * at.RESPONSE_ROWS), I64(8 * at.GRAM_ROWS))
        numbers = self.fresh(b.add(plan, rows), 2)
        # the other one has no entries

        def array(*fields: int) -> list[ir.Value]:
            return [self.load(plan, 8 * field) for field in fields]

        given = [
            [q, self.nq], array(at.ASKED, at.ASKED_ROWS, at.WIDTH), array(at.NUMBERS, at.NUMBERS_SIZE),
            array(at.PANEL, at.PANEL_ROWS, at.LANES),
            array(at.TORQUES, at.TORQUES_ROWS, at.TORQUES_COLUMNS),
            [numbers, *array(at.GRAM_ROWS, at.GRAM_COLUMNS)], [numbers, *array(at.RESPONSE_ROWS, at.RESPONSE_COLUMNS)],
        ]  # fmt: skip
        self.give(self.run(kernel, tables, given))
        self.hand_over(self.place)
