"""The page: what was found, how well it predicts what it was not made of, how."""

import numpy as np

from ..pages import results, template
from ..pages.axes import finished, lines, over
from ..pages.template import Words, number
from .result import Identification

_SHOWN, _POINTS, _ALIKE = 6, 400, 0.9
"""Plots, points of each; correlation that is said."""


@results.shown_by(Identification)
def files(found: Identification) -> dict[str, str]:
    """Return page and numbers by the names of their files."""
    marks = {"cannot be told alone": found.unidentifiable, "weak": found.weak, "moved to what is physical": found.moved}
    rows = [
        [name, number(before), number(x), number(error), number(100.0 * error / abs(x)) if x else "-", unit,
         Words(", ".join(mark for mark, names in marks.items() if name in names))]
        for name, unit, before, x, error in zip(
            found.parameters, found.units, found.prior, found.estimate, found.error, strict=True
        )
    ]  # fmt: skip
    head = ["parameter", "model", "estimate", "standard error", "%", "unit", Words("note")]
    pairs = [(i, k) for i, k in np.argwhere(np.abs(np.tril(found.correlation, -1)) > _ALIKE).tolist()]
    together = [[c[0], number(c[1]), number(c[2])] for c in found.combinations]
    fits = [[name, *(number(x) for pair in zip(*y, strict=True) for x in pair)] for name, *y in zip(
        found.rows, found.rms.T, found.r2.T, strict=True)]  # fmt: skip
    two = ["before", "after"]
    values = {
        "heading": f"{found.robot}, identified", "robot": found.robot, "log": found.log, "cutoff": number(found.cutoff),
        "sentence": f"{len(rows)} parameters of {found.robot} from {found.log}.",
        "filtered": np.isfinite(found.cutoff), "parameters": template.table(head, rows, "", "Parameters"),
        "alike": [f"{found.parameters[i]}, {found.parameters[k]}: {found.correlation[i, k]:.3f}" for i, k in pairs],
        "together": template.table(["combination", "estimate", "standard error"], together, "", "Together") if together else "",
        "fits": template.table(["torque", ("RMS of what is left", two), ("R\u00b2", two)], fits, "", "Fits"),
        "plots": [{"picture": _plot(found, k)} for k in np.argsort(-found.rms[1] / found.rms[0])[:_SHOWN].tolist()],
    }  # fmt: skip
    return {
        "identify.html": template.page("identify", __package__, values),
        "identify.json": results.as_json(found.as_dict()),
    }


def _plot(found: Identification, k: int) -> template.Html:
    some = slice(None, None, max(1, len(found.time) // _POINTS))
    drawn, axes = over("time [s]", "torque [N m] or [N]")
    y = (found.measured, *found.predicted[::-1])
    lines(
        axes, found.time[some], zip(("measured", "estimate", "model as it was"), (x[some, k] for x in y), strict=True)
    )
    text = f"Torque of {found.rows[k]} in the last part of the log: measured, by the estimates, by the model as it was."
    return finished(drawn, axes, found.rows[k], f"row{k}", text)
