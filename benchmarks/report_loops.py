"""Tables of the measurements on closed loops; ``report.py`` puts them into the pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

Render = Callable[[dict[str, Any]], str]
ALGORITHMS = ("G", "g", "rnea", "rnea, fext", "crba", "aba", "aba, fext", "Minv", "T", "U")
OTHERS = (
    ("itself", "aba(rnea)", "aba(rnea)"),
    ("differences", "G", "G: differences"),
    ("differences", "g", "g: differences"),
    ("KKT", "aba", "aba: KKT"),
    ("constraintDynamics", "aba", "aba: `pin.constraintDynamics`"),
    ("lcaba", "aba", "aba: `pin.lcaba`"),
    ("MuJoCo", "crba", "crba: MuJoCo"),
    ("MuJoCo", "rnea", "rnea: MuJoCo"),
    ("MuJoCo", "aba", "aba: MuJoCo"),
    ("dense", "rnea", "rnea: dense"),
    ("dense", "aba", "aba: dense"),
    ("twin", None, "all: equivalent model"),
)
"""Oracle, algorithm (None: the worst of all), head of the column."""


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned."""
    head = list(head)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TRACED_SINCE = "2026-11-24"
"""Date since which calls run robot-specific code by default."""


def engine(results: dict[str, Any]) -> str:
    """Return a sentence on the engine if the results are older than the present default, else an empty string."""
    if results["machine"]["date"] >= TRACED_SINCE:
        return ""
    return (
        f" **Measured with the generic kernels**, before robot-specific code became the default on {TRACED_SINCE}: "
        "`pc.aba` is now [faster](#robot-specific-code)."
    )


def where(results: dict[str, Any]) -> str:
    """Return the machine, the versions and the date of a measurement; also engine and commit, if they are recorded."""
    m = results["machine"]
    state = f", engine `{m['engine']}`, commit {m['commit']}" if "engine" in m else ""
    return (
        f"Measured on {m['cpu']}, {m['system']}, one core, {m['lanes']} SIMD lanes; Python {m['python']}, "
        f"Pinocchio {m['pinocchio']}, Numba {m['numba']}, NumPy {m['numpy']}{state}; {m['date']}."
    )


def once(page: str) -> str:
    """Return the page with its line on the machine at the first place only, if it has the same line several times."""
    lines = re.findall(r"^Measured on .+$", page, re.MULTILINE)
    if len(lines) < 2 or len(set(lines)) > 1:
        return page
    first, *rest = page.split(f"{lines[0]}\n")
    return first + f"{lines[0]}\n" + "".join(part.removeprefix("\n") for part in rest)


# --- speed ------------------------------------------------------------------------------------------------------------


def _ratio(found: dict[str, float]) -> str:
    return f"**{found['median']:.2f}** ± {100.0 * found['spread']:.0f} %"


def _us(found: dict[str, Any], name: str) -> str:
    return f"{found['times'][name]['median_us']:.2f}" if name in found["times"] else "-"


def _kernels(found: dict[str, Any]) -> list[str]:
    own, theirs = "kernel in a loop", [x for x in found["times"] if x.endswith(" in C++")]
    if not theirs:
        own, theirs = "kernel", [f"pin.{found['fastest']}"]
    quickest = min(theirs, key=lambda x: float(found["times"][x]["median_us"]))
    return [_us(found, own), _us(found, quickest), _ratio(found["kernels"])]


def _settings(found: dict[str, Any]) -> str:
    if "settings" not in found:
        return "left out: " + found["left_out"]
    s = found["settings"]
    return f"mu = {s['mu']:g}, {found['used']} iterations, error {found['error']:.0e}"


def rivalry(results: dict[str, Any], *, kernels: bool) -> str:
    """Return the table against Pinocchio's constrained algorithms."""
    head = ["robot", "nv (tree)", "loops", "rotors", "`pc.aba`", "`pin.constraintDynamics`", "`pin.lcaba`", "ratio"]
    head += ["ratio, best settings", "kernel", "Pinocchio's kernel", "ratio of kernels"] if kernels else []
    rows = []
    for name, r in results["rivalry"].items():
        row = [f"`{name}`", f"{r['nv']} ({r['nv_tree']})", f"{r['loops']}", f"{r['rotors']}"]
        row += [_us(r, x) for x in ("pc.aba", "pin.constraintDynamics", "pin.lcaba")]
        fastest = r.get("fastest")
        row.append(_ratio(r["api"][fastest]) if fastest else "-")
        if kernels:
            oracle = r.get("fastest_oracle")
            row.append(_ratio(r["api"][oracle]) if oracle else "-")
            row += _kernels(r) if "kernels" in r else ["-"] * 3
        rows.append(row)
    return markdown(head, rows)


