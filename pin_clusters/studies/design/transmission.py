"""Transmission ratio, mechanical advantage and reflected inertia over the range of a joint."""

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

_SAME = 1e-6
"""Ratios that change by less, relatively, do not change: files have six digits."""


@dataclass(frozen=True, eq=False)
class Transmission:
    """What one independent joint does to the others of its cluster, over its range.

    Attributes:
        moved: The joint.
        values: Of it, shape (N,), [rad] or [m].
        reference: Which sample is the reference pose.
        joints: The other joints that it moves.
        ratio: Their velocity per velocity of the joint, shape (N, joints).
        inertia: Effective inertia at the joint, all other independent joints held, shape (N,), [kg m^2] or [kg].
        motors: The rotors' part in it, and that of armature, shape (N,).
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
        """Torque at each joint per torque at the moved one, by virtual work: 1 / ratio, shape (N, joints)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.ratio)

    @property
    def constant(self) -> bool:
        """Whether the ratios are the same all over the range."""
        known = self.ratio[np.isfinite(self.ratio).all(axis=1)]
        return not known.size or bool(np.ptp(known, axis=0).max() < _SAME * np.abs(known).max())


def transmission(model: ClusterModel, s: Sweep) -> Transmission:
    """Compute ratios and inertias along a sweep."""
    data = model.createData()
    column = s.moved.column
    armature = np.array(model.inertia_tree.armature)
    inertias = np.array([axial_inertia(model, r) for r in model.rotors])
    for r in model.rotors:  # theirs is in their inertia already
        if r.joint_id is not None:
            armature[model.own_tree.idx_vs[r.joint_id]] = 0.0
    others = [c for c in s.joints if c.name != s.moved.name and c.column < 0]
    ratio = np.full((len(s.q), len(others)), np.nan)
    inertia, own = np.full((2, len(s.q)), np.nan)
    for i, q in enumerate(s.q):
        with suppress(SingularClusterError):  # at the very end of a range
            g = coupling_jacobian(model, data, q)[:, column]
            inertia[i] = crba(model, data, q)[column, column]
            ratio[i] = g[[c.iv for c in others]]
            speeds = [sum(x * g[iv] for iv, x in r.drivers) for r in model.rotors]
            own[i] = inertias @ np.square(speeds) + armature @ g**2
    moves = np.abs(np.nan_to_num(ratio)).max(axis=0, initial=0.0) > 1e-9
    return Transmission(
        s.moved,
        s.values,
        s.reference,
        tuple(c for c, m in zip(others, moves, strict=True) if m),
        ratio[:, moves],
        inertia,
        own,
    )
