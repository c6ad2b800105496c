"""Many steps of a simulation. The algorithms are called at their addresses, so nothing of them is compiled again."""

from __future__ import annotations

import math
from typing import Final

from numba import types

from ._jit import device, kernel
from .addresses import call_at, tables
from .closure_values import largest_value
from .coupling_of_loops import condition_of
from .increments import move_one, rate_one
from .layout import FREEFLYER, LOOP, PLANAR, SPHERICAL
from .plan import (
    ABA,
    CLOSED,
    CORRECTED,
    COUPLING,
    COUPLING_AT,
    DUE,
    END,
    ENERGY,
    ENERGY_AT,
    ENTRIES,
    FOLLOWERS,
    LEFT,
    MOVE,
    MOVE_AT,
    MOVED,
    OWN,
    RECORD,
    SAMPLES,
    STEP,
    STEPS,
    STOPPED,
    TERMS,
)
from .views import cluster, header

_FASTEST: Final = 1e8


@device
def rates(plan, x, v, out):
    """Rate of the increment x at the velocity v.

    Reads: plan, v, x.
    Writes: out.
    """
    for i in range(out.shape[0]):
        out[i] = v[i]
    for j in range(2, 2 + plan[0, MOVED]):
        kind = plan[j, 0]
        if kind == SPHERICAL or kind == PLANAR or kind == FREEFLYER:
            rate_one(kind, x, v, plan[j, 2], out)


@device
def moved(calls, plan, ratios, q, x, out, spare, held):
    """Write the configuration after the increment x to out; returns 0, or less if a loop cannot follow.

    Reads: calls, held, out, plan, q, ratios, x.
    Writes: held, out.
    """
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
        if call_at(calls[MOVE], calls[MOVE_AT], (held, x, out, spare)) != 0:
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
    """Acceleration under torques of the user's independent joints; returns the code of the algorithm.

    Reads: calls, coupling, plan, tau.
    Writes: mapped.
    """
    if calls[OWN]:
        return call_at(calls[ABA], address, (q, v, tau, out))
    code, nv = call_at(calls[COUPLING], calls[COUPLING_AT], (q, v)), v.shape[0]
    first = plan.shape[0] - nv
    for k in range(nv):
        x = 0.0
        for i in range(nv):
            x += tau[i] * coupling[plan[first + i, 0] * nv + k]
        mapped[k] = x
    return code if code != 0 else call_at(calls[ABA], address, (q, v, mapped, out))


