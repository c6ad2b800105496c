"""How many numbers a register has, from what LLVM says of the processor."""

from __future__ import annotations

import pytest
from llvmlite import binding

from pin_clusters._engine.native import processor


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("features", "lanes"), [({"avx512f", "avx2", "avx"}, 8), ({"avx2", "avx"}, 4), ({"avx"}, 4), ({"neon"}, 2), ((), 2)]
)
def test_lanes(monkeypatch: pytest.MonkeyPatch, features: set[str], lanes: int) -> None:
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
    assert processor.host_lanes() == lanes
