"""Optimal control of cluster models with Crocoddyl: states, residuals, dynamics with contacts, and impacts.

Costs, activations, integrators and solvers are Crocoddyl's own. ``StateMultibody`` and the classes that require it do
not work: they ignore couplings, and version 3.2.1 from PyPI crashes with pin 4.1. Run ``pip install crocoddyl`` first.
"""

from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

from ._support import extras
from ._support.arrays import numbers, vector, whole_number
from .algorithms._shared import ids
from .algorithms.contacts._objects import models_of, size
from .algorithms.dynamics.inputs import torques
from .algorithms.dynamics.motor import turning
from .model import check_model

croc: Any = extras.package("crocoddyl")


class State(croc.StateAbstract):
    """States x = [q, v] of a cluster model with any joint types; ``integrate`` keeps the loops closed."""

    def __init__(self, model: pc.ClusterModel) -> None:
        check_model(model, "crocoddyl.State")
        super().__init__(model.nq + model.nv, 2 * model.nv)
        self.model, self._making = model, None  # _making is the action data while its costs are being created.

    def zero(self) -> np.ndarray:
        return np.append(pc.neutral(self.model), np.zeros(self.nv))

    def rand(self) -> np.ndarray:
        return np.append(pc.randomConfiguration(self.model), np.random.default_rng().normal(size=self.nv))

    def diff(self, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
        return np.append(pc.difference(self.model, x0[: self.nq], x1[: self.nq]), x1[self.nq :] - x0[self.nq :])

    def integrate(self, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
        return np.append(pc.integrate(self.model, x[: self.nq], dx[: self.nv]), x[self.nq :] + dx[self.nv :])

    def Jdiff(self, x0: np.ndarray, x1: np.ndarray, which: Any = croc.Jcomponent.both) -> Any:
        return self._chosen(pc.dDifference(self.model, x0[: self.nq], x1[: self.nq]), -1.0, which)

    def Jintegrate(self, x: np.ndarray, dx: np.ndarray, which: Any = croc.Jcomponent.both, _: Any = None) -> Any:
        return self._chosen(pc.dIntegrate(self.model, x[: self.nq], dx[: self.nv]), 1.0, which)

    def JintegrateTransport(self, x: np.ndarray, dx: np.ndarray, J: np.ndarray, which: Any) -> np.ndarray:
        return self.Jintegrate(x, dx, which) @ J

    def _chosen(self, of_q: tuple[np.ndarray, ...], first: float, which: Any) -> Any:
        both = [sign * np.eye(self.ndx) for sign in (first, 1.0)]
        both[0][: self.nv, : self.nv], both[1][: self.nv, : self.nv] = of_q
        return both if which == croc.Jcomponent.both else both[which == croc.Jcomponent.second]


def _kind(what: str, given: Any, kind: Any, make: str) -> Any:
    """Check a type, because Crocoddyl's own error lists C++ signatures or occurs only in the solver."""
    if not isinstance(given, kind):
        raise pc.ArgumentTypeError(
            f"{what} must be a {kind.__name__}, got {type(given).__name__}. Create it with {make}."
        )
    return given


def _state(given: Any) -> Any:
    return _kind("state", given, State, "pin_clusters.crocoddyl.State(model) with a pc.ClusterModel")


class _Residual(croc.ResidualModelAbstract):
    """A residual that depends on q; the flags ``v`` and ``u`` specify whether it also depends on v and u."""

    def __init__(self, state: State, nr: int, nu: int, v: bool = False, u: bool = False) -> None:
        super().__init__(_state(state), nr, whole_number("nu", nu, 0), True, v, u)


class ResidualModelState(_Residual):
    """State minus reference. Crocoddyl's own class cannot be used, because it ignores a ``Jdiff`` written in Python."""

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, _state(state).ndx, nu, v=True)
        self.reference = vector(state.model, "reference", reference, state.nx, "nx = nq + nv")

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.r[:] = self.state.diff(self.reference, x)

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.Rx[:] = self.state.Jdiff(self.reference, x, croc.Jcomponent.second)


class _OfRobot(_Residual):
    """A residual whose data stores a ``ClusterData`` for kinematics and dynamics results."""

    def createData(self, collector: Any) -> Any:
        data = croc.ResidualDataAbstract(self, collector)
        data.robot = self.state.model.createData()
        return data


class ResidualModelFramePlacement(_OfRobot):
    """Pose error of a frame: ``pin.log6`` in the axes of the reference, or a position error in world axes.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: Desired pose in the world, a ``pin.SE3``, or a position, shape (3,), [m], if the orientation is free.
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: Any, nu: int) -> None:
        self.turns = isinstance(reference, pin.SE3)
        super().__init__(state, 6 if self.turns else 3, nu)
        self.frame_id = ids.frame(state.model, frame_id)
        self.reference: Any = reference if self.turns else _position(state, reference)

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        pc.computeJointJacobians(self.state.model, data.robot, x[: self.state.nq])
        M = pc.updateFramePlacement(self.state.model, data.robot, self.frame_id)
        data.away = self.reference.actInv(M) if self.turns else M.translation - self.reference
        data.r[:] = pin.log6(data.away).vector if self.turns else data.away

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:  # uses results of calc, which is called first
        axes = pin.LOCAL if self.turns else pin.LOCAL_WORLD_ALIGNED
        J = pc.getFrameJacobian(self.state.model, data.robot, self.frame_id, axes)
        data.Rx[:, : self.state.nv] = pin.Jlog6(data.away) @ J if self.turns else J[:3]


class ResidualModelFrameVelocity(_OfRobot):
    """Velocity of a frame minus the reference.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: ``pin.Motion`` with the desired velocity.
        reference_frame: Axes of velocity and reference: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: pin.Motion, reference_frame: Any, nu: int) -> None:
        super().__init__(state, 6, nu, v=True)
        self.frame_id, self.axes = ids.frame(state.model, frame_id), ids.reference(reference_frame)
        self.reference = _kind("reference", reference, pin.Motion, "pin.Motion(linear, angular)")

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        pc.forwardKinematics(self.state.model, data.robot, x[: self.state.nq], x[self.state.nq :])
        velocity = pc.getFrameVelocity(self.state.model, data.robot, self.frame_id, self.axes)
        data.r[:] = (velocity - self.reference).vector

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        robot, X, turns = (self.state.model, data.robot), np.eye(6), np.zeros((6, self.state.nv))
        pc.computeForwardKinematicsDerivatives(*robot, x[: self.state.nq], x[self.state.nq :])
        by_q, J = pc.getFrameVelocityDerivatives(*robot, self.frame_id, pin.LOCAL)
        if self.axes != pin.LOCAL:  # also differentiate the rotation of the axes
            M, turns = pc.updateFramePlacement(*robot, self.frame_id), J.copy()
            if self.axes == pin.LOCAL_WORLD_ALIGNED:
                M, turns[:3] = pin.SE3(M.rotation, np.zeros(3)), 0.0
            X = M.toActionMatrix()
        velocity = pc.getFrameVelocity(*robot, self.frame_id, pin.LOCAL)
        data.Rx[:] = X @ np.hstack([by_q - velocity.action @ turns, J])


