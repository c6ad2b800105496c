"""Robots with closed loops: loops left out or frozen, and rotors that do not spin.

All on the spanning tree with every rotor a body (``baselines.projection``), rods added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..algorithms.coupling import coupling_bias, coupling_jacobian
from ..armature import axial_inertia
from ..baselines import projection
from ..elements import RotorElement
from ..model import ClusterModel
from ._base import Approximation


class Unconstrained(Approximation):
    """What ``baselines.unconstrained`` computes, with G of the kernels: the dependents do not accelerate."""

    def __init__(self, model: ClusterModel, name: str, drop_rotors: bool) -> None:
        super().__init__(model, name, drop_rotors)
        self.data, self.space = model.createData(), projection.createData(model)
        self.independent = self.space.span.from_tree_v[model.idx_v_independent]

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        space = self.space
        v_tree = space.span.from_tree @ (coupling_jacobian(self.model, self.data, q) @ v)
        a_tree = np.zeros_like(v_tree)
        a_tree[self.independent] = a
        return np.asarray(space.torque(space.configuration(q), v_tree, a_tree, None)[self.independent])

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        bias = self._rnea(q, v, np.zeros(self.model.nv))
        return np.linalg.solve(self._crba(q), tau - bias)

    def _crba(self, q: np.ndarray) -> np.ndarray:
        M = self.space.mass_matrix(self.space.configuration(q))
        return np.asarray(M[np.ix_(self.independent, self.independent)])


class Frozen(Approximation):
    """Projection with the coupling of the reference pose: G0, and no bias, as it is taken at rest."""

    def __init__(self, model: ClusterModel, name: str, drop_rotors: bool) -> None:
        super().__init__(model, name, drop_rotors)
        self.space = projection.createData(model)
        self.space.couple(model.q_reference, np.zeros(model.nv))
        self.space.hold = True

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return projection.rnea(self.model, self.space, q, v, a)

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self._crba(q), tau - self._rnea(q, v, np.zeros(self.model.nv)))

    def _crba(self, q: np.ndarray) -> np.ndarray:
        return projection.crba(self.model, self.space, q)


class Locked(Approximation):
    """Exact loops; the rotors are locked into their carriers at angle 0: ``no rotor``, and ``armature`` on top."""

    def __init__(self, model: ClusterModel, name: str, drop_rotors: bool) -> None:
        super().__init__(model, name, drop_rotors)
        self.data = model.createData()
        self.space = projection.createData(model)
        self.space.hold = True
        span, tree = self.space.span, self.space.tree
        bodies = iter(span.rotors)
        ids = [int(next(bodies) if r.joint_id is None else span.from_tree_id[r.joint_id]) for r in model.rotors]
        self.rows = np.array([tree.joints[j].idx_v for j in ids])
        # turned by their coupling, unbalanced rotors would carry their mass about
        self.q = np.array(pin.neutral(model.tree))
        self.moving = np.ones(model.nq, dtype=bool)
        for r in model.rotors:
            if r.joint_id is not None:
                joint = model.tree.joints[r.joint_id]
                self.moving[joint.idx_q : joint.idx_q + joint.nq] = False
        self.armature = np.zeros(model.tree.nv)
        if name == "armature":
            for r in model.rotors:
                for iv, ratio in r.drivers:
                    self.armature[iv] += axial_inertia(model, r) * ratio**2
        if drop_rotors:
            for j, r in zip(ids, model.rotors, strict=True):
                _drop(tree, j, r, int(span.from_tree_id[r.carrier_id]))

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        G, g = self._couple(q, v)
        tau = projection.rnea(self.model, self.space, self.q, v, a)
        return np.asarray(tau + G.T @ (self.armature * (G @ a + g)) if self.name == "armature" else tau)

    def _aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self._crba(q), tau - self._rnea(q, v, np.zeros(self.model.nv)))

    def _crba(self, q: np.ndarray) -> np.ndarray:
        G, _ = self._couple(q, None)
        return projection.crba(self.model, self.space, self.q) + G.T @ (self.armature[:, None] * G)

    def _couple(self, q: np.ndarray, v: np.ndarray | None) -> tuple[np.ndarray, Any]:
        """Bring the workspace to a state; return G and, with a velocity, g of the user's tree."""
        G = coupling_jacobian(self.model, self.data, q)
        g = None if v is None else coupling_bias(self.model, self.data, q, v)
        space = self.space
        np.dot(space.span.from_tree, G, out=space.G)
        space.G[self.rows] = 0.0
        if g is not None:
            np.dot(space.span.from_tree, g, out=space.g)
            space.g[self.rows] = 0.0
        space.GT[:] = space.G.T
        self.q[self.moving] = q[self.moving]
        return G, g


def _drop(tree: pin.Model, rotor_id: int, rotor: RotorElement, carrier: int) -> None:
    """Take a rotor's body away; what its carrier gave for it goes back."""
    if rotor.joint_id is None and rotor.inertia is None and carrier:
        link = pin.Inertia(tree.inertias[carrier])
        link.inertia = np.asarray(link.inertia) + rotor.axial_inertia * np.outer(rotor.axis, rotor.axis)
        tree.inertias[carrier] = link
    tree.inertias[rotor_id] = pin.Inertia.Zero()
