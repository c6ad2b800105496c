"""Identify rotor inertias from measured torques, and compare with a fit that has armature instead of rotors.

Torques are linear in the inertial parameters, and `pc.computeJointTorqueRegressor` returns the regressor including the
rotors. `pc.identifiable_parameters` lists the identifiable combinations of parameters. A leg of the MIT Humanoid moves
along sums of sines, and its torques have measurement noise. Least squares estimates these combinations and their
standard deviations. A second fit has one armature per joint instead of rotors. Armature represents neither belts nor
the motion of the carriers, so the link parameters absorb these effects, and the fit fails on another motion.
"""

from __future__ import annotations

import numpy as np

import pin_clusters as pc

NOISE, SAMPLES, RATE = 0.1, 800, 100.0  # torque noise [N m]; samples per motion; sampling rate [Hz]
SHARES, AMPLITUDE, SLOWEST = 5, 0.35, 0.2  # sines per joint; amplitude [rad]; lowest frequency [Hz]


def leg() -> tuple[pc.ClusterModel, pc.ClusterModel]:
    """Return the leg with `pc.Rotor` constraints, and the leg with armature, whose value does not matter."""
    shipped = pc.load("mit_humanoid_leg")
    tree, rotors = pc.baselines.armature_model(shipped, "none"), []
    for r in shipped.rotors:
        joints = [shipped.independent_joints[i] for i in r.row.nonzero()[0]]
        where = {"carrier": r.carrier, "axis": r.axis, "name": r.name}
        rotors.append(pc.Rotor(joints, r.row[r.row != 0.0], axial_inertia=r.axial_inertia, **where))
    return pc.ClusterModel(tree, rotors), pc.ClusterModel(pc.baselines.armature_model(shipped))


def regressors(model: pc.ClusterModel, seed: int) -> np.ndarray:
    """Return the stacked regressors of all samples of a motion along sums of sines."""
    rng, data, t = np.random.default_rng(seed), model.createData(), np.arange(SAMPLES) / RATE
    w = 2.0 * np.pi * SLOWEST * np.arange(1, SHARES + 1)[:, None]
    size, phase = rng.normal(size=(model.nv, SHARES)) * AMPLITUDE, rng.uniform(0.0, 6.3, (model.nv, SHARES, 1))
    waves = np.sin(w * t + phase), w * np.cos(w * t + phase), -w * w * np.sin(w * t + phase)
    states = zip(*(np.einsum("js,jst->tj", size, x) for x in waves), strict=True)
    return np.vstack([pc.computeJointTorqueRegressor(model, data, *state) for state in states])


def fit(Y: np.ndarray, basis: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return base parameters from least squares, their standard deviations, and their columns in Y."""
    own = (basis != 0.0).argmax(axis=1)
    assert np.abs(Y[:, own] @ basis - Y).max() < 1e-8  # the basis explains all torques
    assert np.linalg.matrix_rank(Y[:, own]) == len(basis)  # this motion excites all base parameters
    found, *_ = np.linalg.lstsq(Y[:, own], tau, rcond=None)
    variance = np.sum((tau - Y[:, own] @ found) ** 2) / (len(tau) - len(own))
    return found, np.sqrt(variance * np.diag(np.linalg.inv(Y[:, own].T @ Y[:, own]))), own


def main() -> dict[str, np.ndarray]:
    """Identify the leg; return axial inertias [kg m^2] and torque errors along another motion [N m]."""
    exact, rough = leg()
    values, names = pc.parameters(exact)
    basis, labels = pc.identifiable_parameters(exact)
    Y, others, truth = regressors(exact, 1), regressors(exact, 2), basis @ values
    tau = Y @ values + NOISE * np.random.default_rng(0).normal(size=len(Y))
    found, deviation, own = fit(Y, basis, tau)
    print(f"{len(values)} parameters, {len(basis)} identifiable combinations; combinations that contain rotors:")
    rotors = [i for i, row in enumerate(basis) if np.any(row[-len(exact.rotors) :])]
    for i in rotors:
        print(f"  {found[i]:9.6f} +- {2 * deviation[i]:.6f}, true {truth[i]:9.6f}: {labels[i][:80]}")
    assert np.abs((found - truth) / deviation).max() < 5.0

    armature, _, columns = fit(regressors(rough, 1), pc.identifiable_parameters(rough)[0], tau)
    predicted = {"rotors": others[:, own] @ found, "armature": regressors(rough, 2)[:, columns] @ armature}
    errors = {}
    print(f"RMS torque error along another motion [N m]; measurement noise {NOISE}:")
    for name, torque in predicted.items():
        errors[name] = np.sqrt(np.mean((torque - others @ values).reshape(-1, exact.nv) ** 2, axis=0))
        words = [f"{joint} {x:.3f}" for joint, x in zip(exact.independent_joints, errors[name], strict=True)]
        print(f"  {name:9}", *words)
    assert errors["rotors"].max() < NOISE < errors["armature"].min()

    # update the robot with the accurate estimates, and keep the known values of the other parameters
    alone = [i for i in rotors if np.count_nonzero(basis[i]) == 1]
    sure, known = [i for i in alone if 2.0 * deviation[i] < 0.1 * found[i]], values.copy()
    known[own[sure]] = found[sure]
    robot = pc.with_parameters(exact, known)
    assert {r.axial_inertia for r in robot.rotors} > set(found[sure])
    print("updated:", ", ".join(names[k] for k in own[sure]))
    of_rotors = {name: x[alone] for name, x in (("found", found), ("deviation", deviation), ("truth", truth))}
    return errors | of_rotors | {"names": np.array([names[k].split(":")[0] for k in own[alone]])}


if __name__ == "__main__":
    main()
