"""Figures 11 and 13 of arXiv 2311.13732: cost against the number of links, and on to a thousand."""

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
from ._part import Found, Rows, Statement, times_table

TITLE = "Figures 11 and 13: the number of links"
TIMED = (
    "Chains of links with a rotor each (`geared_chain`, its rotors as `pc.Rotor`). The cluster algorithm, and the "
    "approximate robot in the same code: one call from Python; of the longest, for which a `pin.Data` would take "
    "gigabytes, the kernel alone. Pinocchio's `aba` and `computeDelassusMatrix` on the approximate robot. "
    "Projection and Lagrange multipliers: Pinocchio on the tree with all rotors, NumPy and LAPACK around it. "
    "Sparse factorisation: Pinocchio's Cholesky decomposition of that tree, row by row from Python."
)
SECONDS = (120.0, 12.0)
PUBLISHED = (2, 4, 6, 8, 12, 16, 20, 24)
"""Within what was published."""
LONGER = (32, 48, 64, 80, 96, 128, 192, 256, 350, 500, 700, 1000, 2000, 5000, 10000)
DENSE, SPARSE, DATA = 96, 48, 192
"""Links up to which exact rivals, the sparse one, and what has a ``pin.Data`` of its own are measured."""
_SHORT, _LONG = 24, 48
"""Slopes are those up to the first length, and from the second."""
_LINEAR, _CUBIC = 1.2, 2.7
"""Up to which slope growth is called linear, and from which cubic."""
METHODS = ("cluster", "approximate", "pinocchio", "projection", "lagrange")
_LABELS = {how: LABELS[how] for how in METHODS}
# labels of the methods, figure of the paper, title of ours
_QUANTITIES = {
    "forward dynamics": (_LABELS, "Fig. 11", "Forward dynamics against the number of links"),
    "operational inertia": (
        _LABELS | {"lagrange": "sparse factorisation with constraints, exact"},
        "Fig. 13",
        "Inverse operational inertia of the last link",
    ),
}


