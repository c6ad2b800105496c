"""Code for closed loops: finds the dependent joints, starting at the dependent joints of the previous step."""

from typing import Any

from ._writer import Writer

PARTS = 16
"""Number of steps from the reference pose if Newton's method fails from the previous pose."""
_CLOSED, _SOLVED = 1e-8, 1e-13  # relative residuals: largest allowed, and small enough to stop
TURN = 1.0  # largest change of a dependent joint in one step, [rad] or [m]
MARK, COUNT, USER = 0, 1, 2
"""Words of ``userdata``: MARK is 1 if the rest is valid, COUNT is the number of evaluations beyond the reach of the
linkages, and the dependent joints start at USER."""


def write_closed(w: Writer) -> None:
    """Write ``i1 closed(entry, qpos, start, qvel, dM, dh, dep)``: run the program until the loops are closed."""
    ptr, i64 = w.ptr, w.i64
    entry, qpos, start, qvel, dM, dh, dep = w.begin("closed", w.i1, *[ptr] * 7)
    b, nd = w.b, w.word(entry, "nd")
    open_, at, done = w.scratch(w.int(1)), w.scratch(nd), b.alloca(i64)
    b.store(w.int(0), done)
    w.copy(start, at, nd)
    with w.loop(w.int(6)), b.if_then(b.icmp_signed("==", b.load(done), w.int(0))):
        arguments = (qpos, at, qvel, dM, dh, open_, dep)
        w.call(w.word(entry, "program"), w.ir.VoidType(), *arguments)
        w.copy(dep, at, nd)
        more = b.fcmp_ordered(">", w.get(open_, 0), w.num(_SOLVED))
        b.store(b.select(more, w.int(0), w.int(1)), done)
    good = b.fcmp_ordered("<", w.get(open_, 0), w.num(_CLOSED))
    checked = b.mul(nd, w.word(entry, "newton"))
    b.ret(w.every(checked, lambda i: w.near(w.get(dep, i), w.get(start, i), TURN), good))


def write_guarded(w: Writer) -> None:
    """Write ``void guarded(entry, d, dM, dh, save)``: run the program of a robot with loops.

    Newton's method starts at the previous pose, which is stored in ``userdata``. If this pose is unknown, or Newton's
    method fails, ends near a singularity or changes the assembly mode, the loop joints move in steps from the reference
    pose. If a linkage cannot reach its pose, all loops have constant ratios, those of the last reachable pose.
    """
    entry, d, dM, dh, save = w.begin("guarded", w.ir.VoidType(), *[w.ptr] * 4, w.i64)
    b, nd, n, nq, nv = w.b, *(w.word(entry, name) for name in ("nd", "loops", "nq", "nv"))
    closed = w.module.get_global("closed")
    joints, dofs, reference = (w.array(entry, name) for name in ("loop_qpos", "loop_dofs", "reference"))
    qpos, qvel = w.field(d, "qpos"), w.field(d, "qvel")
    user = w.at(w.field(d, "userdata"), w.word(entry, "user"))
    known = w.at(user, USER)
    dep, at, moved, slow, reached = w.scratch(nd), w.scratch(nd), w.scratch(nq), w.scratch(nv), b.alloca(w.i64)

    def store(mark: float) -> None:
        with b.if_then(b.icmp_signed("!=", save, w.int(0))):
            w.put(w.num(mark), user, MARK)
            w.copy(dep, known, nd)
            w.add(w.num(1.0 - mark), user, COUNT)

    def move(share: Any) -> None:
        with w.loop(n) as i:
            x, joint = w.get(reference, i), w.get(joints, i, w.i64)
            w.put(w.plus(x, share, b.fsub(w.get(qpos, joint), x)), moved, joint)

    def part(k: Any) -> Any:
        return b.fmul(b.sitofp(k, w.f64), w.num(1.0 / PARTS))

    explicit = b.icmp_signed("==", w.word(entry, "newton"), w.int(0))  # A closed form needs no previous pose.
    valid = b.or_(explicit, b.fcmp_ordered("==", w.get(user, MARK), w.num(1.0)))
    with b.if_then(valid), b.if_then(b.call(closed, [entry, qpos, known, qvel, dM, dh, dep])):
        store(1.0)
        b.ret_void()
        b.position_at_end(b.append_basic_block())
    w.copy(qpos, moved, nq)
    w.copy(qvel, slow, nv)
    with w.loop(n) as i:
        w.put(w.num(0.0), slow, w.get(dofs, i, w.i64))
    w.copy(w.at(reference, n), at, nd)
    b.store(w.int(0), reached)
    with w.loop(w.int(PARTS)) as k, b.if_then(b.icmp_signed("==", b.load(reached), k)):
        move(part(b.add(k, w.int(1))))
        with b.if_then(b.call(closed, [entry, moved, at, slow, dM, dh, dep])):
            w.copy(dep, at, nd)
            b.store(b.add(k, w.int(1)), reached)
    whole = b.icmp_signed("==", b.load(reached), w.int(PARTS))
    with b.if_then(whole), b.if_then(b.call(closed, [entry, qpos, at, qvel, dM, dh, dep])):
        store(1.0)
        b.ret_void()
        b.position_at_end(b.append_basic_block())
    move(part(b.load(reached)))
    b.call(closed, [entry, moved, at, slow, dM, dh, dep])
    store(0.0)
    b.ret_void()
