"""A mechanism that no library has: a cable on a pulley that is not round, stated by one equation.

A winch pulls a forearm by a cable. Where the cable leaves the elbow's pulley, its lever arm is R0 + R1 cos(e), longest
when the arm is straight and has to be lifted. The cable is taut: what the winch takes in, the pulley gives out,

    0 = r w - (R0 e + R1 sin e)        w: angle of the winch, e: angle of the elbow.

One function says so, and every algorithm has the mechanism, motor included. Two checks: Pinocchio's dynamics of the
spanning tree, projected, and a formula on paper.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import pinocchio as pin

import pin_clusters as pc

WINCH, R0, R1 = 0.01, 0.03, 0.02  # radius of the winch; lever arm of the pulley: R0 + R1 cos(e) [m]
MASS, LENGTH = 1.2, 0.30  # forearm, a uniform rod [kg, m]
GEAR, ROTOR, DRUM = 8.0, 2.0e-5, 1.0e-5  # gear of the motor; axial inertia of its rotor, and of the winch [kg m^2]
GRAVITY = 9.81  # [m/s^2]


@numba.cfunc("void(CPointer(float64), CPointer(float64))")  # compiled: runs inside the kernels, also in pc.batch
def cable(x, out):
    """Write how much cable is missing [m], for x = (winch, elbow) [rad]."""
    out[0] = WINCH * x[0] - (R0 * x[1] + R1 * math.sin(x[1]))


def arm() -> pc.ClusterModel:
    """Return winch and forearm, both about y on the upper arm, which is fixed; zero is straight ahead (x)."""
    tree = pin.Model()
    winch = tree.addJoint(0, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([-0.3, 0.0, 0.0])), "winch")
    tree.appendBodyToJoint(winch, pin.Inertia(0.05, np.zeros(3), np.diag([DRUM, DRUM, DRUM])), pin.SE3.Identity())
    elbow = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "elbow")
    spread = MASS * LENGTH**2 / 12
    rod = pin.Inertia(MASS, np.array([LENGTH / 2, 0.0, 0.0]), np.diag([0.0, spread, spread]))
    tree.appendBodyToJoint(elbow, rod, pin.SE3.Identity())
    return pc.ClusterModel(
        tree,
        [
            pc.Coupling(["winch", "elbow"], cable, independent=["elbow"], size=1, name="cable"),
            pc.Rotor("winch", GEAR, axial_inertia=ROTOR),  # on a joint that is dependent: its speed follows too
        ],
        name="cable_arm",
    )


def on_paper(e: float, v: float, a: float) -> float:
    """Return the torque at the elbow [N m] by the equation of Lagrange for one coordinate."""
    lever, slope = (R0 + R1 * math.cos(e)) / WINCH, -R1 * math.sin(e) / WINCH  # dw/de and its derivative
    winch = DRUM + ROTOR * GEAR**2
    inertia = MASS * LENGTH**2 / 3 + winch * lever**2
    return inertia * a + winch * lever * slope * v**2 - MASS * GRAVITY * LENGTH / 2 * math.cos(e)


def main() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare three routes; returns elbow angles [rad], the motor's ratios and reflected inertia [kg m^2]."""
    model = arm()
    data, oracle = model.createData(), pc.baselines.projection.createData(model)
    print(model)
    rng, worst, against_paper = np.random.default_rng(0), 0.0, 0.0
    for _ in range(100):
        q = pc.integrate(model, pc.neutral(model), rng.uniform(-1.5, 1.5, 1))  # the winch follows the elbow
        v, a = rng.normal(0.0, 5.0, (2, 1))
        tau = pc.rnea(model, data, q, v, a)
        worst = max(worst, abs(pc.baselines.projection.rnea(model, oracle, q, v, a) - tau)[0] / max(1.0, abs(tau[0])))
        against_paper = max(against_paper, abs(on_paper(q[1], v[0], a[0]) - tau[0]) / max(1.0, abs(tau[0])))
        assert abs(pc.aba(model, data, q, v, tau) - a)[0] < 1e-9 * max(1.0, abs(a[0]))
    print(f"100 random states, largest relative difference: {worst:.0e} to projection, {against_paper:.0e} to paper")
    assert max(worst, against_paper) < 1e-9  # derivatives of cable() are differences: 1e-13 and 1e-12, amplified

    angles, ratios, reflected = np.linspace(-1.5, 1.5, 61), [], []
    for e in angles:
        q = pc.integrate(model, pc.neutral(model), [e])
        ratios.append(pc.actuation_matrix(model, data, q)[0, -1])  # of the last rotor, the motor's
        reflected.append(pc.crba(model, data, q)[0, 0] - MASS * LENGTH**2 / 3)
    for k in (30, 60):
        hold = MASS * GRAVITY * LENGTH / 2 * math.cos(angles[k]) / ratios[k]
        words = f"ratio {ratios[k]:.1f}, reflected inertia {reflected[k]:.4f} kg m^2, torque to hold {hold:.3f} N m"
        print(f"elbow at {angles[k]:.1f} rad: {words}")
    return angles, np.array(ratios), np.array(reflected)


if __name__ == "__main__":
    main()