def wanted(effort: Effort) -> list[int]:
    """Return the lengths of a run, at least two; the longest that was asked for is among them."""
    lengths = effort.of(PUBLISHED + LONGER, (2, 4, 8, 16, 24, 48, 96, 192, *LONGER[6:]), (2, 4))
    return sorted({*(n for n in lengths if n <= max(4, effort.longest)), effort.longest})


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time chains of all lengths, all of them in alternation."""
    skipped: list[str] = []

    def chains() -> Iterator[tuple[tuple[str, int], dict[str, Call]]]:
        for n in wanted(effort):
            model, memory = chain(n), available()
            # a pin.Data has four tables of nv^3 numbers, twice while it is made; the tree with all rotors is larger
            needed = 2.0 * 2.0 * 4.0 * 8.0 * float(2 * n if n <= DENSE else n) ** 3
            data = n <= DATA and (memory is None or needed < memory)
            if n <= DATA and not data:
                skipped.append(f"{n} links: tables of Pinocchio would take {needed / 1e9:.0f} GB.")
            for what, found in zip(_QUANTITIES, _calls(model, data=data), strict=True):
                yield (what, n), found

    timings, agreed = measured(chains(), ("cluster", "projection", "lagrange"), effort, done)
    rows: dict[str, list[dict[str, Any]]] = {what: [] for what in _QUANTITIES}
    for (what, n), t in timings.items():
        rows[what].append({"n": n, "times": times(t)})
    forward = rows["forward dynamics"]
    kernels = [r["n"] for r in forward if "pinocchio" not in r["times"]]
    return {
        "rows": rows,
        "slopes": {what: _slopes(each) for what, each in rows.items()},
        "agreement": agreed if len(kernels) < len(forward) else None,
        "kernels_from": min(kernels, default=None),
        "skipped": skipped,
    }


def _calls(model: ClusterModel, *, data: bool) -> tuple[dict[str, Call], dict[str, Call]]:
    """Return what is timed of a chain; all but the kernels has a ``pin.Data``."""
    q, v, tau = state(model)
    if not data:
        alone = {name: kernel(model, what, q, v, tau) for name, what in (("cluster", "aba"), ("rnea", "rnea"))}
        return alone, {"cluster": kernel_of_frame(model, q, model.nframes - 1)}
    tree = armature_model(model, "diagonal")
    same, own = ClusterModel(tree), model.createData()
    its, theirs, end = same.createData(), tree.createData(), [model.nframes - 1]
    forward: dict[str, Call] = {
        "cluster": (aba, (model, own, q, v, tau)),
        "rnea": (rnea, (model, own, q, v, tau)),
        "approximate": (aba, (same, its, q, v, tau)),
        "pinocchio": (pin.aba, (tree, theirs, q, v, tau)),
    }
    osim: dict[str, Call] = {
        "cluster": (inverse_operational_inertia, (model, own, q, end)),
        "approximate": (inverse_operational_inertia, (same, its, q, [tree.nframes - 1])),
    }
    osim |= delassus(tree, theirs, q, [tree.njoints - 1])
    if model.nv <= DENSE:
        space, both = projection.createData(model), lagrange.createData(model)
        forward["projection"] = (projection.aba, (model, space, q, v, tau))
        forward["lagrange"] = (lagrange.aba, (model, both, q, v, tau))
        osim["projection"] = (projection.inverse_operational_inertia, (model, space, q, end))
    if model.nv <= SPARSE:
        osim["lagrange"] = (sparse.inverse_operational_inertia, (model, sparse.createData(model), q, end))
    return forward, osim


def _slopes(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return powers of growth per method: within what was published, and of long chains."""
    found: dict[str, dict[str, float]] = {}
    for how in ("rnea", *METHODS):
        points = [(row["n"], row["times"][how]["median_us"]) for row in rows if how in row["times"]]
        if len(points) < 2:
            continue
        short, long = ([p for p in points if 8 <= p[0] <= _SHORT], [p for p in points if p[0] >= _LONG])
        long = long if len(long) > 1 else points[-2:]
        found[how] = {"long": slope(*zip(*long, strict=True)), "largest": points[-1][0]}
        if len(short) > 1:
            found[how]["short"] = slope(*zip(*short, strict=True))
    return found


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return the times of some lengths, and the slopes."""
    shown = []
    for what, (titles, _, _) in _QUANTITIES.items():
        body = times_table("links", found["rows"][what], "n", titles)
        for name, label in (("short", f"power of growth, 8 to {_SHORT}"), ("long", f"power of growth, from {_LONG}")):
            slopes = found["slopes"][what]
            body.append((label, *(f"{slopes[h][name]:.2f}" if name in slopes.get(h, {}) else "-" for h in titles)))
        shown.append((f"{what[0].upper()}{what[1:]}: microseconds", body))
    return shown


def says(found: Found) -> list[str]:
    """Return time per link, and how exact it is."""
    rows = found["rows"]["forward dynamics"]
    near = min(rows, key=lambda r: abs(r["n"] - _SHORT))
    last = rows[-1]
    text = []
    for how, name in (("cluster", "aba"), ("rnea", "rnea")):
        a, b = (r["times"][how]["median_us"] / r["n"] for r in (near, last))
        text.append(
            f"`{name}` takes {1e3 * b:.0f} ns per link with {last['n']} links, {b / a:.2f} times as much "
            f"as with {near['n']} ({1e3 * a:.0f} ns)."
        )
    if found["kernels_from"] is not None:
        text.append(f"From {found['kernels_from']} links on the kernel alone is timed, as no `pin.Data` is made.")
    if found["agreement"] is not None:
        text.append(f"Exact methods agree to {found['agreement']:.0e} of the largest entry.")
    return text + [f"Left blank: {why}" for why in found["skipped"]]


def statements(found: Found) -> list[Statement]:
    """Compare slopes with the stated orders."""
    made = []
    for what, (titles, place, _) in _QUANTITIES.items():
        slopes = found["slopes"][what]
        source = f"{CHIGNOLI}, {place}"
        one = slopes.get("cluster")
        if one and "long" in one:
            made.append(
                Statement(
                    f"The cost of the cluster algorithm grows linearly with the number of links ({what}).",
                    source,
                    f"as the number of links to the power {one['long']:.2f}, from {_LONG} to {one['largest']} links.",
                    one["long"] <= _LINEAR,
                )
            )
        for how in ("projection", "lagrange"):
            if "long" not in slopes.get(how, {}):
                continue
            x = slopes[how]
            made.append(
                Statement(
                    f"That of {titles[how].removesuffix(', exact')} grows cubically ({what}).",
                    source,
                    f"to the power {x.get('short', x['long']):.2f} within {_SHORT} links, {x['long']:.2f} up to "
                    f"{x['largest']} links"
                    + (": a cube is the limit, which these sizes do not reach." if x["long"] < _CUBIC else "."),
                    x["long"] >= _CUBIC,
                )
            )
    return made


def draw(what: str, figure: Figure, found: Found) -> None:
    """Draw one figure: within the published lengths, and all."""
    rows, (titles, _, title) = found["rows"][what], _QUANTITIES[what]
    short, every = panels(figure, 2, height=5.2)
    present = [how for how in METHODS if any(how in r["times"] for r in rows)]
    curves(every, rows, "n", {how: how for how in present})
    for how in present:
        own = [r for r in rows if how in r["times"]]
        curves(short, [r for r in own if r["n"] <= _SHORT] or own, "n", {how: how})
    top = short.get_ylim()[1]
    short.set_ylim(0.0, min(top, 60.0) if what == "forward dynamics" else top)
    named(short, f"up to {_SHORT} links, as published", "links", "time [$\\mu$s]")
    logarithmic(every, "all, logarithmic", "links", "time [$\\mu$s]")
    last = rows[-1]
    guide(every, [last["n"] / 12.0, last["n"]], last["times"]["cluster"]["median_us"] / 22.0, 1)
    headed(
        figure,
        title,
        (
            "Chains with a geared rotor per link. One call from Python, one state, one thread; median.",
            "Rivals end where their tables no longer fit, or a call takes milliseconds.",
        ),
        {how: titles[how] for how in present},
    )


FIGURES = {
    "chignoli_11_links": partial(draw, "forward dynamics"),
    "chignoli_13_links_operational": partial(draw, "operational inertia"),
}
