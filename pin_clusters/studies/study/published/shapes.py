"""Cost against the size of the largest cluster, the depth of the tree, and the number of end effectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.crba import crba
from ....algorithms.dynamics.operational import inverse_operational_inertia
from ....algorithms.dynamics.rnea import rnea
from ....approximations.armature import armature_model
from ....model import ClusterModel
from ....model.configuration import neutral
from ....verification.baselines import projection
from ....verification.timing import Call
from ..plots import named, panels
from ._drawing import curve, headed, plain
from ._effort import Effort, agreement, number, slope, timed
from ._models import branched, delassus, grouped
from ._numbers import CHIGNOLI
from ._part import Found, Part, Rows, Statement, us

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINKS = 48
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
BRANCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)
ENDS = (1, 2, 4, 6, 8, 10, 12, 14, 16)
_FLAT = 0.15
"""Up to which slope time is called independent."""
_X = {"sizes": "bodies of a cluster", "depths": "links from the base to a tip", "ends": "end effectors"}
_NAMES = {
    "cluster": "`aba`", "rnea": "`rnea`", "crba": "`crba`", "projection": "projection, forward dynamics",
    "pinocchio": "Pinocchio's `aba`, approximate", "osim": "inverse operational inertia",
    "osim projection": "projection, inverse operational inertia",
    "osim pinocchio": "Pinocchio's `computeDelassusMatrix`, approximate",
}  # fmt: skip
_SHOWN = {
    "sizes": {"cluster": "cluster", "rnea": "approximate", "projection": "projection"},
    "depths": {"cluster": "cluster", "rnea": "approximate", "crba": "other", "pinocchio": "pinocchio",
               "projection": "projection"},
    "ends": {"osim": "cluster", "osim pinocchio": "pinocchio", "osim projection": "projection"},
}  # fmt: skip


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time the three families of trees."""
    calls: dict[tuple[str, int], dict[str, Call]] = {}
    agreed = []
    n = effort.of(LINKS, LINKS, 4)

    def add(what: str, size: int, found: dict[str, Call]) -> None:
        calls[what, size] = found
        agreed.append(agreement(found, ("cluster", "projection", "osim", "osim projection")))
        done()

    for size in effort.of(SIZES, SIZES, (1, 2)):
        add("sizes", size, _dynamics(grouped(n, size), plain=False))
    for branches in effort.of(BRANCHES, BRANCHES[::3], (1, 2)):
        add("depths", n // branches + 1, _dynamics(branched(n, branches), plain=True))
    tree = branched(n, effort.of(16, 16, 2))
    for ends in effort.of(ENDS, ENDS[::4], (1, 2)):
        add("ends", ends, _operational(tree, ends))
    timings = timed(calls, effort)
    found: Found = {"links": n, "agreement": max(agreed)}
    for what, shown in _SHOWN.items():
        sizes = sorted(size for w, size in calls if w == what)
        first = calls[what, sizes[0]]
        times = {how: [number(timings[what, size][how]) for size in sizes] for how in shown if how in first}
        found[what] = {"x": sizes, "times": times, "slope": {how: _power(sizes, x) for how, x in times.items()}}
    return found


def _power(sizes: Sequence[int], times: Iterable[dict[str, float]]) -> float:
    """Return the power of growth over the larger half of the sizes."""
    half = len(sizes) // 2 if len(sizes) > 3 else 0
    return slope(sizes[half:], [x["median_us"] for x in times][half:])


def _dynamics(model: ClusterModel, *, plain: bool) -> dict[str, Call]:
    """Return dynamics of a model; ``plain``: one that armature can stand for."""
    q, v, tau, data = _state(model)
    work = projection.createData(model)
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
    q, _, _, data = _state(model)
    tree, work = armature_model(model, "diagonal"), projection.createData(model)
    parents = set(tree.parents)
    tips = [j for j in range(1, tree.njoints) if j not in parents][:ends]
    frames = [model.getFrameId(tree.names[j]) for j in tips]
    found: dict[str, Call] = {
        "osim": (inverse_operational_inertia, (model, data, q, frames)),
        "osim projection": (projection.inverse_operational_inertia, (model, work, q, frames)),
    }
    return found | {f"osim {how}": call for how, call in delassus(tree, tree.createData(), q, tips).items()}


def _state(model: ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    rng = np.random.default_rng(model.nv)
    q = np.array(neutral(model))
    if model.nv == model.nq:
        q += 0.1 * rng.uniform(-1.0, 1.0, model.nq)
    v, tau = rng.standard_normal((2, model.nv))
    return q, v, tau, model.createData()


# --- what it shows ----------------------------------------------------------------------------------------------------

_HEADS = {
    "sizes": "{n} links in a chain, tied in groups: microseconds against the bodies of a cluster",
    "depths": "{n} geared links in branches on a first link: microseconds against the depth",
    "ends": "{n} geared links in branches on a first link: microseconds against the number of end effectors",
}


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return a table per family."""
    shown = []
    for what, text in _HEADS.items():
        one = found[what]
        rows: Rows = [["", *map(str, one["x"]), "power of growth, larger half"]]
        rows += [
            [_NAMES[how], *(us(x["median_us"]) for x in times), f"{one['slope'][how]:.2f}"]
            for how, times in one["times"].items()
        ]
        shown.append((text.format(n=found["links"]), rows))
    return shown


def says(found: Found) -> list[str]:
    """Return how exact it is."""
    return [f"Cluster algorithms and projection agree to {found['agreement']:.0e} of the largest entry."]


def statements(found: Found) -> list[Statement]:
    """Compare growth with the stated orders."""
    made = []
    sizes, depths, ends = (found[what]["slope"] for what in _SHOWN)
    for how, order, most in (("cluster", "the square", 2.0), ("rnea", "the first power", 1.0)):
        made.append(Statement(
            f"At a fixed number of bodies {_NAMES[how]} grows with at most {order} of the size of the clusters.",
            f"{CHIGNOLI}, complexity of the algorithms",
            f"with the power {sizes[how]:.2f} towards {found['sizes']['x'][-1]} bodies.",
            sizes[how] <= most + _FLAT,
        ))  # fmt: skip
    times = [x["median_us"] for x in found["depths"]["times"]["cluster"]]
    made.append(Statement(
        "At a fixed number of bodies forward dynamics does not depend on the depth of the tree.",
        f"{CHIGNOLI}, complexity of the algorithms",
        f"{us(min(times))} to {us(max(times))} us over all depths, power {depths['cluster']:.2f}; projection "
        f"{depths['projection']:.2f}.",
        abs(depths["cluster"]) <= _FLAT,
    ))  # fmt: skip
    made.append(Statement(
        "The inverse operational inertia grows with at most the square of the number of end effectors, its number of "
        "entries.",
        f"{CHIGNOLI}, C-EFPA", f"with the power {ends['osim']:.2f} towards {found['ends']['x'][-1]}.",
        ends["osim"] <= 2.0 + _FLAT,
    ))  # fmt: skip
    return made


def draw(what: str, figure: Figure, found: Found) -> None:
    """Draw one family: times on the left, relative to the smallest size on the right."""
    one = found[what]
    first, second = panels(figure, 2, height=5.0)
    for how, times in one["times"].items():
        y = [x["median_us"] for x in times]
        curve(first, _SHOWN[what][how], one["x"], y)
        curve(second, _SHOWN[what][how], one["x"], [x / y[0] for x in y])
    for axes, title, label in (
        (first, "time", "time [$\\mu$s]"), (second, "relative to the first point", "time / first time")
    ):  # fmt: skip
        axes.set_xscale("log")
        plain(axes.xaxis)
        named(axes, title, _X[what], label)
    first.set_yscale("log")
    plain(first.yaxis)
    second.set_ylim(bottom=0.0)
    text = {
        "sizes": "In each group of links the last keeps the orientation of the one before the group: one coupling.",
        "depths": "The same links in 1 to 48 branches on a first link.",
        "ends": "16 branches of 3 links; the frames are at the tips of the first branches.",
    }[what]
    titles = {
        "sizes": "Cost against the size of the clusters",
        "depths": "Cost against the depth of the tree",
        "ends": "Cost against the number of end effectors",
    }
    keys = {_SHOWN[what][how]: _NAMES[how].replace("`", "") for how in one["times"]}
    headed(figure, titles[what], (f"{found['links']} links. {text}", "One call from Python, one thread; median."), keys)


PART = Part(
    key="shapes",
    title="Size of the clusters, depth, number of end effectors",
    timed=(
        "Trees of 48 links, one call from Python each, in alternation. The cluster algorithms are kernels of this "
        "package; projection is Pinocchio on the tree with all rotors, NumPy and LAPACK around it; Pinocchio's own "
        "functions run on the approximate robot."
    ),
    measure=measure,
    figures={
        "chignoli_cluster_size": partial(draw, "sizes"),
        "chignoli_depth": partial(draw, "depths"),
        "chignoli_end_effectors": partial(draw, "ends"),
    },
    tables=tables,
    statements=statements,
    says=says,
    seconds=(25.0, 4.0),
)