def _tello(results: dict[str, Any]) -> str:
    t = results["tello"]
    by_hand, held = (t["ratio"][f"projection, G {how}"] for how in ("by hand", "held"))
    return (
        f"`tello` (nv = {t['nv']} of {t['nv_tree']}) has differentials, which Pinocchio cannot express. `pc.aba` takes "
        f"{_us(t, 'pc.aba')} us. The projection of Pinocchio's tree with NumPy takes "
        f"{_us(t, 'projection, G by hand')} us with hand-written G and g, a ratio of {_ratio(by_hand)}. If G and g "
        f"cost no time, it takes {_us(t, 'projection, G held')} us, a ratio of {_ratio(held)}. `pc.aba` of "
        f"`mit_humanoid`, which has only gears and belts, takes {_us(t, 'pc.aba of mit_humanoid')} us. The ratio of "
        f"`tello` to `mit_humanoid` is {_ratio(t['mit_humanoid'])}."
    )


def loops_short(results: dict[str, Any]) -> str:
    """Return what the README shows."""
    parts = [
        "Closed loops, microseconds per call of forward dynamics through the Python API. Pinocchio's constrained "
        "algorithms need a body per rod and iterate to 1e-8; rotors are armature there, rotors here. Ratio: the faster "
        "of the two over `pc.aba`.",
        rivalry(results, kernels=False),
    ]
    if "tello" in results:
        parts.append(_tello(results))
    return "\n\n".join([*parts, where(results)])


def _about_kernels(results: dict[str, Any]) -> str:
    hows = {r["kernels"]["how"] for r in results["rivalry"].values() if "kernels" in r}
    if hows == {"in loops"}:
        return "Kernels: without the overhead of a call from Python, in a compiled loop, for Pinocchio in C++."
    return "Kernels: the compiled functions themselves, both called from Python."


def loops_long(results: dict[str, Any]) -> str:
    """Return what the documentation shows."""
    parts = [
        where(results) + engine(results),
        "### Compared with Pinocchio's constrained algorithms",
        "Time per call in microseconds. Ratio: time of the faster of Pinocchio's two algorithms divided by the time of "
        "`pc.aba`, as the median of paired blocks ± half the interquartile range. " + _about_kernels(results),
        rivalry(results, kernels=True),
        "The next table shows the settings of Pinocchio's solvers. mu is the fastest value for which the solver "
        "converges (accuracy 1e-8) and the acceleration agrees with projection to 1e-8 in 8 states. *Best settings* "
        "are the fastest mu and number of iterations that reach 1e-8. They can only be found if the exact result is "
        "known.",
        markdown(
            ["robot", "joints and contacts in Pinocchio", "constraintDynamics", "lcaba"],
            (
                [f"`{name}`", f"{r.get('nv_rival', '-')}, {r.get('contacts', '-')}"]
                + [_settings(r["rivals"][solver]) for solver in ("constraintDynamics", "lcaba")]
                for name, r in results["rivalry"].items()
            ),
        ),
    ]
    if "tello" in results:
        parts += ["### Tello", _tello(results)]
    if results["project"]:
        parts += [
            "### Configurations",
            "Time per call in microseconds. `pc.project` starts with an error of 0.1 rad (0.01 m) in all joints of the "
            "loops; mean of 4 states. `pc.integrate` moves by 1 ms at random velocities of 1 rad/s. Redundant loops "
            "are not counted. Each equation of a differential counts as a loop, because it stands for a push-rod.",
            markdown(
                ["robot", "loops", "`pc.project`", "per loop", "`pc.integrate`", "`pc.aba`"],
                (
                    [
                        f"`{name}`",
                        f"{p['loops']}",
                        _us(p, "pc.project"),
                        f"{p['per_loop_us']:.1f}",
                        _us(p, "pc.integrate"),
                        _us(p, "pc.aba"),
                    ]
                    for name, p in results["project"].items()
                ),
            ),
        ]
    if results["batch"]:
        parts += [
            "### Batches",
            "Time per state on one thread in microseconds.",
            markdown(
                ["robot", "states", "`pc.batch.aba`", "`pc.aba`", "ratio"],
                (
                    [f"`{name}`", f"{b['states']}", _us(b, "pc.batch.aba"), _us(b, "pc.aba"), _ratio(b["speedup"])]
                    for name, b in results["batch"].items()
                ),
            ),
        ]
    return "\n\n".join([*parts, "### Goals", goals(results)])


