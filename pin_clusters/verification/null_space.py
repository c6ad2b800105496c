"""Compute G and g of models with closed loops from a null space, as a reference for the kernels.

This module shares no code with the loop analysis or the kernels. Pinocchio's Jacobians yield the constraint equations
of all closures in the axes of their frames a, including redundant equations. A singular value decomposition yields
their null space N. Then ``G = N N_i^-1``, where N_i contains the rows of N for the independent velocities. The rank of
the equations is the number of dependent velocities.
"""

import itertools
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import coordinates_of, in_v
from ..constraints.closures import Closure, FrameClosure, JointClosure, RodClosure
from ..errors import NotAvailableError, SingularClusterError
from ..model import ClusterModel, SpanningTree

RANK_TOLERANCE = 1e-6
"""Singular values of the scaled constraint rows count as zero if they are below this fraction of the largest value."""


def rod_points(rod: RodClosure) -> list[tuple[float, float]]:
    """Return (mass [kg], weight w) of two points that represent a rod; the kernels use three points.

    Each point is one radius of gyration from the centre; its velocity is w v_a + (1 - w) v_b for rod ends a and b.
    """
    length = rod.length
    assert length is not None
    centre, moment = (0.5 * length, rod.mass * length**2 / 12.0) if rod.centre is None else (rod.centre, rod.moment)
    gyration = np.sqrt(moment / rod.mass)
    return [(0.5 * rod.mass, float(1.0 - (centre + side * gyration) / length)) for side in (-1.0, 1.0)]


