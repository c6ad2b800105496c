"""Reproduce figures 6 and 7 of Yamane and Nakamura: cost of the virtual-work and unit-vector methods."""

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ....model import ClusterModel
from ....model.configuration import integrate, neutral
from ....verification.baselines import unit_vectors, yamane_nakamura
from ....verification.timing import Call
from ..plots import Figure, named, panels
from ._drawing import curve, curves, headed
from ._effort import Effort, crossing, measured, ratios, slope, times
from ._models import balls, forward_dynamics
from ._numbers import VIRTUAL_WORK_SERIAL, VIRTUAL_WORK_SPLIT, YAMANE
from ._part import Results, Rows, Statement, agreeing, in_all, times_table

TITLE = "Yamane and Nakamura, figures 6 and 7: virtual work"
TIMED = (
    "The robots are bodies on spherical joints, without rotors. The methods are `baselines.yamane_nakamura` with and "
    "without splitting, `baselines.unit_vectors` and `pc.aba`, all compiled, and Pinocchio's `aba`; they are called "
    "from Python in alternation. The paper measured on a Pentium III with 850 MHz."
)
SECONDS = (25.0, 5.0)
JOINTS = tuple(range(2, 17))
ENDS = (*range(2, 13), 14, 16, 20, 24)  # Numbers of end links; the paper uses 2 to 12
_EVEN = 1.5  # Growth is linear if the time per joint increases at most by this factor
_NEAR = 1.25  # A crossing is confirmed if it differs from the published value at most by this factor
METHODS = {
    "split": ("cluster", "virtual work"),
    "whole": ("second", "virtual work, no splitting"),
    "unit": ("projection", "unit vectors"),
    "aba": ("approximate", "articulated bodies, pc.aba"),
    "pin.aba": ("pinocchio", "articulated bodies, Pinocchio"),
}
_BY: dict[str, tuple[ModuleType, dict[str, Any]]] = {
    "split": (yamane_nakamura, {}),
    "whole": (yamane_nakamura, {"split": False}),
    "unit": (unit_vectors, {}),
}
_PAIRS = {  # numerator and denominator of each time ratio, and the label in figures
    "split / unit": ("split", "unit", "virtual work / unit vectors"),
    "split / whole": ("split", "whole", "splitting / no splitting"),
}


class _Family(NamedTuple):
    methods: tuple[str, ...]
    place: str
    robots: str
    title: str
    text: str
    linear: str  # method that is O(n) according to the paper
    pair: str  # pair of methods whose time ratio falls below 1 according to the paper
    crossing: str  # statement about the size at which the ratio is 1
    published: float  # number of degrees of freedom at which the published curves cross


FAMILIES = {
    "serial": _Family(
        ("split", "unit", "aba", "pin.aba"),
        "Fig. 6",
        "serial chains",
        "Forward dynamics of serial chains of spherical joints (figure 6)",
        "2 to 16 spherical joints.",
        "Virtual work",
        "split / unit",
        "Virtual work becomes faster than unit vectors at {:g} degrees of freedom (serial).",
        VIRTUAL_WORK_SERIAL,
    ),
    "star": _Family(
        tuple(METHODS),
        "Fig. 7",
        "ends on one link",
        "Forward dynamics of one link that carries many end links (figure 7)",
        "End links on spherical joints, on a link on a spherical joint.",
        "Virtual work with splitting",
        "split / whole",
        "Splitting the link with many joints becomes faster than no splitting at {:g} degrees of freedom.",
        VIRTUAL_WORK_SPLIT,
    ),
}


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    families = {
        "serial": [tuple(range(n)) for n in effort.of(JOINTS, (2, 4, 6, 8, 12, 16), (2, 3))],
        "star": [(0, *[1] * e) for e in effort.of(ENDS, (2, 4, 6, 8, 10, 12, 16, 20), (2, 4))],
    }
    left_out: dict[str, str] = {}

    def robots() -> Iterator[tuple[tuple[str, int], dict[str, Call]]]:
        for family, trees in families.items():
            for parents in trees:
                model = ClusterModel(balls(parents))
                rng = np.random.default_rng(model.nv)
                q = integrate(model, neutral(model), 0.3 * rng.standard_normal(model.nv))
                methods = {method: _BY[method] for method in FAMILIES[family].methods if method in _BY}
                calls, missing = forward_dynamics(methods, model, q, *rng.standard_normal((2, model.nv)))
                left_out.update({METHODS[method][1]: reason for method, reason in missing.items()})
                yield (family, model.nv), calls

    timings, agreement = measured(robots(), ("aba", *METHODS), effort, done)
    result: Results = {"agreement": agreement, "left_out": left_out, **{family: [] for family in families}}
    pairs = {name: (a, b) for name, (a, b, _) in _PAIRS.items()}
    for (family, nv), t in sorted(timings.items()):
        result[family].append({"nv": nv, "times": times(t, FAMILIES[family].methods), "ratio": ratios(t, pairs)})
    return result


