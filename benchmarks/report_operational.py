"""Tables of the operational family: its speed, and its accuracy; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where

ROUNDING = "forwardDynamics: rows of rounding"
_RUN, _ONE, _ALL = 6.65, 12.21, 13.22
"""Published times of a chain of 50 links, [ms]: forward dynamics, input matrix of one input, of all."""


def speed(results: dict[str, Any]) -> str:
    """Return the tables of ``operational.py``."""
    robots, chains = results["robots"], results["chains"]
    names = next(iter(robots.values()))["ratio"]
    rows = [[name, *(f"{r['ratio'][name]:.2f}" for r in robots.values())] for name in names]
    rows.append(["inputs of the input matrix", *(str(r["inputs"]) for r in robots.values())])
    slopes, lengths = chains["slope"], chains["lengths"]
    return "\n\n".join([
        where(results),
        "Ratios of times; frames and contacts at four feet or hands; Pinocchio on the approximate robot.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
        f"Chains of {lengths[0]} to {lengths[-1]} geared links: the time of the inverse operational inertia of two "
        f"frames grows with the number of links to the power {slopes['osim']:.2f}, that of `aba` to "
        f"{slopes['aba']:.2f}.",
        published(results),
    ])  # fmt: skip


def published(results: dict[str, Any]) -> str:
    """Return the ratios of input matrices beside those of the literature."""
    heads = {
        "one / aba": "one input / `aba`", "all / aba": "all inputs / `aba`",
        "forces / one": "forces one by one / one input", "forces / all": "forces one by one / all inputs",
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
        "Input matrices beside the ratios that Kroeg, Gattringer and Mueller publish (in brackets; a chain of 50 "
        "links, a humanoid of 24 velocities with 18 motors and 8 contact points). Forces one by one are a run of "
        "`pc.aba` without inputs and one per input.",
        markdown(["", *heads.values()], rows),
        f"With {n} links a run of `aba` takes {aba / int(n):.2f} us per link here and {1e3 * _RUN / 50:.0f} us there, "
        f"so that one more column shows: {100.0 * ratio['column / aba']:.1f} % of a run here, "
        f"{100.0 * (_ALL - _ONE) / 49 / _RUN:.1f} % there. Two runs would be {2.0 / ratio['one / aba']:.1f} input "
        f"matrices of one input; the rest is NumPy around them. With one link the price of the call is nearly all: "
        f"{first['one']['median_us']:.1f} us, {first['aba']['median_us']:.2f} us for `aba`.",
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
        f"without mass, gears, rotors), and the shipped robots on a fixed and a floating base. {tried} sets of "
        f"contacts, of which {_sum(groups, 'redundant')} have rows that repeat each other (their forces are not "
        f"compared); {apart} whose rows nearly do are left out. Pinocchio {results['pinocchio']}."
    )
    if inexact:
        worst = max(sloppy, key=lambda f: sloppy[f])
        text += (
            f" Apart: {inexact} mechanisms with 1.5708 for a right angle, where results are known to some multiples of "
            f"the misalignment: {sloppy[worst]:.0e} ({_code(worst)})."
        )
    if left := groups["robots"]["singular"]:
        names = " and ".join(f"`{name.split(', ')[0]}`" for name in left)
        text += f" {names} on a floating base, planar without thickness, have a singular mass matrix."
    lost = [e for one in groups.values() for e in one["worst"].get(ROUNDING, {}).values()]
    if lost and not max(lost) <= 1e-11:
        text += (
            " Rows that are rounding alone, as of a planar robot out of its plane, spoil `forwardDynamics` as it is: "
            "set them to zero, or give damping."
        )
    heads = [f"{n}: {o}" for n, o in columns]
    return "\n\n".join([
        text, markdown(["", *heads], rows), "The shipped robots, the worse of both oracles and bases:",
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
