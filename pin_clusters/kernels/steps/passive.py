"""Computes gear losses, and torques of springs, dampers and friction that act along sums of coordinates.

The loss of a gear depends on its load, and therefore on the acceleration. The load is extrapolated from earlier stages
of the integration method. If necessary, Newton's method corrects the loss of each gear until it is accurate enough.
"""

from typing import Final

from ...compiler.numba_jit.jit import uncounted, uncounted_inline
from ..directions import Out
from ..numbers.angles import sincos
from ..numbers.choices import if_less
from ..tables import passive as at
from ..tables.addresses import call_at
from .phases import size_of

_MOST: Final = 100
_LEAST_SLOPE: Final = 0.1
_SHARP: Final = 20.0
"""For larger arguments, the hyperbolic tangent is 1 up to rounding errors."""


@uncounted_inline
def turn(x):
    """Return tanh(x) to 1e-15, without branches; a series and eight doublings of the exponent yield exp(-2 |x|) - 1."""
    y = if_less(size_of(x), _SHARP, size_of(x), _SHARP) * (-2.0 / 256.0)
    s = y * y
    m = y + s * (0.5 + y * (1.0 / 6.0))
    m += s * s * ((1.0 / 24.0 + y * (1.0 / 120.0)) + s * (1.0 / 720.0 + y * (1.0 / 5040.0)))
    m += s * s * s * s * (1.0 / 40320.0 + y * (1.0 / 362880.0) + s * (1.0 / 3628800.0))
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    m *= 2.0 + m
    return if_less(x, 0.0, m / (2.0 + m), -m / (2.0 + m))


@uncounted
def turn_all(rows: Out, first, width):
    for b in range(first, rows.shape[0]):
        for k in range(width):
            rows[b, k + at.TURN] = turn(rows[b, k + at.TURN])


@uncounted_inline
def add_terms(terms, factors, first, last, x, rows: Out, field):
    """Add the terms ``first`` to ``last`` - 1 to a field of ``rows``; a term is a factor times an entry of x."""
    for t in range(first, last):
        rows[terms[t, at.ROW], terms[t, at.LANE] + field] += factors[t] * x[terms[t, at.INDEX]]


@uncounted
def add_rates(terms, factors, rows: Out, coupling, v):
    nv = v.shape[0]
    add_terms(terms, factors, terms[1, at.TORQUES], terms[1, at.RATES], v, rows, at.RATE)
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        for k in range(nv):
            x = factors[t] * coupling[terms[t, at.INDEX] * nv + k] * v[k]
            rows[terms[t, at.ROW], terms[t, at.LANE] + at.RATE] += x


@uncounted_inline
def push(terms, factors, rows, coupling, out: Out):
    nv = out.shape[0]
    for t in range(terms[1, at.TORQUES], terms[1, at.RATES]):
        out[terms[t, at.INDEX]] += factors[t] * rows[terms[t, at.ROW], terms[t, at.LANE] + at.FORCE]
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        force = factors[t] * rows[terms[t, at.ROW], terms[t, at.LANE] + at.FORCE]
        for k in range(nv):
            out[k] += force * coupling[terms[t, at.INDEX] * nv + k]


@uncounted_inline
def sign_of(x):
    """Return tanh(y); x is tanh(y) or, if y is 0 or |y| is at least ``_SHARP``, y itself."""
    return min(max(x, -1.0), 1.0)


@uncounted_inline
def write_forces(rows: Out, width):
    """Write the passive force of each line, and the motor friction and the remaining motor torque of each gear."""
    smooth = 0
    for b in range(rows.shape[0]):
        for k in range(width):
            x = rows[b, k + at.RATE] * rows[b, k + at.SHARP]
            smooth += 1 if (abs(x) < _SHARP) & (x != 0.0) else 0
            rows[b, k + at.SPIN], rows[b, k + at.TURN] = rows[b, k + at.RATE], x
            rows[b, k + at.RATE] = 0.0
    if smooth > 0:
        turn_all(rows, 0, width)
    for b in range(rows.shape[0]):
        for k in range(width):
            w, speed, x = rows[b, k + at.SPIN], abs(rows[b, k + at.SPIN]), rows[b, k + at.SUM]
            y = x - min(max(x, rows[b, k + at.LOW]), rows[b, k + at.HIGH])
            force = y * (rows[b, k + at.K1] + y * (rows[b, k + at.K2] + y * rows[b, k + at.K3]))
            force += w * (rows[b, k + at.D1] + speed * (rows[b, k + at.D2] + speed * rows[b, k + at.D3]))
            force = -force - rows[b, k + at.FRICTION] * sign_of(rows[b, k + at.TURN])
            rows[b, k + at.FORCE], rows[b, k + at.TORQUE], rows[b, k + at.SUM] = force, x + force, 0.0


