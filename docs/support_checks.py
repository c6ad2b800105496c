"""Check the support matrix: ``NUMBA_DISABLE_JIT=1 python docs/support_checks.py`` lists cells that are wrong.

Each check calls functions for a sample model of a kind of constraint, and compares the results with independent ones.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numba
import numpy as np
import pinocchio as pin
from support_matrix import APPROXIMATE, EXACT, FEATURES, KINDS, NO, OUTPUTS, PASSIVE_FEATURES, PASSIVE_KINDS, outputs
from support_matrix import declared as declared_cells

import pin_clusters as pc
from pin_clusters.export.cuda import run as on_gpu

Model = pc.ClusterModel
contacts_on_projection = importlib.import_module("pin_clusters.verification.baselines.contacts")
projection = importlib.import_module("pin_clusters.verification.baselines.projection")


# --- sample models, one or two for each kind of constraint
def tree_of(*joints: tuple[str, str, Any, tuple[float, float, float]]) -> pin.Model:
    """Return a tree of joints: name, parent, joint model, position in the parent."""
    tree = pin.Model()
    for name, parent, joint, position in joints:
        place = pin.SE3(np.eye(3), np.array(position))
        j = tree.addJoint(tree.getJointId(parent) if parent else 0, joint, place, name)
        inertia = pin.Inertia(0.3, np.array([0.02, 0.01, 0.03]), np.diag([0.002, 0.003, 0.004]))
        tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    return tree


def leg(*constraints: Any) -> Model:
    """Return two joints with parallel axes."""
    tree = tree_of(("hip", "", pin.JointModelRY(), (0, 0, 0)), ("knee", "hip", pin.JointModelRY(), (0, 0, -0.3)))
    return pc.ClusterModel(tree, constraints)


def rotors() -> Model:
    """Return a robot whose second rotor turns with its carrier, which armature does not express."""
    return leg(pc.Rotor("hip", 10.0, axial_inertia=1e-4), pc.Rotor("knee", 8.0, axial_inertia=2e-4))


def loop() -> Model:
    """Return a four-bar linkage that a loop closes."""
    joints = (("crank", "", 0.0), ("coupler", "crank", 0.10), ("rocker", "coupler", 0.29))
    tree = tree_of(*((name, parent, pin.JointModelRZ(), (x, 0, 0)) for name, parent, x in joints))
    pins = ("rocker", [0.34, 0, 0]), ("universe", [0.37, 0, 0])
    return pc.ClusterModel(tree, [pc.Loop(*pins, "revolute", axis=(0, 0, 1))])


def rod(mass: float = 0.0) -> Model:
    """Return a crank and a lever with a rod between them."""
    tree = tree_of(("crank", "", pin.JointModelRY(), (0, 0, 0)), ("lever", "", pin.JointModelRY(), (0.3, 0, 0)))
    return pc.ClusterModel(tree, [pc.Rod(("crank", [0, 0, 0.05]), ("lever", [0, 0.02, 0.08]), mass=mass)])


def four_bar() -> Model:
    """Return a ``FourBar``."""
    pins = (("coupler", [0.21, 0, 0.2]), ("rocker", [-0.16, 0, 0.3]))
    return pc.ClusterModel(pc.load("four_bar").tree, [pc.FourBar("crank", "coupler", "rocker", pins, branch=-1)])


def slider_crank() -> Model:
    """Return a ``SliderCrank``."""
    hinge, slide = pin.JointModelRZ, pin.JointModelPX()
    tree = tree_of(
        ("crank", "", hinge(), (0, 0, 0)), ("rod", "crank", hinge(), (0.04, 0, 0)), ("piston", "", slide, (0, 0, 0))
    )
    linkage = pc.SliderCrank("crank", "rod", "piston", (("rod", [0.12, 0, 0]), "piston"))
    return pc.ClusterModel(tree, [linkage], [0.5, -0.66, 0.15])


def five_bar() -> Model:
    """Return a ``Differential.five_bar``."""
    joints = (("crank_1", "", 0.0), ("rod_1", "crank_1", 0.1), ("crank_2", "", 0.08), ("rod_2", "crank_2", 0.1))
    tree = tree_of(*((name, parent, pin.JointModelRZ(), (x, 0, 0)) for name, parent, x in joints))
    pins = (("rod_1", [0.16, 0, 0]), ("rod_2", [0.16, 0, 0]))
    linkage = pc.Differential.five_bar("crank_1", "rod_1", "crank_2", "rod_2", pins)
    return pc.ClusterModel(tree, [linkage], [2.2, -1.2, 0.9, 1.2])


def bevel() -> Model:
    """Return a ``Differential.bevel``."""
    tree = tree_of(
        ("left", "", pin.JointModelRY(), (0, 0.1, 0)),
        ("right", "", pin.JointModelRY(), (0, -0.1, 0)),
        ("pitch", "", pin.JointModelRY(), (0, 0, 0)),
        ("roll", "pitch", pin.JointModelRX(), (0, 0, 0)),
    )
    return pc.ClusterModel(tree, [pc.Differential.bevel("left", "right", "pitch", "roll")])


def cam(x: np.ndarray) -> np.ndarray:
    """Return the equation of a cam."""
    return np.array([x[1] - 0.01 * np.sin(x[0])])


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_cam(x: Any, out: Any) -> None:
    """Write the same equation."""
    out[0] = x[1] - 0.01 * math.sin(x[0])


def coupling(phi: Any = cam, **more: Any) -> Model:
    """Return a cam that lifts a lever."""
    tree = tree_of(("shaft", "", pin.JointModelRY(), (0, 0, 0)), ("lever", "", pin.JointModelPZ(), (0.1, 0, 0)))
    return pc.ClusterModel(tree, [pc.Coupling(["shaft", "lever"], phi, independent=["shaft"], **more)])


def passive(*springs: Any, **motor: float) -> Model:
    """Return the leg with springs, or with a motor on its knee."""
    on = {"motor": pc.Motor(**motor)} if motor else {}
    return leg(*springs, pc.Rotor("knee", 8.0, axial_inertia=2e-4, **on))


SAMPLES: dict[str, tuple[Callable[[], Model], ...]] = {
    "Rotor, gear, belt": (rotors, lambda: pc.load("mit_humanoid_leg")),
    "Loop": (loop,),
    "Rod": (rod,),
    "Rod with mass": (lambda: rod(0.05),),
    "FourBar, SliderCrank": (four_bar, slider_crank),
    "Differential": (five_bar, bevel),
    "Coupling (Python)": (coupling,),
    "Coupling (compiled)": (lambda: coupling(compiled_cam, size=1),),
    "Spring": (lambda: passive(pc.Spring("knee", stiffness=30.0, rest=0.2, damping=0.5)),),
    "GravityCompensation": (lambda: passive(pc.GravityCompensation("knee", 0.2, (0.0, 0.0, -0.1))),),
    "Motor: friction": (lambda: passive(viscous=1e-3),),
    "Motor: losses of gears": (lambda: passive(efficiency=0.8),),
}


# --- what is checked: each function returns EXACT or APPROXIMATE, raises AssertionError, or an error of the package
class State(NamedTuple):
    """A state of a model, with independent acceleration and torque."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


