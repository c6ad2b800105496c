"""A robot without gears and loops against Pinocchio alone: its own mass matrix, Jacobians and solver, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support import grounds
from support.ground_steps import rebuild

import pin_clusters as pc

pytestmark = grounds.NEEDED

FEET = {"left": np.array([0.0, 0.02, -0.4]), "right": np.array([0.0, -0.02, -0.4])}


def walker() -> pin.Model:
    """A trunk on two legs with hips and knees, no rotors."""
    rng, tree = np.random.default_rng(8), pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(base, pin.Inertia.FromBox(6.0, 0.3, 0.3, 0.4), pin.SE3.Identity())
    for name, side in (("left", 0.15), ("right", -0.15)):
        hip = tree.addJoint(
            base, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([0.0, side, -0.2])), f"{name} hip"
        )
        knee = tree.addJoint(hip, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.4])), name)
        for j in (hip, knee):
            tree.appendBodyToJoint(
                j,
                pin.Inertia.FromBox(1.0 + rng.random(), 0.1, 0.1, 0.3),
                pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2])),
            )
    return tree


class Alone:
    """The same scheme, written with Pinocchio's functions on its own model."""

    def __init__(self, tree: pin.Model, mu: float) -> None:
        self.tree, self.data, self.mu = tree, tree.createData(), mu

    def velocity(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, gap: np.ndarray) -> Any:
        """After a step whose middle is q; the velocity without impulses; how long after the middle these act."""
        tree, data = self.tree, self.data
        half = v + 0.5 * h * pin.aba(tree, data, q, v, tau)
        free = v + h * pin.aba(tree, data, q, half, tau)
        M = pin.crba(tree, data, q, pin.Convention.WORLD)
        M = np.triu(M) + np.triu(M, 1).T
        pin.computeJointJacobians(tree, data, q)
        rows = []
        for name, x in FEET.items():
            j = tree.getJointId(name)
            J = pin.getJointJacobian(tree, data, j, pin.LOCAL)
            rows.append(data.oMi[j].rotation @ (J[:3] - pin.skew(x) @ J[3:]))
        J = np.vstack(rows)
        G, g = J @ np.linalg.solve(M, J.T), J @ free
        gap, fall = np.maximum(gap, 0.0), g[2::3].copy()
        strikes = fall + gap / h < -100.0 * h
        g[2::3] += np.where(strikes, 0.0, gap / h)
        solver, settings, result = pin.ADMMConstraintSolver(), pin.ADMMSolverSettings(), pin.ADMMSolverResult()
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-12
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 1e-14
        settings.max_iterations, settings.mu_prox = 20000, 1e-10
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for name in FEET:
            cone = pin.PointContactConstraintModel(tree, tree.getJointId(name))
            cone.setFriction(self.mu)
            models.append(cone)
        datas.extend([m.createData() for m in models])
        result.setConstraintImpulseGuess(np.zeros(6))
        solver.solve(pin.DelassusOperatorDense(G), g, models, datas, settings, result)
        impulses = result.retrieveConstraintImpulses()
        power = -float((impulses[2::3] * fall)[strikes].sum())
        delay = float((impulses[2::3] * gap)[strikes].sum()) / power if power > 0.0 else 0.0
        return free + np.linalg.solve(M, J.T @ impulses), free, delay

    def gaps(self, q: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(self.tree, self.data, q)
        return np.array([(self.data.oMi[self.tree.getJointId(n)] * x)[2] for n, x in FEET.items()])


@pytest.mark.parametrize("mu", [0.0, 0.4, 1.0])
def test_each_step_is_pinocchios(mu: float) -> None:
    tree, h = walker(), 1e-3
    model, alone, rng = pc.ClusterModel(tree), Alone(tree, mu), np.random.default_rng(2)
    q = pc.integrate(model, pc.neutral(model), 0.2 * rng.normal(size=model.nv))
    q = pc.on_ground(model, q, touching=FEET, above=0.01)
    v = np.r_[0.5, 0.2, -1.0, 0.3 * rng.normal(size=model.nv - 3)]
    tau = np.r_[np.zeros(6), 2.0 * rng.normal(size=model.nv - 6)]
    r = pc.simulate(model, q, v, tau, 0.12, h, ground=pc.Ground(mu), touching=FEET)
    pushed = np.flatnonzero(r.contact_impulses.any(axis=(1, 2)))
    assert len(pushed) > 10
    points = pc.contact_points(model, FEET)
    for k in pushed.tolist():
        middle = rebuild(model, r, k, points, pc.Ground(mu)).q
        found, free, delay = alone.velocity(middle, r.v[k], tau, h, alone.gaps(middle))
        size = max(1.0, np.abs(r.v[k]).max())
        assert np.abs(found - r.v[k + 1]).max() < 2e-5 * size
        end = pin.integrate(tree, middle, 0.5 * h * found - delay * (found - free))
        assert np.abs(pin.difference(tree, end, r.q[k + 1])).max() < 2e-5 * size * h


def test_a_whole_motion_is_pinocchios() -> None:
    """Nothing of the result goes into it, but that what was put back is small."""
    tree, h, mu = walker(), 5e-4, 0.6
    model, alone = pc.ClusterModel(tree), Alone(tree, mu)
    q = pc.on_ground(model, pc.neutral(model), touching=FEET, above=0.005)
    v = np.r_[0.3, 0.1, -0.5, np.zeros(model.nv - 3)]
    tau = np.zeros(model.nv)
    r = pc.simulate(model, q, v, tau, 0.03, h, ground=pc.Ground(mu), touching=FEET)
    for _ in range(60):
        middle = pin.integrate(tree, q, 0.5 * h * v)
        v, free, delay = alone.velocity(middle, v, tau, h, alone.gaps(middle))
        q = pin.integrate(tree, middle, 0.5 * h * v - delay * (v - free))
    assert r.contact_impulses.any()
    assert np.abs(pin.difference(tree, q, r.q[-1])).max() < 1e-4
    assert np.abs(v - r.v[-1]).max() < 1e-2
