"""Simulate a freely swinging four-bar: exact closed-loop dynamics, energy conserved to nine digits, bearing loads.

The three links hang in a vertical plane, and one constraint closes the loop. ``q`` contains all three joints, ``v``
only the velocity of the crank. Every call solves the loop-closure equations, so the loop stays closed.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

CRANK, COUPLER, ROCKER, GROUND = 0.15, 0.40, 0.35, 0.45  # lengths, [m]


def linkage() -> pc.ClusterModel:
    """Return a crank with a coupler, and a rocker on the ground; all axes are along y, gravity is along -z."""
    tree = pin.Model()
    tree.name = "four_bar"

    def add(parent: int, name: str, x: float, length: float, mass: float) -> int:
        joint = tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
        rod = pin.Inertia.FromCylinder(mass, 0.01, length)
        turned = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([length / 2, 0.0, 0.0]))
        tree.appendBodyToJoint(joint, rod, turned)
        return int(joint)

    crank = add(0, "crank", 0.0, CRANK, 0.3)
    add(crank, "coupler", CRANK, COUPLER, 0.8)
    add(0, "rocker", GROUND, ROCKER, 0.7)
    end_of_coupler = ("coupler", np.array([COUPLER, 0.0, 0.0]))
    end_of_rocker = ("rocker", np.array([ROCKER, 0.0, 0.0]))
    return pc.ClusterModel(tree, [pc.FourBar("crank", "coupler", "rocker", (end_of_coupler, end_of_rocker))])


def step(model: pc.ClusterModel, data: pc.ClusterData, q: np.ndarray, v: np.ndarray, dt: float) -> tuple:
    """Return q and v after one RK4 step of the crank; `pc.integrate` closes the loop."""

    def slope(dq: np.ndarray, dv: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return v + dv, pc.aba(model, data, pc.integrate(model, q, dq), v + dv, np.zeros(model.nv))

    v1, a1 = slope(np.zeros(model.nv), np.zeros(model.nv))
    v2, a2 = slope(dt / 2 * v1, dt / 2 * a1)
    v3, a3 = slope(dt / 2 * v2, dt / 2 * a2)
    v4, a4 = slope(dt * v3, dt * a3)
    return pc.integrate(model, q, dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def main() -> np.ndarray:
    """Simulate two seconds, compute the bearing loads, and return time and energies [s, J, J]."""
    model = linkage()
    print(model)
    data = model.createData()
    q, v, dt = pc.neutral(model), np.zeros(model.nv), 5e-4
    log = []
    for k in range(4001):
        log.append([k * dt, pc.computeKineticEnergy(model, data, q, v), pc.computeMechanicalEnergy(model, data, q, v)])
        q, v = step(model, data, q, v, dt)
    _, kinetic, energy = np.array(log).T
    drift = np.abs(energy - energy[0]).max() / kinetic.max()
    gap = np.abs(pc.residual(model, q)).max()
    print(f"after 2 s: energy drift {drift:.0e} of the largest kinetic energy, loop closure error {gap:.0e} m")
    assert drift < 1e-9
    assert gap < 1e-12

    forces = pc.constraint_forces(model, data, q, v, np.zeros(model.tree.nv))
    for name, wrench in zip(list(model.names)[1:], forces.joints[1:], strict=True):
        print(f"bearing of {name}: {np.linalg.norm(wrench[:3]):6.2f} N")
    pin_load = np.linalg.norm(forces.loops[0].wrench[:3])
    print(f"pin between coupler and rocker: {pin_load:6.2f} N")
    # Newton's law: the bearings on the ground carry the weight and accelerate the centre of mass
    v_tree = pc.spanning_velocity(model, data, q, v)
    a_tree = pc.spanning_acceleration(model, data, q, v, forces.acceleration)
    bodies = model.tree.createData()
    pin.centerOfMass(model.tree, bodies, q, v_tree, a_tree)
    ground = sum(bodies.oMi[j].rotation @ forces.joints[j][:3] for j in (1, 3))
    asked = pin.computeTotalMass(model.tree) * (bodies.acom[0] - model.tree.gravity.linear)
    miss = np.abs(ground - asked).max()
    print(f"both bearings on the ground: {ground.round(3) + 0.0} N, Newton's law holds to {miss:.0e} N")
    assert miss < 1e-9
    print(f"assembly modes at this crank angle: {len(pc.branches(model, q, 'crank'))}")
    return np.array(log)


if __name__ == "__main__":
    main()
