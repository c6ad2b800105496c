"""Compute velocity ratio, torque ratio (mechanical advantage) and effective inertia over the range of a joint."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...algorithms.dynamics.coupling import coupling_jacobian
from ...algorithms.dynamics.crba import crba
from ...approximations.armature import axial_inertia
from ...errors import SingularClusterError
from ...model import ClusterModel
from .coordinates import Coordinate
from .sweep import Sweep

_SAME = 1e-6  # Relative change up to which ratios count as constant; files contain about six digits


@dataclass(frozen=True, eq=False)
class Transmission:
    """Velocity ratios and effective inertia of one independent joint over its range.

    Attributes:
        moved: The independent joint.
        values: Values of this joint, shape (N,), [rad] or [m].
        reference: Index of the reference pose among the samples.
        joints: The dependent joints that move with ``moved``.
        ratio: Velocities of ``joints`` divided by the velocity of ``moved``, shape (N, joints).
        inertia: Effective inertia at ``moved`` with all other independent joints fixed, shape (N,), [kg m^2] or [kg].
        motors: Contribution of rotors and armature to the inertia, shape (N,), [kg m^2] or [kg].
    """

    moved: Coordinate
    values: np.ndarray
    reference: int
    joints: tuple[Coordinate, ...]
    ratio: np.ndarray
    inertia: np.ndarray
    motors: np.ndarray

    @property
    def advantage(self) -> np.ndarray:
        """Torque at each joint per torque at the moved joint (1 / ratio, by virtual work), shape (N, joints)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.ratio)

    @property
    def constant(self) -> bool:
        """Whether the ratios are constant over the range."""
        finite = self.ratio[np.isfinite(self.ratio).all(axis=1)]
        return not finite.size or bool(np.ptp(finite, axis=0).max() < _SAME * np.abs(finite).max())


def transmission(model: ClusterModel, s: Sweep) -> Transmission:
    data = model.createData()
    column = s.moved.column
    armature = np.array(model.inertia_tree.armature)
    inertias = np.array([axial_inertia(model, r) for r in model.rotors])
    for r in model.rotors:  # the rotor inertia already contains the armature of a rotor joint
        if r.joint_id is not None:
            armature[model.own_tree.idx_vs[r.joint_id]] = 0.0
    dependents = [c for c in s.joints if c.name != s.moved.name and c.column < 0]
    ratio = np.full((len(s.q), len(dependents)), np.nan)
    inertia, of_motors = np.full((2, len(s.q)), np.nan)
    for i, q in enumerate(s.q):
        with suppress(SingularClusterError):  # the end of a range can be singular
            g = coupling_jacobian(model, data, q)[:, column]
            inertia[i] = crba(model, data, q)[column, column]
            ratio[i] = g[[c.iv for c in dependents]]
            speeds = [sum(x * g[iv] for iv, x in r.drivers) for r in model.rotors]
            of_motors[i] = inertias @ np.square(speeds) + armature @ g**2
    moves = np.abs(np.nan_to_num(ratio)).max(axis=0, initial=0.0) > 1e-9
    return Transmission(
        s.moved,
        s.values,
        s.reference,
        tuple(c for c, m in zip(dependents, moves, strict=True) if m),
        ratio[:, moves],
        inertia,
        of_motors,
    )
