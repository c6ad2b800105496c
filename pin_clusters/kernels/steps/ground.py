"""Runs steps with point contacts until a friction solver is needed, a joint stop is near, or a shape nears the ground.

This module decides which points are active and when the caller must act; ``phases`` contains the arithmetic.
"""

from __future__ import annotations

import math

from ...compiler.numba_jit.jit import uncounted, uncounted_inline
from ..directions import Out
from ..tables import ground as at
from ..tables.addresses import call_at
from ..tables.plan import ABA_AT
from .passive import keep_loads
from .phases import (
    add_response,
    after,
    assemble,
    clear,
    clear_laws,
    correction,
    half_way,
    measure,
    normal,
    relaxation_of,
    right_side,
    rising,
    write_impulses,
    write_pushes,
)
from .stepping import accelerate, all_finite, keep_sample, moved, sound
from .sticking_impulses import hold


def ground_at(step):
    """Run steps up to step END, or until the caller must act; ``tables.ground`` defines the layout of the arrays."""
    clock, numbers = step.run.clock, step.run.numbers
    phase = clock[at.PHASE]
    clock[at.PHASE] = at.BEGIN
    while True:
        n = clock[at.STEP]
        h = numbers[at.LENGTH] if n < clock[at.STEPS] - 1 else numbers[at.LAST]
        if phase == at.SOLVED or phase == at.BEST:
            code = apply_answer(step, phase, h)
        elif n >= clock[at.END]:
            return at.DONE
        else:
            code = begin(step, phase, n, h)
        if code == at.DONE:
            if finish(step, n, h) != 0:
                return at.FAILED
            phase = at.BEGIN
        elif code == at.SINGULAR or code == at.FAILED or clock[at.STOPS] > 0:
            return code
        elif not can_hold(step.points, step.system, step.run, code, h):
            return code
        else:
            phase = at.SHIFTED if code == at.BELOW else at.BEST


@uncounted
def begin(step, phase, n, h):
    """Run a step until impulses are needed; return DONE if none are needed, else the code of the next action."""
    robot, state, points, system, stops = step.robot, step.state, step.points, step.system, step.stops
    clock, numbers, torque, active = step.run.clock, step.run.numbers, step.run.torque, system.chosen
    if move_to_middle(step, phase, h) != 0:
        return at.FAILED
    lowest, least = look_at_stops(clock, numbers, state.middle, stops), math.inf
    if robot.calls[at.WHERE] != 0:
        if ask_where(robot, state, points) != 0:
            return at.FAILED
        least = look(numbers, points.places, points.gaps)
        lowest = min(lowest, look_at_guards(clock, numbers, points.places, points.radii, len(points.gaps)))
    below = phase != at.GIVEN and clock[at.PUTS] < clock[at.MOST_PUTS] and min(lowest, least) < -numbers[at.SLOP]
    if below:
        clear(state.free)
    else:
        code = find_free_velocity(robot, state, torque[min(n, len(torque) - 1)], h)
        if code != at.DONE:
            return code
        clock[at.STOPS] += closing(stops, state.free, h)
    for i in range(len(active)):
        active[i] = 0
    clock[at.NEAR] = 0
    if least < numbers[at.REACH] or (clock[at.STOPS] > 0 and robot.calls[at.WHOLE] != 0):
        if ask_whole(robot, state, points) != 0:
            return at.FAILED
        least = choose(clock, numbers, system.near, active, points.velocities, points.gaps, h, numbers[at.SLACK])
    if below:
        return at.BELOW
    write(state.v_next, 0, state.free, len(state.free))
    clear(points.impulses)
    clear_laws(numbers)
    return at.TOUCHING if least < 0.0 or clock[at.STOPS] > 0 else at.DONE


@uncounted
def move_to_middle(step, phase, h):
    """Move to mid-step or, in phase SHIFTED, move penetrating points out of the ground; return 0 on success."""
    robot, state, points, system = step.robot, step.state, step.points, step.system
    x, v, clock, near = state.x, state.v, step.run.clock, system.near
    if phase == at.GIVEN:
        clock[at.PUTS] = 0
        return 0
    if phase == at.SHIFTED:
        clock[at.PUTS] += 1
        clear(x)
        write_pushes(step.run.numbers, near, clock[at.NEAR], h, system.answer, points.impulses)
        add_response(points.response, near, clock[at.NEAR], points.impulses, x)
        write(state.other, 0, state.middle, len(state.q))
    else:
        clock[at.PUTS] = 0
        for i in range(len(x)):
            x[i] = half_way(h, v[i])
        write(state.other, 0, state.q, len(state.q))
    return moved(robot.calls, robot.plan, robot.ratios, state.other, x, state.middle, state.spare, state.held)


