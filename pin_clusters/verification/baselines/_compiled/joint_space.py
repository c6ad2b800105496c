"""Compute forward dynamics from the mass matrix, by unit accelerations or by composite inertias."""

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.memory import put
from ....kernels.numbers.spatial import dot6, join, rigid_mul, zero3
from ....kernels.numbers.tuples import Rigid, Vec3, load3, load6, load10
from . import fields as f
from .coupling import add_row, drift, spread
from .linear import TINY, backward, cholesky, clear, each, forward, increase, product
from .loads import body_loads
from .motion import from_parent, offset, to_parent
from .system import at_state


@device
def prepare(I, W, q, v, fext):
    """Compute the quantities that both methods need; return whether the loop constraints could be solved."""
    if not at_state(I, W, q, v):
        return False
    turning(I, W)
    drift(I, W, I[f.AT_AT])
    body_loads(I, W, fext)
    return True


@device
def turning(I, W):
    """Subtract the effect of bias accelerations from the right-hand sides of rows that act on bodies."""
    clear(W, I[f.AT_A], 6)
    for i in range(1, I[f.BODIES]):
        put(W, I[f.AT_A] + 6 * i, load6(W, I[f.AT_BETA] + 6 * i) + from_parent(I, W, I[f.AT_A], i))
    for r in range(I[f.HARD]):
        if I[I[f.TOP] + r] >= 0:
            for e in each(I, f.ENTRY, r):
                W[I[f.AT_RIGHT] + r] -= product(W, I[f.AT_ENTRY] + 6 * e, I[f.AT_A] + 6 * I[I[f.ENTRY_BODY] + e])


@device
def inverse_dynamics(I, W, moving, to):
    """Compute the tree torques for the accelerations at ``AT_AT``; unless ``moving``, ignore velocities and gravity."""
    put(W, I[f.AT_A], join(load3(W, I[f.AT_GRAVITY]) * (-1.0 if moving else 0.0), zero3()))
    for i in range(1, I[f.BODIES]):
        a = from_parent(I, W, I[f.AT_A], i)
        if moving:
            a = a + load6(W, I[f.AT_BETA] + 6 * i)
        for d in each(I, f.DOF, i):
            a = a + load6(W, I[f.AT_S] + 6 * d) * W[I[f.AT_AT] + d]
        put(W, I[f.AT_A] + 6 * i, a)
        w = rigid_mul(load10(W, I[f.AT_BODY] + 10 * i), a)
        put(W, I[f.AT_LAMBDA] + 6 * i, w - load6(W, I[f.AT_B] + 6 * i) if moving else w)
    # Add the point masses in the middle of rods, whose wrenches and velocity terms are already computed.
    for k in range(I[f.ROWS] - I[f.HARD]):
        e, x = I[I[f.ENTRY] + I[f.HARD] + k], 0.0
        for n in range(2):
            x += product(W, I[f.AT_ENTRY] + 6 * (e + n), I[f.AT_A] + 6 * I[I[f.ENTRY_BODY] + e + n])
        if moving:
            x -= W[I[f.AT_RIGHT] + I[f.HARD] + k]
        x /= W[I[f.AT_COMPLIANCE] + I[f.HARD] + k]
        for n in range(2):
            increase(W, I[f.AT_LAMBDA] + 6 * I[I[f.ENTRY_BODY] + e + n], load6(W, I[f.AT_ENTRY] + 6 * (e + n)) * x)
    for i in range(I[f.BODIES] - 1, 0, -1):
        w, p = load6(W, I[f.AT_LAMBDA] + 6 * i), I[I[f.PARENT] + i]
        for d in each(I, f.DOF, i):
            W[to + d] = dot6(load6(W, I[f.AT_S] + 6 * d), w)
        for k in each(I, f.ARM, i):
            d = I[I[f.ARM_DOF] + k]
            W[to + d] += W[I[f.AT_AT] + d] / W[I[f.AT_ARM] + k]
        if p:
            increase(W, I[f.AT_LAMBDA] + 6 * p, to_parent(I, W, i, w))


