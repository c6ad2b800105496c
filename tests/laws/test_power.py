"""What the torques and the forces put in is the change of the energy."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool
from support.loops import state

import pin_clusters as pc

# fourth-order differences of energies with a step of 1e-3 over the fastest rate
DIFFERENCES = 1e-7


@pool.each(jitless=False)
def test_power_is_the_rate_of_the_energy(key: pool.Key, rng: np.random.Generator) -> None:
    """d/dt (T + U) = tau' v on a motion with velocity v and acceleration a at t = 0.

    For joints whose velocities do not commute (free flyers, balls) the motion has the acceleration a only where v and a
    are parallel; the energy's rate needs no more than velocity and acceleration at t = 0, which are right.
    """
    s = pool.state(key, rng)
    c, model, data, q, v, a, _ = s
    if c.mechanism is not None:
        q = pc.project(model, q)
    tau = pc.rnea(model, data, q, v, a).copy()
    h, rate = pool.step_of(model, q, v)

    def energy(t: float) -> float:
        return pc.computeMechanicalEnergy(model, data, c.along(q, v, a, t), v + t * a)

    limit = DIFFERENCES * rate + 100.0 * c.exact
    if c.robot is not None:
        # rounding of the energies over h; the truncation of order h^4 is below
        h, limit = 2e-4, 1e-9
    scale = np.abs(tau) @ np.abs(v) + abs(energy(0.0)) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(pool.slope(energy, h) - tau @ v) <= limit * scale


@pytest.mark.parametrize("name", ["four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "delta"])
def test_power_along_a_motion_that_only_the_closures_define(name: str, rng: np.random.Generator) -> None:
    m = mechanisms.FIXED[name](rng)
    model = pool.build(m)
    q, v, a, *_ = state(model, m, rng)
    data = model.createData()
    power = pc.rnea(model, data, q, v, a) @ v

    def energy(t: float) -> float:
        moved = mechanisms.move(model, q, t * v + 0.5 * t * t * a)
        return pc.computeMechanicalEnergy(model, data, moved, v + t * a)

    assert pool.slope(energy, 1e-4) == pytest.approx(power, rel=1e-6, abs=1e-6)


@pool.each()
def test_external_forces_are_work_on_the_bodies(key: pool.Key, rng: np.random.Generator) -> None:
    """tau(fext) = -sum J' f, with Pinocchio's Jacobians of the tree and the G of differences of the motion."""
    c, model, data, q, v, a, fext = pool.state(key, rng)
    change = pc.rnea(model, data, q, v, a, fext) - pc.rnea(model, data, q, v, a)
    tree, spare = model.tree, model.tree.createData()
    pin.computeJointJacobians(tree, spare, q)
    h, rate = pool.step_of(model, q, v)
    v_tree = pool.slope(lambda t: pin.difference(tree, q, c.along(q, v, 0.0 * a, t)), h)
    power = sum(
        float(fext[j] @ (pin.getJointJacobian(tree, spare, j, pin.LOCAL) @ v_tree)) for j in range(1, model.njoints)
    )
    scale = np.abs(fext).sum() * max(1.0, float(np.abs(v_tree).max()))
    assert abs(change @ v + power) < (DIFFERENCES * rate + 10.0 * c.exact) * scale
