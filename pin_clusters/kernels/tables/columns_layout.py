"""Layout of the tables of ``columns``, which applies many forces or torques at once, one per column.

Row 0 of the request table ``asked`` is the header; the frames and the lists below follow. ``numbers`` has 36 entries
per frame: its placement, then results of the kernel. ``panel`` has shape (bodies, 6, width), the force and later the
acceleration of each body; then (nv, width): torques, later W (O3), later accelerations (O5).
"""

from typing import Final, NamedTuple


class Asked(NamedTuple):
    """Row 0."""

    frame0: int  # rows of Touch
    task1: int  # frames before this row have task columns
    frame1: int
    column0: int  # rows of Column
    columns: int  # number of columns
    tasks: int  # number of task columns, which come first, if products (O4) are requested, else 0
    moves: int  # 1 if accelerations are requested
    torque0: int  # the torques B are columns torque0..torque1-1
    torque1: int
    width: int  # number of columns of the panel
    reach0: int  # rows of Reach, one per cluster


class Touch(NamedTuple):
    """Row of a frame at which forces act, one unit force or moment per column."""

    body: int  # the body, or the carrier of a lumped rotor
    rotor: int  # row of a lumped rotor, 0 for bodies
    at: int  # numbers: rotation (9) and position (3) in the frame of the body or rotor, then the fields below
    reference: int  # reference frame, as Pinocchio numbers them
    root: int  # the child of the universe among its ancestors
    column0: int  # rows of its columns, each an ``Entry``
    column1: int
    path0: int  # rows of the velocities that move it
    path1: int


class Column(NamedTuple):
    """Row of a column."""

    touch: int  # row of Touch; -1 for torques
    axis: int  # 0..2: force, 3..5: moment


class Reach(NamedTuple):
    """Row of a cluster: the range of columns whose forces or torques can reach it; the passes skip other columns."""

    first: int
    last: int


# Numbers of a frame after its placement; "the world" is the common frame of ``layout``.
AXES: Final = 12  # 9: axes of its forces in the world
POINT: Final = 21  # 3: point of application in the world
TURN: Final = 24  # 3: axis of a rotor
CENTRE: Final = 27  # 3: centre of a rotor
HOME: Final = 30  # 3, input: origin of the world in the universe, unless all bodies are below a free flyer
OFFSET: Final = 33  # 3, input of ``points``: from the frame to the point, in axes of the universe
