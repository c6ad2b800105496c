"""Steps of a robot on a ground by Moreau's midpoint rule, until something is near: its impulses are found elsewhere.

Numbers of equations are those of ``simulation/ground/stepping.py``.
"""

from __future__ import annotations

import math

from ...compiler.numba_jit.jit import device
from ..tables import ground as at
from ..tables.addresses import call_at
from .holding import hold
from .passive import keep_loads
from .stepping import accelerate, all_finite, keep_sample, moved, sound


@device
def look(numbers, positions, gaps):
    """Write the gaps of points; return the lowest one."""
    lowest = math.inf
    for i in range(len(gaps)):
        gaps[i] = normal(numbers, positions[i, 0], positions[i, 1], positions[i, 2]) - numbers[at.HEIGHT]
        lowest = min(gaps[i], lowest)
    return lowest


@device
def look_at_guards(clock, numbers, places, radii, first):
    """Count guarded shapes that are near: discs around two centres, or a ball if they are one; return the lowest."""
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


@device
def normal(numbers, x, y, z):
    """Part of a vector along the normal."""
    return numbers[at.AXES + 6] * x + numbers[at.AXES + 7] * y + numbers[at.AXES + 8] * z


@device
def look_at_stops(clock, numbers, q, stops, bounds, rooms):
    """Write the room to stops, and how many are too deep, or near and no single velocity's; return the least one."""
    lowest, m = math.inf, 0
    for i in range(len(rooms)):
        rooms[i] = stops[i, 1] * q[stops[i, 0]] - bounds[i]
        lowest = min(rooms[i], lowest)
        m += rooms[i] < (numbers[at.REACH_OF_STOPS] if stops[i, 2] < 0 else -numbers[at.SLOP])
    clock[at.STOPS] = m
    return lowest


@device
def closing(stops, rates, rooms, v, h):
    """How many stops are reached in a step by the one velocity that moves them."""
    m = 0
    for i in range(len(rooms)):
        m += stops[i, 2] >= 0 and rooms[i] + h * rates[i] * v[max(stops[i, 2], 0)] < 0.0
    return m


@device
def choose(clock, numbers, velocities, gaps, h, near, chosen, limit):
    """Take points that open by less than a limit into the system; return the least opening of those that were not."""
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


@device
def along(numbers, a, gram, i, j, k):
    """Column k of a block of J M^-1 J', along an axis of the ground."""
    E = at.AXES + 3 * a
    return numbers[E] * gram[i, j + k] + numbers[E + 1] * gram[i + 1, j + k] + numbers[E + 2] * gram[i + 2, j + k]


@device
def assemble(numbers, gram, near, m, first, A):
    """Write the system of chosen points, in axes of the ground from the first one on; its diagonal has the mean 1."""
    size, trace = 3 - first, 0.0
    w = size * m
    for i in range(m):
        for j in range(i, m):
            for a in range(size):
                p, r = 3 * near[i], 3 * near[j]
                x = along(numbers, first + a, gram, p, r, 0)
                y = along(numbers, first + a, gram, p, r, 1)
                z = along(numbers, first + a, gram, p, r, 2)
                for b in range(size):
                    E = at.AXES + 3 * (first + b)
                    found = x * numbers[E] + y * numbers[E + 1] + z * numbers[E + 2]
                    A[(size * i + a) * w + size * j + b] = found
                    A[(size * j + b) * w + size * i + a] = found
        for a in range(size):
            trace += A[(size * i + a) * (w + 1)]
    scale = w / trace if trace > 0.0 else 1.0
    numbers[at.SCALE] = scale
    for i in range(w * w):
        A[i] *= scale
    least = 1.0
    for i in range(m if first == 0 else 0):
        x, y, z = A[3 * i * (w + 1)], A[(3 * i + 1) * (w + 1)], A[3 * i * (w + 1) + 1]
        most = 0.5 * (x + y) + math.hypot(0.5 * (x - y), z)
        least = min(least, min(x, y) / most if most > 0.0 else 1.0)
    numbers[at.RELAXATION] = least


@device
def rising(numbers, velocities, p):
    """Compute the velocity of a point along the normal [m/s]."""
    return normal(numbers, velocities[3 * p], velocities[3 * p + 1], velocities[3 * p + 2])


