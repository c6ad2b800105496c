"""Access to the quantities of a link of the tree in ``work``.

``x(work, b)`` reads a quantity of link b, ``set_x`` writes it, ``add_x`` increases it. Vectors are expressed in world
axes; motions refer to the link's origin.
"""

from ..numbers.tuples import load3, load6, load9, load10
from . import tree_layout as at
from .workspace import quantities_in

_of_link = quantities_in(at.LINK_WORK)

rotation, set_rotation, _ = _of_link(at.LINK_ROTATION, load9)
position, set_position, _ = _of_link(at.LINK_ROTATION + 9, load3)
turn, set_turn, _ = _of_link(at.LINK_TURN, load9)
offset, set_offset, _ = _of_link(at.LINK_OFFSET, load3)
velocity, set_velocity, _ = _of_link(at.LINK_VELOCITY, load6)
acceleration, set_acceleration, _ = _of_link(at.LINK_ACCELERATION, load6)
inertia, set_inertia, add_inertia = _of_link(at.LINK_INERTIA, load10)
moments, set_moments, add_moments = _of_link(at.LINK_MOMENTS, load10)
inertia_rate, set_inertia_rate, add_inertia_rate = _of_link(at.LINK_INERTIA_RATE, load10)
