"""Reproduce tables II to IV and figures 9, 10 and 12 of arXiv 2311.13732, with times relative to the cluster method."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.operational import inverse_operational_inertia
from ....algorithms.dynamics.rnea import rnea
from ....approximations.armature import independent_q
from ....files.readers import load
from ....model import ClusterModel
from ....model.configuration import integrate, neutral
from ....verification.baselines import lagrange, projection
from ....verification.timing import Call, Timing
from ..plots import Figure, named, panels
from ._drawing import LABELS, STYLES, headed, plain
from ._effort import Effort, measured, times
from ._models import approximate, delassus, leaves
from ._numbers import CHIGNOLI, PLACE, ROBOTS, TABLES
from ._part import Results, Rows, Statement, per_cent, span, us

TITLE = "Tables II, III and IV, figures 9, 10 and 12: the robots"
TIMED = (
    "Each method is called once from Python per measurement, for one state, in alternation, on one thread. The cluster "
    "algorithm and the approximate robot in the same code use kernels of this package (`rnea`, `aba`, "
    "`inverse_operational_inertia`). Pinocchio's `rnea`, `aba` and `computeDelassusMatrix` run on the approximate "
    "robot. Projection and Lagrange multipliers use Pinocchio on the tree with all rotors (`crba`, `rnea`, "
    "`nonLinearEffects`), NumPy and LAPACK. For closed loops, G and its bias are precomputed, which favours these two "
    "methods. The Pinocchio part of projection alone is a lower bound for every implementation of projection. "
    "`jvrc1_as_published` has the published inertias: 22 of its 32 rotors are not symmetric about their axes and stay "
    "bodies. The published percentages do not name the robots; their order is inferred from the bar charts of the "
    "authors' library."
)
SECONDS = (25.0, 5.0)
_ALTERNATIVES = ("approximate", "pinocchio", "least", "projection", "lagrange")
_OLD = f"Pinocchio {pin.__version__} does not provide computeDelassusMatrix."
_SLOWER = {"projection": "Projection takes", "lagrange": "Lagrange multipliers take"}


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    robots = []
    for name in effort.of(ROBOTS, ROBOTS, ("geared_chain", "tello_with_arms")):
        title, parameters = ROBOTS[name]
        model = load(name, **parameters)
        tree, note = approximate(model)
        approximated = ClusterModel(tree)
        ends = [str(tree.names[j]) for j in leaves(tree)]
        calls = _calls(model, tree, approximated, ends)
        left_out = {} if "pinocchio" in calls["operational inertia"] else {"operational inertia: pinocchio": _OLD}
        timings, agreement = measured(calls.items(), ("cluster", "projection", "lagrange"), effort, done)
        robots.append(
            {
                "robot": name,
                "title": title,
                "nv": model.nv,
                "nv_tree": model.tree.nv,
                "ends": len(ends),
                "agreement": agreement,
                "tables": {quantity: {"times": times(t), "per_cent": _longer(t)} for quantity, t in timings.items()},
                "note": note,
                "left_out": left_out,
            }
        )
    return {"robots": robots}


def _longer(t: dict[str, Timing]) -> dict[str, float]:
    return {method: round(100.0 * (x.ratio(t["cluster"]) - 1.0), 2) for method, x in t.items() if method != "cluster"}


def _calls(
    model: ClusterModel, tree: pin.Model, approximated: ClusterModel, ends: list[str]
) -> dict[str, dict[str, Call]]:
    """Prepare the timed calls, by table and method. ``ends`` contains the names of the joints at the tips."""
    rng = np.random.default_rng(0)
    q = integrate(model, neutral(model), 0.1 * rng.uniform(-1.0, 1.0, model.nv))
    v, x = rng.standard_normal((2, model.nv))  # x is used as an acceleration and as a torque of both robots
    q_tree = np.ascontiguousarray(q[independent_q(model, tree)])
    data, approx_data, tree_data = model.createData(), approximated.createData(), tree.createData()
    space, multipliers = projection.createData(model), lagrange.createData(model)
    projection.aba(model, space, q, v, x)
    lagrange.aba(model, multipliers, q, v, x)
    # The projection and multiplier methods reuse G and its bias, so the computation of both is not timed.
    space.hold = multipliers.hold = True
    exact, projected, multiplied = ((model, d, q, v, x) for d in (data, space, multipliers))
    approx_args, pin_args = ((approximated, approx_data, q_tree, v, x), (tree, tree_data, q_tree, v, x))
    # The time of Pinocchio's calls alone, without linear algebra, is a lower bound for all projection methods.
    part = space.tree, space.data, np.array(space.configuration(q))
    v_part, a_part = space.G @ v, space.G @ x + space.g
    frames, frames_tree = [model.getFrameId(n) for n in ends], [tree.getFrameId(n) for n in ends]
    return {
        "inverse dynamics": {
            "cluster": (rnea, exact),
            "approximate": (rnea, approx_args),
            "pinocchio": (pin.rnea, pin_args),
            "least": (pin.rnea, (*part, v_part, a_part)),
            "projection": (projection.rnea, projected),
        },
        "forward dynamics": {
            "cluster": (aba, exact),
            "approximate": (aba, approx_args),
            "pinocchio": (pin.aba, pin_args),
            "least": (_terms, (*part, v_part)),
            "projection": (projection.aba, projected),
            "lagrange": (lagrange.aba, multiplied),
        },
        "operational inertia": {
            "cluster": (inverse_operational_inertia, (model, data, q, frames)),
            "approximate": (inverse_operational_inertia, (approximated, approx_data, q_tree, frames_tree)),
            **delassus(tree, tree_data, q_tree, leaves(tree)),
            "least": (_jacobians, part),
            "projection": (projection.inverse_operational_inertia, (model, space, q, frames)),
        },
    }


def _terms(tree: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray) -> None:
    pin.crba(tree, data, q)
    pin.nonLinearEffects(tree, data, q, v)


def _jacobians(tree: pin.Model, data: pin.Data, q: np.ndarray) -> None:
    pin.crba(tree, data, q)
    pin.computeJointJacobians(tree, data, q)


def _published(quantity: str, method: str) -> dict[str, float]:
    return dict(zip(ROBOTS, TABLES[quantity].get(method, ()), strict=False))


def tables(results: Results) -> list[tuple[str, Rows]]:
    shown = []
    for quantity in TABLES:
        methods = [m for m in _ALTERNATIVES if any(m in r["tables"][quantity]["per_cent"] for r in results["robots"])]
        rows: Rows = [("robot", "nv (tree)", LABELS["cluster"] + " [us]", *(LABELS[m] for m in methods))]
        for r in results["robots"]:
            table = r["tables"][quantity]
            ends = f", {r['ends']} end{'s' * (r['ends'] > 1)}" if quantity == "operational inertia" else ""
            name = f"`{r['robot']}`{ends}"
            time = table["times"]["cluster"]
            took = f"{us(time['median_us'])} ± {100.0 * time['spread']:.0f} %"
            cells = []
            for m in methods:
                published = _published(quantity, m).get(r["robot"])
                cell = "-" if m not in table["per_cent"] else per_cent(table["per_cent"][m])
                cells.append(cell + ("" if published is None else f" ({published:+g} %)"))
            rows.append((name, f"{r['nv']} ({r['nv_tree']})", took, *cells))
        table = PLACE[quantity].partition(" and ")[0]
        title = f"{table}, {quantity}: extra time compared with the cluster algorithm (published values in brackets)"
        shown.append((title, rows))
    return shown


def says(results: Results) -> list[str]:
    worst = max(r["agreement"] for r in results["robots"])
    text = [f"Cluster algorithm, projection and Lagrange multipliers agree to {worst:.0e} of the largest entry."]
    for r in results["robots"]:
        if r["note"]:
            text.append(
                f"`{r['robot']}`: {r['note']} The approximation is therefore the serial robot: the tree without "
                "rotors, with all joints driven directly and the diagonal of the reflected inertia at the reference "
                "pose."
            )
        text += [f"`{r['robot']}`, {quantity}: left blank. {reason}" for quantity, reason in r["left_out"].items()]
    return text


def statements(results: Results) -> list[Statement]:
    verdicts = []
    for quantity, methods in TABLES.items():
        extra_times = {method: _all(results, quantity, method) for method in _ALTERNATIVES}
        source = f"{CHIGNOLI}, {PLACE[quantity]}"
        measured, published = extra_times["approximate"], list(methods["approximate"])
        verdicts.append(
            Statement(
                f"The approximate robot takes {-max(published):.0f} to {-min(published):.0f} % less time than the "
                f"exact one in {quantity}.",
                source,
                f"{span(measured)} here with the same code, median {per_cent(float(np.median(measured)))}; published "
                f"are {span(published)}.",
                min(published) <= float(np.median(measured)) <= max(published),
            )
        )
        for method, name in _SLOWER.items():
            if method not in methods or not extra_times[method]:
                continue
            values = extra_times[method]
            slower = sum(x > 0.0 for x in values)
            lower_bound = f"; Pinocchio's part alone {span(extra_times['least'])}" if method == "projection" else ""
            verdicts.append(
                Statement(
                    f"{name} longer than the cluster algorithm in {quantity} on all robots ({span(methods[method])}).",
                    source,
                    f"longer on {slower} of {len(values)} robots, by {span(values)}{lower_bound}.",
                    slower == len(values),
                )
            )
    return verdicts


def _all(results: Results, quantity: str, method: str) -> list[float]:
    cells = (r["tables"][quantity]["per_cent"] for r in results["robots"])
    return [cell[method] for cell in cells if method in cell]


def draw(quantity: str, figure: Figure, results: Results) -> None:
    (axes,) = panels(figure, 1, top=1.47, bottom=0.588)
    robots = results["robots"]
    methods = [method for method in _ALTERNATIVES if _all(results, quantity, method)]
    width = 0.8 / len(methods)
    for i, method in enumerate(methods):
        published = _published(quantity, method)
        for k, r in enumerate(robots):
            x = k + (i - 0.5 * (len(methods) - 1)) * width
            value = r["tables"][quantity]["per_cent"].get(method)
            if value is not None:
                axes.bar(x, value / 100.0, 0.92 * width, bottom=1.0, color=STYLES[method]["color"])
            if r["robot"] in published:
                axes.plot(x, 1.0 + published[r["robot"]] / 100.0, **STYLES["published"], zorder=4.0)
    axes.axhline(1.0, color=STYLES["cluster"]["color"], linewidth=1.6)
    axes.set_yscale("log")
    plain(axes.yaxis)
    axes.set_xticks(range(len(robots)), [f"{r['title']}\nnv {r['nv']} ({r['nv_tree']})" for r in robots])
    named(axes, "", "", "time / time of the cluster algorithm")
    axes.grid(axis="x", visible=False)
    headed(
        figure,
        f"{quantity[0].upper()}{quantity[1:]}: time relative to the exact cluster algorithm",
        (
            "Below the line: faster than the exact robot. nv: degrees of freedom (of the spanning tree).",
            "Diamonds: published values of the same comparison, with other code on another machine.",
        ),
        {"cluster": "cluster algorithm = 1", **dict.fromkeys(methods, ""), "published": ""},
        bars=True,
    )


FIGURES = {
    "chignoli_09_inverse_dynamics": partial(draw, "inverse dynamics"),
    "chignoli_10_forward_dynamics": partial(draw, "forward dynamics"),
    "chignoli_12_operational_inertia": partial(draw, "operational inertia"),
}
