"""Native code of the callback: one module for all robots.

The module reads two arrays of 64-bit integers, whose words ``_writer`` names. The *table* contains the number of slots,
the address of the next callback, MuJoCo's functions, and offsets in ``mjData``. Slots of four words follow: address of
the model, address of its entry, number of threads that use the entry, and an unused word. An *entry* contains sizes and
addresses of the arrays of one robot.

The callback adds Delta M to ``mjData.M``, factorises M again, and subtracts Delta h from ``mjData.qfrc_passive``. If
MuJoCo calls it again for the same position (``mj_forwardSkip``, sleeping bodies), M already contains Delta M. The
callback recognises this case by one diagonal entry: it recomputes the entry of the tree from ``crb`` and ``cdof``.
"""

import functools
import re

from ..compiler.machine_code.loading import Loaded, load
from ._library import FUNCTIONS
from ._loop_code import write_closed, write_guarded
from ._writer import HEAD, SLOT, Writer


@functools.cache
def module() -> Loaded:
    return load(module_text())


def module_text() -> str:
    from llvmlite import ir

    w = Writer(ir)
    for write in (write_closed, write_guarded, write_rotors, write_delta, write_apply, write_passive):
        write(w)
    # MCJIT cannot resolve calls of the C library, so LLVM must not replace loops by such calls.
    return re.sub(r"^(define .*)$", r'\1 nounwind "no-builtins"', str(w.module), flags=re.MULTILINE)


def write_rotors(w: Writer) -> None:
    """Write ``void rotors(entry, d, dM, dh)``: add the groups of the table of rotors.

    For each velocity i, ``rates`` contains the sum of cdof_dot_k qvel_k over i and its ancestors k, and ``torques`` the
    gyroscopic torques on the bodies that i moves. Row 0 belongs to the world, and row i + 1 to velocity i.
    """
    entry, d, dM, dh = w.begin("rotors", w.ir.VoidType(), *[w.ptr] * 4)
    b, i64, sweeps, nv = w.b, w.i64, w.word(entry, "sweeps"), w.word(entry, "nv")
    xmat, cvel, cdof, rate, qvel = (w.field(d, x) for x in ("xmat", "cvel", "cdof", "cdof_dot", "qvel"))
    parents, size = w.array(entry, "parents"), b.mul(b.add(nv, w.int(1)), w.int(3))
    rates, torques, sums = w.scratch(size), w.scratch(size), w.scratch(w.int(2))
    for k in range(3):
        w.put(w.num(0.0), rates, k)
    with w.loop(b.select(b.icmp_signed("==", sweeps, w.int(0)), w.int(0), size)) as i:
        w.put(w.num(0.0), torques, i)
    with w.loop(sweeps) as i:
        before, here = w.get(parents, i, i64), b.mul(b.add(i, w.int(1)), w.int(3))
        for k, (x, y) in enumerate(zip(w.three(rates, before), w.three(rate, b.mul(i, w.int(6))), strict=True)):
            w.put(w.plus(x, y, w.get(qvel, i)), w.at(rates, here), k)
    cursors = [b.alloca(w.ptr), b.alloca(w.ptr)]
    for cursor, name in zip(cursors, ("integers", "floats"), strict=True):
        b.store(w.array(entry, name), cursor)
    with w.loop(w.word(entry, "groups")):
        numbers, floats = (b.load(cursor, typ=w.ptr) for cursor in cursors)
        frame, motion, moved, drivers, pairs = (w.get(numbers, k, i64) for k in range(5))
        driver, moment = w.at(numbers, 5, i64), w.at(floats, 3)
        pair, weight = w.at(driver, drivers, i64), w.at(moment, drivers)
        R, s0, o = w.at(xmat, frame), w.three(floats, 0), w.three(cvel, motion)
        s = [w.dot(w.three(R, 3 * k), s0) for k in range(3)]
        alpha = w.dot(s, w.three(rates, moved))
        w.put(w.num(0.0), sums, 0)
        with w.loop(drivers) as p:
            v, m = w.get(driver, p, i64), w.get(moment, p)
            w.add(b.fmul(m, w.get(qvel, v)), sums, 0)
            w.add(b.fmul(m, alpha), dh, v)
        for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
            turned = b.fsub(b.fmul(o[i], s[j]), b.fmul(o[j], s[i]))
            w.add(b.fmul(w.get(sums, 0), turned), w.at(torques, moved), k)
        with w.loop(pairs) as i:
            column, place = (w.get(w.at(pair, b.add(i, i), i64), k, i64) for k in range(2))
            w.add(b.fmul(w.get(weight, i), w.dot(s, w.three(cdof, column))), dM, place)
        b.store(w.at(pair, b.add(pairs, pairs), i64), cursors[0])
        b.store(w.at(weight, pairs), cursors[1])
    with w.loop(sweeps) as k:
        i = b.sub(b.sub(sweeps, k), w.int(1))
        above, here = w.get(parents, i, i64), w.three(torques, b.mul(b.add(i, w.int(1)), w.int(3)))
        w.add(w.dot(w.three(cdof, b.mul(i, w.int(6))), here), dh, i)
        for j, x in enumerate(here):
            w.add(x, w.at(torques, above), j)
    b.ret_void()


