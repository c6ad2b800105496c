"""Let Cassie stand on its toes and heels with all closed loops and leaf springs while it is pushed.

The legs are closed kinematic chains: the achilles rods and the rods that turn the feet close loops, and leaf springs
without motors support shins and heels. Ten motors hold the pose by PD control, plus torques J' f for contact forces f
that move the pelvis back. The joints have position limits. Pushes on the pelvis from different sides do not make the
robot fall. The springs deflect under the load, and the loops stay closed. Run
`python examples/19_cassie_stands.py --seconds 10` for four pushes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import pin_clusters as pc

DT, SECONDS = 1e-3, 1.5  # [s]: time step, duration
MOTORS = {"hip_roll": (400.0, 10.0), "hip_yaw": (200.0, 5.0), "hip_pitch": (400.0, 10.0), "knee": (500.0, 12.0),
          "foot": (200.0, 5.0)}  # P [N m/rad] and D [N m s/rad]  # fmt: skip
ENDS = [(-0.052821, 0.092622, 0.0), (0.069746, -0.010224, 0.0)]  # end points of the capsule of a foot, radius 20 mm [m]
PUSHES = ((0.3, (40.0, 0.0, 0.0)), (2.0, (0.0, 40.0, 0.0)), (4.0, (-40.0, 0.0, 0.0)), (6.0, (0.0, -40.0, 0.0)))
LONG = 0.1  # duration of a push [s]


def stance(model: pc.ClusterModel, home: np.ndarray, points: list[tuple[int, np.ndarray]]) -> Callable[..., np.ndarray]:
    """Return the controller, a function tau(t, q, v), which holds a pose by forces at the contact points."""
    data, gains, driven = model.createData(), np.zeros((2, model.nv)), np.zeros(model.nv, dtype=bool)
    for side in ("left", "right"):
        for joint, gain in MOTORS.items():
            gains[:, model.joint_idx_v(f"{side}_{joint}")] = gain
    driven[:] = gains[0] > 0.0

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pc.computeJointJacobians(model, data, q)
        R, rows = data.oMi[1].rotation, []
        for j, place in points:
            J = pc.getJointJacobian(model, data, j, pin.LOCAL_WORLD_ALIGNED)
            rows.append(J[:3] - pin.skew(data.oMi[j].rotation @ place) @ J[3:])
        grip, gravity = np.vstack(rows), pc.computeGeneralizedGravity(model, data, q)
        off, late = pc.difference(model, q, home), -v
        lean = np.concatenate([[60.0, 60.0, 0.0], [60.0, 60.0, 30.0]]) * off[:6] + 12.0 * late[:6]
        wrench = gravity[:6] + pc.crba(model, data, q)[:6, :6] @ lean
        forces = np.linalg.lstsq(grip[:, :6].T, wrench, rcond=None)[0]
        tau = driven * (gravity - grip.T @ forces + gains[0] * off + gains[1] * late)
        pushes = [np.array(force) for start, force in PUSHES if start <= t < start + LONG]
        tau[:3] = R.T @ sum(pushes, np.zeros(3))
        return tau

    return control


def main(seconds: float = SECONDS) -> pc.SimulationResult:
    """Simulate the standing robot and return the motion."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load("cassie")
    ground, still = pc.Ground(friction=0.8), np.zeros(model.nv)
    feet = pc.contact_points(model, {"left_foot": ENDS, "right_foot": ENDS}, radius=0.02)
    home = pc.on_ground(model, pc.neutral(model), ground, feet)
    points = [(int(j), x) for j, x in zip(feet.joints, feet.places, strict=True)]
    control = stance(model, home, points)
    run = pc.simulate(
        model, home, still, control, seconds, DT, ground=ground, touching=feet, limits="position", record=2
    )
    data, pushed = model.createData(), run.contact_impulses[:, :, 2].sum(axis=1) / np.gradient(run.time)
    weight = pc.computeGeneralizedGravity(model, data, home)[2]
    shin = run.q[:, model.tree.joints[model.tree.getJointId("left_shin")].idx_q]
    away = np.linalg.norm(run.q[:, :2] - home[:2], axis=1).max()
    print(f"cassie, {len(model.closures)} loops, {seconds:g} s: the pelvis moves aside by up to {1e3 * away:.1f} mm")
    print(f"  it sinks {1e3 * (home[2] - run.q[-1, 2]):.1f} mm, shin deflection {1e3 * (shin[0] - shin[-1]):.1f} mrad")
    print(f"  final contact force: {pushed[-101:-1].mean() / weight:.4f} times the weight")
    print(f"  loop closure error {run.residual.max():.0e}, lowest point {run.gap.min():.0e} m")
    assert max(run.residual.max(), run.contact_work.max()) < 1e-12
    assert run.gap.min() > -1e-8
    assert max(away, abs(home[2] - run.q[-1, 2])) < 0.1  # the robot has not fallen
    return run


if __name__ == "__main__":
    main(float(sys.argv[2]) if sys.argv[1:2] == ["--seconds"] else SECONDS)
