"""Print tables and sentences that fit into the width of the console."""

from collections.abc import Iterable, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_ENDLESS = 100_000


def table_of(
    title: str, sides: str = "", heads: Sequence[str] = (), rows: Iterable[Sequence[str] | None] = ()
) -> Table:
    """Build a table; ``sides`` aligns each column left (``l``) or right (``r``); a row that is None draws a line."""
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for side, head in zip(sides, heads, strict=True):
        table.add_column(escape(head), justify="left" if side == "l" else "right")
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*map(escape, row))
    return table


def say(out: Console, text: str, *, markup: bool = False) -> None:
    out.print(text, soft_wrap=not out.is_terminal, markup=markup)


def put(out: Console, table: Table) -> None:
    """Print a table without breaking words; if it is too wide, wrap cells, then remove gaps, then print row by row."""
    for gap in (1, 0):
        table.padding = (0, gap)
        extra, ranges = _widths(out, table)
        free_width = out.width - extra - sum(low for low, _ in ranges)
        if free_width < 0:
            continue
        # Columns that need the least extra width receive it first, because wide columns wrap in any case.
        order = np.argsort([high - low for low, high in ranges], kind="stable")
        for rank, i in enumerate(order):
            low, high = ranges[i]
            extra_width = min(high - low, free_width // (len(order) - rank))
            table.columns[i].width = low + extra_width
            free_width -= extra_width
        out.print(table)
        return
    _row_by_row(out, table)


def _widths(out: Console, table: Table) -> tuple[int, list[tuple[int, int]]]:
    options = out.options.update(width=_ENDLESS)
    ranges = []
    for column in table.columns:
        cells = [Text.from_markup(str(cell)) for cell in (column.header, *column.cells)]
        measures = [Measurement.get(out, options, cell) for cell in cells]
        high = max(m.maximum for m in measures)
        ranges.append((high if column.no_wrap else max(m.minimum for m in measures), high))
    table_width = Measurement.get(out, options, table).maximum
    return table_width - sum(high for _, high in ranges), ranges


def _row_by_row(out: Console, table: Table) -> None:
    """Print each row as a paragraph: the first cell, then all other cells with their headers."""
    if table.title:
        out.print(f"[bold]{table.title}[/]")
    headers = [" ".join(str(column.header).split()) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        grid = Table.grid(padding=(0, 2), pad_edge=False)
        grid.add_column()
        grid.add_column(overflow="fold")
        for head, cell in zip(headers[1:], cells[1:], strict=True):
            grid.add_row(f"    {head}", cell)
        out.print(f"\n  {headers[0]} {cells[0]}" if headers[0] else f"\n  {cells[0]}", overflow="fold")
        out.print(grid)
    out.print()
