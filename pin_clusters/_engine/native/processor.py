"""Which code this processor runs: levels of x86-64 (System V psABI)."""

from __future__ import annotations

import functools
import platform

# best first; each also needs what stands below it
LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2")
_NEEDS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}


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
