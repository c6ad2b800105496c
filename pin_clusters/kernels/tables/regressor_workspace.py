"""Access to quantities in ``work`` that only the torque regressor uses; see also ``link_workspace``.

The quantities of a link are its angular velocity ``speed``, its angular acceleration ``gain``, and ``pull``, which is
the acceleration of its origin minus gravity; see (Y1).
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.tuples import load3, load10
from .regressor_layout import FORCES, PARAMETERS
from .tree_layout import LINK_ACCELERATION, LINK_VELOCITY, LINK_WORK
from .workspace import quantities_in

_of_link = quantities_in(LINK_WORK)

speed, set_speed, _ = _of_link(LINK_VELOCITY + 3, load3)
pull, set_pull, _ = _of_link(LINK_ACCELERATION, load3)
gain, set_gain, _ = _of_link(LINK_ACCELERATION + 3, load3)


@inline
def forces_at(H, r):
    """Return the offset of the force and moment per unit parameter of the body in row r."""
    return H.forces + FORCES * (r - H.body0)


@inline
def three_rows(work, at):
    return load10(work, at), load10(work, at + PARAMETERS), load10(work, at + 2 * PARAMETERS)
