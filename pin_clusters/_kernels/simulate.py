"""Many steps of a simulation. The algorithms are called at their addresses, so nothing of them is compiled again."""

from __future__ import annotations

import math
from typing import Any, Final

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import device, kernel
from .increments import move_one, rate_one
from .layout import CLUSTER0, CLUSTER1, FREEFLYER, IMPLICIT, NV, PLANAR, SPHERICAL, TYPE
from .loops import condition_of
from .simd import entry, tables
from .values import largest_value

# methods
RK4: Final = 0
SEMI_IMPLICIT: Final = 1
RKMK4: Final = 2

# plan, row 0
MOVED: Final = 0  # rows of independent joints: kind, first index in q, first index in v
FOLLOWERS: Final = 1  # rows of dependent joints with constant ratios: index in q, first and last term
TERMS: Final = 2  # rows: index in q of a leader
# plan, row 1
CLOSED: Final = 0  # whether there are loops
ENTRIES: Final = 1  # in q, of the joints of loops
LEFT: Final = 2  # in q, of the independent joints of the model
# rows: joints, followers, terms, then an index each: entries of loops, independent entries, the torques' joints in v

# calls: addresses of compiled functions, and of the tables that they get
ABA: Final = 0
MOVE: Final = 1
ENERGY: Final = 2
COUPLING: Final = 3
MOVE_AT: Final = 4
ENERGY_AT: Final = 5
COUPLING_AT: Final = 6
OWN: Final = 7  # whether the torques are of the independent joints

# clock: in and out
STEP: Final = 0  # the next step
END: Final = 1
STEPS: Final = 2  # of the whole simulation
RECORD: Final = 3
METHOD: Final = 4
SAMPLES: Final = 5  # out
DUE: Final = 6  # whether the first state may be a sample
STOPPED: Final = 7  # out: 1 if a step could not be done, 2 if a cluster is beyond its limit; the caller looks closer

_FASTEST: Final = 1e8


@intrinsic
def _call(typing: Any, function: Any, address: Any, arrays: Any) -> Any:
    """Call the compiled entry point at ``function`` with the address of its tables and flat arrays."""
    own = types.int64(types.int64, *arrays.types)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = context.call_conv
        callee = builder.inttoptr(args[0], call.get_function_type(own.return_type, own.args).as_pointer())
        given = [args[1], *cgutils.unpack_tuple(builder, args[2])]
        code = cgutils.alloca_once(builder, call.get_return_type(own.return_type).pointee)
        builder.store(cgutils.get_null_value(code.type.pointee), code)
        error = cgutils.alloca_once(builder, callee.type.pointee.args[1].pointee)
        flat = list(call._get_arg_packer(own.args).as_arguments(builder, given))
        status = call._get_return_status(builder, builder.call(callee, [code, error, *flat]), builder.load(error))
        with cgutils.if_unlikely(builder, status.is_error):  # checked bounds
            call.return_status_propagate(builder, status)
        return context.get_returned_value(builder, own.return_type, builder.load(code))

    return types.int64(function, address, arrays), codegen


@device
def rates(plan, x, v, out):
    """Rate of the increment x at the velocity v."""
    for i in range(out.shape[0]):
        out[i] = v[i]
    for j in range(2, 2 + plan[0, MOVED]):
        kind = plan[j, 0]
        if kind == SPHERICAL or kind == PLANAR or kind == FREEFLYER:
            rate_one(kind, x, v, plan[j, 2], out)


@device
def moved(calls, plan, ratios, q, x, out, spare, held):
    """Write the configuration after the increment x to out; returns 0, or less if a loop cannot follow."""
    for i in range(q.shape[0]):
        out[i] = q[i]
    for j in range(2, 2 + plan[0, MOVED]):
        move_one(out, plan[j, 0], plan[j, 1], x, plan[j, 2])
    followers = 2 + plan[0, MOVED]
    terms = followers + plan[0, FOLLOWERS]
    entries = terms + plan[0, TERMS]
    left = entries + plan[1, ENTRIES]
    if plan[1, CLOSED]:
        for i in range(q.shape[0]):
            held[i] = q[i]
        if _call(calls[MOVE], calls[MOVE_AT], (held, x, out, spare)) != 0:
            return -1
        for i in range(left, left + plan[1, LEFT]):
            held[plan[i, 0]] = out[plan[i, 0]]
        for i in range(entries, left):
            out[plan[i, 0]] = held[plan[i, 0]]
    for i in range(plan[0, FOLLOWERS]):
        value = 0.0
        for k in range(plan[followers + i, 1], plan[followers + i, 2]):
            value += ratios[k] * out[plan[terms + k, 0]]
        out[plan[followers + i, 0]] = value + ratios[plan[0, TERMS] + i]
    return 0


