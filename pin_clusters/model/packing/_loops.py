"""Writes the tables of clusters with loops: velocities, equations, couplings, rotors, and rods with mass."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._support.trees import in_v
from ...constraints.called import CallableClosure
from ...kernels.tables import layout as at
from ...kernels.tables.sizes import cluster_work, external_work, harmonic_scratch, joint_work, offsets
from ..assembly import LinearClosure, LoopAnalysis
from ._writer import Body, Robot, Row, Writer

from ...constraints.closures import COS, LINEAR, SIN, Closure, FrameClosure  # isort: skip
from ...constraints.closures import HarmonicClosure, JointClosure, RodClosure, massive  # isort: skip

_FACTORS = {SIN: at.SIN, COS: at.COS, LINEAR: at.IDENTITY}
_TURNS = {"none": at.TURN_NONE, "full": at.TURN_FULL, "axis": at.TURN_AXIS, "universal": at.TURN_UNIVERSAL}


@dataclass(frozen=True)
class Supply:
    """A Python function whose derivatives are written to the workspace before a kernel runs."""

    closure: CallableClosure  # loop closure that contains the function
    iq: tuple[int, ...]  # index in q of each of its joints
    scratch: int  # workspace offset of the Jacobian; the second derivatives follow the Jacobian


@dataclass
class Loop:
    """Writes the tables of a cluster with loops, given its row, its columns (indices in v) and its bodies."""

    out: Writer
    robot: Robot
    loop: LoopAnalysis
    row: int
    columns: list[int]
    members: list[Body]

    def __post_init__(self) -> None:
        self.tree, self.body_of_joint, self.align = self.robot.tree, self.robot.body_of_joint, self.robot.align
        self.nk, self.nd = len(self.columns), len(self.loop.dependents)
        self.velocities: dict[int, int] = {}  # index in the tree's v -> table row of the velocity
        self.at_q: dict[int, tuple[int, int]] = {}  # index in the tree's v -> first index and size of the joint in q
        for j in self.loop.joints:
            self.at_q |= dict.fromkeys(in_v(self.tree, j), (self.tree.idx_qs[j], self.tree.nqs[j]))
        self.column = {iv: i for i, iv in enumerate((*self.loop.dependents, *self.loop.independents))}

    def write(self) -> tuple[dict[int, int], list[Supply]]:
        """Write the tables; return the offset of each rotor's row of G, and the Python functions."""
        out, nk = self.out, self.nk
        spinning = [j for j in self.loop.joints if j in self.robot.spinning]
        entry = out.rows[self.row]
        entry.kind = at.LOOP
        entry.column, _ = out.add_list(self.columns)
        self._write_bodies()
        self._write_velocities(spinning)
        nr = sum(c.size for c in self.loop.kept)
        head = Row(at.Head)
        entry.head = out.add(head)
        head.nd, head.nr, head.at = self.nd, nr, out.reserve(offsets(0, self.nd, nr, nk).end)
        velocities = list(self.velocities.values())
        head.velocity0, head.velocity1 = velocities[0], velocities[-1] + 1
        supplies = self._write_closures(head)
        self._write_followers(head)
        self._write_elements(head)
        self._write_rods(head)
        return {j: out.rows[self.velocities[self.tree.joints[j].idx_v]].at_G for j in spinning}, supplies

    def _write_bodies(self) -> None:
        out, nk = self.out, self.nk
        all_columns = (1 << nk) - 1 if nk < 63 else -1
        inside = {b.row for b in self.members}
        for body in self.members:
            body_row, p = out.rows[body.row], body.primitive
            body_row.cluster, body_row.sole = self.row, -1
            body_row.at_K, body_row.at_G = out.reserve(6 * nk), out.reserve(p.nv * joint_work(nk))
            mask = out.rows[body.parent].mask if body.parent in inside else 0
            independent = p.nv > 0 and all(p.iv + d in self.loop.independents for d in range(p.nv))
            body_row.which = self.loop.independents.index(p.iv) if independent else -1
            body_row.unit = self.columns[body_row.which] if independent and p.nv == 1 else -1
            for iv in range(p.iv, p.iv + p.nv):
                free = iv in self.loop.independents and nk < 63
                mask |= 1 << self.loop.independents.index(iv) if free else all_columns
            body_row.mask = all_columns if p.kind == at.MIDDLE or all_columns == -1 else mask

    def _write_velocities(self, spinning: Sequence[int]) -> None:
        out, nk = self.out, self.nk
        where: dict[int, tuple[int, int, int, int]] = {}  # iv -> at_G, nv of the joint, index in it, row of the body
        for body in self.members:
            p = body.primitive
            for d in range(p.nv):
                where[p.iv + d] = (out.rows[body.row].at_G, p.nv, d, body.row)
        for j in spinning:
            where[self.tree.joints[j].idx_v] = (out.reserve(joint_work(nk)), 1, 0, -1)
        independent_iv = sorted(set(where) - set(self.loop.dependents))
        for iv in (*self.loop.dependents, *independent_iv):
            block, n, d, body_row = where[iv]
            k = self.loop.independents.index(iv) if iv in self.loop.independents else -1
            bias = block + n * nk + d
            rates = [block + n * (nk + 4) + (i * n + d) * nk for i in range(3)]
            where_it_is = block + d * nk, bias, bias + n, body_row, iv, k, *self.at_q[iv]
            self.velocities[iv] = out.add(at.Velocity(*where_it_is, bias + 2 * n, bias + 3 * n, *rates))
            if k >= 0:
                out.initial[block + d * nk + k] = 1.0

    def _write_closures(self, head: Row) -> list[Supply]:
        out, supplies = self.out, []
        rows: list[Row] = []
        first = 0
        for closure in self.loop.kept:
            row = Row(at.Closure)
            row.row0, row.rows = first, closure.size
            scales = self.loop.scales[first : first + closure.size]
            if isinstance(closure, JointClosure):
                self._write_joints(row, closure, scales)
                if row.form == at.SUPPLIED:
                    assert isinstance(closure, CallableClosure)
                    iq = tuple(self.tree.idx_qs[j] for j in closure.joints)
                    supplies.append(Supply(closure, iq, row.scratch))
            else:
                self._write_on_bodies(row, closure, scales)
            rows.append(row)
            first += closure.size
        head.closure0, head.closure1 = out.add_all(rows)
        head.on_bodies = int(any(row.form in (at.FRAMES, at.ROD) for row in rows))
        return supplies

    def _place(self, j: int, position: np.ndarray) -> np.ndarray:
        return self.align[j].T @ (position - (self.robot.origin if j == 0 else 0.0))

    def _inside(self, b: int) -> int:
        return b if b > 0 and self.out.rows[b].cluster == self.row else 0

    def _path(self, b: int) -> list[int]:
        path = []
        while b := self._inside(b):
            path.append(b)
            b = self.out.rows[b].parent
        return path

    def _write_on_bodies(self, row: Row, closure: Closure, scales: np.ndarray) -> None:
        out, ends = self.out, closure.bodies
        row.a, row.b = (self.body_of_joint[j] for j in ends)
        if isinstance(closure, FrameClosure):
            row.form, row.turn = at.FRAMES, _TURNS[closure.rotation]
            data: list[float] = []
            for j, M in closure.ends:
                data += [*(self.align[j].T @ M.rotation).flat, *self._place(j, M.translation)]
            data += (closure.rows / scales[:, None]).ravel().tolist()
        else:
            assert isinstance(closure, RodClosure)
            assert closure.length is not None
            row.form = at.ROD
            data = [x for end in closure.ends for x in self._place(*end)]
            data += [1.0 / (closure.length * scales[0]), closure.length]
        row.at = out.append(data)
        to_a, to_b = (self._path(self.body_of_joint[j]) for j in ends)
        primitives = {m.row: m.primitive for m in self.members}
        row.part0, row.part1 = out.add_all(
            at.OnPath(self.column[primitives[b].iv + d], body_row.at_S + 6 * d, sign, self._inside(body_row.parent))
            for path, opposite, sign in ((to_a, to_b, -1), (to_b, to_a, 1))
            for b in path
            if b not in opposite
            for body_row in (out.rows[b],)
            for d in range(primitives[b].nv)
        )

    def _write_joints(self, row: Row, closure: JointClosure, scales: np.ndarray) -> None:
        out, tree, n, m = self.out, self.tree, len(closure.joints), closure.size
        ivs = [tree.idx_vs[j] for j in closure.joints]
        row.part0, row.part1 = out.add_all(
            at.OnJoint(self.column[iv], self.at_q[iv][0], self.velocities[iv], self.at_q[iv][1]) for iv in ivs
        )
        if isinstance(closure, HarmonicClosure):
            self._write_harmonic(row, closure, scales)
        elif isinstance(closure, LinearClosure):
            row.form = at.PROPORTIONAL
            row.at = out.append(closure.coefficients / scales[:, None])
            out.append(closure.offsets / scales)
            out.append(closure.periods / scales)
        else:
            assert isinstance(closure, CallableClosure)
            row.form = at.SUPPLIED
            if closure.addresses[0]:
                row.form, row.functions = at.CALLED, out.add(at.Functions(*closure.addresses))
            highest_order = max(order for order, address in enumerate((1, *closure.addresses[1:])) if address)
            row.at, row.scratch = out.append(1.0 / scales), out.reserve(external_work(n, m, highest_order))
            out.append(closure.steps)

    def _write_harmonic(self, row: Row, closure: HarmonicClosure, scales: np.ndarray) -> None:
        out, tree, angles = self.out, self.tree, len(closure.phases)
        row.form, row.angles, row.at = at.HARMONIC, angles, out.append(closure.phases)
        row.scratch = out.store(np.tile(np.arange(at.ANGLE_SCRATCH) == at.ONE, angles))
        scratch = harmonic_scratch(row.scratch, angles, closure.size, self.nk)
        slopes = out.reserve(scratch.end - scratch.slopes)
        ivs = [tree.idx_vs[j] for j in closure.joints]
        row.part0, row.part1 = out.add_all(
            at.OnAngle(
                row.scratch + at.ANGLE_SCRATCH * a,
                slopes + a,
                out.append(closure.weights[a, j]),
                self.column[iv],
                self.at_q[iv][0],
                self.velocities[iv],
            )
            for a, j in np.argwhere(closure.weights).tolist()
            for iv in (ivs[j],)
        )
        terms = []
        for i, (sums, scale) in enumerate(zip(closure.terms, scales, strict=True)):
            for coefficient, factors in sums:
                named = [(_FACTORS[kind], a) for kind, a in factors] or [(at.ONE, 0)]
                places = [(row.scratch + at.ANGLE_SCRATCH * a + start, slopes + a) for start, a in named]
                filled = [int(x) for pair in places + places[:1] * (3 - len(places)) for x in pair]
                terms.append(at.Term(i, out.append(coefficient / scale), len(named), *filled))
        row.term0, row.term1 = out.add_all(terms)

    def _write_shares(self, masters: Sequence[tuple[int, float]]) -> tuple[int, int]:
        out = self.out
        return out.add_all(at.Share(self.velocities[iv], out.append(coefficient)) for iv, coefficient in masters)

    def _write_followers(self, head: Row) -> None:
        out, tree = self.out, self.tree
        rows = []
        for follower in self.loop.followers:
            masters = [(tree.joints[m].idx_v, c) for m, c in follower.terms]
            rows.append(
                at.Follower(self.velocities[tree.joints[follower.dependent].idx_v], *self._write_shares(masters))
            )
        head.follower0, head.follower1 = out.add_all(rows)

    def _write_elements(self, head: Row) -> None:
        out, nk, entry, armature = self.out, self.nk, self.out.rows[self.row], self.robot.inertia_tree.armature
        inside, output = {b.row for b in self.members}, self.members[0].parent
        spin_elements = [r for r in self.robot.rotors if r.spins and any(iv in self.velocities for iv, _ in r.drivers)]
        tables: dict[int, int] = {}
        for r in spin_elements:
            carrier = self.body_of_joint[r.carrier_id]
            if carrier and carrier not in tables:
                tables[carrier] = out.reserve(3 * (nk + 1))
        entry.at_spin = tables.get(output, -1) if output else -1
        carriers = [c for c in tables if c in inside]
        entry.carrier0, entry.carrier1 = out.add_all(at.Carrier(c, tables[c]) for c in carriers)
        entry.at_E = out.reserve(nk * nk)
        entry.at_work = out.reserve(cluster_work(nk, len(carriers)))
        rows = []
        for iv in self.velocities:
            if armature[iv] != 0.0:
                data = out.append([armature[iv], 0.0, 0.0, 0.0])
                rows.append(at.Element(data, *self._write_shares([(iv, 1.0)]), -1, out.reserve(4 * nk), 0))
        for r in spin_elements:
            carrier = self.body_of_joint[r.carrier_id]
            data = out.append([r.axial_inertia, *(self.align[r.carrier_id].T @ r.axis)])
            shares, at_spin = self._write_shares(r.drivers), tables.get(carrier, -1)
            rows.append(at.Element(data, *shares, at_spin, out.reserve(4 * nk), carrier))
        head.element0, head.element1 = out.add_all(rows)

    def _write_rods(self, head: Row) -> None:
        out = self.out
        middles = [b.row for b in self.members if b.primitive.kind == at.MIDDLE]
        rows = []
        for c, middle in zip(massive(self.loop.closures), middles, strict=True):
            a, b = (self._place(*end) for end in c.ends)
            data = out.append([*a, *b, c.point_masses[1]])
            rows.append(at.Rod(data, self.body_of_joint[c.joint_a], self.body_of_joint[c.joint_b], middle))
        head.rod0, head.rod1 = out.add_all(rows)
