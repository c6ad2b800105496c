"""Tables of the operational family: its speed, and its accuracy; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where

ROUNDING = "forwardDynamics: rows of rounding"
_RUN, _ONE, _ALL = 6.65, 12.21, 13.22
"""Published times of a chain of 50 links, [ms]: forward dynamics, input matrix of one input, of all."""
LABELS = {
    "inverse operational inertia / Pinocchio's shortest way": "`inverse_operational_inertia` / fastest Pinocchio calls",
    "projection / inverse operational inertia": "projection / `inverse_operational_inertia`",
    "input matrix / aba": "`inverse_input_matrix` / `aba`",
    "forces one by one, by projection / input matrix": "one force at a time by projection / `inverse_input_matrix`",
    "forces one by one, by aba / input matrix": "one force at a time by `aba` / `inverse_input_matrix`",
    "hybrid dynamics / aba": "`hybrid_dynamics` / `aba`",
    "constraintDynamics / Pinocchio's": "`pc.constraintDynamics` / `pin.constraintDynamics`",
}
"""Label of each ratio in the table."""


def speed(results: dict[str, Any]) -> str:
    """Return the tables of ``operational.py``."""
    robots, chains = results["robots"], results["chains"]
    names = next(iter(robots.values()))["ratio"]
    rows = [[LABELS[name], *(f"{r['ratio'][name]:.2f}" for r in robots.values())] for name in names]
    rows.append(["number of inputs of `inverse_input_matrix`", *(str(r["inputs"]) for r in robots.values())])
    slopes, lengths = chains["slope"], chains["lengths"]
    return "\n\n".join([
        where(results),
        "Ratios of times. The frames and contacts are at four feet or hands. Pinocchio computes the approximate robot.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
        f"For chains of {lengths[0]} to {lengths[-1]} geared links, the time of `inverse_operational_inertia` for two "
        f"frames grows with power {slopes['osim']:.2f} of the number of links, and the time of `aba` with power "
        f"{slopes['aba']:.2f}.",
        published(results),
    ])  # fmt: skip


def published(results: dict[str, Any]) -> str:
    """Return the ratios of input matrices beside those of the literature."""
    heads = {
        "one / aba": "one input / `aba`", "all / aba": "all inputs / `aba`",
        "forces / one": "one force at a time / one input", "forces / all": "one force at a time / all inputs",
    }  # fmt: skip
    found = {f"chain, n = {n}": (n, x["ratio"]) for n, x in results["inputs"].items()}
    for robot, x in results["robots"].items():
        ratio = x["ratio"]
        every = {
            "all / aba": ratio["input matrix / aba"],
            "forces / all": ratio["forces one by one, by aba / input matrix"],
        }
        found[f"`{robot}`, {x['inputs']} inputs"] = robot, every
    rows = []
    for name, (key, ratio) in found.items():
        known = results["published"].get(str(key), {})
        cells = (f"{ratio[h]:.2f}" + (f" ({known[h]:g})" if h in known else "") if h in ratio else "-" for h in heads)
        rows.append([name, *cells])
    n, longest = list(results["inputs"].items())[-1]
    first = next(iter(results["inputs"].values()))["times"]
    aba, ratio = longest["times"]["aba"]["median_us"], longest["ratio"]
    return "\n\n".join([
        "Times of `inverse_input_matrix`, compared with the ratios that Kroeg, Gattringer and Mueller publish (in "
        "parentheses) for a chain of 50 links and for a humanoid with 24 velocities, 18 motors and 8 contact points. "
        "*One force at a time*: one call of `pc.aba` without inputs, and one call for each input.",
        markdown(["", *heads.values()], rows),
        f"With {n} links, `aba` takes {aba / int(n):.2f} us per link here and {1e3 * _RUN / 50:.0f} us in the "
        "publication. One more column therefore has a larger share here: it takes "
        f"{100.0 * ratio['column / aba']:.1f} % of the time of `aba`, and {100.0 * (_ALL - _ONE) / 49 / _RUN:.1f} % in "
        f"the publication. Two calls of `aba` take {2.0 / ratio['one / aba']:.1f} times as long as the input matrix of "
        "one input. The remaining time is overhead in NumPy. With one link, nearly all of the time is call overhead: "
        f"{first['one']['median_us']:.1f} us, and {first['aba']['median_us']:.2f} us for `aba`.",
    ])  # fmt: skip


def accuracy(results: dict[str, Any]) -> str:
    """Return the tables of ``operational_accuracy.py``: function x group and oracle, robot x function."""
    groups = results["groups"]
    functions = list(dict.fromkeys(f for one in groups.values() for f in one["worst"]))
    columns = [(name, oracle) for name in groups for oracle in ("dense", "projection")]
    rows = [[_code(f), *(_error(groups[n]["worst"].get(f, {}), o) for n, o in columns)] for f in functions]
    robots: dict[str, dict[str, dict[str, float]]] = {}
    for name, worst in groups["robots"]["robots"].items():
        both = robots.setdefault(name.split(", ")[0], {})
        for f, by in worst.items():
            both.setdefault(f, {})[name] = max(by.values())
    second = [[f"`{name}`", *(_error(worst.get(f, {})) for f in functions)] for name, worst in robots.items()]
    tried, apart = _sum(groups, "independent", "redundant"), _sum(groups, "left out")
    sloppy = {f: max(by.values()) for one in groups.values() for f, by in one["sloppy"].items()}
    inexact = sum(one["inexact"] for one in groups.values())
    text = (
        f"{results['states']} random states of each of {groups['trees']['mechanisms']} random trees (gears, belts, "
        f"couplings, rotors), {groups['loops']['mechanisms'] - inexact} mechanisms with closed loops (rods with and "
        f"without mass, gears, rotors), and the shipped robots with a fixed and a floating base. Of {tried} sets of "
        f"contacts, {_sum(groups, 'redundant')} are redundant; their forces are not compared. {apart} sets that are "
        f"nearly redundant are excluded."
    )
    if inexact:
        worst = max(sloppy, key=lambda f: sloppy[f])
        text += (
            f" The tables also exclude {inexact} mechanisms that are misaligned, because a right angle is given as "
            "1.5708. Their results have an error of a few times the misalignment, here "
            f"{sloppy[worst]:.0e} ({_code(worst)})."
        )
    if left := groups["robots"]["singular"]:
        names = " and ".join(f"`{name.split(', ')[0]}`" for name in left)
        text += (
            f" Also excluded are {names} with a floating base: they are planar and have no thickness, so their mass "
            "matrix is singular."
        )
    lost = [e for one in groups.values() for e in one["worst"].get(ROUNDING, {}).values()]
    if lost and not max(lost) <= 1e-11:
        text += (
            " Rows that contain only rounding errors, such as the rows of a planar robot out of its plane, make the "
            "result of `forwardDynamics` wrong: set them to zero, or pass damping."
        )
    heads = [f"{n}: {o}" for n, o in columns]
    return "\n\n".join([
        where(results), text, markdown(["", *heads], rows),
        "Worst error of both references and both bases for the shipped robots:",
        markdown(["", *map(_code, functions)], second),
    ])  # fmt: skip


def _sum(groups: dict[str, Any], *counts: str) -> int:
    return sum(one["contacts"].get(count, 0) for one in groups.values() for count in counts)


def _code(function: str) -> str:
    name, _, of = function.partition(": ")
    return f"`{name}`" + (f", {of}" if of else "")


def _error(found: dict[str, float], oracle: str | None = None) -> str:
    if oracle is None:
        return f"{max(found.values()):.0e}" if found else "-"
    return f"{found[oracle]:.0e}" if oracle in found else "-"
