"""Measure the cost as a function of cluster size, tree depth and number of end effectors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pinocchio as pin

from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.crba import crba
from ....algorithms.dynamics.operational import inverse_operational_inertia
from ....algorithms.dynamics.rnea import rnea
from ....approximations.armature import armature_model
from ....model import ClusterModel
from ....verification.baselines import projection
from ....verification.timing import Call
from ..plots import Figure, named, panels
from ._drawing import curve, headed, plain
from ._effort import Effort, measured, slope, times
from ._models import branched, delassus, grouped, leaves, state
from ._numbers import CHIGNOLI
from ._part import Results, Rows, Statement, agreeing, us

TITLE = "Size of the clusters, depth, number of end effectors"
TIMED = (
    "The trees have 48 links; the methods are called from Python in alternation. The cluster algorithms are kernels of "
    "this package. Projection uses Pinocchio on the tree with all rotors, NumPy and LAPACK. Pinocchio's own functions "
    "run on the approximate robot."
)
SECONDS = (25.0, 4.0)
LINKS = 48
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
BRANCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)
ENDS = (1, 2, 4, 6, 8, 10, 12, 14, 16)
_FLAT = 0.15  # Largest growth exponent that counts as constant; also the tolerance of other exponents
_NAMES = {
    "cluster": "`aba`",
    "rnea": "`rnea`",
    "crba": "`crba`",
    "projection": "projection, forward dynamics",
    "pinocchio": "Pinocchio's `aba`, approximate",
    "osim": "inverse operational inertia",
    "osim projection": "projection, inverse operational inertia",
    "osim pinocchio": "Pinocchio's `computeDelassusMatrix`, approximate",
}


class _Family(NamedTuple):
    """A family of trees that differ in one size parameter, with the methods, their plot styles and the captions."""

    methods: dict[str, str]
    size: str
    head: str
    title: str
    text: str


_BRANCHED = "{n} geared links in branches on a first link: microseconds against the "
FAMILIES = {
    "sizes": _Family(
        {"cluster": "cluster", "rnea": "approximate", "projection": "projection"},
        "bodies of a cluster",
        "{n} links in a chain, coupled in groups: microseconds against the bodies of a cluster",
        "Cost against the size of the clusters",
        "In each group, one coupling makes the last link keep the orientation of the link before the group.",
    ),
    "depths": _Family(
        {
            "cluster": "cluster",
            "rnea": "approximate",
            "crba": "other",
            "pinocchio": "pinocchio",
            "projection": "projection",
        },
        "links from the base to a tip",
        _BRANCHED + "depth",
        "Cost against the depth of the tree",
        "The links form 1 to 48 branches on a first link.",
    ),
    "ends": _Family(
        {"osim": "cluster", "osim pinocchio": "pinocchio", "osim projection": "projection"},
        "end effectors",
        _BRANCHED + "number of end effectors",
        "Cost against the number of end effectors",
        "16 branches of 3 links; the frames are at the tips of the branches.",
    ),
}


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    n = effort.of(LINKS, LINKS, 4)

    def trees() -> Iterator[tuple[tuple[str, int], dict[str, Call]]]:
        for size in effort.of(SIZES, SIZES, (1, 2)):
            yield ("sizes", size), _dynamics(grouped(n, size), plain=False)
        for branches in effort.of(BRANCHES, BRANCHES[::3], (1, 2)):
            yield ("depths", n // branches + 1), _dynamics(branched(n, branches), plain=True)
        tree = branched(n, effort.of(16, 16, 2))
        for ends in effort.of(ENDS, ENDS[::4], (1, 2)):
            yield ("ends", ends), _operational(tree, ends)

    timings, agreement = measured(trees(), ("cluster", "projection", "osim", "osim projection"), effort, done)
    results: Results = {"links": n, "agreement": agreement}
    for name, family in FAMILIES.items():
        of_size = {size: times(t, family.methods) for (of, size), t in sorted(timings.items()) if of == name}
        sizes = list(of_size)
        series = {m: [t[m] for t in of_size.values()] for m in of_size[sizes[0]]}
        results[name] = {"x": sizes, "times": series, "slope": {m: _power(sizes, x) for m, x in series.items()}}
    return results


def _power(sizes: Sequence[int], times: Iterable[dict[str, float]]) -> float:
    half = len(sizes) // 2 if len(sizes) > 3 else 0
    return slope(sizes[half:], [x["median_us"] for x in times][half:])


def _dynamics(model: ClusterModel, *, plain: bool) -> dict[str, Call]:
    q, v, tau = state(model)
    data, work = model.createData(), projection.createData(model)
    calls: dict[str, Call] = {
        "cluster": (aba, (model, data, q, v, tau)),
        "rnea": (rnea, (model, data, q, v, tau)),
        "projection": (projection.aba, (model, work, q, v, tau)),
    }
    if plain:
        tree = armature_model(model, "diagonal")
        calls["crba"] = crba, (model, data, q)
        calls["pinocchio"] = pin.aba, (tree, tree.createData(), q, v, tau)
    return calls


def _operational(model: ClusterModel, ends: int) -> dict[str, Call]:
    q, _, _ = state(model)
    data, work = model.createData(), projection.createData(model)
    tree = armature_model(model, "diagonal")
    tips = leaves(tree)[:ends]
    frames = [model.getFrameId(tree.names[j]) for j in tips]
    calls: dict[str, Call] = {
        "osim": (inverse_operational_inertia, (model, data, q, frames)),
        "osim projection": (projection.inverse_operational_inertia, (model, work, q, frames)),
    }
    return calls | {f"osim {method}": call for method, call in delassus(tree, tree.createData(), q, tips).items()}


def tables(results: Results) -> list[tuple[str, Rows]]:
    shown = []
    for name, family in FAMILIES.items():
        measured = results[name]
        rows: Rows = [("", *map(str, measured["x"]), "growth exponent, larger half")]
        rows += [
            (_NAMES[method], *(us(x["median_us"]) for x in times), f"{measured['slope'][method]:.2f}")
            for method, times in measured["times"].items()
        ]
        shown.append((family.head.format(n=results["links"]), rows))
    return shown


def statements(results: Results) -> list[Statement]:
    verdicts = []
    sizes, depths, ends = (results[name]["slope"] for name in FAMILIES)
    for method, order, largest_power in (("cluster", "the square", 2.0), ("rnea", "the first power", 1.0)):
        verdicts.append(
            Statement(
                f"At a fixed number of bodies, the cost of {_NAMES[method]} grows with at most {order} of the size of "
                "the clusters.",
                f"{CHIGNOLI}, complexity of the algorithms",
                f"with the power {sizes[method]:.2f} towards {results['sizes']['x'][-1]} bodies.",
                sizes[method] <= largest_power + _FLAT,
            )
        )
    times = [x["median_us"] for x in results["depths"]["times"]["cluster"]]
    verdicts.append(
        Statement(
            "At a fixed number of bodies, the cost of forward dynamics does not depend on the depth of the tree.",
            f"{CHIGNOLI}, complexity of the algorithms",
            f"{us(min(times))} to {us(max(times))} us over all depths, power {depths['cluster']:.2f}; projection "
            f"{depths['projection']:.2f}.",
            abs(depths["cluster"]) <= _FLAT,
        )
    )
    verdicts.append(
        Statement(
            "The cost of the inverse operational inertia grows with at most the square of the number of end effectors, "
            "like its number of entries.",
            f"{CHIGNOLI}, C-EFPA",
            f"with the power {ends['osim']:.2f} towards {results['ends']['x'][-1]}.",
            ends["osim"] <= 2.0 + _FLAT,
        )
    )
    return verdicts


def draw(name: str, figure: Figure, results: Results) -> None:
    family, measured = FAMILIES[name], results[name]
    left, right = panels(figure, 2, height=5.0)
    for method, took in measured["times"].items():
        y = [x["median_us"] for x in took]
        curve(left, family.methods[method], measured["x"], y)
        curve(right, family.methods[method], measured["x"], [x / y[0] for x in y])
    for axes, title, label in (
        (left, "time", "time [$\\mu$s]"),
        (right, "relative to the first point", "time / first time"),
    ):
        axes.set_xscale("log")
        plain(axes.xaxis)
        named(axes, title, family.size, label)
    left.set_yscale("log")
    plain(left.yaxis)
    right.set_ylim(bottom=0.0)
    headed(
        figure,
        family.title,
        (f"{results['links']} links. {family.text}", "One call from Python, one thread; median."),
        {family.methods[method]: _NAMES[method].replace("`", "") for method in measured["times"]},
    )


says = agreeing("Cluster algorithms and projection")
FIGURES = {
    "chignoli_cluster_size": partial(draw, "sizes"),
    "chignoli_depth": partial(draw, "depths"),
    "chignoli_end_effectors": partial(draw, "ends"),
}
