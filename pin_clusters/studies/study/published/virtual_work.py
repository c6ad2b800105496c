"""Figures 6 and 7 of Yamane and Nakamura: virtual work and unit vectors, on chains and on one link with many ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.aba import aba
from ....model import ClusterModel
from ....model.configuration import integrate, neutral
from ....verification.timing import Call
from ..plots import named, panels
from ._drawing import curve, curves, headed
from ._effort import Effort, agreement, crossing, ratios, slope, timed, times
from ._models import balls, method
from ._numbers import VIRTUAL_WORK_SERIAL, VIRTUAL_WORK_SPLIT, YAMANE
from ._part import Found, Part, Rows, Statement, in_all, times_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_BY = {
    "split": ("yamane_nakamura", {}), "whole": ("yamane_nakamura", {"split": False}), "unit": ("unit_vectors", {}),
}  # fmt: skip
_RATIOS = {"split / unit": ("split", "unit"), "split / whole": ("split", "whole")}
_SHOWN = {"serial": ("split", "unit", "aba", "pin.aba"), "star": ("split", "whole", "unit", "aba", "pin.aba")}


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time both families."""
    families = {
        "serial": {n: tuple(range(n)) for n in effort.of(JOINTS, (2, 4, 6, 8, 12, 16), (2, 3))},
        "star": {3 * e + 3: (0, *[1] * e) for e in effort.of(ENDS, (2, 4, 6, 8, 10, 12, 16, 20), (2, 4))},
    }
    calls: dict[tuple[str, int], dict[str, Call]] = {}
    agreed, left_out = [], {}
    for family, trees in families.items():
        for parents in trees.values():
            model = ClusterModel(balls(parents))
            found, why = _calls(model, _SHOWN[family])
            left_out.update({METHODS[how][1]: text for how, text in why.items()})
            agreed.append(agreement(found, ("aba", *METHODS)))
            calls[family, model.nv] = found
            done()
    result: Found = {"agreement": max(agreed), "left_out": left_out, **{family: [] for family in families}}
    for (family, nv), t in sorted(timed(calls, effort).items()):
        result[family].append({"nv": nv, "times": times(t, _SHOWN[family]), "ratio": ratios(t, _RATIOS)})
    return result


def _calls(model: ClusterModel, wanted: tuple[str, ...]) -> tuple[dict[str, Call], dict[str, str]]:
    """Return forward dynamics by all methods, and why one is missing."""
    rng = np.random.default_rng(model.nv)
    q = integrate(model, neutral(model), 0.3 * rng.standard_normal(model.nv))
    v, tau = rng.standard_normal((2, model.nv))
    tree = model.tree
    found: dict[str, Call] = {
        "aba": (aba, (model, model.createData(), q, v, tau)),
        "pin.aba": (pin.aba, (tree, tree.createData(), q, v, tau)),
    }
    missing = {}
    for how in wanted:
        if how in _BY:
            name, options = _BY[how]
            call, why = method(name, model, q, v, tau, **options)
            if call is None:
                missing[how] = why
            else:
                found[how] = call
    return found, missing


