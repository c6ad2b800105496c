"""Functions that compute further results of a batch row; they are called by address after the kernels for one state."""

import math

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..loops.closure_values import largest_value
from ..numbers.memory import borrowed, put
from ..numbers.spatial import matmul3, rot, transposed
from ..numbers.tuples import load3, load9
from ..tables.addresses import call_at, tables
from ..tables.layout import LOOP, OPEN
from ..tables.views import cluster, header

FAR = 0.5  # largest change of an entry of q in one call that closes loops; larger changes require further steps


def openness_at(address, q):
    """Write the largest loop residual; return 1 if a loop is open, else 0. A kernel must have placed bodies at q."""
    index, params, work, keep = tables(address)
    q, worst = borrowed(q), 0.0
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            x = largest_value(index, params, work, q, C)
            worst = worst if x <= worst or worst != worst else x  # the second condition keeps NaN
    keep[0] = math.sqrt(worst)
    return 0 if worst < OPEN * OPEN else 1


@inline
def quaternion(R):
    """Return the quaternion (x, y, z, w) of a row-major rotation matrix, with the sign that Pinocchio uses."""
    trace = R[0] + R[4] + R[8]
    if trace > 0.0:
        s = math.sqrt(trace + 1.0)
        t = 0.5 / s
        return (R[7] - R[5]) * t, (R[2] - R[6]) * t, (R[3] - R[1]) * t, 0.5 * s
    if R[0] >= R[4] and R[0] >= R[8]:
        s = math.sqrt(R[0] - R[4] - R[8] + 1.0)
        t = 0.5 / s
        return 0.5 * s, (R[3] + R[1]) * t, (R[6] + R[2]) * t, (R[7] - R[5]) * t
    if R[4] >= R[8]:
        s = math.sqrt(R[4] - R[8] - R[0] + 1.0)
        t = 0.5 / s
        return (R[1] + R[3]) * t, 0.5 * s, (R[7] + R[5]) * t, (R[2] - R[6]) * t
    s = math.sqrt(R[8] - R[0] - R[4] + 1.0)
    t = 0.5 / s
    return (R[2] + R[6]) * t, (R[5] + R[7]) * t, 0.5 * s, (R[3] - R[1]) * t


def placements_at(address, places, fixed, result: Out):
    """Write translation and quaternion (x, y, z, w) of frames in the world; call the tree kernel first.

    ``address`` is the address of the tables of the tree. A row of ``places`` contains the offset of the joint's
    placement in the tree's results, and the offset of the frame's placement in ``fixed``, or -1 if the frame is the
    joint itself. ``fixed`` contains placements of frames relative to their joints: row-major rotation, then
    translation. ``result`` contains seven numbers per frame.
    """
    out, fixed, result = tables(address)[3], borrowed(fixed), borrowed(result)
    for i in range(places.shape[0]):
        offset, frame = places[i, 0], places[i, 1]
        R, x = transposed(load9(out, offset)), load3(out, offset + 9)
        if frame >= 0:
            x = x + rot(R, load3(fixed, frame + 9))
            R = matmul3(R, load9(fixed, frame))
        put(result, 7 * i, x)
        put(result, 7 * i + 3, quaternion(R))
    return 0


def projected_at(address, close, units, terms, numbers, held, q, x: Out, result: Out):
    """Write the nearest configuration that satisfies couplings and loops; return 1 if slower methods are needed.

    Slower methods are needed if a part of q has norm 0, or if a loop stays open or closes only with large changes of q.

    Args:
        address, close: ``close`` points to the function that closes loops (0 without loops), ``address`` to its tables.
        units: First entry and length of each part of q that must have unit norm.
        terms, numbers: Index pairs (to, of), and one number per pair. If ``of`` is negative, x[to] becomes the number.
            Otherwise, x[to] increases by number * x[of].
        held: 1 for each velocity of the tree that is fixed, else 0.
        x, result: x is a workspace for configuration, residuals and result; ``result`` is the output, shape (nq,).
    """
    nq = q.shape[0]
    last = x.shape[0] - nq
    for i in range(nq):
        x[i] = q[i]
    for u in range(units.shape[0]):
        total = 0.0
        for i in range(units[u, 0], units[u, 0] + units[u, 1]):
            total += x[i] * x[i]
        norm = math.sqrt(total)
        if not (norm > 0.0 and norm < math.inf):
            return 1
        for i in range(units[u, 0], units[u, 0] + units[u, 1]):
            x[i] /= norm
    if close != 0:
        for i in range(nq):
            result[i] = x[i]
        if call_at(close, address, (result, held)) != 0:
            return 1
        for i in range(nq):
            if not abs(result[i] - x[i]) <= FAR:
                return 1
            x[i] = result[i]
    for i in range(nq):
        x[last + i] = x[i]
    for t in range(terms.shape[0]):
        to, of = terms[t, 0], terms[t, 1]
        x[to] = numbers[t] if of < 0 else x[to] + numbers[t] * x[of]
    for i in range(nq):
        result[i] = x[last + i]
    return 0
