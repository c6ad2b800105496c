"""Reproduce figures 11 and 13 of arXiv 2311.13732: cost for up to a thousand links."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pinocchio as pin

from ...._support.memory import available
from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.operational import inverse_operational_inertia
from ....algorithms.dynamics.rnea import rnea
from ....approximations.armature import armature_model
from ....model import ClusterModel
from ....verification.baselines import lagrange, projection, sparse
from ....verification.timing import Call
from ..plots import Figure, named, panels
from ._drawing import LABELS, curves, guide, headed, logarithmic
from ._effort import Effort, measured, slope, times
from ._models import chain, delassus, kernel, kernel_of_frame, state
from ._numbers import CHIGNOLI
from ._part import Results, Rows, Statement, times_table

TITLE = "Figures 11 and 13: the number of links"
TIMED = (
    "The chains have a rotor per link (`geared_chain`, with rotors as `pc.Rotor`). The cluster algorithm and the "
    "approximate robot in the same code are called from Python; for the longest chains, whose `pin.Data` would take "
    "gigabytes, the kernel alone is timed. Pinocchio's `aba` and `computeDelassusMatrix` run on the approximate robot. "
    "Projection and Lagrange multipliers use Pinocchio on the tree with all rotors, NumPy and LAPACK. Sparse "
    "factorisation uses Pinocchio's Cholesky decomposition of that tree, row by row from Python."
)
SECONDS = (120.0, 12.0)
PUBLISHED = (2, 4, 6, 8, 12, 16, 20, 24)  # Numbers of links within the published range
LONGER = (32, 48, 64, 80, 96, 128, 192, 256, 350, 500, 700, 1000, 2000, 5000, 10000)
DENSE, SPARSE, DATA = 96, 48, 192  # Largest numbers of links for dense, sparse and ``pin.Data`` methods
_SHORT, _LONG = 24, 48  # Growth exponents are fitted up to _SHORT links, and from _LONG links on
_LINEAR, _CUBIC = 1.2, 2.7  # Largest growth exponent that counts as linear, and smallest that counts as cubic
METHODS = ("cluster", "approximate", "pinocchio", "projection", "lagrange")
_LABELS = {how: LABELS[how] for how in METHODS}
_QUANTITIES = {  # labels of the methods, figure in the paper, title of our figure
    "forward dynamics": (_LABELS, "Fig. 11", "Forward dynamics against the number of links"),
    "operational inertia": (
        _LABELS | {"lagrange": "sparse factorisation with constraints, exact"},
        "Fig. 13",
        "Inverse operational inertia of the last link",
    ),
}


def wanted(effort: Effort) -> list[int]:
    lengths = effort.of(PUBLISHED + LONGER, (2, 4, 8, 16, 24, 48, 96, 192, *LONGER[6:]), (2, 4))
    return sorted({*(n for n in lengths if n <= max(4, effort.longest)), effort.longest})


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    skipped: list[str] = []

    def chains() -> Iterator[tuple[tuple[str, int], dict[str, Call]]]:
        for n in wanted(effort):
            model, memory = chain(n), available()
            # A pin.Data has four tables of nv^3 numbers; its construction needs twice as much. With rotors, nv is 2 n.
            needed = 2.0 * 2.0 * 4.0 * 8.0 * float(2 * n if n <= DENSE else n) ** 3
            data = n <= DATA and (memory is None or needed < memory)
            if n <= DATA and not data:
                skipped.append(f"for {n} links, Pinocchio's tables would take {needed / 1e9:.0f} GB.")
            for quantity, calls in zip(_QUANTITIES, _calls(model, data=data), strict=True):
                yield (quantity, n), calls

    timings, agreement = measured(chains(), ("cluster", "projection", "lagrange"), effort, done)
    rows: dict[str, list[dict[str, Any]]] = {quantity: [] for quantity in _QUANTITIES}
    for (quantity, n), t in timings.items():
        rows[quantity].append({"n": n, "times": times(t)})
    forward = rows["forward dynamics"]
    kernels = [r["n"] for r in forward if "pinocchio" not in r["times"]]
    return {
        "rows": rows,
        "slopes": {quantity: _slopes(quantity_rows) for quantity, quantity_rows in rows.items()},
        "agreement": agreement if len(kernels) < len(forward) else None,
        "kernels_from": min(kernels, default=None),
        "skipped": skipped,
    }


def _calls(model: ClusterModel, *, data: bool) -> tuple[dict[str, Call], dict[str, Call]]:
    q, v, tau = state(model)
    if not data:
        kernel_calls = {
            name: kernel(model, algorithm, q, v, tau) for name, algorithm in (("cluster", "aba"), ("rnea", "rnea"))
        }
        return kernel_calls, {"cluster": kernel_of_frame(model, q, model.nframes - 1)}
    tree = armature_model(model, "diagonal")
    approximate, cluster_data = ClusterModel(tree), model.createData()
    approximate_data, tree_data, end = approximate.createData(), tree.createData(), [model.nframes - 1]
    forward: dict[str, Call] = {
        "cluster": (aba, (model, cluster_data, q, v, tau)),
        "rnea": (rnea, (model, cluster_data, q, v, tau)),
        "approximate": (aba, (approximate, approximate_data, q, v, tau)),
        "pinocchio": (pin.aba, (tree, tree_data, q, v, tau)),
    }
    osim: dict[str, Call] = {
        "cluster": (inverse_operational_inertia, (model, cluster_data, q, end)),
        "approximate": (inverse_operational_inertia, (approximate, approximate_data, q, [tree.nframes - 1])),
    }
    osim |= delassus(tree, tree_data, q, [tree.njoints - 1])
    if model.nv <= DENSE:
        space, multipliers = projection.createData(model), lagrange.createData(model)
        forward["projection"] = (projection.aba, (model, space, q, v, tau))
        forward["lagrange"] = (lagrange.aba, (model, multipliers, q, v, tau))
        osim["projection"] = (projection.inverse_operational_inertia, (model, space, q, end))
    if model.nv <= SPARSE:
        osim["lagrange"] = (sparse.inverse_operational_inertia, (model, sparse.createData(model), q, end))
    return forward, osim


def _slopes(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    slopes: dict[str, dict[str, float]] = {}
    for method in ("rnea", *METHODS):
        points = [(row["n"], row["times"][method]["median_us"]) for row in rows if method in row["times"]]
        if len(points) < 2:
            continue
        short, long = ([p for p in points if 8 <= p[0] <= _SHORT], [p for p in points if p[0] >= _LONG])
        long = long if len(long) > 1 else points[-2:]
        slopes[method] = {"long": slope(*zip(*long, strict=True)), "largest": points[-1][0]}
        if len(short) > 1:
            slopes[method]["short"] = slope(*zip(*short, strict=True))
    return slopes


def tables(results: Results) -> list[tuple[str, Rows]]:
    shown = []
    for quantity, (titles, _, _) in _QUANTITIES.items():
        body = times_table("links", results["rows"][quantity], "n", titles)
        for name, label in (("short", f"growth exponent, 8 to {_SHORT}"), ("long", f"growth exponent, from {_LONG}")):
            slopes = results["slopes"][quantity]
            body.append((label, *(f"{slopes[h][name]:.2f}" if name in slopes.get(h, {}) else "-" for h in titles)))
        shown.append((f"{quantity[0].upper()}{quantity[1:]}: microseconds", body))
    return shown


def says(results: Results) -> list[str]:
    rows = results["rows"]["forward dynamics"]
    reference = min(rows, key=lambda r: abs(r["n"] - _SHORT))
    last = rows[-1]
    text = []
    for method, name in (("cluster", "aba"), ("rnea", "rnea")):
        a, b = (r["times"][method]["median_us"] / r["n"] for r in (reference, last))
        text.append(
            f"`{name}` takes {1e3 * b:.0f} ns per link with {last['n']} links, {b / a:.2f} times as much "
            f"as with {reference['n']} links ({1e3 * a:.0f} ns)."
        )
    if results["kernels_from"] is not None:
        text.append(f"From {results['kernels_from']} links on, the kernel alone is timed, without a `pin.Data`.")
    if results["agreement"] is not None:
        text.append(f"Exact methods agree to {results['agreement']:.0e} of the largest entry.")
    return text + [f"Left blank: {reason}" for reason in results["skipped"]]


def statements(results: Results) -> list[Statement]:
    verdicts = []
    for quantity, (titles, figure, _) in _QUANTITIES.items():
        slopes = results["slopes"][quantity]
        source = f"{CHIGNOLI}, {figure}"
        cluster_slopes = slopes.get("cluster")
        if cluster_slopes and "long" in cluster_slopes:
            verdicts.append(
                Statement(
                    f"The cost of the cluster algorithm grows linearly with the number of links ({quantity}).",
                    source,
                    f"with the power {cluster_slopes['long']:.2f} of the number of links, from {_LONG} to "
                    f"{cluster_slopes['largest']} links.",
                    cluster_slopes["long"] <= _LINEAR,
                )
            )
        for method in ("projection", "lagrange"):
            if "long" not in slopes.get(method, {}):
                continue
            x = slopes[method]
            verdicts.append(
                Statement(
                    f"The cost of {titles[method].removesuffix(', exact')} grows cubically ({quantity}).",
                    source,
                    f"with the power {x.get('short', x['long']):.2f} up to {_SHORT} links and {x['long']:.2f} up to "
                    f"{x['largest']} links"
                    + ("; these lengths do not reach the cubic limit." if x["long"] < _CUBIC else "."),
                    x["long"] >= _CUBIC,
                )
            )
    return verdicts


def draw(quantity: str, figure: Figure, results: Results) -> None:
    rows, (titles, _, title) = results["rows"][quantity], _QUANTITIES[quantity]
    short, all_lengths = panels(figure, 2, height=5.2)
    present = [method for method in METHODS if any(method in r["times"] for r in rows)]
    curves(all_lengths, rows, "n", {method: method for method in present})
    for method in present:
        timed_rows = [r for r in rows if method in r["times"]]
        curves(short, [r for r in timed_rows if r["n"] <= _SHORT] or timed_rows, "n", {method: method})
    top = short.get_ylim()[1]
    short.set_ylim(0.0, min(top, 60.0) if quantity == "forward dynamics" else top)
    named(short, f"up to {_SHORT} links, as published", "links", "time [$\\mu$s]")
    logarithmic(all_lengths, "all, logarithmic", "links", "time [$\\mu$s]")
    last = rows[-1]
    guide(all_lengths, [last["n"] / 12.0, last["n"]], last["times"]["cluster"]["median_us"] / 22.0, 1)
    headed(
        figure,
        title,
        (
            "Chains with a geared rotor per link. One call from Python, one state, one thread; median.",
            "Other methods end where their tables no longer fit, or a call takes milliseconds.",
        ),
        {method: titles[method] for method in present},
    )


FIGURES = {
    "chignoli_11_links": partial(draw, "forward dynamics"),
    "chignoli_13_links_operational": partial(draw, "operational inertia"),
}
