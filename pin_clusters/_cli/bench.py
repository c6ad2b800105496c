"""``pin-clusters bench``: print the time per call, compared with Pinocchio or with other exact methods."""

from rich.console import Console

from ..model import ClusterModel
from ..verification.peers import OURS, Measured
from ..verification.timing import Timing
from .tables import put, say, table_of


def show(model: ClusterModel, found: Measured, out: Console) -> None:
    columns = ["", OURS]
    for baseline in found.peers:
        columns += [baseline, "ratio"]
    heads = [column.replace(", ", ",\n").replace("constraintD", "constraint-\nD") for column in columns]
    rows = []
    for name, timings in found.times.items():
        row = [name, _us(timings[OURS])]
        for baseline in found.peers:
            timing = timings.get(baseline)
            row += ["-", "-"] if timing is None else [_us(timing), f"{timings[OURS].ratio(timing):.2f}"]
        rows.append(row)
    table = table_of(f"{model.name}: us per call, median (smallest)", "l" + "r" * (len(heads) - 1), heads, rows)
    for column in table.columns:
        column.no_wrap = True
    put(out, table)
    say(out, f"Each Python call computes one state; nv = {model.nv}, nv of the spanning tree = {model.tree.nv}.")
    for note in found.notes:
        say(out, note)


def _us(timing: Timing) -> str:
    return f"{1e6 * timing.median:.2f} ({1e6 * timing.minimum:.2f})"
