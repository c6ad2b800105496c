"""Optimal control by Crocoddyl of any cluster model: states, their residual, dynamics with contacts.

Costs, activations, integrators and solvers are Crocoddyl's own. Not so ``StateMultibody`` and what takes it: they know
no couplings, and those of the wheel 3.2.1 end the process with pin 4.1. Needs ``pip install crocoddyl``.
"""

from typing import Any

import numpy as np

import pin_clusters as pc

from ._support import extras

croc: Any = extras.package("crocoddyl")


class State(croc.StateAbstract):
    """States x = [q, v] of a cluster model: any joints, floating bases, rotors as bodies, loops, which stay closed."""

    def __init__(self, model: pc.ClusterModel) -> None:
        super().__init__(model.nq + model.nv, 2 * model.nv)
        self.model = model

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
        data.collector = croc.DataCollectorAbstract()
        data.costs = self.costs.createData(data.collector)
        data.costs.shareMemory(data)
        return data

    def calc(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # no u at the end of the horizon
        if u:
            at = self.robot, data.robot, x[: self.state.nq], x[self.state.nq :], self.actuation @ u[0]
            try:
                held = self.contacts, data.contacts
                data.xout[:] = pc.constraintDynamics(*at, *held) if self.contacts else pc.aba(*at)
            except pc.SingularClusterError:  # a trial far astray: solvers reject what is not a number
                data.xout[:] = np.nan
        self.costs.calc(data.costs, x, *u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: np.ndarray, *u: np.ndarray) -> None:  # after calc
        if u:
            at, held = (self.robot, data.robot), (self.contacts, data.contacts)
            exact: Any = pc.computeConstraintDynamicsDerivatives if self.contacts else pc.computeABADerivatives
            found = exact(*at, *held) if self.contacts else exact(*at)
            data.Fx[:], data.Fu[:] = np.hstack(found[:2]), found[2] @ self.actuation
        self.costs.calcDiff(data.costs, x, *u)
