"""Rows of couplings, loops and rotors: the wrenches by which they act on bodies, and what velocities ask of them."""

from __future__ import annotations

import math

from .fields import (
    AT_BETA, AT_ENTRY, AT_O, AT_R, AT_RIGHT, AT_T, AT_TERM, AT_V, AT_VT, C_A, C_B, C_MORE, C_REAL, C_ROW, C_SIZE,
    C_TYPE, CLOSURES, DOF_BODY, ENTRY, FAKES, FRAMES, HARD, HARMONIC, ROD, ROD_CLOSURE, ROWS, TERM, TERM_DOF, UNIVERSAL,
    WHOLE,
)  # fmt: skip
from .jit import jit
from .linear import add_moved, add_wrench, clear, dot, dot6
from .motion import offset, rotate


@jit
def point(I, W, body, x, to):
    """Write where a point of a body is in the world."""
    rotate(W, to, I[AT_R] + 9 * body, x)
    for k in range(3):
        W[to + k] += W[I[AT_O] + 3 * body + k]


@jit
def wrench_at(I, W, e, body, p, n, m, sign):
    """Write the wrench of a force at n and a moment at m through the point at p, at a body's origin."""
    o = I[AT_O] + 3 * body
    x, y, z = W[p] - W[o], W[p + 1] - W[o + 1], W[p + 2] - W[o + 2]
    for k in range(3):
        W[e + k] = sign * W[n + k]
    W[e + 3] = sign * (W[m] + y * W[n + 2] - z * W[n + 1])
    W[e + 4] = sign * (W[m + 1] + z * W[n] - x * W[n + 2])
    W[e + 5] = sign * (W[m + 2] + x * W[n + 1] - y * W[n])


@jit
def cross(W, to, x, y):
    """Write a cross product."""
    W[to] = W[x + 1] * W[y + 2] - W[x + 2] * W[y + 1]
    W[to + 1] = W[x + 2] * W[y] - W[x] * W[y + 2]
    W[to + 2] = W[x] * W[y + 1] - W[x + 1] * W[y]


@jit
def frame_rows(I, W, c, room):
    """Write the wrenches of two frames that form a joint, and keep at ``room`` its point and axes.

    Constants: rotation and origin of frame a, then of b, then the rows; all in the frames of their bodies.
    """
    a, b, t = I[I[C_A] + c], I[I[C_B] + c], I[I[C_REAL] + c]
    point(I, W, b, t + 21, room)
    for k in range(3):  # columns of the rotation of a: rows of its constants
        rotate(W, room + 3 + 3 * k, I[AT_R] + 9 * a, t + 3 * k)
    rotate(W, room + 12, I[AT_R] + 9 * b, t + 12)
    cross(W, room + 15, room + 12, room + 9)
    rotation = I[I[C_MORE] + c]
    for k in range(I[I[C_SIZE] + c]):
        row = t + 24 + 6 * k
        n, m = room + 18, room + 21
        for d in range(3):
            W[n + d] = W[row] * W[room + 3 + d] + W[row + 1] * W[room + 6 + d] + W[row + 2] * W[room + 9 + d]
            W[m + d] = 0.0
            if rotation == WHOLE:
                W[m + d] = W[row + 3] * W[room + 3 + d] + W[row + 4] * W[room + 6 + d] + W[row + 5] * W[room + 9 + d]
            elif rotation == UNIVERSAL:
                W[m + d] = W[row + 5] * W[room + 15 + d]
        e = I[AT_ENTRY] + 6 * I[I[ENTRY] + I[I[C_ROW] + c] + k]
        wrench_at(I, W, e, a, room, n, m, -1.0)
        wrench_at(I, W, e + 6, b, room, n, m, 1.0)


@jit
def rod_rows(I, W, c, room):
    """Write the wrenches of a rod; at ``room`` its ends, its direction and its length."""
    a, b, t = I[I[C_A] + c], I[I[C_B] + c], I[I[C_REAL] + c]
    point(I, W, a, t, room)
    point(I, W, b, t + 3, room + 3)
    for k in range(3):
        W[room + 6 + k] = W[room + 3 + k] - W[room + k]
        W[room + 10 + k] = 0.0
    length = math.sqrt(dot(W, room + 6, room + 6, 3))
    W[room + 9] = length
    for k in range(3):
        W[room + 6 + k] /= length
    e = I[AT_ENTRY] + 6 * I[I[ENTRY] + I[I[C_ROW] + c]]
    wrench_at(I, W, e, a, room, room + 6, room + 10, -1.0)
    wrench_at(I, W, e + 6, b, room + 3, room + 6, room + 10, 1.0)


