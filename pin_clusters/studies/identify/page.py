"""Write the page of an identification: the estimates, the predicted torques, and the method."""

from collections.abc import Callable

import numpy as np

from ..pages import results, template
from ..pages.axes import finished, lines, over
from ..pages.template import Html, Words, number, table
from .result import Identification

_SHOWN, _POINTS, _CORRELATED = 6, 400, 0.9  # Most plots; most points per curve; smallest listed correlation


@results.shown_by(Identification)
def files(result: Identification) -> dict[str, Callable[[], str]]:
    return {"identify.html": lambda: page(result), "identify.json": lambda: results.as_json(result.as_dict())}


def page(result: Identification) -> str:
    notes = {"not identifiable alone": result.unidentifiable, "weak": result.weak, "made physical": result.moved}
    rows = []
    for k, (name, unit) in enumerate(zip(result.parameters, result.units, strict=True)):
        x, error = float(result.estimate[k]), float(result.error[k])
        share, remarks = (
            number(100.0 * error / abs(x)) if x else "-",
            [note for note, names in notes.items() if name in names],
        )
        if name in result.moved:
            remarks.append(
                f"interval of two standard errors: {number(result.interval[0, k])} to {number(result.interval[1, k])}"
            )
        rows.append([name, number(result.prior[k]), number(x), number(error), share, unit, Words(", ".join(remarks))])
    head = ["parameter", "model", "estimate", "standard error", "%", "unit", Words("note")]
    together = [[label, number(value), number(error)] for label, value, error in result.combinations]
    fit_numbers = zip(result.rows, np.hstack([result.rms.T, result.r2.T]).tolist(), strict=True)
    subheads, rms_head = ["before", "after"], "RMS residual, N m or N"
    fits = [[name, *map(number, numbers)] for name, numbers in fit_numbers]
    pairs = np.argwhere(np.abs(np.tril(result.correlation, -1)) > _CORRELATED).tolist()
    caption = "The log determines these combinations, but not their members."
    together_table = table(["combination", "estimate", "standard error"], together, caption, "Combinations")
    values = {
        "heading": f"{result.robot}, identified",
        "robot": result.robot,
        "cutoff": number(result.cutoff),
        "sentence": f"{len(rows)} parameters of {result.robot}, estimated from {result.log}.",
        "filtered": np.isfinite(result.cutoff),
        "parameters": table(head, rows, "Model: prior value. Errors: one standard deviation.", "Parameters"),
        "together": together_table if together else "",
        "alike": [f"{result.parameters[i]}, {result.parameters[k]}: {result.correlation[i, k]:.3f}" for i, k in pairs],
        "fits": table(["torque", (rms_head, subheads), ("R\u00b2", subheads)], fits, "Before: prior model.", "Fits"),
        "plots": [{"picture": _plot(result, k)} for k in np.argsort(-result.rms[1] / result.rms[0])[:_SHOWN].tolist()],
    }
    return template.page("identify", __package__, values)


def _plot(result: Identification, k: int) -> Html:
    samples = slice(None, None, max(1, len(result.time) // _POINTS))
    drawn, axes = over("time [s]", "torque [N m] or [N]")
    curves = {"measured": result.measured, "estimate": result.predicted[1], "prior model": result.predicted[0]}
    lines(axes, result.time[samples], ((name, y[samples, k]) for name, y in curves.items()))
    text = f"Torque of {result.rows[k]} in the last part of the log: {', '.join(curves)}."
    return finished(drawn, axes, result.rows[k], f"row{k}", text)
