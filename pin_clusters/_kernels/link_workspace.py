"""What stands in ``work`` of a link of the tree: ``x(work, b)`` reads it, ``set_x`` writes it, ``add_x`` increases it.

Vectors are in axes of the world, motions at the link's own origin.
"""

from __future__ import annotations

from ._jit import inline
from .simd import put
from .tree_layout import (
    LINK_ACCELERATION,
    LINK_INERTIA,
    LINK_INERTIA_RATE,
    LINK_MOMENTS,
    LINK_OFFSET,
    LINK_ROTATION,
    LINK_TURN,
    LINK_VELOCITY,
    LINK_WORK,
)
from .tuples import load3, load6, load9, load10


def _of_link(at, load):
    """Make what reads, writes and increases a quantity of a link."""

    @inline
    def read(work, b):
        return load(work, b * LINK_WORK + at)

    @inline
    def write(work, b, x):
        put(work, b * LINK_WORK + at, x)

    @inline
    def increase(work, b, x):
        put(work, b * LINK_WORK + at, load(work, b * LINK_WORK + at) + x)

    return read, write, increase


link_rotation, set_link_rotation, _ = _of_link(LINK_ROTATION, load9)
link_position, set_link_position, _ = _of_link(LINK_ROTATION + 9, load3)
link_turn, set_link_turn, _ = _of_link(LINK_TURN, load9)
link_offset, set_link_offset, _ = _of_link(LINK_OFFSET, load3)
link_velocity, set_link_velocity, _ = _of_link(LINK_VELOCITY, load6)
link_acceleration, set_link_acceleration, _ = _of_link(LINK_ACCELERATION, load6)
link_inertia, set_link_inertia, add_link_inertia = _of_link(LINK_INERTIA, load10)
link_moments, set_link_moments, add_link_moments = _of_link(LINK_MOMENTS, load10)
link_inertia_rate, set_link_inertia_rate, add_link_inertia_rate = _of_link(LINK_INERTIA_RATE, load10)
