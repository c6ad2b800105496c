"""Levels of x86-64, from what the system says of the processor."""

from __future__ import annotations

import platform

import pytest

from pin_clusters._engine.native import processor

pytestmark = pytest.mark.jitless
V2 = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}
V3 = V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (set(), ()),
        (V2, ("x86-64-v2",)),
        (V3, ("x86-64-v3", "x86-64-v2")),
        (V4 | {"more"}, ("x86-64-v4", "x86-64-v3", "x86-64-v2")),
        (V4 - {"fma"}, ("x86-64-v2",)),  # a level without what is below it is none
        (V3 - {"popcnt"}, ()),
    ],
)
def test_levels(monkeypatch: pytest.MonkeyPatch, flags: set[str], expected: tuple[str, ...]) -> None:
    monkeypatch.setattr(processor, "_flags", lambda: flags)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert processor.levels.__wrapped__() == expected


def test_other_machines_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "_flags", lambda: V4)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert processor.levels.__wrapped__() == ()


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.system() != "Linux", reason="another machine")
def test_llvm_sees_the_same_processor() -> None:
    binding = pytest.importorskip("llvmlite.binding")
    features = binding.get_host_cpu_features()
    assert bool(features.get("avx512f")) == ("x86-64-v4" in processor.levels())
    assert bool(features.get("avx2") and features.get("fma")) == ("x86-64-v3" in processor.levels())
