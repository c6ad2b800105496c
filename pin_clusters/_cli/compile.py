"""``pin-clusters compile``: fill the cache of kernels before it is needed; and what other commands say in advance."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from .._kernels import compiling
from .._kernels.entry_points import ALL, JIT, Kernel, compiled_ahead
from ..model import ClusterModel
from . import common, tables

_DYNAMICS = ("rnea", "aba", "crba", "minverse", "energy")
_MANY = (
    "rnea_rows", "aba_rows", "crba_rows", "minverse_rows", "rows", "placements", "projected", "simulate", "moved",
    "tree", "frame_jacobian",
)  # fmt: skip
_LOOPS = ("move", "coupling")


def announce(model: ClusterModel, *names: str) -> None:
    """Say which kernels a command will compile for a model, before anything is computed, and let a helper begin."""
    compiling.announce(needed(model, *names))


def needed(model: ClusterModel, *names: str) -> tuple[Kernel, ...]:
    """Return the kernels of a model, those that every function of closed loops needs included."""
    closed = bool(model.closures)
    return compiling.kernels_of(closed, *(_LOOPS if closed else ()), *names)


def run(robots: Sequence[str], out: Console) -> None:
    """Compile the kernels of some robots, or all."""
    wanted: Sequence[Kernel] = ALL
    if robots:
        models = [common.load(robot) for robot in robots]
        found = {kernel for model in models for kernel in needed(model, *_DYNAMICS, *_MANY)}
        if any(model.closures for model in models):
            found |= set(compiling.kernels_of(True, "project", "openness"))
        wanted = [kernel for kernel in ALL if kernel in found]
    ahead = compiled_ahead()
    if not JIT or ahead is not None:
        why = "they run as plain Python here" if ahead is None else f"they came compiled for {ahead.level}"
        tables.say(out, f"No kernel is to be compiled: {why}.")
        return
    missing = compiling.announce(wanted)
    compiling.compile_all(wanted)
    from .._kernels import _cache

    folder = _cache.cache_folder()
    kept = f"in {folder}" if folder is not None else "nowhere: no folder can be written"
    tables.say(out, f"{len(wanted)} kernels are kept {kept}; {len(missing)} of them are new.")
