"""Torques of springs, dampers and friction along sums of coordinates, within steps."""

import math

from ..compiling.jit import device
from ..tables import passive as at


@device
def add_forces(lines, numbers, coupling, q, v, out):
    """Add the torques of all lines; ``coupling`` has G where one of them needs it."""
    n = lines[0, at.LINES]
    for e in range(n):
        row, k = 1 + e, at.NUMBERS * e
        length = 0.0
        for t in range(lines[row, at.FIRST], lines[row, at.RATES]):
            length += numbers[coefficient(n, t)] * q[lines[t, at.INDEX]]
        rate, y = rate_of(lines, numbers, coupling, e, v), length - min(max(length, numbers[k]), numbers[k + at.HIGH])
        s, d, speed = k + at.STIFFNESS, k + at.DAMPING, abs(rate)
        force = -y * (numbers[s] + y * (numbers[s + 1] + y * numbers[s + 2]))
        force -= rate * (numbers[d] + speed * (numbers[d + 1] + speed * numbers[d + 2]))
        if numbers[k + at.FRICTION] != 0.0:
            force -= numbers[k + at.FRICTION] * math.tanh(rate / numbers[k + at.SPEED])
        push_line(lines, numbers, coupling, e, force, out)


@device
def coefficient(n, t):
    """Where the coefficient of the term in row t is."""
    return at.NUMBERS * n + t - 1 - n


@device
def rate_of(lines, numbers, coupling, e, v):
    """Rate of line e."""
    n, nv, x = lines[0, at.LINES], v.shape[0], 0.0
    for t in range(lines[1 + e, at.RATES], lines[1 + e, at.END]):
        c, i = numbers[coefficient(n, t)], lines[t, at.INDEX]
        if lines[1 + e, at.OF_TREE]:
            for k in range(nv):
                x += c * coupling[i * nv + k] * v[k]
        else:
            x += c * v[i]
    return x


@device
def push_line(lines, numbers, coupling, e, force, out):
    """Add the torques of a force along line e."""
    n, nv = lines[0, at.LINES], out.shape[0]
    for t in range(lines[1 + e, at.RATES], lines[1 + e, at.END]):
        x, i = force * numbers[coefficient(n, t)], lines[t, at.INDEX]
        if lines[1 + e, at.OF_TREE]:
            for k in range(nv):
                out[k] += x * coupling[i * nv + k]
        else:
            out[i] += x
