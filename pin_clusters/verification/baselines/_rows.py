"""Describe constraint equations between the velocities of the expanded tree, for the compiled baselines."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constraints.called import CallableClosure
from ...constraints.closures import Closure, FrameClosure, HarmonicClosure, RodClosure
from ...errors import NotAvailableError
from ...model import ClusterModel, Equations, SpanningTree
from ._bodies import Body


@dataclass
class Row:
    """A row of the constraint Jacobian. It acts on bodies or directly on joint velocities."""

    bodies: list[int]  # bodies on which the row acts
    terms: list[int]  # tree velocities on which the row acts; empty if it acts on bodies
    coefficients: list[float]  # coefficients of the terms; 0 for closures, whose coefficients depend on q
    scale: float = 1.0  # scale of the row; if 0, the norm of the row is the scale
    compliance: float = 0.0  # compliance (motion per force)


@dataclass
class Part:
    """A group of rows that share velocities."""

    rows: list[int]  # indices of the rows
    dependent: list[int]  # tree velocities that the rows determine
    free: list[int]  # indices in v of the independent velocities
    moves: bool  # whether the rows change with the pose
    G: np.ndarray  # coupling matrix of pose-independent rows, shape (dependent, free)


class Rows:
    """The constraint rows of a model.

    Attributes:
        rows: Rows of closures, couplings and ``Rotor`` constraints, then three rows per rod with mass.
        hard: Number of rows without compliance.
        closures: Closures, each with the index of its first row.
        rods: Indices in ``closures`` of the rods with mass.
        at: Index of the body of each joint of the user's tree.
    """

    def __init__(self, model: ClusterModel, span: SpanningTree, bodies: list[Body], at: np.ndarray) -> None:
        self.model, self.span, self.bodies, self.at = model, span, bodies, at
        user = model.own_tree
        self.owner = {b.first + k: i for i, b in enumerate(bodies) for k in range(b.nv)}
        lengths = Equations(user, model.closures).lengths if model.closures else ()
        self.rows: list[Row] = []
        self.closures: list[tuple[Closure, int]] = []
        for c, length in zip(model.closures, lengths, strict=True):
            self.closures.append((c, len(self.rows)))
            self._close(c, length)
        for coupling in model.coupling_rows:
            joints = (coupling.dependent, *coupling.masters)
            self._tie([user.idx_vs[j] for j in joints], [-1.0, *coupling.coefficients], None)
        for j in span.rotors:
            i = span.tree.joints[j].idx_v
            drivers = np.flatnonzero(span.from_tree[i])
            self._tie(list(drivers), list(span.from_tree[i, drivers]), i)
        self.hard = len(self.rows)
        self.rods = [k for k, (c, _) in enumerate(self.closures) if isinstance(c, RodClosure) and c.mass > 0.0]
        for k in self.rods:
            rod: Any = self.closures[k][0]
            ends = [int(self.at[rod.joint_a]), int(self.at[rod.joint_b])]
            self.rows += [Row(ends, [], [], 1.0, 1.0 / rod.point_masses[1]) for _ in range(3)]

    def _close(self, c: Closure, length: float) -> None:
        if isinstance(c, HarmonicClosure | CallableClosure):
            places = [int(self.span.from_tree_v[self.model.own_tree.idx_vs[j]]) for j in c.joints]
            neighbours = [k for d in places for k in (self.owner[d], self.bodies[self.owner[d]].parent)]
            for unit in c.units:
                scale = {"m": length, "rad": 1.0}.get(unit, 0.0)
                self.rows.append(Row(neighbours, places, [0.0] * len(places), scale))
        elif isinstance(c, FrameClosure | RodClosure):
            ends = [int(self.at[c.joint_a]), int(self.at[c.joint_b])]
            self.rows += [Row(ends, [], [], length if unit == "m" else 1.0) for unit in c.units]
        else:
            raise NotAvailableError(f"{c.source.label}: this baseline does not support {type(c).__name__}.")

    def _tie(self, user: list[int], coefficients: list[float], rotor: int | None) -> None:
        """Add a row that couples velocities of the user's tree and, if it is not None, the velocity ``rotor``."""
        places = [int(self.span.from_tree_v[i]) for i in user]
        if rotor is not None:
            places, coefficients = [*places, rotor], [*coefficients, -1.0]
        neighbours = [k for d in places for k in (self.owner[d], self.bodies[self.owner[d]].parent)]
        self.rows.append(Row(neighbours, places, list(coefficients), float(np.linalg.norm(coefficients))))

    def top(self, a: int, b: int) -> int:
        """Return the nearest common ancestor of two bodies."""
        while a != b:
            if a > b:
                a = self.bodies[a].parent
            else:
                b = self.bodies[b].parent
        return a

    def sees(self, r: int) -> set[int]:
        """Return the tree velocities that affect a row."""
        row = self.rows[r]
        if row.terms:
            return set(row.terms)
        velocities: set[int] = set()
        top = self.top(*row.bodies)
        for b in row.bodies:
            while b != top:
                velocities |= {self.bodies[b].first + k for k in range(self.bodies[b].nv)}
                b = self.bodies[b].parent
        return velocities

    def parts(self) -> list[Part]:
        independent = {int(self.span.from_tree_v[i]): k for k, i in enumerate(self.model.idx_v_independent)}
        groups: list[tuple[set[int], list[int]]] = []
        for r in range(self.hard):
            velocities, rows = self.sees(r), [r]
            for group in [g for g in groups if g[0] & velocities]:
                groups.remove(group)
                velocities, rows = velocities | group[0], group[1] + rows
            groups.append((velocities, rows))
        parts = []
        moving = {first + k for c, first in self.closures for k in range(c.size)}
        for velocities, rows in groups:
            columns = sorted(velocities)
            dependent = [d for d in columns if d not in independent]
            free = [d for d in columns if d in independent]
            moves = any(r in moving for r in rows)
            G = np.zeros((len(dependent), len(free)))
            if not moves:
                K = np.zeros((len(rows), self.span.tree.nv))
                for k_row, r in zip(K, rows, strict=True):
                    np.add.at(k_row, self.rows[r].terms, self.rows[r].coefficients)
                G = -np.linalg.solve(K[:, dependent], K[:, free])
            parts.append(Part(sorted(rows), dependent, [independent[d] for d in free], moves, G))
        return parts


def frames_of(c: FrameClosure) -> np.ndarray:
    """Return the constants of a closure between frames, as ``_compiled.rows`` reads them."""
    a, b = c.placement_a, c.placement_b
    parts = (a.rotation, b.rotation[:, 0], b.translation, c.rows)
    return np.concatenate([np.ravel(x) for x in parts])


def program_of(c: HarmonicClosure, coordinates: list[tuple[int, bool]]) -> tuple[list[int], np.ndarray]:
    """Return the table and the constants of a closure with sines and cosines, as ``_compiled.rows`` reads them."""
    n, angles = len(c.joints), len(c.phases)
    table = [n, angles, *[int(x) for pair in coordinates for x in pair]]
    coefficients = []
    for terms in c.terms:
        table.append(len(terms))
        for coefficient, factors in terms:
            coefficients.append(coefficient)
            table += [len(factors), *[int(x) for pair in factors for x in pair]]
    first = np.hstack([c.weights, np.asarray(c.phases)[:, None]]).ravel()
    return table, np.concatenate([first, np.zeros(c.size * n * n + angles), coefficients])
