"""Optimal control by Crocoddyl of any cluster model, with contacts: states, dynamics, and residuals for its costs.

    state = pin_clusters.crocoddyl.State(model)
    dynamics = pin_clusters.crocoddyl.DifferentialActionModel(state, motors, contacts, costs)
    step = crocoddyl.IntegratedActionModelEuler(dynamics, 0.01)

Derivatives are those of ``pc.computeABADerivatives`` and ``pc.computeConstraintDynamicsDerivatives``: exact, with rotors
and closed loops. Costs, activations, integrators, solvers and the residual of controls are Crocoddyl's own. Its classes
of robots are not used: they know no couplings, and those of its wheel 3.2.1 end the process with pin 4.1.

Needs the extra ``pip install 'pin-clusters[control]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ._support import extras
from ._support.arrays import numbers
from .algorithms.contacts.contacts import constraintDynamics
from .algorithms.contacts.derivatives import computeConstraintDynamicsDerivatives
from .algorithms.dynamics.aba import aba
from .algorithms.dynamics.derivatives import computeABADerivatives
from .algorithms.kinematics.centroidal import centerOfMass, jacobianCenterOfMass
from .algorithms.kinematics.derivatives import computeForwardKinematicsDerivatives, getFrameVelocityDerivatives
from .algorithms.kinematics.jacobians import computeJointJacobians, getFrameJacobian
from .algorithms.kinematics.kinematics import forwardKinematics, getFrameVelocity, updateFramePlacement
from .errors import ShapeError, SingularClusterError
from .model import check_model
from .model.configuration import dDifference, difference, dIntegrate, integrate, neutral, randomConfiguration

if TYPE_CHECKING:
    from .model import ClusterModel

croc = extras.base("crocoddyl")
_ALIGNED = pin.LOCAL_WORLD_ALIGNED

__all__ = [
    "DifferentialActionData", "DifferentialActionModel", "ResidualModelCoMPosition", "ResidualModelForce",
    "ResidualModelFramePlacement", "ResidualModelFrameVelocity", "ResidualModelState", "State",
]  # fmt: skip


class State(croc.StateAbstract):
    """States x = [q, v] of a cluster model: any joints, floating bases, rotors as bodies, loops.

    Args:
        model: Cluster model.

    Attributes:
        model: The same.
        forces: Forces of the contacts at the state that costs are asked for, and their derivatives by x and u.

    Raises:
        NotAvailableError: Crocoddyl is missing.
    """

    def __init__(self, model: ClusterModel) -> None:
        check_model(model)
        super().__init__(model.nq + model.nv, 2 * model.nv)
        self.model = model
        self.forces: tuple[np.ndarray, ...] | None = None

    def zero(self) -> np.ndarray:
        """Return the neutral configuration at rest."""
        return np.concatenate([neutral(self.model), np.zeros(self.nv)])

    def rand(self) -> np.ndarray:
        """Return a random state."""
        return np.concatenate([randomConfiguration(self.model), np.random.default_rng().normal(size=self.nv)])

    def diff(self, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
        """Return x1 less x0, shape (2 nv,)."""
        moved = difference(self.model, x0[: self.nq], x1[: self.nq])
        return np.concatenate([moved, x1[self.nq :] - x0[self.nq :]])

    def integrate(self, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return x moved by dx, loops closed."""
        q = integrate(self.model, x[: self.nq], dx[: self.nv])
        return np.concatenate([q, x[self.nq :] + dx[self.nv :]])

    def Jdiff(self, x0: np.ndarray, x1: np.ndarray, firstsecond: Any = None) -> Any:
        """Return the derivatives of ``diff`` by its arguments, or by one of them."""
        return self._chosen(dDifference(self.model, x0[: self.nq], x1[: self.nq]), -1.0, firstsecond)

    def Jintegrate(self, x: np.ndarray, dx: np.ndarray, firstsecond: Any = None, _: Any = None) -> Any:
        """Return the derivatives of ``integrate`` by its arguments, or by one of them."""
        return self._chosen(dIntegrate(self.model, x[: self.nq], dx[: self.nv]), 1.0, firstsecond)

    def JintegrateTransport(self, x: np.ndarray, dx: np.ndarray, Jin: np.ndarray, firstsecond: Any) -> np.ndarray:
        """Return a derivative of ``integrate`` times a matrix."""
        return self.Jintegrate(x, dx, firstsecond) @ Jin

    def _chosen(self, of_q: tuple[np.ndarray, ...], first: float, which: Any) -> Any:
        both = [sign * np.eye(self.ndx) for sign in (first, 1.0)]
        for J, block in zip(both, of_q, strict=True):
            J[: self.nv, : self.nv] = block
        return both if which in (None, croc.Jcomponent.both) else both[which == croc.Jcomponent.second]


