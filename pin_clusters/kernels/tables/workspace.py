"""Access to the quantities in ``work``: ``x(...)`` reads quantity x, ``set_x`` writes it, ``add_x`` increases it.

The functions for a body take ``(work, b)``. The functions for a cluster with a list of columns take
``(work, at, nk, ...)``, where ``at`` is the cluster's ``at_work``. From this offset on, ``work`` contains

    U: (nk, 6);
    UDinv: U D^-1, (nk, 6);
    D: (nk, nk), later its factors;
    u: (nk,), later D^-1 u;
    spin: momenta of spin elements per unit velocity in world axes, (nk, 3) for the output body and for each carrier.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, put
from ..numbers.tuples import load2, load3, load6, load9, load10, load15, load21
from . import layout


def quantities_in(size):
    """Return a function that creates the accessors of a quantity that each record of ``size`` numbers contains once."""

    def of_record(at, load):
        @inline
        def read(work, b):
            return load(work, b * size + at)

        @inline
        def write(work, b, x):
            put(work, b * size + at, x)

        @inline
        def increase(work, b, x):
            put(work, b * size + at, load(work, b * size + at) + x)

        return read, write, increase

    return of_record


_of_body = quantities_in(layout.BODY_WORK)


rotation, set_rotation, _ = _of_body(layout.W_POSE, load9)
position, set_position, _ = _of_body(layout.W_POSE + 9, load3)
# Motion subspace of a joint with one degree of freedom. It equals K if no other joint of the cluster moves the body.
axis, set_axis, _ = _of_body(layout.W_S, load6)
velocity, set_velocity, _ = _of_body(layout.W_VELOCITY, load6)
# alpha of (A2), which includes minus gravity; in the last pass of aba, the change delta of alpha (A10).
acceleration, set_acceleration, _ = _of_body(layout.W_ACCELERATION, load6)
force, set_force, add_force = _of_body(layout.W_FORCE, load6)
_, _, add_moment = _of_body(layout.W_FORCE + 3, load3)
# Position of a child of the universe. The energy kernel stores this position instead of the force, which it does not
# compute.
base_position, set_base_position, _ = _of_body(layout.W_FORCE, load3)
# Articulated inertia I^A (A8); inertia of a rigid body, or composite inertia I^C (C2).
articulated, set_articulated, add_articulated = _of_body(layout.W_INERTIA, load21)
composite, set_composite, add_composite = _of_body(layout.W_INERTIA, load10)
# Momentum of the composite rigid body, and time derivative of the rotational part of its inertia.
total_momentum, set_total_momentum, add_total_momentum = _of_body(layout.W_MOMENTUM, load6)
_, _, add_spin_momentum = _of_body(layout.W_MOMENTUM + 3, load3)
inertia_rate, set_inertia_rate, add_inertia_rate = _of_body(layout.W_INERTIA_RATE, load6)
# Factors 1/d and L of a free flyer's articulated inertia, stored in the record of the inertia.
base_inverse_d, set_base_inverse_d, _ = _of_body(layout.W_INERTIA, load6)
base_L, set_base_L, _ = _of_body(layout.W_INERTIA + 6, load15)
# Spin momentum on the output body per unit velocity of the body's joint.
spin, set_spin, _ = _of_body(layout.W_SPIN, load3)
# These three quantities share one entry: the torque of spin elements and armature at the body's joint, this torque at
# a = 0, and 1 / D.
own_torque, set_own_torque, _ = _of_body(layout.W_OWN, get)
spin_bias, set_spin_bias, _ = _of_body(layout.W_OWN, get)
inverse_D, set_inverse_D, _ = _of_body(layout.W_OWN, get)
# U D^-1 and D^-1 u of the body's joint in a SINGLE cluster.
UDinv, set_UDinv, _ = _of_body(layout.W_UDINV, load6)
Dinv_u, set_Dinv_u, _ = _of_body(layout.W_DINV_U, get)
sine_and_cosine, set_sine_and_cosine, _ = _of_body(layout.W_TURN, load2)


@inline
def set_force_entry(work, b, k, x):
    put(work, b * layout.BODY_WORK + layout.W_FORCE + k, x)


@inline
def set_pose(work, b, R, x):
    set_rotation(work, b, R)
    set_position(work, b, x)


def _of_list(width, load):
    @inline
    def read(work, at, k):
        return load(work, at + width * k)

    @inline
    def write(work, at, k, x):
        put(work, at + width * k, x)

    return read, write


# at_S: motion subspace S, one row per degree of freedom of a body.
subspace, set_subspace = _of_list(6, load6)
# at_K: motion of a body relative to the output body per unit independent velocity k of its cluster (A5).
K_column, set_K_column = _of_list(6, load6)
# at_spin: spin momentum per unit independent velocity k, in axes of the carrier.
momentum, set_momentum = _of_list(3, load3)


def _of_columns(width, load, first=0, columns=0, squares=0):
    """Return accessors of item k of an array of nk items at ``at + first + columns * nk + squares * nk^2``."""

    @inline
    def read(work, at, nk, k):
        return load(work, at + first + columns * nk + squares * nk * nk + width * k)

    @inline
    def write(work, at, nk, k, x):
        put(work, at + first + columns * nk + squares * nk * nk + width * k, x)

    @inline
    def increase(work, at, nk, k, x):
        write(work, at, nk, k, read(work, at, nk, k) + x)

    return read, write, increase


def _of_rows(width, load, columns=0, squares=0):
    @inline
    def read(work, at, nk, i, k):
        return load(work, at + columns * nk + squares * nk * nk + width * nk * i + width * k)

    @inline
    def write(work, at, nk, i, k, x):
        put(work, at + columns * nk + squares * nk * nk + width * nk * i + width * k, x)

    return read, write


U_column, set_U_column, add_U_column = _of_columns(6, load6)
_, _, add_spin_to_U = _of_columns(6, load3, first=3)
UDinv_column, set_UDinv_column, _ = _of_columns(6, load6, columns=6)
u_entry, set_u_entry, _ = _of_columns(1, get, columns=12, squares=1)
D_entry, set_D_entry = _of_rows(1, get, columns=12)
# Spin momentum on carrier i (0 is the output body) per unit velocity k, in world axes.
spin_column, set_spin_column = _of_rows(3, load3, columns=13, squares=1)
# at_G: coupling matrix G, one row per degree of freedom of a body.
G_entry, _ = _of_rows(1, get)
# at_E: inertia of spin elements and armature that couples velocities i and k of a cluster.
E_entry, set_E_entry = _of_rows(1, get)