def state_of(model: Model) -> State:
    """Return a state near the reference pose."""
    rng = np.random.default_rng(3)
    q = pc.integrate(model, np.array(model.q_reference), 0.1 * rng.normal(size=model.nv))
    return State(q, *rng.normal(size=(3, model.nv)))


def same(found: Any, expected: Any, tolerance: float = 1e-8) -> None:
    """Raise ``AssertionError`` if two arrays differ."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * (1.0 + np.abs(expected).max(initial=0.0))


def slope(model: Model, function: Callable[[np.ndarray], np.ndarray], q: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return the derivative of a function of q along ``pc.integrate``, by central differences."""
    ends = [[np.array(function(pc.integrate(model, q, h * e))) for h in (step, -step)] for e in np.eye(model.nv)]
    return np.array([(ahead - behind) / (2.0 * step) for ahead, behind in ends]).T


def dynamics(model: Model) -> str:
    """Compare the dynamics with the projection of Pinocchio's."""
    q, v, a, tau = state_of(model)
    data, other = model.createData(), projection.createData(model)
    same(pc.rnea(model, data, q, v, a), projection.rnea(model, other, q, v, a))
    same(pc.aba(model, data, q, v, tau), projection.aba(model, other, q, v, tau))
    same(pc.crba(model, data, q), projection.crba(model, other, q))
    same(pc.computeMinverse(model, data, q) @ data.M, np.eye(model.nv))
    same(pc.computeKineticEnergy(model, data, q, v), projection.computeKineticEnergy(model, other, q, v))
    mixed, reached = pc.hybrid_dynamics(model, data, q, v, tau, a, np.arange(model.nv) % 2 == 0)
    same(pc.rnea(model, data, q, v, reached), mixed)
    return EXACT


