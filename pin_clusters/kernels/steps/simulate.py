"""Steps of a simulation without a ground."""

from ..directions import Out
from ..numbers.memory import borrowed
from ..tables.addresses import tables
from ..tables.plan import ANSWERS, ASK, CORRECTED, DUE, END, RECORD, SAMPLES, STEP, STEPS, STOPPED
from ..tables.views import header
from .stepping import accelerate, all_finite, ask, keep_sample, moved, near_singular, rates, sound, weighted


def simulate_at(
    address, calls, plan, terms, factors, rows: Out, clock: Out, ratios, lengths, limits, coupling, energies,
    asked: Out, state, torque, times, positions, velocities, scratch, samples,
):  # fmt: skip
    """Run all steps before step END, or until a step fails; a failed step leaves the state unchanged.

    Args:
        address: Address of the tables for aba.
        calls, clock: Function and table addresses (``calls``), and step counters (``clock``); see ``tables.plan``.
        plan, ratios: See ``tables.plan``; ``ratios`` contains the ratios of the plan's terms, then followers' offsets.
        terms, factors, rows: Data of the passive torques, see ``tables.passive``.
        lengths: Length of each step except the last, then length of the last step [s].
        limits: Limit of ``condition_of`` for each LOOP cluster.
        coupling: Output of the coupling function: G and its bias.
        energies: Kinetic energy, potential energy and loop residual, which compiled functions write to this array.
        asked: Inputs and outputs of the user's function, if there is one.
        state: q, then v.
        torque: Torques: one row, or one row per step. With a user's function, workspace with one row per stage.
        times: With a user's function, the time of each stage [s]; one row per step, starting at the clock's STEP.
        positions, velocities: Runge-Kutta weights for q and for v: one row per stage, then one row for the step.
        scratch: Workspace, 5 + 3 (stages + 1) rows of length nq.
        samples: Output, one row per sample.
    """
    calls, plan, terms, factors = borrowed(calls), borrowed(plan), borrowed(terms), borrowed(factors)
    rows, clock, ratios, coupling = borrowed(rows), borrowed(clock), borrowed(ratios), borrowed(coupling)
    state, torque, times, scratch = borrowed(state), borrowed(torque), borrowed(times), borrowed(scratch)
    positions, velocities, samples = borrowed(positions), borrowed(velocities), borrowed(samples)
    asked, energies, limits = borrowed(asked), borrowed(energies), borrowed(limits)
    index, _, work, _ = tables(address)
    nq, nv, stages = scratch.shape[1], header(index).nv, positions.shape[0] - 1
    q, v = state[:nq], state[nq:]
    moved_q, spare, held, x, mapped = scratch[0], scratch[1], scratch[2], scratch[3][:nv], scratch[4][:nv]
    first = 5 + stages + 1
    k_rows, a_rows, v_rows = scratch[5:first], scratch[first : first + stages + 1], scratch[first + stages + 1 :]
    due, begin = clock[DUE] != 0, clock[STEP]
    clock[SAMPLES], clock[STOPPED] = 0, 0
    for n in range(clock[STEP], clock[END]):
        h = lengths[0] if n < clock[STEPS] - 1 else lengths[1]
        tau = torque[min(n, torque.shape[0] - 1)]
        clock[STEP], clock[STOPPED], clock[ANSWERS] = n, 1, 0
        for i in range(stages + 1):
            v_i, a_i, k_i = v_rows[i][:nv], a_rows[i][:nv], k_rows[i][:nv]
            weighted(h, velocities, a_rows, i, i, v_i)
            for j in range(nv):
                v_i[j] += v[j]
                k_i[j] = v_i[j]
            if i == 0:
                if calls[ASK] != 0:
                    tau = torque[0]
                    if ask(calls, plan, coupling, asked, times[n - begin, 0], q, v, tau) != 0:
                        return 0
                    clock[ANSWERS] = 1
                    if not all_finite(tau):
                        return 0
                if accelerate(calls, plan, terms, factors, rows, coupling, i, q, v, tau, mapped, a_i) != 0:
                    return 0
                if near_singular(index, work, limits):
                    clock[STOPPED] = 2
                    return 0
                if n % clock[RECORD] == 0 and due:
                    row = samples[clock[SAMPLES]]
                    keep_sample(calls, plan, coupling, energies, n, q, v, a_i, tau, row)
                    clock[SAMPLES] += 1
                due = True
                continue
            weighted(h, positions, k_rows, i, i + 1, x)
            if clock[CORRECTED] != 0 and i < stages:
                rates(plan, x, v_i, k_i)
            if moved(calls, plan, ratios, q, x, moved_q, spare, held) != 0:
                return 0
            if i < stages and calls[ASK] != 0:
                tau = torque[i]
                if ask(calls, plan, coupling, asked, times[n - begin, i], moved_q, v_i, tau) != 0:
                    return 0
                clock[ANSWERS] = i + 1
                if not all_finite(tau):
                    return 0
            if i == stages:
                break
            if accelerate(calls, plan, terms, factors, rows, coupling, i, moved_q, v_i, tau, mapped, a_i) != 0:
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


def moved_at(address, calls, plan, ratios, q, x, out: Out, spare, held: Out):
    """Write to ``out`` the configuration q after the increment x; ``address`` is not used."""
    return moved(calls, plan, ratios, q, x, out, spare, held)
