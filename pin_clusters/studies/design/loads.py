"""Compute the largest load of each bearing, loop-closure constraint and rod along a motion."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import joint_subspace
from ...algorithms.contacts.constraint_forces import ConstraintForces, LoopWrench, RodForce, constraint_forces
from ...algorithms.dynamics.coupling import coupling_jacobian
from ...algorithms.dynamics.rnea import rnea
from ...model import ClusterModel
from ..pages.results import Result
from ..study import Recorded, Trajectory
from ..study._samples import spread
from .actuators import Motor
from .coordinates import coordinates

_SAMPLES = 600
_Part = tuple[str, int, str]  # Kind of a part, its index among parts of this kind, and its name


@dataclass(frozen=True)
class Load(Result):
    """Largest load of one part along a motion.

    Attributes:
        part: Name of the joint, loop or rod.
        kind: ``"joint"``, ``"loop"`` or ``"rod"``.
        force: Largest force, [N]; for a rod, the largest magnitude of its tension and of the forces at its ends.
        force_time: Time of the largest force, [s].
        moment: Largest bearing moment, [N m], without the component about the joint axis (motors and friction).
        moment_time: Time of the largest moment, [s].
        pull: Largest tension of a rod, [N].
        push: Largest compression of a rod, [N].
        unique: Whether the load is uniquely determined in all samples. Otherwise, redundant constraints share the
            load, and the value is the minimum-norm solution.
    """

    part: str
    kind: str
    force: float
    force_time: float
    moment: float
    moment_time: float
    pull: float
    push: float
    unique: bool


@dataclass(frozen=True, eq=False)
class Loads:
    """Largest loads along a motion.

    Attributes:
        motion: Description of the motion.
        duration: Duration of the motion, [s].
        samples: Number of states.
        parts: Loads of all joints except floating joints, in the order of the tree, then of loops and rods.
        by_motors: Whether the torques act at the motors; otherwise, they act at the independent joints.
        on_joints: Independent joints whose torque the motors cannot deliver entirely, for example because of a spring.
    """

    motion: str
    duration: float
    samples: int
    parts: tuple[Load, ...]
    by_motors: bool
    on_joints: tuple[str, ...]


def loads(
    model: ClusterModel, trajectory: Trajectory, drives: list[tuple[Motor, ...]], progress: Callable[[float], None]
) -> Loads:
    """Compute the loads of joints, loops and rods; ``drives`` lists the motors by cluster of ``model.clusters``."""
    time, q, v, a = trajectory.states(model)
    data = model.createData()
    indices = spread(len(time), _SAMPLES)
    values_of_part: dict[_Part, list[Any]] = {}
    unpowered: set[str] = set()
    recorded = trajectory if isinstance(trajectory, Recorded) and trajectory.forces else None
    for n, i in enumerate(indices):
        fext = None if recorded is None else _ground(model, recorded, float(time[i]), q[i])
        tau = np.array(rnea(model, data, q[i], v[i], a[i], fext))
        tau_tree = tree_torques(model, coupling_jacobian(model, data, q[i]), tau, drives, unpowered)
        forces = constraint_forces(model, data, q[i], v[i], tau_tree, fext)
        for part, values in _of_state(model, forces):
            values_of_part.setdefault(part, []).append(values)
        if n % 20 == 0:
            progress(n / len(indices))
    times = time[indices] - time[0]
    parts = tuple(_worst(*part, np.array(values, dtype=float), times) for part, values in values_of_part.items())
    ordered = tuple(name for name in model.independent_joints if name in unpowered)
    return Loads(trajectory.label, float(times[-1]), len(indices), parts, any(drives), ordered)


def tree_torques(
    model: ClusterModel, G: np.ndarray, tau: np.ndarray, drives: list[tuple[Motor, ...]], unpowered: set[str]
) -> np.ndarray:
    """Convert ``tau`` to motor torques on the tree; add joints to ``unpowered`` if no motor can supply their torque."""
    tree = model.own_tree
    torques = np.zeros(tree.nv)
    remainder = tau.copy()
    for cluster, motors in zip(model.clusters, drives, strict=True):
        free = coordinates(model, cluster.independent)
        columns = [c.column for c in free]
        if not motors or not columns:
            continue
        B = np.array([m.torque_row @ G[:, columns] for m in motors]).T
        motor_torques = np.linalg.lstsq(B, tau[columns], rcond=1e-10)[0]
        torques += sum(x * m.torque_row for x, m in zip(motor_torques, motors, strict=True))
        remainder[columns] -= B @ motor_torques
        rounding = 1e-6 * max(1.0, float(np.abs(tau).max()))
        unpowered.update(c.name for c in free if abs(remainder[c.column]) > rounding)
    torques[model.idx_v_independent] += remainder
    return torques


def _ground(model: ClusterModel, recorded: Recorded, t: float, q: np.ndarray) -> np.ndarray:
    """Return the recorded forces as wrenches in joint frames, shape (njoints, 6)."""
    tree = model.own_tree
    data = tree.createData()
    pin.framesForwardKinematics(tree, data, q)
    wrenches = np.zeros((tree.njoints, 6))
    for name, values in recorded.forces.items():
        frame = tree.getFrameId(name)
        j = tree.frames[frame].parentJoint
        f = np.array([np.interp(t, recorded.time, column) for column in values.T])
        placement = pin.SE3(np.eye(3), data.oMf[frame].translation)  # recorded forces use world axes
        wrenches[j] += (data.oMi[j].inverse() * placement).act(pin.Force(f)).vector
    return wrenches


def _of_state(model: ClusterModel, forces: ConstraintForces) -> Iterator[tuple[_Part, tuple[Any, ...]]]:
    tree = model.own_tree
    for j in range(1, tree.njoints):
        if tree.nvs[j] == 6:  # a floating joint has no bearing
            continue
        f = forces.joints[j]
        S = joint_subspace(tree.joints[j])
        linear, angular = f[:3], f[3:]
        if S is not None:
            # A bearing carries no load in its joint's direction of motion.
            linear, angular = (
                x - (x @ axis) * axis / (axis @ axis) if np.any(axis) else x
                for x, axis in ((linear, S[:3]), (angular, S[3:]))
            )
        yield ("joint", j, tree.names[j]), (_norm(linear), _norm(angular), 0.0, bool(forces.unique[j]))
    for k, x in enumerate(forces.loops):
        if isinstance(x, LoopWrench):
            yield ("loop", k, x.constraint), (_norm(x.wrench[:3]), _norm(x.wrench[3:]), 0.0, x.unique)
        elif isinstance(x, RodForce):
            force = max(abs(x.tension), _norm(x.force_a), _norm(x.force_b))
            yield ("rod", k, x.constraint), (force, 0.0, x.tension, x.unique)


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


def _worst(kind: str, _: int, name: str, values: np.ndarray, time: np.ndarray) -> Load:
    force, moment, tension, unique = values.T
    k, m = int(np.argmax(force)), int(np.argmax(moment))
    return Load(
        name,
        kind,
        float(force[k]),
        float(time[k]),
        float(moment[m]),
        float(time[m]),
        max(0.0, float(tension.max())),
        max(0.0, float(-tension.min())),
        bool(unique.all()),
    )
