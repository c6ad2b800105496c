"""The page: what was found, how well it predicts what it was not made of, how."""

from collections.abc import Callable

import numpy as np

from ..pages import results, template
from ..pages.axes import finished, lines, over
from ..pages.template import Html, Words, number, table
from .result import Identification

_SHOWN, _POINTS, _ALIKE = 6, 400, 0.9
"""Plots, points of each; correlation that is said."""


@results.shown_by(Identification)
def files(found: Identification) -> dict[str, Callable[[], str]]:
    """Return what makes page and numbers by the names of their files."""
    return {"identify.html": lambda: page(found), "identify.json": lambda: results.as_json(found.as_dict())}


def page(found: Identification) -> str:
    """Return the whole page as text."""
    notes = {"cannot be told alone": found.unidentifiable, "weak": found.weak, "moved to what is physical": found.moved}
    rows = []
    for k, (name, unit) in enumerate(zip(found.parameters, found.units, strict=True)):
        x, error = float(found.estimate[k]), float(found.error[k])
        share, said = number(100.0 * error / abs(x)) if x else "-", [note for note, of in notes.items() if name in of]
        if name in found.moved:
            said.append(f"within two errors: {number(found.interval[0, k])} to {number(found.interval[1, k])}")
        rows.append([name, number(found.prior[k]), number(x), number(error), share, unit, Words(", ".join(said))])
    head = ["parameter", "model", "estimate", "standard error", "%", "unit", Words("note")]
    together = [[label, number(value), number(error)] for label, value, error in found.combinations]
    both = zip(found.rows, np.hstack([found.rms.T, found.r2.T]).tolist(), strict=True)
    two, left = ["before", "after"], "RMS of what is left, N m or N"
    fits = [[name, *map(number, numbers)] for name, numbers in both]
    pairs = np.argwhere(np.abs(np.tril(found.correlation, -1)) > _ALIKE).tolist()
    what = table(["together", "estimate", "standard error"], together, "What is told of several only.", "Together")
    values = {
        "heading": f"{found.robot}, identified",
        "robot": found.robot,
        "cutoff": number(found.cutoff),
        "sentence": f"{len(rows)} parameters of {found.robot} from {found.log}.",
        "filtered": np.isfinite(found.cutoff),
        "parameters": table(head, rows, "Model: as it was. Errors: one standard deviation.", "Parameters"),
        "together": what if together else "",
        "alike": [f"{found.parameters[i]}, {found.parameters[k]}: {found.correlation[i, k]:.3f}" for i, k in pairs],
        "fits": table(["torque", (left, two), ("R\u00b2", two)], fits, "Before: of the model as it was.", "Fits"),
        "plots": [{"picture": _plot(found, k)} for k in np.argsort(-found.rms[1] / found.rms[0])[:_SHOWN].tolist()],
    }
    return template.page("identify", __package__, values)


def _plot(found: Identification, k: int) -> Html:
    some = slice(None, None, max(1, len(found.time) // _POINTS))
    drawn, axes = over("time [s]", "torque [N m] or [N]")
    curves = {"measured": found.measured, "estimate": found.predicted[1], "model as it was": found.predicted[0]}
    lines(axes, found.time[some], ((name, y[some, k]) for name, y in curves.items()))
    text = f"Torque of {found.rows[k]} in the last part of the log: {', '.join(curves)}."
    return finished(drawn, axes, found.rows[k], f"row{k}", text)
