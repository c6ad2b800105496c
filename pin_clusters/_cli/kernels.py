"""What commands say in advance of the kernels that they will compile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from .._engine import preparing as compiling
from .._engine.choice import functions_of
from .._engine.operations import FUNCTIONS, TREE
from ..model import ClusterModel
from . import common

_TRACED = {TREE.name, *(one.operation.name for one in FUNCTIONS if one.specialised)}
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
