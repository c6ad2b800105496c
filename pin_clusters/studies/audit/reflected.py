"""Compute the armature or inertia matrix that represents rotors in other simulators; with closed loops, its range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algorithms.dynamics.coupling import coupling_jacobian
from ...approximations.armature import Driven, axial_inertia, reflected_inertia
from ...model import ClusterModel
from ..pages.results import Result, told
from ..study._samples import spread
from ..study.trajectories._base import joint_of
from .links import LinkSide, link_sides

_POSES = 400  # Number of configurations at which the reflected inertia of closed loops is computed


@dataclass(frozen=True)
class Drive(Driven, Result):
    """A rotor, and the properties that decide how another simulator can represent it.

    Attributes:
        body: Whether the rotor is a body of the tree. If so, the other simulator must lock the rotor's own joint.
        own: Whether the rotor's own joint alone determines its speed. If so, it stays a body in the other simulator.
        apart: Whether the joints that drive the rotor are on different branches of the kinematic tree.
    """

    body: bool
    own: bool
    apart: bool

    _json = "name:rotor inertia ratios joints_on_different_branches:apart"


@dataclass(frozen=True, eq=False)
class Reflected(Result):
    """The reflected inertia of a robot.

    Attributes:
        joints: Names of the rows and columns of ``matrix``, in the order of v.
        matrix: B = sum_r J_r g_r' g_r for the joints that drive rotors, shape (n, n), [kg m^2] ([kg] for prismatic
            joints); J_r is the axial inertia of rotor r, g_r its ratios. With closed loops, B is at the reference pose.
        low: Smallest value of each entry of B along the motion; None without closed loops.
        high: Largest value of each entry of B along the motion; None without closed loops.
        samples: Indices of the evaluated samples of the motion; empty without closed loops.
        along: B along the motion, shape (poses, n, n).
        armature: Armature for the joints of another simulator: the armature in the robot's file plus the diagonal of B.
            With closed loops, J ratio^2 is added instead, at each tree joint that drives a rotor.
        own: The armature in the robot's file, by joint; joints without armature are omitted.
        drives: The rotors.
        links: Reflected inertia in link coordinates, for differentials whose independent joints are motors.
    """

    joints: tuple[str, ...]
    matrix: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    samples: np.ndarray
    along: np.ndarray | None
    armature: dict[str, float]
    own: dict[str, float]
    drives: tuple[Drive, ...]
    links: tuple[LinkSide, ...] = ()

    @property
    def off_diagonal(self) -> dict[tuple[str, str], float]:
        """Non-zero entries of ``matrix`` above the diagonal, by pair of joints."""
        n = len(self.joints)
        return {
            (self.joints[i], self.joints[k]): float(self.matrix[i, k])
            for i in range(n)
            for k in range(i + 1, n)
            # If equal motors drive the sum and difference of two joints, off-diagonal terms cancel up to rounding.
            if abs(self.matrix[i, k]) > 1e-12 * np.sqrt(self.matrix[i, i] * self.matrix[k, k])
        }

    def as_dict(self) -> dict[str, Any]:
        plain = told(
            self,
            "joints matrix armature armature_of_the_tree:own",
            off_diagonal=[{"joints": list(pair), "value": value} for pair, value in self.off_diagonal.items()],
            rotors=[d.as_dict() for d in self.drives],
        )
        return plain if self.low is None else plain | told(self, "matrix_min:low matrix_max:high seen_by_links:links")


def reflect(model: ClusterModel, q: np.ndarray) -> Reflected:
    """Compute the rotors' reflected inertia; with closed loops, also along the motion ``q``, shape (N, nq)."""
    drives = tuple(_drive(model, r) for r in model.rotors)
    file_armature = _own_armature(model)
    low = high = along = None
    samples = np.zeros(0, dtype=int)
    links: tuple[LinkSide, ...] = ()
    if model.closures:
        data = model.createData()
        samples = spread(len(q), _POSES)
        G = [coupling_jacobian(model, data, row) for row in (model.q_reference, *q[samples])]
        matrix, *matrices = reflected_inertia(model, np.array(G))
        links = link_sides(model, (G[0], matrix), list(zip(G[1:], matrices, strict=True)))
        along = np.array(matrices)
    else:
        matrix = reflected_inertia(model, rotors=model.rotors)
    names = [name for name in model.independent_joints for _ in range(joint_of(model, name).nv)]
    used = [i for i in range(model.nv) if np.any(matrix[i]) or (along is not None and np.any(along[:, i].max(axis=0)))]
    cut = np.ix_(used, used)
    if along is not None:
        along = along[:, used][:, :, used]
        low, high = along.min(axis=0), along.max(axis=0)
    return Reflected(
        tuple(names[i] for i in used),
        matrix[cut],
        low,
        high,
        samples,
        along,
        _armature(model, drives, file_armature, matrix, names),
        file_armature,
        drives,
        links,
    )


def _own_armature(model: ClusterModel) -> dict[str, float]:
    tree, armature = model.tree, model.inertia_tree.armature
    rotors = {r.joint_id for r in model.rotors}
    return {
        tree.names[j]: float(armature[tree.idx_vs[j]])
        for j in range(1, tree.njoints)
        if j not in rotors and tree.nvs[j] == 1 and armature[tree.idx_vs[j]] != 0.0
    }


def _drive(model: ClusterModel, rotor: Any) -> Drive:
    tree = model.tree
    joint_at = {tree.idx_vs[j]: j for j in range(1, tree.njoints) if tree.nvs[j] == 1}
    if model.closures:
        ratios = {joint_at[iv]: float(ratio) for iv, ratio in rotor.drivers}
    else:  # Without loops, the ratios to the independent joints are constant.
        velocity_index = model.idx_v_independent
        ratios = {joint_at[int(velocity_index[i])]: float(g) for i, g in enumerate(rotor.row) if g != 0.0}
    drives_itself = rotor.joint_id is not None and set(ratios) == {rotor.joint_id}
    path = max((set(tree.supports[j]) for j in ratios), key=len, default=set())
    return Drive(
        rotor.name,
        float(axial_inertia(model, rotor)),
        {tree.names[j]: g for j, g in ratios.items() if g != 0.0},
        rotor.joint_id is not None,
        drives_itself,
        not set(ratios) <= path,
    )


def with_rotors(file_armature: dict[str, float], drives: Iterable[Drive]) -> defaultdict[str, float]:
    total = defaultdict(float, file_armature)
    for d in drives:
        for name, ratio in d.ratios.items():
            total[name] += d.inertia * ratio**2
    return total


def _armature(
    model: ClusterModel,
    drives: tuple[Drive, ...],
    file_armature: dict[str, float],
    matrix: np.ndarray,
    names: list[str],
) -> dict[str, float]:
    if model.closures:
        total = with_rotors(file_armature, (d for d in drives if not d.own))
    else:
        total = defaultdict(float, file_armature)
        for i in np.flatnonzero(np.diag(matrix)):
            total[names[i]] += float(matrix[i, i])
    return {name: total[name] for name in model.tree.names if name in total}
