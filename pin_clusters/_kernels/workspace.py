"""What stands in ``work``, by name: ``x(...)`` reads a quantity, ``set_x`` writes it, ``add_x`` increases it.

Of a body: ``(work, b)``. Of a cluster with a list of columns: ``(work, at, nk, ...)``, ``at`` its ``at_work``:

    U: 6 per column; UDinv: U D^-1, 6 per column; D: nk x nk, later its factors; u: nk, later D^-1 u;
    spin: momenta of spin elements in the world per unit velocity, 3 per column, the output body's, then the carriers'.
"""

from __future__ import annotations

from ._jit import inline
from .layout import (
    BODY_WORK,
    W_ACCELERATION,
    W_DINV_U,
    W_FORCE,
    W_INERTIA,
    W_OWN,
    W_POSE,
    W_S,
    W_SPIN,
    W_UDINV,
    W_VELOCITY,
)
from .memory import (
    accumulate3,
    accumulate6,
    accumulate10,
    accumulate21,
    load3,
    load6,
    load9,
    load10,
    load15,
    load21,
    store3,
    store6,
    store9,
    store10,
    store15,
    store21,
)
from .simd import get, put


@inline
def rotation(work, b):
    return load9(work, b * BODY_WORK + W_POSE)


@inline
def position(work, b):
    return load3(work, b * BODY_WORK + W_POSE + 9)


@inline
def set_rotation(work, b, R):
    store9(work, b * BODY_WORK + W_POSE, R)


@inline
def set_position(work, b, x):
    store3(work, b * BODY_WORK + W_POSE + 9, x)


@inline
def axis(work, b):
    """Motion subspace of a joint of one degree of freedom; it is also its K where nothing else moves the body."""
    return load6(work, b * BODY_WORK + W_S)


@inline
def set_axis(work, b, S):
    store6(work, b * BODY_WORK + W_S, S)


@inline
def subspace(work, at_S, d):
    return load6(work, at_S + 6 * d)


@inline
def set_subspace(work, at_S, d, S):
    store6(work, at_S + 6 * d, S)


@inline
def velocity(work, b):
    return load6(work, b * BODY_WORK + W_VELOCITY)


@inline
def set_velocity(work, b, v):
    store6(work, b * BODY_WORK + W_VELOCITY, v)


@inline
def acceleration(work, b):
    """With gravity, as that of the universe upward; in the last pass of ``aba`` what is missing to the real one."""
    return load6(work, b * BODY_WORK + W_ACCELERATION)


@inline
def set_acceleration(work, b, a):
    store6(work, b * BODY_WORK + W_ACCELERATION, a)


@inline
def force(work, b):
    return load6(work, b * BODY_WORK + W_FORCE)


@inline
def set_force(work, b, f):
    store6(work, b * BODY_WORK + W_FORCE, f)


@inline
def set_force_entry(work, b, k, x):
    put(work, b * BODY_WORK + W_FORCE + k, x)


@inline
def add_force(work, b, f):
    accumulate6(work, b * BODY_WORK + W_FORCE, f)


@inline
def add_moment(work, b, m):
    accumulate3(work, b * BODY_WORK + W_FORCE + 3, m)


@inline
def base_position(work, b):
    """Where a body on the universe really is; ``energy`` has no forces and keeps it in their place."""
    return load3(work, b * BODY_WORK + W_FORCE)


@inline
def set_base_position(work, b, x):
    store3(work, b * BODY_WORK + W_FORCE, x)


@inline
def articulated(work, b):
    """Articulated inertia, 21 numbers."""
    return load21(work, b * BODY_WORK + W_INERTIA)


@inline
def set_articulated(work, b, I):
    store21(work, b * BODY_WORK + W_INERTIA, I)


@inline
def add_articulated(work, b, I):
    accumulate21(work, b * BODY_WORK + W_INERTIA, I)


@inline
def composite(work, b):
    """Inertia of a rigid body, alone or with all that it carries, 10 numbers."""
    return load10(work, b * BODY_WORK + W_INERTIA)


@inline
def set_composite(work, b, I):
    store10(work, b * BODY_WORK + W_INERTIA, I)


@inline
def add_composite(work, b, I):
    accumulate10(work, b * BODY_WORK + W_INERTIA, I)


@inline
def base_factors(work, b):
    """Factors of the articulated inertia of a free flyer, in its place: 1/d (6) and L (15)."""
    return load6(work, b * BODY_WORK + W_INERTIA), load15(work, b * BODY_WORK + W_INERTIA + 6)


