"""``pin-clusters bench``: time per call against Pinocchio on the approximate robot, or against exact rivals."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from ..model import ClusterModel
from ..verification.peers import OURS, Measured
from ..verification.timing import Timing
from .tables import put, say, table_of


def show(model: ClusterModel, found: Measured, out: Console) -> None:
    """Print the table of times and ratios."""
    table = table_of(f"{escape(model.name)}: us per call, median (smallest)")
    columns = ["", OURS]
    for rival in found.rivals:
        columns += [rival, "ratio"]
    for column in columns:
        head = column.replace(", ", ",\n").replace("constraintD", "constraint-\nD")
        table.add_column(head, justify="right" if column else "left", no_wrap=True)
    for name, timings in found.times.items():
        row = [name, _us(timings[OURS])]
        for rival in found.rivals:
            timing = timings.get(rival)
            row += ["-", "-"] if timing is None else [_us(timing), f"{timings[OURS].ratio(timing):.2f}"]
        table.add_row(*row)
    put(out, table)
    say(out, f"One state through the Python API; nv = {model.nv}, {model.tree.nv} in the spanning tree.")
    for note in found.notes:
        say(out, note)


def _us(timing: Timing) -> str:
    return f"{1e6 * timing.median:.2f} ({1e6 * timing.minimum:.2f})"
