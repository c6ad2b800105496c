"""What can be learnt of a robot's rotors from its torques, and what becomes of the rest if only armature is fitted.

Torques are linear in the inertial parameters: `pc.computeJointTorqueRegressor` has the columns, those of rotors
included. Not all parameters can be told apart: `pc.identifiable_parameters` lists the combinations that can, from tree
and belts alone. A leg of the MIT Humanoid moves by sums of sines, its torques are measured with noise, and least squares
find these combinations with their confidence. Then the same with the columns that remain if rotors are armature: links,
and one number per joint. No armature stands for a belt, so that links bend to it, and another motion tells.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

NOISE, SAMPLES, RATE = 0.1, 800, 100.0  # of the torques [N m]; per motion, [Hz]
SHARES, AMPLITUDE, SLOWEST = 5, 0.35, 0.2  # sines per joint, [rad], [Hz]


def leg() -> tuple[pc.ClusterModel, pin.Model]:
    """Return the leg with rotors that are no bodies, and its tree, in which they are locked."""
    shipped = pc.load("mit_humanoid_leg")
    tree, rotors = pc.baselines.armature_model(shipped, "none"), []
    for r in shipped.rotors:
        joints = [shipped.independent_joints[i] for i in r.row.nonzero()[0]]
        where = {"carrier": r.carrier, "axis": r.axis, "name": r.name}
        rotors.append(pc.Rotor(joints, r.row[r.row != 0.0], axial_inertia=r.axial_inertia, **where))
    return pc.ClusterModel(tree, rotors), tree


def motion(model: pc.ClusterModel, seed: int) -> tuple[np.ndarray, ...]:
    """Return positions, velocities and accelerations of sums of sines."""
    rng, t = np.random.default_rng(seed), np.arange(SAMPLES) / RATE
    w = 2.0 * np.pi * SLOWEST * np.arange(1, SHARES + 1)[:, None]
    size, phase = rng.normal(size=(model.nv, SHARES)) * AMPLITUDE, rng.uniform(0.0, 6.3, (model.nv, SHARES, 1))
    angle = w * t + phase
    q, v, a = np.sin(angle), w * np.cos(angle), -w * w * np.sin(angle)
    return tuple(np.einsum("js,jst->tj", size, x) for x in (q, v, a))


def regressors(model: pc.ClusterModel, states: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the regressors of all samples, one below the other."""
    data = model.createData()
    return np.vstack([pc.computeJointTorqueRegressor(model, data, *state) for state in zip(*states, strict=True)])


def fit(Y: np.ndarray, basis: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return base parameters by least squares, what is one standard deviation, and the columns that they belong to."""
    own = (basis != 0.0).argmax(axis=1)
    found, *_ = np.linalg.lstsq(Y[:, own], tau, rcond=None)
    variance = np.sum((tau - Y[:, own] @ found) ** 2) / (len(tau) - len(own))
    return found, np.sqrt(variance * np.diag(np.linalg.inv(Y[:, own].T @ Y[:, own]))), own


def main() -> dict[str, np.ndarray]:
    """Identify; returns base parameters with rotors in them, and errors of torques of another motion [N m]."""
    exact, tree = leg()
    values, names = pc.parameters(exact)
    basis, labels = pc.identifiable_parameters(exact)
    seen, other = (motion(exact, seed) for seed in (1, 2))
    Y, Z, rng = regressors(exact, seen), regressors(exact, other), np.random.default_rng(0)
    tau = Y @ values + NOISE * rng.normal(size=len(Y))
    found, deviation, own = fit(Y, basis, tau)
    assert np.abs(Y[:, own] @ basis - Y).max() < 1e-8  # no torque tells more
    assert np.linalg.matrix_rank(Y[:, own]) == len(basis)  # and this motion tells all of it
    truth = basis @ values
    print(f"{len(values)} parameters, of which torques tell {len(basis)} combinations; those with rotors in them:")
    rotors = [i for i, row in enumerate(basis) if np.any(row[-len(exact.rotors) :])]
    for i in rotors:
        print(f"  {found[i]:9.6f} +- {2 * deviation[i]:.6f}, truly {truth[i]:9.6f}: {labels[i][:90]}")
    assert np.abs((found - truth) / deviation).max() < 5.0

    # the same with armature: a column per joint in place of the rotors'; singular values of zero are what no torque tells
    joints = pc.ClusterModel(tree)
    armatures = [np.vstack([np.diag(a) for a in states[2]]) for states in (seen, other)]
    rough_Y, rough_Z = (np.hstack([regressors(joints, s), A]) for s, A in zip((seen, other), armatures, strict=True))
    size = np.maximum(np.linalg.norm(rough_Y, axis=0), 1e-9)
    rough, *_ = np.linalg.lstsq(rough_Y / size, tau, rcond=1e-9)
    errors = {
        "noise": np.full(exact.nv, NOISE),
        "rotors": rms(Z[:, own] @ found - Z @ values, exact.nv),
        "armature": rms(rough_Z @ (rough / size) - Z @ values, exact.nv),
    }
    print("RMS error of torques of another motion [N m]:")
    for name, error in errors.items():
        print(f"  {name:9}", *(f"{joint} {x:.3f}" for joint, x in zip(exact.independent_joints, error, strict=True)))
    assert errors["rotors"].max() < NOISE < errors["armature"].max()

    # a robot that has what was found with some confidence, and a catalogue's inertias elsewhere
    catalogue = values * np.where(np.arange(len(values)) < len(values) - len(exact.rotors), 1.0, 1.2)
    alone = [i for i in rotors if np.count_nonzero(basis[i]) == 1]
    sure = [i for i in alone if 2.0 * deviation[i] < 0.1 * found[i]]
    catalogue[own[sure]] = found[sure]
    robot = pc.with_parameters(exact, catalogue)
    names = [names[k].split(":")[0] for k in own[sure]]
    print("taken over:", ", ".join(f"{r.name} {r.axial_inertia:.6f} kg m^2" for r in robot.rotors if r.name in names))
    assert len(sure) == 2
    of_rotors = {name: x[alone] for name, x in (("found", found), ("deviation", deviation), ("truth", truth))}
    return errors | of_rotors | {"names": np.array([labels[i].split(":")[0] for i in alone])}


def rms(x: np.ndarray, nv: int) -> np.ndarray:
    """Return the root mean square of each joint."""
    return np.sqrt(np.mean(x.reshape(-1, nv) ** 2, axis=0))


if __name__ == "__main__":
    main()
