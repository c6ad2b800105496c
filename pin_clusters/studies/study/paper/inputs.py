"""Figure 2 and tables 1 and 2 of Kroeg, Gattringer and Mueller: inverse input matrices against forces one by one."""

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
from ._numbers import INPUT_MATRICES, KROEG, SAID_LONGER
from ._part import Found, Rows, Statement, agreeing, us

TITLE = "Inverse input matrices"
TIMED = (
    "`pc.inverse_input_matrix` against a run of `pc.aba` without inputs and one per input: the same compiled "
    "recursion, called from Python once or many times; chains of geared links, and `mit_humanoid` with its motors "
    "and forces at 8 points."
)
SECONDS = (30.0, 3.0)
LENGTHS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
HUMANOID, POINTS = "mit_humanoid", 8
_ROUNDED = 5.0
"""By how many per cent a text may differ from the table beside it."""
# the first to the second, and the heads of their columns
_RATIOS = {
    "one / aba": ("one", "aba"),
    "all / aba": ("all", "aba"),
    "forces / one": ("forces one", "one"),
    "forces / all": ("forces all", "all"),
}
_HEADS = ("one input / `aba`", "all inputs / `aba`", "forces one by one / one input", "forces one by one / all inputs")


def one_by_one(model: ClusterModel, data: Any, q: np.ndarray, B: np.ndarray, points: list[int]) -> np.ndarray:
    """Return M^-1 [B, J'] by a run of ``aba`` without inputs and one per input, as lean as Python can be (eUFM).

    Forces at points become torques by Jacobians, which is quicker than external forces.
    """
    rest = np.zeros(model.nv)
    rows = [B.T, *(computeFrameJacobian(model, data, q, f, pin.LOCAL)[:3] for f in points)]
    free = aba(model, data, q, rest, rest)
    inputs = np.ascontiguousarray(np.concatenate(rows))
    return np.array([aba(model, data, q, rest, tau) for tau in inputs]).T - free[:, None]


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time chains, and the humanoid of the second table."""
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
        every = _calls(humanoid, q, B, points)
        yield "humanoid", {how: call for how, call in every.items() if "one" not in how}

    timings, agreed = measured(robots(), ("all", "forces all"), effort, done)
    rows = {key: {"times": times(t), "ratio": ratios(t, _RATIOS)} for key, t in timings.items()}
    return {
        "rows": [{"n": n, **rows[n]} for n in lengths],
        "humanoid": {"inputs": B.shape[1] + 3 * POINTS, "nv": humanoid.nv, **rows["humanoid"]},
        "agreement": agreed,
    }


def _calls(model: ClusterModel, q: np.ndarray, B: np.ndarray, points: list[int]) -> dict[str, Call]:
    """Return forward dynamics and the input matrices both ways, with the first input and with all."""
    data, rest, first = model.createData(), np.zeros(model.nv), np.ascontiguousarray(B[:, :1])
    return {
        "aba": (aba, (model, data, q, rest, rest)),
        "one": (inverse_input_matrix, (model, data, q, first)),
        "all": (inverse_input_matrix, (model, data, q, B, points)),
        "forces one": (one_by_one, (model, data, q, first, [])),
        "forces all": (one_by_one, (model, data, q, B, points)),
    }


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return the ratios of all lengths, and of the humanoid, beside those of tables 1 and 2."""
    rows: Rows = [("", "`aba` [us]", *_HEADS)]
    last = found["rows"][-1]["n"]
    every = [(f"chain of {r['n']}", "chain" if r["n"] == LENGTHS[-1] == last else "", r) for r in found["rows"]]
    h = found["humanoid"]
    every.append((f"`{HUMANOID}`, {h['nv']} velocities, {h['inputs']} inputs", "humanoid", h))
    for name, key, r in every:
        known = INPUT_MATRICES.get(key, {})
        cells = [
            "-"
            if head not in r["ratio"]
            else f"{r['ratio'][head]:.2f}" + (f" ({known[head]:.3g})" if head in known else "")
            for head in _RATIOS
        ]
        rows.append((name, us(r["times"]["aba"]["median_us"]), *cells))
    return [("Tables 1 and 2: ratios of times (published in brackets)", rows)]


def statements(found: Found) -> list[Statement]:
    """Compare ratios with tables 1 and 2, and with the text."""
    last, h = found["rows"][-1], found["humanoid"]["ratio"]
    r, known = last["ratio"], INPUT_MATRICES
    n = last["n"]
    longer, theirs = 100.0 * (h["all / aba"] - 1.0), 100.0 * (known["humanoid"]["all / aba"] - 1.0)
    return [
        Statement(
            f"The input matrix of one input takes {known['chain']['one / aba']:.2f} times as long as a run of forward "
            "dynamics (50 links), less than twice.",
            f"{KROEG}, Table 1",
            f"{r['one / aba']:.2f} times with {n} links.",
            r["one / aba"] < 2.0,
        ),
        Statement(
            f"That of all inputs takes {known['chain']['all / aba']:.2f} times as long as a run of forward dynamics.",
            f"{KROEG}, Table 1",
            f"{r['all / aba']:.2f} times with {n} links"
            + (
                f", whose runs are so quick here that {n} columns of {n} numbers show." if r["all / aba"] > 2.0 else "."
            ),
            r["all / aba"] < 2.0,
        ),
        Statement(
            f"With one input, forces one by one are slightly faster ({known['chain']['forces / one']:.2f}).",
            f"{KROEG}, Fig. 2a and Table 1",
            f"{r['forces / one']:.2f} with {n} links; the two runs alone, without Python around them, would be "
            f"{2.0 / r['one / aba']:.2f}.",
            r["forces / one"] < 1.0,
        ),
        Statement(
            f"With all inputs, forces one by one are prohibitive ({known['chain']['forces / all']:.1f} times as long).",
            f"{KROEG}, Fig. 2b and Table 1",
            f"{r['forces / all']:.1f} times with {n} links.",
            r["forces / all"] > 5.0,
        ),
        Statement(
            f"Also of a humanoid with 42 inputs ({known['humanoid']['forces / all']:.1f} times).",
            f"{KROEG}, Table 2",
            f"{h['forces / all']:.1f} times.",
            h["forces / all"] > 5.0,
        ),
        Statement(
            f"The text says that the input matrix of the humanoid takes {SAID_LONGER:.0f} % longer than forward "
            "dynamics.",
            f"{KROEG}, text beside Table 2",
            f"its own table says {theirs:.0f} % longer; {longer:.0f} % here.",
            abs(SAID_LONGER - theirs) <= _ROUNDED,
        ),
    ]


def draw(figure: Figure, found: Found) -> None:
    """Draw figure 2: one input on the left, all on the right."""
    first, second = panels(figure, 2, height=5.0)
    for axes, what, title in ((first, "one", "a) one input"), (second, "all", "b) as many inputs as links")):
        styles = {"aba": "approximate", what: "cluster", f"forces {what}": "projection"}
        curves(axes, found["rows"], "n", styles)
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
