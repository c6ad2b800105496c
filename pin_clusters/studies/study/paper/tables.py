"""Tables II to IV and figures 9, 10 and 12 of arXiv 2311.13732: per cent of the cluster algorithm's time."""

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
from ._part import Found, Rows, Statement, per_cent, span, us

TITLE = "Tables II, III and IV, figures 9, 10 and 12: the robots"
TIMED = (
    "One call from Python of each, one state, in alternation, on one thread. The cluster algorithm and the "
    "approximate robot in the same code are kernels of this package (`rnea`, `aba`, "
    "`inverse_operational_inertia`); Pinocchio's `rnea`, `aba` and `computeDelassusMatrix` are its own compiled "
    "code on the approximate robot. Projection and Lagrange multipliers are Pinocchio on the tree with all rotors "
    "(`crba`, `rnea`, `nonLinearEffects`), and NumPy and LAPACK around it; of closed loops G and its bias are "
    "given to them and cost nothing. Projection's part of Pinocchio alone is a bound that no projection can beat, "
    "however it is programmed. `jvrc1_as_published` is taken because the tables were computed with its "
    "numbers: 22 of its 32 rotors are not symmetric about their axes and stay bodies. The percentages were "
    "published in the order of the robots of the bar charts of the authors' library; that order is inferred."
)
SECONDS = (25.0, 5.0)
_RIVALS = ("approximate", "pinocchio", "least", "projection", "lagrange")
_OLD = f"Pinocchio {pin.__version__} has no computeDelassusMatrix."
_SLOWER = {"projection": "Projection takes", "lagrange": "Lagrange multipliers take"}


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Time the robots of the tables."""
    found = []
    for name in effort.of(ROBOTS, ROBOTS, ("geared_chain", "tello_with_arms")):
        title, parameters = ROBOTS[name]
        model = load(name, **parameters)
        tree, note = approximate(model)
        same = ClusterModel(tree)
        ends = [str(tree.names[j]) for j in leaves(tree)]
        calls = _calls(model, tree, same, ends)
        left_out = {} if "pinocchio" in calls["operational inertia"] else {"operational inertia: pinocchio": _OLD}
        timings, agreed = measured(calls.items(), ("cluster", "projection", "lagrange"), effort, done)
        found.append(
            {
                "robot": name,
                "title": title,
                "nv": model.nv,
                "nv_tree": model.tree.nv,
                "ends": len(ends),
                "agreement": agreed,
                "tables": {what: {"times": times(t), "per_cent": _longer(t)} for what, t in timings.items()},
                "note": note,
                "left_out": left_out,
            }
        )
    return {"robots": found}


def _longer(t: dict[str, Timing]) -> dict[str, float]:
    """Return the per cent of the cluster algorithm's time that others take more."""
    return {how: round(100.0 * (x.ratio(t["cluster"]) - 1.0), 2) for how, x in t.items() if how != "cluster"}


def _calls(model: ClusterModel, tree: pin.Model, same: ClusterModel, ends: list[str]) -> dict[str, dict[str, Call]]:
    """Return what is timed per table and method, at a random state near the neutral configuration.

    ``tree`` is the approximate robot for Pinocchio, ``same`` that for this package; ``ends``: ends of the branches.
    """
    rng = np.random.default_rng(0)
    q = integrate(model, neutral(model), 0.1 * rng.uniform(-1.0, 1.0, model.nv))
    v, x = rng.standard_normal((2, model.nv))  # the latter an acceleration or a torque; both of either robot
    q_tree = np.ascontiguousarray(q[independent_q(model, tree)])
    data, its, theirs = model.createData(), same.createData(), tree.createData()
    space, both = projection.createData(model), lagrange.createData(model)
    projection.aba(model, space, q, v, x)
    lagrange.aba(model, both, q, v, x)
    # G and its bias are given to the rivals and cost them nothing
    space.hold = both.hold = True
    exact, projected, multiplied = ((model, d, q, v, x) for d in (data, space, both))
    ours, pinocchio = (same, its, q_tree, v, x), (tree, theirs, q_tree, v, x)
    # what Pinocchio computes for projection, without the linear algebra around it: no projection is quicker
    part = space.tree, space.data, np.array(space.configuration(q))
    v_part, a_part = space.G @ v, space.G @ x + space.g
    frames, frames_tree = [model.getFrameId(n) for n in ends], [tree.getFrameId(n) for n in ends]
    return {
        "inverse dynamics": {
            "cluster": (rnea, exact),
            "approximate": (rnea, ours),
            "pinocchio": (pin.rnea, pinocchio),
            "least": (pin.rnea, (*part, v_part, a_part)),
            "projection": (projection.rnea, projected),
        },
        "forward dynamics": {
            "cluster": (aba, exact),
            "approximate": (aba, ours),
            "pinocchio": (pin.aba, pinocchio),
            "least": (_terms, (*part, v_part)),
            "projection": (projection.aba, projected),
            "lagrange": (lagrange.aba, multiplied),
        },
        "operational inertia": {
            "cluster": (inverse_operational_inertia, (model, data, q, frames)),
            "approximate": (inverse_operational_inertia, (same, its, q_tree, frames_tree)),
            **delassus(tree, theirs, q_tree, leaves(tree)),
            "least": (_jacobians, part),
            "projection": (projection.inverse_operational_inertia, (model, space, q, frames)),
        },
    }


def _terms(tree: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray) -> None:
    """Compute mass matrix and bias torques of the tree."""
    pin.crba(tree, data, q)
    pin.nonLinearEffects(tree, data, q, v)


