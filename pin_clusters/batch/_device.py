"""Batches whose rows live on a GPU: they run there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import ClusterModel
from ..programs.cuda.arrays import on_gpu
from ._tables import Given


def there(given: Sequence[Given]) -> bool:
    """Whether rows live on a GPU."""
    return on_gpu(*(x.value for x in given))


def on_device(
    name: str, model: ClusterModel, given: Sequence[Given], out: Any, status: Any, **options: Any
) -> Any:  # fmt: skip
    """Run a function where its rows are; the number of threads means nothing there."""
    from ..programs.cuda.run import Argument, run  # traces and writes code: not for those whose rows are here

    return run(model, name, [Argument(x.name, x.value, x.shape) for x in given], out, status, **options)
