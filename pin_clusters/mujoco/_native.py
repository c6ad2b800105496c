"""Native code of the callback: one module for all robots, in LLVM's intermediate representation.

The module reads two arrays of 64-bit integers. ``HEAD`` names the first words of the *table*: number of slots, address
of the next callback, MuJoCo's functions, and offsets in ``mjData``. Slots of four words follow: address of the model,
address of its entry, number of threads that use the entry, and an unused word. ``ENTRY`` names the words of an *entry*,
which contains sizes and addresses of the arrays of one robot.

The callback adds Delta M to ``mjData.M``, factorises M again, and subtracts Delta h from ``mjData.qfrc_passive``. If
MuJoCo calls it again for the same position (``mj_forwardSkip``, sleeping bodies), M already contains Delta M. The
callback recognises this case by one diagonal entry: it recomputes the entry of the tree from ``crb`` and ``cdof``.
"""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..compiler.machine_code.loading import Loaded, load
from ._library import FIELDS, FUNCTIONS

HEAD = ("slots", "next", *FUNCTIONS, *FIELDS)
SLOT = 4
ENTRY = (
    "nv", "nC", "constants", "constant_places", "constant_values", "groups", "integers", "floats", "program", "entries",
    "entry_places", "user", "nd", "loops", "loop_qpos", "loop_dofs", "reference", "nq", "place", "dof", "body",
)  # fmt: skip
PARTS = 16
"""Number of steps from the reference pose to a pose at which Newton's method from the previous pose fails."""
_CLOSED, _SOLVED, _JUMP, _TURN = 1e-8, 1e-12, 0.3, 1.0  # residuals; changes of loop joints and dependent joints, [rad]
MARK, COUNT, USER = 0, 1, 2
"""Entries of ``userdata``: whether the rest is valid, number of steps beyond the reach, then loop joints, dependents."""


@functools.cache
def module() -> Loaded:
    return load(_text())


def _text() -> str:
    from llvmlite import ir

    w = _Writer(ir)
    w.closed()
    w.guarded()
    w.rotors()
    w.delta()
    w.apply()
    w.passive()
    # MCJIT cannot resolve calls of the C library, so LLVM must not replace loops by such calls.
    return re.sub(r'^(define .*)$', r'\1 nounwind "no-builtins"', str(w.module), flags=re.MULTILINE)


