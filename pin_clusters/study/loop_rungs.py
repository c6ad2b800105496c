"""What is used in place of closed loops, and of the rotors of robots that have them.

With G(q) and g the coupling of the loops (tree acceleration = G a + g), rnea_tree Pinocchio's inverse dynamics of the
spanning tree with every rotor a body, and rods added:

- ``unconstrained``: the independent joints' own rows of the tree, ``tau = (M_tree)_ii a + h_i`` at the true q and the
  true tree velocity G v; what the dependent joints carry, rotors too, does not reach them
  (``baselines.unconstrained``).
- ``frozen``: the coupling of the reference pose at every pose, as if the loops were gears:
  ``tau = G0' rnea_tree(q, G0 v, G0 a)`` with ``G0 = G(q_reference)``, at the true q, and g = 0. Rotors spin as the tree
  moves with G0.

And if there are rotors:

- ``no rotor``: exact loops; the rotors do not spin relative to their carriers, which have their mass.
- ``armature``: the same, and ``J ratio^2`` of each rotor as armature on the joints of the tree that drive it, before
  they are reduced with G: what Pinocchio and MuJoCo offer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ..algorithms.coupling import coupling_bias, coupling_jacobian
from ..baselines import projection
from ..constraints._inertia import joint_subspace
from ..elements import RotorElement
from ..model import ClusterModel

LOOP_RUNGS = ("unconstrained", "frozen")
ROTOR_RUNGS = ("no rotor", "armature")


def calls(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, drop_rotors: bool
) -> dict[str, Callable[[int], np.ndarray]]:
    """Return a function of the sample for each approximation of a model with closed loops: its torques.

    Args:
        model: A model with closed loops.
        q: Configurations, shape (N, nq).
        v: Independent velocities, shape (N, nv).
        a: Independent accelerations, shape (N, nv).
        drop_rotors: Leave the rotors out of ``no rotor`` and ``armature``, mass and all. The other two keep them: they
            approximate loops only.
    """
    free = _Unconstrained(model)
    frozen = projection.createData(model)
    frozen.couple(model.q_reference, np.zeros(model.nv))  # at rest, so g is zero
    frozen.hold = True
    found: dict[str, Callable[[int], np.ndarray]] = {
        "unconstrained": lambda i: free.torque(q[i], v[i], a[i]),
        "frozen": lambda i: projection.rnea(model, frozen, q[i], v[i], a[i]),
    }
    if model.rotors:
        locked = _Locked(model, drop_rotors)
        found["no rotor"] = lambda i: locked.torque(q[i], v[i], a[i], spinning=False)
        found["armature"] = lambda i: locked.torque(q[i], v[i], a[i], spinning=True)
    return found


class _Unconstrained:
    """What ``baselines.unconstrained`` computes, from one inverse dynamics: the dependents do not accelerate."""

    def __init__(self, model: ClusterModel) -> None:
        self.model, self.data = model, model.createData()
        self.space = projection.createData(model)
        self.independent = self.space.span.from_tree_v[model.idx_v_independent]

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the torques of a motion."""
        space = self.space
        v_tree = space.span.from_tree @ (coupling_jacobian(self.model, self.data, q) @ v)
        a_tree = np.zeros_like(v_tree)
        a_tree[self.independent] = a
        return np.asarray(space.torque(space.configuration(q), v_tree, a_tree, None)[self.independent])


class _Locked:
    """A robot with exact loops whose rotors are locked into their carriers, at angle 0."""

    def __init__(self, model: ClusterModel, drop_rotors: bool) -> None:
        self.model, self.data = model, model.createData()
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
        for r in model.rotors:
            for iv, ratio in r.drivers:
                self.armature[iv] += _axial(model, r) * ratio**2
        if drop_rotors:
            for j, r in zip(ids, model.rotors, strict=True):
                _drop(tree, j, r, int(span.from_tree_id[r.carrier_id]))

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, *, spinning: bool) -> np.ndarray:
        """Return the torques of a motion, with armature in place of the rotors' spin or without."""
        G = coupling_jacobian(self.model, self.data, q)
        g = coupling_bias(self.model, self.data, q, v)
        space = self.space
        np.dot(space.span.from_tree, G, out=space.G)
        np.dot(space.span.from_tree, g, out=space.g)
        space.G[self.rows], space.g[self.rows] = 0.0, 0.0
        space.GT[:] = space.G.T
        self.q[self.moving] = q[self.moving]
        tau = projection.rnea(self.model, space, self.q, v, a)
        return tau + G.T @ (self.armature * (G @ a + g)) if spinning else tau


def _axial(model: ClusterModel, rotor: RotorElement) -> float:
    """Return the inertia of a rotor about its joint's axis, armature of its own joint included."""
    if rotor.joint_id is None or rotor.inertia is None:
        return rotor.axial_inertia
    joint = model.tree.joints[rotor.joint_id]
    S = joint_subspace(joint)
    own = rotor.axial_inertia if S is None else float(S @ rotor.inertia.matrix() @ S)
    return own + float(model.inertia_tree.armature[joint.idx_v])


def _drop(tree: pin.Model, rotor_id: int, rotor: RotorElement, carrier: int) -> None:
    """Take a rotor's body away; what its carrier gave for it goes back."""
    if rotor.joint_id is None and rotor.inertia is None and carrier:
        link = pin.Inertia(tree.inertias[carrier])
        link.inertia = np.asarray(link.inertia) + rotor.axial_inertia * np.outer(rotor.axis, rotor.axis)
        tree.inertias[carrier] = link
    tree.inertias[rotor_id] = pin.Inertia.Zero()
