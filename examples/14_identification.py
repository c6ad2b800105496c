"""What can be learnt of a robot's rotors from its torques, and what becomes of the rest if only armature is fitted.

Torques are linear in the inertial parameters: `pc.computeJointTorqueRegressor` has the columns, those of rotors too.
Not all parameters can be told apart: `pc.identifiable_parameters` lists the combinations that can, from tree and belts
alone. A leg of the MIT Humanoid moves by sums of sines, its torques are measured with noise, and least squares find
these combinations with their confidence. Then the same with one armature per joint in place of the rotors: none stands
for a belt or for what carriers do to rotors, so that the links bend to it, and another motion tells.
"""

from __future__ import annotations

import numpy as np

import pin_clusters as pc

NOISE, SAMPLES, RATE = 0.1, 800, 100.0  # of the torques [N m]; per motion, [Hz]
SHARES, AMPLITUDE, SLOWEST = 5, 0.35, 0.2  # sines per joint, [rad], [Hz]


def leg() -> tuple[pc.ClusterModel, pc.ClusterModel]:
    """Return the leg with rotors that are no bodies, and with armature, whose value does not matter."""
    shipped = pc.load("mit_humanoid_leg")
    tree, rotors = pc.baselines.armature_model(shipped, "none"), []
    for r in shipped.rotors:
        joints = [shipped.independent_joints[i] for i in r.row.nonzero()[0]]
        where = {"carrier": r.carrier, "axis": r.axis, "name": r.name}
        rotors.append(pc.Rotor(joints, r.row[r.row != 0.0], axial_inertia=r.axial_inertia, **where))
    return pc.ClusterModel(tree, rotors), pc.ClusterModel(pc.baselines.armature_model(shipped))


def regressors(model: pc.ClusterModel, seed: int) -> np.ndarray:
    """Return the regressors of all samples of a motion of sums of sines, one below the other."""
    rng, data, t = np.random.default_rng(seed), model.createData(), np.arange(SAMPLES) / RATE
    w = 2.0 * np.pi * SLOWEST * np.arange(1, SHARES + 1)[:, None]
    size, phase = rng.normal(size=(model.nv, SHARES)) * AMPLITUDE, rng.uniform(0.0, 6.3, (model.nv, SHARES, 1))
    waves = np.sin(w * t + phase), w * np.cos(w * t + phase), -w * w * np.sin(w * t + phase)
    states = zip(*(np.einsum("js,jst->tj", size, x) for x in waves), strict=True)
    return np.vstack([pc.computeJointTorqueRegressor(model, data, *state) for state in states])


def fit(Y: np.ndarray, basis: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return base parameters by least squares, what is one standard deviation, and the columns that they belong to."""
    own = (basis != 0.0).argmax(axis=1)
    assert np.abs(Y[:, own] @ basis - Y).max() < 1e-8  # no torque tells more
    assert np.linalg.matrix_rank(Y[:, own]) == len(basis)  # and this motion tells all of it
    found, *_ = np.linalg.lstsq(Y[:, own], tau, rcond=None)
    variance = np.sum((tau - Y[:, own] @ found) ** 2) / (len(tau) - len(own))
    return found, np.sqrt(variance * np.diag(np.linalg.inv(Y[:, own].T @ Y[:, own]))), own


def main() -> dict[str, np.ndarray]:
    """Identify; returns axial inertias [kg m^2] and errors of torques of another motion [N m]."""
    exact, rough = leg()
    values, names = pc.parameters(exact)
    basis, labels = pc.identifiable_parameters(exact)
    Y, others, truth = regressors(exact, 1), regressors(exact, 2), basis @ values
    tau = Y @ values + NOISE * np.random.default_rng(0).normal(size=len(Y))
    found, deviation, own = fit(Y, basis, tau)
    print(f"{len(values)} parameters, of which torques tell {len(basis)} combinations; those with rotors in them:")
    rotors = [i for i, row in enumerate(basis) if np.any(row[-len(exact.rotors) :])]
    for i in rotors:
        print(f"  {found[i]:9.6f} +- {2 * deviation[i]:.6f}, truly {truth[i]:9.6f}: {labels[i][:80]}")
    assert np.abs((found - truth) / deviation).max() < 5.0

    armature, _, columns = fit(regressors(rough, 1), pc.identifiable_parameters(rough)[0], tau)
    predicted = {"rotors": others[:, own] @ found, "armature": regressors(rough, 2)[:, columns] @ armature}
    errors = {}
    print(f"RMS error of torques of another motion [N m]; noise of the measurement {NOISE}:")
    for name, torque in predicted.items():
        errors[name] = np.sqrt(np.mean((torque - others @ values).reshape(-1, exact.nv) ** 2, axis=0))
        words = [f"{joint} {x:.3f}" for joint, x in zip(exact.independent_joints, errors[name], strict=True)]
        print(f"  {name:9}", *words)
    assert errors["rotors"].max() < NOISE < errors["armature"].min()

    # a robot that has what was found with confidence; the rest is what was known, such as a catalogue's inertias
    alone = [i for i in rotors if np.count_nonzero(basis[i]) == 1]
    sure, known = [i for i in alone if 2.0 * deviation[i] < 0.1 * found[i]], values.copy()
    known[own[sure]] = found[sure]
    robot = pc.with_parameters(exact, known)
    assert {r.axial_inertia for r in robot.rotors} > set(found[sure])
    print("taken over:", ", ".join(names[k] for k in own[sure]))
    of_rotors = {name: x[alone] for name, x in (("found", found), ("deviation", deviation), ("truth", truth))}
    return errors | of_rotors | {"names": np.array([names[k].split(":")[0] for k in own[alone]])}


if __name__ == "__main__":
    main()
