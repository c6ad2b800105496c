"""Minimum-norm Lagrange multipliers of all constraints, and a test of their uniqueness."""

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinates_of, in_v
from ...constraints.closures import FrameClosure, JointClosure, RodClosure, touched
from ...model import ClusterModel, Equations
from .._shared.loads import pull

# Smaller null-space components count as zero, because rounded numbers in files cause components of about 1e-6.
_SEEN = 1e-5


class Multipliers:
    """Minimum-norm solution of ``K' lambda = tau``, where K is the Jacobian of all closures and couplings.

    The rank of K is the number of dependent velocities. In the norm, forces are multiplied by the loop length.

    Attributes:
        closures: Closures, followed by the couplings as constraint equations between joints.
        rows: One slice of ``lambda`` per closure.
        idle: Orthonormal basis of the null space of the scaled K', shape (rows, dimension).
    """

    def __init__(self, model: ClusterModel, data: pin.Data, q: np.ndarray) -> None:
        tree = model.own_tree
        self.model, self.data = model, data
        equations = Equations(tree, model.closures, model.coupling_rows)
        self.closures = equations.closures
        self.rows = equations.rows
        self.scales = equations.scales(q)
        self.q = q
        K = equations.jacobian(q) / self.scales[:, None]
        free = set(model.idx_v_independent.tolist())
        self.inverse = np.zeros(K.shape)
        self.idle = np.full((len(K), 1), np.nan)
        if not np.isfinite(K).all():  # if q is not finite, no multiplier is unique
            self.inverse[:] = np.nan
            return
        idle = [np.zeros((len(K), 0))]
        tied = [touched(tree, [c]) for c in self.closures]
        for joints in model.tables.topology.clusters:
            slices = [
                part for part, touched_joints in zip(self.rows, tied, strict=True) if touched_joints <= set(joints)
            ]
            rows = [i for part in slices for i in range(part.start, part.stop)]
            columns = [i for j in joints for i in in_v(tree, j)]
            if not rows:
                continue
            rank = sum(i not in free for i in columns)
            U, S, Vt = np.linalg.svd(K[np.ix_(rows, columns)])
            self.inverse[np.ix_(rows, columns)] = (U[:, :rank] / S[:rank]) @ Vt[:rank]
            null_space = np.zeros((len(K), len(rows) - rank))
            null_space[rows] = U[:, rank:]
            idle.append(null_space)
        self.idle = np.hstack(idle)

    def solve(self, tau: np.ndarray) -> np.ndarray:
        return self.inverse @ tau / self.scales

    def unique(self, i: int) -> bool:
        return bool(np.all(np.abs(self.idle[self.rows[i]]) <= _SEEN))

    def wrench(self, i: int, multipliers: np.ndarray) -> np.ndarray:
        """Compute the wrench of body a on body b for closure i, in the axes of frame a, about the origin of frame b."""
        c, values = self.closures[i], multipliers[self.rows[i]]
        assert isinstance(c, FrameClosure)
        wrench = values @ c.rows
        if c.rotation == "universal":
            R_a, R_b = ((self.data.oMi[j] * M).rotation for j, M in c.ends)
            wrench[3:] = wrench[5] * np.cross(R_a.T @ R_b[:, 0], [0.0, 0.0, 1.0])
        return wrench

    def torques(self, i: int, multipliers: np.ndarray) -> np.ndarray:
        c = self.closures[i]
        assert isinstance(c, JointClosure)
        x = coordinates_of(self.model.own_tree, c.joints, self.q)
        return multipliers[self.rows[i]] @ c.jacobian(x)

    def wrenches(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute the wrenches that loops and rods exert on the bodies, shape (njoints, 6), in joint frames."""
        out = np.zeros((self.model.njoints, 6))
        for i, c in enumerate(self.closures):
            if isinstance(c, FrameClosure):
                wrench = self.wrench(i, multipliers)
                A, B = (self.data.oMi[j] * M for j, M in c.ends)
                force = pin.SE3(A.rotation, B.translation).act(pin.Force(wrench))
            elif isinstance(c, RodClosure):
                u = pull(self.data, c) * float(multipliers[self.rows[i]][0])
                force = pin.Force(u, np.cross(self.data.oMi[c.joint_b].act(c.point_b), u))
            else:
                continue
            for j, sign in ((c.joint_a, -1.0), (c.joint_b, 1.0)):
                if j:
                    out[j] += sign * self.data.oMi[j].actInv(force).vector
        return out

    def determined(self) -> np.ndarray:
        tree = self.model.own_tree
        unique = np.ones(tree.njoints, dtype=bool)
        for idle in self.idle.T:
            wrenches = self.wrenches(idle / self.scales)
            size = np.abs(wrenches).max(initial=0.0)
            total = [self.data.oMi[j].act(pin.Force(wrenches[j])) for j in range(tree.njoints)]
            for j in range(tree.njoints - 1, 0, -1):
                wrench = self.data.oMi[j].actInv(total[j]).vector
                unique[j] &= bool(np.all(np.abs(wrench) <= _SEEN * size))
                total[tree.parents[j]] += total[j]
        return unique
