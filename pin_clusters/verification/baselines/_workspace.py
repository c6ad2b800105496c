"""Workspace of the exact baselines, which apply Pinocchio to the tree in which every rotor is a body."""

from typing import Any

import eigenpy  # type: ignore[import-not-found, import-untyped, unused-ignore]
import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...approximations.armature import symmetric
from ...constraints.closures import massive
from ...errors import DataMismatchError
from ...model import ClusterModel, SpanningTree, expand
from ..null_space import null_space, point_jacobian, rod_points


class Rods:
    """The rods with mass of a model; ``closures`` define their ends."""

    def __init__(self, model: ClusterModel, span: SpanningTree) -> None:
        self.closures = massive(model.closures)
        self.tree, self.data = span.tree, span.tree.createData()
        self.gravity = np.array(model.gravity.linear)
        self.ends = [
            [(int(span.from_tree_id[j]), np.asarray(x, dtype=float)) for j, x in c.ends] for c in self.closures
        ]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Compute the contribution of rods to the mass matrix of the expanded tree, shape (tree.nv, tree.nv)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        M = np.zeros((self.tree.nv, self.tree.nv))
        for rod, (a, b) in zip(self.closures, self.ends, strict=True):
            Ja, Jb = self.jacobian(*a), self.jacobian(*b)
            for mass, weight in rod_points(rod):
                J = weight * Ja + (1.0 - weight) * Jb
                M += mass * J.T @ J
        return M

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Compute the torques of the expanded tree that accelerate and support the rods, shape (tree.nv,)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        jacobians = [[self.jacobian(*end) for end in ends] for ends in self.ends]
        pin.forwardKinematics(self.tree, self.data, q, v, a)
        tau = np.zeros(self.tree.nv)
        for rod, (Ja, Jb), (a_end, b_end) in zip(self.closures, jacobians, self.ends, strict=True):
            at_a, at_b = self.acceleration(*a_end), self.acceleration(*b_end)
            for mass, weight in rod_points(rod):
                force = mass * (weight * at_a + (1.0 - weight) * at_b - self.gravity)
                tau += (weight * Ja + (1.0 - weight) * Jb).T @ force
        return tau

    def potential_energy(self, q: np.ndarray) -> float:
        """Compute the potential energy of the rods, the sum of -m g' c, at the expanded tree's q, [J]."""
        pin.forwardKinematics(self.tree, self.data, q)
        moment = np.zeros(3)
        for rod, ends in zip(self.closures, self.ends, strict=True):
            a, b = (self.data.oMi[j].act(x) for j, x in ends)
            moment += sum(mass * (weight * a + (1.0 - weight) * b) for mass, weight in rod_points(rod))
        return -float(self.gravity @ moment)

    def jacobian(self, j: int, point: np.ndarray) -> np.ndarray:
        return point_jacobian(self.tree, self.data, j, point)

    def acceleration(self, j: int, point: np.ndarray) -> np.ndarray:
        """Compute a body point's acceleration in world axes, (3,); call ``pin.forwardKinematics`` first."""
        frame = j, pin.SE3(np.eye(3), point), pin.LOCAL_WORLD_ALIGNED
        return pin.getFrameClassicalAcceleration(self.tree, self.data, *frame).linear


DATA = """
Args:
    data: Workspace from ``createData`` of this module.

Raises:
    DataMismatchError: ``data`` belongs to another model or module.
"""
"""Docstring entries for all baselines, in addition to ``STATE``."""

LOOPS = """
Raises:
    SingularClusterError: The independent velocities do not determine the dependent velocities at this q.
"""
"""Docstring entries for all baselines that compute G."""

FLOAT64 = """
Args:
    q: Configuration, shape (nq,), float64.
    v: Independent velocity, shape (nv,), float64.
    a: Independent acceleration, shape (nv,), float64.
    tau: Torque, shape (nv,), float64.
"""
"""Docstring entries for functions that do not convert their arguments."""

ACCELERATION = """
Returns:
    Independent acceleration, shape (nv,).
"""

documented = stock(STATE, DATA)
documented_with_loops = stock(STATE, DATA, LOOPS)
of_accelerations = stock(STATE, DATA, LOOPS, ACCELERATION)


