"""Which code this processor runs: levels of x86-64 (System V psABI), and how many float64 one register holds."""

from __future__ import annotations

import functools
import platform

# best first; each also needs what stands below it
LEVELS = {"x86-64-v4": 8, "x86-64-v3": 4, "x86-64-v2": 2}
"""How many float64 one register holds, by level."""
_NEEDS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}


def host_lanes(processor: str | None = None) -> int:
    """Return how many float64 one vector register holds: of a processor that is named, or of this one."""
    if processor in LEVELS:
        return LEVELS[processor]
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") or features.get("avx") else 2


@functools.cache
def levels() -> tuple[str, ...]:
    """Return the levels that this processor and its system have, best first; none where that is not known."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    flags = _flags()
    found: list[str] = []
    for level in reversed(LEVELS):
        if not flags >= _NEEDS[level]:
            break
        found.insert(0, level)
    return tuple(found)


def _flags() -> set[str]:
    """Return what Linux says of the first core."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()