def write_delta(w: Writer) -> None:
    """Write ``void delta(entry, d, dM, dh, save)``: compute Delta M at the places of ``mjData.M``, and Delta h."""
    entry, d, dM, dh, save = w.begin("delta", w.ir.VoidType(), *[w.ptr] * 4, w.i64)
    b, program, n = w.b, w.word(entry, "program"), w.word(entry, "entries")
    w.copy(w.array(entry, "constant"), dM, w.word(entry, "nC"))
    with w.loop(w.word(entry, "nv")) as i:
        w.put(w.num(0.0), dh, i)
    with b.if_then(b.icmp_signed("!=", program, w.int(0))):
        entries, places = w.scratch(n), w.array(entry, "entry_places")
        with b.if_else(b.icmp_signed("!=", w.word(entry, "nd"), w.int(0))) as (loops, none):
            with loops:
                b.call(w.module.get_global("guarded"), [entry, d, entries, dh, save])
            with none:
                arguments = w.field(d, "qpos"), w.field(d, "qvel"), entries, dh
                w.call(program, w.ir.VoidType(), *arguments)
        with w.loop(n) as i:
            w.add(w.get(entries, i), dM, w.get(places, i, w.i64))
    b.call(w.module.get_global("rotors"), [entry, d, dM, dh])
    b.ret_void()


def write_apply(w: Writer) -> None:
    """Write ``void apply(entry, m, d)``: change ``M``, its factor, and ``qfrc_passive``."""
    entry, m, d = w.begin("apply", w.ir.VoidType(), *[w.ptr] * 3)
    b, nC, nv = w.b, w.word(entry, "nC"), w.word(entry, "nv")
    table = b.load(w.table, typ=w.ptr)
    dM, dh, M, force = w.scratch(nC), w.scratch(nv), w.field(d, "M"), w.field(d, "qfrc_passive")
    b.call(w.module.get_global("delta"), [entry, d, dM, dh, w.int(1)])
    k = w.word(entry, "place")
    c = w.at(w.field(d, "crb"), b.mul(w.word(entry, "body"), w.int(10)))
    v = w.at(w.field(d, "cdof"), b.mul(w.word(entry, "dof"), w.int(6)))
    inertia, (x, y, z, vx, vy, vz) = [w.get(c, i) for i in range(10)], [w.get(v, i) for i in range(6)]
    xx, yy, zz, xy, xz, yz, hx, hy, hz, mass = inertia
    minus = b.fneg
    rows = (
        ([xx, xy, xz, minus(hz), hy], [x, y, z, vy, vz], x), ([xy, yy, yz, hz, minus(hx)], [x, y, z, vx, vz], y),
        ([xz, yz, zz, minus(hy), hx], [x, y, z, vx, vy], z), ([hz, minus(hy), mass], [y, z, vx], vx),
        ([hx, minus(hz), mass], [z, x, vy], vy), ([hy, minus(hx), mass], [x, y, vz], vz),
    )  # fmt: skip
    of_tree = w.dot([w.dot(p, q) for p, q, _ in rows], [r for *_, r in rows])
    apart = w.absolute(b.fsub(w.get(M, k), of_tree))
    half = b.fmul(w.absolute(w.get(dM, k)), w.num(0.5))
    with b.if_then(b.fcmp_ordered("<", apart, half)):
        with w.loop(nC) as i:
            w.add(w.get(dM, i), M, i)
        factorise, project, dual = (w.get(table, HEAD.index(x), w.i64) for x in FUNCTIONS)
        w.call(factorise, w.ir.VoidType(), m, d)
        is_dual = w.call(dual, w.ir.IntType(32), m)
        with b.if_then(b.icmp_signed("!=", is_dual, w.ir.Constant(w.ir.IntType(32), 0))):
            w.call(project, w.ir.VoidType(), m, d)
    with w.loop(nv) as i:
        w.add(b.fneg(w.get(dh, i)), force, i)
    b.ret_void()


def write_passive(w: Writer) -> None:
    """Write ``void passive(m, d)``, the callback, and ``void bind(table)``, which sets the address of the table."""
    (table,) = w.begin("bind", w.ir.VoidType(), w.ptr)
    w.b.store(table, w.table)
    w.b.ret_void()
    m, d = w.begin("passive", w.ir.VoidType(), w.ptr, w.ptr)
    b, table = w.b, w.b.load(w.table, typ=w.ptr)
    following = w.get(table, HEAD.index("next"), w.i64)
    with b.if_then(b.icmp_signed("!=", following, w.int(0))):
        w.call(following, w.ir.VoidType(), m, d)
    key = b.ptrtoint(m, w.i64)
    with w.loop(w.get(table, 0, w.i64)) as i:
        slot = w.at(table, b.add(b.mul(i, w.int(SLOT)), w.int(len(HEAD))), w.i64)
        with b.if_then(b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=w.i64), key)):
            users = w.at(slot, 2, w.i64)
            b.atomic_rmw("add", users, w.int(1), "seq_cst")
            # The entry may have been removed before this thread was counted.
            with b.if_then(b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=w.i64), key)):
                entry = b.inttoptr(w.get(slot, 1, w.i64), w.ptr)
                b.call(w.module.get_global("apply"), [entry, m, d])
            b.atomic_rmw("sub", users, w.int(1), "seq_cst")
    b.ret_void()
