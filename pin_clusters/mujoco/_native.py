"""Native code of the callback: one module for all robots.

The module reads two arrays of 64-bit integers, whose words ``_writer`` names. The *table* contains the number of slots,
the addresses of the user's callbacks and of MuJoCo's functions, and offsets in ``mjData``. Slots of four words follow:
address of the model, address of its entry, number of threads that use the entry, and whether motors have limits. An
*entry* contains sizes and addresses of the arrays of one robot.

``mjcb_passive`` adds Delta M to ``mjData.M``, factorises M again, and subtracts Delta h from ``qfrc_passive``. If
MuJoCo calls it again for the same position (``mj_forwardSkip``, sleeping bodies), M already contains Delta M. To
detect this case, the callback compares one diagonal entry with the entry of the tree, computed from ``crb`` and
``cdof``.
``mjcb_control`` applies the torque limits of motors.
"""

import functools
import re

from ..compiler.machine_code.loading import Loaded, load
from ._library import CALLBACKS
from ._loop_code import write_closed, write_guarded
from ._rotors import INPUTS
from ._writer import HEAD, SLOT, Writer


@functools.cache
def module() -> Loaded:
    return load(module_text())


def module_text() -> str:
    from llvmlite import ir

    w = Writer(ir)
    for write in (write_closed, write_guarded, write_delta, write_apply, write_limit, write_callbacks):
        write(w)
    # MCJIT cannot resolve calls of the C library, so LLVM must not replace loops by such calls.
    return re.sub(r"^(define .*)$", r'\1 nounwind "no-builtins"', str(w.module), flags=re.MULTILINE)


def write_delta(w: Writer) -> None:
    """Write ``void delta(entry, d, dM, dh, save)``: compute the entries of Delta M and Delta h, and a zero after dM."""
    entry, d, dM, dh, save = w.begin("delta", w.ir.VoidType(), *[w.ptr] * 4, w.i64)
    b, rotors, program = w.b, w.word(entry, "rotors"), w.word(entry, "program")
    w.put(w.num(0.0), dM, w.word(entry, "entries"))
    with b.if_then(b.icmp_signed("!=", rotors, w.int(0))):
        w.call(rotors, w.ir.VoidType(), *(w.field(d, name) for name in INPUTS), dM, dh)
    with b.if_then(b.icmp_signed("!=", program, w.int(0))):
        more = w.at(dM, w.word(entry, "first")), w.at(dh, w.word(entry, "first_torque"))
        with b.if_else(b.icmp_signed("!=", w.word(entry, "nd"), w.int(0))) as (loops, none):
            with loops:
                b.call(w.module.get_global("guarded"), [entry, d, *more, save])
            with none:
                w.call(program, w.ir.VoidType(), w.field(d, "qpos"), w.field(d, "qvel"), *more)
    b.ret_void()


def write_apply(w: Writer) -> None:
    """Write ``void apply(entry, m, d)``: change ``M``, its factor, and ``qfrc_passive``."""
    entry, m, d = w.begin("apply", w.ir.VoidType(), *[w.ptr] * 3)
    b, n, torques = w.b, w.word(entry, "entries"), w.word(entry, "torques")
    dM, dh, M, force = w.scratch(b.add(n, w.int(1))), w.scratch(torques), w.field(d, "M"), w.field(d, "qfrc_passive")
    b.call(w.module.get_global("delta"), [entry, d, dM, dh, w.int(1)])
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
    added = b.fadd(*(w.get(dM, w.word(entry, name)) for name in ("probe_a", "probe_b")))
    apart = w.absolute(b.fsub(w.get(M, w.word(entry, "place")), of_tree))
    half = b.fmul(w.absolute(added), w.num(0.5))
    with b.if_then(b.fcmp_ordered("<", apart, half)):
        places = w.array(entry, "places")
        with w.loop(n) as i:
            w.add(w.get(dM, i), M, w.get(places, i, w.i64))
        w.call(w.of_table("mj_factorM"), w.ir.VoidType(), m, d)
        is_dual = w.call(w.of_table("mj_isDual"), w.ir.IntType(32), m)
        with b.if_then(b.icmp_signed("!=", is_dual, w.ir.Constant(w.ir.IntType(32), 0))):
            w.call(w.of_table("mj_projectConstraint"), w.ir.VoidType(), m, d)
    dofs = w.array(entry, "dofs")
    with w.loop(torques) as i:
        w.add(b.fneg(w.get(dh, i)), force, w.get(dofs, i, w.i64))
    with w.loop(w.word(entry, "limited")) as i:
        w.put(w.num(0.0), w.known_limits(entry, d), i)  # MuJoCo has just computed qfrc_passive again.
    b.ret_void()