def tables(results: Results) -> list[tuple[str, Rows]]:
    shown = []
    for name, family in FAMILIES.items():
        methods = {method: METHODS[method][1] for method in in_all(results[name], family.methods)}
        rows = times_table("degrees of freedom", results[name], "nv", methods)
        rows.append(("growth exponent, larger half", *(f"{_power(results[name], method):.2f}" for method in methods)))
        shown.append((f"{family.place}, {family.robots}: microseconds", rows))
    return shown


def _power(rows: list[dict[str, Any]], method: str) -> float:
    half = rows[len(rows) // 2 - 1 :] if len(rows) > 3 else rows
    return slope([r["nv"] for r in half], [r["times"][method]["median_us"] for r in half])


def _further(rows: list[dict[str, Any]], method: str) -> tuple[float, float]:
    x = [r["nv"] / 3.0 for r in rows]
    y = [r["times"][method]["median_us"] for r in rows]
    k = len(rows) // 2
    small, large = (float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(0, k + 1), slice(k - 1, None)))
    return small, large


def statements(results: Results) -> list[Statement]:
    growth, crossings = [], []
    for name, family in FAMILIES.items():
        source = f"{YAMANE}, {family.place}"
        largest = results[name][-1]
        if "split" in largest["times"]:
            small, large = _further(results[name], "split")
            factor = largest["times"]["split"]["median_us"] / largest["times"]["aba"]["median_us"]
            growth.append(
                Statement(
                    f"{family.linear} is O(n).",
                    source,
                    f"each additional joint takes {small:.2f} us at the smaller and {large:.2f} us at the larger "
                    f"sizes; with {largest['nv']} degrees of freedom the method takes {factor:.1f} times as long as "
                    "articulated bodies, joint forces included.",
                    large <= _EVEN * small,
                )
            )
        rows = [r for r in results[name] if family.pair in r["ratio"]]
        if rows:
            x = crossing([r["nv"] for r in rows], [r["ratio"][family.pair] for r in rows])
            extent = "at no size" if x is None else "at all sizes" if x == 0.0 else f"from {x:g} degrees of freedom on"
            smallest, largest_row = rows[0], rows[-1]
            crossings.append(
                Statement(
                    family.crossing.format(family.published),
                    source,
                    f"faster {extent}; ratio of times {smallest['ratio'][family.pair]:.2f} with {smallest['nv']} "
                    f"and {largest_row['ratio'][family.pair]:.2f} with {largest_row['nv']} degrees of freedom.",
                    x is not None and family.published / _NEAR <= x <= family.published * _NEAR,
                )
            )
    return growth + crossings


def draw(name: str, figure: Figure, results: Results) -> None:
    family, rows = FAMILIES[name], results[name]
    methods = in_all(rows, family.methods)
    left, right = panels(figure, 2, height=5.2)
    curves(left, rows, "nv", {method: METHODS[method][0] for method in methods})
    for pair, (_, method, label) in _PAIRS.items():
        if pair in rows[-1]["ratio"]:
            curve(right, METHODS[method][0], [r["nv"] for r in rows], [r["ratio"][pair] for r in rows], label=label)
    right.axhline(1.0, color="#999999", linewidth=1.0)
    right.axvline(family.published, color="#999999", linewidth=1.0, linestyle=":")
    named(left, "time", "degrees of freedom", "time [$\\mu$s]")
    named(right, "ratio (below 1: the first method is faster)", "degrees of freedom", "ratio of times")
    left.set_ylim(bottom=0.0)
    right.set_ylim(bottom=0.0)
    right.legend(fontsize=8.5, frameon=False, loc="upper right")
    headed(
        figure,
        family.title,
        (
            f"{family.text} One call from Python, one state, one thread; median.",
            f"Dotted: the published crossing, {family.published:g} degrees of freedom.",
        ),
        dict(METHODS[method] for method in methods),
    )


says = agreeing("All methods")
FIGURES = {"yamane_06_serial": partial(draw, "serial"), "yamane_07_ends": partial(draw, "star")}