@inline
def set_base_factors(work, b, inverse_d, L):
    store6(work, b * BODY_WORK + W_INERTIA, inverse_d)
    store15(work, b * BODY_WORK + W_INERTIA + 6, L)


@inline
def spin(work, b):
    """Spin momentum per unit velocity of the body's joint, on the output body."""
    return load3(work, b * BODY_WORK + W_SPIN)


@inline
def set_spin(work, b, h):
    store3(work, b * BODY_WORK + W_SPIN, h)


@inline
def own_torque(work, b):
    """Torque of spin elements and armature at the body's joint."""
    return get(work, b * BODY_WORK + W_OWN)


@inline
def set_own_torque(work, b, t):
    put(work, b * BODY_WORK + W_OWN, t)


@inline
def spin_bias(work, b):
    """Torque of spin elements at the body's joint at a = 0."""
    return get(work, b * BODY_WORK + W_OWN)


@inline
def set_spin_bias(work, b, t):
    put(work, b * BODY_WORK + W_OWN, t)


@inline
def inverse_D(work, b):
    return get(work, b * BODY_WORK + W_OWN)


@inline
def set_inverse_D(work, b, x):
    put(work, b * BODY_WORK + W_OWN, x)


@inline
def UDinv(work, b):
    """U D^-1 of the body's joint."""
    return load6(work, b * BODY_WORK + W_UDINV)


@inline
def set_UDinv(work, b, Y):
    store6(work, b * BODY_WORK + W_UDINV, Y)


@inline
def Dinv_u(work, b):
    """D^-1 u of the body's joint."""
    return get(work, b * BODY_WORK + W_DINV_U)


@inline
def set_Dinv_u(work, b, x):
    put(work, b * BODY_WORK + W_DINV_U, x)


@inline
def K_column(work, at_K, k):
    """Motion of a body per unit of independent velocity k of its cluster, relative to the output body."""
    return load6(work, at_K + 6 * k)


@inline
def set_K_column(work, at_K, k, S):
    store6(work, at_K + 6 * k, S)


@inline
def G_entry(work, at_G, nk, d, k):
    return get(work, at_G + d * nk + k)


@inline
def E_entry(work, at_E, nk, k, m):
    """Inertia of spin elements and armature, between the velocities k and m of a cluster."""
    return get(work, at_E + k * nk + m)


@inline
def set_E_entry(work, at_E, nk, k, m, x):
    put(work, at_E + k * nk + m, x)


@inline
def momentum(work, at_spin, k):
    """Spin momentum per unit of independent velocity k, in axes of its carrier."""
    return load3(work, at_spin + 3 * k)


@inline
def set_momentum(work, at_spin, k, h):
    store3(work, at_spin + 3 * k, h)


@inline
def U_column(work, at, nk, k):
    return load6(work, at + 6 * k)


@inline
def set_U_column(work, at, nk, k, U):
    store6(work, at + 6 * k, U)


@inline
def add_U_column(work, at, nk, k, U):
    accumulate6(work, at + 6 * k, U)


@inline
def add_spin_to_U(work, at, nk, k, h):
    accumulate3(work, at + 6 * k + 3, h)


@inline
def UDinv_column(work, at, nk, k):
    return load6(work, at + 6 * nk + 6 * k)


@inline
def set_UDinv_column(work, at, nk, k, Y):
    store6(work, at + 6 * nk + 6 * k, Y)


@inline
def D_entry(work, at, nk, k, m):
    return get(work, at + 12 * nk + k * nk + m)


@inline
def set_D_entry(work, at, nk, k, m, x):
    put(work, at + 12 * nk + k * nk + m, x)


@inline
def u_entry(work, at, nk, k):
    return get(work, at + 12 * nk + nk * nk + k)


@inline
def set_u_entry(work, at, nk, k, x):
    put(work, at + 12 * nk + nk * nk + k, x)


@inline
def spin_column(work, at, nk, i, k):
    """Spin momentum in the world on carrier i (0: the output body) per unit of velocity k."""
    return load3(work, at + 13 * nk + nk * nk + 3 * nk * i + 3 * k)


@inline
def set_spin_column(work, at, nk, i, k, h):
    store3(work, at + 13 * nk + nk * nk + 3 * nk * i + 3 * k, h)


def cluster_work(nk: int, carriers: int) -> int:
    """How many numbers a cluster with a list of columns needs."""
    return 13 * nk + nk * nk + 3 * nk * (1 + carriers)
