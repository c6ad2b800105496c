"""Measure the papers' tables and figures: ``python benchmarks/paper.py [--quick]``; some minutes.

What it measures is ``studies/study/paper/published.py``, as ``pin-clusters paper`` does. Writes ``results/paper.json``,
``docs/figures/paper_*.png`` and the page ``docs/paper.md``; with ``--quick`` nothing, unless told where.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import report_paper

from pin_clusters.studies.study.paper import published


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repeats; a first impression")
    parser.add_argument("--only", nargs="+", metavar="PART", help="some parts only; they replace those in the file")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/paper.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    print(f"this takes {published.expected(quick=chosen.quick, only=chosen.only).said}", flush=True)
    results = published.run(quick=chosen.quick, only=chosen.only)
    for s in published.statements(results):
        print(f"{s.verdict}: {s.text}\n    {s.measured}")
    output = chosen.output or (None if chosen.quick else report_paper.RESULTS)
    if output is None:
        return 0
    if chosen.only and output.is_file():
        before = json.loads(output.read_text(encoding="utf-8"))
        for key in ("parts", "seconds"):
            results[key] = before[key] | results[key]
    output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten: {output}")
    return report_paper.main([]) if output == report_paper.RESULTS else 0


if __name__ == "__main__":
    sys.exit(main())
