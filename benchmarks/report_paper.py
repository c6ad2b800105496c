"""Write ``docs/paper.md`` and its figures from ``results/paper.json``: ``python benchmarks/report_paper.py [--check]``.

``paper.py`` measures the results. The report replaces the text between ``<!-- generated: paper -->`` and
``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from report import fill

from pin_clusters.studies.study.paper import published

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "paper.json"
PAGE = ROOT / "docs" / "paper.md"
FIGURES = ROOT / "docs" / "figures"
PREFIX = "paper_"


def main(arguments: list[str] | None = None) -> int:
    """Write the page and the figures; with --check, only report whether the page would change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is out of date")
    check = parser.parse_args(arguments).check
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    before = PAGE.read_text(encoding="utf-8")
    after = fill(before, "paper", published.page(results, f"figures/{PREFIX}"))
    if not check:
        published.draw(results, FIGURES, PREFIX)
    if after == before:
        return 0
    print(f"docs/paper.md: {'out of date' if check else 'written'}")
    if not check:
        PAGE.write_text(after, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