class ResidualModelCoMPosition(_OfRobot):
    """Position of the centre of mass minus the reference, shape (3,), [m]."""

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, 3, nu)
        self.reference = _position(state, reference)

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.r[:] = pc.centerOfMass(self.state.model, data.robot, x[: self.state.nq]) - self.reference

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.Rx[:, : self.state.nv] = pc.jacobianCenterOfMass(self.state.model, data.robot, x[: self.state.nq])


def _position(state: State, given: Any) -> np.ndarray:
    return vector(state.model, "reference", given, 3, "a position")


class ResidualModelContactForce(_Residual):
    """Product A f, where f contains the forces or impulses of all contacts; zero at the end of the horizon.

    For friction cones, use a barrier as the activation, and let A be the ``block_diag`` of the matrices
    ``crocoddyl.FrictionCone(R, mu).A``.

    Args:
        state: ``State``.
        A: Matrix of shape (nr, n) for contacts with n constraint equations. f is in the contacts' reference frames.
        nu: Number of controls.
    """

    def __init__(self, state: State, A: np.ndarray, nu: int) -> None:
        self.A = numbers("A", A)
        if self.A.ndim != 2:
            raise pc.ShapeError(f"A has shape {self.A.shape}, expected (nr, constraint equations of the contacts).")
        super().__init__(state, len(self.A), nu, True, True)

    def createData(self, collector: Any) -> Any:
        data, dynamics = croc.ResidualDataAbstract(self, collector), self.state._making
        rows = None if dynamics is None else sum(map(size, dynamics.contact_models))
        if self.A.shape[1] != rows:
            raise pc.ShapeError(
                f"ResidualModelContactForce: A has shape {self.A.shape}, but needs {rows} columns, one per "
                "constraint equation of the contacts. Use this residual only in costs of dynamics with contacts."
            )
        data.forces = dynamics.forces
        return data

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        data.r[:] = self.A @ data.forces["at"] if u else 0.0

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        data.Rx[:], data.Ru[:] = (self.A @ data.forces[by] if u else 0.0 for by in ("by_x", "by_u"))