@uncounted
def find_free_velocity(robot, state, tau, h):
    """Write the velocity, without contact impulses, at the end of the step; return DONE, or the code of a failure."""
    v, free, a = state.v, state.free, state.a
    write(free, 0, v, len(v))
    for k in range(2):
        if accelerate(
            robot.calls, robot.plan, robot.terms, robot.factors, robot.rows, robot.coupling, 0,
            state.middle, free, tau, state.mapped, a,
        ) != 0:  # fmt: skip
            return at.FAILED
        for i in range(len(v)):
            free[i] = after(0.5 * (k + 1) * h, v[i], a[i])
    for i in range(len(robot.limits)):
        if not robot.work[robot.conditions[i]] < robot.limits[i]:
            return at.SINGULAR
    return at.DONE if all_finite(free) else at.FAILED


@uncounted
def ask_where(robot, state, points):
    return call_at(
        robot.calls[at.WHERE],
        robot.calls[ABA_AT],
        (
            state.middle,
            state.still,
            points.where,
            points.where_numbers,
            points.where_panel,
            points.no_gram,
            points.no_response,
            points.places,
            points.no_velocities,
        ),
    )


@uncounted
def ask_whole(robot, state, points):
    """Write the points' positions, free velocities and response to forces, all in the middle of the step."""
    return call_at(
        robot.calls[at.WHOLE],
        robot.calls[ABA_AT],
        (
            state.middle,
            state.free,
            points.whole,
            points.whole_numbers,
            points.panel,
            points.gram,
            points.response,
            points.positions,
            points.velocities,
        ),
    )


@uncounted
def look(numbers, positions, gaps: Out):
    lowest = math.inf
    for i in range(len(gaps)):
        gaps[i] = normal(numbers, positions[i, 0], positions[i, 1], positions[i, 2]) - numbers[at.HEIGHT]
        lowest = min(gaps[i], lowest)
    return lowest


@uncounted
def look_at_guards(clock: Out, numbers, places, radii, first):
    """Count the shapes near the ground that Python must handle (two discs or a ball each); return the smallest gap."""
    lowest = math.inf
    for i in range(len(radii)):
        p = first + 2 * i
        x, y, z = places[p + 1, 0] - places[p, 0], places[p + 1, 1] - places[p, 1], places[p + 1, 2] - places[p, 2]
        up, length = normal(numbers, x, y, z), x * x + y * y + z * z
        low = normal(numbers, places[p, 0], places[p, 1], places[p, 2]) + min(up, 0.0) - numbers[at.HEIGHT]
        low -= radii[i] * (math.sqrt(max(0.0, 1.0 - up * up / length)) if length > 0.0 else 1.0)
        lowest = min(lowest, low)
        clock[at.STOPS] += low < numbers[at.REACH_OF_GUARDS]
    return lowest


@uncounted
def look_at_stops(clock: Out, numbers, q, stops):
    """Write distances to joint stops, count the stops that the caller must handle, and return the smallest distance."""
    lowest, m, stop_gaps = math.inf, 0, stops.stop_gaps
    for i in range(len(stop_gaps)):
        stop_gaps[i] = stops.table[i, 1] * q[stops.table[i, 0]] - stops.bounds[i]
        lowest = min(stop_gaps[i], lowest)
        m += stop_gaps[i] < (numbers[at.REACH_OF_STOPS] if stops.table[i, 2] < 0 else -numbers[at.SLOP])
    clock[at.STOPS] = m
    return lowest


@uncounted
def closing(stops, v, h):
    """Count the joint stops that are reached in this step; ignore joints without a constant ratio to one velocity."""
    m = 0
    for i in range(len(stops.stop_gaps)):
        k = stops.table[i, 2]
        m += k >= 0 and stops.stop_gaps[i] + h * stops.rates[i] * v[max(k, 0)] < 0.0
    return m


@uncounted
def choose(clock: Out, numbers, near: Out, chosen: Out, velocities, gaps, h, limit):
    """Activate each point near the ground whose u = opening speed + gap / h is below ``limit``; return the least u."""
    least, m = math.inf, clock[at.NEAR]
    for i in range(len(gaps)):
        if gaps[i] < numbers[at.REACH] and chosen[i] == 0:
            u = rising(numbers, velocities, i) + max(gaps[i], 0.0) / h
            least = min(least, u)
            if u < limit:
                near[m], chosen[i] = i, 1
                m += 1
    clock[at.NEAR] = m
    return least


