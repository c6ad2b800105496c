"""The joints and motors of a mechanism, and the ratios between motors and tree joints."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._support.arrays import joint_names
from ..._support.trees import coordinates_of, in_v, joint_in_v
from ...algorithms.dynamics.with_independent import with_independent
from ...constraints import Motor
from ...errors import ModelError, UnknownNameError, UnsupportedJointError, did_you_mean
from ...model import ClusterModel, check_model


class Mechanism:
    """A cluster with its commanded joints and its motors; the constructor raises the errors listed in ``MotorSpace``.

    Attributes:
        model: The robot, also with independent commanded joints (``by_joints``) or independent drivers (``by_motors``).
        cluster: The cluster; ``ids`` contains its joint ids, and ``loops`` is True if it has closed loops.
        joints: Ids of the commanded joints; ``drivers`` contains the ids of the joints that the motors turn.
        ratios: Matrix that converts driver positions to motor positions, ``motors = ratios @ drivers``, shape (n, n).
        given: Motor limits ``torque`` and ``speed``, from ``Motor`` or the robot file, shape (n,); NaN if missing.
        stated: The ``Motor`` object of each motor, or None.
    """

    def __init__(self, model: ClusterModel, joints: Any, motors: Any) -> None:
        check_model(model, "MotorSpace")
        tree, rotors, rows = model.own_tree, {r.name: r for r in model.rotors}, list[Any]()
        for label, names in (("joints", joint_names("joints", joints)), ("motors", joint_names("motors", motors))):
            if not names or len(set(names)) < len(names):
                raise ModelError(
                    f"MotorSpace: {label} must contain at least one name, and no name twice; got {list(names)}."
                )
        for name in motors:  # a rotor that is a body of the tree is represented by its joint
            spins = name in rotors and not tree.existJointName(name)
            rows.append(rotors[name].drivers if spins else ((tree.idx_vs[_joint(model, name, rotors)], 1.0),))
        ivs = sorted({int(iv) for row in rows for iv, _ in row})
        self.model, self.joints = model, tuple(_joint(model, name) for name in joints)
        self.drivers = tuple(joint_in_v(tree, iv) for iv in ivs)
        self.cluster = next(c for c in model.clusters if joints[0] in c.joints)
        self.ids = [tree.getJointId(name) for name in self.cluster.joints]
        inside, free = ", ".join(self.cluster.joints), len(self.columns(model))
        if separate := [tree.names[j] for j in (*self.joints, *self.drivers) if j not in self.ids]:
            text = f"MotorSpace: {separate[0]!r} is not in the mechanism of {joints[0]!r}, which consists of {inside}"
            raise ModelError(f"{text}. Create one MotorSpace for each mechanism.")
        if not len(joints) == len(motors) == len(ivs) == free <= 3:
            text = (
                f"{len(joints)} joints and {len(motors)} motors on {len(ivs)} joints were passed, but all these "
                "numbers must be equal"
            )
            raise ModelError(f"MotorSpace: {inside} have {free} degrees of freedom (at most 3 are supported): {text}.")
        self.ratios = np.array([[sum(r for i, r in row if i == iv) for iv in ivs] for row in rows], dtype=float)
        if not np.linalg.cond(self.ratios) < 1e12:
            raise ModelError(f"MotorSpace: motors {', '.join(motors)} do not turn independently. Specify other motors.")
        self.loops = any(set(loop.joints) & set(self.joints) for loop in model.tables.topology.analyses)
        choices = [[tree.names[j] for j in x] for x in (self.joints, self.drivers)]
        self.by_joints, self.by_motors = (with_independent(model, x)[0] if self.loops else model for x in choices)
        main = [ivs[int(np.argmax(np.abs(row)))] for row in self.ratios]
        gear = np.where((self.ratios != 0.0).sum(axis=1) == 1, np.abs(self.ratios).sum(axis=1), np.nan)
        limits = {"torque": tree.effortLimit[main] / gear, "speed": np.minimum(tree.velocityLimit[main], 1e9) * gear}
        self.stated: list[Motor | None] = [rotors[name].motor if name in rotors else None for name in motors]
        for k, motor in enumerate(self.stated):
            if motor is not None:
                limits["speed"][k] = motor.free_speed or limits["speed"][k]
                limits["torque"][k] = motor.peak_torque or limits["torque"][k]
        self.given = {label: np.where((x > 0.0) & (x < 1e6), x, np.nan) for label, x in limits.items()}

    def values(self, ids: Iterable[int], q: np.ndarray) -> np.ndarray:
        return coordinates_of(self.model.own_tree, ids, q)

    def columns(self, model: ClusterModel) -> list[int]:
        """Return the mechanism's indices in v, in the order of the commanded joints if these are independent."""
        tree, independent = model.own_tree, model.idx_v_independent.tolist()
        if model is not self.model:
            return [independent.index(tree.idx_vs[j]) for j in self.joints]
        velocity_indices = {i for j in self.ids for i in in_v(tree, j)}
        return [k for k, iv in enumerate(independent) if iv in velocity_indices]

    def of_joints(self, rates: np.ndarray) -> np.ndarray:
        return rates[[self.model.own_tree.idx_vs[j] for j in self.joints]]

    def of_motors(self, rates: np.ndarray) -> np.ndarray:
        return np.asarray(self.ratios @ rates[[self.model.own_tree.idx_vs[j] for j in self.drivers]])


def _joint(model: ClusterModel, name: str, more: Iterable[str] = ()) -> int:
    tree, names = model.own_tree, [*list(model.own_tree.names)[1:], *more]
    if not tree.existJointName(name) or name == tree.names[0]:
        raise UnknownNameError(f"MotorSpace: {model.name!r} has no joint or rotor {name!r}.{did_you_mean(name, names)}")
    if tree.nvs[j := int(tree.getJointId(name))] != 1:
        raise UnsupportedJointError(f"MotorSpace: joint {name!r} must have one degree of freedom, not {tree.nvs[j]}.")
    return j
