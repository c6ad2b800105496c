"""What stands in ``work``, by name: ``x(...)`` reads a quantity, ``set_x`` writes it, ``add_x`` increases it.

Of a body: ``(work, b)``. Of a cluster with a list of columns: ``(work, at, nk, ...)``, ``at`` its ``at_work``:

    U: 6 per column; UDinv: U D^-1, 6 per column; D: nk x nk, later its factors; u: nk, later D^-1 u;
    spin: momenta of spin elements in the world per unit velocity, 3 per column, the output body's, then the carriers'.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, put
from ..numbers.tuples import load2, load3, load6, load9, load10, load15, load21
from . import layout


def quantities_in(size):
    """Make what makes accessors of a quantity, of which there is one for each body or link in a record of that size."""

    def of_record(at, load):
        """Make what reads, writes and increases it."""

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
# motion subspace of a joint of one degree of freedom; it is also its K where nothing else moves the body
axis, set_axis, _ = _of_body(layout.W_S, load6)
velocity, set_velocity, _ = _of_body(layout.W_VELOCITY, load6)
# with gravity, as that of the universe upward; in the last pass of aba what is missing to the real one
acceleration, set_acceleration, _ = _of_body(layout.W_ACCELERATION, load6)
force, set_force, add_force = _of_body(layout.W_FORCE, load6)
_, _, add_moment = _of_body(layout.W_FORCE + 3, load3)
# where a body on the universe really is; energy has no forces and keeps it in their place
base_position, set_base_position, _ = _of_body(layout.W_FORCE, load3)
# articulated inertia; inertia of a rigid body, alone or with all that it carries
articulated, set_articulated, add_articulated = _of_body(layout.W_INERTIA, load21)
composite, set_composite, add_composite = _of_body(layout.W_INERTIA, load10)
# momentum of what the composite inertia is of, and the rate of its rotational part
total_momentum, set_total_momentum, add_total_momentum = _of_body(layout.W_MOMENTUM, load6)
_, _, add_spin_momentum = _of_body(layout.W_MOMENTUM + 3, load3)
inertia_rate, set_inertia_rate, add_inertia_rate = _of_body(layout.W_INERTIA_RATE, load6)
# of a free flyer, in the place of its articulated inertia: 1/d and L
base_inverse_d, set_base_inverse_d, _ = _of_body(layout.W_INERTIA, load6)
base_L, set_base_L, _ = _of_body(layout.W_INERTIA + 6, load15)
# spin momentum per unit velocity of the body's joint, on the output body
spin, set_spin, _ = _of_body(layout.W_SPIN, load3)
# torque of spin elements and armature at the body's joint; of spin elements at a = 0; 1 / D
own_torque, set_own_torque, _ = _of_body(layout.W_OWN, get)
spin_bias, set_spin_bias, _ = _of_body(layout.W_OWN, get)
inverse_D, set_inverse_D, _ = _of_body(layout.W_OWN, get)
# U D^-1 and D^-1 u of the body's joint
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
    """Make what reads and writes item k of a list of items of one width."""

    @inline
    def read(work, at, k):
        return load(work, at + width * k)

    @inline
    def write(work, at, k, x):
        put(work, at + width * k, x)

    return read, write


# at_S: of each degree of freedom of a body
subspace, set_subspace = _of_list(6, load6)
# at_K: motion of a body per unit of independent velocity k of its cluster, relative to the output body
K_column, set_K_column = _of_list(6, load6)
# at_spin: spin momentum per unit of independent velocity k, in axes of its carrier
momentum, set_momentum = _of_list(3, load3)


def _of_columns(width, load, first=0, columns=0, squares=0):
    """The same of column k of a cluster, and what increases it, behind ``columns`` nk + ``squares`` nk^2 numbers."""

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
    """The same of item k of row i, of which each has nk."""

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
# on carrier i (0: the output body) per unit of velocity k, in the world
spin_column, set_spin_column = _of_rows(3, load3, columns=13, squares=1)
# at_G: of degree of freedom d of a body
G_entry, _ = _of_rows(1, get)
# at_E: inertia of spin elements and armature, between the velocities k and m of a cluster
E_entry, set_E_entry = _of_rows(1, get)
