"""Define a mechanism that the library does not contain: a cable on a non-circular pulley, by one constraint equation.

A winch pulls a forearm by a cable. The lever arm of the cable at the pulley of the elbow is R0 + R1 cos(e), which is
largest when the arm is straight. The cable is taut, so the winch takes up the length that the pulley releases:

    0 = r w - (R0 e + R1 sin e)        w: angle of the winch, e: angle of the elbow.

One function defines this equation, and all algorithms then include the mechanism and its motor. The script checks the
results with Pinocchio's projected dynamics of the spanning tree, and with a formula derived by hand.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import pinocchio as pin

import pin_clusters as pc

WINCH, R0, R1 = 0.01, 0.03, 0.02  # radius of the winch; lever arm of the pulley: R0 + R1 cos(e) [m]
MASS, LENGTH = 1.2, 0.30  # forearm, a uniform rod [kg, m]
GEAR, ROTOR, DRUM = 8.0, 2.0e-5, 1.0e-5  # gear ratio; axial inertia of the rotor and of the winch [kg m^2]
GRAVITY = 9.81  # [m/s^2]


@numba.cfunc("void(CPointer(float64), CPointer(float64))")  # compiled, so that the kernels can call it
def cable(x, out):
    """Write the constraint violation, a cable length [m], for x = (winch, elbow) [rad]."""
    out[0] = WINCH * x[0] - (R0 * x[1] + R1 * math.sin(x[1]))


def arm() -> pc.ClusterModel:
    """Return winch and forearm on a fixed upper arm; both turn about y, and the forearm points along x at zero."""
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
            pc.Rotor("winch", GEAR, axial_inertia=ROTOR),  # the winch is dependent, so the elbow turns the rotor
        ],
        name="cable_arm",
    )


def on_paper(e: float, v: float, a: float) -> float:
    """Return the torque at the elbow [N m] from Lagrange's equation for one coordinate."""
    lever, slope = (R0 + R1 * math.cos(e)) / WINCH, -R1 * math.sin(e) / WINCH  # dw/de and its derivative
    winch = DRUM + ROTOR * GEAR**2
    inertia = MASS * LENGTH**2 / 3 + winch * lever**2
    return inertia * a + winch * lever * slope * v**2 - MASS * GRAVITY * LENGTH / 2 * math.cos(e)


def main() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare three computations; return elbow angles [rad], motor ratios and reflected inertias [kg m^2]."""
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
    print(f"100 random states, relative difference: {worst:.0e} from projection, {against_paper:.0e} from the formula")
    assert max(worst, against_paper) < 1e-9  # finite differences of cable() cause errors of 1e-13 to 1e-12

    angles, ratios, reflected = np.linspace(-1.5, 1.5, 61), [], []
    for e in angles:
        q = pc.integrate(model, pc.neutral(model), [e])
        ratios.append(pc.actuation_matrix(model, data, q)[0, -1])  # the last rotor is the motor
        reflected.append(pc.crba(model, data, q)[0, 0] - MASS * LENGTH**2 / 3)
    for k in (30, 60):
        hold = MASS * GRAVITY * LENGTH / 2 * math.cos(angles[k]) / ratios[k]
        words = f"ratio {ratios[k]:.1f}, reflected inertia {reflected[k]:.4f} kg m^2, holding torque {hold:.3f} N m"
        print(f"elbow at {angles[k]:.1f} rad: {words}")
    return angles, np.array(ratios), np.array(reflected)


if __name__ == "__main__":
    main()
