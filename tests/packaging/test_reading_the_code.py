"""The walks through the code stop where they say."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reading-the-code.md"
STOPS = re.findall(r"^(\d+)\. \[`(\w+)`\]\((\S+?)#L(\d+)\)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_stops_are_at_their_lines() -> None:
    for number, name, path, line in STOPS:
        text = (PAGE.parent / path).read_text(encoding="utf-8").splitlines()
        assert re.match(rf"\s*def {name}\(", text[int(line) - 1]), (
            f"stop {number}: {name} is not at line {line} of {path}, but at "
            f"{[i for i, t in enumerate(text, 1) if re.match(rf'{chr(92)}s*def {name}{chr(92)}(', t)]}"
        )


def test_walks_are_short() -> None:
    assert [int(number) for number, *_ in STOPS] == [*range(1, 10), *range(1, 10)]