def _jacobians(tree: pin.Model, data: pin.Data, q: np.ndarray) -> None:
    """Compute mass matrix and Jacobians of the tree."""
    pin.crba(tree, data, q)
    pin.computeJointJacobians(tree, data, q)


def _published(what: str, how: str) -> dict[str, float]:
    """Return the published per cent of a method, by robot."""
    return dict(zip(ROBOTS, TABLES[what].get(how, ()), strict=False))


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return tables II to IV."""
    shown = []
    for what in TABLES:
        rivals = [how for how in _RIVALS if any(how in r["tables"][what]["per_cent"] for r in found["robots"])]
        rows: Rows = [("robot", "nv (tree)", LABELS["cluster"] + " [us]", *(LABELS[how] for how in rivals))]
        for r in found["robots"]:
            table = r["tables"][what]
            ends = f", {r['ends']} end{'s' * (r['ends'] > 1)}" if what == "operational inertia" else ""
            name = f"`{r['robot']}`{ends}"
            time = table["times"]["cluster"]
            took = f"{us(time['median_us'])} ± {100.0 * time['spread']:.0f} %"
            cells = []
            for how in rivals:
                known = _published(what, how).get(r["robot"])
                cell = "-" if how not in table["per_cent"] else per_cent(table["per_cent"][how])
                cells.append(cell + ("" if known is None else f" ({known:+g} %)"))
            rows.append((name, f"{r['nv']} ({r['nv_tree']})", took, *cells))
        table = PLACE[what].partition(" and ")[0]
        title = f"{table}, {what}: time beyond that of the cluster algorithm (published in brackets)"
        shown.append((title, rows))
    return shown


def says(found: Found) -> list[str]:
    """Return how exact it is, and what could not be expressed."""
    worst = max(r["agreement"] for r in found["robots"])
    text = [f"Cluster algorithm, projection and Lagrange multipliers agree to {worst:.0e} of the largest entry."]
    for r in found["robots"]:
        if r["note"]:
            text.append(
                f"`{r['robot']}`: {r['note']} The approximation is the serial robot instead: the tree without rotors, "
                "all of its joints driven directly, with the diagonal of the reflected inertia at the reference pose."
            )
        text += [f"`{r['robot']}`, {what}: left blank. {why}" for what, why in r["left_out"].items()]
    return text


def statements(found: Found) -> list[Statement]:
    """Compare signs and sizes with what was published."""
    made = []
    for what, methods in TABLES.items():
        got = {how: _all(found, what, how) for how in _RIVALS}
        source = f"{CHIGNOLI}, {PLACE[what]}"
        ours, theirs = got["approximate"], list(methods["approximate"])
        made.append(
            Statement(
                f"The approximate robot takes {-max(theirs):.0f} to {-min(theirs):.0f} % less time than the exact one in "
                f"{what}.",
                source,
                f"{span(ours)} here with the same code, median {per_cent(float(np.median(ours)))}; published are "
                f"{span(theirs)}.",
                min(theirs) <= float(np.median(ours)) <= max(theirs),
            )
        )
        for how, name in _SLOWER.items():
            if how not in methods or not got[how]:
                continue
            values = got[how]
            slower = sum(x > 0.0 for x in values)
            least = f"; Pinocchio's part alone {span(got['least'])}" if how == "projection" else ""
            made.append(
                Statement(
                    f"{name} longer than the cluster algorithm in {what} on all robots ({span(methods[how])}).",
                    source,
                    f"longer on {slower} of {len(values)} robots, by {span(values)}{least}.",
                    slower == len(values),
                )
            )
    return made


def _all(found: Found, what: str, how: str) -> list[float]:
    """Return the per cent of all robots."""
    cells = (r["tables"][what]["per_cent"] for r in found["robots"])
    return [cell[how] for cell in cells if how in cell]


def draw(what: str, figure: Figure, found: Found) -> None:
    """Draw the times of one table relative to the cluster algorithm's, beside what was published."""
    (axes,) = panels(figure, 1, top=1.47, bottom=0.588)
    robots = found["robots"]
    rivals = [how for how in _RIVALS if _all(found, what, how)]
    width = 0.8 / len(rivals)
    for i, how in enumerate(rivals):
        known = _published(what, how)
        for k, r in enumerate(robots):
            x = k + (i - 0.5 * (len(rivals) - 1)) * width
            value = r["tables"][what]["per_cent"].get(how)
            if value is not None:
                axes.bar(x, value / 100.0, 0.92 * width, bottom=1.0, color=STYLES[how]["color"])
            if r["robot"] in known:
                axes.plot(x, 1.0 + known[r["robot"]] / 100.0, **STYLES["published"], zorder=4.0)
    axes.axhline(1.0, color=STYLES["cluster"]["color"], linewidth=1.6)
    axes.set_yscale("log")
    plain(axes.yaxis)
    axes.set_xticks(range(len(robots)), [f"{r['title']}\nnv {r['nv']} ({r['nv_tree']})" for r in robots])
    named(axes, "", "", "time / time of the cluster algorithm")
    axes.grid(axis="x", visible=False)
    headed(
        figure,
        f"{what[0].upper()}{what[1:]}: time relative to the exact cluster algorithm",
        (
            "Below the line: faster than the exact robot. nv: degrees of freedom (of the spanning tree).",
            "Diamonds: what was published of the same comparison, with other code on another machine.",
        ),
        {"cluster": "cluster algorithm = 1", **dict.fromkeys(rivals, ""), "published": ""},
        bars=True,
    )


FIGURES = {
    "chignoli_09_inverse_dynamics": partial(draw, "inverse dynamics"),
    "chignoli_10_forward_dynamics": partial(draw, "forward dynamics"),
    "chignoli_12_operational_inertia": partial(draw, "operational inertia"),
}
