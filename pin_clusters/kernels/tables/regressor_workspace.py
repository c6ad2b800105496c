"""What stands in ``work`` for the regressor of the torques, beside what ``link_workspace`` has of a link.

Of a link only its turning counts, and the acceleration of its origin as a point, minus gravity: the *pull*.
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
    """Where force and moment per unit parameter of the body of row r begin."""
    return H.forces + FORCES * (r - H.body0)


@inline
def three_rows(work, at):
    """Read a force or moment per unit parameter, by rows."""
    return load10(work, at), load10(work, at + PARAMETERS), load10(work, at + 2 * PARAMETERS)