@uncounted
def can_hold(points, system, run, code, h):
    """Write the equations for action ``code``; return whether ``hold`` solves them. It fails if a point slides."""
    numbers, near, m, A, g = run.numbers, system.near, run.clock[at.NEAR], system.A, system.g
    size = 1 if code == at.BELOW else 3
    if code != at.MISSED:
        assemble(numbers, points.gram, near, m, 3 - size, A)
    if code == at.TOUCHING:
        numbers[at.RELAXATION] = relaxation_of(m, A)
        right_side(numbers, near, m, h, points.velocities, points.gaps, points.last, g, system.guess)
    for i in range(m if code == at.BELOW else 0):
        # Gaps are converted to velocities, because the solver's tolerance applies to velocities.
        g[i], system.guess[i] = points.gaps[near[i]] / h, 0.0
    write(system.tried, 0, system.answer if code == at.MISSED else system.guess, size * m)
    solved = hold(
        m,
        size,
        numbers[at.FRICTION],
        numbers[at.MOST_MISSED],
        A,
        g,
        system.tried,
        system.found,
        system.B,
        system.change,
        system.stay,
    )
    if solved:
        write(system.answer, 0, system.tried, size * m)
    return solved


@uncounted
def apply_answer(step, phase, h):
    """Apply the impulses in ``system.answer``; return DONE, or the code of the next action."""
    state, points, system, near, gaps = step.state, step.points, step.system, step.system.near, step.points.gaps
    clock, numbers = step.run.clock, step.run.numbers
    m = clock[at.NEAR]
    write_impulses(numbers, near, m, system.answer, points.last, points.impulses)
    write(state.v_next, 0, state.free, len(state.free))
    add_response(points.response, near, m, points.impulses, state.v_next)
    write(points.ends, 0, points.velocities, len(points.ends))
    add_response(points.gram, near, m, points.impulses, points.ends)
    measure(numbers, near, m, h, points.velocities, gaps, points.last, system.A, system.g, system.answer)
    if phase == at.SOLVED and not numbers[at.DISTANCE] <= numbers[at.MOST_MISSED]:
        return at.MISSED
    choose(clock, numbers, near, system.chosen, points.ends, gaps, h, -numbers[at.LATE])
    clock[at.STOPS] = closing(step.stops, state.v_next, h)
    return at.TOUCHING if clock[at.STOPS] > 0 or clock[at.NEAR] > m else at.DONE


@uncounted
def finish(step, n, h):
    """Move to the end of the step and record it; return 0 if the new state is valid."""
    robot, state, delay = step.robot, step.state, step.run.numbers[at.DELAY]
    q_next, free, v, v_next, x, a = state.other, state.free, state.v, state.v_next, state.x, state.a
    for i in range(len(x)):
        x[i] = correction(h, delay, free[i], v_next[i])
    code = moved(robot.calls, robot.plan, robot.ratios, state.middle, x, q_next, state.spare, state.held)
    if code != 0 or not sound(q_next, v_next):
        return -1
    for i in range(len(v)):
        a[i] = (v_next[i] - v[i]) / h
    keep_loads(robot.terms, robot.factors, robot.rows, robot.coupling, a)
    keep_step(robot, state, step.points, step.run, n)
    write(state.q, 0, q_next, len(state.q))
    write(v, 0, v_next, len(v))
    step.run.clock[at.STEP] = n + 1
    return 0


@uncounted
def keep_step(robot, state, points, run, n):
    clock, samples = run.clock, run.samples
    w = clock[at.WIDTH]
    k = (n - clock[at.FIRST]) * (w + 7 * len(points.gaps) + 4)
    if n % clock[at.RECORD] == 0:
        tau = run.torque[min(n, len(run.torque) - 1)]
        keep_sample(
            robot.calls,
            robot.plan,
            robot.coupling,
            robot.energies,
            n,
            state.q,
            state.v,
            state.a,
            tau,
            samples[k : k + w],
        )
    k = write(samples, k + w, points.gaps, len(points.gaps))
    k = write(samples, k, points.impulses, len(points.impulses))
    for i in range(len(points.gaps)):
        k = write(samples, k, points.positions[i], 3)
    write(samples, k, run.numbers[at.CONE :], 4)


@uncounted_inline
def write(out: Out, k, x, n):
    """Write the first n numbers of x to out, starting at element k; return the next free index."""
    for i in range(n):
        out[k + i] = x[i]
    return k + n
