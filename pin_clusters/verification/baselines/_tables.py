"""Build the two flat arrays of the compiled baselines: integers (sizes, tables) and floats (constants, work space)."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinates_of
from ...constraints.called import CallableClosure
from ...constraints.closures import FrameClosure, HarmonicClosure, RodClosure, massive
from ...model import ClusterModel, expand
from ._bodies import axis_of, bodies_of, pitch_of
from ._compiled import fields as f
from ._rows import Part, Row, Rows, frames_of, program_of
from ._shares import lend, split


class Tables:
    """Tables of a model. Each baseline adds its own tables; then ``finish`` creates the arrays.

    Attributes:
        bodies: Bodies of the expanded tree, beginning with the universe.
        rows: Constraint rows.
        entries: Bodies on which the rows act, concatenated for all rows.
        parts: Groups of rows that share velocities.
        G: Index in ``W`` of the coupling matrix of each part.
        owner: For each tree velocity, the index of the body whose joint has this velocity.
        counts: Number of force components that the joint of each body transmits.
        called: Closures defined by Python functions, each with the indices in ``W`` of its two derivatives.
        band: Bandwidth of the banded system of a chain; 0 for other methods.
        entries_of_M: Counts of non-zero entries, in the mass matrix and in its factor; 0 if not determined.
        index: The integer array ``I``.
        work: The float array ``W``.
    """

    def __init__(self, model: ClusterModel, *, maximal: bool, divide: bool = False) -> None:
        self.model, self.span = model, expand(model)
        self.band, self.entries_of_M = 0, (0, 0)
        self.header = np.zeros(f.SIZE, dtype=np.int64)
        self._whole: list[np.ndarray] = []
        self._count = f.SIZE
        self._real: list[np.ndarray] = []
        self._size = 0
        self.bodies = bodies_of(model, self.span)
        for rod in massive(model.closures):  # add the point masses at the ends of rods
            for j, p, share in rod.masses_of_ends:
                b = self.bodies[int(self.span.from_tree_id[j])]
                b.inertia = b.lump = b.inertia + pin.Inertia(share, np.asarray(p), np.zeros((3, 3))).matrix()
        body_of_joint = np.array(self.span.from_tree_id)
        if maximal:
            lend(self.bodies)
        if divide:
            self.bodies, new = split(self.bodies)
            body_of_joint = new[body_of_joint]
        self.ties = Rows(model, self.span, self.bodies, body_of_joint)
        self.rows = [*self.ties.rows]
        for i, b in enumerate(self.bodies):
            if b.borrowed.any():
                self.rows += [Row([i], [], [], 1.0, -1.0 / x) for x in b.borrowed]
        self.parts = self.ties.parts()
        self.owner = self.ties.owner
        h = self.header
        h[f.BODIES], h[f.TREE_V], h[f.NV] = len(self.bodies), self.span.tree.nv, self.model.nv
        h[f.ROWS], h[f.HARD], h[f.PARTS] = len(self.rows), self.ties.hard, len(self.parts)
        h[f.CLOSURES] = len(self.ties.closures)
        self._of_bodies()
        self._of_rows()
        self._of_closures()
        self._of_parts()
        self._reserve_work()

    def put(self, name: int, values: Any) -> int:
        """Add an integer table, and store its offset in the header at index ``name``; return the offset."""
        self.header[name] = offset = self._also(values)
        return offset

    def keep(self, values: Any) -> int:
        """Add constants; return their index in ``W``."""
        offset, flat = self._size, np.ravel(np.asarray(values, dtype=float))
        self._real.append(flat)
        self._size += flat.size
        return offset

    def reserve(self, sizes: dict[int, int]) -> None:
        for name, size in sizes.items():
            self.header[name] = self.keep(np.zeros(size))

    def lists(self, starts: int, items: int, lists: Sequence[Any]) -> None:
        """Add concatenated integer lists, and the index at which each list begins."""
        self.put(starts, [0, *accumulate(len(x) for x in lists)])
        self.put(items, np.concatenate([np.zeros(0), *lists]))

    def finish(self) -> None:
        self.index = np.concatenate([self.header, *self._whole])
        self.work = np.concatenate(self._real)
        R = int(self.header[f.AT_R])
        self.work[R : R + 9] = np.eye(3).ravel()

    def evaluate(self, q: np.ndarray) -> None:
        """Evaluate, at q, the closures that Python functions define, and store their derivatives."""
        for c, at_J, at_H in self.called:
            x = coordinates_of(self.model.own_tree, c.joints, q)
            J, H = c.jacobian(x), c.hessian(x)
            self.work[at_J : at_J + J.size] = J.ravel()
            self.work[at_H : at_H + H.size] = H.ravel()

    def free_of(self, part: Part) -> list[int]:
        """Return the indices of the tree velocities that are independent in a part."""
        return [int(self.span.from_tree_v[self.model.idx_v_independent[i]]) for i in part.free]

    def _of_bodies(self) -> None:
        bodies, h = self.bodies, self.header
        self.put(f.PARENT, [b.parent for b in bodies])
        prims = [p for b in bodies for p in b.joint]
        self.put(f.PRIM, [0, *accumulate(len(b.joint) for b in bodies)])
        self.put(f.KIND, [p.kind for p in prims])
        at_q = np.full(self.span.tree.nq, -1)  # rotors that are not bodies of the user's tree have angle 0
        at_q[self.span.from_tree_q] = np.arange(self.model.nq)
        self.put(f.PRIM_Q, at_q[[p.iq for p in prims]])
        self.put(f.PRIM_V, [*(p.iv for p in prims), self.span.tree.nv])
        self.put(f.DOF, [*(b.first for b in bodies), self.span.tree.nv])
        self.put(f.DOF_BODY, [self.owner[d] for d in range(self.span.tree.nv)])
        self.put(f.SAME, range(self.span.tree.nv))
        self.put(f.USER, [b.user if i else -1 for i, b in enumerate(bodies)])
        self.put(f.FREE, self.span.from_tree_v[self.model.idx_v_independent])
        self.put(f.VARIES, [b.motion is None for b in bodies])
        arms = [[b.first + int(k) for k in np.flatnonzero(b.armature)] for b in bodies]
        self.lists(f.ARM, f.ARM_DOF, arms)
        armature = np.concatenate([b.armature for b in bodies] + [np.zeros(0)])
        self.counts = [6 - b.nv + len(a) if i else 0 for i, (b, a) in enumerate(zip(bodies, arms, strict=True))]
        self.put(f.COUNT, self.counts)
        self.put(f.LENDS, [bool(b.share.any()) for b in bodies])
        h[f.AT_ARM] = self.keep([1.0 / x for x in armature if x])
        h[f.AT_PRIM] = self.keep(
            [[*p.placement.rotation.ravel(), *p.placement.translation, *axis_of(p), pitch_of(p)] for p in prims]
        )
        T, N = np.zeros((self.span.tree.nv, 6)), np.zeros((len(bodies), 6, 6))
        for i, b in enumerate(bodies):
            motion = b.motion
            if motion is None:
                continue
            T[b.first : b.first + b.nv] = np.linalg.pinv(motion) if b.nv else np.zeros((0, 6))
            N[i, : 6 - b.nv] = _complement(motion)
        h[f.AT_TLOC], h[f.AT_NLOC] = self.keep(T), self.keep(N)
        h[f.AT_RIGID] = self.keep([_numbers(b.inertia) for b in bodies])
        h[f.AT_LUMP] = self.keep([_numbers(b.lump) for b in bodies])
        still = np.zeros(3)
        h[f.AT_SHARE] = self.keep([[*b.share, *(still if b.turns is None else b.turns)] for b in bodies])
        h[f.AT_GRAVITY] = self.keep(self.model.gravity.linear)

    def _of_rows(self) -> None:
        h, rows = self.header, self.rows
        self.entries = [b for r in rows for b in r.bodies]
        self.put(f.ENTRY, [0, *accumulate(len(r.bodies) for r in rows)])
        self.put(f.ENTRY_BODY, self.entries)
        self.lists(f.TERM, f.TERM_DOF, [r.terms for r in rows])
        self.put(f.TOP, [-1 if r.terms else self.ties.top(*r.bodies) for r in rows[: self.ties.hard]])
        h[f.AT_TERM] = self.keep([x for r in rows for x in r.coefficients])
        h[f.AT_SCALE] = self.keep([r.scale for r in rows])
        h[f.AT_COMPLIANCE] = self.keep([r.compliance for r in rows])
        self.put(f.ROD_CLOSURE, self.ties.rods)
        self.put(f.FAKES, [sum(bool(b.borrowed.any()) for b in self.bodies)])
        self.put(f.KEEP, [0] * (2 * len(rows) + 1))

    def _of_closures(self) -> None:
        names = (f.C_TYPE, f.C_A, f.C_B, f.C_ROW, f.C_SIZE, f.C_REAL, f.C_MORE)
        tree, table = self.model.own_tree, []
        self.called: list[tuple[CallableClosure, int, int]] = []
        for c, first in self.ties.closures:
            a = b = extra = 0
            constants = np.zeros(0)
            if isinstance(c, FrameClosure | RodClosure):
                a, b = int(self.ties.at[c.joint_a]), int(self.ties.at[c.joint_b])
            if isinstance(c, FrameClosure):
                kind, constants = f.FRAMES, frames_of(c)
                extra = {"none": f.NONE, "universal": f.UNIVERSAL}.get(c.rotation, f.WHOLE)
            elif isinstance(c, RodClosure):
                kind, constants = f.ROD, np.concatenate([c.point_a, c.point_b])
            elif isinstance(c, HarmonicClosure):
                program, constants = program_of(c, [(tree.idx_qs[j], tree.nqs[j] == 2) for j in c.joints])
                kind, extra = f.HARMONIC, self._also(program)
            else:
                kind, extra = f.JOINTS, self._also([len(c.bodies), 0])
                constants = np.zeros(c.size * len(c.bodies) ** 2)
            offset = self.keep(constants)
            if isinstance(c, CallableClosure):
                terms = int(self.header[f.AT_TERM]) + sum(len(r.terms) for r in self.rows[:first])
                self.called.append((c, terms, offset))
            table.append((kind, a, b, first, c.size, offset, extra))
        for k, name in enumerate(names):
            self.put(name, [row[k] for row in table])

    def _also(self, values: Any) -> int:
        offset, flat = self._count, np.asarray(values, dtype=np.int64).ravel()
        self._whole.append(flat)
        self._count += flat.size
        return offset

    def _of_parts(self) -> None:
        h, parts = self.header, self.parts
        self.lists(f.PART_ROW, f.PART_ROWS, [p.rows for p in parts])
        self.lists(f.PART_DEP, f.PART_DEPS, [p.dependent for p in parts])
        self.lists(f.PART_FREE, f.PART_FREES, [p.free for p in parts])
        self.put(f.PART_MOVES, [p.moves for p in parts])
        self.G = [self.keep(p.G) for p in parts]
        self.put(f.PART_G, self.G)
        sizes = [(len(p.dependent) + len(p.free) + len(p.rows)) * len(p.rows) * p.moves for p in parts]
        self.put(f.PART_A, [self.keep(np.zeros(x)) for x in sizes])
        column = np.full(self.span.tree.nv, -1)
        for p in parts:
            dofs = [*p.dependent, *self.free_of(p)]
            column[dofs] = np.arange(len(dofs))
        self.put(f.COLUMN, column)
        self.put(f.PIVOTS, [k for p in parts for k in range(len(p.dependent))])
        max_rows = max([len(p.rows) for p in parts] + [0])
        h[f.AT_SCRATCH] = self.keep(np.zeros(200 + 2 * len(self.rows) + max_rows * (max_rows + 1)))

    def _reserve_work(self) -> None:
        nb, nt, rows = len(self.bodies), self.span.tree.nv, len(self.rows)
        self.reserve({
            f.AT_R: 9 * nb, f.AT_O: 3 * nb, f.AT_S: 6 * nt, f.AT_T: 6 * nt, f.AT_J: 36 * nb, f.AT_P: 36 * nb,
            f.AT_D: 6 * nb, f.AT_V: 6 * nb, f.AT_BETA: 6 * nb, f.AT_A: 6 * nb, f.AT_BODY: 10 * nb, f.AT_M: 36 * nb,
            f.AT_B: 6 * nb, f.AT_VT: nt, f.AT_ENTRY: 6 * len(self.entries), f.AT_RIGHT: rows, f.AT_SCALED: rows,
            f.AT_MU: rows,
        })  # fmt: skip


def _numbers(inertia: np.ndarray) -> np.ndarray:
    """Return the mass, first moment and rotational inertia (xx xy xz yy yz zz) of a rigid body, shape (10,)."""
    moment = inertia[[5, 3, 4], [1, 2, 0]]
    return np.concatenate([inertia[:1, 0], moment, inertia[3:, 3:][np.triu_indices(3)]])


def _complement(motion: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (rows) of the complement of a motion subspace, of unit vectors if possible."""
    basis: list[np.ndarray] = list(np.linalg.qr(motion)[0].T) if motion.size else []
    n = len(basis)
    for axis in np.eye(6):
        residual = axis.copy()
        for _ in range(2):
            for b in basis:
                residual -= (residual @ b) * b
        if np.linalg.norm(residual) > 0.35 and len(basis) < 6:
            basis.append(residual / np.linalg.norm(residual))
    return np.array(basis[n:]).reshape(6 - n, 6)
