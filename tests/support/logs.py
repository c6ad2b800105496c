"""Logs of robots whose parameters are known: smooth motions, torques by inverse dynamics, noise of sensors."""

import warnings
from dataclasses import dataclass

import numpy as np

import pin_clusters as pc
from pin_clusters.studies.identify.parameters import applied, sought
from pin_clusters.studies.study.trajectories import Recorded, centre, moved_joints

WHAT = {
    "mini_cheetah": ("rotor_inertia", "viscous", "coulomb", "mass"),
    "mit_humanoid_leg": ("rotor_inertia", "viscous", "coulomb", "mass"),
    "ankle_2rsu": ("rotor_inertia", "viscous", "coulomb", "ankle_roll: mass", "spring"),
}
RATE, SECONDS = 250.0, 10.0
NOISE = {"": 1e-4, ".v": 1e-2, ".tau": 0.03}
"""Deviation of positions [rad], velocities [rad/s], and torques, of their RMS."""
WAVES = np.array([1, 2, 3, 5, 8])
SLOWEST, REACH = 0.25, 0.35
TYPICAL = {"viscous": 1e-4, "coulomb": 2e-2}


@dataclass(frozen=True)
class Case:
    """A robot, what is sought of it and how much that is, and the robot as one believes it to be."""

    true: pc.ClusterModel
    what: tuple[str, ...]
    values: np.ndarray
    believed: pc.ClusterModel


def robot(name: str) -> pc.ClusterModel:
    """Return a robot that stands on a bench; the ankle has a spring."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        found = pc.load(name, root_joint=None) if name == "mini_cheetah" else pc.load(name)
    if name != "ankle_2rsu":
        return found
    heel = pc.Spring("ankle_pitch", 20.0, rest=0.1, name="heel")
    return pc.ClusterModel(found.own_tree, [*found.constraints, heel], q_reference=found.q_reference)


def case(name: str, rng: np.random.Generator, what: tuple[str, ...] | None = None) -> Case:
    """Return a robot with friction, and the same with wrong numbers: of inertias 60 to 100 %, no friction."""
    model, what = robot(name), what or WHAT[name]
    found = sought(model, what)
    values = np.array([TYPICAL.get(p.kind, 0.0) * rng.uniform(0.5, 1.5) or p.prior for p in found])
    wrong = np.array([0.0 if p.kind in TYPICAL else p.prior * rng.uniform(0.6, 1.0) for p in found])
    return Case(applied(model, found, values), what, values, applied(model, found, wrong))


def simulated(
    model: pc.ClusterModel, rng: np.random.Generator, *, at_motors: bool = True, seconds: float = SECONDS
) -> dict[str, np.ndarray]:
    """Return a log without noise of sums of sines, with accelerations and torques."""
    time = np.arange(0.0, seconds, 1.0 / RATE)
    columns, w = {"time": time}, 2.0 * np.pi * SLOWEST * WAVES[:, None]
    for name, middle in zip(moved_joints(model), centre(model), strict=True):
        size = rng.normal(size=(len(WAVES), 1)) * REACH / np.sqrt(len(WAVES) * WAVES[:, None])
        phase = w * time + rng.uniform(0.0, 2.0 * np.pi, (len(WAVES), 1))
        columns[name] = middle + np.sum(size * np.sin(phase), axis=0)
        columns[f"{name}.v"] = np.sum(size * w * np.cos(phase), axis=0)
        columns[f"{name}.a"] = -np.sum(size * w**2 * np.sin(phase), axis=0)
    _, q, v, a = Recorded.from_columns(dict(columns)).states(model)
    data = model.createData()
    if at_motors:
        tau = np.array(
            [pc.motor_torque(model, data, *x) for x in zip(q, pc.batch.rnea(model, q, v, a), v, a, strict=True)]
        )
        return columns | {f"{r.name}.tau": tau[:, k] for k, r in enumerate(model.motors)}
    tau = pc.batch.rnea(model, q, v, a) - [pc.passive_torque(model, data, *x) for x in zip(q, v, strict=True)]
    return columns | {f"{name}.tau": tau[:, model.joint_idx_v(name)] for name in moved_joints(model)}


def noisy(log: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return what sensors would have measured; accelerations are not measured."""
    found = {}
    for name, x in log.items():
        ending = next((e for e in (".v", ".tau") if name.endswith(e)), "")
        size = NOISE[ending] * (np.sqrt(np.mean(x**2)) if ending == ".tau" else 1.0)
        if not name.endswith(".a"):
            found[name] = x if name == "time" else x + size * rng.normal(size=len(x))
    return found