class _Residual(croc.ResidualModelAbstract):
    """A residual whose data has a workspace of the robot."""

    def __init__(self, state: State, nr: int, nu: int, v_dependent: bool = False, u_dependent: bool = False) -> None:
        super().__init__(state, nr, nu, True, v_dependent, u_dependent)
        self.space = state

    def createData(self, data: Any) -> Any:
        """Make its data."""
        found = croc.ResidualDataAbstract(self, data)
        found.robot = self.space.model.createData()
        return found


class ResidualModelState(_Residual):
    """What the state differs by from a reference; Crocoddyl's own takes ``Jdiff`` of spaces made in Python for identity.

    Args:
        state: ``State``.
        reference: State, shape (nq + nv,).
        nu: Number of controls.
    """

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, state.ndx, nu, v_dependent=True)
        self.reference = reference

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute the residual."""
        data.r[:] = self.space.diff(self.reference, x)

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute its derivative."""
        data.Rx[:] = self.space.Jdiff(self.reference, x, croc.Jcomponent.second)


class ResidualModelFramePlacement(_Residual):
    """Logarithm of the way from a placement to that of a frame, in its axes, or from a position, in the world's.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: ``pin.SE3`` in the world; or a position, shape (3,), [m].
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: Any, nu: int) -> None:
        self.turns = isinstance(reference, pin.SE3)
        super().__init__(state, 6 if self.turns else 3, nu)
        self.frame_id, self.reference = frame_id, reference

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute the residual."""
        model = self.space.model
        computeJointJacobians(model, data.robot, x[: model.nq])
        M = updateFramePlacement(model, data.robot, self.frame_id)
        data.away = self.reference.actInv(M) if self.turns else M.translation - self.reference
        data.r[:] = pin.log6(data.away).vector if self.turns else data.away

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute its derivative; after ``calc``."""
        at = self.space.model, data.robot, self.frame_id
        J = pin.Jlog6(data.away) @ getFrameJacobian(*at, pin.LOCAL) if self.turns else getFrameJacobian(*at, _ALIGNED)
        data.Rx[:, : self.space.nv] = J[: self.nr]


class ResidualModelFrameVelocity(_Residual):
    """Velocity of a frame less what it shall be.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: ``pin.Motion``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``, of both.
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: pin.Motion, reference_frame: Any, nu: int) -> None:
        super().__init__(state, 6, nu, v_dependent=True)
        self.at, self.reference = (frame_id, reference_frame), reference

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute the residual."""
        model = self.space.model
        forwardKinematics(model, data.robot, x[: model.nq], x[model.nq :])
        data.r[:] = (getFrameVelocity(model, data.robot, *self.at) - self.reference).vector

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute its derivatives."""
        model = self.space.model
        frame, axes = self.at
        aligned = axes == _ALIGNED  # Pinocchio's derivatives there are not those of these components
        computeForwardKinematicsDerivatives(model, data.robot, x[: model.nq], x[model.nq :])
        by_q, by_v = getFrameVelocityDerivatives(model, data.robot, frame, pin.LOCAL if aligned else axes)
        if aligned:
            v, R = getFrameVelocity(model, data.robot, frame), updateFramePlacement(model, data.robot, frame).rotation
            by_q -= np.vstack([pin.skew(x) @ by_v[3:] for x in (v.linear, v.angular)])
            by_q, by_v = (np.vstack([R @ J[:3], R @ J[3:]]) for J in (by_q, by_v))
        data.Rx[:] = np.hstack([by_q, by_v])


