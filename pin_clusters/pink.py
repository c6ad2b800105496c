"""Pink's inverse kinematics on the couplings: loops stay closed, dependent joints follow.

Pink's tasks and limits are stated on the tree, which ``Configuration`` shows them. ``Coupling`` is handed to Pink as a
constraint, and leaves the velocities G v only; what Pink's configurations do to move goes through ``pc.integrate``:

    configuration = pin_clusters.pink.Configuration(model, q)
    coupling = pin_clusters.pink.Coupling(model)
    velocity = pink.solve_ik(configuration, tasks, dt, solver="proxqp", constraints=[coupling])
    configuration.integrate_inplace(velocity, dt)

Needs the extra ``pip install 'pin-clusters[control]'``, and a solver that qpsolvers knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._support import extras
from .algorithms.dynamics.coupling import coupling_jacobian
from .model import check_model
from .model.configuration import integrate, project

if TYPE_CHECKING:
    from .model import ClusterModel

pink = extras.base("pink")

__all__ = ["Configuration", "Coupling"]


class Configuration(pink.Configuration):
    """A ``pink.Configuration`` of ``model.tree`` that moves along ``pc.integrate``.

    Args:
        model: Cluster model.
        q: Configuration of the whole tree, shape (nq,); its couplings and loops are closed first.
        options: As of ``pink.Configuration``, such as ``collision_model=model.collision``.

    Attributes:
        cluster_model: The cluster model; ``model`` is its tree, as Pink has it.

    Raises:
        NotAvailableError: Pink is missing.
        ConfigurationError: The loops cannot be closed.
    """

    def __init__(self, model: ClusterModel, q: Any, **options: Any) -> None:
        check_model(model)
        self.cluster_model = model
        super().__init__(model.tree, model.tree.createData(), project(model, q), copy_data=False, **options)

    def integrate(self, velocity: np.ndarray, dt: float) -> np.ndarray:
        """Return where independent joints get to with a velocity of the tree; the others follow, loops closed.

        Raises:
            BranchLost: A loop cannot follow so far.
        """
        return integrate(self.cluster_model, self.q, dt * velocity[self.cluster_model.idx_v_independent])

    def integrate_inplace(self, velocity: np.ndarray, dt: float) -> None:
        """Go there."""
        self.update(self.integrate(velocity, dt))


class Coupling(pink.tasks.Task):
    """What couplings and loops leave of velocities of the tree, G v: a constraint for ``pink.solve_ik``.

    One row per dependent joint, its velocity less what the independent ones make of it. There is no error to be
    corrected, as ``Configuration.integrate`` leaves none.

    Args:
        model: Cluster model.

    Raises:
        NotAvailableError: Pink is missing.
    """

    def __init__(self, model: ClusterModel) -> None:
        super().__init__()
        self.cluster_model, self._data = model, model.createData()
        self._dependent = np.setdiff1d(np.arange(model.tree.nv), model.idx_v_independent)

    def compute_error(self, configuration: Any) -> np.ndarray:
        """Return zeros, one per dependent joint."""
        return np.zeros(len(self._dependent))

    def compute_jacobian(self, configuration: Any) -> np.ndarray:
        """Return the rows of 1 - G S that are not zero, S the choice of the independent velocities.

        Raises:
            SingularClusterError: Loops cannot be solved for their dependent joints.
        """
        J = np.eye(self.cluster_model.tree.nv)
        J[:, self.cluster_model.idx_v_independent] -= coupling_jacobian(self.cluster_model, self._data, configuration.q)
        return J[self._dependent]

    def __repr__(self) -> str:
        return f"Coupling({self.cluster_model.name!r})"
