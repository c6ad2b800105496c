"""Tables of the operational family: its speed, and its accuracy; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def speed(results: dict[str, Any]) -> str:
    """Return the table of ``operational.py``."""
    robots, chains = results["robots"], results["chains"]
    names = next(iter(robots.values()))["ratio"]
    rows = [[name, *(f"{r['ratio'][name]:.2f}" for r in robots.values())] for name in names]
    rows.append(["inputs of the input matrix", *(str(r["inputs"]) for r in robots.values())])
    n, most, one, every = chains["lengths"][0], chains["lengths"][-1], chains["one / aba"], chains["all / aba"]
    return "\n\n".join([
        where(results),
        "Ratios of times; frames and contacts at four feet or hands; Pinocchio on the approximate robot.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
        f"Chains of geared links, two frames, {n} to {most} links: time grows with the number of links to the power "
        f"{chains['slope']:.2f}. With {n} links the input matrix takes {one:.2f} times `aba` for one input and "
        f"{every:.2f} times for all; one by one, all take {chains['one by one / all at once']:.1f} times as long.",
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
