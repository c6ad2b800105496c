"""Torques of springs, dampers and friction along sums of coordinates within steps, and what gears lose.

The loss of a gear depends on its load, and so on the acceleration: it is guessed from the stages before, and corrected
by Newton's method, each gear by itself, until it is good enough; mostly it is at once.
"""

import math
from typing import Final

from ..compiling.jit import device, inline
from ..tables import passive as at
from ..tables.addresses import call_at

_MOST: Final = 100
_LEAST_SLOPE: Final = 0.1
_SHARP: Final = 20.0
"""Farther from zero the hyperbolic tangent is 1 to rounding."""


@inline
def turn(x):
    """The hyperbolic tangent to 1e-15 of itself, in a fifth of the time of the library's: exp(y) - 1, doubled."""
    if abs(x) >= _SHARP:
        return math.copysign(1.0, x)
    y = abs(x) * (-2.0 / 256.0)
    s = y * y
    m = y + s * (0.5 + y * (1.0 / 6.0)) + s * s * ((1.0 / 24.0 + y * (1.0 / 120.0)) + s * (1.0 / 720.0 + y / 5040.0))
    m += s * s * s * s * (1.0 / 40320.0 + y * (1.0 / 362880.0) + s * (1.0 / 3628800.0))
    for _ in range(8):
        m = m * (2.0 + m)
    return math.copysign(m / (2.0 + m), x)


@inline
def of_row(terms, numbers, field):
    """A number of all rows."""
    r = (numbers.shape[0] - terms.shape[0]) // at.OF_ROWS
    first = terms.shape[0] + field * r
    return numbers[first : first + r]


@inline
def add_terms(terms, numbers, first, last, x, out):
    """Add the terms of a list of what is given to what is of rows."""
    for t in range(first, last):
        out[terms[t, at.ROW]] += numbers[t] * x[terms[t, at.INDEX]]


@inline
def write_rates(terms, numbers, coupling, v, out):
    """Write the rates of all rows."""
    nv = v.shape[0]
    for e in range(out.shape[0]):
        out[e] = 0.0
    add_terms(terms, numbers, terms[1, at.TORQUES], terms[1, at.RATES], v, out)
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        for k in range(nv):
            out[terms[t, at.ROW]] += numbers[t] * coupling[terms[t, at.INDEX] * nv + k] * v[k]


@inline
def push(terms, numbers, coupling, forces, out):
    """Add the torques of forces along all rows."""
    nv = out.shape[0]
    for t in range(terms[1, at.TORQUES], terms[1, at.RATES]):
        out[terms[t, at.INDEX]] += numbers[t] * forces[terms[t, at.ROW]]
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        for k in range(nv):
            out[k] += numbers[t] * forces[terms[t, at.ROW]] * coupling[terms[t, at.INDEX] * nv + k]


@inline
def write_forces(terms, numbers, springs, q, rate, force, length):
    """Write the forces of all lines; ``length`` is room."""
    add_terms(terms, numbers, at.FIRST, terms[1, at.LENGTHS], q, length)
    for e in range(springs.shape[0]):
        w, speed, d = rate[e], abs(rate[e]), at.DAMPING
        y = length[e] - min(max(length[e], springs[e, at.LOW]), springs[e, at.HIGH])
        x = -y * (springs[e, 2] + y * (springs[e, 3] + y * springs[e, 4]))
        x -= w * (springs[e, d] + speed * (springs[e, d + 1] + speed * springs[e, d + 2]))
        if springs[e, at.FRICTION] != 0.0:
            x -= springs[e, at.FRICTION] * turn(w / springs[e, at.SPEED])
        force[e] = x


@inline
def loss_of(gears, g, load):
    """Loss of a gear under a load, and by how much its own one is then changed: a step of Newton's method."""
    w = gears[g, at.SPIN]
    c = gears[g, at.FORWARD] if load * w > 0.0 else gears[g, at.BACKWARD]
    own = gears[g, at.REACH] * c * abs(load)
    still, sign = max(gears[g, at.LEAST], own), math.copysign(1.0, w)
    slope = c * sign
    if abs(w) < _SHARP * still:
        sign = turn(w / still)
        slope = c * (sign - (w / still * (1.0 - sign * sign) if own == still else 0.0))
    loss = c * sign * abs(load)
    per_loss = 1.0 + gears[g, at.SHARE] * (slope if load > 0.0 else -slope)
    return loss, (loss - gears[g, at.LOSS]) / max(per_loss, _LEAST_SLOPE)


