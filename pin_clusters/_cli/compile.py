"""``pin-clusters compile``: fill the cache of kernels before it is needed; and what other commands say in advance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console

from .._engine import preparing as compiling
from .._engine.choice import functions_of
from .._engine.entry_points import ALL, JIT, Kernel, compiled_ahead
from .._engine.operations import FUNCTIONS, OPERATIONS, TREE
from ..model import ClusterModel
from . import common, tables

_TRACED = {TREE.name, *(one.operation.name for one in FUNCTIONS if one.specialised)}
_DYNAMICS = tuple(one.name for one in OPERATIONS if one.group == "data")
_MANY = ("rows", "placements", "projected", "simulate", "moved", "tree", "frame_jacobian")
_LOOPS = ("move", "coupling")


@contextmanager
def prepared(model: ClusterModel, *names: str, folder: Path | None = None) -> Iterator[None]:
    """Say which kernels a command will compile for a model, and let a helper begin; make the folder of results."""
    announce(model, *names)
    with nullcontext() if folder is None else common.output_folder(folder):
        yield


def announce(model: ClusterModel, *names: str) -> None:
    """Say which kernels a command will compile for a model: not those for which there is code of the robot's own."""
    own = set() if functions_of(model) is None else {*_TRACED, *_LOOPS}
    wanted = [*names, *(_LOOPS if model.closures else ())]
    compiling.announce(compiling.kernels_of(bool(model.closures), *(name for name in wanted if name not in own)))


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
    from .._engine.kernels.compiling import cache as _cache

    folder = _cache.cache_folder()
    kept = f"in {folder}" if folder is not None else "nowhere: no folder can be written"
    tables.say(out, f"{len(wanted)} kernels are kept {kept}; {len(missing)} of them are new.")
