"""Compute the constraint rows of couplings, loops and rotors, as wrenches on bodies, and their right-hand sides."""

import math

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.memory import put
from ....kernels.numbers.spatial import angular, column, cross, dot3, join, linear, matmul3, rot, zero3
from ....kernels.numbers.tuples import Vec3, load3, load6, load9
from . import fields as f
from .linear import clear, dot, each, product
from .motion import moved, to_parent


@inline
def point(I, W, body, x):
    """Return the world position of a point on a body; ``W`` contains its body-frame coordinates at offset ``x``."""
    return load3(W, I[f.AT_O] + 3 * body) + rot(load9(W, I[f.AT_R] + 9 * body), load3(W, x))


@inline
def arm(I, W, body, p):
    return p - load3(W, I[f.AT_O] + 3 * body)


@inline
def wrench_at(I, W, body, p, n, m):
    """Return the wrench at a body's origin that is equivalent to a force n and a moment m at the point p."""
    return join(n, m + cross(arm(I, W, body, p), n))


@inline
def point_motion(I, W, body, p):
    """Return the spatial velocity [v; w] of a body about a point p, and the acceleration w x v of this point."""
    v = moved(load6(W, I[f.AT_V] + 6 * body), arm(I, W, body, p))
    return v, cross(angular(v), linear(v))


@inline
def frames(I, W, c):
    """Return the origin of frame b, the axes of frame a, and the x axis of frame b of a closure.

    ``W`` contains, in body axes, the rotation of frame a, the x axis and origin of frame b, and the constraint rows.
    """
    a, b, t = I[I[f.C_A] + c], I[I[f.C_B] + c], I[I[f.C_REAL] + c]
    R_a, R_b = load9(W, I[f.AT_R] + 9 * a), load9(W, I[f.AT_R] + 9 * b)
    return point(I, W, b, t + 12), matmul3(R_a, load9(W, t)), rot(R_b, load3(W, t + 9))


@inline
def force_and_moment(I, W, c, k, axes, x):
    """Return the unit force and moment of row k of a closure between frames, in world axes."""
    row, rotation = I[I[f.C_REAL] + c] + 15 + 6 * k, I[I[f.C_MORE] + c]
    n, m = rot(axes, load3(W, row)), zero3()
    if rotation == f.WHOLE:
        m = rot(axes, load3(W, row + 3))
    elif rotation == f.UNIVERSAL:
        m = cross(x, column(axes, 2)) * W[row + 5]
    return n, m


@device
def frame_rows(I, W, c):
    a, b, (p, axes, x) = I[I[f.C_A] + c], I[I[f.C_B] + c], frames(I, W, c)
    for k in range(I[I[f.C_SIZE] + c]):
        n, m = force_and_moment(I, W, c, k, axes, x)
        e = I[f.AT_ENTRY] + 6 * I[I[f.ENTRY] + I[I[f.C_ROW] + c] + k]
        put(W, e, -wrench_at(I, W, a, p, n, m))
        put(W, e + 6, wrench_at(I, W, b, p, n, m))


@inline
def rod(I, W, c):
    """Return the end points, the direction and the length of a rod."""
    t = I[I[f.C_REAL] + c]
    p, r = point(I, W, I[I[f.C_A] + c], t), point(I, W, I[I[f.C_B] + c], t + 3)
    length = math.sqrt(dot3(r - p, r - p))
    return p, r, (r - p) * (1.0 / length), length


@device
def rod_rows(I, W, c):
    p, r, n, _ = rod(I, W, c)
    e = I[f.AT_ENTRY] + 6 * I[I[f.ENTRY] + I[I[f.C_ROW] + c]]
    put(W, e, -wrench_at(I, W, I[I[f.C_A] + c], p, n, zero3()))
    put(W, e + 6, wrench_at(I, W, I[I[f.C_B] + c], r, n, zero3()))


