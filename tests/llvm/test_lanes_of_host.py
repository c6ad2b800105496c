"""How many numbers a register has, from what LLVM says of the processor."""

from __future__ import annotations

import pytest

from pin_clusters.compiler.machine_code import machine


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("features", "lanes"),
    [("+avx512vl,+avx2,+avx", 8), ("-avx512vl,+avx2,+avx", 4), ("+avx", 4), ("+neon", 2), ("", 2)],
)
def test_lanes(monkeypatch: pytest.MonkeyPatch, features: str, lanes: int) -> None:
    monkeypatch.setattr(machine, "host", lambda: machine.Host("", "", features))
    assert machine.lanes_of_host() == lanes
    assert machine.lanes_of_host("float") == 2 * lanes