@device
def sound(q, v):
    """Whether a state is one.

    Reads: q, v.
    """
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

    Reads: a, calls, coupling, energies, plan, pose, q, room, row, v, value.
    Writes: room, row, value.
    """
    index, params, work, _ = tables(address)
    row[3] = 0.0
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            row[3] = max(row[3], math.sqrt(largest_value(index, params, work, q, C)))
    call_at(calls[ENERGY], calls[ENERGY_AT], (q, v))
    row[0], row[1], row[2] = k, energies[0], energies[1]
    nq, nv = q.shape[0], v.shape[0]
    for i in range(nq):
        row[4 + i] = q[i]
    at = 4 + nq
    for i in range(nv):
        row[at + i] = v[i]
        row[at + nv + i] = a[i]
    if plan[1, CLOSED]:
        call_at(calls[COUPLING], calls[COUPLING_AT], (q, v))
        at += 2 * nv
        n = (row.shape[0] - at) // 2
        for j in range(n):
            x, y = 0.0, coupling[n * nv + j]
            for i in range(nv):
                x += coupling[j * nv + i] * v[i]
                y += coupling[j * nv + i] * a[i]
            row[at + j] = x
            row[at + n + j] = y


@device
def near_singular(index, work, limits):
    """Whether the condition of a cluster with loops, at the last acceleration, exceeds its limit.

    Reads: condition, limits.
    """
    n = 0
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            if not condition_of(index, work, C) < limits[n]:
                return True
            n += 1
    return False


@device
def weighted(h, weights, rows, i, last, out):
    """Write h times the weighted sum of rows 0..last-1; row i of the weights.

    Reads: rows, weights.
    Writes: out.
    """
    for k in range(out.shape[0]):
        x = 0.0
        for j in range(last):
            x += weights[i, j] * rows[j, k]
        out[k] = h * x


def simulate_signature():
    """The address of the tables, then what ``simulate_at`` lists."""
    whole, flat, table = types.int64[::1], types.float64[::1], types.float64[:, ::1]
    return types.int64(types.int64, whole, types.int64[:, ::1], whole, *([flat] * 6), *([table] * 5))


@kernel(simulate_signature, "simulate (loop over steps)", None)
def simulate_at(
    address, calls, plan, clock, ratios, lengths, limits, coupling, energies, state, torque, positions, velocities,
    room, samples,
):  # fmt: skip
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
        positions: Tableau of the method for increments: a row per stage, the last one for the step.
        velocities: The same for velocities.
        room: 5 + 3 (stages + 1) rows, as wide as q.
        samples: A row per sample.

    Reads: calls, clock, condition, coupling, energies, lengths, limits, plan, pose, positions, ratios, room, samples,
        state, torque, value, velocities.
    Writes: clock, room, value.
    """
    index, _, work, _ = tables(address)
    nq, nv, stages = room.shape[1], header(index).nv, positions.shape[0] - 1
    q, v = state[:nq], state[nq:]
    moved_q, spare, held, x, mapped = room[0], room[1], room[2], room[3][:nv], room[4][:nv]
    first = 5 + stages + 1
    k_rows, a_rows, v_rows = room[5:first], room[first : first + stages + 1], room[first + stages + 1 :]
    due = clock[DUE] != 0
    clock[SAMPLES], clock[STOPPED] = 0, 0
    for n in range(clock[STEP], clock[END]):
        h = lengths[0] if n < clock[STEPS] - 1 else lengths[1]
        tau = torque[min(n, torque.shape[0] - 1)]
        clock[STEP], clock[STOPPED] = n, 1
        for i in range(stages + 1):
            v_i, a_i, k_i = v_rows[i][:nv], a_rows[i][:nv], k_rows[i][:nv]
            weighted(h, velocities, a_rows, i, i, v_i)
            for j in range(nv):
                v_i[j] += v[j]
                k_i[j] = v_i[j]
            if i == 0:
                if accelerate(address, calls, plan, coupling, q, v, tau, mapped, a_i) != 0:
                    return 0
                if near_singular(index, work, limits):
                    clock[STOPPED] = 2
                    return 0
                if n % clock[RECORD] == 0 and due:
                    keep_sample(address, calls, plan, coupling, energies, n, q, v, a_i, samples[clock[SAMPLES]])
                    clock[SAMPLES] += 1
                due = True
                continue
            weighted(h, positions, k_rows, i, i + 1, x)
            if clock[CORRECTED] != 0 and i < stages:
                rates(plan, x, v_i, k_i)
            if moved(calls, plan, ratios, q, x, moved_q, spare, held) != 0:
                return 0
            if i < stages and accelerate(address, calls, plan, coupling, moved_q, v_i, tau, mapped, a_i) != 0:
                return 0
        v_new = v_rows[stages]
        if not sound(moved_q, v_new[:nv]):
            return 0
        for i in range(nq):
            q[i] = moved_q[i]
        for i in range(nv):
            v[i] = v_new[i]
        clock[STEP], clock[STOPPED] = n + 1, 0
    return 0


def move_signature():
    """The address of the tables for ``move``, then what ``moved_at`` lists."""
    whole, flat = types.int64[::1], types.float64[::1]
    return types.int64(types.int64, whole, types.int64[:, ::1], flat, flat, flat, flat, flat, flat)


@kernel(move_signature, "simulate (one increment)", None)
def moved_at(address, calls, plan, ratios, q, x, out, spare, held):
    """Write the configuration after the increment x to out; the address is not looked at.

    Reads: calls, held, out, plan, q, ratios, x.
    Writes: held, out.
    """
    return moved(calls, plan, ratios, q, x, out, spare, held)
