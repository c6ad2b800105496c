"""Reproduce figure 2 and tables 1 and 2 of Kroeg, Gattringer and Mueller: cost of the matrices M^-1 [B, J']."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.inputs import inverse_input_matrix
from ....algorithms.dynamics.motor import actuation_matrix
from ....algorithms.kinematics.jacobians import computeFrameJacobian
from ....files.readers import load
from ....model import ClusterModel
from ....model.configuration import integrate, neutral
from ....verification.timing import Call
from ..plots import Figure, named, panels
from ._drawing import curves, headed
from ._effort import Effort, measured, ratios, times
from ._models import chain
from ._numbers import INPUT_MATRICES, KROEG, STATED_LONGER
from ._part import Results, Rows, Statement, agreeing, us

TITLE = "Inverse input matrices"
TIMED = (
    "`pc.inverse_input_matrix` is compared with a run of `pc.aba` without inputs and one run per input: the same "
    "compiled recursion, called from Python once or many times. The robots are chains of geared links, and "
    "`mit_humanoid` with its motors and forces at 8 points."
)
SECONDS = (30.0, 3.0)
LENGTHS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
HUMANOID, POINTS = "mit_humanoid", 8
_ROUNDED = 5.0  # Tolerance for rounding differences between a paper's text and its table, [%]
_RATIOS = {  # numerator and denominator of each time ratio; _HEADS contains the headers
    "one / aba": ("one", "aba"),
    "all / aba": ("all", "aba"),
    "forces / one": ("forces one", "one"),
    "forces / all": ("forces all", "all"),
}
_HEADS = ("one input / `aba`", "all inputs / `aba`", "forces one by one / one input", "forces one by one / all inputs")


def one_by_one(model: ClusterModel, data: Any, q: np.ndarray, B: np.ndarray, points: list[int]) -> np.ndarray:
    """Compute M^-1 [B, J'] by one ``aba`` call with zero torque and one call per column (eUFM in the paper)."""
    zeros = np.zeros(model.nv)
    rows = [B.T, *(computeFrameJacobian(model, data, q, f, pin.LOCAL)[:3] for f in points)]
    free = aba(model, data, q, zeros, zeros)
    inputs = np.ascontiguousarray(np.concatenate(rows))
    return np.array([aba(model, data, q, zeros, tau) for tau in inputs]).T - free[:, None]


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    lengths = effort.of(LENGTHS, (1, 5, 10, 25, 50), (1, 3))
    humanoid = load(HUMANOID)
    rng = np.random.default_rng(0)
    q = integrate(humanoid, neutral(humanoid), 0.2 * rng.standard_normal(humanoid.nv))
    B = actuation_matrix(humanoid, humanoid.createData(), q)
    points = (humanoid.nframes - 1 - np.arange(POINTS)).tolist()

    def robots() -> Iterator[tuple[int | str, dict[str, Call]]]:
        for n in lengths:
            model = chain(n)
            yield n, _calls(model, np.array(neutral(model)) + np.linspace(0.1, 0.6, n), np.eye(n), [])
        calls = _calls(humanoid, q, B, points)
        yield "humanoid", {method: call for method, call in calls.items() if "one" not in method}

    timings, agreement = measured(robots(), ("all", "forces all"), effort, done)
    rows = {key: {"times": times(t), "ratio": ratios(t, _RATIOS)} for key, t in timings.items()}
    return {
        "rows": [{"n": n, **rows[n]} for n in lengths],
        "humanoid": {"inputs": B.shape[1] + 3 * POINTS, "nv": humanoid.nv, **rows["humanoid"]},
        "agreement": agreement,
    }


def _calls(model: ClusterModel, q: np.ndarray, B: np.ndarray, points: list[int]) -> dict[str, Call]:
    data, zeros, first_column = model.createData(), np.zeros(model.nv), np.ascontiguousarray(B[:, :1])
    return {
        "aba": (aba, (model, data, q, zeros, zeros)),
        "one": (inverse_input_matrix, (model, data, q, first_column)),
        "all": (inverse_input_matrix, (model, data, q, B, points)),
        "forces one": (one_by_one, (model, data, q, first_column, [])),
        "forces all": (one_by_one, (model, data, q, B, points)),
    }


def tables(results: Results) -> list[tuple[str, Rows]]:
    rows: Rows = [("", "`aba` [us]", *_HEADS)]
    last = results["rows"][-1]["n"]
    labelled = [(f"chain of {r['n']}", "chain" if r["n"] == LENGTHS[-1] == last else "", r) for r in results["rows"]]
    h = results["humanoid"]
    labelled.append((f"`{HUMANOID}`, {h['nv']} velocities, {h['inputs']} inputs", "humanoid", h))
    for name, key, r in labelled:
        published = INPUT_MATRICES.get(key, {})
        cells = [
            "-"
            if head not in r["ratio"]
            else f"{r['ratio'][head]:.2f}" + (f" ({published[head]:.3g})" if head in published else "")
            for head in _RATIOS
        ]
        rows.append((name, us(r["times"]["aba"]["median_us"]), *cells))
    return [("Tables 1 and 2: ratios of times (published values in brackets)", rows)]


def statements(results: Results) -> list[Statement]:
    last, h = results["rows"][-1], results["humanoid"]["ratio"]
    r, published = last["ratio"], INPUT_MATRICES
    n = last["n"]
    longer, published_longer = 100.0 * (h["all / aba"] - 1.0), 100.0 * (published["humanoid"]["all / aba"] - 1.0)
    return [
        Statement(
            f"The input matrix of one input takes {published['chain']['one / aba']:.2f} times as long as a run of "
            "forward dynamics (50 links), less than twice.",
            f"{KROEG}, Table 1",
            f"{r['one / aba']:.2f} times with {n} links.",
            r["one / aba"] < 2.0,
        ),
        Statement(
            f"The input matrix of all inputs takes {published['chain']['all / aba']:.2f} times as long as a run of "
            "forward dynamics.",
            f"{KROEG}, Table 1",
            f"{r['all / aba']:.2f} times with {n} links"
            + (
                f"; a run of `aba` is so fast that {n} columns of {n} numbers add noticeable time."
                if r["all / aba"] > 2.0
                else "."
            ),
            r["all / aba"] < 2.0,
        ),
        Statement(
            f"With one input, forces one by one are slightly faster ({published['chain']['forces / one']:.2f}).",
            f"{KROEG}, Fig. 2a and Table 1",
            f"{r['forces / one']:.2f} with {n} links; the two runs alone, without Python overhead, would give "
            f"{2.0 / r['one / aba']:.2f}.",
            r["forces / one"] < 1.0,
        ),
        Statement(
            "With all inputs, forces one by one are prohibitively slow "
            f"({published['chain']['forces / all']:.1f} times as long).",
            f"{KROEG}, Fig. 2b and Table 1",
            f"{r['forces / all']:.1f} times with {n} links.",
            r["forces / all"] > 5.0,
        ),
        Statement(
            "For a humanoid with 42 inputs, forces one by one are prohibitively slow "
            f"({published['humanoid']['forces / all']:.1f} times as long).",
            f"{KROEG}, Table 2",
            f"{h['forces / all']:.1f} times.",
            h["forces / all"] > 5.0,
        ),
        Statement(
            f"The text says that the input matrix of the humanoid takes {STATED_LONGER:.0f} % longer than forward "
            "dynamics.",
            f"{KROEG}, text for Table 2",
            f"{published_longer:.0f} % longer in the table of the paper; {longer:.0f} % here.",
            abs(STATED_LONGER - published_longer) <= _ROUNDED,
        ),
    ]


def draw(figure: Figure, results: Results) -> None:
    left, right = panels(figure, 2, height=5.0)
    for axes, inputs, title in ((left, "one", "a) one input"), (right, "all", "b) as many inputs as links")):
        styles = {"aba": "approximate", inputs: "cluster", f"forces {inputs}": "projection"}
        curves(axes, results["rows"], "n", styles)
        named(axes, title, "links", "time [$\\mu$s]")
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(left=0.0)
    headed(
        figure,
        "Inverse input matrices of chains, as in figure 2",
        ("Chains with a geared rotor per link. One call from Python; forces one by one are calls of aba in a loop.",),
        {
            "approximate": "forward dynamics, aba",
            "cluster": "inverse input matrix",
            "projection": "forces one by one (eUFM), by aba",
        },
    )


says = agreeing("Input matrices and forces one by one")
FIGURES = {"kroeg_02_input_matrices": draw}
