"""Write the measured sweeps into the documentation: ``python benchmarks/report_sweeps.py [--check]``.

Reads ``results/sweep.json``, which ``sweep.py`` writes, and fills the text between ``<!-- generated: KEY -->`` and
``<!-- end -->`` in ``docs/measured/sweeps.md``. Keys: ``sweep effort``, ``sweep processors``, ``sweep robots``,
``sweep ratio``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from report import fill
from report_loops import markdown

from pin_clusters.approximations import LABELS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sweep.json"
PAGE = ROOT / "docs" / "measured" / "sweeps.md"
RUNS = {
    "pool": "process pool",
    "dask": "local Dask cluster",
    "interrupted": "process pool, interrupted by Ctrl-C",
    "resumed": "continued with `--resume`",
}
QUANTITIES = {"inverse": "inverse dynamics", "forward": "forward dynamics", "base": "floating base in flight"}


def effort(results: dict[str, Any]) -> str:
    """Return the table of times and memory."""
    rows = []
    busy = f". The machine was also running other jobs (load {results['load']:.1f})" if results["load"] > 0.5 else ""
    for key, name in RUNS.items():
        one = results[key]
        spent = one.get("effort", {})
        memory = f"{spent['own_mb']:.0f} + {results['workers']} x {spent['largest_worker_mb']:.0f}" if spent else "-"
        rows.append([
            name, f"{one['seconds']:.0f}", f"{one['exit_code']}", f"{one['chunks']}", memory,
            f"`{one['digest'][:16]}`" if "digest" in one else "-",
        ])  # fmt: skip
    m, stopped = results["machine"], results["interrupted"]
    said = (
        f"{results['robots']} robots x {results['states']} states, {results['workers']} worker processes, on "
        f"{m['cpu']}, {m['system']}; Python {m['python']}, Pinocchio {m['pinocchio']}, Numba {m['numba']}, "
        f"NumPy {m['numpy']}; {m['date']}. The times are from the start of the command "
        f"to its end, including the figure{busy}."
    )
    verdict = "All results are bitwise identical." if results["identical"] else "THE RESULTS DIFFER."
    head = ["", "time [s]", "exit code", "chunks written", "peak memory [MB]: command + workers", "digest"]
    after = (
        f"{verdict} After Ctrl-C, the command ended within {stopped['seconds_to_stop']:.1f} s with the message: "
        f"`{_anonymous(stopped['stderr'])}`"
    )
    return "\n\n".join([said, markdown(head, rows), after])


def _anonymous(text: str) -> str:
    """Return a message without the temporary folder of the measurement."""
    last = text.splitlines()[-1]  # earlier lines may report compilations
    return " ".join(part if not part.startswith("/") else "robots:" for part in last.split())


def processors(results: dict[str, Any]) -> str:
    """Return the table of differences between two processors."""
    p = results["processors"]
    rows = [
        [QUANTITIES[name], f"{q['of_exact']:.0e}", f"{q['of_error']:.0e}", f"{q['smallest_error']:.0e}"]
        for name, q in p["quantities"].items()
    ]
    head = [
        "", "difference / exact quantity", "difference / error", "that error / exact quantity",
    ]  # fmt: skip
    said = (
        f"{p['robots']} robots x {results['states']} states, computed with code for this processor and with code for "
        "the oldest x86-64 processor (no AVX, no fused multiply-add). The table shows the largest differences over all "
        "robots and approximations."
    )
    return f"{said}\n\n{markdown(head, rows)}"


def robots(results: dict[str, Any]) -> str:
    """Return the table of errors over the robots."""
    e = results["errors"]
    rows = []
    for name, label in QUANTITIES.items():
        for level, mean in e["mean"][name].items():
            share = [100.0 * e["quantiles"][f"{name}_share"][q][level] for q in ("0.05", "0.5", "0.95")]
            parts = (f"{x:.2g}" if x < 100.0 else f"{x:.0f}" for x in share)
            rows.append([f"{label} [{e['units'][name]}], {LABELS[level]}", f"{mean:.3g}", *parts])
    head = ["", "mean error", "5th percentile [%]", "median [%]", "95th percentile [%]"]
    said = (
        f"{results['robots']} robots with {e['links']} links and {e['belts']} belts, {e['with_floating_base']} of them "
        f"with a floating base, {results['states']} states each."
    )
    return f"{said}\n\n{markdown(head, rows)}"


def ratio(results: dict[str, Any]) -> str:
    """Return the table of errors over the ratio."""
    r = results["ratio"]
    pairs = [(joint, level) for joint in r["joints"] for level in ("diagonal", "block")]
    shown = [(j, k) for j, k in pairs if k == "diagonal" or r["rms_error"][k][j] != r["rms_error"]["diagonal"][j]]
    head = ["f", *(f"{joint}, {level}" for joint, level in shown)]
    rows = [
        [f"{f:.3g}", *(f"{r['rms_error'][level][joint][i]:.3g}" for joint, level in shown)]
        for i, f in enumerate(r["factors"])
    ]
    own = ", ".join(f"{j} {x:g}" for j, x in zip(r["joints"], r["ratio_at_factor_1"], strict=True) if x is not None)
    said = (
        f"RMS torque error of `{r['robot']}` [{r['units'][0]}]. The motion is {r['motion']}. The gear ratios at f = 1 "
        f"are {own}. Block armature is shown where it differs from diagonal armature, at joints with a belt."
    )
    return f"{said}\n\n{markdown(head, rows)}"


SECTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "sweep effort": effort,
    "sweep processors": processors,
    "sweep robots": robots,
    "sweep ratio": ratio,
}


def main(arguments: list[str] | None = None) -> int:
    """Write the page; with --check, only report whether it would change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is out of date")
    parser.add_argument("--results", type=Path, default=RESULTS, help="results of sweep.py")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page")
    chosen = parser.parse_args(arguments)
    results = json.loads(chosen.results.read_text(encoding="utf-8"))
    before = chosen.page.read_text(encoding="utf-8")
    after = before
    for key, render in SECTIONS.items():
        after = fill(after, key, render(results))
    if after == before:
        return 0
    print(f"{chosen.page.name}: {'out of date' if chosen.check else 'written'}")
    if not chosen.check:
        chosen.page.write_text(after, encoding="utf-8")
    return 1 if chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