@device
def strikes(u, gap, h):
    """Whether the free velocity u of a point along the normal closes its gap suddenly in this step (3)."""
    return u + max(gap, 0.0) / h < -at.SUDDEN * h


@device
def room_of(u, gap, h):
    """Compute how fast a point of free velocity u may sink (3): not at all if it strikes [m/s]."""
    return 0.0 if strikes(u, gap, h) else max(gap, 0.0) / h


@device
def right_side(numbers, velocities, gaps, last, near, m, h, g, guess):
    """Write velocities in axes of the ground, with the room of points; the last impulses are the guess."""
    for i in range(m):
        p = near[i]
        for a in range(3):
            E = at.AXES + 3 * a
            x = room_of(rising(numbers, velocities, p), gaps[p], h) if a == 2 else 0.0
            for k in range(3):
                x += numbers[E + k] * velocities[3 * p + k]
            g[3 * i + a], guess[3 * i + a] = x, last[3 * p + a] / numbers[at.SCALE]


@device
def push(numbers, response, p, a, x, v):
    """Add what an impulse on a point along an axis of the ground does to velocities."""
    E = at.AXES + 3 * a
    for k in range(len(v)):
        row = 3 * p
        v[k] += x * (
            response[k, row] * numbers[E]
            + response[k, row + 1] * numbers[E + 1]
            + response[k, row + 2] * numbers[E + 2]
        )


@device
def rest(numbers, impulses):
    """No impulses, and nothing is missed."""
    for i in range(len(impulses)):
        impulses[i] = 0.0
    for i in range(4):
        numbers[at.CONE + i] = 0.0


@device
def strike(numbers, gram, response, velocities, gaps, near, m, h, A, g, answer, last, impulses, ends, v):
    """Apply the impulses of an answer to velocities, of points too, and write how well the laws hold.

    Returns how long after the middle of the step they act (5) [s].
    """
    w, scale, mu, far = 3 * m, numbers[at.SCALE], numbers[at.FRICTION], 0.0
    gap, power = 0.0, 0.0
    rest(numbers, impulses)
    rest(numbers, last)
    for i in range(m):
        p, end = near[i], (0.0, 0.0, 0.0)
        fall = rising(numbers, velocities, p)
        room = room_of(fall, gaps[p], h)
        for a in range(3):
            u, l = g[3 * i + a], scale * answer[3 * i + a]
            for j in range(w):
                u += A[(3 * i + a) * w + j] * answer[j]
            numbers[at.WORK] += l * (0.5 * (g[3 * i + a] + u) - (room if a == 2 else 0.0))
            end = (end[1], end[2], u)
            last[3 * p + a] = l
            for k in range(3):
                impulses[3 * p + k] += l * numbers[at.AXES + 3 * a + k]
            push(numbers, response, p, a, l, v)
            push(numbers, gram, p, a, l, ends)
        x, y, z = last[3 * p], last[3 * p + 1], last[3 * p + 2]
        rise = end[2] + mu * math.hypot(end[0], end[1])
        if strikes(fall, gaps[p], h):
            gap, power = gap + max(z, 0.0) * max(gaps[p], 0.0), power - max(z, 0.0) * fall
        numbers[at.CONE] = max(numbers[at.CONE], math.hypot(x, y) - mu * z)
        numbers[at.DUAL] = max(numbers[at.DUAL], -end[2])
        numbers[at.PRODUCT] = max(numbers[at.PRODUCT], abs(x * end[0] + y * end[1] + z * rise))
        far = max(far, distance(mu, x / scale, y / scale, z / scale, end[0], end[1], rise))
    numbers[at.DISTANCE] = far
    return gap / power if power > 0.0 else 0.0


@device
def distance(mu, x, y, z, a, b, c):
    """Largest difference between an impulse over the scale and the point of its cone next to that less a velocity."""
    a, b, c = x - a, y - b, z - c
    side = math.hypot(a, b)
    if side > mu * c:
        up = max(0.0, (c + mu * side) / (1.0 + mu * mu))
        turn = mu * up / max(side, 1e-300)
        a, b, c = turn * a, turn * b, up
    return max(abs(x - a), abs(y - b), abs(z - c))


