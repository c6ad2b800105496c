"""Use ``pin.constraintDynamics`` and ``pin.lcaba`` for closed loops; the results are exact within tolerances.

Both algorithms need a tree and contacts. Contacts can close these loops:

===============  ====================================================================================================
closure          contacts
===============  ====================================================================================================
spherical loop   one 3D contact
planar pin       one 3D contact if its third row is redundant (planar mechanisms)
fixed loop       one 6D contact
revolute loop    one 3D contact if the other rows are redundant (planar mechanisms), else two 3D contacts on the axis
rod with mass    a slender body on a universal joint, and a 3D contact at its end
all others       NotAvailableError: massless rods, other loops, closures of angles, couplings, rotors
===============  ====================================================================================================

With ``rotors="armature"``, rotors that are not bodies are approximated by armature on the joints that drive them, and
their mass is added to the carriers. The approximation omits effects of carrier motion, and the off-diagonal terms of
rotors that several joints drive.

This module avoids the following problems of Pinocchio. Redundant rows need a regularisation, because ``mu = 0`` gives
NaN. ``lcaba`` needs a prior call of ``computeJointMinimalOrdering``, and a mu below the default reduces its accuracy.
The two algorithms must not share constraint data. In Pinocchio 4.1, a second call of ``lcaba`` with 6D contacts and the
same ``pin.Data`` returns wrong results without an error, so each call creates new data.
"""

from typing import Any, Literal

import numpy as np
import pinocchio as pin

from ...errors import ModelError, NotAvailableError
from ...model import ClusterModel, expand, joint_forces
from ..null_space import null_space
from ._contacts import Cut, refuse
from ._workspace import check, of_accelerations

SETTINGS = {"constraintDynamics": (1e-12, 1e-8, 10), "lcaba": (1e-12, 1e-4, 5)}
"""Default accuracy, mu and maximum number of iterations of each solver."""


class ConstrainedWorkspace:
    """Workspace with Pinocchio's tree, contacts and data.

    Attributes:
        model: The cluster model.
        solver: ``"constraintDynamics"`` or ``"lcaba"``.
        tree: Pinocchio's model: the user's joints in depth-first order, and one body per rod.
        data: Pinocchio's data of this tree.
        contacts: Pinocchio's constraint models.
        contact_datas: Data of the constraint models.
        settings: Pinocchio's ``ProximalSettings``, which also contain the number of iterations of the last call.
    """

    def __init__(self, model: ClusterModel, solver: str, settings: tuple[float, float, int], rotors: str) -> None:
        self.model, self.solver = model, solver
        refuse(model, rotors)
        self.cut = Cut(model, model.q_reference)
        self.tree, self.contacts = self.cut.tree, self.cut.contacts
        self.data = self.tree.createData()
        self.contact_datas = pin.StdVec_RigidConstraintData()
        self.contact_datas.extend([contact.createData() for contact in self.contacts])
        self.settings = pin.ProximalSettings(*settings)
        self._renewed = solver == "lcaba" and any(c.type == pin.ContactType.CONTACT_6D for c in self.contacts)
        if solver == "lcaba":
            pin.computeJointMinimalOrdering(self.tree, self.data, self.contacts)
        else:
            try:
                pin.initConstraintDynamics(self.tree, self.data, self.contacts, self.contact_datas)
            except TypeError:  # Pinocchio before version 4 has no argument for constraint data
                pin.initConstraintDynamics(self.tree, self.data, self.contacts)
        self.loops = null_space(model, expand(model))
        self.independent = self.cut.at_v[model.idx_v_independent]

    def solve(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Compute the acceleration of the tree; the torques and all vectors have the order of the tree."""
        if self._renewed:
            self.data = self.tree.createData()
            pin.computeJointMinimalOrdering(self.tree, self.data, self.contacts)
        solve = pin.lcaba if self.solver == "lcaba" else pin.constraintDynamics
        return solve(self.tree, self.data, q, v, tau, self.contacts, self.contact_datas, self.settings)

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute q and v of the tree for a state of the cluster model."""
        if self.loops is None:
            return self.cut.state(q, self.model.coupling_matrix @ v)
        self.loops.at(q)
        return self.cut.state(q, self.loops.G @ v)


def createData(
    model: ClusterModel,
    solver: Literal["constraintDynamics", "lcaba"] = "constraintDynamics",
    *,
    accuracy: float | None = None,
    mu: float | None = None,
    iterations: int | None = None,
    rotors: Literal["refuse", "armature"] = "refuse",
) -> ConstrainedWorkspace:
    """Create a workspace for ``aba`` of this module; use one per thread.

    Args:
        model: Cluster model.
        solver: Pinocchio's algorithm.
        accuracy: Stopping accuracy of the proximal iterations; by default 1e-12.
        mu: Regularisation; by default 1e-8, or 1e-4 for lcaba.
        iterations: Maximum number of proximal iterations; by default 10, or 5 for lcaba.
        rotors: ``"refuse"`` raises an error for rotors that are not bodies; ``"armature"`` approximates them by
            armature.

    Raises:
        NotAvailableError: The solver does not support the model, or this version of Pinocchio has no such solver.
        ModelError: An option is unknown.
    """
    if solver not in SETTINGS or rotors not in ("refuse", "armature"):
        raise ModelError(
            f"constrained.createData: solver must be one of {', '.join(SETTINGS)}, and rotors must be 'refuse' or "
            f"'armature', got {solver!r} and {rotors!r}."
        )
    if not hasattr(pin, solver):
        raise NotAvailableError(f"pinocchio {pin.__version__} has no {solver}; it requires pinocchio 4 or later.")
    options = (accuracy, mu, iterations)
    settings = tuple(d if x is None else x for x, d in zip(options, SETTINGS[solver], strict=True))
    return ConstrainedWorkspace(model, solver, (settings[0], settings[1], int(settings[2])), rotors)


@of_accelerations
def aba(
    model: ClusterModel, data: ConstrainedWorkspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the accelerations for given torques with the solver of the workspace."""
    check(model, data, ConstrainedWorkspace, __name__)
    full_q, full_v = data.state(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
    torque = np.zeros(data.tree.nv)
    torque[data.independent] = tau
    if fext is not None:
        forces = joint_forces(data.tree, data.cut.ids, fext)
        zero = np.zeros(data.tree.nv)
        free = pin.rnea(data.tree, data.data, full_q, zero, zero).copy()
        torque += free - pin.rnea(data.tree, data.data, full_q, zero, zero, forces)
    return data.solve(full_q, full_v, torque)[data.independent]
