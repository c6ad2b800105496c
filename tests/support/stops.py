"""Where the walks of docs/reading-the-code.md stop. ``python tests/support/stops.py`` writes the lines anew."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reading-the-code.md"
STOP = re.compile(r"(\[`(?:\w+\.)?(\w+)`\]\((\S+?\.py)#L)(\d+)(?=\))")


def corrected(page: str) -> str:
    """Return the page with each function at the line where it is defined, the nearest if there are several."""
    return STOP.sub(lambda stop: stop[1] + str(_line(stop[2], stop[3], int(stop[4]))), page)


def _line(name: str, path: str, near: int) -> int:
    text = (PAGE.parent / path).read_text(encoding="utf-8").splitlines()
    found = [i for i, line in enumerate(text, 1) if re.match(rf"\s*def {name}\(", line)]
    return min(found, key=lambda i: abs(i - near))


if __name__ == "__main__":
    PAGE.write_text(corrected(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
