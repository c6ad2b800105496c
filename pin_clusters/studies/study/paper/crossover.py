"""The slides' crossover: mass matrix and its factorisation, articulated bodies, Lagrange multipliers."""

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
from ._part import Found, Rows, Statement, agreeing, in_all, times_table

TITLE = "Mass matrix, articulated bodies, Lagrange multipliers"
TIMED = (
    "Chains without rotors. Articulated bodies: `pc.aba`; mass matrix with sparse L'DL and Lagrange multipliers: "
    "`baselines.sparse_crba` and `baselines.baraff`, compiled as `pc.aba` is; mass matrix and bias torques alone: "
    "`pc.crba` and `pc.nonLinearEffects`, without a solution; Pinocchio's `aba`, and its `crba`, "
    "`nonLinearEffects` and Cholesky decomposition, four calls from Python. The slides count operations of 2007."
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
_RIVALS: dict[str, tuple[ModuleType, dict[str, Any]]] = {"crba": (sparse_crba, {}), "baraff": (baraff, {})}
# of the same library; the terms alone to articulated bodies
_TO_CRBA = {
    "aba": ("aba", "crba"),
    "pin.aba": ("pin.aba", "pin.crba"),
    "baraff": ("baraff", "crba"),
    "terms": ("terms", "aba"),
}
_LINEAR, _COMPARABLE = 1.2, 3.0


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time chains without rotors, on which all of the methods are known."""
    lengths = effort.of(LENGTHS, (1, 2, 4, 6, 8, 10, 12, 16, 24, 48, 96), (1, 3))
    left_out: dict[str, str] = {}

    def chains() -> Iterator[tuple[int, dict[str, Call]]]:
        for n in lengths:
            tree = armature_model(chain(n), "none")
            tree.armature = np.zeros(n)
            model = ClusterModel(tree)
            q, v, tau = state(model)
            found, missing = forward_dynamics(_RIVALS, model, q, v, tau)
            left_out.update(missing)
            found["terms"] = _terms, (model, model.createData(), q, v)
            found["pin.crba"] = _factorised, (tree, tree.createData(), q, v, tau)
            yield n, found

    timings, agreed = measured(chains(), _EXACT, effort, done)
    rows = [{"n": n, "times": times(t, METHODS), "to_crba": ratios(t, _TO_CRBA)} for n, t in timings.items()]
    return {"rows": rows, "agreement": agreed, "left_out": left_out}


def _terms(model: ClusterModel, data: Any, q: np.ndarray, v: np.ndarray) -> None:
    """Compute what forward dynamics by the mass matrix begins with, and no solution: a bound."""
    crba(model, data, q)
    nonLinearEffects(model, data, q, v)


def _factorised(tree: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Forward dynamics by the mass matrix: Pinocchio's crba, bias torques and sparse Cholesky decomposition."""
    pin.crba(tree, data, q)
    pin.cholesky.decompose(tree, data)
    return pin.cholesky.solve(tree, data, tau - pin.nonLinearEffects(tree, data, q, v))


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return times."""
    shown = {how: METHODS[how][1] for how in in_all(found["rows"], METHODS)}
    rows = times_table("links", found["rows"], "n", shown)
    return [("Forward dynamics of chains without rotors: microseconds", rows)]


def statements(found: Found) -> list[Statement]:
    """Compare the crossing with the slides'."""
    made = []
    for how, by in (("aba", "compiled here"), ("pin.aba", "Pinocchio")):
        rows = [r for r in found["rows"] if how in r["to_crba"]]
        if not rows:
            continue
        x = crossing([r["n"] for r in rows], [r["to_crba"][how] for r in rows])
        where = "at no length measured" if x is None else "at all lengths" if x == 0.0 else f"from {x:g} links on"
        near = min(rows, key=lambda r: abs(r["n"] - MASS_MATRIX_BEFORE))
        price = (
            ", one call from Python against four"
            if how == "pin.aba"
            else f"; the mass matrix and the bias torques of the quickest kernels, without a solution, take "
            f"{near['to_crba']['terms']:.2f} times as long as articulated bodies"
        )
        made.append(
            Statement(
                f"The mass matrix is faster below n = {MASS_MATRIX_BEFORE}, articulated bodies above ({by}).",
                MOSS,
                f"articulated bodies are faster {where}; {near['to_crba'][how]:.2f} of the time of the mass matrix "
                f"with {near['n']} links{price}.",
                x is not None and abs(x - MASS_MATRIX_BEFORE) <= 2.0,
            )
        )
    long = [r for r in found["rows"] if r["n"] >= 8 and "baraff" in r["times"]]
    if len(long) > 1:
        power = slope([r["n"] for r in long], [r["times"]["baraff"]["median_us"] for r in long])
        factor = long[-1]["times"]["baraff"]["median_us"] / long[-1]["times"]["aba"]["median_us"]
        made += [
            Statement(
                "Lagrange multipliers in maximal coordinates are O(n) on a chain.",
                MOSS,
                f"power {power:.2f} from {long[0]['n']} to {long[-1]['n']} links.",
                power <= _LINEAR,
            ),
            Statement(
                "Their cost is comparable to that of articulated bodies.",
                MOSS,
                f"{factor:.1f} times as long with {long[-1]['n']} links.",
                factor <= _COMPARABLE,
            ),
        ]
    return made


def draw(figure: Figure, found: Found) -> None:
    """Draw times, and times relative to the mass matrix."""
    first, second = panels(figure, 2, height=5.2)
    shown = in_all(found["rows"], METHODS)
    n = [r["n"] for r in found["rows"]]
    curves(first, found["rows"], "n", {how: METHODS[how][0] for how in shown})
    for how in ("aba", "pin.aba", "baraff"):
        if how in found["rows"][-1]["to_crba"]:
            curve(second, METHODS[how][0], n, [r["to_crba"][how] for r in found["rows"]])
    logarithmic(first, "time", "links", "time [$\\mu$s]")
    second.axhline(1.0, color="#999999", linewidth=1.0)
    second.axvline(MASS_MATRIX_BEFORE, color="#999999", linewidth=1.0, linestyle=":")
    second.set_xlim(0.0, min(50.0, 1.05 * n[-1]))
    named(second, "relative to the mass matrix of the same library", "links", "time / time of the mass matrix")
    second.set_ylim(bottom=0.0)
    headed(
        figure,
        "Forward dynamics of chains: mass matrix, articulated bodies, Lagrange multipliers",
        (
            "Chains without rotors. One call from Python, one state, one thread; median.",
            f"Dotted: the slides' crossing at n = {MASS_MATRIX_BEFORE}.",
        ),
        dict(METHODS[how] for how in shown),
    )


says = agreeing("All methods", {how: label for how, (_, label) in METHODS.items()})
FIGURES = {"moss_crossover": draw}
