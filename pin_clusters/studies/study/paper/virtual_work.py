"""Figures 6 and 7 of Yamane and Nakamura: virtual work and unit vectors, on chains and on one link with many ends."""

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
from ._part import Found, Rows, Statement, agreeing, in_all, times_table

TITLE = "Yamane and Nakamura, figures 6 and 7: virtual work"
TIMED = (
    "Bodies on spherical joints, without rotors: `baselines.yamane_nakamura` with and without splitting, "
    "`baselines.unit_vectors` and `pc.aba`, all compiled, and Pinocchio's `aba`; one call from Python each, in "
    "alternation. The paper's numbers are of a Pentium III of 850 MHz."
)
SECONDS = (25.0, 5.0)
JOINTS = tuple(range(2, 17))
ENDS = (*range(2, 13), 14, 16, 20, 24)
"""Published are 2 to 12."""
_EVEN = 1.5
"""How many times as long a further joint may take at the larger sizes, where growth is called linear."""
_NEAR = 1.25
"""Factor within which a crossing is where it was published."""
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
# the first to the second; how their ratio is drawn
_PAIRS = {
    "split / unit": ("split", "unit", "virtual work / unit vectors"),
    "split / whole": ("split", "whole", "splitting / no splitting"),
}


class _Family(NamedTuple):
    """What one of the figures shows, and what the paper says of it."""

    methods: tuple[str, ...]
    place: str
    robots: str
    title: str
    text: str
    linear: str  # what is said to be O(n)
    pair: str  # whose ratio is said to fall below 1
    crossing: str
    published: float  # degrees of freedom where it does


FAMILIES = {
    "serial": _Family(
        ("split", "unit", "aba", "pin.aba"),
        "Fig. 6",
        "serial chains",
        "Forward dynamics of serial chains of spherical joints (figure 6)",
        "2 to 16 spherical joints.",
        "Virtual work",
        "split / unit",
        "Virtual work overtakes unit vectors at {:g} degrees of freedom (serial).",
        VIRTUAL_WORK_SERIAL,
    ),
    "star": _Family(
        tuple(METHODS),
        "Fig. 7",
        "ends on one link",
        "Forward dynamics of one link that carries many ends (figure 7)",
        "Ends on spherical joints, on a link on one.",
        "Virtual work with splitting",
        "split / whole",
        "Splitting the link with many joints overtakes the whole one at {:g} degrees of freedom.",
        VIRTUAL_WORK_SPLIT,
    ),
}


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time both families."""
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
                methods = {how: _BY[how] for how in FAMILIES[family].methods if how in _BY}
                calls, missing = forward_dynamics(methods, model, q, *rng.standard_normal((2, model.nv)))
                left_out.update({METHODS[how][1]: why for how, why in missing.items()})
                yield (family, model.nv), calls

    timings, agreed = measured(robots(), ("aba", *METHODS), effort, done)
    result: Found = {"agreement": agreed, "left_out": left_out, **{family: [] for family in families}}
    pairs = {name: (a, b) for name, (a, b, _) in _PAIRS.items()}
    for (family, nv), t in sorted(timings.items()):
        result[family].append({"nv": nv, "times": times(t, FAMILIES[family].methods), "ratio": ratios(t, pairs)})
    return result


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return the times of both figures."""
    shown = []
    for name, family in FAMILIES.items():
        methods = {how: METHODS[how][1] for how in in_all(found[name], family.methods)}
        rows = times_table("degrees of freedom", found[name], "nv", methods)
        rows.append(("power of growth, larger half", *(f"{_power(found[name], how):.2f}" for how in methods)))
        shown.append((f"{family.place}, {family.robots}: microseconds", rows))
    return shown


def _power(rows: list[dict[str, Any]], how: str) -> float:
    half = rows[len(rows) // 2 - 1 :] if len(rows) > 3 else rows
    return slope([r["nv"] for r in half], [r["times"][how]["median_us"] for r in half])


def _further(rows: list[dict[str, Any]], how: str) -> tuple[float, float]:
    """Return what a further joint takes, in the smaller and in the larger half of the sizes, [us]."""
    x = [r["nv"] / 3.0 for r in rows]
    y = [r["times"][how]["median_us"] for r in rows]
    k = len(rows) // 2
    small, large = (float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(0, k + 1), slice(k - 1, None)))
    return small, large


def statements(found: Found) -> list[Statement]:
    """Compare growth and crossings."""
    growth, crossings = [], []
    for name, family in FAMILIES.items():
        source = f"{YAMANE}, {family.place}"
        most = found[name][-1]
        if "split" in most["times"]:
            small, large = _further(found[name], "split")
            factor = most["times"]["split"]["median_us"] / most["times"]["aba"]["median_us"]
            growth.append(
                Statement(
                    f"{family.linear} is O(n).",
                    source,
                    f"a further joint takes {small:.2f} us at the smaller and {large:.2f} us at the larger sizes; with "
                    f"{most['nv']} degrees of freedom {factor:.1f} times the time of articulated bodies, all joint forces "
                    "included.",
                    large <= _EVEN * small,
                )
            )
        rows = [r for r in found[name] if family.pair in r["ratio"]]
        if rows:
            x = crossing([r["nv"] for r in rows], [r["ratio"][family.pair] for r in rows])
            said = "at no size" if x is None else "at all sizes" if x == 0.0 else f"from {x:g} degrees of freedom on"
            first, last = rows[0], rows[-1]
            crossings.append(
                Statement(
                    family.crossing.format(family.published),
                    source,
                    f"faster {said}; {first['ratio'][family.pair]:.2f} of the other's time with {first['nv']}, "
                    f"{last['ratio'][family.pair]:.2f} with {last['nv']}.",
                    x is not None and family.published / _NEAR <= x <= family.published * _NEAR,
                )
            )
    return growth + crossings


def draw(name: str, figure: Figure, found: Found) -> None:
    """Draw the times of a family, and ratios."""
    family, rows = FAMILIES[name], found[name]
    methods = in_all(rows, family.methods)
    first, second = panels(figure, 2, height=5.2)
    curves(first, rows, "nv", {how: METHODS[how][0] for how in methods})
    for pair, (_, how, label) in _PAIRS.items():
        if pair in rows[-1]["ratio"]:
            curve(second, METHODS[how][0], [r["nv"] for r in rows], [r["ratio"][pair] for r in rows], label=label)
    second.axhline(1.0, color="#999999", linewidth=1.0)
    second.axvline(family.published, color="#999999", linewidth=1.0, linestyle=":")
    named(first, "time", "degrees of freedom", "time [$\\mu$s]")
    named(second, "ratio, below 1 the first is faster", "degrees of freedom", "ratio of times")
    first.set_ylim(bottom=0.0)
    second.set_ylim(bottom=0.0)
    second.legend(fontsize=8.5, frameon=False, loc="upper right")
    headed(
        figure,
        family.title,
        (
            f"{family.text} One call from Python, one state, one thread; median.",
            f"Dotted: the published crossing, {family.published:g} degrees of freedom.",
        ),
        dict(METHODS[how] for how in methods),
    )


says = agreeing("All methods")
FIGURES = {"yamane_06_serial": partial(draw, "serial"), "yamane_07_ends": partial(draw, "star")}
