"""The walks through the code stop where they say."""

from __future__ import annotations

import re

from support.stops import PAGE, STOP, corrected

STOPS = STOP.findall(PAGE.read_text(encoding="utf-8"))


def test_stops_are_at_their_lines() -> None:
    for _, name, path, line in STOPS:
        text = (PAGE.parent / path).read_text(encoding="utf-8").splitlines()
        assert re.match(rf"\s*def {name}\(", text[int(line) - 1]), (
            f"{name} is not at line {line} of {path}. Cure: python tests/support/stops.py"
        )


def test_lines_are_corrected() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert corrected(STOP.sub(lambda stop: f"{stop[1]}{int(stop[4]) + 3}", page)) == page


def test_walks_are_short() -> None:
    steps = re.findall(r"^(\d+)\. \[`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(n) for n in steps] == [
        *range(1, 11),
        *range(1, 9),
        *range(1, 8),
        *range(1, 6),
        *range(1, 10),
        *range(1, 10),
    ]