def derivatives(model: Model) -> str:
    """Compare the derivatives of dynamics with finite differences."""
    q, v, a, tau = state_of(model)
    data, other = model.createData(), model.createData()
    by_q = pc.computeRNEADerivatives(model, data, q, v, a)[0]
    same(by_q, slope(model, lambda x: pc.rnea(model, other, x, v, a), q), 1e-5)
    by_q = pc.computeABADerivatives(model, data, q, v, tau)[0]
    same(by_q, slope(model, lambda x: pc.aba(model, other, x, v, tau), q), 1e-5)
    return EXACT


def contact_of(model: Model) -> tuple[list[Any], list[Any]]:
    """Return a contact on the last joint, along one direction that it can move in, and its data."""
    contact = pc.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, model.njoints - 1, pin.SE3.Identity(), pin.LOCAL
    )
    return [contact], [contact.createData()]


def contacts(model: Model) -> str:
    """Compare dynamics with a contact, and an impact, with those of the projection."""
    q, v, _, tau = state_of(model)
    data, other = model.createData(), projection.createData(model)
    models, datas = contact_of(model)
    pc.initConstraintDynamics(model, data, models)
    found = pc.constraintDynamics(model, data, q, v, tau, models, datas)
    same(found, contacts_on_projection.constraintDynamics(model, other, q, v, tau, models)[0], 1e-6)
    after = pc.impulseDynamics(model, data, q, v, models, datas)
    same(after, contacts_on_projection.impulseDynamics(model, other, q, v, models)[0], 1e-6)
    return EXACT


def kinematics(model: Model) -> str:
    """Compare Jacobians with velocities, and derivatives of velocities with finite differences."""
    q, v, a, _ = state_of(model)
    data, other, last = model.createData(), model.createData(), model.njoints - 1
    J = pc.computeJointJacobian(model, data, q, last)
    pc.forwardKinematics(model, data, q, v, a)
    same(J @ v, data.v[last].vector)

    def velocity(x: np.ndarray) -> np.ndarray:
        pc.forwardKinematics(model, other, x, v)
        return other.v[last].vector.copy()

    pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
    same(pc.getJointVelocityDerivatives(model, data, last, pin.LOCAL)[0], slope(model, velocity, q), 1e-5)
    return EXACT


def configurations(model: Model) -> str:
    """Check that moves keep loops closed, and that ``difference`` undoes ``integrate``."""
    q, v, _, _ = state_of(model)
    moved = pc.integrate(model, q, 0.1 * v)
    same(pc.residual(model, moved), np.zeros(len(pc.residual(model, moved))))
    same(pc.difference(model, q, moved), 0.1 * v)
    same(pc.project(model, moved), moved)
    return EXACT


def forces(model: Model) -> str:
    """Compare the motion under the forces of all constraints with the forward dynamics."""
    q, v, _, tau = state_of(model)
    data, on_tree = model.createData(), np.zeros(model.tree.nv)
    on_tree[model.idx_v_independent] = tau
    found = pc.constraint_forces(model, data, q, v, on_tree)
    assert (len(found.loops), len(found.couplings)) == (len(model.closures), len(model.coupling_rows))
    assert np.isfinite(found.joints).all()
    same(found.acceleration, pc.aba(model, data, q, v, tau))
    return EXACT


