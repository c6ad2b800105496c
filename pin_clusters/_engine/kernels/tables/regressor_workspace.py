"""What stands in ``work`` of a link for the regressor: ``x(work, b)`` reads it, ``set_x`` writes it."""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.simd import put
from ..numbers.tuples import load3, load9
from . import workspace as ws
from .regressor_layout import FORCE, GAIN, LINK_ROOM, MOMENT, PARAMETERS, PULL, ROTATION, SPEED, TURN

_of_link = ws.quantities_in(LINK_ROOM)

rotation, set_rotation, _ = _of_link(ROTATION, load9)
position, set_position, _ = _of_link(ROTATION + 9, load3)
# of the joint frame of the tree
turn, set_turn, _ = _of_link(TURN, load9)
speed, set_speed, _ = _of_link(SPEED, load3)
gain, set_gain, _ = _of_link(GAIN, load3)
pull, set_pull, _ = _of_link(PULL, load3)
# in the place of the former
rate, set_rate, _ = _of_link(PULL, load3)


@inline
def set_unit_force(work, b, i, x):
    """Write row i of the force per unit parameter: four numbers, the inertia needs none."""
    put(work, b * LINK_ROOM + FORCE + i * PARAMETERS, x)


@inline
def set_unit_moment(work, b, i, x):
    """Write row i of the moment per unit parameter."""
    put(work, b * LINK_ROOM + MOMENT + i * PARAMETERS, x)


def _rows(at):
    """Make what reads three rows of packs from column j on."""

    def reader(get_some):
        @inline
        def read(work, b, j):
            i = b * LINK_ROOM + at + j
            return get_some(work, i), get_some(work, i + PARAMETERS), get_some(work, i + 2 * PARAMETERS)

        return read

    return reader


unit_force_with = _rows(FORCE)
unit_moment_with = _rows(MOMENT)