@device
def accelerate(address, calls, plan, coupling, q, v, tau, mapped, out):
    """Acceleration under torques of the user's independent joints; returns the code of the algorithm."""
    if calls[OWN]:
        return _call(calls[ABA], address, (q, v, tau, out))
    code, nv = _call(calls[COUPLING], calls[COUPLING_AT], (q, v)), v.shape[0]
    first = plan.shape[0] - nv
    for k in range(nv):
        x = 0.0
        for i in range(nv):
            x += tau[i] * coupling[plan[first + i, 0] * nv + k]
        mapped[k] = x
    return code if code != 0 else _call(calls[ABA], address, (q, v, mapped, out))


@device
def sound(q, v):
    """Whether a state is one."""
    fastest, total = 0.0, 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
        total += v[i]
    for i in range(q.shape[0]):
        total += q[i]
    return fastest < _FASTEST and total - total == 0.0


@device
def keep_sample(address, calls, plan, coupling, energies, k, q, v, a, row):
    """Write a sample: step, energies, openness, q, v, a; with loops also velocity and acceleration of the tree.

    What ``accelerate`` left in the workspace must be that of q.
    """
    index, params, work, _ = tables(address)
    row[3] = 0.0
    for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
        if entry(index, c, TYPE) == IMPLICIT:
            row[3] = max(row[3], math.sqrt(largest_value(index, params, work, q, c)))
    _call(calls[ENERGY], calls[ENERGY_AT], (q, v))
    row[0], row[1], row[2] = k, energies[0], energies[1]
    nq, nv = q.shape[0], v.shape[0]
    for i in range(nq):
        row[4 + i] = q[i]
    at = 4 + nq
    for i in range(nv):
        row[at + i] = v[i]
        row[at + nv + i] = a[i]
    if plan[1, CLOSED]:
        _call(calls[COUPLING], calls[COUPLING_AT], (q, v))
        at += 2 * nv
        n = (row.shape[0] - at) // 2
        for j in range(n):
            x, y = 0.0, coupling[n * nv + j]
            for i in range(nv):
                x += coupling[j * nv + i] * v[i]
                y += coupling[j * nv + i] * a[i]
            row[at + j] = x
            row[at + n + j] = y


def simulate_signature():
    """The address of the tables, then what ``simulate_at`` lists."""
    whole, flat, table = types.int64[::1], types.float64[::1], types.float64[:, ::1]
    return types.int64(
        types.int64, whole, types.int64[:, ::1], whole, flat, flat, flat, flat, flat, flat, table, table, table
    )