class NullSpace:
    """The constraint rows of a model, and the coupling matrix computed from their null space.

    ``at(q)`` computes the coupling matrix ``G``; ``at(q, v)`` also computes the bias ``g``.

    Attributes:
        G: Coupling matrix (tree velocity = G times independent velocity), shape (model.tree.nv, nv).
        g: Tree acceleration at zero independent acceleration, shape (model.tree.nv,).
        K: Jacobian of all constraint equations (couplings, then closures), shape (rows, model.tree.nv).
        bias: Kdot times the tree velocity, shape (rows,).
    """

    def __init__(self, model: ClusterModel, span: SpanningTree) -> None:
        self.model, self.tree, self.span = model, span.tree, span
        self.data = span.tree.createData()
        self.closures: tuple[Closure, ...] = model.closures
        self.nv = model.tree.nv
        explicit = coupling_rows(model)
        ends = len(explicit) + np.cumsum([0, *(c.size for c in self.closures)])
        self.rows_of = [slice(*pair) for pair in itertools.pairwise(ends.tolist())]
        self.K, self.bias, self.scale = np.zeros((ends[-1], self.nv)), np.zeros(ends[-1]), np.ones(ends[-1])
        self.K[: len(explicit)] = explicit
        self.scale[: len(explicit)] = np.linalg.norm(explicit, axis=1)
        self.G, self.g = np.zeros((self.nv, model.nv)), np.zeros(self.nv)
        self.G[model.idx_v_independent, np.arange(model.nv)] = 1.0
        self.zero = np.zeros(span.tree.nv)
        self.parts = self._parts()

    def at(self, q: np.ndarray, v: np.ndarray | None = None) -> None:
        """Compute G, and also g if a velocity is given.

        Args:
            q: Configuration in the user's order, shape (nq,), at which all loops are closed.
            v: Independent velocity, shape (nv,).

        Raises:
            SingularClusterError: The independent velocities do not determine the dependent velocities at this q.
        """
        solved = self._coupling(q)
        if v is not None:
            self._drift(q, self.G @ v)
            self.g[:] = 0.0
            for (rows, columns, _, places), (inverse, N) in zip(self.parts, solved, strict=True):
                particular = -inverse @ (self.bias[rows] / self.scale[rows])
                self.g[columns] = particular - N @ particular[places]
                self.g[columns[places]] = 0.0

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Compute K at a configuration, shape (rows, model.tree.nv); the next call overwrites the returned array."""
        expanded = self.span.configuration(q)
        pin.computeJointJacobians(self.tree, self.data, expanded)
        for closure, rows in zip(self.closures, self.rows_of, strict=True):
            if isinstance(closure, JointClosure):
                block = np.zeros((closure.size, self.nv))
                columns = [self.model.tree.idx_vs[j] for j in closure.joints]
                block[:, columns] = closure.jacobian(coordinates_of(self.model.tree, closure.joints, q))
                self.scale[rows] = np.maximum(np.linalg.norm(block, axis=1), 1e-12)
            else:
                block = self._rod(closure) if isinstance(closure, RodClosure) else self.frame_rows(closure)
                block = block[:, self.span.from_tree_v]
                lengths = np.array([unit == "m" for unit in closure.units])
                self.scale[rows] = np.where(lengths, max(float(np.abs(block[lengths]).max(initial=0.0)), 1e-12), 1.0)
            self.K[rows] = block
        return self.K

    def _coupling(self, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Compute G; for each group in ``parts``, return the pseudo-inverse of the scaled rows, and the block of G."""
        K = self.jacobian(q) / self.scale[:, None]
        solved = []
        for rows, columns, free, places in self.parts:
            U, s, Vt = np.linalg.svd(K[np.ix_(rows, columns)])
            rank = len(columns) - len(free)
            if rank > len(s) or (rank and not s[rank - 1] > RANK_TOLERANCE * s[0]):
                raise SingularClusterError(self._complaint(columns, "the loops do not determine the dependent joints"))
            N = Vt[rank:].T
            # N is orthonormal, so the smallest singular value is the smallest norm of N_i x for unit vectors x.
            if len(free) and not np.linalg.svd(N[places], compute_uv=False)[-1] > RANK_TOLERANCE:
                raise SingularClusterError(self._complaint(columns, "the independent joints do not determine the rest"))
            N = N @ np.linalg.inv(N[places])
            N[places] = np.eye(len(free))  # removes rounding errors
            self.G[np.ix_(columns, free)] = N
            solved.append(((Vt[:rank].T / s[:rank]) @ U[:, :rank].T, N))
        return solved

    def _drift(self, q: np.ndarray, v_tree: np.ndarray) -> None:
        """Compute ``bias``, the second time derivatives of the closures at zero joint acceleration."""
        expanded = np.zeros(self.tree.nv)
        expanded[self.span.from_tree_v] = v_tree
        pin.forwardKinematics(self.tree, self.data, self.span.configuration(q), expanded, self.zero)
        for closure, rows in zip(self.closures, self.rows_of, strict=True):
            if isinstance(closure, JointClosure):
                rates = v_tree[[self.model.tree.idx_vs[j] for j in closure.joints]]
                hessian = closure.hessian(coordinates_of(self.model.tree, closure.joints, q))
                self.bias[rows] = np.einsum("ijk,j,k->i", hessian, rates, rates)
            elif isinstance(closure, RodClosure):
                (a, da, dda), (b, db, ddb) = (self._point_motion(*end) for end in closure.ends)
                length = np.linalg.norm(b - a)
                along, rate = (b - a) / length, db - da
                self.bias[rows] = along @ (ddb - dda) + (rate @ rate - (along @ rate) ** 2) / length
            else:
                self.bias[rows] = self._frames_drift(closure)

    def frame_rows(self, closure: Closure) -> np.ndarray:
        """Compute the Jacobian of frame b's velocity relative to frame a, in axes of a, shape (size, self.tree.nv)."""
        assert isinstance(closure, FrameClosure)
        (A, Ja), (B, Jb) = (self._frame(j, p) for j, p in closure.ends)
        ab = A.actInv(B)
        linear = ab.rotation @ Jb[:3] - Ja[:3] + pin.skew(ab.translation) @ Ja[3:]
        angular = ab.rotation @ Jb[3:] - Ja[3:]
        if closure.rotation == "universal":
            angular = np.vstack([np.zeros((2, self.tree.nv)), np.cross(ab.rotation[:, 0], [0.0, 0.0, 1.0]) @ angular])
        return closure.rows[:, :3] @ linear + closure.rows[:, 3:] @ angular

    def _frames_drift(self, closure: Closure) -> np.ndarray:
        """Compute the time derivative of ``frame_rows`` times the velocity, at zero joint acceleration."""
        assert isinstance(closure, FrameClosure)
        (A, va, aa), (B, vb, ab) = (self._frame_motion(j, p) for j, p in closure.ends)
        relative = A.actInv(B)
        R, t = relative.rotation, relative.translation
        rate = R @ vb.linear - va.linear - np.cross(va.angular, t)
        spin = R @ vb.angular - va.angular
        linear = np.cross(spin, R @ vb.linear) + R @ ab.linear - aa.linear
        linear = linear - np.cross(aa.angular, t) - np.cross(va.angular, rate)
        angular = np.cross(spin, R @ vb.angular) + R @ ab.angular - aa.angular
        if closure.rotation == "universal":
            x, z = R[:, 0], np.array([0.0, 0.0, 1.0])
            angular = np.array([0.0, 0.0, angular @ np.cross(x, z) + spin @ np.cross(np.cross(spin, x), z)])
        return closure.rows[:, :3] @ linear + closure.rows[:, 3:] @ angular

    def _rod(self, closure: RodClosure) -> np.ndarray:
        Ja, Jb = (point_jacobian(self.tree, self.data, int(self.span.from_tree_id[j]), x) for j, x in closure.ends)
        along = self.world(closure.joint_b).act(closure.point_b) - self.world(closure.joint_a).act(closure.point_a)
        return ((along / np.linalg.norm(along)) @ (Jb - Ja))[None, :]

    def world(self, j: int) -> pin.SE3:
        return self.data.oMi[int(self.span.from_tree_id[j])]

    def _frame(self, j: int, placement: pin.SE3) -> tuple[pin.SE3, np.ndarray]:
        """Return the world placement of a frame, and its Jacobian in local axes."""
        J = pin.getFrameJacobian(self.tree, self.data, int(self.span.from_tree_id[j]), placement, pin.LOCAL)
        return self.world(j).act(placement), J.reshape(6, -1)  # Pinocchio returns a vector for one column

    def _frame_motion(self, j: int, placement: pin.SE3) -> tuple[pin.SE3, pin.Motion, pin.Motion]:
        """Return a frame's world placement, and its velocity and spatial acceleration in local axes."""
        k = int(self.span.from_tree_id[j])
        return self.world(j).act(placement), placement.actInv(self.data.v[k]), placement.actInv(self.data.a[k])

    def _point_motion(self, j: int, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position, velocity and classical acceleration of a point of a body, in world axes."""
        frame = int(self.span.from_tree_id[j]), pin.SE3(np.eye(3), np.asarray(point)), pin.LOCAL_WORLD_ALIGNED
        speed = pin.getFrameVelocity(self.tree, self.data, *frame).linear
        acceleration = pin.getFrameClassicalAcceleration(self.tree, self.data, *frame).linear
        return self.world(j).act(point), speed, acceleration

    def _parts(self) -> list[list[np.ndarray]]:
        """Group rows that share joints; return [rows, columns, independent velocities, their columns] per group."""
        from scipy.sparse.csgraph import connected_components

        tree = self.model.tree
        sees = np.zeros((len(self.K), tree.njoints), dtype=bool)
        for i, row in enumerate(self.model.coupling_rows):
            sees[i, [row.dependent, *row.masters]] = True
        for closure, rows in zip(self.closures, self.rows_of, strict=True):
            sees[rows, list(_joints(tree, closure))] = True
        groups, group = connected_components(sees @ sees.T)
        index_in_v = {int(i): k for k, i in enumerate(self.model.idx_v_independent)}
        parts = []
        for k in range(groups):
            joints = np.flatnonzero(sees[group == k].any(axis=0)).tolist()
            columns = [i for j in joints for i in in_v(tree, j)]
            free = [i for i in columns if i in index_in_v]
            part = np.flatnonzero(group == k), columns, [index_in_v[i] for i in free], [columns.index(i) for i in free]
            parts.append([np.array(x, dtype=np.int64) for x in part])
        return parts

    def _complaint(self, columns: np.ndarray, what: str) -> str:
        tree = self.model.tree
        names = [tree.names[j] for j in range(1, tree.njoints) if tree.idx_vs[j] in columns]
        return f"The cluster of joints {', '.join(map(repr, names))} is singular at this q: {what}."


def coupling_rows(model: ClusterModel) -> np.ndarray:
    """Compute the constraint rows of the couplings, shape (couplings, model.tree.nv)."""
    K = np.zeros((len(model.coupling_rows), model.tree.nv))
    for k_row, row in zip(K, model.coupling_rows, strict=True):
        k_row[model.tree.idx_vs[row.dependent]] = -1.0
        for master, coefficient in zip(row.masters, row.coefficients, strict=True):
            k_row[model.tree.idx_vs[master]] += coefficient
    return K


def point_jacobian(tree: pin.Model, data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Compute a body point's Jacobian in world axes, (3, tree.nv); call ``pin.computeJointJacobians`` first."""
    frame = pin.SE3(np.eye(3), np.asarray(point, dtype=float))
    J = pin.getFrameJacobian(tree, data, j, frame, pin.LOCAL_WORLD_ALIGNED)
    return J.reshape(6, -1)[:3]  # Pinocchio returns a vector for one column


def _joints(tree: pin.Model, closure: Closure) -> set[int]:
    if isinstance(closure, JointClosure):
        return set(closure.joints)
    if not isinstance(closure, (FrameClosure, RodClosure)):
        raise NotAvailableError(f"The reference implementation does not support {type(closure).__name__}.")
    return set(tree.supports[closure.joint_a]) ^ set(tree.supports[closure.joint_b])


def null_space(model: ClusterModel, span: SpanningTree) -> Any:
    """Create the ``NullSpace`` of a model with closures; return None for other models, whose G is constant."""
    return NullSpace(model, span) if model.closures else None
