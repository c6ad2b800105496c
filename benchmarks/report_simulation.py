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
        f"Robots with springs in their joints stand on held contacts and swing for {results['duration']:g} s by up to "
        f"{max(x['turned'] for one in cases.values() for x in one.values()):.2g} rad. The method is `rkmk4`. *Energy* "
        "is the largest energy error over the largest kinetic energy, and *drift* is the largest motion of a contact "
        "[m or rad]. The columns *not corrected* are simulations without the correction after each step."
    )
    names = [s.replace("not brought back", "not corrected") for s in steps]
    return f"{text}\n\n{markdown(['', *(f'energy, {s}' for s in names), *(f'drift, {s}' for s in names)], rows)}"


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
        ["robot", "base", *(f"`{m}`" for m in METHODS), "loop residual", "switches"],
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
        ["robot", "compiled", "compiled, every step recorded", "function `tau`", "Pinocchio in Python", "ratio"],
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
        "## Order",
        f"Order of convergence, fitted over {halvings} halvings of the step. The error is the largest relative error "
        "of pose and velocity at the end; the reference is `rkmk4` with a quarter of the finest step. *Switches* "
        "counts the changes of the independent joints.",
        order,
        "## Energy",
        f"Largest energy error over the largest kinetic energy, in {first['duration']:g} s with "
        f"dt = {1e3 * first['dt']:g} ms. *Loop residual* is the largest violation of a loop-closure constraint, "
        "relative to the size of the loop.",
        drift,
        "## Speed",
        f"Microseconds per step of `rk4`, with {results['steps']} steps per call. *Pinocchio in Python* is `rk4` "
        "written with `pin.aba` and `pin.integrate`, for the approximate robot. *Ratio* is its time over the compiled "
        "time.",
        speed,
        where(results),
    ])  # fmt: skip