@device
def kept(samples, k, x):
    """Write numbers from number k on; return where the next ones stand."""
    for i in range(len(x)):
        samples[k + i] = x[i]
    return k + len(x)


def ground_at(
    address, work, calls, plan, terms, factors, rows, clock, ratios, conditions, limits, coupling, energies,
    numbers, torque, samples, q, v, middle, free, v_next, other, spare, held, x, a, mapped, still, where,
    where_numbers, places, radii, whole, whole_numbers, panel, no_gram, no_response, no_velocities, gram, response,
    positions, velocities, ends, gaps, last, impulses, near, chosen, stay, A, B, g, guess, answer, tried, found,
    change, stops, bounds, rates, rooms,
):  # fmt: skip
    """Run steps until the clock's END, or until something is near or deeper than it may be; see ``tables.ground``.

    Args:
        address: Tables for aba; their work.
        calls: Addresses of functions and of their tables.
        plan: What moves how; terms, factors, rows, ratios: see ``simulate_at``.
        clock: Numbers of steps, and what to begin with.
        conditions: Where in work the squared bounds of the condition of each cluster with loops are; their limits.
        coupling: Where the coupling function leaves G and its bias.
        energies: Where the energy function leaves both energies, then the openness function by how much loops are open.
        numbers: Of ``tables.ground``.
        torque: One row, or one per step.
        samples: Of each step gaps, impulses, positions, laws; before them, of those to be recorded, a sample of its
            start, with the mean acceleration.
        q: At the start of the step, with v; the configuration in its middle, the velocity at its end without impulses
            (free) and with them (v_next).
        other: Room of the size of q, with spare and held; x, a, mapped of the size of v; still, zeros.
        where: What is asked of points for their positions alone, and of two centres of each guarded shape behind them;
            its numbers, results, and the shapes' radii.
        whole: The same for all of it: then ``gram`` is J M^-1 J', ``response`` M^-1 J', ``velocities`` J free;
            ``ends`` is J v_next.
        gaps: Of the points.
        last: Their impulses in axes of the ground, of the last step; ``impulses``: of this one, in the world.
        near: Which points are in the system; ``chosen``, whether each is; ``A``, ``g``, ``guess``: the system;
            ``answer``: its solution.
        stay: Room of the size of near; B, of that of A; tried, found, change, of that of g.
        stops: Rows of index in q, side, and the velocity that moves it; room to a stop is side q - bound, it changes by
            rate times velocity.
    """
    phase, nv, delay = clock[at.PHASE], len(v), 0.0
    clock[at.PHASE] = at.BEGIN
    while True:
        n = clock[at.STEP]
        h, tau = numbers[at.LENGTH] if n < clock[at.STEPS] - 1 else numbers[at.LAST], torque[min(n, len(torque) - 1)]
        least, asked = math.inf, at.DONE
        if phase != at.SOLVED and phase != at.BEST:  # the step begins
            if n >= clock[at.END]:
                return at.DONE
            if phase == at.BEGIN or phase == at.SHIFTED:
                for i in range(nv):
                    x[i] = 0.5 * h * v[i] if phase == at.BEGIN else 0.0
                kept(other, 0, q if phase == at.BEGIN else middle)
                clock[at.PUTS] = clock[at.PUTS] + 1 if phase == at.SHIFTED else 0
                for i in range(clock[at.NEAR] if phase == at.SHIFTED else 0):
                    push(numbers, response, near[i], 2, h * numbers[at.SCALE] * answer[i], x)
                if moved(calls, plan, ratios, other, x, middle, spare, held) != 0:
                    return at.FAILED
            lowest = look_at_stops(clock, numbers, middle, stops, bounds, rooms)
            if calls[at.WHERE] != 0:
                if call_at(
                    calls[at.WHERE], address,
                    (middle, still, where, where_numbers, panel, no_gram, no_response, places, no_velocities),
                ) != 0:  # fmt: skip
                    return at.FAILED
                least = look(numbers, places, gaps)
                lowest = min(lowest, look_at_guards(clock, numbers, places, radii, len(gaps)))
            below = (
                phase != at.GIVEN and clock[at.PUTS] < clock[at.MOST_PUTS] and min(lowest, least) < -numbers[at.SLOP]
            )
            kept(free, 0, still if below else v)
            for k in range(0 if below else 2):
                code = accelerate(address, calls, plan, terms, factors, rows, coupling, 0, middle, free, tau, mapped, a)
                if code != 0:
                    return at.FAILED
                for i in range(nv):
                    free[i] = v[i] + 0.5 * (k + 1) * h * a[i]
            for i in range(0 if below else len(limits)):
                if not work[conditions[i]] < limits[i]:
                    return at.SINGULAR
            if not all_finite(free):
                return at.FAILED
            clock[at.STOPS] += 0 if below else closing(stops, rates, rooms, free, h)
            for i in range(len(chosen)):
                chosen[i] = 0
            clock[at.NEAR] = 0
            if least < numbers[at.REACH] or (clock[at.STOPS] > 0 and calls[at.WHOLE] != 0):
                if call_at(
                    calls[at.WHOLE], address,
                    (middle, free, whole, whole_numbers, panel, gram, response, positions, velocities),
                ) != 0:  # fmt: skip
                    return at.FAILED
                least = choose(clock, numbers, velocities, gaps, h, near, chosen, numbers[at.SLACK])
            if below:
                m = clock[at.NEAR]
                assemble(numbers, gram, near, m, 2, A)
                for i in range(m):
                    g[i], guess[i] = gaps[near[i]] / h, 0.0  # as velocities, over which the solver's tolerance is
                asked = at.BELOW
        again = False
        if asked == at.BELOW:
            pass
        elif phase == at.SOLVED or phase == at.BEST:
            m = clock[at.NEAR]
            kept(v_next, 0, free)
            kept(ends, 0, velocities)
            delay = strike(
                numbers, gram, response, velocities, gaps, near, m, h, A, g, answer, last, impulses, ends, v_next
            )
            if phase == at.SOLVED and not numbers[at.DISTANCE] <= numbers[at.MOST_MISSED]:
                asked = at.MISSED
            else:
                choose(clock, numbers, ends, gaps, h, near, chosen, -numbers[at.LATE])
                again = clock[at.NEAR] > m
                clock[at.STOPS] = closing(stops, rates, rooms, v_next, h)
                if clock[at.STOPS] > 0:
                    return at.TOUCHING
        else:
            kept(v_next, 0, free)
            rest(numbers, impulses)
            delay = 0.0
            again = least < 0.0 or clock[at.STOPS] > 0
        if again:
            assemble(numbers, gram, near, clock[at.NEAR], 0, A)
            right_side(numbers, velocities, gaps, last, near, clock[at.NEAR], h, g, guess)
            asked = at.TOUCHING
        if asked != at.DONE:
            m, size = clock[at.NEAR], 1 if asked == at.BELOW else 3
            for i in range(size * m):
                tried[i] = answer[i] if asked == at.MISSED else guess[i]
            mu, most = numbers[at.FRICTION], numbers[at.MOST_MISSED]
            if clock[at.STOPS] > 0 or not hold(m, size, mu, most, A, g, tried, found, B, change, stay):
                return asked
            kept(answer, 0, tried)
            phase = at.SHIFTED if asked == at.BELOW else at.BEST
            continue
        for i in range(nv):
            x[i] = 0.5 * h * v_next[i] - delay * (v_next[i] - free[i])
        if moved(calls, plan, ratios, middle, x, other, spare, held) != 0 or not sound(other, v_next):
            return at.FAILED
        for i in range(nv):
            a[i] = (v_next[i] - v[i]) / h
        keep_loads(terms, factors, rows, coupling, a)
        w = clock[at.WIDTH]
        k = (n - clock[at.FIRST]) * (w + 7 * len(gaps) + 4)
        if n % clock[at.RECORD] == 0:
            keep_sample(calls, plan, coupling, energies, n, q, v, a, tau, samples[k : k + w])
        k = kept(samples, kept(samples, k + w, gaps), impulses)
        for i in range(len(gaps)):
            k = kept(samples, k, positions[i])
        for i in range(4):
            samples[k + i] = numbers[at.CONE + i]
        kept(q, 0, other)
        kept(v, 0, v_next)
        clock[at.STEP], phase = n + 1, at.BEGIN
