"""What kernels of one state work on, for one thread."""

from __future__ import annotations

import numpy as np

from .._engine import entry_points as kernels
from .._support.arrays import on_a_page
from ..model import ClusterModel


class Room:
    """Workspace of a model; kernels that run one after the other share it."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model._tables.work)

    def tables(self, result: np.ndarray) -> kernels.Pointer:
        """Return tables with a result, as kernels find them."""
        return kernels.Pointer(self._model._index, self._model._params, self._work, result)
