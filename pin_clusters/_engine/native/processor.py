"""How many float64 one register of this processor holds."""

from __future__ import annotations


def host_lanes() -> int:
    """Return how many."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") or features.get("avx") else 2