def regressors(model: Model) -> str:
    """Compare the regressor times the parameters with the torques."""
    q, v, a, _ = state_of(model)
    data = model.createData()
    values, _ = pc.parameters(model)
    same(pc.computeJointTorqueRegressor(model, data, q, v, a) @ values, pc.rnea(model, data, q, v, a))
    return EXACT


def operational(model: Model) -> str:
    """Compare the inverse operational inertia of the last frame with that of the projection."""
    q, frames = state_of(model).q, [model.nframes - 1]
    found = pc.inverse_operational_inertia(model, model.createData(), q, frames)
    same(found, projection.inverse_operational_inertia(model, projection.createData(model), q, frames))
    return EXACT


def inverse_kinematics(model: Model) -> str:
    """Look for a pose that is known."""
    q, data, frame = state_of(model).q, model.createData(), model.nframes - 1
    pc.framesForwardKinematics(model, data, q)
    target = data.oMf[frame].translation.copy()
    found = pc.inverse_kinematics(model, np.array(model.q_reference), {str(model.frames[frame].name): target})
    pc.framesForwardKinematics(model, data, found.q)
    same(data.oMf[frame].translation, target, 1e-6)
    return EXACT


def simulation(model: Model) -> str:
    """Simulate without torques: loops stay closed, and the energy stays what it is."""
    q, v, _, _ = state_of(model)
    found = pc.simulate(model, q, 0.1 * v, duration=0.01, dt=1e-3)
    data = model.createData()
    same(pc.residual(model, found.q[-1]), np.zeros(len(pc.residual(model, q))))
    energies = [pc.computeMechanicalEnergy(model, data, found.q[i], found.v[i]) for i in (0, -1)]
    same(energies[1], energies[0], 1e-6)
    return EXACT


def batches(model: Model) -> str:
    """Compare rows of a batch with calls for one state."""
    q, v, a, tau = (np.array([x, x]) for x in state_of(model))
    data = model.createData()
    same(pc.batch.rnea(model, q, v, a)[1], pc.rnea(model, data, q[1], v[1], a[1]))
    same(pc.batch.integrate(model, q, 0.1 * v)[1], pc.integrate(model, q[1], 0.1 * v[1]))
    same(
        pc.batch.computeABADerivatives(model, q, v, tau)[0][1],
        pc.computeABADerivatives(model, data, q[1], v[1], tau[1])[0],
    )
    return EXACT


def traces(model: Model) -> str:
    """Compare traces with the functions that they are of."""
    q, v, _, tau = state_of(model)
    same(pc.trace(model, "aba")(q, v, tau), pc.aba(model, model.createData(), q, v, tau))
    moved = pc.trace(model, "integrate")(q, 0.05 * v)
    same(moved[0] if isinstance(moved, tuple) else moved, pc.integrate(model, q, 0.05 * v), 1e-5)
    return EXACT


def motor_space(model: Model) -> str:
    """Make the map from an independent joint to itself, or to both of a mechanism with two degrees of freedom."""
    joints = list(model.clusters[0].independent) or list(model.clusters[0].joints)
    space = pc.MotorSpace(model, joints, joints)
    x = np.array([model.q_reference[model.tree.idx_qs[model.getJointId(j)]] for j in joints])
    same(space.inverse(x), x)
    return EXACT


def mass_matrix_at_reference(text: str, model: Model) -> np.ndarray:
    """Return the mass matrix of an MJCF file at its reference pose, projected onto the equality constraints."""
    file = mujoco.MjModel.from_xml_string(text)
    file.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(file)
    mujoco.mj_resetDataKeyframe(file, data, 0)
    mujoco.mj_forward(file, data)
    M = np.zeros((file.nv, file.nv))
    mujoco.mj_fullM(file, data, M)
    J = data.efc_J.reshape(-1, file.nv)[: data.ne]
    _, sizes, rows = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(file.nv))
    free = rows[int((sizes > 1e-8).sum()) :].T
    G = free @ np.linalg.inv(free[[file.joint(name).dofadr[0] for name in model.independent_joints]])
    return np.asarray(G.T @ M @ G)