# --- what it shows ----------------------------------------------------------------------------------------------------


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return the times of both figures."""
    shown = []
    for family, title in (("serial", "Fig. 6, serial chains"), ("star", "Fig. 7, ends on one link")):
        methods = {how: METHODS[how][1] for how in _shown(found, family)}
        rows = times_table("degrees of freedom", found[family], "nv", methods)
        rows.append(["power of growth, larger half", *(f"{_power(found[family], how):.2f}" for how in methods)])
        shown.append((f"{title}: microseconds", rows))
    return shown


def _shown(found: Found, family: str) -> list[str]:
    return in_all(found[family], {how: METHODS[how] for how in _SHOWN[family]})


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


def says(found: Found) -> list[str]:
    """Return how exact it is, and what was left out."""
    text = [f"All methods agree to {found['agreement']:.0e} of the largest entry."]
    return text + [f"{how}: left blank. {why}" for how, why in found["left_out"].items()]


def _statement(found: Found, family: str, pair: str, text: str, place: str, published: float) -> list[Statement]:
    """Compare a crossing."""
    rows = [r for r in found[family] if pair in r["ratio"]]
    if not rows:
        return []
    x = crossing([r["nv"] for r in rows], [r["ratio"][pair] for r in rows])
    first, last = rows[0], rows[-1]
    said = "at no size" if x is None else "at all sizes" if x == 0.0 else f"from {x:g} degrees of freedom on"
    measured = (
        f"faster {said}; {first['ratio'][pair]:.2f} of the other's time with {first['nv']}, "
        f"{last['ratio'][pair]:.2f} with {last['nv']}."
    )
    near = x is not None and x > 0.0 and published / _NEAR <= x <= published * _NEAR
    return [Statement(text, f"{YAMANE}, {place}", measured, near)]


def statements(found: Found) -> list[Statement]:
    """Compare growth and crossings."""
    made = []
    for family, place in (("serial", "Fig. 6"), ("star", "Fig. 7")):
        if "split" in found[family][-1]["times"]:
            small, large = _further(found[family], "split")
            most = found[family][-1]
            factor = most["times"]["split"]["median_us"] / most["times"]["aba"]["median_us"]
            made.append(Statement(
                f"Virtual work{' with splitting' * (family == 'star')} is O(n).", f"{YAMANE}, {place}",
                f"a further joint takes {small:.2f} us at the smaller and {large:.2f} us at the larger sizes; with "
                f"{most['nv']} degrees of freedom {factor:.1f} times the time of articulated bodies, all joint forces "
                "included.", large <= _EVEN * small,
            ))  # fmt: skip
    made += _statement(
        found, "serial", "split / unit",
        f"Virtual work overtakes unit vectors at {VIRTUAL_WORK_SERIAL:g} degrees of freedom (serial).",
        "Fig. 6", VIRTUAL_WORK_SERIAL,
    )  # fmt: skip
    made += _statement(
        found, "star", "split / whole",
        f"Splitting the link with many joints overtakes the whole one at {VIRTUAL_WORK_SPLIT:g} degrees of freedom.",
        "Fig. 7", VIRTUAL_WORK_SPLIT,
    )  # fmt: skip
    return made


def _draw(figure: Figure, found: Found, family: str, title: str, text: str, published: float) -> None:
    rows = found[family]
    methods = _shown(found, family)
    first, second = panels(figure, 2, height=5.2)
    x = [r["nv"] for r in rows]
    curves(first, rows, "nv", {how: METHODS[how][0] for how in methods})
    pairs = {"split / unit": ("unit", "virtual work / unit vectors"),
             "split / whole": ("whole", "splitting / no splitting")}  # fmt: skip
    for pair, (how, label) in pairs.items():
        if pair in rows[-1]["ratio"]:
            y = [r["ratio"][pair] for r in rows]
            curve(second, METHODS[how][0], x, y, label=label)
    second.axhline(1.0, color="#999999", linewidth=1.0)
    second.axvline(published, color="#999999", linewidth=1.0, linestyle=":")
    named(first, "time", "degrees of freedom", "time [$\\mu$s]")
    named(second, "ratio, below 1 the first is faster", "degrees of freedom", "ratio of times")
    first.set_ylim(bottom=0.0)
    second.set_ylim(bottom=0.0)
    second.legend(fontsize=8.5, frameon=False, loc="upper right")
    headed(
        figure, title, (text, f"Dotted: the published crossing, {published:g} degrees of freedom."),
        {METHODS[how][0]: METHODS[how][1] for how in methods},
    )  # fmt: skip


def draw_serial(figure: Figure, found: Found) -> None:
    """Draw figure 6."""
    _draw(
        figure, found, "serial", "Forward dynamics of serial chains of spherical joints (figure 6)",
        "2 to 16 spherical joints. One call from Python, one state, one thread; median.", VIRTUAL_WORK_SERIAL,
    )  # fmt: skip


def draw_star(figure: Figure, found: Found) -> None:
    """Draw figure 7."""
    _draw(
        figure, found, "star", "Forward dynamics of one link that carries many ends (figure 7)",
        "Ends on spherical joints, on a link on one. One call from Python, one state, one thread; median.",
        VIRTUAL_WORK_SPLIT,
    )  # fmt: skip


PART = Part(
    key="virtual_work",
    title="Yamane and Nakamura, figures 6 and 7: virtual work",
    timed=(
        "Bodies on spherical joints, without rotors: `baselines.yamane_nakamura` with and without splitting, "
        "`baselines.unit_vectors` and `pc.aba`, all compiled, and Pinocchio's `aba`; one call from Python each, in "
        "alternation. The paper's numbers are of a Pentium III of 850 MHz."
    ),
    measure=measure,
    figures={"yamane_06_serial": draw_serial, "yamane_07_ends": draw_star},
    tables=tables,
    statements=statements,
    says=says,
    seconds=(25.0, 5.0),
)
