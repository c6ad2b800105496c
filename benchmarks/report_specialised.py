"""Tables of robot-specific code, for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def tables(results: dict[str, Any]) -> str:
    """Return the tables of ``specialised.py``: trees, loops, rows, making, goals."""
    return "\n\n".join(
        [where(results), _trees(results), _loops(results), _rows(results), _made(results), _goals(results)]
    )


def _us(found: dict[str, Any], name: str) -> str:
    return f"{found['times'][name]['median_us']:.2f}"


def _trees(results: dict[str, Any]) -> str:
    rows = []
    for name, r in results["trees"].items():
        row = [f"`{name}`"]
        for f in ("rnea", "aba"):
            row += [f"{_us(r, f'{f} by tables')}", f"{_us(r, f)}", f"**{r['ratio'][f]:.3f}**"]
        rows.append([*row, ", ".join(map(str, r["limbs"])) or "-"])
    r = results["tello"]
    rows.append(["`tello`", "", "", "", _us(r, "aba by tables"), _us(r, "aba"), f"**{r['ratio']:.3f}**", "2"])
    columns = ["generic", "robot-specific", "ratio to `pin`"]
    head = ["robot", *(f"`{f}`, {column}" for f in ("rnea", "aba") for column in columns), "lanes"]
    return (
        "Time per call in microseconds with generic kernels and with robot-specific code. Ratio: robot-specific code "
        "divided by Pinocchio's time for the approximate robot (for `tello`: by the time of `pin.aba` for the "
        "approximate `mit_humanoid`). Lanes: number of identical limbs that are computed at the same time.\n\n"
        + markdown(head, rows)
    )


def _loops(results: dict[str, Any]) -> str:
    rows = [
        [f"`{name}`", _us(r, "aba by tables"), _us(r, "aba"), f"{r['gain']:.1f}", f"**{r['rival']:.1f}**"]
        for name, r in results["loops"].items()
    ]
    head = [
        "robot", "`aba`, generic [us]", "robot-specific [us]", "generic / robot-specific", "Pinocchio / robot-specific",
    ]  # fmt: skip
    return "Closed loops. Pinocchio: the faster of `pin.constraintDynamics` and `pin.lcaba`.\n\n" + markdown(head, rows)


def _rows(results: dict[str, Any]) -> str:
    rows = []
    for name, r in results["batches"].items():
        times = {f: 1e3 * r["times"][f"pc.batch.{f}"]["min_us"] for f in ("rnea", "aba")}
        least = 1e3 * r["times"]["pin.abaInParallel"]["min_us"] / times["aba"]
        ratios = [f"{r['before']['aba']:.1f}", f"**{r['speedup']['aba']:.1f}**", f"{least:.1f}"]
        rate = [f"{r['operations']:,}", f"{r['operations'] / times['aba']:.0f}"]
        rows.append([f"`{name}`", *(f"{t:.0f}" for t in times.values()), *ratios, *rate])
    head = [
        "robot", "`batch.rnea` [ns per row]", "`batch.aba` [ns per row]", "`abaInParallel` / generic",
        "`abaInParallel` / robot-specific", "the same, minima", "operations of `aba`", "operations per ns",
    ]  # fmt: skip
    return (
        "Batches on one thread. Times are minima; ratios compare medians, and in one column minima. Operations are "
        "counted for one row, before products and sums are fused. The vector units of the core limit the operations "
        "per nanosecond.\n\n" + markdown(head, rows)
    )


def _made(results: dict[str, Any]) -> str:
    rows = []
    for name, r in [*results["trees"].items(), ("tello", results["tello"]), *results["loops"].items()]:
        row = [f"`{name}`"]
        for f in ("rnea", "aba"):
            m = r["made"][f]
            row += [f"{m['kB']:.0f}", f"{m['trace_s'] + m['compile_s']:.2f} ({m['trace_s']:.2f})"]
        rows.append(row)
    head = ["robot", "`rnea` [kB]", "compile time [s] (tracing)", "`aba` [kB]", "compile time [s] (tracing)"]
    return (
        "Size of the machine code of one function, and CPU time to compile the function with an empty cache. In "
        "parentheses: the part for tracing.\n\n" + markdown(head, rows)
    )


def _goals(results: dict[str, Any]) -> str:
    found = [*results["trees"].values(), results["tello"], *results["loops"].values(), *results["batches"].values()]
    gates = [g for r in found for g in r["gates"]]
    sign = {True: "<=", False: ">="}
    missed = [f"{g['what']} {g['value']:.3f} (goal {sign[g['most']]} {g['limit']:g})" for g in gates if not g["met"]]
    verdict = "All are met" if not missed else "Not met: " + "; ".join(missed)
    return f"{len(gates)} goals, among them: no function is slower than with generic kernels. {verdict}."
