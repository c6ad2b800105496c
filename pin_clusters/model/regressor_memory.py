"""Where the regressors of a data object stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import entry_points as kernels
from .._engine.calls.records import DataDesk
from .._support.arrays import on_a_page
from .regressor_tables import regressor_tables

if TYPE_CHECKING:
    from .cluster_model import ClusterModel

NAMES = ("torque", "static", "kinetic", "potential")


class RegressorMemory:
    """Tables of the regressors, and results: many robots never need either.

    Attributes:
        pointer: Tables.
        torque: Shape (nv, parameters); what is always zero is never written.
        static: Shape (3, parameters less six per body).
        kinetic: Shape (parameters,).
        potential: Shape (parameters,).
    """

    __slots__ = (*NAMES, "pointer")

    def __init__(self, model: ClusterModel, out: np.ndarray) -> None:
        """Make them.

        Args:
            model: The model.
            out: The tree's; G and its bias stand there.
        """
        index, params, work, (at, nv, width) = regressor_tables(model)
        index, params, work = on_a_page(index, params, work)
        self.pointer = kernels.Pointer(index, params, work, out)
        self.torque = self.pointer.arrays[2][at : at + nv * width].reshape(nv, width)
        self.static = np.zeros((3, width - 6 * (model.njoints - 1)))
        self.kinetic, self.potential = np.zeros((2, width))

    def put_on(self, desk: DataDesk) -> None:
        """Write shapes and places to a desk."""
        desk.put(parameters=self.kinetic.size, static_columns=self.static.shape[1])
        desk.put(regressor=self.torque.shape, static_regressor=self.static.shape)
        desk.put(static=self.static, kinetic=self.kinetic, potential=self.potential)

    def results(self) -> dict[str, np.ndarray]:
        """Return what a copy takes over."""
        return {name: getattr(self, name) for name in NAMES}

    def take(self, results: dict[str, np.ndarray]) -> None:
        """Take over results."""
        for name, array in results.items():
            getattr(self, name)[...] = array
