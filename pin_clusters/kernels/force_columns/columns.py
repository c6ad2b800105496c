"""Response of the whole robot to many forces and torques at once, one per column (C-EFPA); equations (O1) to (O5).

M^-1 = Psi' D^-1 Psi, where Psi tau is the vector u of aba, and D = L diag(e) L' is block diagonal, with one block per
cluster. The inward pass computes W = diag(e)^-1/2 L^-1 Psi C. Then C' M^-1 C = W' W; each entry is a sum over common
ancestors of two bodies. An outward pass converts W into M^-1 C. The matrix M^-1 is never computed.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..clusters import loop
from ..directions import Out
from ..dynamics.crba import poses_with
from ..dynamics.minverse import factor
from ..numbers.memory import get
from ..tables.layout import WRONG_SIZE
from ..tables.views import header
from .panel import asked_header, at_w, entry, touch
from .passes import inward, outward
from .seed import clear, place_frames, seed_forces, seed_torques


@inline
def products_of(asked, panel, n, A, K, gram: Out):
    """Compute the rows of W' W (O4) for one frame or contact, summed over the velocities that move its body."""
    for r in range(K.column0, K.column1):
        i = entry(asked, r).iv
        for j in range(i, A.width):
            gram[i, j] = 0.0
        for e in range(K.path0, K.path1):
            k = entry(asked, e).iv
            x = get(panel, at_w(n, A, k, i))
            for j in range(i, A.width):
                gram[i, j] += x * get(panel, at_w(n, A, k, j))


@inline
def mirror(gram: Out, rows):
    for i in range(rows):
        for j in range(i):
            gram[i, j] = gram[j, i]


@inline
def answer(index, work, asked, numbers, panel: Out, n, A, gram: Out, response: Out):
    """Compute the products W' W and, if requested, the response M^-1 C; the panel already contains the torques."""
    clear(index, asked, panel, n, A)
    seed_forces(index, work, asked, numbers, panel, n, A)
    inward(index, work, asked, panel, n, A)
    if A.tasks > 0:
        for f in range(A.frame0, A.task1):
            products_of(asked, panel, n, A, touch(asked, f), gram)
        mirror(gram, A.tasks)
    if A.moves == 1:
        outward(index, work, panel, n, A, A.columns)
        for i in range(n.nv):
            for j in range(A.columns):
                response[i, j] = get(panel, at_w(n, A, i, j))


def columns_with(compose_loop):
    poses = poses_with(compose_loop)

    @paste
    def columns(index, params, work, result, q, asked, numbers: Out, panel: Out, B, gram: Out, response: Out):
        """Write the rows of C' M^-1 C for the task columns to gram and, if requested, M^-1 C to response.

        C contains unit forces at frames (first the task columns), then the columns of B.
        """
        n, A = header(index), asked_header(asked, 0)
        if q.shape[0] != n.nq or gram.shape[0] != A.tasks or (A.tasks > 0 and gram.shape[1] != A.columns):
            return WRONG_SIZE
        if response.shape[0] != n.nv or response.shape[1] != A.columns * A.moves:
            return WRONG_SIZE
        if B.shape[0] != n.nv or B.shape[1] < A.torque1 - A.torque0:
            return WRONG_SIZE
        code = poses(index, params, work, q)
        singular = factor(index, params, work)
        place_frames(index, params, work, q, asked, numbers, A)
        seed_torques(B, panel, n, A)
        answer(index, work, asked, numbers, panel, n, A, gram, response)
        return code if code < 0 else singular

    return columns


columns = columns_with(loop.without_loops)
columns_loops = columns_with(loop.compose)