class Workspace:
    """Pinocchio's model and data of the expanded tree, with memory for all intermediate results.

    Attributes:
        model: The cluster model.
        tree: The expanded tree, in which every rotor is a body (depth-first).
        data: Pinocchio's data of this tree.
        loops: ``NullSpace`` that computes G(q) and g of a model with loops; None without loops.
        rods: Rods that have mass; None without such rods.
        G: Coupling matrix, shape (tree.nv, nv). For a model with loops, G refers to the last state.
        GT: Transpose of G, stored contiguously.
        g: Bias of the coupling, shape (tree.nv,): acceleration of the tree = G a + g.
        independent: Indices of the independent velocities in the velocity of the expanded tree, shape (nv,).
        hold: If True, G and g of the last state are reused, so that only the projection is timed.
    """

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        self.span = expand(model)
        self.tree = self.span.tree
        self.data = self.tree.createData()
        self.loops = null_space(model, self.span)
        self.independent = self.span.from_tree_v[model.idx_v_independent]
        nv = self.tree.nv
        self.G = np.ascontiguousarray(self.span.G) if self.loops is None else np.zeros((nv, model.nv))
        self.GT = np.ascontiguousarray(self.G.T)
        self.g = np.zeros(nv)
        self.hold = False
        self.llt = eigenpy.LLT(model.nv)
        self.v, self.a, self.zero = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self.MG, self.M = np.zeros((nv, model.nv)), np.zeros((model.nv, model.nv))
        self._q = np.zeros(self.tree.nq)
        identity = np.arange(model.nq)
        self._same_q = self.tree.nq == model.nq and np.array_equal(self.span.from_tree_q, identity)
        # Some versions of Pinocchio fill only the upper triangle.
        M = np.array(pin.crba(self.tree, self.data, pin.neutral(self.tree)))
        self._mirror = not np.allclose(M, M.T)
        rods = Rods(model, self.span)
        self.rods = rods if rods.closures else None

    def extend(self, tree: pin.Model, G: np.ndarray, g: np.ndarray) -> None:
        """Replace the tree by a tree that also contains the rods as bodies, and use constant G and g.

        The coordinates of the additional joints stay 0, because only energies depend on them.
        """
        self.tree, self.data, self.rods, self.hold = tree, tree.createData(), None, True
        self.G, self.GT, self.g = np.ascontiguousarray(G), np.ascontiguousarray(G.T), g
        self.v, self.a, self.zero = np.zeros((3, tree.nv))
        self.MG = np.zeros(G.shape)
        self._q, self._same_q = pin.neutral(tree), False

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return q in the order of the expanded tree; q is not copied if the orders are equal."""
        if self._same_q:
            return q
        self._q[self.span.from_tree_q] = q
        return self._q

    def couple(self, q: np.ndarray, v: np.ndarray | None = None) -> None:
        """Compute G, and g if v is given, for a model with loops; q (in the user's order) must close the loops."""
        if self.loops is None or self.hold:
            return
        self.loops.at(q, v)
        np.dot(self.span.from_tree, self.loops.G, out=self.G)
        self.GT[:] = self.G.T
        if v is not None:
            np.dot(self.span.from_tree, self.loops.g, out=self.g)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Compute the mass matrix of the expanded tree at its configuration q, shape (tree.nv, tree.nv)."""
        M = pin.crba(self.tree, self.data, q)
        if self._mirror:
            M = symmetric(M)
        return M if self.rods is None else M + self.rods.mass_matrix(q)

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any) -> np.ndarray:
        """Compute inverse dynamics at the expanded tree's q, v and a; external forces are in the user's order."""
        forces = () if fext is None else (self.span.fext(fext),)
        tau = pin.rnea(self.tree, self.data, q, v, a, *forces)
        return tau if self.rods is None else tau + self.rods.torque(q, v, a)

    def bias(self, q: np.ndarray, fext: Any) -> np.ndarray:
        """Compute the torques of the expanded tree at its q, velocity ``self.v`` and acceleration ``self.g``."""
        if fext is None and self.loops is None:
            return pin.nonLinearEffects(self.tree, self.data, q, self.v)
        return self.torque(q, self.v, self.g, fext)


def check(model: ClusterModel, data: Any, kind: Any, module: str) -> None:
    """Raise ``DataMismatchError`` unless ``createData`` of ``module`` created ``data`` for ``model``."""
    if not isinstance(data, kind) or data.model is not model:
        raise DataMismatchError(
            f"data ({type(data).__name__}) is not a workspace of this model. Use data = {module}.createData(model)."
        )