def mjcf(model: Model, approximation: Any = "best") -> str:
    """Compare the mass matrix of an MJCF file with the model's."""
    found = mass_matrix_at_reference(pc.to_mjcf(model, approximation), model)
    order = [model.joint_idx_v(name) for name in model.independent_joints]
    expected = pc.crba(model, model.createData(), model.q_reference)[np.ix_(order, order)]
    return EXACT if np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max() else APPROXIMATE


def exact_mjcf(model: Model) -> str:
    """The same with rotors as bodies."""
    return mjcf(model, "exact")


def urdf(model: Model) -> str:
    """Write URDF+, read it again, and compare torques of the same motion."""
    again = pc.buildModelFromXML(pc.to_urdf(model))
    assert again.independent_joints == model.independent_joints
    q, v, a, _ = state_of(model)
    moved = pc.integrate(again, np.array(again.q_reference), pc.difference(model, np.array(model.q_reference), q))
    same(pc.rnea(again, again.createData(), moved, v, a), pc.rnea(model, model.createData(), q, v, a), 1e-6)
    return EXACT


def reference(model: Model) -> str:
    """Compare with the reference implementation."""
    q, v, a, _ = state_of(model)
    same(pc.reference.rnea(model, q, v, a), pc.rnea(model, model.createData(), q, v, a))
    return EXACT


# --- springs and motors
def torque_of(model: Model) -> np.ndarray:
    """Return the passive torque at a state."""
    q, v, _, tau = state_of(model)
    return pc.passive_torque(model, model.createData(), q, v, tau)


def passive_torque(model: Model) -> str:
    """Compare the passive torque with a formula, or with the reference of gears with losses."""
    q, v, _, tau = state_of(model)
    data, (kind,) = model.createData(), {*map(type, model.constraints)} - {pc.Rotor} or {pc.Motor}
    found = torque_of(model)
    if kind is pc.Spring:
        same(found, [0.0, -30.0 * (q[1] - 0.2) - 0.5 * v[1]])
    elif kind is pc.GravityCompensation:
        height = slope(model, lambda x: np.array([held_height(model, x)]), q)
        same(found, 0.2 * 9.81 * height[0], 1e-6)
    else:
        expected = pc.reference.aba_with_losses(model, q, v, tau, 1e-9)
        found = pc.passive_torque(model, data, q, v, tau, friction_speed=1e-9)
        same(pc.aba(model, data, q, v, tau + found), expected, 1e-6)
    return EXACT


def held_height(model: Model, q: np.ndarray) -> float:
    """Return the height of the weight that is held."""
    data = model.createData()
    pc.forwardKinematics(model, data, q)
    return float(data.oMi[2].act(np.array([0.0, 0.0, -0.1]))[2])


def passive_simulation(model: Model) -> str:
    """Compare a simulation with one whose accelerations are computed with the passive torque."""
    q, v, _, _ = state_of(model)
    data = model.createData()

    def accelerate(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))

    found = pc.simulate(model, q, v, duration=0.01, dt=1e-3)
    same(found.v[-1], pc.simulate(model, q, v, duration=0.01, dt=1e-3, passive=False, dynamics=accelerate).v[-1], 1e-4)
    bare = pc.simulate(model, q, v, duration=0.01, dt=1e-3, passive=False)
    assert np.abs(found.v[-1] - bare.v[-1]).max() > 1e-6
    return EXACT


def in_dynamics(model: Model) -> str:
    """Return whether inverse dynamics contains the passive torque."""
    q, v, a, _ = state_of(model)
    bare = pc.ClusterModel(model.own_tree, [pc.Rotor("knee", 8.0, axial_inertia=2e-4)])
    same(pc.rnea(model, model.createData(), q, v, a), pc.rnea(bare, bare.createData(), q, v, a))
    return NO