@uncounted_inline
def factor_of(load, w, forward, backward):
    """Return a gear's loss per load: ``forward`` if the motor drives, else ``backward``."""
    return forward if load * w > 0.0 else backward


@uncounted
def lose(rows: Out, first, width, straight):
    """Correct the losses, and the loads unless ``straight``, by a Newton step; return how many loads change sign."""
    smooth, turned = 0, 0
    for b in range(first, rows.shape[0]):
        for k in range(width):
            load, w, least = rows[b, k + at.LOAD], rows[b, k + at.SPIN], rows[b, k + at.LEAST]
            c = factor_of(load, w, rows[b, k + at.FORWARD], rows[b, k + at.BACKWARD])
            x = w / max(least, rows[b, k + at.REACH] * c * abs(load))
            smooth += 1 if (abs(x) < _SHARP) & (x != 0.0) else 0
            rows[b, k + at.TURN] = x
    if smooth > 0:
        turn_all(rows, first, width)
    for b in range(first, rows.shape[0]):
        for k in range(width):
            load, w, least = rows[b, k + at.LOAD], rows[b, k + at.SPIN], rows[b, k + at.LEAST]
            forward, backward, sign = rows[b, k + at.FORWARD], rows[b, k + at.BACKWARD], sign_of(rows[b, k + at.TURN])
            c = factor_of(load, w, forward, backward)
            smoothing, share = rows[b, k + at.REACH] * c * abs(load), 0.0 if straight else rows[b, k + at.SHARE]
            miss = c * sign * abs(load) - rows[b, k + at.LOSS]
            slope = c * (sign - (w / max(least, smoothing) * (1.0 - sign * sign) if smoothing > least else 0.0))
            per_loss = 1.0 + share * (slope if load > 0.0 else -slope)
            change = miss / max(per_loss, _LEAST_SLOPE)
            then = load - share * change
            turned += 1 if load * then < 0.0 else 0
            # If tanh is saturated and the load does not change sign, Newton's method is exact.
            far = (abs(sign) >= 1.0) & (abs(w) >= _SHARP * max(least, rows[b, k + at.REACH] * c * abs(then)))
            exact = far & (load * then >= 0.0) & (per_loss >= _LEAST_SLOPE)
            doubt = 0.0 if exact else abs(change) + 2.0 * max(forward, backward) * abs(then - load)
            rows[b, k + at.MISS], rows[b, k + at.DOUBT], rows[b, k + at.LOAD] = miss, doubt, then
            rows[b, k + at.LOSS] += change
            rows[b, k + at.FORCE] -= change
    return turned


@uncounted_inline
def turned(terms, factors, rows, i, field):
    """Transform a vector from the frame of the link that carries link i to the frame of link i."""
    t, m = terms[1, at.TREE] + 2 * i, terms[2, at.TURNS] + 9 * i
    b, k = terms[t + 1, at.ROW], terms[t + 1, at.LANE] + field
    x, y, z = rows[b, k], rows[b, k + at.LANES], rows[b, k + 2 * at.LANES]
    b, k = terms[t, at.ROW], terms[t, at.LANE]
    c, s = rows[b, k + at.COSINE], rows[b, k + at.SINE]
    u = factors[m] * x + factors[m + 1] * y + factors[m + 2] * z
    v = factors[m + 3] * x + factors[m + 4] * y + factors[m + 5] * z
    w = factors[m + 6] * x + factors[m + 7] * y + factors[m + 8] * z
    return c * u + s * v, c * v - s * u, w