@inline
def write_loads(terms, numbers, gears, coupling, a, rate):
    """Write the loads of all gears at an acceleration, with the torques and losses that are kept of them."""
    write_rates(terms, numbers, coupling, a, rate)
    bias = coupling.shape[0] // (a.shape[0] + 1) * a.shape[0]
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        rate[terms[t, at.ROW]] += numbers[t] * coupling[bias + terms[t, at.INDEX]]
    for g in range(gears.shape[0]):
        alpha = rate[terms[0, at.LINES] + g]
        gears[g, at.LOAD] = gears[g, at.TORQUE] - gears[g, at.LOSS] - gears[g, at.INERTIA] * alpha


@device
def keep_loads(acting, coupling, a):
    """Remember the loads of a step with a mean acceleration, for the next one."""
    terms, numbers, _, gears = acting
    write_loads(terms, numbers, gears, coupling, a, of_row(terms, numbers, at.RATE))
    for g in range(gears.shape[0]):
        gears[g, at.REST] = gears[g, at.LOAD]


@inline
def expected(terms, gears, g, stage):
    """What of the load of a gear will not follow from its motor's torque: in a step it changes as in the last one."""
    now, begun, stages = gears[g, at.REST + stage], gears[g, at.BEGUN], terms[0, at.STAGES]
    change = now - begun if begun == begun else 0.0
    if stage > 0:
        return gears[g, at.REST] + change
    now = now + change if stages == 1 else gears[g, at.REST + stages - 1]
    return now if now == now else 0.0


@inline
def guess_losses(terms, gears, stage, rate, given, force):
    """Write torques of motors, less friction, and what their gears lose, as far as that can be told beforehand."""
    most = 0.0
    for g in range(gears.shape[0]):
        e = terms[0, at.LINES] + g
        w = gears[g, at.SPIN] = rate[e]
        rub = gears[g, at.VISCOUS] * w + gears[g, at.COULOMB] * turn(w / gears[g, at.STILL])
        p = gears[g, at.TORQUE] = given[e] - rub
        most = max(most, abs(p))
        if terms[0, at.LAGGED]:
            gears[g, at.LOSS], _ = loss_of(gears, g, gears[g, at.REST])
        else:
            guess = expected(terms, gears, g, stage) + gears[g, at.SHARE] * (p - gears[g, at.LOSS])
            for _ in range(2):  # twice where the load turns its sign
                _, change = loss_of(gears, g, guess)
                gears[g, at.LOSS] += change
                last, guess = guess, guess - gears[g, at.SHARE] * change
                if guess * last > 0.0:
                    break
        force[e] = -rub - gears[g, at.LOSS]
    return most


@inline
def accelerate_under(aba, address, acting, coupling, stage, q, v, tau, torque, out):
    """Add what acts by itself to torques, and write the acceleration; returns the code of aba, or -1: a gear locks."""
    terms, numbers, springs, gears = acting
    n, rate, force = terms[0, at.LINES], of_row(terms, numbers, at.RATE), of_row(terms, numbers, at.FORCE)
    given, most_torque, rtol = of_row(terms, numbers, at.SUM), 0.0, numbers[0]
    for e in range(given.shape[0]):
        given[e] = 0.0
    write_rates(terms, numbers, coupling, v, rate)
    if n > 0:
        write_forces(terms, numbers, springs, q, rate, force, given)
    if gears.shape[0] > 0:
        add_terms(terms, numbers, terms[1, at.LENGTHS], terms[1, at.TORQUES], tau, given)
        most_torque = guess_losses(terms, gears, stage, rate, given, force)
    for _ in range(_MOST):
        push(terms, numbers, coupling, force, torque)
        code = call_at(aba, address, (q, v, torque, out))
        if code != 0 or gears.shape[0] == 0 or terms[0, at.LAGGED]:
            return code
        write_loads(terms, numbers, gears, coupling, out, rate)
        worst, most = 0.0, 0.0
        for g in range(gears.shape[0]):
            loss, change = loss_of(gears, g, gears[g, at.LOAD])
            worst, most = max(worst, abs(loss - gears[g, at.LOSS])), max(most, abs(gears[g, at.LOAD]))
            force[n + g] = -change
        good = worst <= rtol * most + 1e-14 * most_torque
        for g in range(gears.shape[0]):
            if good:
                gears[g, at.BEGUN] = gears[g, at.REST] if stage == 0 else gears[g, at.BEGUN]
                rest = gears[g, at.LOAD] - gears[g, at.SHARE] * (gears[g, at.TORQUE] - gears[g, at.LOSS])
                gears[g, at.REST + stage] = rest
            else:
                gears[g, at.LOSS] -= force[n + g]
        if good:
            return 0
        for e in range(n):
            force[e] = 0.0
    return -1
