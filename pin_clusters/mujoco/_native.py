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
from ._rotors import INPUTS
from ._writer import HEAD, SLOT, Writer


@functools.cache
def module() -> Loaded:
    return load(module_text())


def module_text() -> str:
    from llvmlite import ir

    w = Writer(ir)
    for write in (write_closed, write_guarded, write_delta, write_apply, write_passive):
        write(w)
    # MCJIT cannot resolve calls of the C library, so LLVM must not replace loops by such calls.
    return re.sub(r"^(define .*)$", r'\1 nounwind "no-builtins"', str(w.module), flags=re.MULTILINE)


def write_delta(w: Writer) -> None:
    """Write ``void delta(entry, d, dM, dh, save)``: compute Delta M at the places of ``mjData.M``, and Delta h."""
    entry, d, dM, dh, save = w.begin("delta", w.ir.VoidType(), *[w.ptr] * 4, w.i64)
    b, program, n, nv = w.b, *(w.word(entry, name) for name in ("program", "entries", "nv"))
    w.call(w.word(entry, "rotors"), w.ir.VoidType(), *(w.field(d, name) for name in INPUTS), dM, dh)
    with b.if_then(b.icmp_signed("!=", program, w.int(0))):
        entries, places, more = w.scratch(n), w.array(entry, "entry_places"), w.scratch(nv)
        with b.if_else(b.icmp_signed("!=", w.word(entry, "nd"), w.int(0))) as (loops, none):
            with loops:
                b.call(w.module.get_global("guarded"), [entry, d, entries, more, save])
            with none:
                arguments = w.field(d, "qpos"), w.field(d, "qvel"), entries, more
                w.call(program, w.ir.VoidType(), *arguments)
        with w.loop(n) as i:
            w.add(w.get(entries, i), dM, w.get(places, i, w.i64))
        with w.loop(nv) as i:
            w.add(w.get(more, i), dh, i)
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
