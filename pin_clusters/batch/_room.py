"""What kernels of one state work on, for one thread."""

from __future__ import annotations

import numpy as np

from .._kernels.entry_points import Pointer
from ..arrays import on_a_page
from ..model import ClusterModel


class Room:
    """Workspace of a model; kernels that run one after the other share it."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model._tables.work)

    def tables(self, result: np.ndarray) -> Pointer:
        """Return tables with a result, as kernels find them."""
        return Pointer(self._model._index, self._model._params, self._work, result)
