"""Tables of specialised models, for ``report.py``."""

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
    head = ["robot", "`rnea` by tables", "specialised", "/ `pin`", "`aba` by tables", "specialised", "/ `pin`", "lanes"]
    return (
        "Microseconds per call, and over Pinocchio's of the approximate robot (for `tello` over `pin.aba` of the "
        "approximate `mit_humanoid`); lanes: how many equal limbs are computed at once.\n\n" + markdown(head, rows)
    )


def _loops(results: dict[str, Any]) -> str:
    rows = [
        [f"`{name}`", _us(r, "aba by tables"), _us(r, "aba"), f"{r['gain']:.1f}", f"**{r['rival']:.1f}**"]
        for name, r in results["loops"].items()
    ]
    head = ["robot", "`aba` by tables [us]", "specialised [us]", "gain", "faster rival / specialised"]
    return "Closed loops, against the faster of `pin.constraintDynamics` and `pin.lcaba`.\n\n" + markdown(head, rows)


def _rows(results: dict[str, Any]) -> str:
    rows = []
    for name, r in results["batches"].items():
        times = {f: 1e3 * r["times"][f"pc.batch.{f}"]["min_us"] for f in ("rnea", "aba")}
        least = 1e3 * r["times"]["pin.abaInParallel"]["min_us"] / times["aba"]
        ratios = [f"{r['before']['aba']:.1f}", f"**{r['speedup']['aba']:.1f}**", f"{least:.1f}"]
        rate = [f"{r['operations']:,}", f"{r['operations'] / times['aba']:.0f}"]
        rows.append([f"`{name}`", *(f"{t:.0f}" for t in times.values()), *ratios, *rate])
    head = [
        "robot", "`batch.rnea` [ns a row]", "`batch.aba` [ns a row]", "`abaInParallel` / by tables", "/ specialised",
        "of minima", "operations of `aba`", "a nanosecond",
    ]  # fmt: skip
    return (
        "Rows, on one thread: minima, and ratios of medians and of minima. Operations are those of one row before "
        "products and sums are fused; how many a core does in a nanosecond is bound by its units for registers of this "
        "width.\n\n" + markdown(head, rows)
    )


def _made(results: dict[str, Any]) -> str:
    rows = []
    for name, r in [*results["trees"].items(), ("tello", results["tello"]), *results["loops"].items()]:
        row = [f"`{name}`"]
        for f in ("rnea", "aba"):
            m = r["made"][f]
            row += [f"{m['kB']:.0f}", f"{m['trace_s'] + m['compile_s']:.2f} ({m['trace_s']:.2f})"]
        rows.append(row)
    head = ["robot", "`rnea` [kB]", "made in [s] (tracing)", "`aba` [kB]", "made in [s] (tracing)"]
    return "Object code of one function, and CPU time to make it with nothing kept.\n\n" + markdown(head, rows)


def _goals(results: dict[str, Any]) -> str:
    found = [*results["trees"].values(), results["tello"], *results["loops"].values(), *results["batches"].values()]
    gates = [g for r in found for g in r["gates"]]
    sign = {True: "<=", False: ">="}
    missed = [f"{g['what']} {g['value']:.3f} (goal {sign[g['most']]} {g['limit']:g})" for g in gates if not g["met"]]
    verdict = "all are met" if not missed else "missed: " + "; ".join(missed)
    return f"{len(gates)} goals, among them that nothing is slower than by tables: {verdict}."