class ResidualModelCoMPosition(_Residual):
    """Position of the centre of mass less what it shall be, [m].

    Args:
        state: ``State``.
        reference: Shape (3,), [m].
        nu: Number of controls.
    """

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, 3, nu)
        self.reference = reference

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute the residual."""
        data.r[:] = centerOfMass(self.space.model, data.robot, x[: self.space.nq]) - self.reference

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        """Compute its derivative."""
        data.Rx[:, : self.space.nv] = jacobianCenterOfMass(self.space.model, data.robot, x[: self.space.nq])


class ResidualModelForce(_Residual):
    """Linear functions of the forces of all contacts, A lambda; with a barrier as activation these are friction cones.

    Args:
        state: ``State``.
        A: Shape (nr, rows of all contacts), such as ``scipy.linalg.block_diag(*[crocoddyl.FrictionCone(R, mu).A] * 4)``;
            a contact in axes of the world has its force there.
        nu: Number of controls.
    """

    def __init__(self, state: State, A: np.ndarray, nu: int) -> None:
        super().__init__(state, len(A), nu, v_dependent=True, u_dependent=True)
        self.A = A

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        """Compute the residual of the forces that the dynamics have found."""
        data.r[:] = self.A @ self.space.forces[0] if u and self.space.forces else 0.0

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        """Compute its derivatives."""
        if u and self.space.forces:
            data.Rx[:], data.Ru[:] = self.A @ self.space.forces[1], self.A @ self.space.forces[2]


class DifferentialActionData(croc.DifferentialActionDataAbstract):
    """Workspace of ``DifferentialActionModel``.

    Attributes:
        robot: Data of the cluster model.
        contacts: Data of the contacts.
        costs: Data of the costs.
    """

    def __init__(self, model: DifferentialActionModel) -> None:
        super().__init__(model)
        self.robot = model.state_.model.createData()
        self.contacts = [contact.createData() for contact in model.contacts]
        self.collector = croc.DataCollectorAbstract()
        self.costs = model.costs.createData(self.collector)
        self.costs.shareMemory(self)


class DifferentialActionModel(croc.DifferentialActionModelAbstract):
    """Forward dynamics of a cluster model under the torques of its motors, with contacts and Crocoddyl's costs.

    Args:
        state: ``State``.
        actuation: Constant matrix, shape (nv, nu): torques of the independent joints by controls, as the rows of rotors
            have them. None: one control per independent velocity but those of a free flyer at the root.
        contacts: ``pc.RigidConstraintModel`` objects, which hold for this model.
        costs: ``crocoddyl.CostModelSum`` on the state.

    Raises:
        NotAvailableError: Crocoddyl is missing.
        ShapeError: The matrix does not fit model and costs.
    """

    def __init__(self, state: State, actuation: Any, contacts: Sequence[Any], costs: Any) -> None:
        super().__init__(state, costs.nu, costs.nr)
        model = state.model
        base = 6 * (model.joints[1].shortname() == "JointModelFreeFlyer")
        self.actuation = np.eye(model.nv)[:, base:] if actuation is None else numbers("actuation", actuation)
        if self.actuation.shape != (model.nv, costs.nu):
            raise ShapeError(
                f"actuation has shape {self.actuation.shape}, but model {model.name!r} and its costs need (nv, nu) = "
                f"({model.nv}, {costs.nu})."
            )
        self.state_, self.contacts, self.costs = state, list(contacts), costs

    def createData(self) -> DifferentialActionData:
        """Make its data."""
        return DifferentialActionData(self)

    def calc(self, data: DifferentialActionData, x: np.ndarray, *u: np.ndarray) -> None:
        """Compute accelerations and costs; without u, as at the end of a horizon, the costs alone.

        Where the robot is singular, as in trials far astray, accelerations are NaN, which solvers reject.
        """
        self.state_.forces = None
        if u:
            model, (q, v), tau = self.state_.model, np.split(x, [self.state_.nq]), self.actuation @ u[0]
            try:
                if self.contacts:
                    data.xout[:] = constraintDynamics(model, data.robot, q, v, tau, self.contacts, data.contacts)
                    self.state_.forces = (data.robot.lambda_c,)
                else:
                    data.xout[:] = aba(model, data.robot, q, v, tau)
            except SingularClusterError:
                data.xout[:] = np.nan
        self.costs.calc(data.costs, x, *u)
        data.cost = data.costs.cost

    def calcDiff(self, data: DifferentialActionData, x: np.ndarray, *u: np.ndarray) -> None:
        """Compute the derivatives of both; after ``calc``."""
        model, self.state_.forces = self.state_.model, None
        if u and self.contacts:
            found = computeConstraintDynamicsDerivatives(model, data.robot, self.contacts, data.contacts)
            data.Fx[:], data.Fu[:] = np.hstack(found[:2]), found[2] @ self.actuation
            self.state_.forces = data.robot.lambda_c, np.hstack(found[3:5]), found[5] @ self.actuation
        elif u:
            ddq_dq, ddq_dv, Minv = computeABADerivatives(model, data.robot)
            data.Fx[:], data.Fu[:] = np.hstack([ddq_dq, ddq_dv]), Minv @ self.actuation
        self.costs.calcDiff(data.costs, x, *u)