def _take(action: Any, state: State, contacts: Any, costs: Any) -> None:
    """Check the contacts and the costs, and store them in an action model."""
    nx = _kind("costs", costs, croc.CostModelSum, "crocoddyl.CostModelSum(state, nu)").state.nx
    if nx != _state(state).nx:
        raise pc.ShapeError(f"costs have nx = {nx}, expected {state.nx}. Create them with the state of the dynamics.")
    action.robot, action.costs = state.model, costs
    action.contacts = models_of(state.model, () if contacts is None else contacts)


def _with_workspaces(action: Any, data: Any) -> Any:
    """Add the workspaces for the robot, the contacts and the costs to the data of an action model."""
    data.robot, data.contacts = action.robot.createData(), [contact.createData() for contact in action.contacts]
    data.collector, data.forces, data.contact_models = croc.DataCollectorAbstract(), {}, action.contacts
    action.state._making = data  # Crocoddyl drops Python attributes of data collectors, so the state passes the data
    try:
        data.costs = action.costs.createData(data.collector)
    finally:
        action.state._making = None
    data.costs.shareMemory(data)
    return data


class DifferentialActionModel(croc.DifferentialActionModelAbstract):
    """Forward dynamics of a cluster model with contacts, and its exact derivatives.

    Args:
        state: ``State``.
        actuation: Constant matrix that maps controls to independent joint torques, shape (nv, nu). None selects
            ``pc.actuation_matrix`` at each pose or, without rotors, one control per independent joint except the base.
        contacts: ``pc.RigidConstraintModel`` objects that are active in this phase; None or ``()`` if there are none.
        costs: ``crocoddyl.CostModelSum`` with the same number of controls.

    Raises:
        ConstraintError: A contact is invalid; or ``pc.actuation_matrix`` depends on the pose, but ``actuation`` has a
            column that is not a column of ``np.eye(nv)``.
    """

    def __init__(self, state: State, actuation: np.ndarray | None, contacts: Any, costs: Any) -> None:
        _take(self, state, contacts, costs)
        super().__init__(state, costs.nu, costs.nr)
        state_at_rest = self.robot, self.robot.createData(), pc.neutral(self.robot)
        self.actuation = torques(*state_at_rest, None) if actuation is None else numbers("actuation", actuation)
        if (shape := self.actuation.shape) != (state.nv, costs.nu):
            raise pc.ShapeError(f"actuation has shape {shape}, expected (nv, nu of costs) = ({state.nv}, {costs.nu}).")
        drivers, units = {i for motor in self.robot.motors for i, _ in motor.drivers}, np.eye(state.nv).tolist()
        turns = bool(self.robot.closures) and not drivers <= set(self.robot.idx_v_independent.tolist())
        self.turns = turns and actuation is None
        if turns and not self.turns and not all(u.tolist() in units for u in self.actuation.T):
            raise pc.ConstraintError(
                f"actuation is constant, but pc.actuation_matrix of model {self.robot.name!r} depends on the pose. "
                "Pass None for motor torques, or columns of np.eye(nv) for torques of independent joints."
            )

    def createData(self) -> Any:
        return _with_workspaces(self, croc.DifferentialActionDataAbstract(self))

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # Crocoddyl passes no u at the end of the horizon
        if u:
            q, contacts = x[: self.state.nq], (self.contacts, data.contacts)
            try:
                B = data.actuation = pc.actuation_matrix(self.robot, data.robot, q) if self.turns else self.actuation
                arguments = self.robot, data.robot, q, x[self.state.nq :], B @ u[0]
                data.xout[:] = pc.constraintDynamics(*arguments, *contacts) if self.contacts else pc.aba(*arguments)
                data.forces["at"] = data.robot.lambda_c if self.contacts else np.zeros(0)
            except pc.SingularClusterError:  # a solver rejects a trial step whose result is NaN
                data.xout[:], data.forces["at"] = np.nan, np.full(sum(map(size, self.contacts)), np.nan)
        self.costs.calc(data.costs, x, *u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # uses results of calc, called first
        if u:
            robot, contacts = (self.robot, data.robot), (self.contacts, data.contacts)
            exact: Any = pc.computeConstraintDynamicsDerivatives if self.contacts else pc.computeABADerivatives
            derivatives = exact(*robot, *contacts) if self.contacts else exact(*robot)
            if self.turns:
                by_q = turning(*robot, x[: self.state.nq], u[0])
                for of_q, of_torque in zip(derivatives[::3], derivatives[2::3], strict=True):
                    of_q += of_torque @ by_q
            data.Fx[:], data.Fu[:] = np.hstack(derivatives[:2]), derivatives[2] @ data.actuation
            if self.contacts:
                data.forces |= {"by_x": np.hstack(derivatives[3:5]), "by_u": derivatives[5] @ data.actuation}
        self.costs.calcDiff(data.costs, x, *u)


class ActionModelImpulse(croc.ActionModelAbstract):
    """Impact without duration; the model computes the velocities after the impact and their exact derivatives.

    Args:
        state: ``State``.
        contacts: ``pc.RigidConstraintModel`` objects of contacts that begin at the impact or are already active.
        costs: ``crocoddyl.CostModelSum`` without controls. Costs depend on the state before the impact and on impulses.
        r_coeff: Coefficient of restitution, from 0 (no rebound) to 1 (elastic).

    Raises:
        ArgumentTypeError: r_coeff is not between 0 and 1.
        ConstraintError: A contact is invalid, there are no contacts, or the costs have controls.
    """

    def __init__(self, state: State, contacts: Any, costs: Any, r_coeff: float = 0.0) -> None:
        _take(self, state, contacts, costs)
        super().__init__(state, 0, costs.nr)
        self.r_coeff = r_coeff
        if costs.nu or not self.contacts:
            raise pc.ConstraintError(
                f"ActionModelImpulse needs a contact and costs with nu = 0, got {len(self.contacts)} contacts and "
                f"costs with nu = {costs.nu}."
            )
        if not isinstance(r_coeff, (int, float)) or not 0.0 <= r_coeff <= 1.0:
            raise pc.ArgumentTypeError(f"r_coeff must be between 0 and 1, got {r_coeff!r}.")

    def createData(self) -> Any:
        return _with_workspaces(self, croc.ActionDataAbstract(self))

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        q, v, contacts = x[: self.state.nq], x[self.state.nq :], (self.contacts, data.contacts)
        try:
            data.xnext[:] = np.append(q, pc.impulseDynamics(self.robot, data.robot, q, v, *contacts, self.r_coeff))
            data.forces["at"] = data.robot.impulse_c
        except pc.SingularClusterError:  # a solver rejects a trial step whose result is NaN
            data.xnext[:], data.forces["at"] = np.nan, np.full(sum(map(size, self.contacts)), np.nan)
        self.costs.calc(data.costs, x, *u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # uses results of calc, called first
        derivatives = pc.computeImpulseDynamicsDerivatives(self.robot, data.robot, self.contacts, data.contacts)
        data.Fx[:] = np.vstack([np.eye(self.state.nv, self.state.ndx), np.hstack(derivatives[:2])])
        data.forces |= {"by_x": np.hstack(derivatives[2:]), "by_u": np.zeros((len(derivatives[2]), 0))}
        self.costs.calcDiff(data.costs, x, *u)
