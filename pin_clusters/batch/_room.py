"""What kernels of one state work on, for one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from .._engine import entry_points as kernels
from .._support.arrays import on_a_page
from ..model import ClusterModel
from ._kept import kept


class Room:
    """Workspace of a model; kernels that run one after the other share it."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model._tables.work)

    def tables(self, result: np.ndarray) -> kernels.Pointer:
        """Return tables with a result, as kernels find them."""
        return kernels.Pointer(self._model._index, self._model._params, self._work, result)


class PackRooms:
    """Workspaces of kernels on packs, one per thread, kept for the next call: making one takes as long as many rows."""

    def __init__(self, model: ClusterModel, use: str, sizes: Sequence[int]) -> None:
        """Look for what was kept.

        Args:
            model: Cluster model.
            use: Of the workspaces: kernels for other uses leave other numbers in them.
            sizes: How many packs each of the lines has that stand beside the workspace.
        """
        self._model, self._sizes = model, tuple(sizes)
        self._spare: deque[list[np.ndarray]] = kept(model, ("packs", use, self._sizes), deque)
        self._taken: list[list[np.ndarray]] = []

    def take(self) -> list[np.ndarray]:
        """Return a workspace and its lines until they are given back; packs begin where cache lines do."""
        try:
            found = self._spare.pop()
        except IndexError:
            lanes = kernels.lanes()
            work = np.repeat(self._model._tables.work[:, None], lanes, axis=1)
            found = on_a_page(work, *(np.zeros((size, lanes)) for size in self._sizes))
        self._taken.append(found)
        return found

    def give_back(self) -> None:
        """Keep all that were taken."""
        self._spare.extend(self._taken)