def goals(results: dict[str, Any]) -> str:
    """Return all goals of closed loops, met or not."""
    found = [
        (name, g) for part in ("rivalry", "project") for name, r in results[part].items() for g in r.get("gates", ())
    ]
    found += [("tello", g) for g in results.get("tello", {}).get("gates", ())]
    return markdown(
        ["robot", "ratio or time", "measured", "goal", ""],
        (
            [f"`{name}`", g["what"], f"{g['value']:.2f}", f"{g['limit']:g}", "met" if g["met"] else "not met"]
            for name, g in found
        ),
    )


# --- accuracy ---------------------------------------------------------------------------------------------------------


def _error(errors: dict[str, float], name: str | None) -> str:
    if name is None:
        return f"{max(errors.values()):.0e}" if errors else "-"
    return f"{errors[name]:.0e}" if name in errors else "-"


def accuracy(results: dict[str, Any]) -> str:
    """Return mechanism x algorithm, compared with projection and with the other reference implementations."""
    found = results["mechanisms"]
    aligned = {name: one for name, one in found.items() if not one["misaligned"]}
    sloppy = {name: one for name, one in found.items() if one["misaligned"]}
    worst = {name: max(one["worst"]["projection"].values()) for name, one in aligned.items()}
    top = max(worst, key=lambda name: worst[name])
    states = sum(one["states"] for one in found.values())
    first = markdown(
        ["mechanism", "states", "cond(K_d)", "cond(M)", *ALGORITHMS],
        (
            [name, f"{one['states']}", f"{one['condition']:.0f}", f"{one['mass_condition']:.0e}"]
            + [_error(one["worst"]["projection"], a) for a in ALGORITHMS]
            for name, one in found.items()
        ),
    )
    second = markdown(
        ["mechanism", *(head for _, _, head in OTHERS)],
        ([name, *(_error(one["worst"].get(oracle, {}), a) for oracle, a, _ in OTHERS)] for name, one in found.items()),
    )
    golden = markdown(
        ["robot", *ALGORITHMS[:8]],
        ([name, *(_error(one["golden"], a) for a in ALGORITHMS[:8])] for name, one in results["golden"].items()),
    )
    said = (
        f"{states} random assembled states of {len(found)} mechanisms, with cond(K_d) < 1e3. The columns cond(K_d) and "
        f"cond(M) contain the largest values. The worst error compared with projection is {worst[top]:.0e} ({top}); "
        f"the goal is {results['limit']:g}."
    )
    if sloppy:
        said += (
            f" The worst error excludes {', '.join(sloppy)}: its loop cannot close exactly, so results have an error "
            "of a few times the misalignment."
        )
    said += (
        " aba(rnea) amplifies rounding errors by cond(M). Finite differences of the motion are limited by the loop "
        "residual: about 1e-13 cond(K_d) / 1e-3. The setting mu limits the accuracy of `lcaba`. An equivalent model "
        "with an error of 0 has the same constraint equations."
    )
    return "\n\n".join([
        where(results), said, "Errors compared with projection:", first,
        "Errors compared with the other references (`-`: the reference cannot express the mechanism):", second,
        "Errors compared with stored results of grbda, at its states:", golden,
    ])  # fmt: skip


def drift(results: dict[str, Any]) -> str:
    """Return the tables of drift and order."""
    swings = results["swings"]

    def posed(swing: dict[str, Any]) -> str:
        return ", ".join(f"{name} = {value:g}" for name, value in swing["start"].items())

    first = markdown(
        ["mechanism", "start [rad]", "dt [ms]", "steps", "max \\|E - E0\\| / max T over 20 s", "residual / scale",
         "cond(K_d)"],
        (
            [f"`{name}`", posed(s), f"{1e3 * d['dt']:g}", f"{d['steps']}", f"{d['energy']:.1e}", f"{d['residual']:.2e}",
             f"{d['condition']:.1f}"]
            for name, s, d in ((name, s, s["drift"]) for name, s in swings.items())
        ),
    )  # fmt: skip
    n = min(len(s["order"]["steps"]) for s in swings.values())
    second = markdown(
        ["mechanism", "over [s]", "largest step [ms]", *(f"error, step 1/{2**k}" for k in range(n)), "slope"],
        (
            [f"`{name}`", f"{o['short']:g}", f"{1e3 * o['steps'][0]:g}", *(f"{e:.1e}" for e in o["errors"][:n]),
             f"{o['slope']:.2f}"]
            for name, o in ((name, s["order"]) for name, s in swings.items())
        ),
    )  # fmt: skip
    return "\n\n".join([
        where(results),
        first,
        "Residual: the largest entry of `pc.residual` over all steps, divided by its scale and by max(1, |q| / 100 "
        "rad). The goals are 1e-13 for the residual and 1e-9 for the energy error.",
        second,
        "The next table shows the largest error of the state during the motion, for the largest step and fractions of "
        "it. The reference uses a step that is four times shorter than the shortest step in the table.",
    ])  # fmt: skip
