"""Compare times of mass-matrix, articulated-body and Lagrange-multiplier methods, as in Moss's lecture slides."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.crba import crba
from ....algorithms.dynamics.rnea import nonLinearEffects
from ....approximations.armature import armature_model
from ....model import ClusterModel
from ....verification.baselines import baraff, sparse_crba
from ....verification.timing import Call
from ..plots import Figure, named, panels
from ._drawing import curve, curves, headed, logarithmic
from ._effort import Effort, crossing, measured, ratios, slope, times
from ._models import chain, forward_dynamics, state
from ._numbers import MASS_MATRIX_BEFORE, MOSS
from ._part import Results, Rows, Statement, agreeing, in_all, times_table

TITLE = "Mass matrix, articulated bodies, Lagrange multipliers"
TIMED = (
    "The robots are chains without rotors. Articulated bodies: `pc.aba`. Mass matrix with sparse L'DL and Lagrange "
    "multipliers: `baselines.sparse_crba` and `baselines.baraff`, compiled like `pc.aba`. Mass matrix and bias torques "
    "alone: `pc.crba` and `pc.nonLinearEffects`, without a solution. Pinocchio: `aba`; and `crba`, `nonLinearEffects` "
    "and Cholesky decomposition, four calls from Python. The slides count operations (2007)."
)
SECONDS = (35.0, 6.0)
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96)
METHODS = {
    "aba": ("cluster", "articulated bodies"),
    "crba": ("projection", "mass matrix, sparse L'DL"),
    "terms": ("least", "mass matrix and bias torques alone"),
    "baraff": ("lagrange", "Lagrange multipliers (Baraff)"),
    "pin.aba": ("pinocchio", "articulated bodies, Pinocchio"),
    "pin.crba": ("other", "mass matrix and Cholesky, Pinocchio"),
}
_EXACT = ("aba", "crba", "baraff", "pin.aba", "pin.crba")
_BASELINES: dict[str, tuple[ModuleType, dict[str, Any]]] = {"crba": (sparse_crba, {}), "baraff": (baraff, {})}
_TO_CRBA = {  # numerator and denominator of each time ratio; both are from the same library
    "aba": ("aba", "crba"),
    "pin.aba": ("pin.aba", "pin.crba"),
    "baraff": ("baraff", "crba"),
    "terms": ("terms", "aba"),
}
_LINEAR, _COMPARABLE = 1.2, 3.0


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    lengths = effort.of(LENGTHS, (1, 2, 4, 6, 8, 10, 12, 16, 24, 48, 96), (1, 3))
    left_out: dict[str, str] = {}

    def chains() -> Iterator[tuple[int, dict[str, Call]]]:
        for n in lengths:
            tree = armature_model(chain(n), "none")
            tree.armature = np.zeros(n)
            model = ClusterModel(tree)
            q, v, tau = state(model)
            calls, missing = forward_dynamics(_BASELINES, model, q, v, tau)
            left_out.update(missing)
            calls["terms"] = _terms, (model, model.createData(), q, v)
            calls["pin.crba"] = _factorised, (tree, tree.createData(), q, v, tau)
            yield n, calls

    timings, agreement = measured(chains(), _EXACT, effort, done)
    rows = [{"n": n, "times": times(t, METHODS), "to_crba": ratios(t, _TO_CRBA)} for n, t in timings.items()]
    return {"rows": rows, "agreement": agreement, "left_out": left_out}


def _terms(model: ClusterModel, data: Any, q: np.ndarray, v: np.ndarray) -> None:
    crba(model, data, q)
    nonLinearEffects(model, data, q, v)


def _factorised(tree: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    pin.crba(tree, data, q)
    pin.cholesky.decompose(tree, data)
    return pin.cholesky.solve(tree, data, tau - pin.nonLinearEffects(tree, data, q, v))


def tables(results: Results) -> list[tuple[str, Rows]]:
    shown = {method: METHODS[method][1] for method in in_all(results["rows"], METHODS)}
    rows = times_table("links", results["rows"], "n", shown)
    return [("Forward dynamics of chains without rotors: microseconds", rows)]


def statements(results: Results) -> list[Statement]:
    verdicts = []
    for method, by in (("aba", "compiled here"), ("pin.aba", "Pinocchio")):
        rows = [r for r in results["rows"] if method in r["to_crba"]]
        if not rows:
            continue
        x = crossing([r["n"] for r in rows], [r["to_crba"][method] for r in rows])
        range_text = "at no length measured" if x is None else "at all lengths" if x == 0.0 else f"from {x:g} links on"
        nearest = min(rows, key=lambda r: abs(r["n"] - MASS_MATRIX_BEFORE))
        price = (
            ", one call from Python against four"
            if method == "pin.aba"
            else f"; the mass matrix and the bias torques of the fastest kernels, without a solution, take "
            f"{nearest['to_crba']['terms']:.2f} times as long as articulated bodies"
        )
        verdicts.append(
            Statement(
                f"The mass matrix is faster below n = {MASS_MATRIX_BEFORE}, articulated bodies above ({by}).",
                MOSS,
                f"articulated bodies are faster {range_text}; they take {nearest['to_crba'][method]:.2f} of the time "
                f"of the mass matrix with {nearest['n']} links{price}.",
                x is not None and abs(x - MASS_MATRIX_BEFORE) <= 2.0,
            )
        )
    long = [r for r in results["rows"] if r["n"] >= 8 and "baraff" in r["times"]]
    if len(long) > 1:
        power = slope([r["n"] for r in long], [r["times"]["baraff"]["median_us"] for r in long])
        factor = long[-1]["times"]["baraff"]["median_us"] / long[-1]["times"]["aba"]["median_us"]
        verdicts += [
            Statement(
                "Lagrange multipliers in maximal coordinates are O(n) on a chain.",
                MOSS,
                f"power {power:.2f} from {long[0]['n']} to {long[-1]['n']} links.",
                power <= _LINEAR,
            ),
            Statement(
                "The cost of Lagrange multipliers is comparable to the cost of articulated bodies.",
                MOSS,
                f"{factor:.1f} times as long with {long[-1]['n']} links.",
                factor <= _COMPARABLE,
            ),
        ]
    return verdicts


def draw(figure: Figure, results: Results) -> None:
    left, right = panels(figure, 2, height=5.2)
    shown = in_all(results["rows"], METHODS)
    n = [r["n"] for r in results["rows"]]
    curves(left, results["rows"], "n", {method: METHODS[method][0] for method in shown})
    for method in ("aba", "pin.aba", "baraff"):
        if method in results["rows"][-1]["to_crba"]:
            curve(right, METHODS[method][0], n, [r["to_crba"][method] for r in results["rows"]])
    logarithmic(left, "time", "links", "time [$\\mu$s]")
    right.axhline(1.0, color="#999999", linewidth=1.0)
    right.axvline(MASS_MATRIX_BEFORE, color="#999999", linewidth=1.0, linestyle=":")
    right.set_xlim(0.0, min(50.0, 1.05 * n[-1]))
    named(right, "relative to the mass matrix of the same library", "links", "time / time of the mass matrix")
    right.set_ylim(bottom=0.0)
    headed(
        figure,
        "Forward dynamics of chains: mass matrix, articulated bodies, Lagrange multipliers",
        (
            "Chains without rotors. One call from Python, one state, one thread; median.",
            f"Dotted: the slides' crossing at n = {MASS_MATRIX_BEFORE}.",
        ),
        dict(METHODS[method] for method in shown),
    )


says = agreeing("All methods", {how: label for how, (_, label) in METHODS.items()})
FIGURES = {"moss_crossover": draw}