@device
def gather(I, W, t, to):
    """Compute G' times the tree torques at offset ``t``."""
    for j in range(I[f.NV]):
        total = 0.0
        for k in each(I, f.G_ROW, j):
            total += W[I[I[f.G_AT] + k]] * W[t + I[I[f.G_DOF] + k]]
        W[to + j] = total


@device
def right_side(I, W, tau, to):
    t = I[f.AT_MG]
    inverse_dynamics(I, W, True, t)
    gather(I, W, t, to)
    for j in range(I[f.NV]):
        W[to + j] = tau[j] - W[to + j]


def unit_vectors(I, W, q, v, tau, fext, out, forces):
    n, M, x = I[f.NV], I[f.AT_MY], I[f.AT_MU]
    if not prepare(I, W, q, v, fext):
        return f.LOOPS
    right_side(I, W, tau, x)
    for j in range(n):
        for k in range(n):
            out[k] = 0.0
        out[j] = 1.0
        spread(I, W, out, I[f.AT_AT])
        inverse_dynamics(I, W, False, I[f.AT_MG])
        gather(I, W, I[f.AT_MG], M + n * j)
    if not cholesky(W, M, n, n):
        I[f.WRONG] = -1
        return f.MASSES
    forward(W, M, n, n, x)
    backward(W, M, n, n, x)
    for k in range(n):
        out[k] = W[x + k]
    return 0


@inline
def moved_inertia(L, d):
    """Return the inertia of a body about another point; d is the vector from that point to the body's origin."""
    mass, h = L.m, Vec3(L.hx, L.hy, L.hz)
    # I += -([d][h] + [h][d] + m [d][d]), where [.] is the cross-product matrix; c = 2 h + m d combines the terms.
    c, to = h * 2.0 + d * mass, h + d * mass
    return Rigid(
        mass,
        to.x,
        to.y,
        to.z,
        L.xx + c.y * d.y + c.z * d.z,
        L.xy - 0.5 * (c.x * d.y + c.y * d.x),
        L.xz - 0.5 * (c.x * d.z + c.z * d.x),
        L.yy + c.x * d.x + c.z * d.z,
        L.yz - 0.5 * (c.y * d.z + c.z * d.y),
        L.zz + c.x * d.x + c.y * d.y,
    )


