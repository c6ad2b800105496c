"""Optimal control by Crocoddyl of any cluster model: states, residuals, dynamics with contacts.

Costs, activations, integrators and solvers are Crocoddyl's own. Not so ``StateMultibody`` and what takes it: they know
no couplings, and those of the wheel 3.2.1 end the process with pin 4.1. Needs ``pip install crocoddyl``.
"""

from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

from ._support import extras
from ._support.arrays import vector
from .algorithms.contacts._objects import size

croc: Any = extras.package("crocoddyl")


class State(croc.StateAbstract):
    """States x = [q, v] of a cluster model: any joints, floating bases, rotors as bodies, loops, which stay closed."""

    def __init__(self, model: pc.ClusterModel) -> None:
        super().__init__(model.nq + model.nv, 2 * model.nv)
        self.model, self._making = model, None  # the data of dynamics that are making those of their costs

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


class ResidualModelState(croc.ResidualModelAbstract):
    """What a state differs by from a reference; Crocoddyl's own takes ``Jdiff`` of states in Python for identity."""

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, state.ndx, nu, True, True, False)  # depends on q, on v, not on u
        self.reference = reference

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.r[:] = self.state.diff(self.reference, x)

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.Rx[:] = self.state.Jdiff(self.reference, x, croc.Jcomponent.second)


class _OfRobot(croc.ResidualModelAbstract):
    """A residual whose data has a workspace of the robot."""

    def createData(self, collector: Any) -> Any:
        data = croc.ResidualDataAbstract(self, collector)
        data.robot = self.state.model.createData()
        return data