@uncounted
def turn_links(terms, factors, rows: Out, q):
    """Compute, from the joint velocities, the angular velocities of the links that carry gears."""
    for i in range((terms[2, at.LINKS] - terms[1, at.TREE]) // 2):
        t = terms[1, at.TREE] + 2 * i
        b, k, kind, v = terms[t, at.ROW], terms[t, at.LANE], terms[t, at.KIND], 0.0
        c, s, x, y, z = 1.0, 0.0, 0.0, 0.0, 0.0
        if kind == at.ANGLE:
            s, c = sincos(q[terms[t, at.INDEX]])
        elif kind == at.CIRCLE:
            c, s = q[terms[t, at.INDEX]], q[terms[t, at.INDEX] + 1]
        rows[b, k + at.COSINE], rows[b, k + at.SINE], v = c, s, rows[b, k + at.SPIN]
        if kind != at.FIXED:
            x, y, z = turned(terms, factors, rows, i, at.OMEGA)
        turns = kind >= at.ANGLE
        rows[b, k + at.TWIST], rows[b, k + at.TWIST + at.LANES] = y * v if turns else 0.0, -x * v if turns else 0.0
        rows[b, k + at.OMEGA], rows[b, k + at.OMEGA + at.LANES], rows[b, k + at.OMEGA + 2 * at.LANES] = x, y, z
        rows[b, k + at.OMEGA + terms[t + 1, at.INDEX] * at.LANES] += v


@uncounted
def add_spins(terms, factors, rows: Out):
    """Add the carrier's angular acceleration about the rotor axis to the acceleration in each gear's RATE field."""
    for i in range((terms[2, at.LINKS] - terms[1, at.TREE]) // 2):
        t, x, y, z = terms[1, at.TREE] + 2 * i, 0.0, 0.0, 0.0
        b, k = terms[t, at.ROW], terms[t, at.LANE]
        if terms[t, at.KIND] != at.FIXED:
            x, y, z = turned(terms, factors, rows, i, at.ALPHA)
        rows[b, k + at.ALPHA] = x + rows[b, k + at.TWIST]
        rows[b, k + at.ALPHA + at.LANES] = y + rows[b, k + at.TWIST + at.LANES]
        rows[b, k + at.ALPHA + 2 * at.LANES] = z
        rows[b, k + at.ALPHA + terms[t + 1, at.INDEX] * at.LANES] += rows[b, k + at.RATE]
    count = (terms[2, at.LINKS] - terms[1, at.TREE]) // 2
    for i in range(terms[2, at.CARRIED] - terms[2, at.LINKS]):
        t, m = terms[2, at.LINKS] + i, terms[2, at.TURNS] + 9 * count + 3 * i
        b, k = terms[t, at.LINK_ROW], terms[t, at.LINK_LANE] + at.ALPHA
        x = (
            factors[m] * rows[b, k]
            + factors[m + 1] * rows[b, k + at.LANES]
            + factors[m + 2] * rows[b, k + 2 * at.LANES]
        )
        rows[terms[t, at.ROW], terms[t, at.LANE] + at.RATE] += x


@uncounted_inline
def write_loads(terms, factors, rows: Out, coupling, a):
    add_rates(terms, factors, rows, coupling, a)
    for t in range(terms[1, at.RATES], terms[1, at.TREE]):
        bias = coupling.shape[0] // (a.shape[0] + 1) * a.shape[0]
        rows[terms[t, at.ROW], terms[t, at.LANE] + at.RATE] += factors[t] * coupling[bias + terms[t, at.INDEX]]
    if terms[1, at.TREE] < terms[2, at.CARRIED]:
        add_spins(terms, factors, rows)
    for b in range(rows.shape[0]):
        for k in range(terms[0, at.WIDTH]):
            inertial = rows[b, k + at.INERTIA] * rows[b, k + at.RATE]
            load = rows[b, k + at.TORQUE] - rows[b, k + at.LOSS] - inertial
            steep = max(rows[b, k + at.FORWARD], rows[b, k + at.BACKWARD])
            rows[b, k + at.DOUBT] += steep * abs(load - rows[b, k + at.LOAD])
            rows[b, k + at.LOAD], rows[b, k + at.RATE], rows[b, k + at.FORCE] = load, 0.0, 0.0


@uncounted
def keep_loads(terms, factors, rows: Out, coupling, a):
    """Store the gear loads at the mean acceleration of a step, for the next step."""
    write_loads(terms, factors, rows, coupling, a)
    for b in range(terms[0, at.LINES], rows.shape[0]):
        for k in range(terms[0, at.WIDTH]):
            rows[b, k + at.REST] = rows[b, k + at.LOAD]


@uncounted_inline
def of_stage(stage, a, b, c, d):
    """Return a, b, c or d for stage 0, 1, 2 or 3, without indexing, so that the compiler can vectorize over lanes."""
    return a if stage == 0 else (b if stage == 1 else (c if stage == 2 else d))


@uncounted_inline
def expect(terms, rows: Out, stage):
    """Extrapolate the gear loads; the part that motor torques do not cause is assumed to change as in the last step."""
    stages, lagged = terms[0, at.STAGES], terms[0, at.LAGGED]
    last, before = (stages - 1, 0.0) if stage == 0 and stages > 1 else (0, 1.0)
    for b in range(terms[0, at.LINES], rows.shape[0]):
        for k in range(terms[0, at.WIDTH]):
            p, q = rows[b, k + at.REST], rows[b, k + at.REST + at.LANES]
            r, s = rows[b, k + at.REST + 2 * at.LANES], rows[b, k + at.REST + 3 * at.LANES]
            begun, loss = rows[b, k + at.BEGUN], rows[b, k + at.LOSS]
            loss = loss if loss == loss else 0.0
            change = of_stage(stage, p, q, r, s) - begun if begun == begun else 0.0
            x = of_stage(last, p, q, r, s) + before * change
            x = x if x == x else 0.0
            from_motor = rows[b, k + at.SHARE] * (rows[b, k + at.TORQUE] - loss)
            rows[b, k + at.LOAD] = x if lagged else x + from_motor
            rows[b, k + at.LOSS] = loss
            rows[b, k + at.FORCE] -= loss


@uncounted_inline
def largest(rows, b, field):
    x, y = max(abs(rows[b, field]), abs(rows[b, field + 1])), max(abs(rows[b, field + 2]), abs(rows[b, field + 3]))
    z, w = max(abs(rows[b, field + 4]), abs(rows[b, field + 5])), max(abs(rows[b, field + 6]), abs(rows[b, field + 7]))
    return max(max(x, y), max(z, w))


@uncounted_inline
def good(rows, first, rtol, field):
    """Return whether the losses are within tolerance; ``field`` contains their errors."""
    worst, largest_load, torque = 0.0, 0.0, 0.0
    for b in range(first, rows.shape[0]):
        worst, largest_load = max(worst, largest(rows, b, field)), max(largest_load, largest(rows, b, at.LOAD))
        torque = max(torque, largest(rows, b, at.TORQUE))
    return worst <= rtol * largest_load + 1e-14 * torque


@uncounted_inline
def keep(rows: Out, first, width, stage):
    """Store the part of each load that is not due to the motor torque, for the next stages."""
    for b in range(first, rows.shape[0]):
        for k in range(width):
            p, q = rows[b, k + at.REST], rows[b, k + at.REST + at.LANES]
            r, s = rows[b, k + at.REST + 2 * at.LANES], rows[b, k + at.REST + 3 * at.LANES]
            net, begun = rows[b, k + at.TORQUE] - rows[b, k + at.LOSS], rows[b, k + at.BEGUN]
            x = rows[b, k + at.LOAD] - rows[b, k + at.SHARE] * net
            rows[b, k + at.BEGUN] = p if stage == 0 else begun
            rows[b, k + at.REST] = x if stage == 0 else p
            rows[b, k + at.REST + at.LANES] = x if stage == 1 else q
            rows[b, k + at.REST + 2 * at.LANES] = x if stage == 2 else r
            rows[b, k + at.REST + 3 * at.LANES] = x if stage > 2 else s


@uncounted_inline
def accelerate_under(aba, address, terms, factors, rows: Out, coupling, stage, q, v, tau, torque: Out, out):
    """Add passive torques, and write the acceleration; return aba's code, or -1 if the gear losses do not converge."""
    width, gears, lagged = terms[0, at.WIDTH], terms[0, at.LINES], terms[0, at.LAGGED]
    add_rates(terms, factors, rows, coupling, v)
    add_terms(terms, factors, at.FIRST, terms[1, at.LENGTHS], q, rows, at.SUM)
    add_terms(terms, factors, terms[1, at.LENGTHS], terms[1, at.TORQUES], tau, rows, at.SUM)
    write_forces(rows, width)
    if terms[1, at.TREE] < terms[2, at.CARRIED]:
        turn_links(terms, factors, rows, q)
    if gears < rows.shape[0]:
        expect(terms, rows, stage)
        if lose(rows, gears, width, lagged) > 0:
            lose(rows, gears, width, lagged)
    for _ in range(_MOST):
        push(terms, factors, rows, coupling, torque)
        code = call_at(aba, address, (q, v, torque, out))
        if code != 0 or gears == rows.shape[0] or lagged:
            return code
        write_loads(terms, factors, rows, coupling, out)
        enough = good(rows, gears, factors[0], at.DOUBT)
        if not enough:
            lose(rows, gears, width, lagged)
            enough = good(rows, gears, factors[0], at.MISS)
        if enough:
            keep(rows, gears, width, stage)
            return 0
    return -1