def write_limit(w: Writer) -> None:
    """Write ``void limit(entry, m, d)``: add the effect of the torque limits of motors to ``qfrc_passive``.

    ``userdata`` stores the torques already added, because MuJoCo can evaluate the actuators again without computing
    ``qfrc_passive`` again (``mjd_transitionFD``).
    """
    entry, _, d = w.begin("limit", w.ir.VoidType(), *[w.ptr] * 3)
    b, n, dofs = w.b, w.word(entry, "limited"), w.array(entry, "limited_dofs")
    with b.if_then(b.icmp_signed("!=", n, w.int(0))):
        force, known, change = w.field(d, "qfrc_passive"), w.known_limits(entry, d), w.scratch(n)
        inputs = [w.field(d, name) for name in ("qpos", "qvel", "qfrc_actuator")]
        w.call(w.word(entry, "limits"), w.ir.VoidType(), *inputs, change)
        with w.loop(n) as i:
            x = w.get(change, i)
            w.add(b.fsub(x, w.get(known, i)), force, w.get(dofs, i, w.i64))
            w.put(x, known, i)
    b.ret_void()


def write_callbacks(w: Writer) -> None:
    """Write the callbacks, and ``void bind(table)``, which sets the address of the table."""
    (table,) = w.begin("bind", w.ir.VoidType(), w.ptr)
    w.b.store(table, w.table)
    w.b.ret_void()
    for name, function in zip(CALLBACKS, ("apply", "limit"), strict=True):
        write_callback(w, name, function)


def write_callback(w: Writer, name: str, function: str) -> None:
    """Write ``void name(m, d)``, which calls the user's callback, and the function if the model is installed."""
    m, d = w.begin(name, w.ir.VoidType(), w.ptr, w.ptr)
    b, table, following = w.b, w.b.load(w.table, typ=w.ptr), w.of_table(name)
    with b.if_then(b.icmp_signed("!=", following, w.int(0))):
        w.call(following, w.ir.VoidType(), m, d)
    key = b.ptrtoint(m, w.i64)
    with w.loop(w.get(table, 0, w.i64)) as i:
        slot = w.at(table, b.add(b.mul(i, w.int(SLOT)), w.int(len(HEAD))), w.i64)
        wanted = b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=w.i64), key)
        if function == "limit":
            wanted = b.and_(wanted, b.icmp_signed("!=", w.get(slot, 3, w.i64), w.int(0)))
        with b.if_then(wanted):
            if function == "limit":
                # An error in a callback of an actuator ends this function, so the thread is not counted yet.
                w.call(w.of_table("mj_fwdActuation"), w.ir.VoidType(), m, d)
            users = w.at(slot, 2, w.i64)
            b.atomic_rmw("add", users, w.int(1), "seq_cst")
            # The entry may have been removed before this thread was counted.
            with b.if_then(b.icmp_signed("==", b.load_atomic(slot, "seq_cst", 8, typ=w.i64), key)):
                entry = b.inttoptr(w.get(slot, 1, w.i64), w.ptr)
                b.call(w.module.get_global(function), [entry, m, d])
            b.atomic_rmw("sub", users, w.int(1), "seq_cst")
    b.ret_void()