class ResidualModelFramePlacement(_OfRobot):
    """How far a frame is from its place: ``pin.log6`` of the way, in axes of the place, or a distance in the world's.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: ``pin.SE3`` in the world; or a position, shape (3,), [m], whatever the orientation.
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: Any, nu: int) -> None:
        self.turns = isinstance(reference, pin.SE3)
        super().__init__(state, 6 if self.turns else 3, nu, True, False, False)
        self.frame_id = frame_id
        self.reference: Any = reference if self.turns else _position(state, reference)

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        pc.computeJointJacobians(self.state.model, data.robot, x[: self.state.nq])
        M = pc.updateFramePlacement(self.state.model, data.robot, self.frame_id)
        data.away = self.reference.actInv(M) if self.turns else M.translation - self.reference
        data.r[:] = pin.log6(data.away).vector if self.turns else data.away

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:  # after calc
        axes = pin.LOCAL if self.turns else pin.LOCAL_WORLD_ALIGNED
        J = pc.getFrameJacobian(self.state.model, data.robot, self.frame_id, axes)
        data.Rx[:, : self.state.nv] = pin.Jlog6(data.away) @ J if self.turns else J[:3]


class ResidualModelFrameVelocity(_OfRobot):
    """Velocity of a frame less what it shall be.

    Args:
        state: ``State``.
        frame_id: ``model.getFrameId(name)``.
        reference: ``pin.Motion``.
        reference_frame: Axes of both: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.
        nu: Number of controls.
    """

    def __init__(self, state: State, frame_id: int, reference: pin.Motion, reference_frame: Any, nu: int) -> None:
        super().__init__(state, 6, nu, True, True, False)
        self.frame_id, self.reference, self.axes = frame_id, reference, reference_frame

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        pc.forwardKinematics(self.state.model, data.robot, x[: self.state.nq], x[self.state.nq :])
        velocity = pc.getFrameVelocity(self.state.model, data.robot, self.frame_id, self.axes)
        data.r[:] = (velocity - self.reference).vector

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        at, X, turns = (self.state.model, data.robot), np.eye(6), np.zeros((6, self.state.nv))
        pc.computeForwardKinematicsDerivatives(*at, x[: self.state.nq], x[self.state.nq :])
        by_q, J = pc.getFrameVelocityDerivatives(*at, self.frame_id, pin.LOCAL)
        if self.axes != pin.LOCAL:  # derivatives of the components, which Pinocchio's are not, as axes turn
            M, turns = pc.updateFramePlacement(*at, self.frame_id), J.copy()
            if self.axes == pin.LOCAL_WORLD_ALIGNED:
                M, turns[:3] = pin.SE3(M.rotation, np.zeros(3)), 0.0
            X = M.toActionMatrix()
        velocity = pc.getFrameVelocity(*at, self.frame_id, pin.LOCAL)
        data.Rx[:] = X @ np.hstack([by_q - velocity.action @ turns, J])


class ResidualModelCoMPosition(_OfRobot):
    """Position of the centre of mass less what it shall be, shape (3,), [m]."""

    def __init__(self, state: State, reference: np.ndarray, nu: int) -> None:
        super().__init__(state, 3, nu, True, False, False)
        self.reference = _position(state, reference)

    def calc(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.r[:] = pc.centerOfMass(self.state.model, data.robot, x[: self.state.nq]) - self.reference

    def calcDiff(self, data: Any, x: np.ndarray, *_: Any) -> None:
        data.Rx[:, : self.state.nv] = pc.jacobianCenterOfMass(self.state.model, data.robot, x[: self.state.nq])


def _position(state: State, given: Any) -> np.ndarray:
    return vector(state.model, "reference", given, 3, "a position")


class ResidualModelContactForce(croc.ResidualModelAbstract):
    """Linear functions A f of the forces of all contacts of a phase; of no effect where the horizon ends.

    With a barrier as activation they are friction cones: A is ``block_diag`` of ``crocoddyl.FrictionCone(R, mu).A``.

    Args:
        state: ``State``.
        A: Shape (nr, rows of the contacts), which have axes of theirs or of the world.
        nu: Number of controls.
    """

    def __init__(self, state: State, A: np.ndarray, nu: int) -> None:
        super().__init__(state, len(A), nu, True, True, True)
        self.A = A

    def createData(self, collector: Any) -> Any:
        data, dynamics = croc.ResidualDataAbstract(self, collector), self.state._making
        rows = None if dynamics is None else sum(map(size, dynamics.contact_models))
        if rows is None or np.shape(self.A)[1:] != (rows,):
            raise pc.ShapeError(
                f"ResidualModelContactForce: A has shape {np.shape(self.A)}, but the contacts of the dynamics have "
                f"{rows} rows. Give it one column per row, in costs of a DifferentialActionModel with contacts."
            )
        data.forces = dynamics.forces
        return data

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        data.r[:] = self.A @ data.forces["at"] if u else 0.0

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:
        data.Rx[:], data.Ru[:] = (self.A @ data.forces[by] if u else 0.0 for by in ("by_x", "by_u"))


class DifferentialActionModel(croc.DifferentialActionModelAbstract):
    """Forward dynamics of a cluster model with contacts, and their exact derivatives; costs are Crocoddyl's.

    Args:
        state: ``State``.
        actuation: Torques of independent joints by controls, shape (nv, nu), constant: columns of rotors, for one.
        contacts: ``pc.RigidConstraintModel`` objects that hold in this phase.
        costs: ``crocoddyl.CostModelSum``.
    """

    def __init__(self, state: State, actuation: np.ndarray, contacts: Any, costs: Any) -> None:
        super().__init__(state, costs.nu, costs.nr)
        self.robot, self.actuation, self.contacts, self.costs = state.model, actuation, contacts, costs
        if (given := np.shape(actuation)) != (state.nv, costs.nu):
            raise pc.ShapeError(f"actuation has shape {given}, expected (nv, nu of costs) = ({state.nv}, {costs.nu}).")

    def createData(self) -> Any:
        data = croc.DifferentialActionDataAbstract(self)
        data.robot, data.contacts = self.robot.createData(), [contact.createData() for contact in self.contacts]
        data.collector, data.forces, data.contact_models = croc.DataCollectorAbstract(), {}, self.contacts
        self.state._making = data  # collectors in Python come back from Crocoddyl without what was put there
        try:
            data.costs = self.costs.createData(data.collector)
        finally:
            self.state._making = None
        data.costs.shareMemory(data)
        return data

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # no u at the end of the horizon
        if u:
            at = self.robot, data.robot, x[: self.state.nq], x[self.state.nq :], self.actuation @ u[0]
            try:
                held = self.contacts, data.contacts
                data.xout[:] = pc.constraintDynamics(*at, *held) if self.contacts else pc.aba(*at)
                data.forces["at"] = data.robot.lambda_c if self.contacts else np.zeros(0)
            except pc.SingularClusterError:  # a trial far astray: solvers reject what is not a number
                data.xout[:] = np.nan
                data.forces["at"] = np.full(sum(map(size, self.contacts)), np.nan)
        self.costs.calc(data.costs, x, *u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # after calc
        if u:
            at, held = (self.robot, data.robot), (self.contacts, data.contacts)
            exact: Any = pc.computeConstraintDynamicsDerivatives if self.contacts else pc.computeABADerivatives
            found = exact(*at, *held) if self.contacts else exact(*at)
            data.Fx[:], data.Fu[:] = np.hstack(found[:2]), found[2] @ self.actuation
            if self.contacts:
                data.forces |= {"by_x": np.hstack(found[3:5]), "by_u": found[5] @ self.actuation}
        self.costs.calcDiff(data.costs, x, *u)
