"""Where the regressors of a data object stand, and their tables: ``kernels.tables.regressor_layout``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import entry_points as kernels
from .._engine.calls.records import DataDesk
from .._engine.kernels.tables import layout as at
from .._engine.kernels.tables import regressor_layout as rl
from .._engine.kernels.tables import tree_layout as tl
from .._support.arrays import in_order, on_a_page
from .._support.tables import Table
from .parameters import parameter_columns
from .parts import ModelParts

NAMES = ("torque", "static", "kinetic", "potential")


class RegressorMemory:
    """Tables of the regressors, and results: many robots never need either.

    Attributes:
        pointer: Tables.
        torque: Shape (nv, parameters); what is always zero is never written.
        static: Shape (3, parameters less six per body).
        kinetic: Shape (parameters,).
        potential: Shape (parameters,).
    """

    __slots__ = (*NAMES, "pointer")

    def __init__(self, model: ModelParts, out: np.ndarray) -> None:
        """Make them.

        Args:
            model: The model.
            out: The tree's; G and its bias stand there.
        """
        index, params, work, (at, nv, width) = _Writer(model).tables()
        index, params, work = on_a_page(index, params, work)
        self.pointer = kernels.Pointer(index, params, work, out)
        self.torque = self.pointer.arrays[2][at : at + nv * width].reshape(nv, width)
        self.static = np.zeros((3, width - 6 * (model.njoints - 1)))
        self.kinetic, self.potential = np.zeros((2, width))

    def put_on(self, desk: DataDesk) -> None:
        """Write shapes and places to a desk."""
        desk.put(parameters=self.kinetic.size, static_columns=self.static.shape[1])
        desk.put(regressor=self.torque.shape, static_regressor=self.static.shape)
        desk.put(static=self.static, kinetic=self.kinetic, potential=self.potential)

    def results(self) -> dict[str, np.ndarray]:
        """Return what a copy takes over."""
        return {name: getattr(self, name) for name in NAMES}

    def take(self, results: dict[str, np.ndarray]) -> None:
        """Take over results."""
        for name, array in results.items():
            getattr(self, name)[...] = array


class _Writer(Table):
    """Writes them; all links, velocities and entries of G are read in the tree's tables."""

    def __init__(self, model: ModelParts) -> None:
        self.model, self.tree = model, model._tree_tables
        self.head = tl.TreeHeader(*(int(x) for x in self.tree.index[0, : len(tl.TreeHeader._fields)]))
        self.columns = parameter_columns(model)
        super().__init__(
            [None] * (1 + self.head.links), self.tree.params.tolist(), rl.LINK_ROOM * (self.head.links + 1)
        )
        self.put(at.MINUS_GRAVITY, -model.gravity.linear)
        links = [tl.Link(*map(int, self.tree.index[b, : len(tl.Link._fields)])) for b in range(1, self.head.links + 1)]
        self.links: list[tl.Link] = [links[0]._replace(parent=-1) if links else tl.Link(*[0] * 10), *links]
        self.base = bool(links) and links[0].kind == at.FREEFLYER and all(row.parent > 0 for row in links[1:])
        # of each link: where the columns of its Jacobian are
        self.places: list[dict[int, int]] = [{}]
        self.curved = set(self.tree.curved)  # they have a bias
        self.nothing = self.room(6)
        self.units = [self.room(6) for _ in range(6 * self.base)]

    def _dof(self, iv: int) -> tl.Dof:
        row = self.head.dof0 + iv
        return tl.Dof(*map(int, self.tree.index[row, : len(tl.Dof._fields)]))

    def _terms(self, iv: int) -> list[tl.Term]:
        D = self._dof(iv)
        return [tl.Term(*map(int, self.tree.index[t, :2])) for t in range(D.term0, D.term1)]

    def _link(self, b: int) -> None:
        """Write a link, and the columns of its Jacobian that are new."""
        L, own = self.links[b], self.tree.own
        here = dict(self.places[L.parent])
        self.places.append(here)
        hinge = -1, 0, 0, 0
        turns = [T for iv in range(L.iv, L.iv + L.ndof) for T in self._terms(iv)]
        if L.kind in (at.REVOLUTE, at.CONTINUOUS) and len(turns) == 1 and L.iv not in self.curved:
            (T,) = turns
            place = self.room(6)
            hinge = T.k, own.G + T.at, place, here.get(T.k, self.nothing)
            here[T.k] = place
            found: list[rl.Column] = []
        elif self.base and b == 1:
            here.update(enumerate(self.units))
            found = []
        else:
            entries: dict[int, list[rl.Entry]] = {}
            for iv in range(L.iv, L.iv + L.ndof):
                D = self._dof(iv)
                for T in self._terms(iv):
                    entries.setdefault(T.k, []).append(rl.Entry(own.G + T.at, D.axis, D.turns, D.screw))
            found = []
            for k, made_of in sorted(entries.items()):
                place = self.room(6)
                found.append(rl.Column(place, here.get(k, self.nothing), *self.add_all(made_of)))
                here[k] = place
        self.rows[b] = rl.Link(
            L.parent,
            L.kind,
            L.iq,
            L.iv,
            L.ndof,
            L.shuffle,
            L.align,
            *self.add_all(found),
            int(L.joint > 0),
            *hinge,
        )

    def _pairs(self, *links: int, also: tuple[int, ...] = (), base: bool = True) -> tuple[int, int]:
        """Write what moves links; velocities that move none have a column of nothing."""
        moving = {k: self.nothing for k in also}
        for b in links:
            moving.update(self.places[b])
        return self.add_all([rl.Pair(k, place) for k, place in sorted(moving.items()) if base or k > 5])

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int, int]]:
        """Write all; return index, params and work, and where the regressor stands in work, with its shape."""
        n, nv, columns, link_of = self.head, self.model.nv, self.columns, self.tree.link_of_joint
        for b in range(1, n.links + 1):
            self._link(b)
        dof0 = len(self.rows)
        dofs = [self._dof(iv) for iv in range(n.nv_tree)]
        first = dof0 + n.nv_tree
        for iv, D in enumerate(dofs):
            terms = self._terms(iv)
            dofs[iv] = D._replace(term0=first, term1=first + len(terms))
            first += len(terms)
        self.add_all(dofs)
        for iv in range(n.nv_tree):
            self.add_all(self._terms(iv))
        bodies = self.add_all([
            rl.Body(10 * i, int(link_of[i + 1]), *self._pairs(int(link_of[i + 1]), base=not self.base))
            for i in range(columns.bodies)
        ])  # fmt: skip
        spins = self.add_all([self._spin(columns.rotors_from + i, r) for i, r in enumerate(columns.rotors)])
        armatures = self.add_all(
            [rl.Armature(columns.armatures_from + i, iv) for i, iv in enumerate(columns.armatures)]
        )
        rods = self.add_all([self._rod(columns.rods_from + i, r) for i, r in enumerate(columns.rods)])
        v_tree, a_tree = self.room(n.nv_tree), self.room(n.nv_tree)
        sines, cosines, place = self.room(n.nq), self.room(n.nq), self.room(nv * columns.width)
        base, mass = self.room(12), self.append(self._inverse_mass())
        places = self.tree.own.G, self.tree.own.g, v_tree, a_tree, sines, cosines, place, base, mass
        room, _ = self.add_all([rl.Room(*places)])
        self.rows[0] = rl.Head(
            n.links, n.nq, nv, n.nv_tree, dof0, columns.width, int(self.base), *bodies, *spins, *armatures, *rods, room
        )
        work = np.zeros(self.work)
        for i, unit in enumerate(self.units):
            work[unit + i] = 1.0
        return self.index(at.ROW_WIDTH), np.array(self.params), work, (place, nv, columns.width)

    def _inverse_mass(self) -> float:
        """Return one over the mass of the robot; of rods, what is not held by the universe."""
        tree = self.model.inertia_tree
        mass = in_order(tree.inertias[j].mass for j in range(1, tree.njoints))
        mass += in_order(rod.mass - in_order(m for j, _, m in rod.masses_of_ends if j) for rod in self.columns.rods)
        with np.errstate(divide="ignore"):  # the centre of what has no mass
            return float(1.0 / np.float64(mass))

    def _spin(self, column: int, r: Any) -> rl.Spin:
        """Write a rotor that is no body."""
        drivers = [(iv, self.append(ratio)) for iv, ratio in r.drivers]
        turns = [rl.Turn(T.k, self.tree.own.G + T.at, ratio) for iv, ratio in drivers for T in self._terms(iv)]
        carrier = int(self.tree.link_of_joint[r.carrier_id])
        pairs = self._pairs(carrier, also=tuple({T.k for T in turns}))
        return rl.Spin(
            column, carrier, self.append(r.axis), *self.add_all([tl.Driver(*d) for d in drivers]), *pairs,
            *self.add_all(turns),
        )  # fmt: skip

    def _rod(self, column: int, rod: Any) -> rl.Rod:
        """Write a rod with mass."""
        (a, p), (b, s) = rod.ends
        at_a, middle, at_b = np.array(rod.point_masses) / rod.mass
        shares = [at_a + 0.25 * middle, at_b + 0.25 * middle, 0.25 * middle]
        links = [int(self.tree.link_of_joint[j]) for j in (a, b)]
        all_pairs, of_a, of_b = self._pairs(*links), self._pairs(links[0]), self._pairs(links[1])
        return rl.Rod(column, self.append([*p, *s, *shares]), links[0], links[1], *all_pairs, *of_a, *of_b)
