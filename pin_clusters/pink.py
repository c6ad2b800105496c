"""Inverse kinematics with Pink for models with couplings and loops; run ``pip install pin-pink quadprog`` first."""

from typing import Any

import numpy as np

import pin_clusters as pc

from ._support import extras
from ._support.arrays import ArrayLike
from .model import check_model

pink: Any = extras.package("pink")


class Configuration(pink.Configuration):
    """A ``pink.Configuration`` of ``model.tree`` that projects q onto the constraints and uses ``pc.integrate``.

    It accepts the options of ``pink.Configuration``, such as ``collision_model=model.collision``.
    """

    def __init__(self, model: pc.ClusterModel, q: ArrayLike, **options: Any) -> None:
        check_model(model)
        self.cluster_model = model
        super().__init__(model.tree, model.tree.createData(), pc.project(model, q), copy_data=False, **options)

    def integrate(self, velocity: np.ndarray, dt: float) -> np.ndarray:
        return pc.integrate(self.cluster_model, self.q, dt * velocity[self.cluster_model.idx_v_independent])

    def integrate_inplace(self, velocity: np.ndarray, dt: float) -> None:
        self.update(self.integrate(velocity, dt))


class Coupling(pink.tasks.Task):
    """Constraint v_tree = G v for ``pink.solve_ik``, with one row per dependent velocity."""

    def __init__(self, model: pc.ClusterModel) -> None:
        super().__init__()
        self.model, self.data, self.independent = model, model.createData(), model.idx_v_independent
        self.dependent = np.setdiff1d(np.arange(model.tree.nv), self.independent)

    def compute_error(self, configuration: Any) -> np.ndarray:
        return np.zeros(len(self.dependent))  # a Configuration always satisfies the constraints

    def compute_jacobian(self, configuration: Any) -> np.ndarray:
        J = np.eye(self.model.tree.nv)
        J[:, self.independent] -= pc.coupling_jacobian(self.model, self.data, configuration.q)
        return J[self.dependent]

    def __repr__(self) -> str:
        return f"Coupling({self.model.name!r})"
