"""Allocates memory and tables for the regressors of a ``ClusterData``; see ``kernels.tables.regressor_layout``."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._support.arrays import in_order, on_a_page
from .._support.groups import grouped
from .._support.tables import Table
from ..compiler import entry_points as kernels
from ..constraints.closures import RodClosure
from ..kernels.tables import layout as at
from ..kernels.tables import regressor_layout as rl
from ..kernels.tables import tree_layout as tl
from .elements import RotorElement
from .parameters import parameter_columns
from .parts import ModelParts

NAMES = ("torque", "static", "kinetic", "potential")


class RegressorMemory:
    """Tables and results of the regressors, allocated on first use because many programs need no regressors.

    ``out`` contains the results of the tree's kernels, including G and its bias. ``torque`` has the shape
    (nv, parameters); kernels never write its constant zeros. ``static`` has the shape (3, parameters - 6 * bodies);
    ``kinetic`` and ``potential`` have the shape (parameters,).
    """

    __slots__ = (*NAMES, "pointer")

    def __init__(self, model: ModelParts, out: np.ndarray) -> None:
        index, params, work, (offset, nv, width) = tables_of(model)
        index, params, work = on_a_page(index, params, work)
        self.pointer = kernels.Pointer(index, params, work, out)
        self.torque = self.pointer.arrays[2][offset : offset + nv * width].reshape(nv, width)
        self.static = np.zeros((3, width - 6 * (model.njoints - 1)))
        self.kinetic, self.potential = np.zeros((2, width))

    def results(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in NAMES}

    def take(self, results: dict[str, np.ndarray]) -> None:
        for name, array in results.items():
            getattr(self, name)[...] = array


def tables_of(model: ModelParts) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int, int]]:
    return _Writer(model).tables()


class _Writer(Table):
    def __init__(self, model: ModelParts) -> None:
        self.model, self.tree, self.columns = model, model.tables.tree, parameter_columns(model)
        super().__init__(self.tree.index.tolist(), self.tree.params.tolist(), self.tree.work)
        self.head = tl.TreeHeader(*self.rows[0])
        self.put(at.MINUS_GRAVITY, -model.gravity.linear)
        links = [self._row(tl.Link, b) for b in range(1, self.head.links + 1)]
        self.base = bool(links) and links[0].kind == at.FREEFLYER and all(L.parent > 0 for L in links[1:])
        self.nothing, self.units = self.reserve(6), self.reserve(36 * self.base)
        # For each link: maps each independent velocity to the offset of its column in the link's Jacobian.
        self.places: list[dict[int, int]] = [{}]

    def _row(self, kind: Any, row: int) -> Any:
        return kind(*self.rows[row][: len(kind._fields)])

    def _moving(self, iv: int) -> list[int]:
        D = self._row(tl.Dof, self.head.dof0 + iv)
        return [self._row(tl.Term, t).k for t in range(D.term0, D.term1)]

    def _reach(self, b: int) -> rl.Reach:
        """Write the columns of a link's Jacobian that are not in the Jacobian of its parent."""
        L = self._row(tl.Link, b)
        offsets = dict(self.places[L.parent])
        self.places.append(offsets)
        if self.base and b == 1:
            offsets.update((k, self.units + 6 * k) for k in range(6))
            return rl.Reach(0, 0)
        driven = grouped((k, iv) for iv in range(L.iv, L.iv + L.ndof) for k in self._moving(iv))
        new_columns = [
            rl.Column(k, self.reserve(6), offsets.get(k, self.nothing), ivs[0], ivs[-1] + 1)
            for k, ivs in sorted(driven.items())
        ]
        offsets.update((C.k, C.at) for C in new_columns)
        return rl.Reach(*self.add_all(new_columns))

    def _pairs(self, a: int, b: int = 0, *, also: Iterable[int] = (), base: bool = True) -> tuple[int, int]:
        """Write the independent velocities that move link a or b, and the velocities in ``also``."""
        of_a, of_b = self.places[a], self.places[b]
        return self.add_all(
            rl.Pair(k, of_a.get(k, self.nothing), of_b.get(k, self.nothing))
            for k in sorted({*of_a, *of_b, *also})
            if base or k > 5
        )

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int, int]]:
        """Write the tables; return index, params, work, and the offset and shape of the regressor in work."""
        n, nv, columns = self.head, self.model.nv, self.columns
        head_row = self.add(None)  # The field place1 of the tree's header contains the offset of this row.
        reach0, _ = self.add_all([rl.Reach(0, 0), *(self._reach(b) for b in range(1, n.links + 1))])
        links = [int(b) for b in self.tree.link_of_joint[1:]]
        bodies = self.add_all(
            [rl.Body(rl.PARAMETERS * i, b, *self._pairs(b, base=not self.base)) for i, b in enumerate(links)]
        )
        spins = self.add_all(
            [self._spin(columns.rotors_from + i, n.spin0 + i, r) for i, r in enumerate(columns.rotors)]
        )
        armatures = self.add_all(rl.Armature(columns.armatures_from + i, iv) for i, iv in enumerate(columns.armatures))
        rods = self.add_all([self._rod(columns.rods_from + i, r) for i, r in enumerate(columns.rods)])
        mass, sines, cosines = self.append(self._inverse_mass()), self.reserve(n.nq), self.reserve(n.nq)
        forces, Y = self.reserve(rl.FORCES * columns.bodies), self.reserve(nv * columns.width)
        self.rows[head_row] = rl.Head(
            columns.width, int(self.base), reach0, *bodies, *spins, *armatures, *rods, mass, sines, cosines, forces, Y
        )
        work = np.zeros(self.work)
        if self.base:
            work[self.units : self.units + 36] = np.eye(6).ravel()
        return self.index(at.ROW_WIDTH), np.array(self.params), work, (Y, nv, columns.width)

    def _inverse_mass(self) -> float:
        """Return the inverse of the robot's mass; the mass of rods that is attributed to the universe is excluded."""
        tree = self.model.inertia_tree
        mass = in_order(tree.inertias[j].mass for j in range(1, tree.njoints))
        mass += in_order(rod.mass - in_order(m for j, _, m in rod.masses_of_ends if j) for rod in self.columns.rods)
        with np.errstate(divide="ignore"):  # The mass may be zero; the centre of mass is then undefined.
            return float(1.0 / np.float64(mass))

    def _spin(self, column: int, row: int, r: RotorElement) -> rl.Spin:
        S = self._row(tl.Spin, row)
        turned_by = {k for iv, _ in r.drivers for k in self._moving(iv)}
        return rl.Spin(column, row, self.append(r.axis), *self._pairs(S.link, also=turned_by))

    def _rod(self, column: int, rod: RodClosure) -> rl.Rod:
        (a, p), (b, s) = rod.ends
        at_a, middle, at_b = np.array(rod.point_masses) / rod.mass
        shares = [at_a + 0.25 * middle, at_b + 0.25 * middle, 0.25 * middle]
        a, b = (int(self.tree.link_of_joint[j]) for j in (a, b))
        return rl.Rod(column, self.append([*p, *s, *shares]), a, b, *self._pairs(a, b))
