"""Cost against the size of the largest cluster, the depth of the tree, and the number of end effectors."""

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
from ._part import Found, Rows, Statement, agreeing, us

TITLE = "Size of the clusters, depth, number of end effectors"
TIMED = (
    "Trees of 48 links, one call from Python each, in alternation. The cluster algorithms are kernels of this "
    "package; projection is Pinocchio on the tree with all rotors, NumPy and LAPACK around it; Pinocchio's own "
    "functions run on the approximate robot."
)
SECONDS = (25.0, 4.0)
LINKS = 48
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
BRANCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)
ENDS = (1, 2, 4, 6, 8, 10, 12, 14, 16)
_FLAT = 0.15
"""Up to which slope time is called independent."""
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
    """What is timed of trees that grow in one way, with the style of each method, and what stands on the page."""

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
        "{n} links in a chain, tied in groups: microseconds against the bodies of a cluster",
        "Cost against the size of the clusters",
        "In each group of links the last keeps the orientation of the one before the group: one coupling.",
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
        "The same links in 1 to 48 branches on a first link.",
    ),
    "ends": _Family(
        {"osim": "cluster", "osim pinocchio": "pinocchio", "osim projection": "projection"},
        "end effectors",
        _BRANCHED + "number of end effectors",
        "Cost against the number of end effectors",
        "16 branches of 3 links; the frames are at the tips of the first branches.",
    ),
}


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time the three families of trees."""
    n = effort.of(LINKS, LINKS, 4)

    def trees() -> Iterator[tuple[tuple[str, int], dict[str, Call]]]:
        for size in effort.of(SIZES, SIZES, (1, 2)):
            yield ("sizes", size), _dynamics(grouped(n, size), plain=False)
        for branches in effort.of(BRANCHES, BRANCHES[::3], (1, 2)):
            yield ("depths", n // branches + 1), _dynamics(branched(n, branches), plain=True)
        tree = branched(n, effort.of(16, 16, 2))
        for ends in effort.of(ENDS, ENDS[::4], (1, 2)):
            yield ("ends", ends), _operational(tree, ends)

    timings, agreed = measured(trees(), ("cluster", "projection", "osim", "osim projection"), effort, done)
    found: Found = {"links": n, "agreement": agreed}
    for name, family in FAMILIES.items():
        of_size = {size: times(t, family.methods) for (of, size), t in sorted(timings.items()) if of == name}
        sizes = list(of_size)
        series = {how: [t[how] for t in of_size.values()] for how in of_size[sizes[0]]}
        found[name] = {"x": sizes, "times": series, "slope": {how: _power(sizes, x) for how, x in series.items()}}
    return found


def _power(sizes: Sequence[int], times: Iterable[dict[str, float]]) -> float:
    """Return the power of growth over the larger half of the sizes."""
    half = len(sizes) // 2 if len(sizes) > 3 else 0
    return slope(sizes[half:], [x["median_us"] for x in times][half:])


def _dynamics(model: ClusterModel, *, plain: bool) -> dict[str, Call]:
    """Return dynamics of a model; ``plain``: one that armature can stand for."""
    q, v, tau = state(model)
    data, work = model.createData(), projection.createData(model)
    found: dict[str, Call] = {
        "cluster": (aba, (model, data, q, v, tau)),
        "rnea": (rnea, (model, data, q, v, tau)),
        "projection": (projection.aba, (model, work, q, v, tau)),
    }
    if plain:
        tree = armature_model(model, "diagonal")
        found["crba"] = crba, (model, data, q)
        found["pinocchio"] = pin.aba, (tree, tree.createData(), q, v, tau)
    return found


def _operational(model: ClusterModel, ends: int) -> dict[str, Call]:
    """Return the inverse operational inertia of the tips of the first branches."""
    q, _, _ = state(model)
    data, work = model.createData(), projection.createData(model)
    tree = armature_model(model, "diagonal")
    tips = leaves(tree)[:ends]
    frames = [model.getFrameId(tree.names[j]) for j in tips]
    found: dict[str, Call] = {
        "osim": (inverse_operational_inertia, (model, data, q, frames)),
        "osim projection": (projection.inverse_operational_inertia, (model, work, q, frames)),
    }
    return found | {f"osim {how}": call for how, call in delassus(tree, tree.createData(), q, tips).items()}


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return a table per family."""
    shown = []
    for name, family in FAMILIES.items():
        one = found[name]
        rows: Rows = [("", *map(str, one["x"]), "power of growth, larger half")]
        rows += [
            (_NAMES[how], *(us(x["median_us"]) for x in times), f"{one['slope'][how]:.2f}")
            for how, times in one["times"].items()
        ]
        shown.append((family.head.format(n=found["links"]), rows))
    return shown


def statements(found: Found) -> list[Statement]:
    """Compare growth with the stated orders."""
    made = []
    sizes, depths, ends = (found[name]["slope"] for name in FAMILIES)
    for how, order, most in (("cluster", "the square", 2.0), ("rnea", "the first power", 1.0)):
        made.append(
            Statement(
                f"At a fixed number of bodies {_NAMES[how]} grows with at most {order} of the size of the clusters.",
                f"{CHIGNOLI}, complexity of the algorithms",
                f"with the power {sizes[how]:.2f} towards {found['sizes']['x'][-1]} bodies.",
                sizes[how] <= most + _FLAT,
            )
        )
    times = [x["median_us"] for x in found["depths"]["times"]["cluster"]]
    made.append(
        Statement(
            "At a fixed number of bodies forward dynamics does not depend on the depth of the tree.",
            f"{CHIGNOLI}, complexity of the algorithms",
            f"{us(min(times))} to {us(max(times))} us over all depths, power {depths['cluster']:.2f}; projection "
            f"{depths['projection']:.2f}.",
            abs(depths["cluster"]) <= _FLAT,
        )
    )
    made.append(
        Statement(
            "The inverse operational inertia grows with at most the square of the number of end effectors, its number of "
            "entries.",
            f"{CHIGNOLI}, C-EFPA",
            f"with the power {ends['osim']:.2f} towards {found['ends']['x'][-1]}.",
            ends["osim"] <= 2.0 + _FLAT,
        )
    )
    return made


def draw(name: str, figure: Figure, found: Found) -> None:
    """Draw one family: times on the left, relative to the smallest size on the right."""
    family, one = FAMILIES[name], found[name]
    first, second = panels(figure, 2, height=5.0)
    for how, took in one["times"].items():
        y = [x["median_us"] for x in took]
        curve(first, family.methods[how], one["x"], y)
        curve(second, family.methods[how], one["x"], [x / y[0] for x in y])
    for axes, title, label in (
        (first, "time", "time [$\\mu$s]"),
        (second, "relative to the first point", "time / first time"),
    ):
        axes.set_xscale("log")
        plain(axes.xaxis)
        named(axes, title, family.size, label)
    first.set_yscale("log")
    plain(first.yaxis)
    second.set_ylim(bottom=0.0)
    headed(
        figure,
        family.title,
        (f"{found['links']} links. {family.text}", "One call from Python, one thread; median."),
        {family.methods[how]: _NAMES[how].replace("`", "") for how in one["times"]},
    )


says = agreeing("Cluster algorithms and projection")
FIGURES = {
    "chignoli_cluster_size": partial(draw, "sizes"),
    "chignoli_depth": partial(draw, "depths"),
    "chignoli_end_effectors": partial(draw, "ends"),
}