class _Writer:
    """Writes the functions; ``b`` is the builder of the current function, and ``i64``, ``f64`` and ``ptr`` are types."""

    def __init__(self, ir: Any) -> None:
        self.ir, self.module = ir, ir.Module()
        self.i64, self.f64, self.ptr, self.i1 = ir.IntType(64), ir.DoubleType(), ir.PointerType(), ir.IntType(1)
        self.table = ir.GlobalVariable(self.module, self.ptr, "table")
        self.table.initializer = ir.Constant(self.ptr, None)
        self.b: Any = None

    def begin(self, name: str, returned: Any, *types: Any) -> list[Any]:
        function = self.ir.Function(self.module, self.ir.FunctionType(returned, types), name)
        self.b = self.ir.IRBuilder(function.append_basic_block())
        return list(function.args)

    def int(self, n: int) -> Any:
        return self.ir.Constant(self.i64, n)

    def num(self, x: float) -> Any:
        return self.ir.Constant(self.f64, x)

    def at(self, pointer: Any, index: Any, kind: Any = None) -> Any:
        index = self.int(index) if isinstance(index, int) else index
        return self.b.gep(pointer, [index], source_etype=kind or self.f64)

    def get(self, pointer: Any, index: Any, kind: Any = None) -> Any:
        return self.b.load(self.at(pointer, index, kind), typ=kind or self.f64)

    def put(self, x: Any, pointer: Any, index: Any) -> None:
        self.b.store(x, self.at(pointer, index))

    def add(self, x: Any, pointer: Any, index: Any) -> None:
        place = self.at(pointer, index)
        self.b.store(self.b.fadd(self.b.load(place, typ=self.f64), x), place)

    def room(self, size: Any) -> Any:
        cell = self.b.alloca(self.f64, size=size)
        return self.b.bitcast(cell, self.ptr)

    def word(self, entry: Any, name: str) -> Any:
        return self.get(entry, ENTRY.index(name), self.i64)

    def array(self, entry: Any, name: str) -> Any:
        return self.b.inttoptr(self.word(entry, name), self.ptr)

    def field(self, d: Any, name: str) -> Any:
        table = self.b.load(self.table, typ=self.ptr)
        offset = self.get(table, HEAD.index(name), self.i64)
        return self.b.load(self.b.gep(d, [offset], source_etype=self.ir.IntType(8)), typ=self.ptr)

    @contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """Write a loop over the index 0 to ``count`` - 1."""
        b, start = self.b, self.b.block
        head, body, done = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(self.i64)
        i.add_incoming(self.int(0), start)
        b.cbranch(b.icmp_signed("<", i, count), body, done)
        b.position_at_end(body)
        yield i
        i.add_incoming(b.add(i, self.int(1)), b.block)
        b.branch(head)
        b.position_at_end(done)

    def copy(self, source: Any, target: Any, count: Any) -> None:
        with self.loop(count) as i:
            self.put(self.get(source, i), target, i)

    def dot(self, x: list[Any], y: list[Any]) -> Any:
        terms = [self.b.fmul(p, q) for p, q in zip(x, y, strict=True)]
        return functools.reduce(self.b.fadd, terms)

    def three(self, pointer: Any, first: Any) -> list[Any]:
        base = self.at(pointer, first)
        return [self.get(base, k) for k in range(3)]

    def absolute(self, x: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered("<", x, self.num(0.0)), self.b.fneg(x), x)

    def near(self, x: Any, y: Any, most: float) -> Any:
        """Return whether |x - y| < most; false for NaN."""
        return self.b.fcmp_ordered("<", self.absolute(self.b.fsub(x, y)), self.num(most))

    def call(self, address: Any, returned: Any, *arguments: Any) -> Any:
        kind = self.ir.FunctionType(returned, [x.type for x in arguments])
        return self.b.call(self.b.inttoptr(address, kind.as_pointer()), arguments)

    def every(self, count: Any, holds: Callable[[Any], Any], start: Any) -> Any:
        """Return whether ``start`` and ``holds(i)`` for all i."""
        b = self.b
        cell = b.alloca(self.i1)
        b.store(start, cell)
        with self.loop(count) as i:
            b.store(b.and_(b.load(cell), holds(i)), cell)
        return b.load(cell)

    def closed(self) -> None:
        """i1 closed(entry, qpos, start, qvel, dM, dh, dep): run the program until the loops are closed."""
        ptr, i64 = self.ptr, self.i64
        entry, qpos, start, qvel, dM, dh, dep = self.begin("closed", self.i1, *[ptr] * 7)
        b, nd = self.b, self.word(entry, "nd")
        open_, at, done = self.room(self.int(1)), self.room(nd), b.alloca(i64)
        b.store(self.int(0), done)
        self.copy(start, at, nd)
        with self.loop(self.int(6)), b.if_then(b.icmp_signed("==", b.load(done), self.int(0))):
            arguments = (qpos, at, qvel, dM, dh, open_, dep)
            self.call(self.word(entry, "program"), self.ir.VoidType(), *arguments)
            self.copy(dep, at, nd)
            more = b.fcmp_ordered(">", self.get(open_, 0), self.num(_SOLVED))
            b.store(b.select(more, self.int(0), self.int(1)), done)
        good = b.fcmp_ordered("<", self.get(open_, 0), self.num(_CLOSED))
        b.ret(self.every(nd, lambda i: self.near(self.get(dep, i), self.get(start, i), _TURN), good))

    def guarded(self) -> None:
        """void guarded(entry, d, dM, dh, save): run the program of a robot with loops.

        Newton's method starts at the previous pose, which is stored in ``userdata``. If the previous pose is unknown or
        far away, or if Newton's method fails, the loop joints move from the reference pose to their positions. If the
        linkage cannot reach these positions, the last pose that it reaches counts as a gear with constant ratios.
        """
        entry, d, dM, dh, save = self.begin("guarded", self.ir.VoidType(), *[self.ptr] * 4, self.i64)
        b, nd, n, nq, nv = self.b, *(self.word(entry, name) for name in ("nd", "loops", "nq", "nv"))
        closed = self.module.get_global("closed")
        joints, dofs, reference = (self.array(entry, name) for name in ("loop_qpos", "loop_dofs", "reference"))
        qpos, qvel = self.field(d, "qpos"), self.field(d, "qvel")
        user = self.at(self.field(d, "userdata"), self.word(entry, "user"))
        last, known = self.at(user, USER), self.at(user, b.add(n, self.int(USER)))
        dep, at, moved, slow, reached = self.room(nd), self.room(nd), self.room(nq), self.room(nv), b.alloca(self.i64)

        def joint(i: Any) -> Any:
            return self.get(joints, i, self.i64)

        def store(mark: float) -> None:
            with b.if_then(b.icmp_signed("!=", save, self.int(0))):
                self.put(self.num(mark), user, MARK)
                self.copy(dep, known, nd)
                with self.loop(n) as i:
                    self.put(self.get(qpos, joint(i)), last, i)
                self.add(self.num(1.0 - mark), user, COUNT)

        def move(share: Any) -> None:
            with self.loop(n) as i:
                x = self.get(reference, i)
                step = b.fmul(share, b.fsub(self.get(qpos, joint(i)), x))
                self.put(b.fadd(x, step), moved, joint(i))

        def part(k: Any) -> Any:
            return b.fmul(b.sitofp(k, self.f64), self.num(1.0 / PARTS))

        valid = b.fcmp_ordered("==", self.get(user, MARK), self.num(1.0))
        valid = self.every(n, lambda i: self.near(self.get(qpos, joint(i)), self.get(last, i), _JUMP), valid)
        with b.if_then(valid), b.if_then(b.call(closed, [entry, qpos, known, qvel, dM, dh, dep])):
            store(1.0)
            b.ret_void()
            b.position_at_end(b.append_basic_block())
        self.copy(qpos, moved, nq)
        self.copy(qvel, slow, nv)
        with self.loop(n) as i:
            self.put(self.num(0.0), slow, self.get(dofs, i, self.i64))
        self.copy(self.at(reference, n), at, nd)
        b.store(self.int(0), reached)
        with self.loop(self.int(PARTS)) as k, b.if_then(b.icmp_signed("==", b.load(reached), k)):
            move(part(b.add(k, self.int(1))))
            with b.if_then(b.call(closed, [entry, moved, at, slow, dM, dh, dep])):
                self.copy(dep, at, nd)
                b.store(b.add(k, self.int(1)), reached)
        whole = b.icmp_signed("==", b.load(reached), self.int(PARTS))
        with b.if_then(whole), b.if_then(b.call(closed, [entry, qpos, at, qvel, dM, dh, dep])):
            store(1.0)
            b.ret_void()
            b.position_at_end(b.append_basic_block())
        move(part(b.load(reached)))
        b.call(closed, [entry, moved, at, slow, dM, dh, dep])
        store(0.0)
        b.ret_void()

    def rotors(self) -> None:
        """void rotors(entry, d, dM, dh): add the groups of the table of rotors."""
        entry, d, dM, dh = self.begin("rotors", self.ir.VoidType(), *[self.ptr] * 4)
        b, i64 = self.b, self.i64
        xmat, cvel, cdof, rate, qvel = (self.field(d, x) for x in ("xmat", "cvel", "cdof", "cdof_dot", "qvel"))
        cursors = [b.alloca(self.ptr), b.alloca(self.ptr)]
        for cursor, name in zip(cursors, ("integers", "floats"), strict=True):
            b.store(self.array(entry, name), cursor)
        alpha = self.room(self.int(2))
        with self.loop(self.word(entry, "groups")):
            numbers, floats = (b.load(cursor, typ=self.ptr) for cursor in cursors)
            body, drivers, above = (self.get(numbers, k, i64) for k in range(3))
            driver = self.at(numbers, 3, i64)
            ancestor = self.at(driver, drivers, i64)
            place, moment = self.at(ancestor, above, i64), self.at(floats, 3)
            R, s0 = self.at(xmat, b.mul(body, self.int(9))), self.three(floats, 0)
            s = [self.dot(self.three(R, 3 * k), s0) for k in range(3)]
            o = self.three(cvel, b.mul(body, self.int(6)))
            self.put(self.num(0.0), alpha, 0)
            self.put(self.num(0.0), alpha, 1)
            with self.loop(drivers) as p:
                speed = self.get(qvel, self.get(driver, p, i64))
                self.add(b.fmul(self.get(moment, p), speed), alpha, 1)
            spin = self.get(alpha, 1)
            turned = [b.fsub(b.fmul(o[i], s[j]), b.fmul(o[j], s[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
            gyroscopic = [b.fmul(spin, x) for x in turned]
            with self.loop(above) as a:
                v = self.get(ancestor, a, i64)
                axis = self.three(cdof, b.mul(v, self.int(6)))
                sigma = self.dot(s, axis)
                along = self.dot(s, self.three(rate, b.mul(v, self.int(6))))
                self.add(b.fmul(along, self.get(qvel, v)), alpha, 0)
                self.add(self.dot(axis, gyroscopic), dh, v)
                own = self.at(place, b.mul(a, drivers), i64)
                with self.loop(drivers) as p:
                    # An entry on the diagonal is in r' sigma and in sigma' r.
                    twice = b.icmp_signed("==", self.get(driver, p, i64), v)
                    x = b.fmul(self.get(moment, p), sigma)
                    self.add(b.select(twice, b.fadd(x, x), x), dM, self.get(own, p, i64))
            with self.loop(drivers) as p:
                self.add(b.fmul(self.get(moment, p), self.get(alpha, 0)), dh, self.get(driver, p, i64))
            b.store(self.at(place, b.mul(above, drivers), i64), cursors[0])
            b.store(self.at(moment, drivers), cursors[1])
        b.ret_void()

    def delta(self) -> None:
        """void delta(entry, d, dM, dh, save): compute Delta M at the places of ``mjData.M``, and Delta h."""
        entry, d, dM, dh, save = self.begin("delta", self.ir.VoidType(), *[self.ptr] * 4, self.i64)
        b, program, n = self.b, self.word(entry, "program"), self.word(entry, "entries")
        for array, size in ((dM, "nC"), (dh, "nv")):
            with self.loop(self.word(entry, size)) as i:
                self.put(self.num(0.0), array, i)
        with b.if_then(b.icmp_signed("!=", program, self.int(0))):
            entries, places = self.room(n), self.array(entry, "entry_places")
            with b.if_else(b.icmp_signed("!=", self.word(entry, "nd"), self.int(0))) as (loops, none):
                with loops:
                    b.call(self.module.get_global("guarded"), [entry, d, entries, dh, save])
                with none:
                    arguments = self.field(d, "qpos"), self.field(d, "qvel"), entries, dh
                    self.call(program, self.ir.VoidType(), *arguments)
            with self.loop(n) as i:
                self.add(self.get(entries, i), dM, self.get(places, i, self.i64))
        values, places = self.array(entry, "constant_values"), self.array(entry, "constant_places")
        with self.loop(self.word(entry, "constants")) as i:
            self.add(self.get(values, i), dM, self.get(places, i, self.i64))
        b.call(self.module.get_global("rotors"), [entry, d, dM, dh])
        b.ret_void()

    def apply(self) -> None:
        """void apply(entry, m, d): change ``M``, its factor, and ``qfrc_passive``."""
        entry, m, d = self.begin("apply", self.ir.VoidType(), *[self.ptr] * 3)
        b, nC, nv = self.b, self.word(entry, "nC"), self.word(entry, "nv")
        table = b.load(self.table, typ=self.ptr)
        dM, dh, M, force = self.room(nC), self.room(nv), self.field(d, "M"), self.field(d, "qfrc_passive")
        b.call(self.module.get_global("delta"), [entry, d, dM, dh, self.int(1)])
        k = self.word(entry, "place")
        c = self.at(self.field(d, "crb"), b.mul(self.word(entry, "body"), self.int(10)))
        v = self.at(self.field(d, "cdof"), b.mul(self.word(entry, "dof"), self.int(6)))
        inertia, (x, y, z, vx, vy, vz) = [self.get(c, i) for i in range(10)], [self.get(v, i) for i in range(6)]
        xx, yy, zz, xy, xz, yz, hx, hy, hz, mass = inertia
        minus = b.fneg
        rows = (
            ([xx, xy, xz, minus(hz), hy], [x, y, z, vy, vz], x), ([xy, yy, yz, hz, minus(hx)], [x, y, z, vx, vz], y),
            ([xz, yz, zz, minus(hy), hx], [x, y, z, vx, vy], z), ([hz, minus(hy), mass], [y, z, vx], vx),
            ([hx, minus(hz), mass], [z, x, vy], vy), ([hy, minus(hx), mass], [x, y, vz], vz),
        )  # fmt: skip
        of_tree = self.dot([self.dot(p, q) for p, q, _ in rows], [r for *_, r in rows])
        apart = self.absolute(b.fsub(self.get(M, k), of_tree))
        half = b.fmul(self.absolute(self.get(dM, k)), self.num(0.5))
        with b.if_then(b.fcmp_ordered("<", apart, half)):
            with self.loop(nC) as i:
                self.add(self.get(dM, i), M, i)
            factorise, project, dual = (self.get(table, HEAD.index(x), self.i64) for x in FUNCTIONS)
            self.call(factorise, self.ir.VoidType(), m, d)
            is_dual = self.call(dual, self.ir.IntType(32), m)
            with b.if_then(b.icmp_signed("!=", is_dual, self.ir.Constant(self.ir.IntType(32), 0))):
                self.call(project, self.ir.VoidType(), m, d)
        with self.loop(nv) as i:
            self.add(b.fneg(self.get(dh, i)), force, i)
        b.ret_void()

    def passive(self) -> None:
        """void passive(m, d): MuJoCo's callback. void bind(table): set the address of the table."""
        (table,) = self.begin("bind", self.ir.VoidType(), self.ptr)
        self.b.store(table, self.table)
        self.b.ret_void()
        m, d = self.begin("passive", self.ir.VoidType(), self.ptr, self.ptr)
        b, table = self.b, self.b.load(self.table, typ=self.ptr)
        following = self.get(table, HEAD.index("next"), self.i64)
        with b.if_then(b.icmp_signed("!=", following, self.int(0))):
            self.call(following, self.ir.VoidType(), m, d)
        key = b.ptrtoint(m, self.i64)
        with self.loop(self.get(table, 0, self.i64)) as i:
            slot = self.at(table, b.add(b.mul(i, self.int(SLOT)), self.int(len(HEAD))), self.i64)
            with b.if_then(b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=self.i64), key)):
                users = self.at(slot, 2, self.i64)
                b.atomic_rmw("add", users, self.int(1), "seq_cst")
                # The entry may have been removed before this thread was counted.
                with b.if_then(b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=self.i64), key)):
                    entry = b.inttoptr(self.get(slot, 1, self.i64), self.ptr)
                    b.call(self.module.get_global("apply"), [entry, m, d])
                b.atomic_rmw("sub", users, self.int(1), "seq_cst")
        b.ret_void()
