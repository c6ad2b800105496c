"""Add rotors to a plain ``pin.Model`` of a leg whose knee and ankle are driven by belts from the thigh.

The numbers come from the ``mit_humanoid_leg`` of the package, whose README names the source. The rotors are constraints
and not bodies, so ``q``, ``v`` and ``tau`` contain only the five joints. The script compares the torques with results
for the bundled robot, whose rotors are bodies, and for two common approximations.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

# joint: axis, position, pitch angle, mass, centre of mass, inertia about the centre (xx, xy, xz, yy, yz, zz)
LINKS = {
    "hip_rz": ("z", (-0.00565, -0.082, -0.05735), -0.174533, 0.84563, (-0.064842, -3.6e-05, -0.06309),
               (0.0015373, 1.1e-06, 0.0005578, 0.0014252, 2.4e-06, 0.0012028)),
    "hip_rx": ("x", (-0.06435, 0.0, -0.07499), 0.436332, 1.20868, (0.067232, -0.013018, 0.0001831),
               (0.0017535, -6.3e-06, -8e-05, 0.003338, -1.3e-05, 0.0019927)),
    "hip_ry": ("y", (0.071, 0.0018375, 0.0), -0.261799, 2.64093, (0.0132054, 0.0269864, -0.096021),
               (0.0243761, 9.96e-05, 0.0006548, 0.0259015, 0.0026713, 0.0038929)),
    "knee": ("y", (0.0, 0.0, -0.267), 0.0, 0.35435, (0.00528, 0.0014762, -0.13201),
             (0.003051, 0.0, 8.73e-05, 0.003033, 3.93e-05, 0.0002529)),
    "ankle": ("y", (0.0, 0.0, -0.2785), 0.0, 0.280951, (0.022623, 0.0, -0.012826),
              (8.42e-05, 0.0, -4.88e-05, 0.0007959, 0.0, 0.0007681)),
}  # fmt: skip
SMALL, LARGE = (1.084e-4, 1.6841e-4), (3.443e-4, 5.548e-4)  # transverse and axial inertia of the two motors [kg m^2]
# driven joints, ratios, carrier, position and pitch of the motor in the carrier's frame, axis, inertia
MOTORS = [
    (["hip_rz"], [6.0], "universe", (-0.00842837, -0.082, -0.041593), -0.174533, "z", SMALL),
    (["hip_rx"], [6.0], "hip_rz", (-0.0827, 0.0, -0.066436), 0.436332, "x", SMALL),
    (["hip_ry"], [6.0], "hip_rx", (0.071, 0.024, 0.0), -0.261799, "y", LARGE),
    (["knee"], [12.0], "hip_ry", (0.013, -0.0497, -0.0178), 0.0, "y", LARGE),
    (["knee", "ankle"], [12.0, 12.0], "hip_ry", (0.01563, -0.0454, -0.13354), 0.0, "y", SMALL),
]


def leg() -> pin.Model:
    """Return a chain of the five links."""
    kinds = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
    tree, parent = pin.Model(), 0
    for name, (axis, origin, pitch, mass, centre, (xx, xy, xz, yy, yz, zz)) in LINKS.items():
        placement = pin.SE3(pin.rpy.rpyToMatrix(0.0, pitch, 0.0), np.array(origin))
        inertia = pin.Inertia(mass, np.array(centre), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        parent = tree.addJoint(parent, kinds[axis](), placement, name)
        tree.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return tree


def motors() -> list[pc.Rotor]:
    """Return the five rotors; the belt to the ankle runs over the knee, so both joints turn the motor of the ankle."""
    rotors = []
    for joints, ratios, carrier, position, pitch, letter, (transverse, axial) in MOTORS:
        axis = np.eye(3)["xyz".index(letter)]
        spread = np.diag(transverse + (axial - transverse) * axis)
        turned = pin.rpy.rpyToMatrix(0.0, pitch, 0.0)
        inertia, place = pin.Inertia(0.0, np.zeros(3), spread), pin.SE3(turned, np.array(position))
        rotors.append(pc.Rotor(joints, ratios, inertia=inertia, axis=axis, placement=place, carrier=carrier))
    return rotors


def main() -> dict[str, np.ndarray]:
    model = pc.ClusterModel(leg(), motors(), name="leg")
    data = model.createData()
    print(model)

    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, model.nq)
    v, a = rng.normal(0.0, 3.0, model.nv), rng.normal(0.0, 30.0, model.nv)
    tau = pc.rnea(model, data, q, v, a)

    shipped = pc.load("mit_humanoid_leg", root_joint=None)
    q_shipped = pc.integrate(shipped, pc.neutral(shipped), q)  # q of the package's robot also contains the rotor angles
    difference = np.abs(pc.rnea(shipped, shipped.createData(), q_shipped, v, a) - tau).max()
    print(f"largest difference from the robot of the package, whose rotors are bodies: {difference:.1e} N m")
    assert difference < 1e-9

    print("torque [N m]:", "  ".join(f"{n} {t:.3f}" for n, t in zip(model.independent_joints, tau, strict=True)))
    torques = {"exact": tau}
    for level in ("none", "diagonal"):
        rough = pc.baselines.armature_model(model, level)
        torques[level] = pin.rnea(rough, rough.createData(), q, v, a)
        print(f"error with armature {level!r}:", "  ".join(f"{e:.3f}" for e in torques[level] - tau))
    return torques


if __name__ == "__main__":
    main()