@device
def middles(I, W):
    """Compute the wrenches of the middle masses of rods: for each axis, half a unit force at each end."""
    for k in range(I[f.ROWS] - I[f.HARD] - fakes(I)):
        c, axis, none = I[I[f.ROD_CLOSURE] + k // 3], k % 3, zero3()
        n = Vec3(0.5 if axis == 0 else 0.0, 0.5 if axis == 1 else 0.0, 0.5 if axis == 2 else 0.0)
        p, r, _, _ = rod(I, W, c)
        e = I[f.AT_ENTRY] + 6 * I[I[f.ENTRY] + I[f.HARD] + k]
        put(W, e, wrench_at(I, W, I[I[f.C_A] + c], p, n, none))
        put(W, e + 6, wrench_at(I, W, I[I[f.C_B] + c], r, n, none))


@inline
def fakes(I):
    """Return the number of constraint rows that cancel the fictitious inertias, six per body in ``FAKES``."""
    return 6 * I[I[f.FAKES]]


@device
def harmonics(I, W, c, q, x):
    """Compute Jacobian and second derivatives of sums of products of sines and cosines.

    ``x`` is the offset of work space. ``_rows.program_of`` creates the constants and the table. The constants are the
    weights and the phase of each angle, then the coefficient of each term. The table contains the index in q of each
    joint, and the factors of each term. A factor is an angle, its sine or its cosine.
    """
    table, t = I[I[f.C_MORE] + c], I[I[f.C_REAL] + c]
    n, angles, size = I[table], I[table + 1], I[I[f.C_SIZE] + c]
    for k in range(n):
        iq = I[table + 2 + 2 * k]
        W[x + k] = math.atan2(q[iq + 1], q[iq]) if I[table + 3 + 2 * k] else q[iq]
    J = I[f.AT_TERM] + I[I[f.TERM] + I[I[f.C_ROW] + c]]
    H = t + angles * (n + 1)
    values = H + size * n * n
    cursor = table + 2 + 2 * n
    clear(W, J, size * n)
    clear(W, H, size * n * n)
    for p in range(angles):
        W[values + p] = W[t + p * (n + 1) + n] + dot(W, t + p * (n + 1), x, n)
    coefficient = values + angles
    for r in range(size):
        terms = I[cursor]
        cursor += 1
        for _ in range(terms):
            factors = I[cursor]
            for differentiated in range(factors):
                for differentiated_2 in range(-1, factors):
                    product = W[coefficient]
                    for k in range(factors):
                        kind, angle = I[cursor + 1 + 2 * k], W[values + I[cursor + 2 + 2 * k]]
                        order = (1 if k == differentiated else 0) + (1 if k == differentiated_2 else 0)
                        product *= factor(kind, angle, order)
                    first = t + I[cursor + 2 + 2 * differentiated] * (n + 1)
                    if differentiated_2 < 0:
                        for k in range(n):
                            W[J + r * n + k] += product * W[first + k]
                    else:
                        second = t + I[cursor + 2 + 2 * differentiated_2] * (n + 1)
                        for k in range(n):
                            for m in range(n):
                                W[H + (r * n + k) * n + m] += product * W[first + k] * W[second + m]
            cursor += 1 + 2 * factors
            coefficient += 1


@device
def factor(kind, angle, order):
    """Return a derivative (``order`` 0 to 2) of a sine (``kind`` 0), a cosine (1) or the angle itself (2)."""
    if kind == 2:
        return angle if order == 0 else (1.0 if order == 1 else 0.0)
    turned = (kind + order) % 4
    if turned == 0:
        return math.sin(angle)
    if turned == 1:
        return math.cos(angle)
    return -math.sin(angle) if turned == 2 else -math.cos(angle)


@device
def closures_at(I, W, q, temp):
    """Compute the wrenches of closures between bodies, and the coefficients of closures between joints."""
    for c in range(I[f.CLOSURES]):
        kind = I[I[f.C_TYPE] + c]
        if kind == f.FRAMES:
            frame_rows(I, W, c)
        elif kind == f.ROD:
            rod_rows(I, W, c)
        elif kind == f.HARMONIC:
            harmonics(I, W, c, q, temp)
    middles(I, W)


@device
def biases(I, W):
    """Compute the right-hand sides of all rows, which the products of rows and body accelerations must equal."""
    clear(W, I[f.AT_RIGHT], I[f.ROWS])
    for c in range(I[f.CLOSURES]):
        kind, right = I[I[f.C_TYPE] + c], I[f.AT_RIGHT] + I[I[f.C_ROW] + c]
        if kind == f.FRAMES:
            frame_biases(I, W, c, right)
        elif kind == f.ROD:
            p, r, along, length = rod(I, W, c)
            (v, w), (v_b, w_b) = point_motion(I, W, I[I[f.C_A] + c], p), point_motion(I, W, I[I[f.C_B] + c], r)
            rate = linear(v_b) - linear(v)
            stretch = dot3(rate, along)
            W[right] = -(dot3(along, w_b - w) + (dot3(rate, rate) - stretch * stretch) / length)
        else:
            joint_biases(I, W, c, right)
    for k in range(I[f.ROWS] - I[f.HARD] - fakes(I)):
        c = I[I[f.ROD_CLOSURE] + k // 3]
        p, r, _, _ = rod(I, W, c)
        (_, w), (_, w_b) = point_motion(I, W, I[I[f.C_A] + c], p), point_motion(I, W, I[I[f.C_B] + c], r)
        W[I[f.AT_RIGHT] + I[f.HARD] + k] = -0.5 * (w[k % 3] + w_b[k % 3])


@inline
def frame_biases(I, W, c, right):
    """Compute the negative product of the time derivative of each row and the relative velocity."""
    p, axes, x = frames(I, W, c)
    (v, _), (v_b, _) = point_motion(I, W, I[I[f.C_A] + c], p), point_motion(I, W, I[I[f.C_B] + c], p)
    w, z, rotation = angular(v), column(axes, 2), I[I[f.C_MORE] + c]
    rate, spin = linear(v_b) - linear(v), angular(v_b) - w
    for k in range(I[I[f.C_SIZE] + c]):
        n, m = force_and_moment(I, W, c, k, axes, x)
        change = cross(linear(v_b), n)
        if rotation == f.WHOLE:
            change = change + cross(w, m)
        elif rotation == f.UNIVERSAL:
            turning = cross(cross(angular(v_b), x), z) + cross(x, cross(w, z))
            change = change + turning * W[I[I[f.C_REAL] + c] + 15 + 6 * k + 5]
        W[right + k] = -(dot3(cross(w, n), rate) + dot3(change, spin))


@inline
def joint_biases(I, W, c, right):
    """Compute minus the velocity-dependent term of each row between joints, from its second derivatives."""
    n, angles = I[I[I[f.C_MORE] + c]], I[I[I[f.C_MORE] + c] + 1]
    H = I[I[f.C_REAL] + c] + angles * (n + 1)
    for r in range(I[I[f.C_SIZE] + c]):
        first, total = I[f.TERM_DOF] + I[I[f.TERM] + I[I[f.C_ROW] + c] + r], 0.0
        for k in range(n):
            for m in range(n):
                x = W[I[f.AT_VT] + I[first + k]] * W[I[f.AT_VT] + I[first + m]]
                total -= W[H + (r * n + k) * n + m] * x
        W[right + r] = total


@device
def joint_entries(I, W):
    """Compute the wrenches of rows between joints on adjacent bodies; complete the right-hand sides of these rows."""
    for r in range(I[f.HARD]):
        e = I[f.AT_ENTRY] + 6 * I[I[f.ENTRY] + r]
        for k in each(I, f.TERM, r):
            d, x = I[I[f.TERM_DOF] + k], W[I[f.AT_TERM] + k]
            i, t = I[I[f.DOF_BODY] + d], I[f.AT_T] + 6 * d
            wrench = load6(W, t) * x
            put(W, e, wrench)
            put(W, e + 6, -to_parent(I, W, i, wrench))
            W[I[f.AT_RIGHT] + r] += x * product(W, t, I[f.AT_BETA] + 6 * i)
            e += 12
    # The last rows cancel fictitious inertia.
    first = I[f.ROWS] - fakes(I)
    for k in range(fakes(I)):
        e = I[f.AT_ENTRY] + 6 * I[I[f.ENTRY] + first + k]
        clear(W, e, 6)
        W[e + k % 6] = 1.0