def in_traces(model: Model) -> str:
    """Trace the passive torque."""
    pc.trace(model, "passive_torque")
    return EXACT


def kept(model: Model, again: Model) -> str:
    """Return whether a model that was written and read has the same passive torque."""
    if again.passive is None and not any(r.motor for r in again.rotors):
        return NO
    q, v, _, tau = state_of(model)
    same(pc.passive_torque(again, again.createData(), q, v, tau), torque_of(model), 1e-6)
    return EXACT


def passive_urdf(model: Model) -> str:
    """Write URDF+ and read it again."""
    return kept(model, pc.buildModelFromXML(pc.to_urdf(model)))


def passive_mjcf(model: Model) -> str:
    """Write MJCF and read it again."""
    return kept(model, pc.buildModelFromMJCF(pc.to_mjcf(model)))


CHECKS: dict[str, Callable[[Model], str]] = {
    "dynamics": dynamics, "derivatives": derivatives, "contacts": contacts, "kinematics": kinematics,
    "configurations": configurations, "forces": forces, "regressors": regressors, "operational": operational,
    "inverse kinematics": inverse_kinematics, "simulate": simulation, "batch": batches, "trace": traces,
    "motor space": motor_space, "to_urdf": urdf, "to_mjcf": mjcf, "to_mjcf exact": exact_mjcf, "reference": reference,
    "passive torque": passive_torque, "passive simulate": passive_simulation, "passive dynamics": in_dynamics,
    "passive trace": in_traces, "passive to_urdf": passive_urdf, "passive to_mjcf": passive_mjcf,
}  # fmt: skip


def found_for(kind: str, feature: str) -> str:
    """Return what a feature does for a kind: exact if it is for all samples, not supported if it is for none."""
    answers = set()
    for sample in SAMPLES[kind]:
        try:
            answers.add(CHECKS[feature](sample()))
        except pc.PinClustersError as error:
            answers.add(NO if not isinstance(error, pc.BranchLost) else f"fails: {error}")
        except AssertionError as error:
            answers.add(f"wrong numbers: {error}")
    return answers.pop() if len(answers) == 1 else " or ".join(sorted(answers))


def differences(declared: dict[tuple[str, str], str], kinds: tuple[str, ...] = ()) -> list[str]:
    """Return the cells of the first two tables that state anything but what the package does."""
    wrong = []
    for table_kinds, features in ((KINDS, FEATURES), (PASSIVE_KINDS, PASSIVE_FEATURES)):
        for kind in table_kinds:
            for feature in features if not kinds or kind in kinds else ():
                found, stated = found_for(kind, feature), declared[kind, feature]
                if found != stated:
                    wrong.append(f"{feature}, {kind}: the page says {stated}, the check found {found}")
    return wrong


def wrong_outputs() -> list[str]:
    """Return the cells of the table of functions that state anything but what the package does."""
    model, wrong = loop(), []
    frame, (contact, _) = str(model.frames[-1].name), contact_of(model)
    for name, cells in outputs().items():
        found = dict.fromkeys(OUTPUTS, False)
        found["batch"] = name in pc.batch.__all__
        if found["batch"]:
            found["gpu"] = name not in on_gpu._OTHERS
        for column, more in (("trace", {}), ("fext", {"fext": True}), ("parameters", {"parameters": ["gravity"]})):
            for about in ({}, {"frames": [frame]}, {"contacts": contact}):
                with contextlib.suppress(pc.PinClustersError):
                    pc.trace(model, name, **about, **more)
                    found[column] = True
        found["fext"] = found["fext"] or (found["trace"] and "fext" in pc.tracing.FUNCTIONS[name].inputs)
        wrong += [
            f"{name}, {column}: the page says {cells[column]}, the check found {found[column]}"
            for column in OUTPUTS
            if found[column] != cells[column]
        ]
    return wrong


def main() -> int:
    """Run all checks; returns the exit status."""
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    with pc.engine("tables"):
        wrong = [*differences(declared_cells()), *wrong_outputs()]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