@device
def tree_masses(I, W):
    """Compute the non-zero lower entries of the tree's mass matrix; store composite inertias at ``AT_BODY``."""
    nt, masses = I[f.TREE_V], I[f.AT_MASSES]
    for k in range((I[f.ROWS] - I[f.HARD]) // 3):  # a rod couples velocities of different branches
        for n in each(I, f.ROD_DOF, k):
            for m in range(I[I[f.ROD_DOF] + k], n + 1):
                W[masses + nt * I[I[f.ROD_DOFS] + n] + I[I[f.ROD_DOFS] + m]] = 0.0
    for i in range(I[f.BODIES] - 1, 0, -1):
        p, inertia = I[I[f.PARENT] + i], load10(W, I[f.AT_BODY] + 10 * i)
        for d in each(I, f.DOF, i):
            w, row = rigid_mul(inertia, load6(W, I[f.AT_S] + 6 * d)), masses + nt * d
            for c in range(I[I[f.DOF] + i], d + 1):
                W[row + c] = dot6(load6(W, I[f.AT_S] + 6 * c), w)
            j = i
            while I[I[f.PARENT] + j]:
                w, j = to_parent(I, W, j, w), I[I[f.PARENT] + j]
                for c in each(I, f.DOF, j):
                    W[row + c] = dot6(load6(W, I[f.AT_S] + 6 * c), w)
        for k in each(I, f.ARM, i):
            d = I[I[f.ARM_DOF] + k]
            W[masses + nt * d + d] += 1.0 / W[I[f.AT_ARM] + k]
        if p:
            above = I[f.AT_BODY] + 10 * p
            put(W, above, load10(W, above) + moved_inertia(inertia, offset(I, W, i)))


@device
def rod_masses(I, W):
    nt, masses, J = I[f.TREE_V], I[f.AT_MASSES], I[f.AT_VT]
    for k in range(I[f.ROWS] - I[f.HARD]):
        r = I[f.HARD] + k
        clear(W, J, nt)
        add_row(I, W, r, 0, J, I[f.SAME])
        for n in each(I, f.ROD_DOF, k // 3):
            d = I[I[f.ROD_DOFS] + n]
            for m in range(I[I[f.ROD_DOF] + k // 3], n + 1):
                c = I[I[f.ROD_DOFS] + m]
                W[masses + nt * d + c] += W[J + d] * W[J + c] / W[I[f.AT_COMPLIANCE] + r]


@device
def project(I, W):
    """Compute the non-zero entries in the lower triangle of G' M G."""
    n, t, M, masses = I[f.NV], I[f.AT_MG], I[f.AT_MY], I[f.AT_MASSES]
    for j in range(n):
        for k in each(I, f.UP, j):
            i = I[I[f.UPS] + k]
            for r in each(I, f.G_ROW, i):
                W[t + I[I[f.G_DOF] + r]] = 0.0
        for k in range(I[I[f.PAIR] + j], I[I[f.PAIR] + j + 1], 3):
            W[t + I[I[f.PAIRS] + k]] += W[masses + I[I[f.PAIRS] + k + 1]] * W[I[I[f.PAIRS] + k + 2]]
        for k in each(I, f.UP, j):
            i = I[I[f.UPS] + k]
            total = 0.0
            for r in each(I, f.G_ROW, i):
                total += W[I[I[f.G_AT] + r]] * W[t + I[I[f.G_DOF] + r]]
            W[M + n * j + i] = total


@device
def factorise(I, W):
    """Factorise M = L' D L in place, from the tips to the base; each list in ``UPS`` ends with the diagonal entry."""
    n, M = I[f.NV], I[f.AT_MY]
    for k in range(n - 1, -1, -1):
        first, last = I[f.UPS] + I[I[f.UP] + k], I[f.UPS] + I[I[f.UP] + k + 1] - 1
        row = M + n * k
        d = W[row + k]
        if not d > TINY * W[I[f.AT_MU] + n + k]:
            I[f.WRONG] = k
            return False
        for a in range(first, last):
            i = I[a]
            x = W[row + i] / d
            for b in range(first, a + 1):
                W[M + n * i + I[b]] -= x * W[row + I[b]]
        for a in range(first, last):
            W[row + I[a]] /= d
    return True


def sparse_crba(I, W, q, v, tau, fext, out, forces):
    n, M, x = I[f.NV], I[f.AT_MY], I[f.AT_MU]
    if not prepare(I, W, q, v, fext):
        return f.LOOPS
    right_side(I, W, tau, x)
    tree_masses(I, W)
    rod_masses(I, W)
    project(I, W)
    for k in range(n):
        W[x + n + k] = W[M + n * k + k]
    if not factorise(I, W):
        return f.MASSES
    for k in range(n - 1, -1, -1):
        for a in range(I[I[f.UP] + k], I[I[f.UP] + k + 1] - 1):
            W[x + I[I[f.UPS] + a]] -= W[M + n * k + I[I[f.UPS] + a]] * W[x + k]
    for k in range(n):
        y = W[x + k] / W[M + n * k + k]
        for a in range(I[I[f.UP] + k], I[I[f.UP] + k + 1] - 1):
            y -= W[M + n * k + I[I[f.UPS] + a]] * W[x + I[I[f.UPS] + a]]
        W[x + k] = y
        out[k] = y
    return 0