@jit
def middles(I, W, room):
    """Write the wrenches of the middles of rods that have mass: half a unit force at each end, along each axis."""
    for k in range(I[ROWS] - I[HARD] - fakes(I)):
        c, axis = I[I[ROD_CLOSURE] + k // 3], k % 3
        rod_rows(I, W, c, room)
        clear(W, room + 13, 3)
        W[room + 13 + axis] = 0.5
        e = I[AT_ENTRY] + 6 * I[I[ENTRY] + I[HARD] + k]
        wrench_at(I, W, e, I[I[C_A] + c], room, room + 13, room + 10, 1.0)
        wrench_at(I, W, e + 6, I[I[C_B] + c], room + 3, room + 13, room + 10, 1.0)


@jit
def fakes(I):
    """Return the number of rows that take borrowed inertia back."""
    return 6 * I[I[FAKES]]


@jit
def harmonics(I, W, c, q, room):
    """Write Jacobian and second derivatives of sums of products of sines and cosines.

    Constants: per angle its weights and phase; per term its coefficient. Table: joints, where the coordinates are in
    q, whether as cosine and sine; angles; terms of each row: number of factors, then kind and angle of each.
    """
    more, t = I[I[C_MORE] + c], I[I[C_REAL] + c]
    n, angles, size = I[more], I[more + 1], I[I[C_SIZE] + c]
    x = room
    for k in range(n):
        iq = I[more + 2 + 2 * k]
        W[x + k] = math.atan2(q[iq + 1], q[iq]) if I[more + 3 + 2 * k] else q[iq]
    J = I[AT_TERM] + I[I[TERM] + I[I[C_ROW] + c]]
    H = t + angles * (n + 1)
    values = H + size * n * n
    at = more + 2 + 2 * n
    clear(W, J, size * n)
    clear(W, H, size * n * n)
    for p in range(angles):
        W[values + p] = W[t + p * (n + 1) + n] + dot(W, t + p * (n + 1), x, n)
    coefficient = values + angles
    for r in range(size):
        terms = I[at]
        at += 1
        for _ in range(terms):
            factors = I[at]
            for one in range(factors):
                for two in range(-1, factors):
                    product = W[coefficient]
                    for k in range(factors):
                        kind, angle = I[at + 1 + 2 * k], W[values + I[at + 2 + 2 * k]]
                        order = (1 if k == one else 0) + (1 if k == two else 0)
                        product *= factor(kind, angle, order)
                    first = t + I[at + 2 + 2 * one] * (n + 1)
                    if two < 0:
                        for k in range(n):
                            W[J + r * n + k] += product * W[first + k]
                    else:
                        second = t + I[at + 2 + 2 * two] * (n + 1)
                        for k in range(n):
                            for m in range(n):
                                W[H + (r * n + k) * n + m] += product * W[first + k] * W[second + m]
            at += 1 + 2 * factors
            coefficient += 1


@jit
def factor(kind, angle, order):
    """Return a sine (0), a cosine (1) or the angle itself (2), or a derivative of it."""
    if kind == 2:
        return angle if order == 0 else (1.0 if order == 1 else 0.0)
    turned = (kind + order) % 4
    if turned == 0:
        return math.sin(angle)
    if turned == 1:
        return math.cos(angle)
    return -math.sin(angle) if turned == 2 else -math.cos(angle)


@jit
def closures_at(I, W, q, room):
    """Write the wrenches of all closures of bodies, and the coefficients of those of joints, at the poses."""
    for c in range(I[CLOSURES]):
        kind = I[I[C_TYPE] + c]
        if kind == FRAMES:
            frame_rows(I, W, c, room)
        elif kind == ROD:
            rod_rows(I, W, c, room)
        elif kind == HARMONIC:
            harmonics(I, W, c, q, room)
    middles(I, W, room)


@jit
def point_motion(I, W, body, p, room):
    """Write velocity of a point of a body (6), and what turning adds to its acceleration (3)."""
    o = I[AT_O] + 3 * body
    clear(W, room, 6)
    add_moved(W, room, I[AT_V] + 6 * body, W[p] - W[o], W[p + 1] - W[o + 1], W[p + 2] - W[o + 2])
    cross(W, room + 6, room + 3, room)


@jit
def biases(I, W, room):
    """Write the right sides of all rows at the velocities: rows times accelerations of bodies have to be this."""
    clear(W, I[AT_RIGHT], I[ROWS])
    va, vb, rel = room + 30, room + 40, room + 50
    for c in range(I[CLOSURES]):
        kind, row, size, a, b = I[I[C_TYPE] + c], I[I[C_ROW] + c], I[I[C_SIZE] + c], I[I[C_A] + c], I[I[C_B] + c]
        right = I[AT_RIGHT] + row
        if kind == FRAMES:
            frame_rows(I, W, c, room)
            point_motion(I, W, a, room, va)
            point_motion(I, W, b, room, vb)
            for k in range(6):
                W[rel + k] = W[vb + k] - W[va + k]
            for k in range(size):
                frame_bias(I, W, c, k, room, va, vb, rel, right + k)
        elif kind == ROD:
            rod_rows(I, W, c, room)
            point_motion(I, W, a, room, va)
            point_motion(I, W, b, room + 3, vb)
            speed, along, turning = 0.0, 0.0, 0.0
            for k in range(3):
                x = W[vb + k] - W[va + k]
                speed += x * x
                along += x * W[room + 6 + k]
                turning += W[room + 6 + k] * (W[vb + 6 + k] - W[va + 6 + k])
            W[right] = -(turning + (speed - along * along) / W[room + 9])
        else:
            n = I[I[C_MORE] + c]
            n, angles = I[n], I[n + 1]
            H = I[I[C_REAL] + c] + angles * (n + 1)
            for r in range(size):
                t = I[TERM] + row + r
                for k in range(n):
                    for m in range(n):
                        x = W[I[AT_VT] + I[I[TERM_DOF] + I[t] + k]] * W[I[AT_VT] + I[I[TERM_DOF] + I[t] + m]]
                        W[right + r] -= W[H + (r * n + k) * n + m] * x
    for k in range(I[ROWS] - I[HARD] - fakes(I)):
        c = I[I[ROD_CLOSURE] + k // 3]
        rod_rows(I, W, c, room)
        point_motion(I, W, I[I[C_A] + c], room, va)
        point_motion(I, W, I[I[C_B] + c], room + 3, vb)
        W[I[AT_RIGHT] + I[HARD] + k] = -0.5 * (W[va + 6 + k % 3] + W[vb + 6 + k % 3])


@jit
def frame_bias(I, W, c, k, room, va, vb, rel, to):
    """Write minus the derivative of a row, as a wrench that moves, times the relative velocity."""
    row, rotation = I[I[C_REAL] + c] + 24 + 6 * k, I[I[C_MORE] + c]
    n, m, more = room + 18, room + 21, room + 24
    total = 0.0
    for d in range(3):
        W[n + d] = W[row] * W[room + 3 + d] + W[row + 1] * W[room + 6 + d] + W[row + 2] * W[room + 9 + d]
    cross(W, more, va + 3, n)
    total += dot(W, more, rel, 3)
    cross(W, more, vb, n)
    total += dot(W, more, rel + 3, 3)
    if rotation == WHOLE:
        for d in range(3):
            W[m + d] = W[row + 3] * W[room + 3 + d] + W[row + 4] * W[room + 6 + d] + W[row + 5] * W[room + 9 + d]
        cross(W, more, va + 3, m)
        total += dot(W, more, rel + 3, 3)
    elif rotation == UNIVERSAL:
        cross(W, m, vb + 3, room + 12)
        cross(W, more, m, room + 9)
        total += W[row + 5] * dot(W, more, rel + 3, 3)
        cross(W, m, va + 3, room + 9)
        cross(W, more, room + 12, m)
        total += W[row + 5] * dot(W, more, rel + 3, 3)
    W[to] = -total


@jit
def joint_entries(I, W):
    """Write the wrenches of rows of joints on the bodies beside these, and what their joints' velocities ask."""
    for r in range(I[HARD]):
        e = I[AT_ENTRY] + 6 * I[I[ENTRY] + r]
        for k in range(I[I[TERM] + r], I[I[TERM] + r + 1]):
            d = I[I[TERM_DOF] + k]
            i, t, x = I[I[DOF_BODY] + d], I[AT_T] + 6 * d, W[I[AT_TERM] + k]
            clear(W, e, 12)
            add_wrench(W, e, x, t, 0.0, 0.0, 0.0)
            add_wrench(W, e + 6, -x, t, offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))
            W[I[AT_RIGHT] + r] += x * dot6(W, t, I[AT_BETA] + 6 * i)
            e += 12
    # rows that take borrowed inertia back
    first = I[ROWS] - fakes(I)
    for k in range(fakes(I)):
        e = I[AT_ENTRY] + 6 * I[I[ENTRY] + first + k]
        clear(W, e, 6)
        W[e + k % 6] = 1.0