@kernel(simulate_signature, "simulate (loop over steps)", None)
def simulate_at(address, calls, plan, clock, ratios, lengths, limits, coupling, energies, state, torque, room, samples):
    """Run steps until the clock's END, or until one cannot be done: then the state is that before it.

    Args:
        address: Tables for aba.
        calls: Addresses of functions and of their tables.
        plan: What moves how.
        clock: Numbers of steps.
        ratios: One per term; then the offsets of the followers.
        lengths: Of a step, and of the last one.
        limits: Largest squared bound of the condition of each cluster with loops.
        coupling: Where the coupling function leaves G and its bias.
        energies: Where the energy function leaves both energies.
        state: q and v.
        torque: One row, or one per step.
        room: 17 rows, as wide as q.
        samples: A row per sample.
    """
    index, _, work, _ = tables(address)
    nq, nv = room.shape[1], entry(index, 0, NV)
    q, v = state[:nq], state[nq:]
    qs, spare, held, q_new = room[0], room[1], room[2], room[3]
    a1, a2, a3, a4 = room[4][:nv], room[5][:nv], room[6][:nv], room[7][:nv]
    v2, v3, v4, v_new = room[8][:nv], room[9][:nv], room[10][:nv], room[11][:nv]
    k2, k3, k4, x, mapped = room[12][:nv], room[13][:nv], room[14][:nv], room[15][:nv], room[16][:nv]
    method, due = clock[METHOD], clock[DUE] != 0
    clock[SAMPLES], clock[STOPPED] = 0, 0
    for k in range(clock[STEP], clock[END]):
        h = lengths[0] if k < clock[STEPS] - 1 else lengths[1]
        tau = torque[min(k, torque.shape[0] - 1)]
        clock[STEP], clock[STOPPED] = k, 1
        if accelerate(address, calls, plan, coupling, q, v, tau, mapped, a1) != 0:
            return 0
        n = 0
        for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
            if entry(index, c, TYPE) == IMPLICIT:
                if not condition_of(index, work, c) < limits[n]:
                    clock[STOPPED] = 2
                n += 1
        if clock[STOPPED] == 2:
            return 0
        if k % clock[RECORD] == 0 and due:
            keep_sample(address, calls, plan, coupling, energies, k, q, v, a1, samples[clock[SAMPLES]])
            clock[SAMPLES] += 1
        due = True
        if method == SEMI_IMPLICIT:
            for i in range(nv):
                v_new[i] = v[i] + h * a1[i]
                x[i] = h * v_new[i]
        else:
            for i in range(nv):
                v2[i] = v[i] + 0.5 * h * a1[i]
                x[i] = 0.5 * h * v[i]
            if method == RKMK4:
                rates(plan, x, v2, k2)
            if moved(calls, plan, ratios, q, x, qs, spare, held) != 0:
                return 0
            if accelerate(address, calls, plan, coupling, qs, v2, tau, mapped, a2) != 0:
                return 0
            if method == RK4:
                for i in range(nv):
                    k2[i] = v2[i]
            for i in range(nv):
                v3[i] = v[i] + 0.5 * h * a2[i]
                x[i] = 0.5 * h * k2[i]
            if method == RKMK4:
                rates(plan, x, v3, k3)
            if moved(calls, plan, ratios, q, x, qs, spare, held) != 0:
                return 0
            if accelerate(address, calls, plan, coupling, qs, v3, tau, mapped, a3) != 0:
                return 0
            if method == RK4:
                for i in range(nv):
                    k3[i] = v3[i]
            for i in range(nv):
                v4[i] = v[i] + h * a3[i]
                x[i] = h * k3[i]
            if method == RKMK4:
                rates(plan, x, v4, k4)
            if moved(calls, plan, ratios, q, x, qs, spare, held) != 0:
                return 0
            if accelerate(address, calls, plan, coupling, qs, v4, tau, mapped, a4) != 0:
                return 0
            if method == RK4:
                for i in range(nv):
                    k4[i] = v4[i]
            for i in range(nv):
                x[i] = h / 6.0 * (v[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
                v_new[i] = v[i] + h / 6.0 * (a1[i] + 2.0 * a2[i] + 2.0 * a3[i] + a4[i])
        if moved(calls, plan, ratios, q, x, q_new, spare, held) != 0:
            return 0
        if not sound(q_new, v_new):
            return 0
        for i in range(nq):
            q[i] = q_new[i]
        for i in range(nv):
            v[i] = v_new[i]
        clock[STEP], clock[STOPPED] = k + 1, 0
    return 0


def move_signature():
    """The address of the tables for ``move``, then what ``moved_at`` lists."""
    whole, flat = types.int64[::1], types.float64[::1]
    return types.int64(types.int64, whole, types.int64[:, ::1], flat, flat, flat, flat, flat, flat)


@kernel(move_signature, "simulate (one increment)", None)
def moved_at(address, calls, plan, ratios, q, x, out, spare, held):
    """Write the configuration after the increment x to out; the address is not looked at."""
    return moved(calls, plan, ratios, q, x, out, spare, held)
