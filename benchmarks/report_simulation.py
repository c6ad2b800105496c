"""Tables of the measurements on simulation; ``report.py`` puts them into the page."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where

METHODS = ("rk4", "rkmk4", "semi_implicit")


def _drift(found: dict[str, Any]) -> str:
    return f"{found['energy']:.0e}" if "energy" in found else "stops"


def _openness(found: dict[str, Any]) -> str:
    worst = max(found[m].get("residual", 0.0) for m in METHODS)
    return f"{worst:.0e}" if worst else "-"


def standing(results: dict[str, Any]) -> str:
    """Return energy and drift of robots that stand and swing."""
    cases = results["cases"]
    steps = list(next(iter(cases.values())))
    rows = [
        [f"`{name.partition(',')[0]}`,{name.partition(',')[2]}", *(f"{one[s]['energy']:.0e}" for s in steps)]
        + [f"{one[s]['drift']:.0e}" for s in steps]
        for name, one in cases.items()
    ]
    text = (
        f"Robots that stand on contacts, held up by springs in their joints, and swing for {results['duration']:g} s "
        f"by up to {max(x['turned'] for one in cases.values() for x in one.values()):.2g} rad, with `rkmk4`: error of "
        "the energy over the largest kinetic energy, and how far contacts move, in metres or rad, by step; also with "
        "contacts that are not brought back after each step."
    )
    return f"{text}\n\n{markdown(['', *(f'energy, {s}' for s in steps), *(f'drift, {s}' for s in steps)], rows)}"


def tables(results: dict[str, Any]) -> str:
    """Return order, drift and speed."""
    motions = results["motions"]
    first = next(iter(motions.values()))["drift"]
    order = markdown(
        ["robot", "base", "largest step [ms]", "over [s]", "switches", *(f"`{m}`" for m in METHODS)],
        (
            [f"`{name}`", one["base"], f"{1e3 * o['steps'][0]:g}", f"{o['short']:g}", f"{o['switches']}"]
            + [f"{o['methods'][m]['slope']:.2f}" for m in METHODS]
            for name, one, o in ((name, one, one["order"]) for name, one in motions.items())
        ),
    )
    halvings = len(next(iter(motions.values()))["order"]["steps"]) - 1
    drift = markdown(
        ["robot", "base", *(f"`{m}`" for m in METHODS), "loops open by", "switches"],
        (
            [
                f"`{name}`",
                one["base"],
                *(_drift(d[m]) for m in METHODS),
                _openness(d),
                f"{d['rk4'].get('switches', 0)}",
            ]
            for name, one, d in ((name, one, one["drift"]["methods"]) for name, one in motions.items())
        ),
    )
    speed = markdown(
        ["robot", "compiled", "compiled, every step kept", "`tau` a function", "Pinocchio in Python", "ratio"],
        (
            [
                f"`{name}`",
                *(f"{us[k]:.1f}" for k in ("compiled", "compiled, every step kept", "function")),
                f"{us['pinocchio']:.1f}" if "pinocchio" in us else "-",
                f"**{one['ratio']['compiled']:.1f} x**" if "ratio" in one else "-",
            ]
            for name, one, us in ((name, one, one["us_per_step"]) for name, one in results["speed"].items())
        ),
    )
    return "\n\n".join([
        "### Order",
        f"Slope of the error at the end over {halvings} halvings of the step. The error is the largest of pose and "
        "velocity (relative), against `rkmk4` with a quarter of the finest step. *Switches* are changes of independent "
        "joints during that time.",
        order,
        "### Energy",
        f"Largest energy error over the largest kinetic energy, during {first['duration']:g} s with "
        f"dt = {1e3 * first['dt']:g} ms. Loops are open by the worst row over its scale.",
        drift,
        "### Speed",
        f"Microseconds per step of `rk4`, {results['steps']} steps per call. *Pinocchio in Python* is the same method "
        "written with `pin.aba` and `pin.integrate`, on the approximate robot; *ratio* is its time over the "
        "compiled one.",
        speed,
        where(results),
    ])  # fmt: skip
