"""The parts of the error of each rung, from their formulas."""

from __future__ import annotations

import numpy as np

from ....algorithms.dynamics.coupling import coupling_jacobian
from ....model import ClusterModel, expand
from . import _loops, _rotors
from ._motion import apply, motion, transposed
from ._rotors import Spin

REFLECTED = ("reflected, diagonal", "reflected, off-diagonal")
MASS = "rotor mass"
PARTS = (*REFLECTED, *_rotors.TERMS, MASS, *_loops.TERMS)


class Terms:
    """Evaluates the parts for one rung, which may lack the rotors' mass."""

    def __init__(self, model: ClusterModel, rung: str, drop_rotors: bool) -> None:
        self.model, self.rung = model, rung
        self.span = expand(model)
        self.bodies = _rotors.spinning_bodies(model, self.span)
        self.keeps_rotors = rung in ("unconstrained", "frozen")
        self.dropped = drop_rotors and not self.keeps_rotors
        self.placed = _rotors.placements_needed(self.bodies, self.dropped)
        rows = np.array([b.row for b in self.bodies], dtype=np.int64)
        self.locked = _loops.Locked(model, rows) if model.closures else None
        self.G0 = np.zeros(0)
        if rung == "frozen":
            self.G0 = self.span.from_tree @ coupling_jacobian(model, model.createData(), model.q_reference)
        elif rung == "unconstrained":
            self.G0 = np.zeros((self.span.tree.nv, model.nv))
            self.G0[self.span.from_tree_v[model.idx_v_independent], np.arange(model.nv)] = 1.0

    def at(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts at N states, each of shape (N, nv), in the order of ``PARTS``."""
        exact = self._exact(q, v, a)
        reflected = _rotors.reflected_matrix(self.bodies, exact.G)
        terms = {k: apply(transposed(exact.G), x) for k, x in _rotors.spin_terms(self.bodies, exact).items()}
        found = dict.fromkeys(PARTS, np.zeros_like(v)) | terms
        if self.keeps_rotors:
            rung = self._approximate(q, v, a, exact)
            for k, x in _rotors.spin_terms(self.bodies, rung).items():
                found[k] = terms[k] - apply(rung.G.T, x)
            reflected = reflected - _rotors.reflected_matrix(self.bodies, rung.G)
            assert self.locked is not None  # these rungs belong to closed loops
            found |= self.locked.terms(q, exact, rung)
        elif self.rung == "diagonal":
            reflected = reflected * (1.0 - np.eye(self.model.nv))
        elif self.rung == "block":
            reflected = np.zeros_like(reflected)
        elif self.rung == "armature":
            armature = self._driver_armature()
            on_drivers = armature[:, None] * exact.G
            reflected = reflected - transposed(exact.G) @ on_drivers
            found["coupling rate"] = terms["coupling rate"] - apply(transposed(on_drivers), exact.bias)
        found[REFLECTED[0]] = np.einsum("...ii->...i", reflected) * a
        found[REFLECTED[1]] = apply(reflected * (1.0 - np.eye(self.model.nv)), a)
        if self.dropped:
            found[MASS] = apply(transposed(exact.G), _rotors.rotor_mass(self.bodies, exact))
        return found

    def _exact(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Spin:
        if self.locked is None:
            G, g = self.span.G, np.zeros((len(q), self.span.tree.nv))
        else:
            G, g = self.locked.coupling(q, v)
        return Spin(G, motion(self.span, q, apply(G, v), self.placed), apply(G, a), g)

    def _approximate(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, exact: Spin) -> Spin:
        """Return how the tree moves where loops are left out (at the true velocity) or frozen."""
        moves = exact.motion
        if self.rung == "frozen":
            moves = motion(self.span, q, apply(self.G0, v), self.placed)
        return Spin(self.G0, moves, apply(self.G0, a), np.zeros_like(exact.bias))

    def _driver_armature(self) -> np.ndarray:
        """Return ``J ratio^2`` of all rotors on the joints that drive them, in the expanded tree."""
        armature = np.zeros(self.span.tree.nv)
        for b, r in zip(self.bodies, self.model.rotors, strict=True):
            for iv, ratio in r.drivers:
                armature[self.span.from_tree_v[iv]] += b.reflected * ratio**2
        return armature
